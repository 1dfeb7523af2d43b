"""The gateway's settings: what is refused, and what has a default."""

from __future__ import annotations

import re
from datetime import datetime, timedelta
from pathlib import Path

import pytest

from common.errors import ConfigError
from common.settings import is_secret, leaves
from gateway.base.settings import (
    GatewaySettings,
    admins_of,
    base_of,
    check_servable,
    is_loopback,
    load_settings,
    public_url,
    secrets_of,
    state_dir,
    with_secrets,
    zone_of,
)
from gateway.doctor import Subject
from tests.each import each

SECRETS = {
    "CODEXBRIDGE_GATEWAY__WECOM__TOKEN": "token-of-the-callback",
    "CODEXBRIDGE_GATEWAY__WECOM__ENCODING_AES_KEY": "a" * 43,
    "CODEXBRIDGE_GATEWAY__WECOM__CORP_SECRET": "secret-of-the-corp",
}
APP = {"wecom": {"corp_id": "ww1", "agent_id": 1000002}}


def load(overrides: dict[str, object] | None = None, **environ: str) -> GatewaySettings:
    environ.setdefault("CODEXBRIDGE_HOME", "/nonexistent")
    return load_settings(file=None, environ=environ, overrides=overrides)


def written(tmp_path: Path, text: str) -> Path:
    tmp_path.mkdir(exist_ok=True)
    path = tmp_path / "gateway.toml"
    path.write_text(text, encoding="utf-8")
    return path


def code_of(overrides: dict[str, object]) -> str:
    with pytest.raises(ConfigError) as caught:
        load(overrides)
    return f"{caught.value.code} {caught.value.facts.get('name')}"


def test_admin_commands_need_no_setting_at_all() -> None:
    settings = load()
    assert settings.listen.host == "127.0.0.1"
    assert settings.task_ttl_hours == 8
    assert settings.trusted_proxies == ()


@pytest.mark.requirement("P8")
@each("missing", ["corp_id", "agent_id", *SECRETS])
def test_the_server_refuses_to_start_without_what_keeps_it_safe(missing: str) -> None:
    app = {name: value for name, value in APP["wecom"].items() if name != missing}
    environ = {name: value for name, value in SECRETS.items() if name != missing}
    settings = load({"wecom": app}, **environ)
    with pytest.raises(ConfigError) as caught:
        check_servable(settings)
    name = missing.rpartition("__")[2].lower()
    secret = missing in SECRETS
    assert caught.value.code == ("config.secret-missing" if secret else "config.missing")
    assert caught.value.facts["name"] == f"wecom.{name}"
    assert caught.value.facts["file"] == (f"wecom__{name}" if secret else None)
    assert caught.value.facts["how"] == f"CODEXBRIDGE_GATEWAY__WECOM__{name.upper()}"


def test_complete_settings_can_serve_and_none_cannot() -> None:
    check_servable(load(dict(APP), **SECRETS))
    with pytest.raises(ConfigError) as caught:
        check_servable(load())
    assert (caught.value.code, caught.value.facts["why"]) == ("config.missing", "nothing")


@pytest.mark.requirement("R15")
def test_a_listener_that_others_can_reach_needs_a_public_https_url() -> None:
    listen = {"host": "0.0.0.0"}
    with pytest.raises(ConfigError) as caught:
        check_servable(load({**APP, "listen": listen}, **SECRETS))
    assert caught.value.code == "config.public-url-required"
    check_servable(load({**APP, "listen": listen, "public_url": "https://gw.example"}, **SECRETS))


@pytest.mark.requirement("P8")
def test_a_loopback_listener_behind_a_proxy_must_name_it() -> None:
    public: dict[str, object] = {**APP, "public_url": "https://gw.example"}
    with pytest.raises(ConfigError) as caught:
        check_servable(load(public, **SECRETS))
    assert caught.value.code == "config.trusted-proxies-required"
    check_servable(load({**public, "trusted_proxies": ["127.0.0.1"]}, **SECRETS))


@pytest.mark.requirement("R60")
def test_a_secret_in_the_toml_file_is_an_error_that_does_not_repeat_it(tmp_path: Path) -> None:
    path = written(tmp_path, '[wecom]\ncorp_secret = "do-not-print-me"\n')
    with pytest.raises(ConfigError) as caught:
        load_settings(file=path, environ={})
    assert caught.value.code == "config.secret-in-file"
    assert "do-not-print-me" not in str(caught.value)


def test_secrets_come_from_the_directory_that_systemd_names(tmp_path: Path) -> None:
    secret = tmp_path / "wecom__token"
    secret.write_text("token-of-the-callback\n", encoding="utf-8")
    secret.chmod(0o600)
    settings = load(CREDENTIALS_DIRECTORY=str(tmp_path))
    assert settings.wecom.token.get_secret_value() == "token-of-the-callback"
    assert "token-of-the-callback" not in repr(settings)


def test_a_named_secrets_directory_is_stronger_than_the_one_of_systemd(tmp_path: Path) -> None:
    secret = tmp_path / "wecom__token"
    secret.write_text("named", encoding="utf-8")
    secret.chmod(0o600)
    environ = {"CREDENTIALS_DIRECTORY": str(tmp_path / "elsewhere")}
    settings = load_settings(file=None, environ=environ, secrets_dir=tmp_path)
    assert settings.wecom.token.get_secret_value() == "named"


@pytest.mark.parametrize("how", ["named", "variable", "usual place"])
def test_the_file_is_found_where_it_was_said_to_be(tmp_path: Path, how: str) -> None:
    path = written(tmp_path / "config", 'public_url = "https://gw.example"\n')
    environ = {"CODEXBRIDGE_HOME": str(tmp_path)}
    if how != "usual place":
        path = path.rename(tmp_path / "elsewhere.toml")
    if how == "variable":
        environ["CODEXBRIDGE_CONFIG"] = str(path)
    settings = load_settings(file=path if how == "named" else None, environ=environ)
    assert settings.public_url == "https://gw.example"


@pytest.mark.requirement("R15")
@pytest.mark.parametrize(
    ("url", "base"),
    [
        ("https://GW.example/", "https://gw.example"),
        ("https://gw.example:443", "https://gw.example"),
        ("https://gw.example:8443", "https://gw.example:8443"),
        ("http://127.0.0.1:8787", "http://127.0.0.1:8787"),
        ("http://[::1]:8787", "http://[::1]:8787"),
        ("", ""),
    ],
)
def test_a_public_url_has_one_spelling(url: str, base: str) -> None:
    assert base_of(url) == base


@pytest.mark.requirement("R15")
@each(
    "url",
    [
        "http://gw.example",
        "http://127.evil.com",
        "http://localhost:8787",
        "http://0.0.0.0",
        "wss://gw.example",
        "https://gw.example/path",
        "https://gw.example?x=1",
        "https://user@gw.example",
        "https://gw.example:99999",
        "gw.example",
        "https://",
    ],
)
def test_a_public_url_that_is_no_safe_origin_is_refused(url: str) -> None:
    assert code_of({"public_url": url}) == "config.invalid public_url"


@pytest.mark.parametrize(
    ("overrides", "name"),
    [
        ({"task_ttl_hours": 25}, "task_ttl_hours"),
        ({"task_ttl_hours": 0}, "task_ttl_hours"),
        ({"listen": {"port": 65536}}, "listen.port"),
        ({"listen": {"host": "localhost"}}, "listen.host"),
        ({"language": "fr"}, "language"),
        ({"time_zone": "Mars/Olympus"}, "time_zone"),
        ({"time_zone": "../../etc/passwd"}, "time_zone"),
        ({"prefix": "two words"}, "prefix"),
        ({"trusted_proxies": ["nowhere"]}, "trusted_proxies"),
        ({"trusted_proxies": ["0.0.0.0/0"]}, "trusted_proxies"),
        ({"trusted_proxies": ["127.0.0.1/32", "128.0.0.0/1"]}, "trusted_proxies"),
        ({"trusted_proxies": ["::/0"]}, "trusted_proxies"),
        ({"trusted_proxies": ["2000::/3"]}, "trusted_proxies"),
        ({"trusted_proxies": ["2400::/7"]}, "trusted_proxies"),
        ({"trusted_proxies": ["::ffff:0:0/96"]}, "trusted_proxies"),
        ({"trusted_proxies": ["::ffff:128.0.0.0/97"]}, "trusted_proxies"),
        ({"wecom": {"callback_path": "/agent/v1/link"}}, "wecom.callback_path"),
        ({"wecom": {"callback_path": "/health/live"}}, "wecom.callback_path"),
        ({"wecom": {"callback_path": "/a/{tail:.*}"}}, "wecom.callback_path"),
        ({"wecom": {"callback_path": "wecom"}}, "wecom.callback_path"),
        ({"wecom": {"api_base": "http://qyapi.example"}}, "wecom.api_base"),
        (APP | {"wecom": {"apps": {"main": {"corp_id": "ww2"}}}}, "wecom.apps.main"),
    ],
)
def test_a_value_outside_its_bounds_is_named(overrides: dict[str, object], name: str) -> None:
    assert code_of(overrides) == f"config.invalid {name}"


def test_a_proxy_may_be_anywhere_in_ones_own_network() -> None:
    own = ["127.0.0.1", "10.0.0.0/8", "fc00::/7", "::1", "::ffff:10.1.2.3", "::ffff:10.0.0.0/104"]
    named = load({"trusted_proxies": own}).trusted_proxies
    as_v4 = ("10.1.2.3/32", "10.0.0.0/8")
    assert named == ("127.0.0.1/32", "10.0.0.0/8", "fc00::/7", "::1/128", *as_v4)


def test_an_unknown_setting_is_an_error() -> None:
    assert code_of({"alow_everyone": True}) == "config.unknown-setting alow_everyone"


@pytest.mark.parametrize(
    ("host", "url"),
    [("127.0.0.1", "http://127.0.0.1:4711"), ("::1", "http://[::1]:4711")],
)
def test_a_loopback_listener_is_its_own_public_url(host: str, url: str) -> None:
    assert public_url(load({"listen": {"host": host, "port": 0}}), port=4711) == url


def test_a_given_public_url_is_kept_whatever_port_was_bound() -> None:
    settings = load({"public_url": "https://gw.example"})
    assert public_url(settings, port=4711) == "https://gw.example"


def test_a_name_is_never_loopback() -> None:
    assert not is_loopback("localhost")
    assert is_loopback("127.8.0.1")


@pytest.mark.parametrize(("name", "hours"), [("+08:00", 8.0), ("-03:30", -3.5), ("UTC", 0.0)])
def test_a_time_zone_is_an_offset_or_a_name(name: str, hours: float) -> None:
    at = datetime(2026, 1, 1, tzinfo=zone_of(name))
    assert at.utcoffset() == timedelta(hours=hours)


def test_the_state_lies_in_the_home_unless_it_is_named(tmp_path: Path) -> None:
    environ = {"CODEXBRIDGE_HOME": str(tmp_path)}
    assert state_dir(load(), environ) == tmp_path / "state" / "gateway"
    named = load({"state_dir": str(tmp_path / "x")})
    assert state_dir(named, environ) == tmp_path / "x"


def test_a_relative_state_directory_is_refused() -> None:
    with pytest.raises(ConfigError) as caught:
        state_dir(load({"state_dir": "here"}), {})
    assert caught.value.code == "config.invalid"


def test_the_example_is_valid_and_names_every_setting_that_is_no_secret() -> None:
    example = Path(__file__).parents[4] / "config" / "gateway.example.toml"
    text = example.read_text(encoding="utf-8")
    settings = load_settings(file=example, environ={})
    assert settings.public_url == "https://codexbridge.example.com"
    for path, field in leaves(GatewaySettings):
        assert path[-1] in text
        said = rf"^(# )?({path[-1]} = |\[\[{re.escape('.'.join(path))}\]\])"
        assert is_secret(field) or re.search(said, text, re.MULTILINE)


def _secret_of(folder: Path, value: str) -> None:
    folder.mkdir(mode=0o700)
    (folder / "wecom__token").write_text(value, encoding="utf-8")
    (folder / "wecom__token").chmod(0o600)


def test_without_any_name_secrets_come_from_the_folder_beside_the_file(tmp_path: Path) -> None:
    file = written(tmp_path / "here", "")
    _secret_of(file.with_name("gateway-secrets"), "beside")
    _secret_of(tmp_path / "named", "named")
    named, systemd = tmp_path / "named", {"CREDENTIALS_DIRECTORY": str(tmp_path / "named")}
    by_variable = load_settings(file=None, environ={"CODEXBRIDGE_CONFIG": str(file)})
    for settings, token in (
        (by_variable, "beside"),
        (load_settings(file=file, environ={}), "beside"),
        (load_settings(file=file, environ={}, secrets_dir=named), "named"),
        (load_settings(file=file, environ=systemd), "named"),
    ):
        assert settings.wecom.token.get_secret_value() == token
    assert Subject({}, file, named).secrets_folder == named
    assert Subject(systemd, file).secrets_folder == named
    assert Subject({}, file).secrets_folder == file.with_name("gateway-secrets")
    assert Subject({}, tmp_path / "elsewhere.toml").secrets_folder is None


def test_the_folder_beside_the_file_is_looked_at_like_any_other(tmp_path: Path) -> None:
    file = written(tmp_path / "here", "")
    _secret_of(file.with_name("gateway-secrets"), "beside")
    (file.with_name("gateway-secrets") / "wecom__token").chmod(0o644)
    with pytest.raises(ConfigError) as caught:
        load_settings(file=file, environ={})
    assert caught.value.code == "config.file-readable-by-others"


TWO_APPS = """
[wecom]
corp_id = "ww1"
agent_id = 1
[[wecom.apps]]
name = "shop"
corp_id = "ww2"
agent_id = 1
[[wecom.apps]]
name = "ops"
corp_id = "ww2"
agent_id = 2
callback_path = "/ops"
admins = ["boss"]
"""


def test_each_app_has_its_own_secrets_wherever_they_stand(tmp_path: Path) -> None:
    file = written(tmp_path / "here", TWO_APPS)
    folder = tmp_path / "secrets"
    folder.mkdir(mode=0o700)
    for name in ("wecom__token", "wecom__apps__shop__token"):
        (folder / name).write_text(f"of {name}".replace(" ", "-"), encoding="utf-8")
        (folder / name).chmod(0o600)
    environ = {"CODEXBRIDGE_GATEWAY__WECOM__APPS__OPS__TOKEN": "of-ops"}
    settings = load_settings(file=file, environ=environ, secrets_dir=folder)
    apps = settings.wecom.every()
    assert {name: app.token.get_secret_value() for name, app in apps.items()} == {
        "main": "of-wecom__token",
        "shop": "of-wecom__apps__shop__token",
        "ops": "of-ops",
    }
    assert [app.callback_path for app in apps.values()] == ["/wecom/app", "/wecom/shop", "/ops"]
    assert {"of-ops", "of-wecom__token"} <= {*secrets_of(settings)}


def test_secrets_change_and_nothing_else_does(tmp_path: Path) -> None:
    served = load_settings(file=written(tmp_path / "old", TWO_APPS), environ={})
    names = ("WECOM__TOKEN", "WECOM__APPS__SHOP__CORP_SECRET", "EGRESS__PROXY_LOGIN")
    environ = {f"CODEXBRIDGE_GATEWAY__{name}": f"of-{name}" for name in names}
    fewer = TWO_APPS[: TWO_APPS.index('[[wecom.apps]]\nname = "ops"')]
    other = written(tmp_path / "new", f'prefix = "@bot"\n{fewer}')
    found = with_secrets(served, load_settings(file=other, environ=environ))
    assert {f"of-{name}" for name in names} == {one for one in secrets_of(found) if one}
    assert found.model_dump(exclude={"wecom", "egress"}) == served.model_dump(
        exclude={"wecom", "egress"}
    )
    assert [*found.wecom.every()] == [*served.wecom.every()]


def test_admins_and_limits_are_those_of_each_app(tmp_path: Path) -> None:
    limit = "[limits]\ntasks_per_day = 5\n"
    text = f'admins = ["boss"]\n{limit}{TWO_APPS}tasks_per_day = 2\n'
    settings = load_settings(file=written(tmp_path, text), environ={})
    assert [str(person) for person in admins_of(settings)] == ["boss", "ops:boss"]
    assert settings.limits.tasks_per_day == 5
    assert [app.tasks_per_day for app in settings.wecom.apps.values()] == [None, 2]


@pytest.mark.parametrize(
    ("text", "code", "name"),
    [
        ("corp_id = 'ww1'\n", "config.invalid", "wecom.apps"),
        ("name = 'a'\n[[wecom.apps]]\nname = 'a'\n", "config.invalid", "wecom.apps"),
        ("name = 'A-b'\n", "config.invalid", "wecom.apps.A-b"),
        ("name = 'a'\ntoken = 'x'\n", "config.secret-in-file", "wecom.apps.a.token"),
        ("name = 'a'\ncorp = 'x'\n", "config.unknown-setting", "wecom.apps.a.corp"),
    ],
)
def test_a_faulty_app_is_told_by_its_name(tmp_path: Path, text: str, code: str, name: str) -> None:
    with pytest.raises(ConfigError) as caught:
        load_settings(file=written(tmp_path / "here", f"[[wecom.apps]]\n{text}"), environ={})
    assert (caught.value.code, caught.value.facts["name"]) == (code, name)


def test_an_app_that_the_file_does_not_name_gets_no_secrets(tmp_path: Path) -> None:
    file = written(tmp_path / "here", TWO_APPS)
    with pytest.raises(ConfigError) as caught:
        load_settings(file=file, environ={"CODEXBRIDGE_GATEWAY__WECOM__APPS__SHPO__TOKEN": "x"})
    assert caught.value.code == "config.unknown-variable"


@pytest.mark.parametrize(
    ("shop", "code"),
    [
        ('corp_id = "ww1"\nagent_id = 1\n', "config.same-app"),
        ('corp_id = "ww2"\nagent_id = 1\ncallback_path = "/wecom/app"\n', "config.same-path"),
    ],
)
def test_two_apps_cannot_be_one(tmp_path: Path, shop: str, code: str) -> None:
    text = f'[wecom]\ncorp_id = "ww1"\nagent_id = 1\n[[wecom.apps]]\nname = "shop"\n{shop}'
    environ = {
        f"CODEXBRIDGE_GATEWAY__WECOM__{app}{name}": "x" * 43
        for app in ("", "APPS__SHOP__")
        for name in ("TOKEN", "ENCODING_AES_KEY", "CORP_SECRET")
    }
    settings = load_settings(file=written(tmp_path / "here", text), environ=environ)
    with pytest.raises(ConfigError) as caught:
        check_servable(settings)
    assert (caught.value.code, caught.value.facts) == (code, {"app": "shop", "other": "main"})
