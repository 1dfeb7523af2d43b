"""The file: private, alone, migrated with a backup, whole transactions."""

from __future__ import annotations

import os
import sqlite3
import stat
from collections.abc import Iterator
from contextlib import closing, suppress
from pathlib import Path

import pytest

from common.errors import ConfigError
from local_agent.store import database
from local_agent.store.database import Database, look_through, not_done, not_opened


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "state" / "journal.db"


@pytest.fixture
def db(path: Path) -> Iterator[Database]:
    with closing(Database(path)) as opened:
        opened.run("CREATE TABLE things (name TEXT)")
        yield opened


def things(db: Database) -> list[str]:
    return [row[0] for row in db.all("SELECT name FROM things ORDER BY name")]


@pytest.mark.requirement("R68")
def test_the_files_are_the_owners_alone_whatever_the_umask(path: Path) -> None:
    before = os.umask(0)
    try:
        with closing(Database(path)) as db:
            db.run("CREATE TABLE things (name TEXT)")
            modes = {item.name: stat.S_IMODE(item.stat().st_mode) for item in path.parent.iterdir()}
            folder = stat.S_IMODE(path.parent.stat().st_mode)
    finally:
        os.umask(before)
    assert folder == 0o700
    assert set(modes) == {"journal.db", "journal.db-wal", "journal.db-shm", "journal.lock"}
    assert set(modes.values()) == {0o600}


@pytest.mark.requirement("P3")
def test_what_is_committed_unsynced_goes_to_the_disk_with_what_comes_next(
    db: Database, path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    log, flushed = path.with_name("journal.db-wal"), []
    fsync = os.fsync

    def noted(descriptor: int) -> None:
        flushed.append(log.stat().st_size)
        fsync(descriptor)

    def after_a_power_cut(size: int) -> list[str]:
        copy = path.with_name("copy.db")
        copy.write_bytes(path.read_bytes())
        copy.with_name("copy.db-wal").write_bytes(log.read_bytes()[:size])
        with closing(sqlite3.connect(copy)) as driver:
            return [name for (name,) in driver.execute("SELECT name FROM things")]

    def add(name: str, *, synced: bool) -> None:
        with db.transaction(synced=synced), db.transaction():  # the outer one decides
            db.run("INSERT INTO things VALUES (?)", name)

    monkeypatch.setattr(os, "fsync", noted)
    add("a", synced=True)
    size = log.stat().st_size
    add("b", synced=False)
    assert db.one("PRAGMA synchronous") == (2,), "FULL again"
    assert after_a_power_cut(size) == ["a"]
    db.sync()
    assert after_a_power_cut(flushed[-1]) == ["a", "b"]
    db.sync()
    assert len(flushed) == 1, "there is nothing to flush"
    add("c", synced=False)
    with db.transaction():
        assert things(db) == ["a", "b", "c"]
    db.sync()
    assert len(flushed) == 2, "a transaction that writes nothing flushes nothing"
    add("d", synced=False)
    add("e", synced=True)
    db.sync()
    assert len(flushed) == 2, "the commit has flushed both"


def test_a_second_agent_is_told_that_one_is_running(path: Path) -> None:
    with closing(Database(path)), pytest.raises(ConfigError) as caught:
        Database(path)
    assert caught.value.code == "config.agent-running"


def test_after_closing_another_may_open(path: Path) -> None:
    Database(path).close()
    with closing(Database(path)) as again:
        assert again.one("SELECT 1") == (1,)


def test_a_link_in_place_of_the_file_is_not_followed(path: Path, tmp_path: Path) -> None:
    path.parent.mkdir()
    path.symlink_to(tmp_path / "elsewhere.db")
    with pytest.raises(OSError, match="journal"):
        Database(path)
    assert not (tmp_path / "elsewhere.db").exists()


@pytest.mark.requirement("P3")
def test_every_commit_reaches_the_disk(db: Database) -> None:
    assert db.one("PRAGMA synchronous") == (2,)
    assert db.one("PRAGMA journal_mode") == ("wal",)
    assert db.one("PRAGMA foreign_keys") == (1,)


def test_what_fails_inside_undoes_all_of_it(db: Database) -> None:
    with suppress(KeyError), db.transaction():
        db.run("INSERT INTO things VALUES ('a')")
        raise KeyError
    assert things(db) == []


def test_an_inner_transaction_that_fails_undoes_only_itself(db: Database) -> None:
    with db.transaction():
        db.run("INSERT INTO things VALUES ('outer')")
        with suppress(KeyError), db.transaction():
            db.run("INSERT INTO things VALUES ('inner')")
            raise KeyError
        with db.transaction():
            db.run("INSERT INTO things VALUES ('second')")
    assert things(db) == ["outer", "second"]


def test_an_inner_transaction_ends_with_the_outer(db: Database) -> None:
    with suppress(KeyError), db.transaction():
        with db.transaction():
            db.run("INSERT INTO things VALUES ('inner')")
        raise KeyError
    assert things(db) == []


def test_when_sqlite_itself_rolled_back_the_error_is_told_and_nothing_stays(db: Database) -> None:
    db.run("CREATE TRIGGER full BEFORE INSERT ON things WHEN NEW.name = 'last'"
           " BEGIN SELECT RAISE(ROLLBACK, 'disk full'); END")  # fmt: skip
    with pytest.raises(sqlite3.IntegrityError):
        insert(db, "first", "last")
    assert things(db) == []
    with db.transaction():
        db.run("INSERT INTO things VALUES ('after')")
    assert things(db) == ["after"]


def insert(db: Database, *names: str) -> None:
    with db.transaction():
        for name in names:
            db.run("INSERT INTO things VALUES (?)", name)


def use_scripts(monkeypatch: pytest.MonkeyPatch, *scripts: str) -> None:
    monkeypatch.setattr(database, "_scripts", lambda: list(scripts))


def test_migrations_are_numbered_without_a_gap() -> None:
    folder = Path(database.__file__).parent / "migrations"
    names = sorted(item.name for item in folder.glob("*.sql"))
    assert [name[:5] for name in names] == [f"{n:04}_" for n in range(1, len(names) + 1)]


def test_a_migration_keeps_the_data_and_backs_it_up_first(
    path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    first, second = "CREATE TABLE a (x TEXT);", "ALTER TABLE a ADD COLUMN y TEXT DEFAULT 'new';"
    use_scripts(monkeypatch, first)
    with closing(Database(path)) as db:
        db.run("INSERT INTO a VALUES ('kept')")
    use_scripts(monkeypatch, first, second)
    with closing(Database(path)) as db:
        assert db.all("SELECT x, y FROM a") == [("kept", "new")]
        assert db.one("PRAGMA user_version") == (2,)
    backup = path.with_suffix(".v1.bak")
    assert stat.S_IMODE(backup.stat().st_mode) == 0o600
    with closing(sqlite3.connect(backup)) as old:
        assert old.execute("SELECT * FROM a").fetchall() == [("kept",)]


def test_an_empty_journal_needs_no_backup(path: Path) -> None:
    Database(path).close()
    assert not list(path.parent.glob("*.bak"))


@pytest.mark.parametrize(
    "broken", ["INSERT INTO nowhere VALUES (1);", "COMMIT; SELECT syntax error"]
)
def test_a_migration_that_fails_changes_nothing_and_can_be_tried_again(
    path: Path, monkeypatch: pytest.MonkeyPatch, broken: str
) -> None:
    first = "CREATE TABLE a (x TEXT);"
    use_scripts(monkeypatch, first)
    Database(path).close()
    use_scripts(monkeypatch, first, broken)
    for _ in range(2):
        with pytest.raises(sqlite3.Error):
            Database(path)
    use_scripts(monkeypatch, first)
    with closing(Database(path)) as db:
        assert db.one("PRAGMA user_version") == (1,)


def test_a_journal_of_a_newer_release_is_left_alone(
    path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    use_scripts(monkeypatch, "CREATE TABLE a (x);", "CREATE TABLE b (x);")
    Database(path).close()
    use_scripts(monkeypatch, "CREATE TABLE a (x);")
    with pytest.raises(ConfigError) as caught:
        Database(path)
    assert caught.value.code == "config.store-newer"


def _overwrite(path: Path, begin: int) -> bytes:
    data = bytearray(path.read_bytes())
    data[begin : begin + 4096] = os.urandom(min(4096, len(data) - begin))
    path.write_bytes(data)
    return bytes(data)


@pytest.mark.requirement("P3")
@pytest.mark.parametrize("page", [0, 1, 5])
def test_a_damaged_file_is_refused_and_left_as_it_is(path: Path, page: int) -> None:
    Database(path).close()
    data = _overwrite(path, page * 4096)
    with pytest.raises(ConfigError) as caught:
        Database(path)
    assert caught.value.code == "config.journal-damaged"
    assert "\n" not in str(caught.value)
    assert path.read_bytes() == data


@pytest.mark.requirement("P3")
def test_a_file_that_was_emptied_is_not_taken_for_a_new_one(path: Path) -> None:
    Database(path).close()
    for left in (b"", b"\n"):  # SQLite takes one of a single byte for a new one as well
        path.write_bytes(left)
        with pytest.raises(ConfigError) as caught:
            Database(path)
        assert (caught.value.code, caught.value.facts["why"]) == ("config.journal-damaged", "empty")
    path.unlink()  # as the how-to tells whoever means to begin anew
    path.with_name("journal.db.new").write_bytes(b"left by a crash")
    Database(path).close()
    assert not path.with_name("journal.db.new").exists()


def test_a_large_file_is_seen_in_part_at_the_start_and_whole_beside_the_work(
    path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with closing(Database(path)) as db:
        assert db.is_whole
        db.run("CREATE TABLE large (name BLOB)")
        with db.transaction():
            for _ in range(500):
                db.run("INSERT INTO large VALUES (randomblob(1000))")
    monkeypatch.setattr(database, "START_SECONDS", -1.0)
    with closing(Database(path)) as db:
        assert not db.is_whole
        look_through(path, lambda: False)
        look_through(path, lambda: True)
    _overwrite(path, path.stat().st_size - 4096 * 4)
    with pytest.raises(ConfigError) as caught:
        look_through(path, lambda: False)
    assert caught.value.code == "config.journal-damaged"


def test_a_full_disk_is_said_to_be_one_and_nothing_is_half_done(db: Database) -> None:
    [pages] = db.one("PRAGMA page_count") or ()
    db.run(f"PRAGMA max_page_count = {pages}")  # as SQLite meets a disk without room
    with pytest.raises(sqlite3.OperationalError) as caught:
        insert(db, "first", "x" * 1_000_000)
    assert not_done(caught.value).code == "store.full"
    assert things(db) == []
    db.run(f"PRAGMA max_page_count = {pages + 1000}")
    insert(db, "after")
    assert things(db) == ["after"]


def test_a_file_that_may_not_be_written_is_said_to_be_so(path: Path) -> None:
    error = sqlite3.OperationalError()
    error.sqlite_errorname = "SQLITE_READONLY_DIRECTORY"
    assert not_opened(error, path).code == "config.journal-denied"
    assert not_opened(sqlite3.OperationalError(), path).code == "store.failed"


@pytest.mark.requirement("P3")
def test_a_transaction_that_could_not_begin_leaves_later_ones_flushed(
    db: Database, path: Path
) -> None:
    db.run("PRAGMA busy_timeout = 1")
    with closing(sqlite3.connect(path, isolation_level=None)) as other:
        other.execute("BEGIN IMMEDIATE")
        for synced in (False, True):
            with pytest.raises(sqlite3.OperationalError), db.transaction(synced=synced):
                pass
        other.execute("ROLLBACK")
    assert db.one("PRAGMA synchronous") == (2,)
    with db.transaction(synced=False):
        assert db.one("PRAGMA synchronous") == (1,)
    with db.transaction():
        assert db.one("PRAGMA synchronous") == (2,)
