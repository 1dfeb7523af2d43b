"""Every page in both languages and colours, wide and narrow: axe has nothing against any of it."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Literal

import pytest
from playwright.async_api import Browser, Page, expect

from common.sentences import Lang
from tests.browsing import axe, kept_page
from tests.e2e.place import Place, wait_until
from tests.e2e.proposing import Shop
from tests.page_desk import SECONDS, enter, prefer

pytestmark = [
    pytest.mark.needs("chromium"),
    pytest.mark.needs("page-tools"),
    pytest.mark.needs("a screen (xvfb, openbox, xdotool, Tk)"),
    pytest.mark.asyncio(loop_scope="session"),
    pytest.mark.thorough,
]
REQUESTS = ("fix the login retry", "explain the login", "search LoginError", "test")
WHERE = {
    "tasks": ("", ".listed"),
    "approvals": ("/approvals", ".queue > li"),
    "playbooks": ("/playbooks", ".queue > li"),
    "files": ("/files", ".folder a"),
    "file": ("/files/shop-api/shop/auth/login.py?line=8", ".marked"),
    "picture": ("/files/shop-api/logo.png", ".picture"),
    "binary": ("/files/shop-api/data.bin", "pre"),
    "insights": ("/insights", ".plot svg[role]"),
    "audit": ("/audit", "tbody tr"),
    "settings": ("/settings", "tbody tr"),
    "passkey": ("/passkey", ".card"),
}


async def each_page(page: Page, shop: Shop) -> dict[str, list[str]]:
    """Return what axe has against each page."""
    found = {}
    for name, (path, shows) in WHERE.items():
        await page.evaluate("path => { location.hash = path; }", path)
        await expect(page.locator(shows).first).to_be_visible(timeout=SECONDS)
        found[name] = [f"{one.rule}: {one.nodes}" for one in await axe(page)]
    for words in REQUESTS:
        short_id = (await asyncio.to_thread(shop.task, words))["short_id"]
        await page.evaluate("path => { location.hash = path; }", f"/tasks/{short_id}")
        await expect(page.locator(".task-head h1")).to_have_text(short_id, timeout=SECONDS)
        found[words] = [f"{one.rule}: {one.nodes}" for one in await axe(page)]
    return {name: against for name, against in found.items() if against}


def ask_for_all(shop: Shop) -> None:
    for words in REQUESTS:
        if not shop.task(words):
            shop.say(f"@dev {words}")
    wait_until(lambda: all(shop.task(words).get("state") in SETTLED for words in REQUESTS))


SETTLED = ("WAITING_APPROVAL", "COMPLETED")


@pytest.mark.parametrize(
    ("lang", "theme", "width"),
    [("en", "light", 1280), ("zh", "dark", 1280), ("en", "dark", 390), ("zh", "light", 390)],
)
async def test_axe_has_nothing_against_any_page(
    browser: Browser, shop: Shop, lang: Lang, theme: Literal["light", "dark"], width: int
) -> None:
    await asyncio.to_thread(ask_for_all, shop)
    async with kept_page(browser, lang=lang, theme=theme, width=width) as page:
        await enter(page, shop.place)
        await prefer(page, lang=lang, theme=theme)
        assert await each_page(page, shop) == {}
        overflows = await page.evaluate("document.documentElement.scrollWidth > innerWidth")
        assert not overflows


async def test_it_says_so_when_there_is_nothing_yet(browser: Browser, tmp_path: Path) -> None:
    place = await asyncio.to_thread(Place.at, tmp_path / "home")
    try:
        await asyncio.to_thread(place.start_agent, connected=False)
        async with kept_page(browser) as page:
            await enter(page, place)
            await expect(page.get_by_text("No tasks yet")).to_be_visible()
            await expect(page.get_by_text("No workspace yet")).to_be_visible()
            for path in ("/approvals", "/playbooks", "/files", "/insights", "/audit", "/settings"):
                await page.evaluate("path => { location.hash = path; }", path)
                await expect(page.get_by_role("heading", level=1)).to_be_visible(timeout=SECONDS)
                assert await axe(page) == []
    finally:
        await asyncio.to_thread(place.stop)
