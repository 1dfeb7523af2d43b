"""Commit and push through real processes: asked in the chat, approved at the machine, told."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from tests.e2e.place import CODE, Place, Terminal
from tests.syncing import Syncing, at_home

pytestmark = [pytest.mark.needs("git")]


@dataclass
class Shop:
    """An installation, and its workspace with a remote."""

    place: Place
    git: Syncing


@pytest.fixture
def shop(tmp_path: Path) -> Iterator[Shop]:
    git = Syncing.at(tmp_path / "git")
    place = Place.at(tmp_path / "home", HOME=str(git.home))
    with at_home(git.home):
        place.start_all(git.path, "true")
        yield Shop(place, git)
    place.stop()


@pytest.mark.requirement("P1")
@pytest.mark.requirement("P7")
def test_a_wish_to_push_is_committed_and_pushed_once_it_is_approved(shop: Shop) -> None:
    before = shop.git.tip
    shop.git.write({"a.py": "retry = 5\n", "new.py": "x = 1\n"})
    shop.place.callback("@dev commit and push: fix the login")
    short_id = shop.place.waiting()["short_id"]
    told = shop.place.hears(short_id, "fix the login")
    assert "retry" not in told
    assert (shop.git.tip, shop.git.tip_there) == (before, before)

    shown = shop.place.approve(short_id)
    code = CODE.search(shown)
    assert code
    assert code[0] in told
    # As wide as a terminal: long lines are cut, and go on behind a mark.
    page = "".join(shown.replace("┆", "").split())
    for fact in ("fixthelogin", str(shop.git.remote), "retry=5", "zhang@example.com"):
        assert fact in page

    assert shop.place.final(short_id)["reason"] == "completed"
    shop.place.hears(short_id, "Committed as", shop.git.tip[:7], "origin")
    assert shop.git.tip == shop.git.tip_there != before
    assert shop.git.files_there() == {"a.py": b"retry = 5\n", "new.py": b"x = 1\n"}


def test_what_is_rejected_there_is_told_with_what_was_done_here(shop: Shop) -> None:
    shop.git.write({"a.py": "2\n"})
    shop.place.callback("@dev 提交并推送")
    short_id = shop.place.waiting()["short_id"]
    theirs = shop.git.commit_there()
    shop.place.approve(short_id)
    assert shop.place.final(short_id)["reason"] == "failed"
    shop.place.hears(short_id, shop.git.tip[:7], "没有推送")
    assert shop.git.tip_there == theirs


@pytest.mark.requirement("P2")
def test_a_byte_that_changes_after_the_card_was_shown_stops_everything(shop: Shop) -> None:
    before = shop.git.tip
    shop.git.write({"a.py": "2\n"})
    shop.place.callback("@dev sync")
    short_id = shop.place.waiting()["short_id"]
    with Terminal(shop.place.environ, "approve", short_id) as terminal:
        code = CODE.search(terminal.read_until(":", "：", after=CODE))
        assert code
        shop.git.write({"a.py": "3\n"})
        terminal.type(code[0])
        terminal.read_to_end()
    assert shop.place.final(short_id)["reason"] == "drifted"
    shop.place.hears(short_id, "Changed since the approval: the files")
    assert (shop.git.tip, shop.git.tip_there) == (before, before)


def test_a_question_and_a_clean_workspace_ask_nobody(shop: Shop) -> None:
    shop.place.callback("@dev 同步到 GitHub")
    shop.place.hears("没有改动")
    shop.place.callback("@dev why did the push fail")
    shop.place.hears("model is configured")
    assert {task["state"] for task in shop.place.tasks()} == {"REJECTED"}
