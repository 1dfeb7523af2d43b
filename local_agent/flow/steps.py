"""What carries a task through its steps, put together when the first task comes.

It is most of the agent by its lines, and an agent that waits has no use for it: the engine imports
this module beside the event loop (`local_agent.flow.engine.Engine.load`).
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Coroutine, Mapping
from dataclasses import dataclass
from typing import Any

from common.clock import Clock
from local_agent.actions.operation import Blobs, Copies, Executors, Parts
from local_agent.actions.registry import make_operations
from local_agent.actions.steps.action import RunSteps
from local_agent.flow.approving import Approving
from local_agent.flow.playing import Playing, StepQuestions
from local_agent.flow.ports import (
    Disclosure,
    Gate,
    Mind,
    NewTask,
    Site,
    TaskStore,
    Workspaces,
)
from local_agent.flow.proposing import Proposing
from local_agent.flow.run_questions import Questions
from local_agent.flow.sealing import Sealer
from local_agent.flow.standing import Standings
from local_agent.flow.task import TaskLog
from local_agent.flow.understanding import Understanding
from local_agent.flow.undoing import AppliedChanges
from local_agent.playbooks.library import Phrases
from local_agent.safety.policy import Policy
from local_agent.settings import AgentSettings
from local_agent.store.journal import JournalThread
from local_agent.store.tasks import Task
from local_agent.workspace.registry import Workspace


@dataclass(frozen=True, slots=True)
class Steps:
    """From the words to a proposal, and from there to the end.

    Attributes:
        playing: Carries runs of playbooks.
    """

    understanding: Understanding
    approving: Approving
    playing: Playing


def build_steps(
    *,
    db: JournalThread,
    store: TaskStore,
    tasks: TaskLog,
    gate: Gate,
    executors: Executors,
    copies: Copies,
    mind: Mind,
    disclosure: Disclosure,
    blobs: Blobs,
    workspaces: Workspaces,
    policy_of: Callable[[Workspace], Policy],
    settings: AgentSettings,
    clock: Clock,
    site: Site,
    show_again: Callable[[str], Awaitable[None]],
    questions: Questions,
    submit: Callable[[NewTask], Coroutine[Any, Any, Task]],
    cancel: Callable[[str], Awaitable[object]],
) -> Steps:
    """Return all of them; nothing is begun.

    Args:
        show_again: Brings the question of a task before the person once more.
        questions: What runs of playbooks ask.
        submit: Writes a task and begins it.
        cancel: Ends a task.
    """
    applied = AppliedChanges(db)
    proposing = Proposing(
        store=store,
        tasks=tasks,
        mind=mind,
        blobs=blobs,
        applied=applied,
        syncer=executors.syncer,
        settings=settings,
        clock=clock,
        sandbox=site.sandbox,
        show_again=show_again,
        standing=Standings(db, blobs).of,
    )
    operations = make_operations(
        Parts(
            executors=executors,
            copies=copies,
            blobs=blobs,
            find_approval=store.approval,
            find_applied=applied.find,
            settings=settings,
        )
    )
    approving = Approving(
        log=tasks,
        store=store,
        gate=gate,
        workspaces=workspaces,
        sealer=_sealer(settings, clock, agent_id=site.agent_id, sandbox=site.sandbox),
        operations=operations,
        policy_of=policy_of,
        machine=site.machine,
        prefix=settings.prefix,
    )
    approving.before_part = questions.before_part
    approving.ended_part = questions.ended_part
    steps = operations["steps"]
    assert isinstance(steps, RunSteps)  # noqa: S101  # by its row
    playing = Playing(
        db=db,
        blobs=blobs,
        places=site.places,
        clock=clock,
        choose=proposing.choose,
        change=proposing.change,
        questions=questions,
        submit=submit,
        cancel=cancel,
        log=tasks,
        workspaces=workspaces,
        fitting=steps.fitting,
        machine=site.machine,
    )
    understanding = proposing.understanding(
        disclosure,
        workspaces,
        playing=playing,
        questions=StepQuestions(questions),
        phrases=Phrases(site.places).read,
    )
    return Steps(understanding, approving, playing)


def _sealer(settings: AgentSettings, clock: Clock, *, agent_id: str, sandbox: str) -> Sealer:
    return Sealer(
        clock=clock,
        agent_id=agent_id,
        approval_hours=settings.approval_hours,
        settings=_rules(settings, sandbox),
    )


def _rules(settings: AgentSettings, sandbox: str) -> Mapping[str, Any]:
    # Integers, booleans and text only: it is hashed in its one stored form (R21).
    return {
        "allow_apply_patch": settings.allow_apply_patch,
        "allow_run_terminal": settings.allow_run_terminal,
        "approval_hours": settings.approval_hours,
        "default_test_command": settings.default_test_command,
        "sandbox": sandbox,
    }
