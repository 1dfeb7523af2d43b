"""A diff as a proposal, and in the words of the chat: paths and counts, never lines."""

from __future__ import annotations

from typing import Final

from common.diff.model import DiffModel, FileDiff, as_utf8
from common.diff.render import render
from common.encodings import UTF8
from common.model.proposal import Diff, DiffFileSummary, TaskResult
from common.sentences import Lang, say
from common.text import clip_bytes
from local_agent.propose import words
from local_agent.propose.base import CHAT_ROWS

# Of a diff, in a proposal; it stands in the journal twice for each task that proposes it.
MAX_SHOWN_BYTES: Final = 64_000


def diff_proposal(name: str, diff: bytes, model: DiffModel) -> Diff:
    """Return the proposal of a diff that is stored under ``name``."""
    if any(file.encoding != UTF8 for file in model.files):
        diff = render(DiffModel(tuple(map(as_utf8, model.files))))
    return Diff(
        diff_id=name,
        unified_diff=clip_bytes(diff.decode("utf-8", "replace"), MAX_SHOWN_BYTES),
        files=tuple(map(_summary, model.files)),
    )


def encodings_of(diff: Diff) -> dict[str, str | None]:
    """Return the encoding of each file of a proposal, by path; None for UTF-8."""
    return {file.path: file.encoding for file in diff.files}


def _summary(file: FileDiff) -> DiffFileSummary:
    encoding = file.encoding if file.encoding != UTF8 else None
    return DiffFileSummary(
        path=file.path, additions=file.added, deletions=file.removed, encoding=encoding
    )


def headline(diff: Diff, workspace: str, lang: Lang) -> str:
    """Return what a diff would change in one line."""
    return say(
        words.WOULD_APPLY,
        lang,
        workspace=workspace,
        count=len(diff.files),
        added=sum(file.additions for file in diff.files),
        removed=sum(file.deletions for file in diff.files),
    )


def told(diff: Diff, workspace: str, lang: Lang) -> str:
    """Return what a diff would change, for the chat: paths and counts, bounded."""
    rows = [
        say(words.FILE_ROW, lang, path=file.path, added=file.additions, removed=file.deletions)
        for file in diff.files[:CHAT_ROWS]
    ]
    if (rest := len(diff.files) - CHAT_ROWS) > 0:
        rows.append(say(words.MORE_FILES, lang, count=rest))
    return "\n".join([headline(diff, workspace, lang), *rows])


def retold(part: TaskResult, whole: TaskResult, workspace: str, lang: Lang) -> TaskResult:
    """Return a part of what was proposed, in words that tell of that part alone."""
    now, before = part.proposal, whole.proposal
    if not isinstance(now, Diff) or not isinstance(before, Diff):
        return part
    texts = {name: getattr(part, name) for name in ("summary", "details", "own")}
    for words_of in (told, headline):  # the longer text begins with the shorter
        old, new = words_of(before, workspace, lang), words_of(now, workspace, lang)
        texts = {name: text and text.replace(old, new) for name, text in texts.items()}
    return part.model_copy(update=texts)
