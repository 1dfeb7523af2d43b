"""What a scripted model answers, step by step (`tests.model_server`).  Many steps misbehave."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Literal


@dataclass(frozen=True, slots=True, kw_only=True)
class Step:
    """What one request gets; the functions below make them.

    Attributes:
        do: Which kind of answer.
        when: Only a request whose body holds this gets it.
        asked: What is asked for must hold it, not what was said before.
        pieces: Number of deltas; 0 for deltas of a few words.
        always: It is not used up.
        until: A file; until it is there, the last delta is said again and again.
    """

    do: str
    when: str = ""
    text: str = ""
    status: int = 200
    code: str = ""
    headers: Mapping[str, str] = field(default_factory=dict)
    size: int = 0
    pieces: int = 0
    pause_s: float = 0.0
    usage: bool = True
    always: bool = False
    asked: bool = False
    until: str = ""


def only(step: Step, *, when: str, always: bool = False, asked: bool = False) -> Step:
    """Return the step for requests that hold these words alone."""
    return replace(step, when=when, always=always, asked=asked)


def text(words: str, *, pieces: int = 0, usage: bool = True, when: str = "") -> Step:
    """Answer with these words."""
    return Step(do="text", text=words, pieces=pieces, usage=usage, when=when)


def edits(
    summary: str,
    *made: Mapping[str, Any],
    plan: str = "",
    commands: Sequence[Mapping[str, str]] = (),
    when: str = "",
) -> Step:
    """Answer with structured edits."""
    whole = dict.fromkeys(("search", "replace", "content", "to"))
    listed = [whole | dict(edit) for edit in made]
    answer = {"summary": summary, "plan": plan, "edits": listed, "commands": list(commands)}
    return text(json.dumps(answer, ensure_ascii=False), when=when)


def apply_patch(patch: str, *, when: str = "") -> Step:
    """Call codex's own tool with a patch in its own form (Responses alone)."""
    return Step(do="apply_patch", text=patch, when=when)


def thinking(thoughts: str, words: str) -> Step:
    """Reason aloud, then answer."""
    return Step(do="thinking", text=words, code=thoughts)


def drip(words: str, *, pause_s: float, until: str = "") -> Step:
    """Answer with one character at a time, and with the last one until a file is there."""
    return Step(do="text", text=words, pieces=len(words), pause_s=pause_s, until=until)


def status(
    number: int, *, code: str = "", message: str = "scripted", retry_after: str | None = None
) -> Step:
    """Refuse with a status and an error object; ``code`` stands in it as type and code."""
    headers = {} if retry_after is None else {"Retry-After": retry_after}
    return Step(do="status", status=number, code=code, text=message, headers=headers)


def flooded_status(number: int) -> Step:
    """Refuse with a body that never ends."""
    return Step(do="flooded_status", status=number)


def cut_status(number: int) -> Step:
    """Refuse with a body that breaks off."""
    return Step(do="cut_status", status=number)


def noise(sent: str = "no HTTP at all\r\n\r\n") -> Step:
    """Answer with something that is not HTTP."""
    return Step(do="noise", text=sent)


def overflow() -> Step:
    """Say that the request is more than the model can read."""
    return status(400, code="context_length_exceeded")


def redirect(to: str) -> Step:
    """Send the caller elsewhere."""
    return Step(do="status", status=307, headers={"Location": to})


def failed(code: str, message: str = "scripted") -> Step:
    """Begin to answer, then tell of an error within the stream."""
    return Step(do="failed", text=message, code=code)


def incomplete(words: str, reason: str) -> Step:
    """End for a reason: ``max_output_tokens`` or ``content_filter``."""
    return Step(do="text", text=words, code=reason)


def refusal(words: str) -> Step:
    """Decline in the field that is made for it."""
    return Step(do="refusal", text=words)


def hang(*, after: str = "") -> Step:
    """Say nothing more, at once or after some words."""
    return Step(do="hang", text=after)


def endless(of: Literal["text", "thinking", "comment", "line", "data", "drip"] = "text") -> Step:
    """Never end: in words, thoughts, comments, one line, one event, or a byte now and then."""
    return Step(do="endless", code=of, pause_s=0.01 if of == "drip" else 0.0)


def big(size: int = 50_000_000) -> Step:
    """Answer with that many bytes."""
    return Step(do="big", size=size)


def cut(words: str, *, cleanly: bool = False) -> Step:
    """Break off after these words, with or without an end of the body."""
    return Step(do="cut", text=words, code="cleanly" if cleanly else "")


def drop() -> Step:
    """Close the connection without a byte."""
    return Step(do="drop")


def raw(body: str, *, content_type: str = "text/event-stream") -> Step:
    """Answer 200 with this body."""
    return Step(do="raw", text=body, headers={"Content-Type": content_type})


def garbage() -> Step:
    """Send an event that is not JSON."""
    return raw("data: {not json\n\n")


def bomb(size: int = 50_000_000) -> Step:
    """Answer with little that unpacks to much."""
    return Step(do="bomb", size=size)
