"""Puts the engine together from the real parts; `app` opens those and starts it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial
from typing import Any

from common.clock import Clock
from common.model.intent import TaskKind
from common.seal import Action
from local_agent.context.collector import Collector
from local_agent.engine.answers import HelpProposer, OpenTasks, StatusProposer
from local_agent.engine.approving import Approving
from local_agent.engine.bus import Bus
from local_agent.engine.changes import ApplyDiff, UndoChange
from local_agent.engine.checking import Checking
from local_agent.engine.commands import RunCommand
from local_agent.engine.engine import Engine, Log
from local_agent.engine.journal_store import JournalStore
from local_agent.engine.operation import Operation
from local_agent.engine.patches import PatchProposer
from local_agent.engine.ports import (
    Applier,
    Blobs,
    Copies,
    Executor,
    Gate,
    Syncer,
    TaskStore,
    Workspaces,
)
from local_agent.engine.sealing import Sealer
from local_agent.engine.syncs import SyncGit
from local_agent.engine.task import TaskLog
from local_agent.engine.understanding import Understanding
from local_agent.engine.undoing import AppliedChanges, UndoProposer
from local_agent.execution.command_line import read_command_line
from local_agent.proposers.base import Proposer
from local_agent.proposers.git_sync import GitSyncProposer
from local_agent.proposers.none import NoModel
from local_agent.proposers.review import ReviewProposer
from local_agent.proposers.run import RunProposer
from local_agent.proposers.search import SearchProposer
from local_agent.routing.router import Router
from local_agent.safety.policy import Policy
from local_agent.settings import AgentSettings
from local_agent.store.runner import JournalThread
from local_agent.workspace import files, git
from local_agent.workspace.registry import Workspace


@dataclass(frozen=True, slots=True, kw_only=True)
class Hands:
    """What carries out what was approved, each for its kind of action."""

    executor: Executor
    applier: Applier
    syncer: Syncer
    copies: Copies


def build_engine(
    *,
    db: JournalThread,
    gate: Gate,
    hands: Hands,
    blobs: Blobs,
    workspaces: Workspaces,
    policy_of: Callable[[Workspace], Policy],
    bus: Bus,
    settings: AgentSettings,
    clock: Clock,
    log: Log,
    machine: str,
    agent_id: str,
    sandbox: str,
    user: str = "",
) -> Engine:
    """Return an engine that has not begun anything.

    Args:
        blobs: Where diffs lie.
        policy_of: Gives the person's policy for a workspace; blocks.
        machine: The name people know this machine by.
        agent_id: Its id at its gateway; empty while it is not paired.
        sandbox: Level that the self-test at start proved: ``bubblewrap`` or ``none``.
        user: Who sits at this machine, for the record of what is begun in a window.
    """
    store = JournalStore(db)
    tasks = TaskLog(store, bus, clock)
    applied = AppliedChanges(db)
    understanding = Understanding(
        log=tasks,
        router=_router(settings),
        collector=_collector(clock),
        proposers=_proposers(store, settings, clock, sandbox, hands.syncer),
        patches=PatchProposer(blobs, allowed=settings.allow_apply_patch),
        undo=UndoProposer(store, applied),
        workspaces=workspaces,
    )
    approving = Approving(
        log=tasks,
        store=store,
        gate=gate,
        workspaces=workspaces,
        sealer=_sealer(settings, clock, agent_id=agent_id, sandbox=sandbox),
        operations=_operations(tasks, store, gate, hands, blobs, applied, settings),
        policy_of=policy_of,
        machine=machine,
    )
    return Engine(
        store=store,
        tasks=tasks,
        understanding=understanding,
        approving=approving,
        gate=gate,
        checking=_checking(store, workspaces, settings, user=user, sandbox=sandbox),
        copies=hands.copies,
        clock=clock,
        log=log,
    )


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


def read_argv(line: str) -> tuple[str, ...] | None:
    """Return the arguments of a command line, or None where it needs a shell.

    Raises:
        InputError: ``command.*``.
    """
    return read_command_line(line).argv


def _router(settings: AgentSettings) -> Router:
    return Router(
        threshold=settings.nl.confidence_threshold,
        prefix=settings.prefix,
        free_text=settings.nl.enable,
    )


def _collector(clock: Clock) -> Collector:
    return Collector(
        list_files=partial(_list_files, clock),
        search=partial(_search, clock),
        local_changes=git.local_changes,
    )


def _sealer(settings: AgentSettings, clock: Clock, *, agent_id: str, sandbox: str) -> Sealer:
    return Sealer(
        clock=clock,
        agent_id=agent_id,
        approval_hours=settings.approval_hours,
        settings=_rules(settings, sandbox),
    )


def _proposers(
    store: TaskStore, settings: AgentSettings, clock: Clock, sandbox: str, syncer: Syncer
) -> Mapping[TaskKind, Proposer]:
    open_tasks = OpenTasks(store, clock)
    no_model = NoModel()
    return {
        TaskKind.HELP: HelpProposer(open_tasks),
        TaskKind.STATUS: StatusProposer(open_tasks, sandbox=sandbox),
        TaskKind.RUN: RunProposer(
            read_argv,
            allowed=settings.allow_run_terminal,
            default_test_command=settings.default_test_command,
        ),
        TaskKind.SEARCH: SearchProposer(partial(_search, clock)),
        TaskKind.GIT_SYNC: GitSyncProposer(syncer.plan),
        TaskKind.REVIEW: ReviewProposer(git.local_changes),
        TaskKind.EXPLAIN: no_model,
        TaskKind.CHANGE: no_model,
        TaskKind.DIAGNOSE: no_model,
    }


async def _list_files(clock: Clock, workspace: Workspace) -> files.Listing:
    return await files.list_files(workspace.path, clock=clock, deny=workspace.deny)


async def _search(clock: Clock, workspace: Workspace, query: str) -> files.SearchResult:
    return await files.search(workspace.path, query, clock=clock, deny=workspace.deny)


def _rules(settings: AgentSettings, sandbox: str) -> Mapping[str, Any]:
    # Integers, booleans and text only: it is hashed in its one stored form (R21).
    return {
        "allow_apply_patch": settings.allow_apply_patch,
        "allow_run_terminal": settings.allow_run_terminal,
        "approval_hours": settings.approval_hours,
        "default_test_command": settings.default_test_command,
        "sandbox": sandbox,
    }
