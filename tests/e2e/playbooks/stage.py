"""One real agent, its workspace and a scripted model: where the contract of playbooks is tried.

A case writes a playbook, runs it by ``codexbridge playbook run --json`` as its own process, decides
what it asks, and looks at the lines, the exit code, the state file and the workspace.  Decisions
are made over the control socket, with the code of what is shown; where a case is about the person
(`Stage.approve_by_hand`), at a pseudo-terminal.
"""

from __future__ import annotations

import asyncio
import json
import os
import re
import select
import shutil
import subprocess
import tempfile
import threading
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Self

import yaml

from common.errors import CodexBridgeError
from common.home import find_home
from local_agent.cli.decide import pending_in
from local_agent.cli.screen import screen_for
from local_agent.faces.control.client import call, read_asked
from local_agent.views.question import Question
from tests import forks
from tests.e2e.place import COMMAND, PATIENCE, Place
from tests.e2e.proposing import configure, git, repository
from tests.model_script import Step, text
from tests.model_server import ModelServer, Request

Event = dict[str, Any]
Decide = Callable[["Stage", Event], None]
Decision = str | Decide

CLIENT = "default"
FILES = {
    "a.txt": "one\ntwo\n",
    "b.txt": "before\n",
    "src/app.py": "import os\n\nretry = 3\n",
    "src/deep/notes.md": "# Notes\n\nretry later\n",
    "data.json": '{"port": 8080}\n',
    "run.sh": "echo ran >> ran.txt\necho out\n",
}
MAX_LINE_BYTES = 65_536


# --- what a playbook is written with --------------------------------------------------------------


def tool(name: str, tool: str, **args: Any) -> dict[str, Any]:
    """Return a tool step with these arguments."""
    return {"name": name, "type": "tool", "tool": tool, **({"args": args} if args else {})}


def reading(name: str, path: str = "a.txt", **more: Any) -> dict[str, Any]:
    """Return a step that reads a file."""
    return tool(name, "read_file", path=path) | more


def writing(name: str, path: str, content: str = "new\n", **more: Any) -> dict[str, Any]:
    """Return a step that writes a file."""
    return tool(name, "write_file", path=path, content=content) | more


def command(name: str, *argv: str, **more: Any) -> dict[str, Any]:
    """Return a step that runs a command."""
    return tool(name, "run_command", argv=[*argv]) | more


def taken(step: dict[str, Any], args_from: Any) -> dict[str, Any]:
    """Return a step that takes arguments from others."""
    return step | {"args_from": args_from}


def agent(name: str, template: str = "Say it.", **more: Any) -> dict[str, Any]:
    """Return a step that asks the model."""
    return {"name": name, "type": "agent", "message_template": template, **more}


def gate(name: str, template: str = "Go on?", **more: Any) -> dict[str, Any]:
    """Return a step that asks a person."""
    return {"name": name, "type": "gate", "message_template": template, **more}


def playbook(*steps: Mapping[str, Any], name: str = "case", body: str = "", **front: Any) -> str:
    """Return the file of a playbook with these steps."""
    fields = {"name": name, **front, "steps": [*steps]}
    dumped = yaml.safe_dump(fields, sort_keys=False, allow_unicode=True)
    return f"---\n{dumped}---\n{body}"


# --- what came of a run ---------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Ran:
    """What one run told.

    Attributes:
        raw: The lines as they came.
        events: The same, read.
    """

    raw: Sequence[bytes]
    events: Sequence[Event]
    code: int
    stderr: str
    stage: Stage
    client: str = CLIENT

    @property
    def types(self) -> list[str]:
        """The kinds of events, in order."""
        return [event["type"] for event in self.events]

    @property
    def shape(self) -> list[str]:
        """The kinds of events, in order, with the stream as one."""
        kinds = self.types
        return [
            kind
            for at, kind in enumerate(kinds)
            if kind != "stream" or at == 0 or kinds[at - 1] != "stream"
        ]

    def all(self, kind: str, **facts: Any) -> list[Event]:
        """Return the events of a kind with these facts."""
        wanted = facts.items()
        return [one for one in self.events if one["type"] == kind and wanted <= one.items()]

    def one(self, kind: str, **facts: Any) -> Event:
        """Return the only event of a kind with these facts."""
        found = self.all(kind, **facts)
        assert len(found) == 1, (kind, facts, self.told)
        return found[0]

    def result(self, step: str) -> Any:
        """Return the result that a tool step told."""
        return self.one("function_result", step=step)["result"]

    @property
    def status(self) -> str:
        """How the run ended."""
        assert self.events, self.told
        assert self.types[-1] == "task_complete", self.told
        return str(self.events[-1]["status"])

    @property
    def run_id(self) -> str:
        """The run's own ID."""
        return str(self.events[0]["task_id"])

    @property
    def short_id(self) -> str:
        """The task that carried it."""
        return str(self.events[0]["short_id"])

    @property
    def state_file(self) -> Path:
        """Where the state of the run is."""
        runs = self.stage.state / "clients" / self.client / "task-runs"
        return runs / f"{self.run_id}.json"

    @property
    def state(self) -> dict[str, Any]:
        """The state file, read."""
        return dict(json.loads(self.state_file.read_text(encoding="utf-8")))

    @property
    def told(self) -> str:
        """Everything, for a failed assertion."""
        lines = "\n".join(json.dumps(event, ensure_ascii=False)[:600] for event in self.events)
        return f"exit {self.code}\n{lines}\n{self.stderr}"

    def ended(self, status: str) -> Ran:
        """Require how the run ended, and the exit code that belongs to it."""
        assert self.status == status, self.told
        assert self.code == {"completed": 0, "failed": 1, "aborted": 3}[status], self.told
        return self


class Model:
    """The scripted model on a thread of its own; told what to say while it runs."""

    def __init__(self) -> None:
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._loop.run_forever, daemon=True)
        self._server = ModelServer(then=text("A plain answer."))

    def __enter__(self) -> Self:
        self._thread.start()
        self._in_loop(self._server.__aenter__())
        return self

    def __exit__(self, *_: object) -> None:
        self._in_loop(self._server.__aexit__())
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join(5)
        self._loop.close()

    @property
    def base_url(self) -> str:
        """Where it listens."""
        return self._server.base_url

    @property
    def requests(self) -> list[Request]:
        """All that came since the last `say`."""
        return self._server.requests

    @property
    def prompts(self) -> list[str]:
        """The words of each request: of its messages together."""
        return [
            "\n".join(one["content"] for one in request.json["messages"])
            for request in self._server.requests
        ]

    def say(self, *steps: Step) -> None:
        """Answer with these, one after the other; then plainly."""
        self._server._steps[:] = steps
        self._server.requests.clear()
        self._server.hung_up.clear()

    def wait_asked(self, count: int = 1) -> None:
        """Wait until so many requests have come."""
        until = time.monotonic() + PATIENCE
        while len(self._server.requests) < count:
            assert time.monotonic() < until, "the model was not asked"
            time.sleep(0.01)

    def _in_loop(self, made: Any) -> None:
        asyncio.run_coroutine_threadsafe(made, self._loop).result(10)


@dataclass
class Stage:
    """One agent with one workspace, which each case finds as new.

    Attributes:
        place: The installation.
        model: What agent steps ask.
        files: A folder outside the workspace, for playbooks.
        template: What the workspace is as new.
        touched: Whether the workspace may be other than new.
    """

    place: Place
    model: Model
    files: Path
    template: Path
    touched: bool = True

    @classmethod
    def open(cls, root: Path, model: Model) -> Stage:
        """Write everything, and start the agent."""
        place = Place.at(root / "home")
        files, workspace = root / "files", root / "shop"
        template = repository(root / "template", FILES)
        for folder in (files, workspace):
            folder.mkdir()
        git(template, "repack", "-a", "-d", "-q")
        for name in ("hooks", "logs"):
            shutil.rmtree(template / ".git" / name, ignore_errors=True)
        found = cls(place, model, files, template)
        found.reset()
        table: Mapping[str, str | int] = {
            "kind": "http",
            "model": "m-1",
            "base_url": model.base_url,
            "api": "chat",
            "idle_seconds": 5,
            "deadline_seconds": 30,
        }
        configure(place, {"one": table}, asked="one")
        place.run("workspace", "add", str(workspace), "--name", "shop", "--toolchains", "none")
        place.start_agent(connected=False)
        return found

    def reset(self) -> None:
        """Give the workspace and the files back as they were."""
        for folder in (self.files, self.own):
            _empty(folder)
        if self.touched:
            _empty(self.workspace)
            shutil.copytree(self.template, self.workspace, dirs_exist_ok=True, symlinks=True)
            self.touched = False
        self.model.say()

    @property
    def workspace(self) -> Path:
        """The agent's only one, called ``shop``, unless a case adds another."""
        self.touched = True
        return self.template.with_name("shop")

    @property
    def state(self) -> Path:
        """The state folder of the installation."""
        return self.place.root / "state"

    @property
    def own(self) -> Path:
        """The playbooks folder of the configuration."""
        return self.place.root / "config" / "playbooks"

    # --- running ---------------------------------------------------------------------------------

    def file(self, content: str | bytes, name: str = "case.md", folder: Path | None = None) -> Path:
        """Write a playbook, or a hook, and return its path."""
        path = (folder or self.files) / name
        path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        path.write_bytes(content if isinstance(content, bytes) else content.encode())
        return path

    def hook(self, name: str, *steps: Mapping[str, Any], folder: Path | None = None) -> None:
        """Write a hook beside the playbooks."""
        self.file(playbook(*steps, name=name), f"hooks/{name}.md", folder)

    def run(
        self,
        *steps: Mapping[str, Any],
        decide: Iterable[Decision] | Decision = (),
        options: Sequence[str] = (),
        client: str = CLIENT,
        environ: Mapping[str, str] | None = None,
        each: Decide | None = None,
        **front: Any,
    ) -> Ran:
        """Run a playbook of these steps to its end; `decide` answers its questions in order."""
        path = self.file(playbook(*steps, **front))
        named = () if client == CLIENT else ("--client", client)
        arguments = ("playbook", "run", str(path), *named, *options)
        return self.follow(arguments, decide=decide, client=client, environ=environ, each=each)

    def follow(
        self,
        arguments: Sequence[str],
        *,
        decide: Iterable[Decision] | Decision = (),
        client: str = CLIENT,
        environ: Mapping[str, str] | None = None,
        each: Decide | None = None,
        stdin: int | None = None,
    ) -> Ran:
        """Run ``codexbridge ARGUMENTS --json``, and decide what it asks.

        Args:
            decide: For each question in order ``approve``, ``hand``, ``reject``, ``wait`` or a
                function; one alone is for all.
            each: Called with every event.
        """
        self.touched = True
        always = decide if isinstance(decide, str) or callable(decide) else None
        left = iter(()) if always is not None else iter(decide)  # type: ignore[arg-type]
        reader, writer = os.pipe()
        with tempfile.TemporaryFile() as errors, Path(os.devnull).open("rb") as nothing:
            streams = [stdin if stdin is not None else nothing.fileno(), writer, errors.fileno()]
            environ = {**self.place.environ, **(environ or {})}
            fork = forks.shared_zygote().start(
                (*arguments, "--json"), environ=environ, streams=streams
            )
            os.close(writer)
            raw: list[bytes] = []
            events: list[Event] = []
            try:
                for line in _lines(reader):
                    raw.append(line)
                    event = json.loads(line)
                    events.append(event)
                    if each is not None:
                        each(self, event)
                    if event["type"] == "confirmation_required":
                        self._decide(event, always if always is not None else next(left, "wait"))
                code = fork.wait(PATIENCE)
            finally:
                fork.kill()
                os.close(reader)
                errors.seek(0)
                said = errors.read().decode()
            assert "Traceback" not in said, said
            return Ran(raw, events, code, said, self, client)

    def _decide(self, event: Event, decision: Decision) -> None:
        if callable(decision):
            decision(self, event)
        elif decision != "wait":
            {"approve": self.approve, "hand": self.by_hand, "reject": self.reject}[decision](event)

    # --- the person ------------------------------------------------------------------------------

    def approve(self, event: Event) -> None:
        """Look at what is asked, and type its code."""
        self.decide(self.look(event), "approve")

    def reject(self, event: Event) -> None:
        """Refuse what is asked."""
        self.decide(self.look(event), "reject")

    def by_hand(self, event: Event) -> None:
        """Approve at a pseudo-terminal."""
        self.place.approve(event["short_id"])

    def look(self, event: Event) -> Question:
        """Return what is shown of a question, as a person reads it."""
        places, environ = find_home(self.place.environ), self.place.environ
        shown = self.call("refresh", task=event["short_id"])
        return read_asked(places, environ, pending_in(shown, screen_for("en", environ)))

    def decide(self, question: Question, decision: str, *, typed: str | None = None) -> None:
        """Decide on what was shown."""
        code = question.code if decision == "approve" else ""
        self.call(
            "decide",
            approval_id=question.seal.approval_id,
            digest=question.digest,
            decision=decision,
            typed=code if typed is None else typed,
            reason="",
        )

    def call(self, op: str, **args: Any) -> Mapping[str, Any]:
        """Ask the agent over its control socket."""
        return call(find_home(self.place.environ), self.place.environ, op, **args)

    def cancel(self, short_id: str) -> None:
        """End a task, as ``codexbridge cancel`` does."""
        with suppress(CodexBridgeError):
            self.call("cancel", task=short_id)

    # --- the rest of the command line ---

    def cli(self, *arguments: str, stdin: str = "", **environ: str) -> Any:
        """Run ``codexbridge`` to its end."""
        environment = {**self.place.environ, **environ}
        self.touched = self.touched or arguments[:2] != ("playbook", "check")
        return forks.run(*arguments, environ=environment, stdin=stdin, cwd=self.files)

    def program(self, *arguments: str, **environ: str) -> subprocess.CompletedProcess[bytes]:
        """Run the program itself to its end, as people start it."""
        return subprocess.run(
            [*COMMAND, *arguments],
            env={**self.place.environ, **environ},
            cwd=self.files,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            check=False,
            timeout=PATIENCE,
        )

    def runs(self) -> list[dict[str, Any]]:
        """Return what ``codexbridge runs --json`` says."""
        return list(json.loads(self.cli("runs", "--json").stdout)["runs"])

    def read(self, name: str) -> str | None:
        """Return a file of the workspace; None where there is none."""
        path = self.workspace / name
        return path.read_text(encoding="utf-8") if path.exists() else None

    def write(self, name: str, content: str) -> None:
        """Write a file of the workspace, as somebody else does."""
        path = self.workspace / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(content, encoding="utf-8")


def _empty(folder: Path) -> None:
    for path in folder.iterdir() if folder.exists() else ():
        shutil.rmtree(path) if path.is_dir() and not path.is_symlink() else path.unlink()


def _lines(reader: int) -> Iterable[bytes]:
    rest = b""
    while True:
        assert select.select([reader], [], [], PATIENCE)[0], "the command fell silent"
        data = os.read(reader, 1 << 20)
        if not data:
            assert not rest, "the last line is not ended"
            return
        *whole, rest = (rest + data).split(b"\n")
        yield from whole


ISO = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?(Z|[+-]\d\d:\d\d)")
UUID = re.compile(r"[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}")
