"""Puts the engine together from the real parts; `app` opens those and starts it."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from common.clock import Clock
from local_agent.actions.operation import Copies, Executors
from local_agent.flow.bus import Bus
from local_agent.flow.checking import Checking
from local_agent.flow.disclosing import Disclosure
from local_agent.flow.engine import Engine, Log
from local_agent.flow.gate import Entrance
from local_agent.flow.journal_store import JournalStore
from local_agent.flow.ports import Gate, Mind, Site, Workspaces
from local_agent.flow.run import Resting
from local_agent.flow.task import TaskLog
from local_agent.safety.policy import Policy
from local_agent.settings import AgentSettings
from local_agent.store.blobs import Blobs
from local_agent.store.journal import JournalThread
from local_agent.workspace.registry import Workspace

if TYPE_CHECKING:
    from local_agent.flow.steps import Steps


def build_engine(
    *,
    db: JournalThread,
    gate: Gate,
    executors: Callable[[], Executors],
    copies: Copies,
    mind: Mind,
    disclosure: Disclosure,
    blobs: Blobs,
    workspaces: Workspaces,
    policy_of: Callable[[Workspace], Policy],
    bus: Bus,
    settings: AgentSettings,
    clock: Clock,
    log: Log,
    answering: Entrance,
    site: Site,
) -> Engine:
    """Return an engine that has not begun anything.

    ``executors`` is called in a thread, once, when the first task comes; ``policy_of`` gives the
    person's policy for a workspace, and blocks; ``answering`` takes the answers of dry runs.
    """
    store = JournalStore(db)
    tasks = TaskLog(store, bus, clock)

    def make_steps() -> Steps:
        from local_agent.flow.steps import build_steps

        return build_steps(
            db=db,
            store=store,
            tasks=tasks,
            gate=gate,
            executors=executors(),
            copies=copies,
            mind=mind,
            disclosure=disclosure,
            blobs=blobs,
            workspaces=workspaces,
            policy_of=policy_of,
            settings=settings,
            clock=clock,
            site=site,
            engine=engine,
        )

    engine = Engine(
        store=store,
        tasks=tasks,
        make_steps=make_steps,
        gate=gate,
        checking=_checking(store, workspaces, settings, user=site.user, sandbox=site.sandbox),
        resting=Resting(tasks, clock, hours=settings.approval_hours),
        copies=copies,
        answering=answering,
        clock=clock,
        log=log,
    )
    return engine


def _checking(
    store: JournalStore, workspaces: Workspaces, settings: AgentSettings, *, user: str, sandbox: str
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
