"""The terminal approver: everything that will run, on one page, and a code to type.

`render` is pure and is also what ``codexbridge show`` prints.  `ask` talks to the terminal it is
given and decides nothing by itself: it returns what was typed when it is the right code, or None.
No flag, variable or pipe can stand in for the typing (P1).
"""

from __future__ import annotations

import shlex
from collections.abc import Iterator, Sequence
from typing import Final

from common.sentences import Lang, Sentence, say
from common.terminal import Ink, cells, clip_cells, exact, pad, wrap
from common.text import one_line
from local_agent.approval.dialogs import words
from local_agent.approval.dialogs.duration import time_left
from local_agent.approval.dialogs.question import Question
from local_agent.approval.dialogs.tty import Terminal
from local_agent.replies import RISK, render_size

MIN_WIDTH: Final = 50
MAX_WIDTH: Final = 100

_INDENT: Final = "  "
_LABEL_CELLS: Final = 13
_LABELS: Final = (
    words.MACHINE,
    words.WORKSPACE,
    words.ASKED_BY,
    words.REQUEST,
    words.COMMAND,
    words.PROGRAM,
    words.FOLDER,
    words.ENVIRONMENT,
    words.SANDBOX,
    words.NETWORK,
    words.LIMITS,
    words.AFTERWARDS,
    words.UNDO,
    words.WHY,
    words.CODE,
)

_DOUBLE_QUOTE_SPECIALS: Final = frozenset('"$`\\!')

Styled = tuple[str, str]  # (style or "", text)


def render(question: Question, *, lang: Lang, width: int, ink: Ink, now_ms: int) -> list[str]:
    """Return the page as lines of at most ``width`` cells, nothing left out.

    Args:
        question: What is asked.
        lang: Language of the page.
        width: Cells of the terminal; held between 50 and 100.
        ink: Whether emphasis may be used.
        now_ms: Milliseconds since the epoch, for the time left.
    """
    return _Page(question, lang, max(MIN_WIDTH, min(width, MAX_WIDTH)), ink).lines(now_ms)


def ask(question: Question, terminal: Terminal, *, lang: Lang) -> str | None:
    """Ask until the right code is typed or the person decides nothing.

    Returns:
        What was typed, when it is the code of this question; None on an empty line or the end of
        input.

    Raises:
        KeyboardInterrupt: Ctrl-C; no decision either.
    """
    prompt = words.PROMPT_BOTH if question.high_risk else words.PROMPT
    terminal.write(f"{say(prompt, lang)}\n{terminal.ink('dim', say(words.PROMPT_ELSE, lang))}\n")
    label = terminal.ink("bold", say(words.TYPE_HERE, lang, task=question.seal.short_id))
    while typed := terminal.read_line(label):
        if question.accepts(typed):
            return typed
        terminal.write(terminal.ink("red", say(words.WRONG, lang)) + "\n")
    return None


class _Page:
    def __init__(self, question: Question, lang: Lang, width: int, ink: Ink) -> None:
        self._question = question
        self._seal = question.seal
        self._lang = lang
        self._width = width
        self._ink = ink
        self._labels = max(_LABEL_CELLS, *(cells(say(label, lang)) + 2 for label in _LABELS))
        self._room = width - len(_INDENT) - self._labels

    def lines(self, now_ms: int) -> list[str]:
        return [
            *self._heading(),
            "",
            *self._who(),
            "",
            *self._command(),
            "",
            *self._surroundings(),
            "",
            *self._consequences(),
            "",
            *self._fingerprint(now_ms),
        ]

    def _say(self, sentence: Sentence, **facts: object) -> str:
        return say(sentence, self._lang, **facts)

    def _heading(self) -> Iterator[str]:
        risk = self._say(words.HIGH if self._question.high_risk else words.NORMAL)
        styled = self._ink("alarm" if self._question.high_risk else "dim", f" {risk} ")
        title = f"{self._seal.short_id}  {self._say(words.TITLE, machine=self._machine())}"
        title = clip_cells(title, self._width - cells(risk) - 4)
        filling = " " * (self._width - cells(title) - cells(risk) - 2)
        yield self._ink("bold", title) + filling + styled
        yield self._ink("dim", "─" * self._width)

    def _machine(self) -> str:
        return one_line(self._question.machine, 64)

    def _who(self) -> Iterator[str]:
        yield from self._row(words.MACHINE, [("bold", self._machine())])
        yield from self._row(words.WORKSPACE, self._workspace(), whole=True)
        yield from self._row(words.ASKED_BY, [("", self._asked_by())])
        if self._question.text:
            yield from self._row(words.REQUEST, [("", self._question.text)], whole=True)

    def _workspace(self) -> list[Styled]:
        name = self._question.workspace
        rows = [("bold", name)] if name else []
        rows.append(("", self._seal.workspace.path))
        if head := self._seal.git_head:
            rows.append(("dim", self._say(words.AT_COMMIT, commit=head[:12])))
        return rows

    def _asked_by(self) -> str:
        source = self._seal.source
        if not source.gateway_key_id:
            return self._say(words.ASKED_HERE)
        channel = words.CHANNELS.get(source.channel)
        return self._say(
            words.ASKED_CHAT,
            user=one_line(source.claimed_user, 128),
            channel=self._say(channel) if channel else one_line(source.channel, 32),
            key=source.gateway_key_id,
        )

    def _command(self) -> Iterator[str]:
        payload = self._seal.payload
        if "argv" in payload:
            argv: list[str] = payload["argv"]
            note = self._say(words.ARGV, count=len(argv))
            parts = [_quoted(argument) for argument in argv]
            first = 0
        else:
            script: str = payload["script"]
            parts, first = script.split("\n"), 1
            note = self._say(words.SHELL, shell=payload["shell"], count=len(parts))
        yield from self._row(words.COMMAND, [("dim" if "argv" in payload else "red", note)])
        yield from self._numbered(parts, first)

    def _numbered(self, parts: Sequence[str], first: int) -> Iterator[str]:
        digits = len(str(first + len(parts) - 1))
        gutter = len(_INDENT) * 2 + digits + 3
        for number, part in enumerate(parts, start=first):
            head = f"{_INDENT * 2}{number:>{digits}} │ "
            for line in exact(part, width=self._width - gutter):
                yield self._ink("dim", head) + self._ink("bold", line)
                head = f"{_INDENT * 2}{' ' * digits} ┆ "

    def _surroundings(self) -> Iterator[str]:
        payload = self._seal.payload
        program = [("", payload["executable"]["path"])]
        if sha256 := payload["executable"]["sha256"]:
            program.append(("dim", self._say(words.PROGRAM_INSIDE, sha256=sha256[:16])))
        yield from self._row(words.PROGRAM, program, whole=True)
        folder = payload["cwd"]
        shown = self._say(words.TOP) if folder == "." else folder
        yield from self._row(words.FOLDER, [("", shown)], whole=folder != ".")
        names = " ".join(payload["env_names"]) or self._say(words.NO_ENVIRONMENT)
        yield from self._row(words.ENVIRONMENT, [("", names)])
        yield from self._row(words.SANDBOX, self._sandbox())
        yield from self._row(words.NETWORK, [self._network()])
        size = render_size(payload["output_cap"])
        limits = words.LIMITS_ARE if self._sandboxed else words.LIMITS_WITHOUT_SANDBOX
        said = self._say(limits, seconds=payload["timeout"], size=size)
        yield from self._row(words.LIMITS, [("", said)])

    @property
    def _sandboxed(self) -> bool:
        return bool(self._seal.payload["sandbox"]["level"] != "none")

    def _network(self) -> Styled:
        # What is sealed is a wish to the sandbox: without one nothing keeps the network off.
        if not self._sandboxed:
            return "red", self._say(words.NETWORK_FREE)
        if self._seal.payload["network"]:
            return "red", self._say(words.NETWORK_ON)
        return "", self._say(words.NETWORK_OFF)

    def _sandbox(self) -> list[Styled]:
        level = self._seal.payload["sandbox"]["level"]
        if not self._sandboxed:
            loud = self._say(words.NOT_SANDBOXED)
            return [("alarm", loud), ("red", self._say(words.NOT_SANDBOXED_MEANS))]
        return [("green", self._say(words.SANDBOXED, level=level))]

    def _consequences(self) -> Iterator[str]:
        yield from self._row(words.AFTERWARDS, [("", self._discloses())])
        undo = {"no": words.UNDO_NO, "partly": words.UNDO_PARTLY, "yes": words.UNDO_YES}
        style = "bold" if self._seal.undo == "no" else ""
        yield from self._row(words.UNDO, [(style, self._say(undo[self._seal.undo]))])
        reasons = [self._risk(code) for code in self._question.reasons]
        if reasons:
            style = "red" if self._question.high_risk else ""
            yield from self._row(words.WHY, [(style, f"• {reason}") for reason in reasons])

    def _discloses(self) -> str:
        if not self._seal.discloses:
            return self._say(words.NOTHING_TO_CHAT)
        named = [
            self._say(words.DISCLOSES.get(name, words.DISCLOSES_OTHER), name=name)
            for name in self._seal.discloses
        ]
        return ("；" if self._lang == "zh" else "; ").join(named)

    def _risk(self, code: str) -> str:
        sentence = RISK.get(code)
        return self._say(sentence) if sentence else code

    def _fingerprint(self, now_ms: int) -> Iterator[str]:
        label = _INDENT + pad(self._say(words.CODE), self._labels)
        left = time_left(self._seal.expires_at, now_ms, self._lang)
        code = self._ink("mark", f" {self._question.code} ")
        yield f"{self._ink('dim', label)}{code}   {self._ink('dim', left)}"

    def _row(
        self, label: Sentence, values: Sequence[Styled], *, whole: bool = False
    ) -> Iterator[str]:
        head = _INDENT + pad(self._say(label), self._labels)
        for style, value in values:
            marked = "\n".join(exact(value, width=1 << 30)) if not whole else value
            lines = exact(value, width=self._room) if whole else wrap(marked, self._room)
            for line in lines:
                yield self._ink("dim", head) + self._ink(style, line)
                head = " " * cells(head)


def _quoted(argument: str) -> str:
    """Return an argument so that its beginning and its end are unmistakable, as a shell would."""
    if "'" in argument and not set(argument) & _DOUBLE_QUOTE_SPECIALS:
        return f'"{argument}"'
    return shlex.quote(argument)
