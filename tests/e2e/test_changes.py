"""Changes and undo through real processes: asked, looked at, approved by hand, taken back."""

from __future__ import annotations

import contextlib
import hashlib
import json
import sqlite3
import subprocess
import threading
from collections.abc import Mapping
from pathlib import Path

import pytest

from tests.e2e.place import CODE, Place, Terminal

LOGIN = "def login():\n    retry = 3\n    return retry\n"
NOTES = "one\ntwo\nthree\n"
FIX = """\
diff --git a/login.py b/login.py
--- a/login.py
+++ b/login.py
@@ -1,3 +1,3 @@
 def login():
-    retry = 3
+    retry = 5
     return retry
diff --git a/docs/new.md b/docs/new.md
new file mode 100644
--- /dev/null
+++ b/docs/new.md
@@ -0,0 +1 @@
+新内容
diff --git a/notes.txt b/notes.txt
deleted file mode 100644
--- a/notes.txt
+++ /dev/null
@@ -1,3 +0,0 @@
-one
-two
-three
"""


@pytest.fixture
def workspace(tmp_path: Path) -> Path:
    """A git repository with one commit."""
    root = tmp_path / "shop-api"
    root.mkdir()
    (root / "login.py").write_text(LOGIN, encoding="utf-8")
    (root / "notes.txt").write_text(NOTES, encoding="utf-8")
    git(root, "init", "-q", "-b", "main")
    git(root, "add", "-A")
    git(root, "commit", "-q", "-m", "first")
    return root


@pytest.fixture
def local(place: Place, workspace: Path) -> Place:
    """An agent without a gateway."""
    place.run("workspace", "add", str(workspace), "--test", "true", "--toolchains", "none")
    place.start_agent(connected=False)
    return place


@pytest.fixture
def fix(tmp_path: Path) -> Path:
    """The patch in a file."""
    path = tmp_path / "fix.diff"
    path.write_text(FIX, encoding="utf-8")
    return path


def git(root: Path, *arguments: str) -> None:
    """Run git without anybody's configuration."""
    named = ("-c", "user.name=t", "-c", "user.email=t@example.com")
    subprocess.run(
        ["git", *named, *arguments],
        cwd=root,
        check=True,
        capture_output=True,
        env={"PATH": "/usr/bin:/bin", "GIT_CONFIG_GLOBAL": "/dev/null", "HOME": str(root)},
    )


def tree(root: Path) -> Mapping[str, str]:
    """Return each file and folder below, with the hash and mode of what is in it."""
    return {
        path.relative_to(root).as_posix(): (
            f"{path.stat().st_mode:o} "
            + (hashlib.sha256(path.read_bytes()).hexdigest() if path.is_file() else "folder")
        )
        for path in sorted(root.rglob("*"))
        if ".git" not in path.relative_to(root).parts
    }


def asked(place: Place, *arguments: str) -> str:
    """Ask for something at the terminal and return the task that waits."""
    task = json.loads(place.run(*arguments, "--json").stdout)
    assert task["state"] == "WAITING_APPROVAL", task
    return str(task["short_id"])


@pytest.mark.requirement("P1")
@pytest.mark.requirement("P2")
@pytest.mark.requirement("P5")
@pytest.mark.requirement("R35")
def test_a_patch_is_approved_applied_and_taken_back_to_the_last_byte(
    local: Place, workspace: Path, fix: Path
) -> None:
    before = tree(workspace)
    short_id = asked(local, "apply", str(fix))
    assert tree(workspace) == before, "nothing is written before it is approved"
    assert local.run("diff", short_id).stdout.count("retry = 5") == 1

    shown = local.approve(short_id)
    for expected in ("3 files, +2 −4", "docs/new.md", "2 │+    retry = 5", "can be undone for"):
        assert expected in shown, expected
    assert local.final(short_id)["reason"] == "completed"
    assert "retry = 5" in (workspace / "login.py").read_text(encoding="utf-8")
    assert (workspace / "docs/new.md").read_text(encoding="utf-8") == "新内容\n"
    assert not (workspace / "notes.txt").exists()
    told = local.run("show", short_id).stdout
    assert f"codexbridge undo {short_id}" in told
    assert "docs/new.md" in told

    undo = asked(local, "undo", short_id)
    shown = local.approve(undo)
    assert f"Take back the change of {short_id}" in shown
    assert local.final(undo)["reason"] == "completed"
    assert tree(workspace) == before

    # An undo is a change like any other, and can itself be taken back.
    again = asked(local, "undo", undo)
    local.approve(again)
    assert local.final(again)["reason"] == "completed"
    assert (workspace / "docs/new.md").exists()


@pytest.mark.requirement("P2")
def test_the_exact_bytes_of_a_diff_come_back(local: Place, fix: Path) -> None:
    short_id = asked(local, "apply", str(fix))
    assert local.run("diff", short_id, "--raw").stdout == FIX
    told = json.loads(local.run("diff", short_id, "--json").stdout)
    assert [file["op"] for file in told["files"]] == ["modify", "add", "delete"]


@pytest.mark.requirement("P2")
@pytest.mark.requirement("R24")
@pytest.mark.parametrize("what", ["content", "head"])
def test_what_changes_between_showing_and_approving_is_drift(
    local: Place, workspace: Path, fix: Path, what: str
) -> None:
    short_id = asked(local, "apply", str(fix))
    with Terminal(local.environ, "approve", short_id) as terminal:
        shown = terminal.read_until(":", "：", after=CODE)
        if what == "content":
            (workspace / "login.py").write_text(LOGIN.replace("3", "4"), encoding="utf-8")
        else:
            git(workspace, "commit", "-q", "--allow-empty", "-m", "second")
        before = tree(workspace)
        code = CODE.search(shown)
        assert code
        terminal.type(code[0])
        terminal.read_to_end()
    assert local.final(short_id)["reason"] == "drifted"
    assert tree(workspace) == before


@pytest.mark.requirement("R23")
def test_what_changed_before_it_is_looked_at_is_asked_anew_and_shown_as_it_is(
    local: Place, workspace: Path, fix: Path
) -> None:
    short_id = asked(local, "apply", str(fix))
    git(workspace, "commit", "-q", "--allow-empty", "-m", "second")
    local.approve(short_id)
    assert local.final(short_id)["reason"] == "completed"


@pytest.mark.requirement("P5")
def test_what_was_changed_since_is_not_undone_and_the_rest_can_be(
    local: Place, workspace: Path, fix: Path
) -> None:
    short_id = asked(local, "apply", str(fix))
    local.approve(short_id)
    local.final(short_id)
    (workspace / "login.py").write_text(LOGIN.replace("3", "7"), encoding="utf-8")
    refused = local.run("undo", short_id, check=False)
    assert refused.returncode == 1
    assert "login.py" in refused.stdout
    assert "notes.txt" in refused.stdout, "what can be taken back alone is named"

    undo = asked(local, "undo", short_id, "--only", "docs/new.md", "notes.txt")
    local.approve(undo)
    assert local.final(undo)["reason"] == "completed"
    assert (workspace / "notes.txt").read_text(encoding="utf-8") == NOTES
    assert not (workspace / "docs").exists()
    assert "retry = 7" in (workspace / "login.py").read_text(encoding="utf-8")


@pytest.mark.requirement("R23")
def test_some_files_of_a_change_are_sealed_and_shown_anew(
    local: Place, workspace: Path, fix: Path
) -> None:
    short_id = asked(local, "apply", str(fix))
    first = CODE.search(local.run("show", short_id).stdout)
    with Terminal(local.environ, "approve", short_id, "--only", "login.py") as terminal:
        shown = terminal.read_until(":", "：", after=CODE)
        code = CODE.search(shown)
        assert code
        assert first
        assert code[0] != first[0]
        left_out, _, listed = shown.partition("Left out:")[2].partition("changed  ")
        assert "notes.txt" in left_out
        assert "login.py" in listed
        assert "notes.txt" not in listed
        terminal.type(code[0])
        terminal.read_to_end()
    assert local.final(short_id)["reason"] == "completed"
    assert "retry = 5" in (workspace / "login.py").read_text(encoding="utf-8")
    assert (workspace / "notes.txt").exists()


@pytest.mark.requirement("R32")
@pytest.mark.requirement("R34")
@pytest.mark.parametrize(
    "patch",
    [
        "diff --git a/x b/x\nnew file mode 120000\n--- /dev/null\n+++ b/x\n@@ -0,0 +1 @@\n+/etc\n",
        FIX.replace("docs/new.md", ".git/hooks/post-commit"),
        FIX.replace("docs/new.md", "../outside"),
        FIX.replace("@@ -1,3 +1,3 @@", "@@ -1,9 +1,9 @@"),
        "Binary files a/x and b/x differ\n",
        "",
    ],
)
def test_a_hostile_diff_is_refused_with_one_line(local: Place, workspace: Path, patch: str) -> None:
    before = tree(workspace)
    done = local.run("apply", "-", stdin=patch, check=False)
    assert done.returncode == 2
    assert done.stderr.count("\n") == 1
    assert "Something went wrong" not in done.stderr
    assert local.tasks() == []
    assert tree(workspace) == before


@pytest.mark.requirement("R32")
def test_check_judges_without_an_agent_and_writes_nothing(
    place: Place, workspace: Path, fix: Path
) -> None:
    before = tree(workspace.parent)
    told = json.loads(place.run("check", str(fix), "--folder", str(workspace), "--json").stdout)
    assert (told["verdict"], len(told["files"])) == ("accepted", 3)
    (workspace / "login.py").write_text(LOGIN.replace("3", "4"), encoding="utf-8")
    done = place.run("check", str(fix), "--folder", str(workspace), "--json", check=False)
    told = json.loads(done.stdout)
    assert done.returncode == 1
    assert (told["verdict"], told["code"], told["path"]) == ("refused", "diff.context", "login.py")
    (workspace / "login.py").write_text(LOGIN, encoding="utf-8")
    assert tree(workspace.parent) == before


def given_to(place: Place, short_id: str, member: str) -> None:
    """Let a task be one that a member asked for: no model is there yet to propose one."""
    place.kill("agent")
    with contextlib.closing(sqlite3.connect(place.root / "state" / "journal.db")) as journal:
        journal.execute(
            "UPDATE tasks SET source = 'wecom', channel = 'wecom_app', claimed_user = ?,"
            " thread_id = ? WHERE short_id = ?",
            (member, f"wecom_app:{place.made.config.first.app_id}:{member}", short_id),
        )
        journal.commit()
    place.start_agent()


@pytest.mark.requirement("P1")
@pytest.mark.requirement("P7")
def test_an_undo_from_the_chat_is_asked_at_the_machine_and_told_in_the_chat(
    place: Place, workspace: Path, fix: Path
) -> None:
    before = tree(workspace)
    place.start_all(workspace, "true")
    short_id = asked(place, "apply", str(fix))
    place.approve(short_id)
    assert place.final(short_id)["reason"] == "completed"
    changed = tree(workspace)

    place.callback(f"@dev undo {short_id}")
    told = place.hears("– refused on dev-1")
    assert short_id in told, "what a person did at the machine is not a member's to take back"

    given_to(place, short_id, "zhangwei")
    place.callback(f"@dev 撤销 {short_id} notes.txt")
    undo = place.waiting()["short_id"]
    told = place.hears(undo, "dev-1", "notes.txt")
    assert tree(workspace) == changed, "a message changes nothing"
    shown = place.approve(undo)
    assert "zhangwei" in shown
    assert CODE.search(told), "the chat shows the code to compare"
    assert place.final(undo)["reason"] == "completed"
    place.hears(undo, "已")
    after = tree(workspace)
    assert after["notes.txt"] == before["notes.txt"]
    assert after["login.py"] == changed["login.py"], "the other files stay as they are"


@pytest.mark.requirement("P3")
@pytest.mark.requirement("P5")
@pytest.mark.requirement("P7")
@pytest.mark.thorough
def test_an_agent_killed_among_many_files_leaves_what_can_be_put_back_around_a_foreign_edit(
    local: Place, workspace: Path, tmp_path: Path
) -> None:
    names = [f"file{number:03}.txt" for number in range(480)]
    for name in names:
        (workspace / name).write_text("old\n", encoding="utf-8")
    patch = tmp_path / "many.diff"
    patch.write_text(
        "".join(f"--- a/{name}\n+++ b/{name}\n@@ -1 +1 @@\n-old\n+new\n" for name in names),
        encoding="utf-8",
    )
    before = tree(workspace)
    short_id = asked(local, "apply", str(patch))
    approver = threading.Thread(target=_approve_and_lose, args=(local, short_id))
    approver.start()
    # Without a pause between two looks: all of the files are written within tens of milliseconds.
    while (workspace / names[0]).read_bytes() != b"new\n" and approver.is_alive():
        pass
    local.kill("agent")
    approver.join(30)
    (workspace / names[7]).write_text("by hand\n", encoding="utf-8")
    local.start_agent(connected=False)

    assert local.final(short_id)["reason"] == "unknown"
    shown = json.loads(local.run("show", short_id, "--json").stdout)
    mixture = shown["task"]["change"]["mixture"]
    assert mixture["new"]
    assert mixture["foreign"] == [names[7]]
    assert sorted([*mixture["new"], *mixture["old"], names[7]]) == names
    assert not list(workspace.glob(".codexbridge-*"))
    local.approve(asked(local, "undo", short_id))
    assert (workspace / names[7]).read_text(encoding="utf-8") == "by hand\n"
    (workspace / names[7]).write_text("old\n", encoding="utf-8")
    assert tree(workspace) == before


def _approve_and_lose(place: Place, short_id: str) -> None:
    # The agent is killed under the approver: how that ends is its own matter.
    with contextlib.suppress(AssertionError):
        place.approve(short_id)
