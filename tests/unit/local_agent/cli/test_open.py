"""``codexbridge open``: a link that is opened, printed or told to a program; and the way back."""

from __future__ import annotations

import json
import webbrowser

import pytest

import codexbridge
from common.errors import UnavailableError
from common.home import Home
from tests.unit.local_agent.cli.conftest import AgentDouble

URL = "http://localhost:40000/launch#secret"


class Browser:
    """What the system opens links with."""

    def __init__(self, *, works: bool) -> None:
        self.works = works
        self.opened: list[str] = []

    def open(self, url: str) -> bool:
        """Open it, or not."""
        self.opened.append(url)
        return self.works


@pytest.fixture
def browser(monkeypatch: pytest.MonkeyPatch) -> Browser:
    found = Browser(works=True)
    monkeypatch.setattr(webbrowser, "open", found.open)
    monkeypatch.setenv("DISPLAY", ":7")
    monkeypatch.delenv("WAYLAND_DISPLAY", raising=False)
    return found


@pytest.fixture
def page(agent: AgentDouble) -> AgentDouble:
    agent.answers["open_page"] = {"url": URL}
    agent.answers["shut_page"] = {}
    return agent


def run(*words: str) -> int:
    return codexbridge.main(["open", *words])


def ops(agent: AgentDouble) -> list[str]:
    return [asked.op for asked in agent.asked]


def test_the_page_opens_in_the_browser_and_its_link_is_not_shown(
    page: AgentDouble, browser: Browser, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run() == 0
    assert browser.opened == [URL]
    assert "secret" not in "".join(capsys.readouterr())
    assert ops(page) == ["open_page"]


def test_print_shows_the_link_and_opens_nothing(
    page: AgentDouble, browser: Browser, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run("--print") == 0
    assert capsys.readouterr().out.rstrip().endswith(URL)
    assert browser.opened == []
    assert ops(page) == ["open_page"]


def test_json_tells_the_link_to_a_program(
    page: AgentDouble, browser: Browser, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run("--json") == 0
    assert json.loads(capsys.readouterr().out) == {"url": URL}
    assert browser.opened == []
    assert ops(page) == ["open_page"]


def test_without_a_screen_the_link_is_shown(
    page: AgentDouble,
    browser: Browser,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.delenv("DISPLAY")
    assert run() == 0
    assert URL in capsys.readouterr().out
    assert browser.opened == []
    monkeypatch.setenv("WAYLAND_DISPLAY", "wayland-0")
    assert run() == 0
    assert browser.opened == [URL]
    assert ops(page) == ["open_page", "open_page"]


def test_where_no_browser_opens_the_link_is_shown(
    page: AgentDouble, browser: Browser, capsys: pytest.CaptureFixture[str]
) -> None:
    browser.works = False
    assert run() == 0
    assert URL in capsys.readouterr().out
    assert ops(page) == ["open_page"]


def test_shut_ends_every_session_and_opens_nothing(
    page: AgentDouble, browser: Browser, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run("--shut") == 0
    assert ops(page) == ["shut_page"]
    assert browser.opened == []
    assert capsys.readouterr().out.strip()


@pytest.mark.parametrize("word", ["", "--print", "--json", "--shut"])
def test_without_an_agent_it_says_so(
    home: Home, browser: Browser, capsys: pytest.CaptureFixture[str], word: str
) -> None:
    home.state.mkdir()
    assert run(*word.split()) == 1
    told = capsys.readouterr()
    assert "codexbridge agent" in told.out + told.err
    assert browser.opened == []


def test_an_agent_that_cannot_listen_says_why(
    page: AgentDouble, browser: Browser, capsys: pytest.CaptureFixture[str]
) -> None:
    page.answers["open_page"] = UnavailableError("page.no-port", why="Address in use")
    assert run() == 1
    assert "Address in use" in "".join(capsys.readouterr())
    assert browser.opened == []
