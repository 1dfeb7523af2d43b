"""Cards through the channel, against a server on loopback that answers as it is told."""

from __future__ import annotations

from collections.abc import AsyncIterator
from typing import Any

import aiohttp
import pytest
import structlog
from aiohttp import web
from aiohttp.test_utils import TestServer

from common.clock import ManualClock
from gateway.base.messages import Card, Channel, Handle, Outgoing
from gateway.base.settings import GatewaySettings
from gateway.channels import wecom_app
from gateway.wecom.client import CARD_S
from tests.people import alone

CARD = Card(
    card_id="0199-c0de@7K3F-9Q2M",
    title="T-7K3F · dev-1",
    said="方案已就绪，等待在 dev-1 上本地批准",
    line="login.py +3 −1",
    facts=(("开发机", "dev-1"), ("确认码", "7K3F-9Q2M")),
    buttons=(("status", "查看状态"), ("cancel", "取消任务")),
)
OVER = Card(CARD.card_id, "T-7K3F · dev-1", "已完成", "", (), (("status", "查看状态"),), over=True)
ZHANG = alone("zhang")
OK = {"errcode": 0, "errmsg": "ok"}


class Api:
    """Remembers what it was asked, and answers it in turn; then with success."""

    def __init__(self) -> None:
        self.answers: list[dict[str, Any]] = []
        self.asked: list[tuple[str, dict[str, Any]]] = []

    async def answer(self, request: web.Request) -> web.Response:
        name = request.path.removeprefix("/cgi-bin/")
        if name == "gettoken":
            return web.json_response({**OK, "access_token": "t", "expires_in": 7200})
        self.asked.append((name, await request.json()))
        return web.json_response(self.answers.pop(0) if self.answers else OK)


@pytest.fixture
def api() -> Api:
    return Api()


@pytest.fixture
async def channel(api: Api) -> AsyncIterator[Channel]:
    app = web.Application()
    app.router.add_route("*", "/{path:.*}", api.answer)
    async with TestServer(app, host="127.0.0.1") as server, aiohttp.ClientSession() as session:
        wecom = {"corp_id": "ww1", "agent_id": 1000002, "corp_secret": "s", "token": "t" * 24}
        wecom |= {"encoding_aes_key": "k" * 43, "api_base": str(server.make_url("")).rstrip("/")}
        yield wecom_app.open_channel(
            GatewaySettings.model_validate({"wecom": wecom}),
            session=session,
            clock=ManualClock(),
            log=structlog.get_logger(),
        )


async def test_a_card_is_sent_with_what_it_shows_and_its_handle_is_kept(
    channel: Channel, api: Api
) -> None:
    api.answers = [{**OK, "response_code": "code-1"}]
    outcome = await channel.deliver(ZHANG, Outgoing("text", CARD))
    assert (outcome.kind, outcome.handle) == ("sent", Handle("code-1", CARD_S))
    ((name, sent),) = api.asked
    shown = sent["template_card"]
    assert (name, sent["msgtype"], sent["touser"]) == ("message/send", "template_card", "zhang")
    assert shown["card_type"] == "button_interaction"
    assert shown["task_id"] == CARD.card_id
    assert shown["horizontal_content_list"][1] == {"keyname": "确认码", "value": "7K3F-9Q2M"}
    assert [button["key"] for button in shown["button_list"]] == ["status", "cancel"]


async def test_a_card_that_is_over_changes_the_one_that_is_there(
    channel: Channel, api: Api
) -> None:
    outcome = await channel.deliver(ZHANG, Outgoing("", OVER, handle="code-1"))
    ((name, sent),) = api.asked
    assert (outcome.kind, name) == ("sent", "message/update_template_card")
    assert (sent["userids"], sent["response_code"]) == (["zhang"], "code-1")
    assert sent["template_card"]["task_id"] == CARD.card_id
    assert (sent["agentid"], "touser" in sent) == (1000002, False)


@pytest.mark.parametrize("errcode", [40058, 48002, 301002, 40008])
async def test_where_a_card_is_refused_its_text_is_sent(
    channel: Channel, api: Api, errcode: int
) -> None:
    api.answers = [{"errcode": errcode, "errmsg": "no cards here"}]
    assert (await channel.deliver(ZHANG, Outgoing("the text", CARD))).kind == "sent"
    assert [asked["msgtype"] for _, asked in api.asked] == ["template_card", "text"]


@pytest.mark.requirement("P3")
async def test_a_card_that_is_there_already_counts_as_sent_and_has_no_handle(
    channel: Channel, api: Api
) -> None:
    api.answers = [{"errcode": 40058, "errmsg": "invalid task_id, already used"}]
    outcome = await channel.deliver(ZHANG, Outgoing("the text", CARD, repeated=True))
    assert (outcome.kind, outcome.handle, len(api.asked)) == ("sent", None, 1)
    assert api.asked[0][1]["enable_duplicate_check"] == 1


async def test_what_would_refuse_a_text_as_well_holds_the_app(channel: Channel, api: Api) -> None:
    api.answers = [{"errcode": 60020, "errmsg": "not allow to access from your ip"}] * 2
    outcome = await channel.deliver(ZHANG, Outgoing("the text", CARD))
    assert (outcome.kind, outcome.code) == ("config", "wecom.untrusted-address")


async def test_a_change_that_is_refused_holds_nothing_up(channel: Channel, api: Api) -> None:
    api.answers = [{"errcode": 48002, "errmsg": "forbidden"}]
    outcome = await channel.deliver(ZHANG, Outgoing("", OVER, handle="used"))
    assert outcome.kind == "permanent"
    api.answers = [{"errcode": 45009, "errmsg": "too often"}]
    assert (await channel.deliver(ZHANG, Outgoing("", OVER, handle="used"))).for_all


@pytest.mark.requirement("R73")
async def test_a_text_is_sent_with_nothing_in_it_that_is_drawn(channel: Channel, api: Api) -> None:
    await channel.deliver(ZHANG, Outgoing("see <a href='http://127.0.0.1/'>this</a>"))
    ((_, sent),) = api.asked
    assert sent["text"]["content"].startswith("see \uff1ca href=")
