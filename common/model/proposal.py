"""What is proposed and what it would need (seed 002 §3.3), and the events that tell it (§7).

Every face reads the events.
"""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field, JsonValue, TypeAdapter

from common.model.intent import SeedModel, TaskIntent
from common.model.state import Reason, Status, TaskState
from common.seal import Action


class Plan(SeedModel):
    """What would be done, in words."""

    type: Literal["plan"] = "plan"
    text: str


class Answer(SeedModel):
    """An answer that changes nothing."""

    type: Literal["answer"] = "answer"
    text: str


class SearchItem(SeedModel):
    """One place found."""

    path: str
    preview: str | None = None


class SearchResults(SeedModel):
    """Places found by a search."""

    type: Literal["search_results"] = "search_results"
    items: tuple[SearchItem, ...]


class CommandProposal(SeedModel):
    """A command to be approved and run on this machine.

    Attributes:
        cmd: The display form.
        argv: What runs, one item per argument; absent when ``cmd`` is a line for a shell.
        cwd: Directory relative to the workspace; absent for its root.
        timeout_s: Seconds until it is ended; absent for the usual ones.  Our addition.
        reason: Why it is proposed.
        named_by: The project file that names it, where no person did.  Our addition.
        named_as: What in that file names it.  Our addition.
        stdin: What it reads; absent for nothing.  Our addition.
    """

    type: Literal["command"] = "command"
    cmd: str
    argv: tuple[str, ...] | None = None
    cwd: str | None = None
    timeout_s: int | None = Field(default=None, ge=1)
    reason: str | None = None
    named_by: str | None = None
    named_as: str | None = None
    stdin: str | None = None


class DiffFileSummary(SeedModel):
    """One file of a proposed change, counted by us; absent, its encoding is UTF-8."""

    path: str
    additions: int = Field(ge=0)
    deletions: int = Field(ge=0)
    encoding: str | None = None


class Diff(SeedModel):
    """A proposed change.

    Attributes:
        diff_id: SHA-256 of its exact bytes, under which the blob store keeps them.
        unified_diff: For display, clipped; bytes that are no text show as ``�``.
    """

    type: Literal["diff"] = "diff"
    diff_id: str
    unified_diff: str
    files: tuple[DiffFileSummary, ...]


class Undo(SeedModel):
    """The reverse of a change that was applied.

    Attributes:
        task: Short ID of the task whose change it takes back.
        paths: The files to take back; absent for all of them.
        part: Which of the several operations of that task, from 0; absent where it was one.
        through: SHA-256 of files that a command of the same run has changed since, by path: as it
            left them they are taken back as well.  Our addition.
    """

    type: Literal["undo"] = "undo"
    task: str
    paths: tuple[str, ...] | None = None
    part: int | None = Field(default=None, ge=0)
    through: dict[str, str] | None = None


class GitSync(SeedModel):
    """A commit and a push, or a push alone; what exactly is looked up when it is sealed.

    Attributes:
        message: Of the commit; absent where it is made from the files.
    """

    type: Literal["git_sync"] = "git_sync"
    message: str | None = None
    files: tuple[DiffFileSummary, ...] = ()


class ReadFile(SeedModel):
    """A file that an answer is based on.

    Attributes:
        sha256: Of what was shown of it; absent where only its name was used.
    """

    path: str
    sha256: str | None = None


class Release(SeedModel):
    """An answer that leaves this machine only once a person there has released it.

    Attributes:
        text: Exactly what would be told.
        files: What it is based on.
        more: Files that it is based on besides.
    """

    type: Literal["release"] = "release"
    text: str
    files: tuple[ReadFile, ...] = ()
    more: int = Field(default=0, ge=0)


class StepPart(SeedModel):
    """One step of several that are asked for together.

    Attributes:
        index: Which step of the playbook it is, from 0.
        name: What the playbook calls it.
    """

    index: int = Field(ge=0)
    name: str
    action: Literal["run_command", "apply_diff", "undo"]
    proposal: Annotated[CommandProposal | Diff | Undo, Field(discriminator="type")]


class Steps(SeedModel):
    """Steps of a playbook that one approval covers, to be carried out in this order; or none.

    Attributes:
        run: Id of the run they belong to.
        definition_sha256: Of the playbook's file, as the run has it.
        playbook: Its name.
        total: How many steps it has.
        message: Of its gate, with marks where something was put in; empty where none asks.
        inserted: What was put in, each with where it is from.
        in_workspace: Its file lies in a workspace.
    """

    type: Literal["steps"] = "steps"
    run: str
    definition_sha256: str
    playbook: str
    total: int = Field(ge=1)
    message: str = ""
    inserted: tuple[tuple[str, str], ...] = ()
    in_workspace: Literal[True] | None = None
    parts: tuple[StepPart, ...] = ()


class RunStep(SeedModel):
    """Which step of a playbook a proposal is; as `Steps` tells of several.

    Attributes:
        index: From 0.
        name: What the playbook calls it.
    """

    playbook: str
    index: int = Field(ge=0)
    name: str
    total: int = Field(ge=1)
    message: str = ""
    in_workspace: Literal[True] | None = None


Proposal = Annotated[
    Plan | Answer | SearchResults | CommandProposal | Diff | Undo | GitSync | Release | Steps,
    Field(discriminator="type"),
]


class NoRequirement(SeedModel):
    """Safe: nothing on the machine is touched."""

    mode: Literal["none"] = "none"


class LocalApproval(SeedModel):
    """Needs a confirmation on this machine (P1)."""

    mode: Literal["local_approval"] = "local_approval"
    action: Action


ExecutionRequirement = Annotated[NoRequirement | LocalApproval, Field(discriminator="mode")]


class Speech(SeedModel):
    """What a model said with a proposal: its own words, and no sentence of ours.

    Attributes:
        model: What the person calls it.
        text: Its words; empty where it said nothing.
        no_edits: A change was asked for, and it made none that may be made.
        not_taken: Its edits that were left out, a line for each, in the language of the task.
        commands: What it suggests to run, which nothing has.
    """

    model: str
    text: str = ""
    no_edits: Literal[True] | None = None
    not_taken: tuple[str, ...] | None = None
    commands: tuple[str, ...] | None = None


class TaskResult(SeedModel):
    """A proposal with its requirement and its words.

    Attributes:
        summary: Short, for the chat: no file content, no giant diff.
        details: Long, for this machine's own faces; never leaves it.
        own: Of the summary what is ours, without a model's words and the rows of files; absent
            where all of it is.  Our addition.
        speech: What a model said; absent where none spoke, or in what is older than this field.
            Our addition.
        not_done: Nothing of what was asked is done, and the summary says why; such a task ends as
            refused and not as completed (P7).  Our addition; absent where it is false.
        revises: Short ID of the task whose proposal it makes anew.  Our addition.
        version: Its number among those versions; absent for the first.  Our addition.
        rests: It was asked for at this machine, and waits there for *Apply*.  Our addition.
        workspace: Path of the workspace that it is about; absent without one.  Our addition.
        run: Which step of a playbook it is; absent where it is none.  Our addition.
    """

    task_id: str
    intent: TaskIntent
    proposal: Proposal
    requires: ExecutionRequirement
    summary: str
    details: str | None = None
    own: str | None = None
    speech: Speech | None = None
    not_done: Literal[True] | None = None
    revises: str | None = None
    version: int | None = Field(default=None, ge=2)
    rests: Literal[True] | None = None
    workspace: str | None = None
    run: RunStep | None = None


class _OfTask(SeedModel):
    thread_id: str
    task_id: str


class TaskStart(_OfTask):
    """The task was understood."""

    type: Literal["task_start"] = "task_start"
    intent: TaskIntent


class TaskStateChanged(_OfTask):
    """The task is in a state; told again with a message while work goes on."""

    type: Literal["task_state"] = "task_state"
    state: TaskState
    message: str | None = None


class TaskStreamChunk(_OfTask):
    """A piece of a growing text, for this machine's own faces."""

    type: Literal["task_stream_chunk"] = "task_stream_chunk"
    message_id: str
    chunk: str


class TaskProposed(_OfTask):
    """The proposal stands."""

    type: Literal["task_proposal"] = "task_proposal"
    result: TaskResult


class TaskEnd(_OfTask):
    """The task is over.  ``reason`` is our addition beside the seed's three statuses (P7)."""

    type: Literal["task_end"] = "task_end"
    status: Status
    reason: Reason | None = None


class PlaybookEvent(_OfTask):
    """What a run tells, step by step, as seed 003 has it (`local_agent.playbooks.executor`)."""

    type: Literal["playbook_event"] = "playbook_event"
    event: dict[str, JsonValue]


TaskEvent = Annotated[
    TaskStart | TaskStateChanged | TaskStreamChunk | TaskProposed | TaskEnd | PlaybookEvent,
    Field(discriminator="type"),
]

_EVENT: TypeAdapter[TaskEvent] = TypeAdapter(TaskEvent)


def parse_event(text: str | bytes) -> TaskEvent:
    """Read one event from its JSON text.

    Raises:
        pydantic.ValidationError: it is none of them, or has unknown fields.
    """
    return _EVENT.validate_json(text)
