"""How a task ended, in words (P7): facts in, one truthful text out.  Pure.

Machine and task ID are not named here: the gateway puts them in front.
"""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from common.errors import CodexBridgeError
from common.model.state import Reason, TaskState
from common.sentences import Lang, Words, explain, say
from common.text import one_line, reveal
from local_agent.actions.operation import ABOUT, CANCELLED, render_names
from local_agent.error_texts import ERRORS
from local_agent.errors import FloodedError, PolicyError, RefusedError
from local_agent.flow import words
from local_agent.flow.run import StoppedError
from local_agent.safety.risk_words import RISK

if TYPE_CHECKING:
    from local_agent.flow.approvals import Decision
    from local_agent.store.tasks import Task

_WHY_BYTES = 500
# What a diff or an undo that cannot be made is told by: nothing was tried, so nothing failed.
_NOT_TO_BE_DONE = frozenset({"diff", "change", "undo"})


def of_rejection(decision: Decision, lang: Lang) -> str:
    """Return that a person rejected it, with what they said."""
    if not decision.reason:
        return say(words.REJECTED, lang)
    why = reveal(one_line(decision.reason, _WHY_BYTES))
    return say(words.REJECTED_WHY, lang, why=why)


def of_refusal(codes: tuple[str, ...], lang: Lang, *, path: str | None = None) -> str:
    """Return that policy forbids it, why, and for which file first."""
    told = say(words.REFUSED, lang, why=reasons(codes, lang))
    if path is None:
        return told
    return f"{told}\n{say(ABOUT, lang, paths=render_names((path,), lang))}"


def of_early_end(
    error: Exception, task: Task, *, replaced_by: str | None = None
) -> tuple[Reason, Words]:
    """Return how a task ends that could not go on, and the words for it."""
    if isinstance(error, StoppedError) and replaced_by:
        return Reason.CANCELLED, partial(say, words.REPLACED, task=replaced_by)
    if isinstance(error, StoppedError):
        is_run = task.run is not None and task.step is None
        facts = {"task": task.short_id}
        return Reason.CANCELLED, partial(say, words.RUN_STOPPED if is_run else CANCELLED, **facts)
    if isinstance(error, RefusedError):
        return Reason.REFUSED, partial(of_refusal, error.reasons, path=error.path)
    if isinstance(error, CodexBridgeError):
        # Flooding is a limit, and a policy that cannot be read refuses everything: no faults.
        limited = isinstance(error, FloodedError | PolicyError)
        refused = limited or error.code.partition(".")[0] in _NOT_TO_BE_DONE
        reason = Reason.REFUSED if refused else Reason.FAILED
        return reason, partial(of_error, error)
    internal = partial(say, words.INTERNAL, code=type(error).__name__)
    # Our own fault in the middle of a command: nobody saw how that ended (P3).
    return Reason.UNKNOWN if task.state is TaskState.EXECUTING else Reason.FAILED, internal


def of_error(error: CodexBridgeError, lang: Lang) -> str:
    """Return why it could not be done."""
    return explain(error, {**ERRORS, **words.ENGINE_ERRORS}, lang)


def of_moving_on(lang: Lang) -> str:
    """Return that the files are no longer those that it was proposed for."""
    return say(words.MOVED_ON, lang)


def of_unknown(lang: Lang) -> str:
    """Return that nobody knows how it ended, where not even its seal says what it was."""
    return say(words.UNKNOWN, lang)


def reasons(codes: tuple[str, ...], lang: Lang) -> str:
    """Return what risk codes mean, one after the other."""
    known = {**RISK, **words.REFUSALS}
    said = [say(known[code], lang) for code in codes if code in known]
    return say(words.AND_ALSO, lang).join(said)
