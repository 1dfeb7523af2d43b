"""What a file of answers may decide on: the copy of a dry run, and nothing that reaches beyond."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from common.clock import ManualClock
from common.errors import StateError
from common.home import Home
from common.ids import new_uuid
from common.seal import Place, Seal
from local_agent.actions.registry import ACTIONS
from local_agent.actions.run_command.payload import SealedCopy
from local_agent.actions.steps.payload import steps_payload
from local_agent.safety.action_facts import SealedPart
from local_agent.safety.dry_run import check_dry_run
from local_agent.workspace.dry_runs import DryRuns
from local_agent.workspace.registry import Workspace, place_of
from tests.golden.seals import SEALS
from tests.sealed import ZEROS, a_payload, a_seal

pytestmark = pytest.mark.requirement("P1")
TAKEN = {"apply_diff", "undo", "run_command", "steps"}


@pytest.fixture
def shop(tmp_path: Path) -> Workspace:
    folder = tmp_path / "projects/shop"
    folder.mkdir(parents=True)
    (folder / "login.py").write_text("retry = 3\n", encoding="utf-8")
    return Workspace(name="shop", path=folder.resolve())


@pytest.fixture
def copies(tmp_path: Path) -> DryRuns:
    (tmp_path / "state").mkdir()
    return DryRuns(Home(tmp_path / "config", tmp_path / "state", tmp_path / "run"))


@pytest.fixture
def copy(copies: DryRuns, shop: Workspace) -> Workspace:
    run_id = new_uuid()
    copies.make(run_id, shop)
    return copies.of(run_id, shop)


def sealed(copy: Workspace, **changes: Any) -> Seal:
    return a_seal(ManualClock(), workspace=place_of(copy), **changes)


def why(seal: Seal, copies: DryRuns) -> str | None:
    """Return why it is refused; None where it is taken."""
    try:
        check_dry_run(seal, copies.folder, ACTIONS)
    except StateError as error:
        return str(error.facts["why"]) if error.code == "approval.not-dry-run" else error.code
    return None


# --- where -------------------------------------------------------------------------------------


def test_what_is_sealed_for_the_copy_is_taken(copies: DryRuns, copy: Workspace) -> None:
    assert why(sealed(copy), copies) is None


def test_the_workspace_itself_is_never_taken(copies: DryRuns, shop: Workspace) -> None:
    assert why(sealed(shop), copies) == "place"


@pytest.mark.parametrize(
    "path",
    [
        lambda copy, shop: f"{copy.path}/../../../../../{shop.path.relative_to('/')}",
        lambda copy, _shop: f"{copy.path}/",
        lambda copy, _shop: f"{copy.path}/.",
        lambda copy, _shop: f"{copy.path.parent}//{copy.path.name}",
        lambda copy, _shop: f"{copy.path}/sub",
        lambda copy, _shop: str(copy.path.parent),
        lambda copy, _shop: str(copy.path.parent.parent),
        lambda copy, _shop: f"{copy.path.parent.parent}-evil/{copy.path.parent.name}/shop",
        lambda copy, _shop: f"{copy.path.parent.parent}/../dry-runs/{copy.path.parent.name}/shop",
        lambda copy, _shop: f"{copy.path.parent}x/shop",
        lambda copy, _shop: f"{copy.path.parent.parent}/other/shop",
        lambda copy, _shop: str(copy.path).upper(),
        lambda copy, _shop: copy.path.name,
        lambda _copy, _shop: "",
    ],
)
def test_a_path_that_is_merely_like_it_is_not_taken(
    copies: DryRuns,
    copy: Workspace,
    shop: Workspace,
    path: Callable[[Workspace, Workspace], str],
) -> None:
    named = path(copy, shop)
    for folder in (Path(f"{copies.folder}-evil"), copies.folder / "other"):
        (folder / copy.path.parent.name / "shop").mkdir(parents=True)
    (copy.path / "sub").mkdir()
    there = Path(named)
    status = there.stat() if named and there.exists() else copy.path.stat()
    seal = replace(sealed(copy), workspace=Place(named, status.st_dev, status.st_ino))
    assert why(seal, copies) == "place"


def test_a_copy_that_was_swapped_for_a_link_is_not_taken(
    copies: DryRuns, copy: Workspace, shop: Workspace
) -> None:
    before = sealed(copy)
    shutil.rmtree(copy.path)
    copy.path.symlink_to(shop.path)
    behind = shop.path.stat()
    after = replace(before, workspace=Place(str(copy.path), behind.st_dev, behind.st_ino))
    for seal in (before, after, sealed(copy)):
        assert why(seal, copies) == "place"


def test_another_folder_in_the_place_of_the_copy_is_not_taken(
    copies: DryRuns, copy: Workspace, shop: Workspace
) -> None:
    seal = sealed(copy)
    copy.path.rename(copy.path.with_name("aside"))
    shop.path.rename(copy.path)
    assert why(seal, copies) == "place"


@pytest.mark.parametrize("level", ["run", "all"])
def test_a_folder_above_that_is_a_link_is_not_taken(
    copies: DryRuns, copy: Workspace, tmp_path: Path, level: str
) -> None:
    linked = copy.path.parent if level == "run" else copies.folder
    moved = tmp_path / "moved"
    linked.rename(moved)
    linked.symlink_to(moved)
    assert why(sealed(copy), copies) == "place"


def test_a_copy_that_is_gone_or_is_a_file_is_not_taken(copies: DryRuns, copy: Workspace) -> None:
    seal = sealed(copy)
    shutil.rmtree(copy.path)
    assert why(seal, copies) == "place"
    copy.path.write_bytes(b"")
    assert why(sealed(copy), copies) == "place"


def test_a_copy_of_another_installation_is_not_taken(
    copy: Workspace, shop: Workspace, tmp_path: Path
) -> None:
    (tmp_path / "other").mkdir()
    other = DryRuns(Home(tmp_path / "other", tmp_path / "other", tmp_path / "other"))
    other.make(new_uuid(), shop)
    assert why(sealed(copy), other) == "place"


# --- what --------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", SEALS)
def test_of_all_actions_those_that_stay_in_the_copy_are_taken(
    copies: DryRuns, copy: Workspace, name: str
) -> None:
    seal = replace(SEALS[name], workspace=place_of(copy))
    parts = seal.payload["steps"] if seal.action == "steps" else [{"payload": seal.payload}]
    commands = [one["payload"] for one in parts if "sandbox" in one["payload"]]
    expected = None if seal.action in TAKEN else "action"
    if any(
        one["sandbox"]["level"] != "bubblewrap" or one["network"] or "copy" in one
        for one in commands
    ):
        expected = "sandbox"
    assert why(seal, copies) == expected
    assert why(SEALS[name], copies) == "place"


@pytest.mark.parametrize(
    "changes",
    [
        {"sandbox_level": "none"},
        {"sandbox_level": "landlock"},
        {"network": True},
        {"copy": SealedCopy("approval-2", "T-7K4F", ZEROS)},
    ],
)
def test_a_command_that_reaches_further_is_not_taken(
    copies: DryRuns, copy: Workspace, changes: dict[str, Any]
) -> None:
    reaching = a_payload(**changes)
    assert why(sealed(copy, payload=reaching), copies) == "sandbox"
    # Nor as one of several steps, whatever the others are.
    parts = [SealedPart("run_command", payload, {}) for payload in (a_payload(), reaching)]
    several = steps_payload(run="run-1", definition_sha256=ZEROS, indexes=[1, 2], parts=parts)
    assert why(sealed(copy, action="steps", payload=several), copies) == "sandbox"


def test_a_gate_that_covers_nothing_is_taken(copies: DryRuns, copy: Workspace) -> None:
    nothing = steps_payload(run="run-1", definition_sha256=ZEROS, indexes=[], parts=[])
    assert why(sealed(copy, action="steps", payload=nothing), copies) is None


def test_every_action_there_is_was_thought_of() -> None:
    assert set(ACTIONS) == TAKEN | {"git_sync", "disclose"}
