"""What came of a commit and push: in words (P7), and as facts.  Pure."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from common.errors import CodexBridgeError
from common.model.state import Reason
from common.sentences import Lang, Sentence, explain, say
from common.text import one_line
from local_agent import replies, sync_texts
from local_agent.actions.git_sync.perform import SyncOutcome

_SHORT_ID: Final = 7
_NAME_BYTES: Final = 100


def render_sync(outcome: SyncOutcome, payload: Mapping[str, Any], lang: Lang) -> str:
    """Return what came of it.

    Args:
        outcome: As `Syncer.run` or `Syncer.settle` tells it.
        payload: As sealed: for the names of branch and remote.
        lang: Whose words.
    """
    if outcome.reason is Reason.DRIFTED and outcome.drift:
        return say(sync_texts.DRIFTED, lang, what=_what_drifted(outcome.drift, lang))
    head = say(
        _sentence(outcome, payload),
        lang,
        commit=(outcome.committed or "")[:_SHORT_ID],
        branch=one_line(payload["branch"], _NAME_BYTES),
        remote=one_line(payload["remote"], _NAME_BYTES),
        why=explain(CodexBridgeError(outcome.code or "sync.failed"), sync_texts.WHY, lang),
    )
    if not outcome.tail:
        return head
    return f"{head}\n{say(sync_texts.ANSWER_OF_GIT, lang, tail=outcome.tail)}"


def sync_facts(outcome: SyncOutcome) -> dict[str, Any]:
    """Return how a commit and push ended."""
    return {
        "code": outcome.code,
        "drift": list(outcome.drift),
        "committed": outcome.committed,
        "pushed": outcome.pushed,
    }


def _sentence(outcome: SyncOutcome, payload: Mapping[str, Any]) -> Sentence:
    made = outcome.committed is not None
    if outcome.pushed:
        return sync_texts.COMMITTED_AND_PUSHED if made else sync_texts.PUSHED
    if outcome.pushed is None:
        if made:
            return sync_texts.COMMITTED_PUSH_UNKNOWN
        return sync_texts.PUSH_UNKNOWN if payload["commit"] is None else sync_texts.UNKNOWN
    if made:
        return sync_texts.COMMITTED_NOT_PUSHED
    return sync_texts.NOT_PUSHED if payload["commit"] is None else sync_texts.NOTHING_DONE


def _what_drifted(fields: tuple[str, ...], lang: Lang) -> str:
    known = {**replies.DRIFTED_FIELDS, **sync_texts.DRIFTED_FIELDS}
    sentences = {known.get(name, known["payload"]): None for name in fields}
    return say(replies.AND, lang).join(say(sentence, lang) for sentence in sentences)
