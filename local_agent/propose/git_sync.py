"""Proposes a commit and push of what has changed, or says why there is none."""

from __future__ import annotations

import re
from collections.abc import Awaitable, Callable
from dataclasses import replace
from typing import Final

from common.diff.model import DiffModel
from common.errors import InputError
from common.model.proposal import DiffFileSummary, GitSync, LocalApproval
from common.redact import redact
from common.seal import SealedChange
from common.sentences import Lang, explain, say
from common.text import one_line
from common.verbs import Topic
from local_agent.error_texts import sync as sync_errors
from local_agent.propose import words
from local_agent.propose.base import CHAT_ROWS, Asked, Proposed, nothing
from local_agent.workspace.git.preflight import SyncPlan
from local_agent.workspace.registry import Workspace

_SHOWN_BYTES: Final = 200
_SIGNS: Final = {"add": "A", "delete": "D", "modify": "M"}
_QUOTED: Final = re.compile(
    r"\"([^\"]+)\"|“([^”]+)”|「([^」]+)」|『([^』]+)』|`([^`]+)`|'([^']{2,})'"
)
_BEFORE: Final = re.compile(r"\A(?:[:：]|with (?:the )?message\b)\s*", re.IGNORECASE)
_AFTER: Final = re.compile(
    r"(?:[:：](?!//)|\bwith (?:the )?message\b)\s*(.+)\Z", re.DOTALL | re.IGNORECASE
)

# What is no sync but half of one, or another deed of git.
_ALONE: Final = {Topic.COMMIT: words.COMMIT_ALONE, Topic.PULL: words.NO_PULL}

Plan = Callable[[Workspace, str | None], Awaitable[SyncPlan]]


class GitSyncProposer:
    """Looks up what would be committed and pushed; nothing is written.

    Args:
        plan: Gives what would be done (`local_agent.actions.git_sync.perform.Syncer.plan`).
    """

    def __init__(self, plan: Plan) -> None:
        self._plan = plan

    async def propose(self, asked: Asked) -> Proposed:
        """Return the commit and push with its requirement, or say truthfully why there is none."""
        if asked.workspace is None:
            return nothing(words.NO_WORKSPACE, asked)
        if alone := _ALONE.get(asked.topic):
            only = say(alone, asked.lang, prefix=asked.prefix)
            return nothing(words.NOTHING_DONE, asked, why=only)
        message = find_message(asked.text, is_message=asked.topic is Topic.SYNC)
        try:
            plan = await self._plan(asked.workspace, message)
        except InputError as error:
            if error.code.partition(".")[0] not in ("sync", "diff"):
                raise
            table = {**sync_errors.ERRORS, **words.NOT_SHOWN}
            why = explain(error, table, asked.lang)
            told = nothing(words.NOTHING_DONE, asked, why=why)
            return replace(told, details=told.summary)
        files = _files(plan)
        changes = plan.commit.changes if plan.commit else ()
        rows = [_row(*pair, asked.lang) for pair in zip(changes, files, strict=True)]
        head = _head(plan, files, asked.workspace.name, asked.lang)
        more = len(rows) - CHAT_ROWS
        cut = [say(words.MORE_FILES, asked.lang, count=more)] if more > 0 else []
        end = say(words.CANNOT_BE_UNDONE, asked.lang)
        return Proposed(
            GitSync(message=message, files=files),
            "\n".join([*head, *rows[:CHAT_ROWS], *cut, end]),
            LocalApproval(action="git_sync"),
            details="\n".join([*head, *rows, end]),
        )


def find_message(text: str, *, is_message: bool) -> str | None:
    """Return the commit message that a request gives, or None.

    Args:
        text: The request without prefix and command word.
        is_message: The whole text is one, as after the command word; quotes around it are not.
    """
    whole = text.strip()
    if is_message:
        whole = _BEFORE.sub("", whole)
    quoted = _QUOTED.fullmatch(whole) if is_message else _QUOTED.search(whole)
    if quoted:
        return next(piece for piece in quoted.groups() if piece)
    if is_message:
        return whole or None
    after = _AFTER.search(whole)
    return after[1].strip() if after else None


def _files(plan: SyncPlan) -> tuple[DiffFileSummary, ...]:
    if plan.commit is None:
        return ()
    model = plan.model or DiffModel(())
    counted = {file.path: (file.added, file.removed) for file in model.files}
    return tuple(
        DiffFileSummary(path=change.path, additions=added, deletions=removed)
        for change in plan.commit.changes
        for added, removed in [counted.get(change.path, (0, 0))]
    )


def _head(
    plan: SyncPlan, files: tuple[DiffFileSummary, ...], workspace: str, lang: Lang
) -> list[str]:
    facts = {
        "workspace": workspace,
        "branch": one_line(plan.branch, 100),
        "remote": one_line(plan.upstream.remote, 100),
        "ahead": plan.ahead,
    }
    if plan.commit is None:
        return [say(words.WOULD_PUSH, lang, **facts)]
    would = say(
        words.WOULD_COMMIT,
        lang,
        **facts,
        files=len(files),
        added=sum(file.additions for file in files),
        deleted=sum(file.deletions for file in files),
        message=one_line(redact(plan.commit.message), _SHOWN_BYTES),
    )
    return [would, say(words.WITH_EARLIER, lang, **facts)] if plan.ahead else [would]


def _row(change: SealedChange, file: DiffFileSummary, lang: Lang) -> str:
    known = file.additions or file.deletions or not change.size
    amount = f"+{file.additions} −{file.deletions}" if known else say(words.NOT_COUNTED, lang)
    sign = _SIGNS.get(change.op, "·")
    return say(words.CHANGES_ROW, lang, status=sign, path=one_line(change.path), amount=amount)
