"""What taking the next message costs while WeCom is away, beside the same with nothing held back.

    python -m bench.outbox [--quick]

A real store holds answers of many people, the first of each tried and put back; then single
messages of somebody else are put and claimed, in the same run with and without what is held back.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path
from statistics import median
from typing import Final

sys.path.insert(0, str(Path(__file__).parent.parent))

from bench.aims import Aim, judged
from gateway.base.messages import FIRST_APP, Conversation, SendOutcome
from gateway.base.settings import STORE_FILE
from gateway.store import Connection, outbox
from gateway.store.runner import open_admin
from gateway.store.sqlite import ensure_current

PEOPLE: Final = 900
EACH: Final = 30
FAR_MS: Final = 10**12
AWAY: Final = SendOutcome("retry", None, "no answer", 5.0, "wecom.unreachable", for_all=True)
SENT: Final = SendOutcome("sent", 0, "ok", 0.0, "wecom.sent")
AIMS: Final = {"claim with all held back / with none": Aim(2)}


def _alone(user: str) -> Conversation:
    return Conversation("wecom_app", FIRST_APP, user)


def hold_back(conn: Connection, *, people: int) -> None:
    """Put answers of many people, and have the first of each tried in vain."""
    for person in range(people):
        for number in range(EACH):
            key = f"held:{person}:{number}"
            outbox.put(conn, key, "…", to=_alone(f"held-{person}"), at_ms=1)
    for message in outbox.claim(conn, now_ms=2, limit=people).messages:
        outbox.put_back(conn, message.id, AWAY, due_at=FAR_MS, counted=False)


def claims(conn: Connection, *, number: int) -> list[float]:
    """Return the seconds of each claim of one message that is due."""
    times = []
    for turn in range(number):
        key = f"fresh:{turn}"
        outbox.put(conn, key, "…", to=_alone("fresh"), at_ms=3)
        begun = time.perf_counter()
        (message,) = outbox.claim(conn, now_ms=4, limit=8).messages
        times.append(time.perf_counter() - begun)
        outbox.end(conn, message.id, "sent", SENT, at_ms=5)
    return times


def measured(folder: Path, *, people: int, number: int) -> Sequence[float]:
    """Return the times in a store of its own."""
    path = folder / str(people) / STORE_FILE
    ensure_current(path)
    with open_admin(path) as store:
        store.write(hold_back, people=people)
        store.write(claims, number=10)  # warms up
        store.write(outbox.purge, before_ms=10)
        return store.write(claims, number=number)


def main() -> int:
    """Measure, print, and return 0: a figure is a report, not a verdict."""
    parser = argparse.ArgumentParser(description=__doc__, allow_abbrev=False)
    parser.add_argument("--quick", action="store_true")
    number = 50 if parser.parse_args().quick else 300
    with tempfile.TemporaryDirectory() as name:
        none, held = (
            median(measured(Path(name), people=people, number=number)) for people in (0, PEOPLE)
        )
    print(f"a claim with nothing held back: {none * 1e6:.0f} us")
    print(f"a claim with {PEOPLE * EACH:,} held back: {held * 1e6:.0f} us")
    print(*judged({name: round(held / none, 2) for name in AIMS}, AIMS), sep="\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
