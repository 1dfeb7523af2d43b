"""What was learnt: the file is whole, small, and its likelihoods are what they say."""

from __future__ import annotations

import math
from zlib import crc32

import pytest

from common.model.intent import TaskKind
from local_agent.understand.classifier import unpacked
from local_agent.understand.features import HEAD, features, tokens
from local_agent.understand.folding import blot, fold
from local_agent.understand.reader import MODEL, guess, learnt
from local_agent.understand.reading import MEANS, Kind
from tests.each import each


def test_the_file_holds_every_kind_and_is_small() -> None:
    assert learnt().kinds == tuple(Kind) == tuple(MEANS)
    # A playbook is asked for by its own phrases, which nothing is learnt of (`triggers`).
    assert {kind.value for kind in Kind} >= set(TaskKind) - {TaskKind.PLAYBOOK}
    assert MODEL.stat().st_size < 2_500_000
    assert list(learnt().keys) == sorted(set(learnt().keys))


@each("cut", [1, 1000, 100_000])
def test_a_file_that_is_cut_off_is_not_read(cut: int) -> None:
    content = memoryview(MODEL.read_bytes())
    with pytest.raises(ValueError, match="cut off"):
        unpacked(content[:-cut])


@each("text", ["fix the login", "修复登录", "", "🦔", "x" * 5000])
def test_likelihoods_add_up_to_one(text: str) -> None:
    shares = learnt().likelihoods(features(blot(fold(text))))
    assert math.isclose(sum(shares), 1)
    assert all(0 <= share <= 1 for share in shares)


def test_the_numbers_of_runs_do_not_depend_on_the_process() -> None:
    assert crc32(b"^ fix it") in features("fix it")


def test_names_numbers_and_files_are_each_one_word() -> None:
    found = tokens(
        blot(fold("fix load_user() in src/app.py:12, see https://a.b/c and T-7K3F “now” 42"))
    )
    assert {"/name", "/f.py", "/url", "/id", "/q", "0"} <= set(found)


def test_a_long_text_is_read_at_its_ends() -> None:
    middle = "zebra " * 4000
    assert "zebra" not in tokens("a " * HEAD + middle + "b " * 400)[:HEAD]
    assert guess(f"please fix the retry\n{middle}").likeliest
