"""Reading the text of a command: words where words are enough, a shell line otherwise."""

from __future__ import annotations

import pytest

from common.errors import InputError
from local_agent.actions.run_command.command_line import (
    MAX_BYTES,
    CommandLine,
    of_argv,
    read_command_line,
)
from tests.each import each


@pytest.mark.requirement("R42")
@pytest.mark.parametrize(
    ("text", "argv"),
    [
        ("pytest", ("pytest",)),
        ("  pytest  -q\ttests ", ("pytest", "-q", "tests")),
        ("pytest -k 'a and b'", ("pytest", "-k", "a and b")),
        ('pytest -k "a and b"', ("pytest", "-k", "a and b")),
        ("echo '$HOME `x` * | ; #'", ("echo", "$HOME `x` * | ; #")),
        ('echo "a|b;c>d*"', ("echo", "a|b;c>d*")),
        (r"echo \$HOME \* a\ b", ("echo", "$HOME", "*", "a b")),
        (r'echo "say \"hi\" \\ \n"', ("echo", 'say "hi" \\ \\n')),
        ("make CC=gcc all", ("make", "CC=gcc", "all")),
        ("pytest --opt=1 a#b c~d ]x", ("pytest", "--opt=1", "a#b", "c~d", "]x")),
        ("find . -name {}", ("find", ".", "-name", "{}")),
        ("echo ''", ("echo", "")),
        ("pytest 测试", ("pytest", "测试")),
    ],
)
def test_plain_words_need_no_shell(text: str, argv: tuple[str, ...]) -> None:
    assert read_command_line(text) == CommandLine(argv=argv)


@pytest.mark.requirement("R42")
@each(
    "text",
    [
        "a | b",
        "a && b",
        "a; b",
        "a &",
        "a > b",
        "a < b",
        "echo $HOME",
        'echo "$HOME"',
        'echo "`id`"',
        "echo `id`",
        "echo $(id)",
        'echo "\\$HOME"',
        "ls *.py",
        "ls file?.py",
        "ls [ab].py",
        "cat ~/x",
        "~/bin/x",
        "a #comment",
        "# comment",
        "a\nb",
        "a \\\nb",
        "A=1 b",
        "PATH+=x b",
        "cd src",
        "! true",
        "{ true",
        ". ./env",
        "export A=1",
        "if true",
        "'cd' src",
        "(true)",
        "''$HOME",
    ],
)
def test_what_only_a_shell_can_read_is_a_script(text: str) -> None:
    line = read_command_line(text)
    assert line.argv is None
    assert line.script == text.strip()


@pytest.mark.parametrize(
    ("text", "code"),
    [
        ("", "command.empty"),
        (" \t\n", "command.empty"),
        ("''", "command.empty"),
        ("'' x", "command.empty"),
        ("echo 'a", "command.quotes"),
        ('echo "a', "command.quotes"),
        ("echo a\\", "command.quotes"),
        ("echo \x00", "command.control-character"),
        ("echo a\rb", "command.control-character"),
        ("echo \x1b[2J", "command.control-character"),
        ("echo \x85", "command.control-character"),
        ("echo \ud800", "command.control-character"),
        ("x" * (MAX_BYTES + 1), "command.too-long"),
    ],
)
@pytest.mark.requirement("R7")
def test_what_cannot_be_read_is_refused_and_never_repaired(text: str, code: str) -> None:
    with pytest.raises(InputError) as caught:
        read_command_line(text)
    assert caught.value.code == code


def test_a_command_of_the_greatest_length_is_read() -> None:
    assert read_command_line("x" * MAX_BYTES).argv == ("x" * MAX_BYTES,)


def test_the_display_form_reads_back_as_the_same_words() -> None:
    line = read_command_line("pytest -k 'a and b' \"it's\"")
    assert read_command_line(line.display) == line
    assert read_command_line("a | b").display == "a | b"


@pytest.mark.requirement("R42")
def test_an_argv_list_stays_as_it_is_whatever_a_shell_would_read_in_it() -> None:
    argv = ["cd", "$HOME", "*", "a b", "'", "", "; rm -rf /", "two\nlines", "\\"]
    assert of_argv(argv) == CommandLine(argv=tuple(argv))


@pytest.mark.requirement("R7")
@each(
    "argv, code",
    [
        ([], "command.empty"),
        (["", "x"], "command.empty"),
        (["echo", "a\x1b[2J"], "command.control-character"),
        (["echo", "a\0b"], "command.control-character"),
        (["echo", "\udc80"], "command.control-character"),
        (["echo", "x" * MAX_BYTES], "command.too-long"),
    ],
)
def test_an_argv_list_that_cannot_be_shown_is_refused(argv: list[str], code: str) -> None:
    with pytest.raises(InputError) as caught:
        of_argv(argv)
    assert caught.value.code == code
