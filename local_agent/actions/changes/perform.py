"""Preparing a change for the seal, and making exactly what was sealed (P2, P5, R24, R35, R36).

`Applier.prepare` describes what a diff would do to the workspace as it is; the description is what
a person approves.  `Applier.run` takes the Grant, computes the same again from reality, compares
byte for byte, keeps what will be replaced, and writes all of it or nothing.  An undo is a change
like any other: prepared from the backups, sealed, run the same way, and can itself be undone.

Whether it may be made is not decided here (`local_agent.safety`, `flow.gate`).  One
change at a time in a workspace is the engine's matter.
"""

from __future__ import annotations

import asyncio
import errno
from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any, Final

from common.access_lists import without_list
from common.clock import Clock
from common.diff.model import DiffModel
from common.diff.parse import parse_diff
from common.diff.render import render
from common.errors import CodexBridgeError, InputError, StateError, StoreError
from common.model.state import Reason
from common.seal import Place, Seal, SealedChange
from common.strict_json import canonical
from local_agent.actions.changes.describe import PLAIN, Described, describe_change, mode_of
from local_agent.actions.changes.payload import change_payload, undo_payload
from local_agent.actions.changes.settle import ChangeOutcome, settle_change, tag_of
from local_agent.actions.undo.reverse import check_reversible, reverse_change
from local_agent.safety.backups import KEPT_DAYS, Backups, Details
from local_agent.safety.grant import Grant
from local_agent.store.blobs import Blobs
from local_agent.workspace.git.repository import head_of, open_repository
from local_agent.workspace.registry import Workspace
from local_agent.workspace.tree import Found, Tree, parts_of, tree_of
from local_agent.workspace.writer import FOLDER_MODE, Content, write

_DAY_MS: Final = 86_400_000
_FULL: Final = frozenset((errno.ENOSPC, errno.EDQUOT))
_NOT_PERMITTED: Final = frozenset((errno.EACCES, errno.EPERM, errno.EROFS))


@dataclass(frozen=True, slots=True, kw_only=True)
class PreparedChange:
    """A change as it would be made now.

    Attributes:
        payload: For the seal (`local_agent.actions.changes.payload`).
        changes: One for each file of the diff.
        base: For the seal: the hash of each file it starts from or ``absent``, and of the identity
            of each folder on the way, whose path ends with a slash.
        workspace: For the seal: where it would be made, by name and identity.
        git_head: For the seal: the commit that is checked out, None where there is none.
        diff: What is shown and sealed: as given, or with its true line numbers where hunks moved.
        model: The same, parsed.
        moved: How many hunks were not where the diff said.
    """

    payload: dict[str, Any]
    changes: tuple[SealedChange, ...]
    base: dict[str, str]
    workspace: Place
    git_head: str | None
    diff: bytes
    model: DiffModel
    moved: int


class Applier:
    """Makes approved changes and takes them back.

    Args:
        blobs: Where diffs and backups are kept.
        clock: Tells how old a change is.
    """

    def __init__(self, *, blobs: Blobs, clock: Clock) -> None:
        self._blobs = blobs
        self._backups = Backups(blobs)
        self._clock = clock

    async def prepare(self, workspace: Workspace, diff: bytes) -> PreparedChange:
        """Describe what a diff would do; the workspace is only read.

        The diff that it gives back is in the blob store.

        Raises:
            InputError: ``diff.*``, ``change.*`` or ``path.missing``: it may not be done.
            StoreError: the diff could not be kept.
            OSError: as `StoreError`.
        """
        return await asyncio.to_thread(self._prepare, workspace, diff)

    async def prepare_undo(
        self,
        workspace: Workspace,
        seal: Seal,
        *,
        paths: tuple[str, ...] | None,
        short_id: str,
        whole: bool = True,
        through: Mapping[str, str] = MappingProxyType({}),
    ) -> PreparedChange:
        """Describe what taking a change back would do; the workspace is only read.

        Args:
            workspace: Where the change was made.
            seal: Of the change, or of an undo.
            paths: The files to take back, as the change names them; None for all.
            short_id: The task that the change belonged to.
            whole: False where the change was cut off: what is as it left it is taken back, and
                what is not is left.
            through: SHA-256 of files as something else has left them since that goes back as well.

        Raises:
            StateError: ``undo.not-a-change``; ``undo.elsewhere``: it was made in another folder;
                ``undo.already``; ``undo.changed`` with ``path``, ``hunk`` (0 where it concerns the
                whole file) and ``undoable``, the paths that can be taken back alone;
                ``undo.expired`` with ``days``.
            InputError: ``diff.unknown-path``; as `prepare`.
        """
        return await asyncio.to_thread(
            self._prepare_undo, workspace, seal, paths, short_id, whole=whole, through=through
        )

    async def run(self, grant: Grant, *, workspace: Workspace) -> ChangeOutcome:
        """Spend the grant: make exactly the change that was sealed, or none.

        Args:
            grant: From the approval gate; used up whatever comes of it.
            workspace: The workspace of the task, as the registry holds it now.

        Raises:
            StateError: ``grant.spent``; ``change.action``: the grant is for something else.
        """
        seal = grant.spend()
        if "changes" not in seal.payload:
            raise StateError("change.action", action=seal.action)
        return await asyncio.to_thread(self._run, seal, workspace)

    async def settle(self, seal: Seal, workspace: Workspace) -> ChangeOutcome:
        """Tell, after a restart, what became of a change that nobody saw the end of.

        What was half made is brought back to what it was; what cannot be told is not touched.
        """
        return await asyncio.to_thread(self._settle, seal, workspace)

    # --- in a thread ---

    def _prepare(self, workspace: Workspace, diff: bytes) -> PreparedChange:
        model = parse_diff(diff)
        with tree_of(workspace) as tree:
            repository = open_repository(workspace.path)
            now = describe_change(tree, model, repository=repository, relocate=True)
            check_reversible(now, len(diff))
            if now.moved:
                diff = render(now.model)
            return PreparedChange(
                payload=change_payload(self._blobs.put(diff), now.changes),
                changes=now.changes,
                base=now.base,
                workspace=tree.place,
                git_head=head_of(repository) if repository is not None else None,
                diff=diff,
                model=now.model,
                moved=now.moved,
            )

    def _prepare_undo(
        self,
        workspace: Workspace,
        seal: Seal,
        paths: tuple[str, ...] | None,
        short_id: str,
        *,
        whole: bool,
        through: Mapping[str, str],
    ) -> PreparedChange:
        if "changes" not in seal.payload:
            raise StateError("undo.not-a-change", short_id=seal.short_id)
        if self._clock.now().wall_ms - seal.created_at > KEPT_DAYS * _DAY_MS:
            raise StateError("undo.expired", days=KEPT_DAYS)
        with tree_of(workspace) as tree:
            if not tree.is_at(seal.workspace):
                raise StateError("undo.elsewhere", path=seal.workspace.path)
            back, undone = reverse_change(
                tree, seal, self._backups, paths=paths, whole=whole, through=through
            )
        # Opened anew: a tree remembers each folder that it was in, and only those on the way to
        # what is taken back are sealed.
        with tree_of(workspace) as tree:
            diff = render(back)
            repository = open_repository(workspace.path)
            now = describe_change(tree, parse_diff(diff), repository=repository)
            _check_exact(now, undone)
            return PreparedChange(
                payload=undo_payload(
                    self._blobs.put(diff),
                    now.changes,
                    approval_id=seal.approval_id,
                    short_id=short_id,
                ),
                changes=now.changes,
                base=now.base,
                workspace=tree.place,
                git_head=head_of(repository) if repository is not None else None,
                diff=diff,
                model=now.model,
                moved=0,
            )

    def _run(self, seal: Seal, workspace: Workspace) -> ChangeOutcome:
        try:
            with tree_of(workspace) as tree:
                return self._run_in(tree, seal, workspace)
        except InputError as error:
            return _drifted(error.code, "workspace")
        except OSError as error:
            return ChangeOutcome(reason=Reason.FAILED, code=_machine_code(error))

    def _run_in(self, tree: Tree, seal: Seal, workspace: Workspace) -> ChangeOutcome:
        details = self._noted(seal)
        try:
            diff = self._blobs.get(seal.payload["diff_sha256"])
        except CodexBridgeError as error:
            return _drifted(error.code, "diff_sha256")
        try:
            repository = open_repository(workspace.path)
            now = describe_change(tree, parse_diff(diff), repository=repository, details=details)
            head = head_of(repository) if repository is not None else None
        except InputError as error:
            return _drifted(error.code, "changes", str(error.facts.get("path", "")))
        if drift := _find_drift(seal, now, tree.place, head):
            return ChangeOutcome(
                reason=Reason.DRIFTED,
                code="change.drifted",
                drift=drift,
                paths=_differing(seal.base, now.base),
            )
        return self._make(tree, seal, now, diff, details)

    def _make(
        self, tree: Tree, seal: Seal, now: Described, diff: bytes, details: Details
    ) -> ChangeOutcome:
        try:
            before = [item.before.data for item in now.writes if item.before is not None]
            kept = [diff, *before]
            left = write(
                tree,
                now.writes,
                now.layout,
                tag=tag_of(seal.approval_id),
                folder_modes={parts_of(path): bits for path, bits in details.folders.items()},
                keeping=self._backups.keeping(seal.approval_id, kept, _details(tree, now)),
            )
        except InputError as error:
            return _drifted(error.code, "changes", str(error.facts.get("path", "")))
        except StoreError as error:
            return ChangeOutcome(reason=Reason.FAILED, code=error.code)
        except StateError as error:
            paths = error.facts.get("paths", ())
            names = tuple(map(str, paths)) if isinstance(paths, tuple) else ()
            return ChangeOutcome(reason=Reason.UNKNOWN, code=error.code, paths=names)
        code = "change.leftover" if left else None
        return ChangeOutcome(reason=Reason.COMPLETED, code=code, files=now.changes, paths=left)

    def _noted(self, seal: Seal) -> Details:
        """Return what an undo gives back beyond contents."""
        undoes = seal.payload.get("undoes")
        return self._backups.details(undoes["approval_id"]) if undoes else Details()

    def _settle(self, seal: Seal, workspace: Workspace) -> ChangeOutcome:
        try:
            with tree_of(workspace) as tree:
                return settle_change(tree, seal, self._backups)
        except (CodexBridgeError, OSError):
            return ChangeOutcome(reason=Reason.UNKNOWN, code="change.unsettled")


def _check_exact(now: Described, undone: tuple[SealedChange, ...]) -> None:
    """Return when the reverse gives back exactly what was there."""
    for back, change in zip(now.changes, undone, strict=True):
        wanted = (None, None) if change.op == "copy" else (change.old_sha256, change.old_mode)
        if (back.new_sha256, back.new_mode) != wanted:
            raise StateError("undo.changed", path=change.path, hunk=0, undoable=(), why="none")


def _find_drift(seal: Seal, now: Described, place: Place, head: str | None) -> tuple[str, ...]:
    """Return the names of what is not, byte for byte, as it was approved."""
    payload = dict(seal.payload) | change_payload(seal.payload["diff_sha256"], now.changes)
    is_same = {
        "workspace": place == seal.workspace,
        "git_head": head == seal.git_head,
        "changes": canonical(payload) == canonical(dict(seal.payload)),
        "base": canonical(now.base) == canonical(dict(seal.base)),
    }
    return tuple(name for name, same in is_same.items() if not same)


def _differing(sealed: Mapping[str, str], now: Mapping[str, str]) -> tuple[str, ...]:
    names = sorted(sealed.keys() | now.keys())
    return tuple(name for name in names if sealed.get(name) != now.get(name))


def _drifted(code: str, what: str, path: str = "") -> ChangeOutcome:
    paths = (path,) if path else ()
    return ChangeOutcome(reason=Reason.DRIFTED, code=code, drift=(what,), paths=paths)


def _details(tree: Tree, now: Described) -> Details:
    """Return what nobody could guess once its file or folder is gone."""
    bits = {"/".join(parts): tree.mode(parts) & 0o777 for parts in now.layout.emptied}
    files = {
        "/".join(item.parts): _noted_bits(item.before, item.after)
        for item in now.writes
        if item.before is not None
    }
    return Details(
        files={path: bits for path, bits in files.items() if bits != PLAIN[mode_of(bits)]},
        folders={path: mode for path, mode in bits.items() if mode != FOLDER_MODE},
        empty=tuple(sorted("/".join(parts) for parts in now.layout.empty)),
    )


def _noted_bits(before: Found, after: Content | None) -> int:
    # A file that stays keeps its access list, and with it the bits that stand for its entries.
    return before.mode if after is not None else without_list(before.mode, before.access)


def _machine_code(error: OSError) -> str:
    if error.errno in _FULL:
        return "change.no-space"
    return "change.not-permitted" if error.errno in _NOT_PERMITTED else "change.failed"
