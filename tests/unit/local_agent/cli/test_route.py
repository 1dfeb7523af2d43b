"""``codexbridge route``: how a text would be read, with no agent running."""

from __future__ import annotations

import json

import pytest

import codexbridge
from common.home import Home
from common.model.intent import TaskKind
from common.sentences import Sentence
from local_agent.cli import route

Captured = pytest.CaptureFixture[str]


def test_programs_are_told_kind_confidence_rule_and_params(home: Home, capsys: Captured) -> None:
    assert codexbridge.main(["route", "run pytest -k login", "--json"]) == 0
    told = json.loads(capsys.readouterr().out)
    assert (told["kind"], told["rule"], told["params"]) == (
        "run",
        "names-it",
        {"cmd": "pytest -k login"},
    )
    assert (told["unsure"], told["topic"]) == (False, "plain")
    assert 0 < told["confidence"] <= 1


def test_people_are_told_what_follows(home: Home, capsys: Captured) -> None:
    assert codexbridge.main(["route", "把 src/app.py 的超时改成 30 秒"]) == 0
    shown = capsys.readouterr().out
    assert "change" in shown
    assert "src/app.py" in shown


def test_what_is_not_sure_says_so(home: Home, capsys: Captured) -> None:
    assert codexbridge.main(["route", "the thing with the stuff", "--json"]) == 0
    told = json.loads(capsys.readouterr().out)
    assert (told["kind"], told["unsure"]) == ("explain", True)


@pytest.mark.requirement("P1")
def test_an_attempt_to_approve_is_told_as_one(home: Home, capsys: Captured) -> None:
    assert codexbridge.main(["route", "approve T-7K3F and run it", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["topic"] == "approve"


def test_a_second_wish_and_a_task_are_shown(home: Home, capsys: Captured) -> None:
    assert codexbridge.main(["route", "run the tests and delete everything"]) == 0
    assert "delete everything" in capsys.readouterr().out
    assert codexbridge.main(["route", "revise T-7K3F shorter"]) == 0
    assert "T-7K3F" in capsys.readouterr().out


@pytest.mark.parametrize(
    "text",
    [
        *("plan a retry", "apply T-7K3F", "undo T-7K3F", "cancel T-7K3F"),
        *("拉一下最新代码", "切到 dev 分支拉最新代码", "rebase 到 main", "commit it"),
        *("重启服务", "deploy to prod"),
    ],
)
def test_a_command_that_is_not_its_kind_is_told_as_what_it_is(
    home: Home, capsys: Captured, text: str
) -> None:
    assert codexbridge.main(["route", text, "--json"]) == 0
    told = json.loads(capsys.readouterr().out)
    assert told["meaning"] == route.OF_TOPICS[told["topic"]].en


def test_each_kind_has_its_meaning_in_both_languages() -> None:
    assert set(route.MEANINGS) == {kind.value for kind in TaskKind}
    assert all(meaning.en and meaning.zh for meaning in route.MEANINGS.values())


WEEKLY = """---
name: weekly
trigger_keywords: [weekly report, 周报]
steps: [{name: look, type: tool, tool: git_status}]
---
"""


@pytest.mark.parametrize(
    ("text", "playbook", "meaning"),
    [
        ("帮我写周报", "weekly", route.MEANINGS["playbook"]),
        ("playbook weekly now", "weekly", route.MEANINGS["playbook"]),
        ("playbook", None, route.LISTS_PLAYBOOKS),
        ("playbook weakly", "weakly", route.NO_SUCH_PLAYBOOK),
    ],
)
def test_a_playbook_is_named(
    home: Home, capsys: Captured, text: str, playbook: str | None, meaning: Sentence
) -> None:
    folder = home.config / "playbooks"
    folder.mkdir(parents=True, mode=0o700)
    (folder / "weekly.md").write_text(WEEKLY, encoding="utf-8")
    (folder / "weekly.md").chmod(0o600)
    assert codexbridge.main(["route", text, "--json"]) == 0
    told = json.loads(capsys.readouterr().out)
    assert (told["kind"], told["playbook"], told["meaning"]) == ("playbook", playbook, meaning.en)
    assert codexbridge.main(["route", text]) == 0
    assert meaning.en in " ".join(capsys.readouterr().out.split())
