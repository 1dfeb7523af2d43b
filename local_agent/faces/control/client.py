"""The faces' end of the control socket: ask, then read the answer line by line.

Standard library only, blocking: there is nothing else to do while the agent answers.
"""

from __future__ import annotations

import base64
import os
import socket
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any

from common.errors import AuthError, RemoteProtocolError, UnavailableError
from common.home import Home
from local_agent.faces.control import wire
from local_agent.store.lock import JOURNAL, is_held
from local_agent.views import Json

if TYPE_CHECKING:
    from local_agent.views.question import ApprovalView, Question

ANSWER_SECONDS = 15.0  # for a question; a stream may stay silent as long as its task does


def call(home: Home, environ: Mapping[str, str], op: str, **args: Any) -> Json:
    """Ask one question and return its answer.

    Raises:
        UnavailableError: ``agent.not-running``, ``agent.not-listening`` or ``agent.no-answer``.
        CodexBridgeError: whatever the agent answered instead.
    """
    for kind, value in _lines(home, environ, wire.Request(op, args), ANSWER_SECONDS):
        if kind == "ok":
            return value
    raise UnavailableError("agent.no-answer")


def stream(
    home: Home, environ: Mapping[str, str], op: str, *, body: bytes = b"", **args: Any
) -> Iterator[tuple[str, Json]]:
    """Ask, and yield ``("event", value)`` as they come, then ``("ok", value)`` at the end.

    Args:
        home: The installation.
        environ: For the socket's place.
        op: One of `wire.OPS`.
        body: The file that goes with it, for `wire.BODY_OPS`.
        args: What the operation needs.

    Raises:
        UnavailableError: ``agent.not-running``, ``agent.not-listening``, or ``agent.no-answer``
            when it went away midway.
        CodexBridgeError: whatever the agent answered instead.
    """
    for kind, value in _lines(home, environ, wire.Request(op, args, body), None):
        yield kind, value
        if kind == "ok":
            return
    raise UnavailableError("agent.no-answer")


def fetch_diff(home: Home, environ: Mapping[str, str], short_id: str) -> bytes:
    """Return the exact diff of a task.

    Raises:
        StateError: ``diff.none``, ``task.unknown``.
        UnavailableError: the agent does not run.
    """
    steps = stream(home, environ, "diff", task=short_id)
    return b"".join(base64.b64decode(value["diff"]) for kind, value in steps if kind == "event")


def read_asked(home: Home, environ: Mapping[str, str], approval: ApprovalView) -> Question:
    """Return the question of an approval that the agent told, with the diff that belongs to it.

    Raises:
        AuthError: ``approval.digest-mismatch``.
        RemoteProtocolError: it cannot be read.
    """
    from local_agent.cards.question import names_diff, read_question

    diff = fetch_diff(home, environ, approval.short_id) if names_diff(approval) else None
    return read_question(approval, diff=diff)


def _lines(
    home: Home, environ: Mapping[str, str], request: wire.Request, timeout_s: float | None
) -> Iterator[tuple[str, Json]]:
    question = wire.encode_request(request)
    with _connect(home, environ) as connection, connection.makefile("rb") as answers:
        connection.settimeout(timeout_s)
        try:
            connection.sendall(question)
            while line := answers.readline(wire.ANSWER_BYTES + 1):
                if not line.endswith(b"\n"):
                    raise RemoteProtocolError("control.malformed")
                yield wire.decode_answer(line)
        except (TimeoutError, ConnectionError):
            raise UnavailableError("agent.no-answer") from None


def _connect(home: Home, environ: Mapping[str, str]) -> socket.socket:
    path = wire.socket_path(home, environ)
    connection = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    try:
        connection.settimeout(ANSWER_SECONDS)
        connection.connect(str(path))
        _require_own(connection)
    except (FileNotFoundError, ConnectionRefusedError):
        connection.close()
        if is_held(home.state / JOURNAL):
            raise UnavailableError("agent.not-listening", path=path) from None
        # The first thing that is set up makes the folder.
        why = {} if home.state.is_dir() else {"why": "new"}
        raise UnavailableError("agent.not-running", **why) from None
    except BaseException:
        connection.close()
        raise
    return connection


def _require_own(connection: socket.socket) -> None:
    if wire.peer_uid(connection) != os.getuid():
        raise AuthError("control.foreign-peer")
