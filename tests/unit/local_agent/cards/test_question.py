"""`cards.question`: what is shown comes from the sealed bytes, whatever else was told."""

from __future__ import annotations

import hashlib
from dataclasses import replace
from typing import Any

import pytest

from common.clock import ManualClock
from common.diff.model import DiffModel
from common.diff.parse import parse_diff
from common.errors import AuthError, InputError, RemoteProtocolError
from common.seal import Seal, digest, short_code
from local_agent.actions.registry import seal_bytes
from local_agent.cards.question import _taken, diff_names, joined
from local_agent.cards.words import time_left
from tests import asked, windows
from tests.asked import read_question
from tests.each import each
from tests.sealed import a_payload, a_seal


def shown(**changes: Any) -> dict[str, Any]:
    raw = seal_bytes(a_seal(ManualClock()))
    told: dict[str, Any] = {
        "seal": raw.decode(),
        "digest": digest(raw),
        "state": "pending",
        "risk": "normal",
        "reasons": [],
        "blocked": "",
        "text": "@dev test",
        "machine": "build-1",
        "workspace": "shop",
    }
    return told | changes


def test_the_digest_is_computed_from_the_bytes_that_are_shown() -> None:
    told = shown()
    question = read_question(told)
    assert question.digest == told["digest"]
    assert question.code == short_code(question.digest)
    assert question.told.state == "pending"


@pytest.mark.requirement("P2")
@pytest.mark.requirement("R23")
def test_bytes_of_another_digest_are_not_shown() -> None:
    other = seal_bytes(a_seal(ManualClock(), payload=a_payload(argv=["rm", "-rf", "."])))
    with pytest.raises(AuthError) as refused:
        read_question(shown(seal=other.decode()))
    assert refused.value.code == "approval.digest-mismatch"


@pytest.mark.requirement("R4")
@each(
    "changes",
    [
        {"seal": None},
        {"seal": "中"},
        {"digest": 5},
        {"reasons": None},
        {"seal": "{}", "digest": digest(b"{}")},
        {"check": "passed"},
        {"check": {"task": "T-9999"}},
    ],
)
def test_what_is_incomplete_is_not_shown(changes: dict[str, Any]) -> None:
    with pytest.raises(RemoteProtocolError):
        read_question(shown(**changes))
    without = shown()
    del without["machine"]
    with pytest.raises(RemoteProtocolError):
        read_question(without)


@pytest.mark.requirement("R29")
@pytest.mark.parametrize(("risk", "whole"), [("normal", False), ("high", True), ("other", True)])
def test_anything_but_ordinary_risk_needs_the_whole_code(risk: str, *, whole: bool) -> None:
    question = read_question(shown(risk=risk))
    first, _, second = question.code.partition("-")
    assert question.accepts(first) is not whole
    assert question.accepts(question.code)
    assert question.accepts(f"{first.lower()} {second.lower()}")
    assert not question.accepts(second)
    assert not question.accepts("")
    assert not question.accepts("T-7K3F")


@pytest.mark.parametrize(
    ("seconds", "en"),
    [
        (86_399, "23 h 59 min left"),
        (3_600, "1 h 0 min left"),
        (3_599, "59 min left"),
        (59, "59 s left"),
        (0, "expired"),
        (-5, "expired"),
    ],
)
def test_the_time_left_is_told_in_words(seconds: int, en: str) -> None:
    assert time_left(seconds * 1000, 0, "en") == en
    assert time_left(seconds * 1000, 0, "zh") != en


@each("seal", [asked.a_change(), asked.an_undo(), asked.a_sync()])
def test_a_change_is_shown_with_the_diff_that_was_sealed(seal: Seal) -> None:
    question = read_question(asked.told(seal), diff=asked.PATCH)
    assert diff_names(seal) == (hashlib.sha256(asked.PATCH).hexdigest(),)
    assert question.diff is not None
    assert [file.path for file in question.diff.files] == [one.path for one in question.changes]


def test_a_command_and_a_push_alone_have_no_diff() -> None:
    for seal in (a_seal(ManualClock()), asked.a_sync(None)):
        question = read_question(asked.told(seal))
        assert (diff_names(seal), question.diff, question.changes) == ((), None, ())


@pytest.mark.requirement("P2")
@pytest.mark.requirement("R23")
@pytest.mark.parametrize(
    ("seal", "diff"),
    [
        (asked.a_change(), None),
        (asked.a_change(), b""),
        (asked.a_change(), asked.PATCH.replace(b"retry = 5", b"retry = 9")),
        (asked.an_undo(), asked.PATCH + b"\n"),
        (asked.a_sync(), asked.PATCH[:-1]),
        (asked.a_sync(None), asked.PATCH),
        (a_seal(ManualClock()), asked.PATCH),
    ],
)
def test_a_diff_of_another_hash_is_not_even_read(seal: Seal, diff: bytes | None) -> None:
    with pytest.raises(AuthError) as refused:
        read_question(asked.told(seal), diff=diff)
    assert refused.value.code == "approval.digest-mismatch"


@pytest.mark.requirement("P2")
@pytest.mark.requirement("R25")
def test_a_diff_that_tells_of_other_files_than_were_sealed_is_not_shown() -> None:
    other = asked.PATCH.replace(b"gone.txt", b"kept.txt")
    name = hashlib.sha256(other).hexdigest()
    for seal in (asked.a_change(), asked.an_undo()):
        swapped = replace(seal, payload={**seal.payload, "diff_sha256": name})
        with pytest.raises(AuthError) as refused:
            read_question(asked.told(swapped), diff=other)
        assert refused.value.code == "approval.digest-mismatch"
    sync = asked.a_sync()
    commit = {**sync.payload["commit"], "diff_sha256": name}
    with pytest.raises(AuthError):
        read_question(
            asked.told(replace(sync, payload={**sync.payload, "commit": commit})), diff=other
        )


def test_a_commit_may_hold_files_of_which_no_text_can_be_shown() -> None:
    first = asked.PATCH[: asked.PATCH.index(b"diff --git a/old.sh")]
    sync = asked.a_sync()
    commit = {**sync.payload["commit"], "diff_sha256": hashlib.sha256(first).hexdigest()}
    seal = replace(sync, payload={**sync.payload, "commit": commit})
    question = read_question(asked.told(seal), diff=first)
    assert question.diff is not None
    assert len(question.diff.files) < len(question.changes)
    images = {**sync.payload["commit"], "diff_sha256": hashlib.sha256(b"").hexdigest()}
    seal = replace(sync, payload={**sync.payload, "commit": images})
    assert read_question(asked.told(seal), diff=b"").diff == DiffModel(())


def test_a_sealed_diff_that_cannot_be_read_is_not_shown() -> None:
    seal = asked.a_change()
    junk = b"Binary files a/x and b/x differ\n"
    name = hashlib.sha256(junk).hexdigest()
    with pytest.raises(InputError):
        read_question(
            asked.told(replace(seal, payload={**seal.payload, "diff_sha256": name})), diff=junk
        )


@pytest.mark.requirement("P2", "R25")
def test_each_of_several_steps_is_shown_with_its_own_diff() -> None:
    seal, diffs = windows.steps()
    question = read_question(windows.an_order(seal).shown, diff=diffs)
    assert [part.seal.action for part in question.parts] == ["run_command", *["apply_diff"] * 2]
    shown = [part.diff and [file.path for file in part.diff.files] for part in question.parts]
    assert shown == [None, [file.path for file in parse_diff(windows.DIFF.encode()).files],
                     ["docs/登录.md"]]  # fmt: skip
    assert all(part.digest == question.digest for part in question.parts)


@pytest.mark.requirement("P2", "R23")
@pytest.mark.parametrize(
    "diffs",
    [
        None,
        b"",
        windows.DIFF.encode(),
        (windows.OTHER + windows.DIFF).encode(),
        (windows.DIFF + windows.OTHER + "\n").encode(),
        (windows.DIFF + windows.OTHER).replace("四次", "九次").encode(),
    ],
)
def test_steps_with_other_diffs_than_were_sealed_are_not_shown(diffs: bytes | None) -> None:
    seal, _ = windows.steps()
    with pytest.raises(AuthError) as refused:
        read_question(windows.an_order(seal).shown, diff=diffs)
    assert refused.value.code == "approval.digest-mismatch"


def test_diffs_without_a_last_line_end_are_told_apart() -> None:
    first, second = b"diff --git a/a b/a\n-x", b"diff --git a/b b/b\n+y"
    names = [hashlib.sha256(one).hexdigest() for one in (first, second)]
    found, rest = _taken(joined([first, second]), names[0])
    assert (found, _taken(rest, names[1])) == (first, (second, b""))
