"""What a page says about a commit and push: where to, which commit, each step and its reach."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, Final

from common.terminal import cells, pad, wrap
from common.text import one_line
from local_agent.approval.dialogs import change_words
from local_agent.approval.dialogs.change_part import diff_lines, file_list
from local_agent.approval.dialogs.layout import INDENT, Layout, Styled
from local_agent.approval.dialogs.question import Question
from local_agent.workspace.git.remote_url import is_folder

_STYLES: Final = {"read-only": "dim", "local-write": "bold", "remote-write": "red"}


def sync_part(question: Question, layout: Layout) -> Iterator[str]:
    """Give the destination, the commit with its files, and the steps."""
    payload = question.seal.payload
    yield from _destination(payload, layout)
    yield ""
    yield from _commit(question, layout)
    yield ""
    yield from _steps(payload, layout)
    limit = layout.say(change_words.GIT_LIMIT, seconds=payload["timeout"])
    notes: list[Styled] = [("", layout.say(change_words.GIT_RUNS_NOTHING))]
    if is_folder(payload["url"]):
        notes.append(("red", layout.say(change_words.GIT_SKIPS_HOOKS)))
    notes.append(("dim", limit))
    yield from layout.row(change_words.GIT, notes)


def _destination(payload: Mapping[str, Any], layout: Layout) -> Iterator[str]:
    head = payload["head"]
    at = change_words.BRANCH_AT if head else change_words.BRANCH_EMPTY
    yield from layout.row(change_words.BRANCH, [("bold", payload["branch"])], whole=True)
    known = payload["remote_oid"]
    there = change_words.REMOTE_REF if known else change_words.REMOTE_NEW
    ref = layout.say(there, ref=payload["ref"], commit=(known or "")[:12])
    values: list[Styled] = [("bold", payload["url"]), ("", f"{payload['remote']}: {ref}")]
    yield from layout.row(change_words.REMOTE, values, whole=True)
    standing = [("", _standing(payload, layout)), ("dim", layout.say(at, commit=(head or "")[:12]))]
    yield from layout.row(change_words.STANDING, standing)


def _standing(payload: Mapping[str, Any], layout: Layout) -> str:
    return layout.say(change_words.STANDING_IS, ahead=payload["ahead"], behind=payload["behind"])


def _commit(question: Question, layout: Layout) -> Iterator[str]:
    commit = question.seal.payload["commit"]
    if commit is None:
        yield from layout.row(change_words.COMMIT, [("", layout.say(change_words.NO_COMMIT))])
        return
    by = layout.say(change_words.COMMIT_BY, author=commit["author"], email=commit["email"])
    values = [("bold", commit["message"]), ("dim", by)]
    yield from layout.row(change_words.COMMIT, values, whole=True)
    yield from file_list(question, layout)
    yield ""
    yield from diff_lines(question, layout)


def _steps(payload: Mapping[str, Any], layout: Layout) -> Iterator[str]:
    effects = {name: layout.say(said) for name, said in change_words.EFFECTS.items()}
    width = max(map(cells, effects.values()))
    head = layout.label(change_words.STEPS)
    branch = one_line(payload["branch"], 255)
    for number, step in enumerate(payload["steps"], start=1):
        effect = layout.ink(_STYLES[step["effect"]], pad(effects[step["effect"]], width))
        begin = f"{layout.ink('dim', head)}{number}. {effect}{INDENT}"
        gutter = cells(head) + len("1. ") + width + len(INDENT)
        said = layout.say(change_words.STEP_NAMES[step["name"]], branch=branch)
        for line in wrap(said, max(layout.width - gutter, 10)):
            yield begin + line
            begin = " " * gutter
        head = " " * cells(head)
