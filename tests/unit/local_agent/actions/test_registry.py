"""The registry has a row for each word of the seal, and nothing else is read."""

from __future__ import annotations

from typing import get_args

import pytest

from common.clock import ManualClock
from common.errors import RemoteProtocolError
from common.seal import Action, read_seal
from local_agent.actions.registry import ACTIONS, seal_bytes
from local_agent.views.question import FactKind
from tests.sealed import a_seal


def test_each_word_of_the_seal_has_its_row() -> None:
    assert tuple(ACTIONS) == get_args(Action)


def test_each_fact_has_its_label_from_one_card() -> None:
    labelled = [kind for row in ACTIONS.values() for kind in row.card.labels]
    assert sorted(labelled) == sorted(get_args(FactKind))


def test_each_card_says_whether_it_can_be_undone_in_its_own_words() -> None:
    for word, row in ACTIONS.items():
        own = {"yes" if row.undoable else "no"} if row.parts is None else {"yes", "partly", "no"}
        assert set(row.card.undo) == own, word


@pytest.mark.requirement("P2")
def test_a_seal_is_not_read_without_the_payload_check_of_its_action() -> None:
    others = {word: row.check_payload for word, row in ACTIONS.items() if word != "run_command"}
    with pytest.raises(RemoteProtocolError) as caught:
        read_seal(seal_bytes(a_seal(ManualClock())), others)
    assert (caught.value.code, caught.value.facts["field"]) == ("seal.malformed", "seal.action")
