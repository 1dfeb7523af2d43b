"""What the end of a run says, and how much of that leaves for the chat."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, Final

from common.errors import CodexBridgeError, StateError
from common.sentences import Sentence, say
from common.text import one_line
from local_agent.playbooks.definition import StepDefinition, TaskDefinition
from local_agent.playbooks.executor import IN_HOOK
from local_agent.playbooks.runs import Place, StepResult
from local_agent.playbooks.tools import TOOLS
from local_agent.propose.base import Asked, Proposed, answer
from local_agent.propose.context.collected import Piece
from local_agent.safety.disclosure import bounded
from local_agent.sandbox.output import without_folders
from local_agent.store.runs import StoredRun
from local_agent.store.tasks import Task
from local_agent.views.task import DOUBT
from local_agent.workspace.registry import DisclosureLevel

Steps = Mapping[Place, StepResult]

COMPLETED = Sentence(
    en="Playbook {playbook} completed: {count} {count:step|steps}.",
    zh="剧本 {playbook} 已完成，共 {count} 个步骤。",
)
COMPLETED_DRY = Sentence(
    en="Dry run of playbook {playbook} completed: {count} {count:step|steps}. Nothing in the "
    "workspace was changed; what the steps did lies in {folder}",
    zh="剧本 {playbook} 试运行完成，共 {count} 个步骤。工作区没有任何改动，步骤的结果在 {folder}",
)
ROLLED_BACK = Sentence(
    en="What playbook {playbook} had changed is taken back: {count} {count:file|files}.",
    zh="剧本 {playbook} 所作的改动已撤销：{count} 个文件。",
)
ROLLED_BACK_DRY = Sentence(
    en="What the dry run of playbook {playbook} had changed in its copy is taken back: "
    "{count} {count:file|files}. Nothing in the workspace was changed.",
    zh="剧本 {playbook} 试运行在副本中所作的改动已撤销：{count} 个文件。工作区没有任何改动。",
)
DOUBTED = Sentence(
    en="Step {step} ended with exit code 0, but failures were reported.",
    zh="步骤 {step} 的退出码为 0，但报告了失败。",
)
FAILED_AT = Sentence(
    en="step {number} of {count} ({step}): {why}",
    zh="第 {number} 步，共 {count} 步（{step}）：{why}",
)
KEPT_HERE = Sentence(en="the reason is shown at the machine.", zh="原因请在开发机上查看。")

LAST_ANSWER: Final = "last-answer"
WHY_FAILED: Final = "why-failed"
_WHY_BYTES: Final = 400  # of why a run failed
_TEXTS: Final = ("content", "diff", "stdout", "stderr", "preview")  # in results of tools


def tells_chat(
    task: Task, run: StoredRun, named: Mapping[Place, StepDefinition], level: DisclosureLevel
) -> str:
    """Return what the chat will hear of a run; each of its questions is sealed with that (P2).

    More than is named here, the ends below do not tell.

    Args:
        task: What carries the run: whoever asked for that one hears of it.
        named: The steps of the playbook and of its hooks.
        level: Of the workspace, as this carrying begins; ``ask`` has the rest released.
    """
    if task.source != "wecom":
        return ""
    if level == "ask":
        return "outcome-of-run"
    if run.carrying == "rollback":
        return f"outcome-of-run {WHY_FAILED}"
    kinds = {TOOLS[one.tool].action if one.tool else one.type for one in named.values()}
    more = {"run_command": "output-tail", "agent": LAST_ANSWER}
    return " ".join(("outcome-of-run", WHY_FAILED, *(more[one] for one in more if one in kinds)))


def completed(
    definition: TaskDefinition,
    steps: Steps,
    named: Mapping[Place, StepDefinition],
    run: StoredRun,
    asked: Asked,
) -> Proposed:
    """Return the end of a run that completed: what its last agent step said.

    Args:
        steps: How each ended.
        named: The steps of the playbook and of its hooks.
    """
    facts = {"playbook": definition.name, "count": len(definition.steps), "folder": run.folder}
    head = say(COMPLETED_DRY if run.is_dry else COMPLETED, asked.lang, **facts)
    if doubted := [one.step_name for one in steps.values() if "reported" in (one.result or {})]:
        head = f"{DOUBT}{head}\n{say(DOUBTED, asked.lang, step=doubted[0])}"
    asks = asked.workspace is not None and asked.workspace.disclosure == "ask"
    may_tell = asks or not asked.remote or LAST_ANSWER in run.tells  # it asks before it tells
    said = _last_answer(definition, steps).strip() if may_tell else ""
    text = f"{head}\n\n{said}" if said else head
    # With details it is bounded for the chat as an answer is (`flow.disclosing`).
    return replace(answer(text, details=text), shown=_read(steps, named))


def rolled_back(task: Task, run: StoredRun, result: Mapping[str, Any], asked: Asked) -> Proposed:
    """Return the end of a rollback.

    Args:
        result: The event ``rollback_result``.

    Raises:
        StateError: ``run.not-rolled-back``.
    """
    files = result["rollback_results"]
    if result["status"] != "rolled_back":
        failed = [one["error"] for one in files if not one["success"]]
        facts = {"playbook": run.name, "task": task.short_id}
        why = _for_chat(failed[-1], run, asked, ()) if failed else ""
        raise StateError("run.not-rolled-back", **facts, why=why)
    count = sum(one["success"] for one in files)
    words = ROLLED_BACK_DRY if run.is_dry else ROLLED_BACK
    return answer(say(words, asked.lang, playbook=run.name, count=count))


def failure(
    task: Task,
    run: StoredRun,
    definition: TaskDefinition,
    last: Mapping[str, Any],
    index: int,
    steps: Steps,
    named: Mapping[Place, StepDefinition],
    asked: Asked,
) -> StateError:
    """Return how a run failed; the chat is told no more of why than of an answer.  Blocking.

    Args:
        last: The event ``task_complete``.
        index: Of the step at which it ended.

    Returns:
        ``run.failed`` or ``run.aborted``.
    """
    facts = {"playbook": definition.name, "task": task.short_id}
    ended = last["_ended"]
    if last["status"] == "aborted":
        return StateError("run.aborted", why=ended["why"], **facts)
    why = _for_chat(ended["why"], run, asked, [piece.text for piece in _read(steps, named)])
    at = ended | {"number": index + 1, "count": len(definition.steps), "why": why}
    return StateError(
        "run.failed", why=say(IN_HOOK if "hook" in at else FAILED_AT, asked.lang, **at), **facts
    )


def _for_chat(why: str, run: StoredRun, asked: Asked, sources: Sequence[str]) -> str:
    """Return as much of why a run failed as its questions say that whoever asked is told."""
    if not asked.remote or asked.workspace is None:
        return why
    released = bounded(
        without_folders(why, workspace=str(asked.workspace.path)),
        sources=sources,
        level=asked.workspace.disclosure if WHY_FAILED in run.tells else "ask",
        lang=asked.lang,
        limit=_WHY_BYTES,
    )
    return one_line(released.text or say(KEPT_HERE, asked.lang), _WHY_BYTES)


def for_chat(error: CodexBridgeError) -> CodexBridgeError:
    """Return an error for the chat: of what lies on this machine, it names the last part alone."""
    facts = {name: _unplaced(value) for name, value in error.facts.items()}
    return error if facts == error.facts else StateError(error.code, **facts)


def _unplaced(value: object) -> object:
    is_place = isinstance(value, str | Path) and Path(value).is_absolute()
    return f"…/{Path(str(value)).name}" if is_place else value


def _last_answer(definition: TaskDefinition, steps: Steps) -> str:
    for index, step in reversed([*enumerate(definition.steps)]):
        ended = steps.get(Place("main", index))
        if step.type == "agent" and ended is not None and ended.result is not None:
            return str(ended.result.get("text", ""))
    return ""


def _read(steps: Steps, named: Mapping[Place, StepDefinition]) -> tuple[Piece, ...]:
    """Return what the tools of a run have read, for whoever decides what of it may leave."""
    found: list[Piece] = []
    for place, ended in steps.items():
        result = ended.result if place in named and named[place].tool else None
        several: Sequence[Mapping[str, Any]] = result.get("items") or () if result else ()
        for one in (result, *several) if result else ():
            path = one.get("path")
            found += [
                Piece(kind="result", text=one[name], path=path if isinstance(path, str) else "")
                for name in _TEXTS
                if isinstance(one.get(name), str) and one[name]
            ]
    return tuple(found)
