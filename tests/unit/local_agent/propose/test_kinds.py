"""Run, review and search in real folders: what is proposed, told, and shown to a model."""

from __future__ import annotations

import asyncio
import subprocess
from collections.abc import Callable, Mapping
from contextlib import AbstractAsyncContextManager
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from common.model.intent import IntentParams, TaskIntent, TaskKind
from common.model.proposal import Answer, CommandProposal, LocalApproval, SearchResults
from common.sentences import Lang, say
from common.verbs import Topic
from local_agent.models.backend import Chosen, Reply
from local_agent.propose import words as proposal_words
from local_agent.propose.base import Asked, Proposed
from local_agent.propose.coding import CodingProposer, Lent, NoModel
from local_agent.propose.context.collected import MAX_TOTAL_BYTES, Collected, Piece
from local_agent.propose.review import ReviewProposer
from local_agent.propose.run import Project, RunProposer
from local_agent.propose.search import LINES_BYTES, Lookup, SearchProposer
from local_agent.understand import goals, ranges, searches
from local_agent.workspace import searching
from local_agent.workspace.git.ranges import NotFound, Range, RangeChanges, read_range
from local_agent.workspace.git.repository import local_changes
from local_agent.workspace.project.infer import infer
from local_agent.workspace.registry import Workspace
from tests.scripted_model import ScriptedModel

pytestmark = pytest.mark.heavy

LANGS: tuple[Lang, ...] = ("en", "zh")
IDENTITY = {
    "GIT_AUTHOR_NAME": "Zhang",
    "GIT_AUTHOR_EMAIL": "zhang@example.com",
    "GIT_COMMITTER_NAME": "Zhang",
    "GIT_COMMITTER_EMAIL": "zhang@example.com",
    "GIT_CONFIG_GLOBAL": "/dev/null",
    "GIT_CONFIG_NOSYSTEM": "1",
    "PATH": "/usr/bin:/bin",
}
KEY = "sk-" + "proj-" + "a1B2c3D4e5F6" * 4


def placed(folder: Path, content: Mapping[str, str], **facts: Any) -> Workspace:
    for name, text in content.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    return Workspace(name="shop", path=folder.resolve(), **facts)


def asked(kind: TaskKind, text: str, workspace: Workspace, **facts: Any) -> Asked:
    params = IntentParams(cmd=facts.pop("cmd", None), query=facts.pop("query", None))
    intent = TaskIntent(kind=kind, confidence=1, summary=text, params=params)
    made = Asked(task_id="t", intent=intent, text=text, lang="en", workspace=workspace)
    return replace(made, **facts)


# --- run ---------------------------------------------------------------------------------------

PROJECT = Project(find_goal=goals.find_goal, find_place=goals.find_place, infer=infer)
RUN = RunProposer(lambda line: tuple(line.split()), project=PROJECT)


def command_of(found: Proposed) -> str:
    assert isinstance(found.proposal, CommandProposal)
    assert found.requires == LocalApproval(action="run_command")
    return found.proposal.cmd


@pytest.mark.requirement("P7")
@pytest.mark.parametrize("lang", LANGS)
async def test_a_command_that_nobody_named_says_where_it_is_from(
    tmp_path: Path, lang: Lang
) -> None:
    shop = placed(tmp_path, {"Makefile": "test:\n\ttrue\n"})
    found = await RUN.propose(
        asked(TaskKind.RUN, "run the tests", shop, topic=Topic.TEST, lang=lang)
    )
    assert command_of(found) == "make test"
    assert "Makefile" in found.summary
    assert isinstance(found.proposal, CommandProposal)
    assert "Makefile" in (found.proposal.reason or "")
    assert (found.proposal.named_by, found.proposal.named_as) == ("Makefile", "test:")


@pytest.mark.parametrize(
    ("text", "command"),
    [("构建一下", "make build"), ("run the linter", "make lint"), ("build it", "make build")],
)
async def test_other_goals_than_tests_are_found_as_well(
    tmp_path: Path, text: str, command: str
) -> None:
    shop = placed(tmp_path, {"Makefile": "build:\nlint:\n"}, test_command="pytest -q")
    assert command_of(await RUN.propose(asked(TaskKind.RUN, text, shop))) == command


async def test_the_persons_own_test_command_comes_first(tmp_path: Path) -> None:
    shop = placed(tmp_path, {"Makefile": "test:\n"}, test_command="pytest -q")
    own = await RUN.propose(asked(TaskKind.RUN, "run the tests", shop, topic=Topic.TEST))
    assert command_of(own) == "pytest -q"
    assert "Makefile" not in own.summary
    assert isinstance(own.proposal, CommandProposal)
    assert own.proposal.named_by is None


@pytest.mark.parametrize(
    ("test_command", "command"),
    [("pytest -q", "pytest -q tests/api"), (None, "python -m pytest tests/api")],
)
async def test_a_part_of_the_tests_is_run_alone_where_that_is_known(
    tmp_path: Path, test_command: str | None, command: str
) -> None:
    content = {"pytest.ini": "[pytest]\n", "tests/api/test_a.py": ""}
    shop = placed(tmp_path, content, test_command=test_command)
    request = asked(TaskKind.RUN, "run tests/api", shop, topic=Topic.TEST, beyond="tests/api")
    found = await RUN.propose(request)
    assert command_of(found) == command
    assert "--cmd=" not in found.summary


@pytest.mark.parametrize("lang", LANGS)
@pytest.mark.parametrize("test_command", ["pytest -q", None])
async def test_a_part_that_is_not_known_is_said_not_to_be_taken_up(
    tmp_path: Path, lang: Lang, test_command: str | None
) -> None:
    shop = placed(tmp_path, {"pytest.ini": "[pytest]\n"}, test_command=test_command)
    request = asked(TaskKind.RUN, "t", shop, topic=Topic.TEST, beyond="billing", lang=lang)
    found = await RUN.propose(request)
    assert command_of(found) == (test_command or "python -m pytest")
    assert "“billing”" in found.summary


@pytest.mark.parametrize("lang", LANGS)
async def test_a_place_that_a_build_cannot_take_is_said(tmp_path: Path, lang: Lang) -> None:
    shop = placed(tmp_path, {"Makefile": "build:\n"})
    found = await RUN.propose(asked(TaskKind.RUN, "build it in backend", shop, lang=lang))
    assert command_of(found) == "make build"
    assert "“backend”" in found.summary


@pytest.mark.requirement("P7")
@pytest.mark.parametrize("lang", LANGS)
async def test_of_several_a_person_says_which(tmp_path: Path, lang: Lang) -> None:
    shop = placed(tmp_path, {"Makefile": "test:\n", "Cargo.toml": "", "justfile": "test:\n"})
    found = await RUN.propose(asked(TaskKind.RUN, "test", shop, topic=Topic.TEST, lang=lang))
    assert found.not_done
    assert "`make test` " in found.summary or "`make test`（" in found.summary
    assert "just test" in found.summary
    assert "cargo" not in found.summary


@pytest.mark.parametrize("lang", LANGS)
@pytest.mark.parametrize("text", ["run the tests", "build it", "start the dev server"])
async def test_where_nothing_is_known_nothing_is_made_up(
    tmp_path: Path, lang: Lang, text: str
) -> None:
    shop = placed(tmp_path, {"README.md": "hi"})
    topic = Topic.TEST if "tests" in text else Topic.PLAIN
    found = await RUN.propose(asked(TaskKind.RUN, text, shop, topic=topic, lang=lang))
    assert isinstance(found.proposal, Answer)
    assert found.not_done


@pytest.mark.parametrize("lang", LANGS)
async def test_a_project_file_that_was_not_looked_at_is_named(tmp_path: Path, lang: Lang) -> None:
    shop = placed(tmp_path, {"package.json": "no json", "Makefile": "test:\n"})
    found = await RUN.propose(asked(TaskKind.RUN, "test", shop, topic=Topic.TEST, lang=lang))
    assert command_of(found) == "make test"
    assert "package.json" in found.summary


async def test_a_named_command_is_never_replaced(tmp_path: Path) -> None:
    shop = placed(tmp_path, {"Makefile": "test:\n"})
    found = await RUN.propose(asked(TaskKind.RUN, "run x", shop, cmd="npm run x", topic=Topic.TEST))
    assert command_of(found) == "npm run x"


# --- search ------------------------------------------------------------------------------------


SEARCH = SearchProposer(Lookup(read=searches.find_search, search=searching.search_for))
CODE = {"src/auth.py": "def login():\n    secret_body = 1\n", "src/app.py": "login()\nlogin()\n"}


async def searched(shop: Workspace, text: str, query: str, lang: Lang = "en") -> Proposed:
    return await SEARCH.propose(asked(TaskKind.SEARCH, text, shop, query=query, lang=lang))


@pytest.mark.requirement("R55")
async def test_the_machine_gets_every_line_and_the_chat_the_paths(tmp_path: Path) -> None:
    found = await searched(placed(tmp_path, CODE), "where is login defined", "login")
    assert found.details is not None
    assert found.details.splitlines()[1:] == [
        "src/auth.py:1: def login():",
        "src/app.py:1: login()",
        "src/app.py:2: login()",
    ]
    assert "src/auth.py (1, defined here)" in found.summary
    assert "src/app.py (2)" in found.summary
    assert "def login" not in found.summary
    assert isinstance(found.proposal, SearchResults)


@pytest.mark.requirement("R53")
async def test_where_all_may_be_told_the_chat_gets_lines_within_bounds(tmp_path: Path) -> None:
    shop = placed(tmp_path, CODE, disclosure="full")
    assert "src/auth.py:1: def login():" in (await searched(shop, "find login", "login")).summary
    many = {f"f{number:02}.py": f"login = {'x' * 100}\n" for number in range(40)}
    long = await searched(placed(tmp_path, many, disclosure="full"), "find login", "login")
    assert len(long.summary.encode()) <= LINES_BYTES + 200
    assert "more places" in long.summary


async def test_which_files_is_answered_with_files(tmp_path: Path) -> None:
    found = await searched(placed(tmp_path, CODE), "which files call login", "call login")
    assert (found.details or "").splitlines()[1:] == [
        "src/auth.py (1, defined here)",
        "src/app.py (2)",
    ]


@pytest.mark.parametrize("lang", LANGS)
async def test_where_it_was_looked_and_how_it_was_found_is_said(tmp_path: Path, lang: Lang) -> None:
    shop = placed(tmp_path, CODE)
    inside = await searched(shop, "find login in src/", "login in src/", lang)
    assert "src" in inside.summary.splitlines()[1]
    apart = await searched(shop, "find body secret", "body secret", lang)
    assert len(apart.summary.splitlines()) == 3
    nowhere = await searched(shop, "find login in lib/", "login in lib/", lang)
    assert "“lib”" in nowhere.summary
    assert nowhere.details is None


# --- review ------------------------------------------------------------------------------------


class Ranges:
    def find(self, text: str) -> Range:
        return ranges.find_range(text)

    async def read(self, workspace: Workspace, wanted: Range) -> RangeChanges | NotFound | None:
        return await asyncio.to_thread(read_range, workspace, wanted)


def run_git(folder: Path, *words: str) -> None:
    subprocess.run(["git", *words], cwd=folder, env=IDENTITY, check=True, capture_output=True)


def repository(folder: Path) -> Workspace:
    run_git(folder, "init", "-q", "-b", "main")
    for message, content in (
        ("first", {"login.py": "retry = 3\n"}),
        ("use key\u202e", {"login.py": f"retry = 3\nkey = '{KEY}'\n", "b.py": "x = 1\n"}),
    ):
        placed(folder, content)
        run_git(folder, "add", "-A")
        run_git(folder, "commit", "-q", "-m", message)
    return Workspace(name="shop", path=folder.resolve())


def no_lending(*_: Any, **__: Any) -> AbstractAsyncContextManager[Lent]:
    raise AssertionError


async def reviewed(
    workspace: Workspace, text: str, model: ScriptedModel | None = None, **facts: Any
) -> Proposed:
    review = ReviewProposer(local_changes, ranges=Ranges())
    choose: Callable[[], Chosen | None] = lambda: Chosen(model) if model else None  # noqa: E731
    proposer = CodingProposer(
        choose, without=NoModel(), lend=no_lending, keep=str, allowed=True, review=review
    )
    return await proposer.propose(asked(TaskKind.REVIEW, text, workspace, **facts))


@pytest.mark.parametrize("lang", LANGS)
@pytest.mark.parametrize(
    "text", ["review the last commit", "main~1..main", "review HEAD^..", "最近两个提交"]
)
async def test_a_range_is_summed_up_without_a_model(tmp_path: Path, text: str, lang: Lang) -> None:
    found = await reviewed(repository(tmp_path), text, lang=lang)
    assert "login.py +" in found.summary
    assert "A b.py +1 −0" in found.summary
    assert KEY not in found.summary
    assert "use key⟨U+202E⟩" in (found.details or "")
    assert "use key" not in found.summary, "what somebody wrote stays on this machine"


@pytest.mark.parametrize("lang", LANGS)
@pytest.mark.parametrize("text", ["review mian..main", "review main..HEAD", "review 0badc0de1"])
async def test_where_there_is_nothing_to_look_at_no_model_is_asked(
    tmp_path: Path, text: str, lang: Lang
) -> None:
    model = ScriptedModel([Reply("findings")])
    local = Piece(kind="changes", text="+not asked about\n", path="other.py")
    context = Collected(pieces=(local,))
    found = await reviewed(repository(tmp_path), text, model, lang=lang, context=context)
    assert "shop" in found.summary
    assert model.turns == []


@pytest.mark.parametrize("lang", LANGS)
async def test_a_name_that_there_is_not_is_answered_with_those_like_it(
    tmp_path: Path, lang: Lang
) -> None:
    found = await reviewed(repository(tmp_path), "review mian..HEAD", lang=lang)
    assert found.not_done
    assert "“mian”" in found.summary
    assert found.summary.splitlines()[1].endswith("main")


@pytest.mark.requirement("R54")
async def test_a_model_is_shown_the_lines_without_secrets_and_its_findings_stand_below(
    tmp_path: Path,
) -> None:
    model = ScriptedModel([Reply("login.py:2 a key in the code")])
    local = Piece(kind="changes", text="+not asked about\n", path="other.py")
    near = Piece(kind="file", text="kept = 1\n", path="near.py")
    shop = repository(tmp_path)
    context = Collected(pieces=(local, near))
    found = await reviewed(shop, "review the last commit", model, context=context)
    (turn,) = model.turns
    assert KEY not in turn.prompt
    assert "+x = 1" in turn.prompt
    assert "kept = 1" in turn.prompt
    assert "not asked about" not in turn.prompt
    assert "use key⟨U+202E⟩" in turn.prompt
    head, label, finding = found.summary.splitlines()
    assert "commit" in head
    assert label == say(proposal_words.MODEL_SAYS, "en", model="scripted")
    assert finding == "login.py:2 a key in the code"
    assert {piece.path for piece in found.shown} == {"login.py", "b.py", ""}


async def test_what_a_model_is_shown_of_a_range_stays_within_the_limit(tmp_path: Path) -> None:
    shop = repository(tmp_path)
    model = ScriptedModel([Reply("fine")])
    large = Piece(kind="file", text="y\n" * 29_900, path="near.py")
    context = Collected(pieces=(large, large))
    await reviewed(shop, "review the last commit", model, context=context)
    (turn,) = model.turns
    assert len(turn.prompt.encode()) < MAX_TOTAL_BYTES + 16_000 + 4_000


@pytest.mark.parametrize("lang", LANGS)
async def test_what_is_staged_and_a_branch_without_another(tmp_path: Path, lang: Lang) -> None:
    shop = repository(tmp_path)
    (tmp_path / "b.py").write_text("x = 3\n", encoding="utf-8")
    run_git(tmp_path, "add", "-A")
    assert "M b.py +1 −1" in (await reviewed(shop, "review what is staged", lang=lang)).summary
    bare = tmp_path / "bare"
    bare.mkdir()
    run_git(bare, "init", "-q")
    empty = await reviewed(placed(bare, {}), "review this branch", lang=lang)
    assert empty.not_done


async def test_local_changes_are_shown_as_they_were_collected(tmp_path: Path) -> None:
    shop = repository(tmp_path)
    placed(tmp_path, {"b.py": "x = 2\n"})
    model = ScriptedModel([Reply("fine")])
    piece = Piece(kind="changes", text="+x = 2\n", path="b.py")
    found = await reviewed(shop, "review my changes", model, context=Collected(pieces=(piece,)))
    assert "+x = 2" in model.turns[0].prompt
    assert "Local changes in shop" in found.summary
    assert found.summary.endswith("fine")
    assert found.shown == ()


async def test_a_file_that_is_named_is_reviewed_even_if_nothing_changed(tmp_path: Path) -> None:
    shop = repository(tmp_path)
    model = ScriptedModel([Reply("looks fine")])
    request = asked(TaskKind.REVIEW, "review b.py", shop)
    intent = request.intent.model_copy(update={"params": IntentParams(files=("b.py",))})
    piece = Piece(kind="file", text="x = 1\n", path="b.py")
    context = Collected(pieces=(piece,))
    found = await reviewed(shop, "review b.py", model, context=context, intent=intent)
    assert found.summary.splitlines()[1:] == ["looks fine"]


@pytest.mark.requirement("R54")
async def test_a_secret_that_is_cut_with_its_commit_message_is_not_shown_in_part(
    tmp_path: Path,
) -> None:
    shop = repository(tmp_path)
    (shop.path / "b.py").write_text("other\n", encoding="utf-8")
    run_git(shop.path, "commit", "-q", "-a", "-m", f"{'x' * 170} {KEY}")
    model = ScriptedModel([Reply("Fine.")])
    await reviewed(shop, "review the last commit", model)
    assert "xxxx" in model.turns[0].prompt
    assert KEY[:12] not in model.turns[0].prompt


async def test_a_review_needs_a_workspace_and_a_repository(tmp_path: Path) -> None:
    plain = placed(tmp_path, {"a.py": ""})
    assert "git" in (await reviewed(plain, "review the last commit")).summary
    request = replace(asked(TaskKind.REVIEW, "review the last commit", plain), workspace=None)
    nowhere = await ReviewProposer(local_changes, ranges=Ranges()).propose(request)
    assert "workspace add" in nowhere.summary
