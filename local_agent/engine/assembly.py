"""Puts the engine together from the real parts; `app` opens those and starts it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

from common.clock import Clock
from common.model.intent import TaskKind
from common.seal import Action
from local_agent.context.collector import Collector
from local_agent.engine.answers import HelpProposer, OpenTasks, StatusProposer
from local_agent.engine.applying import ApplyProposer, ShowAgain
from local_agent.engine.approving import Approving
from local_agent.engine.bus import Bus
from local_agent.engine.changes import ApplyDiff, UndoChange
from local_agent.engine.checking import Checking
from local_agent.engine.commands import RunCommand
from local_agent.engine.conversation import Conversation, ReviseProposer
from local_agent.engine.counting import CountedBackend
from local_agent.engine.engine import Engine, Log
from local_agent.engine.journal_store import JournalStore
from local_agent.engine.looking import Looking
from local_agent.engine.operation import Operation
from local_agent.engine.patches import PatchProposer
from local_agent.engine.ports import (
    Applier,
    Blobs,
    Copies,
    Disclosure,
    Executor,
    Gate,
    Syncer,
    TaskStore,
    Workspaces,
)
from local_agent.engine.releasing import Disclose
from local_agent.engine.resting import Resting
from local_agent.engine.sealing import Sealer
from local_agent.engine.streaming import Streams
from local_agent.engine.syncs import SyncGit
from local_agent.engine.task import TaskLog
from local_agent.engine.understanding import Proposers, Understanding
from local_agent.engine.undoing import AppliedChanges, UndoProposer
from local_agent.execution.command_line import read_command_line
from local_agent.proposers.coding import Chosen, CodingProposer, Lend
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


@dataclass(frozen=True, slots=True, kw_only=True)
class Mind:
    """What makes proposals that need a model.

    Attributes:
        choose: Gives the model that is asked, or None while none is configured.
        lend: Gives scratch copies.
    """

    choose: Callable[[], Chosen | None]
    lend: Lend


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
    again = ShowAgain()
    conversation = Conversation(store, blobs)
    mind = _counted(mind, store, clock)
    understanding = Understanding(
        log=tasks,
        router=_router(settings),
        looking=Looking(_collector(clock), conversation),
        proposers=_proposers(
            store, settings, clock, sandbox, hands.syncer, mind, blobs, conversation, applied, again
        ),
        conversation=conversation,
        disclosure=disclosure,
        streams=Streams(tasks, model=partial(_name_of, mind), clock=clock),
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
    engine = Engine(
        store=store,
        tasks=tasks,
        understanding=understanding,
        approving=approving,
        gate=gate,
        checking=_checking(store, workspaces, settings, user=user, sandbox=sandbox),
        resting=Resting(tasks, clock, hours=settings.approval_hours),
        copies=hands.copies,
        clock=clock,
        log=log,
    )
    again.show = engine.show_again
    return engine


def _counted(mind: Mind, store: TaskStore, clock: Clock) -> Mind:
    def choose() -> Chosen | None:
        chosen = mind.choose()
        if chosen is None:
            return None
        counted = CountedBackend(chosen.backend, record=store.add_turn, clock=clock)
        return replace(chosen, backend=counted)

    return replace(mind, choose=choose)


def _name_of(mind: Mind) -> str:
    chosen = mind.choose()
    return chosen.backend.name if chosen else ""


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
    store: TaskStore,
    settings: AgentSettings,
    clock: Clock,
    sandbox: str,
    syncer: Syncer,
    mind: Mind,
    blobs: Blobs,
    conversation: Conversation,
    applied: AppliedChanges,
    again: ShowAgain,
) -> Proposers:
    open_tasks = OpenTasks(store, clock)
    help_proposer = HelpProposer(open_tasks)
    coding = CodingProposer(
        mind.choose,
        without=NoModel(),
        lend=mind.lend,
        keep=blobs.put,
        allowed=settings.allow_apply_patch,
    )
    return Proposers(
        of_kind={
            TaskKind.HELP: help_proposer,
            TaskKind.STATUS: StatusProposer(open_tasks, sandbox=sandbox),
            TaskKind.RUN: RunProposer(
                read_argv,
                allowed=settings.allow_run_terminal,
                default_test_command=settings.default_test_command,
            ),
            TaskKind.SEARCH: SearchProposer(partial(_search, clock)),
            TaskKind.GIT_SYNC: GitSyncProposer(syncer.plan),
            TaskKind.REVIEW: ReviewProposer(git.local_changes),
            TaskKind.EXPLAIN: coding,
            TaskKind.CHANGE: coding,
            TaskKind.DIAGNOSE: coding,
        },
        of_topic={
            "apply": ApplyProposer(
                store, blobs, show_again=again.of_task, without_id=help_proposer
            ),
            "undo": UndoProposer(store, applied),
            "revise": ReviseProposer(conversation, coding),
        },
        patches=PatchProposer(blobs, allowed=settings.allow_apply_patch),
    )


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
