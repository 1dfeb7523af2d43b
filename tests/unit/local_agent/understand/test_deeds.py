"""What comes of requests for deeds, on lists of their own (`tests/understanding_set/deeds`)."""

from __future__ import annotations

from collections import Counter

import pytest

from local_agent.understand.reader import Reader
from tests.understanding_set.deeds import PARTS, outcome, wished

ACTS = {"run", "change", "sync", "cancel", "cancel-all", "undo"}
# So many of 100 are to come to what was wished; whoever tunes looks at ``tuning`` alone.
LEAST = {
    "tuning": {"refused": 85, "run": 95, "cancel-all": 85, "change": 75},
    "held_out": {"refused": 65, "run": 85, "change": 60, "sync": 85},
}


@pytest.mark.requirement("P7")
@pytest.mark.parametrize("part", PARTS)
def test_deeds_are_obeyed_or_refused_as_they_were_wished(part: str) -> None:
    of, right = Counter[str](), Counter[str]()
    for one in wished(part):
        of[one.want] += 1
        found, cmd = outcome(one.text)
        right[one.want] += found == one.want and (one.cmd is None or cmd == one.cmd)
    shares = {want: 100 * right[want] // of[want] for want in of}
    assert not {want: share for want, share in shares.items() if share < LEAST[part].get(want, 90)}


@pytest.mark.requirement("P7")
@pytest.mark.parametrize("part", PARTS)
def test_what_is_not_obeyed_is_never_told_as_done(part: str) -> None:
    """Of deeds that the product does not have, few may be answered without saying so."""
    texts = [one.text for one in wished(part) if one.want == "refused"]
    found = {text: outcome(text)[0] for text in texts}
    silent = [t for t in texts if found[t] == "answered" and not Reader().read(t).acts]
    few = len(texts) // (20 if part == "tuning" else 10)
    assert len(silent) <= few
    assert sum(one in ACTS for one in found.values()) <= few


@pytest.mark.requirement("P1")
@pytest.mark.parametrize("part", PARTS)
def test_a_question_is_answered_and_says_nothing_of_deeds(part: str) -> None:
    texts = [one.text for one in wished(part) if one.want == "answered"]
    found = {text: outcome(text)[0] for text in texts}
    assert not [text for text in texts if found[text] in ACTS]
    flagged = [text for text in texts if Reader().read(text).acts or found[text] == "refused"]
    assert len(flagged) <= len(texts) // 20
