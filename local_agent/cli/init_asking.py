"""What ``codexbridge init`` asks of a person, and what it has others write of the answers.

`local_agent.cli.init` is the list of steps; here is what the steps are made of.
"""

from __future__ import annotations

import asyncio
import json
import re
import select
import shlex
import sys
import time
from argparse import Namespace
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from common.clock import SystemClock
from common.errors import CodexBridgeError, InputError, UnavailableError
from common.home import Home, find_home, private_dir, write_private
from common.sentences import Lang, Sentence, explain
from common.text import one_line
from local_agent.cli import init_words as texts
from local_agent.cli.agent import STOPPED as AGENT_STOPPED
from local_agent.cli.pair import PAIR_CODE, join, read_secret
from local_agent.cli.screen import Screen, at_keyboard, screen_for
from local_agent.faces.control.client import call, stream
from local_agent.link.pairing import KEYS, Pairing, gateway_origin, open_keys
from local_agent.views import from_json
from local_agent.workspace.registry import Registry, Workspace

if TYPE_CHECKING:
    import argparse

    from common.children import Started
    from common.doctor import Examined
    from local_agent.doctor.installation import Installation
    from local_agent.sandbox.toolchains import Toolchain
    from local_agent.views.status import StatusView

NAMES: Final = 12  # cells for the titles of checks, so that all lines stand below one another
STARTS_S: Final = 30.0
CONNECTS_S: Final = 10.0
POLL_S: Final = 0.3
_MAX_LINE: Final = 4096
_LOOKED_THROUGH: Final = 100  # tasks
_RUN: Final = ("completed", "failed")
_OBJECT: Final = 'json_mode = "object"'
_QWEN: Final = "https://dashscope.aliyuncs.com/compatible-mode/v1"
_NONE: Final = ("none", "-", "无")
_SAME: Final = {
    **dict.fromkeys(("same", "相同", "一样", "一致"), True),  # no yes, which is typed unread
    **dict.fromkeys(("different", "不同", "不一样", "不一致"), False),
}
# Found by the variable that holds its key: that, the model, its address, and how it is spoken with.
KEYED: Final[Mapping[str, tuple[str, ...]]] = {
    "deepseek": ("DEEPSEEK_API_KEY", "deepseek-chat", "https://api.deepseek.com/v1", _OBJECT),
    "qwen": ("DASHSCOPE_API_KEY", "qwen3-coder-plus", _QWEN, _OBJECT),
    "moonshot": (
        *("MOONSHOT_API_KEY", "kimi-k2-turbo-preview", "https://api.moonshot.cn/v1", _OBJECT),
    ),
    "openai": ("OPENAI_API_KEY", "gpt-5.5", "https://api.openai.com/v1", 'api = "responses"'),
}
LOG: Final = "agent.log"
_CODEX: Final = ('kind = "codex"', 'model = "gpt-5.5"')


@dataclass(slots=True)
class Setup:
    """One run.

    Attributes:
        agent: Where it is a child of ours.
    """

    args: argparse.Namespace
    environ: Mapping[str, str]
    home: Home
    screen: Screen
    here: Installation
    agent: Started | None = None

    @property
    def quiet(self) -> bool:
        """Whether nobody is asked."""
        return bool(self.args.non_interactive)

    def examine(self, *names: str) -> list[Examined]:
        """Look at some things, or at all."""
        from common.doctor import examine
        from local_agent.doctor.checks import checks

        sandbox = self.here.sandbox
        self.here.forget()
        self.here.sandbox = sandbox  # it is tried once
        return asyncio.run(examine(checks(self.here, names)))

    def look(self, *names: str) -> bool:
        """Look, print a line for each, and tell whether nothing is bad."""
        from common.doctor import is_well
        from local_agent.cli.doctor import print_lines

        found = self.examine(*names)
        print_lines(found, self.screen, names=NAMES)
        return is_well(found)

    def needs(self, *names: str) -> bool:
        """Look; where something is bad, say that nothing can go on from there."""
        well = self.look(*names)
        if not well:
            self.screen.tell(texts.STOPPED)
        return well

    def ask(self, question: Sentence, **facts: object) -> str:
        """Return the line that is typed, without its blanks."""
        self.put(question, **facts)
        return _typed()

    def put(self, question: Sentence, **facts: object) -> None:
        """Print a question, and leave the cursor behind it."""
        print(self.screen.say(question, **facts), end="", flush=True)

    def complain(self, error: CodexBridgeError) -> None:
        """Say what is wrong with an answer, before it is asked for again."""
        from local_agent.error_texts import ERRORS

        print(explain(error, ERRORS, self.screen.lang))

    def status(self) -> StatusView | None:
        """Return what the running agent says; None without one that can be asked."""
        from local_agent.views.status import StatusView

        try:
            return from_json(StatusView, call(self.home, self.environ, "status"), loose=True)
        except CodexBridgeError:
            return None

    def waiting(self) -> list[str]:
        """Return the IDs of the tasks that wait for approval."""
        status = self.status()
        return [one.short_id for one in status.approvals] if status else []

    def end_agent(self) -> None:
        """End the agent, where it is ours."""
        if self.agent is not None and self.agent.poll() is None:
            self.agent.terminate()
            self.agent.wait()

    def stay(self) -> None:
        """Let the agent go on until Ctrl-C, where it is ours.

        Raises:
            UnavailableError: ``init.agent-gone`` (log): it was killed, or failed.
        """
        if self.agent is None:
            return
        try:
            self.screen.tell(texts.STAYS)
            if self.agent.wait() != 0:
                raise UnavailableError("init.agent-gone", log=self.home.state / LOG)
        except KeyboardInterrupt:
            print()
            self.end_agent()
        self.screen.tell(AGENT_STOPPED)


def new_setup(args: argparse.Namespace, lang: Lang, environ: Mapping[str, str]) -> Setup:
    """Return a run that has looked at nothing yet."""
    from local_agent.doctor.installation import Installation

    home = find_home(environ)
    here = Installation(places=home, home=Path.home(), environ=environ)
    return Setup(args, environ, home, screen_for(lang, environ), here)


def _typed() -> str:
    line = sys.stdin.readline(_MAX_LINE)
    if not line:
        raise KeyboardInterrupt  # Ctrl-D: the person leaves
    return line.strip()


# --- pairing ----------------------------------------------------------------------------------


def join_gateway(setup: Setup) -> Pairing | None:
    """Pair with the line that is pasted; None where the person wants no gateway."""
    while True:
        try:
            url, code = _pasted(setup)
            keys = open_keys(setup.home)
            return join(setup.home, keys, url=url, code=code) if code else None
        except CodexBridgeError as error:
            if setup.quiet:
                raise
            setup.complain(error)


def _pasted(setup: Setup) -> tuple[str, str]:
    from common.protocol.pairing import parse_code, split_pairing_line

    if setup.quiet:
        url, code = ("", "") if at_keyboard() else split_pairing_line(read_secret(""))
        if not (url and code):
            raise InputError("init.no-line")
    else:
        url, code = split_pairing_line(read_secret(setup.screen.say(texts.PASTE)))
        if code and not url and "://" in code:  # an address alone
            url, code = code, read_secret(setup.screen.say(PAIR_CODE))
        elif code and not url:
            parse_code(code)
            url = setup.ask(texts.GATEWAY)
    return (gateway_origin(url) if code else "", code)


def words_are_same(setup: Setup) -> bool:
    """Ask until it is answered whether the check words are the same on both sides."""
    while (same := _SAME.get(setup.ask(texts.COMPARE).lower())) is None:
        pass
    return same


# --- workspace --------------------------------------------------------------------------------


def open_workspace(setup: Setup, registry: Registry, folder: Path, command: str | None) -> None:
    """Open a folder to tasks, as `codexbridge workspace add` does."""
    from local_agent.cli import workspace

    # Where nobody is asked, the terminal that may be there is not, either.
    toolchains = setup.args.toolchains or ("none" if setup.quiet and at_keyboard() else None)
    named = Namespace(path=folder, name=None, test=command, default=False, deny=[], pass_env=[])
    named.toolchains = toolchains
    workspace.add(named, registry, setup.screen, setup.environ)


def asked_folder(setup: Setup) -> Path:
    """Ask which folder; the repository or folder that this was started in is offered."""
    here = Path.cwd()
    found = next((one for one in (here, *here.parents) if (one / ".git").exists()), None)
    if found is None and here != setup.here.home:
        found = here
    if found is None:
        typed = setup.ask(texts.FOLDER) or str(here)  # which is refused, and it is said why
    else:
        typed = setup.ask(texts.FOLDER_HERE, found=one_line(str(found), 1024)) or str(found)
    quoted = typed[0] in "'\"" and typed[-1] == typed[0]  # as a file manager pastes it
    return Path(typed[1:-1] if quoted else typed)


def _found(folder: Path) -> list[tuple[str, str]]:
    """Return each command for the tests that the project's files name, and the file."""
    from local_agent.workspace.project.infer import infer
    from local_agent.workspace.project.model import Wish

    trial = Workspace(name="trial", path=folder.expanduser().resolve())
    said = asyncio.run(infer(trial, Wish("test")))
    return [(shlex.join(one.argv), one.because) for one in said.recipes]


def startable(
    found: list[tuple[str, str]], folder: Path, toolchains: Sequence[Toolchain]
) -> list[tuple[str, str]]:
    """Return those whose program is there; where it is only called python3, under that name."""
    from local_agent.cli.workspace import starts

    spelled = [
        [(command, file), (re.sub(r"^python\b", "python3", command), file)]
        for command, file in found
    ]
    place = folder.expanduser().resolve()
    fitting = ([one for one in ways if starts(one[0], place, toolchains)] for ways in spelled)
    return [ways[0] for ways in fitting if ways]


def named_command(setup: Setup, registry: Registry, folder: Path) -> str | None:
    """Return the test command of the command line, or the only one that is found."""
    command: str | None = setup.args.test_command
    if command is None:
        toolchains = registry.inspect(folder, setup.environ)
        found = startable(_found(folder), folder, toolchains)
        return found[0][0] if len(found) == 1 else None
    return None if command in _NONE else command


def asked_command(setup: Setup, registry: Registry, folder: Path) -> str | None:
    """Return the test command that the person agrees to; None for none."""
    from local_agent.cli.workspace import check_start

    if setup.args.test_command is not None:
        return named_command(setup, registry, folder)
    toolchains = registry.inspect(folder, setup.environ)
    first, *more = startable(_found(folder), folder, toolchains) or [("", "")]
    if more:
        listed = "; ".join(f"{command} ({file})" for command, file in more)
        setup.screen.tell(texts.COMMANDS_MORE, commands=one_line(listed, 400))
    shown = {"found": one_line(first[0], 200), "file": one_line(first[1], 200)}
    while True:
        asked = texts.COMMAND_FOUND if first[0] else texts.COMMAND
        command = setup.ask(asked, **(shown if first[0] else {})) or first[0]
        if not command or command in _NONE:
            return None
        try:
            check_start(command, folder.expanduser().resolve(), toolchains)
        except InputError as error:
            setup.complain(error)
        else:
            return command


# --- model ------------------------------------------------------------------------------------


def chosen_model(setup: Setup) -> str:
    """Return the name of the model to set up, or nothing."""
    import shutil

    environ, named = setup.environ, setup.args.model
    found = ["codex"] if shutil.which("codex", path=environ.get("PATH", "")) else []
    found += [name for name, (variable, *_) in KEYED.items() if environ.get(variable)]
    if named is not None and named not in found:
        raise InputError("init.model", name=one_line(named, 40), found=tuple(found))
    if named is not None or not found or setup.quiet:
        return named or ""
    while name := setup.ask(texts.CHOOSE_MODEL, names=", ".join(found)):
        if name in found:
            return name
    return ""


def forget_keys(home: Home) -> None:
    """Forget the keys that an earlier run kept and then had no time to use."""
    from local_agent.models.keys import ModelKeys

    for name in KEYED:
        if (home.state / KEYS / f"model-{name}.key").exists():
            ModelKeys(open_keys(home)).delete(name)


def configure(setup: Setup, name: str) -> None:
    """Keep the key, then write the table: a model that is there has what it needs."""
    from local_agent.models.keys import ModelKeys, parse_key
    from local_agent.settings import SETTINGS_FILE, settings_file

    lines: tuple[str, ...] = _CODEX
    if name in KEYED:
        variable, model, url, spoken = KEYED[name]
        ModelKeys(open_keys(setup.home)).put(name, parse_key(setup.environ[variable]))
        lines = ('kind = "http"', f'model = "{model}"', f'base_url = "{url}"', spoken)
    file = settings_file(setup.home, setup.environ, None) or setup.home.config / SETTINGS_FILE
    before = file.read_text(encoding="utf-8").rstrip() + "\n\n" if file.exists() else ""
    text = before + "\n".join((f"[models.{name}]", *lines, ""))
    write_private(file.resolve(), text.encode())


# --- agent ------------------------------------------------------------------------------------


def ensure_agent(setup: Setup) -> None:
    """Have an agent run: one that does, the service, or else a child of ours."""
    from common.children import start_own
    from local_agent.store.lock import JOURNAL, is_held

    if setup.status() is not None:
        return
    log = private_dir(setup.home.state) / LOG
    # One that holds the journal is about to listen, or to end.
    if not is_held(setup.home.state / JOURNAL) and not _start_service(setup):
        if setup.quiet:
            return
        setup.screen.tell(texts.CHILD, log=one_line(str(log), 1024))
        setup.agent = start_own(["agent"], env=setup.environ, output=log)
    until = SystemClock().now().mono + STARTS_S
    while (status := setup.status()) is None or _is_settling(status, until - CONNECTS_S):
        ended = setup.agent is not None and setup.agent.poll() is not None
        if ended or SystemClock().now().mono > until:
            raise UnavailableError("init.agent-ended", log=log)
        time.sleep(POLL_S)


def _is_settling(status: StatusView, until: float) -> bool:
    """Tell whether the gateway or the desktop is still tried, and there is time for that."""
    unsettled = status.gateway.state == "connecting" or status.windows.state == "looking"
    return unsettled and SystemClock().now().mono < until


def _start_service(setup: Setup) -> bool:
    import codexbridge
    from common.service import is_managed

    if not is_managed():
        return False
    agreed = setup.quiet or setup.ask(texts.SERVICE).lower() in ("", "y", "yes", "是")
    return agreed and codexbridge.main(["service", "install"]) == 0


# --- first task -------------------------------------------------------------------------------


def _meanwhile(look: Callable[[], bool]) -> str | None:
    """Wait until it is so, or a line is typed; return that line, None where none was."""
    while not look():
        if select.select([sys.stdin], [], [], POLL_S)[0]:
            return _typed()
    print()  # the question stands there, without an answer
    return None


def requested(setup: Setup) -> str:
    """Wait for a task from the chat, or ask for one here; return its ID, or nothing to skip it."""
    from local_agent.cli.ask import follow

    settings, workspace = setup.here.settings, Registry(setup.home, home=setup.here.home).find()
    command = workspace.test_command or (settings and settings.default_test_command)
    text = "test" if command else 'test --cmd="ls"'
    question = texts.SEND if setup.here.pairing else texts.SEND_HERE
    while True:
        setup.put(question, text=text)
        typed = _meanwhile(lambda: bool(setup.waiting()))
        if typed is not None and typed.lower() == "s":
            return ""
        if typed:
            continue
        if typed is not None:
            asked: dict[str, Any] = {"text": text, "lang": setup.screen.lang, "workspace": ""}
            try:
                steps = stream(setup.home, setup.environ, "ask", **asked)
                follow(steps, setup.screen, waits=None)  # asked about below
            except CodexBridgeError as error:
                setup.complain(error)
        if waiting := setup.waiting():
            return waiting[0]


def is_decided(setup: Setup, task: str) -> bool:
    """Wait until a person has decided, in a window or here; False to skip it."""
    from local_agent.cli.decide import decide_here

    status = setup.status()
    question = texts.OPENED if status and status.windows.state == "on" else texts.ASKED
    while task in setup.waiting():
        setup.put(question, task=task)
        typed = _meanwhile(lambda: task not in setup.waiting())
        if typed is not None and typed.lower() == "s":
            return False
        if typed is not None:
            try:
                decide_here(setup.home, setup.environ, task, setup.screen.lang)
            except CodexBridgeError as error:
                setup.complain(error)
    return True


def was_proved(setup: Setup) -> bool:
    """Tell whether a task was approved and run before."""
    from local_agent.views.task import TaskList

    told = call(setup.home, setup.environ, "tasks", all=True, limit=_LOOKED_THROUGH)
    tasks = from_json(TaskList, told, loose=True).tasks
    ended = (task.short_id for task in tasks if task.reason in _RUN)
    return any(_receipt(setup, task)["approval"] for task in ended)


def _receipt(setup: Setup, task: str) -> dict[str, Any]:
    made = json.loads(call(setup.home, setup.environ, "receipt", task=task)["receipt"])
    return dict(made["receipt"])


def is_proved(setup: Setup, task: str) -> bool:
    """Show how a task ended, and tell whether its receipt says that it was approved and run."""
    from local_agent.cli.ask import EXIT_INTERRUPTED, follow
    from local_agent.cli.receipt import APPROVERS

    steps = stream(setup.home, setup.environ, "follow", task=task)
    if follow(steps, setup.screen, task=task) == EXIT_INTERRUPTED:
        raise KeyboardInterrupt
    made = _receipt(setup, task)
    approval = made["approval"]
    if approval is None or made["outcome"]["reason"] not in _RUN:
        setup.screen.tell(texts.NOT_RUN, task=task)
        return False
    approver = setup.screen.say(APPROVERS[approval["approver"]])
    receipt = made["task"]["task_id"]
    has_failed = made["outcome"]["reason"] == "failed"
    told = texts.PROVED_FAILED if has_failed else texts.PROVED
    workspace = Registry(setup.home, home=setup.here.home).find().name
    setup.screen.tell(told, approver=approver, receipt=receipt, task=task, workspace=workspace)
    return True
