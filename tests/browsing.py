"""Pages in a real browser: opened, watched for errors, checked for accessibility, and pictured.

The fixture ``browser`` (`tests.conftest`) gives one browser to all tests of a process.  Playwright
belongs to the event loop that it was started on, so what uses it runs on the loop of the session::

    pytestmark = [pytest.mark.needs("chromium"), pytest.mark.asyncio(loop_scope="session")]

The page's Content-Security-Policy stays in force: what the tests do to a page comes from outside.
"""

from __future__ import annotations

import asyncio
import shutil
from collections.abc import AsyncIterator, Collection, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any, Final, Literal

from playwright.async_api import (
    Browser,
    BrowserContext,
    ConsoleMessage,
    Page,
    Request,
    WebError,
    async_playwright,
)

from common.sentences import Lang

AXE: Final = Path(__file__).parent.parent / ".page-tools/node_modules/axe-core/axe.min.js"
LOCALES: Final[Mapping[Lang, str]] = {"en": "en-US", "zh": "zh-CN"}
VIOLATION: Final = "securitypolicyviolation: "
# It runs in each document before anything of the page does.
_WATCH: Final = f"""
document.addEventListener("securitypolicyviolation", (event) => console.error(
  {VIOLATION!r} + [event.effectiveDirective, event.blockedURI, event.sourceFile, event.sample]
    .filter(Boolean).join(" ")));
"""
_RUN_AXE: Final = """
axe.run(document, {iframes: false, resultTypes: ["violations"]}).then((found) =>
  found.violations.map(({id, impact, help, nodes}) => ({rule: id, impact, help,
    nodes: nodes.map(({target, failureSummary}) => `${target.join(" ")}: ${failureSummary}`)})))
"""


@dataclass(frozen=True, slots=True)
class Violation:
    """A rule of accessibility that a page breaks.

    Attributes:
        rule: Its name, as https://dequeuniversity.com/rules/axe lists it.
        impact: ``minor``, ``moderate``, ``serious`` or ``critical``.
        help: What it demands.
        nodes: What breaks it, each a selector and how.
    """

    rule: str
    impact: str
    help: str
    nodes: tuple[str, ...]


@asynccontextmanager
async def browser() -> AsyncIterator[Browser]:
    """Start a browser, and end it."""
    async with async_playwright() as playwright:
        # The sandbox of Chromium does not start as root; it shows nothing but our own pages.
        started = await playwright.chromium.launch(
            executable_path=shutil.which("chromium"), args=["--no-sandbox"]
        )
        try:
            yield started
        finally:
            await started.close()


@asynccontextmanager
async def new_page(
    browser: Browser,
    *,
    lang: Lang = "en",
    theme: Literal["light", "dark"] = "light",
    width: int = 1280,
    height: int = 800,
    allowed: Collection[str] = (),
) -> AsyncIterator[Page]:
    """Give an empty page with cookies and storage of its own, and close it.

    Args:
        browser: What shows it.
        lang: Which language it prefers.
        theme: Which colours it prefers.
        width: Of the page, in CSS pixels.
        height: Of what is seen of it at once.
        allowed: Words by which a problem that the test provokes is told from others.

    Raises:
        AssertionError: It, or a page that it opened, had a problem that is not allowed: an error in
            the console, a violation of its policy, an exception or a request that failed.
    """
    page = await _open(browser, lang, theme, width, height)
    try:
        async with no_problems(page.context, allowed):
            yield page
    finally:
        await page.context.close()


@asynccontextmanager
async def kept_page(
    browser: Browser,
    *,
    lang: Lang = "en",
    theme: Literal["light", "dark"] = "light",
    width: int = 1280,
    height: int = 800,
    allowed: Collection[str] = (),
) -> AsyncIterator[Page]:
    """Give an empty page as `new_page` does, in a tab that others had before, and keep the tab.

    A new one takes a second of processor time.  Cookies, storage, routes and other tabs of those
    before are gone.  What stays is what they listen for, scripts for every document, and what they
    did through DevTools: who does more of that than listen takes a new page.
    """
    idle = _idle.setdefault((browser, lang), [])
    page = idle.pop() if idle else await _open(browser, lang, theme, width, height)
    try:
        async with no_problems(page.context, allowed):
            await page.emulate_media(color_scheme=theme)
            await page.set_viewport_size({"width": width, "height": height})
            yield page
            await _settle(page.context)
            await _clear(page)
            idle.append(page)
    finally:
        if page not in idle:
            await page.context.close()


_idle: Final[dict[tuple[Browser, Lang], list[Page]]] = {}


async def _open(
    browser: Browser, lang: Lang, theme: Literal["light", "dark"], width: int, height: int
) -> Page:
    # On another loop it would wait for ever.
    assert browser._loop is asyncio.get_running_loop(), 'mark it asyncio(loop_scope="session")'
    context = await browser.new_context(
        locale=LOCALES[lang],
        timezone_id="UTC",
        color_scheme=theme,
        reduced_motion="reduce",
        viewport={"width": width, "height": height},
    )
    await context.add_init_script(_WATCH)
    return await context.new_page()


async def _clear(page: Page) -> None:
    """Leave the page, and nothing of it."""
    context = page.context
    for other in context.pages:
        if other is not page:
            await other.close()
    await page.unroute_all(behavior="ignoreErrors")
    page.set_default_timeout(30_000)  # as Playwright has it
    if page.url != "about:blank":
        # Asked for by a script, the empty document needs no other process, nor does the next page.
        await page.evaluate("() => { setTimeout(() => location.replace('about:blank')); }")
        await page.wait_for_url("about:blank")
    await page.evaluate("() => { name = ''; try { sessionStorage.clear(); } catch { } }")
    devtools = await context.new_cdp_session(page)
    await devtools.send("Storage.clearDataForOrigin", {"origin": "*", "storageTypes": "all"})
    await devtools.detach()


@asynccontextmanager
async def no_problems(
    context: BrowserContext, allowed: Collection[str] = ()
) -> AsyncIterator[None]:
    """Fail with what goes wrong meanwhile in any page of a context, as `new_page` does."""
    problems: list[str] = []

    def hear_message(message: ConsoleMessage) -> None:
        if message.text.startswith(VIOLATION):
            problems.append(message.text)
        elif message.type in ("error", "assert"):
            problems.append(f"console: {message.text} ({message.location['url']})")

    def hear_exception(thrown: WebError) -> None:
        problems.append(f"exception: {thrown.error.stack or thrown.error.message}")

    def hear_failure(request: Request) -> None:
        # What the page itself gave up, or left behind when it went elsewhere, has not failed.
        if request.failure != "net::ERR_ABORTED":
            problems.append(f"request: {request.method} {request.url} {request.failure}")

    context.on("console", hear_message)
    context.on("weberror", hear_exception)
    context.on("requestfailed", hear_failure)
    try:
        yield
        await _settle(context)
    except BaseException as error:
        for problem in _unexpected(problems, allowed):
            error.add_note(problem)
        raise
    finally:
        context.remove_listener("console", hear_message)
        context.remove_listener("weberror", hear_exception)
        context.remove_listener("requestfailed", hear_failure)
    found = _unexpected(problems, allowed)
    assert not found, "the page had problems:\n" + "\n".join(found)


async def _settle(context: BrowserContext) -> None:
    """Wait until what the pages have said by now is heard: it comes before the answer to this."""
    for page in context.pages:
        await page.evaluate("() => new Promise((done) => setTimeout(done))")


def _unexpected(problems: list[str], allowed: Collection[str]) -> list[str]:
    return [one for one in problems if not any(words in one for words in allowed)]


async def axe(page: Page) -> list[Violation]:
    """Return the rules of accessibility that a page breaks as it stands.

    axe-core runs in a world of its own, which sees the document and none of the page's scripts.
    """
    devtools = await page.context.new_cdp_session(page)
    try:
        tree = await devtools.send("Page.getFrameTree")
        world = await devtools.send(
            "Page.createIsolatedWorld",
            {"frameId": tree["frameTree"]["frame"]["id"], "worldName": "axe"},
        )

        async def run(expression: str) -> Any:
            said = await devtools.send(
                "Runtime.evaluate",
                {
                    "expression": expression,
                    "contextId": world["executionContextId"],
                    "awaitPromise": True,
                    "returnByValue": True,
                },
            )
            assert "exceptionDetails" not in said, said["exceptionDetails"]
            return said["result"].get("value")

        # A world of that name stays for as long as the document does, and axe in it.
        if await run("typeof axe") == "undefined":
            await run(f"{_axe_source()};0")
        found = await run(_RUN_AXE)
    finally:
        await devtools.detach()
    return [Violation(**one | {"nodes": tuple(one["nodes"])}) for one in found]


@lru_cache(maxsize=1)
def _axe_source() -> str:
    return AXE.read_text(encoding="utf-8")


async def screenshot(page: Page, path: Path) -> None:
    """Write a whole page as a PNG, with its fonts loaded, and nothing that moves or blinks."""
    await page.evaluate("() => document.fonts.ready.then(() => null)")
    await page.screenshot(
        path=path, type="png", full_page=True, animations="disabled", caret="hide"
    )
