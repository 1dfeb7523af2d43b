"""Run the check first, through real processes: approved by itself, and gone afterwards."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.e2e.place import CODE, Place, Terminal, sample, wait_until
from tests.e2e.test_changes import asked, git, tree

pytestmark = [pytest.mark.needs("bubblewrap")]

TEST = "grep -q 'retry = 5' login.py && echo 1 passed && echo x > ran.txt && rm notes.txt"
FIX = """\
diff --git a/login.py b/login.py
--- a/login.py
+++ b/login.py
@@ -1 +1 @@
-retry = 3
+retry = 5
"""


@pytest.fixture
def workspace(tmp_path: Path) -> Path:
    root = sample(tmp_path / "shop-api", [("login.py", "retry = 3\n"), ("notes.txt", "one\n")])
    git(root, "init", "-q", "-b", "main")
    git(root, "add", "-A")
    git(root, "commit", "-q", "-m", "first")
    return root


@pytest.fixture
def fix(tmp_path: Path) -> Path:
    path = tmp_path / "fix.diff"
    path.write_text(FIX, encoding="utf-8")
    return path


def begun(place: Place, workspace: Path, test: str = TEST) -> None:
    """Start an agent without a gateway, on this workspace."""
    place.run("workspace", "add", str(workspace), "--test", test, "--toolchains", "none")
    place.start_agent(connected=False)


def copies(place: Place) -> list[str]:
    """Return the copies that there are."""
    folder = next(place.root.rglob("checks"), None)
    return [path.name for path in folder.iterdir()] if folder else []


@pytest.mark.requirement("P1")
@pytest.mark.requirement("P2")
def test_a_change_is_tried_out_on_a_copy_and_then_applied(
    place: Place, workspace: Path, fix: Path
) -> None:
    begun(place, workspace)
    before = tree(workspace)
    short_id = asked(place, "apply", str(fix))
    with Terminal(place.environ, "approve", short_id, "--check") as terminal:
        terminal.read_until(":", "：", after=CODE)
        shown = terminal.shown
        assert f"Try the change of {short_id} out" in shown
        assert "a copy of the workspace" in " ".join(shown.split())
        assert "nothing to take back" in shown
        assert len(copies(place)) == 1
        code = CODE.search(shown)
        assert code
        terminal.type(code[0])
        wait_until(lambda: len(set(CODE.findall(more(terminal)))) > 1)
        assert tree(workspace) == before, "the check changed nothing"
        assert "1 passed" in terminal.shown
        assert "passed on a copy with this change" in terminal.shown
        assert copies(place) == []
        terminal.type("-".join(CODE.findall(terminal.shown)[-1]))
        terminal.read_to_end()
    assert place.final(short_id)["reason"] == "completed"
    assert (workspace / "login.py").read_text(encoding="utf-8") == "retry = 5\n"
    assert (workspace / "notes.txt").exists()
    assert not (workspace / "ran.txt").exists()


def more(terminal: Terminal) -> str:
    """Read on, and return all that was shown."""
    return terminal.read_until(":", "：", after=CODE)


@pytest.mark.requirement("R41", "P7")
def test_in_a_linked_work_tree_git_works_or_nothing_is_said_to_have_failed(
    place: Place, workspace: Path, fix: Path
) -> None:
    linked = workspace.parent / "linked"
    git(workspace, "worktree", "add", "-q", str(linked), "-b", "linked")
    add = ("workspace", "add", str(linked), "--test", "git status --short")
    assert "git does not work" in place.run(*add, "--toolchains", "none").stderr
    place.start_agent(connected=False)
    short_id = asked(place, "apply", str(fix))
    with Terminal(place.environ, "approve", short_id, "--check") as terminal:
        assert "could not be checked here" in " ".join(terminal.read_to_end().split())
    place.run(*add, "--toolchains", "git")
    with Terminal(place.environ, "approve", short_id, "--check") as terminal:
        terminal.read_until(":", "：", after=CODE)
        code = CODE.search(terminal.shown)
        assert code
        terminal.type(code[0])
        wait_until(lambda: len(set(CODE.findall(more(terminal)))) > 1)
        assert "passed on a copy with this change" in " ".join(terminal.shown.split())
    assert "FAILED" not in terminal.shown


@pytest.mark.requirement("P1")
def test_nothing_runs_when_the_check_is_not_approved(
    place: Place, workspace: Path, fix: Path
) -> None:
    begun(place, workspace)
    short_id = asked(place, "apply", str(fix))
    with Terminal(place.environ, "approve", short_id, "--check") as terminal:
        terminal.read_until(":", "：", after=CODE)
        terminal.type("")
        assert "stays waiting" in terminal.read_to_end()
    waiting = {task["short_id"]: task["state"] for task in place.tasks()}
    assert set(waiting.values()) == {"WAITING_APPROVAL"}
    place.run("reject", short_id)
    (check,) = set(waiting) - {short_id}
    assert place.final(check)["reason"] == "cancelled"
    wait_until(lambda: copies(place) == [])


@pytest.mark.requirement("P3")
def test_a_check_that_was_killed_leaves_nothing_and_the_change_waits_on(
    place: Place, workspace: Path, fix: Path
) -> None:
    begun(place, workspace, "sh -c 'echo begun; sleep 30'")
    short_id = asked(place, "apply", str(fix))
    with Terminal(place.environ, "approve", short_id, "--check") as terminal:
        shown = terminal.read_until(":", "：", after=CODE)
        code = CODE.search(shown)
        assert code
        terminal.type(code[0])
        wait_until(lambda: "EXECUTING" in {task["state"] for task in place.tasks()})
        assert len(copies(place)) == 1
        place.kill("agent")
    place.start_agent(connected=False)
    assert copies(place) == []
    ends = {task["short_id"]: task["reason"] for task in place.tasks()}
    assert ends.pop(short_id) is None
    assert set(ends.values()) == {"unknown"}
    told = json.loads(place.run("show", short_id, "--json").stdout)
    assert told["approval"]["state"] == "pending"


def test_where_there_is_no_test_command_that_is_said(
    place: Place, workspace: Path, fix: Path
) -> None:
    place.run("workspace", "add", str(workspace), "--toolchains", "none")
    place.start_agent(connected=False)
    short_id = asked(place, "apply", str(fix))
    with Terminal(place.environ, "approve", short_id, "--check") as terminal:
        assert "has no test command" in terminal.read_to_end()
