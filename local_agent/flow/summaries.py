"""How a task ended, in words (P7): facts in, one truthful text out.  Pure.

Machine and task ID are not named here: the gateway puts them in front.
"""

from __future__ import annotations

import signal
from collections.abc import Iterator
from functools import partial
from typing import TYPE_CHECKING

from common.errors import CodexBridgeError
from common.model.state import Reason, TaskState
from common.redact import redact
from common.seal_payloads import SealedChange
from common.sentences import Lang, Sentence, Words, explain, say
from common.text import one_line, reveal
from local_agent import change_replies, proposal_replies, replies, report_texts
from local_agent.error_texts import ERRORS
from local_agent.errors import FloodedError, PolicyError, RefusedError
from local_agent.flow.run import StoppedError

if TYPE_CHECKING:  # of what was done it is told the facts, not how
    from local_agent.actions.changes.perform import ChangeOutcome, Mixture
    from local_agent.actions.run_command.perform import Outcome, Progress
    from local_agent.flow.approvals import Decision
    from local_agent.store.tasks import Task

COMMAND_BYTES = 200
CHAT_FILES = 6
MIXED_NAMES = 3
_WHY_BYTES = 500
_NAME_BYTES = 120
_RIGHTS_NAMED = 3
# What a diff or an undo that cannot be made is told by: nothing was tried, so nothing failed.
_NOT_TO_BE_DONE = frozenset({"diff", "change", "undo"})


def of_outcome(outcome: Outcome, command: str, lang: Lang) -> str:
    """Return what came of a command, short enough for a phone: the verdict first.

    What a runner reported is told by its counts and first failures; the raw last lines only where
    no report tells why.
    """
    lines = [*_verdict(outcome, command, lang, most=report_texts.CHAT_FAILURES)]
    if started(outcome) and not _is_told(outcome):
        lines.append(outcome.brief or ("" if outcome.tail else say(replies.NO_OUTPUT, lang)))
    return "\n".join(filter(None, lines))


def of_ending(outcome: Outcome, command: str, lang: Lang) -> str:
    """Return how a command ended and what it reported, without its output."""
    return "\n".join(_verdict(outcome, command, lang, most=report_texts.HERE_FAILURES))


def started(outcome: Outcome) -> bool:
    """Tell whether the command began, so that there may be output of it."""
    return not (
        outcome.code in replies.NOT_STARTED
        or outcome.reason is Reason.DRIFTED
        or _never_began(outcome)
    )


def of_progress(progress: Progress, lang: Lang) -> str:
    """Return where a running command stands."""
    duration = replies.render_duration(progress.elapsed_s * 1000, lang)
    return say(replies.RUNNING, lang, duration=duration, lines=progress.lines)


def of_rejection(decision: Decision, lang: Lang) -> str:
    """Return that a person rejected it, with what they said."""
    if not decision.reason:
        return say(replies.REJECTED, lang)
    why = reveal(one_line(decision.reason, _WHY_BYTES))
    return say(replies.REJECTED_WHY, lang, why=why)


def of_refusal(codes: tuple[str, ...], lang: Lang, *, path: str | None = None) -> str:
    """Return that policy forbids it, why, and for which file first."""
    told = say(replies.REFUSED, lang, why=reasons(codes, lang))
    if path is None:
        return told
    return f"{told}\n{say(change_replies.ABOUT, lang, paths=_named((path,), lang))}"


def of_early_end(
    error: Exception, task: Task, *, replaced_by: str | None = None
) -> tuple[Reason, Words]:
    """Return how a task ends that could not go on, and the words for it."""
    if isinstance(error, StoppedError) and replaced_by:
        return Reason.CANCELLED, partial(say, proposal_replies.REPLACED, task=replaced_by)
    if isinstance(error, StoppedError):
        return Reason.CANCELLED, partial(say, replies.CANCELLED)
    if isinstance(error, RefusedError):
        return Reason.REFUSED, partial(of_refusal, error.reasons, path=error.path)
    if isinstance(error, CodexBridgeError):
        # Flooding is a limit, and a policy that cannot be read refuses everything: no faults.
        limited = isinstance(error, FloodedError | PolicyError)
        refused = limited or error.code.partition(".")[0] in _NOT_TO_BE_DONE
        reason = Reason.REFUSED if refused else Reason.FAILED
        return reason, partial(of_error, error)
    internal = partial(say, replies.INTERNAL, code=type(error).__name__)
    # Our own fault in the middle of a command: nobody saw how that ended (P3).
    return Reason.UNKNOWN if task.state is TaskState.EXECUTING else Reason.FAILED, internal


def of_error(error: CodexBridgeError, lang: Lang) -> str:
    """Return why it could not be done."""
    return explain(error, {**ERRORS, **replies.ENGINE_ERRORS}, lang)


def of_drift(fields: tuple[str, ...], lang: Lang) -> str:
    """Return what is no longer as it was approved; nothing was done."""
    return say(replies.DRIFTED, lang, what=_what_drifted(fields, lang))


def of_moving_on(lang: Lang) -> str:
    """Return that the files are no longer those that it was proposed for."""
    return say(replies.MOVED_ON, lang)


def of_change(
    outcome: ChangeOutcome, lang: Lang, *, short_id: str, undone: str | None, prefix: str
) -> str:
    """Return what came of a change, or of taking one back, with its files."""
    if outcome.mixture is not None:
        return "\n".join(_mixed(outcome.mixture, lang, short_id=short_id, prefix=prefix))
    if outcome.reason is not Reason.COMPLETED:
        told = [_not_changed(outcome, lang)]
    else:
        count = len(outcome.files)
        done = change_replies.UNDONE if undone else change_replies.APPLIED
        told = [say(done, lang, count=count, task=short_id, undone=undone, prefix=prefix)]
        told += [_row(change, lang) for change in outcome.files[:CHAT_FILES]]
        if (rest := count - CHAT_FILES) > 0:
            told.append(say(replies.MORE_FILES, lang, count=rest))
        if outcome.code == "change.leftover":
            told.append(say(change_replies.LEFTOVER, lang))
    if outcome.paths:
        told.append(say(change_replies.ABOUT, lang, paths=_named(outcome.paths, lang)))
    return "\n".join(told)


def _mixed(found: Mixture, lang: Lang, *, short_id: str, prefix: str) -> Iterator[str]:
    """Give what lies there of a change that was cut off: the counts, and the first of each."""
    yield say(change_replies.CHANGE_MIXED, lang)
    for kind, sentence in change_replies.STANDING.items():
        if paths := getattr(found, kind):
            yield say(sentence, lang, count=len(paths), paths=_named(paths, lang, most=MIXED_NAMES))
    if found.new:
        yield say(change_replies.TO_RESTORE, lang, task=short_id, prefix=prefix)


def of_unknown(lang: Lang) -> str:
    """Return that nobody knows how it ended, where not even its seal says what it was."""
    return say(change_replies.UNKNOWN, lang)


def of_interruption(command: str | None, lang: Lang) -> str:
    """Return that nobody knows how it ended."""
    shown = one_line(redact(command or "?"), COMMAND_BYTES)
    return say(replies.UNKNOWN, lang, command=shown)


def reasons(codes: tuple[str, ...], lang: Lang) -> str:
    """Return what risk codes mean, one after the other."""
    known = {**replies.RISK, **replies.REFUSALS}
    said = [say(known[code], lang) for code in codes if code in known]
    return say(replies.AND_ALSO, lang).join(said)


def _not_changed(outcome: ChangeOutcome, lang: Lang) -> str:
    code = outcome.code or ""
    if outcome.reason is Reason.DRIFTED:
        return of_drift(outcome.drift, lang)
    if outcome.reason is Reason.UNKNOWN:
        half = code == "change.half-done"
        unknown = change_replies.CHANGE_HALF_DONE if half else change_replies.CHANGE_UNKNOWN
        return say(unknown, lang)
    known = change_replies.NOT_CHANGED.get(code)
    return say(known or change_replies.CHANGE_FAILED, lang, why=code)


def _named(paths: tuple[str, ...], lang: Lang, *, most: int = CHAT_FILES) -> str:
    names = [reveal(one_line(path, _NAME_BYTES)) for path in paths[:most]]
    return say(replies.AND, lang).join([*names, *(["…"] if len(paths) > most else [])])


def _row(change: SealedChange, lang: Lang) -> str:
    op = say(change_replies.OPS[change.op], lang)
    return say(change_replies.CHANGE_ROW, lang, op=op, path=change.path)


def _verdict(outcome: Outcome, command: str, lang: Lang, *, most: int) -> Iterator[str]:
    """Give the lines that tell how a command ended; the first stands for itself."""
    if outcome.reason is Reason.DRIFTED:
        yield of_drift(outcome.drift, lang)
    elif _never_began(outcome):
        yield say(replies.CANCELLED, lang)
    elif outcome.report is not None:
        yield report_texts.verdict(outcome.report, lang, duration_ms=outcome.duration_ms)
        yield from report_texts.failure_lines(outcome.report, lang, most=most)
    else:
        yield say(
            _ending(outcome),
            lang,
            command=one_line(redact(command), COMMAND_BYTES),
            duration=replies.render_duration(outcome.duration_ms, lang),
            exit_code=outcome.exit_code,
            signal=_signal(outcome.signal),
        )
    if outcome.survivors:
        yield say(replies.SURVIVORS, lang, count=outcome.survivors)
    if outcome.differences and (paths := outcome.differences.rights):
        named = _named(paths[:_RIGHTS_NAMED], lang)
        yield say(replies.RIGHTS_TAKEN, lang, count=len(paths), paths=named)


def _is_told(outcome: Outcome) -> bool:
    return outcome.report is not None and report_texts.tells_why(outcome.report)


def _signal(number: int | None) -> str:
    known = {int(one): one.name for one in signal.Signals}
    return known.get(number or 0, str(number))


def _never_began(outcome: Outcome) -> bool:
    cancelled = outcome.reason is Reason.CANCELLED
    return cancelled and outcome.exit_code is None and not outcome.signal


def _what_drifted(fields: tuple[str, ...], lang: Lang) -> str:
    known = replies.DRIFTED_FIELDS
    sentences = {known.get(name, known["payload"]): None for name in fields or ("payload",)}
    return say(replies.AND, lang).join(say(sentence, lang) for sentence in sentences)


def _ending(outcome: Outcome) -> Sentence:
    if outcome.reason is Reason.CANCELLED:
        return replies.CANCELLED_RUNNING
    if outcome.code == "command.timeout":
        return replies.TIMED_OUT
    if outcome.code in replies.NOT_STARTED:
        return replies.NOT_STARTED[outcome.code]
    if outcome.code in replies.EXCEEDED:
        return replies.EXCEEDED[outcome.code]
    if outcome.signal:
        return replies.KILLED
    return replies.RAN_OK if outcome.exit_code == 0 else replies.RAN_BADLY
