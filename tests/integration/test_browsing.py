"""What the tests of pages rely on: no problem of a page passes unnoticed, under a strict policy."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from pathlib import Path

import pytest
import pytest_asyncio
from aiohttp import web
from aiohttp.test_utils import TestServer
from playwright.async_api import Browser, Page, expect

from tests.browsing import axe, kept_page, new_page, screenshot

pytestmark = [
    pytest.mark.needs("chromium"),
    pytest.mark.asyncio(loop_scope="session"),
    pytest.mark.thorough,
]

POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; "
    "img-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'; "
    "require-trusted-types-for 'script'; trusted-types 'none'"
)
STYLE = """
body { margin: 0; background: white }
main { display: flow-root; height: 2000px }
@media (prefers-color-scheme: dark) { body { background: black } }
@keyframes move { from { margin-left: 0 } to { margin-left: 100px } }
.moving { animation: move 1s infinite }
.pale { color: #aaa }
.still { caret-color: transparent }
"""
PAGE = """<!doctype html><html lang="en"><head><title>A page</title>
<link rel="icon" href="/icon.png"><link rel="stylesheet" href="/style.css">{head}</head>
<body><main><h1>A page</h1>{body}</main></body></html>"""
PAGES = {
    "/": PAGE.format(head="", body="<p>Nothing to see.</p>"),
    "/inline": PAGE.format(head="<script>1</script>", body=""),
    "/eval": PAGE.format(head='<script type="module" src="/eval.js"></script>', body=""),
    "/markup": PAGE.format(head='<script type="module" src="/markup.js"></script>', body=""),
    "/throws": PAGE.format(head='<script type="module" src="/throws.js"></script>', body=""),
    "/rejects": PAGE.format(head='<script type="module" src="/rejects.js"></script>', body=""),
    "/logs": PAGE.format(head='<script type="module" src="/logs.js"></script>', body=""),
    "/lacks": PAGE.format(head="", body='<img src="/none.png" alt="">'),
    "/foreign": PAGE.format(head="", body='<img src="http://127.0.0.1:9/" alt="">'),
    "/cut": PAGE.format(head="", body='<img src="/cut.png" alt="">'),
    "/gives-up": PAGE.format(head='<script type="module" src="/abort.js"></script>', body=""),
    "/hard": PAGE.format(head="", body='<p class="pale">Pale</p><input>'),
    "/moving": PAGE.format(head="", body='<input autofocus><p class="moving">x</p>'),
    "/still": PAGE.format(head="", body='<input autofocus class="still"><p>x</p>'),
}
SCRIPTS = {
    "/eval.js": "try { eval('1') } catch { }",
    "/markup.js": "try { document.body.innerHTML = '<b>x</b>' } catch { }",
    "/throws.js": "throw new Error('thrown');",
    "/rejects.js": "Promise.reject(new Error('rejected'));",
    "/logs.js": "console.info('fine'); console.error('logged');",
    "/abort.js": "const a = new AbortController(); fetch('/never', {signal: a.signal})"
    ".catch(() => { document.title = 'Given up' }); a.abort();",
}
PROBLEMS = {
    "/inline": "securitypolicyviolation: script-src-elem inline",
    "/eval": "securitypolicyviolation: require-trusted-types-for",
    "/markup": "securitypolicyviolation: require-trusted-types-for",
    "/throws": "exception: Error: thrown",
    "/rejects": "exception: Error: rejected",
    "/logs": "console: logged",
    "/lacks": "console: Failed to load resource: the server responded with a status of 404",
    "/foreign": "securitypolicyviolation: img-src http://127.0.0.1:9/",
    "/cut": "request: GET",
}


async def _answer(request: web.Request) -> web.StreamResponse:
    headers = {"Content-Security-Policy": POLICY}
    for texts, kind in ((PAGES, "text/html"), (SCRIPTS, "text/javascript")):
        if request.path in texts:
            return web.Response(text=texts[request.path], content_type=kind, headers=headers)
    if request.path == "/style.css":
        return web.Response(text=STYLE, content_type="text/css")
    if request.path == "/icon.png":
        return web.Response(body=b"", content_type="image/png")
    if request.path == "/cut.png":
        assert request.transport is not None
        request.transport.abort()
    if request.path == "/never":
        await asyncio.Event().wait()
    raise web.HTTPNotFound


@pytest_asyncio.fixture(loop_scope="session")
async def site() -> AsyncIterator[str]:
    """Serve the pages; gives their origin."""
    app = web.Application()
    app.router.add_get("/{path:.*}", _answer)
    async with TestServer(app, host="localhost") as server:
        yield str(server.make_url("/")).rstrip("/")


async def test_what_tests_do_to_a_page_is_no_problem_of_it(browser: Browser, site: str) -> None:
    async with kept_page(browser) as page:
        await page.goto(f"{site}/still")
        await page.get_by_role("textbox").fill("typed")
        await page.get_by_role("heading", name="A page").click()
        await expect(page.get_by_role("textbox")).to_have_value("typed")
        assert await page.evaluate("document.title") == "A page"


async def _problems(browser: Browser, url: str) -> str:
    """Return what a test that only opens a page fails with; empty where it passes."""
    try:
        async with kept_page(browser) as page:
            await page.goto(url)
    except AssertionError as failed:
        return str(failed)
    return ""


async def test_each_problem_of_a_page_fails_its_test(browser: Browser, site: str) -> None:
    told = {path: await _problems(browser, site + path) for path in PROBLEMS}
    assert {
        path: told[path] for path, problem in PROBLEMS.items() if problem not in told[path]
    } == {}


async def test_a_problem_that_the_test_provokes_can_be_allowed(browser: Browser, site: str) -> None:
    async with kept_page(browser, allowed=["logged"]) as page:
        await page.goto(f"{site}/logs")
    with pytest.raises(AssertionError, match="thrown"):
        async with kept_page(browser, allowed=["logged"]) as page:
            await page.goto(f"{site}/throws")


async def test_a_request_that_the_page_gives_up_has_not_failed(browser: Browser, site: str) -> None:
    async with kept_page(browser) as page:
        await page.goto(f"{site}/gives-up")
        await page.wait_for_function("() => document.title === 'Given up'")


async def test_a_test_that_fails_tells_the_problems_of_its_page(
    browser: Browser, site: str
) -> None:
    async def fail() -> None:
        async with new_page(browser) as page:
            await page.goto(f"{site}/throws")
            raise KeyError

    with pytest.raises(KeyError) as failed:
        await fail()
    assert [note.splitlines()[0] for note in failed.value.__notes__] == ["exception: Error: thrown"]


TRACES = """async () => {
  const stores = await indexedDB.databases();
  const cached = await caches.keys();
  const left = [document.cookie, name, ...Object.keys(localStorage), ...Object.keys(sessionStorage),
    ...stores.map((one) => one.name), ...cached];
  document.cookie = "cookie=1";
  name = "name";
  localStorage.setItem("local", "1");
  sessionStorage.setItem("session", "1");
  await caches.open("cache");
  await new Promise((done) => { indexedDB.open("database").onsuccess = done; });
  return left.filter(Boolean);
}"""


async def test_who_gets_a_tab_that_was_kept_finds_nothing_of_who_had_it(
    browser: Browser, site: str
) -> None:
    had = []
    for _ in range(2):
        async with kept_page(browser, theme="dark", width=390) as page:
            had.append(page)
            await page.goto(site)
            assert await page.context.cookies() == []
            assert await page.evaluate(TRACES) == []
            assert len(await page.evaluate(TRACES)) == 6
            await page.route("**/*", lambda route: route.abort())
            await page.context.new_page()
    assert had[0] is had[1]
    async with kept_page(browser) as page:
        assert page is had[0]
        assert page.context.pages == [page]
        await page.goto(site)
        assert await page.evaluate("innerWidth") == 1280
        assert await page.evaluate("matchMedia('(prefers-color-scheme: light)').matches")


async def test_a_tab_whose_test_fails_is_not_kept(browser: Browser, site: str) -> None:
    async def fail() -> None:
        async with kept_page(browser) as page:
            had.append(page)
            await page.goto(f"{site}/throws")
            raise KeyError

    had: list[Page] = []
    with pytest.raises(KeyError):
        await fail()
    assert had[0].is_closed()
    async with kept_page(browser) as page:
        assert page is not had[0]


async def test_a_page_is_told_what_the_person_prefers(browser: Browser, site: str) -> None:
    async with kept_page(browser, lang="zh", theme="dark", width=390, height=844) as page:
        await page.goto(site)
        told = await page.evaluate(
            "() => [navigator.language, innerWidth, innerHeight,"
            " matchMedia('(prefers-color-scheme: dark)').matches]"
        )
    assert told == ["zh-CN", 390, 844, True]


@pytest.mark.needs("page-tools")
async def test_what_is_hard_to_use_is_found_under_the_strict_policy(
    browser: Browser, site: str
) -> None:
    async with kept_page(browser) as page:
        await page.goto(f"{site}/hard")
        found = {one.rule: one for one in await axe(page)}
        assert found.keys() == {"color-contrast", "label"}
        assert found["color-contrast"].nodes[0].startswith("p: Fix any of the following")
        assert await page.evaluate("() => typeof axe") == "undefined"
        await page.goto(site)
        assert await axe(page) == []


async def test_a_picture_shows_the_whole_page_and_nothing_that_moves_or_blinks(
    browser: Browser, site: str, tmp_path: Path
) -> None:
    for name in ("still", "moving"):
        async with kept_page(browser, width=400, height=300) as page:
            await page.goto(f"{site}/{name}")
            await page.evaluate("() => document.querySelector('input').focus()")
            await screenshot(page, tmp_path / name)
    still, moving = ((tmp_path / name).read_bytes() for name in ("still", "moving"))
    assert still == moving
    # Width and height, as the first chunk of a PNG tells them.
    assert moving[16:24] == (400).to_bytes(4) + (2000).to_bytes(4)
