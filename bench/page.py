"""How quick the local page is in a real browser, with ten thousand tasks and a long diff.

    python -m bench.page [--quick] [--json]

The agent is the program itself; the browser is Debian's Chromium through Playwright, headless.

- *first paint*: of the Tasks page (``first-contentful-paint``), median of ten loads of a warm agent
  with 10,000 tasks in its journal; beside it a static page of as many bytes, served by the same
  server code.  *first row*: until the first task is on the screen.
- *bytes*: of everything that the Tasks page loads, each file gzipped by itself.
- *typing*: from the press of a key in the composer to the frame that shows it, with nothing beside
  it, and with a change of 5,000 lines.
- *scrolling*: the whole list from top to bottom; the longest time from frame to frame while it is
  loaded page by page, and once more when all of it is there; the heap after that.
- *diff*: until the first lines of 5,000 are shown side by side, and from there to one column.
- *memory*: of the agent before the page was first opened, while it is open, and after
  ``codexbridge open --shut``.

Each figure that has an aim is printed with it.
"""

from __future__ import annotations

import argparse
import asyncio
import gzip
import json
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, Final

from aiohttp import web
from playwright.async_api import Browser, Page, Response

from bench.aims import Aim, judged
from bench.start import resident_mb
from common.page.serving import listen
from tests import filled_journal
from tests.browsing import browser, new_page
from tests.e2e.place import COMMAND, Place, wait_until
from tests.page_desk import enter, link, origin

TASKS: Final = 10_000
EVENTS: Final = 12
HUNKS: Final = 50
CHANGED: Final = 50  # lines of each hunk that are replaced: 5,000 lines of diff in all
KEYS: Final = 200
LOADS: Final = 10
WITHIN_S: Final = 60.0
DRAWN: Final = 20  # rows of a list that are in sight
STEP_PX: Final = 1_500  # that one frame scrolls by
ROW: Final = ".virtual-row"
COMPOSER: Final = ".composer textarea"
AIMS: Final = {
    "first paint, ms": Aim(300),
    "gzipped, kB": Aim(60),
    "typing beside 5,000 lines / alone": Aim(1.5),
}

_PAINTED = """() => new Promise((done) => {
  new PerformanceObserver((list) => {
    for (const entry of list.getEntries())
      if (entry.name === "first-contentful-paint") done(entry.startTime);
  }).observe({ type: "paint", buffered: true });
})"""
# In each document, before anything of the page runs: when its first row is drawn.
_WATCH_ROWS = """
new MutationObserver((_all, self) => {
  if (!document.querySelector(".virtual-row")) return;
  self.disconnect();
  requestAnimationFrame(() => { window.firstRow = performance.now(); });
}).observe(document, { childList: true, subtree: true });
"""
_WATCH_KEYS = """() => {
  window.took = [];
  document.addEventListener("keydown", (event) => {
    requestAnimationFrame(() => {
      const { port1, port2 } = new MessageChannel();
      port1.onmessage = () => window.took.push(performance.now() - event.timeStamp);
      port2.postMessage(0);
    });
  }, true);
}"""
# All of the list, however many pages it is told in; the times from frame to frame.
_LOAD_ALL = """(all) => new Promise((done) => {
  const box = document.querySelector(".virtual");
  const frames = [];
  let before = performance.now();
  const began = before;
  const next = (now) => {
    frames.push(now - before);
    before = now;
    const row = box.querySelector(".virtual-row");
    const count = Number(row?.getAttribute("aria-setsize") ?? 0);
    const there = box.scrollTop + box.clientHeight >= box.scrollHeight - 1;
    if ((count >= all && there) || now - began > 240000) return done({ count, frames });
    box.scrollTop = box.scrollHeight;
    requestAnimationFrame(next);
  };
  requestAnimationFrame(next);
})"""
_SCROLL = """(step) => new Promise((done) => {
  const box = document.querySelector(".virtual");
  const frames = [];
  box.scrollTop = 0;
  let before = 0;
  const next = (now) => {
    if (before) frames.push(now - before);
    before = now;
    if (box.scrollTop + box.clientHeight >= box.scrollHeight - 1) return done(frames);
    box.scrollTop += step;
    requestAnimationFrame(next);
  };
  requestAnimationFrame(next);
})"""
# Click, and wait for the frame after what was wanted is in the document.
_CLICKED = """([clicked, wanted]) => new Promise((done) => {
  const began = performance.now();
  document.querySelector(clicked).click();
  const look = () => {
    if (!document.querySelector(wanted)) return requestAnimationFrame(look);
    requestAnimationFrame(() => done(performance.now() - began));
  };
  look();
})"""


def long_change(workspace: Path) -> bytes:
    """Write a file into the workspace and return a diff of 5,000 lines for it."""
    old: list[str] = []
    diff = ["diff --git a/long.py b/long.py", "--- a/long.py", "+++ b/long.py"]
    for hunk in range(HUNKS):
        first = len(old) + 1
        around = [f"# part {hunk}, line {n}" for n in range(6)]
        before = [f"    total_{hunk}_{n} = order.total() + {n}" for n in range(CHANGED)]
        after = [f"    total_{hunk}_{n} = order.amount({n}, rounded=True)" for n in range(CHANGED)]
        old += [*around[:3], *before, *around[3:], *[f"pass  # {n}" for n in range(10)]]
        diff.append(f"@@ -{first},{CHANGED + 6} +{first},{CHANGED + 6} @@")
        diff += [f" {line}" for line in around[:3]] + [f"-{line}" for line in before]
        diff += [f"+{line}" for line in after] + [f" {line}" for line in around[3:]]
    (workspace / "long.py").write_text("\n".join(old) + "\n", "utf-8")
    return ("\n".join(diff) + "\n").encode()


def ask_for(place: Place, diff: Path) -> str:
    """Have the change asked for, and return the name of its task, which waits."""
    argv = [*COMMAND, "apply", str(diff), "--workspace", "shop"]
    quiet = subprocess.DEVNULL
    began_ms = time.time_ns() // 1_000_000
    with subprocess.Popen(
        argv, env=place.environ, stdin=quiet, stdout=quiet, stderr=quiet
    ) as asking:

        def waiting() -> str:
            rows = json.loads(place.run("tasks", "--json").stdout)
            for row in rows:
                if row["created_at"] >= began_ms and row["state"] == "WAITING_APPROVAL":
                    return str(row["short_id"])
            return ""

        found: str = wait_until(waiting)
        asking.terminate()
    return found


def spread(times: Sequence[float]) -> tuple[float, float]:
    """Return median and p95."""
    return statistics.median(times), statistics.quantiles(times, n=20)[-1]


async def until(page: Page, wanted: str) -> None:
    """Wait for an expression to hold, in one evaluation: the page allows no text to become code."""
    look = f"const look = () => {wanted} ? done(true) : requestAnimationFrame(look); look();"
    async with asyncio.timeout(WITHIN_S):
        await page.evaluate(f"() => new Promise((done) => {{ {look} }})")


# -- loading --------------------------------------------------------------------------------------


async def loads(page: Page, rounds: int) -> tuple[list[float], list[float]]:
    """Load the page again and again; return first paints and first rows."""
    paints, rows = [], []
    for _ in range(rounds):
        await page.reload()
        paints.append(float(await page.evaluate(_PAINTED)))
        await until(page, "window.firstRow > 0")
        rows.append(float(await page.evaluate("window.firstRow")))
    return paints, rows


async def loaded(page: Page) -> dict[str, tuple[int, int]]:
    """Load the page once; return bytes and gzipped bytes of everything, by its path."""
    answers: list[Response] = []

    def keep(answer: Response) -> None:
        answers.append(answer)

    page.on("response", keep)
    await page.reload()
    await page.locator(ROW).first.wait_for()
    await page.wait_for_load_state("networkidle")
    page.remove_listener("response", keep)
    found = {}
    for answer in answers:
        if answer.status == 200:
            body = await answer.body()
            path = answer.url.partition("//")[2].partition("/")[2].partition("?")[0]
            found[f"/{path}"] = len(body), len(gzip.compress(body, mtime=0))
    return found


async def static(chromium: Browser, size: int, rounds: int) -> float:
    """Return the first paint of a static page of so many bytes, from the same server code."""
    row = "<p>A task that somebody asked for, and how it stands.</p>\n"
    head = "<!doctype html><meta charset=utf-8><title>Plain</title><link rel=icon href=data:,>\n"
    body = head + row * DRAWN
    body += f"<!--{' ' * (size - len(body) - 7)}-->"

    async def answer(_request: web.Request) -> web.Response:
        return web.Response(text=body, content_type="text/html")

    app = web.Application()
    app.router.add_get("/", answer)

    async def admits(_transport: asyncio.BaseTransport) -> bool:
        return True

    listening = await listen(app, admits=admits)
    try:
        async with new_page(chromium) as page:
            await page.goto(f"http://localhost:{listening.port}/")
            paints = []
            for _ in range(rounds):
                await page.reload()
                paints.append(float(await page.evaluate(_PAINTED)))
            return statistics.median(paints)
    finally:
        await listening.close()


# -- while it is used -----------------------------------------------------------------------------


async def typing(page: Page, keys: int) -> list[float]:
    """Type into the composer; return how long each key took to be seen."""
    await page.locator(COMPOSER).fill("")
    await page.locator(COMPOSER).focus()
    await page.evaluate(_WATCH_KEYS)
    text = "explain the login retry and why it waits "
    for at in range(keys):
        await page.keyboard.press(text[at % len(text)] if text[at % len(text)] != " " else "Space")
        # A person types at most some twenty keys a second.
        await page.wait_for_timeout(20)
    await until(page, f"window.took.length >= {keys}")
    took: list[float] = await page.evaluate("window.took")
    await page.locator(COMPOSER).fill("")
    return took


async def heap_mb(page: Page) -> float:
    """Return what the page's scripts hold, after garbage was collected."""
    devtools = await page.context.new_cdp_session(page)
    await devtools.send("HeapProfiler.collectGarbage")
    await devtools.send("Performance.enable")
    told = await devtools.send("Performance.getMetrics")
    await devtools.detach()
    return float(next(m["value"] for m in told["metrics"] if m["name"] == "JSHeapUsedSize")) / 1e6


async def show_diff(page: Page, short_id: str) -> tuple[float, float]:
    """Open the change; return how long its lines and then the other layout took."""
    began = time.perf_counter()
    await page.evaluate("path => { location.hash = path; }", f"#/tasks/{short_id}")
    await page.locator(".diff .file header button").first.wait_for()
    opened = (time.perf_counter() - began) * 1000
    shown = await page.evaluate(_CLICKED, [".diff .file header button", ".rows.beside .row"])
    other = await page.evaluate(_CLICKED, [".switch button:last-child", ".rows.unified .row"])
    await page.evaluate(_CLICKED, [".switch button:first-child", ".rows.beside .row"])
    return opened + float(shown), float(other)


async def measure(place: Place, short_id: str, *, quick: bool) -> dict[str, Any]:
    """Return all figures of one run."""
    pid = place.processes["agent"].pid
    found: dict[str, Any] = {"memory before open, MB": resident_mb(pid)}
    rounds, keys = (3, 40) if quick else (LOADS, KEYS)
    async with browser() as chromium, new_page(chromium, height=900) as page:
        await page.context.add_init_script(_WATCH_ROWS)
        await enter(page, place)
        await page.locator(ROW).first.wait_for()
        files = await loaded(page)
        paints, rows = await loads(page, rounds)
        found["first paint, ms"] = statistics.median(paints)
        found["first row, ms"] = statistics.median(rows)
        size = sum(raw for raw, _ in files.values())
        found["static page of as many bytes, ms"] = await static(chromium, size, rounds)
        found["first paint / static page"] = (
            found["first paint, ms"] / found["static page of as many bytes, ms"]
        )
        found["files"] = files
        found["gzipped, kB"] = sum(packed for _, packed in files.values()) / 1000

        alone = await typing(page, keys)
        found["typing alone, ms"], found["typing alone, p95, ms"] = spread(alone)
        shown, other = await show_diff(page, short_id)
        found["5,000 lines side by side, ms"], found["to one column, ms"] = shown, other
        beside = await typing(page, keys)
        found["typing beside 5,000 lines, ms"], found["typing beside, p95, ms"] = spread(beside)
        found["typing beside 5,000 lines / alone"] = (
            found["typing beside 5,000 lines, ms"] / found["typing alone, ms"]
        )

        await page.evaluate("location.hash = '#/tasks'")
        told = await page.evaluate(_LOAD_ALL, TASKS)
        found["rows loaded"] = told["count"]
        found["longest frame while it loads, ms"] = max(told["frames"])
        frames = await page.evaluate(_SCROLL, STEP_PX)
        found["longest frame when all is there, ms"] = max(frames)
        found["median frame, ms"] = statistics.median(frames)
        found["heap after, MB"] = await heap_mb(page)
        found["memory while open, MB"] = resident_mb(pid)
    await asyncio.to_thread(place.run, "open", "--shut")
    found["memory after --shut, MB"] = resident_mb(pid)
    found["memory after --shut / before open"] = (
        found["memory after --shut, MB"] / found["memory before open, MB"]
    )
    return found


def run(folder: Path, *, quick: bool) -> dict[str, Any]:
    """Lay everything ready, measure, and end it."""
    place = replace(Place.at(folder / "home"), forked=False)
    workspace = folder / "shop"
    workspace.mkdir()
    diff = folder / "long.diff"
    diff.write_bytes(long_change(workspace))
    try:
        place.run("workspace", "add", str(workspace), "--name", "shop", "--toolchains", "none")
        place.start_agent(connected=False)  # it makes the journal, as it always does
        place.stop()
        place.processes.clear()
        filled_journal.fill(
            place.root / "state" / "journal.db",
            tasks=TASKS,
            events_per_task=EVENTS,
            seed=1,
            now_ms=time.time_ns() // 1_000_000,
        )
        place.start_agent(connected=False)
        short_id = ask_for(place, diff)
        assert origin(link(place))
        place.run("open", "--shut")
        # Warm, as an agent is that has run for a while; and no page was open in this life of it.
        place.stop()
        place.processes.clear()
        place.start_agent(connected=False)
        wait_until(lambda: place.run("show", short_id, "--json", check=False).returncode == 0)
        return asyncio.run(measure(place, short_id, quick=quick))
    finally:
        place.stop()


def main() -> int:
    """Measure, print, and return 0: a figure is a report, not a verdict."""
    parser = argparse.ArgumentParser(description=__doc__, allow_abbrev=False)
    parser.add_argument("--quick", action="store_true", help="three loads and forty keys")
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        found = run(Path(folder), quick=options.quick)
    if options.json:
        print(json.dumps(found, indent=2))
        return 0
    files = found.pop("files")
    print(f"{'loaded by the Tasks page':40} {'bytes':>9} {'gzipped':>9}")
    for path, (raw, packed) in sorted(files.items(), key=lambda one: -one[1][1]):
        print(f"  {path:38} {raw:9,} {packed:9,}")
    for name, figure in found.items():
        print(f"{name:40} {figure:9,.1f}")
    print(*judged({name: round(one, 1) for name, one in found.items()}, AIMS), sep="\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
