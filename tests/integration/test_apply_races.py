"""Somebody else is in the workspace while a change is made: nothing leaves it, nothing is lost."""

from __future__ import annotations

import asyncio
import os
import random
import signal
import tempfile
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from common.errors import InputError
from common.model.state import Reason
from local_agent.workspace import temporary_files, writer
from local_agent.workspace.temporary_files import Name
from tests.changing import Changing
from tests.hostile_diffs.case import EDITED, SOURCE, Tree, delete, edit, git_add, lay, snapshot

pytestmark = pytest.mark.requirement("R24", "R35", "R36")

TRIES = 400  # one in seven meets the other process
_IN_MEMORY = Path("/dev/shm")
TREE: Tree = {"dir/sub/a.txt": SOURCE, "top.txt": SOURCE}
_BACK = edit("dir/sub/a.txt").replace(b"-two\n+TWO\n", b"-TWO\n+two\n")


@pytest.fixture
def fast(tmp_path: Path) -> Iterator[Path]:
    """A folder in memory, where there is such a file system."""
    if not _IN_MEMORY.is_dir():
        yield tmp_path
        return
    with tempfile.TemporaryDirectory(dir=_IN_MEMORY) as folder:
        yield Path(folder)


@contextmanager
def swapping(folder: Path, outside: Path) -> Iterator[None]:
    """Let another process turn a folder into a link that leads out, and back, without rest."""
    parked = folder.with_name("parked")
    child = os.fork()
    if child == 0:
        try:
            while True:
                _look(folder, random.randrange(3000))
                folder.rename(parked)
                folder.symlink_to(outside)
                _look(folder, random.randrange(300))
                folder.unlink()
                parked.rename(folder)
        finally:
            os._exit(1)
    try:
        yield
    finally:
        os.kill(child, signal.SIGKILL)
        os.waitpid(child, 0)
        if folder.is_symlink():
            folder.unlink()
        if parked.exists():
            parked.rename(folder)


def _look(folder: Path, times: int) -> None:
    """Spend some time, which is another one each time."""
    for _ in range(times):
        folder.lstat()


@pytest.mark.timeout(300)
@pytest.mark.parametrize("swapped", ["dir", "dir/sub"])
@pytest.mark.thorough
def test_nothing_lands_outside_while_a_folder_is_swapped_for_a_link(
    fast: Path, swapped: str
) -> None:
    workspace = lay(fast, TREE)
    outside = fast / "outside"
    for name in ("a.txt", "sub/a.txt"):  # so that every path leads to something there, too
        (outside / name).parent.mkdir(exist_ok=True)
        (outside / name).write_bytes(SOURCE)
    before = snapshot(outside)
    desk = Changing.at(workspace, fast / "state")
    with swapping(workspace / swapped, outside):
        endings, made = asyncio.run(_try_all(desk))
    assert snapshot(outside) == before
    assert set(endings) <= {Reason.COMPLETED, Reason.DRIFTED}
    assert min(endings[Reason.COMPLETED], endings[Reason.DRIFTED]) > 0
    # Every change is there whole or not at all, and nothing else is.
    sub = workspace / "dir/sub"
    assert sorted(path.name for path in sub.iterdir()) == sorted([*made, "a.txt"])
    assert (sub / "a.txt").read_bytes() == (EDITED if len(made) % 2 else SOURCE)
    assert sorted(path.name for path in workspace.iterdir()) == ["dir", "top.txt"]


async def _try_all(desk: Changing) -> tuple[Counter[Reason], list[str]]:
    endings: Counter[Reason] = Counter()
    made: list[str] = []
    while endings.total() < TRIES:
        name = f"new-{endings.total()}.txt"
        change = _BACK if len(made) % 2 else edit("dir/sub/a.txt")
        diff = change + git_add(f"dir/sub/{name}", "@@ -0,0 +1 @@", "+new")
        try:
            seal = desk.seal(await desk.applier.prepare(desk.workspace, diff))
        except InputError:
            continue  # swapped while it was looked at: nothing to approve
        outcome = await desk.run(seal)
        endings[outcome.reason] += 1
        if outcome.reason is Reason.COMPLETED:
            made.append(name)
    return endings, made


def _meddle_before(monkeypatch: pytest.MonkeyPatch, name: str, act: Callable[[], None]) -> None:
    """Let something happen right before a step of the writer."""
    real = getattr(writer, name)

    def step(first: Name, second: Name) -> None:
        act()
        real(first, second)

    monkeypatch.setattr(writer, name, step)


@pytest.fixture(params=["renameat2", "in steps"])
def desk(
    request: pytest.FixtureRequest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> Changing:
    """A tree, with the kernel's exchange of names and without."""
    if request.param == "in steps":
        monkeypatch.setattr(temporary_files, "_system_call", lambda: None)
    return Changing.at(lay(tmp_path, {**TREE, "old.txt": b"old\n"}), tmp_path / "state")


def _once(act: Callable[[], object]) -> Callable[[], None]:
    done: list[object] = []

    def first_time() -> None:
        if not done:
            done.append(act())

    return first_time


ALL = (
    edit("dir/sub/a.txt")
    + edit("top.txt")
    + delete("old.txt", "@@ -1 +0,0 @@", "-old")
    + git_add("new.txt", "@@ -0,0 +1 @@", "+new")
)


@pytest.mark.parametrize("step", ["exchange", "place"])
@pytest.mark.parametrize("name", ["top.txt", "old.txt", "new.txt", "dir/sub/a.txt"])
async def test_an_editor_that_is_faster_keeps_its_version(
    desk: Changing, monkeypatch: pytest.MonkeyPatch, step: str, name: str
) -> None:
    path = desk.workspace.path / name
    seal = desk.seal(await desk.applier.prepare(desk.workspace, ALL))
    before = snapshot(desk.workspace.path)
    _meddle_before(monkeypatch, step, _once(lambda: path.write_bytes(b"by hand\n")))
    outcome = await desk.run(seal)
    after = snapshot(desk.workspace.path)
    assert after.pop(name)[1] == b"by hand\n"
    before.pop(name, None)
    if (name, step) == ("old.txt", "exchange"):
        # It was removed already: a new file of that name is nobody's business.
        assert outcome.reason is Reason.COMPLETED
        return
    assert outcome.reason is Reason.DRIFTED
    assert after == before


@pytest.mark.parametrize("kind", ["link", "fifo", "folder"])
async def test_something_else_in_the_place_of_a_file_is_put_back(
    desk: Changing, monkeypatch: pytest.MonkeyPatch, kind: str
) -> None:
    path = desk.workspace.path / "top.txt"

    def swap() -> None:
        path.unlink()
        if kind == "link":
            path.symlink_to("../outside/canary")
        elif kind == "fifo":
            os.mkfifo(path)
        else:
            path.mkdir()

    seal = desk.seal(await desk.applier.prepare(desk.workspace, ALL))
    before = snapshot(desk.workspace.path)
    _meddle_before(monkeypatch, "exchange", _once(swap))
    outcome = await desk.run(seal)
    assert outcome.reason is Reason.DRIFTED
    after = snapshot(desk.workspace.path)
    assert after.pop("top.txt")[0] == {"link": "link", "fifo": "special", "folder": "folder"}[kind]
    before.pop("top.txt")
    assert after == before


async def test_a_folder_that_is_carried_out_gets_its_files_back(
    desk: Changing, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    folder, outside = desk.workspace.path / "dir", tmp_path / "outside" / "carried"
    seal = desk.seal(await desk.applier.prepare(desk.workspace, ALL))
    before = snapshot(folder)
    _meddle_before(monkeypatch, "exchange", _once(lambda: folder.rename(outside)))
    outcome = await desk.run(seal)
    assert (outcome.reason, outcome.code) == (Reason.DRIFTED, "change.moved")
    assert snapshot(outside) == before
    assert not folder.exists()
    assert (desk.workspace.path / "top.txt").read_bytes() == SOURCE


async def test_a_file_that_is_edited_while_we_roll_back_keeps_the_edit(
    desk: Changing, monkeypatch: pytest.MonkeyPatch
) -> None:
    top = desk.workspace.path / "top.txt"
    seal = desk.seal(await desk.applier.prepare(desk.workspace, ALL))

    def fail(_self: object) -> None:
        top.write_bytes(b"by hand, after us\n")
        raise OSError(5, "Input/output error")

    monkeypatch.setattr(writer._Transaction, "_verify", fail)
    outcome = await desk.run(seal)
    assert (outcome.reason, outcome.code) == (Reason.UNKNOWN, "change.half-done")
    assert outcome.paths == ("top.txt",)
    assert top.read_bytes() == b"by hand, after us\n"
    assert not list(desk.workspace.path.rglob(".codexbridge-*"))
    assert (desk.workspace.path / "dir/sub/a.txt").read_bytes() == SOURCE
