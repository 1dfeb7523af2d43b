"""Repositories that stay open: lent again as long as nothing that they were read from changed."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pygit2
import pytest

from common.clock import Clock, ManualClock
from local_agent.workspace.git import opening
from local_agent.workspace.git import repository as git
from local_agent.workspace.git.opening import MAX_KEPT, KeptOpen
from local_agent.workspace.git.repository import open_repository
from local_agent.workspace.remembered import MAX_AGE_S
from tests.unit.local_agent.workspace.conftest import AUTHOR, Repository

LATER_S = 3600.0
BOUND_S = 5.0


class Opened(KeptOpen):
    """Lends repositories, counts how many were opened, and looks at a time that has settled."""

    def __init__(self, clock: Clock | None = None) -> None:
        later = ManualClock(wall_ms=round((time.time() + LATER_S) * 1000))
        self.clock, self.count = clock or later, 0
        super().__init__(self._counted, self.clock)

    def look(self, path: Path) -> bool:
        """Borrow a repository for a moment; tell whether there was one."""
        with self.lend(path) as repository:
            return repository is not None

    def _counted(self, path: Path) -> pygit2.Repository | None:
        self.count += 1
        return open_repository(path)


@pytest.fixture
def opened() -> Opened:
    return Opened()


def _edit(name: str, text: str) -> Callable[[Repository], None]:
    return lambda repository: repository.write({name: text})


def _stage(repository: Repository) -> None:
    repository.write({"a": "2\n2\n"})
    repository.raw.index.add("a")
    repository.raw.index.write()


def _commit_index(repository: Repository) -> None:
    index, head = repository.raw.index, repository.raw.head.target
    repository.raw.create_commit("HEAD", AUTHOR, AUTHOR, "y", index.write_tree(), [head])


def _switch(repository: Repository) -> None:
    repository.raw.create_branch("other", repository.raw.head.peel(pygit2.Commit))
    repository.raw.set_head("refs/heads/other")


STEPS: dict[str, Callable[[Repository], None]] = {
    "an edit of the same length": _edit("a", "2\n"),
    "a new file": _edit("sub/new.log", "x\n"),
    "an edit that is staged": _stage,
    "an edit after that": _edit("a", "3\n4\n5\n"),
    "what is ignored": _edit(".gitignore", "*.log\n"),
    "what is ignored below": _edit("sub/.gitignore", "!*.log\n"),
    "what the repository ignores": _edit(".git/info/exclude", "sub/\n"),
    "a commit": _commit_index,
    "another branch": _switch,
    "a file that is gone": lambda repository: (repository.path / "b").unlink(),
}


def test_a_settled_repository_is_opened_once(repository: Repository, opened: Opened) -> None:
    repository.commit({"a": "1\n"})
    assert opened.look(repository.path)
    assert opened.look(repository.path)
    assert opened.count == 1


def test_every_change_is_seen_by_the_next_look(
    repository: Repository, opened: Opened, monkeypatch: pytest.MonkeyPatch
) -> None:
    repository.commit({"a": "1\n", "b": "1\n", ".gitignore": "*.tmp\n"})
    monkeypatch.setattr(git, "_KEPT", opened)
    seen = [git._read_changes(repository.path)]
    for name, step in STEPS.items():
        step(repository)
        seen.append(git._read_changes(repository.path))
        with monkeypatch.context() as fresh:
            fresh.setattr(git, "_KEPT", Opened())
            assert seen[-1] == git._read_changes(repository.path), name
        assert seen[-1] != seen[-2], name
    assert opened.count < len(seen)


def test_what_was_written_just_now_is_opened_again(repository: Repository) -> None:
    opened = Opened(ManualClock(wall_ms=round(time.time() * 1000)))
    repository.commit({"a": "1\n"})
    opened.look(repository.path)
    opened.look(repository.path)
    assert opened.count == 2


@pytest.mark.parametrize(
    "name", [".git/index", ".git/config", ".git/info/exclude", ".gitignore", "sub/.gitattributes"]
)
def test_what_decides_makes_it_opened_again(
    repository: Repository, opened: Opened, name: str
) -> None:
    repository.commit({"a": "1\n", ".gitignore": "x\n", "sub/.gitattributes": "* text\n"})
    repository.write({".git/info/exclude": "y\n"})
    opened.look(repository.path)
    # As it is, and as old: the time of the change itself cannot be set back.
    path = repository.path / name
    status = path.stat()
    path.write_bytes(path.read_bytes())
    os.utime(path, ns=(status.st_atime_ns, status.st_mtime_ns))
    opened.look(repository.path)
    assert opened.count == 2


def test_after_a_while_it_is_opened_again(repository: Repository, opened: Opened) -> None:
    repository.commit({"a": "1\n"})
    opened.look(repository.path)
    assert isinstance(opened.clock, ManualClock)
    opened.clock.advance(MAX_AGE_S + 1)
    opened.look(repository.path)
    assert opened.count == 2


def test_two_at_once_have_one_each(repository: Repository, opened: Opened) -> None:
    repository.commit({"a": "1\n"})
    opened.look(repository.path)
    together = threading.Barrier(2)

    def borrow() -> int:
        with opened.lend(repository.path) as lent:
            together.wait(BOUND_S)
            return id(lent)

    with ThreadPoolExecutor(2) as threads:
        first, second = threads.submit(borrow), threads.submit(borrow)
        assert first.result(BOUND_S) != second.result(BOUND_S)
    assert opened.count == 2
    opened.look(repository.path)
    assert opened.count == 2


def test_one_that_failed_is_not_lent_again(repository: Repository, opened: Opened) -> None:
    repository.commit({"a": "1\n"})
    with pytest.raises(pygit2.GitError), opened.lend(repository.path):
        raise pygit2.GitError
    opened.look(repository.path)
    assert opened.count == 2


def test_one_that_tracks_too_much_is_not_kept(
    repository: Repository, opened: Opened, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(opening, "MAX_FILES", 1)
    repository.commit({"a": "1\n", "b": "1\n"})
    opened.look(repository.path)
    opened.look(repository.path)
    assert opened.count == 2


def test_only_the_last_ones_are_kept(tmp_path: Path, opened: Opened) -> None:
    places = [tmp_path / str(number) for number in range(MAX_KEPT + 1)]
    for place in places:
        pygit2.init_repository(str(place))
        opened.look(place)
    opened.look(places[-1])
    assert opened.count == len(places)
    opened.look(places[0])
    assert opened.count == len(places) + 1


@pytest.mark.requirement("R52")
@pytest.mark.parametrize("name", [".git/FETCH_HEAD", "sub/.gitignore"])
def test_one_that_would_now_wait_for_ever_is_not_lent(
    repository: Repository, opened: Opened, name: str
) -> None:
    repository.commit({"a": "1\n", "sub/b": "1\n"})
    assert opened.look(repository.path)
    os.mkfifo(repository.path / name)
    assert not opened.look(repository.path)


def test_a_repository_that_is_gone_is_not_lent(repository: Repository, opened: Opened) -> None:
    repository.commit({"a": "1\n"})
    assert opened.look(repository.path)
    (repository.path / ".git").rename(repository.path / "elsewhere")
    assert not opened.look(repository.path)


def test_another_repository_that_is_named_is_opened(
    repository: Repository, opened: Opened, tmp_path: Path
) -> None:
    named = repository.path / ".git"
    places = [tmp_path / "one.git", tmp_path / "two.git"]
    named.rename(places[0])
    shutil.copytree(places[0], places[1])
    for place in places:
        named.write_text(f"gitdir: {place}\n", encoding="utf-8")
        with opened.lend(repository.path) as lent:
            assert lent is not None
            assert Path(lent.path).samefile(place)


@pytest.mark.parametrize("name", ["config", "info/exclude"])
def test_what_several_work_trees_share_makes_one_opened_again(
    repository: Repository, opened: Opened, tmp_path: Path, name: str
) -> None:
    repository.commit({"a": "1\n"})
    further = tmp_path.resolve() / "further"
    repository.raw.add_worktree("further", str(further))
    opened.look(further)
    opened.look(further)
    assert opened.count == 1
    shared = repository.path / ".git" / name
    shared.write_bytes(shared.read_bytes() + b"\n")
    opened.look(further)
    assert opened.count == 2


@pytest.mark.heavy
def test_a_repository_is_read_on_a_machine_without_certificate_authorities(tmp_path: Path) -> None:
    pygit2.init_repository(str(tmp_path))
    environ = {"SSL_CERT_FILE": "/no/such", "SSL_CERT_DIR": "/no/such"}
    code = (
        "import os, sys; from pathlib import Path; "
        "from local_agent.workspace.git.repository import open_repository; "
        "sys.exit(f'{open_repository(Path(sys.argv[1]))} {os.environ}')"
    )
    command = [sys.executable, "-c", code, str(tmp_path)]
    done = subprocess.run(command, env=environ, capture_output=True, encoding="utf-8", check=False)
    assert done.stderr.startswith("pygit2.Repository"), done.stderr
    assert "'SSL_CERT_DIR': '/no/such'" in done.stderr
