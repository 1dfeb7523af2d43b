"""The list of tasks, page by page and searched."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from contextlib import closing
from dataclasses import replace
from pathlib import Path

import pytest

from common.clock import ManualClock
from common.errors import StateError
from common.model.state import Reason, TaskState
from local_agent.store import tasks as module
from local_agent.store.journal import Journal
from local_agent.store.tasks import Tasks
from tests.each import each
from tests.filled_journal import fill
from tests.sealed import Wish, a_journal, ending

pytestmark = pytest.mark.heavy

AT = 1_760_000_000_000
ASKED = (
    Wish("task-1", "T-7K3F", text="@dev fix the Retry in auth/login.py", workspace="shop"),
    Wish(
        "task-2", "T-0A1B", text="@dev 把超时改成 30 秒", workspace="支付网关", claimed_user="李娜"
    ),
    Wish("task-3", "T-TEST", text="@dev 100% of a_b\\c", workspace="Straße"),
    Wish("task-4", "T-2222", text="@dev ＲＵＮ the tests", claimed_user="Priya"),
)


@pytest.fixture
def journal(tmp_path: Path) -> Iterator[Journal]:
    with closing(a_journal(tmp_path, ManualClock())) as opened:
        yield opened


@pytest.fixture(scope="module")
def asked(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Tasks]:
    with closing(a_journal(tmp_path_factory.mktemp("asked"), ManualClock())) as opened:
        for number, wish in enumerate(ASKED):
            opened.tasks.create(wish, AT + number)
        yield opened.tasks


def pages(tasks: Tasks, limit: int, *, find: str = "") -> Sequence[Sequence[str]]:
    """Read the list to its end."""
    found: list[list[str]] = []
    before: str | None = None
    while page := tasks.page(before=before, limit=limit, find=find):
        found.append([task.task_id for task in page])
        before = found[-1][-1]
    return found


def test_each_task_stands_on_one_page_newest_first(journal: Journal) -> None:
    for number in range(7):  # some of them asked in the same millisecond
        journal.tasks.create(Wish(f"task-{number}", f"T-7K3{number}"), AT + number // 3)
    assert pages(journal.tasks, 3) == [
        ["task-6", "task-5", "task-4"],
        ["task-3", "task-2", "task-1"],
        ["task-0"],
    ]


def test_a_new_task_moves_no_later_page(journal: Journal) -> None:
    for number in range(4):
        journal.tasks.create(Wish(f"task-{number}", f"T-7K3{number}"), AT + number)
    journal.tasks.create(Wish("task-9", "T-7K39"), AT + 9)
    page = journal.tasks.page(before="task-2", limit=9)
    assert [task.task_id for task in page] == ["task-1", "task-0"]


def test_the_list_cannot_go_on_after_a_task_that_is_forgotten(asked: Tasks) -> None:
    with pytest.raises(StateError) as caught:
        asked.page(before="task-0", limit=9)
    assert caught.value.code == "task.unknown"


def test_steps_of_runs_are_listed_with_their_run_alone(journal: Journal) -> None:
    journal.tasks.create(Wish("task-1", "T-7K31", run="run-1"), AT)
    journal.tasks.create(Wish("task-2", "T-7K32", run="run-1", step="main:0"), AT + 1)
    assert pages(journal.tasks, 9) == pages(journal.tasks, 9, find="test") == [["task-1"]]
    assert len(journal.tasks.of_run("run-1")) == 2
    open_ones = journal.tasks.page(before=None, limit=9, open_only=True)
    assert [task.task_id for task in open_ones] == ["task-1"]


def test_those_that_have_ended_are_left_out_where_the_open_ones_are_wanted(
    journal: Journal,
) -> None:
    for number in range(4):
        journal.tasks.create(Wish(f"task-{number}", f"T-7K3{number}"), AT + number)
    over = ending(Reason.FAILED, TaskState.RECEIVED, TaskState.FAILED)
    journal.tasks.change(replace(over, task_id="task-2"))
    for find in ("", "test"):
        page = journal.tasks.page(before=None, limit=2, find=find, open_only=True)
        assert [task.task_id for task in page] == ["task-3", "task-1"]


@each(
    "find, found",
    [
        ("T-7K3F", "1"),
        ("t7k3f", "1"),
        ("#t 7k3f。", "1"),
        ("Ｔ－７Ｋ３Ｆ", "1"),
        ("t—OAIB", "2"),
        ("7k", "1"),
        ("test", "43"),  # a word of one, and the name of another
        ("retry", "1"),
        ("RETRY fix", "1"),
        ("retry 超时", ""),
        ("超时", "2"),
        ("支付网关", "2"),
        ("李娜 超时", "2"),
        ("priya", "4"),
        ("STRASSE", "3"),
        ("run", "4"),
        ("ｒｕｎ ＴＥＳＴＳ", "4"),
        ("%", "3"),
        ("100%", "3"),
        ("_", "3"),
        ("a_b", "3"),
        ("a\\c", ""),
        ("b\\c", "3"),
        ("t%y", ""),
        ("*", ""),
        ("'", ""),
        ("  ", "4321"),
    ],
)
def test_a_task_is_found_by_its_name_and_by_words_as_they_stand(
    asked: Tasks, find: str, found: str
) -> None:
    page = asked.page(before=None, limit=9, find=find)
    assert [task.task_id[-1] for task in page] == list(found)


def test_what_is_found_comes_in_pages_too(
    journal: Journal, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "_SEARCHED_AT_ONCE", 2)
    for number in range(9):
        text = f"@dev {'retry' if number % 2 else 'lint'} it"
        journal.tasks.create(Wish(f"task-{number}", f"T-7K3{number}", text=text), AT + number)
    assert pages(journal.tasks, 3, find="retry") == [["task-7", "task-5", "task-3"], ["task-1"]]


def test_of_ten_thousand_tasks_only_those_of_the_page_are_read(journal: Journal) -> None:
    for sql, index in (
        (module._PAGE, "tasks_listed"),
        (module._SEARCHED, "tasks_listed"),
        (module._PAGE_OPEN, "tasks_open"),
    ):
        plan = [row[3] for row in journal._db.all(f"EXPLAIN QUERY PLAN {sql}", AT, "", 1)]
        assert plan[0].startswith(f"SEARCH tasks USING INDEX {index} ")
    for sql in (module._PAGE, module._SEARCHED):
        steps = journal._db.all(f"EXPLAIN QUERY PLAN {sql}", AT, "", 1)
        assert len(steps) == 1  # in the order of the index, with nothing to sort


def test_a_filled_journal_is_read_whole_page_by_page(tmp_path: Path) -> None:
    path = tmp_path / "state" / "journal.db"
    written = fill(path, tasks=120, events_per_task=10, seed=3)
    with closing(a_journal(tmp_path, ManualClock())) as journal:
        listed = [task_id for page in pages(journal.tasks, 50) for task_id in page]
        assert listed == [*reversed(written)]
        newest = journal.tasks.get(listed[0])
        spoken = re.sub("[T-]", "", newest.short_id).lower()
        assert newest in journal.tasks.page(before=None, limit=50, find=spoken)
        step = journal.tasks.changed_since(0, limit=10_000)
        assert step is not None
        assert step[0] == 1200
        assert sorted(step[1]) == sorted(written)
