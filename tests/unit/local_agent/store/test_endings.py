"""How a task ended, for this machine: in both languages, bounded, through a restart."""

from __future__ import annotations

from functools import partial
from pathlib import Path

import pytest

from common.clock import ManualClock
from common.model.state import Reason, TaskState
from common.sentences import Sentence, same, say
from local_agent.store.endings import read_ending, write_ending
from local_agent.store.journal import Journal
from tests.sealed import AGENT, Wish, ending

NOTHING = dict.fromkeys(("said", "run", "change", "sync", "replaced_by"))
HELLO = Sentence(en="{n} ended", zh="{n} 已结束")


def test_words_are_kept_in_both_languages() -> None:
    kept = read_ending(write_ending(partial(say, HELLO, n=3), {"run": {"exit_code": 0}}))
    assert kept == NOTHING | {
        "said": {"en": "3 ended", "zh": "3 已结束"},
        "run": {"exit_code": 0},
    }


def test_what_reads_the_same_in_both_is_left_to_the_summary() -> None:
    assert read_ending(write_ending(same("5 places"))) == NOTHING


def test_a_task_of_an_older_release_has_none() -> None:
    assert read_ending(None) == NOTHING


def test_words_are_bounded() -> None:
    said = read_ending(write_ending(partial(say, HELLO, n="字" * 10_000)))["said"]
    assert all(len(text.encode()) <= 2_000 for text in said.values())


@pytest.mark.requirement("R46")
def test_an_ending_survives_a_restart(tmp_path: Path) -> None:
    clock = ManualClock()
    journal = Journal(tmp_path / "j.db", clock=clock, key=lambda: AGENT)
    journal.tasks.create(Wish(source="local_ui"), 1)
    told = write_ending(partial(say, HELLO, n=1), {"files": {"new": 1}})
    step = ending(Reason.CANCELLED, TaskState.RECEIVED, TaskState.REJECTED, ending_json=told)
    journal.tasks.change(step)
    journal.close()
    again = Journal(tmp_path / "j.db", clock=clock, key=lambda: AGENT)
    assert again.tasks.get("task-1").ending_json == told
    again.close()
