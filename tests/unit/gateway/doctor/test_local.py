"""What the doctor says of files and of the store."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path

import pytest

from gateway.base.messages import URL_CHECKED
from gateway.base.settings import load_settings
from gateway.doctor.local import Local
from gateway.doctor.subject import Subject
from gateway.flow.alarms import NOTED_FILE
from tests.gateway_desk import fresh_store


@pytest.fixture
def subject(tmp_path: Path) -> Subject:
    state = fresh_store(tmp_path).parent
    app = {"corp_id": "ww1", "agent_id": 1}
    given = {"state_dir": str(state), "wecom": app | {"apps": {"shop": app}}}
    settings = load_settings(file=None, environ={}, overrides=given)
    return Subject({}, served=settings, loaded=settings)


@pytest.mark.parametrize(
    ("noted", "main", "shop"),
    [
        ({}, "messages.not-saved", "messages.not-saved"),
        ({"shop": {"callback.signature": 5}}, "messages.not-saved", "callback.signature"),
        (
            {"shop": {"callback.signature": 5, "callback.receive-id": 4}},
            *("messages.not-saved", "callback.signature"),
        ),
        (
            {"shop": {"callback.signature": 5, URL_CHECKED: 6}, "main": {"callback.ciphertext": 1}},
            *("callback.ciphertext", "messages.none-yet"),
        ),
    ],
)
async def test_an_app_is_told_of_alone_and_only_what_came_after_the_last_good_one(
    subject: Subject, noted: dict[str, dict[str, int]], main: str, shop: str
) -> None:
    await asyncio.to_thread((subject.state / NOTED_FILE).write_text, json.dumps(noted), "utf-8")
    local = Local(subject)
    found = [await local.messages(app) for app in ("main", "shop")]
    assert [one.code for one in found] == [main, shop]
