"""Sentences are filled once, in the language asked for, and hide nothing."""

from __future__ import annotations

import pytest

from common.errors import ConfigError, InputError
from common.sentences import SHARED, Sentence, explain, language_of, same, say
from tests.each import each

HELLO = Sentence(en="Hello {name}, {count} tasks", zh="{name}，你有 {count} 个任务")


def test_facts_are_filled_in_both_languages() -> None:
    assert say(HELLO, "en", name="Ann", count=2) == "Hello Ann, 2 tasks"
    assert say(HELLO, "zh", name="Ann", count=2) == "Ann，你有 2 个任务"


def test_a_fact_is_never_read_as_a_template() -> None:
    assert say(HELLO, "en", name="{count} {0} {x!r}", count="%s") == (
        "Hello {count} {0} {x!r}, %s tasks"
    )


def test_a_fact_may_have_any_name() -> None:
    asked = Sentence(en="{lang} {sentence} {code}", zh="{lang} {sentence} {code}")
    assert say(asked, "en", lang="a", sentence="b", code="c") == "a b c"
    assert explain(InputError("x", lang="a", sentence="b"), {"x": asked}, "en") == "a b x"


def test_a_missing_fact_is_a_programming_error_and_one_too_many_is_none() -> None:
    with pytest.raises(KeyError):
        say(HELLO, "en", name="Ann")
    assert say(HELLO, "en", name="Ann", count=1, more=2).endswith("1 tasks")


@pytest.mark.parametrize(
    ("count", "said"), [(1, "1 file"), ("1", "1 file"), (0, "0 files"), (11, "11 files")]
)
def test_a_word_follows_its_number(count: object, said: str) -> None:
    counted = Sentence(en="{count} {count:file|files}", zh="{count} 个文件")
    assert say(counted, "en", count=count) == said
    assert counted.fields("en") == counted.fields("zh") == {"count"}


def test_what_is_the_same_in_every_language_can_be_said_in_any() -> None:
    assert same("x: {y}")("en") == same("x: {y}")("zh") == "x: {y}"


def test_several_are_listed_as_the_language_does() -> None:
    found = Sentence(en="Apps: {apps}", zh="应用：{apps}")
    assert say(found, "en", apps=("main", "shop")) == "Apps: main, shop"
    assert say(found, "zh", apps=["main", "shop"]) == "应用：main、shop"
    assert explain(InputError("x", apps=("a", "b")), {"x": found}, "zh") == "应用：a、b"


def test_fields_are_known_for_each_language() -> None:
    assert HELLO.fields("en") == HELLO.fields("zh") == {"name", "count"}


@each("sentence", SHARED.values())
def test_shared_sentences_use_the_same_facts_in_both_languages(sentence: Sentence) -> None:
    assert sentence.fields("en") == sentence.fields("zh")


def test_an_error_is_explained_by_its_code_then_by_its_family_then_truthfully_at_all() -> None:
    table = {
        "config.missing": Sentence(en="{name} is missing", zh="缺少 {name}"),
        "config": Sentence(en="settings: {code}", zh="配置：{code}"),
    }
    assert explain(ConfigError("config.missing", name="a.b"), table, "en") == "a.b is missing"
    assert explain(ConfigError("config.missing", name="a.b"), table, "zh") == "缺少 a.b"
    assert explain(ConfigError("config.other"), table, "en") == "settings: config.other"
    assert "x.y" in explain(ConfigError("x.y"), table, "en")
    assert "T-1" in explain(InputError("input.task-id", given="T-1"), {}, "zh")


def test_the_halfs_own_sentence_comes_before_the_shared_one() -> None:
    table = {"input.task-id": Sentence(en="own", zh="自己的")}
    assert explain(InputError("input.task-id", given="x"), table, "en") == "own"


def test_an_explanation_survives_a_missing_fact() -> None:
    assert "?" in explain(InputError("input.task-id"), {}, "en")


@pytest.mark.requirement("R26")
def test_an_explanation_is_one_line_and_hides_nothing() -> None:
    given = "a\nb\u202e" + "x" * 5000
    for lang in ("en", "zh"):
        text = explain(InputError("input.task-id", given=given), {}, lang)
        assert "\n" not in text
        assert "\u202e" not in text
        assert "⟨U+202E⟩" in text
        assert len(text.encode()) < 700


def test_the_answer_is_in_the_language_of_the_question() -> None:
    assert language_of("@dev 状态", "en") == "zh"
    assert language_of("@dev status", "en") == "en"
    assert language_of("@dev status", "zh") == "zh"


def test_a_code_with_several_reasons_has_a_sentence_for_each() -> None:
    table = {
        "diff.refused": Sentence(en="refused: {why}", zh="拒绝：{why}"),
        "diff.refused/binary": Sentence(en="no text", zh="非文本"),
    }
    assert explain(InputError("diff.refused", why="binary"), table, "en") == "no text"
    assert explain(InputError("diff.refused", why="new"), table, "en") == "refused: new"
    assert explain(InputError("diff.refused"), table, "zh") == "拒绝：?"


def test_a_list_of_names_is_told_as_people_write_one() -> None:
    table = {"x": Sentence(en="only {names}", zh="仅 {names}")}
    assert explain(InputError("x", names=("a.py", "b\u202e.py")), table, "en") == (
        "only a.py, b⟨U+202E⟩.py"
    )
    assert explain(InputError("x", names=()), table, "en") == "only —"
