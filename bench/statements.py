"""What each statement of the gateway takes with nothing kept and with much, side by side.

    python -m bench.statements [--quick]

Everything that is written goes through one writer, so a statement that reads what is over and kept
holds up all callbacks, the longer the more.  Both stores are measured in turn, statement by
statement; what only an admin or a start executes is left out (the test's list says what).
"""

from __future__ import annotations

import argparse
import sqlite3
import sys
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path
from statistics import median
from typing import Final

from bench.aims import Aim, judged
from tests.statements import MAY_GROW, facts_of, filled_gateway, gateway_statements

KEPT: Final = 40_000
AIMS: Final = {
    "an acknowledgement, much kept / nothing": Aim(2),
    "us more, of the statement that grows most": Aim(50),
}


def times(driver: sqlite3.Connection, sql: str, rows: int, number: int) -> Sequence[float]:
    """Return the seconds that a statement takes, each time taken back."""
    facts, found = facts_of(sql, rows), []
    for _ in range(number):
        driver.execute("SAVEPOINT measured")
        begun = time.perf_counter()
        driver.execute(sql, facts).fetchall()
        found.append(time.perf_counter() - begun)
        driver.execute("ROLLBACK TO measured")
        driver.execute("RELEASE measured")
    return found[number // 4 :]  # the first ones warm up


def main() -> int:
    """Measure, print, and return 0: a figure is a report, not a verdict."""
    parser = argparse.ArgumentParser(description=__doc__, allow_abbrev=False)
    parser.add_argument("--quick", action="store_true")
    number = 20 if parser.parse_args().quick else 200
    took: dict[str, tuple[float, float]] = {}
    with tempfile.TemporaryDirectory() as folder:
        stores = {rows: filled_gateway(Path(folder) / str(rows), rows) for rows in (2, KEPT + 2)}
        print(f"us with nothing kept, with {KEPT:,} of each kept, ratio")
        for driver in stores.values():
            driver.execute("BEGIN IMMEDIATE")
        for name, sql in gateway_statements():
            if name in MAY_GROW:
                continue
            none, much = (median(times(stores[rows], sql, rows, number)) for rows in stores)
            took[name] = (none, much)
            print(f"{none * 1e6:9.1f} {much * 1e6:9.1f} {much / none:6.1f}  {name}")
        for driver in stores.values():
            driver.close()
    none, much = took["mailbox._ACK"]
    more = max(much - none for none, much in took.values()) * 1e6
    figures = dict(zip(AIMS, (round(much / none, 1), round(more)), strict=True))
    print(*judged(figures, AIMS), sep="\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
