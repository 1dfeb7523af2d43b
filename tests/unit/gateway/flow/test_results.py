"""What a machine says of its tasks, on a real store: told to the chat, or refused and audited."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from common.errors import StoreError
from common.model.state import Reason, TaskState, final_of
from common.protocol.envelope import Envelope, agent_name, gateway_name, rekey_body
from common.sentences import say
from common.signing import SigningKey, VerifyKey
from common.text import CHAT_BYTES
from gateway.flow.replies import FINAL
from gateway.flow.results import APPROVALS, REFUSALS, REKEYS
from gateway.store import agents, members
from tests.gateway_desk import (
    AGENT,
    MACHINE,
    NOON_MS,
    TO_APPROVAL,
    USER,
    WAITING,
    Desk,
    chat,
    open_desk,
)
from tests.people import someone

pytestmark = pytest.mark.heavy


@pytest.fixture
async def desk(tmp_path: Path) -> AsyncIterator[Desk]:
    async with open_desk(tmp_path) as desk:
        await desk.connect()
        yield desk


async def _told(desk: Desk, count: int) -> list[str]:
    """Return what was said after the first ``count`` messages."""
    return (await desk.said())[count:]


async def test_the_whole_line_from_question_to_summary(desk: Desk) -> None:
    task = await desk.ask()
    await desk.event(task, "RECEIVED")
    await desk.events(task, *TO_APPROVAL)
    await desk.event(task, "WAITING_APPROVAL", waiting=WAITING)
    await desk.event(task, "EXECUTING")
    await desk.result(task, "COMPLETED", "completed", "✓ 12 passed in 3 s")
    waiting, final = await _told(desk, 1)
    assert waiting.startswith(f"Proposal ready; waiting for local approval on {MACHINE}\n")
    for fact in (task.short_id, "7K3F-9Q2M", "01-02 12:00", "codexbridge approve"):
        assert fact in waiting
    assert final == f"{task.short_id} ✓ 12 passed in 3 s · {MACHINE}"
    ended = await desk.task()
    assert (ended.state, ended.reason) == (TaskState.COMPLETED, Reason.COMPLETED)


@pytest.mark.requirement("P7")
async def test_what_is_proposed_stands_below_the_waiting_sentence(desk: Desk) -> None:
    task = await desk.ask()
    await desk.events(task, *TO_APPROVAL)
    said = "“delete everything” is NOT done.\nProposed: `pytest -q`"
    await desk.event(task, "WAITING_APPROVAL", said, waiting=WAITING)
    (waiting,) = await _told(desk, 1)
    assert f"code 7K3F-9Q2M\n{said}\nUntil 01-02 12:00" in waiting
    assert waiting.endswith(f"codexbridge approve {task.short_id}")


@pytest.mark.requirement("P7")
async def test_what_takes_long_is_told_to_run_and_what_ends_soon_is_not(desk: Desk) -> None:
    task = await desk.ask()
    await desk.events(task, *TO_APPROVAL)
    await desk.event(task, "WAITING_APPROVAL", waiting=WAITING)
    await desk.event(task, "EXECUTING")
    _, running = await _told(desk, 1)
    assert running == f"{task.short_id}: approved on {MACHINE}, now running."
    await desk.result(task, "FAILED", "failed", "1 of 3 tests failed: a (b.py)\nassert 1 == 2")
    _, final = await _told(desk, 1)
    assert final.split("\n") == [
        f"{task.short_id} ✗ 1 of 3 tests failed: a (b.py)",
        "assert 1 == 2",
        f"More on {MACHINE}:",
        f"codexbridge show {task.short_id}",
    ]


@pytest.mark.requirement("P7")
async def test_what_is_said_at_the_beginning_of_the_work_is_told(desk: Desk) -> None:
    task = await desk.ask()
    await desk.events(task, "ROUTED", "CONTEXT_COLLECTED")
    said = "Playbook note waits for a decision: step 2 of 4 (ask)."
    await desk.event(task, "PROPOSING", said)  # overtook the event that only said PROPOSING
    (told,) = await _told(desk, 1)
    assert said in told


@pytest.mark.requirement("P7")
async def test_a_task_that_is_taken_at_once_is_told_by_what_comes_of_it(desk: Desk) -> None:
    replay = b"0" * 32
    await desk.intake(chat("@dev test"), replay)
    (receipt,) = await desk.said()
    assert "sent to" in receipt
    await desk.events(await desk.task(), *TO_APPROVAL)
    assert await desk.said() == [receipt], "nothing else was told of it yet"
    await desk.event(await desk.task(), "WAITING_APPROVAL", waiting=WAITING)
    (waiting,) = await desk.said()
    assert waiting.startswith("Proposal ready")


async def test_the_waiting_sentence_in_chinese(desk: Desk) -> None:
    task = await desk.ask("@dev 测试")
    await desk.events(task, *TO_APPROVAL)
    await desk.event(task, "WAITING_APPROVAL", waiting=WAITING)
    (waiting,) = await _told(desk, 1)
    assert waiting.startswith(f"方案已就绪，等待在 {MACHINE} 上本地批准")


@pytest.mark.requirement("P7")
@pytest.mark.parametrize("reason", list(Reason))
async def test_every_outcome_is_told(desk: Desk, reason: Reason) -> None:
    task = await desk.ask()
    await desk.events(task, *TO_APPROVAL)
    await desk.event(task, "WAITING_APPROVAL", waiting=WAITING)
    await desk.event(task, "EXECUTING")
    await desk.result(task, final_of(reason)[0].value, reason.value, "the machine's own words")
    final = (await desk.said())[-1]
    assert task.short_id in final
    assert MACHINE in final
    assert "the machine's own words" in final.split("\n")[0]
    others = [one for one in Reason if one not in (reason, Reason.COMPLETED)]  # which has no words
    facts = {"id": task.short_id, "machine": MACHINE}
    assert final.startswith(say(FINAL[reason], "en", **facts))
    assert not any(final.startswith(say(FINAL[one], "en", **facts)) for one in others)
    assert (await desk.task()).reason is reason


@pytest.mark.requirement("P7")
async def test_the_machine_is_named_by_our_record_and_not_by_itself(desk: Desk) -> None:
    task = await desk.ask()
    await desk.events(task, *TO_APPROVAL)
    await desk.event(task, "WAITING_APPROVAL", waiting=WAITING | {"machine": "prod-1"})
    assert "prod-1" not in (await desk.said())[-1]


@pytest.mark.requirement("R73")
async def test_a_summary_is_redacted_revealed_and_bounded(desk: Desk) -> None:
    task = await desk.ask()
    await desk.events(task, *TO_APPROVAL)
    token = "ghp_" + "a1B2" * 9
    await desk.result(task, "COMPLETED", "completed", f"{token}\u202e" + "测" * 4000)
    final = (await desk.said())[-1]
    assert token not in final
    assert "\u202e" not in final
    assert len(final.encode()) <= CHAT_BYTES


# -- told again ------------------------------------------------------------------------------


async def test_the_same_approval_told_again_makes_no_second_message(desk: Desk) -> None:
    task = await desk.ask()
    await desk.events(task, *TO_APPROVAL)
    for _ in range(2):
        await desk.event(task, "WAITING_APPROVAL", waiting=WAITING)
    assert len(await _told(desk, 1)) == 1
    await desk.event(task, "WAITING_APPROVAL", waiting=WAITING | {"seal_code": "AAAA-BBBB"})
    assert "AAAA-BBBB" in (await _told(desk, 2))[0]
    assert (await desk.task()).seal_code == "AAAA-BBBB"


async def test_an_envelope_that_was_stored_before_changes_nothing(desk: Desk) -> None:
    task = await desk.ask()
    body = {
        "task_id": task.task_id,
        "state": "ROUTED",
        "message": "",
        "waiting": None,
        "at": NOON_MS,
    }
    envelope = desk.signed("event", body)
    assert await desk.tell(envelope)
    assert await desk.tell(envelope)
    assert [body for body in await desk.audited() if "refused" in body] == []


async def test_progress_is_told_in_one_line_and_merged(desk: Desk) -> None:
    task = await desk.ask()
    await desk.events(task, *TO_APPROVAL, "WAITING_APPROVAL", "EXECUTING")
    for line in ("still running, 10 s", "still running, 20 s\n2 lines"):
        await desk.event(task, "EXECUTING", line)
    (progress,) = await _told(desk, 1)
    assert progress == f"{task.short_id} on {MACHINE} (12:00): still running, 20 s 2 lines"


async def test_a_model_at_work_is_told_until_there_is_a_proposal(desk: Desk) -> None:
    task = await desk.ask()
    await desk.events(task, *TO_APPROVAL[:3])
    await desk.event(task, "PROPOSING", "The model ds is at work (10 s).")
    assert await _told(desk, 1) == [
        f"{task.short_id} on {MACHINE} (12:00): The model ds is at work (10 s)."
    ]
    await desk.event(task, "PROPOSING", "The model ds is at work (30 s).")
    await desk.event(task, "PROPOSAL_READY")
    await desk.event(task, "WAITING_APPROVAL", waiting=WAITING)
    (waiting,) = await _told(desk, 1)
    assert waiting.startswith("Proposal ready")  # and the line, not sent yet, is dropped


async def test_what_a_run_last_said_is_its_state_in_a_list(desk: Desk) -> None:
    task = await desk.ask()
    await desk.events(task, *TO_APPROVAL[:3])
    said = "Playbook weekly waits for a decision on dev-1: step 3 of 7 (save)."
    await desk.event(task, "PROPOSING", said)
    for text in ("@dev status", f"@dev status {task.short_id}"):
        listed = str(await desk.hear(text))
        assert f"{task.short_id} · Playbook weekly waits" in listed
        assert listed.count("step 3 of 7 (save)") == 1


async def test_states_on_the_way_are_kept_and_not_told(desk: Desk) -> None:
    task = await desk.ask()
    await desk.events(task, *TO_APPROVAL)
    assert await _told(desk, 1) == []
    assert (await desk.task()).state is TaskState.PROPOSAL_READY


# -- what is refused (R18) -------------------------------------------------------------------


async def _refused(desk: Desk, task_state: TaskState, code: str) -> None:
    assert len(await desk.said()) == 1, "nothing but the first answer was said"
    (entry,) = [body for body in await desk.audited() if "result.refused" in body]
    assert code in entry
    assert all(task.state is task_state for task in await desk.tasks())


@pytest.mark.requirement("R18")
async def test_a_result_for_another_machines_task_is_refused_audited_and_acknowledged(
    desk: Desk,
) -> None:
    task = await desk.ask()
    await desk.add_machine("agent-2", "dev-2")
    await desk.connect("agent-2")
    body = {
        "task_id": task.task_id,
        "task_sha256": task.envelope_sha256,
        "state": "FAILED",
        "reason": "failed",
        "summary": "forged",
        "at": NOON_MS,
    }
    envelope = desk.signed("result", body, agent_id="agent-2", seq=1)
    assert await desk.tell(envelope, agent_id="agent-2")
    await _refused(desk, TaskState.RECEIVED, "result.foreign-task")


@pytest.mark.requirement("R18")
async def test_a_result_that_names_another_envelope_is_refused(desk: Desk) -> None:
    task = await desk.ask()
    assert await desk.result(task, "FAILED", "failed", "forged", task_sha256="0" * 64)
    await _refused(desk, TaskState.RECEIVED, "result.wrong-envelope")


@pytest.mark.requirement("R18")
async def test_a_result_that_skips_the_approval_is_refused(desk: Desk) -> None:
    task = await desk.ask()
    assert await desk.result(task, "COMPLETED", "completed", "done without asking")
    await _refused(desk, TaskState.RECEIVED, "task.illegal-transition")


@pytest.mark.requirement("R18")
async def test_an_event_against_the_table_is_refused(desk: Desk) -> None:
    task = await desk.ask()
    assert await desk.event(task, "EXECUTING")
    await _refused(desk, TaskState.RECEIVED, "task.illegal-transition")


async def test_a_task_that_ended_stays_ended(desk: Desk) -> None:
    task = await desk.ask()
    await desk.result(task, "REJECTED", "rejected", "no")
    await desk.result(task, "FAILED", "failed", "changed my mind")
    await desk.event(task, "ROUTED")
    assert (await desk.task()).reason is Reason.REJECTED
    assert len(await desk.said()) == 2
    assert len([body for body in await desk.audited() if "result.refused" in body]) == 2


async def test_an_event_cannot_end_a_task(desk: Desk) -> None:
    task = await desk.ask()
    assert await desk.event(task, "FAILED")
    assert (await desk.task()).state is TaskState.RECEIVED
    assert await desk.result(task, "FAILED", "failed")
    assert (await desk.task()).state is TaskState.FAILED


@pytest.mark.requirement("P4")
async def test_an_agent_that_sends_what_only_a_gateway_may_is_refused(desk: Desk) -> None:
    task = await desk.ask()
    body = {"task_id": task.task_id, "claimed_user": USER}
    assert await desk.tell(desk.signed("cancel", body))
    await _refused(desk, TaskState.RECEIVED, "result.unexpected")


async def test_a_session_that_was_taken_over_stores_nothing(desk: Desk) -> None:
    task = await desk.ask()
    old = desk.epoch
    await desk.connect()
    new, desk.epoch = desk.epoch, old
    assert not await desk.event(task, "ROUTED")
    assert (await desk.task()).state is TaskState.RECEIVED
    desk.epoch, desk.sent = new, 0
    assert await desk.event(task, "ROUTED")
    assert (await desk.task()).state is TaskState.ROUTED


async def test_a_gap_stores_nothing(desk: Desk) -> None:
    task = await desk.ask()
    desk.sent += 1
    with pytest.raises(StoreError) as caught:
        await desk.event(task, "ROUTED")
    assert caught.value.code == "store.sequence-gap"


async def test_whoever_was_removed_is_told_nothing_more(desk: Desk) -> None:
    task = await desk.ask()
    await desk.events(task, *TO_APPROVAL, "WAITING_APPROVAL", "EXECUTING")
    said = [text for text in await desk.said() if "now running" not in text]
    await desk.write(members.remove, someone(USER), at_ms=NOON_MS)
    await desk.event(task, "EXECUTING", "still running, 10 s")
    await desk.result(task, "COMPLETED", "completed", "secret")
    assert await desk.said() == said
    assert (await desk.task()).reason is Reason.COMPLETED


# -- what the gateway had given up -----------------------------------------------------------


@pytest.mark.requirement("P7")
async def test_what_the_machine_signs_stands_over_what_was_presumed(desk: Desk) -> None:
    task = await desk.ask()
    desk.clock.advance(9 * 3600)
    await desk.upkeep.round()
    assert (await desk.task()).reason is Reason.EXPIRED
    await desk.mailbox.acked(AGENT, epoch=desk.epoch, seq=1)
    await desk.events(task, *TO_APPROVAL)
    assert (await desk.task()).state is TaskState.PROPOSAL_READY
    await desk.result(task, "COMPLETED", "completed", "it had arrived after all")
    ended = await desk.task()
    assert (ended.reason, ended.presumed) == (Reason.COMPLETED, 0)
    assert "after all" in (await desk.said())[-1]


async def test_a_task_that_was_given_up_and_cancelled_is_stopped_again(desk: Desk) -> None:
    task = await desk.ask()
    await desk.hear("@dev cancel")
    desk.clock.advance(9 * 3600)
    await desk.upkeep.round()
    assert (await desk.task()).reason is Reason.CANCELLED
    await desk.event(task, "ROUTED")
    assert [mail.header.typ for mail in await desk.mail()] == ["tombstone", "tombstone", "cancel"]


# -- what one machine cannot make of the store and of its member's chat ------------------------


async def test_a_machine_cannot_fill_the_audit_log_with_what_is_refused(desk: Desk) -> None:
    task = await desk.ask()
    for _ in range(REFUSALS + 20):
        assert await desk.event(task, "EXECUTING")
    refused = [body for body in await desk.audited() if "result.refused" in body]
    assert len(refused) == REFUSALS + 1
    assert "result.refused-too-often" in refused[-1]
    desk.clock.advance(601)
    assert await desk.event(task, "EXECUTING")
    assert len([body for body in await desk.audited() if "result.refused" in body]) == REFUSALS + 2


@pytest.mark.requirement("P7")
async def test_a_machine_cannot_bury_its_members_chat_under_approvals(desk: Desk) -> None:
    task = await desk.ask()
    await desk.events(task, *TO_APPROVAL)
    for number in range(APPROVALS + 20):
        waiting = WAITING | {"seal_code": f"0000-{number:04}"}
        assert await desk.event(task, "WAITING_APPROVAL", waiting=waiting)
    assert len(await _told(desk, 1)) < 6
    assert await desk.event(task, "EXECUTING")
    assert "now running" in (await desk.said())[-1]


# Rotated keys


def rekey(desk: Desk, new: SigningKey, *, key: SigningKey | None = None) -> Envelope:
    """Return what hands the machine's next key to the gateway."""
    signer = key or desk.agent_key
    iss, aud = agent_name(AGENT), gateway_name(desk.gateway_key.public)
    body = rekey_body(new, iss=iss, aud=aud, old_key_id=signer.public.key_id)
    return desk.signed("rekey", body)


async def key_on_record(desk: Desk) -> bytes:
    """Return the machine's key as the gateway has it."""
    agent = await desk.store.read(agents.find, AGENT)
    assert agent is not None
    assert agent.key_id == VerifyKey(agent.public_key).key_id
    return agent.public_key


@pytest.mark.requirement("P3")
async def test_a_machine_hands_its_next_key_over(desk: Desk) -> None:
    new, old = SigningKey.generate(), desk.agent_key.public.key_id
    assert await desk.tell(rekey(desk, new))
    assert await key_on_record(desk) == new.public.raw
    (entry,) = [entry for entry in await desk.audited() if "agent.rekeyed" in entry]
    assert old in entry
    assert new.public.key_id in entry


@pytest.mark.requirement("R18")
async def test_a_key_whose_proof_does_not_hold_is_refused_and_audited(desk: Desk) -> None:
    made = rekey(desk, SigningKey.generate(), key=SigningKey.generate())
    assert await desk.tell(made)
    assert await key_on_record(desk) == desk.agent_key.public.raw
    assert any("auth.rekey" in entry for entry in await desk.audited())


@pytest.mark.requirement("R11")
async def test_a_key_of_another_machine_is_refused(desk: Desk) -> None:
    other = SigningKey.generate()
    await desk.write(agents.enrol, "agent-2", machine="dev-2", public_key=other.public, at_ms=1)
    assert await desk.tell(rekey(desk, other))
    assert await key_on_record(desk) == desk.agent_key.public.raw
    assert any("agent.key-in-use" in entry for entry in await desk.audited())


async def test_a_machine_cannot_fill_the_audit_with_new_keys(desk: Desk) -> None:
    for _ in range(REKEYS + 3):
        await desk.tell(rekey(desk, SigningKey.generate()))
    entries = await desk.audited()
    assert sum("agent.rekeyed" in entry for entry in entries) == REKEYS
    assert any("result.rekeyed-too-often" in entry for entry in entries)
