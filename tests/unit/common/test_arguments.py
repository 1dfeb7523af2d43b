"""`common.arguments`: help and usage errors in the person's language."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from common.arguments import new_parser, with_config
from common.sentences import Lang
from common.terminal import cells
from common.text import has_cjk


def test_a_usage_error_is_one_line_that_names_the_command(
    capsys: pytest.CaptureFixture[str],
) -> None:
    parser = new_parser("codexbridge", "en")
    parser.add_subparsers(dest="command", required=True).add_parser("ask").add_argument("text")
    with pytest.raises(SystemExit) as stop:
        parser.parse_args(["ask"])
    assert stop.value.code == 2
    said = capsys.readouterr().err
    assert said.count("\n") == 1
    assert said.startswith("codexbridge ask: ")


def test_several_arguments_are_missing(capsys: pytest.CaptureFixture[str]) -> None:
    parser = new_parser("codexbridge", "en")
    for name in ("--machine", "--member"):
        parser.add_argument(name, required=True)
    for words, told in (
        ([], "missing: --machine, --member"),
        (["--member=a"], "missing: --machine"),
    ):
        with pytest.raises(SystemExit):
            parser.parse_args(words)
        assert told in capsys.readouterr().err


def typed(*words: str, lang: Lang, capsys: pytest.CaptureFixture[str]) -> str:
    """Return the error that a command line leads to."""
    parser = new_parser("codexbridge", lang)
    commands = parser.add_subparsers(dest="command", required=True, metavar="COMMAND")
    ask = commands.add_parser("ask")
    ask.add_argument("text")
    either = ask.add_mutually_exclusive_group()
    either.add_argument("--port", type=int)
    either.add_argument("--lang", choices=("zh", "en"))
    ask.add_argument("--wait", type=float)
    ask.add_argument("--files", nargs="+")
    ask.add_argument("--json", action="store_true")
    one = commands.add_parser("one").add_mutually_exclusive_group(required=True)
    one.add_argument("--a")
    one.add_argument("--b")
    with pytest.raises(SystemExit):
        parser.parse_args(words)
    return capsys.readouterr().err


@pytest.mark.parametrize(
    ("words", "fact"),
    [
        ((), "COMMAND"),
        (("bogus",), "'bogus'"),
        (("ask",), "text"),
        (("ask", "x", "y"), "y"),
        (("ask", "x", "--lang", "fr"), "'fr'"),
        (("ask", "x", "--port"), "--port"),
        (("ask", "x", "--port", "many"), "'many'"),
        (("ask", "x", "--wait", "long"), "'long'"),
        (("ask", "x", "--port", "1", "--lang", "en"), "--port"),
        (("ask", "x", "--files"), "--files"),
        (("ask", "x", "--json=1"), "'1'"),
        (("one",), "--a --b"),
        (("ask", "x: y", "argument z: w"), "argument z: w"),
    ],
)
def test_whatever_is_wrong_is_told_in_the_persons_language(
    words: tuple[str, ...], fact: str, capsys: pytest.CaptureFixture[str]
) -> None:
    chinese = typed(*words, lang="zh", capsys=capsys)
    assert fact in chinese
    own = re.sub(r"argument z: w|`.*?`", "", chinese.partition(": 参数有误：")[2])
    assert has_cjk(own)
    assert not re.search(r"\b(argument|arguments|required|expected|choose|value)\b", own)
    english = typed(*words, lang="en", capsys=capsys)
    assert fact in english
    assert words in ((), ("bogus",)) or f"`codexbridge {words[0]} --help`" in english
    assert not has_cjk(english)
    assert not re.search("unrecognized|expected|invalid|required", english)


@pytest.mark.parametrize("lang", ["en", "zh"])
def test_a_fault_that_is_not_foreseen_is_told_in_our_words_too(
    lang: Lang, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit):
        new_parser("codexbridge", lang).error("ambiguous option: --x could match --xy")
    told = capsys.readouterr().err
    assert "ambiguous" not in told
    assert has_cjk(told) is (lang == "zh")


def test_no_option_may_be_abbreviated() -> None:
    parser = new_parser("codexbridge", "en")
    parser.add_argument("--replace", action="store_true")
    with pytest.raises(SystemExit):
        parser.parse_args(["--rep"])


def test_chinese_help_fits_the_terminal(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", "60")
    parser = new_parser("codexbridge", "zh")
    sub = parser.add_subparsers(dest="command").add_parser("x", description="说明文字" * 30)
    sub.add_argument("--name", help="很长的参数说明" * 20)
    with pytest.raises(SystemExit) as stop:
        parser.parse_args(["x", "--help"])
    assert stop.value.code == 0
    shown = capsys.readouterr().out
    assert shown.startswith("用法：")
    assert "\n选项：\n" in shown
    assert all(cells(line) <= 60 for line in shown.splitlines())


@pytest.mark.parametrize(
    ("hint", "wanted"),
    [
        (
            "Add one: codexbridge gateway member add USER",
            "Add one: codexbridge gateway --config 'my gw.toml' member add USER",
        ),
        ("`codexbridge agent`。", "`codexbridge agent --config 'my gw.toml'`。"),
        ("codexbridge models key x", "codexbridge models key --config 'my gw.toml' x"),
        ("codexbridge gateway --config F rotate", "codexbridge gateway --config F rotate"),
        (
            "codexbridge models test; codexbridge status",
            "codexbridge models test; codexbridge status",
        ),
        ("codexbridge agents", "codexbridge agents"),
    ],
)
def test_a_hint_names_the_settings_file_in_use(hint: str, wanted: str) -> None:
    assert with_config(hint, Path("my gw.toml")) == wanted
    assert with_config(hint, None) == hint
