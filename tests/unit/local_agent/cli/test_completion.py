"""``codexbridge completion``: each shell is offered what the parsers declare, and nothing else."""

from __future__ import annotations

import os
import pty
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

import codexbridge
from common.sentences import LANGS, Lang
from local_agent.cli.completion import places
from tests.each import each
from tests.unit.local_agent.cli.terminal import reads

BASH = shutil.which("bash")
SHELLS = ("bash", "zsh", "fish")
PLACES = {place.path: place for place in places("en")}


def script(shell: str, capsys: pytest.CaptureFixture[str]) -> str:
    assert codexbridge.main(["completion", shell]) == 0
    return capsys.readouterr().out


@pytest.fixture
def sourced(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> Path:
    """The script for bash, in a folder with one settings file."""
    (tmp_path / "settings.toml").touch()
    path = tmp_path / "completion.bash"
    path.write_text(script("bash", capsys), encoding="utf-8")
    return path


@pytest.fixture
def terminal(sourced: Path) -> Iterator[int]:
    """The screen of a bash that has read the script, in a folder with one settings file."""
    assert BASH is not None
    pid, screen = pty.fork()
    if pid == 0:
        os.chdir(sourced.parent)
        environ = {"PATH": "/usr/bin:/bin", "TERM": "dumb", "PS1": "> ", "LC_ALL": "C.UTF-8"}
        os.execve(BASH, [BASH, "--norc", "--noprofile", "-i"], environ)  # noqa: S606 - no shell
    try:
        os.write(screen, b"source ./completion.bash; echo re''ady\n")
        reads(screen, "ready\r\n")
        yield screen
    finally:
        os.close(screen)
        os.waitpid(pid, 0)


def test_every_command_and_every_option_has_its_place() -> None:
    assert {f"/{name}" for name in codexbridge.COMMANDS} <= PLACES.keys()
    assert tuple(PLACES[""].words) == tuple(codexbridge.COMMANDS)
    assert {*PLACES["/workspace"].words} == {"add", "list", "remove", "set"}
    assert {option.name for option in PLACES["/approve"].options} == {"--help", "--only", "--check"}
    assert {*PLACES["/completion"].words} == {*SHELLS}
    assert all(option.about for place in PLACES.values() for option in place.options)


def test_where_a_file_can_stand_files_are_offered() -> None:
    assert PLACES["/apply"].files
    assert not PLACES["/approve"].files
    (config,) = (one for one in PLACES["/agent"].options if one.name == "--config")
    assert (config.takes_value, config.files) == (True, True)


@each("shell", SHELLS)
def test_a_script_names_every_word_and_option(
    shell: str, capsys: pytest.CaptureFixture[str]
) -> None:
    told = script(shell, capsys)
    for place in PLACES.values():
        assert place.path in told
        assert all(word in told for word in place.words)
        for option in place.options:
            assert (option.name.removeprefix("--") if shell == "fish" else option.name) in told


@each("lang", LANGS)
def test_what_a_command_does_is_said_in_the_language_of_the_terminal(lang: Lang) -> None:
    (first, *_) = places(lang)
    assert first.words["approve"] == getattr(codexbridge.COMMANDS["approve"].summary, lang)


@pytest.mark.heavy
@each("shell", SHELLS)
def test_each_shell_that_is_there_can_read_its_script(
    shell: str, capsys: pytest.CaptureFixture[str]
) -> None:
    if program := shutil.which(shell):
        told = script(shell, capsys)
        done = subprocess.run([program, "-n"], input=told.encode(), timeout=20, check=True)
        assert done.returncode == 0


@pytest.mark.heavy
@pytest.mark.skipif(BASH is None, reason="there is no bash")
@pytest.mark.parametrize(
    ("typed", "completed"),
    [
        ("codexbridge appr", "codexbridge approve "),
        ("codexbridge workspace re", "codexbridge workspace remove "),
        ("codexbridge approve T-7K3F --ch", "codexbridge approve T-7K3F --check "),
        ("codexbridge workspace set shop --disclosure su", "--disclosure summary "),
        ("codexbridge gateway member add --l", "codexbridge gateway member add --lang "),
        ("codexbridge agent --config set", "codexbridge agent --config settings.toml "),
        ("codexbridge apply set", "codexbridge apply settings.toml "),
    ],
)
def test_bash_completes_what_is_typed(terminal: int, typed: str, completed: str) -> None:
    os.write(terminal, f"{typed}\t|".encode())
    reads(terminal, rf"{completed}\|")
