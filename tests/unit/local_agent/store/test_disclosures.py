"""Reads for the chat are counted by the day, across restarts, and each has its audit entry."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from common.audit import MAX_ENTRY_BYTES
from common.clock import ManualClock
from common.seal import ReadFile
from common.strict_json import loads
from local_agent.store.disclosures import FOR_ALL, MAX_LISTED, Disclosures, Reader, Reading
from local_agent.store.journal import Journal
from tests.sealed import ZEROS, a_journal

READER = Reader(
    workspace="/srv/shop",
    channel="wecom_app",
    claimed_user="zhang",
    day="2026-05-04",
    reads=3,
    bytes=1000,
)


def reading(task_id: str, size: int = 100, *files: ReadFile) -> Reading:
    return Reading(task_id=task_id, level="summary", files=files, answer_sha256=ZEROS, bytes=size)


@pytest.fixture
def journal(tmp_path: Path) -> Iterator[Journal]:
    with closing(a_journal(tmp_path, ManualClock())) as opened:
        yield opened


@pytest.fixture
def book(journal: Journal) -> Disclosures:
    return journal.disclosures


def entries(journal: Journal) -> list[tuple[str, dict[str, Any]]]:
    found = [loads(body, max_bytes=MAX_ENTRY_BYTES) for _, _, body, _ in journal.audit.entries()]
    return [(one["event"], one["facts"]) for one in found if "disclosure." in one["event"]]


@pytest.mark.requirement("R53")
def test_reads_and_bytes_are_counted_each_for_itself(book: Disclosures) -> None:
    assert [book.answer(READER, reading(f"task-{n}")) for n in range(4)] == [
        None,
        None,
        None,
        "reads",
    ]
    other = replace(READER, claimed_user="li")
    assert book.answer(other, reading("task-5", 1000)) is None
    assert book.answer(other, reading("task-6", 1)) == "bytes"


@pytest.mark.parametrize(
    "other",
    [
        replace(READER, claimed_user="li"),
        replace(READER, channel="wecom_bot"),
        replace(READER, workspace="/srv/web"),
        replace(READER, day="2026-05-05"),
    ],
)
def test_another_member_channel_workspace_or_day_has_its_own_budget(
    book: Disclosures, other: Reader
) -> None:
    for number in range(3):
        book.answer(READER, reading(f"task-{number}", 300))
    assert book.exhausted(READER, task_id="task-9") == "reads"
    assert book.exhausted(other, task_id="task-9", size=1000) is None


@pytest.mark.requirement("R53")
def test_a_gateway_that_invents_members_meets_the_bound_of_all(book: Disclosures) -> None:
    def asked(number: int, size: int) -> str | None:
        somebody = replace(READER, claimed_user=f"nobody-{number}")
        return book.answer(somebody, reading(f"task-{number}", size))

    assert [asked(number, 100) for number in range(FOR_ALL * 3)] == [None] * FOR_ALL * 3
    assert asked(99, 100) == "reads-of-all"


def test_the_bytes_of_all_are_bounded_as_well(book: Disclosures) -> None:
    for number in range(FOR_ALL):
        somebody = replace(READER, claimed_user=f"nobody-{number}")
        assert book.answer(somebody, reading(f"task-{number}", 1000)) is None
    one_more = replace(READER, claimed_user="nobody-99")
    assert book.answer(one_more, reading("task-99", 1)) == "bytes-of-all"


@pytest.mark.requirement("P3")
def test_the_count_outlives_a_restart(tmp_path: Path) -> None:
    with closing(a_journal(tmp_path, ManualClock())) as before:
        for number in range(3):
            before.disclosures.answer(READER, reading(f"task-{number}"))
    with closing(a_journal(tmp_path, ManualClock())) as after:
        assert after.disclosures.exhausted(READER, task_id="task-9") == "reads"


@pytest.mark.requirement("P3")
def test_a_task_that_is_done_again_after_a_crash_is_counted_once(book: Disclosures) -> None:
    for _ in range(5):
        assert book.begin(READER, reading("task-1", 0)) is None
        assert book.answer(READER, reading("task-1", 900)) is None
    assert book.answer(READER, reading("task-2", 100)) is None
    assert book.answer(READER, reading("task-3", 1)) == "bytes"


def test_a_read_that_failed_before_its_answer_counts(book: Disclosures) -> None:
    for number in range(3):
        assert book.begin(READER, reading(f"task-{number}", 0)) is None
    assert book.begin(READER, reading("task-9", 0)) == "reads"


def test_a_request_that_a_model_sorts_counts_as_one_with_its_read(book: Disclosures) -> None:
    for number in range(3):
        assert book.charge(READER, f"task-{number}") is None
        assert book.begin(READER, reading(f"task-{number}", 0)) is None
    assert book.charge(READER, "task-9") == "reads"


def test_an_answer_that_is_too_much_counts_as_a_read_without_bytes(
    journal: Journal, book: Disclosures
) -> None:
    assert book.answer(READER, reading("task-1", 1001)) == "bytes"
    assert book.answer(READER, reading("task-2", 1000)) is None
    assert book.exhausted(replace(READER, reads=2), task_id="task-9") == "reads"
    facts = entries(journal)[0][1]
    assert (facts["bytes"], facts["answer_sha256"]) == (0, None)


def test_what_is_not_read_is_neither_counted_nor_audited(
    journal: Journal, book: Disclosures
) -> None:
    nobody = replace(READER, reads=0)
    assert book.begin(nobody, reading("task-1", 0)) == "reads"
    assert entries(journal) == []
    assert book.exhausted(replace(READER, reads=1), task_id="task-9") is None


@pytest.mark.requirement("R53")
@pytest.mark.requirement("P6")
def test_each_read_and_each_answer_is_audited_with_its_files(
    journal: Journal, book: Disclosures
) -> None:
    files = (ReadFile("src/login.py", "a" * 64), ReadFile("src/说明.md"))
    book.begin(READER, reading("task-1", 0, *files))
    book.answer(READER, reading("task-1", 42, *files))
    (began, first), (answered, second) = entries(journal)
    assert (began, answered) == ("disclosure.read", "disclosure.answered")
    assert first["file_000"] == second["file_000"] == f"{'a' * 64} src/login.py"
    assert second == {
        "task_id": "task-1",
        "level": "summary",
        "answer_sha256": ZEROS,
        "bytes": 42,
        "file_000": f"{'a' * 64} src/login.py",
        "file_001": "- src/说明.md",
        "files": 2,
        "more": 0,
    }


@pytest.mark.parametrize("name", ["f", "目录/" * 300, "\u202e" * 2000])
def test_a_long_list_of_files_fits_its_entry_and_tells_how_many_more(
    journal: Journal, book: Disclosures, name: str
) -> None:
    files = tuple(ReadFile(f"{number}/{name}", "b" * 64) for number in range(500))
    assert book.answer(READER, reading("task-1", 1, *files)) is None
    [(_, facts)] = entries(journal)
    listed = sum(fact.startswith("file_") for fact in facts)
    assert 0 < listed <= MAX_LISTED
    assert (facts["files"], facts["more"]) == (500, 500 - listed)


def test_earlier_days_are_forgotten(journal: Journal, book: Disclosures) -> None:
    book.answer(READER, reading("task-1"))
    book.answer(replace(READER, day="2026-05-05"), reading("task-2"))
    rows = journal.approvals._db.all("SELECT task_id FROM disclosures")
    assert rows == [("task-2",)]
