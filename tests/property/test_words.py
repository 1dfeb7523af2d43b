"""No text whatever makes the grammar or the router raise, or become more than it may."""

from __future__ import annotations

from hypothesis import given, settings
from hypothesis import strategies as st

from common import dsl
from common.model.intent import TaskKind
from common.verbs import COMMANDS
from local_agent.understand import commands, params
from local_agent.understand.reader import Reader

WORDS = [word for spec in COMMANDS for word in (spec.name, *spec.aliases)]
MARKS = ["@dev", "＠dev", " ", "\u3000", "--cmd=", "——cmd＝", '"', "“", "”", "'", "\\", "\n", "`"]
OTHERS = ["T-7K3F", "run", "不要", "find", "为什么", "fix", "don't", "a.py", "../"]
OTHERS += [" and ", "并", "然后", "，", "delete", "删掉", "tests", "tests/unit", "把", "的"]
PIECES = st.sampled_from([*MARKS, *OTHERS, *WORDS])
TEXTS = st.one_of(st.text(max_size=200), st.lists(PIECES, max_size=30).map("".join))


@settings(max_examples=300, deadline=None)
@given(TEXTS)
def test_the_grammar_reads_any_text(text: str) -> None:
    for said in (dsl.parse(text), dsl.parse("@dev " + text)):
        if isinstance(said, dsl.Command):
            assert said.name in {spec.name for spec in COMMANDS}
            assert set(said.options) <= {"cmd"}
            for value in said.options.values():
                assert value
                assert value in text or "\\" in text


@settings(max_examples=200, deadline=None)
@given(TEXTS)
def test_the_router_reads_any_text_and_is_steady(text: str) -> None:
    reading = Reader().read(text)
    assert Reader().read(text) == reading
    assert 0 <= reading.intent.confidence <= 1
    if reading.unsure:
        assert reading.intent.kind in (TaskKind.EXPLAIN, TaskKind.CHANGE)
    if reading.intent.params.cmd:
        assert reading.intent.kind is TaskKind.RUN
    assert reading.left in text
    assert reading.beyond in text
    assert bool(reading.left) <= bool(reading.taken)


@settings(max_examples=100, deadline=None)
@given(TEXTS)
def test_what_is_found_in_a_text_stood_in_it(text: str) -> None:
    for found in (*params.find_files(text), *params.find_identifiers(text)):
        assert found in text
        assert ".." not in found.split("/") or found not in params.find_files(text)
    named = commands.find_named(text)
    for piece in (
        params.find_quoted(text),
        params.find_query(text),
        named.command if named else None,
    ):
        assert piece is None or piece in text


@settings(max_examples=20, deadline=None)
@given(
    st.sampled_from(
        [
            "请",
            "don't ",
            "不要",
            " ",
            "a.",
            "a/",
            "find ",
            "“",
            "(",
            "--",
            "的",
            "，",
            "and ",
            "把",
            "请，",
        ]
    )
)
def test_long_runs_of_one_piece_take_no_time(piece: str) -> None:
    text = piece * (30_000 // len(piece))
    # The test's own time limit is the judge of the time.
    assert 0 <= Reader().read(text).intent.confidence <= 1
