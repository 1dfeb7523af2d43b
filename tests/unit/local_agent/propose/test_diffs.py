"""A narrowed change in words: what is left of it, and nothing of what it was."""

from __future__ import annotations

from typing import Any

from common.model.intent import TaskIntent
from common.model.proposal import Answer, Diff, DiffFileSummary, LocalApproval, TaskResult
from common.sentences import LANGS, Lang
from local_agent.propose.diffs import headline, retold, told
from tests.each import each

PATHS = tuple(f"src/{n}.py" for n in range(20))


def a_diff(*paths: str) -> Diff:
    files = tuple(DiffFileSummary(path=path, additions=2, deletions=1) for path in paths)
    return Diff(diff_id="0" * 64, unified_diff="", files=files)


def a_result(diff: Any, lang: Lang) -> TaskResult:
    said = told(diff, "shop", lang) if isinstance(diff, Diff) else "said"
    own = headline(diff, "shop", lang) if isinstance(diff, Diff) else None
    return TaskResult(
        task_id="task-1",
        intent=TaskIntent(kind="change", confidence=1.0, summary="x", params={}),
        proposal=diff,
        requires=LocalApproval(action="apply_diff"),
        summary=f"{said}\nleft out: 1",
        details=f"Before.\n{said}\nThe model says so.",
        own=own and f"{own}\nleft out: 1",
    )


@each("lang", LANGS)
def test_a_part_of_a_change_is_told_as_that_part(lang: Lang) -> None:
    whole, left = a_result(a_diff(*PATHS), lang), a_diff(PATHS[3])
    part = retold(whole.model_copy(update={"proposal": left}), whole, "shop", lang)
    assert part.summary == f"{told(left, 'shop', lang)}\nleft out: 1"
    assert part.details == f"Before.\n{told(left, 'shop', lang)}\nThe model says so."
    assert part.own == f"{headline(left, 'shop', lang)}\nleft out: 1"
    assert "20" not in part.summary


def test_what_is_no_diff_keeps_its_words() -> None:
    answer = a_result(Answer(text="said"), "en")
    assert retold(answer, answer, "shop", "en") is answer
