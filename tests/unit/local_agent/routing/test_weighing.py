"""What the words of a text speak for, and how it is read from the file."""

from __future__ import annotations

from common.model.intent import TaskKind
from local_agent.routing import rules, weighing
from local_agent.routing.deciding import read_traits

LAST = len(weighing.KINDS) - 1


def _traits(text: str) -> list[str]:
    return read_traits(rules.read(text))


def test_sums_are_of_what_was_learnt_with_their_signs() -> None:
    one = weighing.packed({0: 3, 1: -5, LAST: 1, LAST + 1: -7})
    weighed = weighing.weigh(["a", "b", "unknown"], {"a": one, "b": one})
    nothing = weighing.KINDS[2]
    ahead = [weighed.ahead(weighing.KINDS[place], nothing) for place in (0, 1, 3, LAST)]
    assert ahead == [6, -10, 0, 2]
    assert weighed.deed == -14


def test_what_occurs_twice_is_weighed_once() -> None:
    one = weighing.packed({0: 3})
    weighed = weighing.weigh(["a", "a"], {"a": one})
    assert weighed.ahead(weighing.KINDS[0], weighing.KINDS[1]) == 3


def test_the_most_that_is_harmless_is_told_beside_the_most() -> None:
    act = weighing.KINDS.index(TaskKind.CHANGE)
    weighed = weighing.weigh(["a"], {"a": weighing.packed({act: 9, 4: 5})})
    harmless = weighed.most(weighing.HARMLESS)
    assert (weighed.most(), harmless) == (TaskKind.CHANGE, weighing.KINDS[4])
    assert weighed.ahead(harmless, weighed.most()) == -4


def test_the_kinds_that_act_stand_last_and_those_that_run_behind_them() -> None:
    assert frozenset(weighing.KINDS[weighing.HARMLESS :]) == rules.ACTS
    runs = (TaskKind.RUN, TaskKind.GIT_SYNC)
    assert weighing.KINDS[weighing.RUNS_NOTHING :] == runs


def test_a_trait_of_classes_is_spelt_with_their_names() -> None:
    spelt = {weighing.spelt(trait) for trait in _traits("refactor it")}
    assert {"§change", "§^+change+it", "refactor", "*refa", "r:changes"} <= spelt


def test_chinese_is_weighed_by_characters_and_pairs_of_them() -> None:
    assert {"修", "修复", "复>", "<修"} <= set(_traits("修复"))


def test_a_long_text_has_no_more_traits_than_its_beginning() -> None:
    assert len(_traits("修复登录重试 " * 5_000)) < 3_000
    assert len(_traits("fix the login retry, " * 5_000)) < 3_000
