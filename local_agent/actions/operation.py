"""What the flow needs to know of each kind of thing that a person approves, and what those need.

    prepare ─▶ (sealed, shown, approved) ─▶ perform    settle: after a restart in the middle of it

One `Operation` for each action, in a folder by the seal's word for it.  How they are asked for,
decided and recorded is the same for all and stands once, in `local_agent.flow.approving`; what an
operation needs while it performs is handed in.  What carries them out is named by Protocols: fakes
in tests.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Collection, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final, Protocol

from common.diff.model import DiffModel
from common.diff.patching import Hunks
from common.errors import InputError
from common.model.proposal import GitSync, TaskResult
from common.model.state import Reason
from common.seal import Action, Place, Seal, SealedChange, Undo
from common.sentences import Lang, Sentence, Words, say
from common.text import one_line, reveal
from local_agent.safety.grant import Grant
from local_agent.store.blobs import Blobs
from local_agent.store.endings import CHAT_SUMMARY_BYTES
from local_agent.store.tasks import Task
from local_agent.workspace.registry import Workspace

if TYPE_CHECKING:  # only named here: what waits for a task does not load who carries it out
    from local_agent.actions.changes.perform import PreparedChange
    from local_agent.actions.changes.settle import ChangeOutcome
    from local_agent.actions.git_sync.perform import PreparedSync, SyncOutcome
    from local_agent.actions.run_command.perform import Outcome, Progress
    from local_agent.actions.run_command.prepare import Copy, Prepared
    from local_agent.actions.undo.action import FindApplied
    from local_agent.settings import AgentSettings
    from local_agent.store.approvals import StoredApproval
    from local_agent.workspace.git.preflight import SyncPlan


CANCELLED = Sentence(en="Nothing was done.", zh="没有执行任何操作。")
DRIFTED = Sentence(
    en="Changed since it was shown: {what}. Nothing was done; ask again for a new proposal.",
    zh="展示之后内容已变：{what}。没有执行任何操作；请重新提出。",
)
DRIFTED_FIELDS: Final[dict[str, Sentence]] = {
    "argv": (_COMMAND := Sentence(en="the command", zh="命令")),
    "script": _COMMAND,
    "shell": _COMMAND,
    "executable": Sentence(en="the program", zh="程序"),
    "cwd": Sentence(en="the folder", zh="目录"),
    "env_names": (_ENVIRONMENT := Sentence(en="the environment", zh="环境变量")),
    "env_sha256": _ENVIRONMENT,
    "sandbox": Sentence(en="the sandbox", zh="沙箱"),
    "network": Sentence(en="network access", zh="网络访问"),
    "timeout": (_LIMITS := Sentence(en="the limits", zh="限制")),
    "output_cap": _LIMITS,
    "workspace": Sentence(en="the workspace's folder", zh="工作区所在的文件夹"),
    "git_head": Sentence(en="the commit", zh="提交"),
    "base": Sentence(en="files of the workspace", zh="工作区中的文件"),
    "policy": Sentence(en="this machine's policy", zh="本机的策略"),
    "changes": (_CHANGE := Sentence(en="the change", zh="改动内容")),
    "diff_sha256": _CHANGE,
    "undoes": _CHANGE,
    "copy": _CHANGE,
    "payload": Sentence(en="something that could not be looked at again", zh="无法再次核对的内容"),
}
AND = Sentence(en=", ", zh="、")
ABOUT = Sentence(en="Files: {paths}", zh="文件：{paths}")


MAX_NAMED: Final = 5  # unknown paths in an error
CHAT_FILES: Final = 6
_NAME_BYTES: Final = 120


@dataclass(frozen=True, slots=True, kw_only=True)
class Sealable:
    """Something that would be done, described so that it can be sealed and judged.

    Attributes:
        payload: As the action's own folder writes it.
        discloses: What a remote requester is told afterwards.
        allowed: Commands that the person configured for this workspace, as argv lists.
        diff: What the payload's diff says, for judging the risk.
        moved: How many of its blocks stand elsewhere in the files than their author said.
        parts: The operations that it covers, in their order; none where it is one itself.
    """

    action: Action
    payload: Mapping[str, Any]
    workspace: Place
    git_head: str | None
    base: Mapping[str, str]
    undo: Undo
    discloses: tuple[str, ...]
    allowed: Collection[Sequence[str]] = ()
    diff: DiffModel | None = None
    moved: int = 0
    parts: tuple[Sealable, ...] = ()


@dataclass(frozen=True, slots=True)
class Ended:
    """How it ended.

    Attributes:
        summary: For the chat.
        here: The words for this machine, where they are others than the chat's.
        did: What it did, as facts for this machine alone.
        limit: Bytes of what the chat is told at most.
    """

    reason: Reason
    summary: Words
    here: Words | None = None
    did: Mapping[str, Any] | None = None
    limit: int = CHAT_SUMMARY_BYTES


async def begin_at_once(_part: int) -> bool:
    """Begin the next part: nothing is to be done before it."""
    return True


async def keep_to_oneself(_part: int, _ended: Ended) -> None:
    """Tell nobody how a part ended."""


@dataclass(frozen=True, slots=True)
class Performing:
    """What an operation is handed while it performs.

    Attributes:
        stop: Set once it is to stop, as soon as it can.
        tell: Tells how it goes on; with ``chat`` the chat hears of it, too.
        block: Has no approval accepted meanwhile; takes a code of `local_agent.flow.words.BLOCKED`.
        streams: The two streams of a command are wanted apart, for what comes after it.
        before_part: Of several parts waited for before one after the first is begun, which must be
            within a minute of the end of the one before.  False: neither it nor any later one is.
        ended_part: Told how each part ended, once that is recorded; also where there is only one.
    """

    stop: asyncio.Event
    tell: Callable[[Words, bool], Awaitable[object]]
    block: Callable[[str], AbstractContextManager[None]]
    streams: bool = False
    before_part: Callable[[int], Awaitable[bool]] = begin_at_once
    ended_part: Callable[[int, Ended], Awaitable[None]] = keep_to_oneself


class Indivisible:
    """An operation that has no parts which could be done alone.

    A command has none, steps belong together, a commit takes all that was changed, and an answer is
    released as it was shown.
    """

    async def narrowed(
        self, result: TaskResult, seal: Seal, keep: tuple[str, ...], hunks: Hunks
    ) -> TaskResult:
        """Refuse.

        Raises:
            InputError: ``approval.narrow``, always.
        """
        del seal, hunks
        raise InputError("approval.narrow", task_id=result.task_id, count=len(keep))


def check_known(keep: Collection[str], known: Collection[str]) -> None:
    """Require that an operation has all the parts that are to be kept.

    Raises:
        InputError: ``approval.narrow`` with ``why`` ``unknown`` and the ``paths`` it has not.
    """
    if unknown := sorted(set(keep).difference(known)):
        raise InputError("approval.narrow", why="unknown", paths=", ".join(unknown[:MAX_NAMED]))


def unknown_hunks(path: str) -> InputError:
    """Return the error for hunks of a file that it has not, or that cannot be done alone."""
    return InputError("approval.narrow", why="hunks", path=path)


def render_drift(fields: tuple[str, ...], lang: Lang) -> str:
    """Return what is no longer as it was approved; nothing was done."""
    return say(DRIFTED, lang, what=_render_fields(fields, lang))


def render_names(paths: tuple[str, ...], lang: Lang, *, most: int = CHAT_FILES) -> str:
    """Return the first paths as people can read them, with a mark where there are more."""
    names = [reveal(one_line(path, _NAME_BYTES)) for path in paths[:most]]
    return say(AND, lang).join([*names, *(["…"] if len(paths) > most else [])])


def _render_fields(fields: tuple[str, ...], lang: Lang) -> str:
    known = DRIFTED_FIELDS
    sentences = {known.get(name, known["payload"]): None for name in fields or ("payload",)}
    return say(AND, lang).join(say(sentence, lang) for sentence in sentences)


def proposed_result(task: Task) -> TaskResult:
    """Return what was proposed for a task."""
    return TaskResult.model_validate_json(task.proposal_json or "")


class Operation(Protocol):
    """One kind of action."""

    async def prepare(self, task: Task, workspace: Workspace) -> Sealable:
        """Describe what was proposed as it would be done now; nothing is touched.

        Raises:
            CodexBridgeError: it cannot be done as proposed.
        """
        ...

    async def perform(
        self, task: Task, grant: Grant, workspace: Workspace, around: Performing
    ) -> Ended:
        """Spend the grant: do exactly what was sealed, or nothing."""
        ...

    async def settle(self, seal: Seal, workspace: Workspace) -> Ended:
        """Say what came of it when it was cut off, from what can be proved afterwards (P3)."""
        ...

    async def narrowed(
        self, result: TaskResult, seal: Seal, keep: tuple[str, ...], hunks: Hunks
    ) -> TaskResult:
        """Return the proposal with these files alone.

        Args:
            result: What is proposed.
            seal: As it was asked for.
            keep: The paths of the files.
            hunks: Of these files, the hunks to keep; all of a file that is not named here.

        Raises:
            InputError: ``approval.narrow``: it has no parts, or names none of them.
        """
        ...


class Executor(Protocol):
    """The executor of commands (`local_agent.actions.run_command.perform`)."""

    async def prepare(
        self,
        workspace: Workspace,
        command: str | Sequence[str],
        *,
        cwd: str | None = None,
        timeout_s: int | None = None,
        copy: Copy | None = None,
        stdin: str | None = None,
    ) -> Prepared:
        """Describe a command, on the workspace or on a copy; nothing is run."""
        ...

    async def base_after(
        self, workspace: Workspace, changes: Sequence[SealedChange], base: Mapping[str, str]
    ) -> Mapping[str, str]:
        """Return what a command, which starts from a base now, starts from after changes."""
        ...

    async def run(
        self,
        grant: Grant,
        *,
        workspace: Workspace,
        on_progress: Callable[[Progress], None] | None = None,
        cancel: asyncio.Event | None = None,
        streams: bool = False,
    ) -> Outcome:
        """Spend the grant: run exactly what was sealed, or nothing."""
        ...


class Copies(Protocol):
    """Copies of workspaces with a change in them (`local_agent.actions.run_command.copies`)."""

    async def make(self, task_id: str, workspace: Workspace, seal: Seal) -> Copy:
        """Return a fresh copy for a task, with the change of a seal made in it."""
        ...

    async def remove(self, task_id: str) -> None:
        """Remove the copy of a task."""
        ...

    async def clear(self, *, keep: Collection[str]) -> None:
        """Remove all copies but those of these tasks."""
        ...


class Applier(Protocol):
    """Changes files (`local_agent.actions.changes.perform`)."""

    async def prepare(self, workspace: Workspace, diff: bytes) -> PreparedChange:
        """Check a diff against the files; nothing is touched."""
        ...

    async def prepare_undo(
        self,
        workspace: Workspace,
        seal: Seal,
        *,
        paths: tuple[str, ...] | None,
        short_id: str,
        whole: bool = True,
        through: Mapping[str, str] = ...,
    ) -> PreparedChange:
        """Compute the reverse of an applied change; nothing is touched."""
        ...

    async def run(self, grant: Grant, *, workspace: Workspace) -> ChangeOutcome:
        """Spend the grant: write exactly what was sealed, or nothing."""
        ...

    async def settle(self, seal: Seal, workspace: Workspace) -> ChangeOutcome:
        """Find out, or bring about, how a write that was cut off ended."""
        ...


class Syncer(Protocol):
    """Commits and pushes (`local_agent.actions.git_sync.perform`)."""

    async def plan(self, workspace: Workspace, message: str | None) -> SyncPlan:
        """Look up what would be committed and pushed; nothing is touched."""
        ...

    async def prepare(self, workspace: Workspace, proposal: GitSync) -> PreparedSync:
        """Look at the repository; nothing is touched."""
        ...

    async def run(
        self, grant: Grant, *, workspace: Workspace, cancel: asyncio.Event | None = None
    ) -> SyncOutcome:
        """Spend the grant: commit and push exactly what was sealed, or nothing."""
        ...

    async def settle(self, seal: Seal, workspace: Workspace) -> SyncOutcome:
        """Say what can be proved of a sync that was cut off."""
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class Executors:
    """What carries out what was approved, each for its kind of action."""

    executor: Executor
    applier: Applier
    syncer: Syncer


@dataclass(frozen=True, slots=True, kw_only=True)
class Parts:
    """What operations are made from.

    Attributes:
        find_approval: Gives an approval by its own id.
        find_applied: Gives the seal of what a task applied.
    """

    executors: Executors
    copies: Copies
    blobs: Blobs
    find_approval: Callable[[str], Awaitable[StoredApproval]]
    find_applied: FindApplied
    settings: AgentSettings
