"""What a coding model makes of a request: an answer, a plan, findings, or a change of files.

The model is given rules, fenced data and, for a change, a scratch copy, with the change of an
earlier version in it where that is made anew.  What it changed there is found by comparing, the
diff is made by us, and its own words decide nothing.  While no model is configured, that is said,
and what one would be shown is proposed as a plan.
"""

from __future__ import annotations

import asyncio
import secrets
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from contextlib import AbstractAsyncContextManager, AsyncExitStack, asynccontextmanager
from dataclasses import replace
from typing import Final, Protocol

from common.diff.model import FileDiff, as_utf8
from common.diff.parse import parse_diff
from common.diff.patching import patched
from common.errors import InputError
from common.model.intent import TaskKind
from common.model.proposal import Answer, LocalApproval, Plan, Speech
from common.redact import redact_lines
from common.sentences import Lang, explain, say
from common.text import clip_bytes, one_line, reveal
from common.verbs import Topic
from local_agent.error_texts import ERRORS
from local_agent.errors import RefusedError
from local_agent.models.backend import Chosen, Refusal, Reply, Scratch, Turn
from local_agent.propose import words
from local_agent.propose.base import CHAT_ROWS, Asked, Earlier, Proposed, Proposer, nothing
from local_agent.propose.context.collected import (
    MAX_FILE_BYTES,
    MAX_TOTAL_BYTES,
    Collected,
    Piece,
    Share,
)
from local_agent.propose.diffs import diff_proposal, headline, told
from local_agent.propose.prompt import Job, instructions, prompt, sent_bytes
from local_agent.propose.review import ReviewProposer, summed_up, to_show
from local_agent.propose.scratch.diffing import ScratchDiff
from local_agent.words import render_size
from local_agent.workspace.registry import Workspace

_WORDS_ALONE: Final = frozenset({Topic.PLAN, Topic.PATCH})  # these say nothing by themselves
_EDITING: Final[frozenset[Job]] = frozenset({"change", "diagnose"})
_JOBS: Final[dict[TaskKind, Job]] = {
    TaskKind.CHANGE: "change",
    TaskKind.DIAGNOSE: "diagnose",
    TaskKind.REVIEW: "review",
}
MAX_SAID_BYTES: Final = 65_536  # of a model's words, for people: far more than anybody reads
_COMMAND_BYTES: Final = 300
_LINES_BYTES: Final = 8  # that the number of the last line is longer than one digit


class Lent(Scratch, Protocol):
    """A scratch copy, and what became of it."""

    async def diff(self) -> ScratchDiff:
        """Compare it with what was lent.

        Raises:
            InputError: ``diff.*``: it is more than a proposal may be.
        """
        ...


class Lend(Protocol):
    """Gives scratch copies."""

    def __call__(
        self, workspace: Workspace, *, whole: bool, redacted: bool
    ) -> AbstractAsyncContextManager[Lent]:
        """Lend one for the length of a context."""
        ...


class CodingProposer:
    """Answers explain, change, diagnose, plan and review.

    Args:
        choose: Gives the model, or None while none is configured.
        without: Answers in that case.
        lend: Gives scratch copies.
        keep: Keeps the bytes of a diff and returns their name; blocks.
        allowed: False refuses every change (setting ``allow_apply_patch``).
        review: Finds the changes that a review is about, and sums them up where there is no model.
    """

    def __init__(
        self,
        choose: Callable[[], Chosen | None],
        *,
        without: Proposer,
        lend: Lend,
        keep: Callable[[bytes], str],
        allowed: bool,
        review: ReviewProposer | None = None,
    ) -> None:
        self._choose = choose
        self._without = without
        self._lend = lend
        self._keep = keep
        self._allowed = allowed
        self._review = review

    async def propose(self, asked: Asked) -> Proposed:
        """Return what the model makes of it.

        Raises:
            ModelError: ``model.*``: it gave nothing that can be used.
            RefusedError: changes are switched off on this machine.
            InputError: ``diff.*``: its change is more than a proposal may be.
        """
        if asked.topic in _WORDS_ALONE and not asked.text.strip():
            return nothing(words.WHAT, asked, word=asked.topic)
        chosen = self._choose()
        job = job_of(asked)
        if job == "review" and self._review is not None:
            return await self._reviewed(asked, chosen, self._review)
        if chosen is None:
            return await self._without.propose(asked)
        if job not in _EDITING:
            return _in_words(asked, chosen, await self._answer(asked, chosen, job))
        if asked.workspace is None:
            return nothing(words.NO_WORKSPACE, asked)
        if not self._allowed:
            raise RefusedError(("apply-off",))
        return await self._change(asked, chosen, job, asked.workspace)

    async def _reviewed(
        self, asked: Asked, chosen: Chosen | None, review: ReviewProposer
    ) -> Proposed:
        """Return the findings under what was looked at; without lines to look at, that alone."""
        looked = await review.look(asked)
        if looked.instead is not None and looked.of_range:
            return looked.instead
        found = asked.context.pieces if asked.context else ()
        pieces = to_show(looked, found)
        named = any(piece.kind == "file" for piece in pieces) and asked.intent.params.files
        if chosen is None or not (named or any(piece.kind == "changes" for piece in pieces)):
            return summed_up(looked, asked.lang)
        reply = await chosen.backend.ask(_turn(asked, "review", pieces), asked.emit)
        said = replace(_in_words(asked, chosen, reply), shown=looked.pieces)
        if looked.instead is not None or said.not_done:
            return said
        text = f"{looked.head}\n{said.summary}"
        details = "\n".join([looked.head, *looked.notes, said.details or ""])
        answered = replace(said, proposal=Answer(text=text), summary=text, details=details)
        return replace(answered, own="\n".join([looked.head, *looked.notes]))

    async def _answer(self, asked: Asked, chosen: Chosen, job: Job) -> Reply:
        pieces = asked.context.pieces if asked.context else ()
        return await chosen.backend.ask(_turn(asked, job, pieces), asked.emit)

    async def _change(
        self, asked: Asked, chosen: Chosen, job: Job, workspace: Workspace
    ) -> Proposed:
        before = asked.earlier.diff if asked.earlier else b""
        found = asked.context.pieces if asked.context else ()
        async with self._lent(workspace, chosen, found) as scratch:
            seeded = await asyncio.to_thread(_seed, scratch, asked.earlier)
            pieces = with_seeded(found, seeded)
            turn = replace(_turn(asked, job, pieces), want="edits", scratch=scratch)
            reply = await chosen.backend.ask(turn, asked.emit)
            made = await scratch.diff()
        reply = replace(reply, refused=(*reply.refused, *made.refused))
        if not made.diff or made.diff == before:
            proposed = _unchanged(asked, chosen, job, reply)
        else:
            proposed = await self._changed(asked, chosen, workspace, reply, made)
        return replace(proposed, shown=(*with_seeded((), seeded), *_as_shown(asked.earlier)))

    @asynccontextmanager
    async def _lent(
        self, workspace: Workspace, chosen: Chosen, pieces: Sequence[Piece]
    ) -> AsyncIterator[Lent]:
        """Lend a copy; where the workspace is too large for a tree, one of what is shown alone."""
        async with AsyncExitStack() as stack:
            try:
                lending = self._lend(workspace, whole=chosen.whole, redacted=chosen.redacted)
                scratch = await stack.enter_async_context(lending)
            except InputError as error:
                if error.code != "scratch.too-many" or not chosen.whole:
                    raise
                lending = self._lend(workspace, whole=False, redacted=chosen.redacted)
                scratch = await stack.enter_async_context(lending)
                await asyncio.to_thread(_bring, scratch, pieces)
            yield scratch

    async def _changed(
        self, asked: Asked, chosen: Chosen, workspace: Workspace, reply: Reply, made: ScratchDiff
    ) -> Proposed:
        model = await asyncio.to_thread(parse_diff, made.diff)
        model = model.in_encodings(made.encodings)
        name = await asyncio.to_thread(self._keep, made.diff)
        proposal = diff_proposal(name, made.diff, model)
        summary = told(proposal, workspace.name, asked.lang)
        left_out = _left_out(reply, asked.lang)
        return Proposed(
            proposal,
            "\n".join([summary, *left_out]),
            LocalApproval(action="apply_diff"),
            details="\n".join([summary, *_said(reply, chosen, asked.lang)]),
            own="\n".join([headline(proposal, workspace.name, asked.lang), *left_out]),
            speech=_speech(reply, chosen, asked.lang),
        )


def job_of(asked: Asked) -> Job:
    """Return what a model is to do: nothing but words where the request is unclear."""
    if asked.topic is Topic.PLAN:
        return "plan"
    if asked.unsure:
        return "explain"
    return _JOBS.get(asked.intent.kind, "explain")


def _turn(asked: Asked, job: Job, pieces: Sequence[Piece]) -> Turn:
    nonce = secrets.token_hex(8)
    return Turn(
        task_id=asked.task_id,
        instructions=instructions(job, asked.lang, nonce=nonce),
        prompt=prompt(
            asked.text,
            pieces,
            nonce=nonce,
            numbered=job not in _EDITING,
            earlier=asked.earlier,
            remembered=asked.remembered,
        ),
    )


def _bring(scratch: Scratch, pieces: Sequence[Piece]) -> None:
    for path in dict.fromkeys(piece.path for piece in pieces if piece.path):
        try:
            scratch.read(path)
        except InputError:
            continue  # it may not be edited then


def _wished_change(asked: Asked) -> bool:
    """Tell whether a change may have been wished, too unclearly to be made."""
    return asked.unsure and asked.intent.kind is TaskKind.CHANGE


def _only_answered(asked: Asked, found: Proposed) -> Proposed:
    # "T-7K3F completed" above it would be read as a deed that was done.
    head = say(words.UNSURE_CHANGE if _wished_change(asked) else words.ONLY_ANSWERED, asked.lang)
    return replace(
        found,
        summary=f"{head}\n{found.summary}",
        details=found.details and f"{head}\n{found.details}",
        own=head if found.own == "" else found.own,
        not_done=True,
    )


def _in_words(asked: Asked, chosen: Chosen, reply: Reply) -> Proposed:
    text = _words_of(reply)
    if not text:
        return nothing(words.NOTHING_SAID, asked, model=chosen.backend.name)
    details = "\n".join(_said(reply, chosen, asked.lang))
    kind = Plan if asked.topic is Topic.PLAN else Answer
    # Else it could speak as we do: "T-7K3F was approved" (R25).
    head = say(words.MODEL_SAYS, asked.lang, model=chosen.backend.name)
    speech = _speech(reply, chosen, asked.lang)
    found = Proposed(kind(text=text), f"{head}\n{text}", details=details, own="", speech=speech)
    return _only_answered(asked, found) if _wished_change(asked) or asked.acts else found


def _unchanged(asked: Asked, chosen: Chosen, job: Job, reply: Reply) -> Proposed:
    if job == "diagnose" and reply.text.strip():
        return _in_words(asked, chosen, reply)  # what is wrong is an answer, with a mend or without
    name = chosen.backend.name
    head = say(words.NO_EDITS, asked.lang, model=name)
    text = _words_of(reply) or say(words.NOTHING_SAID, asked.lang, model=name)
    details = "\n".join([head, *_said(reply, chosen, asked.lang)[1:]])
    left_out = _left_out(reply, asked.lang)
    return Proposed(
        Plan(text=text),
        "\n".join([*left_out, head, text]),
        details=details,
        own="\n".join(left_out),
        speech=_speech(reply, chosen, asked.lang).model_copy(update={"no_edits": True}),
        not_done=True,
    )


def _left_out(reply: Reply, lang: Lang) -> list[str]:
    """Return that edits were left out, for the chat; nothing where none were."""
    count = len(reply.refused)
    return [say(words.NOT_TAKEN_CHAT, lang, count=count)] if count else []


def _words_of(reply: Reply) -> str:
    # Cut before anything is looked for in it: this is the event loop.
    return reveal(clip_bytes(reply.text, MAX_SAID_BYTES)).strip()


def _speech(reply: Reply, chosen: Chosen, lang: Lang) -> Speech:
    """Return all that a model said, apart from our words (R25)."""
    return Speech(
        model=chosen.backend.name,
        text=_words_of(reply),
        not_taken=tuple(_refused(one, lang) for one in reply.refused) or None,
        commands=tuple(one_line(one.command, _COMMAND_BYTES) for one in reply.commands) or None,
    )


def _said(reply: Reply, chosen: Chosen, lang: Lang) -> list[str]:
    """Return the same as text, after sentences of ours."""
    said = _speech(reply, chosen, lang)
    head = words.MODEL_SAYS if said.text else words.NOTHING_SAID
    lines = [say(head, lang, model=said.model), *([said.text] if said.text else ())]
    if said.not_taken:
        lines += [say(words.NOT_TAKEN, lang, count=len(said.not_taken)), *said.not_taken]
    if said.commands:
        lines += [say(words.SUGGESTED, lang), *(f"  {one}" for one in said.commands)]
    return lines


def _refused(one: Refusal, lang: Lang) -> str:
    why = explain(InputError(one.code), ERRORS, lang)
    return say(words.NOT_TAKEN_ROW, lang, path=one_line(one.path), why=why)


# --- an earlier version ---


def _seed(scratch: Scratch, earlier: Earlier | None) -> Mapping[str, bytes]:
    """Make an earlier change in the copy, and return the files that it leaves; blocks.

    Where the workspace has moved on since, what no longer fits is left out: the model is shown the
    earlier diff in any case, and makes the change on what stands now.
    """
    seeded: dict[str, bytes] = {}
    if earlier is None or not earlier.diff:
        return seeded
    for file in parse_diff(earlier.diff).in_encodings(earlier.encodings).files:
        try:
            content = _make(scratch, as_utf8(file))
        except InputError:
            continue
        if content is not None:
            seeded[file.path] = content
    return seeded


def with_seeded(pieces: Sequence[Piece], seeded: Mapping[str, bytes]) -> tuple[Piece, ...]:
    """Return the context with these files as they are seeded, within the limits."""
    if not seeded:
        return tuple(pieces)
    shown: list[Piece] = [_seeded(path, content) for path, content in seeded.items()]
    shown += [piece for piece in pieces if piece.path not in seeded]
    kept: list[Piece] = []
    left = MAX_TOTAL_BYTES
    for piece in shown:
        size = sent_bytes(piece, numbered=False)
        if size <= left:
            kept.append(piece)
            left -= size
    return tuple(kept)


def _as_shown(earlier: Earlier | None) -> tuple[Piece, ...]:
    """Return what a model saw in an earlier version: its diff holds lines of files, too."""
    return () if earlier is None else (Piece(kind="changes", text=earlier.proposal),)


def _make(scratch: Scratch, file: FileDiff) -> bytes | None:
    old = scratch.read(file.old_path) if file.old_path else b""
    if old is None:
        raise InputError("diff.context", path=file.path)
    if file.op == "delete":
        scratch.delete(file.path)
        return None
    content = patched(file, old)
    scratch.write(file.path, content)
    if file.op == "rename" and file.old_path:
        scratch.delete(file.old_path)
    return content


def _seeded(path: str, content: bytes) -> Piece:
    text = redact_lines(content.decode("utf-8", "replace"))
    empty = Piece(kind="file", text="", path=path, cut=True)
    room = MAX_FILE_BYTES - sent_bytes(empty, numbered=False) - _LINES_BYTES
    shown = clip_bytes(text, max(room, 0), marker="")
    return Piece(kind="file", text=shown, path=path, cut=shown != text)


# --- without a model ---


class NoModel:
    """Answers explain, change and diagnose while no model is configured."""

    async def propose(self, asked: Asked) -> Proposed:
        """Return the plan; it changes nothing and claims nothing was analysed."""
        if asked.unsure:
            text = "\n".join(_question_back(asked))
            return Proposed(Plan(text=text), text, not_done=True)
        lines, looks = [_opening(asked)], []
        if asked.workspace is None:
            lines.append(say(words.NO_WORKSPACE, asked.lang))
        elif asked.context is not None:
            looks = _looks(asked.context, asked.lang)
        text = "\n".join([*lines, *looks])
        return Proposed(Plan(text=text), text, details=text if looks else None, not_done=True)


def _opening(asked: Asked) -> str:
    wished = asked.topic if asked.topic in words.VERBS else asked.intent.kind
    verb = say(words.VERBS.get(wished, words.VERBS[TaskKind.EXPLAIN]), asked.lang)
    return say(words.NO_MODEL, asked.lang, verb=verb)


def _question_back(asked: Asked) -> list[str]:
    """Return what may have been meant, each with what to send for it."""
    known = [kind for kind in asked.likeliest if kind in words.SAY_IT][:2] or ["help"]
    rows = (say(words.SAY_IT[kind], asked.lang, prefix=asked.prefix) for kind in known)
    return [say(words.UNSURE, asked.lang), *(f"· {row}" for row in rows)]


def _looks(context: Collected, lang: Lang) -> list[str]:
    if not context.files:
        return []
    tests = ", ".join(one_line(path) for path in context.tests[:CHAT_ROWS])
    return [
        say(words.WOULD_LOOK_AT, lang),
        *(_row(file, lang) for file in context.files[:CHAT_ROWS]),
        *([say(words.TESTS_FOUND, lang, paths=tests)] if tests else []),
        *_branch(context, lang),
    ]


def _row(file: Share, lang: Lang) -> str:
    size = render_size(file.size)
    path = one_line(file.path)
    if file.granted >= file.size:
        return say(words.LOOK_ROW, lang, path=path, size=size)
    granted = render_size(file.granted)
    return say(words.LOOK_ROW_CUT, lang, path=path, size=size, granted=granted)


def _branch(context: Collected, lang: Lang) -> list[str]:
    if context.branch is None:
        return []
    return [
        say(words.ON_BRANCH, lang, branch=one_line(context.branch, 100), changed=context.changed)
    ]
