"""The page of a commit and push: where to, what, each step and its reach, what does not run."""

from __future__ import annotations

import hashlib
from dataclasses import replace
from typing import Any

import pytest

from common.sentences import Lang
from common.terminal import Ink
from local_agent.faces.terminal.page import render
from tests.asked import PATCH, a_sync, read_question, told


def page(patch: bytes | None = PATCH, *, lang: Lang = "en", **facts: Any) -> str:
    seal = a_sync(patch, **facts)
    question = read_question(told(seal, risk="high", reasons=["publishes"]), diff=patch)
    lines = render(question, lang=lang, width=90, ink=Ink(on=False), now_ms=seal.created_at)
    return "\n".join(lines)


@pytest.mark.requirement("R25")
@pytest.mark.parametrize("lang", ["en", "zh"])
def test_destination_commit_files_and_steps_are_on_the_page(lang: Lang) -> None:
    shown = page(lang=lang, ahead=7, behind=2)
    for expected in (
        "https://git.example.com/shop/api.git",
        "refs/heads/main",
        "1a2b3c4d5e6f",
        "Retry five times",
        "and wait",
        "Zhang Wei <zhang@example.com>",
        "7",
        "2",
        "login.py",
        "2 │+    retry = 5",
        "120",
    ):
        assert expected in shown, expected


@pytest.mark.parametrize(
    ("lang", "effects"),
    [
        ("en", ["1. read-only", "2. LOCAL WRITE", "3. LOCAL WRITE", "4. REMOTE WRITE"]),
        ("zh", ["1. 只读", "2. 本地写入", "3. 本地写入", "4. 远程写入"]),
    ],
)
def test_each_step_says_what_it_touches(lang: Lang, effects: list[str]) -> None:
    shown = page(lang=lang)
    places = [shown.index(effect) for effect in effects]
    assert places == sorted(places)


@pytest.mark.requirement("P5")
def test_the_page_says_what_does_not_run_and_that_a_push_cannot_be_undone() -> None:
    shown = page()
    assert "No hook" in shown
    assert "nothing is signed" in shown
    assert "global git" in shown
    assert "CANNOT BE UNDONE" in shown
    assert "never forced" in shown
    assert "无法撤销" in page(lang="zh")


@pytest.mark.parametrize("url", ["/srv/git/shop.git", "file:///srv/git/shop.git"])
def test_a_push_to_a_folder_says_that_its_own_hooks_do_not_run(url: str) -> None:
    shown = " ".join(page(url=url).split())
    assert "The remote is a folder on this machine: its own hooks (pre-receive" in shown
    assert "pre-receive" in page(lang="zh", url=url)
    assert "its own hooks" not in page()


def test_a_push_alone_says_so() -> None:
    shown = page(None)
    assert "Push from build-1?" in shown
    assert "none; what is committed already is pushed" in shown
    assert "LOCAL WRITE" not in shown


def test_a_first_push_says_that_the_branch_will_be_made() -> None:
    shown = page(remote_oid=None, head=None)
    assert "which will be made" in shown
    assert "without a commit yet" in shown


@pytest.mark.requirement("R26")
def test_nothing_in_names_and_addresses_is_hidden() -> None:
    shown = page(branch="ma\u202ein", url="https://x\u200b.example/")
    assert "ma⟨U+202E⟩in" in shown
    assert "https://x⟨U+200B⟩.example/" in shown
    assert not any(char in shown for char in "\u202e\u200b")


def test_a_file_without_text_is_named_and_said_to_have_none() -> None:
    first = PATCH[: PATCH.index(b"diff --git a/old.sh")]
    sync = a_sync()
    commit = {**sync.payload["commit"], "diff_sha256": hashlib.sha256(first).hexdigest()}
    seal = replace(sync, payload={**sync.payload, "commit": commit})
    question = read_question(told(seal), diff=first)
    shown = "\n".join(
        render(question, lang="en", width=90, ink=Ink(on=False), now_ms=seal.created_at)
    )
    assert "gone.txt  (its content is not text, and is not shown)" in shown
    assert "all of it, line by line" not in shown
