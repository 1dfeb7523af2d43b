"""Every statement of the store functions, prepared against the schema of the migrations."""

from __future__ import annotations

import importlib
import re
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType

import pytest

from gateway import store
from gateway.store import members, outbox, tasks
from gateway.store.sqlite import SqliteConnection
from tests.each import each
from tests.gateway_desk import transaction

_VERB = re.compile(r"\s*(?:SELECT|INSERT|UPDATE|DELETE)\b")
_NAME = re.compile(r"(?<!:):(\w+)")


def _modules() -> Iterator[ModuleType]:
    for path in sorted(Path(store.__path__[0]).glob("*.py")):
        yield importlib.import_module(f"gateway.store.{path.stem}")


def _statements() -> Iterator[tuple[str, str]]:
    for module in _modules():
        for name, value in vars(module).items():
            for text in value if isinstance(value, tuple) else (value,):
                if isinstance(text, str) and name.isupper() and _VERB.match(text):
                    yield f"{module.__name__}.{name}", text


STATEMENTS = list(_statements())


def test_the_statements_were_found() -> None:
    assert len(STATEMENTS) > 60


@pytest.fixture
def conn(tmp_path: Path) -> Iterator[SqliteConnection]:
    with transaction(tmp_path) as connection:
        yield connection


@each("name, sql", STATEMENTS)
def test_each_statement_fits_the_schema(conn: SqliteConnection, name: str, sql: str) -> None:
    assert conn.all(f"EXPLAIN {sql}", **dict.fromkeys(_NAME.findall(sql))), name


@pytest.mark.parametrize("sql", [tasks._SILENT, tasks._STRANDED])
def test_looking_for_silent_and_stranded_tasks_reads_the_open_ones_only(
    tmp_path: Path, sql: str
) -> None:
    with transaction(tmp_path) as conn:
        plan = conn.all(f"EXPLAIN QUERY PLAN {sql}", **dict.fromkeys(_NAME.findall(sql), 0))
    assert "ix_tasks_open" in plan[0]["detail"]


@pytest.mark.parametrize("sql", [members._ADMINS, members._APPROVERS])
def test_the_few_with_a_role_are_found_without_looking_at_all_members(
    sql: str, tmp_path: Path
) -> None:
    facts = dict.fromkeys(_NAME.findall(sql))
    with transaction(tmp_path) as conn:
        plan = [row["detail"] for row in conn.all(f"EXPLAIN QUERY PLAN {sql}", **facts)]
    assert any("ix_members_role" in step for step in plan), plan


def test_who_is_written_to_next_is_found_in_the_order_in_which_it_is_due(tmp_path: Path) -> None:
    with transaction(tmp_path) as conn:
        plan = conn.all(f"EXPLAIN QUERY PLAN {outbox._DUE}", now=0, limit=1)
    (step,) = [row["detail"] for row in plan]
    assert step.startswith("SEARCH conversations USING COVERING INDEX ix_conversations_due_at")


def test_a_machine_that_connects_is_asked_about_what_waits_and_not_about_all_it_ever_got(
    tmp_path: Path,
) -> None:
    with transaction(tmp_path) as conn:
        plan = conn.all(f"EXPLAIN QUERY PLAN {tasks._UNWELCOME}", agent_id="agent-1")
    assert "ix_mailbox_unacked" in plan[0]["detail"]


@each("sql", [text for _, text in STATEMENTS])
def test_each_statement_keeps_to_what_both_engines_understand(sql: str) -> None:
    for word in (
        "INSERT OR",
        "AUTOINCREMENT",
        "ROWID",
        "IFNULL",
        "PRAGMA",
        "STRFTIME",
        "GLOB",
        "?",
    ):
        assert word not in sql.upper()
