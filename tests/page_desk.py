"""An installation whose local page is open: what the browser's tests share.

Real processes: simulator, gateway, agent with its windows, a scripted model, and a browser.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
import struct
import zlib
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Final, Literal
from urllib.parse import urlsplit

from playwright.async_api import Page, expect

from common.sentences import Lang
from tests import model_script as script
from tests.e2e.place import Place
from tests.e2e.proposing import Shop, http, repository
from tests.model_server import started
from tests.screen import Screen

SECONDS: Final = 20_000  # milliseconds that the page is waited for
SAID: Final = "said"  # a file beside the workspace; once it is there, a dripping answer ends
LOGIN: Final = """\
import time

from shop.http import post


class LoginError(Exception):
    pass


def login(user, password):
    for i in range(3):
        r = post("/login", json={"u": user, "p": password})
        if r.ok:
            return r.json()
    raise LoginError("登录失败")


def logout(session):
    post("/logout", json={"s": session})
    session.clear()


def refresh(session):
    return post("/refresh", json={"s": session}).json()
"""
FILES: Final[Mapping[str, str]] = {
    "shop/__init__.py": "",
    "shop/auth/login.py": LOGIN,
    "shop/http.py": "def post(path, json):\n    raise NotImplementedError\n",
    "tests/test_login.py": "def test_login():\n    assert True\n",
    "README.md": "# Shop\n\nThe API of the shop.\n",
    "docs/设计.md": "# 设计\n\n登录重试三次。\n",
}
EDITS: Final = (
    {
        "path": "shop/auth/login.py",
        "action": "edit",
        "search": "    for i in range(3):\n"
        '        r = post("/login", json={"u": user, "p": password})\n'
        "        if r.ok:\n            return r.json()\n"
        '    raise LoginError("登录失败")\n',
        "replace": "    for delay in backoff(base=0.2, cap=5.0, tries=4):\n"
        '        r = post("/login", json={"u": user, "p": password})\n'
        "        if r.ok:\n            return r.json()\n"
        "        if r.status < 500:\n            break  # 4xx 不重试\n"
        "        time.sleep(delay)\n"
        '    raise LoginError("登录失败，请稍后再试")\n',
    },
    {
        "path": "shop/auth/login.py",
        "action": "edit",
        "search": 'return post("/refresh", json={"s": session}).json()',
        "replace": 'return post("/refresh", json={"s": session}, retry=True).json()',
    },
    {
        "path": "shop/auth/retry.py",
        "action": "create",
        "content": '"""Delays between tries, each twice the one before."""\n\n\n'
        "def backoff(*, base, cap, tries):\n    delay = base\n"
        "    for _ in range(tries):\n        yield min(delay, cap)\n        delay *= 2\n",
    },
)
ANSWER: Final = """\
The login is tried **three times**, without a pause:

1. `login` posts to `/login`.
2. If that fails, it simply *tries again*.

```python
for i in range(3):
    r = post("/login")
```

| status | what happens |
|---|---|
| 2xx | returns |
| other | tries again |

See [the docs](https://docs.example.com/retry) for more.
"""
WORDS: Final = "Retries with a growing delay, and gives up at once on 4xx.\n\n- `backoff` is new."


@contextlib.contextmanager
def shop_with_page(
    folder: Path, screen: Screen | None = None, *, answers: Sequence[script.Step] = ()
) -> Iterator[Shop]:
    """Start everything, with one workspace and a model, which knows these answers as well."""
    gently = dict(EDITS[0]) | {"search": "cap=5.0", "replace": "cap=9.0"}
    steps = [
        *answers,
        _asked("more gently", script.edits("Waits longer.", gently)),
        _asked("fix the login retry", script.edits(WORDS, *EDITS)),
        _asked("drip", script.drip(ANSWER, pause_s=0.01, until=str(folder / SAID))),
        _asked("explain", script.text(ANSWER)),
    ]
    with started(folder, *steps, then=script.text("Nothing to say.")) as server:
        extra = {"DISPLAY": screen.name} if screen else {}
        place = Place.at(folder / "home", **extra)
        workspace = repository(folder / "shop-api", FILES)
        (workspace / "logo.png").write_bytes(png())
        (workspace / "data.bin").write_bytes(bytes(range(256)))
        shop = Shop(place, workspace, {"scripted": http(server, "chat")})
        try:
            yield shop.open("scripted")
        finally:
            place.stop()


def _asked(when: str, step: script.Step) -> script.Step:
    return script.only(step, when=when, always=True, asked=True)


def link(place: Place) -> str:
    """Return a link that opens the page."""
    return str(json.loads(place.run("open", "--json").stdout)["url"])


async def enter(page: Page, place: Place, path: str = "") -> None:
    """Open the page with a link of its own, and wait until it is there."""
    await page.goto(await asyncio.to_thread(link, place))
    await expect(page.locator("header.top")).to_be_visible(timeout=SECONDS)
    if path:
        await page.evaluate("path => { location.hash = path; }", path)


def origin(url: str) -> str:
    """Return where a link leads, without its secret."""
    parts = urlsplit(url)
    return f"{parts.scheme}://{parts.netloc}"


def png(size: int = 24) -> bytes:
    """Return a picture."""

    def chunk(kind: bytes, body: bytes) -> bytes:
        crc = zlib.crc32(kind + body)
        return struct.pack(">I", len(body)) + kind + body + struct.pack(">I", crc)

    row = b"\0" + b"".join(bytes((n * 10 % 256, 90, 200)) for n in range(size))
    head = struct.pack(">IIBBBBB", size, size, 8, 2, 0, 0, 0)
    body = zlib.compress(row * size)
    return b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", head) + chunk(b"IDAT", body) + chunk(b"IEND", b"")


async def prefer(page: Page, *, lang: Lang, theme: Literal["light", "dark"]) -> None:
    """Choose language and colours on the page, and wait until they are there."""
    await page.evaluate("path => { location.hash = path; }", "/settings")
    chosen = page.locator("main select")
    await expect(chosen).to_have_count(2, timeout=SECONDS)
    await chosen.nth(0).select_option(lang)
    await chosen.nth(1).select_option(theme)
    await expect(page.locator(f"html[data-theme={theme}]")).to_be_attached()
    name = "设置" if lang == "zh" else "Settings"
    await expect(page.get_by_role("heading", level=1, name=name)).to_be_visible()
