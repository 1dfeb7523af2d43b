"""SQLite's own: durability, the lock, group commit, checkpoints, and admins beside the server."""

from __future__ import annotations

import asyncio
import os
import shutil
import sqlite3
import stat
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import closing
from functools import partial
from pathlib import Path

import pytest

from common.errors import AuthError, ConfigError, StoreError
from gateway.store import Connection, audit, members
from gateway.store.lane import MAX_QUEUED, Job
from gateway.store.runner import (
    SqliteRunner,
    checkpoint,
    commit_group,
    open_admin,
    open_store,
)
from gateway.store.sqlite import ServerLock, SqliteConnection, connect, damaged
from tests.gateway_desk import fresh_store
from tests.people import someone

AT = 1_767_240_000_000


async def _opened(folder: Path) -> SqliteRunner:
    return await asyncio.to_thread(lambda: open_store(fresh_store(folder)))


@pytest.fixture
def loop() -> Iterator[asyncio.AbstractEventLoop]:
    """Return a loop that stands still, to make futures with."""
    still = asyncio.new_event_loop()
    yield still
    still.close()


def _count(path: Path) -> int:
    with closing(sqlite3.connect(path)) as driver, driver:
        return int(driver.execute("SELECT COUNT(*) FROM members").fetchone()[0])


@pytest.mark.requirement("P3")
async def test_what_was_answered_is_on_the_disk(tmp_path: Path) -> None:
    store = await _opened(tmp_path)
    await store.write(members.add, someone("zhang"), lang=None, at_ms=AT)
    # What a killed process leaves behind: the files as they are at this moment.
    left = tmp_path / "left"
    await asyncio.to_thread(shutil.copytree, tmp_path / "state", left)
    await store.close()
    assert await asyncio.to_thread(_count, left / "gateway.db") == 1


async def test_the_writer_waits_for_the_disk_at_each_commit(tmp_path: Path) -> None:
    def settings(conn: Connection) -> list[object]:
        names = ("synchronous", "journal_mode", "wal_autocheckpoint", "foreign_keys")
        rows = [conn.one(f"PRAGMA {name}") for name in names]
        return [row[name] for row, name in zip(rows, names, strict=True) if row]

    store = await _opened(tmp_path)
    try:
        found = await store.write(settings)
    finally:
        await store.close()
    assert found[:2] == [2, "wal"]
    assert found[3] == 1


async def test_a_second_server_is_refused_and_the_next_one_after_the_first_is_not(
    tmp_path: Path,
) -> None:
    store = await _opened(tmp_path)
    path = tmp_path / "state" / "gateway.db"
    with pytest.raises(ConfigError) as caught:
        await asyncio.to_thread(open_store, path)
    assert caught.value.code == "config.store-in-use"
    await store.close()
    again = await asyncio.to_thread(open_store, path)
    await again.close()


async def test_an_admin_writes_beside_a_running_server(tmp_path: Path) -> None:
    def admin() -> int:
        with open_admin(tmp_path / "state" / "gateway.db") as store:
            store.write(members.add, someone("li"), lang=None, at_ms=AT)
            return store.read(members.count)

    store = await _opened(tmp_path)
    await store.write(members.add, someone("zhang"), lang=None, at_ms=AT)
    assert await asyncio.to_thread(admin) == 2
    assert await store.read(members.count) == 2
    await store.close()


def test_an_admins_failed_command_changes_nothing(tmp_path: Path) -> None:
    def spoiled(conn: Connection) -> None:
        members.add(conn, someone("zhang"), lang=None, at_ms=AT)
        conn.run("INSERT INTO nowhere VALUES (1)")

    with open_admin(fresh_store(tmp_path)) as store:
        with pytest.raises(StoreError):
            store.write(spoiled)
        assert store.read(members.count) == 0


async def test_nobody_else_can_read_the_files(tmp_path: Path) -> None:
    store = await _opened(tmp_path)
    await store.write(members.add, someone("zhang"), lang=None, at_ms=AT)
    modes = {
        path.name: stat.S_IMODE(path.stat().st_mode) for path in (tmp_path / "state").iterdir()
    }
    await store.close()
    assert set(modes.values()) == {0o600}
    assert "gateway.db-wal" in modes


@pytest.mark.requirement("P3")
def test_when_the_disk_is_full_everybody_in_the_group_hears_of_it(
    tmp_path: Path, loop: asyncio.AbstractEventLoop
) -> None:
    driver = connect(fresh_store(tmp_path))
    pages = driver.execute("PRAGMA page_count").fetchone()[0]
    driver.execute(f"PRAGMA max_page_count={pages + 1}")

    def small(conn: Connection) -> bool:
        return members.add(conn, someone("zhang"), lang=None, at_ms=AT)

    def large(conn: Connection) -> int:
        return conn.run(
            "INSERT INTO inbound VALUES ('main', :key, 0, '', x'', 0, 0)", key="x" * 1_000_000
        )

    jobs = [Job(call, loop.create_future()) for call in (small, large, small)]
    commit_group(driver, jobs)
    for job in jobs:
        job.settle()
        error = job.future.exception()
        assert isinstance(error, StoreError)
        assert (error.code, error.facts["why"]) == ("store.full", "SQLITE_FULL")
    assert driver.execute("SELECT COUNT(*) FROM members").fetchone()[0] == 0
    driver.close()


def test_a_group_costs_one_commit(tmp_path: Path, loop: asyncio.AbstractEventLoop) -> None:
    driver = connect(fresh_store(tmp_path))
    statements: list[str] = []
    driver.set_trace_callback(statements.append)
    jobs = [
        Job(
            lambda conn, user=f"user-{number}": members.add(
                conn, someone(user), lang=None, at_ms=AT
            ),  # type: ignore[misc]  # mypy cannot type a lambda's default
            loop.create_future(),
        )
        for number in range(50)
    ]
    commit_group(driver, jobs)
    driver.close()
    assert statements.count("COMMIT") == 1
    assert statements.count("SAVEPOINT operation") == 0


def _after_a_power_cut(path: Path, flushed: int) -> list[str]:
    """Return the members that a copy of the store has whose log was cut to what was flushed."""
    copy = path.parent / "copy.db"
    copy.write_bytes(path.read_bytes())
    log = path.with_name(f"{path.name}-wal").read_bytes()
    copy.with_name("copy.db-wal").write_bytes(log[:flushed])
    with closing(sqlite3.connect(copy)) as driver:
        return [name for (name,) in driver.execute("SELECT user_id FROM members ORDER BY rowid")]


@pytest.mark.requirement("P3")
async def test_what_is_written_unsynced_goes_to_the_disk_with_what_comes_next(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("gateway.store.runner.CHECKPOINT_SECONDS", 3600)
    path = await asyncio.to_thread(fresh_store, tmp_path)
    log = path.with_name(f"{path.name}-wal")
    flushed: list[int] = []
    fsync = os.fsync

    def noted(descriptor: int) -> None:
        flushed.append(log.stat().st_size)
        fsync(descriptor)

    monkeypatch.setattr("gateway.store.runner.os.fsync", noted)
    store = await asyncio.to_thread(open_store, path)
    try:
        await store.write(members.add, someone("first"), lang=None, at_ms=AT)
        size = await asyncio.to_thread(lambda: log.stat().st_size)
        await store.write_unsynced(members.add, someone("second"), lang=None, at_ms=AT)
        assert await asyncio.to_thread(_after_a_power_cut, path, size) == ["first"]
        await store.sync()
        cut = await asyncio.to_thread(_after_a_power_cut, path, flushed[-1])
        assert cut == ["first", "second"]
        await store.sync()
        assert len(flushed) == 1, "there is nothing to flush"
        await store.write_unsynced(members.add, someone("third"), lang=None, at_ms=AT)
        await store.write(members.look_up, someone("third"))  # which changes nothing
        assert len(flushed) == 2, "what it found is on the disk"
        await store.write_unsynced(members.add, someone("fourth"), lang=None, at_ms=AT)
        await store.write(members.add, someone("fifth"), lang=None, at_ms=AT)
        await store.sync()
        assert len(flushed) == 2, "the commit has flushed both"
    finally:
        await store.close()


@pytest.mark.requirement("P3")
def test_an_operation_that_fails_is_undone_alone_and_the_others_are_done_once(
    tmp_path: Path, loop: asyncio.AbstractEventLoop
) -> None:
    driver = connect(fresh_store(tmp_path))

    def spoiled(conn: Connection) -> None:
        members.add(conn, someone("spoiled"), lang=None, at_ms=AT)
        conn.run("INSERT INTO nowhere VALUES (1)")

    def good(conn: Connection, user: str) -> bool:
        return members.add(conn, someone(user), lang=None, at_ms=AT)

    calls: list[Callable[[Connection], object]] = [
        partial(good, user="before"),
        spoiled,
        partial(good, user="after"),
        spoiled,
    ]
    jobs = [Job(call, loop.create_future()) for call in calls]
    commit_group(driver, jobs)
    assert [job.error is None for job in jobs] == [True, False, True, False]
    assert [job.value for job in jobs if job.error is None] == [True, True]
    names = driver.execute("SELECT user_id FROM members ORDER BY added_at, rowid").fetchall()
    assert [name for (name,) in names] == ["before", "after"]
    assert driver.execute("SELECT COUNT(*) FROM audit").fetchone()[0] == 2
    driver.close()


def test_the_statements_of_one_operation_are_compiled_once(tmp_path: Path) -> None:
    driver = connect(fresh_store(tmp_path))
    conn = SqliteConnection(driver)
    compiled: list[str] = []

    def note(_action: int, *_facts: object) -> int:
        compiled.append("")
        return sqlite3.SQLITE_OK

    members.add(conn, someone("zhang"), lang=None, at_ms=AT)
    driver.set_authorizer(note)  # asked while a statement is compiled, never while it runs
    members.add(conn, someone("li"), lang=None, at_ms=AT)
    conn.all("SELECT user_id FROM members")
    first = len(compiled)
    members.add(conn, someone("wang"), lang=None, at_ms=AT)
    conn.all("SELECT user_id FROM members")
    driver.close()
    assert first > 0
    assert len(compiled) == first


async def test_too_much_at_once_is_refused_and_nothing_after_the_end(tmp_path: Path) -> None:
    store = await _opened(tmp_path)
    gate = asyncio.Event()
    held = _hold(asyncio.get_running_loop(), gate)
    first = asyncio.ensure_future(store.write(held))
    await asyncio.sleep(0)
    waiting = [asyncio.ensure_future(store.write(members.count)) for _ in range(MAX_QUEUED + 2)]
    await asyncio.sleep(0)
    gate.set()
    outcomes = await asyncio.gather(first, *waiting, return_exceptions=True)
    refused = [outcome for outcome in outcomes if isinstance(outcome, StoreError)]
    assert {error.code for error in refused} == {"store.busy"}
    await store.close()
    with pytest.raises(StoreError) as caught:
        await store.write(members.count)
    assert caught.value.code == "store.closed"


def _hold(loop: asyncio.AbstractEventLoop, gate: asyncio.Event) -> Callable[[Connection], None]:
    def held(_conn: Connection) -> None:
        asyncio.run_coroutine_threadsafe(gate.wait(), loop).result(timeout=30)

    return held


async def test_closing_finishes_what_was_submitted(tmp_path: Path) -> None:
    store = await _opened(tmp_path)
    calls = [
        asyncio.ensure_future(
            store.write(members.add, someone(f"user-{number}"), lang=None, at_ms=AT)
        )
        for number in range(600)
    ]
    await asyncio.sleep(0)
    await store.close()
    assert all(await asyncio.gather(*calls))


def test_a_checkpoint_moves_the_log_into_the_database(tmp_path: Path) -> None:
    path = fresh_store(tmp_path)
    driver, other = connect(path), connect(path)
    driver.execute("INSERT INTO members (user_id, added_at) VALUES ('zhang', 0)")
    assert checkpoint(other)
    with closing(sqlite3.connect(f"file:{path}?immutable=1", uri=True)) as without_log, without_log:
        assert without_log.execute("SELECT user_id FROM members").fetchall() == [("zhang",)]
    other.close()
    driver.close()


def test_a_long_log_starts_anew_and_does_not_grow(tmp_path: Path) -> None:
    path = fresh_store(tmp_path)
    driver, other = connect(path), connect(path)
    wal = path.with_name("gateway.db-wal")

    def fill() -> int:
        for number in range(40):
            driver.execute("UPDATE alembic_version SET version_num = ?", (str(number),))
        return wal.stat().st_size

    size = fill()
    assert checkpoint(other, limit=1)
    assert fill() == size
    driver.close()
    other.close()


def test_a_checkpoint_says_when_a_reader_is_in_the_way(tmp_path: Path) -> None:
    path = fresh_store(tmp_path)
    driver, other, reader = connect(path), connect(path), connect(path)
    other.execute("PRAGMA busy_timeout=0")
    driver.execute("UPDATE alembic_version SET version_num = 'old'")
    reader.execute("BEGIN")
    reader.execute("SELECT * FROM alembic_version").fetchall()
    driver.execute("UPDATE alembic_version SET version_num = 'new'")
    assert not checkpoint(other)
    assert not checkpoint(other, limit=1)
    reader.execute("COMMIT")
    assert checkpoint(other, limit=1)
    for each in (driver, other, reader):
        each.close()


def test_a_checkpoint_that_fails_is_to_be_tried_again(tmp_path: Path) -> None:
    (tmp_path / "file").write_bytes(b"no database" * 100)
    driver = sqlite3.connect(tmp_path / "file")
    assert not checkpoint(driver)
    driver.close()


def test_the_lock_of_a_killed_server_is_free(tmp_path: Path) -> None:
    path = tmp_path / "gateway.db"
    code = (
        "import os, pathlib, sys; from gateway.store.sqlite import ServerLock; "
        "ServerLock(pathlib.Path(sys.argv[1])); os.kill(os.getpid(), 9)"
    )
    root = Path(__file__).parents[4]
    ended = subprocess.run([sys.executable, "-c", code, str(path)], cwd=root, check=False)
    assert ended.returncode == -9
    ServerLock(path).release()


def test_a_store_that_cannot_be_opened_gives_its_lock_back(tmp_path: Path) -> None:
    path = tmp_path / "state" / "gateway.db"
    path.parent.mkdir(mode=0o700)
    path.write_bytes(b"no database, but long enough to look at" * 100)
    for _ in range(2):
        with pytest.raises(ConfigError) as caught:
            open_store(path)
        assert caught.value.code == "config.store-damaged"


def test_a_store_with_a_damaged_page_is_not_served_from(tmp_path: Path) -> None:
    path = fresh_store(tmp_path)
    with open_admin(path) as store:
        for number in range(200):
            store.write(members.add, someone(f"member-{number}"), lang=None, at_ms=AT)
    with closing(sqlite3.connect(path)) as driver, driver:
        page = driver.execute("SELECT rootpage FROM sqlite_master WHERE name = 'audit'").fetchone()
        driver.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    with path.open("r+b") as file:
        file.seek((page[0] - 1) * 4096)
        file.write(b"\xff" * 4096)
    with pytest.raises(ConfigError) as caught:
        open_store(path)
    assert caught.value.code == "config.store-damaged"
    ServerLock(path).release()


def test_a_store_whose_newest_audit_entries_do_not_hold_is_not_served_from(tmp_path: Path) -> None:
    path = fresh_store(tmp_path)
    with open_admin(path) as store:
        for number in range(5):
            store.write(members.add, someone(f"member-{number}"), lang=None, at_ms=AT)
        store.read(audit.check_newest, count=2)
        store.write(lambda conn: conn.run("UPDATE audit SET body = x'7b7d' WHERE seq = 3"))
        store.read(audit.check_newest, count=2)  # it is not among those
    with pytest.raises(AuthError) as caught:
        open_store(path)
    assert (caught.value.code, caught.value.facts["seq"]) == ("audit.broken", 3)
    ServerLock(path).release()


@pytest.mark.parametrize(
    ("name", "code"),
    [
        ("SQLITE_FULL", "config.store-full"),
        ("SQLITE_IOERR_SHMSIZE", "config.store-full"),
        ("SQLITE_CANTOPEN_ISDIR", "config.store-denied"),
        ("SQLITE_READONLY", "config.store-denied"),
        ("SQLITE_IOERR_READ", "config.store-damaged"),
    ],
)
def test_a_store_that_cannot_be_opened_is_called_damaged_only_where_it_may_be(
    name: str, code: str
) -> None:
    error = sqlite3.OperationalError()
    error.sqlite_errorname = name
    assert damaged(Path("/x"), error).code == code


class UnforeseenError(Exception):
    """Something that nobody foresaw."""


async def test_a_fault_in_the_writing_thread_is_told_to_everybody_and_to_the_server(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def faulty(_driver: sqlite3.Connection, _jobs: list[Job]) -> None:
        raise UnforeseenError

    monkeypatch.setattr("gateway.store.runner.commit_group", faulty)
    store = await _opened(tmp_path)
    told = asyncio.create_task(store.until_broken())
    calls = [asyncio.ensure_future(store.write(members.count)) for _ in range(600)]
    async with asyncio.timeout(30):
        with pytest.raises(UnforeseenError):
            await told
        outcomes = await asyncio.gather(*calls, return_exceptions=True)
        assert {getattr(outcome, "code", None) for outcome in outcomes} == {"store.broken"}
        for call in (store.write, store.read):
            with pytest.raises(StoreError) as caught:
                await call(members.count)
            assert caught.value.code == "store.broken"
        await store.close()


async def test_an_operation_that_ends_the_thread_itself_is_told_as_a_fault(tmp_path: Path) -> None:
    def fatal(_conn: Connection) -> None:
        raise SystemExit

    store = await _opened(tmp_path)
    async with asyncio.timeout(30):
        for call in (store.write(fatal), store.until_broken()):
            with pytest.raises(StoreError) as caught:
                await call
            assert caught.value.code == "store.broken"
        await store.close()


async def test_a_fault_of_the_checkpoints_is_told_too(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def faulty(*_args: object) -> bool:
        raise UnforeseenError

    monkeypatch.setattr("gateway.store.runner.CHECKPOINT_SECONDS", 0)
    monkeypatch.setattr("gateway.store.runner.checkpoint", faulty)
    store = await _opened(tmp_path)
    await store.write(members.count)
    async with asyncio.timeout(30):
        with pytest.raises(UnforeseenError):
            await store.until_broken()
    await store.close()


async def test_whoever_stops_waiting_for_a_fault_ends_nothing(tmp_path: Path) -> None:
    store = await _opened(tmp_path)
    waiting = asyncio.create_task(store.until_broken())
    await asyncio.sleep(0)
    waiting.cancel()
    await asyncio.gather(waiting, return_exceptions=True)
    assert await store.write(members.count) == 0
    await store.close()
