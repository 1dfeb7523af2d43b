"""What to do next about a proposal that the files have moved on from, for chat and machine. Pure.

A change that a model proposed can be made anew, as its next version; anything else is asked again.
"""

from __future__ import annotations

from functools import partial
from typing import Final

from common.errors import CodexBridgeError
from common.model.proposal import Diff, TaskResult
from common.sentences import Lang, Sentence, Words, say
from local_agent import change_replies
from local_agent.store.tasks import Task

_STALE: Final = frozenset({"diff", "change"})  # families of what a diff that no longer fits says


def is_stale(task: Task, error: CodexBridgeError) -> bool:
    """Tell whether a model's change cannot be asked for because the files are other ones now."""
    return error.code.partition(".")[0] in _STALE and _is_of_a_model(task)


def told(task: Task, summary: Words, here: Words, *, prefix: str) -> tuple[Words, Words]:
    """Return the words for the chat and those for this machine, each with the next step there.

    Args:
        task: What has ended.
        summary: How, for the chat.
        here: How, for this machine.
        prefix: The word that addresses the bot.
    """
    if not _is_of_a_model(task):
        return summary, ask_again(task, here)
    at_machine = _and(here, change_replies.TO_REVISE_HERE, task=task.short_id)
    if task.source != "wecom":
        return at_machine, at_machine
    return _and(summary, change_replies.TO_REVISE, task=task.short_id, prefix=prefix), at_machine


def ask_again(task: Task, here: Words) -> Words:
    """Return the words for this machine, with how the same is asked once more."""
    return _and(here, change_replies.TO_ASK_AGAIN, task=task.short_id)


def _is_of_a_model(task: Task) -> bool:
    """Tell whether it proposes a change that is nobody's own patch."""
    if task.proposal_json is None or task.attachment is not None:
        return False
    return isinstance(TaskResult.model_validate_json(task.proposal_json).proposal, Diff)


def _and(words: Words, more: Sentence, **facts: str) -> Words:
    return partial(_joined, words, more, facts)


def _joined(words: Words, more: Sentence, facts: dict[str, str], lang: Lang) -> str:
    return f"{words(lang)}\n{say(more, lang, **facts)}"
