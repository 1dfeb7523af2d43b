"""What the local page is told beside the views of every face, as its modules read it.

The page cannot read a seal or a diff: both are read here and told as texts in both languages, and
as lines, old beside new.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from common.seal import Action, Op
from local_agent.views.question import Text, Verdict
from local_agent.views.status import StatusView
from local_agent.views.task import ListedTask, ShownTask


@dataclass(frozen=True, slots=True, kw_only=True)
class PageRow(ListedTask):
    """A task in the page's list.

    Attributes:
        run: The run that it carries, or a step of which it asks; None for most.
        is_step: It is a step, and stands with its run and not in the list.
    """

    run: str | None
    is_step: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class PageRows:
    """A page of the list."""

    tasks: tuple[PageRow, ...]
    more: bool


@dataclass(frozen=True, slots=True)
class PageMark:
    """What in a file deserves a second look, and at which line it first occurs."""

    line: int
    what: Text


@dataclass(frozen=True, slots=True, kw_only=True)
class PageFile:
    """A file that changes, without its lines.

    Attributes:
        is_text: Its lines can be shown.
        rows: How many there are to show.
        hunks: Parts of it that stand apart; some of them may be chosen.
        notes: What no line shows.
    """

    path: str
    op: Op
    old_path: str | None
    is_text: bool
    added: int
    removed: int
    rows: int
    hunks: int
    notes: tuple[Text, ...]
    marks: tuple[PageMark, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class PageQuestion:
    """A question as a person must see it; as `QuestionView`, with what a page can draw.

    Attributes:
        parts: Sections of facts, scripts, counts and steps, each under its ``type``.
        approve: On the button that approves it.
    """

    action: Action
    title: Text
    high_risk: bool
    code: str
    expires_at: int
    machine: str
    workspace: str
    place: str
    commit: str | None
    afar: bool
    asked_by: Text
    request: str
    parts: tuple[tuple[Mapping[str, Any], ...], ...]
    check: Verdict | None
    afterwards: Text
    undo: Text
    lasts: bool
    reasons: tuple[Text, ...]
    approve: Text


@dataclass(frozen=True, slots=True, kw_only=True)
class PageApproval:
    """How an approval stands.

    Attributes:
        code: Fingerprint of what is asked; the digest itself is told with what a passkey signs.
        approver: What decided: a face of the machine, or ``dry-run``; None until then.
        decided_at: When.
        blocked: Why nothing can be approved right now; empty where it can.
        unreadable: Why its question cannot be shown; None where it can.
    """

    approval_id: str
    code: str
    approver: str | None
    decided_at: int | None
    state: str
    blocked: str
    can_narrow: bool
    can_check: bool
    unreadable: Text | None


@dataclass(frozen=True, slots=True, kw_only=True)
class PageMoment:
    """One entry of a task's time line.

    Attributes:
        state: That it entered, or was in; None where it is about something else.
        message: As the chat was told.
    """

    seq: int
    at: int
    state: str | None
    message: str


@dataclass(frozen=True, slots=True, kw_only=True)
class PageTask:
    """All of a task.

    Attributes:
        row: As in the list.
        kind: What it was understood as; None before.
        streaming: What a model at work has said until now.
        approval: None where it never asked.
        question: None where it never asked, or what it asked cannot be shown.
        steps: The tasks that ask for steps of the run which it carries.
    """

    task: ShownTask
    row: PageRow
    kind: str | None
    timeline: tuple[PageMoment, ...]
    streaming: str
    approval: PageApproval | None
    question: PageQuestion | None
    files: tuple[PageFile, ...]
    steps: tuple[PageRow, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class PageVerb:
    """A command of the chat, for completion."""

    name: str
    en: str
    zh: str
    summary: Text


@dataclass(frozen=True, slots=True, kw_only=True)
class PageBoot:
    """What a tab needs before it can show anything.

    Attributes:
        words: All sentences by their keys, in that language.
        life: Of the agent, and the cursor within it from which a tab goes on.
        passkeys: Whether approval by passkey has been set up.
    """

    words: Mapping[str, str]
    lang: str
    theme: str
    prefix: str
    verbs: tuple[PageVerb, ...]
    status: StatusView
    passkeys: bool
    life: str
    cursor: int


@dataclass(frozen=True, slots=True, kw_only=True)
class PageStep:
    """A step of a playbook, as its author wrote it."""

    name: str
    type: str
    description: str
    tool: str | None
    condition: str | None


@dataclass(frozen=True, slots=True, kw_only=True)
class PagePlaybook:
    """A playbook.

    Attributes:
        origin: Whose it is.
        instead: It is the person's own and stands before a shipped one of this name.
        about: The beginning of its description.
        broken: Why it cannot be run; None where it can.
    """

    name: str
    origin: str
    instead: bool
    about: Text
    risk: str
    keywords: tuple[str, ...]
    steps: tuple[PageStep, ...]
    broken: Text | None


@dataclass(frozen=True, slots=True, kw_only=True)
class PageRun:
    """A run of a playbook, in a list."""

    task_id: str
    short_id: str
    task_name: str
    status: str
    client: str
    started_at: int | None
    current_step: int
    dry_run: bool
    ended: str | None


@dataclass(frozen=True, slots=True, kw_only=True)
class PagePlaybooks:
    """All playbooks, and the newest runs."""

    playbooks: tuple[PagePlaybook, ...]
    runs: tuple[PageRun, ...]
