"""What must be true of both halves, whatever was killed, cut or delayed: one checker for all.

`untruths` reads the two stores as they lie on the disk, knows what the outside saw (which messages
were answered with 200, when a process was killed, what the chat shows, how often each command left
its mark) and returns every contradiction as a sentence; an empty list is the proof.  It uses no
store function of the product, so that a wrong one cannot hide itself.

A command leaves its mark by `SCRIPT`, in a workspace; `asking` is the message that asks for it.
"""

from __future__ import annotations

import json
import re
import sqlite3
from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final, cast

from common.audit import verify_chain
from common.errors import AuthError
from common.model.state import FINAL, Reason, TaskState, final_of, may_follow
from common.sentences import Lang, say
from gateway.flow import replies
from tests import played, proposed, written
from tests.written import Carried, Planted, Repositories

Row = Mapping[str, Any]

SCRIPT: Final = """#!/bin/sh
echo "$1" >> ran.txt
case "$1" in fails*) exit 3 ;; naps*) sleep 0.3 ;; sleeps*) echo asleep; exec sleep 60 ;; esac
echo 1 passed
"""  # count.sh
_MARK: Final = re.compile(r"\bcount\.sh ([a-z0-9-]+)")
# None: it is executing.
_MAY_HAVE_RUN: Final = frozenset({Reason.FAILED, Reason.CANCELLED, Reason.UNKNOWN, None})
_CLOCK_MS: Final = 5  # between our reading of the clock and theirs


def is_end(text: str, short_id: str) -> bool:
    """Return True if a message of the chat says how a task ended."""
    others = "·|sent to |waits|on |has ended already|已发往|排队中|已经结束"
    return re.match(rf"{short_id} (?!{others})", text) is not None


def asking(mark: str) -> str:
    """Return the message that asks for a command which leaves ``mark`` each time it runs.

    A mark that begins with ``fails`` makes it fail; ``naps`` and ``sleeps`` take a moment and a
    minute; ``own`` runs the script itself, so that a change of the script is drift.
    """
    program = "./count.sh" if mark.startswith("own") else "sh count.sh"
    return f'@dev test --cmd="{program} {mark}"'


def mark_of(text: str) -> str:
    """Return the mark that a message asks for; empty when it asks for something else."""
    found = _MARK.search(text)
    return found[1] if found else ""


def marks(ran: Path) -> Counter[str]:
    """Return how often each mark was left in ``ran.txt``."""
    return Counter(ran.read_text(encoding="utf-8").split()) if ran.exists() else Counter()


@dataclass(frozen=True, slots=True, kw_only=True)
class Evidence:
    """Where both halves keep what they remember, and what the outside saw.

    Attributes:
        journals: The ``journal.db`` of each agent.
        gateway: The ``gateway.db``.
        accepted: Texts, each used once, of the messages that asked for a task and got a 200.
        agent_kills: When an agent's process was killed, milliseconds since the epoch.
        ran: The ``ran.txt`` of the workspace, where commands leave marks.
        chat: What the members were shown; None when the chat was not watched.
        planted: The workspace, where nobody else writes; None when somebody may.
        repositories: What commits are made in and pushed to; None when nobody looks.
    """

    journals: Sequence[Path]
    gateway: Path
    accepted: Collection[str] = ()
    agent_kills: Collection[int] = ()
    ran: Path | None = None
    chat: Sequence[str] | None = None
    planted: Planted | None = None
    repositories: Repositories | None = None


@dataclass(frozen=True, slots=True)
class Pending:
    """An approval that waits, as a restart must leave it."""

    task_id: str
    digest: str
    seal: bytes
    expires_at: int


def rows(database: Path, sql: str, *values: object) -> list[dict[str, Any]]:
    """Return what a query finds, on a connection that cannot change anything."""
    connection = sqlite3.connect(f"file:{database}?mode=ro", uri=True, timeout=5)
    try:
        connection.row_factory = sqlite3.Row
        return [dict(row) for row in connection.execute(sql, values)]
    finally:
        connection.close()


def pending(journal: Path) -> dict[str, Pending]:
    """Return the approvals that wait, by their ids."""
    waiting = rows(journal, "SELECT * FROM approvals WHERE state = 'pending'")
    return {row["approval_id"]: _pending(row) for row in waiting}


def _pending(row: Row) -> Pending:
    return Pending(row["task_id"], row["digest"], row["seal"], row["expires_at"])


def lost_approvals(journal: Path, before: Mapping[str, Pending]) -> list[str]:
    """Return what a restart made of approvals that waited before it.

    Each must be there with the same seal and the same time left.  It may have been decided since;
    one whose task was ended or is to be cancelled was withdrawn, not lost.  What a run of a
    playbook asked is taken back with the process that ran it.
    """
    known = {row["approval_id"]: row for row in rows(journal, "SELECT * FROM approvals")}
    over = "SELECT task_id FROM tasks WHERE reason IS NOT NULL OR cancel_requested = 1"
    withdrawn = {row["task_id"] for row in rows(journal, over)}
    asked = "SELECT task_id FROM tasks WHERE step IS NOT NULL"
    of_runs = {row["task_id"] for row in rows(journal, asked)}
    kept = [
        f"approval {approval_id} of task {was.task_id} outlived the process that ran its playbook"
        for approval_id, was in before.items()
        if was.task_id in of_runs - withdrawn
    ]
    return kept + [
        f"approval {approval_id} of task {was.task_id} did not outlive the restart as it was"
        for approval_id, was in before.items()
        if (now := known.get(approval_id)) is None
        or _pending(now) != was
        or (now["state"] in ("expired", "superseded") and was.task_id not in withdrawn)
    ]


def is_idle(journal: Path, gateway: Path) -> bool:
    """Tell whether every task has ended and nothing is on its way in either direction."""
    return not on_its_way(journal, gateway)


def on_its_way(journal: Path, gateway: Path) -> list[str]:
    """Return what has not come to rest: tasks, and frames and messages by what they are."""
    asked = {
        "open at the agent": (journal, "SELECT short_id FROM tasks WHERE reason IS NULL"),
        "for the gateway": (journal, "SELECT typ || ' ' || seq FROM outbox"),
        "open at the gateway": (gateway, "SELECT short_id FROM tasks WHERE reason IS NULL"),
        "for the agent": (
            gateway,
            "SELECT typ || ' ' || seq FROM mailbox WHERE acked_at IS NULL",
        ),
        "for the chat": (
            gateway,
            "SELECT state || ' ' || key FROM outbox WHERE state IN ('queued', 'sending')",
        ),
    }
    return [
        f"{what}: {next(iter(row.values()))}"
        for what, (database, sql) in asked.items()
        for row in rows(database, f"{sql} LIMIT 20")
    ]


def assert_true(evidence: Evidence) -> None:
    """Fail with every contradiction that is found."""
    found = untruths(evidence)
    assert not found, "\n".join(found)


def untruths(evidence: Evidence) -> list[str]:
    """Return every contradiction; ask once the link is idle (`is_idle`)."""
    return [
        *_broken_chains(evidence),
        *_lost_messages(evidence),
        *_disagreements(evidence),
        *(found for journal in evidence.journals for found in _of_journal(journal, evidence)),
        *_not_asked(evidence),
        *_told_wrong(evidence),
    ]


def _broken_chains(evidence: Evidence) -> Iterator[str]:
    for database in (*evidence.journals, evidence.gateway):
        entries = rows(database, "SELECT seq, prev, body, hash FROM audit ORDER BY seq")
        try:
            verify_chain((row["seq"], row["prev"], row["body"], row["hash"]) for row in entries)
        except AuthError as error:
            yield f"{database.name}: the audit chain is broken: {error}"


def _lost_messages(evidence: Evidence) -> Iterator[str]:
    made = Counter(row["text"] for row in rows(evidence.gateway, "SELECT text FROM tasks"))
    for text in evidence.accepted:
        if made[text] != 1:
            yield f"{text!r} was answered with 200 and made {made[text]} tasks"


def _disagreements(evidence: Evidence) -> Iterator[str]:
    """Both halves know the same tasks, and say the same of each."""
    ours = {row["task_id"]: row for row in rows(evidence.gateway, "SELECT * FROM tasks")}
    theirs = {
        row["task_id"]: row
        for journal in evidence.journals
        for row in rows(journal, "SELECT * FROM tasks WHERE source = 'wecom' AND step IS NULL")
    }
    for task_id in theirs.keys() - ours.keys():
        yield f"{task_id}: the agent has a task that the gateway never gave it"
    unsent = _unsent(evidence.gateway)
    admitted = rows(evidence.gateway, "SELECT agent_id FROM agents WHERE revoked_at IS NULL")
    live = {row["agent_id"] for row in admitted}
    for task_id, task in ours.items():
        name = f"{task['short_id']} ({task['text']!r})"
        yield from (f"{name}: {wrong}" for wrong in _impossible(task))
        at_agent = theirs.get(task_id)
        if task["presumed"]:
            if at_agent is not None and task["agent_id"] in live:
                yield f"{name}: presumed {task['reason']}, and its agent has told otherwise"
            continue
        if task_id in unsent:
            if at_agent is not None:
                yield f"{name}: taken back as never sent, and the agent has it"
        elif at_agent is None:
            yield f"{name}: the gateway's {task['state']} is of a task that no agent has"
        elif _standing(task) != _standing(at_agent):
            yield f"{name}: gateway {_standing(task)}, agent {_standing(at_agent)}"


def _unsent(gateway: Path) -> set[str]:
    """Return the tasks that the gateway took back before they can have been sent."""
    entries = [json.loads(row["body"]) for row in rows(gateway, "SELECT body FROM audit")]
    return {
        entry["facts"]["task"]
        for entry in entries
        if entry["event"] == "task.withdrawn" and entry["facts"]["unsent"]
    }


def _standing(task: Row) -> tuple[str, str | None]:
    return task["state"], task["reason"]


def _impossible(task: Row) -> Iterator[str]:
    state, reason = TaskState(task["state"]), task["reason"]
    if (reason is not None) != (state in FINAL):
        yield f"state {state} with reason {reason}"
    elif reason is not None and final_of(Reason(reason))[0] is not state:
        yield f"reason {reason} does not lead to {state}"


def _of_journal(journal: Path, evidence: Evidence) -> Iterator[str]:
    approvals = _by_task(journal, "approvals")
    effects, events = _by_task(journal, "effects"), _by_task(journal, "events ORDER BY seq")
    tasks = rows(journal, "SELECT * FROM tasks")
    for task in tasks:
        task_id = task["task_id"]
        found = [
            *_impossible(task),
            *_wrong_path(events.get(task_id, []), task),
            *_wrong_approvals(approvals.get(task_id, []), task),
            *_wrong_effects(effects.get(task_id, []), task, evidence.agent_kills),
            *_outlived(approvals.get(task_id, []), effects.get(task_id, []), evidence.agent_kills),
        ]
        yield from (f"{task['short_id']} ({task['text']!r}): {wrong}" for wrong in found)
    if evidence.ran:
        left = marks(evidence.ran)
        yield from played.wrong_commands(left, carried_out(journal))
        yield from _wrong_runs(left, tasks, effects)
    yield from _unapproved_intents(journal)
    yield from _wrong_changes(carried_out(journal), evidence)
    yield from proposed.wrong_versions(tasks)
    runs, steps = rows(journal, "SELECT * FROM runs"), rows(journal, "SELECT * FROM run_steps")
    yield from played.wrong_runs(runs, steps, tasks, carried_out(journal))
    yield from played.wrong_files(journal.parent, runs, steps)
    audit = [row["body"] for row in rows(journal, "SELECT body FROM audit ORDER BY seq")]
    charged = rows(journal, "SELECT * FROM disclosures")
    yield from proposed.wrong_disclosures(tasks, charged, audit)


def wrong_files(evidence: Evidence) -> list[str]:
    """Return what is wrong in the workspace at this moment; nothing while it is being changed."""
    found: list[str] = []
    for journal in evidence.journals if evidence.planted else ():
        carried = carried_out(journal)
        wrong = list(written.wrong_files(carried, cast("Planted", evidence.planted)))
        # The intent is there before the first byte is.
        if carried_out(journal) == carried and all(one.outcome is not None for one in carried):
            found += wrong
    return found


def carried_out(journal: Path) -> list[Carried]:
    """Return what was begun, in its order."""
    begun = rows(
        journal,
        "SELECT short_id, seal, part, opened_at, outcome, run, step FROM effects"
        " JOIN approvals USING (approval_id) JOIN tasks ON tasks.task_id = effects.task_id"
        " ORDER BY effects.rowid",
    )
    return [Carried.of(row) for row in begun]


def _wrong_changes(carried: Sequence[Carried], evidence: Evidence) -> Iterator[str]:
    edits = evidence.planted.edits if evidence.planted else ()
    yield from written.wrong_outcomes(carried, evidence.agent_kills, edits)
    if evidence.planted:
        yield from written.wrong_files(carried, evidence.planted)
    if evidence.repositories:
        yield from written.wrong_commits(carried, evidence.repositories)


def _by_task(journal: Path, table: str) -> dict[str, list[dict[str, Any]]]:
    found: dict[str, list[dict[str, Any]]] = {}
    for row in rows(journal, f"SELECT * FROM {table}"):  # noqa: S608  # the literals below
        found.setdefault(row["task_id"], []).append(row)
    return found


def _wrong_path(events: Sequence[Row], task: Row) -> Iterator[str]:
    """The history moves along the table of states, and its last word is the task's own."""
    told = [json.loads(event["body"]) for event in events]
    current = TaskState.RECEIVED
    for event in told:
        if event["type"] != "task_state":
            continue
        state = TaskState(event["state"])
        if not may_follow(current, state):
            yield f"the history goes from {current} to {state}"
        current = state
    if current != task["state"]:
        yield f"the history ends in {current}, the task stands in {task['state']}"
    ends = [event for event in told if event["type"] == "task_end"]
    if len(ends) != (task["reason"] is not None) or (ends and told[-1] is not ends[0]):
        yield f"{len(ends)} ends are told, reason {task['reason']}"


def _wrong_approvals(approvals: Sequence[Row], task: Row) -> Iterator[str]:
    live = [row for row in approvals if row["state"] in ("pending", "approved")]
    if task["reason"] is not None and live:
        yield "an approval outlives its task"
    if task["state"] == TaskState.WAITING_APPROVAL and len(live) != 1:
        yield f"it waits for approval, and {len(live)} approvals are alive"
    for row in approvals:
        if row["state"] in ("approved", "consumed") and not row["signature"]:
            yield f"approval {row['approval_id']} is {row['state']} without a signature"


def _wrong_effects(effects: Sequence[Row], task: Row, kills: Collection[int]) -> Iterator[str]:
    """One effect of each part at most, each after the one before it has completed.

    Unknown only where a kill fell between its beginning and its end.
    """
    if [effect["part"] for effect in effects] != [*range(len(effects))]:
        yield f"the parts {[effect['part'] for effect in effects]} were begun"
    if any(effect["outcome"] != Reason.COMPLETED for effect in effects[:-1]):
        yield "a part was begun after one that did not complete"
    if any(effect["outcome"] is None for effect in effects) and task["reason"] is not None:
        yield "its effect has no outcome"
    if task["reason"] == Reason.UNKNOWN and not any(
        effect["opened_at"] - _CLOCK_MS <= at <= (effect["closed_at"] or at) + _CLOCK_MS
        for effect in effects
        for at in kills
    ):
        yield "unknown, and no kill fell into its execution"


def _outlived(
    approvals: Sequence[Row], effects: Sequence[Row], kills: Collection[int]
) -> Iterator[str]:
    """What was approved before a kill is asked again after it, never used (R22)."""
    decided = {row["approval_id"]: row["decided_at"] for row in approvals}
    for effect in effects:
        since = decided.get(effect["approval_id"])
        if since and any(since < at < effect["opened_at"] - _CLOCK_MS for at in kills):
            yield f"approval {effect['approval_id']} was given before a kill and used after it"


def _wrong_runs(
    left: Mapping[str, int], tasks: Sequence[Row], effects: Mapping[str, Sequence[Row]]
) -> Iterator[str]:
    """Each command ran as often as tasks of its mark say, and never without an approval of theirs.

    Only a task that was asked again shares its mark with another.
    """
    known = set(filter(None, (mark_of(task["text"]) for task in tasks)))
    of_runs = {mark for mark in left if mark.startswith(played.MARK)}
    for mark in left.keys() - known - of_runs:
        yield f"{mark}: ran here, and nobody asked for that"
    for mark in known:
        theirs = [task for task in tasks if mark_of(task["text"]) == mark]
        used = sum(len(effects.get(task["task_id"], [])) for task in theirs)
        ran = sum(task["reason"] == Reason.COMPLETED for task in theirs)
        may_have_run = sum(task["reason"] in _MAY_HAVE_RUN for task in theirs)
        if left[mark] > used:
            yield f"{mark}: ran {left[mark]} times for {used} approvals used"
        if not ran <= left[mark] <= ran + may_have_run:
            ended = [task["reason"] for task in theirs]
            yield f"{mark}: ran {left[mark]} times, and its tasks ended {ended}"


def _unapproved_intents(journal: Path) -> Iterator[str]:
    """Every intent in the audit log comes after a person's approval of that very digest."""
    approved: set[tuple[str, str]] = set()
    for row in rows(journal, "SELECT body FROM audit ORDER BY seq"):
        entry = json.loads(row["body"])
        facts = entry["facts"]
        if entry["event"] == "approval.approved":
            approved.add((facts["approval_id"], facts["digest"]))
        elif entry["event"] == "exec.intent":
            what = facts["approval_id"], facts["digest"]
            if what not in approved and not facts.get("part"):
                yield f"approval {what[0]} was used and never given, or twice"
            approved.discard(what)


def _not_asked(evidence: Evidence) -> Iterator[str]:
    """Of each task that waits or waited, its member is told so, unless it was over by then."""
    asked = (
        "SELECT 1 FROM outbox JOIN tasks USING (task_id) WHERE task_id = ? AND key LIKE 'waiting:%'"
        " AND (outbox.state = 'sent' OR outbox.state = 'dropped' AND reason IS NOT NULL)"
    )
    for row in rows(
        evidence.gateway,
        "SELECT DISTINCT task_id, short_id FROM tasks JOIN task_events USING (task_id)"
        " JOIN members USING (user_id) WHERE task_events.state = 'WAITING_APPROVAL'",
    ):
        if not rows(evidence.gateway, asked, row["task_id"]):
            yield f"{row['short_id']}: nobody was told that it waits for approval"


def _told_wrong(evidence: Evidence) -> Iterator[str]:
    """A member is told the end once, as it was, and nothing that contradicts it."""
    machines = {
        row["agent_id"]: row["machine"] for row in rows(evidence.gateway, "SELECT * FROM agents")
    }
    members = {row["user_id"] for row in rows(evidence.gateway, "SELECT user_id FROM members")}
    said = _by_task(evidence.gateway, "outbox WHERE task_id IS NOT NULL ORDER BY id")
    unsent = _unsent(evidence.gateway)  # their members were told so in the answer
    for task in rows(evidence.gateway, "SELECT * FROM tasks WHERE reason IS NOT NULL"):
        if task["presumed"] or task["user_id"] not in members or task["task_id"] in unsent:
            continue
        texts = [row["text"] for row in said.get(task["task_id"], []) if row["state"] == "sent"]
        for told in (texts, evidence.chat):
            if told is not None:
                wrong = _wrong_ends(told, task, machines[task["agent_id"]])
                yield from (f"{task['short_id']} ({task['text']!r}): {what}" for what in wrong)


def _wrong_ends(told: Sequence[str], task: Row, machine: str) -> Iterator[str]:
    lang = cast("Lang", task["lang"])
    ends = [text for text in told if is_end(text, task["short_id"])]
    heads = {
        reason: say(sentence, lang, id=task["short_id"], machine=machine)
        for reason, sentence in replies.FINAL.items()
    }
    marked = tuple(head for reason, head in heads.items() if reason is not Reason.COMPLETED)
    for reason, head in heads.items():
        # What was completed begins with what its agent says of it.
        unmarked = reason is Reason.COMPLETED
        times = sum(text.startswith(marked if unmarked else head) != unmarked for text in ends)
        if times != (reason == task["reason"]):
            yield f"ended {task['reason']}, and the chat was told {reason} {times} times"
