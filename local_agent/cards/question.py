"""What an approval dialog puts before a person: read from the sealed bytes, from nothing else.

Every dialog (terminal, window) starts from a `Question` and shows all of it.  The digest is
computed here, over the bytes that are shown, and so is that of the diff; what the agent says they
are only has to agree.
"""

from __future__ import annotations

import hashlib
import hmac
from collections.abc import Mapping, Sequence
from typing import Any

from common import seal as sealing
from common.diff.model import DiffModel
from common.diff.parse import parse_diff
from common.errors import AuthError, RemoteProtocolError
from common.seal import SealedChange, read_changes
from local_agent.actions.registry import ACTIONS, read_seal
from local_agent.safety.action_facts import parts_of
from local_agent.views.question import ApprovalView, Question


def diff_names(seal: sealing.Seal) -> tuple[str, ...]:
    """Return the SHA-256 of each diff that belongs to a seal, in the order of its parts."""
    names = map(_diff_name, parts_of(seal, ACTIONS))
    return tuple(name for name in names if name is not None)


def names_diff(told: ApprovalView) -> bool:
    """Tell whether a diff belongs to what is asked, and is to be fetched before it is read.

    Raises:
        RemoteProtocolError: the seal cannot be read.
    """
    return bool(diff_names(read_seal(told.seal.encode("utf-8", "replace"))))


def joined(diffs: Sequence[bytes]) -> bytes:
    """Return diffs as one, each from the beginning of a line on."""
    *before, last = diffs
    return b"".join(one if one.endswith(b"\n") else one + b"\n" for one in before) + last


def read_question(told: ApprovalView, *, diff: bytes | None = None) -> Question:
    """Build the question from what the agent tells, and believe of it what was sealed.

    Args:
        told: As `local_agent.faces.telling` tells an approval.
        diff: The exact bytes of the diff that the seal names, of several as `joined`; None where
            it names none.

    Raises:
        AuthError: ``approval.digest-mismatch``: what was told, the sealed bytes, and the diff or
            the answer disagree.
        RemoteProtocolError: the seal cannot be read.
        InputError: ``diff.*``: the diff cannot be read, which none that was sealed should be.
    """
    if not told.seal.isascii():
        raise RemoteProtocolError("control.malformed", field="seal")
    sealed = told.seal.encode("ascii")
    digest = sealing.digest(sealed)
    if not hmac.compare_digest(digest.encode(), told.digest.encode("utf-8", "replace")):
        raise AuthError("approval.digest-mismatch")
    seal = read_seal(sealed)
    if seal.action == "steps":
        return Question(seal, digest, told, changes=(), parts=_parts(seal, digest, told, diff))
    return Question(
        seal=seal,
        digest=digest,
        told=told,
        changes=_changes(seal),
        diff=_sealed_diff(seal, diff),
        answer=_sealed_answer(seal, told.answer),
    )


def _parts(
    seal: sealing.Seal, digest: str, told: ApprovalView, diff: bytes | None
) -> tuple[Question, ...]:
    """Return what each step asks; what else is told is told of all of them together."""
    seals = parts_of(seal, ACTIONS) if seal.payload["steps"] else ()
    rest, found = diff, []
    for part in seals:
        own = None
        if (name := _diff_name(part)) is not None:
            own, rest = _taken(rest or b"", name)
        found.append(Question(part, digest, told, _changes(part), _sealed_diff(part, own)))
    if rest:
        raise AuthError("approval.digest-mismatch")
    return tuple(found)


def _taken(diffs: bytes, name: str) -> tuple[bytes, bytes]:
    """Return the diff of this SHA-256 from the beginning of several, and what comes after it."""
    found, end = hashlib.sha256(), 0
    for line in diffs.splitlines(keepends=True):
        body = line.removesuffix(b"\n")
        end += len(line)
        found.update(body)
        if _is_named(found, name) and body != line:
            return diffs[: end - 1], diffs[end:]
        found.update(line[len(body) :])
        if _is_named(found, name):
            return diffs[:end], diffs[end:]
    raise AuthError("approval.digest-mismatch")


def _is_named(found: hashlib._Hash, name: str) -> bool:
    return hmac.compare_digest(found.copy().hexdigest().encode(), name.encode())


def _diff_name(seal: sealing.Seal) -> str | None:
    holder = _diff_holder(seal)
    return str(holder["diff_sha256"]) if holder else None


def _sealed_diff(seal: sealing.Seal, diff: bytes | None) -> DiffModel | None:
    """Return the diff when its bytes are those that were sealed, and it tells of those files."""
    name = _diff_name(seal)
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
    return model.in_encodings({change.path: change.encoding for change in _changes(seal)})


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
