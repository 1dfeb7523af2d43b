"""What a page says about a command: every argument of it, and what surrounds the run (R25)."""

from __future__ import annotations

import shlex
from collections.abc import Iterator, Mapping
from typing import Any, Final

from common.text import one_line
from local_agent.cards import words
from local_agent.cards.question import Question
from local_agent.faces.terminal.layout import Layout, Styled
from local_agent.faces.terminal.said_part import named_part, reason_part
from local_agent.replies import render_size
from local_agent.safety.shell_line import operators

_DOUBLE_QUOTE_SPECIALS: Final = frozenset('"$`\\!')


def command_part(question: Question, layout: Layout) -> Iterator[str]:
    """Give the command, then what surrounds it."""
    payload = question.seal.payload
    yield from _command(payload, layout)
    yield from named_part(question, layout)
    yield from reason_part(question, layout)
    yield ""
    yield from _surroundings(payload, layout)


def _command(payload: Mapping[str, Any], layout: Layout) -> Iterator[str]:
    if "argv" in payload:
        argv: list[str] = payload["argv"]
        note = layout.say(words.ARGV, count=len(argv))
        yield from layout.row(words.COMMAND, [("dim", note)])
        yield from layout.numbered([_quoted(argument) for argument in argv], 0)
        return
    script: str = payload["script"]
    lines = script.split("\n")
    note = layout.say(words.SHELL, shell=payload["shell"], count=len(lines))
    notes = [("red", note)]
    if found := operators(script):
        notes.append(("red", layout.say(words.OPERATORS, found="  ".join(found))))
    yield from layout.row(words.COMMAND, notes)
    yield from layout.numbered(lines, 1)


def _surroundings(payload: Mapping[str, Any], layout: Layout) -> Iterator[str]:
    if copied := payload.get("copy"):
        said = layout.say(words.COPY_IS, task=one_line(copied["short_id"], 32))
        yield from layout.row(words.COPY, [("green", said)])
    program: list[Styled] = [("", payload["executable"]["path"])]
    if sha256 := payload["executable"]["sha256"]:
        program.append(("dim", layout.say(words.PROGRAM_INSIDE, sha256=sha256[:16])))
    yield from layout.row(words.PROGRAM, program, whole=True)
    folder = payload["cwd"]
    shown = layout.say(words.TOP) if folder == "." else folder
    yield from layout.row(words.FOLDER, [("", shown)], whole=folder != ".")
    names = " ".join(payload["env_names"]) or layout.say(words.NO_ENVIRONMENT)
    yield from layout.row(words.ENVIRONMENT, [("", names)])
    yield from layout.row(words.SANDBOX, _sandbox(payload, layout))
    yield from layout.row(words.NETWORK, [_network(payload, layout)])
    size = render_size(payload["output_cap"])
    limits = words.LIMITS_ARE if _sandboxed(payload) else words.LIMITS_WITHOUT_SANDBOX
    said = layout.say(limits, seconds=payload["timeout"], size=size)
    yield from layout.row(words.LIMITS, [("", said)])


def _sandboxed(payload: Mapping[str, Any]) -> bool:
    return bool(payload["sandbox"]["level"] != "none")


def _network(payload: Mapping[str, Any], layout: Layout) -> Styled:
    # What is sealed is a wish to the sandbox: without one nothing keeps the network off.
    if not _sandboxed(payload):
        return "red", layout.say(words.NETWORK_FREE)
    if payload["network"]:
        return "red", layout.say(words.NETWORK_ON)
    return "", layout.say(words.NETWORK_OFF)


def _sandbox(payload: Mapping[str, Any], layout: Layout) -> list[Styled]:
    if not _sandboxed(payload):
        loud = layout.say(words.NOT_SANDBOXED)
        return [("alarm", loud), ("red", layout.say(words.NOT_SANDBOXED_MEANS))]
    sentence = words.SANDBOXED_COPY if "copy" in payload else words.SANDBOXED
    return [("green", layout.say(sentence, level=payload["sandbox"]["level"]))]


def _quoted(argument: str) -> str:
    """Return an argument so that its beginning and its end are unmistakable, as a shell would."""
    if "'" in argument and not set(argument) & _DOUBLE_QUOTE_SPECIALS:
        return f'"{argument}"'
    return shlex.quote(argument)
