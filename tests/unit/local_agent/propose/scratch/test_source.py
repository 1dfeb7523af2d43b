"""Names that may be edited in a copy, and what agents obey."""

from __future__ import annotations

from pathlib import Path

import pytest

from common.errors import InputError
from local_agent.propose.scratch.source import (
    AGENT_FILES,
    AGENT_FOLDERS,
    MAX_DEPTH,
    check_name,
    is_agent_config,
    relative,
)
from local_agent.workspace.paths import DENY_FILE
from tests.each import each

ROOT = Path("/state/scratch/tree")


def _code(path: str, *deny: str) -> str:
    with pytest.raises(InputError) as caught:
        check_name(path.split("/"), deny)
    return caught.value.code


def test_an_absolute_path_is_taken_by_its_spelling_alone() -> None:
    assert relative(ROOT, ROOT / "a" / "b") == ("a", "b")
    assert relative(ROOT, "a//./b/") == ("a", "b")
    for outside in ("/state/scratch/tree2/a", "/state/scratch/tree", "//state/scratch/tree/a"):
        with pytest.raises(InputError) as caught:
            relative(ROOT, outside)
        assert caught.value.code == "scratch.outside"


@pytest.mark.requirement("R34")
def test_git_is_refused_in_any_spelling() -> None:
    for path in (".git", ".GIT/config", "a/.Git/x", "git~1/x", "\uff0egit/config"):
        assert _code(path) == "scratch.forbidden", path
    for path in (".g\u200bit/x", ".git\u202e/x", ".git\\x", ".git:stream", ".git /x", ".git./x"):
        assert _code(path) == "path.malformed", path


def test_what_agents_obey_is_refused_in_any_case_and_at_any_depth() -> None:
    for name in AGENT_FOLDERS:
        assert is_agent_config(("a", name.upper(), "b"))
    for name in AGENT_FILES:
        assert is_agent_config(("a", name.title()))
        assert _code(f"a/{name}") == "scratch.forbidden"
    assert DENY_FILE in AGENT_FILES, "no model loosens what is kept from it"
    assert not is_agent_config(("agents.md", "a.py")), "a folder may bear the name"


@each("path", [".github/workflows/ci.yml", ".gitignore", ".vscode/settings.json", "a/.hidden"])
def test_other_hidden_files_may_be_proposed(path: str) -> None:
    assert check_name(path.split("/"), ()) == path


@pytest.mark.requirement("R52")
def test_secrets_and_what_the_person_denies_may_not() -> None:
    for path in (".env", ".env.local", "a/id_rsa", "x.pem", ".ssh/config", "infra/x.tfstate"):
        assert _code(path) == "path.denied"
    assert _code("mine/a.txt", "mine") == _code("a.log", "*.log") == "path.denied"


def test_depth_is_bounded() -> None:
    deepest = "/".join(["a"] * (MAX_DEPTH + 1))
    assert check_name(deepest.split("/"), ()) == deepest
    assert _code(f"{deepest}/a") == "path.malformed"
