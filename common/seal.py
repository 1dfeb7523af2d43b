"""What a person approves: one stored byte string, its digest and its short code (P2, R21).

    Seal ── seal_bytes ──▶ bytes ── digest ──▶ 64 hex digits ── short_code ──▶ 7K3F-9Q2M
      ▲                      │
      └────── read_seal ─────┘

The bytes are written once and never again; whoever shows or runs anything starts from them.  Pure:
approval ids, nonces and times come in as arguments.  Who may decide is `local_agent.flow.gate`'s
matter.  What an action alone seals stands in its folder: whoever reads or writes seals hands in how
the payload of each is checked (`local_agent.actions.registry`), and no seal has one that was not.
Here are also the records that seals of several actions hold; all are closed (`common.records`).
"""

from __future__ import annotations

import hashlib
import hmac
import unicodedata
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass
from typing import Annotated, Any, Final, Literal, get_args

from common.encodings import CODECS
from common.errors import RemoteProtocolError
from common.ids import CROCKFORD
from common.records import (
    COUNT,
    LIST,
    OID,
    RECORD,
    SHA256_HEX,
    TEXT,
    TEXTS,
    Fields,
    fields_of,
    filled,
    first_fault,
    integer,
    matching,
    one_of,
    or_none,
)
from common.signing import APPROVAL
from common.strict_json import canonical, loads

# --- what is wrong with a seal has one code ---


def require(field: str, holds: bool) -> None:
    """Return when it holds.

    Raises:
        RemoteProtocolError: ``seal.malformed`` with ``field``.
    """
    if not holds:
        raise RemoteProtocolError("seal.malformed", field=field)


def check_record(name: str, value: object, fields: Fields) -> None:
    """Require exactly these fields, each as its check wants it.

    Raises:
        RemoteProtocolError: ``seal.malformed`` with ``field``.
    """
    fault = first_fault(value, fields)
    require(f"{name}.{fault}" if fault else name, fault is None)


def check_each(name: str, values: list[Any], fields: Fields) -> None:
    """Require that each of a list has these fields; as `check_record`."""
    for value in values:
        check_record(name, value, fields)


# --- records that seals of several actions hold, and how they are stored ---

Op = Literal["add", "modify", "delete", "rename", "copy"]
Mode = Literal["100644", "100755"]
_MODE: Final = or_none(one_of(get_args(Mode)))


@dataclass(frozen=True, slots=True)
class Place:
    """A file or folder by name and by identity, so that a swap shows."""

    path: str
    dev: int
    ino: int


@dataclass(frozen=True, slots=True, kw_only=True)
class SealedChange:
    """What becomes of one file, by content.

    Attributes:
        path: Where the content is afterwards; for ``delete`` where it was.
        old_path: Where the content comes from; None for ``add``.
        old_sha256: Of the content there before; None for ``add``.
        old_mode: As it was; None for ``add``.
        new_sha256: Of the content afterwards; None for ``delete``.
        new_mode: As it will be; None for ``delete``.
        size: Bytes afterwards; 0 for ``delete``.
        encoding: In which it is text, before and afterwards; None for UTF-8, and for what is no
            text.  It is stored where there is one.
    """

    op: Annotated[Op, one_of(get_args(Op))]
    path: Annotated[str, TEXT]
    old_path: Annotated[str | None, or_none(TEXT)]
    old_sha256: Annotated[str | None, or_none(SHA256_HEX)]
    old_mode: Annotated[Mode | None, _MODE]
    new_sha256: Annotated[str | None, or_none(SHA256_HEX)]
    new_mode: Annotated[Mode | None, _MODE]
    size: Annotated[int, COUNT]
    encoding: Annotated[str | None, one_of(CODECS)] = None


@dataclass(frozen=True, slots=True, kw_only=True)
class SealedCommit:
    """The commit that a sync makes before it pushes.

    Attributes:
        tree: Id of the tree it will hold; the commit's own id depends on its time.
        diff_sha256: Of the diff from the head to that tree, as shown.
    """

    message: Annotated[str, TEXT]
    tree: Annotated[str, OID]
    author: Annotated[str, TEXT]
    email: Annotated[str, TEXT]
    diff_sha256: Annotated[str, SHA256_HEX]
    changes: Annotated[tuple[SealedChange, ...], filled(LIST)]


@dataclass(frozen=True, slots=True)
class ReadFile:
    """A file that an answer is based on.

    Attributes:
        sha256: Of what was shown of it, secrets taken out; None where only its name was used.
    """

    path: Annotated[str, TEXT]
    sha256: Annotated[str | None, or_none(SHA256_HEX)] = None


def read_changes(payload: Mapping[str, Any]) -> tuple[SealedChange, ...]:
    """Return the changes of a sealed change, undo, or commit."""
    return tuple(SealedChange(**change) for change in payload["changes"])


def stored_change(change: SealedChange) -> dict[str, Any]:
    """Return a change as it is sealed."""
    # `asdict` copies deeply, and takes longer for 500 changes than to read their files.
    return {name: getattr(change, name) for name in _change_fields(change.encoding is not None)}


def check_changes(values: list[Any]) -> None:
    """Require that each of a list is a stored change; as `check_record`."""
    for value in values:
        check_record("changes", value, _change_fields("encoding" in value))


def _change_fields(encoded: bool) -> Fields:
    return CHANGE if encoded else _PLAIN_CHANGE


def stored_place(place: Place) -> dict[str, str]:
    """Return name and identity as they are sealed."""
    # 64-bit inode numbers do not fit a JSON integer, so they are decimal text.
    return {"path": place.path, "dev": str(place.dev), "ino": str(place.ino)}


CHANGE: Final = fields_of(SealedChange)
_PLAIN_CHANGE: Final = {name: check for name, check in CHANGE.items() if name != "encoding"}
_DECIMAL: Final = matching(r"0|[1-9][0-9]{0,19}")
PLACE: Final[Fields] = {"path": TEXT, "dev": _DECIMAL, "ino": _DECIMAL}


# --- the seal ---

Action = Literal["run_command", "apply_diff", "undo", "git_sync", "disclose", "steps"]
Undo = Literal["yes", "no", "partly"]
# Of each action that may be sealed: what returns when a payload is of its closed shape, and else
# raises ``seal.malformed`` with ``field``.
Payloads = Mapping[str, Callable[[Mapping[str, Any]], None]]

MAX_SEAL_BYTES: Final = 1024 * 1024  # 500 changes with long names
BASE: Final = matching(r"[0-9a-f]{64}|absent")  # what an action starts from
GROUP: Final = 4  # characters in each of the two groups of the short code

_CODE_BYTES: Final = 5  # 8 Crockford characters of 5 bits
_LOOKALIKE: Final = str.maketrans({"O": "0", "I": "1", "L": "1"})
_MINUS_SIGNS: Final = "\u2212\u30fc_"  # dashes by use, though not by Unicode category


@dataclass(frozen=True, slots=True)
class Source:
    """Who is said to have asked: the gateway's claim, never verified on this machine.

    Attributes:
        gateway_key_id: Whose signature brought it; empty when asked on this machine.
        envelope_sha256: Hash of the signed message; empty when asked on this machine.
    """

    channel: Annotated[str, TEXT]
    claimed_user: Annotated[str, TEXT]
    gateway_key_id: Annotated[str, TEXT]
    envelope_sha256: Annotated[str, TEXT]


@dataclass(frozen=True, slots=True, kw_only=True)
class Seal:
    """Everything that one approval covers.

    Attributes:
        version: Number of the proposal within its task, from 1.
        git_head: Commit id of the workspace, or None where there is none.
        policy_sha256: Hash of the local policy under which it was proposed.
        payload: What will be done, as the action's own folder writes it.
        base: Path to SHA-256 (or ``absent``) of each file the action starts from.
        undo: Whether it can be taken back; a command is always ``no`` (P5).
        discloses: What goes to the chat afterwards, such as ``output-tail``.
        created_at: Milliseconds since the epoch.
        expires_at: Milliseconds since the epoch; no decision to approve after it.
        nonce: Random; makes the digest unguessable before it is shown.
    """

    v: Annotated[int, integer(1, 1)] = 1
    approval_id: Annotated[str, TEXT]
    task_id: Annotated[str, TEXT]
    short_id: Annotated[str, TEXT]
    version: Annotated[int, COUNT]
    agent_id: Annotated[str, TEXT]
    workspace: Annotated[Place, RECORD]
    git_head: Annotated[str | None, or_none(TEXT)]
    source: Annotated[Source, RECORD]
    policy_sha256: Annotated[str, SHA256_HEX]
    action: Annotated[Action, TEXT]  # and one that has a payload
    payload: Annotated[Mapping[str, Any], RECORD]
    base: Annotated[Mapping[str, str], RECORD]
    undo: Annotated[Undo, one_of(get_args(Undo))]
    discloses: Annotated[tuple[str, ...], TEXTS]
    created_at: Annotated[int, COUNT]
    expires_at: Annotated[int, COUNT]
    nonce: Annotated[str, TEXT]


def seal_bytes(seal: Seal, payloads: Payloads) -> bytes:
    """Return the one stored form.

    Raises:
        RemoteProtocolError: ``seal.*``: it could not be read back; it is never stored.
    """
    raw = canonical(asdict(seal) | {"workspace": stored_place(seal.workspace)})
    read_seal(raw, payloads)
    return raw


def read_seal(raw: bytes, payloads: Payloads) -> Seal:
    """Read a stored seal; every field is known, present and of its type.

    Raises:
        RemoteProtocolError: ``seal.malformed`` with ``field``, or a ``json.*`` code.
    """
    value = loads(raw, max_bytes=MAX_SEAL_BYTES)
    check_record("seal", value, {**fields_of(Seal), "action": one_of(payloads)})
    check_record("workspace", value["workspace"], PLACE)
    check_record("source", value["source"], fields_of(Source))
    payloads[value["action"]](value["payload"])
    require("base", all(map(BASE, value["base"].values())))
    place = value["workspace"]
    return Seal(
        **value
        | {
            "workspace": Place(place["path"], int(place["dev"]), int(place["ino"])),
            "source": Source(**value["source"]),
            "discloses": tuple(value["discloses"]),
        }
    )


def digest(raw: bytes) -> str:
    """Return the digest of stored seal bytes: SHA-256 over label and bytes, as hex."""
    return hashlib.sha256(APPROVAL + raw).hexdigest()


def short_code(digest_hex: str) -> str:
    """Return the fingerprint for people: the first 40 bits, such as ``7K3F-9Q2M``."""
    number = int(digest_hex[: 2 * _CODE_BYTES], 16)
    code = "".join(CROCKFORD[(number >> shift) & 31] for shift in range(35, -1, -5))
    return f"{code[:GROUP]}-{code[GROUP:]}"


def code_matches(typed: str, digest_hex: str, *, both_groups: bool) -> bool:
    """Tell whether a person typed the code of this digest.

    Case, full-width forms, blanks, any dash, ``O`` for ``0`` and ``I`` or ``L`` for ``1`` are
    forgiven.  The whole code is always enough; its first group is, unless ``both_groups``.
    """
    folded = fold_code(typed)
    code = short_code(digest_hex).replace("-", "").encode()
    wanted = code if both_groups or len(folded) > GROUP else code[:GROUP]
    return hmac.compare_digest(folded, wanted)


def fold_code(typed: str) -> bytes:
    """Return the signs of a code as a person may have typed it; as `code_matches` forgives."""
    return (
        "".join(
            char
            for char in unicodedata.normalize("NFKC", typed[:64]).upper()
            if not (char.isspace() or unicodedata.category(char) == "Pd" or char in _MINUS_SIGNS)
        )
        .translate(_LOOKALIKE)
        .encode("utf-8", "replace")
    )
