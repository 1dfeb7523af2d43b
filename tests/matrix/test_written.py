"""What is checked of files and commits: each lie that must be found, told of a true story."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path

import pygit2
import pytest

from tests import truth, written
from tests.matrix.matrix import Ground
from tests.matrix.scenarios import FIX
from tests.syncing import WHO
from tests.written import Carried, Edit, Planted, Repositories

pytestmark = [pytest.mark.needs("git")]


@dataclass(frozen=True)
class Story:
    """What was carried out, and what lies on the disk."""

    carried: list[Carried]
    planted: Planted
    repositories: Repositories

    def wrong(self) -> list[str]:
        """Return what is found wrong of it."""
        return [
            *written.wrong_files(self.carried, self.planted),
            *written.wrong_outcomes(self.carried, (), self.planted.edits),
            *written.wrong_commits(self.carried, self.repositories),
        ]

    def ended(self, action: str, outcome: str | None) -> Story:
        """Tell that what was done had another outcome."""
        return replace(
            self,
            carried=[
                replace(one, outcome=outcome) if one.seal["action"] == action else one
                for one in self.carried
            ],
        )


@pytest.fixture(scope="module")
def honest(ground: Ground, tmp_path_factory: pytest.TempPathFactory) -> Story:
    """An edit that was committed and pushed, and then a patch."""
    kept = tmp_path_factory.mktemp("kept")
    with ground.house() as house:
        git = house.follow_a_remote()
        house.start("simulator", "gateway", "agent")
        house.edit("count.sh", "# one\n")
        house.push("first")
        house.apply("fix", FIX)
        house.settle()
        assert not house.untruths()
        planted = Planted(kept / "shop", house.planted, house.edits)
        repositories = Repositories(kept / "shop", kept / "remote.git", house.known)
        carried = truth.carried_out(house.journal)
        shutil.copytree(house.workspace, planted.root)
        shutil.copytree(git.remote, repositories.remote)
    return Story(carried, planted, repositories)


@pytest.fixture
def story(honest: Story, tmp_path: Path) -> Story:
    """A copy to lie in."""
    root = tmp_path / "all"
    shutil.copytree(honest.planted.root.parent, root)
    return replace(
        honest,
        planted=replace(honest.planted, root=root / "shop"),
        repositories=replace(
            honest.repositories, workspace=root / "shop", remote=root / "remote.git"
        ),
    )


def _write(path: str, text: str) -> Callable[[Story], Story]:
    def lie(story: Story) -> Story:
        (story.planted.root / path).write_text(text, encoding="utf-8")
        return story

    return lie


def _make_folder(story: Story) -> Story:
    (story.planted.root / "left").mkdir()
    return story


def _twice(action: str) -> Callable[[Story], Story]:
    def lie(story: Story) -> Story:
        again = [one for one in story.carried if one.seal["action"] == action]
        return replace(story, carried=[*story.carried, *again])

    return lie


def _commit(where: str) -> Callable[[Story], Story]:
    def lie(story: Story) -> Story:
        repository = pygit2.Repository(str(getattr(story.repositories, where)))
        tip = repository.references["refs/heads/main"].target
        tree = repository[tip].peel(pygit2.Tree).id
        repository.create_commit("refs/heads/main", WHO, WHO, "again\n", tree, [tip])
        return story

    return lie


def _never_pushed(story: Story) -> Story:
    remote = pygit2.Repository(str(story.repositories.remote))
    (first,) = story.repositories.known
    remote.references["refs/heads/main"].set_target(first)
    return story


def _pushed_twice(story: Story) -> Story:
    log = story.repositories.remote / "logs" / "refs" / "heads" / "main"
    lines = log.read_text(encoding="utf-8").splitlines(keepends=True)
    log.write_text("".join([*lines, lines[-1]]), encoding="utf-8")
    return story


def _never_committed(story: Story) -> Story:
    repository = pygit2.Repository(str(story.repositories.workspace))
    (first,) = story.repositories.known
    repository.references["refs/heads/main"].set_target(first)
    return story


# What is told, and part of how it is found.
LIES: dict[str, tuple[Callable[[Story], Story], str]] = {
    "a file is half of each": (_write("login.py", "retry = 5\n"), "login.py should be"),
    "a file that was deleted is there": (_write("notes.txt", "one\n"), "notes.txt should be None"),
    "a file beside was left": (_write(".codexbridge-0-0.tmp", ""), ".codexbridge-0-0.tmp should"),
    "a folder was left": (_make_folder, "left was left empty"),
    "a change was made twice": (_twice("apply_diff"), "was made on something else"),
    "a change that failed is there": (
        lambda story: story.ended("apply_diff", "failed"),
        "its change failed, and nothing had died",
    ),
    "nobody knows of a change": (
        lambda story: story.ended("apply_diff", "unknown"),
        "nobody can tell",
    ),
    "a commit that nobody approved": (_commit("workspace"), "was committed 1 times"),
    "a commit that only the remote has": (_commit("remote"), "a commit that is not here"),
    "completed, and not pushed": (_never_pushed, "completed, and the remote does not have it"),
    "completed, and not committed": (_never_committed, "completed, and its commit is not there"),
    "pushed twice": (_pushed_twice, "was pushed 2 times"),
}


def test_a_true_story_is_believed(story: Story) -> None:
    assert story.wrong() == []
    assert {one.seal["action"] for one in story.carried} == {"apply_diff", "git_sync"}


@pytest.mark.requirement("P3")
@pytest.mark.requirement("P5")
@pytest.mark.parametrize(("lie", "wrong"), LIES.values(), ids=LIES.keys())
def test_a_lie_is_found(story: Story, lie: Callable[[Story], Story], wrong: str) -> None:
    found = lie(story).wrong()
    assert [one for one in found if wrong in one], found


def test_nobody_can_tell_where_a_person_wrote_as_well(story: Story) -> None:
    unknown = story.ended("apply_diff", "unknown")
    edit = Edit(2**62, "login.py", ("", "100644"))
    assert not list(written.wrong_outcomes(unknown.carried, (), [edit]))
    assert list(written.wrong_outcomes(unknown.carried, (), [replace(edit, at_ms=0)]))


@pytest.mark.requirement("P3", "P5")
def test_of_an_interrupted_change_each_file_is_as_before_or_after_and_nothing_else(
    story: Story,
) -> None:
    unknown = story.ended("apply_diff", "unknown")
    assert not list(written.wrong_files(unknown.carried, unknown.planted))
    (change,) = [one for one in story.carried if one.seal["action"] == "apply_diff"]
    paths = {one["path"] for one in change.seal["payload"]["changes"]}
    for path in paths:
        file = story.planted.root / path
        file.parent.mkdir(exist_ok=True)
        file.write_text("half of each\n", encoding="utf-8")
    found = list(written.wrong_files(unknown.carried, unknown.planted))
    assert len(found) == len(paths)
