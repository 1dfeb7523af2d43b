"""A person who sets up a gateway at a terminal, with a simulated console beside it.

The console and the gateway are real processes; what is typed is typed at a pseudo-terminal.
"""

from __future__ import annotations

import contextlib
import json
import os
import pty
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Self

import psutil

from gateway.faces.cli.init.draft import LOCK
from gateway.simulator.config import SimulatorConfig, load, save, write_console
from tests import forks
from tests.e2e.place import PATIENCE, Terminal, free_ports, listens, wait_until
from tests.forks import Fork, Watch, shared_zygote

OF_THE_MACHINE = {"pairing.json"}  # paired in the same home
SECRETS = {"wecom__corp_secret", "wecom__encoding_aes_key", "wecom__token"}
CODE = re.compile(r"#(CB1-[A-Z2-7]{26})")
CONSOLE, TRUST, PAIR = "URL check. Enter goes on without.", "s. Enter goes on without.", "valid."
STAYS = re.compile(r"\(Ctrl-C\)\.\s+Its\s+log:\s+\S+$")


class WatchedTerminal(Terminal):
    """A terminal whose process notes what it makes durable, and dies where it is told."""

    def __init__(self, trial: Trial, watch: Watch | None, *arguments: str) -> None:
        super().__init__(trial.environ, *arguments)
        self._watch = watch

    def __enter__(self) -> Self:
        self._fd, theirs = pty.openpty()
        try:
            self.fork: Fork = shared_zygote().start(
                self._arguments,
                environ=self._environ,
                streams=[theirs] * 3,
                terminal=True,
                watch=self._watch,
            )
        finally:
            os.close(theirs)
        return self

    def rests_at(self, ends: Callable[[str], object]) -> bool:
        """Read until the screen rests at one of the ends; False when the command has ended."""
        return any(ends(self.shown.rstrip()) for _ in self._chunks(PATIENCE))


@dataclass
class Trial:
    """One home with a simulated console in it, and nothing else yet.

    Attributes:
        wrong: Answers that are typed once before the right one, by prompt.
        typed: The prompts that were answered, in order.
        machine: Joins with a pairing code; else nobody waits for a machine.
    """

    root: Path
    console: SimulatorConfig
    port: int
    wrong: dict[str, list[str]] = field(default_factory=dict)
    typed: list[str] = field(default_factory=list)
    machine: Callable[[str], None] | None = None

    @classmethod
    @contextlib.contextmanager
    def at(cls, root: Path, *, trusted: bool = False) -> Iterator[Trial]:
        """Start the console; ends it, and every gateway of this home."""
        console_port, page_port, port = free_ports(3)
        config = root / "config"
        made = write_console(config, port=console_port, page_port=page_port)
        if trusted:
            app = replace(made.first, trusted_ip="*")
            save(made.with_app(app), config / "simulator.json")
        trial = cls(root, load(config / "simulator.json"), port)
        with (root / "sim.log").open("wb") as log, Path(os.devnull).open("rb") as nothing:
            streams = [nothing.fileno(), log.fileno(), log.fileno()]
            simulator = shared_zygote().start(["sim"], environ=trial.environ, streams=streams)
        try:
            wait_until(lambda: listens(console_port))
            yield trial
        finally:
            trial.end_gateways()
            simulator.kill()
            simulator.wait(10)

    @property
    def environ(self) -> dict[str, str]:
        """The environment of every command."""
        kept = {name: value for name, value in os.environ.items() if name in ("PATH", "HOME")}
        return kept | {"CODEXBRIDGE_HOME": str(self.root), "LANG": "C.UTF-8"}

    @property
    def base(self) -> str:
        """Where the gateway listens."""
        return f"http://127.0.0.1:{self.port}"

    @property
    def secrets(self) -> Path:
        """The folder of secrets that is used by default."""
        return self.root / "config" / "gateway-secrets"

    def init(self, watch: Watch | None = None, *more: str) -> WatchedTerminal:
        """Return a terminal with ``gateway init`` in it."""
        api = f"http://127.0.0.1:{self.console.port}"
        options = ("--api-base", api, "--port", str(self.port), *more)
        return WatchedTerminal(self, watch, "gateway", "init", *options)

    def unasked(self, *options: str) -> tuple[int, str, str]:
        """Run it without a person; returns exit code, output and errors."""
        api = ("--api-base", f"http://127.0.0.1:{self.console.port}", "--port", str(self.port))
        done = forks.run(
            *("gateway", "init", "--non-interactive", *api, *options), environ=self.environ
        )
        return done.returncode, done.stdout, done.stderr

    def walk(self, terminal: WatchedTerminal, *, stop_at: int = 10**6, before: str = "—") -> bool:
        """Answer like a person, up to a prompt by number or name; False when it has ended.

        Returns:
            Whether the screen rests: at that prompt, or at the end where the gateway runs.
        """
        answers = self._answers()
        seen = 0
        while terminal.rests_at(lambda shown: shown.endswith((*answers,)) or STAYS.search(shown)):
            shown = terminal.shown.rstrip()
            prompt = next((prompt for prompt in answers if shown.endswith(prompt)), None)
            if prompt is None:
                return True
            seen += 1
            if seen == stop_at or prompt == before:
                return True
            self.typed.append(prompt)
            terminal.shown += "\n·"  # the same prompt is not answered twice
            if again := self.wrong.get(prompt):
                terminal.type(again.pop(0))
            else:
                answers[prompt](terminal)
        return False

    def _answers(self) -> dict[str, Callable[[WatchedTerminal], None]]:
        config = self.console.first

        def types(text: str) -> Callable[[WatchedTerminal], None]:
            return lambda terminal: terminal.type(text)

        return {
            "(企业ID):": types(config.corp_id),
            "AgentId:": types(str(config.app_id)),
            "Secret:": types(config.corp_secret),
            f"[{self.base}]:": types(""),
            "[127.0.0.1]:": types(""),
            "Token:": types(""),
            "EncodingAESKey:": types(""),
            "(账号):": types("zhangwei"),
            "[dev-1]:": types(""),
            CONSOLE: lambda _terminal: self.save_callback(),
            TRUST: lambda _terminal: self.trust(),
            PAIR: self._pair,
        }

    def save_callback(self) -> None:
        """Save in the console what the files hold: it is what the screen shows."""
        token, key = (
            (self.secrets / name).read_text(encoding="utf-8")
            for name in ("wecom__token", "wecom__encoding_aes_key")
        )
        self.run("sim", "save", f"{self.base}/wecom/app", stdin=f"{token}\n{key}\n")

    def trust(self) -> None:
        """Save the gateway's address under 企业可信IP."""
        self.run("sim", "trust", "127.0.0.1")

    def _pair(self, terminal: WatchedTerminal) -> None:
        if self.machine is None:
            terminal.type("")
        else:
            self.machine(CODE.findall(terminal.shown)[-1])

    def run(self, *arguments: str, stdin: str = "") -> str:
        """Run ``codexbridge`` to its end."""
        done = forks.run(*arguments, environ=self.environ, stdin=stdin)
        assert done.returncode == 0, (arguments, done)
        return done.stdout

    def files(self) -> dict[str, tuple[int, bytes]]:
        """Return mode and content of what init writes."""
        config = self.root / "config"
        paths = [config / "gateway.toml", *sorted(self.secrets.iterdir())]
        return {path.name: (path.stat().st_mode & 0o777, path.read_bytes()) for path in paths}

    def gateways(self) -> list[psutil.Process]:
        """Return the gateways that run with this home, by where their output goes."""
        found = []
        for pid in psutil.pids():
            with contextlib.suppress(OSError, psutil.Error):
                log = Path(f"/proc/{pid}/fd/1").readlink()
                if log.name == "gateway.log" and log.is_relative_to(self.root):
                    found.append(psutil.Process(pid))
        return found

    def end_gateways(self) -> None:
        """End the gateways of this home, by their numbers."""
        for process in self.gateways():
            process.kill()
            process.wait(10)

    def is_whole(self) -> bool:
        """Check that there is one good installation and nothing beside it."""
        config = self.root / "config"
        names = {path.name for path in config.iterdir()}
        assert names - OF_THE_MACHINE - {LOCK} == {
            "gateway.toml",
            "gateway-secrets",
            "simulator.json",
        }
        assert self.secrets.stat().st_mode & 0o777 == 0o700
        assert {path.name for path in self.secrets.iterdir()} == SECRETS
        assert {mode for name, (mode, _) in self.files().items() if name in SECRETS} == {0o600}
        assert self.files()["wecom__corp_secret"][1].decode() == self.console.first.corp_secret
        members = json.loads(self.run("gateway", "member", "list", "--json"))
        roles = [(member["user"], member["role"], member["by_settings"]) for member in members]
        assert roles == [("zhangwei", "admin", False)]
        assert not [*(self.root / "state").rglob("*.tmp")]
        return True
