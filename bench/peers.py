"""What accepting is measured against: its store functions by themselves, and plain SQLite."""

from __future__ import annotations

import asyncio
import hashlib
import secrets
import time
from collections.abc import Callable, Mapping, Sequence
from datetime import UTC
from pathlib import Path
from types import MappingProxyType, TracebackType
from typing import Any, Concatenate, Final, ParamSpec, Self, TypeVar, cast

from bench.load import TEXTS
from common.clock import SystemClock
from common.signing import SigningKey
from gateway.base.identity import sealer
from gateway.base.messages import FIRST_APP, InboundMessage, Part, Person
from gateway.flow.access import IntakePolicy
from gateway.flow.alarms import Alarms
from gateway.flow.intake import Intake
from gateway.store import Connection, Store, agents, members
from gateway.store.lane import Job
from gateway.store.runner import commit_group, open_admin
from gateway.store.sqlite import connect

P = ParamSpec("P")
T = TypeVar("T")

# What one accepted task writes: keys of the message, task, event, frame, answer, audit entry; and
# the number on the agent's row.
ROWS: Final = 6
FRAME_BYTES: Final = 1000
ROW_BYTES: Final = 150


def enrol(store: Path, users: Sequence[str]) -> None:
    """Put members on the allow-list, each with a machine that has never been online."""
    at_ms = SystemClock().now().wall_ms

    def add_all(conn: Connection) -> None:
        for number, user in enumerate(users):
            key = SigningKey.generate().public
            members.add(conn, Person(FIRST_APP, user), lang=None, at_ms=at_ms)
            name = f"dev-{number}"
            agents.enrol(conn, f"agent-{number}", machine=name, public_key=key, at_ms=at_ms)
            members.bind(conn, Person(FIRST_APP, user), f"agent-{number}", at_ms=at_ms)

    with open_admin(store) as admin:
        admin.write(add_all)


class _Collected(Store):
    """A store that runs nothing: it keeps the calls for whoever commits them."""

    def __init__(self) -> None:
        self.calls: list[Callable[[Connection], Any]] = []

    async def write(
        self, fn: Callable[Concatenate[Connection, P], T], /, *args: P.args, **kwargs: P.kwargs
    ) -> T:
        """Keep a call and wait for ever."""
        self.calls.append(lambda conn: fn(conn, *args, **kwargs))
        never: asyncio.Future[T] = asyncio.get_running_loop().create_future()
        return await never

    async def write_unsynced(
        self, fn: Callable[Concatenate[Connection, P], T], /, *args: P.args, **kwargs: P.kwargs
    ) -> T:
        """Fail: what the intake writes is durable."""
        raise AssertionError(fn)

    async def sync(self) -> None:
        """Do nothing."""

    async def read(
        self, fn: Callable[Concatenate[Connection, P], T], /, *args: P.args, **kwargs: P.kwargs
    ) -> T:
        """Fail: the intake reads nothing outside its transaction."""
        raise AssertionError(fn)


class StoreAlone:
    """The intake transaction, looped over `commit_group` in one thread.

    Args:
        folder: Where its store is.
        users: Its members.
        messages: Of ``(user, number)``, as `bench.load.messages_of` made them.
    """

    def __init__(
        self, folder: Path, users: Sequence[str], messages: Sequence[tuple[str, int]]
    ) -> None:
        path = folder / "gateway.db"
        enrol(path, users)
        self._driver = connect(path)
        self._checkpoints = connect(path)
        self._loop = asyncio.new_event_loop()
        self._calls = self._loop.run_until_complete(_collect(messages))

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        _kind: type[BaseException] | None,
        _error: BaseException | None,
        _trace: TracebackType | None,
    ) -> None:
        self._loop.close()
        self._driver.close()
        self._checkpoints.close()

    def rate(self, group: int, *, seconds: float) -> float:
        """Return how many were accepted in a second."""
        done, begun = 0, time.perf_counter()
        while time.perf_counter() < begun + seconds and self._calls:
            calls, self._calls = self._calls[:group], self._calls[group:]
            jobs = [Job(call, self._loop.create_future()) for call in calls]
            commit_group(self._driver, jobs)
            assert all(job.error is None and job.value.answer.agent_id for job in jobs)
            done += len(jobs)
        found = done / (time.perf_counter() - begun)
        self._checkpoints.execute("PRAGMA wal_checkpoint")  # not timed: the gateway has a thread
        return found


class _Silent:
    """Sends and announces nothing."""

    held: Mapping[str, object] = MappingProxyType({})

    def wake(self) -> None:
        """Nothing is sent."""

    def announce(self, conn: Connection, event: str, *, app: str, at_ms: int) -> None:
        """No app has anything to tell."""


async def _collect(messages: Sequence[tuple[str, int]]) -> list[Callable[[Connection], Any]]:
    store, key = _Collected(), SigningKey.generate()
    intake = Intake(
        store,
        IntakePolicy("@dev", "zh", UTC),
        cast("Alarms", _Silent()),
        seal=sealer(lambda _: key),
        clock=SystemClock(),
        wake_agent=lambda _agent_id, _newest: None,
        sender=_Silent(),
    )
    waiting = [
        asyncio.ensure_future(intake(_message(user, number), secrets.token_bytes(32)))
        for user, number in messages
    ]
    await asyncio.sleep(0)
    for task in waiting:
        task.cancel()
    await asyncio.gather(*waiting, return_exceptions=True)
    return store.calls


def _message(user: str, number: int) -> InboundMessage:
    name = hashlib.sha256(f"{user}:{number}".encode()).hexdigest()
    text = f"{TEXTS[number % len(TEXTS)]} ({number})"
    parts = (Part("text", text),)
    return InboundMessage("wecom_app", "1000002", user, parts, name, int(time.time()))


class PlainCommits:
    """As many rows of about the same size, without an index, in groups on a table of their own."""

    def __init__(self, path: Path) -> None:
        self._driver = connect(path)
        self._driver.execute("CREATE TABLE rows (id INTEGER PRIMARY KEY, content BLOB NOT NULL)")
        self._driver.execute("CREATE TABLE numbers (id INTEGER PRIMARY KEY, next INTEGER NOT NULL)")
        self._driver.execute("INSERT INTO numbers VALUES (1, 1)")
        small = [(secrets.token_bytes(ROW_BYTES),)] * (ROWS - 1)
        self._rows = [*small, (secrets.token_bytes(FRAME_BYTES),)]

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        _kind: type[BaseException] | None,
        _error: BaseException | None,
        _trace: TracebackType | None,
    ) -> None:
        self._driver.close()

    def rate(self, group: int, *, seconds: float) -> float:
        """Return how many times the rows of one task were committed in a second."""
        done, begun = 0, time.perf_counter()
        while time.perf_counter() < begun + seconds:
            self._driver.execute("BEGIN IMMEDIATE")
            for _ in range(group):
                self._driver.execute("UPDATE numbers SET next = next + 1 WHERE id = 1")
                self._driver.executemany("INSERT INTO rows (content) VALUES (?)", self._rows)
            self._driver.execute("COMMIT")
            done += group
        found = done / (time.perf_counter() - begun)
        self._driver.execute("PRAGMA wal_checkpoint")
        return found
