"""`common.arguments`: help and usage errors in the person's language."""

from __future__ import annotations

import pytest

from common.arguments import new_parser
from common.terminal import cells


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
    assert all(cells(line) <= 60 for line in shown.splitlines())
