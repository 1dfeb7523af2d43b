"""What the command line and the agent say to each other over the control socket.

One JSON line asks, one or more JSON lines answer, then the connection ends.  A line whose operation
takes a file names its size, and exactly so many bytes follow it.  Both sides use this module; it is
standard library, `common` and views only, so that ``codexbridge status`` starts fast.  The socket
authorises nothing: an approval still needs the seal code that a person read and typed.

An answer line holds exactly one of
    {"ok": {...}}                      the last line: it worked
    {"event": {...}}                   something happened on the way; more lines follow
    {"error": {code, family, facts}}   the last line: it did not
"""

from __future__ import annotations

import hashlib
import json
import socket
import struct
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, TypeAlias

from common import strict_json
from common.diff.model import MAX_FILES, MAX_HUNKS
from common.errors import (
    AuthError,
    CodexBridgeError,
    ConfigError,
    InputError,
    RemoteProtocolError,
    StateError,
    StoreError,
    UnavailableError,
)
from common.home import Home
from common.records import FLAG, TEXT, Check, integer, list_of
from local_agent.views import to_json

if TYPE_CHECKING:
    from _typeshed import DataclassInstance

Content: TypeAlias = "Mapping[str, Any] | DataclassInstance"  # of a line: an object or a view

REQUEST_BYTES: Final = 64 * 1024
ANSWER_BYTES: Final = 2 * 1024 * 1024  # a sealed script of 20 kB (R26), escaped, with room
BODY_BYTES: Final = 2_000_000  # the largest diff that is read (`common.diff.parse`)
OPS: Final = frozenset(
    {
        "status",
        "tasks",
        "show",
        "log",
        "decide",
        "cancel",
        "ask",
        "follow",
        "receipt",
        "retry",
        "rotate",
        "apply",
        "want",
        "diff",
        "undo",
        "refresh",
        "narrow",
        "check",
        "context",
        "models",
        "models_test",
        "workspaces_changed",
        "play",
        "resume",
        "roll_back",
        "runs",
        "open_page",
        "shut_page",
        "passkey_add",
        "passkey_codes",
        "passkey_confirm",
        "passkeys",
        "passkey_remove",
    }
)
BODY_OPS: Final = frozenset({"apply", "play", "resume"})  # these two: the file of answers
SOCKET_NAME: Final = "agent.sock"

_SUN_PATH: Final = 107  # unix(7): 108 bytes with the closing NUL
_PEERCRED: Final = struct.Struct("3i")  # struct ucred {pid, uid, gid}, socket(7)
_FAMILIES: Final[dict[str, type[CodexBridgeError]]] = {
    "auth": AuthError,
    "config": ConfigError,
    "input": InputError,
    "protocol": RemoteProtocolError,
    "state": StateError,
    "store": StoreError,
    "unavailable": UnavailableError,
}


@dataclass(frozen=True, slots=True)
class Request:
    """One question to the agent.

    Attributes:
        op: One of `OPS`.
        args: What it needs; checked by the operation itself.
        body: The bytes of a file, for the operations of `BODY_OPS` alone.
    """

    op: str
    args: Mapping[str, Any] = field(default_factory=dict)
    body: bytes = b""


def socket_path(home: Home, environ: Mapping[str, str]) -> Path:
    """Return where the control socket of this installation lies; creates nothing.

    A path that does not fit into a socket address gets a short folder of its own under
    XDG_RUNTIME_DIR, named by what it stands for.

    Raises:
        ConfigError: ``control.path-too-long``.
    """
    usual = home.run / SOCKET_NAME
    if len(str(usual).encode()) <= _SUN_PATH:
        return usual
    if runtime := environ.get("XDG_RUNTIME_DIR"):
        name = hashlib.sha256(str(home.run).encode()).hexdigest()[:12]
        short = Path(runtime) / f"codexbridge-{name}" / SOCKET_NAME
        if short.is_absolute() and len(str(short).encode()) <= _SUN_PATH:
            return short
    raise ConfigError("control.path-too-long", path=usual, limit=_SUN_PATH)


def encode_request(request: Request) -> bytes:
    """Return the line that asks, and the file that goes with it.

    Raises:
        InputError: ``control.too-large``.
    """
    asked: dict[str, Any] = {"op": request.op, "args": dict(request.args)}
    if request.op in BODY_OPS:
        asked["body"] = len(request.body)
    line = _line(asked)
    if len(line) > REQUEST_BYTES or len(request.body) > BODY_BYTES:
        raise InputError("control.too-large", limit=REQUEST_BYTES)
    return line + request.body


def decode_request(line: bytes) -> tuple[Request, int]:
    """Return what is asked, and how many bytes of a file follow the line.

    Raises:
        RemoteProtocolError: it is not a request as `encode_request` makes them.
    """
    value = strict_json.loads(line, max_bytes=REQUEST_BYTES)
    if not isinstance(value, dict) or not {"op", "args"} <= set(value) <= {"op", "args", "body"}:
        raise RemoteProtocolError("control.malformed")
    op = value["op"]
    if not isinstance(op, str) or op not in OPS or not isinstance(value["args"], dict):
        raise RemoteProtocolError("control.unknown-operation", op=str(op)[:40])
    size = value.get("body", 0)
    if not integer(0, BODY_BYTES)(size) or ("body" in value) != (op in BODY_OPS):
        raise RemoteProtocolError("control.malformed")
    return Request(op, value["args"]), size


def encode_ok(value: Content) -> bytes:
    """Return the last line of an answer that worked."""
    return _bounded({"ok": as_json(value)})


def encode_event(value: Content) -> bytes:
    """Return a line about something that happened on the way."""
    return _bounded({"event": as_json(value)})


def encode_error(error: CodexBridgeError) -> bytes:
    """Return the last line of an answer that did not work; facts travel as text or integers."""
    family = next((name for name, kind in _FAMILIES.items() if isinstance(error, kind)), "")
    facts = {name: _fact(value) for name, value in error.facts.items()}
    return _bounded({"error": {"code": error.code, "family": family, "facts": facts}})


def decode_answer(line: bytes) -> tuple[str, dict[str, Any]]:
    """Return ``("ok" | "event", value)`` of one answer line.

    Raises:
        CodexBridgeError: the error that the agent told, in its own class.
        RemoteProtocolError: it is not an answer.
    """
    # From our own agent, and events carry the seed's one fraction, which `strict_json` refuses.
    try:
        value = json.loads(line)
    except (ValueError, RecursionError):
        raise RemoteProtocolError("control.malformed") from None
    if not isinstance(value, dict) or len(value) != 1:
        raise RemoteProtocolError("control.malformed")
    kind, body = next(iter(value.items()))
    if not isinstance(body, dict) or kind not in ("ok", "event", "error"):
        raise RemoteProtocolError("control.malformed")
    if kind == "error":
        family = _FAMILIES.get(str(body.get("family")), CodexBridgeError)
        facts = body.get("facts")
        raise family(str(body.get("code")), **(facts if isinstance(facts, dict) else {}))
    return kind, body


def peer_uid(connection: socket.socket) -> int:
    """Return the user id of the process at the other end, as the kernel tells it."""
    raw = connection.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, _PEERCRED.size)
    return int(_PEERCRED.unpack(raw)[1])


def as_json(value: Content) -> dict[str, Any]:
    """Return an answer as JSON has it."""
    return dict(value) if isinstance(value, Mapping) else to_json(value)


def _line(value: object) -> bytes:
    line = json.dumps(value, default=to_json, ensure_ascii=True, separators=(",", ":"))
    return line.encode() + b"\n"


def _bounded(value: object) -> bytes:
    line = _line(value)
    if len(line) <= ANSWER_BYTES:
        return line
    return _line({"error": {"code": "control.too-large", "family": "", "facts": {}}})


def _fact(value: object) -> str | int:
    if isinstance(value, int):
        return value
    listed = ", ".join(map(str, value)) if isinstance(value, tuple | list) else str(value)
    return listed[:2000]


_INDEXES: Final = list_of(integer(0, MAX_HUNKS - 1), most=MAX_HUNKS)


def _are_hunks(value: Any) -> bool:
    return (
        type(value) is dict
        and len(value) <= MAX_FILES
        and all(map(_INDEXES, value.values()))
        and sum(map(len, value.values())) <= MAX_HUNKS
    )


class Arguments:
    """The arguments of a request, each checked as it is used.

    Each method raises RemoteProtocolError ``control.malformed`` where something else was given.
    """

    def __init__(self, given: Mapping[str, Any]) -> None:
        self._given = given

    def has(self, name: str) -> bool:
        """Tell whether it was given at all."""
        return name in self._given

    def text(self, name: str) -> str:
        """Return a text."""
        return str(self._checked(name, TEXT))

    def texts(self, name: str, most: int) -> list[str]:
        """Return a list of at most ``most`` texts."""
        return list(self._checked(name, list_of(TEXT, most=most)))

    def hunks(self, name: str) -> dict[str, tuple[int, ...]]:
        """Return indexes of hunks by the paths of their files, no more than a diff can have."""
        chosen = self._checked(name, _are_hunks)
        return {path: tuple(indexes) for path, indexes in chosen.items()}

    def flag(self, name: str) -> bool:
        """Return a yes or no."""
        return bool(self._checked(name, FLAG))

    def integer(self, name: str, low: int, high: int) -> int:
        """Return a whole number from ``low`` to ``high``."""
        return int(self._checked(name, integer(low, high)))

    def _checked(self, name: str, check: Check) -> Any:
        value = self._given.get(name)
        if not check(value):
            raise RemoteProtocolError("control.malformed", field=name)
        return value
