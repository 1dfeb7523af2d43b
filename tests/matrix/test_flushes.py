"""What one task asks the disk to wait for, and why."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import pytest

from tests.matrix.ledger import FLUSH
from tests.matrix.matrix import Ground
from tests.matrix.running import read_notes

MOST = 20  # of one command that is approved, on both halves
# Half and first words of what was written, with the reason why nothing may go on before it is safe.
NEEDED = {
    ("gateway", "agents~next_seq audit+task.accepted"): "WeCom is answered: it asks no second time",
    ("agent", "audit+task.accepted"): "the gateway is told that the task was taken",
    ("agent", "approvals+pending"): "a person is asked; a restart must not forget it",
    ("agent", "events+ outbox+event peers~sent_seq tasks~WAITING_APPROVAL"): "the gateway is told",
    (
        "gateway",
        "agents~recv_seq cards+ conversations~ outbox+reply:waiting:queued",
    ): "the agent need not repeat",
    ("agent", "approvals~approved"): "the person is told that the decision counts",
    ("agent", "approvals~consumed"): "the command starts: never a second time",
    ("agent", ".*.*.tmp"): "the output, before its name",
    ("agent", "*"): "the name of the output, before the journal refers to it",
    ("agent", "audit+exec.result"): "the end is told",
    ("gateway", "agents~next_seq agents~recv_seq audit+head.kept"): "a head is kept and answered",
    ("gateway", "agents~recv_seq audit+task.ended"): "the agent may forget the result",
    ("agent", "audit+head.kept"): "the gateway may forget its head",
}
# A flush without a transaction: what was written before goes to the disk, as something else that
# stands on it leaves at once.  How often depends on what comes together.
ALSO = {("agent", "journal.db-wal"), ("gateway", "gateway.db-wal")}


@pytest.mark.thorough
def test_a_command_waits_for_the_disk_only_where_somebody_relies_on_it(
    ground: Ground, tmp_path: Path
) -> None:
    notes = tmp_path / "notes"
    with ground.house(notes) as house:
        house.start("simulator", "gateway", "agent")
        house.settle()
        before = len(read_notes(notes))
        house.ask("one")
        house.approve("one")
        house.ends("one", "completed")
        house.settle()
    seen = Counter(
        (note["half"], note["event"])
        for note in read_notes(notes)[before:]
        if note["phase"] == FLUSH
    )
    others = [what for what in seen if what not in ALSO and _reason(*what) is None]
    assert others == []
    assert {_reason(*what) for what in seen} >= set(NEEDED.values())
    assert all(count == 1 for what, count in seen.items() if what not in ALSO), seen
    assert seen.total() <= MOST, seen


def _reason(half: str, event: str) -> str | None:
    return next(
        (
            why
            for (part, words), why in NEEDED.items()
            if (part, f"{event} ".startswith(f"{words} ")) == (half, True)
        ),
        None,
    )
