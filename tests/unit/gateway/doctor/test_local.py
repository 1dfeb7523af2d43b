"""What the doctor says of files and of the store."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path

import pytest

from common.audit_check import STARTED
from common.doctor import Doctor
from gateway.base.messages import URL_CHECKED
from gateway.base.settings import load_settings
from gateway.doctor import DIAGNOSES
from gateway.doctor.local import Local
from gateway.doctor.network import refused
from gateway.doctor.subject import Subject
from gateway.flow.alarms import NOTED_FILE
from gateway.store import Connection, audit
from gateway.store.runner import open_store
from gateway.wecom.client import unreachable, unreadable
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
            *("messages.not-saved", "callback.receive-id"),  # anybody can send the other
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


async def test_a_file_that_goes_while_the_folder_is_read_is_no_ill(
    subject: Subject, monkeypatch: pytest.MonkeyPatch
) -> None:
    gone = [subject.store, subject.state / "gateway.db-journal"]
    monkeypatch.setattr(Path, "iterdir", lambda _self: iter(gone))
    assert (await Local(subject).state()).code == "state.fine"


def test_a_line_without_an_answer_is_told_in_one_language(subject: Subject) -> None:
    doctor = Doctor(DIAGNOSES, {}, "zh")
    for outcome in (unreachable(maybe_sent=False), unreadable(maybe_sent=False)):
        finding = refused("main", subject.app("main"), outcome)
        assert outcome.errmsg not in " ".join(doctor.words(finding).values())


def _saved(conn: Connection, at_ms: int, url: str) -> None:
    audit.append(conn, URL_CHECKED, at_ms, app="main", url=url)


def _started(conn: Connection, at_ms: int, _url: str) -> None:
    audit.append(conn, STARTED, at_ms)


@pytest.mark.requirement("P7")
async def test_an_address_that_changed_since_the_console_saved_it_is_told(subject: Subject) -> None:
    local, store = Local(subject), await asyncio.to_thread(open_store, subject.store)
    codes = []
    for at_ms, url in enumerate(("/wecom/old", None, "/wecom/app", None)):
        await store.write(_saved if url else _started, at_ms, url or "")
        codes.append((await local.messages("main")).code)
    await store.close()
    well = "messages.none-yet"
    assert codes == [well, "messages.other-url", well, well]
