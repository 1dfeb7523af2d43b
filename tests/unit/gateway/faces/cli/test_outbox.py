"""``gateway outbox``, ``gateway status``, and members of more than one app, as an admin types."""

from __future__ import annotations

import argparse
import json
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from common.errors import ConfigError, InputError
from common.sentences import Lang, explain
from gateway import app
from gateway.base.messages import Conversation, SendOutcome
from gateway.faces.cli.error_texts import ERRORS
from gateway.flow.alarms import NOTED_FILE
from gateway.store import audit, inbound, outbox
from gateway.store.outbox import Hold
from gateway.store.runner import AdminStore, open_admin
from tests.e2e.place import free_ports
from tests.people import alone, someone

pytestmark = pytest.mark.heavy

AT = 1_767_240_000_000
GONE = SendOutcome("permanent", 81013, "all \x1b[31minvalid", 0.0, "wecom.refused")
SETTINGS = """
[listen]
port = {port}
[wecom]
corp_id = "ww1"
agent_id = 1000002
[[wecom.apps]]
name = "shop"
corp_id = "ww2"
agent_id = 1000002
"""
Typed = Callable[..., tuple[int, str]]


@pytest.fixture
def typed(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> Typed:
    """Run a command with two apps in the settings; its exit code, and what it printed."""
    (tmp_path / "config").mkdir()
    (port,) = free_ports(1)
    (tmp_path / "config/gateway.toml").write_text(SETTINGS.format(port=port), encoding="utf-8")

    def run(*words: str, lang: Lang = "en") -> tuple[int, str]:
        parser = argparse.ArgumentParser()
        app.add_parser(parser.add_subparsers(dest="command"), lang)
        code = app.run(
            parser.parse_args(["gateway", *words]), lang, {"CODEXBRIDGE_HOME": str(tmp_path)}
        )
        return code, capsys.readouterr().out

    return run


@pytest.fixture
def store(tmp_path: Path) -> Iterator[AdminStore]:
    with open_admin(tmp_path / "state/gateway/gateway.db") as store:
        yield store


def test_members_of_another_app_are_named_with_it(typed: Typed) -> None:
    typed("member", "add", "zhang")
    typed("member", "add", "shop:zhang", "--lang", "en")
    assert [line.split() for line in typed("member", "list")[1].splitlines()] == [
        ["zhang", "member", "-", "no", "machine", "yet"],
        ["shop:zhang", "member", "en", "no", "machine", "yet"],
    ]
    listed = json.loads(typed("member", "list", "--json")[1])
    assert [(one["app"], one["user"]) for one in listed] == [("main", "zhang"), ("shop", "zhang")]
    with pytest.raises(InputError) as unknown:
        typed("member", "add", "shpo:zhang")
    assert unknown.value.facts == {"app": "shpo", "apps": ("main", "shop")}
    typed("member", "remove", "zhang")
    assert "shop:zhang" in typed("member", "list")[1]


def test_the_outbox_is_listed_with_the_channels_words_and_changed(
    typed: Typed, store: AdminStore
) -> None:
    assert "Nothing waits" in typed("outbox")[1]
    typed("member", "add", "zhang")
    for text, place in (
        ("secret one", alone("zhang")),
        ("secret two", Conversation("wecom_app", "shop", "zhang")),
    ):
        store.write(outbox.put, text, text, to=place, at_ms=AT)
    for message in store.write(outbox.claim, now_ms=AT, limit=1).messages:
        store.write(outbox.end, message.id, "failed", GONE, at_ms=AT)
    shown = typed("outbox")[1]
    assert "failed" in shown
    assert "81013" in shown
    assert "1 try" in shown
    assert "0 tries" not in shown
    assert "shop:zhang" in shown
    assert "secret" not in shown
    assert "\x1b" not in shown
    (failed, queued) = json.loads(typed("outbox", "--json")[1])
    assert (failed["errcode"], failed["state"], queued["state"]) == (81013, "failed", "queued")
    assert "text" not in failed
    typed("outbox", "retry", str(failed["id"]))
    typed("outbox", "drop", str(queued["id"]))
    with pytest.raises(InputError):
        typed("outbox", "drop", "99")
    states = [one["state"] for one in json.loads(typed("outbox", "--json")[1])]
    assert states == ["queued"]
    done = [event for event, _ in store.read(audit.newest_events, count=2)]
    assert done == ["outbox.dropped", "outbox.retried"]


def test_retry_of_what_is_held_says_since_when_why_and_when_it_is_tried(
    typed: Typed, store: AdminStore
) -> None:
    typed("member", "add", "zhang")
    store.write(outbox.put, "one", "one", to=alone("zhang"), at_ms=AT)
    now_ms = time.time_ns() // 1_000_000
    hold = Hold("main", "wecom.busy", -1, "system busy", now_ms - 60_000, now_ms + 60_000)
    store.write(outbox.hold, hold)
    shown = typed("outbox", "retry", "1")[1]
    assert "Message 1 waits: main has not been able to send since" in shown
    assert "(wecom.busy, system busy). One message is tried at" in shown
    store.write(outbox.release, "main", now_ms=now_ms)
    assert "is sent within seconds" in typed("outbox", "retry", "1")[1]


def test_last_sent_counts_what_wecom_took(typed: Typed, store: AdminStore) -> None:
    typed("member", "add", "zhang")
    to = alone("zhang")
    store.write(outbox.put, "passive", "in the answer to a callback", to=to, at_ms=AT, said=True)
    assert json.loads(typed("status", "--json")[1])["apps"]["main"]["sent_at"] is None
    store.write(outbox.put, "one", "one", to=to, at_ms=AT)
    for message in store.write(outbox.claim, now_ms=AT, limit=1).messages:
        sent = SendOutcome("sent", 0, "ok", 0.0, "wecom.sent")
        store.write(outbox.end, message.id, "sent", sent, at_ms=AT + 1)
    assert json.loads(typed("status", "--json")[1])["apps"]["main"]["sent_at"] == AT + 1


def test_status_says_of_each_app_what_keeps_it_from_sending(
    tmp_path: Path, typed: Typed, store: AdminStore
) -> None:
    untrusted = "not allow to access from your ip, from ip: 1.2.3.4"
    store.write(
        inbound.remember,
        person=someone("zhang"),
        created_s=AT // 1000,
        dedupe_key="k",
        replay_key=b"r",
        at_ms=AT,
    )
    hold = Hold("shop", "wecom.untrusted-address", 60020, untrusted, AT, AT + 1)
    store.write(outbox.hold, hold)
    noted = json.dumps({"main": {"callback.signature": AT + 1}})  # which anybody can send
    (tmp_path / "state/gateway" / NOTED_FILE).write_text(noted, encoding="utf-8")
    code, shown = typed("status")
    assert code == 1
    assert "The gateway does not run" in shown
    main, shop = (line for line in shown.splitlines() if "AgentId" in line)
    assert main.startswith("! main (ww1")
    assert "none that is right since: if it was WeCom, wecom.token is not" in shown
    assert "last heard 20" in main
    assert shop.startswith("✗ shop (ww2")
    assert "WeCom does not trust our address 1.2.3.4 (60020)" in shown
    assert "企业可信IP" in shown
    told = json.loads(typed("status", "--json")[1])
    assert told["apps"]["shop"]["held"]["errcode"] == 60020
    assert told["apps"]["main"]["held"] is None


def test_status_of_what_is_not_set_up_names_init(tmp_path: Path) -> None:
    parser = argparse.ArgumentParser()
    app.add_parser(parser.add_subparsers(dest="command"), "en")
    args = parser.parse_args(["gateway", "status"])
    with pytest.raises(ConfigError) as caught:
        app.run(args, "en", {"CODEXBRIDGE_HOME": str(tmp_path)})
    assert "codexbridge gateway init" in explain(caught.value, ERRORS, "en")
