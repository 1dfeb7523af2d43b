"""Edits asked for as JSON: what a model is told of their form, and when they do not fit.

Pure.  The form itself, and what its parts do, is `local_agent.models.http.edits`.
"""

from __future__ import annotations

import re
from typing import Final

from common import strict_json
from common.errors import InputError, RemoteProtocolError
from common.redact import redact
from common.sentences import explain
from common.text import clip_bytes
from local_agent.models.backend import MAX_ANSWER_BYTES
from local_agent.models.http.dialect import Message
from local_agent.models.http.edits import Edits, read_edits
from local_agent.models.texts import ERRORS

MAX_REPEATED_BYTES: Final = 65_536  # of the answer that is shown to the model again

EDIT_RULES: Final = """\
Answer in JSON. "summary": what you changed and why, in a few lines; it comes first. "plan": empty \
when you make edits; else what you would do and what you need to know. "edits": in the order in \
which they are to be made; leave the fields that an action does not use empty. Paths are \
relative, with "/". "commands": what a person might run afterwards, at most five; usually none.
Actions: "edit" puts "replace" where "search" stands in the file: "search" must be an exact copy \
of what stands there, blanks and line ends included, and must occur exactly once, so take whole \
lines and as many as it needs; never the marks or headers around a part. "create" makes a file \
of "content". "delete" removes a file. "rename" moves a file "to" another path."""

_FENCED: Final = re.compile(r"\s*```[A-Za-z]{0,10}[ \t]*\r?\n(.*?)\r?\n?```\s*", re.DOTALL)


def bare_json(text: str) -> str:
    """Return an answer without the code fence that some models put around JSON."""
    fenced = _FENCED.fullmatch(text)
    return fenced[1] if fenced else text.strip()


def read_answer(text: str) -> Edits:
    """Return the edits of an answer.

    Raises:
        InputError: ``edit.form``.
    """
    try:
        value = strict_json.loads(bare_json(text), max_bytes=MAX_ANSWER_BYTES)
    except RemoteProtocolError:
        raise InputError("edit.form", why="json", index=0) from None
    return read_edits(value)


def reply_text(edits: Edits) -> str:
    """Return the words of an answer: the plan, too, where nothing is edited."""
    parts = (edits.summary,) if edits.edits else (edits.summary, edits.plan)
    return "\n\n".join(part for part in parts if part.strip())


def correction(answer: str, error: InputError, *, nonce: str) -> tuple[Message, Message]:
    """Return what is added to the conversation when an answer cannot be used.

    What a model wrote itself may hold secrets all the same, such as of a file that it made up or
    remembered: it goes out as everything else does.

    Args:
        answer: The answer; to look through a long one takes a moment.
        error: Why not.
        nonce: Marks what is data; random, and new for every message.
    """
    problem = redact(explain(error, ERRORS, "en"))
    return (
        Message("assistant", clip_bytes(redact(answer), MAX_REPEATED_BYTES)),
        Message(
            "user",
            "Your answer cannot be used, and nothing of it was done. What is wrong with it, as "
            f"data:\n<<<{nonce} PROBLEM>\n{problem}\n{nonce}>>>\n"
            "Give the whole answer again in the same form, with every edit that is needed.",
        ),
    )
