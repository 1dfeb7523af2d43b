"""A journal with many tasks, for pages, statistics and benchmarks: the same ones for a seed.

Written as the journal writes them, in one transaction and without audit entries or effects: what is
read from the tables is as it would be.  The diffs of decided changes lie in no blob store; what
still waits for a decision is a command, whose seal holds all that is shown.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping, Sequence
from contextlib import closing
from dataclasses import astuple, dataclass, fields
from pathlib import Path
from random import Random
from typing import Any, Final, Literal

from common.clock import ManualClock
from common.ids import UuidSource, new_short_id
from common.model.intent import IntentParams, TaskIntent, TaskKind
from common.model.proposal import (
    Answer,
    CommandProposal,
    Diff,
    DiffFileSummary,
    LocalApproval,
    NoRequirement,
    TaskEnd,
    TaskProposed,
    TaskResult,
    TaskStart,
    TaskStateChanged,
)
from common.model.state import Reason, TaskState, final_of
from common.seal import Seal, Source
from common.sentences import Lang, same
from common.signing import APPROVAL
from local_agent.actions.changes.payload import change_payload
from local_agent.safety.decision import Statement
from local_agent.store.approvals import StoredApproval
from local_agent.store.database import Database
from local_agent.store.endings import write_ending
from local_agent.store.tasks import Task
from local_agent.store.turns import StoredTurn
from tests.sealed import AGENT, GATEWAY, ZEROS, a_payload, a_seal, as_stored
from tests.windows import sealed_changes

NOW_MS: Final = 1_760_000_000_000
DAYS: Final = 80  # over which they were asked: within what is kept
PEOPLE: Final = ("zhangwei", "李娜", "wang.fang", "chenjie", "Priya", "m.schmidt")
WORKSPACES: Final = ("shop", "支付网关", "web-console", "infra")
MODELS: Final = ("deepseek", "codex", "local")
_DAY_MS: Final = 86_400_000
_WAIT_MS: Final = _DAY_MS  # that an approval lasts
_OPEN: Final = 0.3  # of the commands of the last two days
_FILES: Final = (
    "shop/cart.py",
    "auth/login.py",
    "web/src/支付.ts",
    "tests/test_retry.py",
    "Makefile",
)
_Shape = Literal["command", "change", "answer"]

# Kind of request, what is made of it, and its words.
_WISHES: Final[Mapping[TaskKind, tuple[_Shape, tuple[str, ...], tuple[str, ...]]]] = {
    TaskKind.RUN: (
        "command",
        (
            "test {file}",
            "run the tests of {file} once more",
            "lint {file} and tell me what is left",
        ),
        ("跑一下 {file} 的测试", "运行 pytest -q {file}", "帮我跑 lint，看看 {file} 还有什么问题"),
    ),
    TaskKind.CHANGE: (
        "change",
        ("fix the flaky retry in {file}", "rename total to amount in {file}, 100% of the uses"),
        ("修复 {file} 里偶发的重试失败", "把 {file} 的超时改成 30 秒，并补上测试"),
    ),
    TaskKind.EXPLAIN: (
        "answer",
        ("explain how {file} handles a lost connection", "why does {file} sort twice?"),
        ("解释一下 {file} 的缓存是怎么失效的", "{file} 为什么要加锁？"),
    ),
    TaskKind.SEARCH: (
        "answer",
        ("where is the discount_rate of {file} set?",),
        ("哪里调用了 {file} 的 retry_once？",),
    ),
}
_KINDS: Final = tuple(_WISHES)
# How a task goes on from where a person must decide, or from where its answer stands.
_ENDS: Final[Mapping[_Shape, Sequence[tuple[Reason, int]]]] = {
    "command": (
        (Reason.COMPLETED, 60),
        (Reason.FAILED, 14),
        (Reason.REJECTED, 8),
        (Reason.EXPIRED, 6),
        (Reason.CANCELLED, 4),
        (Reason.REFUSED, 3),
        (Reason.UNKNOWN, 4),
    ),
    "change": (
        (Reason.COMPLETED, 55),
        (Reason.REJECTED, 18),
        (Reason.EXPIRED, 9),
        (Reason.CANCELLED, 6),
        (Reason.FAILED, 5),
        (Reason.DRIFTED, 4),
        (Reason.REFUSED, 3),
    ),
    "answer": ((Reason.COMPLETED, 90), (Reason.REFUSED, 7), (Reason.CANCELLED, 3)),
}
_EXECUTED: Final = frozenset({Reason.COMPLETED, Reason.FAILED, Reason.DRIFTED, Reason.UNKNOWN})
_TOLD: Final[Mapping[Lang, str]] = {
    "en": "Still at it: {n} of {of} done.",
    "zh": "进行中：{n}/{of}。",
}
_OVER: Final[Mapping[Lang, Mapping[bool, str]]] = {
    "en": {True: "Done. See: codexbridge show {id}", False: "Not done. See: codexbridge show {id}"},
    "zh": {
        True: "已完成。查看：codexbridge show {id}",
        False: "未执行。查看：codexbridge show {id}",
    },
}

_INSERT: Final = "INSERT INTO {} ({}) VALUES ({})"
_EVENT: Final = "INSERT INTO events (task_id, seq, at, body) VALUES (?, ?, ?, ?)"


def fill(
    target: Path | Database,
    *,
    tasks: int,
    events_per_task: int,
    seed: int,
    now_ms: int = NOW_MS,
    days: int = DAYS,
) -> Sequence[str]:
    """Write tasks with their events, approvals and turns; return their ids, oldest first.

    Args:
        target: The file of a journal, which is made where it is not there; or an open one.
        tasks: How many.  Some of the newest are open; none is a step of a run.
        events_per_task: Of each; a task that was executed has 10 at least.
        seed: Decides everything else.
        now_ms: When the newest was asked, or shortly before.
        days: Over how many days they were asked.
    """
    if isinstance(target, Path):
        with closing(Database(target)) as db:
            return fill(
                db,
                tasks=tasks,
                events_per_task=events_per_task,
                seed=seed,
                now_ms=now_ms,
                days=days,
            )
    writer = _Writer(target, seed, events_per_task, now_ms)
    step = days * _DAY_MS // max(tasks, 1)
    with target.transaction():
        return [
            writer.write(now_ms - (tasks - index) * step + writer.rng.randrange(max(step, 1)))
            for index in range(tasks)
        ]


@dataclass(slots=True)
class _Going:
    """A task while it is written."""

    task_id: str
    short_id: str
    lang: Lang
    at: int
    state: TaskState = TaskState.RECEIVED
    seq: int = 0


class _Writer:
    def __init__(self, db: Database, seed: int, events_per_task: int, now_ms: int) -> None:
        self.rng = Random(seed)
        self._now = now_ms
        self._db = db
        self._events = events_per_task
        self._names: set[str] = set()

    def write(self, asked_at: int) -> str:
        rng = self.rng
        clock = ManualClock(asked_at)
        lang: Lang = rng.choice(("en", "zh"))
        remote = rng.random() < 0.8
        going = _Going(UuidSource(clock, draw=rng.randbytes)(), self._name(remote), lang, asked_at)
        kind = rng.choices(_KINDS, (40, 35, 15, 10))[0]
        shape, *texts = _WISHES[kind]
        reasons, weights = zip(*_ENDS[shape], strict=True)
        reason = self._possible(rng.choices(reasons, weights)[0], shape, asked_at)
        file = rng.choice(_FILES)
        words = rng.choice(texts[lang == "zh"]).format(file=file)
        text = f"{words} #{rng.randrange(10_000)}"
        facts: dict[str, Any] = dict.fromkeys(field.name for field in fields(Task))
        facts |= {
            "task_id": going.task_id,
            "short_id": going.short_id,
            "named": 1,
            "source": "wecom" if remote else "local_ui",
            "channel": "wecom_app" if remote else "terminal",
            "claimed_user": rng.choice(PEOPLE) if remote else "zhangwei",
            "thread_id": f"thread-{rng.randrange(400)}",
            "text": f"@dev {text}",
            "lang": lang,
            "workspace": rng.choice(WORKSPACES),
            "envelope_sha256": ZEROS if remote else None,
            "gateway_key_id": GATEWAY.public.key_id if remote else None,
            "state": TaskState.RECEIVED,
            "cancel_requested": int(reason is Reason.CANCELLED),
            "created_at": asked_at,
            "updated_at": asked_at,
        }
        names = list(facts)
        self._db.run(
            _INSERT.format("tasks", ", ".join(names), ", ".join(f":{name}" for name in names)),
            **facts,
        )
        intent = TaskIntent(
            kind=kind,
            confidence=rng.randrange(60, 100) / 100,
            summary=words,
            params=IntentParams(files=(file,)),
        )
        result = self._result(going, intent, shape, file)
        stored = self._walk(going, facts, intent, result, shape, reason)
        self._end(going, facts, reason, intent=intent, result=stored)
        return going.task_id

    def _possible(self, drawn: Reason, shape: _Shape, asked_at: int) -> Reason | None:
        """Return an end that it can have by now: none waits longer than an approval lasts."""
        if self._now - asked_at > 2 * _WAIT_MS:
            return drawn
        if shape == "command":
            return None if drawn is Reason.EXPIRED or self.rng.random() < _OPEN else drawn
        return Reason.REJECTED if drawn is Reason.EXPIRED else drawn

    def _name(self, remote: bool) -> str:
        choose = self.rng.choice
        while True:
            name = new_short_id("gateway" if remote else "agent", choose=choose)
            if name not in self._names:
                self._names.add(name)
                return name

    def _result(self, going: _Going, intent: TaskIntent, shape: _Shape, file: str) -> TaskResult:
        of_task = {"task_id": going.task_id, "intent": intent, "summary": intent.summary}
        if shape == "answer":
            answer = Answer(text=f"{intent.summary}\n\n{self._prose(going.lang)}")
            return TaskResult(**of_task, proposal=answer, requires=NoRequirement())
        if shape == "command":
            command = CommandProposal(cmd=f"pytest -q {file}", argv=("pytest", "-q", file))
            return TaskResult(
                **of_task, proposal=command, requires=LocalApproval(action="run_command")
            )
        raw = self._diff(file)
        diff = Diff(
            diff_id=hashlib.sha256(raw).hexdigest(),
            unified_diff=raw.decode(),
            files=(DiffFileSummary(path=file, additions=2, deletions=1),),
        )
        return TaskResult(
            **of_task,
            proposal=diff,
            requires=LocalApproval(action="apply_diff"),
            details=self._prose(going.lang),
        )

    def _prose(self, lang: Lang) -> str:
        sentence = {
            "en": "The retry reads the deadline once, before the lock is taken. ",
            "zh": "重试只在拿锁之前读取一次截止时间，所以第二次总是超时。",
        }[lang]
        return sentence * self.rng.randrange(2, 30)

    def _diff(self, file: str) -> bytes:
        hunks = "".join(
            f"@@ -{at},3 +{at + extra},4 @@ def step_{at}(order):\n"
            f"     total = order.total()\n-    retry(total)\n"
            f"+    retry(total, deadline={self.rng.randrange(90)})\n+    log(total)\n"
            "     return total\n"
            for extra, at in enumerate(range(10, 10 + 20 * self.rng.randrange(1, 12), 20))
        )
        return f"diff --git a/{file} b/{file}\n--- a/{file}\n+++ b/{file}\n{hunks}".encode()

    # -- its way -----------------------------------------------------------------------------

    def _walk(
        self,
        going: _Going,
        facts: Mapping[str, Any],
        intent: TaskIntent,
        result: TaskResult,
        shape: _Shape,
        reason: Reason | None,
    ) -> TaskResult | None:
        """Take it as far as its end allows; return the proposal, where it comes to one."""
        start = TaskStart(thread_id=facts["thread_id"], task_id=going.task_id, intent=intent)
        self._enter(going, facts, TaskState.ROUTED, self.rng.randrange(5, 400), start)
        if reason is Reason.REFUSED:
            return None
        self._enter(going, facts, TaskState.CONTEXT_COLLECTED, self.rng.randrange(20, 3_000))
        self._enter(going, facts, TaskState.PROPOSING, self.rng.randrange(1, 50))
        took = self._long(2_000, 120_000)
        if shape != "command":
            self._turn(going, took)
        told = TaskProposed(thread_id=facts["thread_id"], task_id=going.task_id, result=result)
        self._enter(going, facts, TaskState.PROPOSAL_READY, took, told)
        if shape == "answer":
            return result
        self._enter(going, facts, TaskState.WAITING_APPROVAL, self.rng.randrange(5, 2_000))
        self._ask(going, facts, result, reason)
        if reason in _EXECUTED:
            self._enter(going, facts, TaskState.EXECUTING, self.rng.randrange(5, 300))
        return result

    def _ask(
        self, going: _Going, facts: Mapping[str, Any], result: TaskResult, reason: Reason | None
    ) -> None:
        waits = min(self._long(3_000, _WAIT_MS - 60_000), self._now - going.at)
        stored = as_stored(self._seal(going, facts, result))
        changes: dict[str, Any] = {}
        match reason:
            case None:
                waits = 0
            case Reason.EXPIRED:
                waits = _WAIT_MS
                changes["state"] = "expired"
            case Reason.CANCELLED:
                changes["state"] = "superseded"
            case _:
                changes = self._decision(stored, reason, going.at + waits)
        row = {field.name: getattr(stored, field.name) for field in fields(StoredApproval)}
        row |= changes
        names = ", ".join(row), ", ".join(f":{name}" for name in row)
        self._db.run(_INSERT.format("approvals", *names), **row)
        going.at += waits

    def _seal(self, going: _Going, facts: Mapping[str, Any], result: TaskResult) -> Seal:
        changes: dict[str, Any] = {}
        if isinstance(result.proposal, Diff):
            raw = result.proposal.unified_diff.encode()
            changes = {
                "action": "apply_diff",
                "payload": change_payload(result.proposal.diff_id, sealed_changes(raw)),
                "base": {result.proposal.files[0].path: ZEROS},
                "undo": "yes",
                "discloses": ("file-list",),
            }
        elif isinstance(result.proposal, CommandProposal):
            changes = {"payload": a_payload(argv=list(result.proposal.argv or ()))}
        key_id, sha256 = facts["gateway_key_id"] or "", facts["envelope_sha256"] or ""
        return a_seal(
            ManualClock(going.at),
            approval_id=UuidSource(ManualClock(going.at), draw=self.rng.randbytes)(),
            task_id=going.task_id,
            short_id=going.short_id,
            source=Source(facts["channel"], facts["claimed_user"], key_id, sha256),
            nonce=self.rng.randbytes(16).hex(),
            **changes,
        )

    @staticmethod
    def _decision(stored: StoredApproval, reason: Reason, at: int) -> dict[str, Any]:
        rejected = reason is Reason.REJECTED
        words = Statement(
            stored.approval_id,
            stored.digest,
            "reject" if rejected else "approve",
            "terminal",
            None,
            at_ms=at,
            risk=stored.risk,
        ).raw
        return {
            "state": "rejected" if rejected else "consumed",
            "decided_at": at,
            "approver": "terminal",
            "statement": words,
            "signature": AGENT.sign(APPROVAL, words),
            "public_key": AGENT.public.raw,
        }

    def _end(
        self,
        going: _Going,
        facts: Mapping[str, Any],
        reason: Reason | None,
        *,
        intent: TaskIntent,
        result: TaskResult | None,
    ) -> None:
        left = self._events - going.seq - (2 if reason else 0)
        # A task that must not leave its last open state is told of once more, as it works.
        for number in range(1, left + 1):
            message = _TOLD[going.lang].format(n=number, of=left)
            self._enter(going, facts, going.state, self.rng.randrange(50, 4_000), message=message)
        said = None
        if reason is not None:
            state, status = final_of(reason)
            said = _OVER[going.lang][reason is Reason.COMPLETED].format(id=going.short_id)
            self._enter(going, facts, state, self._long(200, 600_000), message=said)
            end = TaskEnd(
                thread_id=facts["thread_id"], task_id=going.task_id, status=status, reason=reason
            )
            self._add(going, end.to_dict())
        self._db.run(
            "UPDATE tasks SET state = ?, reason = ?, summary = ?, ending_json = ?, intent_json = ?,"
            " proposal_json = ?, updated_at = ? WHERE task_id = ?",
            going.state,
            reason,
            said,
            write_ending(same(said)) if said else None,
            intent.to_json(),
            result.to_json() if result else None,
            going.at,
            going.task_id,
        )

    def _enter(
        self,
        going: _Going,
        facts: Mapping[str, Any],
        state: TaskState,
        after_ms: int,
        first: TaskStart | TaskProposed | None = None,
        *,
        message: str | None = None,
    ) -> None:
        going.at = min(going.at + after_ms, self._now)
        going.state = state
        if first is not None:
            self._add(going, first.to_dict())
        changed = TaskStateChanged(
            thread_id=facts["thread_id"], task_id=going.task_id, state=state, message=message
        )
        self._add(going, changed.to_dict())

    def _add(self, going: _Going, event: Mapping[str, object]) -> None:
        going.seq += 1
        body = json.dumps(event, separators=(",", ":"))
        self._db.run(_EVENT, going.task_id, going.seq, going.at, body)

    def _turn(self, going: _Going, took: int) -> None:
        rng = self.rng
        for _ in range(rng.choices((1, 2, 3), (70, 20, 10))[0]):
            turn = StoredTurn(
                task_id=going.task_id,
                model=rng.choice(MODELS),
                at=min(going.at + took, self._now),
                duration_ms=took,
                input_tokens=rng.randrange(800, 40_000),
                output_tokens=rng.randrange(50, 4_000),
                calls=rng.randrange(1, 9),
                outcome=rng.choices(("ok", "model.busy", "cut-off"), (94, 4, 2))[0],
            )
            names = ", ".join(field.name for field in fields(turn))
            values = astuple(turn)
            self._db.run(_INSERT.format("turns", names, ", ".join("?" * len(values))), *values)

    def _long(self, least: int, most: int) -> int:
        """Return a duration as people and models take them: mostly short, sometimes very long."""
        return min(most, round(least * (1 + self.rng.paretovariate(0.6))))
