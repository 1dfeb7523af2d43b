"""The operators of a shell line are named, and where in doubt rather too many."""

from __future__ import annotations

import pytest

from local_agent.actions.run_command.card import _surroundings, operators
from local_agent.views.question import Fact
from tests.each import each
from tests.sealed import a_payload


@pytest.mark.requirement("R42")
@each(
    "script, named",
    [
        ("pytest -q", ()),
        ("", ()),
        ("make && make test || true", ("&&", "||")),
        ("a | b |& c", ("|", "|&")),
        ("a; b ;; c ;& d", (";", ";;", ";&")),
        ("sleep 9 &", ("&",)),
        ("a > b >> c >| d >& e &> f", (">", ">>", ">|", ">&", "&>")),
        ("a < b <> c <& d", ("<", "<>", "<&")),
        ("cat <<EOF", ("<<",)),
        ("cat <<-EOF", ("<<",)),
        ("cat <<< word", ("<<<",)),
        ("echo $(id)", ("$(…)",)),
        ("echo `id`", ("`…`",)),
        ("echo $((1 + 2))", ("$((…))",)),
        ("echo $HOME ${HOME}", ("$", "{…}")),
        ("diff <(a) >(b)", ("<(…)", ">(…)")),
        ("(cd x)", ("(…)",)),
        ("ls *.py a? [ab] {a,b} ~", ("*", "?", "[…]", "{…}", "~")),
        ("! true", ("!",)),
        ("a\nb", ("↵",)),
        ("a # b; c", ("#",)),
        ("a#b", ()),
        ("#!/bin/sh", ("#",)),
        ("a;# it's\nb | c", (";", "#", "↵", "|")),
        ("echo 'a; b | c > d'", ()),
        ('echo "a; b | c > d"', ()),
        ("echo a\\;b", ()),
        ('echo "$HOME; ${X}" x; y', ("$", ";")),
        ('echo "a\\"b;c" d', ()),
        ('echo "costs 5$" ; x', ("$", ";")),
    ],
)
def test_each_operator_is_named_once_in_its_order(script: str, named: tuple[str, ...]) -> None:
    assert operators(script) == named


@pytest.mark.requirement("R42")
@each(
    "script",
    [
        'echo "$(a; b)"',
        'echo "`a; b`"',
        "echo $(echo \"x\" 'y;z')",
        "cat <<EOF\nit's\nEOF\nrm x; y",
        "echo $'it\\'s'; rm x",
        "echo 'no end; rm x",
        'echo "no end; rm x',
        'echo "${x:-$(rm y; z)}"',
        "# it's\nrm x; y",
    ],
)
def test_quotes_hide_nothing_where_they_stop_telling_what_is_quoted(script: str) -> None:
    assert ";" in operators(script)


def test_a_long_hostile_line_takes_a_moment_only() -> None:
    for part in ('"$', "'", '"', "$(", "#", "\\", "<<", 'a"'):
        assert isinstance(operators(part * 10_000), tuple)


@pytest.mark.requirement("P7", "R41")
def test_what_the_sandbox_lacks_is_told_beside_it() -> None:
    for lacks, count in (((), 1), (("git",), 2)):
        shown = [one for one in _surroundings(a_payload(lacks=lacks), {}) if isinstance(one, Fact)]
        (sandbox,) = (one for one in shown if one.kind == "sandbox")
        assert [one.tone for one in sandbox.values] == ["good", "danger"][:count]
        assert ("workspace add" in str(sandbox)) is bool(lacks)
