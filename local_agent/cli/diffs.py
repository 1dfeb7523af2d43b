"""Diffs on their way between files, the agent and what a person is shown."""

from __future__ import annotations

import base64
import sys
from collections.abc import Mapping
from pathlib import Path

from common.errors import InputError
from common.home import Home
from common.ids import parse_short_id
from local_agent.actions.registry import read_seal
from local_agent.cards.question import diff_name, read_question
from local_agent.faces.control.client import stream
from local_agent.faces.control.wire import BODY_BYTES
from local_agent.views.question import ApprovalView, Question
from local_agent.workspace.registry import Registry, Workspace


def read_patch(file: str) -> bytes:
    """Return the bytes of a patch file; ``-`` is standard input.

    Raises:
        InputError: ``diff.too-large``.
        OSError: the file cannot be read.
    """
    if file == "-":
        data = sys.stdin.buffer.read(BODY_BYTES + 1)
    else:
        with Path(file).open("rb") as opened:
            data = opened.read(BODY_BYTES + 1)
    if len(data) > BODY_BYTES:
        raise InputError("diff.too-large", what="bytes", limit=BODY_BYTES)
    return data


def task_named(given: str) -> str | None:
    """Return the ID of a task that is meant, unless a file is called so."""
    if Path(given).exists():
        return None
    try:
        return parse_short_id(given)
    except InputError:
        return None


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
    seal = read_seal(approval.seal.encode("utf-8", "replace"))
    diff = fetch_diff(home, environ, seal.short_id) if diff_name(seal) else None
    return read_question(approval, diff=diff)


def workspace_here(home: Home) -> Workspace | None:
    """Return the workspace that the current folder lies in, or None."""
    try:
        folder = Path.cwd().resolve()
    except FileNotFoundError:
        return None  # somebody removed the folder that this terminal stands in
    for workspace in Registry(home, home=Path.home()).load():
        if folder.is_relative_to(workspace.path):
            return workspace
    return None
