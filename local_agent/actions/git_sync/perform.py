"""Commit and push: prepared for the seal, and done exactly as sealed (P2).

    check (read-only) ─▶ add, commit (local write: libgit2) ─▶ push (remote write: git)

`Syncer.prepare` looks up what would be done; that is what a person approves.  `Syncer.run` takes
the Grant, looks it up again, and does it only where nothing differs.  Never forced, no hook, no
signature; the push runs outside of the sandbox, since it needs the network and the person's own
credentials, and runs git alone, from a repository of ours.
"""

from __future__ import annotations

import asyncio
import shutil
import threading
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final, Protocol

from common.clock import Clock
from common.diff.model import DiffModel
from common.errors import CodexBridgeError, InputError, StateError
from common.model.proposal import GitSync
from common.model.state import Reason
from common.seal import Place, Seal
from common.strict_json import canonical
from local_agent.actions.git_sync.payload import StepEffect, StepName, SyncStep, sync_payload
from local_agent.actions.git_sync.push import Pushed, Pusher
from local_agent.safety.grant import Grant
from local_agent.workspace.git.clean_repository import CleanRepository, clean_repository, find_git
from local_agent.workspace.git.commit import find_sealed, remember_pushed, write_commit
from local_agent.workspace.git.preflight import SyncPlan, plan_sync
from local_agent.workspace.registry import Workspace, place_of

TIMEOUT_S: Final = 120

_EFFECTS: Final[dict[StepName, StepEffect]] = {
    "check": "read-only",
    "add": "local-write",
    "commit": "local-write",
    "push": "remote-write",
}
_PUSH_ONLY: Final[tuple[StepName, ...]] = ("check", "push")


class Blobs(Protocol):
    """Where the diff is kept that is shown: 0600, under its hash.  Blocking."""

    def put(self, data: bytes) -> str:
        """Store the bytes and return their SHA-256."""
        ...


@dataclass(frozen=True, slots=True)
class PreparedSync:
    """A sync as it would be done now.

    Attributes:
        payload: For the seal (`local_agent.actions.git_sync.payload`).
        base: For the seal: the hash of each file that is committed, or ``absent``.
        workspace: For the seal, by name and identity.
        git_head: For the seal; None before the first commit.
        diff: What is committed, as it is shown; files that are no text are in the payload alone.
            Empty where there are only those, None without a commit.
        model: What that diff says.
    """

    payload: dict[str, Any]
    base: Mapping[str, str]
    workspace: Place
    git_head: str | None
    diff: bytes | None
    model: DiffModel | None


@dataclass(frozen=True, slots=True, kw_only=True)
class SyncOutcome:
    """What came of an approved sync.

    Attributes:
        reason: ``completed``, ``failed``, ``cancelled``, ``drifted`` or ``unknown``.
        code: Why, where it is not ``completed``; a ``sync.*`` of `local_agent.error_texts.sync`.
        drift: Which fields of the payload were not as approved, or could not be looked at.
        committed: Id of the commit that was made; None when none was.
        pushed: Whether the remote has taken it; None where that is not known.
        tail: End of git's answer to a push that did not succeed, bounded and redacted.
    """

    reason: Reason
    code: str | None = None
    drift: tuple[str, ...] = ()
    committed: str | None = None
    pushed: bool | None = False
    tail: str = ""


class Syncer:
    """Commits and pushes what was approved.

    Args:
        scratch: A private folder for clean repositories; what a crash left there is removed.
        blobs: Where shown diffs are kept.
        pusher: Calls git.
        clock: Dates commits.
        timeout_s: Seconds until a push is ended.
    """

    def __init__(
        self,
        *,
        scratch: Path,
        blobs: Blobs,
        pusher: Pusher,
        clock: Clock,
        timeout_s: int = TIMEOUT_S,
    ) -> None:
        self._scratch = scratch
        self._blobs = blobs
        self._pusher = pusher
        self._clock = clock
        self._timeout_s = timeout_s
        self._cleared = False
        self._clearing = threading.Lock()

    async def plan(self, workspace: Workspace, message: str | None) -> SyncPlan:
        """Return what would be done, for a proposal; nothing is written but in our scratch.

        Raises:
            InputError: ``sync.*`` or ``diff.*``.
        """
        return await asyncio.to_thread(self._plan, workspace, message)

    async def prepare(self, workspace: Workspace, proposal: GitSync) -> PreparedSync:
        """Describe the sync for the seal, and keep its diff.

        Raises:
            InputError: ``sync.*``, ``diff.*`` or ``workspace.gone``: it cannot be done.
        """
        return await asyncio.to_thread(self._prepare, workspace, proposal.message)

    async def run(
        self, grant: Grant, *, workspace: Workspace, cancel: asyncio.Event | None = None
    ) -> SyncOutcome:
        """Spend the grant: commit and push exactly what was sealed, or nothing.

        Args:
            grant: From the approval gate; used up whatever comes of it.
            workspace: The workspace of the task, as the registry holds it now.
            cancel: Looked at before each write; ends a push.

        Raises:
            StateError: ``grant.spent``; ``sync.action``: the grant is for something else.
        """
        seal = grant.spend()
        if seal.action != "git_sync":
            raise StateError("sync.action", action=seal.action)
        stack = ExitStack()
        try:
            found = await asyncio.to_thread(self._again, seal, workspace, stack)
            if isinstance(found, SyncOutcome):
                return found
            return await self._execute(*found, workspace.path, cancel or asyncio.Event())
        finally:
            await asyncio.to_thread(stack.close)

    async def settle(self, seal: Seal, workspace: Workspace) -> SyncOutcome:
        """Say after a restart what of an interrupted sync can be proved; nothing is done.

        The remote is not asked: that would take the person's credentials without an approval.

        Args:
            seal: What was approved and begun.
            workspace: The workspace of the task, as the registry holds it now.
        """
        found = await asyncio.to_thread(find_sealed, workspace.path, seal.payload)
        unknown = SyncOutcome(reason=Reason.UNKNOWN, code="sync.interrupted", pushed=None)
        if found is None:
            return unknown
        made = found.commit if seal.payload["commit"] is not None else None
        if found.pushed:
            return SyncOutcome(reason=Reason.COMPLETED, committed=made, pushed=True)
        if seal.payload["commit"] is not None and found.commit is None and found.untouched:
            return SyncOutcome(reason=Reason.FAILED, code="sync.not-begun")
        return SyncOutcome(
            reason=Reason.UNKNOWN, code="sync.interrupted", committed=made, pushed=None
        )

    async def _execute(
        self, clean: CleanRepository, plan: SyncPlan, workspace: Path, cancel: asyncio.Event
    ) -> SyncOutcome:
        if cancel.is_set():
            return SyncOutcome(reason=Reason.CANCELLED, code="sync.cancelled")
        made: str | None = None
        if plan.commit is not None:
            now = self._clock.now().wall_s
            try:
                made = await asyncio.to_thread(write_commit, workspace, plan, plan.commit, at_s=now)
            except CodexBridgeError as error:
                return SyncOutcome(reason=Reason.FAILED, code=error.code)
        if cancel.is_set():
            return SyncOutcome(reason=Reason.CANCELLED, code="sync.cancelled", committed=made)
        pushed = await self._push(clean, plan, made or plan.head or "", cancel)
        if pushed.done:
            await asyncio.to_thread(
                remember_pushed, workspace, plan.upstream, made or plan.head or ""
            )
        return _outcome(made, pushed)

    async def _push(
        self, clean: CleanRepository, plan: SyncPlan, oid: str, cancel: asyncio.Event
    ) -> Pushed:
        return await self._pusher.push(
            clean,
            plan.upstream.url,
            oid=oid,
            ref=plan.upstream.ref,
            timeout_s=self._timeout_s,
            cancel=cancel,
        )

    # --- blocking ----------------------------------------------------------------------------

    @contextmanager
    def _clean(self, workspace: Workspace) -> Iterator[CleanRepository]:
        with self._clearing:
            if not self._cleared:
                shutil.rmtree(self._scratch, ignore_errors=True)
                self._cleared = True
        with clean_repository(self._scratch, workspace.path) as clean:
            yield clean

    def _plan(self, workspace: Workspace, message: str | None) -> SyncPlan:
        with self._clean(workspace) as clean:
            return plan_sync(workspace, clean, message=message)

    def _prepare(self, workspace: Workspace, message: str | None) -> PreparedSync:
        if find_git() is None:
            raise InputError("sync.no-git")
        plan = self._plan(workspace, message)
        if plan.diff is not None:
            self._blobs.put(plan.diff)
        return self._described(workspace, plan)

    def _described(self, workspace: Workspace, plan: SyncPlan) -> PreparedSync:
        payload = _payload(plan, self._timeout_s)
        place = place_of(workspace)
        return PreparedSync(payload, plan.base, place, plan.head, plan.diff, plan.model)

    def _again(
        self, seal: Seal, workspace: Workspace, stack: ExitStack
    ) -> tuple[CleanRepository, SyncPlan] | SyncOutcome:
        """Look up once more what would be done, or say how it differs from what was sealed."""
        commit = seal.payload["commit"]
        try:
            clean = stack.enter_context(self._clean(workspace))
            plan = plan_sync(workspace, clean, message=commit["message"] if commit else None)
            now = self._described(workspace, plan)
        except (CodexBridgeError, OSError) as error:
            code = getattr(error, "code", "sync.repository")
            return SyncOutcome(reason=Reason.DRIFTED, code=code, drift=("payload",))
        if drift := find_drift(seal, now):
            return SyncOutcome(reason=Reason.DRIFTED, code="sync.drifted", drift=drift)
        return clean, plan


def find_drift(seal: Seal, now: PreparedSync) -> tuple[str, ...]:
    """Return the names of what is not, byte for byte, as it was approved."""
    drift = ["workspace"] if now.workspace != seal.workspace else []
    drift += ["git_head"] if now.git_head != seal.git_head else []
    drift += ["base"] if dict(now.base) != dict(seal.base) else []
    if canonical(dict(seal.payload)) != canonical(now.payload):
        names = sorted(seal.payload.keys() | now.payload.keys())
        drift += [name for name in names if seal.payload.get(name) != now.payload.get(name)]
    return tuple(drift)


def _payload(plan: SyncPlan, timeout_s: int) -> dict[str, Any]:
    steps = tuple(_EFFECTS) if plan.commit else _PUSH_ONLY
    upstream = plan.upstream
    return sync_payload(
        branch=plan.branch,
        remote=upstream.remote,
        url=upstream.url.text,
        ref=upstream.ref,
        remote_oid=upstream.oid,
        head=plan.head,
        ahead=plan.ahead,
        behind=0,  # otherwise there is no plan
        commit=plan.commit,
        steps=[SyncStep(name, _EFFECTS[name]) for name in steps],
        timeout_s=timeout_s,
    )


def _outcome(made: str | None, pushed: Pushed) -> SyncOutcome:
    if pushed.done:
        return SyncOutcome(reason=Reason.COMPLETED, committed=made, pushed=True)
    known = Reason.UNKNOWN if pushed.done is None else Reason.FAILED
    return SyncOutcome(
        reason=known, code=pushed.code, committed=made, pushed=pushed.done, tail=pushed.tail
    )
