"""Puts the engine together from the real parts; `app` opens those and starts it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from common.clock import Clock
from common.seal import Action
from local_agent.engine.approving import Approving
from local_agent.engine.bus import Bus
from local_agent.engine.changes import ApplyDiff, UndoChange
from local_agent.engine.checking import Checking
from local_agent.engine.commands import RunCommand
from local_agent.engine.engine import Engine, Log
from local_agent.engine.journal_store import JournalStore
from local_agent.engine.operation import Operation
from local_agent.engine.ports import (
    Applier,
    Blobs,
    Copies,
    Disclosure,
    Executor,
    Gate,
    Mind,
    Syncer,
    TaskStore,
    Workspaces,
)
from local_agent.engine.releasing import Disclose
from local_agent.engine.resting import Resting
from local_agent.engine.sealing import Sealer
from local_agent.engine.syncs import SyncGit
from local_agent.engine.task import TaskLog
from local_agent.engine.undoing import AppliedChanges
from local_agent.execution.command_line import read_argv
from local_agent.safety.policy import Policy
from local_agent.settings import AgentSettings
from local_agent.store.runner import JournalThread
from local_agent.workspace.registry import Workspace

if TYPE_CHECKING:
    from local_agent.engine.understanding import Understanding


@dataclass(frozen=True, slots=True, kw_only=True)
class Hands:
    """What carries out what was approved, each for its kind of action."""

    executor: Executor
    applier: Applier
    syncer: Syncer
    copies: Copies


@dataclass(frozen=True, slots=True, kw_only=True)
class Site:
    """Where an engine runs.

    Attributes:
        machine: The name people know this machine by.
        agent_id: Its id at its gateway; empty while it is not paired.
        sandbox: Level that the self-test at start proved: ``bubblewrap`` or ``none``.
        user: Who sits at this machine, for the record of what is begun in a window.
    """

    machine: str
    agent_id: str
    sandbox: str
    user: str = ""


def build_engine(
    *,
    db: JournalThread,
    gate: Gate,
    hands: Hands,
    mind: Mind,
    disclosure: Disclosure,
    blobs: Blobs,
    workspaces: Workspaces,
    policy_of: Callable[[Workspace], Policy],
    bus: Bus,
    settings: AgentSettings,
    clock: Clock,
    log: Log,
    site: Site,
) -> Engine:
    """Return an engine that has not begun anything.

    Args:
        policy_of: Gives the person's policy for a workspace; blocks.
    """
    store = JournalStore(db)
    tasks = TaskLog(store, bus, clock)
    applied = AppliedChanges(db)

    def understand() -> Understanding:
        from local_agent.engine.proposing import Proposing

        proposing = Proposing(
            store=store,
            tasks=tasks,
            mind=mind,
            blobs=blobs,
            applied=applied,
            syncer=hands.syncer,
            settings=settings,
            clock=clock,
            sandbox=site.sandbox,
            show_again=engine.show_again,
        )
        return proposing.understanding(disclosure, workspaces)

    approving = Approving(
        log=tasks,
        store=store,
        gate=gate,
        workspaces=workspaces,
        sealer=_sealer(settings, clock, agent_id=site.agent_id, sandbox=site.sandbox),
        operations=_operations(tasks, store, gate, hands, blobs, applied, settings),
        policy_of=policy_of,
        machine=site.machine,
        prefix=settings.prefix,
    )
    engine = Engine(
        store=store,
        tasks=tasks,
        understand=understand,
        approving=approving,
        gate=gate,
        checking=_checking(store, workspaces, settings, user=site.user, sandbox=site.sandbox),
        resting=Resting(tasks, clock, hours=settings.approval_hours),
        copies=hands.copies,
        clock=clock,
        log=log,
    )
    return engine


def _operations(
    tasks: TaskLog,
    store: TaskStore,
    gate: Gate,
    hands: Hands,
    blobs: Blobs,
    applied: AppliedChanges,
    settings: AgentSettings,
) -> Mapping[Action, Operation]:
    commands = RunCommand(
        log=tasks,
        store=store,
        gate=gate,
        executor=hands.executor,
        copies=hands.copies,
        read_line=read_argv,
        default_test_command=settings.default_test_command,
    )
    changes = ApplyDiff(
        applier=hands.applier,
        blobs=blobs,
        prefix=settings.prefix,
        allowed=settings.allow_apply_patch,
    )
    undo = UndoChange(applier=hands.applier, find_applied=applied.find, prefix=settings.prefix)
    return {
        "run_command": commands,
        "apply_diff": changes,
        "undo": undo,
        "git_sync": SyncGit(syncer=hands.syncer),
        "disclose": Disclose(blobs=blobs),
    }


def _checking(
    store: TaskStore, workspaces: Workspaces, settings: AgentSettings, *, user: str, sandbox: str
) -> Checking:
    return Checking(
        store=store,
        workspaces=workspaces,
        prefix=settings.prefix,
        user=user,
        sandbox=sandbox,
        allowed=settings.allow_run_terminal,
        default_test_command=settings.default_test_command,
    )


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
