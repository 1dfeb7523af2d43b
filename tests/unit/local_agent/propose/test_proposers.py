"""Each proposer: what it proposes, what it says to the chat, and what it keeps back."""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import pytest

from common.errors import InputError
from common.model.intent import IntentParams, TaskIntent, TaskKind
from common.model.proposal import Answer, CommandProposal, LocalApproval, Plan, SearchResults
from common.sentences import Lang
from common.verbs import Topic
from local_agent.errors import RefusedError
from local_agent.propose.base import CHAT_ROWS, Asked
from local_agent.propose.coding import NoModel
from local_agent.propose.context.collected import Collected, Share
from local_agent.propose.review import ReviewProposer
from local_agent.propose.run import RunProposer
from local_agent.propose.search import Lookup, SearchProposer
from local_agent.workspace.git.repository import ChangedFile, Changes
from local_agent.workspace.registry import Workspace
from local_agent.workspace.searching import Hit, Query, Sighting

SHOP = Workspace(name="shop", path=Path("/w/shop"), test_command="pytest -q")
LANGS: tuple[Lang, ...] = ("en", "zh")


def asked(kind: TaskKind, **changes: Any) -> Asked:
    params = IntentParams(cmd=changes.pop("cmd", None), query=changes.pop("query", None))
    intent = TaskIntent(kind=kind, confidence=1, summary="s", params=params)
    request = Asked(task_id="t", intent=intent, text="text", lang="en", workspace=SHOP)
    return replace(request, **changes)


def split(line: str) -> tuple[str, ...] | None:
    if line.startswith("'"):
        raise InputError("command.quotes")
    return None if "|" in line else tuple(line.split())


# --- run ---------------------------------------------------------------------------------------


async def test_a_bare_test_proposes_the_command_of_the_workspace() -> None:
    proposed = await RunProposer(split).propose(asked(TaskKind.RUN, topic=Topic.TEST))
    assert isinstance(proposed.proposal, CommandProposal)
    assert (proposed.proposal.cmd, proposed.proposal.argv) == ("pytest -q", ("pytest", "-q"))
    assert proposed.requires == LocalApproval(action="run_command")
    assert "`pytest -q`" in proposed.summary


async def test_a_named_command_comes_before_the_test_command() -> None:
    proposed = await RunProposer(split).propose(
        asked(TaskKind.RUN, topic=Topic.TEST, cmd="make | tee log")
    )
    assert isinstance(proposed.proposal, CommandProposal)
    assert (proposed.proposal.cmd, proposed.proposal.argv) == ("make | tee log", None)


async def test_the_persons_own_default_is_used_where_the_workspace_names_none() -> None:
    bare = replace(SHOP, test_command=None)
    proposer = RunProposer(split, default_test_command="tox")
    proposed = await proposer.propose(asked(TaskKind.RUN, topic=Topic.TEST, workspace=bare))
    assert isinstance(proposed.proposal, CommandProposal)
    assert proposed.proposal.cmd == "tox"


@pytest.mark.parametrize("lang", LANGS)
@pytest.mark.parametrize(
    "changes",
    [
        {"topic": Topic.TEST, "workspace": replace(SHOP, test_command=None)},
        {},
        {"topic": Topic.TEST, "workspace": None},
        {"topic": Topic.BAD_OPTION, "text": "--cmd=“"},
    ],
    ids=["no-test-command", "no-command", "no-workspace", "bad-option"],
)
async def test_where_there_is_no_command_nothing_is_proposed(
    lang: Lang, changes: dict[str, Any]
) -> None:
    proposed = await RunProposer(split).propose(asked(TaskKind.RUN, lang=lang, **changes))
    assert isinstance(proposed.proposal, Answer)
    assert proposed.requires.mode == "none"
    assert proposed.not_done
    assert proposed.summary


@pytest.mark.requirement("P7")
@pytest.mark.parametrize("lang", LANGS)
async def test_a_part_of_the_tests_is_not_narrowed_and_that_is_said(lang: Lang) -> None:
    proposed = await RunProposer(split).propose(
        asked(TaskKind.RUN, topic=Topic.TEST, beyond="tests/unit", lang=lang)
    )
    assert isinstance(proposed.proposal, CommandProposal)
    assert proposed.proposal.cmd == "pytest -q"
    assert "“tests/unit”" in proposed.summary
    assert "--cmd=" in proposed.summary


async def test_commands_that_are_switched_off_are_refused() -> None:
    with pytest.raises(RefusedError) as caught:
        await RunProposer(split, allowed=False).propose(asked(TaskKind.RUN, topic=Topic.TEST))
    assert caught.value.reasons == ("run-off",)


async def test_a_line_that_is_no_command_is_an_error() -> None:
    with pytest.raises(InputError):
        await RunProposer(split).propose(asked(TaskKind.RUN, cmd="'"))


# --- search ------------------------------------------------------------------------------------


def found(*items: Hit, truncated: bool = False, large: int = 0) -> SearchProposer:
    async def search(workspace: Workspace, query: Query) -> Sighting:
        assert workspace == SHOP
        return Sighting(hits=items, truncated=truncated, large=large)

    return SearchProposer(Lookup(read=lambda _text, query: Query(phrase=query), search=search))


@pytest.mark.requirement("NL-10")
@pytest.mark.requirement("R55")
async def test_the_chat_gets_paths_and_counts_and_the_machine_the_lines() -> None:
    search = found(Hit("a.py", 3, "secret = find_me()"), Hit("a.py", 9, "x"), Hit("b.py", 1, "y"))
    proposed = await search.propose(asked(TaskKind.SEARCH, query="find_me"))
    assert "3 places in 2 files" in proposed.summary
    assert "a.py (2)" in proposed.summary
    assert "secret" not in proposed.summary
    assert proposed.details is not None
    assert "a.py:3: secret = find_me()" in proposed.details
    assert isinstance(proposed.proposal, SearchResults)
    assert [item.path for item in proposed.proposal.items] == ["a.py", "a.py", "b.py"]


async def test_many_files_are_counted_not_listed() -> None:
    items = [Hit(f"f{number}.py", 1, "x") for number in range(CHAT_ROWS + 5)]
    proposed = await found(*items).propose(asked(TaskKind.SEARCH, query="x"))
    assert proposed.summary.count(".py") == CHAT_ROWS
    assert "5 more" in proposed.summary


@pytest.mark.parametrize("lang", LANGS)
async def test_a_search_that_stopped_at_its_limit_says_so(lang: Lang) -> None:
    nothing = await found(truncated=True).propose(asked(TaskKind.SEARCH, query="x", lang=lang))
    whole = await found().propose(asked(TaskKind.SEARCH, query="x", lang=lang))
    large = await found(large=2).propose(asked(TaskKind.SEARCH, query="x", lang=lang))
    for cut in (nothing, large):
        assert cut.summary.startswith(whole.summary)
        assert len(cut.summary) > len(whole.summary)
        assert cut.details is None


@pytest.mark.parametrize("changes", [{"query": None}, {"query": "x", "workspace": None}])
async def test_a_search_needs_a_text_and_a_workspace(changes: dict[str, Any]) -> None:
    proposed = await found().propose(asked(TaskKind.SEARCH, **changes))
    assert isinstance(proposed.proposal, Answer)


# --- review ------------------------------------------------------------------------------------


@dataclass
class Review:
    changes: Changes | None

    async def __call__(self, workspace: Path) -> Changes | None:
        return self.changes


def changed(*files: ChangedFile, branch: str | None = "main", total: int | None = None) -> Review:
    count = len(files) if total is None else total
    return Review(Changes(branch, "c0ffee", None, None, files, count, added=3, removed=1))


async def test_a_review_counts_files_and_lines() -> None:
    review = changed(
        ChangedFile("a.py", "modified", 3, 1), ChangedFile("b.bin", "untracked", None, None)
    )
    proposed = await ReviewProposer(review).propose(asked(TaskKind.REVIEW))
    assert "2 files, +3 −1 lines" in proposed.summary
    assert "M a.py +3 −1" in proposed.summary
    assert "? b.bin" in proposed.summary


@pytest.mark.requirement("R55")
async def test_a_review_of_many_files_lists_some_and_keeps_all_for_the_machine() -> None:
    files = [ChangedFile(f"f{number}.py", "added", 1, 0) for number in range(20)]
    proposed = await ReviewProposer(changed(*files, total=700)).propose(asked(TaskKind.REVIEW))
    assert proposed.summary.count(".py") == CHAT_ROWS
    assert "685 more" in proposed.summary
    assert proposed.details is not None
    assert proposed.details.count(".py") == 20


@pytest.mark.parametrize("lang", LANGS)
@pytest.mark.parametrize("review", [Review(None), changed(), changed(branch=None)])
async def test_nothing_to_review_is_said(review: Review, lang: Lang) -> None:
    proposed = await ReviewProposer(review).propose(asked(TaskKind.REVIEW, lang=lang))
    assert "shop" in proposed.summary


async def test_a_review_needs_a_workspace() -> None:
    proposed = await ReviewProposer(changed()).propose(asked(TaskKind.REVIEW, workspace=None))
    assert "workspace add" in proposed.summary


# --- no model ----------------------------------------------------------------------------------

CONTEXT = Collected(
    files=(Share("src/app.py", 100, 100), Share("big.py", 50_000, 12_000)),
    tests=("tests/test_app.py",),
    branch="main",
    changed=2,
)


@pytest.mark.parametrize("kind", [TaskKind.EXPLAIN, TaskKind.CHANGE, TaskKind.DIAGNOSE])
@pytest.mark.parametrize("lang", LANGS)
async def test_without_a_model_it_says_so_and_plans_what_it_would_look_at(
    kind: TaskKind, lang: Lang
) -> None:
    proposed = await NoModel().propose(asked(kind, lang=lang, context=CONTEXT))
    assert isinstance(proposed.proposal, Plan)
    assert proposed.requires.mode == "none"
    for fact in ("src/app.py", "100 B", "12.0 kB", "50.0 kB", "tests/test_app.py", "main"):
        assert fact in proposed.summary
    assert proposed.not_done
    assert ("No model" if lang == "en" else "未配置模型") in proposed.summary


@pytest.mark.parametrize("lang", LANGS)
async def test_a_plan_without_a_model_is_no_plan(lang: Lang) -> None:
    proposed = await NoModel().propose(asked(TaskKind.CHANGE, lang=lang, topic=Topic.PLAN))
    assert proposed.not_done
    assert ("nothing was planned" if lang == "en" else "没有规划") in proposed.summary


async def test_where_nothing_was_named_nothing_is_claimed() -> None:
    proposed = await NoModel().propose(asked(TaskKind.CHANGE, context=Collected()))
    assert proposed.summary.count("\n") == 0, "naming files would change nothing"


async def test_nothing_is_said_of_tests_or_a_branch_that_were_not_found() -> None:
    context = replace(CONTEXT, tests=(), branch=None)
    proposed = await NoModel().propose(asked(TaskKind.CHANGE, context=context))
    assert "src/app.py" in proposed.summary
    assert "ests" not in proposed.summary  # a test among the files would belie it
    assert "Branch" not in proposed.summary


async def test_an_unclear_wish_is_told_where_help_is() -> None:
    proposed = await NoModel().propose(asked(TaskKind.EXPLAIN, unsure=True, prefix="@bot"))
    assert "@bot help" in proposed.summary


async def test_without_a_workspace_it_says_how_to_add_one() -> None:
    proposed = await NoModel().propose(asked(TaskKind.CHANGE, workspace=None))
    assert "workspace add" in proposed.summary
