"""``codexbridge init --non-interactive``: nothing is asked, and what is missing is one line."""

from __future__ import annotations

import secrets
from pathlib import Path

from tests.e2e.place import Place
from tests.each import each
from tests.init.agent.guide import devices, kept, line_for

ALONE = ("init", "--non-interactive")
SKIPS = ("--no-window-test", "--no-first-task")


def test_it_sets_up_what_is_named_and_a_second_time_changes_nothing(
    place: Place, workspace: Path
) -> None:
    line = line_for(place)
    named = ("--workspace", str(workspace), "--test-command", "make test", *SKIPS)
    said = place.run(*ALONE, *named, stdin=f"{line}\n").stdout
    assert "Compare the six words with your admin." in said
    before = kept(place)
    assert {"config/pairing.json", "config/workspaces.json"} <= before.keys()
    assert b'"test_command":"make test"' in before["config/workspaces.json"]
    again = place.run(*ALONE, *named).stdout
    assert "six words" not in again
    assert kept(place) == before
    assert not any("pairing-begun" in name for name in before)
    assert line.partition("#")[2].encode() not in b"".join(before.values())
    assert devices(place) == ["dev-1"]


def test_the_only_command_that_the_files_name_is_taken_without_being_named(
    place: Place, workspace: Path
) -> None:
    place.run(*ALONE, "--workspace", str(workspace), *SKIPS, stdin=line_for(place) + "\n")
    assert b'"test_command":"make test"' in kept(place)["config/workspaces.json"]


@each(
    "stdin, named, what",
    [
        ("", (), "The pairing line is missing"),
        ("CB1-AAAA\n", (), "The pairing line is missing"),
        ("https://gw.example#CB1-AAAA\n", (), "code"),
        ("PAIRED", (), "The workspace is missing: --workspace PATH"),
        ("PAIRED", ("--workspace", "/nowhere"), "/nowhere"),
        ("PAIRED", ("--workspace", ".", "--test-command", "no-such-program"), "no-such-program"),
        ("PAIRED", ("--workspace", ".", "--model", "gpt"), "gpt"),
    ],
)
def test_what_is_missing_or_wrong_is_one_line(
    place: Place, tmp_path: Path, stdin: str, named: tuple[str, ...], what: str
) -> None:
    # A machine of its own each time, with the same gateway.
    machine = f"dev-{secrets.token_hex(4)}"
    here = Place(tmp_path / machine, place.made, place.gateway_port, place.extra)
    here.root.mkdir(mode=0o700)
    given = line_for(place, machine) if stdin == "PAIRED" else stdin
    done = here.run(*ALONE, *named, stdin=given, check=False)
    assert done.returncode == 2
    assert done.stderr.count("\n") == 1
    assert what in done.stderr
    assert "CB1-AAAA" not in done.stdout + done.stderr


def test_questions_need_a_terminal(place: Place) -> None:
    done = place.run("init", check=False)
    assert (done.returncode, done.stderr.count("\n")) == (2, 1)
    assert "--non-interactive" in done.stderr
