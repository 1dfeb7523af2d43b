"""Without a model: says so, and proposes as a plan what one would be shown.  Never pretends."""

from __future__ import annotations

from common.model.intent import TaskKind
from common.model.proposal import Plan
from common.sentences import Lang, say
from common.text import one_line
from local_agent.propose import words
from local_agent.propose.base import CHAT_ROWS, Asked, Context, Look, Proposed
from local_agent.words import render_size


class NoModel:
    """Answers explain, change and diagnose while no model is configured."""

    async def propose(self, asked: Asked) -> Proposed:
        """Return the plan; it changes nothing and claims nothing was analysed."""
        if asked.unsure:
            text = "\n".join(_question_back(asked))
            return Proposed(Plan(text=text), text, not_done=True)
        lines = [_opening(asked)]
        if asked.workspace is None:
            lines.append(say(words.NO_WORKSPACE, asked.lang))
        elif asked.context is not None:
            lines += _looks(asked.context, asked.lang)
        text = "\n".join(lines)
        return Proposed(Plan(text=text), text, not_done=True)


def _opening(asked: Asked) -> str:
    wished = asked.topic if asked.topic in words.VERBS else asked.intent.kind
    verb = say(words.VERBS.get(wished, words.VERBS[TaskKind.EXPLAIN]), asked.lang)
    return say(words.NO_MODEL, asked.lang, verb=verb)


def _question_back(asked: Asked) -> list[str]:
    """Return what may have been meant, each with what to send for it."""
    known = [kind for kind in asked.likeliest if kind in words.SAY_IT][:2] or ["help"]
    rows = (say(words.SAY_IT[kind], asked.lang, prefix=asked.prefix) for kind in known)
    return [say(words.UNSURE, asked.lang), *(f"· {row}" for row in rows)]


def _looks(context: Context, lang: Lang) -> list[str]:
    if not context.files:
        return []
    tests = ", ".join(one_line(path) for path in context.tests[:CHAT_ROWS])
    return [
        say(words.WOULD_LOOK_AT, lang),
        *(_row(file, lang) for file in context.files[:CHAT_ROWS]),
        *([say(words.TESTS_FOUND, lang, paths=tests)] if tests else []),
        *_branch(context, lang),
    ]


def _row(file: Look, lang: Lang) -> str:
    size = render_size(file.size)
    path = one_line(file.path)
    if file.granted >= file.size:
        return say(words.LOOK_ROW, lang, path=path, size=size)
    granted = render_size(file.granted)
    return say(words.LOOK_ROW_CUT, lang, path=path, size=size, granted=granted)


def _branch(context: Context, lang: Lang) -> list[str]:
    if context.branch is None:
        return []
    return [
        say(words.ON_BRANCH, lang, branch=one_line(context.branch, 100), changed=context.changed)
    ]
