"""A run as it is followed: its events as lines of JSON, or as a list of steps that grows.

What it asks is asked on this terminal where a person sits at it, and else waits.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Final

from common.clock import SystemClock
from common.errors import CodexBridgeError, InputError, StateError
from common.home import Home
from common.sentences import Lang, Sentence, explain, say
from common.terminal import cells, clip_cells, fold, most_cells
from common.text import one_line, reveal
from local_agent.cli.screen import Screen, at_keyboard, print_json_line, screen_for

if TYPE_CHECKING:
    import argparse

    from local_agent.views import Json

COUNTS: Final[Mapping[str, Sentence]] = {  # of what the result of a tool holds, by its key
    "files": Sentence(en="{count} {count:file|files}", zh="{count} 个文件"),
    "items": Sentence(en="{count} {count:hit|hits}", zh="{count} 处"),
    "commits": Sentence(en="{count} {count:commit|commits}", zh="{count} 个提交"),
    "changed": Sentence(en="{count} changed", zh="{count} 个改动"),
}
WAITS: Final = Sentence(
    en="waits for you: codexbridge approve {task}", zh="等待你确认：codexbridge approve {task}"
)
IS_DRY: Final = Sentence(en="dry run in {folder}", zh="试运行，位于 {folder}")
SKIPPED: Final = Sentence(en="skipped: {reason}", zh="已跳过：{reason}")
RETRIES: Final = Sentence(en="asked again: {error}", zh="再次询问：{error}")
GO_ON: Final = Sentence(
    en="To carry it on from there: codexbridge playbook resume {task}",
    zh="从停下的位置继续：codexbridge playbook resume {task}",
)
DETACHED: Final = Sentence(
    en="Stopped watching; the run goes on. Stop it: codexbridge cancel {task}",
    zh="已停止查看；剧本仍在执行。停止它：codexbridge cancel {task}",
)
ENDINGS: Final[Mapping[str, Sentence]] = {
    "completed": Sentence(en="completed", zh="已完成"),
    "failed": Sentence(en="failed", zh="失败"),
    "aborted": Sentence(en="aborted", zh="已中止"),
    "denied": Sentence(en="denied", zh="被拒绝"),
    "cancelled": Sentence(en="cancelled", zh="已取消"),
    "timeout": Sentence(en="nobody answered in time", zh="超时未答复"),
    "running": Sentence(en="running", zh="执行中"),
    "pending": Sentence(en="about to begin", zh="即将开始"),
    "rolled_back": Sentence(en="rolled back", zh="已回滚"),
}

OUTPUT_LINES: Final = 3  # of a command, the last
TAB_CELLS: Final = 8
GUTTER: Final = "    │ "
MIN_CELLS: Final = 20
ROOM_BESIDE: Final = 24  # cells of a step's line for its number and how it ended
EXIT_FAILED: Final = 1
EXIT_REFUSED: Final = 2
EXIT_ABORTED: Final = 3
EXIT_INTERRUPTED: Final = 130
_EXITS: Final = {
    "completed": 0,
    "rolled_back": 0,
    "failed": EXIT_FAILED,
    "aborted": EXIT_ABORTED,
}


def tell_parse_error(error: CodexBridgeError, lang: Lang) -> None:
    """Say it with the name of the error first, which other programs look for."""
    from local_agent.error_texts import ERRORS

    print(explain(error, ERRORS, lang), file=sys.stderr)


def follow_run(
    steps: Iterator[tuple[str, Json]],
    args: argparse.Namespace,
    home: Home,
    lang: Lang,
    environ: Mapping[str, str],
) -> int:
    face: _Json | _Terminal
    face = _Json() if args.json else _Terminal(screen_for(lang, environ), home, environ, lang)
    code = EXIT_REFUSED
    task = ""
    try:
        for kind, value in steps:
            if kind == "event":
                task = task or value.get("short_id", "–")
                face.show(value)
                code = _EXITS.get(str(value.get("status")), code) if _ends(value) else code
            elif code == EXIT_REFUSED:  # it ended, and has not told that
                code = EXIT_FAILED if task else code
                face.close()
                _tell_ending(value, screen_for(lang, environ))
    except CodexBridgeError as error:
        face.close()
        if error.code == "playbook.parse":
            tell_parse_error(error, lang)
            return EXIT_REFUSED
        if task and error.code in ("agent.stopped", "agent.no-answer"):
            raise StateError("run.stands-still", task=task) from error
        if task:
            raise
        raise InputError(error.code, **error.facts) from error  # nothing ran: exit code 2
    except KeyboardInterrupt:
        face.close()
        print(say(DETACHED, lang, task=task), file=sys.stderr)
        return EXIT_INTERRUPTED
    face.close()
    return code


def _tell_ending(told: Json, screen: Screen) -> None:
    from local_agent.cli.ending import headline
    from local_agent.views import from_json
    from local_agent.views.task import Watched

    for line in headline(screen, from_json(Watched, told).task):
        print(line, file=sys.stderr)


def _ends(event: Json) -> bool:
    return event["type"] in ("task_complete", "rollback_result")


class _Json:
    """Each event as one line of UTF-8, whatever the terminal's encoding."""

    def show(self, event: Json) -> None:
        print_json_line(event)

    def close(self) -> None:
        return


class _Terminal:
    """The steps as a list that grows, with questions on the same terminal.

    A step's line is ended by what came of it and how long it took; where something else was said
    meanwhile, that stands on a line of its own.
    """

    def __init__(self, screen: Screen, home: Home, environ: Mapping[str, str], lang: Lang) -> None:
        self._screen = screen
        self._home = home
        self._environ = environ
        self._lang = lang
        self._total = 0
        self._number = self._step = self._task = ""
        self._began = self._step_began = SystemClock().now().mono
        self._used = 0  # cells of the line of a model's words
        self._in_line = False  # the cursor stands behind a step or a model's words
        self._of_step = False
        self._is_doubted = False  # the step's runner reports failures
        self._found: list[str] = []

    def show(self, event: Json) -> None:
        match event["type"]:
            case "task_start":
                self._total, self._task = event["total_steps"], event["short_id"]
                where = event["workdir"]
                if event.get("dry_run"):
                    where = self._screen.say(IS_DRY, folder=where)
                head = self._screen.ink("bold", f"{event['short_id']}  {event['task_name']}")
                self._line(f"{head}  {self._screen.ink('dim', reveal(where))}")
            case "step_start":
                self._begin_step(event)
            case "step_skipped":
                note = self._screen.say(SKIPPED, reason=one_line(event["reason"], 80))
                self._begin_step(event)
                room = self._room(cells(f"{self._number}  {self._step}  "), least=1)
                self._end_step(self._screen.ink("dim", clip_cells(note, room)))
            case "stream":
                self._stream(reveal(event["chunk"]))
            case "function_result" if event["success"]:
                self._found = self._result(event["result"])
                self._is_doubted = "reported" in event["result"]
            case "step_complete" if event["status"] == "completed":
                took = self._took(self._step_began)
                room = self._room(cells(f"{self._number}  {self._step}  ✓   {took}"), least=1)
                found = [clip_cells(one, room) for one in self._found[:1]]
                said = "  ".join(filter(None, [*found, took]))
                self._end_step(self._screen.ink("dim", said), mark=True)
                for line in self._found[1:]:
                    self._note(line, "dim")
            case "confirmation_required":
                self._ask(event)
            case _:
                self._show_ending(event)

    def _show_ending(self, event: Json) -> None:
        match event["type"]:
            case "step_retry":
                self._note(self._screen.say(RETRIES, error=one_line(event["error"], 200)), "dim")
            case "step_error":
                self._note(self._why(event["error"], 400), "red")
            case "step_complete":
                self._note(self._screen.say(ENDINGS[event["status"]]), "red")
            case "hook_result" if not event["success"]:
                self._note(f"{event['hook']}: {self._why(event['error'], 300)}", "red")
            case "rollback_result":
                for one in event["rollback_results"]:
                    mark, colour = ("✓", "green") if one["success"] else ("–", "dim")
                    why = f"  {self._why(one.get('error') or '', 200)}".rstrip()
                    text = one_line(reveal(one["resource_id"]), 400) + why
                    self._note(text, mark=f"  {self._screen.ink(colour, mark)} ")
                if event.get("dry_run"):
                    from local_agent.cli.ending import IN_COPY

                    self._line(self._screen.ink("dim", self._screen.say(IN_COPY)))
                self._end(event)
            case "task_complete":
                self._end(event)
                if event["status"] != "completed":
                    self._line(self._screen.say(GO_ON, task=self._task))

    def _end(self, event: Json) -> None:
        colour = "green" if event["status"] in ("completed", "rolled_back") else "red"
        word = self._screen.ink(colour, self._screen.say(ENDINGS[event["status"]]))
        self._line(f"{word}  {self._screen.ink('dim', self._took(self._began))}")

    def close(self) -> None:
        if self._in_line:
            print(flush=True)
        self._in_line = self._of_step = False

    def _begin_step(self, event: Json) -> None:
        self.close()
        self._number = f"{event['step_index'] + 1:>3}/{self._total}"
        self._step = clip_cells(event["step"], self._room(ROOM_BESIDE))
        print(f"{self._number}  {self._step}", end="", flush=True)
        self._in_line = self._of_step = True
        self._step_began, self._found = SystemClock().now().mono, []
        self._is_doubted = False

    def _end_step(self, note: str, *, mark: bool = False) -> None:
        sign = self._screen.ink("red", "⚠") if self._is_doubted else self._screen.ink("green", "✓")
        said = f"{sign} {note}" if mark else note
        if self._of_step:
            print(f"  {said}", end="")
            self.close()
        else:  # something else was said meanwhile
            self._line(f"{self._number}  {self._step}  {said}")

    def _stream(self, text: str) -> None:
        """Print a model's words behind a gutter: what stands at the left edge is ours.

        So a line is broken here, and not by the terminal.
        """
        if self._of_step:
            self.close()
        gutter = self._screen.ink("dim", GUTTER)
        shown: list[str] = []
        for char in text:
            size = TAB_CELLS if char == "\t" else most_cells(char)
            if (
                self._in_line
                and self._used + size > self._room(most_cells(GUTTER))
                and char != "\n"
            ):
                shown.append("\n")
                self._in_line = False
            if not self._in_line:
                shown.append(gutter)
                self._used = 0
            shown.append(char)
            self._used += size
            self._in_line = char != "\n"
        print("".join(shown), end="", flush=True)

    def _line(self, text: str) -> None:
        self.close()
        print(text, flush=True)

    def _note(self, text: str, colour: str = "", *, mark: str = "        ") -> None:
        """Print a line within the margin, also what of it has no room in one."""
        for line in fold(text, self._room(8)):
            self._line(f"{mark}{self._screen.ink(colour, line) if colour else line}")
            mark = GUTTER if mark == GUTTER else "        "

    def _room(self, margin: int, *, least: int = MIN_CELLS) -> int:
        """Return the cells of a line; where nobody watches, no line is broken."""
        return max(self._screen.width - margin, least) if self._screen.live else sys.maxsize

    def _result(self, result: Json) -> list[str]:
        """Return a tool's result in few words, the first for the step's own line."""
        if "exit_code" in result:
            lines = [line for line in str(result["stdout"]).splitlines() if line.strip()]
            said = result.get("reported", {}).get(self._lang, "")
            return [said, *(one_line(reveal(line), 120) for line in lines[-OUTPUT_LINES:])]
        more = "+" if result.get("truncated") else ""
        counts = [
            self._screen.say(words, count=f"{len(result[name])}{more}")
            for name, words in COUNTS.items()
            if isinstance(result.get(name), list)
        ]
        named = [result[name] for name in ("branch", "path") if isinstance(result.get(name), str)]
        return [one_line(reveal(", ".join([*named, *counts])), 120)]

    def _why(self, error: str, most: int) -> str:
        """Return an error in words, also where it is only that nobody approved."""
        return self._screen.say(ENDINGS[error]) if error in ENDINGS else one_line(error, most)

    def _took(self, since: float) -> str:
        return f"{SystemClock().now().mono - since:.1f} s"

    def _ask(self, event: Json) -> None:
        """Ask on this terminal where a person sits at it; else say how to decide."""
        from local_agent.cli.decide import decide_here

        self._note(one_line(event["message"], 300), mark=GUTTER)  # in whoever's words
        if not (at_keyboard() and sys.stdout.isatty()):
            if self._waits(event["short_id"]):
                self._note(self._screen.say(WAITS, task=event["short_id"]), "dim")
            return
        try:
            decide_here(self._home, self._environ, event["short_id"], self._lang)
        except (InputError, StateError) as error:
            if error.code == "approval.not-pending":
                return  # it was answered meanwhile, as by the answers of a dry run
            from local_agent.error_texts import ERRORS

            self._note(explain(error, ERRORS, self._lang), "red")

    def _waits(self, short_id: str) -> bool:
        """Tell whether a question waits: in a dry run it may be answered before it is told."""
        from local_agent.faces.control.client import call

        try:
            approval = call(self._home, self._environ, "show", task=short_id)["approval"]
        except CodexBridgeError:
            return True  # it is shown why by what follows
        return approval is None or approval["state"] == "pending"
