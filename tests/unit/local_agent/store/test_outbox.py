"""Reports to the gateway: numbered without a gap, signed, kept until acknowledged."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import closing, suppress
from pathlib import Path
from typing import Any

import pytest

from common.clock import ManualClock
from common.errors import LocalProtocolError, RemoteProtocolError
from common.protocol.envelope import Envelope, agent_name, gateway_name, open_envelope
from local_agent.store import outbox as outbox_module
from local_agent.store.journal import Journal
from local_agent.store.outbox import Peer
from local_agent.store.peers import KeysInUse, Peers
from tests.sealed import AGENT, AGENT_ID, GATEWAY, ZEROS, a_journal, a_peer


@pytest.fixture
def clock() -> ManualClock:
    return ManualClock()


@pytest.fixture
def journal(tmp_path: Path, clock: ManualClock) -> Iterator[Journal]:
    with closing(a_journal(tmp_path, clock)) as opened:
        yield opened


def an_event(clock: ManualClock, message: str = "", **changed: Any) -> dict[str, Any]:
    at = clock.now().wall_ms
    body = {"task_id": "t", "state": "ROUTED", "message": message, "waiting": None, "at": at}
    return body | changed


def said(journal: Journal, clock: ManualClock) -> list[tuple[int, str]]:
    return [(seq, opened(frame, clock).body["message"]) for seq, frame in journal.outbox.unsent()]


def a_result(clock: ManualClock) -> dict[str, Any]:
    return {
        "task_id": "t",
        "task_sha256": ZEROS,
        "state": "COMPLETED",
        "reason": "completed",
        "summary": "done",
        "at": clock.now().wall_ms,
    }


WAITING = {"seal_code": "7K3F-9Q2M", "expires_at": 1_760_000_100_000, "machine": "dev-1"}


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
    numbers = [journal.outbox.put("event", f"t{n}", an_event(clock, str(n))) for n in range(3)]
    assert numbers == [1, 2, 3]
    for seq, frame in journal.outbox.unsent():
        envelope = opened(frame, clock)
        assert (envelope.header.seq, envelope.body["message"]) == (seq, str(seq - 1))


@pytest.mark.requirement("P3")
def test_what_leaves_is_on_the_disk_before(
    journal: Journal, clock: ManualClock, monkeypatch: pytest.MonkeyPatch
) -> None:
    flushes: list[int] = []
    monkeypatch.setattr(os, "fsync", flushes.append)
    with journal._db.transaction(synced=False):
        journal.outbox.put("event", "t", an_event(clock), urgent=False)
    assert journal.outbox.take_news() == "soon"
    assert (len(flushes), len(journal.outbox.unsent()), len(flushes)) == (0, 1, 1)
    journal.outbox.put("result", "t", a_result(clock))
    assert journal.outbox.take_news() == "now"
    assert (len(journal.outbox.unsent()), len(flushes)) == (2, 1), "the commit has flushed it"
    journal.outbox.acked(2)
    assert len(journal.outbox.unsent()) == 0
    assert len(flushes) == 1, "that it arrived is told again if it is lost"


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


@pytest.mark.requirement("P3")
def test_an_acknowledgement_that_was_taken_back_is_an_alarm(
    journal: Journal, clock: ManualClock
) -> None:
    for _ in range(3):
        journal.outbox.put("event", "t", an_event(clock))
    journal.outbox.acked(2)
    for _ in ("while one is on its way", "when there is nothing left"):
        with pytest.raises(RemoteProtocolError) as caught:
            journal.outbox.acked(1)
        assert caught.value.code == "outbox.ack-lost"
        journal.outbox.acked(3)


@pytest.mark.requirement("P3")
def test_what_a_clock_dated_ahead_is_signed_anew_once_the_clock_was_put_back(
    tmp_path: Path,
) -> None:
    clock, right = ManualClock(), ManualClock()
    clock.jump_wall(86_400)
    with closing(a_journal(tmp_path, clock)) as journal:
        journal.outbox.put("event", "t", an_event(right, "ahead"))
        clock.jump_wall(-86_400)
        [(seq, frame)] = journal.outbox.unsent()
        assert opened(frame, right).header.iat == right.now().wall_s
        assert seq == 1


def test_a_fresh_report_is_sent_as_it_was_stored(journal: Journal, clock: ManualClock) -> None:
    journal.outbox.put("event", "t", an_event(clock))
    before = journal.outbox.unsent()
    clock.advance(86_400)
    assert journal.outbox.unsent() == before


def test_a_new_pairing_counts_from_one(tmp_path: Path, clock: ManualClock) -> None:
    with closing(a_journal(tmp_path, clock)) as journal:
        journal.outbox.put("event", "t", an_event(clock))
    path = tmp_path / "state" / "journal.db"
    with closing(
        Journal(path, clock=clock, key=lambda: AGENT, peer=Peer("other", a_peer(clock).sign))
    ) as journal:
        assert journal.outbox.unsent() == []
        assert journal.outbox.put("event", "t", an_event(clock)) == 1


def test_without_a_gateway_there_is_nothing_to_send(tmp_path: Path, clock: ManualClock) -> None:
    with closing(a_journal(tmp_path, clock, paired=False)) as journal:
        assert journal.outbox.unsent() == []
        assert journal.outbox.acked(1) == 0
        with pytest.raises(LocalProtocolError) as caught:
            journal.outbox.put("event", "t", an_event(clock))
    assert caught.value.code == "outbox.unpaired"


@pytest.mark.requirement("P3")
def test_while_nobody_hears_it_progress_takes_the_place_of_older_progress(
    journal: Journal, clock: ManualClock
) -> None:
    journal.outbox.put("event", "t", an_event(clock, "10 s"))
    journal.outbox.put("event", "other", an_event(clock, "elsewhere", task_id="other"))
    assert journal.outbox.put("event", "t", an_event(clock, "20 s")) == 1
    assert said(journal, clock) == [(1, "20 s"), (2, "elsewhere")]
    assert journal.outbox.put("event", "next", an_event(clock, task_id="next")) == 3


@pytest.mark.requirement("P3")
def test_what_was_handed_out_to_be_sent_is_never_replaced(
    journal: Journal, clock: ManualClock
) -> None:
    journal.outbox.put("event", "t", an_event(clock, "10 s"))
    before = journal.outbox.unsent()
    assert journal.outbox.put("event", "t", an_event(clock, "20 s")) == 2
    assert journal.outbox.unsent(limit=1) == before


def test_what_an_earlier_process_may_have_sent_is_never_replaced(
    tmp_path: Path, clock: ManualClock
) -> None:
    with closing(a_journal(tmp_path, clock)) as journal:
        journal.outbox.put("event", "t", an_event(clock, "10 s"))
    with closing(a_journal(tmp_path, clock)) as journal:
        assert journal.outbox.put("event", "t", an_event(clock, "20 s")) == 2


@pytest.mark.requirement("P7")
@pytest.mark.parametrize(
    ("older", "newer"),
    [
        ({"state": "ROUTED"}, {"state": "CONTEXT_COLLECTED"}),
        ({"state": "WAITING_APPROVAL", "waiting": WAITING}, {"state": "WAITING_APPROVAL"}),
        ({"message": "something"}, {"message": ""}),
    ],
    ids=["another state", "an approval that waits", "nothing new to say"],
)
def test_a_step_that_says_something_of_its_own_is_kept(
    journal: Journal, clock: ManualClock, older: dict[str, Any], newer: dict[str, Any]
) -> None:
    journal.outbox.put("event", "t", an_event(clock, "a") | older)
    assert journal.outbox.put("event", "t", an_event(clock, "b") | newer) == 2


def test_a_newer_approval_takes_the_place_of_the_one_it_replaced(
    journal: Journal, clock: ManualClock
) -> None:
    asks = an_event(clock, "please", state="WAITING_APPROVAL", waiting=WAITING)
    again = asks | {"waiting": WAITING | {"seal_code": "AAAA-BBBB"}}
    assert [journal.outbox.put("event", "t", asks), journal.outbox.put("event", "t", again)] == [
        1,
        1,
    ]


def test_a_result_takes_no_place_and_gives_none(journal: Journal, clock: ManualClock) -> None:
    journal.outbox.put("event", "t", an_event(clock, "10 s"))
    assert journal.outbox.put("result", "t", a_result(clock)) == 2
    assert journal.outbox.put("event", "t", an_event(clock, "late")) == 3


@pytest.mark.parametrize(("rows", "size"), [(2, 1_000_000), (1_000, 600)])
def test_an_outbox_that_nobody_hears_is_full_by_rows_or_by_bytes(
    journal: Journal, clock: ManualClock, monkeypatch: pytest.MonkeyPatch, rows: int, size: int
) -> None:
    monkeypatch.setattr(outbox_module, "MAX_ROWS", rows)
    monkeypatch.setattr(outbox_module, "MAX_BYTES", size)
    journal.outbox.put("event", "t1", an_event(clock))
    assert not journal.outbox.is_full()
    journal.outbox.put("event", "t2", an_event(clock))
    assert journal.outbox.is_full()
    journal.outbox.put("result", "t2", a_result(clock))  # an end is never turned away
    journal.outbox.acked(3)
    assert not journal.outbox.is_full()


def test_what_is_signed_anew_looks_once_for_the_keys_however_much_there_is(
    journal: Journal, clock: ManualClock, monkeypatch: pytest.MonkeyPatch
) -> None:
    # To find them all that waits is looked through: once for each of it would take minutes.
    for number in range(5):
        journal.outbox.put("event", f"t{number}", an_event(clock))
    before = journal.outbox.unsent()
    looked: list[None] = []
    look = Peers.in_use

    def counted(peers: Peers) -> KeysInUse:
        looked.append(None)
        return look(peers)

    monkeypatch.setattr(Peers, "in_use", counted)
    clock.advance(1)
    journal.outbox.readdress()
    assert len(looked) == 1
    after = journal.outbox.unsent()
    assert len(looked) == 1  # nothing was due
    assert [seq for seq, _ in after] == [seq for seq, _ in before]
    assert not {frame for _, frame in after} & {frame for _, frame in before}
