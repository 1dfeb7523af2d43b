"""What a person sees chosen and read on the page is what their passkey signs, in a real browser.

The page is served in this process, over a real journal, gate and engine; the authenticator is
Chromium's own virtual one.  The one-time codes are read where a person would: not on the page.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import aclosing, asynccontextmanager
from pathlib import Path
from typing import Any, Final

import pytest
import pytest_asyncio
from playwright.async_api import Browser, Page, expect

from common.model.state import TaskState
from common.seal import read_changes
from local_agent.views.question import OneTimeCode
from tests.browsing import new_page
from tests.page_pictures import AUTHENTICATOR
from tests.run_desk import running
from tests.unit.local_agent.faces.page.conftest import Place, serving

pytestmark = [
    pytest.mark.needs("chromium"),
    pytest.mark.asyncio(loop_scope="session"),
    pytest.mark.requirement("P2"),
    pytest.mark.thorough,
]

FILES: Final = {
    "a.txt": "".join(f"line {n}\n" for n in range(40)),
    "b.txt": "old\n",
    "long.txt": "".join(f"row {n}\n" for n in range(120)),
}
NORMAL: Final = """\
diff --git a/a.txt b/a.txt
--- a/a.txt
+++ b/a.txt
@@ -1,3 +1,3 @@
 line 0
-line 1
+line one
 line 2
@@ -30,3 +30,4 @@
 line 29
 line 30
+line and a half
 line 31
diff --git a/b.txt b/b.txt
--- a/b.txt
+++ b/b.txt
@@ -1 +1 @@
-old
+new
"""
ROWS: Final = 120
# High risk: a file is deleted, and a program is made.
HIGH: Final = (
    "diff --git a/long.txt b/long.txt\ndeleted file mode 100644\n--- a/long.txt\n+++ /dev/null\n"
    f"@@ -1,{ROWS} +0,0 @@\n"
    + "".join(f"-row {n}\n" for n in range(ROWS))
    + "diff --git a/run.sh b/run.sh\nnew file mode 100755\n--- /dev/null\n+++ b/run.sh\n"
    f"@@ -0,0 +1,{ROWS} @@\n" + "".join(f"+echo {n}\n" for n in range(ROWS))
)
APPROVE: Final = "Approve with a passkey"
DECIDE: Final = "Decide on this machine"


class Signing:
    """A page with a passkey, and a person before it."""

    def __init__(self, place: Place, page: Page) -> None:
        self.place, self.page = place, page
        self.approve = page.get_by_role("button", name=APPROVE)
        self.decide = page.get_by_role("button", name=DECIDE)

    async def asks(self, diff: str) -> str:
        """Let a change be asked for, look at it, and return its task."""
        desk = self.place.desk
        for name, text in FILES.items():
            await asyncio.to_thread((desk.place / name).write_text, text, "utf-8")
        task_id = await desk.apply(diff.encode(), workspace="shop")
        await desk.waiting(task_id)
        short_id = (await desk.task(task_id)).short_id
        await self.page.evaluate("path => { location.hash = path; }", f"/tasks/{short_id}")
        await expect(self.page.locator(".question")).to_be_visible()
        return task_id

    async def approved(self, task_id: str) -> set[str]:
        """Return the paths that were signed for, once it ran."""
        desk = self.place.desk
        await desk.until(task_id, TaskState.COMPLETED, TaskState.FAILED)
        stored = await desk.db.run(desk.db.journal.approvals.newest_of, task_id)
        assert stored is not None
        assert stored.approver == "passkey"
        asked = await desk.gate.show(stored.approval_id)
        return {one.path for one in read_changes(asked.approval.seal.payload)}

    async def ticked(self) -> dict[str, int]:
        """Return what a person sees ticked: hunks of each file."""
        ticked: dict[str, int] = await self.page.evaluate(
            """() => Object.fromEntries([...document.querySelectorAll(".file")].map((file) => {
              const whole = file.querySelector("header input");
              const parts = [...file.querySelectorAll(".hunk input")];
              const kept = parts.length ? parts.filter((one) => one.checked).length
                : whole ? Number(whole.checked) : 1;
              return [file.getAttribute("aria-label"), kept]; }))"""
        )
        return ticked


@asynccontextmanager
async def signing(browser: Browser, folder: Path) -> AsyncIterator[Signing]:
    """Serve a page, open it, and add a passkey to it as a person does."""
    async with (
        running(folder) as desk,
        serving(desk) as place,
        new_page(browser, height=700, allowed=("400", "409")) as page,
    ):
        devtools = await page.context.new_cdp_session(page)
        await devtools.send("WebAuthn.enable")
        await devtools.send("WebAuthn.addVirtualAuthenticator", {"options": AUTHENTICATOR})

        async def launch(*, purpose: str) -> str:
            secret = place.sessions.new_launch(desk.clock.now().wall_ms, purpose=purpose)
            return f"http://localhost:{place.port}/launch#{secret}"

        place.parts.passkeys.launch = launch
        async with aclosing(place.parts.passkeys.add("laptop")) as steps:  # type: ignore[type-var]
            begun: Any = (await anext(steps))[1]
            await page.goto(begun["url"])
            await page.get_by_role("button", name="Add this passkey").click()
            code = await page.locator(".code").inner_text()
            await anext(steps)
            await place.parts.passkeys.confirm(begun["ceremony"], code[:4])
            await anext(steps)
        await expect(page.get_by_text("may approve on this page")).to_be_visible()
        yield Signing(place, page)


@pytest_asyncio.fixture(loop_scope="session")
async def desk(browser: Browser, tmp_path: Path) -> AsyncIterator[Signing]:
    async with signing(browser, tmp_path) as made:
        yield made


async def test_what_is_seen_chosen_is_what_is_signed(desk: Signing) -> None:
    """Tick and untick in many ways: either the button signs what is ticked, or there is none."""
    page = desk.page
    untick: dict[str, list[Callable[[], Any]]] = {
        "": [],
        "a file": [page.get_by_label("Keep b.txt").click],
        "a part": [page.get_by_label("Keep this part").nth(1).click],
        "a part, its file collapsed": [
            page.get_by_label("Keep this part").first.click,
            page.locator(".file").first.get_by_role("button", name="Hide").click,
        ],
        "all": [page.get_by_label("Keep a.txt").click, page.get_by_label("Keep b.txt").click],
        "there and back": [
            page.get_by_label("Keep b.txt").click,
            page.get_by_label("Keep b.txt").click,
        ],
    }
    for how, clicks in untick.items():
        task_id = await desk.asks(NORMAL)
        await expect(page.locator(".hunk")).to_have_count(3)
        for click in clicks:
            await click()
        seen = await desk.ticked()
        if how in ("", "there and back"):
            assert seen == {"a.txt": 2, "b.txt": 1}, how
            await desk.approve.click()
            paths = await desk.approved(task_id)
            assert paths == {"a.txt", "b.txt"}, how
            continue
        await expect(desk.approve).to_have_count(0)
        await expect(desk.decide).to_have_count(0)
        if "collapsed" in how:
            # What is unticked out of sight is still seen at the file's own box.
            box = page.get_by_label("Keep a.txt")
            assert await box.evaluate("box => box.indeterminate")
        narrow = page.get_by_role("button", name="Ask for these")
        if how == "all":
            await expect(narrow).to_be_disabled()
            await page.get_by_role("button", name="Cancel").click()
            await desk.place.desk.until(task_id, TaskState.REJECTED)
            continue
        older = await page.locator(".code").inner_text()
        await narrow.click()
        await expect(page.locator(".code")).not_to_have_text(older)
        await expect(page.locator(".hunk")).to_have_count(sum(seen.values()))
        left = await desk.ticked()
        assert sum(left.values()) == sum(seen.values()), how
        await desk.approve.click()
        paths = await desk.approved(task_id)
        assert paths == set(left) == {path for path, kept in seen.items() if kept}, how


async def test_what_is_unticked_while_the_browser_asks_for_the_passkey_is_not_signed(
    desk: Signing,
) -> None:
    page, held = desk.page, "() => globalThis.touched !== undefined"
    task_id = await desk.asks(NORMAL)
    await page.evaluate(
        """() => { const get = navigator.credentials.get.bind(navigator.credentials);
          navigator.credentials.get = (asked) => new Promise((done) => {
            globalThis.touched = async () => done(await get(asked)); }); }"""
    )
    await desk.approve.click()
    await page.wait_for_function(held)
    await page.get_by_label("Keep b.txt").click()
    await expect(desk.approve).to_have_count(0)
    await page.evaluate("() => globalThis.touched()")
    await page.wait_for_timeout(1_000)
    assert (await desk.place.desk.task(task_id)).state is TaskState.WAITING_APPROVAL


async def test_high_risk_is_approved_only_after_all_of_it_was_on_the_screen(desk: Signing) -> None:
    page, passkeys = desk.page, desk.place.parts.passkeys
    async with aclosing(passkeys.touches.codes()) as codes:  # type: ignore[type-var]  # a terminal waits
        first: asyncio.Future[Any] = asyncio.ensure_future(anext(codes))
        task_id = await desk.asks(HIGH)
        button, files = desk.approve, page.locator(".file")
        await expect(page.get_by_text("read to the end, or look at each file")).to_be_visible()
        for index in range(2):
            await files.nth(index).get_by_role("button", name="Hide").click()
        await files.nth(1).scroll_into_view_if_needed()
        await page.wait_for_timeout(2_000)  # longer than a button takes to be armed
        await expect(button).to_be_disabled()
        await files.nth(0).get_by_role("button", name="Show").click()
        await files.nth(0).locator(".end").scroll_into_view_if_needed()
        await page.wait_for_timeout(2_000)
        await expect(button).to_be_disabled()
        await files.nth(1).get_by_role("button", name="Show").click()
        await files.nth(1).locator(".end").scroll_into_view_if_needed()
        await button.click()
        _, shown = await first
        await expect(page.get_by_text("the one-time code from the terminal")).to_be_visible()
        code = page.locator(".question .code")
        assert shown.code == await code.inner_text()
        assert isinstance(shown, OneTimeCode)
        assert shown.once not in await page.content()
        again: asyncio.Future[Any] = asyncio.ensure_future(anext(codes))
        field = page.get_by_label("the one-time code")
        for said in ("2 tries left", "1 try left", "Press the button again"):
            await field.fill(shown.code)  # the fingerprint is no secret, and no second factor
            await page.get_by_role("button", name="Sign with the passkey").click()
            await expect(page.get_by_text(said)).to_be_visible()
        await button.click()
        _, newer = await again
        assert isinstance(newer, OneTimeCode)
        assert newer.once != shown.once
        await field.fill(newer.once)
        await page.get_by_role("button", name="Sign with the passkey").click()
        paths = await desk.approved(task_id)
        assert paths == {"long.txt", "run.sh"}


async def test_a_command_of_high_risk_is_read_to_its_end_as_well(desk: Signing) -> None:
    place, page = desk.place, desk.page
    async with aclosing(place.parts.passkeys.touches.codes()) as codes:  # type: ignore[type-var]
        waits = asyncio.ensure_future(anext(codes))
        argv = " ".join(f"argument-{n}" for n in range(60))
        task_id = await place.desk.ask(f"@dev run true {argv}", workspace="shop")
        await place.desk.waiting(task_id)
        short_id = (await place.desk.task(task_id)).short_id
        await page.evaluate("path => { location.hash = path; }", f"/tasks/{short_id}")
        await expect(page.get_by_text("read to the end, or look at each file")).to_be_visible()
        await page.wait_for_timeout(2_000)
        await expect(desk.approve).to_be_disabled()
        await page.locator(".question > .end").scroll_into_view_if_needed()
        await page.mouse.move(800, 300)
        await page.mouse.wheel(0, 5_000)
        await expect(desk.approve).to_be_enabled()
        waits.cancel()
        await asyncio.gather(waits, return_exceptions=True)


async def test_high_risk_can_be_read_to_its_end_on_a_page_enlarged_four_times(
    desk: Signing,
) -> None:
    page = desk.page
    await page.set_viewport_size({"width": 320, "height": 256})
    async with aclosing(desk.place.parts.passkeys.touches.codes()) as codes:  # type: ignore[type-var]
        waits: asyncio.Future[Any] = asyncio.ensure_future(anext(codes))
        await desk.asks("diff --git a/a.txt b/a.txt\nold mode 100644\nnew mode 100755\n")
        await page.locator(".file .end").scroll_into_view_if_needed()
        await page.wait_for_timeout(500)
        await desk.approve.scroll_into_view_if_needed()
        await expect(desk.approve).to_be_enabled()
        waits.cancel()
        await asyncio.gather(waits, return_exceptions=True)


async def test_without_a_display_high_risk_is_not_offered_and_it_is_said_why(desk: Signing) -> None:
    await desk.asks(HIGH)
    await expect(desk.page.get_by_text("nothing here can show its one-time code")).to_be_visible()
    await expect(desk.approve).to_have_count(0)
