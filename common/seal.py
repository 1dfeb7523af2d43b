"""What a person approves: one stored byte string, its digest and its short code (P2, R21).

    Seal ── seal_bytes ──▶ bytes ── digest ──▶ 64 hex digits ── short_code ──▶ 7K3F-9Q2M
      ▲                      │
      └────── read_seal ─────┘

The bytes are written once and never again; whoever shows or runs anything starts from them.  Pure:
approval ids, nonces and times come in as arguments.  Who may decide is `local_agent.approval`'s
matter.  The one action sealed today is ``run_command``; `read_seal` refuses any other.
"""

from __future__ import annotations

import hashlib
import hmac
import unicodedata
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any, Final, Literal

from common.errors import InputError
from common.ids import CROCKFORD
from common.seal_shape import check_seal
from common.signing import APPROVAL
from common.strict_json import canonical, loads

Action = Literal["run_command"]
Undo = Literal["yes", "no", "partly"]

MAX_SEAL_BYTES: Final = 256 * 1024
GROUP: Final = 4  # characters in each of the two groups of the short code

_CODE_BYTES: Final = 5  # 8 Crockford characters of 5 bits
_LOOKALIKE: Final = str.maketrans({"O": "0", "I": "1", "L": "1"})
_MINUS_SIGNS: Final = "\u2212\u30fc_"  # dashes by use, though not by Unicode category


@dataclass(frozen=True, slots=True)
class Place:
    """A file or folder by name and by identity, so that a swap shows."""

    path: str
    dev: int
    ino: int


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
        payload: What will be done; for a command, `command_payload`.
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


@dataclass(frozen=True, slots=True)
class Executable:
    """The program that will run, resolved.

    Attributes:
        sha256: Hash of its content when it lies in the workspace, else None.
    """

    path: str
    dev: int
    ino: int
    sha256: str | None


def command_payload(
    *,
    argv: Sequence[str] | None = None,
    shell: str | None = None,
    script: str | None = None,
    cwd: str,
    env: Mapping[str, str],
    executable: Executable,
    sandbox_level: str,
    profile_sha256: str,
    network: bool,
    timeout_s: int,
    output_cap: int,
) -> dict[str, Any]:
    """Return the sealed form of a command: ``argv``, or ``shell`` and ``script``, never both.

    Args:
        argv: Program and arguments, run without a shell (R42).
        shell: Absolute path of the shell that reads ``script``.
        script: The shell line.
        cwd: Relative to the workspace, ``.`` for its top.
        env: The whole environment; its names are shown, its values only hashed.
        executable: What ``argv[0]`` or ``shell`` resolves to.
        sandbox_level: ``bubblewrap`` or ``none``.
        profile_sha256: Hash of the sandbox profile.
        network: Whether the command can reach the network (R51).
        timeout_s: Seconds until it is ended.
        output_cap: Bytes kept of each stream.

    Raises:
        InputError: ``seal.command-form`` when neither or both forms are given.
    """
    if (argv is None) == (script is None) or (shell is None) != (script is None):
        raise InputError("seal.command-form")
    what = {"argv": list(argv)} if argv is not None else {"shell": shell, "script": script}
    return what | {
        "cwd": cwd,
        "env_names": sorted(env),
        "env_sha256": hashlib.sha256(canonical(dict(env))).hexdigest(),
        "executable": _stored(executable) | {"sha256": executable.sha256},
        "sandbox": {"level": sandbox_level, "profile_sha256": profile_sha256},
        "network": network,
        "timeout": timeout_s,
        "output_cap": output_cap,
    }


def seal_bytes(seal: Seal) -> bytes:
    """Return the one stored form.

    Raises:
        RemoteProtocolError: ``seal.*``: it could not be read back; it is never stored.
    """
    raw = canonical(asdict(seal) | {"workspace": _stored(seal.workspace)})
    read_seal(raw)
    return raw


def read_seal(raw: bytes) -> Seal:
    """Read a stored seal; every field is known, present and of its type.

    Raises:
        RemoteProtocolError: ``seal.malformed`` with ``field``, or a ``json.*`` code.
    """
    value = loads(raw, max_bytes=MAX_SEAL_BYTES)
    check_seal(value)
    found = value["workspace"]
    return Seal(
        **value
        | {
            "workspace": Place(found["path"], int(found["dev"]), int(found["ino"])),
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


def _stored(place: Place | Executable) -> dict[str, str]:
    # 64-bit inode numbers do not fit a JSON integer, so they are decimal text.
    return {"path": place.path, "dev": str(place.dev), "ino": str(place.ino)}
