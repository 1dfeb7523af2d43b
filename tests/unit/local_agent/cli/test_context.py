"""``codexbridge context``: the account of what a model was shown."""

from __future__ import annotations

import json
from typing import Any

import pytest

import codexbridge
from common.errors import StateError
from common.sentences import LANGS, Lang, Sentence
from local_agent.cli import context_words
from local_agent.propose.context.collected import Budget, Collected, LeftOut, Piece, used
from tests.unit.local_agent.cli.conftest import AgentDouble

PIECES = (
    Piece(kind="file", path="src/a.py", text="x = 1\ny = 2\n", first_line=40, cut=True),
    Piece(kind="selection", path="src/\u202eb.py", text="z\n"),
    Piece(kind="tree", text="src/a.py\n"),
)
WHYS = ("defines:parse_config", "selection", "tree")


def an_account(**changed: Any) -> dict[str, Any]:
    collected = Collected(
        pieces=PIECES,
        used=tuple(used(piece, why) for piece, why in zip(PIECES, WHYS, strict=True)),
        left_out=(LeftOut(".env", "secret", 12), LeftOut("c.py", "over-files", 0)),
        skipped={"denied": 2, "ignored": 3},
        truncated=True,
        budget=Budget(),
    )
    return collected.explained() | changed


HEADS = {True: context_words.SHOWN, False: context_words.COLLECTED}


def _beginning(sentence: Sentence, lang: Lang) -> str:
    """Return the words before the first fact of a sentence."""
    return (sentence.zh if lang == "zh" else sentence.en).partition("{")[0].rstrip()[:30]


def run(*words: str) -> int:
    return codexbridge.main(["context", *words])


def test_it_is_shown_as_a_table(agent: AgentDouble, capsys: pytest.CaptureFixture[str]) -> None:
    agent.answers["context"] = {"context": an_account(), "asked": True}
    assert run("t-7k3f") == 0
    assert agent.args_of("context") == {"task": "T-7K3F"}
    said = capsys.readouterr().out
    rows = [" ".join(line.split()) for line in said.splitlines()]
    assert "file src/a.py lines 40-41, the rest left out 12 B defines parse_config" in rows
    assert ".env 12 B may never be read" in rows
    assert "c.py there were files enough" in rows
    assert "Never looked at: 2 may never be read, 3 ignored by git." in rows
    assert "\u202e" not in said


@pytest.mark.parametrize("lang", LANGS)
def test_where_no_model_was_asked_nothing_is_said_to_have_been_shown(
    agent: AgentDouble,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
    lang: Lang,
) -> None:
    monkeypatch.setenv("LANG", "zh_CN.UTF-8" if lang == "zh" else "C.UTF-8")
    first = {}
    for asked in (True, False):
        agent.answers["context"] = {"context": an_account(), "asked": asked}
        assert run("T-7K3F") == 0
        first[asked] = " ".join(capsys.readouterr().out.splitlines()[:2])
    begins = {asked: _beginning(sentence, lang) for asked, sentence in HEADS.items()}
    assert all(first[asked].startswith(begins[asked]) for asked in (True, False))
    assert not first[False].startswith(begins[True])


def test_it_is_shown_in_chinese(
    agent: AgentDouble, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("LANG", "zh_CN.UTF-8")
    agent.answers["context"] = {"context": an_account(), "asked": True}
    assert run("T-7K3F") == 0
    said = capsys.readouterr().out
    assert "定义了 parse_config" in said
    assert "绝不读取" in said


def test_programs_are_told_all_of_it(
    agent: AgentDouble, capsys: pytest.CaptureFixture[str]
) -> None:
    account = an_account()
    agent.answers["context"] = {"context": account, "asked": True}
    assert run("T-7K3F", "--json") == 0
    assert json.loads(capsys.readouterr().out) == account


def test_nothing_and_what_a_later_version_says_are_told(
    agent: AgentDouble, capsys: pytest.CaptureFixture[str]
) -> None:
    odd = {"kind": "dream", "path": "a", "first_line": 0, "lines": 1, "bytes": 1, "why": "whim\x1b"}
    agent.answers["context"] = {
        "context": an_account(used=[odd], left_out=[], left_out_more=7),
        "asked": True,
    }
    assert run("T-7K3F") == 0
    said = capsys.readouterr().out
    assert "dream" in said
    assert "whim" in said
    assert "7 more" in said
    assert "\x1b" not in said
    quiet = an_account(used=[], left_out=[], not_listed={}, listing_truncated=False)
    agent.answers["context"] = {"context": quiet, "asked": True}
    assert run("T-7K3F") == 0
    assert "Nothing of the workspace." in capsys.readouterr().out


def test_a_task_without_one_is_an_error(
    agent: AgentDouble, capsys: pytest.CaptureFixture[str]
) -> None:
    agent.answers["context"] = StateError("context.none", task="T-7K3F")
    assert run("T-7K3F") == 1
    assert "T-7K3F" in capsys.readouterr().err


def test_every_reason_has_its_words() -> None:
    from typing import get_args

    from local_agent.propose.context.collected import Kind, Reason

    assert set(get_args(Reason)) <= set(context_words.REASONS)
    assert set(get_args(Kind)) == set(context_words.KINDS)
