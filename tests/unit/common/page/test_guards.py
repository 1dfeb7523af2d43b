"""What surrounds every request to a local page: each check in its order, and all headers."""

from __future__ import annotations

import asyncio
import os
import threading
from collections.abc import AsyncIterator

import pytest

from common.page import peers
from common.page.guards import HEADERS, LIVE, MAX_BODY_BYTES
from common.page.peers import Address
from common.page.sessions import IDLE_MS
from tests.unit.common.page.conftest import COOKIE, HUNG_UP, Answer, Site, guarded, read_answer

POLICY = HEADERS["Content-Security-Policy"]


@pytest.fixture
async def site() -> AsyncIterator[Site]:
    async with guarded() as found:
        yield found


def told(answer: Answer) -> set[str]:
    """Return which of the page's headers an answer lacks, or has otherwise."""
    if answer is HUNG_UP:
        return set()
    return {name for name, value in HEADERS.items() if answer.headers.get(name.lower()) != value}


async def statuses(site: Site, path: str, *headers: dict[str, str | None]) -> list[int]:
    return [(await site.ask(path, headers=one)).status for one in headers]


# -- whose process --------------------------------------------------------------------------------


@pytest.mark.skipif(not peers.is_told(), reason="this system tells no owners of sockets")
async def test_a_process_of_the_person_is_answered_as_the_kernel_tells_it() -> None:
    async with guarded(peers.owner_of) as site:
        assert (await site.ask("/open")).status == 200


@pytest.mark.parametrize("owner", [os.getuid() + 1, 65534, None])
async def test_a_process_of_somebody_else_is_refused_before_all_else(owner: int | None) -> None:
    async with guarded(lambda client, server: owner) as site:
        answers = [
            await site.ask("/open"),
            await site.ask("/", headers=site.halves()),
            await site.ask("/open", headers={"Host": "evil.example"}),
            await site.ask("/open", method="DELETE"),
        ]
        assert {answer.status for answer in answers} <= {0, 403}  # whichever is quicker
        assert site.reached == []
        # Once, so that a stranger cannot fill the log; who has gone already is none.
        assert site.log.events == ["page.foreign-process"] * (owner is not None)
        assert all(told(answer) == set() for answer in answers)


async def test_root_is_answered_too() -> None:
    async with guarded(lambda client, server: 0) as site:
        assert (await site.ask("/open")).status == 200


async def test_a_connection_is_looked_up_once_with_both_of_its_ends() -> None:
    asked: list[tuple[Address, Address]] = []

    def owner_of(client: Address, server: Address) -> int:
        asked.append((client, server))
        return os.getuid()

    async with guarded(owner_of) as site:
        reader, writer = await asyncio.open_connection("127.0.0.1", site.port)
        for _ in range(3):
            writer.write(f"GET /open HTTP/1.1\r\nHost: localhost:{site.port}\r\n\r\n".encode())
            assert b"200 OK" in await reader.readuntil(b"}")
        own = writer.get_extra_info("sockname")
        writer.close()
        assert asked == [(own, ("127.0.0.1", site.port))]
        await site.ask("/open")
        assert len(asked) == 2


async def test_who_connects_again_and_again_takes_one_thread_and_no_time_after_leaving() -> None:
    asked, go_on = [], threading.Event()

    def owner_of(client: Address, server: Address) -> int:
        asked.append(client)
        go_on.wait()
        return 65534

    async with guarded(owner_of) as site:
        for _ in range(20):
            _, writer = await asyncio.open_connection("127.0.0.1", site.port)
            await asyncio.sleep(0)
            writer.transport.abort()
        try:
            await asyncio.sleep(0.2)
            assert len(asked) == 1
        finally:
            go_on.set()
        await asyncio.sleep(0.1)
        assert len(asked) == 1


# -- what another page could have sent ------------------------------------------------------------


async def test_only_our_own_host_is_answered(site: Site) -> None:
    port = site.port
    ours = ["localhost", "127.0.0.1"]
    for host in ours:
        assert (await site.ask(headers={"Host": f"{host}:{port}"})).status == 200
    others: list[str | None] = [
        "localhost",
        f"localhost:{port + 1}",
        f"evil.example:{port}",
        f"localhost.evil.example:{port}",
        f"localhost:{port}.evil.example",
        f"LOCALHOST:{port}",
        f"[::1]:{port}",
        f"0.0.0.0:{port}",
        f"127.1:{port}",
        f"localhost.:{port}",
        f"user@localhost:{port}",
        "",
        None,
    ]
    for other in others:
        answer = await site.ask(headers={"Host": other})
        assert answer.status in (0, 421), other
        assert told(answer) == set()
    twice = await site.ask(more=(f"Host: localhost:{port}",))
    assert twice.status in (0, 421)
    assert site.reached == ["/open"] * len(ours)


async def test_a_target_that_is_no_path_is_refused(site: Site) -> None:
    for target in (f"http://localhost:{site.port}/open", "//open", "*", "open", "//evil.example/"):
        answer = await site.ask(target)
        assert (answer.status in (0, 400, 421), told(answer)) == (True, set()), target
    assert site.reached == []


async def test_only_get_and_post_are_answered(site: Site) -> None:
    for method in ("HEAD", "PUT", "DELETE", "OPTIONS", "PATCH", "TRACE", "PROPFIND"):
        answer = await site.ask(method=method)
        assert (answer.status, told(answer)) == (405, set()), method
    assert site.reached == []


async def test_another_origin_is_refused(site: Site) -> None:
    port = site.port
    own = f"http://localhost:{port}"
    assert await statuses(site, "/open", {"Origin": own}, {"Origin": None}) == [200, 200]
    others = (
        "null",
        "",
        "http://evil.example",
        f"https://localhost:{port}",
        f"http://127.0.0.1:{port}",
        f"http://localhost:{port + 1}",
        own.upper(),
        f"{own}/",
    )
    assert {(await site.ask(headers={"Origin": one})).status for one in others} == {403}
    assert (await site.ask(headers={"Origin": own}, more=(f"Origin: {own}",))).status == 403


async def test_what_acts_must_say_that_it_is_ours(site: Site) -> None:
    async def act(**changes: str | None) -> int:
        headers = {name.replace("_", "-"): value for name, value in changes.items()}
        return (await site.ask("/api/open", method="POST", body=b"{}", headers=headers)).status

    assert await act() == 200
    assert await act(Sec_Fetch_Site="same-origin") == 200
    assert await act(Origin=None) == 403
    for other in ("none", "same-site", "cross-site", ""):
        assert await act(Sec_Fetch_Site=other) == 403


async def test_a_socket_must_say_that_it_is_ours(site: Site) -> None:
    own = f"http://localhost:{site.port}"
    upgrades: list[dict[str, str | None]] = [
        {"Connection": "keep-alive, Upgrade", "Upgrade": "websocket"},
        {"Connection": "close", "Upgrade": "websocket"},
    ]
    for upgrade in upgrades:
        halves = site.halves(token=False) | upgrade
        assert (await site.ask(LIVE, headers=halves)).status == 403
        evil = halves | {"Origin": "http://evil.example"}
        assert (await site.ask(LIVE, headers=evil)).status == 403
    with_origin = site.halves(token=False) | {"Connection": "close", "Origin": own}
    assert (await site.ask(LIVE, headers=with_origin)).status == 200


async def test_what_another_site_embeds_or_fetches_is_refused(site: Site) -> None:
    assert await statuses(
        site,
        "/open",
        {"Sec-Fetch-Site": "same-origin", "Sec-Fetch-Dest": "script"},
        {"Sec-Fetch-Site": "none", "Sec-Fetch-Dest": "document"},
    ) == [200, 200]
    for where in ("cross-site", "same-site", "other"):
        assert (await site.ask(headers={"Sec-Fetch-Site": where})).status == 403
    for dest in ("iframe", "frame", "embed", "object", "fencedframe"):
        assert (await site.ask(headers={"Sec-Fetch-Dest": dest})).status == 403


async def test_what_a_form_can_send_is_refused(site: Site) -> None:
    for kind in ("text/plain", "application/x-www-form-urlencoded", "multipart/form-data", None):
        headers: dict[str, str | None] = {"Content-Type": kind}
        answer = await site.ask("/api/open", method="POST", body=b"{}", headers=headers)
        assert (answer.status, told(answer)) == (415, set()), kind
    utf8: dict[str, str | None] = {"Content-Type": "application/json; charset=utf-8"}
    assert (await site.ask("/api/open", method="POST", body=b"{}", headers=utf8)).status == 200


# -- a session ------------------------------------------------------------------------------------


async def test_without_a_session_only_the_way_to_one_is_open(site: Site) -> None:
    assert await statuses(site, "/open", {}) == [200]
    for path in ("/api/thing", LIVE, "/fails", "/nowhere", "/open/", "/Open", "/open%2e"):
        answer = await site.ask(path)
        assert (answer.status, answer.body, told(answer)) == (403, b"", set()), path
    assert site.reached == ["/open"]


async def test_a_person_without_a_session_is_told_how_to_get_one(site: Site) -> None:
    wrong: list[dict[str, str | None]] = [
        {},
        {"Cookie": f"{COOKIE}=x"},
        {"Cookie": f"other={site.granted.cookie}"},
    ]
    for cookie in wrong:
        answer = await site.ask("/", headers=cookie)
        assert (answer.status, answer.body) == (403, b"run: codexbridge open")
        assert told(answer) == set()
    assert (await site.ask("/", method="POST", body=b"{}")).body == b""
    assert site.reached == []


async def test_the_cookie_shows_the_page_and_only_both_halves_ask_it(site: Site) -> None:
    other = site.begin()
    cookie = site.halves(token=False)
    # Its own path is the socket's; there the token is the first that it says.
    assert await statuses(site, "/", cookie) == [200]
    assert await statuses(site, LIVE, cookie) == [200]
    crossed = cookie | {"X-CSRF-Token": other.token}
    assert await statuses(
        site, "/api/thing", cookie, crossed, cookie | {"X-CSRF-Token": "é"}, site.halves()
    ) == [403, 403, 403, 200]
    assert (await site.ask("/api/thing", headers=site.halves())).body.endswith(b'"session": true}')


async def test_a_path_written_otherwise_opens_no_other_way_in(site: Site) -> None:
    cookie = site.halves(token=False)
    for path in ("/%61pi/thing", "/api%2fthing", "/api/../api/thing", "/./api/thing", "/api/live/"):
        assert (await site.ask(path, headers=cookie)).status in (403, 404), path
    assert site.reached == []


async def test_a_session_that_has_ended_is_no_session(site: Site) -> None:
    site.clock.advance(IDLE_MS / 1000)
    assert await statuses(site, "/api/thing", site.halves()) == [403]


async def test_a_request_keeps_its_session_alive(site: Site) -> None:
    for _ in range(3):
        site.clock.advance(IDLE_MS / 1000 - 1)
        assert await statuses(site, "/api/thing", site.halves()) == [200]


# -- every answer ---------------------------------------------------------------------------------


async def test_every_answer_has_all_headers_and_none_tells_the_server(site: Site) -> None:
    halves = site.halves()
    answers = [
        await site.ask("/", headers=halves),
        await site.ask("/nowhere", headers=halves),
        await site.ask("/fails", headers=halves),
        await site.ask("/open", headers={"Expect": "100-later"}),
        await site.ask("/api/open", method="POST", body=b"{" * (MAX_BODY_BYTES + 1)),
        await site.send(b"\x16\x03\x01\x02\x00\x01\r\n\r\n"),
        await site.send(b"GET / HTTP/9.9\r\n\r\n"),
        await site.ask("/open", more=("X-Long: " + "x" * 20_000,)),
        await site.ask("/open", more=("Bad Name: 1",)),
    ]
    assert [one.status for one in answers] == [200, 404, 500, 417, 413, 0, 0, 0, 0]
    assert [told(one) for one in answers] == [set()] * len(answers)
    assert [one.headers.get("server", "") for one in answers] == [""] * len(answers)
    assert {one.body for one in answers[1:]} == {b""}


async def test_what_is_no_http_fills_no_log(site: Site, caplog: pytest.LogCaptureFixture) -> None:
    assert await site.send(b"SSH-2.0-OpenSSH\r\n\r\n") is HUNG_UP
    assert caplog.records == []
    assert site.log.events == []


async def test_a_handler_that_fails_is_logged_and_tells_nothing(site: Site) -> None:
    answer = await site.ask("/fails", headers=site.halves())
    assert (answer.status, answer.body) == (500, b"")
    assert site.log.events == ["page.failed"]


async def test_an_answer_that_fails_half_way_is_cut_off(
    site: Site, caplog: pytest.LogCaptureFixture
) -> None:
    answer = await site.ask("/fails-late", headers=site.halves())
    assert answer.status == 200
    assert answer.headers["transfer-encoding"] == "chunked"
    assert not answer.body.endswith(b"0\r\n\r\n")
    assert b"secret" not in answer.body
    assert site.log.events == ["page.failed"]


async def test_a_body_at_the_limit_is_read(site: Site) -> None:
    body = b"[" * MAX_BODY_BYTES
    assert (await site.ask("/api/open", method="POST", body=body)).body.startswith(
        b'{"size": 262144'
    )


async def test_the_policy_lets_nothing_in_from_elsewhere(site: Site) -> None:
    rules = dict(rule.split(" ", 1) for rule in POLICY.split("; "))
    assert rules["default-src"] == "'none'"
    assert rules["script-src"] == rules["connect-src"] == "'self'"
    assert rules["frame-ancestors"] == rules["base-uri"] == rules["form-action"] == "'none'"
    assert not {"'unsafe-inline'", "'unsafe-eval'", "*", "data:", "http:", "https:"} & set(
        POLICY.replace(";", "").split()
    )


def test_an_answer_is_read_as_it_was_written() -> None:
    found = read_answer(b"HTTP/1.1 200 OK\r\nA-B:  c:d \r\n\r\nxyz")
    assert (found.status, found.headers, found.body) == (200, {"a-b": "c:d"}, b"xyz")
