"""The card of a commit and push: where to, which commit, each step and its reach."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from common.text import one_line
from local_agent.cards import words
from local_agent.cards.changes import diff_of, files_of
from local_agent.cards.question import Question
from local_agent.cards.texts import text, value
from local_agent.views.question import Fact, Part, Step, Steps
from local_agent.workspace.remote_url import is_folder


def parts(question: Question) -> Iterator[Sequence[Part]]:
    """Give the destination, the commit with its files, and the steps."""
    payload = question.seal.payload
    yield _destination(payload)
    commit = payload["commit"]
    if commit is None:
        yield [Fact("commit", (value(text(words.NO_COMMIT)),))]
    else:
        by = text(words.COMMIT_BY, author=commit["author"], email=commit["email"])
        values = (value(commit["message"], "strong"), value(by, "quiet"))
        yield [Fact("commit", values, exact=True), files_of(question)]
        yield [diff_of(question)]
    yield [_steps(payload), _git(payload)]


def _destination(payload: Mapping[str, Any]) -> Sequence[Part]:
    head, known = payload["head"], payload["remote_oid"]
    at = words.BRANCH_AT if head else words.BRANCH_EMPTY
    there = words.REMOTE_REF if known else words.REMOTE_NEW
    ref = text(there, ref=payload["ref"], commit=(known or "")[:12])
    remote = text(words.REMOTE_NAMED, remote=payload["remote"], ref=ref)
    standing = text(words.STANDING_IS, ahead=payload["ahead"], behind=payload["behind"])
    stands_at = text(at, commit=(head or "")[:12])
    return [
        Fact("branch", (value(payload["branch"], "strong"),), exact=True),
        Fact("remote", (value(payload["url"], "strong"), value(remote)), exact=True),
        Fact("standing", (value(standing), value(stands_at, "quiet"))),
    ]


def _steps(payload: Mapping[str, Any]) -> Steps:
    branch = one_line(payload["branch"], 255)
    return Steps(
        tuple(
            Step(step["effect"], text(words.STEP_NAMES[step["name"]], branch=branch))
            for step in payload["steps"]
        )
    )


def _git(payload: Mapping[str, Any]) -> Fact:
    notes = [value(text(words.GIT_RUNS_NOTHING))]
    if is_folder(payload["url"]):
        notes.append(value(text(words.GIT_SKIPS_HOOKS), "danger"))
    limit = text(words.GIT_LIMIT, seconds=payload["timeout"])
    return Fact("git", (*notes, value(limit, "quiet")))
