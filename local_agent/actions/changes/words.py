"""What came of a change of files, or of taking one back: in words, and as facts.  Pure."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import asdict
from typing import Any, Final

from common.model.state import Reason
from common.seal import SealedChange
from common.sentences import Lang, say
from local_agent import change_replies, replies
from local_agent.actions.changes.outcome import ChangeOutcome, Mixture
from local_agent.actions.operation import CHAT_FILES, render_drift, render_names

MIXED_NAMES: Final = 3


def render_change(
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
        told.append(say(change_replies.ABOUT, lang, paths=render_names(outcome.paths, lang)))
    return "\n".join(told)


def change_facts(outcome: ChangeOutcome, *, undoes: str | None) -> dict[str, Any]:
    """Return how a change ended, and each of its files.

    Args:
        undoes: Short ID of the task whose change it took back; None when it took none back.
    """
    return {
        "code": outcome.code,
        "drift": list(outcome.drift),
        "undoes": undoes,
        "files": [
            {"op": change.op, "path": change.path, "old_path": change.old_path}
            for change in outcome.files
        ],
        "mixture": asdict(outcome.mixture) if outcome.mixture else None,
    }


def _mixed(found: Mixture, lang: Lang, *, short_id: str, prefix: str) -> Iterator[str]:
    """Give what lies there of a change that was cut off: the counts, and the first of each."""
    yield say(change_replies.CHANGE_MIXED, lang)
    for kind, sentence in change_replies.STANDING.items():
        if paths := getattr(found, kind):
            named = render_names(paths, lang, most=MIXED_NAMES)
            yield say(sentence, lang, count=len(paths), paths=named)
    if found.new:
        yield say(change_replies.TO_RESTORE, lang, task=short_id, prefix=prefix)


def _not_changed(outcome: ChangeOutcome, lang: Lang) -> str:
    code = outcome.code or ""
    if outcome.reason is Reason.DRIFTED:
        return render_drift(outcome.drift, lang)
    if outcome.reason is Reason.UNKNOWN:
        half = code == "change.half-done"
        unknown = change_replies.CHANGE_HALF_DONE if half else change_replies.CHANGE_UNKNOWN
        return say(unknown, lang)
    known = change_replies.NOT_CHANGED.get(code)
    return say(known or change_replies.CHANGE_FAILED, lang, why=code)


def _row(change: SealedChange, lang: Lang) -> str:
    op = say(change_replies.OPS[change.op], lang)
    return say(change_replies.CHANGE_ROW, lang, op=op, path=change.path)
