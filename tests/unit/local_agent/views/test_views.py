"""What was stored by another version is told as far as this one can read it."""

from __future__ import annotations

import pytest

from common.errors import RemoteProtocolError
from local_agent.views import Kept, from_json
from local_agent.views.task import Ending, ProposedFile

CHANGE = {"code": 7, "drift": ["base"]}  # this version knows a code as text


def test_of_an_ending_what_cannot_be_read_is_left_out_and_the_rest_is_told() -> None:
    ending = Kept(Ending, {"said": {"en": "Done."}, "change": CHANGE, "later": True}).view
    assert ending.said == {"en": "Done."}
    assert ending.change is not None
    assert (ending.change.code, ending.change.drift) == (None, ("base",))


def test_a_field_that_must_be_there_is_not_left_out() -> None:
    with pytest.raises(RemoteProtocolError):
        from_json(ProposedFile, {"path": 7, "additions": 1, "deletions": 0}, loose=True)


def test_what_our_own_programs_tell_each_other_is_read_strictly() -> None:
    with pytest.raises(RemoteProtocolError):
        from_json(Ending, {"change": CHANGE})
