"""What is read for the chat: bounded, released at the machine, charged, audited and noticed."""

from __future__ import annotations

import asyncio
import hashlib
import json
from collections.abc import AsyncIterator
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import pytest

from common.errors import InputError
from common.ids import new_uuid
from common.model.intent import TaskIntent, TaskKind
from common.model.proposal import (
    Answer,
    CommandProposal,
    Diff,
    GitSync,
    LocalApproval,
    Plan,
    Release,
    SearchItem,
    SearchResults,
    Speech,
    Steps,
    TaskResult,
    Undo,
)
from common.model.state import FINAL, Reason, TaskState
from common.sentences import say
from local_agent.actions.disclose.action import (
    NOT_SENT,
    STAYS_THERE,
    STAYS_THERE_WHY,
    Disclose,
    render_stay,
)
from local_agent.faces.telling import Teller
from local_agent.flow import words as flow_words
from local_agent.flow.disclosing import MAX_SEALED_FILES, Disclosure
from local_agent.flow.journal_store import JournalStore
from local_agent.flow.task import TaskLog
from local_agent.propose.base import Proposed, answer
from local_agent.propose.context.collected import Collected, Piece, Share
from local_agent.safety.disclosure import WITHHELD
from local_agent.safety.policy import Policy
from local_agent.store.endings import CHAT_SUMMARY_BYTES
from local_agent.store.tasks import Task
from local_agent.understand.reading import Reading, write_reading
from local_agent.workspace.registry import DisclosureLevel, Workspace
from tests.asked import read_question
from tests.desk import Desk
from tests.sealed import Wish

pytestmark = pytest.mark.heavy

SOURCE = "\n".join(f"total_{number} = add(total_{number - 1}, price)" for number in range(40))
CONTEXT = Collected(
    pieces=(Piece(kind="file", path="src/cart.py", text=SOURCE), Piece(kind="tree", text="src/")),
)
SAID = "It adds the prices up, one after the other."
EXPLAINED = Proposed(
    Answer(text=SAID),
    SAID,
    details=f"The model says:\n{SAID}",
    speech=Speech(model="mock", text=SAID),
)
LONG = f"{SAID}\n{SOURCE}"
QUOTED = Proposed(
    Answer(text=LONG),
    LONG,
    details=f"The model says:\n{LONG}",
    speech=Speech(model="mock", text=LONG),
)
CHANGE = Proposed(
    Diff(diff_id="0" * 64, unified_diff="", files=()),
    "Proposed in workspace shop: 1 file\nsrc/cart.py +1 −1",
    LocalApproval(action="apply_diff"),
)
HERE: dict[str, Any] = {"source": "local_ui", "channel": "terminal", "gateway_key_id": None}


@dataclass
class Notices:
    """Keeps what was told."""

    told: list[tuple[str, str, int, str]] = field(default_factory=list)

    def tell(self, *, who: str, workspace: str, files: int, task: str) -> None:
        self.told.append((who, workspace, files, task))


@dataclass
class Counter:
    """A desk with the part that is tested, and the operation that belongs to it."""

    desk: Desk
    disclosure: Disclosure
    notices: Notices
    made: int = 0

    @property
    def workspace(self) -> Workspace:
        """Where everything is about."""
        return self.desk.shelf.entries[0]

    def set(self, level: DisclosureLevel, **budget: int) -> None:
        """Set what the chat may be told."""
        changed = replace(self.workspace, disclosure=level, **budget)  # type: ignore[arg-type]  # counts
        self.desk.shelf.entries[0] = changed

    async def routed(self, kind: TaskKind = TaskKind.EXPLAIN, **changes: Any) -> Task:
        """Return a task of which it is known what it wants."""
        self.made += 1
        wish = Wish(task_id=new_uuid(), short_id=f"T-7K{self.made:02}", text="@dev explain cart")
        tasks = self.desk.db.journal.tasks
        now = self.desk.clock.now().wall_ms
        task = await self.desk.db.run(tasks.create, replace(wish, **changes), now)
        reading = Reading(TaskIntent(kind=kind, confidence=1.0, summary="x"))
        return await self.log.routed(task, reading.intent, reading=write_reading(reading))

    @property
    def log(self) -> TaskLog:
        """Write steps of tasks."""
        return TaskLog(JournalStore(self.desk.db), self.desk.bus, self.desk.clock)

    async def release(
        self, task: Task, found: Proposed = EXPLAINED, context: Collected = CONTEXT
    ) -> Proposed:
        """Return what may leave of an answer."""
        return await self.disclosure.release(task, self.workspace, found, context)

    async def carried(self, task: Task, found: Proposed = EXPLAINED) -> str:
        """Have an answer carried on from where it is made."""
        task = await self.log.entered(task, TaskState.CONTEXT_COLLECTED)
        task = await self.log.entered(task, TaskState.PROPOSING)
        leaving = await self.release(task, found)
        result = TaskResult(
            task_id=task.task_id,
            intent=TaskIntent.model_validate_json(task.intent_json or ""),
            proposal=leaving.proposal,
            requires=leaving.requires,
            summary=leaving.summary,
            details=leaving.details,
            not_done=leaving.not_done or None,
        )
        await self.log.proposed(task, result)
        self.desk.engine.begin(task.task_id)
        return task.task_id

    async def entries(self, event: str = "") -> list[dict[str, Any]]:
        """Return the facts of the audit entries of one kind, or of all about disclosure."""

        def read() -> list[dict[str, Any]]:
            found = [json.loads(body) for _, _, body, _ in self.desk.db.journal.audit.entries()]
            return [one["facts"] for one in found if one["event"].startswith(f"disclosure.{event}")]

        return await self.desk.db.run(read)


@pytest.fixture
async def counter(tmp_path: Path) -> AsyncIterator[Counter]:
    async with Desk(tmp_path) as desk:
        notices = Notices()
        disclosure = Disclosure(desk.db, notice=notices, clock=desk.clock)
        yield Counter(desk, disclosure, notices)


# --- what may leave ---------------------------------------------------------------------------


@pytest.mark.requirement("R53")
async def test_a_summary_leaves_without_what_was_copied(counter: Counter) -> None:
    leaving = await counter.release(await counter.routed(), QUOTED)
    assert leaving.summary == f"{SAID}\n{say(WITHHELD, 'en', count=40)}"
    assert (leaving.details, leaving.speech) == (QUOTED.details, QUOTED.speech)
    assert leaving.requires.mode == "none"


async def test_with_full_disclosure_all_of_it_leaves_in_one_message(counter: Counter) -> None:
    counter.set("full")
    leaving = await counter.release(await counter.routed(), QUOTED)
    assert "total_20" in leaving.summary
    assert len(leaving.summary.encode()) <= CHAT_SUMMARY_BYTES


async def test_what_is_said_about_what_is_left_out_is_in_the_language_of_the_task(
    counter: Counter,
) -> None:
    leaving = await counter.release(await counter.routed(lang="zh"), QUOTED)
    assert leaving.summary.endswith(say(WITHHELD, "zh", count=40))


@pytest.mark.parametrize("level", ["summary", "ask", "full"])
async def test_who_asks_at_this_machine_sees_everything(
    counter: Counter, level: DisclosureLevel
) -> None:
    counter.set(level, daily_reads=0, daily_bytes=0)
    task = await counter.routed(**HERE)
    assert await counter.disclosure.admit(task, counter.workspace, CONTEXT, asks=True) is None
    assert await counter.release(task, QUOTED) is QUOTED
    assert await counter.entries() == []
    assert counter.notices.told == []


async def test_what_tells_nothing_of_the_workspace_is_no_read(counter: Counter) -> None:
    found = answer("No model is configured.")
    counter.set("ask")
    assert await counter.release(await counter.routed(), found, Collected()) is found
    assert await counter.entries() == []


async def test_without_a_model_only_the_files_it_would_look_at_are_told(counter: Counter) -> None:
    text = "No model is configured."
    found = Proposed(Plan(text=text), text, not_done=True)
    seen = Collected(pieces=(Piece(kind="tree", text="src/"),))
    named = f"{text}\nsrc/cart.py (9 B)"
    names = Proposed(Plan(text=named), named, details=named, not_done=True)
    counter.set("ask")
    assert await counter.release(await counter.routed(), found, seen) is found
    there = await counter.release(await counter.routed(), names, seen)
    assert (there.summary, there.details, there.not_done) == (text, named, True)
    assert await counter.entries() == []
    counter.set("summary")
    assert (await counter.release(await counter.routed(), names, seen)).summary == named
    assert len(await counter.entries()) == 1


@pytest.mark.parametrize("kind", [TaskKind.HELP, TaskKind.STATUS, TaskKind.RUN, TaskKind.GIT_SYNC])
async def test_other_kinds_are_no_reads(counter: Counter, kind: TaskKind) -> None:
    counter.set("full", daily_reads=0)
    task = await counter.routed(kind)
    assert await counter.disclosure.admit(task, counter.workspace, CONTEXT, asks=True) is None
    assert await counter.release(task) is EXPLAINED
    counter.set("ask", daily_reads=1)
    assert (await counter.release(task)).requires.mode == "local_approval"


async def test_without_a_workspace_there_is_nothing_to_release(counter: Counter) -> None:
    task = await counter.routed()
    assert await counter.disclosure.admit(task, None, CONTEXT, asks=False) is None
    assert await counter.disclosure.release(task, None, EXPLAINED, CONTEXT) is EXPLAINED


async def test_lines_of_a_search_are_what_it_may_have_copied(counter: Counter) -> None:
    items = tuple(SearchItem(path="src/cart.py", preview=line) for line in SOURCE.split("\n"))
    found = Proposed(SearchResults(items=items), LONG)
    task = await counter.routed(TaskKind.SEARCH)
    leaving = await counter.release(task, found, Collected())
    assert "total_" not in leaving.summary
    [facts] = await counter.entries()
    assert facts["file_000"] == "- src/cart.py"
    assert facts["files"] == 1


async def test_a_change_keeps_its_own_approval_and_is_bounded(counter: Counter) -> None:
    leaving = await counter.release(await counter.routed(TaskKind.CHANGE), CHANGE)
    assert leaving.requires == CHANGE.requires
    assert leaving.summary == CHANGE.summary
    counter.set("ask")
    held = await counter.release(await counter.routed(TaskKind.CHANGE), CHANGE)
    assert (held.requires, held.proposal) == (CHANGE.requires, CHANGE.proposal)
    assert held.summary == say(flow_words.KEPT_THERE, "en")
    assert held.details == CHANGE.summary


@pytest.mark.requirement("R53")
@pytest.mark.parametrize(
    ("kind", "proposal"),
    [
        (TaskKind.CHANGE, Undo(task="T-7K3F")),
        (TaskKind.CHANGE, Steps(run="x", definition_sha256="0" * 64, playbook="p", total=1)),
        (TaskKind.GIT_SYNC, GitSync()),
        (TaskKind.RUN, CommandProposal(cmd="pytest tests/test_cart.py")),
    ],
)
async def test_at_ask_nothing_is_told_of_what_is_to_be_undone_pushed_or_run(
    counter: Counter, kind: TaskKind, proposal: Undo | Steps | GitSync | CommandProposal
) -> None:
    found = replace(CHANGE, proposal=proposal)
    assert (await counter.release(await counter.routed(kind), found)).summary == found.summary
    counter.set("ask")
    held = await counter.release(await counter.routed(kind), found)
    assert (held.proposal, held.requires) == (proposal, found.requires)
    assert held.summary == say(flow_words.KEPT_THERE, "en")
    assert held.details == found.summary
    assert await counter.release(await counter.routed(kind, **HERE), found) is found


# --- budget, audit, notice --------------------------------------------------------------------


@pytest.mark.requirement("R53")
async def test_a_read_is_audited_before_the_model_sees_it_and_once_more_with_its_answer(
    counter: Counter,
) -> None:
    context = replace(CONTEXT, files=(Share("src/tax.py", 10, 10),))
    task = await counter.routed()
    assert await counter.disclosure.admit(task, counter.workspace, context, asks=True) is None
    [began] = await counter.entries()
    sha256 = hashlib.sha256(SOURCE.encode()).hexdigest()
    assert (began["file_000"], began["file_001"]) == (f"{sha256} src/cart.py", "- src/tax.py")
    assert (began["task_id"], began["level"], began["bytes"]) == (task.task_id, "summary", 0)
    leaving = await counter.release(task, context=context)
    [answered] = await counter.entries("answered")
    told = leaving.summary.encode()
    assert answered["answer_sha256"] == hashlib.sha256(told).hexdigest()
    assert answered["bytes"] == len(told)
    assert counter.notices.told == [("zhang", "shop", 2, task.short_id)]


@pytest.mark.requirement("R53")
async def test_over_the_days_reads_nothing_is_read_and_the_chat_is_told_until_when(
    counter: Counter,
) -> None:
    counter.set("summary", daily_reads=1)
    first, second = await counter.routed(), await counter.routed()
    assert await counter.disclosure.admit(first, counter.workspace, CONTEXT, asks=True) is None
    refused = await counter.disclosure.admit(second, counter.workspace, CONTEXT, asks=True)
    assert refused is not None
    assert refused.not_done
    assert "00:00" in refused.summary
    assert len(await counter.entries()) == 1
    # Where nothing was collected, it is looked up as well.
    assert (
        await counter.disclosure.admit(second, counter.workspace, Collected(), asks=False)
        == refused
    )
    counter.desk.clock.advance(86_400)
    assert await counter.disclosure.admit(second, counter.workspace, CONTEXT, asks=True) is None


async def test_an_answer_over_the_days_bytes_stays_at_the_machine(counter: Counter) -> None:
    counter.set("full", daily_bytes=100)
    task = await counter.routed()
    leaving = await counter.release(task, QUOTED)
    assert leaving.not_done
    assert "total_" not in leaving.summary
    assert (leaving.details, leaving.speech) == (QUOTED.details, QUOTED.speech)
    [facts] = await counter.entries("answered")
    assert facts["bytes"] == 0
    counter.set("full", daily_bytes=100_000)
    assert not (await counter.release(await counter.routed(), QUOTED)).not_done


@pytest.mark.requirement("P4")
async def test_invented_members_share_what_all_of_them_may(counter: Counter) -> None:
    counter.set("summary", daily_reads=1)
    for number in range(10):
        task = await counter.routed(claimed_user=f"nobody-{number}")
        assert await counter.disclosure.admit(task, counter.workspace, CONTEXT, asks=True) is None
    task = await counter.routed(claimed_user="nobody-10")
    assert await counter.disclosure.admit(task, counter.workspace, CONTEXT, asks=True) is not None


@pytest.mark.requirement("P7")
async def test_a_refused_read_ends_as_refused(counter: Counter) -> None:
    counter.set("full", daily_bytes=10)
    task = await counter.desk.until(await counter.carried(await counter.routed()), *FINAL)
    assert task.reason is Reason.REFUSED
    assert SAID not in json.dumps(await counter.desk.reports(), ensure_ascii=False)


# --- released by a person ---------------------------------------------------------------------


@pytest.mark.requirement("R53")
@pytest.mark.requirement("P2")
async def test_exactly_the_sealed_answer_is_told_once_a_person_has_released_it(
    counter: Counter,
) -> None:
    counter.set("ask")
    desk = counter.desk
    task_id = await counter.carried(await counter.routed(), QUOTED)
    asked = await desk.waiting(task_id)
    payload = asked.seal.payload
    sealed = await asyncio.to_thread(desk.blobs.get, payload["answer_sha256"])
    assert (asked.seal.action, asked.seal.undo, asked.risk) == ("disclose", "no", "normal")
    assert payload["bytes"] == len(sealed)
    assert payload["to"] == {"channel": "wecom_app", "claimed_user": "zhang"}
    assert [file["path"] for file in payload["files"]] == ["src/cart.py"]
    assert "total_" not in json.dumps(await desk.reports())
    await desk.decide(asked)
    task = await desk.until(task_id, *FINAL)
    assert task.reason is Reason.COMPLETED
    assert (await desk.reports())[-1]["summary"].encode() == sealed
    assert "total_20" in sealed.decode()


@pytest.mark.requirement("R53")
async def test_a_rejected_answer_stays_at_the_machine(counter: Counter) -> None:
    counter.set("ask")
    task_id = await counter.carried(await counter.routed())
    await counter.desk.decide(await counter.desk.waiting(task_id), "reject")
    task = await counter.desk.until(task_id, *FINAL)
    assert task.reason is Reason.REJECTED
    assert SAID not in json.dumps(await counter.desk.reports(), ensure_ascii=False)
    assert TaskResult.model_validate_json(task.proposal_json or "").details == EXPLAINED.details


@pytest.mark.requirement("R25")
async def test_the_dialog_has_the_whole_answer_and_believes_it_by_its_hash(
    counter: Counter,
) -> None:
    counter.set("ask")
    task_id = await counter.carried(await counter.routed())
    asked = await counter.desk.waiting(task_id)
    teller = Teller(counter.desk.db, counter.desk.gate, machine="m", workspaces=dict)
    question = read_question(await teller.tell(asked.approval_id))
    assert question.answer == SAID


@pytest.mark.requirement("P3")
async def test_a_restart_asks_the_same_question_and_charges_nothing_again(
    counter: Counter,
) -> None:
    counter.set("ask")
    task_id = await counter.carried(await counter.routed())
    asked = await counter.desk.waiting(task_id)
    await counter.desk.restart()
    again = await counter.desk.waiting(task_id)
    assert (again.approval_id, again.digest) == (asked.approval_id, asked.digest)
    await counter.desk.decide(again)
    assert (await counter.desk.until(task_id, *FINAL)).reason is Reason.COMPLETED
    assert len(await counter.entries("answered")) == 1


@pytest.mark.requirement("P3")
async def test_what_was_cut_off_in_the_middle_was_not_told(counter: Counter) -> None:
    counter.set("ask")
    desk = counter.desk
    asked = await desk.waiting(await counter.carried(await counter.routed()))
    ended = await Disclose(blobs=desk.blobs).settle(asked.seal, counter.workspace)
    assert ended.reason is Reason.FAILED
    assert ended.summary("en") == say(NOT_SENT, "en")


@pytest.mark.requirement("P2")
async def test_an_answer_that_was_changed_meanwhile_is_not_told(counter: Counter) -> None:
    counter.set("ask")
    desk = counter.desk
    task_id = await counter.carried(await counter.routed())
    asked = await desk.waiting(task_id)
    name = asked.seal.payload["answer_sha256"]
    kept = desk.folder / "state" / "blobs" / name[:2] / name
    await asyncio.to_thread(kept.write_bytes, b"Something else.")
    await desk.decide(asked)
    task = await desk.until(task_id, *FINAL)
    assert task.reason is Reason.DRIFTED
    assert "Something else" not in json.dumps(await desk.reports())


@pytest.mark.requirement("R54")
async def test_an_answer_that_would_leave_otherwise_than_it_was_shown_does_not(
    counter: Counter,
) -> None:
    desk, task = counter.desk, await counter.routed()
    task = await counter.log.entered(task, TaskState.CONTEXT_COLLECTED)
    task = await counter.log.entered(task, TaskState.PROPOSING)
    result = TaskResult(
        task_id=task.task_id,
        intent=TaskIntent.model_validate_json(task.intent_json or ""),
        proposal=Release(text="The key is AKIAABCDEFGHIJKLMNOP."),
        requires=LocalApproval(action="disclose"),
        summary="x",
    )
    await counter.log.proposed(task, result)
    desk.engine.begin(task.task_id)
    await desk.decide(await desk.waiting(task.task_id))
    assert (await desk.until(task.task_id, *FINAL)).reason is Reason.DRIFTED
    assert "The key is" not in json.dumps(await desk.reports())


async def test_an_answer_cannot_be_released_in_part(counter: Counter) -> None:
    counter.set("ask")
    desk = counter.desk
    task_id = await counter.carried(await counter.routed())
    asked = await desk.waiting(task_id)
    with pytest.raises(InputError) as caught:
        await desk.engine.narrow(asked.approval_id, asked.digest, ("src/cart.py",))
    assert caught.value.code == "approval.narrow"
    assert await desk.approval_states(task_id) == ["pending"]


@pytest.mark.requirement("R3")
async def test_the_policy_of_the_workspace_can_refuse_releases(counter: Counter) -> None:
    counter.set("ask")
    counter.desk.policy = Policy(refuse_actions=("disclose",))
    task = await counter.desk.until(await counter.carried(await counter.routed()), *FINAL)
    assert task.reason is Reason.REFUSED


async def test_a_seal_names_so_many_files_and_counts_the_others(counter: Counter) -> None:
    counter.set("ask")
    pieces = tuple(Piece(kind="file", path=f"src/{n}.py", text="x") for n in range(250))
    leaving = await counter.release(await counter.routed(), context=Collected(pieces=pieces))
    assert isinstance(leaving.proposal, Release)
    assert (len(leaving.proposal.files), leaving.proposal.more) == (MAX_SEALED_FILES, 50)


def test_the_chat_hears_why_an_answer_stays_at_the_machine() -> None:
    assert render_stay("not\u202e for the chat")("en") == say(
        STAYS_THERE_WHY, "en", why="not⟨U+202E⟩ for the chat"
    )
    assert render_stay(None)("zh") == say(STAYS_THERE, "zh")
