"""Finding the program, and taking no other version of it."""

from __future__ import annotations

from pathlib import Path

import pytest

from local_agent.errors import ModelError
from local_agent.models.codex.program import find_program, read_version


def program(path: Path, *, says: str = "codex-cli 0.169.0", mode: int = 0o755) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(f"#!/bin/sh\necho '{says}'\n", encoding="utf-8")
    path.chmod(mode)
    return path


def why(configured: Path | None, path: str = "", *workspaces: Path) -> object:
    with pytest.raises(ModelError) as refused:
        find_program(configured, {"PATH": path}, workspaces)
    assert refused.value.code == "model.program"
    return refused.value.facts["why"]


def test_the_configured_program_goes_first(tmp_path: Path) -> None:
    mine, other = program(tmp_path / "mine"), program(tmp_path / "bin/codex")
    assert find_program(mine, {"PATH": str(other.parent)}, ()) == mine
    assert find_program(None, {"PATH": f"/nowhere:{other.parent}"}, ()) == other


def test_behind_the_launcher_of_npm_stands_the_binary(tmp_path: Path) -> None:
    modules = tmp_path / "lib/node_modules/@openai"
    launcher = program(modules / "codex/bin/codex.js")
    (tmp_path / "bin").mkdir()
    (tmp_path / "bin/codex").symlink_to(launcher)
    path = {"PATH": str(tmp_path / "bin")}
    assert find_program(None, path, ()) == launcher
    nested = program(modules / "codex/node_modules/@openai/codex-linux-x64/vendor/x86_64/bin/codex")
    assert find_program(None, path, ()) == nested
    beside = program(modules / "codex-linux-x64/vendor/x86_64/bin/codex")
    assert find_program(None, path, ()) == beside
    assert find_program(launcher, {}, ()) == beside


def test_without_a_program_that_is_said(tmp_path: Path) -> None:
    assert why(None) == "missing"
    assert why(None, str(tmp_path)) == "missing"
    assert why(tmp_path / "none") == "missing"
    assert why(tmp_path) == "missing"
    assert why(Path("codex")) == "missing"
    assert why(program(tmp_path / "plain", mode=0o644)) == "missing"


@pytest.mark.requirement("R40")
def test_no_program_is_taken_from_a_workspace(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    workspace = tmp_path / "work"
    inside = program(workspace / "bin/codex")
    outside = tmp_path / "codex"
    outside.symlink_to(inside)
    (workspace / "link").symlink_to(program(tmp_path / "real"))
    assert why(inside, "", workspace) == "workspace"
    assert why(outside, "", workspace) == "workspace"
    assert why(workspace / "link", "", workspace) == "workspace"
    assert why(None, str(inside.parent), workspace) == "missing"
    monkeypatch.chdir(inside.parent)
    assert why(None, ".") == "missing"
    assert why(None, "") == "missing"


def test_a_program_that_everybody_may_change_is_not_started(tmp_path: Path) -> None:
    assert why(program(tmp_path / "codex", mode=0o777)) == "writable"


async def test_the_version_is_read(tmp_path: Path) -> None:
    found = program(tmp_path / "codex", says="codex-cli 0.169.12")
    assert await read_version(found, cwd=tmp_path, env={}) == "0.169.12"


@pytest.mark.parametrize(
    "says",
    [
        "codex-cli 0.170.0",
        "codex-cli 0.168.0",
        "codex-cli 1.169.0",
        "codex-cli 0.169.0-alpha.1",
        "codex-cli 0.169",
        "something else",
        "",
    ],
)
async def test_another_version_is_refused_and_told(tmp_path: Path, says: str) -> None:
    with pytest.raises(ModelError) as refused:
        await read_version(program(tmp_path / "codex", says=says), cwd=tmp_path, env={})
    assert refused.value.code == "model.program"
    assert refused.value.facts == {"why": "version", "found": says, "wanted": "0.169.0"}


async def test_a_program_that_does_not_run_is_told(tmp_path: Path) -> None:
    failing = tmp_path / "codex"
    failing.write_text("#!/bin/sh\necho codex-cli 0.169.0; exit 1\n", encoding="utf-8")
    failing.chmod(0o755)
    garbage = tmp_path / "garbage"
    garbage.write_bytes(b"\x00\x01")
    garbage.chmod(0o755)
    telling = tmp_path / "telling"
    telling.write_text("#!/bin/sh\necho Not logged in >&2; exit 1\n", encoding="utf-8")
    telling.chmod(0o755)
    said = {"why": "said", "said": "Not logged in"}
    for broken, facts in (
        (failing, {"why": "start"}),
        (garbage, {"why": "start"}),
        (tmp_path / "none", {"why": "start"}),
        (telling, said),
    ):
        with pytest.raises(ModelError) as refused:
            await read_version(broken, cwd=tmp_path, env={})
        assert refused.value.facts == facts
