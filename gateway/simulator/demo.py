"""``codexbridge demo``: the main job on one machine, with separate processes and the real approver.

It does what a member, an admin and a person at the dev machine would do, with the same commands:
it writes to the chat, pairs, adds a workspace.  It never approves: it only puts the approver in
front of the person.
"""

from __future__ import annotations

import queue
import select
import shutil
import signal
import sys
import tempfile
import threading
import time
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, Final

from common.children import Children
from common.clock import SystemClock
from common.errors import CodexBridgeError, ConfigError, InputError, UnavailableError
from common.ids import parse_short_id
from common.sentences import Lang, Sentence, say
from common.terminal import Ink, cells, pad, wrap
from gateway.simulator import sentences as S  # noqa: N812 - a table of constants
from gateway.simulator.client import bubble_text
from gateway.simulator.parts import MEMBER, Parts

FIRST_MESSAGE: Final = "@dev test"
LOOK_SECONDS: Final = 0.2
HEAR_SECONDS: Final = 5.0
_WAITING: Final = "WAITING_APPROVAL"
# Commands of the dev machine that can be typed here.
_HERE: Final = frozenset(
    {"apply", "cancel", "check", "context", "diff", "receipt", "reject", "retry", "show"}
    | {"status", "tasks", "undo"}
)
FACT_COLUMN = 34


def run_demo(
    lang: Lang, environ: Mapping[str, str], *, script: Path | None, keep: Path | None
) -> int:
    """Run the demo until the person ends it, and return the exit code.

    Raises:
        UnavailableError: ``demo.…`` when a part could not be started.
    """
    lines = _read_script(script) if script else [FIRST_MESSAGE]
    home = _new_home(keep)
    children = Children(_environment(environ, home, lang), home)
    for number in (signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, _interrupt)
    try:
        demo = Demo(lang, home, children, [line for line in lines if line.strip()])
        demo.run()
    except KeyboardInterrupt:
        pass
    finally:
        _clear_up(lang, children, home, keep=keep is not None)
    return 0


def _clear_up(lang: Lang, children: Children, home: Path, *, keep: bool) -> None:
    screen = DemoScreen(lang, terminal=sys.stdout.isatty())
    try:
        screen.gap()
        screen.tell(S.DEMO_STOPPING)
    except OSError:
        pass  # the terminal was closed; what it started must end all the same
    children.stop()
    if not keep:
        shutil.rmtree(home, ignore_errors=True)
    try:
        screen.tell(S.DEMO_END)
        if keep:
            screen.tell(S.DEMO_KEPT, home=home)
    except OSError:
        pass


class Demo:
    """One run: set up, then follow chat and keyboard until the end."""

    def __init__(self, lang: Lang, home: Path, children: Children, lines: list[str]) -> None:
        self._lang = lang
        self._home = home
        self._children = children
        self._lines = lines
        self._heard: queue.SimpleQueue[dict[str, Any]] = queue.SimpleQueue()
        self._offered: set[str] = set()
        self._terminal = sys.stdin.isatty() and sys.stdout.isatty()
        self._screen = DemoScreen(lang, terminal=self._terminal)
        self._parts = Parts(lang, home, children, self._screen.done, browser=self._terminal)

    def run(self) -> None:
        """Set up, then follow chat and keyboard until the person ends it."""
        self._screen.title(S.DEMO_TITLE)
        self._parts.start()
        self._follow()

    def _follow(self) -> None:
        """Send the lines, tell what the chat hears, put the approver in front when it is needed."""
        threading.Thread(target=self._listen, daemon=True).start()
        typed = _lines_of(sys.stdin) if self._terminal else iter(lambda: None, "")
        self._screen.gap()
        while True:
            if child := self._children.ended():
                raise UnavailableError("demo.part-ended", name=child.name, why=child.last())
            for bubble in _drain(self._heard):
                self._screen.bubble(bubble)
                if bubble["sender"] == "app":
                    self._offer_approval()
            if self._lines and not self._parts.open_tasks():
                self._parts.chat.say(MEMBER, self._lines.pop(0))
            line = next(typed)
            if line is None:
                if not self._terminal:
                    time.sleep(LOOK_SECONDS)
            elif not self._typed(line.strip()):
                return

    def _typed(self, line: str) -> bool:
        if line in ("q", "quit", "exit"):
            return False
        words = line.removeprefix("codexbridge ").split()
        if words[:1] == ["approve"]:
            self._offered.clear()
            if not self._offer_approval(wanted=[*map(_short_id, words[1:])], here=True):
                self._screen.tell(S.DEMO_NOTHING_WAITS)
        elif words and words[0] in _HERE:
            self._children.in_front(words)
            self._screen.gap()
        elif line.lower().startswith(("@dev", "＠dev")):
            self._parts.chat.say(MEMBER, line)
        elif line:
            self._screen.tell(S.DEMO_CHAT_ONLY)
        return True

    def _offer_approval(self, *, wanted: Sequence[str] = (), here: bool = False) -> bool:
        """Put what waits in front of the person; ``here`` at this terminal, whatever else opens."""
        waiting = [task for task in self._parts.open_tasks() if task.get("state") == _WAITING]
        fresh = [task["short_id"] for task in waiting if task["short_id"] not in self._offered]
        if wanted:
            fresh = [short_id for short_id in fresh if short_id in wanted]
        if not fresh:
            return False
        short_id = fresh[-1]  # the list begins with the newest; the oldest is asked first
        self._offered.add(short_id)
        in_window = not here and self._parts.has_windows()
        if not self._terminal:
            alone = S.DEMO_WINDOW_ALONE if in_window else S.DEMO_NO_TERMINAL
            self._screen.call(alone, short_id=short_id, home=self._home)
            return True
        self._screen.call(S.DEMO_WINDOW if in_window else S.DEMO_WAITING, short_id=short_id)
        if not in_window:
            self._children.in_front(["approve", short_id])
            self._screen.gap()
            self._hear_of(short_id)
            if any(task["short_id"] == short_id for task in self._parts.open_tasks()):
                self._screen.tell(S.DEMO_UNDECIDED, short_id=short_id)
        self._screen.tell(S.DEMO_PROMPT)
        self._screen.gap()
        return True

    def _hear_of(self, short_id: str) -> None:
        """Show what the chat hears of a task that has ended, before anything else is asked."""
        if any(task["short_id"] == short_id for task in self._parts.open_tasks()):
            return
        until = SystemClock().now().mono + HEAR_SECONDS
        while (left := until - SystemClock().now().mono) > 0:
            try:
                bubble = self._heard.get(timeout=left)
            except queue.Empty:
                return
            self._screen.bubble(bubble)
            if bubble["sender"] == "app" and bubble["text"].startswith(f"{short_id} "):
                self._screen.gap()
                return

    def _listen(self) -> None:
        last = 0
        while True:
            try:
                for bubble in self._parts.chat.messages(last, wait=True):
                    last = bubble["number"]
                    self._heard.put(bubble)
            except CodexBridgeError:
                return


def _new_home(keep: Path | None) -> Path:
    if keep is None:
        return Path(tempfile.mkdtemp(prefix="codexbridge-demo-"))
    try:
        keep.mkdir(mode=0o700, parents=True)
    except FileExistsError:
        raise ConfigError("demo.folder-exists", path=keep) from None
    return keep.resolve()


def _environment(environ: Mapping[str, str], home: Path, lang: Lang) -> dict[str, str]:
    # A variable of a real installation must not leak into the demo.
    kept = {name: value for name, value in environ.items() if not name.startswith("CODEXBRIDGE_")}
    return kept | {"CODEXBRIDGE_HOME": str(home), "CODEXBRIDGE_LANG": lang}


def _lines_of(stream: Any) -> Iterator[str | None]:
    """Yield a typed line, or None when none came within `LOOK_SECONDS`; ends the demo at EOF."""
    while True:
        if not select.select([stream], [], [], LOOK_SECONDS)[0]:
            yield None
        elif line := stream.readline():
            yield line
        else:
            yield "q"


def _drain(heard: queue.SimpleQueue[dict[str, Any]]) -> Iterator[dict[str, Any]]:
    while True:
        try:
            yield heard.get_nowait()
        except queue.Empty:
            return


def _interrupt(_number: int, _frame: object) -> None:
    raise KeyboardInterrupt


def _short_id(word: str) -> str:
    try:
        return parse_short_id(word)
    except InputError:
        return word


def _read_script(path: Path) -> list[str]:
    try:
        return path.read_text(encoding="utf-8").splitlines()
    except (OSError, UnicodeDecodeError) as error:
        raise ConfigError(
            "config.no-file", file=path, why=getattr(error, "strerror", "not UTF-8")
        ) from None


class DemoScreen:
    """Writes lines as they come; a pipe gets the same without emphasis.

    Args:
        lang: Language of the person.
        terminal: Whether a person sits there.
    """

    def __init__(self, lang: Lang, *, terminal: bool) -> None:
        self._lang: Lang = lang
        self._ink = Ink(on=terminal)

    def title(self, sentence: Sentence) -> None:
        """Write the headline."""
        print(self._ink("bold", say(sentence, self._lang)) + "\n", flush=True)

    def done(self, sentence: Sentence, fact: object) -> None:
        """Tick off one part, with where it is."""
        text = pad(say(sentence, self._lang), FACT_COLUMN)
        print(f"  {self._ink('green', '✓')} {text} {fact}".rstrip(), flush=True)

    def tell(self, sentence: Sentence, **facts: object) -> None:
        """Write one remark."""
        print("  " + say(sentence, self._lang, **facts), flush=True)

    def call(self, sentence: Sentence, **facts: object) -> None:
        """Write what the person is asked to do now."""
        print("\n● " + self._ink("bold", say(sentence, self._lang, **facts)) + "\n", flush=True)

    def bubble(self, bubble: dict[str, Any]) -> None:
        """Write one chat message, folded beside its speaker."""
        who = say(S.DEMO_ME if bubble["sender"] == "member" else S.DEMO_APP, self._lang)
        width = max(shutil.get_terminal_size().columns - cells(who) - 6, 20)
        lines = [
            piece
            for line in bubble_text(bubble, self._lang).splitlines()
            for piece in (wrap(line, width) or [""])
        ]
        for number, line in enumerate(lines):
            head = self._ink("dim", who if number == 0 else " " * cells(who))
            print(f"  {head} {self._ink('dim', '│')} {line}", flush=True)

    def gap(self) -> None:
        """Write an empty line."""
        print(flush=True)
