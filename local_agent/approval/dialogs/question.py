"""What an approval dialog puts before a person: read from the sealed bytes, from nothing else.

Every dialog (terminal, window) starts from a `Question` and shows all of it.  The digest is
computed here, over the bytes that are shown, and so is that of the diff; what the agent says they
are only has to agree.
"""

from __future__ import annotations

import hashlib
import hmac
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from common import seal as sealing
from common.diff.model import DiffModel
from common.diff.parse import parse_diff
from common.errors import AuthError, RemoteProtocolError
from common.seal import SealedChange, read_changes
from local_agent.actions.registry import read_seal


@dataclass(frozen=True, slots=True)
class Check:
    """How trying a change out on a copy stands, or ended; the agent's word.

    Attributes:
        task: Short ID of the check.
        state: ``waiting``, ``running``, ``passed``, ``failed``, or the reason why it did not run.
        exit_code: None where there is none.
        duration_ms: None where it did not run.
        report: What its runner reported, as `report_texts.to_facts` writes it; None where no reader
            fits.
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
    """

    count: int
    paths: Sequence[str]


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
class Question:
    """One pending approval as a person must see it.

    Attributes:
        seal: Read from the sealed bytes.
        digest: Computed from the sealed bytes, here.
        text: The request as it arrived.
        machine: This machine's name.
        workspace: The workspace's name; its path is sealed.
        high_risk: Whether both groups of the code are needed.
        reasons: Codes of why the risk is high.
        pending: Whether a decision is still open.
        diff: What changes, line by line; None where no file's content is decided on.
        check: How the change did on a copy; None where it was not tried out.
        left_out: What the agent says was left out; None where it is the whole change.
        answer: What would be told the chat; None where nothing is released.
        said: What the model said of its change; None where none did.
        named: Where the command came from; None where a person named or set it.
        revision: Which version of a proposal it is; None of a first one.
        reason: Why the command is proposed; None where nobody says.
    """

    seal: sealing.Seal
    digest: str
    text: str
    machine: str
    workspace: str
    high_risk: bool
    reasons: tuple[str, ...]
    pending: bool
    diff: DiffModel | None = None
    check: Check | None = None
    left_out: LeftOut | None = None
    answer: str | None = None
    said: Said | None = None
    named: Named | None = None
    revision: Revision | None = None
    reason: CommandReason | None = None

    @property
    def code(self) -> str:
        """The fingerprint shown on every face."""
        return sealing.short_code(self.digest)

    @property
    def changes(self) -> tuple[SealedChange, ...]:
        """The files that change, as sealed; none for a command and for a push alone."""
        return _changes(self.seal)

    def accepts(self, typed: str) -> bool:
        """Tell whether ``typed`` is the code of what is shown, as far as the risk demands."""
        return sealing.code_matches(typed, self.digest, both_groups=self.high_risk)

    def is_half(self, typed: str) -> bool:
        """Tell whether ``typed`` is the first group of the code where both are demanded."""
        return not self.accepts(typed) and sealing.code_matches(
            typed, self.digest, both_groups=False
        )


def diff_name(seal: sealing.Seal) -> str | None:
    """Return the SHA-256 of the diff that belongs to a seal, or None where none does."""
    holder = _diff_holder(seal)
    return str(holder["diff_sha256"]) if holder else None


def read_question(shown: Mapping[str, Any], *, diff: bytes | None = None) -> Question:
    """Build the question from what the agent told over its control socket.

    Args:
        shown: As `local_agent.approval.telling` tells an approval.
        diff: The exact bytes of the diff that the seal names; None where it names none.

    Raises:
        AuthError: ``approval.digest-mismatch``: what was told, the sealed bytes, and the diff or
            the answer disagree.
        RemoteProtocolError: something is missing, or the seal cannot be read.
        InputError: ``diff.*``: the diff cannot be read, which none that was sealed should be.
    """
    try:
        sealed = shown["seal"].encode("ascii")
        told = shown["digest"].encode("ascii")
        risk: Literal["normal", "high"] = shown["risk"]
        reasons = tuple(str(reason) for reason in shown["reasons"])
        texts = {name: str(shown[name]) for name in ("text", "machine", "workspace")}
        state = shown["state"]
        check = Check(**shown["check"]) if shown.get("check") is not None else None
        left = LeftOut(**shown["left_out"]) if shown.get("left_out") is not None else None
        said = Said(**shown["said"]) if shown.get("said") is not None else None
        named = Named(**shown["named"]) if shown.get("named") is not None else None
        revision = Revision(**shown["revision"]) if shown.get("revision") is not None else None
        reason = CommandReason(**shown["reason"]) if shown.get("reason") is not None else None
        answer = str(shown["answer"]) if shown.get("answer") is not None else None
    except (KeyError, AttributeError, UnicodeEncodeError, TypeError):
        raise RemoteProtocolError("control.malformed") from None
    digest = sealing.digest(sealed)
    if not hmac.compare_digest(digest.encode(), told):
        raise AuthError("approval.digest-mismatch")
    seal = read_seal(sealed)
    return Question(
        seal=seal,
        digest=digest,
        # Whatever is not plainly of ordinary risk counts as high.
        high_risk=risk != "normal",
        reasons=reasons,
        pending=state == "pending",
        diff=_sealed_diff(seal, diff),
        check=check,
        left_out=left,
        answer=_sealed_answer(seal, answer),
        said=said,
        named=named,
        revision=revision,
        reason=reason,
        **texts,
    )


def _sealed_diff(seal: sealing.Seal, diff: bytes | None) -> DiffModel | None:
    """Return the diff when its bytes are those that were sealed, and it tells of those files."""
    name = diff_name(seal)
    if name is None and diff is None:
        return None
    found = hashlib.sha256(diff).hexdigest() if diff is not None else ""
    if not hmac.compare_digest(found.encode(), (name or "none").encode()):
        raise AuthError("approval.digest-mismatch")
    commits = seal.action == "git_sync"
    # A commit holds files of which no text can be shown, images for one, or nothing else.
    model = DiffModel(()) if commits and not diff else parse_diff(diff or b"")
    told = {(file.op, file.path, file.old_path) for file in model.files}
    sealed = {(change.op, change.path, change.old_path) for change in _changes(seal)}
    if not (told <= sealed if commits else told == sealed):
        raise AuthError("approval.digest-mismatch")
    return model


def _sealed_answer(seal: sealing.Seal, answer: str | None) -> str | None:
    """Return the answer when its bytes are those that were sealed."""
    sealed = seal.payload["answer_sha256"] if seal.action == "disclose" else None
    if sealed is None and answer is None:
        return None
    found = hashlib.sha256((answer or "").encode("utf-8", "replace")).hexdigest()
    if not hmac.compare_digest(found.encode(), str(sealed).encode()):
        raise AuthError("approval.digest-mismatch")
    return answer or ""


def _changes(seal: sealing.Seal) -> tuple[SealedChange, ...]:
    holder = _diff_holder(seal)
    return read_changes(holder) if holder else ()


def _diff_holder(seal: sealing.Seal) -> Mapping[str, Any] | None:
    """Return the part of the payload that names a diff and its files."""
    if seal.action == "git_sync":
        commit: Mapping[str, Any] | None = seal.payload["commit"]
        return commit
    return seal.payload if "diff_sha256" in seal.payload else None
