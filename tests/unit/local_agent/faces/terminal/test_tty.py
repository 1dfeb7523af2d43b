"""A person at a pseudo-terminal: only a code that was typed there counts."""

from __future__ import annotations

import io
import os
import pty
import re
import select
import termios
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import Future
from typing import Any

import pytest

from common.clock import ManualClock
from common.errors import InputError
from common.seal import digest
from common.terminal import Ink
from local_agent.actions.registry import seal_bytes
from local_agent.faces.terminal.page import ask
from local_agent.faces.terminal.tty import Terminal, open_terminal
from local_agent.views.question import Question
from tests.asked import read_question
from tests.sealed import a_seal

PATIENCE = 30.0


def ask_about(risk: str = "normal") -> Question:
    raw = seal_bytes(a_seal(ManualClock()))
    told: dict[str, Any] = {"seal": raw.decode(), "digest": digest(raw), "state": "pending"}
    names = {"text": "@dev test", "machine": "build-1", "workspace": "shop"}
    return read_question(told | names | {"risk": risk, "reasons": []})


class Person:
    """Someone at one end of a pseudo-terminal; what we call has the other."""

    def __init__(self) -> None:
        self._screen, descriptor = pty.openpty()
        self.terminal = Terminal(descriptor, Ink(on=True))
        self._seen = ""

    def faces(self, call: Callable[[Terminal], Any]) -> Future[Any]:
        """Let our side run, and return what will come of it."""
        result: Future[Any] = Future()

        def run() -> None:
            try:
                result.set_result(call(self.terminal))
            except BaseException as error:  # noqa: BLE001 - handed to the test
                result.set_exception(error)

        threading.Thread(target=run, daemon=True).start()
        return result

    def reads(self, pattern: str) -> str:
        """Return the screen up to the end of the pattern; what follows is read next time."""
        while not (found := re.search(pattern, self._seen)):
            ready, _, _ = select.select([self._screen], [], [], PATIENCE)
            assert ready, f"not within {PATIENCE} s; the screen shows {self._seen!r}"
            self._seen += os.read(self._screen, 4096).decode("utf-8", "replace")
        read, self._seen = self._seen[: found.end()], self._seen[found.end() :]
        return read

    def types(self, keys: str) -> None:
        os.write(self._screen, keys.encode())

    def leaves(self) -> None:
        self.terminal.close()
        os.close(self._screen)


@pytest.fixture
def person() -> Iterator[Person]:
    someone = Person()
    yield someone
    someone.leaves()


@pytest.mark.requirement("R30")
@pytest.mark.parametrize("stdin", [None, io.StringIO("7K3F\n")])
def test_standard_input_that_is_no_terminal_is_refused(stdin: io.StringIO | None) -> None:
    with pytest.raises(InputError) as refused:
        open_terminal(stdin, {})
    assert refused.value.code == "approve.no-terminal"


class Keyboard(io.StringIO):
    """Standard input with a person at it."""

    def isatty(self) -> bool:
        return True


def test_a_process_without_a_terminal_of_its_own_is_refused(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def none(*_: object) -> int:
        raise OSError

    monkeypatch.setattr("os.open", none)
    with pytest.raises(InputError) as refused:
        open_terminal(Keyboard(), {})
    assert refused.value.code == "approve.no-terminal"


@pytest.mark.parametrize(
    ("environ", "colours"),
    [
        ({"TERM": "xterm"}, True),
        ({"TERM": "dumb"}, False),
        ({}, False),
        ({"TERM": "xterm", "NO_COLOR": "1"}, False),
    ],
)
def test_emphasis_is_for_terminals_that_can(
    monkeypatch: pytest.MonkeyPatch, environ: dict[str, str], *, colours: bool
) -> None:
    monkeypatch.setattr("os.open", lambda *_: 7)
    assert open_terminal(Keyboard(), environ).ink.on is colours


def test_the_right_code_is_returned_as_it_was_typed(person: Person) -> None:
    question = ask_about()
    typed = person.faces(lambda own: ask(question, own, lang="en"))
    person.reads("Code for T-7K3F: ")
    person.types(question.code[:4].lower() + "\n")
    assert typed.result(PATIENCE) == question.code[:4].lower()


@pytest.mark.requirement("P1")
@pytest.mark.requirement("R29")
def test_a_wrong_code_says_so_and_may_be_tried_again(person: Person) -> None:
    question = ask_about(risk="high")
    typed = person.faces(lambda own: ask(question, own, lang="en"))
    for wrong in (question.code[:4], "T-7K3F", "yes", "y", "é中"):
        person.reads("Code for T-7K3F: ")
        person.types(wrong + "\n")
        person.reads(r"Nothing was\s+approved")
    person.reads("Code for T-7K3F: ")
    person.types(f" {question.code} \n")
    assert typed.result(PATIENCE) == question.code


@pytest.mark.requirement("P1")
@pytest.mark.parametrize("keys", ["\n", "\x04", "   \n"])
def test_an_empty_line_or_the_end_of_input_is_no_decision(person: Person, keys: str) -> None:
    typed = person.faces(lambda own: ask(ask_about(), own, lang="zh"))
    person.reads("的确认码：")
    person.types(keys)
    assert typed.result(PATIENCE) is None


@pytest.mark.requirement("P1")
def test_what_was_typed_before_the_question_does_not_answer_it(person: Person) -> None:
    question = ask_about()
    person.types(question.code + "\n")
    assert select.select([person.terminal.descriptor], [], [], PATIENCE)[0], "it lies there"
    typed = person.faces(lambda own: ask(question, own, lang="en"))
    person.reads("Code for T-7K3F: ")
    assert not typed.done()
    person.types("\n")
    assert typed.result(PATIENCE) is None


def test_the_width_is_that_of_the_terminal_or_80(person: Person) -> None:
    assert person.terminal.width == 80, "a new pseudo-terminal tells none"
    reading, writing = os.pipe()
    assert Terminal(reading, Ink(on=False)).width == 80
    os.close(reading)
    os.close(writing)


def test_a_terminal_tells_how_large_it_is() -> None:
    screen, descriptor = pty.openpty()
    terminal = Terminal(descriptor, Ink(on=False))
    assert (terminal.width, terminal.height) == (80, 0), "it does not tell"
    termios.tcsetwinsize(descriptor, (40, 132))
    assert (terminal.width, terminal.height) == (132, 40)
    terminal.close()
    os.close(screen)
    assert (terminal.width, terminal.height) == (80, 0), "it is gone"
