"""Every statement of the journal, as SQLite would execute it: none reads all that is kept."""

from __future__ import annotations

import re
from contextlib import closing
from pathlib import Path
from typing import Final

import pytest

from local_agent import store
from local_agent.store.database import Database
from tests.statements import executed_in, plan

# What a person can ask for in two ways, or about several facts.
GIVEN: Final = {"open_only": True, "facts": [("task_id", "1"), ("run", "2")]}
STATEMENTS: Final = sorted(set(executed_in(Path(store.__path__[0]), "local_agent.store", **GIVEN)))
# They hold days and months of rows; of the others there is one a gateway, key or passkey.
GROWING: Final = "approvals|audit|disclosures|effects|events|inbox|run_steps|runs|tasks|turns"
# What these columns say is said of most rows, so that to be asked for it alone is to read them all.
_COMMON: Final = r"peer|gateway|state|source|workspace|outcome|typ|reason"
_READS_ALL: Final = re.compile(
    rf"SCAN (?:{GROWING})(?: USING INDEX sqlite_autoindex_\w+)?$"
    rf"|SEARCH (?:{GROWING}) .*\((?:{_COMMON})=\?\)$"
)
ALLOWED: Final = {
    "approvals.completed_undos": "a person asks for an undo; few are completed",
    "approvals._count": "of one gateway; at most what waits, and what was rejected in an hour",
    "audit_log.head": "the newest by its number",
    "audit_log.stating": "a receipt, of which the facts are in the text",
    "disclosures._keep": "there is none but today's",
    "effects._select": "the start alone asks for what has no end",
    "effects.last_log": "a person asks for the last log; LIMIT",
    "inbox.prune": "once an hour",
    "outbox._next_seq": "whether any names the gateway, were its name changed",
    "runs.keeping_copies": "once an hour",
    "statistics.waits": "statistics of many days",
    "tasks.recent": "a listing",
    "turns.__init__": "the start alone",
    "turns.used_since": "statistics",
    "turns.used_by_day": "statistics",
    "turns.failed_since": "statistics",
}


@pytest.mark.requirement("P3")
def test_no_statement_of_the_journal_reads_all_that_is_kept(tmp_path: Path) -> None:
    found: dict[str, list[str]] = {}
    with closing(Database(tmp_path / "journal.db")) as db:
        for name, sql in STATEMENTS:
            read = [step for step in plan(db._connection, sql) if _READS_ALL.match(step)]
            if read:
                found.setdefault(name, []).extend(read)
    assert {name: read for name, read in found.items() if name not in ALLOWED} == {}
    assert set(ALLOWED) <= set(found), "no longer needed"
    assert len(STATEMENTS) > 100
