"""The simulator's page in a real browser: chat, cards, traffic, errors, and who may ask."""

from __future__ import annotations

from collections.abc import AsyncIterator
from dataclasses import replace
from typing import Literal

import pytest
import pytest_asyncio
from playwright.async_api import Browser, Page, expect

from common.sentences import Lang
from tests.browsing import axe, kept_page
from tests.simulator_desk import ANSWER, Desk, desk, fill, show

pytestmark = [pytest.mark.needs("chromium"), pytest.mark.asyncio(loop_scope="session")]


@pytest_asyncio.fixture(loop_scope="session")
async def opened() -> AsyncIterator[Desk]:
    async with desk() as one:
        await fill(one)
        yield one


def said(page: Page, text: str) -> object:
    return page.get_by_role("listitem").filter(has_text=text)


async def test_a_message_is_written_and_answered(browser: Browser, opened: Desk) -> None:
    async with kept_page(browser) as page:
        await show(page, opened)
        await expect(page.get_by_text(ANSWER.splitlines()[0])).to_be_visible()
        await page.get_by_label("Message to the app").fill("@dev <b>help</b>")
        await page.keyboard.press("Enter")
        await expect(page.locator(".said.member").last).to_contain_text("@dev <b>help</b>")
        await expect(page.get_by_role("status")).to_have_text("Taken: HTTP 200.")
        opened.gateway.answers = [503] * 4
        await page.get_by_label("Message to the app").fill("again")
        await page.get_by_role("button", name="Send", exact=True).click()
        await expect(page.locator(".said.system")).to_have_count(1)
        await expect(page.get_by_role("status")).to_contain_text("HTTP 503")


async def test_a_card_is_clicked_and_changes_in_place(browser: Browser, opened: Desk) -> None:
    async with kept_page(browser) as page:
        await show(page, opened)
        card = page.get_by_role("article", name="Card: T-7K3F").first
        await card.get_by_role("button", name="Stop watching").click()
        await expect(page.get_by_role("status")).to_have_text("Taken: HTTP 200.")
        app = opened.simulator.app()
        sent = opened.simulator.feed.exchanges(0)[-1]
        code = sent.sent_plain.split("<ResponseCode>")[1].split("<")[0]
        assert "<EventKey>stop</EventKey>" in sent.sent_plain
        await page.get_by_role("button", name="a card with buttons").click()
        await expect(page.get_by_role("article")).to_have_count(2)
        change = {"userids": ["zhangwei"], "response_code": code, "agentid": app.config.app_id}
        app.update_card(change | {"button": {"replace_name": "No longer watched"}})
        await expect(card).to_contain_text("No longer watched")
        await expect(card.get_by_role("button")).to_have_count(0)
        before = await page.locator(".said").all_inner_texts()
        await page.reload()
        await expect(page.locator(".said")).to_have_count(len(before))
        assert await page.locator(".said").all_inner_texts() == before


@pytest.mark.thorough
async def test_traffic_is_shown_decrypted_and_as_it_went_and_sent_again(
    browser: Browser, opened: Desk
) -> None:
    async with kept_page(browser) as page:
        await show(page, opened)
        row = page.get_by_role("button", name="WeCom → gateway: text").first
        await row.click()
        await expect(row).to_have_attribute("aria-expanded", "true")
        request = page.get_by_role("region", name="Request")
        await expect(request).to_contain_text("<Content>@dev status</Content>")
        await page.get_by_role("button", name="On the wire").click()
        await expect(request).to_contain_text("msg_signature=")
        await expect(request).not_to_contain_text("@dev status")
        before = len(opened.gateway.bodies)
        await page.get_by_role("button", name="as it was").click()
        await expect(page.get_by_role("status")).to_have_text("Taken: HTTP 200.")
        await page.get_by_role("button", name="signed anew").click()
        await expect(page.get_by_role("button", name="WeCom → gateway: text")).to_have_count(5)
        same, renewed = opened.gateway.bodies[before:]
        assert same == opened.gateway.bodies[before - 1] != renewed
        await page.get_by_role("button", name="API calls").click()
        await expect(page.get_by_role("button", name="WeCom → gateway: text")).to_have_count(0)
        await page.get_by_role("button", name="Failed").click()
        await page.get_by_role("button", name="gateway → WeCom: message/send").click()
        await expect(page.get_by_text("error: 60020")).to_be_visible()
        config = opened.simulator.config.first
        for secret in (config.corp_secret, config.token, config.encoding_aes_key):
            assert secret not in await page.content()


@pytest.mark.thorough
async def test_errors_are_switched_for_the_chosen_app(browser: Browser, opened: Desk) -> None:
    async with kept_page(browser) as page:
        await show(page, opened)
        untrusted = page.get_by_role("switch", name="60020")
        await expect(untrusted).to_have_attribute("aria-checked", "true")
        await untrusted.press("Space")
        await expect(untrusted).to_have_attribute("aria-checked", "false")
        assert await opened.send("fine") == 0
        await page.get_by_label("For").select_option("for-once")
        await page.get_by_role("switch", name="45009-hour").click()
        await expect(page.get_by_text("1 call left")).to_be_visible()
        assert await opened.send("too often") == 45009
        await expect(page.get_by_text("1 call left")).to_have_count(0)
        await page.get_by_role("combobox", name="App").select_option("shop")
        await page.get_by_role("switch", name="busy").click()
        await expect(page.get_by_text("1 error on")).to_be_visible()
        assert list(opened.simulator.app("shop").switches.told(0)) == ["busy"]
        assert not opened.simulator.app().switches.told(0)
        await page.get_by_role("switch", name="unreachable").click()
        await expect(page.get_by_text("2 errors on")).to_be_visible()
        await page.get_by_role("button", name="Switch all off").click()
        await expect(page.get_by_text("errors on")).to_have_count(0)
        assert opened.api.is_open


@pytest.mark.thorough
async def test_language_colours_and_member_are_kept(browser: Browser, opened: Desk) -> None:
    async with kept_page(browser) as page:
        await show(page, opened)
        await page.get_by_label("Write as").fill("lina")
        await expect(page.get_by_text("No messages yet")).to_be_visible()
        await page.get_by_role("button", name="中文").click()
        await page.get_by_label("深色").click()
        await page.reload()
        await expect(page.get_by_role("heading", name="与 main 的聊天")).to_be_visible()
        await expect(page.get_by_label("成员", exact=True)).to_have_value("lina")
        assert await page.evaluate("document.documentElement.dataset.theme") == "dark"


@pytest.mark.thorough
@pytest.mark.needs("page-tools")
@pytest.mark.parametrize(
    ("lang", "theme", "width"),
    [("en", "light", 1280), ("zh", "dark", 1280), ("en", "dark", 390), ("zh", "light", 390)],
)
async def test_it_is_accessible_and_fits(
    browser: Browser, opened: Desk, lang: Lang, theme: Literal["light", "dark"], width: int
) -> None:
    async with kept_page(browser, lang=lang, theme=theme, width=width) as page:
        await show(page, opened)
        views = {"en": ("Chat", "Traffic", "Errors"), "zh": ("聊天", "流量", "错误")}[lang]
        for view in views if width < 1100 else views[:1]:
            if width < 1100:
                await page.get_by_role("button", name=view, exact=True).click()
            if view == views[1] or width > 1100:
                await page.locator(".exchange").nth(2).click()
            assert await axe(page) == []
            wide = await page.evaluate("document.documentElement.scrollWidth")
            assert wide <= width


@pytest.mark.thorough
@pytest.mark.parametrize("width", [1280, 390])
async def test_however_much_was_said_the_page_is_no_longer_than_its_window(
    browser: Browser, opened: Desk, width: int
) -> None:
    for number in range(12):
        await opened.simulator.say(opened.simulator.app(), "zhangwei", f"message {number}")
    async with kept_page(browser, width=width) as page:
        await show(page, opened)
        for view in ("Chat", "Traffic", "Errors") if width < 1100 else ("",):
            if view:
                await page.get_by_role("button", name=view, exact=True).click()
            beyond = "document.documentElement.scrollHeight - window.innerHeight"
            assert await page.evaluate(beyond) == 0


@pytest.mark.thorough
async def test_what_the_simulator_says_of_a_callback_is_in_the_person_s_language(
    browser: Browser, opened: Desk
) -> None:
    app = opened.simulator.app()
    opened.gateway.answers = [503] * 4 + [b"no reply"]
    for text in ("refused", "dropped"):
        await opened.simulator.say(app, "zhangwei", text)
    app.config = replace(app.config, callback_url="http://127.0.0.1:9/")
    await opened.simulator.say(app, "zhangwei", "unheard")
    async with kept_page(browser, lang="zh") as page:
        await show(page, opened)
        for said in ("网关没有接收：HTTP 503。", "企业微信会丢弃这个回复：XML", "网关没有应答。"):
            await expect(page.get_by_text(said, exact=True)).to_be_visible()
        await page.locator(".exchange").first.click()
        await page.get_by_role("button", name="原始数据").click()
        await expect(page.get_by_role("region", name="应答")).to_have_text("无应答")
        await expect(page.get_by_text("HTTP 0")).to_have_count(0)


@pytest.mark.thorough
async def test_all_of_it_works_by_keyboard(browser: Browser, opened: Desk) -> None:
    async with kept_page(browser) as page:
        await show(page, opened)
        await page.keyboard.press("Tab")
        await expect(page.get_by_role("link", name="Skip to the chat")).to_be_focused()
        missing = {"SELECT", "TEXTAREA", "BUTTON exchange", "switch toggle", "BUTTON main"}
        for _ in range(80):
            await page.keyboard.press("Tab")
            reached = await page.evaluate(
                "(({role, tagName, className}) => `${role ?? tagName} ${className}`)"
                "(document.activeElement)"
            )
            missing = {part for part in missing if not reached.startswith(part)}
            if not missing:
                break
        assert not missing
