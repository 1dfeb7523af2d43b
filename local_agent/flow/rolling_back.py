"""Takes a run back: its changes in reverse, through undo, under as few questions as can be.

    look what was done ─▶ check all of it ─▶ ask ─▶ undo part by part ─▶ rollback_result

Everything is checked before anything is asked or touched.  A command is named and left.  A file
that two steps changed is taken back under two questions: an undo is sealed with what is there.
"""

from __future__ import annotations

import asyncio
import hashlib
from collections.abc import AsyncGenerator, Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Any, Final

from common.errors import CodexBridgeError, StateError
from common.model.proposal import StepPart, Undo
from common.seal import SealedChange, read_changes
from common.sentences import Lang, Sentence, say
from local_agent.actions.changes.describe import mode_of
from local_agent.actions.registry import ACTIONS
from local_agent.actions.steps.payload import MAX_PARTS
from local_agent.flow.run_asking import Asker
from local_agent.flow.run_changes import Changes, Done
from local_agent.flow.run_questions import OpenQuestion
from local_agent.playbooks.events import gate_result
from local_agent.playbooks.session import Decision, Event
from local_agent.playbooks.values import Asking
from local_agent.propose.base import Proposed
from local_agent.store.runs import StoredRun
from local_agent.workspace.registry import Workspace
from local_agent.workspace.tree import open_tree, parts_of

STEP: Final = "rollback"
ASKS = Sentence(
    en="Take back what the run of playbook {playbook} changed: {count} {count:file|files}.",
    zh="撤销剧本 {playbook} 这次执行所作的改动：{count} 个文件。",
)
NOT_REVERSIBLE = Sentence(en="a command cannot be taken back", zh="命令无法撤销")


@dataclass(slots=True)
class _Entry:
    """One file that is to be taken back, or one command that cannot be."""

    action: str
    resource_id: str
    error: str | None = None
    success: bool = False

    def told(self) -> dict[str, Any]:
        found = {"action": self.action, "resource_id": self.resource_id, "success": self.success}
        return found | ({"error": self.error} if self.error else {})


@dataclass(slots=True)
class _Step:
    """A part of the run that changed files, with its entries."""

    done: Done
    left: tuple[str, ...]
    entries: list[_Entry] = field(default_factory=list)


class RollBack:
    """Takes one run back.

    Args:
        explain: Gives an error in words.
    """

    def __init__(
        self,
        run: StoredRun,
        *,
        workspace: Workspace,
        changes: Changes,
        asker: Asker,
        explain: Callable[[CodexBridgeError], str],
        lang: Lang,
        timeout_s: float,
    ) -> None:
        self._run = run
        self._workspace = workspace
        self._changes = changes
        self._asker = asker
        self._explain = explain
        self._lang = lang
        self._timeout_s = timeout_s
        self._through: Mapping[str, str] = {}

    async def events(self) -> AsyncGenerator[Event]:
        """Take it back, and tell what is asked and what came of it; the result comes last."""
        entries, steps = await self._planned()
        self._through = await self._changes.through()
        try:
            await asyncio.to_thread(self._check, steps)
        except CodexBridgeError as error:
            yield self._result(entries, failed=self._explain(error))
            return
        while steps:
            try:
                batch = _in_order(steps)
                batch = batch[: await self._asker.fit(self._proposed(batch))]
                question = await self._asker.put(STEP, self._proposed(batch))
            except CodexBridgeError as error:
                yield self._result(entries, failed=self._explain(error))
                return
            steps = steps[len(batch) :]
            try:
                yield self._required(question, batch)
                reason: Decision = "timeout"
                moved_on = ""
                try:
                    async with asyncio.timeout(self._timeout_s):
                        await question.decided.wait()
                        reason = await question.outcome()
                except TimeoutError:
                    pass
                except CodexBridgeError as error:
                    moved_on = self._explain(error)
                if reason == "approved":
                    await question.over.wait()
            finally:
                await question.close()
            yield gate_result(STEP, question.request_id, reason)
            if not await self._is_settled(batch):
                why = question.why() if reason == "approved" else moved_on or reason
                yield self._result(entries, failed=why)
                return
        yield self._result(entries)

    async def _planned(self) -> tuple[list[_Entry], list[_Step]]:
        """Return everything that the run did, the last first, and of it what can be taken back."""
        entries: list[_Entry] = []
        steps: list[_Step] = []
        for done in reversed(await self._changes.look()):
            if not ACTIONS[done.seal.action].undoable:
                command = self._changes.entries_of(done)[0].resource_id
                why = say(NOT_REVERSIBLE, self._lang)
                entries.append(_Entry(self._changes.tool(done), command, error=why))
                continue
            step = _Step(done, await self._changes.left(done))
            for change in read_changes(done.seal.payload):
                entry = _Entry(self._changes.tool(done), change.path)
                entry.success = change.path not in step.left  # taken back before
                step.entries.append(entry)
            entries += step.entries
            if step.left:
                steps.append(step)
        return entries, steps

    def _check(self, steps: Sequence[_Step]) -> None:
        """Require that every file is as the run left it, and every backup is whole.  Blocking.

        Raises:
            StateError: ``run.changed-since`` (path), ``run.no-backup`` (path).
            InputError: ``path.*``: something else stands in the place of a file or folder.
        """
        there: dict[str, tuple[str, str] | None] = {}
        for step in reversed(steps):
            for change in _left(step):
                there |= dict(_after(change))
                self._changes.check_backup(change)
        with open_tree(self._workspace.path) as tree:
            for path, left in there.items():
                found = tree.find(parts_of(path))
                now = found and (hashlib.sha256(found.data).hexdigest(), mode_of(found.mode))
                if now != left and not (now and now[0] == self._through.get(path)):
                    raise StateError("run.changed-since", path=path)

    def _proposed(self, batch: Sequence[_Step]) -> Proposed:
        parts = (
            StepPart(
                index=step.done.place.index,
                name=self._changes.step_name(step.done),
                action="undo",
                proposal=Undo(
                    task=step.done.task.short_id,
                    part=step.done.part,
                    paths=step.left,
                    through=dict(self._through) or None,
                ),
            )
            for step in batch
        )
        count = sum(len(step.left) for step in batch)
        message = say(ASKS, self._lang, playbook=self._run.name, count=count)
        return self._asker.steps(Asking(message), parts)

    async def _is_settled(self, batch: Sequence[_Step]) -> bool:
        """Take in what was taken back, and tell whether all of it was."""
        for step in batch:
            left = await self._changes.left(step.done)
            for entry in step.entries:
                entry.success = entry.resource_id not in left
        return all(entry.success for step in batch for entry in step.entries)

    def _required(self, question: OpenQuestion, batch: Sequence[_Step]) -> Event:
        return {
            "type": "confirmation_required",
            "step": STEP,
            "message": question.message,
            "request_id": question.request_id,
            "timeout_s": self._timeout_s,
            "dynamic": False,
            "short_id": question.short_id,
            "covers": [
                {"step": self._changes.step_name(step.done), "files": list(step.left)}
                for step in batch
            ],
            "_event": question.decided,
        }

    def _result(self, entries: Sequence[_Entry], *, failed: str | None = None) -> Event:
        if failed is not None:
            for entry in entries:
                if not entry.success and entry.error is None:
                    entry.error = failed
        return {
            "type": "rollback_result",
            "task_id": self._run.run_id,
            "status": "rolled_back" if failed is None else "failed",
            "rollback_results": [entry.told() for entry in entries],
            **({"dry_run": True} if self._run.is_dry else {}),
        }


def _in_order(steps: Sequence[_Step]) -> Sequence[_Step]:
    """Return the first of them that one question can name: each stands before the one above it.

    Steps of hooks have numbers of their own, and a resumed run may have carried one out twice.
    """
    places = [step.done.place for step in steps[:MAX_PARTS]]
    for number, (above, place) in enumerate(pairwise(places), 1):
        if place.phase != above.phase or place.index >= above.index:
            return steps[:number]
    return steps[:MAX_PARTS]


def _left(step: _Step) -> Iterator[SealedChange]:
    return (one for one in read_changes(step.done.seal.payload) if one.path in step.left)


def _after(change: SealedChange) -> Iterator[tuple[str, tuple[str, str] | None]]:
    """Give each path that a change touches with its content and mode afterwards, if any."""
    if change.old_path is not None and change.op in ("rename", "delete"):
        yield change.old_path, None
    if change.op != "delete":
        yield change.path, (change.new_sha256 or "", change.new_mode or "")
