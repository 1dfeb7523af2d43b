"""The policy file: read from the config directory alone, whole or not at all; and how it stands."""

from __future__ import annotations

import os
from dataclasses import fields
from pathlib import Path

import pytest

from common.home import Home
from common.sentences import explain
from local_agent.error_texts import ERRORS
from local_agent.errors import PolicyError
from local_agent.safety import policy
from local_agent.safety.policy import MAX_STRAY, Policy, load_policy, standing, stray_policies
from local_agent.views.status import PolicyStanding

EXAMPLE = Path(__file__).parents[4] / "config" / "policy.example.toml"


@pytest.fixture
def places(tmp_path: Path) -> Home:
    home = Home(tmp_path / "config", tmp_path / "state", tmp_path / "run")
    (home.config / "policies").mkdir(mode=0o700, parents=True)
    return home


def write(places: Home, text: str, *, mode: int = 0o600) -> Path:
    file = places.config / "policies" / "shop.toml"
    file.write_text(text, encoding="utf-8")
    file.chmod(mode)
    return file


def refusal(places: Home) -> PolicyError:
    with pytest.raises(PolicyError) as caught:
        load_policy(places, "shop")
    return caught.value


def test_without_a_file_or_a_folder_nothing_is_added(places: Home) -> None:
    assert load_policy(places, "shop") == Policy()
    (places.config / "policies").rmdir()
    assert load_policy(places, "shop") == Policy()


@pytest.mark.requirement("R3")
def test_a_policy_is_read_from_the_config_directory(places: Home) -> None:
    write(places, 'refuse_shell = true\nrefuse_paths = ["migrations"]\nmax_files = 3\n')
    expected = Policy(refuse_shell=True, refuse_paths=("migrations",), max_files=3)
    assert load_policy(places, "shop") == expected
    assert load_policy(places, "other") == Policy()


def test_an_empty_file_adds_nothing(places: Home) -> None:
    write(places, "# nothing yet\n")
    assert load_policy(places, "shop") == Policy()


def test_the_example_names_every_key_and_can_be_read(places: Home) -> None:
    text = EXAMPLE.read_text(encoding="utf-8")
    write(places, text)
    found = load_policy(places, "shop")
    assert found.refuse_network
    named = {line.partition(" = ")[0] for line in text.splitlines() if " = " in line}
    assert named >= {field.name for field in fields(Policy)}


@pytest.mark.parametrize("key", ["refuse_path", "allow_paths", "allow", "Refuse_shell", ""])
def test_an_unknown_key_refuses_everything_and_is_named(places: Home, key: str) -> None:
    write(places, f'"{key}" = true\n')
    error = refusal(places)
    assert (error.code, error.facts["key"]) == ("policy.unknown-key", key)
    assert error.facts["file"] == "policies/shop.toml"


def test_an_unknown_key_is_shown_on_one_line_without_tricks(places: Home) -> None:
    write(places, f'"a\\nb\\u202e{"x" * 500}" = true\n')
    said = explain(refusal(places), ERRORS, "en")
    assert "\n" not in said
    assert "\u202e" not in said
    assert len(said) < 300


@pytest.mark.parametrize(
    "line",
    [
        "refuse_shell = 1",
        'refuse_shell = "yes"',
        "require_typed = []",
        "max_files = 0",
        "max_files = 501",
        "max_files = true",
        "max_files = 3.0",
        'refuse_paths = "migrations"',
        "refuse_paths = [1]",
        'refuse_paths = [""]',
        'refuse_paths = [" a"]',
        'refuse_paths = ["a\\nb"]',
        'refuse_paths = ["/etc"]',
        'ask_high_paths = ["/x"]',
        f'ask_high_paths = ["{"x" * 256}"]',
        "refuse_paths = [" + '"a", ' * 201 + "]",
        'refuse_actions = ["run"]',
        'refuse_actions = ["run_command", 1]',
        'refuse_programs = ["/usr/bin/rm"]',
        "[refuse_shell]\nx = true",
    ],
)
def test_a_value_of_another_kind_refuses_everything(places: Home, line: str) -> None:
    write(places, f"require_typed = false\n{line}\n" if "require" not in line else f"{line}\n")
    error = refusal(places)
    assert error.code == "policy.value"
    assert str(error.facts["key"]) in line


@pytest.mark.parametrize(
    "text", ["refuse_shell", "refuse_shell = true\nrefuse_shell = true", "x = " + "[" * 60_000]
)
def test_broken_toml_refuses_everything(places: Home, text: str) -> None:
    write(places, text)
    assert refusal(places).code == "policy.syntax"


def test_bytes_that_are_no_text_refuse_everything(places: Home) -> None:
    write(places, "").write_bytes(b"refuse_shell = true # \xff")
    assert refusal(places).code == "policy.syntax"


@pytest.mark.parametrize("mode", [0o640, 0o604, 0o660, 0o602])
def test_a_file_that_others_can_open_refuses_everything(places: Home, mode: int) -> None:
    write(places, "refuse_shell = true\n", mode=mode)
    assert refusal(places).code == "policy.not-private"


@pytest.mark.parametrize("mode", [0o770, 0o702])
def test_a_folder_that_others_can_fill_refuses_everything(places: Home, mode: int) -> None:
    (places.config / "policies").chmod(mode)
    assert refusal(places).code == "policy.not-private"


@pytest.mark.requirement("R3")
def test_a_link_refuses_everything_wherever_it_leads(places: Home, tmp_path: Path) -> None:
    elsewhere = tmp_path / "elsewhere.toml"
    elsewhere.write_text("", encoding="utf-8")
    elsewhere.chmod(0o600)
    link = places.config / "policies" / "shop.toml"
    link.symlink_to(elsewhere)
    assert refusal(places).code == "policy.unreadable"
    elsewhere.unlink()
    assert refusal(places).code == "policy.unreadable", "a dangling one too"
    link.unlink()
    (places.config / "policies").rmdir()
    (places.config / "policies").symlink_to(tmp_path)
    assert refusal(places).code == "policy.unreadable"


def test_what_is_no_file_or_too_long_refuses_everything(places: Home) -> None:
    write(places, "#" * (policy.MAX_BYTES + 1))
    assert refusal(places).code == "policy.unreadable"
    (places.config / "policies" / "shop.toml").unlink()
    os.mkfifo(places.config / "policies" / "shop.toml", 0o600)
    assert refusal(places).code == "policy.unreadable"


def test_its_hash_tells_policies_apart_and_not_their_spelling(places: Home) -> None:
    write(places, "refuse_shell = true\n")
    first = load_policy(places, "shop").sha256
    write(places, "# a remark\nrefuse_shell    = true\nrefuse_network = false\n")
    assert load_policy(places, "shop").sha256 == first
    write(places, "refuse_network = true\n")
    assert load_policy(places, "shop").sha256 != first
    assert len(first) == 64


def add_file(places: Home, name: str, text: str = "") -> None:
    file = places.config / "policies" / name
    file.write_text(text, encoding="utf-8")
    file.chmod(0o600)


def test_a_workspace_without_a_file_has_no_policy(places: Home) -> None:
    assert standing(places, "shop") == PolicyStanding(state="none")


def test_even_an_empty_file_is_a_policy_in_force(places: Home) -> None:
    add_file(places, "shop.toml")
    assert standing(places, "shop") == PolicyStanding(state="in-force")


def test_a_broken_policy_names_its_file_and_key(places: Home) -> None:
    add_file(places, "shop.toml", "max_files = 0\n")
    assert standing(places, "shop") == PolicyStanding(
        state="broken", code="policy.value", file="policies/shop.toml", key="max_files"
    )


def test_a_policy_that_is_no_toml_has_no_key_to_blame(places: Home) -> None:
    add_file(places, "shop.toml", "max_files\n")
    found = standing(places, "shop")
    assert (found.code, found.key) == ("policy.syntax", None)


def test_what_no_workspace_has_the_name_of_is_named(places: Home) -> None:
    for name in ("shop.toml", "nosuch.toml", "shop.TOML", ".shop.toml.swp"):
        add_file(places, name)
    assert stray_policies(places, ["shop"]) == ("policies/nosuch.toml", "policies/shop.TOML")


def test_no_folder_of_policies_has_no_strays(places: Home) -> None:
    (places.config / "policies").rmdir()
    assert stray_policies(places, ["shop"]) == ()


def test_no_more_strays_are_named_than_fit_a_screen(places: Home) -> None:
    for number in range(MAX_STRAY + 1):
        add_file(places, f"{number}.toml")
    assert len(stray_policies(places, [])) == MAX_STRAY
