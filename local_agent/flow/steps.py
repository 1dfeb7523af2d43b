"""What carries a task through its steps, put together when the first task comes.

It is most of the agent by its lines, and an agent that waits has no use for it: the engine imports
this module beside the event loop (`local_agent.flow.engine.Engine.load`).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from common.clock import Clock
from local_agent.actions.operation import Copies, Executors, Operation, Parts
from local_agent.actions.registry import make_operations
from local_agent.actions.steps.action import RunSteps
from local_agent.flow.approving import Approving
from local_agent.flow.disclosing import Disclosure
from local_agent.flow.journal_store import JournalStore
from local_agent.flow.playing import Playing
from local_agent.flow.ports import Gate, Mind, Site, Workspaces
from local_agent.flow.proposing import Proposing
from local_agent.flow.run_asking import Fitting
from local_agent.flow.sealing import Sealer
from local_agent.flow.standing import Standings
from local_agent.flow.task import TaskLog
from local_agent.flow.understanding import Understanding
from local_agent.flow.undoing import AppliedChanges
from local_agent.safety.policy import Policy
from local_agent.settings import AgentSettings
from local_agent.store.blobs import Blobs
from local_agent.store.journal import JournalThread
from local_agent.workspace.registry import Workspace

if TYPE_CHECKING:  # it imports this module when the first task comes
    from local_agent.flow.engine import Engine


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
    store: JournalStore,
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
    engine: Engine,
) -> Steps:
    """Return all of them; nothing is begun."""
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
        show_again=engine.show_again,
        standing=Standings(db, blobs).of,
    )
    operations = _operations(executors, copies, blobs, store, applied, settings)
    approving = Approving(
        log=tasks,
        store=store,
        gate=gate,
        workspaces=workspaces,
        sealer=_sealer(settings, clock, site),
        operations=operations,
        policy_of=policy_of,
        machine=site.machine,
        prefix=settings.prefix,
        questions=engine.questions,
    )
    runs = Playing(
        db=db,
        blobs=blobs,
        clock=clock,
        proposing=proposing,
        engine=engine,
        log=tasks,
        workspaces=workspaces,
        fitting=_fitting(operations),
        site=site,
    )
    understanding = proposing.understanding(disclosure, workspaces, runs, engine.questions)
    return Steps(understanding, approving, runs)


def _operations(
    executors: Executors,
    copies: Copies,
    blobs: Blobs,
    store: JournalStore,
    applied: AppliedChanges,
    settings: AgentSettings,
) -> Mapping[str, Operation]:
    return make_operations(
        Parts(
            executors=executors,
            copies=copies,
            blobs=blobs,
            find_approval=store.approval,
            find_applied=applied.find,
            settings=settings,
        )
    )


def _fitting(operations: Mapping[str, Operation]) -> Fitting:
    several = operations["steps"]
    assert isinstance(several, RunSteps)  # noqa: S101  # by its row
    return several.fitting


def _sealer(settings: AgentSettings, clock: Clock, site: Site) -> Sealer:
    return Sealer(
        clock=clock,
        agent_id=site.agent_id,
        approval_hours=settings.approval_hours,
        settings=_rules(settings, site.sandbox),
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
