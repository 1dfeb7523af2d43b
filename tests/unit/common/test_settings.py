"""Settings: the order of the sources, and one clear error for everything that is wrong."""

from __future__ import annotations

import datetime as dt
from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Any, ClassVar

import pytest
from pydantic import AfterValidator, Field, SecretStr, ValidationError

from common.errors import ConfigError
from common.sentences import LANGS, SHARED, Sentence, explain
from common.settings import (
    FROM_FILE,
    Section,
    Settings,
    is_secret,
    leaves,
    load,
    load_with_sources,
    variable_name,
)
from gateway.base.settings import GatewaySettings
from gateway.faces.cli import error_texts as gateway_texts
from local_agent import error_texts as agent_texts
from local_agent.settings import AgentSettings

SECRET = "very-secret-value"


def _even(number: int) -> int:
    if number % 2:
        raise ValueError("must be even")
    return number


class Listen(Section):
    host: str = "127.0.0.1"
    port: Annotated[int, AfterValidator(_even)] = 8080


class WeCom(Section):
    corp_id: str
    token: SecretStr


class Optional(Section):
    flag: bool = False


class Sample(Settings):
    half: ClassVar[str] = "gateway"

    language: str = "zh"
    proxies: tuple[str, ...] = ()
    limit: int = Field(default=8, ge=1, le=24)
    password: SecretStr | None = None
    listen: Listen = Listen()
    wecom: WeCom | None = None
    optional: Optional | None = None


class Strict(Settings):
    half: ClassVar[str] = "agent"

    wecom: WeCom


def read(
    tmp_path: Path,
    toml: str | bytes | None = None,
    *,
    environ: dict[str, str] | None = None,
    secrets: dict[str, str | bytes] | None = None,
    overrides: dict[str, Any] | None = None,
    model: type[Settings] = Sample,
) -> Any:
    file = None
    if toml is not None:
        file = tmp_path / "settings.toml"
        file.write_bytes(toml if isinstance(toml, bytes) else toml.encode())
    directory = None
    if secrets is not None:
        directory = tmp_path / "secrets"
        directory.mkdir(mode=0o700)
        for name, value in secrets.items():
            (directory / name).write_bytes(value if isinstance(value, bytes) else value.encode())
            (directory / name).chmod(0o600)
    return load(model, file=file, environ=environ or {}, secrets_dir=directory, overrides=overrides)


def fault(*args: Any, **more: Any) -> ConfigError:
    with pytest.raises(ConfigError) as caught:
        read(*args, **more)
    assert SECRET not in str(caught.value)
    assert caught.value.__cause__ is None
    return caught.value


def test_defaults_stand_where_nothing_is_said(tmp_path: Path) -> None:
    settings = read(tmp_path)
    assert (settings.language, settings.listen.port, settings.wecom) == ("zh", 8080, None)


def test_every_source_overrules_the_weaker_ones(tmp_path: Path) -> None:
    settings = read(
        tmp_path,
        'language = "file"\nlimit = 1\n[listen]\nhost = "file"\nport = 2\n',
        secrets={"language": "secret\n", "listen__host": "secret", "limit": "2"},
        environ={
            "CODEXBRIDGE_GATEWAY__LANGUAGE": "environment",
            "CODEXBRIDGE_GATEWAY__LIMIT": "3",
        },
        overrides={"language": "line", "limit": None, "listen": {"host": None}},
    )
    assert settings.language == "line"
    assert settings.limit == 3
    assert (settings.listen.host, settings.listen.port) == ("secret", 2)


def test_each_value_is_known_by_its_source(tmp_path: Path) -> None:
    file, directory = tmp_path / "settings.toml", tmp_path / "secrets"
    file.write_text('language = "file"\nlimit = 1\n[listen]\nhost = "file"\n', encoding="utf-8")
    directory.mkdir(mode=0o700)
    (directory / "password").write_text(SECRET, encoding="utf-8")
    (directory / "password").chmod(0o600)
    settings, sources = load_with_sources(
        Sample,
        file=file,
        environ={"CODEXBRIDGE_GATEWAY__LIMIT": "3", "CODEXBRIDGE_GATEWAY__PROXIES": ""},
        secrets_dir=directory,
        overrides={"language": "line", "limit": None, "listen": {"port": 2}},
    )
    assert (settings.language, settings.limit, settings.listen.port) == ("line", 3, 2)
    assert sources.of(("language",)) == "command-line"
    assert sources.of(("limit",)) == "environment"
    assert sources.of(("password",)) == "secrets"
    assert sources.of(("listen", "host")) == "file"
    assert sources.of(("listen", "port")) == "command-line"
    assert sources.of(("proxies",)) == sources.of(("wecom", "token")) == "default"
    assert SECRET not in repr(sources)


def test_secrets_come_from_the_environment_or_from_files(tmp_path: Path) -> None:
    settings = read(
        tmp_path,
        '[wecom]\ncorp_id = "corp"\n',
        secrets={"wecom__token": f"{SECRET}\n"},
        environ={"CODEXBRIDGE_GATEWAY__PASSWORD": f" {SECRET} "},
    )
    assert settings.wecom.token.get_secret_value() == SECRET
    assert settings.password.get_secret_value() == f" {SECRET} "
    assert SECRET not in repr(settings)
    assert SECRET not in settings.model_dump_json()


def test_lists_stand_in_the_environment_as_json(tmp_path: Path) -> None:
    environ = {"CODEXBRIDGE_GATEWAY__PROXIES": '["10.0.0.0/8","::1"]'}
    assert read(tmp_path, environ=environ).proxies == ("10.0.0.0/8", "::1")


def test_an_empty_variable_is_an_unset_one(tmp_path: Path) -> None:
    environ = {"CODEXBRIDGE_GATEWAY__LANGUAGE": "", "CODEXBRIDGE_GATEWAY__LIMIT": ""}
    assert read(tmp_path, 'language = "en"', environ=environ).language == "en"


def test_variables_of_the_other_half_and_of_the_process_are_left_alone(tmp_path: Path) -> None:
    environ = {
        "CODEXBRIDGE_AGENT__ANYTHING": "x",
        "CODEXBRIDGE_HOME": "/x",
        "CODEXBRIDGE_LANG": "en",
        "CODEXBRIDGE_CONFIG": "/x",
        "PATH": "/bin",
        "LANGUAGE": "de",
    }
    assert read(tmp_path, environ=environ).language == "zh"


@pytest.mark.requirement("P8")
@pytest.mark.parametrize(
    ("name", "nearest"),
    [
        ("CODEXBRIDGE_GATEWAY__LANGAUGE", "CODEXBRIDGE_GATEWAY__LANGUAGE"),
        ("CODEXBRIDGE_GATEWAY__LISTEN", "CODEXBRIDGE_GATEWAY__LIMIT"),
        ("CODEXBRIDGE_GATEWAY__LISTEN__PROT", "CODEXBRIDGE_GATEWAY__LISTEN__PORT"),
        ("codexbridge_gateway__language", ""),
        ("CODEXBRIDGE_HOMES", "CODEXBRIDGE_HOME"),
        ("CODEXBRIDGE_", None),
        ("CODEXBRIDGE_AUTO_APPROVE", None),
    ],
)
def test_an_unknown_variable_is_an_error(tmp_path: Path, name: str, nearest: str | None) -> None:
    error = fault(tmp_path, environ={name: SECRET})
    assert (error.code, error.facts["name"]) == ("config.unknown-variable", name)
    assert nearest is None or error.facts["did_you_mean"] == nearest


@pytest.mark.requirement("P8")
@pytest.mark.parametrize(
    ("toml", "name", "nearest"),
    [
        ("langauge = 'x'", "langauge", "language"),
        ("[listen]\nprot = 1", "listen.prot", "listen.port"),
        ("[wecom]\ncorp_id = 'x'\ncorpid = 'y'", "wecom.corpid", "wecom.corp_id"),
        ("[nothing.alike]\nx = 1", "nothing", ""),
    ],
)
def test_an_unknown_setting_is_an_error_that_names_its_neighbour(
    tmp_path: Path, toml: str, name: str, nearest: str
) -> None:
    error = fault(tmp_path, toml)
    assert error.code == "config.unknown-setting"
    assert (error.facts["name"], error.facts["did_you_mean"]) == (name, nearest)
    assert error.facts.get("why") == (None if nearest else "none"), "it has a sentence of its own"
    assert error.facts["file"] == tmp_path / "settings.toml"


@pytest.mark.parametrize(
    ("toml", "line", "column"),
    [
        ("language = ", 1, 12),
        ("a = 1\n\nb = = 2\n", 3, 5),
        ("a = 1\na = 2\n", 2, 6),
        ("[listen\n", 1, 8),
        (f'x = """{SECRET}\n\n', 3, 1),
        (b"a = 1\nb = '\xff'\n", 2, 1),
        ("a = " + "[" * 5000, 1, 5005),
    ],
)
def test_a_broken_file_is_told_with_its_place_and_without_its_words(
    tmp_path: Path, toml: str | bytes, line: int, column: int
) -> None:
    error = fault(tmp_path, toml)
    assert error.code == "config.broken-toml"
    assert (error.facts["line"], error.facts["column"]) == (line, column)


def test_a_byte_order_mark_does_no_harm(tmp_path: Path) -> None:
    assert read(tmp_path, b"\xef\xbb\xbflanguage = 'en'\n").language == "en"


def test_a_named_file_must_exist(tmp_path: Path) -> None:
    for place in (tmp_path / "missing.toml", tmp_path):
        with pytest.raises(ConfigError) as caught:
            load(Sample, file=place, environ={})
        assert caught.value.code == "config.no-file"


def test_a_file_is_bounded(tmp_path: Path) -> None:
    assert fault(tmp_path, "#" * 300_000).code == "config.file-too-large"


def test_a_file_that_anyone_may_write_is_refused(tmp_path: Path) -> None:
    file = tmp_path / "settings.toml"
    file.write_text("language = 'en'\n", encoding="utf-8")
    file.chmod(0o666)
    with pytest.raises(ConfigError) as caught:
        load(Sample, file=file, environ={})
    assert caught.value.code == "config.file-writable-by-others"


@pytest.mark.requirement("P8")
@pytest.mark.parametrize(
    ("toml", "name", "how"),
    [
        (f"password = '{SECRET}'", "password", "CODEXBRIDGE_GATEWAY__PASSWORD"),
        (f"[wecom]\ntoken = '{SECRET}'", "wecom.token", "CODEXBRIDGE_GATEWAY__WECOM__TOKEN"),
    ],
)
def test_a_secret_may_not_stand_in_the_file(tmp_path: Path, toml: str, name: str, how: str) -> None:
    error = fault(tmp_path, toml)
    assert (error.code, error.facts["name"], error.facts["how"]) == (
        "config.secret-in-file",
        name,
        how,
    )


@pytest.mark.parametrize(
    ("toml", "name", "how"),
    [
        ("", "wecom.corp_id", "CODEXBRIDGE_AGENT__WECOM__CORP_ID"),
        ("[wecom]\ncorp_id = 'x'", "wecom.token", "CODEXBRIDGE_AGENT__WECOM__TOKEN"),
    ],
)
def test_what_is_missing_is_named_with_the_way_to_set_it(
    tmp_path: Path, toml: str, name: str, how: str
) -> None:
    error = fault(tmp_path, toml, model=Strict)
    assert (error.code, error.facts["name"], error.facts["how"]) == ("config.missing", name, how)


def test_a_misspelt_name_is_told_before_what_is_missing(tmp_path: Path) -> None:
    error = fault(tmp_path, "[wecom]\ncorpid = 'x'", model=Strict)
    assert (error.code, error.facts["name"]) == ("config.unknown-setting", "wecom.corpid")


@pytest.mark.parametrize(
    ("environ", "name"),
    [
        ({"CODEXBRIDGE_GATEWAY__LISTEN__PORT": SECRET}, "listen.port"),
        ({"CODEXBRIDGE_GATEWAY__LISTEN__PORT": "3"}, "listen.port"),
        ({"CODEXBRIDGE_GATEWAY__LIMIT": "25"}, "limit"),
        ({"CODEXBRIDGE_GATEWAY__PROXIES": SECRET}, "proxies"),
        (
            {"CODEXBRIDGE_GATEWAY__LIMIT": "2", "CODEXBRIDGE_GATEWAY__PROXIES": f"[{SECRET}"},
            "proxies",
        ),
    ],
)
def test_what_is_invalid_is_named_without_its_value(
    tmp_path: Path, environ: dict[str, str], name: str
) -> None:
    error = fault(tmp_path, environ=environ)
    assert (error.code, error.facts["name"]) == ("config.invalid", name)
    assert error.facts["why"]


def test_a_table_given_as_a_value_is_invalid(tmp_path: Path) -> None:
    error = fault(tmp_path, f"listen = '{SECRET}'")
    assert (error.code, error.facts["name"]) == ("config.invalid", "listen")
    stronger = {"CODEXBRIDGE_GATEWAY__LISTEN__PORT": "4"}
    assert read(tmp_path, "listen = 'x'", environ=stronger).listen.port == 4


@pytest.mark.requirement("R60")
@pytest.mark.parametrize("mode", [0o644, 0o604, 0o640, 0o660])
def test_a_secret_that_others_can_read_is_refused(tmp_path: Path, mode: int) -> None:
    directory = tmp_path / "secrets"
    directory.mkdir()
    secret = directory / "password"
    secret.write_text(SECRET, encoding="utf-8")
    secret.chmod(mode)
    # Group read on a file of root is how the access list shows that systemd writes.
    if secret.stat().st_uid == 0 and not mode & 0o027:
        assert load(Sample, file=None, environ={}, secrets_dir=directory).password is not None
        return
    with pytest.raises(ConfigError) as caught:
        load(Sample, file=None, environ={}, secrets_dir=directory)
    assert caught.value.code == "config.file-readable-by-others"


@pytest.mark.parametrize(
    ("secrets", "code"),
    [
        ({"wecom__tokn": SECRET}, "config.unknown-setting"),
        ({"password": "x" * 9000}, "config.file-too-large"),
        ({"password": b"\xff\xfe"}, "config.invalid"),
    ],
)
def test_files_of_secrets_are_checked(
    tmp_path: Path, secrets: dict[str, str | bytes], code: str
) -> None:
    assert fault(tmp_path, secrets=secrets).code == code


def test_hidden_files_among_the_secrets_are_the_systems_own(tmp_path: Path) -> None:
    secrets: dict[str, str | bytes] = {"..data": "x", "password": SECRET}
    assert read(tmp_path, secrets=secrets).password.get_secret_value() == SECRET


def test_a_secrets_directory_must_exist_and_hold_files(tmp_path: Path) -> None:
    with pytest.raises(ConfigError) as caught:
        load(Sample, file=None, environ={}, secrets_dir=tmp_path / "missing")
    assert caught.value.code == "config.no-file"
    (tmp_path / "password").mkdir()
    with pytest.raises(ConfigError) as caught:
        load(Sample, file=None, environ={}, secrets_dir=tmp_path)
    assert caught.value.code == "config.no-file"


def test_settings_built_directly_look_nowhere_else(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("LANGUAGE", "from-the-process")
    monkeypatch.setenv("CODEXBRIDGE_GATEWAY__LANGUAGE", "from-the-process")
    assert Sample().language == "zh"


def test_settings_are_frozen_and_say_nothing_of_their_values() -> None:
    settings = Sample()
    with pytest.raises(ValidationError):
        settings.__setattr__("language", "en")
    with pytest.raises(ValidationError) as caught:
        Sample.model_validate({"limit": SECRET})
    assert SECRET not in str(caught.value)


def test_every_setting_has_its_path_and_its_variable() -> None:
    found = {".".join(path): field for path, field in leaves(Sample)}
    assert list(found) == [
        "language",
        "proxies",
        "limit",
        "password",
        "listen.host",
        "listen.port",
        "wecom.corp_id",
        "wecom.token",
        "optional.flag",
    ]
    assert [name for name, field in found.items() if is_secret(field)] == [
        "password",
        "wecom.token",
    ]
    assert variable_name(Sample, ("wecom", "token")) == "CODEXBRIDGE_GATEWAY__WECOM__TOKEN"


class Pinned(Settings):
    half: ClassVar[str] = "agent"

    address: Annotated[str, FROM_FILE] = "here"
    theme: str = "auto"


@pytest.mark.requirement("R3")
@pytest.mark.parametrize("name", ["ADDRESS", "ADDRESS__PORT"])
def test_what_the_file_alone_may_hold_comes_from_no_environment(tmp_path: Path, name: str) -> None:
    assert read(tmp_path, 'address = "there"\n', model=Pinned).address == "there"
    with pytest.raises(ConfigError) as refused:
        read(tmp_path, environ={f"CODEXBRIDGE_AGENT__{name}": "elsewhere"}, model=Pinned)
    assert (refused.value.code, refused.value.facts) == ("config.file-only", {"name": "address"})


def test_what_the_file_alone_may_hold_is_no_secret(tmp_path: Path) -> None:
    with pytest.raises(ConfigError) as refused:
        read(tmp_path, secrets={"address": "elsewhere"}, model=Pinned)
    assert refused.value.code == "config.unknown-setting"


def test_the_other_half_does_not_judge_it(tmp_path: Path) -> None:
    assert read(tmp_path, environ={"CODEXBRIDGE_AGENT__ADDRESS": "x"}).language == "zh"


ODD: tuple[Any, ...] = (
    "",
    "x",
    "a b\x00",
    "http://gw.example/path",
    "http://gw.example",
    "x" * 20_000,
    -1,
    10**12,
    1.5,
    float("nan"),
    True,
    [],
    ["a b", 1],
    ["/x"] * 100,
    {},
    {"x": SECRET},
    {"kind": "http", "model": 7},
    dt.date(2026, 1, 1),
)


@pytest.mark.parametrize(
    ("model", "texts"),
    [(GatewaySettings, gateway_texts.ERRORS), (AgentSettings, agent_texts.ERRORS)],
)
def test_whatever_is_wrong_with_a_setting_is_told_in_our_words(
    model: type[Settings], texts: Mapping[str, Sentence]
) -> None:
    reasons = set()
    for path, _ in leaves(model):
        for odd in ODD:
            given: Any = odd
            for name in reversed(path):
                given = {name: given}
            error = _refusal(model, given)
            if error is None or error.code != "config.invalid":
                continue
            why = str(error.facts["why"])
            reasons.add(why)
            assert why == "form" or {f"config.invalid/{why}"} & {*texts, *SHARED}
            for lang in LANGS:
                said = explain(error, texts, lang)
                assert ".".join(path) in said
                assert SECRET not in said
    assert len(reasons) > 6


def _refusal(model: type[Settings], given: dict[str, Any]) -> ConfigError | None:
    try:
        load(model, file=None, environ={}, overrides=given)
    except ConfigError as error:
        return error
    return None


def test_all_secrets_that_others_can_read_are_told_in_one_line(tmp_path: Path) -> None:
    for name in ("password", "wecom__token"):
        (tmp_path / name).write_text(SECRET, encoding="utf-8")
        (tmp_path / name).chmod(0o644)
    with pytest.raises(ConfigError) as caught:
        load(Sample, file=None, environ={}, secrets_dir=tmp_path)
    assert caught.value.code == "config.files-readable-by-others"
    said = explain(caught.value, {}, "en")
    assert f"cd {tmp_path} && chmod 600 password wecom__token" in said
