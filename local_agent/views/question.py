"""An approval: what the agent tells of it, and what is asked, as an approver sees it.

`ApprovalView` travels, over the control socket and to the window.  `QuestionView` does not: each
face builds it (`local_agent.cards`) from the sealed bytes that it was told, and renders it.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal

from common.diff.model import DiffModel, FileDiff
from common.diff.view import Mark
from common.seal import Action, Op, Seal, SealedChange, code_matches, short_code
from common.sentences import Lang
from local_agent.views.task import ShownTask

# -- what the agent tells ------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Check:
    """How trying a change out on a copy stands, or ended; the agent's word.

    Attributes:
        task: Short ID of the check.
        state: ``waiting``, ``running``, ``passed``, ``failed``, or the reason why it did not run.
        exit_code: None where there is none.
        duration_ms: None where it did not run.
        report: What its runner reported, as `reports.words.to_facts` writes it; None where no
            reader fits.
    """

    task: str
    state: str
    exit_code: int | None
    duration_ms: int | None
    report: Mapping[str, Any] | None = None


@dataclass(frozen=True, slots=True)
class LeftOut:
    """Files that were asked for at first, before the person narrowed the change.

    Attributes:
        count: How many.
        paths: The first of them.
        partly: How many files are still there with other content than was asked for at first.
    """

    count: int
    paths: tuple[str, ...]
    partly: int = 0


@dataclass(frozen=True, slots=True)
class Said:
    """What a model said of its change: its words, which explain and decide nothing.

    Attributes:
        model: What the person calls it.
        text: Line by line.
        cut: More of it was said.
    """

    model: str
    text: str
    cut: bool


@dataclass(frozen=True, slots=True)
class Named:
    """Where a command came from that no person named; the agent's word.

    Attributes:
        file: The project file that names it.
        what: What in that file.
    """

    file: str
    what: str


@dataclass(frozen=True, slots=True)
class Revision:
    """Which version of a proposal this is; the agent's word, for orientation.

    Attributes:
        version: From 2.
        task: Short ID of the oldest version that is still known.
        wish: What is to be different in this version; empty where that is not known.
        first: The request of ``task`` as it arrived.
    """

    version: int
    task: str
    wish: str
    first: str


@dataclass(frozen=True, slots=True)
class CommandReason:
    """Why a command is proposed; it explains and decides nothing.

    Attributes:
        text: On one line.
        model: Whose words they are; None where they are our own.
    """

    text: str
    model: str | None


@dataclass(frozen=True, slots=True)
class NamedStep:
    """A step of a playbook.

    Attributes:
        index: From 0.
    """

    index: int
    name: str


@dataclass(frozen=True, slots=True)
class RunStep:
    """Which steps of which playbook are asked about; the agent's word, for orientation.

    Attributes:
        total: How many steps the playbook has.
        steps: Those that are asked about, in order.
        message: Of its gate, in the words of its author; empty where none asks.
        inserted: What was put into it at ``⟨1⟩`` and so on, each with where it is from.
        in_workspace: Its file lies in a workspace, so that its text is not to be trusted.
    """

    playbook: str
    total: int
    steps: tuple[NamedStep, ...]
    message: str = ""
    in_workspace: bool = False
    inserted: tuple[tuple[str, str], ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class ApprovalView:
    """Everything that the agent tells of one approval; terminal and window are told the same.

    Attributes:
        digest: Of the sealed bytes; whoever shows them computes it again.
        seal: The sealed bytes, which are ASCII.
        risk: ``normal``; whatever else it is counts as high.
        reasons: Codes of why the risk is what it is.
        blocked: Why nothing can be approved right now; empty where it can.
        expires_at: Milliseconds since the epoch.
        text: The request as it arrived.
        machine: This machine's name.
        workspace: The workspace's name; its path is sealed.
        can_narrow: Whether some of the files can be accepted without the others.
        can_check: Whether it can be tried out on a copy first.
        check: How that went; None where it was not tried out.
        left_out: What was left out; None where it is the whole change.
        revision: Which version of a proposal it is; None of a first one.
        answer: What would be told the chat; None where nothing is released.
        said: What the model said of its change; None where none did.
        named: Where the command came from; None where a person named or set it.
        reason: Why the command is proposed; None where nobody says.
        run: Which steps of a playbook it is; None where it is none.
        approver: What decided: a face of the machine, or ``dry-run``, where the answers file or the
            rollback did and no person; None until then.
        decided_at: When.
    """

    approval_id: str
    short_id: str
    digest: str
    seal: str
    state: str
    risk: str
    reasons: tuple[str, ...]
    blocked: str
    expires_at: int
    text: str
    machine: str
    workspace: str
    can_narrow: bool
    can_check: bool
    check: Check | None = None
    left_out: LeftOut | None = None
    revision: Revision | None = None
    answer: str | None = None
    said: Said | None = None
    named: Named | None = None
    reason: CommandReason | None = None
    run: RunStep | None = None
    approver: str | None = None
    decided_at: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Shown:
    """A task and its newest approval, as they stand.

    Attributes:
        approval: None where it never asked for one.
    """

    task: ShownTask
    approval: ApprovalView | None


# -- what is asked -------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Question:
    """One pending approval as a person must see it.

    Attributes:
        seal: Read from the sealed bytes.
        digest: Computed from the sealed bytes, here.
        told: What else the agent tells of it.
        changes: The files that change, as sealed; none for a command and for a push alone.
        diff: What changes, line by line; None where no file's content is decided on.
        answer: What would be told the chat; None where nothing is released.
        parts: Of several operations each as a question of its own, in their order; their seals are
            parts of this one, and are decided on with it alone.
    """

    seal: Seal
    digest: str
    told: ApprovalView
    changes: tuple[SealedChange, ...]
    diff: DiffModel | None = None
    answer: str | None = None
    parts: tuple[Question, ...] = ()

    @property
    def high_risk(self) -> bool:
        """Whether both groups of the code are needed; so they are unless it is plainly ordinary."""
        return self.told.risk != "normal"

    @property
    def code(self) -> str:
        """The fingerprint shown on every face."""
        return short_code(self.digest)

    def accepts(self, typed: str) -> bool:
        """Tell whether ``typed`` is the code of what is shown, as far as the risk demands."""
        return code_matches(typed, self.digest, both_groups=self.high_risk)

    def is_half(self, typed: str) -> bool:
        """Tell whether ``typed`` is the first group of the code where both are demanded."""
        return not self.accepts(typed) and code_matches(typed, self.digest, both_groups=False)


Tone = Literal["plain", "strong", "quiet", "good", "danger", "alarm", "quoted"]
FactKind = Literal[
    "said",
    "named",
    "reason",
    "recipient",
    "based-on",
    "answer",
    "command",
    "stdin",
    "copy",
    "program",
    "folder",
    "environment",
    "sandbox",
    "network",
    "limits",
    "compared",
    "uncompared",
    "takes-back",
    "branch",
    "remote",
    "standing",
    "commit",
    "git",
    "run",
    "dry-run",
    "message",
    "step",
]
Effect = Literal["read-only", "local-write", "remote-write"]


@dataclass(frozen=True, slots=True)
class Text:
    """The same words in both languages."""

    en: str
    zh: str

    def to(self, lang: Lang) -> str:
        """Return it in one of them."""
        return self.zh if lang == "zh" else self.en


@dataclass(frozen=True, slots=True)
class Value:
    """One value of a fact.

    Attributes:
        tone: How much it weighs; ``quoted`` where the words are not ours.
    """

    text: Text
    tone: Tone = "plain"


@dataclass(frozen=True, slots=True)
class Fact:
    """Values under a label.

    Attributes:
        kind: Which fact it is; its label follows from it.
        exact: Whether they are to be kept to the character.
    """

    kind: FactKind
    values: tuple[Value, ...]
    exact: bool = False


@dataclass(frozen=True, slots=True)
class Lines:
    """Text to the character, line by line, each under its number."""

    parts: tuple[str, ...]
    first: int


@dataclass(frozen=True, slots=True)
class ChangedFile:
    """One file that changes.

    Attributes:
        diff: Its lines; None where its content is no text.
        notes: What no line shows.
        marks: What in its lines deserves a second look.
    """

    path: str
    op: Op
    old_path: str | None
    diff: FileDiff | None
    notes: tuple[Text, ...]
    marks: tuple[Mark, ...]


@dataclass(frozen=True, slots=True)
class Files:
    """All files that change.

    Attributes:
        count: How many, and how many lines come and go.
        only: That nothing else is touched; None where that is not promised.
        left_out: What the change was narrowed from; None where it is the whole.
    """

    files: tuple[ChangedFile, ...]
    count: Text
    only: Text | None
    left_out: Text | None


@dataclass(frozen=True, slots=True)
class Diff:
    """Every line that changes, as far as the files are text.

    Attributes:
        whole: Whether all of them are.
    """

    model: DiffModel
    whole: bool


@dataclass(frozen=True, slots=True)
class Step:
    """One step of several, and how far it reaches."""

    effect: Effect
    what: Text


@dataclass(frozen=True, slots=True)
class Steps:
    """What would be done, one after the other."""

    steps: tuple[Step, ...]


Part = Fact | Lines | Files | Diff | Steps


@dataclass(frozen=True, slots=True)
class Verdict:
    """How trying it out stands or ended, in words."""

    mark: str
    tone: Tone
    said: Text


@dataclass(frozen=True, slots=True, kw_only=True)
class QuestionView:
    """One pending approval as a person must see it, whatever shows it.

    Attributes:
        title: What is asked, in one line.
        code: The fingerprint shown on every face.
        place: Path of the workspace.
        commit: What it stands at; None outside a repository.
        afar: Whether somebody asked from elsewhere.
        asked_by: Who is said to have asked.
        request: As it arrived.
        parts: What would be done, in sections.
        check: None where it was not tried out.
        afterwards: What goes to the chat.
        undo: Whether and how it can be taken back.
        lasts: Whether it cannot.
        reasons: Why the risk is what it is.
    """

    action: Action
    short_id: str
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
    revision: Revision | None
    parts: tuple[tuple[Part, ...], ...]
    check: Verdict | None
    afterwards: Text
    undo: Text
    lasts: bool
    reasons: tuple[Text, ...]


@dataclass(frozen=True, slots=True)
class OneTimeCode:
    """A code for one approval by passkey, and what it is for; for a person alone, never the page.

    Attributes:
        task: Short ID.
        title: What is asked, in one line.
        code: Fingerprint of what is asked.
        once: What is typed on the page.
    """

    task: str
    title: Text
    code: str
    once: str
