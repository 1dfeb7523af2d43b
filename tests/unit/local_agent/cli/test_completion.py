"""``codexbridge completion``: each shell is offered what the parsers declare, and nothing else."""

from __future__ import annotations

import os
import pty
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

import codexbridge
from common.sentences import LANGS, Lang
from local_agent.cli.completion import places
from tests.each import each
from tests.programs import program
from tests.unit.local_agent.cli.terminal import reads

SHELLS = ("bash", "zsh", "fish")
PLACES = {place.path: place for place in places("en")}


def script(shell: str, capsys: pytest.CaptureFixture[str]) -> str:
    assert codexbridge.main(["completion", shell]) == 0
    return capsys.readouterr().out


@contextmanager
def at_a_prompt(shell: str, folder: Path, *arguments: str) -> Iterator[int]:
    """Open the screen of a shell without anybody's settings, in this folder."""
    pid, screen = pty.fork()
    if pid == 0:
        os.chdir(folder)
        environ = {"PATH": "/usr/bin:/bin", "TERM": "dumb", "PS1": "> ", "LC_ALL": "C.UTF-8"}
        os.execve(program(shell), [shell, *arguments, "-i"], environ)  # noqa: S606 - no shell
    try:
        yield screen
    finally:
        os.close(screen)
        os.waitpid(pid, 0)


@pytest.fixture
def folder(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> Path:
    """A folder with the scripts for all shells, and one settings file."""
    (tmp_path / "settings.toml").touch()
    for shell in SHELLS:
        (tmp_path / f"completion.{shell}").write_text(script(shell, capsys), encoding="utf-8")
    return tmp_path


def test_every_command_and_every_option_has_its_place() -> None:
    assert {f"/{name}" for name in codexbridge.COMMANDS} <= PLACES.keys()
    assert tuple(PLACES[""].words) == tuple(codexbridge.COMMANDS)
    assert {*PLACES["/workspace"].words} == {"add", "list", "remove", "set"}
    assert {option.name for option in PLACES["/approve"].options} == {"--help", "--only", "--check"}
    assert {*PLACES["/completion"].words} == {*SHELLS}
    assert "--dry-run" in {option.name for option in PLACES["/service/install"].options}
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
    assert first.words["approve"] == getattr(codexbridge.COMMANDS["approve"], lang)


# What is typed, and the word that it is completed to.
TYPED = {
    "codexbridge appr": "approve",
    "codexbridge op": "open",
    "codexbridge open --pr": "--print",
    "codexbridge passkey re": "remove",
    "codexbridge workspace re": "remove",
    "codexbridge approve T-7K3F --ch": "--check",
    "codexbridge workspace set shop --disclosure su": "summary",
    "codexbridge gateway dev": "devices",
    "codexbridge gateway member ad": "add",
    "codexbridge gateway member add --l": "--lang",
    "codexbridge gateway member add zhangwei --lang z": "zh",
    "codexbridge gateway audit ver": "verify",
    "codexbridge agent --config set": "settings.toml",
    "codexbridge apply set": "settings.toml",
}


def _completed(typed: str) -> str:
    return f"{typed.rpartition(' ')[0]} {TYPED[typed]} "


@pytest.mark.heavy
@pytest.mark.needs("bash")
def test_bash_completes_what_is_typed(folder: Path) -> None:
    with at_a_prompt("bash", folder, "--norc", "--noprofile") as screen:
        os.write(screen, b"source ./completion.bash; echo re''ady\n")
        reads(screen, "ready\r\n")
        for typed in TYPED:
            os.write(screen, f"{typed}\t|".encode())
            reads(screen, rf"{_completed(typed)}\|")
            os.write(screen, b"\x15")  # the line is emptied


@pytest.mark.heavy
@pytest.mark.needs("zsh")
def test_zsh_completes_what_is_typed(folder: Path) -> None:
    with at_a_prompt("zsh", folder, "-f") as screen:
        os.write(screen, b"autoload -Uz compinit; compinit -u -D; bindkey -e\n")
        os.write(screen, b"source ./completion.zsh; echo re''ady\n")
        reads(screen, "ready\r\n")
        for typed in TYPED:
            # It draws lines in pieces: what it made of this one is printed.
            os.write(screen, f"{typed}\tend\x01print -r -- \n".encode())
            reads(screen, rf"\n{_completed(typed)}end\r\n")


@pytest.mark.heavy
@pytest.mark.needs("fish")
def test_fish_completes_what_is_typed(folder: Path) -> None:
    asked = "; ".join(f"complete -C '{typed}'; echo" for typed in TYPED)
    told = subprocess.run(
        [program("fish"), "--no-config", "-c", f"source completion.fish; {asked}"],
        cwd=folder,
        env={"PATH": "/usr/bin:/bin", "HOME": str(folder), "LC_ALL": "C.UTF-8"},
        capture_output=True,
        encoding="utf-8",
        timeout=30,
        check=True,
    )
    assert told.stderr == ""
    offered = [lines.split("\n") for lines in told.stdout.removesuffix("\n\n").split("\n\n")]
    words = [[line.partition("\t")[0] for line in lines] for lines in offered]
    assert words == [[word] for word in TYPED.values()]
