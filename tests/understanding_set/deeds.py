"""Reads the lists in `deeds`, and names what comes of a request as they do; see the README."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from common import dsl
from common.model.intent import TaskKind
from common.verbs import Topic
from local_agent.understand import goals
from local_agent.understand.reader import Reader

FOLDER: Final = Path(__file__).parent / "deeds"
PARTS: Final = ("tuning", "held_out")


@dataclass(frozen=True, slots=True)
class Wished:
    """One request, what is to come of it, and the exact command that it is to run."""

    text: str
    want: str
    cmd: str | None = None


def wished(name: str) -> list[Wished]:
    """Return the requests of ``tuning`` or ``held_out``."""
    lines = (FOLDER / f"{name}.jsonl").read_text(encoding="utf-8").splitlines()
    return [Wished(**json.loads(line)) for line in lines]


def outcome(text: str) -> tuple[str, str | None]:
    """Return what comes of a request, and the command that would run."""
    reading = Reader().read(text)
    kind, topic = reading.intent.kind, reading.topic
    by_topic = {
        Topic.CANCEL: "cancel",
        Topic.UNDO: "undo",
        Topic.UNSUPPORTED: "refused",
        Topic.PULL: "refused",
        Topic.COMMIT: "refused",
    }
    said = dsl.parse(f"@dev {text}")
    if isinstance(said, dsl.Command) and "all" in said.options:
        return "cancel-all", None
    if reading.unsure:
        return "answered", None
    if found := by_topic.get(topic):
        return found, None
    if kind is TaskKind.RUN:
        cmd = reading.intent.params.cmd
        known = cmd or topic is Topic.TEST or goals.find_goal(text)
        return ("run" if known else "refused"), cmd
    return {TaskKind.GIT_SYNC: "sync", TaskKind.CHANGE: "change"}.get(kind, "answered"), None
