"""What a run keeps of its playbook, and whether that lay in a workspace."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from local_agent.flow.run_bundle import pack, unpack
from local_agent.playbooks.library import read_playbook
from local_agent.playbooks.runs import Place

PLAYBOOK = """---
name: demo
hooks: {pre: first}
steps: [{name: look, type: tool, tool: git_status}]
---
"""
HOOK = PLAYBOOK.replace("hooks: {pre: first}\n", "").replace("demo", "first")


@pytest.fixture
def place(tmp_path: Path) -> Path:
    """A workspace, and a folder outside of it, each with the playbook and its hook."""
    for name in ("ws", "outside"):
        (tmp_path / name / "hooks").mkdir(parents=True)
        (tmp_path / name / "demo.md").write_text(PLAYBOOK, encoding="utf-8")
        (tmp_path / name / "hooks" / "first.md").write_text(HOOK, encoding="utf-8")
    return tmp_path.resolve()


def linked(place: Path) -> Path:
    """A link in the workspace to a file outside: who can change the workspace can change it."""
    (place / "ws" / "link.md").symlink_to(place / "outside" / "demo.md")
    return place / "ws" / "link.md"


def reached(place: Path) -> Path:
    """A link from outside into the workspace."""
    (place / "into").symlink_to(place / "ws")
    return place / "into" / "demo.md"


def hooked(place: Path) -> Path:
    """A playbook outside, whose hooks lie in the workspace."""
    for file in (place / "outside" / "hooks").iterdir():
        file.unlink()
    (place / "outside" / "hooks").rmdir()
    (place / "outside" / "hooks").symlink_to(place / "ws" / "hooks")
    return place / "outside" / "demo.md"


@pytest.mark.requirement("P2")
@pytest.mark.parametrize(
    ("file", "inside"),
    [
        (lambda place: place / "ws" / "demo.md", True),
        (linked, True),
        (reached, True),
        (hooked, True),
        (lambda place: place / "outside" / "demo.md", False),
    ],
)
def test_what_any_part_of_lies_in_a_workspace_is_kept_as_such(
    place: Path, file: Callable[[Path], Path], inside: bool
) -> None:
    raw = pack(read_playbook(file(place)), lambda folder: folder == place / "ws")
    (place / "ws").rename(place / "moved")
    bundle = unpack(raw)
    assert (bundle.in_workspace, bundle.definition.name) == (inside, "demo")
    assert [*bundle.steps] == [Place("main", 0), Place("pre", 0)]
    assert json.loads(raw)["hooks"] == {"first": HOOK}
