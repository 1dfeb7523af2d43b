"""The simulator's page on a real socket, before a gateway that answers as it is told.

    python -m tests.simulator_desk docs/pictures

makes the pictures that the documents show.
"""

from __future__ import annotations

import asyncio
import sys
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Literal

import aiohttp
from aiohttp import web
from aiohttp.test_utils import TestServer
from playwright.async_api import Page, expect

from common.clock import SystemClock
from common.sentences import Lang
from gateway.simulator.config import new_app, new_config
from gateway.simulator.desk import page_app
from gateway.simulator.engine import Simulator, Timing
from gateway.simulator.faults import Switched
from gateway.simulator.server import read_page
from gateway.simulator.wire import ApiListener, api_app
from tests import browsing
from tests.browsing import new_page, screenshot
from tests.simulated import ScriptedGateway

ANSWER = "T-7K3F Proposal ready; waiting for local approval on dev-1\npython3 -m unittest -v"
ANSWER_ZH = "T-7K3F 方案已就绪，等待在 dev-1 上批准\npython3 -m unittest -v"
CARD_WORDS: Mapping[Lang, tuple[str, ...]] = {
    "en": ("Machine", "State", "Status", "Stop watching"),
    "zh": ("开发机", "状态", "查看状态", "不再关注"),
}


@dataclass
class Desk:
    """A simulator with two apps, its page, and a gateway that calls its API."""

    simulator: Simulator
    gateway: ScriptedGateway
    api: ApiListener
    session: aiohttp.ClientSession
    url: str

    async def call(self, path: str, message: Any = None, **query: str) -> Any:
        """Call the API as a gateway does."""
        url = f"http://127.0.0.1:{self.api.port}/cgi-bin/{path}"
        method = "GET" if message is None else "POST"
        async with self.session.request(method, url, params=query, json=message) as answer:
            return await answer.json()

    async def send(self, text: str, *, app: str = "main", user: str = "zhangwei") -> int:
        """Send a text to a member; returns the errcode."""
        config = self.simulator.app(app).config
        said = await self.call("gettoken", corpid=config.corp_id, corpsecret=config.corp_secret)
        message = {"touser": user, "msgtype": "text", "text": {"content": text}}
        sent = await self.call(
            "message/send",
            message | {"agentid": config.app_id},
            access_token=said["access_token"],
        )
        return int(sent["errcode"])


@asynccontextmanager
async def desk() -> AsyncIterator[Desk]:
    """Open everything on loopback."""
    scripted = ScriptedGateway()
    app = web.Application()
    app.add_routes([web.post("/wecom/{app}", scripted.handle)])
    async with (
        TestServer(app, host="127.0.0.1") as server,
        aiohttp.ClientSession() as session,
    ):
        first = new_app(callback_url=str(server.make_url("/wecom/app")))
        first = replace(first, corp_id="ww5823bf96d3bd56c7")
        shop = new_app("shop", callback_url=str(server.make_url("/wecom/shop")), app_id=1_000_003)
        simulator = Simulator(
            new_config(first, replace(shop, members=("lina",))),
            session,
            clock=SystemClock(),
            timing=Timing(deadline_s=1.0, retry_s=0.0),
        )
        api = ApiListener(api_app(simulator), "127.0.0.1", 0)
        page = page_app(simulator, await asyncio.to_thread(read_page), api)
        async with TestServer(page, host="127.0.0.1") as shown:
            await api.open()
            try:
                yield Desk(simulator, scripted, api, session, str(shown.make_url("/")))
            finally:
                await api.close()


async def fill(opened: Desk, *, lang: Lang = "en") -> None:
    """Let a day's work go by: a message, its answer, a late callback, an error, a card."""
    simulator, app = opened.simulator, opened.simulator.app()
    await simulator.say(app, "zhangwei", "@dev test" if lang == "en" else "@dev 跑一下测试")
    await opened.send(ANSWER if lang == "en" else ANSWER_ZH)
    opened.gateway.answers = [503]
    await simulator.say(app, "zhangwei", "@dev status")
    app.switches.turn_on("60020", Switched(address="203.0.113.7"))
    await opened.send("held back")
    machine, state, status, stop = CARD_WORDS[lang]
    card = {
        "card_type": "button_interaction",
        "source": {"desc": "CodexBridge"},
        "main_title": {"title": "T-7K3F", "desc": "python3 -m unittest -v"},
        "horizontal_content_list": [
            {"keyname": machine, "value": "dev-1"},
            {"keyname": state, "value": "WAITING_APPROVAL"},
        ],
        "task_id": "T-7K3F",
        "button_list": [
            {"text": status, "key": "status", "style": 1},
            {"text": stop, "key": "stop", "style": 2},
        ],
    }
    message = {"touser": "zhangwei", "msgtype": "template_card", "template_card": card}
    app.send(message | {"agentid": app.config.app_id})


async def show(page: Page, opened: Desk) -> None:
    """Open the page and wait until it has heard everything."""
    await page.goto(opened.url)
    await expect(page.get_by_role("article").first).to_be_visible()


async def picture(
    folder: Path,
    name: str,
    *,
    lang: Lang = "en",
    theme: Literal["light", "dark"] = "light",
    width: int = 1280,
    view: str = "",
    opens: str = "",
) -> None:
    """Take one picture; ``view`` is chosen first, ``opens`` is the exchange that is looked into."""
    async with desk() as opened, browsing.browser() as browser:
        await fill(opened, lang=lang)
        async with new_page(browser, lang=lang, theme=theme, width=width) as page:
            await show(page, opened)
            if view:
                await page.get_by_role("button", name=view, exact=True).click()
            if opens:
                await page.get_by_role("button", name=opens).first.click()
            await screenshot(page, folder / f"{name}.png")


async def main(folder: Path) -> None:
    """Take all pictures."""
    await picture(folder, "simulator", opens="WeCom → gateway: text")
    await picture(
        folder, "simulator-zh-dark", lang="zh", theme="dark", opens="企业微信 → 网关: text"
    )
    await picture(folder, "simulator-narrow", width=390)
    await picture(folder, "simulator-traffic-narrow", width=390, view="Traffic")


if __name__ == "__main__":
    asyncio.run(main(Path(sys.argv[1])))
