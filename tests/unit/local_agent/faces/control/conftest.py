"""Operations over a real journal and a real gate, with an engine that the test carries."""

from __future__ import annotations

import asyncio
import hashlib
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping, Sequence
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest

from common.clock import ManualClock
from common.diff.patching import Hunks
from common.errors import InputError, StateError, StoreError
from common.home import find_home
from common.model.proposal import TaskStateChanged
from common.model.state import TaskState
from local_agent.faces.control.operations import AgentOperations
from local_agent.faces.control.wire import Content, Request, decode_answer, encode_event
from local_agent.faces.page.passkeys import Passkeys
from local_agent.faces.telling import Teller
from local_agent.faces.window.program import Windows
from local_agent.flow.bus import QUEUE_EVENTS, Bus, Reader, Told
from local_agent.flow.gate import Gate
from local_agent.flow.ports import RunWish
from local_agent.models.backend import Health
from local_agent.models.registry import Configured
from local_agent.safety.risk import Circumstances
from local_agent.store.journal import JournalThread
from local_agent.store.runs import StoredRun
from local_agent.store.tasks import NewTask, Task
from local_agent.views.status import (
    Connection,
    OpenWorkspace,
    PolicyStanding,
    Surroundings,
    WindowsStanding,
)
from local_agent.workspace.registry import Workspace
from tests.sealed import AGENT, LINE, PYTEST, Step, Wish, a_peer, a_seal, fresh_journal

PATIENCE = 30.0
SURROUNDINGS = Surroundings(
    machine="build-1",
    gateway=Connection(url=None, state="unpaired"),
    key_storage=None,
    workspaces=(
        OpenWorkspace(name="shop", path="/home/zhang/项目", policy=PolicyStanding(state="none")),
    ),
    stray_policies=(),
    sandbox="bubblewrap",
    sandbox_reason="sandbox.ok",
    windows=WindowsStanding(state="off", why="setting"),
)


class WatchedBus(Bus):
    """Tells when somebody has begun to read."""

    def __init__(self) -> None:
        super().__init__()
        self.reading = asyncio.Event()

    def read(self, *, task_id: str | None = None, size: int = QUEUE_EVENTS) -> Reader:
        self.reading.set()
        return super().read(task_id=task_id, size=size)

    async def read_by_someone(self, seconds: float) -> None:
        async with asyncio.timeout(seconds):
            await self.reading.wait()


class ScriptedEngine:
    """Writes tasks and lets the test carry them."""

    def __init__(self, db: JournalThread, clock: ManualClock) -> None:
        self.db = db
        self.clock = clock
        self.submitted: list[NewTask] = []
        self.taken = 0
        self.slow = asyncio.Event()
        self.slow.set()
        self.arrived = asyncio.Event()
        self.written = asyncio.Event()
        self.anew: Callable[[str], Awaitable[None]] = _as_it_is
        self.narrowed: list[tuple[str, str, tuple[str, ...], Hunks]] = []
        self.checks: NewTask | None = None
        self.wanted: list[str] = []

    async def submit(self, new: NewTask) -> Task:
        self.arrived.set()
        await self.slow.wait()
        if self.taken:
            self.taken -= 1
            raise StoreError("store.short-id-taken", short_id=new.short_id)
        self.submitted.append(new)
        task = await self.db.run(self.db.journal.tasks.create, new, self.clock.now().wall_ms)
        self.written.set()
        return task

    async def apply(self, task_id: str) -> None:
        self.wanted.append(task_id)

    async def cancel(self, task_id: str) -> bool:
        return await self.db.run(self.db.journal.tasks.request_cancel, task_id)

    async def refresh(self, task_id: str) -> None:
        """Ask anew, where the test wants it."""
        await self.anew(task_id)

    async def narrow(
        self, approval_id: str, digest: str, keep: tuple[str, ...], hunks: Hunks
    ) -> None:
        """Ask anew for less."""
        self.narrowed.append((approval_id, digest, keep, hunks))
        await self.anew((await self.db.run(self.db.journal.approvals.get, approval_id)).task_id)

    async def check(self, approval_id: str, digest: str) -> Task:
        """Begin what the test has laid ready."""
        del approval_id, digest
        assert self.checks is not None
        return await self.submit(self.checks)

    async def play(self, wish: RunWish, new: NewTask) -> StoredRun:
        raise AssertionError("tests of runs have a real engine")

    async def roll_back(self, run_id: str, new: NewTask) -> StoredRun:
        raise AssertionError("tests of runs have a real engine")

    async def mend_runs(self) -> list[str]:
        return []

    async def resume(
        self, run_id: str, new: NewTask, *, gate_timeout_s: float | None, answers: str | None = None
    ) -> StoredRun:
        raise AssertionError("tests of runs have a real engine")


async def _as_it_is(task_id: str) -> None:
    """Ask nothing anew."""


class Shelf:
    """Blobs in memory."""

    def __init__(self) -> None:
        self.kept: dict[str, bytes] = {}

    def put(self, data: bytes) -> str:
        """Keep the bytes under their hash."""
        name = hashlib.sha256(data).hexdigest()
        self.kept[name] = data
        return name

    def get(self, name: str) -> bytes:
        """Return the bytes."""
        return self.kept[name]


class NoModels:
    """What an agent has that no model was described to."""

    def name(self) -> str:
        """Return that none is asked."""
        return ""

    def configured(self) -> Sequence[Configured]:
        """Return that there are none."""
        return ()

    async def check(self, name: str) -> tuple[str, Health]:
        """Say that there are none."""
        raise StateError("models.none", name=name)


class CountedPage:
    """A door of the page that counts who opens it."""

    def __init__(self) -> None:
        self.opened = 0

    async def open(self) -> str:
        """Return a link that leads nowhere."""
        self.opened += 1
        return f"http://localhost:1/launch#{self.opened}"

    async def shut(self) -> None:
        """Begin to count again."""
        self.opened = 0


class OneWorkspace:
    """A machine with one workspace."""

    def __init__(self, only: Workspace) -> None:
        self.only = only

    def find(self, name: str | None = None) -> Workspace:
        """Return it by its name, or as the default."""
        if name not in (None, self.only.name):
            raise InputError("workspace.unknown", name=name)
        return self.only


class Desk:
    def __init__(self, db: JournalThread, clock: ManualClock, folder: Path) -> None:
        self.db = db
        self.clock = clock
        self.gate = Gate(db, clock=clock, key=lambda: AGENT)
        self.bus = WatchedBus()
        self.engine = ScriptedEngine(db, clock)
        self.shelf = Shelf()
        teller = Teller(
            db, self.gate, machine="build-1", workspaces=lambda: {"/home/zhang/项目": "shop"}
        )
        self.page = CountedPage()
        self.rotations = 0
        self.forgotten = 0
        self.workspaces = OneWorkspace(Workspace(name="shop", path=folder, default=True))
        self.passkeys = Passkeys(db, self.gate.entrance("passkey"), clock, windows=Windows())
        self.operations = AgentOperations(
            db=db,
            gate=self.gate,
            entrance=self.gate.entrance("terminal"),
            engine=self.engine,
            bus=self.bus,
            tell=teller.tell,
            prefix="@dev",
            user="zhang",
            surroundings=lambda: SURROUNDINGS,
            blobs=self.shelf,
            rotate=self.rotate,
            receipt=self.receipt,
            models=NoModels(),
            places=find_home({"CODEXBRIDGE_HOME": str(folder / "home")}),
            workspaces=self.workspaces,
            forget_closed=self.forget_closed,
            passkeys=self.passkeys,
            page=self.page,
        )

    async def forget_closed(self) -> None:
        self.forgotten += 1

    async def rotate(self) -> str:
        self.rotations += 1
        return "0123456789abcdef"

    def receipt(self, short_id: str) -> bytes:
        return f"receipt of {short_id}".encode()

    async def ask(self, op: str, **args: Any) -> Mapping[str, Any]:
        *_, (_, value) = await self.steps(op, **args)
        return value

    async def steps(
        self, op: str, *, body: bytes = b"", **args: Any
    ) -> list[tuple[bool, Mapping[str, Any]]]:
        async with asyncio.timeout(PATIENCE):
            answers = self.operations.answer(Request(op, args, body))
            return [(last, _travelled(value)) async for last, value in answers]

    async def walk(self, until: TaskState, task_id: str = "task-1") -> None:
        for expected, state in pairwise(LINE):
            await self.change(Step(task_id=task_id, expected=expected, state=state))
            if state is until:
                return

    async def change(self, step: Step) -> None:
        task = await self.db.run(self.db.journal.tasks.change, step)
        event = TaskStateChanged(thread_id="thread-1", task_id=step.task_id, state=task.state)
        self.bus.publish(Told(event))

    async def waiting(self) -> str:
        """Bring one task to its approval and return the digest."""
        await self.db.run(self.db.journal.tasks.create, Wish(), self.clock.now().wall_ms)
        await self.walk(TaskState.WAITING_APPROVAL)
        asked = await self.gate.request(a_seal(self.clock), around=Circumstances(allowed=[PYTEST]))
        return asked.digest


def _travelled(value: Content) -> Mapping[str, Any]:
    """Return an answer as it comes out of the socket."""
    return decode_answer(encode_event(value))[1]


@pytest.fixture
async def desk(tmp_path: Path) -> AsyncIterator[Desk]:
    clock = ManualClock()
    db = await JournalThread.open(
        fresh_journal(tmp_path / "j.db"), clock=clock, key=lambda: AGENT, peer=a_peer(clock)
    )
    folder = tmp_path / "shop"
    folder.mkdir()
    yield Desk(db, clock, folder)
    await db.close()
