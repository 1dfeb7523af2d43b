"""What a person approves: one stored byte string, its digest and its short code (P2, R21).

    Seal ── seal_bytes ──▶ bytes ── digest ──▶ 64 hex digits ── short_code ──▶ 7K3F-9Q2M
      ▲                      │
      └────── read_seal ─────┘

The bytes are written once and never again; whoever shows or runs anything starts from them.  Pure:
approval ids, nonces and times come in as arguments.  Who may decide is `local_agent.flow.gate`'s
matter.  What an action alone seals stands in its folder: whoever reads or writes seals hands in how
the payload of each is checked (`local_agent.actions.registry`), and no seal has one that was not.
Here are also the checks of closed shapes that both are written with, each field known, present and
of its type (R2), and the records that seals of several actions hold.
"""

from __future__ import annotations

import hashlib
import hmac
import re
import unicodedata
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass, fields
from typing import Any, Final, Literal

from common.errors import RemoteProtocolError
from common.ids import CROCKFORD
from common.signing import APPROVAL
from common.strict_json import canonical, loads

# --- closed shapes: each field of a stored record known, present and of its type ---

_HEX64: Final = re.compile(r"[0-9a-f]{64}")
_OID: Final = re.compile(r"[0-9a-f]{40}|[0-9a-f]{64}")
_DECIMAL: Final = re.compile(r"0|[1-9][0-9]{0,19}")

Check = Callable[[Any], bool]
Shape = Mapping[str, Check]


def require(field: str, holds: bool) -> None:
    """Return when it holds.

    Raises:
        RemoteProtocolError: ``seal.malformed`` with ``field``.
    """
    if not holds:
        raise RemoteProtocolError("seal.malformed", field=field)


def check_shape(name: str, value: Any, shape: Shape) -> None:
    """Require exactly the named fields, each as its check wants it.

    Raises:
        RemoteProtocolError: ``seal.malformed`` with ``field``.
    """
    require(name, isinstance(value, dict) and value.keys() == shape.keys())
    for field, check in shape.items():
        require(f"{name}.{field}", check(value[field]))


def check_each(name: str, values: list[Any], shape: Shape) -> None:
    """Require that each of a list is of a shape; as `check_shape`."""
    for value in values:
        check_shape(name, value, shape)


def is_text(value: object) -> bool:
    return isinstance(value, str)


def is_count(value: object) -> bool:
    # A bool is an int to Python, and never to a seal.
    return type(value) is int and value >= 0


def is_decimal(value: object) -> bool:
    return isinstance(value, str) and _DECIMAL.fullmatch(value) is not None


def is_hash(value: object) -> bool:
    return isinstance(value, str) and _HEX64.fullmatch(value) is not None


def is_oid(value: object) -> bool:
    return isinstance(value, str) and _OID.fullmatch(value) is not None


def is_texts(value: object) -> bool:
    return isinstance(value, list) and all(isinstance(item, str) for item in value)


def is_list(value: object) -> bool:
    return isinstance(value, list)


def is_filled_list(value: object) -> bool:
    return isinstance(value, list) and bool(value)


def is_mapping(value: object) -> bool:
    return isinstance(value, dict)


def one_of(*allowed: object) -> Check:
    # Compared with the type, because True == 1.
    return lambda value: any(type(value) is type(item) and value == item for item in allowed)


def or_none(check: Check) -> Check:
    return lambda value: value is None or check(value)


# --- records that seals of several actions hold, and how they are stored ---

Op = Literal["add", "modify", "delete", "rename", "copy"]
Mode = Literal["100644", "100755"]


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
    """

    op: Op
    path: str
    old_path: str | None
    old_sha256: str | None
    old_mode: Mode | None
    new_sha256: str | None
    new_mode: Mode | None
    size: int


@dataclass(frozen=True, slots=True, kw_only=True)
class SealedCommit:
    """The commit that a sync makes before it pushes.

    Attributes:
        tree: Id of the tree it will hold; the commit's own id depends on its time.
        diff_sha256: Of the diff from the head to that tree, as shown.
    """

    message: str
    tree: str
    author: str
    email: str
    diff_sha256: str
    changes: tuple[SealedChange, ...]


@dataclass(frozen=True, slots=True)
class ReadFile:
    """A file that an answer is based on.

    Attributes:
        sha256: Of what was shown of it, secrets taken out; None where only its name was used.
    """

    path: str
    sha256: str | None = None


def read_changes(payload: Mapping[str, Any]) -> tuple[SealedChange, ...]:
    """Return the changes of a sealed change, undo, or commit."""
    return tuple(SealedChange(**change) for change in payload["changes"])


def stored_change(change: SealedChange) -> dict[str, Any]:
    """Return a change as it is sealed."""
    # `asdict` copies deeply, and takes longer for 500 changes than to read their files.
    return {name: getattr(change, name) for name in _CHANGE_FIELDS}


def stored_place(place: Place) -> dict[str, str]:
    """Return name and identity as they are sealed."""
    # 64-bit inode numbers do not fit a JSON integer, so they are decimal text.
    return {"path": place.path, "dev": str(place.dev), "ino": str(place.ino)}


PLACE: Final[Shape] = {"path": is_text, "dev": is_decimal, "ino": is_decimal}
_MODES: Final = ("100644", "100755", None)
CHANGE: Final[Shape] = {
    "op": one_of("add", "modify", "delete", "rename", "copy"),
    "path": is_text,
    "old_path": or_none(is_text),
    "old_sha256": or_none(is_hash),
    "old_mode": one_of(*_MODES),
    "new_sha256": or_none(is_hash),
    "new_mode": one_of(*_MODES),
    "size": is_count,
}
_CHANGE_FIELDS: Final = tuple(field.name for field in fields(SealedChange))


# --- the seal ---

Action = Literal["run_command", "apply_diff", "undo", "git_sync", "disclose", "steps"]
Undo = Literal["yes", "no", "partly"]
# Of each action that may be sealed: what returns when a payload is of its closed shape, and else
# raises ``seal.malformed`` with ``field``.
Payloads = Mapping[str, Callable[[Mapping[str, Any]], None]]

MAX_SEAL_BYTES: Final = 1024 * 1024  # 500 changes with long names
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

    channel: str
    claimed_user: str
    gateway_key_id: str
    envelope_sha256: str


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

    approval_id: str
    task_id: str
    short_id: str
    version: int
    agent_id: str
    workspace: Place
    git_head: str | None
    source: Source
    policy_sha256: str
    action: Action
    payload: Mapping[str, Any]
    base: Mapping[str, str]
    undo: Undo
    discloses: tuple[str, ...]
    created_at: int
    expires_at: int
    nonce: str
    v: int = 1


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
    check_shape("seal", value, {**_SEAL, "action": one_of(*payloads)})
    check_shape("workspace", value["workspace"], PLACE)
    check_shape("source", value["source"], _SOURCE)
    payloads[value["action"]](value["payload"])
    for found in value["base"].values():
        require("base", is_hash(found) or found == "absent")
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
    folded = "".join(
        char
        for char in unicodedata.normalize("NFKC", typed[:64]).upper()
        if not (char.isspace() or unicodedata.category(char) == "Pd" or char in _MINUS_SIGNS)
    ).translate(_LOOKALIKE)
    code = short_code(digest_hex).replace("-", "")
    wanted = code if both_groups or len(folded) > GROUP else code[:GROUP]
    return hmac.compare_digest(folded.encode("utf-8", "replace"), wanted.encode())


_SOURCE: Final[Shape] = dict.fromkeys(
    ("channel", "claimed_user", "gateway_key_id", "envelope_sha256"), is_text
)
_SEAL: Final[Shape] = {
    "v": one_of(1),
    "approval_id": is_text,
    "task_id": is_text,
    "short_id": is_text,
    "version": is_count,
    "agent_id": is_text,
    "workspace": is_mapping,
    "git_head": or_none(is_text),
    "source": is_mapping,
    "policy_sha256": is_hash,
    "action": is_text,  # and one that has a payload
    "payload": is_mapping,
    "base": is_mapping,
    "undo": one_of("yes", "no", "partly"),
    "discloses": is_texts,
    "created_at": is_count,
    "expires_at": is_count,
    "nonce": is_text,
}
