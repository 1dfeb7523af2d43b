"""What a model is told in an agent step: the step's words, and earlier results as data.  Pure."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any, Final

from common.redact import redact
from common.sentences import Lang
from common.text import clip_bytes, reveal
from local_agent.playbooks import values
from local_agent.playbooks.definition import StepDefinition
from local_agent.propose.context.collected import Piece
from local_agent.propose.prompt import instructions, prompt

Messages = tuple[Mapping[str, str], ...]

MAX_DATA_BYTES: Final = 120_000  # of all earlier results together; marks and redaction add to it
MAX_RESULT_BYTES: Final = 60_000  # of one


def messages(
    step: StepDefinition,
    words: values.Words,
    results: Mapping[str, Any],
    *,
    lang: Lang,
    nonce: str,
    short: bool,
) -> Messages:
    """Return what the model is sent.

    Args:
        words: What was given to the run.
        results: Of earlier steps, by name; secrets are taken out here.
        short: For the second attempt (AC 35): nothing of earlier results, in which may stand what
            made the model fail.
    """
    known = {} if short else results
    wish = values.render(step.message_template or step.description, words, known, known.keys())
    said = prompt(wish, _pieces(known), nonce=nonce, numbered=False)
    return (
        {"role": "system", "content": instructions("step", lang, nonce=nonce)},
        {"role": "user", "content": said},
    )


def _pieces(results: Mapping[str, Any]) -> list[Piece]:
    """Return earlier results as data; where not all has room, the newest."""
    left = MAX_DATA_BYTES
    found: list[Piece] = []
    for name, result in reversed([*results.items()]):
        text = f"step: {name}\n{_text(result)}"
        most = min(left, MAX_RESULT_BYTES)
        # What nobody would see is made visible here, not later: that makes a text longer.
        shown = clip_bytes(reveal(clip_bytes(text, most)), most, marker="\n…")
        found.append(Piece(kind="result", text=shown, cut=shown != text))
        left -= len(shown.encode("utf-8", "replace"))
        if left <= 0:
            break
    return found[::-1]


def _text(result: Any) -> str:
    """Return a result as a model reads it best: texts line by line, all else as JSON."""
    if not isinstance(result, Mapping):
        return json.dumps(_redacted(result), ensure_ascii=False)
    lines = [f"{key}: {_line(value)}" for key, value in result.items()]
    # What is long comes last: it alone is cut where there is no room.
    return "\n".join(sorted(lines, key=lambda line: "\n" in line))


def _line(value: Any) -> str:
    if isinstance(value, str):
        shown = redact(value)
        return f"\n{shown}" if "\n" in shown else shown
    return json.dumps(_redacted(value), ensure_ascii=False)


def _redacted(value: Any) -> Any:
    if isinstance(value, str):
        return redact(value)
    if isinstance(value, Mapping):
        return {key: _redacted(item) for key, item in value.items()}
    return [_redacted(item) for item in value] if isinstance(value, list) else value
