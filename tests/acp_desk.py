"""What the tests of the ACP backend share: a small machine, its real sandbox, scripted agents."""

from __future__ import annotations

import json
import shutil
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from common.home import Home
from local_agent.models.acp.backend import AcpBackend, AcpModel, Contain
from local_agent.models.backend import Turn
from local_agent.sandbox.bubblewrap import Containment, Level
from tests.codex_desk import FolderScratch

KEY: Final = "key-of-the-agent-0123456789"
_AGENT: Final = Path(__file__).with_name("acp_agent.py")
_PYTHON: Final = Path(sys.executable).resolve()


@dataclass
class AcpDesk:
    """One machine: our folders, a home with a secret, a scratch copy, and a program.

    Attributes:
        key: What is in the keystore.
    """

    root: Path
    level: Level = "bubblewrap"
    key: str | None = KEY

    def __post_init__(self) -> None:
        """Make the folders."""
        for folder in (self.home, self.state, self.scratch.root, self.programs):
            folder.mkdir(parents=True, mode=0o700)
        (self.home / "id_rsa").write_text("SECRET OF THE PERSON", encoding="utf-8")
        (self.state / "journal.db").write_text("SECRET OF THE AGENT", encoding="utf-8")
        (self.scratch.root / "app.py").write_text("a\nb\nc\n", encoding="utf-8")
        shutil.copy(_AGENT, self.programs)

    @property
    def home(self) -> Path:
        return self.root / "home"

    @property
    def state(self) -> Path:
        return self.home / "state"

    @property
    def programs(self) -> Path:
        return self.home / "programs"

    @property
    def scratch(self) -> FolderScratch:
        return FolderScratch(self.state / "scratch")

    @property
    def folder(self) -> Path:
        return self.state / "acp" / "scripted"

    @property
    def places(self) -> Home:
        return Home(self.home / "config", self.state, self.root / "run")

    @property
    def contain(self) -> Contain:
        """The real sandbox."""
        return Containment(self.places, self.home, self.level, lambda: ()).contain

    def backend(
        self,
        *turns: list[dict[str, Any]],
        script: dict[str, Any] | None = None,
        contain: Contain | None = None,
        workspaces: Callable[[], tuple[Path, ...]] = tuple,
        **facts: Any,
    ) -> AcpBackend:
        """Return the backend of an agent that does these steps."""
        file = self.programs / "script.json"
        written = {"turns": list(turns), **(script or {})}
        file.write_text(json.dumps(written), encoding="utf-8")
        known: dict[str, Any] = {
            "name": "scripted",
            "program": _PYTHON,
            "args": ("-I", "-S", str(self.programs / _AGENT.name), str(file)),
            "folder": self.folder,
            "read_only": (Path(sys.base_prefix), self.programs),
            "key_variable": "SCRIPTED_KEY",
            "deadline_s": 20.0,
            "idle_s": 10.0,
        }
        return AcpBackend(
            AcpModel(**(known | facts)),
            key=lambda: self.key,
            contain=contain or self.contain,
            workspaces=workspaces,
        )

    def edits(self) -> Turn:
        """Return a question that wants files edited."""
        return Turn(
            task_id="task-1",
            instructions="INSTRUCTIONS",
            prompt="PROMPT",
            want="edits",
            scratch=self.scratch,
        )

    def log(self) -> list[dict[str, Any]]:
        """Return what the agent was sent, its environment first."""
        lines = (self.folder / "home" / "log.jsonl").read_text(encoding="utf-8").splitlines()
        return [json.loads(line) for line in lines]
