"""How the policies stand: in force, broken, or of no workspace at all."""

from __future__ import annotations

from pathlib import Path

import pytest

from common.home import Home
from local_agent.safety.policies import MAX_STRAY, standing, stray_policies
from local_agent.views.status import PolicyStanding


@pytest.fixture
def places(tmp_path: Path) -> Home:
    home = Home(tmp_path / "config", tmp_path / "state", tmp_path / "run")
    (home.config / "policies").mkdir(mode=0o700, parents=True)
    return home


def write(places: Home, name: str, text: str = "") -> None:
    file = places.config / "policies" / name
    file.write_text(text, encoding="utf-8")
    file.chmod(0o600)


def test_a_workspace_without_a_file_has_no_policy(places: Home) -> None:
    assert standing(places, "shop") == PolicyStanding(state="none")


def test_even_an_empty_file_is_a_policy_in_force(places: Home) -> None:
    write(places, "shop.toml")
    assert standing(places, "shop") == PolicyStanding(state="in-force")


def test_a_broken_policy_names_its_file_and_key(places: Home) -> None:
    write(places, "shop.toml", "max_files = 0\n")
    assert standing(places, "shop") == PolicyStanding(
        state="broken", code="policy.value", file="policies/shop.toml", key="max_files"
    )


def test_a_policy_that_is_no_toml_has_no_key_to_blame(places: Home) -> None:
    write(places, "shop.toml", "max_files\n")
    found = standing(places, "shop")
    assert (found.code, found.key) == ("policy.syntax", None)


def test_what_no_workspace_has_the_name_of_is_named(places: Home) -> None:
    for name in ("shop.toml", "nosuch.toml", "shop.TOML", ".shop.toml.swp"):
        write(places, name)
    assert stray_policies(places, ["shop"]) == ("policies/nosuch.toml", "policies/shop.TOML")


def test_no_folder_of_policies_has_no_strays(places: Home) -> None:
    (places.config / "policies").rmdir()
    assert stray_policies(places, ["shop"]) == ()


def test_no_more_strays_are_named_than_fit_a_screen(places: Home) -> None:
    for number in range(MAX_STRAY + 1):
        write(places, f"{number}.toml")
    assert len(stray_policies(places, [])) == MAX_STRAY
