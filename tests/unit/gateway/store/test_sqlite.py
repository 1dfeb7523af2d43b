"""The schema: created, migrated after a backup, recognised; and refused when it is not ours."""

from __future__ import annotations

import shutil
import sqlite3
import subprocess
import sys
from contextlib import closing
from pathlib import Path

import pytest
from alembic.autogenerate import compare_metadata
from alembic.migration import MigrationContext
from alembic.script import ScriptDirectory
from sqlalchemy import create_engine

from common.errors import ConfigError
from gateway.base.messages import SendOutcome
from gateway.store import members, outbox
from gateway.store.runner import open_admin
from gateway.store.schema import metadata
from gateway.store.sqlite import HEAD, SCRIPTS, ServerLock, ensure_current, stored_revision
from tests.gateway_desk import fresh_store
from tests.people import someone

ROOT = Path(__file__).parents[4]
AFTER = f"{int(HEAD) + 1:04}"
NEXT = f"""
from alembic import op
revision, down_revision, branch_labels, depends_on = "{AFTER}", "{HEAD}", None, None
def upgrade():
    op.execute("ALTER TABLE members ADD COLUMN nickname TEXT")
"""
BROKEN = NEXT + '    op.execute("ALTER TABLE nowhere ADD COLUMN x TEXT")\n'

SENT = SendOutcome("sent", 0, "ok", 0.0, "wecom.sent")


def _scripts(folder: Path, revision: str) -> Path:
    scripts = folder / "migrations"
    shutil.copytree(SCRIPTS, scripts, ignore=shutil.ignore_patterns("__pycache__"))
    (scripts / "versions" / f"r{AFTER}_next.py").write_text(revision, encoding="utf-8")
    return scripts


def _member(path: Path) -> None:
    with open_admin(path) as store:
        store.write(members.add, someone("zhang"), lang=None, at_ms=1)


def test_the_migrations_make_exactly_the_schema(tmp_path: Path) -> None:
    path = fresh_store(tmp_path)
    engine = create_engine(f"sqlite:///{path}")
    with engine.connect() as connection:
        context = MigrationContext.configure(connection, opts={"compare_server_default": True})
        assert compare_metadata(context, metadata) == []
    engine.dispose()
    assert ScriptDirectory(str(SCRIPTS)).get_current_head() == HEAD == stored_revision(path)


def test_a_store_is_created_where_there_is_none(tmp_path: Path) -> None:
    path = tmp_path / "new" / "gateway.db"
    assert stored_revision(path) is None
    ensure_current(path)
    assert stored_revision(path) == HEAD
    assert list(path.parent.glob("*.backup")) == []


def test_an_older_store_is_backed_up_and_keeps_its_rows(tmp_path: Path) -> None:
    path = fresh_store(tmp_path)
    _member(path)
    ensure_current(path, head=AFTER, scripts=_scripts(tmp_path, NEXT))
    backup = path.with_name(f"gateway.db.revision-{HEAD}.backup")
    with closing(sqlite3.connect(path)) as new, closing(sqlite3.connect(backup)) as old:
        assert new.execute("SELECT user_id, nickname FROM members").fetchall() == [("zhang", None)]
        assert old.execute("SELECT user_id FROM members").fetchall() == [("zhang",)]
    assert stored_revision(path) == AFTER
    assert backup.stat().st_mode & 0o077 == 0


def test_what_waited_for_wecom_before_conversations_were_kept_is_still_sent(tmp_path: Path) -> None:
    path = tmp_path / "gateway.db"
    ensure_current(path, head="0002")
    with closing(sqlite3.connect(path)) as driver, driver:
        for number, state in enumerate(("queued", "queued", "sent")):
            driver.execute(
                "INSERT INTO outbox (key, channel, user_id, kind, text, state, created_at, due_at)"
                " VALUES (?, 'wecom-app', 'zhang', 'reply', ?, ?, 1, 1)",
                (f"reply:{number}", f"text {number}", state),
            )
    ensure_current(path)
    with open_admin(path) as store:
        assert store.write(outbox.recover) == 0
        for told in ("text 0", "text 1"):
            (message,) = store.write(outbox.claim, now_ms=2, limit=8).messages
            assert message.text == told
            store.write(outbox.end, message.id, "sent", SENT, at_ms=3)
        assert store.write(outbox.claim, now_ms=4, limit=8) == outbox.Claim((), None)


def test_a_migration_that_fails_changes_nothing(tmp_path: Path) -> None:
    path = fresh_store(tmp_path)
    with pytest.raises(Exception, match="nowhere"):
        ensure_current(path, head=AFTER, scripts=_scripts(tmp_path, BROKEN))
    assert stored_revision(path) == HEAD
    with closing(sqlite3.connect(path)) as driver, driver:
        names = [row[1] for row in driver.execute("PRAGMA table_info(members)")]
    assert "nickname" not in names


def test_a_store_of_a_newer_version_is_refused(tmp_path: Path) -> None:
    path = fresh_store(tmp_path)
    with closing(sqlite3.connect(path)) as driver, driver:
        driver.execute("UPDATE alembic_version SET version_num = '9999'")
    with pytest.raises(ConfigError) as caught:
        ensure_current(path)
    assert caught.value.code == "config.store-newer"


def test_somebody_elses_database_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "theirs.db"
    with closing(sqlite3.connect(path)) as driver, driver:
        driver.execute("CREATE TABLE photos (id INTEGER)")
    with pytest.raises(ConfigError) as caught:
        ensure_current(path)
    assert caught.value.code == "config.store-foreign"


def test_a_damaged_file_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "gateway.db"
    for content in (b"no database, but long enough to look at" * 100, b""):
        path.write_bytes(content)
        with pytest.raises(ConfigError) as caught:
            ensure_current(path)
        assert caught.value.code == "config.store-damaged"


def test_nothing_is_migrated_under_a_running_server(tmp_path: Path) -> None:
    path = fresh_store(tmp_path)
    lock = ServerLock(path)
    with pytest.raises(ConfigError) as caught:
        ensure_current(path, head=AFTER, scripts=_scripts(tmp_path, NEXT))
    lock.release()
    assert caught.value.code == "config.store-in-use"


def test_a_start_with_nothing_to_migrate_imports_no_sqlalchemy(tmp_path: Path) -> None:
    path = fresh_store(tmp_path)
    code = (
        "import pathlib, sys; from gateway.store.runner import open_admin\n"
        "with open_admin(pathlib.Path(sys.argv[1])): pass\n"
        "sys.exit(any(name in sys.modules for name in ('sqlalchemy', 'alembic', 'pydantic')))"
    )
    ended = subprocess.run([sys.executable, "-c", code, str(path)], cwd=ROOT, check=False)
    assert ended.returncode == 0


def test_what_the_first_revision_recorded_outlives_the_second(tmp_path: Path) -> None:
    path = tmp_path / "old" / "gateway.db"
    ensure_current(path, head="0001")
    events, entries = ("t", 1, "RECEIVED", None, "words", 5), (1, b"prev", b"body", b"hash")
    with closing(sqlite3.connect(path)) as driver, driver:
        driver.execute(
            "INSERT INTO agents (agent_id, machine, public_key, key_id, enrolled_at)"
            " VALUES ('a', 'dev-1', 'key', 'id', 1)"
        )
        driver.execute(
            "INSERT INTO tasks (task_id, short_id, agent_id, user_id, channel, text, lang, state,"
            " envelope_sha256, created_at, updated_at, expires_at)"
            " VALUES ('t', 'T-1', 'a', 'zhang', 'c', 'x', 'en', 'RECEIVED', 'f', 1, 1, 1)"
        )
        driver.execute("INSERT INTO task_events VALUES (?, ?, ?, ?, ?, ?)", events)
        driver.execute("INSERT INTO audit VALUES (?, ?, ?, ?)", entries)
    driver.close()
    ensure_current(path)
    with closing(sqlite3.connect(path)) as driver, driver:
        assert driver.execute("SELECT * FROM task_events").fetchall() == [events]
        assert driver.execute("SELECT * FROM audit").fetchall() == [entries]
        assert driver.execute("PRAGMA foreign_key_check").fetchall() == []
        names = {row[0] for row in driver.execute("SELECT name FROM sqlite_master")}
    driver.close()
    assert not {name for name in names if name.endswith("_before")}
