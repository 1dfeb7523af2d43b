"""A task as the agent tells it: a line of a list, or all of it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final, Literal

from local_agent.views import Kept


@dataclass(frozen=True, slots=True, kw_only=True)
class RunPart:
    """Of which run of a playbook a task asks something.

    Attributes:
        run: Short ID of the task that carries the run.
        step: Number of the step, from 1; None of a hook's, and of a rollback.
        total: How many steps there are; 0 where that is not kept any more.
        name: Of the step; empty where that is not kept any more.
    """

    run: str
    playbook: str
    step: int | None
    total: int
    name: str


@dataclass(frozen=True, slots=True, kw_only=True)
class RunStepView:
    """A step of a run.

    Attributes:
        number: From 1; None of a hook's.
        type: ``tool``, ``agent`` or ``gate``.
        status: How it ended; ``running`` or ``waiting`` where the run is at it, ``pending`` after;
            ``interrupted`` where it was begun and nobody saw its end.
        error: Why it failed.
        task: Short ID of the task that asked for it; None where nothing was asked.
        is_doubted: It completed, and its runner reports failures.
    """

    number: int | None
    name: str
    type: str
    status: str
    started_at: int | None
    completed_at: int | None
    error: str | None
    task: str | None
    is_doubted: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class RunView:
    """The run of a playbook that a task carries.

    Attributes:
        run_id: Its own ID.
        status: ``pending``, ``running``, ``completed``, ``failed`` or ``rolled_back``.
    """

    run_id: str
    playbook: str
    status: str
    steps: tuple[RunStepView, ...]


# Begins what is said of what ended well by its exit code alone; in the chat it stands for ✓.
DOUBT: Final = "⚠ "


@dataclass(frozen=True, slots=True, kw_only=True)
class TaskRow:
    """What every list tells of a task.

    Attributes:
        claimed_user: Who is said to have asked.
        state: Of the seed's machine, such as ``WAITING_APPROVAL``.
        reason: How it ended; None before.
        summary: What the chat was told.
        created_at: Milliseconds since the epoch, as all moments here.
        retry_of: The task that it asks for again, by its long ID.
        rests: Whether its change is proposed and waits to be applied.
        version: Of its proposal; None of a first one.
        replaced_by: Short ID of the version that stands in place of what it proposed.
        part: Where it asks for a step of a playbook: which; None for what a person asked.
    """

    task_id: str
    short_id: str
    source: str
    channel: str
    claimed_user: str
    text: str
    workspace: str | None
    state: str
    reason: str | None
    summary: str | None
    created_at: int
    updated_at: int
    retry_of: str | None
    rests: bool
    version: int | None
    replaced_by: str | None
    part: RunPart | None = None

    @property
    def is_doubted(self) -> bool:
        """Whether it completed, and its runner reports failures."""
        return (self.summary or "").startswith(DOUBT)


@dataclass(frozen=True, slots=True, kw_only=True)
class ListedTask(TaskRow):
    """A task in a list.

    Attributes:
        expires_at: Until when its approval waits; None where none does.
    """

    expires_at: int | None


@dataclass(frozen=True, slots=True, kw_only=True)
class WaitingTask(TaskRow):
    """A task that waits for a decision, until a moment."""

    expires_at: int
    risk: str


@dataclass(frozen=True, slots=True, kw_only=True)
class TaskList:
    """Some tasks.

    Attributes:
        more: Whether there are more than are told.
    """

    tasks: tuple[ListedTask, ...]
    more: bool = False


# -- what was proposed ---------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Speech:
    """What a model said, apart from our words.

    Attributes:
        model: What the person calls it.
        no_edits: It made no change.
        not_taken: Its edits that were left out, a line for each.
        commands: What it suggests to run, which nothing has.
    """

    model: str
    text: str
    no_edits: bool
    not_taken: tuple[str, ...]
    commands: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class ProposedFile:
    """One file of a proposed change, counted by us."""

    path: str
    additions: int
    deletions: int
    encoding: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Turn:
    """One turn of a model; as `local_agent.store.turns` keeps it."""

    model: str
    at: int
    duration_ms: int
    input_tokens: int
    output_tokens: int
    calls: int
    outcome: str


@dataclass(frozen=True, slots=True)
class ModelContext:
    """How much a model was shown."""

    files: int
    bytes: int


@dataclass(frozen=True, slots=True, kw_only=True)
class ShownPiece:
    """One piece of text that a model was shown.

    Attributes:
        first_line: From 1; 0 where the lines are none of a file.
        cut: There is more of it, which was not shown; an older version did not tell.
    """

    kind: str
    path: str
    first_line: int
    lines: int
    bytes: int
    why: str
    cut: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class LeftOutFile:
    """What a model was not shown, and why."""

    path: str
    why: str
    size: int


@dataclass(frozen=True, slots=True, kw_only=True)
class ContextLimits:
    """How much a model is shown at most."""

    max_files: int
    max_file_bytes: int
    max_total_bytes: int


@dataclass(frozen=True, slots=True, kw_only=True)
class ContextView:
    """What was collected for a model, and what was not; as `propose.context` accounts for it.

    Attributes:
        left_out: The first of what is not shown; ``left_out_more`` counts the others.
        not_listed: How many files were not even looked at, by reason.
    """

    used: tuple[ShownPiece, ...]
    left_out: tuple[LeftOutFile, ...]
    left_out_more: int
    not_listed: Mapping[str, int]
    listing_truncated: bool
    bytes: int
    files: int
    limits: ContextLimits


# -- how it ended; what an older version did not keep is as if there were none -------------------


@dataclass(frozen=True, slots=True, kw_only=True)
class Output:
    """What a command printed.

    Attributes:
        tail: Its last lines.
        before: About how many bytes came before them.
        log_sha256: Blob of all of it; None where it is not kept.
    """

    lines: int = 0
    tail: str = ""
    before: int = 0
    log_sha256: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class TouchedFile:
    """One file that changed while a command ran.

    Attributes:
        link: It is a link.
        surface: Other programs would run what is in it.
    """

    path: str
    change: Literal["new", "changed", "deleted"]
    link: bool = False
    surface: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class TouchedFiles:
    """The files that changed while a command ran, counted, and the first of them."""

    new: int = 0
    changed: int = 0
    deleted: int = 0
    incomplete: bool = False
    rights_taken: tuple[str, ...] = ()
    listed: tuple[TouchedFile, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Run:
    """How a command ended.

    Attributes:
        command: On one line.
        sandbox: Level that it ran at; ``none`` means that it could change more than is listed.
        report: What a test runner or linter reported, as `reports.words.to_facts` writes it.
        files: None where it ran on a copy.
    """

    command: str = ""
    sandbox: str = ""
    started: bool = False
    code: str | None = None
    exit_code: int | None = None
    signal: int | None = None
    duration_ms: int = 0
    survivors: int = 0
    drift: tuple[str, ...] = ()
    report: Mapping[str, Any] | None = None
    output: Output = Output()
    files: TouchedFiles | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class WrittenFile:
    """One file of a change that was carried out."""

    op: Literal["add", "modify", "delete", "rename", "copy"]
    path: str
    old_path: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Mixture:
    """What each file is of a change that was cut off and then edited."""

    new: tuple[str, ...] = ()
    old: tuple[str, ...] = ()
    foreign: tuple[str, ...] = ()
    beside: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Change:
    """How a change or an undo ended.

    Attributes:
        undoes: Short ID of the task whose change it took back; None when it took none back.
        files: What was changed; empty unless it completed.
    """

    code: str | None = None
    drift: tuple[str, ...] = ()
    undoes: str | None = None
    files: tuple[WrittenFile, ...] = ()
    mixture: Mixture | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Sync:
    """How a commit and push ended.

    Attributes:
        committed: Id of the commit that was made; None when none was.
        pushed: Whether the remote has taken it; None where that is not known.
    """

    code: str | None = None
    drift: tuple[str, ...] = ()
    committed: str | None = None
    pushed: bool | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Ending:
    """How a task ended; nothing of it before.

    Attributes:
        said: In words, by language; None where the summary says it.
        run, change, sync: What was done; None where it was not.
    """

    said: Mapping[str, str] | None = None
    run: Run | None = None
    change: Change | None = None
    sync: Sync | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class TaskView(TaskRow):
    """A task with what was proposed and how it ended.

    Attributes:
        proposed: In words.
        details: All that an answer says.
        own: Of what is proposed, our own words; None where they are not told apart.
        speech: What a model said; None where none spoke.
        answered: Whether it was answered, with nothing to approve.
        proposal: Of what kind it is; None where there is none.
        files: The first files of a change; ``files_more`` counts the others.
        revises: Short ID of the version before.
        turns: Of models that worked on it.
        shown: None where nothing was collected.
        ending: How it ended, as the journal keeps it.
    """

    proposed: str | None
    details: str | None
    own: str | None
    speech: Speech | None
    answered: bool
    proposal: str | None
    files: tuple[ProposedFile, ...]
    files_more: int
    revises: str | None
    turns: tuple[Turn, ...]
    shown: ModelContext | None
    ending: Kept[Ending]

    @property
    def ended(self) -> Ending:
        """How it ended, as far as this version can read it."""
        return self.ending.view


@dataclass(frozen=True, slots=True, kw_only=True)
class ShownTask(TaskView):
    """A task that somebody looks at.

    Attributes:
        retry_of_short_id: The task that it asks for again, where its short ID still leads there.
        left_to_undo: What no undo has taken back of a change; None where none was applied.
        playbook_run: The run that it carries; None where it carries none.
    """

    retry_of_short_id: str | None
    left_to_undo: tuple[str, ...] | None
    playbook_run: RunView | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Watched:
    """The last of what is told to whoever watches a task."""

    task: TaskView
