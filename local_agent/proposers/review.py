"""Sums up the local changes.  To the chat go paths and counts, never lines."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from pathlib import Path

from common.model.proposal import Answer
from common.sentences import Lang, say
from common.text import one_line
from local_agent import replies
from local_agent.proposers.base import CHAT_ROWS, Asked, Proposed, answer
from local_agent.workspace.git import ChangedFile, Changes

_SIGNS = {"added": "A", "deleted": "D", "modified": "M", "renamed": "R", "untracked": "?"}


class ReviewProposer:
    """Answers "review my changes".

    Args:
        local_changes: Gives the changes, or None where there is no repository.
    """

    def __init__(self, local_changes: Callable[[Path], Awaitable[Changes | None]]) -> None:
        self._local_changes = local_changes

    async def propose(self, asked: Asked) -> Proposed:
        """Return the changed files with their counts."""
        if asked.workspace is None:
            return answer(say(replies.NO_WORKSPACE, asked.lang))
        name = asked.workspace.name
        changes = await self._local_changes(asked.workspace.path)
        if changes is None:
            return answer(say(replies.NOT_A_REPOSITORY, asked.lang, workspace=name))
        branch = changes.branch or say(replies.NO_BRANCH, asked.lang)
        where = {"workspace": name, "branch": one_line(branch, 100)}
        if not changes.total:
            return answer(say(replies.NO_CHANGES, asked.lang, **where))
        head = say(
            replies.CHANGES,
            asked.lang,
            **where,
            files=changes.total,
            added=changes.added,
            deleted=changes.removed,
        )
        every = [_row(file, asked.lang) for file in changes.files]
        rows = every[:CHAT_ROWS]
        if (rest := changes.total - len(rows)) > 0:
            rows.append(say(replies.MORE_FILES, asked.lang, count=rest))
        text = "\n".join([head, *rows])
        return Proposed(Answer(text=text), text, details="\n".join([head, *every]))


def _row(file: ChangedFile, lang: Lang) -> str:
    if file.added is None or file.removed is None:
        amount = say(replies.NOT_COUNTED, lang)
    else:
        amount = f"+{file.added} −{file.removed}"
    sign = _SIGNS.get(file.status, "·")
    return say(replies.CHANGES_ROW, lang, status=sign, path=one_line(file.path), amount=amount)
