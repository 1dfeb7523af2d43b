"""Copies for dry runs: where they lie, who is led to them, what is refused, and when they go."""

from __future__ import annotations

import os
import shutil
from pathlib import Path
from typing import NamedTuple

import pytest

from common.errors import CodexBridgeError, InputError
from common.home import Home
from common.ids import new_uuid
from local_agent.workspace import dry_runs
from local_agent.workspace.dry_runs import DryRuns
from local_agent.workspace.registry import Registry, Workspace, is_copy, name_of_copy

NOW_S = 2_000_000_000.0


@pytest.fixture
def places(tmp_path: Path) -> Home:
    (tmp_path / "state").mkdir()
    return Home(tmp_path / "config", tmp_path / "state", tmp_path / "run")


@pytest.fixture
def shop(tmp_path: Path) -> Workspace:
    folder = tmp_path / "projects/shop-api"
    (folder / ".git").mkdir(parents=True)
    (folder / ".git/HEAD").write_text("ref: refs/heads/main\n", encoding="utf-8")
    (folder / "login.py").write_text("retry = 3\n", encoding="utf-8")
    return Workspace(name="shop", path=folder.resolve(), deny=("*.pem",), default=True)


def test_a_copy_is_a_workspace_under_the_rules_of_its_own(places: Home, shop: Workspace) -> None:
    copies, run_id = DryRuns(places), new_uuid()
    place = copies.make(run_id, shop)
    assert place == places.state.resolve() / "dry-runs" / run_id / "shop-api"
    found = copies.of(run_id, shop)
    assert (found.path, found.name, found.stands_for) == (place, "shop (dry run)", shop.path)
    assert (found.deny, found.listed_name, found.default) == (("*.pem",), "shop", False)
    assert (place / ".git/HEAD").read_bytes() == (shop.path / ".git/HEAD").read_bytes()
    assert place.parent.stat().st_mode & 0o777 == 0o700


def test_a_copy_is_in_no_list_and_under_no_name(
    places: Home, shop: Workspace, tmp_path: Path
) -> None:
    registry, run_id = Registry(places, home=tmp_path / "home"), new_uuid()
    (tmp_path / "home").mkdir()
    shop = registry.add(shop.path, name="shop", confirmed=())
    place = DryRuns(places).make(run_id, shop)
    name = name_of_copy(shop)
    assert is_copy(name)
    assert [one.path for one in registry.load()] == [shop.path]
    assert registry.at(str(place)) is None
    with pytest.raises(InputError, match=r"workspace\.unknown"):
        registry.find(name)
    with pytest.raises(InputError, match=r"workspace\.name"):
        registry.add(shop.path, name=name)
    with pytest.raises(InputError, match=r"workspace\.nested"):
        registry.add(place, name="other")
    assert registry.copy(run_id, name).path == place
    with pytest.raises(InputError, match=r"copy\.gone"):
        registry.copy(new_uuid(), name)


def _remove(place: Path, shop: Workspace) -> None:
    del shop
    shutil.rmtree(place)


def _link(place: Path, shop: Workspace) -> None:
    shutil.rmtree(place)
    place.symlink_to(shop.path)


def _link_above(place: Path, shop: Workspace) -> None:
    shutil.rmtree(place.parent)
    place.parent.symlink_to(shop.path.parent)


def _file(place: Path, shop: Workspace) -> None:
    shutil.rmtree(place)
    shutil.copyfile(shop.path / "login.py", place)


@pytest.mark.parametrize("swap", [_remove, _link, _link_above, _file])
def test_what_is_not_the_copy_that_was_made_is_none(
    places: Home, shop: Workspace, swap: object
) -> None:
    copies, run_id = DryRuns(places), new_uuid()
    place = copies.make(run_id, shop)
    swap(place, shop)  # type: ignore[operator]  # one of the above
    with pytest.raises(InputError, match=r"copy\.gone"):
        copies.of(run_id, shop)


class Refusal(NamedTuple):
    bound: str
    value: int
    code: str


@pytest.mark.parametrize(
    "refusal",
    [
        Refusal("MAX_BYTES", 5, "copy.too-large"),
        Refusal("MAX_ENTRIES", 2, "copy.too-many"),
        Refusal("MAX_DEPTH", 1, "copy.too-deep"),
        Refusal("SPARED_BYTES", 1 << 62, "copy.no-room"),
    ],
)
def test_of_what_is_refused_nothing_stays(
    places: Home, shop: Workspace, monkeypatch: pytest.MonkeyPatch, refusal: Refusal
) -> None:
    monkeypatch.setattr(dry_runs, refusal.bound, refusal.value)
    with pytest.raises(CodexBridgeError) as caught:
        DryRuns(places).make(new_uuid(), shop)
    assert caught.value.code == refusal.code
    assert list((places.state / "dry-runs").iterdir()) == []


def test_no_copy_is_made_behind_a_link(places: Home, shop: Workspace, tmp_path: Path) -> None:
    (tmp_path / "elsewhere").mkdir()
    (places.state / "dry-runs").symlink_to(tmp_path / "elsewhere")
    with pytest.raises(InputError, match=r"copy\.failed"):
        DryRuns(places).make(new_uuid(), shop)
    assert list((tmp_path / "elsewhere").iterdir()) == []


def test_a_workspace_that_went_away_is_not_copied(places: Home, shop: Workspace) -> None:
    shutil.rmtree(shop.path)
    with pytest.raises(InputError, match=r"copy\.failed"):
        DryRuns(places).make(new_uuid(), shop)


def test_copies_of_forgotten_runs_go_and_what_is_being_made_stays(
    places: Home, shop: Workspace
) -> None:
    copies = DryRuns(places)
    assert copies.prune((), now_s=NOW_S) == 0, "there are none yet"
    kept, old, young = new_uuid(), new_uuid(), new_uuid()
    for run_id in (kept, old, young):
        copies.make(run_id, shop)
    for run_id, at_s in ((kept, NOW_S - 9_000), (old, NOW_S - 9_000), (young, NOW_S - 60)):
        os.utime(copies.folder / run_id, (at_s, at_s))
    (copies.folder / "link").symlink_to(shop.path)
    assert copies.prune({kept}, now_s=NOW_S) == 1
    left = sorted(path.name for path in copies.folder.iterdir())
    assert left == sorted([kept, young, "link"])
    assert (shop.path / "login.py").exists()


def test_what_is_not_a_copy_is_not_removed_whatever_its_age(
    places: Home, shop: Workspace, tmp_path: Path
) -> None:
    copies, run_id = DryRuns(places), new_uuid()
    copies.make(run_id, shop)
    (copies.folder / "notes").mkdir()
    for name in (run_id, "notes"):
        os.utime(copies.folder / name, (NOW_S - 9_000, NOW_S - 9_000))
    assert copies.prune((), now_s=NOW_S) == 1
    assert [path.name for path in copies.folder.iterdir()] == ["notes"]


def test_behind_a_link_nothing_is_removed(places: Home, shop: Workspace, tmp_path: Path) -> None:
    copies, run_id = DryRuns(places), new_uuid()
    copies.make(run_id, shop)
    os.utime(copies.folder / run_id, (NOW_S - 9_000, NOW_S - 9_000))
    copies.folder.rename(tmp_path / "elsewhere")
    copies.folder.symlink_to(tmp_path / "elsewhere")
    assert copies.prune((), now_s=NOW_S) == 0
    assert (tmp_path / "elsewhere" / run_id).is_dir()


def test_what_was_copied_goes_away_with_whoever_stops_it(
    places: Home, shop: Workspace, monkeypatch: pytest.MonkeyPatch
) -> None:
    def stop(*_: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(dry_runs, "copy_tree", stop)
    with pytest.raises(KeyboardInterrupt):
        DryRuns(places).make(new_uuid(), shop)
    assert list((places.state / "dry-runs").iterdir()) == []
