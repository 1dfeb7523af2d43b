"""Reports to the gateway: numbered without a gap, signed, kept until acknowledged."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing, suppress
from pathlib import Path
from typing import Any

import pytest

from common.clock import ManualClock
from common.errors import LocalProtocolError, RemoteProtocolError
from common.protocol.envelope import Envelope, agent_name, gateway_name, open_envelope
from local_agent.store.journal import Journal
from local_agent.store.outbox import Peer
from tests.sealed import AGENT, AGENT_ID, GATEWAY, a_journal, a_peer


@pytest.fixture
def clock() -> ManualClock:
    return ManualClock()


@pytest.fixture
def journal(tmp_path: Path, clock: ManualClock) -> Iterator[Journal]:
    with closing(a_journal(tmp_path, clock)) as opened:
        yield opened


def an_event(clock: ManualClock, message: str = "") -> dict[str, Any]:
    at = clock.now().wall_ms
    return {"task_id": "t", "state": "ROUTED", "message": message, "waiting": None, "at": at}


def opened(frame: bytes, clock: ManualClock) -> Envelope:
    return open_envelope(
        frame,
        key=AGENT.public,
        iss=agent_name(AGENT_ID),
        aud=gateway_name(GATEWAY.public),
        at=clock.now(),
    )


@pytest.mark.requirement("R18")
def test_each_report_is_signed_under_its_own_number(journal: Journal, clock: ManualClock) -> None:
    assert [journal.outbox.put("event", "t", an_event(clock, str(n))) for n in range(3)] == [
        1,
        2,
        3,
    ]
    for seq, frame in journal.outbox.unsent():
        envelope = opened(frame, clock)
        assert (envelope.header.seq, envelope.body["message"]) == (seq, str(seq - 1))


@pytest.mark.requirement("R17")
def test_a_number_that_was_rolled_back_is_used_again(journal: Journal, clock: ManualClock) -> None:
    with suppress(KeyError), journal.transaction():
        journal.outbox.put("event", "t", an_event(clock))
        raise KeyError
    assert journal.outbox.put("event", "t", an_event(clock)) == 1


def test_an_acknowledgement_forgets_everything_up_to_it(
    journal: Journal, clock: ManualClock
) -> None:
    for _ in range(4):
        journal.outbox.put("event", "t", an_event(clock))
    assert journal.outbox.acked(2) == 2
    assert journal.outbox.acked(2) == 0
    assert [seq for seq, _ in journal.outbox.unsent()] == [3, 4]
    assert [seq for seq, _ in journal.outbox.unsent(3)] == [4]
    assert [seq for seq, _ in journal.outbox.unsent(limit=1)] == [3]
    assert journal.outbox.acked(4) == 2
    assert journal.outbox.put("event", "t", an_event(clock)) == 5


@pytest.mark.parametrize("sent", [0, 2])
def test_an_acknowledgement_of_what_was_never_sent_is_an_alarm(
    journal: Journal, clock: ManualClock, sent: int
) -> None:
    for _ in range(sent):
        journal.outbox.put("event", "t", an_event(clock))
    with pytest.raises(RemoteProtocolError) as caught:
        journal.outbox.acked(sent + 1)
    assert caught.value.code == "outbox.ack-unsent"
    assert len(journal.outbox.unsent()) == sent


@pytest.mark.requirement("P3")
def test_a_report_outlives_a_long_absence_under_its_old_name(
    journal: Journal, clock: ManualClock
) -> None:
    journal.outbox.put("event", "t", an_event(clock, "old"))
    [(_, before)] = journal.outbox.unsent()
    first = opened(before, clock)
    clock.advance(30 * 86_400)
    [(seq, after)] = journal.outbox.unsent()
    renewed = opened(after, clock)
    assert seq == renewed.header.seq == first.header.seq
    assert renewed.header.jti == first.header.jti
    assert renewed.body == first.body


def test_a_fresh_report_is_sent_as_it_was_stored(journal: Journal, clock: ManualClock) -> None:
    journal.outbox.put("event", "t", an_event(clock))
    before = journal.outbox.unsent()
    clock.advance(86_400)
    assert journal.outbox.unsent() == before


def test_a_new_pairing_counts_from_one(tmp_path: Path, clock: ManualClock) -> None:
    with closing(a_journal(tmp_path, clock)) as journal:
        journal.outbox.put("event", "t", an_event(clock))
    path = tmp_path / "state" / "journal.db"
    with closing(Journal(path, clock=clock, peer=Peer("other", a_peer(clock).sign))) as journal:
        assert journal.outbox.unsent() == []
        assert journal.outbox.put("event", "t", an_event(clock)) == 1


def test_without_a_gateway_there_is_nothing_to_send(tmp_path: Path, clock: ManualClock) -> None:
    with closing(a_journal(tmp_path, clock, paired=False)) as journal:
        assert journal.outbox.unsent() == []
        assert journal.outbox.acked(1) == 0
        with pytest.raises(LocalProtocolError) as caught:
            journal.outbox.put("event", "t", an_event(clock))
    assert caught.value.code == "outbox.unpaired"
