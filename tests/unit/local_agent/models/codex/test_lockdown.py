"""The configuration that codex runs under."""

from __future__ import annotations

import json
import stat
import tempfile
import tomllib
from pathlib import Path

import pytest

from common.errors import ConfigError
from local_agent.models.codex.lockdown import (
    CodexModel,
    Place,
    environment,
    make_place,
    remove_left,
    remove_place,
    render,
)
from tests.codex_desk import KEY, QUICK
from tests.each import each

OFF = ("shell_tool", "unified_exec", "code_mode_host", "plugins", "apps", "hooks", "memories")


def test_the_configuration_lets_codex_propose_and_nothing_else() -> None:
    written = tomllib.loads(render(QUICK, Path("/models.json")))
    assert (written["approval_policy"], written["sandbox_mode"]) == ("on-request", "read-only")
    assert written["web_search"] == "disabled"
    assert not any(written["features"].values())
    assert set(OFF) <= set(written["features"])
    assert written["agents"] == {"enabled": False}
    assert "mcp_servers" not in written
    assert "projects" not in written


def test_the_provider_is_the_configured_one_and_the_key_is_named_alone() -> None:
    rendered = render(QUICK, Path("/models.json"))
    provider = tomllib.loads(rendered)["model_providers"]["configured"]
    assert provider["base_url"] == QUICK.base_url
    assert provider["wire_api"] == "responses"
    assert provider["env_key"] == "CODEXBRIDGE_MODEL_KEY"
    assert KEY not in rendered
    assert KEY not in repr(QUICK)


def test_a_provider_without_a_key_is_asked_without_one() -> None:
    keyless = CodexModel(name="local", model="m", base_url="http://127.0.0.1:1/v1")
    written = tomllib.loads(render(keyless, Path("/models.json")))
    assert "env_key" not in written["model_providers"]["configured"]


@each("name", ['a"b', "a\\b", "a\nb", "模型", "a\x7fb", '"""', "😀"])
def test_a_models_name_cannot_break_out_of_the_configuration(name: str) -> None:
    written = tomllib.loads(
        render(CodexModel(name="n", model=name, base_url="http://[::1]/v1"), Path('/x"y'))
    )
    assert (written["model"], written["model_catalog_json"]) == (name, '/x"y')


@each("address", ["http://example.com/v1", "https://user@example.com/v1", "file:///x", "https://"])
def test_an_address_that_may_not_be_dialled_is_refused(address: str) -> None:
    with pytest.raises(ConfigError) as refused:
        CodexModel(name="n", model="m", base_url=address)
    assert refused.value.code == "models.base-url"


def test_a_place_is_for_this_user_alone_and_its_parts_lie_apart(tmp_path: Path) -> None:
    place = make_place(tmp_path / "codex", QUICK)
    for folder in (place.root, place.codex_home, place.home, place.temporary, place.desk):
        assert stat.S_IMODE(folder.stat().st_mode) == 0o700
    for file in place.codex_home.iterdir():
        assert stat.S_IMODE(file.stat().st_mode) == 0o600
    # Codex refuses a home below its temporary files.
    assert not place.codex_home.is_relative_to(place.temporary)
    # What a model is told names nobody's home.
    assert place.desk.parent == Path(tempfile.gettempdir())
    (known,) = json.loads((place.codex_home / "models.json").read_text(encoding="utf-8"))["models"]
    assert known["slug"] == QUICK.model
    assert known["apply_patch_tool_type"] == "freeform"
    remove_place(place)
    assert not place.root.exists()
    assert not place.desk.exists()


def test_the_environment_holds_nothing_of_the_persons() -> None:
    place = Place(Path("/state/codex/run-1"), Path("/tmp/codexbridge-1"))
    assert environment(place, KEY) == {
        "PATH": "/usr/local/bin:/usr/bin:/bin",
        "LANG": "C.UTF-8",
        "HOME": "/state/codex/run-1/home",
        "CODEX_HOME": "/state/codex/run-1/codex",
        "TMPDIR": "/state/codex/run-1/tmp",
        "CODEXBRIDGE_MODEL_KEY": KEY,
    }
    assert "CODEXBRIDGE_MODEL_KEY" not in environment(place, None)


def test_what_was_left_is_removed_and_nothing_else(tmp_path: Path) -> None:
    folder = tmp_path / "codex"
    left, kept = make_place(folder, QUICK), folder / "other"
    kept.mkdir()
    for number, target in enumerate((kept, tmp_path / "codex", Path(tempfile.gettempdir()))):
        (folder / f"run-{number}").mkdir()
        (folder / f"run-{number}/desk").symlink_to(target)
    (left.codex_home / "state").symlink_to(kept)
    remove_left(folder)
    assert list(folder.iterdir()) == [kept]
    assert not left.desk.exists()
    remove_place(left)  # without a word about what is gone
