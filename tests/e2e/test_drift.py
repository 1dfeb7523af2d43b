"""Between the showing at a real terminal and the typed code something changes: nothing runs."""

from __future__ import annotations

import contextlib
import sqlite3
from collections.abc import Callable
from pathlib import Path

import pygit2
import pytest

from tests.e2e.place import CODE, Place, Terminal
from tests.each import few

pytestmark = [
    pytest.mark.requirement("P2", "P7", "R24"),
]


VARIABLE = "SHOP_TOKEN"


def _change_a_byte(place: Place, workspace: Path) -> None:
    path = workspace / "login.py"
    path.write_text(path.read_text(encoding="utf-8").replace("3", "4"), encoding="utf-8")


def _change_the_script(place: Place, workspace: Path) -> None:
    with (workspace / "count.sh").open("a", encoding="utf-8") as script:
        script.write("echo more >> ran.txt\n")


def _change_the_program(place: Place, workspace: Path) -> None:
    (workspace / "count").write_text("#!/bin/sh\necho other >> ran.txt\n", encoding="utf-8")


def _commit(place: Place, workspace: Path) -> None:
    repository = pygit2.Repository(str(workspace))
    who = pygit2.Signature("Me", "me@example.com", 1_700_000_000, 0)
    parents = [] if repository.head_is_unborn else [repository.head.target]
    tree = repository.index.write_tree()
    repository.create_commit("refs/heads/main", who, who, "x", tree, parents)


def _allow_a_variable(place: Place, workspace: Path) -> None:
    place.run("workspace", "add", str(workspace), "--toolchains", "none", "--pass-env", VARIABLE)


def _journal(place: Place) -> sqlite3.Connection:
    (path,) = place.root.rglob("journal.db")
    return sqlite3.connect(path, timeout=10)


def _approval_state(place: Place) -> str:
    with contextlib.closing(_journal(place)) as database:
        (state,) = database.execute("SELECT state FROM approvals").fetchone()
    return str(state)


def _rewrite_seal(place: Place, old: bytes, new: bytes) -> None:
    with contextlib.closing(_journal(place)) as database, database:
        # Whoever writes into the file past the agent takes its own guard away first.
        guards = database.execute("SELECT name FROM sqlite_master WHERE type = 'trigger'")
        for (name,) in guards.fetchall():
            database.execute(f"DROP TRIGGER {name}")
        row = database.execute("SELECT rowid, seal FROM approvals").fetchone()
        assert old in row[1]
        changed = (row[1].replace(old, new), row[0])
        database.execute("UPDATE approvals SET seal = ? WHERE rowid = ?", changed)


def _tamper_with_argv(place: Place, workspace: Path) -> None:
    _rewrite_seal(place, b'"argv":["./count"', b'"argv":["./other"')


def _tamper_with_the_end(place: Place, workspace: Path) -> None:
    _rewrite_seal(place, b'"expires_at":1', b'"expires_at":2')


DRIFTS: dict[str, Callable[[Place, Path], None]] = {
    "a byte of a file": _change_a_byte,
    "the script it runs": _change_the_script,
    "the program": _change_the_program,
    "the commit": _commit,
    "the environment's allow-list": _allow_a_variable,
}
FORGERIES: dict[str, Callable[[Place, Path], None]] = {
    "the sealed argv": _tamper_with_argv,
    "the sealed end": _tamper_with_the_end,
}


@pytest.fixture
def shop(place: Place, workspace: Path) -> Place:
    """Everything runs, and the workspace is a repository with a program."""
    place.extra = {VARIABLE: "1"}
    for name, line in (("count", "run"), ("other", "evil")):
        program = workspace / name
        program.write_text(f"#!/bin/sh\necho {line} >> ran.txt\n", encoding="utf-8")
        program.chmod(0o755)
    pygit2.init_repository(str(workspace), initial_head="main").index.add_all()
    _commit(place, workspace)
    place.start_all(workspace, "./count")
    return place


def _approve_late(place: Place, short_id: str, meanwhile: Callable[[], None]) -> None:
    """Read what is shown, let something happen, and only then type the code."""
    with Terminal(place.environ, "approve", short_id) as terminal:
        shown = terminal.read_until(":", "：", after=CODE)
        code = CODE.search(shown)
        assert code, shown
        meanwhile()
        terminal.type(code[0])
        terminal.read_to_end()


@pytest.mark.parametrize("drift", few(DRIFTS, 2))
def test_what_changed_after_it_was_shown_does_not_run(
    shop: Place, workspace: Path, drift: str
) -> None:
    assert shop.callback("@dev test") == 200
    short_id = str(shop.waiting()["short_id"])
    _approve_late(shop, short_id, lambda: DRIFTS[drift](shop, workspace))
    assert shop.final(short_id)["reason"] == "drifted"
    assert shop.hears(short_id, "not run")
    assert not (workspace / "ran.txt").exists()


PATCH = "--- a/login.py\n+++ b/login.py\n@@ -1 +1 @@\n-retry = 3\n+retry = 5\n"


def _in_editor(place: Place, workspace: Path) -> None:
    with (workspace / "login.py").open("a", encoding="utf-8") as file:
        file.write("x")


def _make_executable(place: Place, workspace: Path) -> None:
    (workspace / "login.py").chmod(0o755)


def _by_link(place: Place, workspace: Path) -> None:
    (workspace / "login.py").rename(workspace / "real.py")
    (workspace / "login.py").symlink_to("real.py")


CHANGE_DRIFTS: dict[str, Callable[[Place, Path], None]] = {
    "a byte of the file": _in_editor,
    "the executable bit": _make_executable,
    "the file is a link to itself": _by_link,
    "the commit": _commit,
}


def _ask_for(place: Place, command: str, argument: str) -> str:
    place.run(command, argument)
    return str(place.waiting()["short_id"])


@pytest.mark.parametrize("drift", few(CHANGE_DRIFTS, 2))
def test_a_change_to_what_has_changed_writes_nothing(
    shop: Place, workspace: Path, tmp_path: Path, drift: str
) -> None:
    (tmp_path / "a.patch").write_text(PATCH, encoding="utf-8")
    short_id = _ask_for(shop, "apply", str(tmp_path / "a.patch"))
    _approve_late(shop, short_id, lambda: CHANGE_DRIFTS[drift](shop, workspace))
    assert shop.final(short_id)["reason"] == "drifted"
    assert "retry = 3" in (workspace / "login.py").read_text(encoding="utf-8")


@pytest.mark.requirement("P5")
def test_an_undo_of_what_has_changed_writes_nothing(
    shop: Place, workspace: Path, tmp_path: Path
) -> None:
    (tmp_path / "a.patch").write_text(PATCH, encoding="utf-8")
    applied = _ask_for(shop, "apply", str(tmp_path / "a.patch"))
    shop.approve(applied)
    assert shop.final(applied)["reason"] == "completed"
    short_id = _ask_for(shop, "undo", applied)
    _approve_late(shop, short_id, lambda: _in_editor(shop, workspace))
    assert shop.final(short_id)["reason"] == "drifted"
    assert (workspace / "login.py").read_text(encoding="utf-8") == "retry = 5\nx"


@pytest.mark.parametrize("forgery", few(FORGERIES, 2))
def test_a_stored_approval_that_was_tampered_with_runs_nothing(
    shop: Place, workspace: Path, forgery: str
) -> None:
    assert shop.callback("@dev test") == 200
    short_id = str(shop.waiting()["short_id"])
    _approve_late(shop, short_id, lambda: FORGERIES[forgery](shop, workspace))
    assert shop.processes["agent"].poll() is None
    assert _approval_state(shop) == "pending"
    assert not (workspace / "ran.txt").exists()
