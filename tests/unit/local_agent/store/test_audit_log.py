"""The chain as a table: append-only, checked at start."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest

from common.audit import GENESIS, Head, entry_body, entry_hash, sign_head
from common.audit_check import RENEWED
from common.clock import ManualClock
from common.errors import AuthError
from common.signing import SigningKey
from local_agent.store.audit_log import AuditLog
from local_agent.store.database import Database
from tests.sealed import AGENT, a_journal

pytestmark = pytest.mark.heavy


@pytest.fixture
def db(tmp_path: Path) -> Iterator[Database]:
    with closing(Database(tmp_path / "state" / "journal.db")) as opened:
        yield opened


def filled(db: Database, count: int) -> AuditLog:
    log = AuditLog(db, ManualClock(), lambda: AGENT)
    with db.transaction():
        for number in range(count):
            log.append("test.event", number=number)
    return log


@pytest.mark.requirement("R58")
def test_entries_are_numbered_and_chained(db: Database) -> None:
    log = filled(db, 3)
    assert [entry[0] for entry in log.entries()] == [1, 2, 3]
    assert log.verify() == log.verify_tail() == log.head()


def test_an_empty_log_has_the_first_head(db: Database) -> None:
    log = filled(db, 0)
    assert log.head() == log.verify() == log.verify_tail() == Head()


def test_more_than_a_page_is_read_whole(db: Database) -> None:
    log = filled(db, 1100)
    assert log.verify().seq == log.verify_tail().seq == 1100
    assert [entry[0] for entry in log.entries(1098)] == [1099, 1100]


def test_the_newest_entries_come_first(db: Database) -> None:
    log = filled(db, 5)
    assert [seq for seq, _ in log.newest(2)] == [5, 4]
    assert [seq for seq, _ in log.newest(9, before=3)] == [2, 1]
    assert [body for _, body in log.newest(9)] == [body for _, _, body, _ in log.entries()][::-1]
    assert log.newest(2, before=10**30) == log.newest(2)
    assert log.newest(2, before=-(10**30)) == []


@pytest.mark.parametrize(
    "statement",
    ["UPDATE audit SET body = x'00'", "DELETE FROM audit", "DELETE FROM audit WHERE seq = 1"],
)
def test_the_table_takes_no_change(db: Database, statement: str) -> None:
    filled(db, 2)
    with pytest.raises(sqlite3.IntegrityError):
        db.run(statement)


@pytest.mark.requirement("P6a")
@pytest.mark.parametrize(
    ("statement", "at"),
    [
        ("UPDATE audit SET body = x'00' WHERE seq = 290", 290),
        ("DELETE FROM audit WHERE seq = 290", 290),
        ("UPDATE audit SET hash = x'00' WHERE seq = 44", 45),
        ("DELETE FROM audit WHERE seq = 44", 45),
    ],
)
def test_a_change_behind_our_back_is_found_at_start(
    tmp_path: Path, statement: str, at: int
) -> None:
    clock = ManualClock()
    with closing(a_journal(tmp_path, clock)) as journal, journal.transaction():
        for _ in range(300):
            journal.audit.append("test.event")
    with closing(sqlite3.connect(tmp_path / "state" / "journal.db")) as raw, raw:
        raw.execute("DROP TRIGGER audit_stays")
        raw.execute("DROP TRIGGER audit_remains")
        raw.execute(statement)
    with pytest.raises(AuthError) as caught:
        a_journal(tmp_path, clock)
    assert (caught.value.code, caught.value.facts["seq"]) == ("audit.broken", at)


def test_a_journal_that_could_not_open_leaves_no_lock_behind(tmp_path: Path) -> None:
    test_a_change_behind_our_back_is_found_at_start(
        tmp_path, "UPDATE audit SET body = x'00' WHERE seq = 299", 299
    )
    with closing(Database(tmp_path / "state" / "journal.db")) as again:
        assert again.one("SELECT count(*) FROM audit") != (0,)


def forge(db: Database, signer: SigningKey | None) -> None:
    """Write the log anew beside the machine, every hash right, and sign it with another key."""
    for (name,) in db.all("SELECT name FROM sqlite_schema WHERE type = 'trigger'"):
        db.run(f"DROP TRIGGER {name}")
    body = entry_body("test.forged", 1, {})
    head = Head(1, entry_hash(GENESIS, body))
    db.run("DELETE FROM audit")
    db.run(
        "INSERT INTO audit (seq, prev, body, hash) VALUES (1, ?, ?, ?)", GENESIS, body, head.hash
    )
    db.run("DELETE FROM signed_heads")
    if signer is not None:
        signed = sign_head(signer, head, 1)
        values = (signed.seq, signed.hash, signed.at, signed.public_key, signed.signature)
        db.run("INSERT INTO signed_heads VALUES (?, ?, ?, ?, ?)", *values)


@pytest.mark.requirement("P6", "R58")
@pytest.mark.parametrize(
    ("signer", "what"), [(None, "unsigned"), (SigningKey.generate(), "key")], ids=["none", "other"]
)
def test_a_machine_does_not_write_on_behind_an_end_that_it_did_not_sign(
    db: Database, signer: SigningKey | None, what: str
) -> None:
    log = filled(db, 3)
    forge(db, signer)
    with pytest.raises(AuthError) as caught:
        log.append("test.event")
    assert caught.value.facts["what"] == what
    assert log.head().seq == 1


@pytest.mark.requirement("P6", "R58")
def test_a_start_on_an_end_that_another_signed_is_noted_for_ever(db: Database) -> None:
    log, mine, other = filled(db, 3), SigningKey.generate(), SigningKey.generate()
    log.sign_end(is_ours=lambda _: False)
    assert log.head().seq == 3, "signed with the present key: nothing to note"
    log.sign_by(mine)
    log.sign_end(is_ours=lambda public: public == mine.public.raw)
    assert log.head().seq == 3, "nor with an earlier one of this machine"
    forge(db, other)
    log.verify_tail()
    log.sign_end(is_ours=lambda public: public == mine.public.raw)
    assert RENEWED.encode() in [*log.entries()][-1][2]
    log.append("test.event")
