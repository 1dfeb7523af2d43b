"""Every statement of the store functions, prepared against the schema of the migrations."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from gateway.store import mailbox
from gateway.store.sqlite import SqliteConnection
from tests.each import each
from tests.gateway_desk import transaction
from tests.statements import (
    MAY_GROW,
    NAME,
    facts_of,
    filled_gateway,
    gateway_statements,
    plan,
    steps,
)

STATEMENTS = list(gateway_statements())


def test_the_statements_were_found() -> None:
    assert len(STATEMENTS) > 60


@pytest.fixture
def conn(tmp_path: Path) -> Iterator[SqliteConnection]:
    with transaction(tmp_path) as connection:
        yield connection


@each("name, sql", STATEMENTS)
def test_each_statement_fits_the_schema(conn: SqliteConnection, name: str, sql: str) -> None:
    assert conn.all(f"EXPLAIN {sql}", **dict.fromkeys(NAME.findall(sql))), name


@pytest.mark.requirement("P3")
def test_no_statement_reads_more_the_more_is_kept(tmp_path: Path) -> None:
    """By the count of SQLite's steps; the plan says why."""
    stores = {rows: filled_gateway(tmp_path / str(rows), rows) for rows in (40, 800)}
    grown = {}
    for name, sql in STATEMENTS:
        few, many = (steps(stores[rows], sql, facts_of(sql, rows)) for rows in stores)
        if many > 1.5 * few + 60:
            grown[name.removeprefix("gateway.").removeprefix("store.")] = (
                few,
                many,
                *plan(stores[800], sql),
            )
    for driver in stores.values():
        driver.close()
    assert {name: why for name, why in grown.items() if name not in MAY_GROW} == {}
    assert set(MAY_GROW) == set(grown), "no longer needed"


def test_an_acknowledgement_reads_neither_what_is_kept_nor_what_waits_behind_it(
    tmp_path: Path,
) -> None:
    driver = filled_gateway(tmp_path / "many", 1_600)
    driver.execute("UPDATE mailbox SET acked_at = NULL WHERE seq > 800")
    facts = {"agent_id": "agent_id-1", "seq": 801, "at": 1}
    assert steps(driver, mailbox._ACK, facts) <= 80
    driver.close()


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
