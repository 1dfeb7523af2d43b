"""Writing a planned commit: the branch moves last, by compare-and-swap, or not at all."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pygit2
import pytest

from common.errors import StateError
from local_agent.workspace.git import commit as git_commit
from local_agent.workspace.git.clean_repository import clean_repository
from local_agent.workspace.git.commit import Found, find_sealed, remember_pushed, write_commit
from local_agent.workspace.git.preflight import SyncPlan, plan_sync
from tests.syncing import Syncing, at_home

pytestmark = pytest.mark.heavy


@pytest.fixture
def syncing(tmp_path: Path) -> Iterator[Syncing]:
    made = Syncing.at(tmp_path)
    made.write({"a.py": "2\n"})
    with at_home(made.home):
        yield made


def plan(syncing: Syncing) -> SyncPlan:
    with clean_repository(syncing.scratch, syncing.path) as clean:
        return plan_sync(syncing.workspace, clean, message="a change")


def write(syncing: Syncing, planned: SyncPlan) -> str:
    assert planned.commit is not None
    return write_commit(syncing.path, planned, planned.commit, at_s=1_760_000_000)


def refusal(syncing: Syncing, planned: SyncPlan) -> str:
    before = syncing.tip
    with pytest.raises(StateError) as caught:
        write(syncing, planned)
    assert syncing.tip == before
    return caught.value.code


def test_the_commit_is_the_planned_one_and_the_log_says_who(syncing: Syncing) -> None:
    planned = plan(syncing)
    made = write(syncing, planned)
    assert planned.commit is not None
    assert made == syncing.tip
    assert str(syncing.raw[made].peel(pygit2.Tree).id) == planned.commit.tree
    entry = next(iter(syncing.raw.references["refs/heads/main"].log()))
    assert (entry.message, entry.committer.name) == ("commit: a change", "Zhang")


def test_a_plan_is_carried_out_once(syncing: Syncing) -> None:
    planned = plan(syncing)
    write(syncing, planned)
    assert refusal(syncing, planned) == "sync.moved"


def test_another_branch_that_was_checked_out_since_gets_no_commit(syncing: Syncing) -> None:
    planned = plan(syncing)
    raw = syncing.raw
    raw.branches.create("other", raw.head.peel(pygit2.Commit))
    raw.set_head("refs/heads/other")
    assert refusal(syncing, planned) == "sync.moved"


def test_another_tree_than_the_approved_one_is_not_committed(syncing: Syncing) -> None:
    planned = plan(syncing)
    assert planned.commit is not None
    other = replace(planned, commit=replace(planned.commit, tree="0" * 40))
    assert refusal(syncing, other) == "sync.moved"
    assert syncing.raw.status() == {"a.py": pygit2.enums.FileStatus.WT_MODIFIED}


def test_a_first_commit_does_not_take_the_place_of_another(syncing: Syncing) -> None:
    raw = syncing.raw
    tip = raw.references["refs/heads/main"].target
    raw.references.delete("refs/heads/main")
    raw.references.delete("refs/remotes/origin/main")
    raw.index.clear()
    raw.index.write()
    planned = plan(syncing)
    assert planned.head is None
    raw.references.create("refs/heads/main", tip)
    assert refusal(syncing, planned) == "sync.moved"


def test_a_branch_that_another_program_holds_is_left_alone(syncing: Syncing) -> None:
    planned = plan(syncing)
    (syncing.path / ".git/refs/heads/main.lock").touch()
    assert refusal(syncing, planned) == "sync.locked"


def test_a_store_that_cannot_be_written_stops_it(
    syncing: Syncing, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(*_arguments: object) -> pygit2.Oid:
        raise pygit2.GitError("no space left on device")

    planned = plan(syncing)
    monkeypatch.setattr(git_commit, "new_tree", full)
    assert refusal(syncing, planned) == "sync.repository"


def test_a_fetch_that_came_first_knows_better_what_is_there(syncing: Syncing) -> None:
    upstream = plan(syncing).upstream
    first = syncing.tip
    made = syncing.commit({})
    syncing.raw.references.create("refs/remotes/origin/main", made, force=True)
    remember_pushed(syncing.path, upstream, first)
    assert str(syncing.raw.references["refs/remotes/origin/main"].target) == made


def test_what_was_pushed_is_remembered_where_there_is_a_memory(syncing: Syncing) -> None:
    upstream = plan(syncing).upstream
    made = syncing.commit({})
    before = dict.fromkeys(syncing.raw.references)
    remember_pushed(syncing.path, replace(upstream, tracking=None), made)
    remember_pushed(syncing.root, upstream, made)
    (syncing.path / ".git/refs/remotes/origin/main.lock").touch()
    remember_pushed(syncing.path, upstream, made)
    assert dict.fromkeys(syncing.raw.references) == before
    assert str(syncing.raw.references["refs/remotes/origin/main"].target) == upstream.oid
    (syncing.path / ".git/refs/remotes/origin/main.lock").unlink()
    remember_pushed(syncing.path, upstream, made)
    assert str(syncing.raw.references["refs/remotes/origin/main"].target) == made


def test_a_branch_that_is_gone_proves_nothing(syncing: Syncing) -> None:
    prepared = asyncio.run(syncing.prepare())
    syncing.raw.references.delete("refs/heads/main")
    found = find_sealed(syncing.path, prepared.payload)
    assert found == Found(commit=None, untouched=False, pushed=False)


def test_a_repository_that_cannot_be_read_proves_nothing(syncing: Syncing) -> None:
    prepared = asyncio.run(syncing.prepare())
    (syncing.path / ".git/refs/heads/main").write_text("1" * 40 + "\n", encoding="utf-8")
    assert find_sealed(syncing.path, prepared.payload) is None


def test_a_remote_that_was_forgotten_proves_no_push(syncing: Syncing) -> None:
    prepared = asyncio.run(syncing.prepare())
    write(syncing, plan(syncing))
    syncing.raw.references.delete("refs/remotes/origin/main")
    found = find_sealed(syncing.path, prepared.payload)
    assert found == Found(commit=syncing.tip, untouched=False, pushed=False)
