"""The door of the page: when it opens and closes, and what outlives a restart of the agent."""

from __future__ import annotations

import asyncio
import errno
import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import pytest
from aiohttp import ClientConnectionError, ClientSession, DummyCookieJar

from common.clock import ManualClock
from common.errors import UnavailableError
from common.home import write_private
from common.page import serving
from common.page.serving import read_assets
from common.page.sessions import IDLE_MS, LAUNCH_MS, Granted, Sessions
from local_agent.faces.page import door as doors
from local_agent.faces.page import server
from local_agent.faces.page.door import AWAY_MS, FILE, PageDoor
from local_agent.faces.page.live import GONE
from tests.run_desk import running
from tests.unit.local_agent.faces.page.conftest import WITHIN_S, PageDesk, Tab, _nothing

pytestmark = pytest.mark.heavy


class House:
    """A machine on which the agent starts and ends."""

    def __init__(self, desk: PageDesk, web: ClientSession) -> None:
        self.page = desk
        self.web = web
        self.clock: ManualClock = desk.desk.clock
        self.file: Path = desk.parts.places.state / FILE
        self.doors: list[PageDoor] = []

    async def start(self) -> PageDoor:
        """Start the agent: what was left is taken up, as `run` does first."""
        door = PageDoor(self.page.parts.places, clock=self.clock, log=self.page.parts.log)
        door.attach(self.page.parts)
        self.doors.append(door)
        async with door._opening:
            await door._take_up()
        return door

    async def kill(self, door: PageDoor) -> None:
        """End it as kill -9 does: nothing more is kept."""
        await door._leave()

    async def enter(self, url: str) -> Tab:
        """Open a link, as the page's first module does."""
        parts = urlsplit(url)
        assert (parts.hostname, parts.path) == ("localhost", "/launch")
        assert parts.port is not None
        origin = f"http://localhost:{parts.port}"
        headers = {"Origin": origin, "Host": f"localhost:{parts.port}"}
        address = f"http://127.0.0.1:{parts.port}/api/launch"
        async with self.web.post(
            address, json={"secret": parts.fragment}, headers=headers
        ) as answer:
            assert answer.status == 200
            (cookie,) = answer.cookies.values()
            told = await answer.json()
            assert (cookie["httponly"], cookie["samesite"], cookie["path"]) == (True, "Strict", "/")
            granted = Granted(cookie.value, told["token"], told["purpose"])
        return Tab(parts.port, granted, self.web, cookie.key)

    async def is_let_in(self, tab: Tab) -> bool:
        """Tell whether a tab that was open is still answered."""
        try:
            return (await tab.get("/api/boot")).status == 200
        except ClientConnectionError:
            return False

    def kept(self) -> dict[str, Any]:
        """Return what outlives the agent."""
        found: dict[str, Any] = json.loads(self.file.read_text("utf-8"))
        return found

    def leave_behind(self, raw: bytes, mode: int = 0o600) -> None:
        """Write the file as somebody else would."""
        self.file.write_bytes(raw)
        self.file.chmod(mode)


@asynccontextmanager
async def a_house(folder: Path) -> AsyncIterator[House]:
    async with running(folder) as desk, ClientSession(cookie_jar=DummyCookieJar()) as web:
        house = House(PageDesk(desk), web)
        try:
            yield house
        finally:
            for door in house.doors:
                await door.close()


@pytest.fixture
async def house(tmp_path: Path) -> AsyncIterator[House]:
    async with a_house(tmp_path) as found:
        yield found


def port_of(url: str) -> int:
    port = urlsplit(url).port
    assert port is not None
    return port


async def listens(port: int) -> bool:
    try:
        _, writer = await asyncio.open_connection("127.0.0.1", port)
    except ConnectionError:
        return False
    writer.close()
    return True


async def test_nothing_listens_until_somebody_asks_for_the_page(house: House) -> None:
    door = await house.start()
    await door.tick()
    assert door._open is None
    assert not house.file.exists()
    url = await door.open(purpose="#/approvals")
    assert await listens(port_of(url))
    tab = await house.enter(url)
    assert tab.granted.purpose == "#/approvals"
    assert await house.is_let_in(tab)


async def test_each_link_is_another_and_leads_to_the_same_port(house: House) -> None:
    door = await house.start()
    urls = await asyncio.gather(door.open(), door.open(), door.open())
    assert len(set(urls)) == 3
    assert len({port_of(url) for url in urls}) == 1
    first = await house.enter(urls[0])
    again = await first.post("/api/launch", {"secret": urlsplit(urls[0]).fragment})
    assert again.status == 403


async def test_the_file_is_private_and_holds_no_secret(house: House) -> None:
    door = await house.start()
    url = await door.open()
    tab = await house.enter(url)
    raw = await asyncio.to_thread(house.file.read_text, "utf-8")
    assert house.file.stat().st_mode & 0o777 == 0o600
    for secret in (tab.granted.cookie, tab.granted.token, urlsplit(url).fragment):
        assert secret not in raw


async def test_a_page_goes_on_when_the_agent_is_back_in_time(house: House) -> None:
    door = await house.start()
    tab = await house.enter(await door.open())
    await door.close()
    assert not await house.is_let_in(tab)
    house.clock.advance(AWAY_MS / 1000 - 1)
    again = await house.start()
    assert await house.is_let_in(tab)  # under the same port, with the same halves
    assert port_of(await again.open()) == tab._port


async def test_a_page_goes_on_after_kill_9(house: House) -> None:
    door = await house.start()
    tab = await house.enter(await door.open())
    house.clock.advance(3600)
    await door.tick()
    await house.kill(door)
    house.clock.advance(60)
    await house.start()
    assert await house.is_let_in(tab)


@pytest.mark.parametrize("seconds", [AWAY_MS / 1000, -AWAY_MS / 1000])
async def test_no_session_outlives_an_agent_that_was_away_longer(
    house: House, seconds: float
) -> None:
    door = await house.start()
    tab = await house.enter(await door.open())
    await door.close()
    house.clock.jump_wall(seconds)
    again = await house.start()
    assert again._open is None
    url = await again.open()
    assert port_of(url) != tab._port  # there, another program may have left something meanwhile
    moved = Tab(port_of(url), tab.granted, house.web, again._cookie)
    assert not await house.is_let_in(moved)
    assert await house.is_let_in(await house.enter(url))


async def test_no_session_outlives_that_another_program_had_the_port(house: House) -> None:
    door = await house.start()
    tab = await house.enter(await door.open())
    await door.close()
    theirs = await asyncio.start_server(
        lambda reader, writer: writer.close(), "127.0.0.1", tab._port
    )
    again = await house.start()
    theirs.close()
    await theirs.wait_closed()
    url = await again.open()
    assert port_of(url) != tab._port
    moved = Tab(port_of(url), tab.granted, house.web, again._cookie)
    assert not await house.is_let_in(moved)
    # Not even later, at the old port.
    assert house.kept()["sessions"] == []


async def test_a_link_does_not_outlive_the_agent(house: House) -> None:
    door = await house.start()
    url = await door.open()
    await house.kill(door)
    again = await house.start()
    assert again._open is None
    moved = (await again.open()).partition("#")[0] + "#" + url.partition("#")[2]
    with pytest.raises(AssertionError):
        await house.enter(moved)


async def test_it_closes_when_nobody_is_left(house: House) -> None:
    door = await house.start()
    url = await door.open()
    house.clock.advance(LAUNCH_MS / 1000 - 1)
    await door.tick()
    assert door._open is not None
    tab = await house.enter(url)
    house.clock.advance(IDLE_MS / 1000 - 1)
    await door.tick()
    assert await house.is_let_in(tab)
    house.clock.advance(IDLE_MS / 1000)
    await door.tick()
    assert not await listens(tab._port)
    assert house.page.log.events[-1] == "page.closed"
    # It opens again, and not where another program may have left something meanwhile.
    assert port_of(await door.open()) != tab._port


async def test_it_closes_when_a_link_was_never_used(house: House) -> None:
    door = await house.start()
    port = port_of(await door.open())
    house.clock.advance(LAUNCH_MS / 1000)
    await door.tick()
    assert not await listens(port)


async def test_it_closes_when_everybody_has_left(house: House) -> None:
    door = await house.start()
    tab = await house.enter(await door.open())
    assert await tab.act("/api/leave") == {}
    assert not await house.is_let_in(tab)
    await door.tick()
    assert door._open is None


async def test_shut_ends_every_session_for_good(house: House) -> None:
    door = await house.start()
    tab, link = await house.enter(await door.open()), await door.open()
    async with tab.live() as socket:
        assert (await socket.hear())["type"] == "hello"
        code, _ = await asyncio.gather(socket.gone(), door.shut())
        assert code == GONE  # so that the page says that the session is over
    assert not await listens(tab._port)
    page, _, new = (await door.open()).partition("#")
    moved = Tab(port_of(page), tab.granted, house.web, door._cookie)
    assert not await house.is_let_in(moved)
    with pytest.raises(AssertionError):
        await house.enter(f"{page}#{link.partition('#')[2]}")
    await house.enter(f"{page}#{new}")
    await door.shut()
    assert house.kept()["sessions"] == []
    await door.shut()
    await door.shut()


async def test_shut_right_after_a_start_ends_what_was_left(house: House) -> None:
    door = await house.start()
    tab = await house.enter(await door.open())
    await tab.act("/api/preferences", {"lang": "zh"})
    await door.close()
    again = PageDoor(house.page.parts.places, clock=house.clock, log=house.page.parts.log)
    again.attach(house.page.parts)
    house.doors.append(again)
    await again.shut()
    assert house.kept()["sessions"] == []
    assert house.kept()["preferences"] == {"lang": "zh"}
    assert house.kept()["port"] == tab._port


async def test_open_right_after_a_start_takes_up_what_was_left(house: House) -> None:
    door = await house.start()
    tab = await house.enter(await door.open())
    await door.close()
    again = PageDoor(house.page.parts.places, clock=house.clock, log=house.page.parts.log)
    again.attach(house.page.parts)
    house.doors.append(again)
    await again.open()
    assert await house.is_let_in(tab)


async def test_what_the_person_prefers_outlives_everything_else(house: House) -> None:
    door = await house.start()
    tab = await house.enter(await door.open())
    await tab.act("/api/preferences", {"lang": "zh", "theme": "dark"})
    assert (await tab.read("/api/boot"))["lang"] == "zh"
    await door.close()
    house.clock.advance(AWAY_MS)
    again = await house.start()
    boot = await (await house.enter(await again.open())).read("/api/boot")
    assert (boot["lang"], boot["theme"]) == ("zh", "dark")


GARBAGE: tuple[Any, ...] = (
    b"",
    b"\xff\x00",
    b"null",
    b"[]",
    b"7",
    b'{"port":',
    b"[" * 5000,
    {},
    {"port": "80", "cookie": 7, "alive_ms": "now", "sessions": {}, "preferences": []},
    {"port": True, "cookie": "", "alive_ms": True, "sessions": [None], "preferences": {"lang": []}},
    {"port": 80, "cookie": "a;b", "sessions": None},
    {"port": 70000, "cookie": "x" * 33, "sessions": [{}]},
    {"port": -1, "cookie": "a=b; Path=/", "preferences": {"lang": "xx", "theme": 5}},
    {"sessions": [{"cookie_sha256": "\\ud800", "token_sha256": "", "since_ms": 0, "seen_ms": 0}]},
    b" " * (64 * 1024 + 1),
)


@pytest.mark.parametrize("raw", GARBAGE, ids=range(len(GARBAGE)))
async def test_a_damaged_file_is_as_none(house: House, raw: Any) -> None:
    if isinstance(raw, dict):
        raw = json.dumps({"alive_ms": house.clock.now().wall_ms} | raw).encode()
    await asyncio.to_thread(house.leave_behind, raw)
    door = await house.start()
    assert door._open is None
    tab = await house.enter(await door.open())
    assert await house.is_let_in(tab)
    boot = await tab.read("/api/boot")
    assert (boot["lang"], boot["theme"]) == ("en", "auto")
    assert door._cookie.startswith("codexbridge")
    assert door._cookie.isalnum()
    assert house.kept()["port"] == tab._port


async def test_a_file_that_others_could_write_is_not_believed(house: House) -> None:
    door = await house.start()
    tab = await house.enter(await door.open())
    await door.close()
    house.file.chmod(0o644)
    again = await house.start()
    assert again._open is None
    await again.open()
    assert not await house.is_let_in(tab)
    assert house.file.stat().st_mode & 0o777 == 0o600


async def test_a_file_that_leads_elsewhere_is_not_followed(house: House, tmp_path: Path) -> None:
    door = await house.start()
    await house.enter(await door.open())
    await door.close()
    moved = tmp_path / "elsewhere.json"
    house.file.rename(moved)
    house.file.symlink_to(moved)
    again = await house.start()
    assert again._open is None
    await again.open()
    assert not house.file.is_symlink()


async def test_on_a_full_disk_the_page_goes_on(
    house: House, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(path: Path, data: bytes) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    door = await house.start()
    monkeypatch.setattr(doors, "write_private", full)
    tab = await house.enter(await door.open())
    assert await house.is_let_in(tab)
    await door.tick()
    assert set(house.page.log.events) == {"page.open", "page.not-kept"}
    await door.close()
    assert not house.file.exists()


async def test_where_nothing_can_listen_it_says_so(
    house: House, monkeypatch: pytest.MonkeyPatch
) -> None:
    door = await house.start()
    tab = await house.enter(await door.open())
    await door.close()
    monkeypatch.setattr(serving, "ADDRESSES", ())
    again = await house.start()
    assert house.page.log.events[-1] == "page.not-opened"
    with pytest.raises(UnavailableError) as caught:
        await again.open()
    assert caught.value.code == "page.no-port"
    monkeypatch.undo()
    await again.open()
    assert not await house.is_let_in(tab)


async def test_it_runs_until_the_agent_ends(house: House, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(doors, "TICK_S", 0.0)
    door = await house.start()
    tab = await house.enter(await door.open())
    running_ = asyncio.create_task(door.run())
    async with asyncio.timeout(WITHIN_S):
        house.clock.advance(IDLE_MS / 1000)
        while door._open is not None:  # noqa: ASYNC110  # nothing tells of it
            await asyncio.sleep(0)
    url = await door.open()
    running_.cancel()
    await asyncio.gather(running_, return_exceptions=True)
    assert running_.cancelled()
    assert not await listens(port_of(url))
    assert not await house.is_let_in(tab)
    await door.close()


async def test_what_is_kept_last_is_the_newest(
    house: House, monkeypatch: pytest.MonkeyPatch
) -> None:
    door = await house.start()
    await door.open()
    first = asyncio.Event()
    loop = asyncio.get_running_loop()
    begun: list[bytes] = []

    def slow_at_first(path: Path, data: bytes) -> None:
        begun.append(data)
        if len(begun) == 1:
            loop.call_soon_threadsafe(first.set)
            asyncio.run_coroutine_threadsafe(asyncio.sleep(0.05), loop).result()
        write_private(path, data)

    monkeypatch.setattr(doors, "write_private", slow_at_first)
    older = asyncio.create_task(door.prefer({"lang": "zh"}))
    await first.wait()
    await door.prefer({"lang": "en"})
    await older
    assert house.kept()["preferences"] == {"lang": "en"}


# -- what lies behind it --------------------------------------------------------------------------


async def test_no_other_words_begin_a_session(house: House) -> None:
    door = await house.start()
    tab = await house.enter(await door.open())
    before = len(house.kept()["sessions"])
    bodies: tuple[bytes, ...] = (
        b"",
        b"null",
        b"[]",
        b"{}",
        b'{"secret": 7}',
        b'{"secret": ""}',
        b'{"secret": "\\ud800"}',
        b'{"secret": "' + b"x" * 2000 + b'"}',
    )
    for body in bodies:
        told = await tab.post("/api/launch", raw=body)
        assert (told.status, told.body) == (403, b""), body
    assert len(house.kept()["sessions"]) == before


async def test_without_a_session_a_person_is_told_how_to_get_one(house: House) -> None:
    door = await house.start()
    tab = await house.enter(await door.open())
    del tab.headers["Cookie"]
    told = await tab.get("/")
    assert (told.status, told.kind) == (403, "text/html")
    assert b"codexbridge open" in told.body
    # What a link needs to become a session is there, and nothing else.
    for path, status in (
        ("/launch", 200),
        ("/kit/launch.js", 200),
        ("/kit/kit.css", 200),
        ("/icon.svg", 200),
        ("/closed", 403),
        ("/app.js", 403),
        ("/kit/kit.js", 403),
        ("/api/boot", 403),
    ):
        assert (await tab.get(path)).status == status, path


async def test_files_are_served_by_name_alone(house: House) -> None:
    door = await house.start()
    tab = await house.enter(await door.open())
    assets = await asyncio.to_thread(read_assets, "local_agent.faces.page", server.OWN)
    for path, (body, kind) in assets.items():
        if path != "/closed":
            told = await tab.get(path)
            assert (told.status, told.kind, told.body) == (200, kind, body), path
    for path in ("/closed", "/views.d.ts", "/kit/vendor/marked.js", "/kit/../door.py", "/%2e%2e/x"):
        assert (await tab.get(path)).status == 404, path


async def test_a_server_that_never_began_ends(house: House) -> None:
    made = await asyncio.to_thread(
        lambda: server.PageServer(
            house.page.parts,
            Sessions(),
            cookie="c",
            preferences={},
            prefer=house.page.prefer,
            keep=_nothing,
        )
    )
    await made.end()
