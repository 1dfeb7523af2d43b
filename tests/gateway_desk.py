"""The gateway's desk for tests: a real store in a folder, a clock moved by hand, one member.

Nothing here is a fake but the clock: messages go through intake, results through results, and what
a machine says is signed with its own key.
"""

from __future__ import annotations

import asyncio
import atexit
import hashlib
import shutil
import tempfile
from collections.abc import AsyncIterator, Collection, Iterator, Mapping
from contextlib import asynccontextmanager, contextmanager
from dataclasses import dataclass, field, replace
from datetime import timedelta, timezone
from functools import cache
from pathlib import Path
from typing import Any

import structlog

from common.clock import ManualClock
from common.ids import new_uuid
from common.protocol.envelope import (
    Envelope,
    agent_name,
    gateway_name,
    open_envelope,
    seal_envelope,
)
from common.protocol.frames import EnvelopeType
from common.sentences import Lang
from common.signing import SigningKey
from gateway.base.identity import sealer
from gateway.base.messages import InboundMessage, Part, Person
from gateway.flow import withdrawal
from gateway.flow.access import IntakePolicy, Limits
from gateway.flow.alarms import Admins, Alarms
from gateway.flow.countersigning import Countersigner
from gateway.flow.intake import Intake
from gateway.flow.results import Results
from gateway.flow.rotation import Ring
from gateway.flow.upkeep import Upkeep
from gateway.link import Departure
from gateway.link.mailbox import Mailbox
from gateway.store import Connection, agents, as_record, audit, members, tasks
from gateway.store.members import Role
from gateway.store.outbox import Message
from gateway.store.runner import SqliteRunner, open_store
from gateway.store.sqlite import SqliteConnection, connect, ensure_current
from gateway.store.tasks import Task
from tests.people import someone

ZONE = timezone(timedelta(hours=8))
NOON_MS = 1_767_240_000_000  # 2026-01-01 12:00 at +08:00
AGENT = "agent-1"
MACHINE = "dev-1"
USER = "zhang"


@cache
def _template() -> Path:
    folder = Path(tempfile.mkdtemp(prefix="codexbridge-test-"))
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    ensure_current(folder / "gateway.db")
    return folder / "gateway.db"


def fresh_store(folder: Path) -> Path:
    """Return a store of the newest revision in ``folder``, without the cost of migrating."""
    path = folder / "state" / "gateway.db"
    path.parent.mkdir(mode=0o700)
    shutil.copy(_template(), path)
    path.chmod(0o600)
    return path


@contextmanager
def transaction(folder: Path) -> Iterator[SqliteConnection]:
    """Open one connection inside one transaction, for tests of store functions."""
    driver = connect(fresh_store(folder))
    driver.execute("BEGIN IMMEDIATE")
    yield SqliteConnection(driver)
    driver.close()


def logger() -> Any:
    """Return a log that goes nowhere."""
    return structlog.wrap_logger(structlog.testing.CapturingLogger(), processors=[])


def chat(
    text: str | None, *, user: str = USER, number: int = 1, kind: str = "text"
) -> InboundMessage:
    """Return a message as the callback hands it over."""
    name = hashlib.sha256(f"{user}:{number}".encode()).hexdigest()
    parts = () if kind == "event" else (Part(kind, text or ""),)
    event = "click" if kind == "event" else None
    return InboundMessage("wecom_app", "1000002", user, parts, name, 1_767_240_000, event)


class OneKey:
    """The keys of a gateway that never rotated."""

    def __init__(self, key: SigningKey) -> None:
        self._key = key

    def offered(self) -> tuple[SigningKey, ...]:
        """Return the one."""
        return (self._key,)

    def signing(self, key_id: str | None) -> SigningKey:
        """Return the one, whatever it is called."""
        return self._key

    def holds(self, public: bytes) -> bool:
        """Tell whether it is this one."""
        return public == self._key.public.raw

    def add(self) -> SigningKey:
        """Make none: a test that rotates brings a `KeyRing`."""
        raise AssertionError("this desk has one key for good")

    def reload(self) -> Collection[str]:
        """Return its name."""
        return (self._key.public.key_id,)

    def unused(self, pinned: Collection[str | None]) -> tuple[str, ...]:
        """Return none."""
        return ()

    def drop(self, names: Collection[str]) -> None:
        """Drop none."""


@dataclass
class Desk:
    """Everything around one store."""

    store: SqliteRunner
    clock: ManualClock
    limits: Limits = field(default_factory=Limits)
    lang: Lang = "en"
    daily: dict[str, int] = field(default_factory=dict)
    admins: Collection[Person] = ()
    gateway_key: SigningKey = field(default_factory=SigningKey.generate)
    agent_key: SigningKey = field(default_factory=SigningKey.generate)
    ring: Ring | None = None  # the one key unless given
    woken: list[str] = field(default_factory=list)
    held: Mapping[str, object] = field(default_factory=dict)
    newest: Envelope | None = None
    rung: int = 0
    epoch: int = 0
    sent: int = 0
    number: int = 0

    def __post_init__(self) -> None:
        """Build the parts on the store."""
        if self.ring is None:
            self.ring = OneKey(self.gateway_key)
        self.seal = seal = sealer(self.ring.signing)
        admins = Admins("wecom_app", tuple(self.admins), ("main",), self.lang, ZONE, self.wake)
        self.alarms = Alarms(
            self.store, admins=admins, clock=self.clock, log=logger(), noted=Path("noted.json")
        )
        self.intake = Intake(
            self.store,
            IntakePolicy(
                "@dev", self.lang, ZONE, limits=self.limits, daily=self.daily, admins=self.admins
            ),
            self.alarms,
            seal=seal,
            clock=self.clock,
            wake_agent=self._wake,
            sender=self,
        )
        self.countersigner = Countersigner(
            seal=seal, key=lambda: self.gateway_key, is_ours=self.ring.holds, log=logger()
        )
        self.results = Results(
            self.store,
            seal=seal,
            clock=self.clock,
            zone=ZONE,
            lang=self.lang,
            wake_outbox=self.wake,
            countersigner=self.countersigner,
            log=logger(),
        )
        self.mailbox = Mailbox(
            self.store,
            seal=seal,
            clock=self.clock,
            receive=self.results.received,
            recheck=withdrawal.recheck,
            reload_keys=self.ring.reload,
        )
        self.upkeep = Upkeep(
            self.store,
            seal=seal,
            countersigner=self.countersigner,
            ring=self.ring,
            clock=self.clock,
            zone=ZONE,
            prefix="@dev",
            wake_agent=self.woken.append,
            wake_outbox=self.wake,
            log=logger(),
        )

    def _wake(self, agent_id: str, newest: Envelope | None) -> None:
        self.woken.append(agent_id)
        self.newest = newest

    def wake(self) -> None:
        """Count the hints that something is to be said."""
        self.rung += 1

    async def write(self, fn: Any, *args: Any, **facts: Any) -> Any:
        """Run a store function."""
        return await self.store.write(fn, *args, **facts)

    async def add_member(
        self, user: str = USER, *, lang: Lang | None = None, role: Role | None = None
    ) -> None:
        """Put a person on the allow-list."""
        at_ms = self.clock.now().wall_ms
        await self.store.write(members.add, someone(user), lang=lang, role=role, at_ms=at_ms)

    async def add_machine(
        self, agent_id: str = AGENT, machine: str = MACHINE, *, user: str = USER
    ) -> None:
        """Enrol a machine and let it work for a member."""
        at_ms = self.clock.now().wall_ms
        key = self.agent_key.public if agent_id == AGENT else SigningKey.generate().public
        await self.store.write(agents.enrol, agent_id, machine=machine, public_key=key, at_ms=at_ms)
        await self.store.write(members.bind, someone(user), agent_id, at_ms=at_ms)

    async def connect(
        self, agent_id: str = AGENT, *, pinned: str | None = None, last_seq: int | None = None
    ) -> None:
        """Let the machine come online, with what it has acknowledged unless told otherwise."""
        assert self.ring is not None
        if last_seq is None:
            last_seq = await self.store.read(_acked, agent_id)
        pinned = pinned or self.ring.offered()[0].public.key_id
        connected = await self.mailbox.connect(agent_id, gateway_key_id=pinned, last_seq=last_seq)
        assert connected is not None
        self.epoch = connected.epoch

    async def disconnect(self, agent_id: str = AGENT) -> None:
        """Let the machine go offline."""
        await self.mailbox.disconnected(Departure(agent_id, self.epoch, self.clock.now().wall_ms))

    async def hear(
        self,
        text: str | None,
        *,
        user: str = USER,
        kind: str = "text",
        event: str | None = None,
        chat_id: str = "",
        quote: str = "",
    ) -> str | None:
        """Deliver a new chat message; returns what is said to it."""
        self.number += 1
        before = len(await self.said(user))
        replay = hashlib.sha256(str(self.number).encode()).digest()
        message = chat(text, user=user, number=self.number, kind=kind)
        message = replace(message, event=event or message.event, chat=chat_id, quote=quote)
        await self.intake(message, replay)
        await self.store.write(_receipts_sent)
        after = await self.said(user)
        return after[-1] if len(after) > before else None

    async def said(self, user: str = USER) -> list[str]:
        """Return all that was ever put into the outbox for a person, but overtaken progress."""
        return [
            message.text for message in await self.store.read(_outbox) if message.user_id == user
        ]

    async def tasks(self) -> list[Task]:
        """Return all tasks, the newest first."""
        return await self.store.read(tasks.newest, limit=100)

    async def task(self) -> Task:
        """Return the only task."""
        (only,) = await self.tasks()
        return only

    async def ask(self, text: str = "@dev test") -> Task:
        """Let the member ask for something; returns the task."""
        await self.hear(text)
        return (await self.tasks())[0]

    async def mail(self, after: int = 0) -> list[Envelope]:
        """Return what waits for the machine, verified as the machine would."""
        frames = await self.mailbox.pending(AGENT, after_seq=after, limit=100)
        return [self.opened(frame) for _, frame in frames]

    def opened(self, frame: bytes) -> Envelope:
        """Verify a frame of the gateway as the machine would."""
        return open_envelope(
            frame,
            key=self.gateway_key.public,
            iss=gateway_name(self.gateway_key.public),
            aud=agent_name(AGENT),
            at=self.clock.now(),
        )

    def signed(
        self,
        typ: EnvelopeType,
        body: dict[str, Any],
        *,
        agent_id: str = AGENT,
        seq: int | None = None,
    ) -> Envelope:
        """Return what the machine says, under its next number."""
        if seq is None:
            self.sent += 1
        now = self.clock.now().wall_s
        return seal_envelope(
            self.agent_key,
            typ=typ,
            iss=agent_name(agent_id),
            aud=gateway_name(self.gateway_key.public),
            jti=new_uuid(),
            seq=self.sent if seq is None else seq,
            iat=now,
            exp=now + 300,
            body=body,
        )

    async def tell(self, envelope: Envelope, *, agent_id: str = AGENT) -> bool:
        """Let the gateway hear an envelope; False when the connection is no longer current."""
        taken = await self.mailbox.received(agent_id, epoch=self.epoch, envelope=envelope)
        return taken != "stale"

    async def event(
        self, task: Task, state: str, message: str = "", *, waiting: dict[str, Any] | None = None
    ) -> bool:
        """Let the machine report a step."""
        body = {
            "task_id": task.task_id,
            "state": state,
            "message": message,
            "waiting": waiting,
            "at": self.clock.now().wall_ms,
        }
        return await self.tell(self.signed("event", body))

    async def events(self, task: Task, *states: str) -> None:
        """Let the machine report several steps."""
        for state in states:
            await self.event(task, state)

    async def result(
        self, task: Task, state: str, reason: str, summary: str = "", **changed: Any
    ) -> bool:
        """Let the machine report an end."""
        body = {
            "task_id": task.task_id,
            "task_sha256": task.envelope_sha256,
            "state": state,
            "reason": reason,
            "summary": summary,
            "at": self.clock.now().wall_ms,
        }
        return await self.tell(self.signed("result", body | changed))

    async def audited(self) -> list[str]:
        """Return the bodies of the audit log."""
        return [body.decode() for _, _, body, _ in await self.store.read(audit.entries)]


def _acked(conn: Connection, agent_id: str) -> int:
    row = conn.one(
        "SELECT MAX(seq) AS seq FROM mailbox WHERE agent_id = :agent_id AND acked_at IS NOT NULL",
        agent_id=agent_id,
    )
    return (row["seq"] or 0) if row else 0


def _outbox(conn: Connection) -> list[Message]:
    told = "SELECT * FROM outbox WHERE kind <> 'progress' OR state <> 'dropped' ORDER BY id"
    return [as_record(Message, row) for row in conn.all(told)]


def _receipts_sent(conn: Connection) -> None:
    """Let the moment pass in which something truer than a receipt could come."""
    conn.run(
        "UPDATE outbox SET state = 'sent'"
        " WHERE state = 'queued' AND kind = 'progress' AND key LIKE 'answer:%'"
    )


@asynccontextmanager
async def open_desk(
    folder: Path, *, limits: Limits | None = None, ring: Ring | None = None
) -> AsyncIterator[Desk]:
    """Open a desk with one member whose one machine is enrolled and has never been online."""
    store = await asyncio.to_thread(lambda: open_store(fresh_store(folder)))
    desk = Desk(store, ManualClock(NOON_MS), limits=limits or Limits(), ring=ring)
    await desk.add_member()
    await desk.add_machine()
    try:
        yield desk
    finally:
        await store.close()


WAITING = {"seal_code": "7K3F-9Q2M", "expires_at": NOON_MS + 24 * 3_600_000, "machine": MACHINE}
TO_APPROVAL = ("ROUTED", "CONTEXT_COLLECTED", "PROPOSING", "PROPOSAL_READY")
