"""The hostile-diff suite: each case ends as it says, and the tree is what it says, byte for byte.

R37: what we accept, `git apply` accepts too, with the same files and the same tree, or the case
says why not.  Git is a second opinion here and nowhere else.
"""

from __future__ import annotations

import asyncio
import contextlib
import re
import time
from pathlib import Path

import pygit2
import pytest

from common.diff.parse import parse_diff
from common.errors import InputError
from common.model.state import Reason
from local_agent.actions.registry import ACTIONS
from local_agent.safety.authority import classify_operation
from local_agent.safety.risk import Circumstances
from tests import git_apply
from tests.changing import Changing
from tests.hostile_diffs import bounds, flags, forms, hunks, names, places
from tests.hostile_diffs.case import Case, Snapshot, by_name, expected, folders, lay, snapshot

CASES = by_name([*forms.CASES, *names.CASES, *hunks.CASES, *places.CASES])
BUSY_S = 5.0  # of the processor; the longest took one and a half when this was written
ACCEPTED = [name for name, case in CASES.items() if case.code is None]
REFUSED = [name for name, case in CASES.items() if case.code is not None]


@pytest.fixture
def fresh(tmp_path: Path) -> Path:
    """A folder for a tree of a case; its workspace is called the same everywhere."""
    return tmp_path / "tree"


def _laid(case: Case, root: Path) -> Changing:
    workspace = lay(root, case.before)
    if case.tracked is not None:
        repository = pygit2.init_repository(str(workspace), initial_head="main")
        for name in case.tracked:
            repository.index.add(name)
        for name in case.submodules:
            other = pygit2.IndexEntry(name, pygit2.Oid(hex="1" * 40), pygit2.enums.FileMode.COMMIT)
            repository.index.add(other)
        repository.index.write()
    return Changing.at(workspace, root.parent / "state", deny=case.deny)


def _for_git(found: Snapshot) -> Snapshot:
    """Return what git keeps of a tree: contents, links, and who may execute."""
    return {
        name: (kind, content, 0o755 if mode & 0o111 else 0o644 if kind == "file" else mode)
        for name, (kind, content, mode) in found.items()
        if "/.git/" not in name
    }


@pytest.mark.thorough
@pytest.mark.parametrize("name", REFUSED)
@pytest.mark.requirement("R32", "R33", "R34", "R35", "R36")
def test_a_refused_diff_changes_nothing(name: str, fresh: Path) -> None:
    case = CASES[name]
    desk = _laid(case, fresh)
    before = snapshot(fresh)
    with pytest.raises(InputError) as caught:
        asyncio.run(desk.applier.prepare(desk.workspace, case.diff))
    assert caught.value.code.startswith(str(case.code))
    assert case.why is None or caught.value.facts["why"] == case.why
    assert snapshot(fresh) == before


@pytest.mark.parametrize("name", ACCEPTED)
@pytest.mark.requirement("R32", "R33", "R34", "R35", "P5")
def test_an_accepted_diff_gives_its_tree_and_can_be_undone(name: str, fresh: Path) -> None:
    case = CASES[name]
    desk = _laid(case, fresh)
    before, below = snapshot(fresh), folders(fresh)
    prepared = asyncio.run(desk.applier.prepare(desk.workspace, case.diff))
    assert prepared.moved == case.moved
    assert snapshot(fresh) == before
    done = desk.seal(prepared)
    outcome = asyncio.run(desk.run(done))
    assert (outcome.reason, outcome.drift) == (Reason.COMPLETED, ())
    assert snapshot(fresh) == expected(before, case.after)
    _, undone = asyncio.run(desk.undo(done))
    assert undone.reason is Reason.COMPLETED
    assert (snapshot(fresh), folders(fresh)) == (before, below)


@pytest.mark.thorough
@pytest.mark.needs("git")
@pytest.mark.parametrize("name", ACCEPTED)
@pytest.mark.requirement("R37")
def test_git_agrees_with_what_we_accept(name: str, fresh: Path) -> None:
    case = CASES[name]
    workspace = _laid(case, fresh).workspace.path
    before = snapshot(fresh)
    refusal = git_apply.refusal(workspace, case.diff)
    assert bool(refusal) == bool(case.git_refuses), refusal
    if refusal:
        return
    model = parse_diff(case.diff)
    for reverse in (False, True):
        found = git_apply.numstat(workspace, case.diff, reverse=reverse)
        assert found == git_apply.counted(model, reverse=reverse)
    git_apply.apply(workspace, case.diff)
    assert _for_git(snapshot(fresh)) == _for_git(expected(before, case.after))


@pytest.mark.parametrize("name", bounds.AT_THE_LIMIT)
@pytest.mark.requirement("R6", "R32")
def test_what_is_at_a_limit_is_read(name: str) -> None:
    assert parse_diff(bounds.AT_THE_LIMIT[name]).files


@pytest.mark.thorough
@pytest.mark.parametrize("name", bounds.SLOW)
@pytest.mark.requirement("R6")
def test_no_diff_keeps_us_busy(name: str, fresh: Path) -> None:
    tree, diff = bounds.SLOW[name]
    desk = Changing.at(lay(fresh, tree), fresh.parent / "state")
    before = time.process_time()
    with contextlib.suppress(InputError):
        asyncio.run(desk.applier.prepare(desk.workspace, diff))
    assert time.process_time() - before < BUSY_S


def test_every_rule_has_its_cases() -> None:
    rules = {case.rule for case in CASES.values()}
    assert rules == {"R32", "R33", "R34", "R35", "R36"}
    assert len(REFUSED) >= 150
    assert len(ACCEPTED) >= 75


def test_every_family_of_known_faults_has_its_cases() -> None:
    named = set(re.findall(r"CVE-\d{4}-\d+", " ".join(CASES)))
    assert len(named) >= 12


@pytest.mark.parametrize("name", flags.FLAGS)
@pytest.mark.requirement("R38", "R29")
def test_what_needs_a_second_look_is_high_risk(name: str, fresh: Path) -> None:
    flagged = flags.FLAGS[name]
    desk = Changing.at(lay(fresh, flagged.before), fresh.parent / "state")
    prepared = asyncio.run(desk.applier.prepare(desk.workspace, flagged.diff))
    around = Circumstances(diff=prepared.model, moved=prepared.moved)
    risk = classify_operation("apply_diff", prepared.payload, around=around, known=ACTIONS)
    if flagged.reason is None:
        assert (risk.level, risk.reasons) == ("normal", ())
    else:
        assert risk.level == "high"
        assert flagged.reason in risk.reasons
