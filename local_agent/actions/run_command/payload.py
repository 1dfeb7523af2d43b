"""What is sealed of a command: what runs, where, with what, and within which bounds (P2).  Pure."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any, Final

from common.errors import InputError
from common.seal import (
    PLACE,
    Place,
    Shape,
    check_shape,
    is_count,
    is_hash,
    is_mapping,
    is_text,
    is_texts,
    one_of,
    or_none,
    stored_place,
)
from common.strict_json import canonical

_COMMAND: Final[Shape] = {
    "cwd": is_text,
    "env_names": is_texts,
    "env_sha256": is_hash,
    "executable": is_mapping,
    "sandbox": is_mapping,
    "network": one_of(True, False),
    "timeout": is_count,
    "output_cap": is_count,
}
_ARGV: Final[Shape] = {"argv": lambda value: is_texts(value) and bool(value)}
_SHELL: Final[Shape] = {"shell": is_text, "script": is_text}
_EXECUTABLE: Final[Shape] = {**PLACE, "sha256": or_none(is_hash)}
_SANDBOX: Final[Shape] = {"level": is_text, "profile_sha256": is_hash}
_COPY: Final[Shape] = {"approval_id": is_text, "short_id": is_text, "diff_sha256": is_hash}


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


@dataclass(frozen=True, slots=True)
class SealedCopy:
    """That a command runs on a copy of the workspace, with a proposed change applied to it.

    Attributes:
        approval_id: The approval that asks for the change.
        short_id: The task it belongs to.
        diff_sha256: Of the change's diff.
    """

    approval_id: str
    short_id: str
    diff_sha256: str


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
    copy: SealedCopy | None = None,
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
        copy: What it runs on in place of the workspace's files; None for these themselves.

    Raises:
        InputError: ``seal.command-form`` when neither or both forms are given.
    """
    if (argv is None) == (script is None) or (shell is None) != (script is None):
        raise InputError("seal.command-form")
    what: dict[str, Any] = (
        {"argv": list(argv)} if argv is not None else {"shell": shell, "script": script}
    )
    if copy is not None:
        what["copy"] = asdict(copy)
    place = Place(executable.path, executable.dev, executable.ino)
    return what | {
        "cwd": cwd,
        "env_names": sorted(env),
        "env_sha256": hashlib.sha256(canonical(dict(env))).hexdigest(),
        "executable": stored_place(place) | {"sha256": executable.sha256},
        "sandbox": {"level": sandbox_level, "profile_sha256": profile_sha256},
        "network": network,
        "timeout": timeout_s,
        "output_cap": output_cap,
    }


def check_command(payload: Mapping[str, Any]) -> None:
    """Return when a payload is a command's.

    Raises:
        RemoteProtocolError: ``seal.malformed`` with ``field``.
    """
    form = _ARGV if "argv" in payload else _SHELL
    # Only a check of a proposed change has it; a command on the workspace itself has none.
    copied: Shape = {"copy": is_mapping} if "copy" in payload else {}
    check_shape("payload", payload, {**_COMMAND, **form, **copied})
    if copied:
        check_shape("copy", payload["copy"], _COPY)
    check_shape("executable", payload["executable"], _EXECUTABLE)
    check_shape("sandbox", payload["sandbox"], _SANDBOX)
