"""What is sealed of a release."""

from __future__ import annotations

import hashlib
import json
from typing import Any

import pytest

from common.clock import ManualClock
from common.errors import RemoteProtocolError
from common.seal import ReadFile
from common.strict_json import canonical
from local_agent.actions.disclose.payload import disclose_payload
from local_agent.actions.registry import read_seal, seal_bytes
from tests.sealed import ZEROS, a_seal


def a_release(**changes: Any) -> dict[str, Any]:
    payload = disclose_payload(
        b"It retries.",
        [ReadFile("src/login.py", ZEROS), ReadFile("src/a.py")],
        more=2,
        channel="wecom_app",
        claimed_user="zhang",
    )
    value: dict[str, Any] = json.loads(seal_bytes(a_seal(ManualClock())))
    return value | {"action": "disclose", "payload": payload | changes}


@pytest.mark.requirement("R53")
def test_a_release_is_sealed_with_the_hash_of_its_answer_and_its_recipient() -> None:
    payload = read_seal(canonical(a_release())).payload
    assert payload["answer_sha256"] == hashlib.sha256(b"It retries.").hexdigest()
    assert (payload["bytes"], payload["more"]) == (11, 2)
    assert payload["to"] == {"channel": "wecom_app", "claimed_user": "zhang"}


@pytest.mark.parametrize(
    ("changes", "field"),
    [
        ({"answer_sha256": "x"}, "payload.answer_sha256"),
        ({"bytes": -1}, "payload.bytes"),
        ({"bytes": True}, "payload.bytes"),
        ({"text": "It retries."}, "payload"),
        ({"files": {}}, "payload.files"),
        ({"files": [{"path": "a"}]}, "files"),
        ({"files": [{"path": "a", "sha256": "x"}]}, "files.sha256"),
        ({"to": {"channel": "wecom_app"}}, "to"),
        ({"to": {"channel": "wecom_app", "claimed_user": 1}}, "to.claimed_user"),
    ],
)
def test_a_release_of_another_shape_is_refused(changes: dict[str, Any], field: str) -> None:
    with pytest.raises(RemoteProtocolError) as caught:
        read_seal(canonical(a_release(**changes)))
    assert (caught.value.code, caught.value.facts["field"]) == ("seal.malformed", field)
