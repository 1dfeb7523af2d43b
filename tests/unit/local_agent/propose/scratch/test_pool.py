"""Where copies lie: used again, put right, never dirty, and removed in the end."""

from __future__ import annotations

import asyncio
import os
import signal
import sqlite3
import subprocess
import sys
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest

from common.clock import ManualClock, SystemClock
from tests.scratching import Lending, contents, snapshot, write_files

pytestmark = pytest.mark.heavy

ROOT = Path(__file__).parents[4]
FILES = {"a.py": "a\n", "src/b.py": "b\n", "src/deep/c.py": "c\n"}


@pytest.fixture
def lending(tmp_path: Path) -> Lending:
    return Lending(tmp_path, FILES)


@pytest.fixture
def kept(lending: Lending) -> Iterator[Lending]:
    """Lend, when the test is done, what must be as the workspace is."""
    yield lending
    with lending.lend() as copy:
        assert contents(copy.root) == contents(lending.path)
        assert copy.diff().diff == b""


def _inodes(root: Path) -> dict[str, int]:
    return {str(path.relative_to(root)): path.stat().st_ino for path in root.rglob("*.py")}


def test_a_tree_is_used_again_and_only_what_was_touched_is_made_anew(kept: Lending) -> None:
    with kept.lend() as copy:
        root, before = copy.root, _inodes(copy.root)
        copy.write("a.py", b"changed\n")
        copy.delete("src/b.py")
        write_files(copy.root, {"stray/x.py": "x\n"})
        (copy.root / "empty").mkdir()
    after = _inodes(root)
    assert contents(root) == contents(kept.path)
    assert not (root / "stray").exists()
    assert not (root / "empty").exists()
    assert after["src/deep/c.py"] == before["src/deep/c.py"]
    with kept.lend() as copy:
        assert copy.root == root
        assert _inodes(root) == after


def test_a_tree_follows_the_workspace(kept: Lending) -> None:
    with kept.lend():
        pass
    write_files(kept.path, {"a.py": "A\n", "new/d.py": "d\n"})
    (kept.path / "src/b.py").unlink()
    (kept.path / "src/deep/c.py").chmod(0o755)
    with kept.lend() as copy:
        assert contents(copy.root) == contents(kept.path)
        assert (copy.root / "src/deep/c.py").stat().st_mode & 0o100
        assert copy.diff().diff == b""


def test_a_tree_follows_when_files_and_folders_change_places(kept: Lending) -> None:
    with kept.lend():
        pass
    (kept.path / "a.py").unlink()
    (kept.path / "src/deep/c.py").unlink()
    (kept.path / "src/deep").rmdir()
    write_files(kept.path, {"a.py/x": "x\n", "src/deep": "now a file\n"})
    with kept.lend() as copy:
        assert (copy.root / "a.py/x").read_bytes() == b"x\n"
        assert (copy.root / "src/deep").read_bytes() == b"now a file\n"


def test_a_file_of_the_same_size_and_time_is_seen_as_another(kept: Lending) -> None:
    with kept.lend():
        pass
    times = (kept.path / "a.py").stat()
    (kept.path / "a.py").write_bytes(b"z\n")
    os.utime(kept.path / "a.py", ns=(times.st_atime_ns, times.st_mtime_ns))


def test_the_root_is_a_real_path_whichever_links_lead_there(kept: Lending, tmp_path: Path) -> None:
    (tmp_path / "elsewhere").mkdir()
    (tmp_path / "state").symlink_to(tmp_path / "elsewhere")
    with kept.lend() as copy:
        assert copy.root.is_relative_to(tmp_path / "elsewhere")
        assert copy.inside(copy.root / "a.py") == "a.py"


def test_what_becomes_binary_or_secret_leaves_the_tree(lending: Lending) -> None:
    with lending.lend():
        pass
    write_files(lending.path, {"a.py": b"\0"})
    lending.deny = ("deep",)
    lending.restart()
    for _ in range(2):
        with lending.lend() as copy:
            assert contents(copy.root).keys() == {"src/b.py"}


def test_each_of_several_tasks_has_a_tree_of_its_own(kept: Lending) -> None:
    with kept.lend() as one, kept.lend() as two, kept.lend() as three:
        roots = {one.root, two.root, three.root}
        assert len(roots) == 3
        for number, copy in enumerate((one, two, three)):
            copy.write("a.py", f"{number}\n".encode())
        diffs = {copy.diff().diff for copy in (one, two, three)}
        assert len(diffs) == 3
    assert {root.exists() for root in (one.root, two.root)} == {True}
    assert not three.root.exists(), "two are kept"


def test_workspaces_do_not_share_trees(tmp_path: Path) -> None:
    for name in ("one", "two"):
        (tmp_path / name).mkdir()
    one, two = Lending(tmp_path / "one", FILES), Lending(tmp_path / "two", {"z.py": "z\n"})
    two.scratches = one.scratches
    with one.lend():
        pass
    with two.lend() as copy:
        assert contents(copy.root).keys() == {"z.py"}


def test_another_agent_goes_on_with_the_tree_after_it_compared_the_contents(kept: Lending) -> None:
    with kept.lend() as copy:
        root, before = copy.root, _inodes(copy.root)
    kept.restart()
    with kept.lend() as copy:
        assert copy.root == root
        assert _inodes(root) == before


def test_a_tree_with_other_contents_than_the_table_tells_is_put_right(kept: Lending) -> None:
    # As after a loss of power: the stamps are those of the table, the content is not.
    with kept.lend() as copy:
        place = copy.root.parent
    path = place / "tree/a.py"
    path.write_bytes(b"?\n")
    status = path.stat()
    with closing(sqlite3.connect(place / "table")) as table, table:
        table.execute(
            "UPDATE file SET copy_mtime_ns = ?, copy_ctime_ns = ? WHERE path = 'a.py'",
            (status.st_mtime_ns, status.st_ctime_ns),
        )
    table.close()
    kept.clock = ManualClock(SystemClock().now().wall_ms + 60_000)
    kept.restart()


@pytest.mark.parametrize("damage", [b"", b"no table at all" * 1000])
def test_a_table_that_cannot_be_read_is_made_anew(kept: Lending, damage: bytes) -> None:
    with kept.lend() as copy:
        place = copy.root.parent
    (place / "table").write_bytes(damage)
    write_files(place / "tree", {"left.py": "x\n"})


def test_a_table_of_another_version_is_made_anew(kept: Lending) -> None:
    with kept.lend() as copy:
        place = copy.root.parent
    with closing(sqlite3.connect(place / "table")) as table, table:
        table.execute("PRAGMA user_version = 99")
    table.close()
    write_files(place / "tree", {"left.py": "x\n"})


# --- killed ---

_CHILD = """
import asyncio, os, signal, sys
from pathlib import Path
from common.home import Home
from local_agent.propose.scratch import slot, tree
from local_agent.propose.scratch import Scratches
from local_agent.workspace.registry import Workspace

top, moment = Path(sys.argv[1]), sys.argv[2]

def killing(cls, name, count):
    plain, left = getattr(cls, name), [count]
    def method(*args, **named):
        left[0] -= 1
        if left[0] < 0:
            os.kill(os.getpid(), signal.SIGKILL)
        return plain(*args, **named)
    setattr(cls, name, method)

def kill_from(method, count=0):
    killing({"write": tree.ScratchTree, "remove_whole": tree.ScratchTree,
             "keep": slot.Table, "put": slot.Table}[method], method, count)

async def main():
    home = Home(top / "config", top / "state", top / "run")
    scratches, workspace = Scratches(home), Workspace(name="ours", path=top / "workspace")
    if moment == "making":
        kill_from("write", 2)
    if moment == "made":
        kill_from("keep", 1)
    async with scratches.lend(workspace, whole=True) as copy:
        (copy.root / "a.py").write_text("dirty\\n", encoding="utf-8")
        (copy.root / "stray").mkdir()
        (copy.root / "stray/x.py").write_text("x\\n", encoding="utf-8")
        if moment == "lent":
            os.kill(os.getpid(), signal.SIGKILL)
        kill_from({"tidying": "remove_whole", "mending": "write", "noting": "put",
                   "keeping": "keep"}[moment])

asyncio.run(main())
"""


@pytest.mark.thorough
@pytest.mark.requirement("P3")
@pytest.mark.parametrize(
    "moment", ["making", "made", "lent", "tidying", "mending", "noting", "keeping"]
)
@pytest.mark.parametrize("warm", [False, True])
def test_a_tree_that_a_kill_left_is_never_taken_for_clean(
    kept: Lending, moment: str, *, warm: bool
) -> None:
    if warm:
        with kept.lend():
            pass
        write_files(kept.path, {f"more/{number}.py": "m\n" for number in range(4)})
    before = snapshot(kept.path)
    ended = subprocess.run(
        [sys.executable, "-c", _CHILD, str(kept.top), moment],
        cwd=ROOT,
        check=False,
        capture_output=True,
        encoding="utf-8",
    )
    assert ended.returncode == -signal.SIGKILL, ended.stderr
    assert snapshot(kept.path) == before
    kept.restart()


# --- how long they are kept ---


def test_what_nobody_used_for_seven_days_is_removed(tmp_path: Path) -> None:
    clock = ManualClock(SystemClock().now().wall_ms)
    lending = Lending(tmp_path, FILES, clock=clock)
    with lending.lend() as copy:
        place = copy.root.parent
    clock.advance(6.9 * 24 * 3600)
    asyncio.run(lending.scratches.tidy())
    assert place.exists()
    with lending.lend():
        clock.advance(8 * 24 * 3600)
        asyncio.run(lending.scratches.tidy())
        assert place.exists(), "somebody has it"
    clock.advance(6.9 * 24 * 3600)
    asyncio.run(lending.scratches.tidy())
    assert place.exists()
    clock.advance(0.2 * 24 * 3600)
    asyncio.run(lending.scratches.tidy())
    assert not place.exists()


def test_what_a_kill_left_for_once_is_removed(lending: Lending) -> None:
    asyncio.run(lending.scratches.tidy())
    left = lending.state / "once-0123"
    (left / "tree").mkdir(parents=True)
    with lending.lend(whole=False) as copy:
        asyncio.run(lending.scratches.tidy())
        assert copy.root.exists()
    assert not left.exists()


def test_nothing_is_kept_of_a_workspace_that_was_closed(kept: Lending) -> None:
    with kept.lend() as one, kept.lend() as two:
        pass
    with kept.lend() as copy:
        asyncio.run(kept.scratches.keep_only([kept.path.parent / "another"]))
        assert copy.root == one.root
        assert copy.root.exists(), "somebody has it"
        assert not two.root.exists()
    assert not copy.root.exists()
    with kept.lend() as copy:
        pass
    assert copy.root.exists(), "it was opened again"


@pytest.mark.parametrize("redacted", [False, True])
def test_trees_of_open_workspaces_stay(kept: Lending, *, redacted: bool) -> None:
    with kept.lend(redacted=redacted) as copy:
        asyncio.run(kept.scratches.keep_only([kept.path]))
        assert copy.root.exists()
    assert copy.root.exists()
    asyncio.run(kept.scratches.keep_only([kept.path]))
    assert copy.root.exists()
    asyncio.run(kept.scratches.keep_only([]))
    assert not copy.root.parent.parent.exists()
