"""``codexbridge ask``, ``retry`` and ``undo``: put a request, and follow it to its end.

Following reads the shared event stream; what was asked goes on when nobody watches.  Nothing is run
by asking again: the new task is proposed and approved like any other.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from typing import TYPE_CHECKING, Any, Final

from common.errors import CodexBridgeError, InputError
from common.home import find_home
from common.ids import parse_short_id
from common.sentences import Lang, Sentence, language_of, say
from common.terminal import clip_cells
from common.text import one_line
from local_agent.cli import proposal, words
from local_agent.cli.ending import ending_lines
from local_agent.cli.screen import Screen, at_keyboard, print_json, read_answer, screen_for
from local_agent.cli.tasks import state_of
from local_agent.faces.control.client import call, stream
from local_agent.views import Json, from_json
from local_agent.words import STATES

if TYPE_CHECKING:
    import argparse

    from local_agent.views.task import TaskView

ASK: Final = Sentence(
    en="Put a request from this terminal, as a chat message would, and follow it until it has "
    "ended, rests or waits for approval. What a model says is shown as it comes; a change that it "
    "proposes rests until `codexbridge apply`. Ctrl-C only stops watching.",
    zh="在本终端提出请求（与聊天消息相同），并显示进展，直到结束、待应用或等待批准。模型的输出会实时显示；"
    "它提出的改动先不应用，等你运行 `codexbridge apply`。Ctrl-C 只是停止查看。",
)
ASK_TEXT: Final = Sentence(
    en="the request; `@dev` in front may be left out", zh="请求内容；开头的 `@dev` 可以省略"
)
ASK_WORKSPACE: Final = Sentence(en="name of the workspace", zh="工作区名称")
RETRY: Final = Sentence(
    en="Ask again for what a task that has ended asked for: a new task with the same words, asked "
    "from this terminal, which needs its own approval. One that was interrupted may have taken "
    "effect already; then the terminal asks first.",
    zh="再次提出一个已结束任务的请求：在本终端以相同内容新建任务，须重新批准。"
    "被中断的任务可能已经生效，因此会先在终端上询问。",
)
RETRY_SURE: Final = Sentence(
    en="{task} was interrupted: it may have taken effect, wholly or in part. Look first: "
    "codexbridge show {task}\nAsked again, it may happen twice. Type yes to ask again: ",
    zh="{task} 被中断：它可能已经全部或部分生效。请先查看：codexbridge show {task}\n"
    "再次提出可能会重复生效。输入 yes 再次提出：",
)
DETACHED: Final = Sentence(
    en="Stopped watching; {task} goes on. `codexbridge show {task}` shows its progress.",
    zh="已停止查看；{task} 仍在继续。用 `codexbridge show {task}` 查看。",
)
UNDO: Final = Sentence(
    en="Ask to take back what a task has changed. The reverse change is shown and approved like "
    "any other. Where somebody has changed the same file since, it is refused and says where; "
    "--only takes back the other files. Of a change that was interrupted, it puts back the files "
    "that still hold what the change wrote, and leaves those that somebody else edited.",
    zh="请求撤销任务所作的改动。反向改动会像其他改动一样显示并须批准。若相同文件此后又被改动，"
    "会拒绝并指出位置；可用 --only 只撤销其余文件。对中断的改动，"
    "只恢复仍是改动后内容的文件，不动他人编辑过的文件。",
)
UNDO_ONLY: Final = Sentence(en="these files alone", zh="仅限这些文件")
ASK_AT: Final = Sentence(
    en="what you have in front of you: a file of the workspace, a line or lines of it",
    zh="你正在看的位置：工作区中的文件，可带行号或行范围",
)
MODEL_SAYS: Final = Sentence(en="The model says:", zh="模型的说明：")
DETACHED_UNNAMED: Final = Sentence(
    en="Stopped watching. What was asked goes on: `codexbridge tasks` lists it.",
    zh="已停止查看。所提的请求仍在继续：用 `codexbridge tasks` 查看。",
)

_PLACE: Final = re.compile(r"(?P<file>.+?)(?::(?P<first>[0-9]{1,7})(?:-(?P<last>[0-9]{1,7}))?)?")
EXIT_ENDED_OTHERWISE: Final = 1
EXIT_INTERRUPTED: Final = 130
_FINAL: Final = frozenset({"COMPLETED", "FAILED", "REJECTED"})
_UP: Final = "\x1b[A"


def add_parser(subparsers: argparse._SubParsersAction[argparse.ArgumentParser], lang: Lang) -> None:
    """Declare the arguments."""
    parser = subparsers.add_parser("ask", description=say(ASK, lang))
    parser.set_defaults(run=ask)
    parser.add_argument("text", help=say(ASK_TEXT, lang))
    parser.add_argument("--workspace", metavar="NAME", help=say(ASK_WORKSPACE, lang))
    parser.add_argument("--at", metavar="FILE[:A[-B]]", help=say(ASK_AT, lang))
    words.add_json(parser, lang)
    parser = subparsers.add_parser("retry", description=say(RETRY, lang))
    parser.set_defaults(run=retry)
    words.add_task(parser, lang)
    words.add_json(parser, lang)
    parser = subparsers.add_parser("undo", description=say(UNDO, lang))
    parser.set_defaults(run=undo)
    words.add_task(parser, lang)
    parser.add_argument("files", nargs="*", metavar="FILE", help=say(UNDO_ONLY, lang))
    parser.add_argument(
        "--only",
        metavar="FILE",
        nargs="+",
        action="extend",
        default=[],
        help=say(UNDO_ONLY, lang),
    )
    words.add_json(parser, lang)


def ask(args: argparse.Namespace, lang: Lang, environ: Mapping[str, str]) -> int:
    """Put the request and follow it until it has ended or waits for a person.

    Raises:
        InputError: ``ask.at``: the place cannot be read.
    """
    steps = stream(
        find_home(environ),
        environ,
        "ask",
        text=args.text,
        lang=language_of(args.text, lang),
        workspace=args.workspace or "",
        **(_at(args.at) if args.at else {}),
    )
    return follow_as_json(steps) if args.json else follow(steps, screen_for(lang, environ))


def _at(place: str) -> dict[str, Any]:
    """Return file, first and last line of ``src/app.py:10-20``; 0 where no line is named."""
    found = _PLACE.fullmatch(place)
    first = int((found and found["first"]) or 0)
    last = int((found and found["last"]) or first)
    if found is None or last < first:
        raise InputError("ask.at", place=place)
    return {"file": found["file"], "first": first, "last": last}


def retry(args: argparse.Namespace, lang: Lang, environ: Mapping[str, str]) -> int:
    """Put the request again and follow it until it has ended or waits for a person.

    Raises:
        StateError: ``retry.open``: the task has not ended.
        InputError: ``retry.unknown``: it may have taken effect, and nobody can be asked.
    """
    from local_agent.views.question import Shown

    home, screen = find_home(environ), screen_for(lang, environ)
    short_id = parse_short_id(args.task)
    first = from_json(Shown, call(home, environ, "show", task=short_id)).task
    may_have_run = first.reason == "unknown"
    if may_have_run and not _sure(screen, short_id, as_json=args.json):
        screen.tell(words.KEPT)
        return 1
    steps = stream(home, environ, "retry", task=short_id, may_have_run=may_have_run)
    return follow_as_json(steps) if args.json else follow(steps, screen)


def _sure(screen: Screen, short_id: str, *, as_json: bool) -> bool:
    if as_json or not at_keyboard():
        raise InputError("retry.unknown", task=short_id)
    return read_answer(screen.say(RETRY_SURE, task=short_id)) in ("yes", "是")


def undo(args: argparse.Namespace, lang: Lang, environ: Mapping[str, str]) -> int:
    """Ask for it, and follow it until it waits for a person or was refused."""
    short_id = parse_short_id(args.task)
    only = [*args.files, *args.only]
    steps = stream(find_home(environ), environ, "undo", task=short_id, only=only, lang=lang)
    return follow_as_json(steps) if args.json else follow(steps, screen_for(lang, environ))


def follow(
    steps: Iterator[tuple[str, Json]],
    screen: Screen,
    *,
    task: str = "",
    waits: Sentence | None = words.WAITS,
) -> int:
    """Print what happens to a task and how it ended.

    Args:
        steps: What the agent streams: its events, then the task as it stands at the end.
        screen: Where to.
        task: Its ID, where that is known before the agent tells it.
        waits: What is said of one that waits for a person; None where that is said elsewhere.

    Returns:
        0 when the task completed or now waits for a person, 130 when whoever watches stopped
        watching: the task goes on then; else 1.

    Raises:
        CodexBridgeError: what the agent answered instead; ``agent.stopped`` when it was stopped.
    """
    line = _Lines(screen)
    try:
        for kind, value in steps:
            if kind == "ok":
                line.clear()
                return _conclude(_watched(value), screen, line, waits)
            task = value.get("short_id") or task
            if value.get("type") == "task_stream_chunk":
                line.stream(str(value.get("chunk")))
            elif told := _told(value, screen):
                line.show(told)
    except CodexBridgeError:
        line.clear()
        raise
    except KeyboardInterrupt:
        line.clear()
        print()  # the terminal has shown ^C
        screen.tell(DETACHED if task else DETACHED_UNNAMED, task=task)
        return EXIT_INTERRUPTED
    return EXIT_ENDED_OTHERWISE


def follow_as_json(steps: Iterable[tuple[str, Json]]) -> int:
    """Print the task as it stands at the end; returns and raises what `follow` does."""
    *_, (_, last) = steps
    print_json(last["task"])
    return _exit_code(_watched(last))


def _watched(last: Json) -> TaskView:
    from local_agent.views.task import Watched

    return from_json(Watched, last).task


def _exit_code(task: TaskView) -> int:
    good = task.state in ("WAITING_APPROVAL", "PROPOSAL_READY") or task.reason == "completed"
    return 0 if good else EXIT_ENDED_OTHERWISE


def _told(event: Json, screen: Screen) -> str:
    # How it ended is told with the task itself.
    if event.get("type") != "task_state" or event.get("state") in _FINAL:
        return ""
    # Where there is something to say, it says where the task stands.
    if message := (event.get("said") or {}).get(screen.lang) or event.get("message"):
        return one_line(message.partition("\n")[0], 300)
    if event.get("state") == "PROPOSAL_READY":
        return ""  # it may be an answer, or why there is none: what follows says which
    state = STATES.get(str(event.get("state")))
    return screen.say(state) if state else str(event.get("state"))


def _conclude(task: TaskView, screen: Screen, line: _Lines, waits: Sentence | None) -> int:
    if task.state == "WAITING_APPROVAL":
        lines = list(proposal.own_lines(screen, task))
        # What stands there already is not repeated.
        _print(lines[1:] if lines[:1] == [line.stands] else lines)
        if waits is not None:
            screen.tell(waits, task=task.short_id)
        return _exit_code(task)
    # What came of a change that was decided on is told; its proposal was read before.
    spoken = proposal.has_words(task) and (task.proposal != "diff" or not task.reason)
    if spoken:
        _print(proposal.model_lines(screen, task, streamed=line.streamed))
        print()
    head = screen.ink("bold", task.short_id)
    if task.state == "PROPOSAL_READY":
        print(f"{head}  {screen.ink('bold', state_of(screen, task))}")
        _print(proposal.own_lines(screen, task))
        _print(proposal.steps_lines(screen, task))
        _print(proposal.fact_lines(screen, task))
        return _exit_code(task)
    colour = "red" if _exit_code(task) else "bold" if task.is_doubted else "green"
    print(f"{head}  {screen.ink(colour, state_of(screen, task))}")
    if spoken:
        _print(proposal.own_lines(screen, task))
        _print(proposal.fact_lines(screen, task))
    else:
        _print(ending_lines(screen, task))
    return _exit_code(task)


def _print(lines: Iterable[str]) -> None:
    for told in lines:
        print(told)


class _Lines:
    """What comes while a task goes on.

    On a terminal a model's words grow, and one line below them says where the task stands and is
    written over; elsewhere there are plain lines, and the end has all that was said.

    Attributes:
        streamed: What of a model's words stands there already.
    """

    def __init__(self, screen: Screen) -> None:
        self._screen = screen
        self._flow = proposal.flow_on(screen)
        self._last = ""
        self._said: list[str] = []

    @property
    def streamed(self) -> str:
        """What of a model's words stands there already."""
        return "".join(self._said)

    @property
    def stands(self) -> str:
        """The last line that stays to be read; none on a terminal, where it is written over."""
        return "" if self._screen.live else self._last

    def stream(self, chunk: str) -> None:
        """Print what a model says as it comes; where nobody watches, the end has all of it."""
        if not self._screen.live or not (self._said or chunk.strip()):
            return
        back = self._back()
        if not self._said:
            back += self._screen.ink("dim", self._screen.say(MODEL_SAYS)) + "\n"
        self._said.append(chunk)
        print(back + self._flow.feed(chunk), end="", flush=True)

    def show(self, text: str) -> None:
        """Say where the task stands."""
        if text == self._last:
            return
        if self._screen.live:
            below = "\n" if self._flow.is_open and not self._last else ""
            shown = clip_cells(text, self._screen.width - 1)
            print(f"{below}{proposal.ANEW}{self._screen.ink('dim', shown)}", end="", flush=True)
        else:
            print(text, flush=True)
        self._last = text

    def clear(self) -> None:
        """Leave what a model said, and nothing else of what is written over."""
        print(self._back() + self._flow.end(), end="", flush=True)

    def _back(self) -> str:
        """Return what takes the lower line away and leads back to where the words grow."""
        if not (self._screen.live and self._last):
            return ""
        self._last = ""
        return proposal.ANEW + (_UP + self._flow.again() if self._flow.is_open else "")
