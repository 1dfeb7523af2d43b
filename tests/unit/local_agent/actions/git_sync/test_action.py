"""The chat is told exactly what became of the commit and what of the push."""

from __future__ import annotations

from typing import Any

import pytest

from common.model.state import Reason
from common.sentences import Lang
from local_agent.actions.git_sync.action import DRIFTED_FIELDS, render_sync
from local_agent.actions.git_sync.perform import SyncOutcome
from local_agent.error_texts import sync as sync_errors

OID = "abc1234def" + "0" * 30
COMMIT: dict[str, Any] = {"branch": "main", "remote": "origin", "commit": {}}
PUSH: dict[str, Any] = COMMIT | {"commit": None}


def said(outcome: SyncOutcome, payload: dict[str, Any] = COMMIT, lang: Lang = "en") -> str:
    return render_sync(outcome, payload, lang)


@pytest.mark.requirement("P7")
@pytest.mark.parametrize("lang", ["en", "zh"])
def test_commit_and_push_are_told_apart(lang: Lang) -> None:
    done = SyncOutcome(reason=Reason.COMPLETED, committed=OID, pushed=True)
    stopped = SyncOutcome(reason=Reason.FAILED, code="sync.rejected", committed=OID)
    open_ = SyncOutcome(reason=Reason.UNKNOWN, code="sync.timeout", committed=OID, pushed=None)
    nothing = SyncOutcome(reason=Reason.FAILED, code="sync.locked")
    lost = SyncOutcome(reason=Reason.UNKNOWN, code="sync.interrupted", pushed=None)
    texts = [said(outcome, lang=lang) for outcome in (done, stopped, open_, nothing, lost)]
    assert len(set(texts)) == 5
    assert ["abc1234" in text for text in texts] == [True, True, True, False, False]
    assert OID not in "".join(texts)
    why = getattr(sync_errors.ERRORS["sync.rejected"], lang)
    assert why in texts[1]


@pytest.mark.parametrize("lang", ["en", "zh"])
def test_a_push_alone_speaks_of_no_commit(lang: Lang) -> None:
    outcomes = (
        SyncOutcome(reason=Reason.COMPLETED, pushed=True),
        SyncOutcome(reason=Reason.FAILED, code="sync.auth"),
        SyncOutcome(reason=Reason.UNKNOWN, code="sync.failed", pushed=None),
    )
    for outcome in outcomes:
        text = said(outcome, PUSH, lang)
        assert text != said(outcome, COMMIT, lang) or outcome.pushed
        assert "ommitted" not in text


def test_what_drifted_is_named_once() -> None:
    drifted = SyncOutcome(
        reason=Reason.DRIFTED, code="sync.drifted", drift=("url", "ref", "commit", "base")
    )
    text = said(drifted)
    assert text.count(DRIFTED_FIELDS["url"].en) == 1
    assert text.count(DRIFTED_FIELDS["commit"].en) == 1


def test_what_git_said_follows_and_names_from_outside_are_made_visible() -> None:
    outcome = SyncOutcome(reason=Reason.FAILED, code="sync.declined", committed=OID, tail="no!")
    assert said(outcome).endswith("\nno!")
    done = SyncOutcome(reason=Reason.COMPLETED, committed=OID, pushed=True)
    assert "⟨U+202E⟩" in said(done, COMMIT | {"branch": "a\u202eb"})
