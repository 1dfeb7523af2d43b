"""Messages that ask for a playbook by one of its phrases, and many that only hold one."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any, Final

import pytest

from common.model.intent import TaskKind
from common.verbs import Topic
from local_agent.understand.reader import Reader
from local_agent.understand.reading import Reading
from local_agent.understand.triggers import Triggers, find_named
from tests.each import each

ASKED: Final = Path(__file__).parents[3] / "understanding_set" / "triggers" / "asked.jsonl"
PHRASES: Final = {
    "weekly-report": ("weekly report", "周报"),
    "release-notes": ("Release Notes", "发布说明"),
    "fix-failing-test": ("fix the failing test", "修复失败的测试"),
    "dependency-audit": ("dependency audit", "check dependencies", "依赖审计", "检查依赖"),
    "repo-health": ("repo health", "仓库体检"),
    "review-branch": ("review this branch", "评审这个分支"),
    "tidy": ("tidy up", "整理一下"),
}
PLAYBOOKS: Final = Triggers(PHRASES)


def read(text: str, *, free_text: bool = True) -> Reading:
    return Reader(free_text=free_text).read(text, PLAYBOOKS)


def taken(text: str) -> str | None:
    found = read(text)
    is_one = found.intent.kind is TaskKind.PLAYBOOK and found.rule == "trigger"
    return found.subject.partition(" ")[0] if is_one else None


def messages() -> list[dict[str, Any]]:
    return [json.loads(line) for line in ASKED.read_text(encoding="utf-8").splitlines()]


def test_what_asks_for_a_playbook_is_mostly_taken_and_hardly_anything_else() -> None:
    found = messages()
    asks = [one for one in found if one["playbook"]]
    wrong = [
        one["text"] for one in found if (name := taken(one["text"])) and name != one["playbook"]
    ]
    missed = [one["text"] for one in asks if taken(one["text"]) is None]
    assert (len(found) >= 450, len(asks) >= 200) == (True, True)
    assert wrong == []
    assert len(missed) / len(asks) <= 0.12, missed


@each(
    "text",
    [
        "“周报”",
        "`weekly report`",
        "```\nweekly report\n```",
        "bi-weekly report",
        "src/weekly report",
        "weekly report.md",
        "weekly reports",
        "双周报",
        "老板：写周报",
        "张三：写周报",
        "转发：写周报",
        "引用：\n写周报",
        "休想写周报",
        "停止生成周报",
        "我来写周报",
        "他写周报",
        "明天再写周报",
        "once tests pass, write the weekly report",
        "if asked, write the weekly report",
        "// write the weekly report",
    ],
)
def test_a_phrase_that_is_quoted_or_part_of_another_name_asks_for_nothing(text: str) -> None:
    assert taken(text) is None


@each(
    "text",
    [
        "WEEKLY report",
        "weekly  report",
        "weekly-report",
        "ｗｅｅｋｌｙ　ｒｅｐｏｒｔ",
        "週報",
        "@dev 周报",
    ],
)
def test_width_case_and_what_parts_words_do_not_count(text: str) -> None:
    assert taken(text) == "weekly-report"


def test_two_playbooks_are_not_guessed_between() -> None:
    same = Triggers({"a": ["周报"], "b": ["周报"]})
    assert Reader().read("写周报", same).intent.kind is not TaskKind.PLAYBOOK
    assert taken("写周报，再做个依赖审计") is None


def test_the_longest_phrase_is_the_one_that_is_meant() -> None:
    both = Triggers({"notes": ["release notes"], "check": ["release notes check"]})
    assert Reader().read("run the release notes check", both).subject.startswith("check ")


@pytest.mark.requirement("P1")
@each("text", ["approve the weekly report", "npm run weekly-report", "undo the weekly report"])
def test_what_else_is_asked_for_wins(text: str) -> None:
    assert read(text).topic is not Topic.PLAYBOOK


def test_a_typed_verb_wins_over_a_phrase() -> None:
    assert read("review this branch").intent.kind is TaskKind.REVIEW
    assert read("search weekly report").intent.kind is TaskKind.SEARCH


def test_where_plain_words_are_switched_off_a_phrase_is_one() -> None:
    assert read("weekly report", free_text=False).topic is Topic.FREE_TEXT_OFF
    assert read("playbook weekly-report", free_text=False).subject == "weekly-report"


def test_the_message_is_handed_on_whole() -> None:
    found = read("write the weekly report for ops")
    assert found.subject == "weekly-report write the weekly report for ops"
    assert found.topic is Topic.PLAYBOOK


@each("text", ["playbook", "剧本", "playbook list", "剧本 有哪些", "playbook all"])
def test_without_a_name_they_are_listed(text: str) -> None:
    found = read(text)
    assert (found.intent.kind, found.topic, found.subject) == (
        TaskKind.PLAYBOOK,
        Topic.PLAYBOOK,
        "",
    )


@each(
    "text, subject",
    [
        ("playbook weekly-report", "weekly-report"),
        ("playbook run weekly-report for ops", "weekly-report for ops"),
        ("playbook: Weekly-Report", "weekly-report"),
        ("剧本 weekly-report，写短点", "weekly-report 写短点"),
        ("剧本 执行 ｗeekly-report", "weekly-report"),
        ("playbook weekly-reprot now", "weekly-reprot now"),
        ("playbook nothing", "nothing"),
        ("剧本 周报", "weekly-report"),
        ("剧本 “周报”", "weekly-report"),
        ("剧本 周报，写短点", "weekly-report 写短点"),
        ("剧本 执行 发布说明", "release-notes"),
        ("playbook Release Notes v1.3", "release-notes v1.3"),
        ("playbook run fix the failing test", "fix-failing-test"),
    ],
)
def test_a_playbook_is_named(text: str, subject: str) -> None:
    found = read(text)
    assert (found.intent.kind, found.subject) == (TaskKind.PLAYBOOK, subject)


@each(
    "text",
    [
        "playbook is broken",
        "playbook fails with exit 1",
        "剧本 怎么写",
        "剧本 周报 怎么写",
        "剧本 周报模板",
    ],
)
def test_who_speaks_of_playbooks_runs_none(text: str) -> None:
    assert read(text).topic is not Topic.PLAYBOOK


def test_a_playbook_may_be_called_like_a_word_of_the_command() -> None:
    assert find_named("run fast", Triggers({"run": ()})) == ("run", "fast")
    assert find_named("list", Triggers({"list": ()})) == ("list", "")


@each("piece", ["想要", "再", "weekly report ", "周报", "please ", "能", "for a "])
def test_a_long_message_is_read_at_once(piece: str) -> None:
    assert read(piece * (1999 // len(piece))) is not None
