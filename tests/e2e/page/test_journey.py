"""What people do on the page, in a real browser beside the real agent and its real windows."""

from __future__ import annotations

import asyncio
import re
import time
from collections.abc import AsyncIterator, Iterator
from typing import Final

import pytest
import pytest_asyncio
from aiohttp import web
from aiohttp.test_utils import TestServer
from playwright.async_api import Browser, Page, Route, expect

from local_agent.faces.window.arming import QUIET_S
from tests.browsing import kept_page, new_page
from tests.e2e.place import Terminal
from tests.e2e.proposing import Shop
from tests.e2e.test_window import ENTRY, Seen
from tests.page_asking import enter as visit
from tests.page_desk import LOGIN, SAID, SECONDS, enter
from tests.screen import Screen, Shown, until

pytestmark = [
    pytest.mark.needs("chromium"),
    pytest.mark.needs("a screen (xvfb, openbox, xdotool, Tk)"),
    pytest.mark.asyncio(loop_scope="session"),
    pytest.mark.thorough,
]
FIX = "fix the login retry"
AWAY = "does not answer"  # of the agent, while it is started anew


@pytest_asyncio.fixture(loop_scope="session")
async def page(browser: Browser, shop: Shop) -> AsyncIterator[Page]:
    async with kept_page(browser, height=1000) as made:
        made.set_default_timeout(SECONDS)
        await enter(made, shop.place)
        yield made


@pytest.fixture(autouse=True)
def as_before(shop: Shop) -> Iterator[None]:
    """Let every test find the workspace as it was, and nothing that waits."""
    (shop.workspace / "shop/auth/login.py").write_text(LOGIN, encoding="utf-8")
    (shop.workspace / "shop/auth/retry.py").unlink(missing_ok=True)
    yield
    for task in shop.place.tasks():
        if task["reason"] is None:
            shop.place.run("cancel", task["short_id"], check=False)


def login(shop: Shop) -> str:
    return (shop.workspace / "shop/auth/login.py").read_text(encoding="utf-8")


async def ask(page: Page, text: str) -> str:
    """Write a request on the page; return the short ID of its task once it is shown."""
    await page.get_by_label("What should be done?").fill(text)
    await page.keyboard.press("Enter")
    await page.wait_for_url(re.compile(r"#/tasks/T-"))
    heading = page.get_by_role("heading", level=1)
    await expect(heading).to_have_text(re.compile("T-"))
    await expect(page.locator(".request-text")).to_contain_text(text)
    return await heading.inner_text()


async def beside(page: Page) -> Page:
    """Open the page in another tab, which goes with all that was done to it."""
    other = await page.context.new_page()
    other.set_default_timeout(SECONDS)
    await other.goto(page.url.partition("#")[0])
    return other


async def state(page: Page, text: str) -> None:
    """Wait until the task that is shown stands so."""
    await expect(page.locator(".task-head > .pill")).to_have_text(text, timeout=SECONDS)


def approve_in_window(screen: Screen, short_id: str, code: str = "") -> None:
    """Approve as a person does, once the window of a task is there.

    Args:
        code: To be typed, where the risk is high.
    """
    window = screen.window(short_id)
    seen = Seen(screen, Shown(screen.processes[0]), window, *screen.place(window))
    if code:
        seen.focus()
        until(lambda: time.monotonic() > seen.focused_at + QUIET_S + 0.2 and seen.armed())
        entry = str(ENTRY), str(seen.height - 85)
        screen.do("mousemove", "--window", window, *entry, "click", "1")
        screen.do("type", "--", code)
        for row in range(2):  # each file is looked at, to its end
            screen.do("mousemove", "--window", window, "100", str(212 + 28 * row), "click", "1")
            screen.do("mousemove", "--window", window, "700", "400")
            screen.do("click", "--repeat", "60", "5")
    seen.over("approve")
    until(seen.awake)
    screen.do("click", "1")
    until(lambda: window not in screen.windows(short_id))


@pytest.mark.requirement("NL-12.1")
@pytest.mark.requirement("P1")
async def test_a_typed_request_is_applied_and_undone_through_the_real_window(
    page: Page, shop: Shop, screen: Screen
) -> None:
    short_id = await ask(page, FIX)
    await state(page, "waiting to be applied")
    assert login(shop) == LOGIN
    await page.get_by_role("button", name="Apply …").click()
    await state(page, "waiting for approval")
    code = await page.locator(".code").inner_text()
    assert re.fullmatch("[0-9A-Z]{4}-[0-9A-Z]{4}", code)
    await asyncio.to_thread(approve_in_window, screen, short_id)
    await state(page, "completed")
    assert "backoff" in login(shop)
    assert (shop.workspace / "shop/auth/retry.py").exists()
    await page.get_by_role("button", name="Undo …").click()
    await expect(page.locator(".request-text")).to_contain_text(f"undo {short_id}")
    undo = await page.get_by_role("heading", level=1).inner_text()
    await expect(page.locator(".question .alarm")).to_have_text("HIGH RISK")  # a file goes
    code = await page.locator(".code").inner_text()
    await asyncio.to_thread(approve_in_window, screen, undo, code)
    await state(page, "completed")
    assert login(shop) == LOGIN
    assert not (shop.workspace / "shop/auth/retry.py").exists()
    async with page.expect_download() as download:
        await page.get_by_role("button", name="Receipt").click()
    file = await (await download.value).path()
    assert undo in await asyncio.to_thread(file.read_text, encoding="utf-8")


async def test_an_example_is_written_for_the_person_and_sent_by_nobody_else(page: Page) -> None:
    field = page.get_by_label("What should be done?")
    await field.fill("half a thought")
    await page.get_by_role("button", name="fix the typos in the README").click()
    await expect(field).to_have_value("fix the typos in the README")
    await expect(field).to_be_focused()
    assert not page.url.partition("#/tasks/T-")[1]
    await field.fill("")
    await field.press("ArrowUp")
    await expect(field).to_have_value("half a thought")


async def test_a_message_from_wecom_appears_while_the_page_is_open(page: Page, shop: Shop) -> None:
    await expect(page.locator(".listed, .list .empty").first).to_be_visible()
    before = await page.locator(".listed").count()
    assert await asyncio.to_thread(shop.place.callback, "@dev explain the login page") == 200
    newest = page.locator(".listed").first
    await expect(newest).to_contain_text("explain the login page", timeout=SECONDS)
    await expect(newest).to_contain_text("from WeCom")
    await expect(page.locator(".listed")).to_have_count(before + 1)
    await newest.click()
    await expect(page.locator(".markdown strong").first).to_have_text("three times")
    await state(page, "completed")


async def test_a_reload_in_the_middle_of_an_answer_loses_no_word(page: Page, shop: Shop) -> None:
    word = asyncio.Event()

    async def late(route: Route) -> None:
        """Answer once more was said than the answer holds."""
        answer = await route.fetch()
        word.clear()
        await word.wait()
        await route.fulfill(response=answer)

    def heard(frame: str | bytes) -> None:
        if '"type":"stream"' in str(frame):
            word.set()

    page.on("websocket", lambda live: live.on("framereceived", heard))
    await ask(page, "drip an explanation of it, word by word: explain login")
    answer = page.locator("[aria-busy=true] .markdown")
    await expect(answer).to_contain_text("The login", timeout=SECONDS)
    await page.route("**/api/tasks/T-*", late, times=1)
    await page.reload()
    await expect(answer.locator("table")).to_contain_text("tries again", timeout=SECONDS)
    (shop.workspace.parent / SAID).touch()
    await state(page, "completed")
    await expect(page.locator(".markdown table")).to_contain_text("tries again")


async def test_two_tabs_keep_one_truth(page: Page, shop: Shop) -> None:
    other = await beside(page)
    short_id = await ask(page, FIX)
    row = other.locator(".listed", has_text=short_id)
    await expect(row).to_contain_text("waiting to be applied", timeout=SECONDS)
    await row.click()
    await other.get_by_role("button", name="Cancel").click()
    await state(page, "cancelled")
    await expect(row).to_contain_text("cancelled")
    await other.get_by_role("button", name="中文").click()
    await expect(page.get_by_role("link", name="审批")).to_be_visible()
    await page.get_by_role("button", name="English").click()
    await expect(other.get_by_role("link", name="Approvals")).to_be_visible()


async def test_what_is_chosen_before_the_page_hears_anything_is_shown(page: Page) -> None:
    page = await beside(page)
    await page.route_web_socket("**/api/live", lambda live: None)
    await page.reload()
    await page.get_by_role("button", name="Colours").click()
    await expect(page.locator("html[data-theme=dark]")).to_be_attached()
    await page.get_by_role("button", name="中文").click()
    await page.get_by_role("button", name="配色").click()
    await expect(page.locator("html[data-theme=light]")).to_be_attached()
    await page.get_by_role("button", name="English").click()
    await expect(page.get_by_role("link", name="Approvals")).to_be_visible()


@pytest.mark.requirement("P3")
async def test_the_page_goes_on_where_it_was_when_the_agent_is_killed_and_started_anew(
    browser: Browser, shop: Shop, screen: Screen
) -> None:
    # While there is no agent its requests fail, which the browser reports.
    async with kept_page(browser, height=1000, allowed=("ERR_CONNECTION", "WebSocket")) as page:
        await enter(page, shop.place)
        short_id = await ask(page, FIX)
        await state(page, "waiting to be applied")
        await page.get_by_role("button", name="Apply …").click()
        await state(page, "waiting for approval")
        code = await page.locator(".code").inner_text()
        await asyncio.to_thread(shop.place.kill, "agent")
        await expect(page.get_by_text(AWAY)).to_be_visible(timeout=SECONDS)
        await asyncio.to_thread(shop.place.start_agent)
        await expect(page.get_by_text(AWAY)).to_be_hidden(timeout=SECONDS)
        await state(page, "waiting for approval")
        assert await page.locator(".code").inner_text() == code
        await page.reload()
        await state(page, "waiting for approval")
        await asyncio.to_thread(approve_in_window, screen, short_id)
        await state(page, "completed")
        assert "backoff" in login(shop)


@pytest.mark.requirement("R23")
async def test_a_part_of_a_file_is_chosen_and_asked_for_under_a_code_of_its_own(
    page: Page, shop: Shop
) -> None:
    short_id = await ask(page, FIX)
    await page.get_by_role("button", name="Apply …").click()
    await state(page, "waiting for approval")
    code = await page.locator(".code").inner_text()
    await page.get_by_label("Keep shop/auth/retry.py").uncheck()
    await page.get_by_label("Keep this part").first.uncheck()
    await page.get_by_role("button", name="Ask for these 1 of 3 only").click()
    await expect(page.locator(".code")).not_to_have_text(code)
    await expect(page.locator(".file")).to_have_count(1)
    await asyncio.to_thread(shop.place.approve, short_id)
    await state(page, "completed")
    assert login(shop) == LOGIN.replace(
        '{"s": session}).json()', '{"s": session}, retry=True).json()'
    )
    assert not (shop.workspace / "shop/auth/retry.py").exists()


async def test_a_proposal_is_revised_with_feedback_from_the_composer(page: Page) -> None:
    first = await ask(page, FIX)
    await state(page, "waiting to be applied")
    await page.get_by_role("button", name="Revise …").click()
    await expect(page.get_by_text(f"Revising {first}")).to_be_visible()
    await page.get_by_label("What should be done?").fill("wait more gently")
    await page.keyboard.press("Enter")
    await expect(page.locator(".task-head")).to_contain_text("version 2", timeout=SECONDS)
    await state(page, "version 2")


async def test_a_command_that_is_whole_is_sent_and_what_is_refused_is_told(page: Page) -> None:
    await ask(page, "@dev help")
    await expect(page.locator(".task")).to_contain_text("review: your local changes")
    await ask(page, "@dev tset")
    await expect(page.get_by_role("region", name="Outcome")).to_contain_text("@dev test")


async def test_what_was_found_opens_its_file_at_the_line(page: Page) -> None:
    await ask(page, "search LoginError")
    await page.locator(".hit a", has_text="shop/auth/login.py:6").click()
    await expect(page.locator(".marked")).to_contain_text("class LoginError")
    await expect(page.get_by_role("heading", name="login.py")).to_be_visible()
    await page.get_by_role("button", name="docs/").click()
    await page.get_by_role("link", name="设计.md").click()
    await expect(page.locator(".text")).to_contain_text("登录重试三次")
    await page.get_by_role("link", name="logo.png").click()
    await expect(page.get_by_role("img", name="logo.png")).to_be_visible()
    await page.get_by_role("link", name="data.bin").click()
    await expect(page.locator("pre")).to_contain_text("00000000  00 01 02")


async def test_the_keyboard_alone_is_enough(page: Page) -> None:
    box = page.get_by_label("What should be done?")
    await page.keyboard.press("Tab")
    await expect(page.get_by_role("link", name="Skip to the content")).to_be_focused()
    await box.focus()
    await page.keyboard.type("@dev se")
    await expect(page.get_by_role("option")).to_have_count(1)
    await page.keyboard.press("Escape")
    await expect(page.get_by_role("option")).to_have_count(0)
    await expect(box).to_have_value("@dev se")
    await page.keyboard.type("a")
    await expect(page.get_by_role("option")).to_have_count(1)
    await page.keyboard.press("Tab")
    await expect(box).to_have_value("@dev search ")
    await page.keyboard.type("LoginError")
    await page.keyboard.press("Enter")
    await expect(page.locator(".hit").first).to_be_visible(timeout=SECONDS)
    await expect(box).to_have_value("")
    await page.keyboard.press("ArrowUp")
    await expect(box).to_have_value("@dev search LoginError")
    await page.keyboard.press("ArrowDown")
    await expect(box).to_have_value("")
    await page.keyboard.type("one")
    await page.keyboard.press("Shift+Enter")
    await page.keyboard.type("two")
    await expect(box).to_have_value("one\ntwo")


async def test_a_playbook_is_started_followed_and_listed(page: Page, shop: Shop) -> None:
    await page.get_by_role("link", name="Playbooks").click()
    card = page.locator(".queue > li", has_text="repo-health")
    await card.get_by_role("button", name="Run …").click()
    await card.get_by_role("button", name="Run", exact=True).click()
    await expect(page.locator(".steps li").first).to_contain_text("completed", timeout=SECONDS)
    for step in ("measure", "confirm"):
        waits = page.locator(".steps li.waiting", has_text=step)
        await expect(waits.get_by_role("button", name="Decide on this machine")).to_be_visible()
        await state(page, "waiting for approval")
        asked = await waits.locator("a").inner_text()
        await asyncio.to_thread(shop.place.approve, asked)
    await state(page, "completed")
    await page.get_by_role("link", name="Playbooks").click()
    await expect(page.locator("tbody tr").first).to_contain_text("repo-health")


@pytest.mark.requirement("R31")
async def test_a_passkey_is_added_at_a_terminal_and_approves_on_the_page(
    page: Page, shop: Shop
) -> None:
    page = await beside(page)
    cdp = await page.context.new_cdp_session(page)
    await cdp.send("WebAuthn.enable")
    options = {
        "protocol": "ctap2",
        "transport": "internal",
        "hasResidentKey": True,
        "hasUserVerification": True,
        "isUserVerified": True,
        "automaticPresenceSimulation": True,
    }
    made = await cdp.send("WebAuthn.addVirtualAuthenticator", {"options": options})
    await asyncio.to_thread(_add_passkey, shop, page, asyncio.get_running_loop())
    await expect(page.get_by_text("may approve on this page")).to_be_visible(timeout=SECONDS)
    await page.get_by_role("link", name="Tasks").click()
    short_id = await ask(page, FIX)
    await page.get_by_role("button", name="Apply …").click()
    await state(page, "waiting for approval")
    button = page.get_by_role("button", name="Approve with a passkey")
    await expect(button).to_be_disabled()  # until it has been in sight for a while
    await cdp.send(
        "WebAuthn.setUserVerified",
        {"authenticatorId": made["authenticatorId"], "isUserVerified": False},
    )
    await expect(button).to_be_enabled()
    await button.click()
    await expect(page.get_by_text("Nothing was approved")).to_be_visible(timeout=SECONDS)
    assert login(shop) == LOGIN
    await cdp.send(
        "WebAuthn.setUserVerified",
        {"authenticatorId": made["authenticatorId"], "isUserVerified": True},
    )
    await button.click()
    await state(page, "completed")
    assert "backoff" in login(shop)
    run, file = shop.place.run, str(shop.place.root / "receipt.json")
    await asyncio.to_thread(run, "receipt", short_id, "--output", file)
    key = (await asyncio.to_thread(run, "receipt", "key")).stdout.strip()
    said = (await asyncio.to_thread(run, "receipt", "verify", file, "--key", key)).stdout
    assert "The machine names it" in said  # it proves the signature, not whose key that was
    listed = (await asyncio.to_thread(run, "passkey", "list")).stdout
    assert re.search(r"[0-9A-Z]{4}-[0-9A-Z]{4}", listed)[0] in said  # type: ignore[index]


def _add_passkey(shop: Shop, page: Page, loop: asyncio.AbstractEventLoop) -> None:
    """Add a passkey as a person does: at a terminal, and in the browser that the link opens."""

    async def register(url: str) -> str:
        await page.goto(url)
        await page.get_by_role("button", name="Add this passkey").click()
        return await page.locator(".code").inner_text()

    with Terminal(shop.place.environ, "passkey", "add", "laptop") as terminal:
        terminal.read_until("\n", "", after=re.compile(r"http://localhost:\S+"))
        url = re.search(r"http://localhost:\S+", terminal.shown)
        assert url
        code = asyncio.run_coroutine_threadsafe(register(url[0]), loop).result(30)
        terminal.read_until(":", "：", after=re.compile(re.escape(code[5:])))
        terminal.type(code[:4])
        terminal.read_to_end()
    assert "laptop" in shop.place.run("passkey", "list").stdout


WORKER: Final = """\
oninstall = () => skipWaiting();
onfetch = (event) => event.request.mode === "navigate" && event.respondWith(
  new Response("<!doctype html><title>theirs</title>", {headers: {"Content-Type": "text/html"}}));
"""
INSTALL: Final = """\
<!doctype html><script type="module">
await navigator.serviceWorker.register("/worker.js");
await navigator.serviceWorker.ready;
document.title = "installed";
</script>
"""


@pytest.mark.requirement("R56")
async def test_who_had_the_port_meanwhile_is_not_given_a_link(browser: Browser, shop: Shop) -> None:
    async def answer(request: web.Request) -> web.Response:
        if request.path == "/worker.js":
            return web.Response(text=WORKER, content_type="text/javascript")
        return web.Response(text=INSTALL, content_type="text/html")

    app = web.Application()
    app.router.add_get("/{path:.*}", answer)
    place, visited = shop.place, visit(shop.place)
    async with new_page(browser, allowed=("",)) as page:
        await asyncio.to_thread(place.run, "open", "--shut")
        async with TestServer(app, host="127.0.0.1", port=visited.port):
            await page.goto(f"{visited.origin}/")
            await expect(page).to_have_title("installed")
        await enter(page, place)
        await expect(page).not_to_have_title("theirs")
