"""The card of a command: every argument of it, and what surrounds the run (R25)."""

from __future__ import annotations

import shlex
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final

from common.text import one_line
from local_agent.cards import words
from local_agent.cards.question import Question
from local_agent.cards.texts import model_name, text, value
from local_agent.replies import render_size
from local_agent.safety.shell_line import operators
from local_agent.views.question import Fact, Lines, Part, Value

_DOUBLE_QUOTE_SPECIALS: Final = frozenset('"$`\\!')
_NAME_BYTES: Final = 200
_REASON_BYTES: Final = 1_000


def parts(question: Question) -> Iterator[Sequence[Part]]:
    """Give the command and how it came about, then what surrounds it."""
    payload = question.seal.payload
    yield [*_command(payload), *_origin(question)]
    yield [*_surroundings(payload)]


def _command(payload: Mapping[str, Any]) -> Sequence[Part]:
    if "argv" in payload:
        argv: list[str] = payload["argv"]
        note = value(text(words.ARGV, count=len(argv)), "quiet")
        return [Fact("command", (note,)), Lines(tuple(map(_quoted, argv)), 0)]
    script: str = payload["script"]
    lines = script.split("\n")
    note = value(text(words.SHELL, shell=payload["shell"], count=len(lines)), "danger")
    found = operators(script)
    special = [value(text(words.OPERATORS, found="  ".join(found)), "danger")] if found else []
    return [Fact("command", (note, *special)), Lines(tuple(lines), 1)]


def _origin(question: Question) -> Iterator[Part]:
    """Give which project file names it, and why it is proposed.

    Both are the agent's word and explain; neither is sealed, and nothing is decided by them.
    """
    if named := question.told.named:
        file, what = (one_line(fact, _NAME_BYTES) for fact in (named.file, named.what))
        yield Fact("named", (value(text(words.NAMED_BY, file=file, what=what)),))
    if reason := question.told.reason:
        said = one_line(reason.text, _REASON_BYTES)
        if reason.model is None:
            yield Fact("reason", (value(said),))
        else:
            note = text(words.SAID_BY, model=model_name(reason.model))
            yield Fact("reason", (value(note, "quiet"), value(said, "quoted")))


def _surroundings(payload: Mapping[str, Any]) -> Iterator[Part]:
    if copied := payload.get("copy"):
        said = text(words.COPY_IS, task=one_line(copied["short_id"], 32))
        yield Fact("copy", (value(said, "good"),))
    program = [value(payload["executable"]["path"])]
    if sha256 := payload["executable"]["sha256"]:
        program.append(value(text(words.PROGRAM_INSIDE, sha256=sha256[:16]), "quiet"))
    yield Fact("program", tuple(program), exact=True)
    folder = payload["cwd"]
    shown = text(words.TOP) if folder == "." else folder
    yield Fact("folder", (value(shown),), exact=folder != ".")
    names = " ".join(payload["env_names"]) or text(words.NO_ENVIRONMENT)
    yield Fact("environment", (value(names),))
    yield Fact("sandbox", _sandbox(payload))
    yield Fact("network", (_network(payload),))
    limits = words.LIMITS_ARE if _sandboxed(payload) else words.LIMITS_WITHOUT_SANDBOX
    size = render_size(payload["output_cap"])
    yield Fact("limits", (value(text(limits, seconds=payload["timeout"], size=size)),))


def _sandboxed(payload: Mapping[str, Any]) -> bool:
    return bool(payload["sandbox"]["level"] != "none")


def _network(payload: Mapping[str, Any]) -> Value:
    # What is sealed is a wish to the sandbox: without one nothing keeps the network off.
    if not _sandboxed(payload):
        return value(text(words.NETWORK_FREE), "danger")
    if payload["network"]:
        return value(text(words.NETWORK_ON), "danger")
    return value(text(words.NETWORK_OFF))


def _sandbox(payload: Mapping[str, Any]) -> tuple[Value, ...]:
    if not _sandboxed(payload):
        loud = value(text(words.NOT_SANDBOXED), "alarm")
        return loud, value(text(words.NOT_SANDBOXED_MEANS), "danger")
    sentence = words.SANDBOXED_COPY if "copy" in payload else words.SANDBOXED
    return (value(text(sentence, level=payload["sandbox"]["level"]), "good"),)


def _quoted(argument: str) -> str:
    """Return an argument so that its beginning and its end are unmistakable, as a shell would."""
    if "'" in argument and not set(argument) & _DOUBLE_QUOTE_SPECIALS:
        return f'"{argument}"'
    return shlex.quote(argument)
