"""What the tests of the codex backend share: programs, scratch copies, backends, what was emitted.

`tests.app_server` plays the program; the real one is `tests.codex_program`.
"""

from __future__ import annotations

import json
import os
import shlex
import sys
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Final

from common.errors import InputError
from local_agent.models.backend import ModelEvent, Turn
from local_agent.models.codex.backend import CodexBackend
from local_agent.models.codex.lockdown import CodexModel
from local_agent.models.codex.program import Surroundings

ROOT: Final = Path(__file__).parent.parent
KEY: Final = "key-of-the-model-0123456789"
QUICK: Final = CodexModel(
    name="scripted", model="acme-coder-9", key=KEY, base_url="http://127.0.0.1:9/v1"
)


@dataclass
class FolderScratch:
    """A folder that may be edited, but for what lies in ``.git``; no link may lead out of it."""

    root: Path

    def inside(self, path: str | Path) -> str:
        """Return the relative name of what may be edited."""
        real = Path(os.path.realpath(self.root / path))
        if not real.is_relative_to(self.root):
            raise InputError("scratch.outside")
        name = real.relative_to(self.root)
        if name.parts[:1] == (".git",):
            raise InputError("scratch.forbidden")
        return str(name)

    def read(self, path: str) -> bytes | None:
        """Return a file."""
        file = self.root / self.inside(path)
        return file.read_bytes() if file.exists() else None

    def write(self, path: str, content: bytes) -> None:
        """Write a file."""
        (self.root / self.inside(path)).write_bytes(content)

    def delete(self, path: str) -> None:
        """Remove a file."""
        (self.root / self.inside(path)).unlink()


@dataclass
class Heard:
    """What was emitted."""

    events: list[ModelEvent] = field(default_factory=list)

    def __call__(self, event: ModelEvent) -> None:
        """Take it in."""
        self.events.append(event)

    @property
    def text(self) -> str:
        """All words together."""
        return "".join(event.text for event in self.events)


class Scripted:
    """A program that plays a script, and what it was sent.

    Args:
        folder: For the script and its log.
        turns: Steps of each turn in order (`tests.app_server`).
        facts: More of the script.
    """

    def __init__(self, folder: Path, *turns: Sequence[dict[str, Any]], **facts: Any) -> None:
        folder.mkdir(exist_ok=True)
        self._log = folder / "log"
        script = folder / "script.json"
        told = {"turns": turns, "log": str(self._log), **facts}
        script.write_text(json.dumps(told), encoding="utf-8")
        self.program = folder / "codex"
        # As a module it is compiled once, and a shell can tell a version.
        play = (
            f"import sys; sys.path.append({str(ROOT)!r}); import tests.app_server as it; it.main()"
        )
        words = [sys.executable, "-I", "-S", "-c", play, str(script)]
        version = shlex.quote(facts.get("version", "codex-cli 0.169.0"))
        self.program.write_text(
            f'#!/bin/sh\n[ "$*" = --version ] && exec echo {version}\n'
            f'exec {shlex.join(words)} "$@"\n',
            encoding="utf-8",
        )
        self.program.chmod(0o755)

    @property
    def starts(self) -> list[dict[str, str]]:
        """Each environment that it was started in."""
        return [line for line in self._lines() if "CODEX_HOME" in line]

    def sent(self, method: str) -> list[dict[str, Any]]:
        """The parameters of each request of ours."""
        return [line["params"] for line in self._lines() if line.get("method") == method]

    @property
    def answers(self) -> list[dict[str, Any]]:
        """What it was answered."""
        return [line for line in self._lines() if "id" in line and "method" not in line]

    def _lines(self) -> list[dict[str, Any]]:
        if not self._log.exists():
            return []
        return [json.loads(line) for line in self._log.read_text(encoding="utf-8").splitlines()]


def new_backend(
    folder: Path,
    program: Path,
    *,
    workspaces: Sequence[Path] = (),
    max_turns: int = 50,
    unused_s: float = 900.0,
    **model: Any,
) -> CodexBackend:
    """Return a backend that starts this program in a folder of its own."""
    around = Surroundings(folder=folder, environ={}, workspaces=lambda: workspaces)
    chosen = replace(QUICK, program=program, **model)
    return CodexBackend(chosen, around, max_turns=max_turns, unused_s=unused_s)


def question(**facts: Any) -> Turn:
    """Return a question that wants words, or what ``facts`` say."""
    return replace(Turn(task_id="task", instructions="Our rules.", prompt="Fix the sum."), **facts)
