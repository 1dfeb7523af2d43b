"""What is sealed of a command: what runs, where, with what, and within which bounds (P2).  Pure."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Annotated, Any, Final

from common.errors import InputError
from common.records import (
    COUNT,
    FLAG,
    RECORD,
    SHA256_HEX,
    TEXT,
    TEXTS,
    Fields,
    fields_of,
    filled,
    or_none,
)
from common.seal import PLACE, Place, check_record, stored_place
from common.strict_json import canonical

_COMMAND: Final[Fields] = {
    "cwd": TEXT,
    "env_names": TEXTS,
    "env_sha256": SHA256_HEX,
    "executable": RECORD,
    "sandbox": RECORD,
    "network": FLAG,
    "timeout": COUNT,
    "output_cap": COUNT,
}
_ARGV: Final[Fields] = {"argv": filled(TEXTS)}
_SHELL: Final[Fields] = {"shell": TEXT, "script": TEXT}
_EXECUTABLE: Final[Fields] = {**PLACE, "sha256": or_none(SHA256_HEX)}
_SANDBOX: Final[Fields] = {"level": TEXT, "profile_sha256": SHA256_HEX}


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

    approval_id: Annotated[str, TEXT]
    short_id: Annotated[str, TEXT]
    diff_sha256: Annotated[str, SHA256_HEX]


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
    stdin: str | None = None,
    uncompared: Sequence[str] = (),
    lacks: Sequence[str] = (),
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
        stdin: What it reads; None for nothing.
        uncompared: Names of files and folders in which a change would not be seen.
        lacks: What the sandbox does not show and a command may need: ``git``.

    Raises:
        InputError: ``seal.command-form`` when neither or both forms are given.
    """
    if (argv is None) == (script is None) or (shell is None) != (script is None):
        raise InputError("seal.command-form")
    what: dict[str, Any] = (
        {"argv": list(argv)} if argv is not None else {"shell": shell, "script": script}
    )
    some = {"copy": copy and asdict(copy), "stdin": stdin}
    several = {"uncompared": list(uncompared), "lacks": list(lacks)}
    what |= {name: one for name, one in (some | several).items() if one not in (None, [])}
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
    some: Fields = {"copy": RECORD, "stdin": TEXT, "uncompared": TEXTS, "lacks": TEXTS}
    given = {name: check for name, check in some.items() if name in payload}
    check_record("payload", payload, {**_COMMAND, **form, **given})
    if "copy" in given:
        check_record("copy", payload["copy"], fields_of(SealedCopy))
    check_record("executable", payload["executable"], _EXECUTABLE)
    check_record("sandbox", payload["sandbox"], _SANDBOX)
