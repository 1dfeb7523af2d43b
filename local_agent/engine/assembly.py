"""Puts the engine together from the real parts; `app` opens those and starts it."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from typing import Any

from common.clock import Clock
from common.model.intent import TaskKind
from local_agent.context.collector import Collector
from local_agent.engine.answers import HelpProposer, OpenTasks, StatusProposer
from local_agent.engine.bus import Bus
from local_agent.engine.commands import Commands
from local_agent.engine.engine import Engine, Log
from local_agent.engine.journal_store import JournalStore
from local_agent.engine.ports import Executor, Gate, TaskStore, Workspaces
from local_agent.engine.sealing import Sealer
from local_agent.engine.task import TaskLog
from local_agent.engine.understanding import Understanding
from local_agent.execution.command_line import read_command_line
from local_agent.proposers.base import Proposer
from local_agent.proposers.none import NoModel
from local_agent.proposers.review import ReviewProposer
from local_agent.proposers.run import RunProposer
from local_agent.proposers.search import SearchProposer
from local_agent.routing.router import Router
from local_agent.settings import AgentSettings
from local_agent.store.runner import JournalThread
from local_agent.workspace import files, git
from local_agent.workspace.registry import Workspace


def build_engine(
    *,
    db: JournalThread,
    gate: Gate,
    executor: Executor,
    workspaces: Workspaces,
    bus: Bus,
    settings: AgentSettings,
    clock: Clock,
    log: Log,
    machine: str,
    agent_id: str,
    sandbox: str,
) -> Engine:
    """Return an engine that has not begun anything.

    Args:
        machine: The name people know this machine by.
        agent_id: Its id at its gateway; empty while it is not paired.
        sandbox: Level that the self-test at start proved: ``bubblewrap`` or ``none``.
    """
    store = JournalStore(db)
    tasks = TaskLog(store, bus, clock)
    understanding = Understanding(
        log=tasks,
        router=_router(settings),
        collector=_collector(clock),
        proposers=_proposers(store, settings, clock, sandbox),
        workspaces=workspaces,
    )
    commands = Commands(
        log=tasks,
        store=store,
        gate=gate,
        executor=executor,
        workspaces=workspaces,
        sealer=_sealer(settings, clock, agent_id=agent_id, sandbox=sandbox),
        read_line=read_argv,
        machine=machine,
        default_test_command=settings.default_test_command,
    )
    return Engine(
        store=store,
        tasks=tasks,
        understanding=understanding,
        commands=commands,
        gate=gate,
        clock=clock,
        log=log,
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
        policy=_policy(settings, sandbox),
    )


def _proposers(
    store: TaskStore, settings: AgentSettings, clock: Clock, sandbox: str
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
        TaskKind.REVIEW: ReviewProposer(git.local_changes),
        TaskKind.EXPLAIN: no_model,
        TaskKind.CHANGE: no_model,
        TaskKind.DIAGNOSE: no_model,
    }


async def _list_files(clock: Clock, workspace: Workspace) -> files.Listing:
    return await files.list_files(workspace.path, clock=clock, deny=workspace.deny)


async def _search(clock: Clock, workspace: Workspace, query: str) -> files.SearchResult:
    return await files.search(workspace.path, query, clock=clock, deny=workspace.deny)


def _policy(settings: AgentSettings, sandbox: str) -> Mapping[str, Any]:
    # Integers, booleans and text only: it is hashed in its one stored form (R21).
    return {
        "allow_apply_patch": settings.allow_apply_patch,
        "allow_run_terminal": settings.allow_run_terminal,
        "approval_hours": settings.approval_hours,
        "default_test_command": settings.default_test_command,
        "sandbox": sandbox,
    }
