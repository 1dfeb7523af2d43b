"""Installations whose agent asks scripted models: what the end-to-end tests of proposals share."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Mapping, Sequence
from contextlib import closing, suppress
from dataclasses import dataclass, field
from pathlib import Path
from sqlite3 import connect
from typing import Any, Self

import psutil

from tests.e2e.place import Place, wait_until
from tests.model_server import Started

MACHINE = "dev-1"
LOGIN = "def login():\n    retry = 3\n    return retry\n"

Table = Mapping[str, str | int | bool]


def http(server: Started, api: str, **more: str | int) -> Table:
    """Return the settings of a model behind HTTP."""
    return {"kind": "http", "model": "m-1", "base_url": server.base_url, "api": api, **more}


def codex(program: Path, server: Started | None = None, **more: str | int) -> Table:
    """Return the settings of a model that codex drives, or what plays codex."""
    base_url = server.base_url if server else "http://127.0.0.1:9/v1"
    return {
        "kind": "codex",
        "model": "m-1",
        "base_url": base_url,
        "program": str(program),
        **more,
    }


def configure(place: Place, models: Mapping[str, Table], *, asked: str, more: str = "") -> None:
    """Write ``agent.toml``: what a person would write there, and nothing else."""
    lines = [f'model = "{asked}"', more]
    for name, table in models.items():
        lines += [f"[models.{name}]", *(f"{key} = {json.dumps(table[key])}" for key in table)]
    text = "\n".join([*lines, ""])
    (place.root / "config" / "agent.toml").write_text(text, encoding="utf-8")


def repository(root: Path, files: Mapping[str, str], *, message: str = "first") -> Path:
    """Write a git repository with one commit and return it."""
    for name, text in files.items():
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_text(text, encoding="utf-8")
    git(root, "init", "-q", "-b", "main")
    git(root, "add", "-A", "-f")
    git(root, "commit", "-q", "-m", message)
    return root


def git(root: Path, *arguments: str) -> None:
    """Run git without anybody's configuration."""
    named = ("-c", "user.name=t", "-c", "user.email=t@example.com")
    environ = {"PATH": "/usr/bin:/bin", "GIT_CONFIG_GLOBAL": "/dev/null", "HOME": str(root)}
    subprocess.run(
        ["git", *named, *arguments], cwd=root, check=True, capture_output=True, env=environ
    )


def exact(root: Path) -> Mapping[str, tuple[object, ...]]:
    """Return all that stands below a folder, ``.git`` too: mode, time of change and content."""
    return {
        path.relative_to(root).as_posix(): (
            path.stat().st_mode,
            path.stat().st_mtime_ns,
            path.read_bytes() if path.is_file() else None,
        )
        for path in sorted(root.rglob("*"))
    }


def content(root: Path) -> Mapping[str, tuple[object, ...]]:
    """Return mode and content of all that stands below a folder, but for ``.git``."""
    return {
        name: (mode, text)
        for name, (mode, _, text) in exact(root).items()
        if name.partition("/")[0] != ".git"
    }


@dataclass
class Shop:
    """An installation with one workspace, and what was asked of it.

    Attributes:
        models: The tables of ``agent.toml``.
        more: Other lines of ``agent.toml``.
        user: The member who asks.
        members: All who have asked.
    """

    place: Place
    workspace: Path
    models: Mapping[str, Table]
    more: str = ""
    user: str = "zhangwei"
    members: set[str] = field(default_factory=lambda: {"zhangwei"})

    def open(self, asked: str) -> Self:
        """Start everything, with this model."""
        configure(self.place, self.models, asked=asked, more=self.more)
        self.place.start_all(self.workspace, "true")
        return self

    def change_model(self, asked: str) -> None:
        """Let another model be asked: the agent reads its settings when it starts."""
        configure(self.place, self.models, asked=asked, more=self.more)
        self.end_agent()
        self.place.start_agent()

    def end_agent(self) -> None:
        """End the agent as a service manager does."""
        agent = self.place.processes.pop("agent")
        agent.terminate()
        agent.wait(10)

    def join(self, user: str) -> None:
        """Let another member ask from now on: one hears no more than thirty lines a minute."""
        self.user = user
        if user not in self.members:
            self.place.admin("member", "add", user)
            self.place.admin("bind", MACHINE, user)
            self.members.add(user)

    def say(self, text: str) -> None:
        """Send a message as the member, which must be taken in."""
        assert self.place.callback(text, user=self.user) == 200

    def hears(self, *words: str) -> str:
        """Wait until the member has heard all these words at once."""
        return self.place.hears(*words, user=self.user)

    def ending(self, short_id: str, *, user: str) -> str:
        """Wait for what a member hears of the end of a task; it is told once."""
        return self.place.hears_end(short_id, user)

    @property
    def chat(self) -> str:
        """All that the member has heard."""
        return "\n".join(self.place.chat(self.user))

    def task(self, text: str) -> dict[str, Any]:
        """Return the task that these words made, or nothing yet."""
        return next((task for task in self.place.tasks() if text in task["text"]), {})

    def in_state(self, text: str, state: str) -> str:
        """Wait until the task of these words is in a state; return its ID."""

        def look() -> str:
            task = self.task(text)
            return str(task["short_id"]) if task.get("state") == state else ""

        return wait_until(look)

    def ask(self, text: str) -> str:
        """Send a request whose proposal is to wait; return its ID."""
        self.say(text)
        return self.in_state(text, "WAITING_APPROVAL")

    def answered(self, text: str) -> dict[str, Any]:
        """Send a request, whose words no other has, and return its task once that has ended."""
        self.say(text)
        return wait_until(lambda: task if (task := self.task(text)).get("reason") else {})

    def raw_diff(self, short_id: str) -> str:
        """Return the exact diff of a task."""
        return self.place.run("diff", short_id, "--raw").stdout

    def shown(self, short_id: str) -> dict[str, Any]:
        """Return what ``codexbridge show --json`` says."""
        return dict(json.loads(self.place.run("show", short_id, "--json").stdout))

    def shown_text(self, short_id: str) -> str:
        """Return what ``codexbridge show`` prints."""
        return self.place.run("show", short_id).stdout

    def turns(self) -> Sequence[Mapping[str, Any]]:
        """Return the account of all turns, with the words of their tasks."""
        return self.journal(
            "SELECT tasks.text, turns.outcome, turns.duration_ms FROM turns"
            " JOIN tasks ON tasks.task_id = turns.task_id"
        )

    def journal(self, query: str) -> list[dict[str, Any]]:
        """Read the agent's journal beside it."""
        with closing(connect(f"file:{self.place.root}/state/journal.db?mode=ro", uri=True)) as db:
            found = db.execute(query)
            names = [column[0] for column in found.description]
            return [dict(zip(names, row, strict=True)) for row in found]

    def children(self) -> list[psutil.Process]:
        """All that the agent has started and that still runs."""
        with suppress(psutil.NoSuchProcess):
            return psutil.Process(self.place.processes["agent"].pid).children(recursive=True)
        return []


def requests(server: Started) -> list[dict[str, Any]]:
    """Return the body of each request that came, read."""
    lines = server.record.read_text(encoding="utf-8").splitlines() if server.record.exists() else []
    return [json.loads(json.loads(line)["body"]) for line in lines]
