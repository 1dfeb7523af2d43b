"""Whether windows are opened: by setting, by screen, and by whether one can be opened."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from common.clock import ManualClock
from common.errors import StoreError
from common.logs import open_log
from local_agent import windows
from local_agent.faces.window import display
from local_agent.faces.window.desktop import DesktopApprover
from local_agent.faces.window.program import WindowProgram, Windows
from local_agent.settings import AgentSettings
from tests.supervisor import Supervisor

WITHIN_S = 30.0


class Parts:
    """An agent with nothing but what windows look at."""

    def __init__(self, environ: Mapping[str, str], **settings: Any) -> None:
        self.windows = Windows()
        self.wanted: list[Any] = []
        self.entered: list[str] = []
        gate = SimpleNamespace(listen=lambda _listener: None, entrance=self.entered.append)
        self.agent: Any = SimpleNamespace(
            windows=self.windows,
            gate=gate,
            engine=SimpleNamespace(on_checked=None, when_wanted=self.wanted.append),
            teller=None,
            blobs=SimpleNamespace(get=None),
        )
        self.ground: Any = SimpleNamespace(
            settings=AgentSettings(**settings),
            environ=environ,
            log=open_log("test"),
            clock=ManualClock(),
            lang="en",
        )

    async def until(self, settled: Callable[[], bool]) -> None:
        """Run windows until something is so."""
        running = asyncio.create_task(windows.run_windows(self.agent, self.ground))
        async with asyncio.timeout(WITHIN_S):
            while not settled():
                assert not running.done()
                await asyncio.sleep(0)
        running.cancel()
        await asyncio.gather(running, return_exceptions=True)

    async def known(self) -> tuple[str, str]:
        """Return what is known of them, once it is."""
        assert self.windows.state == "looking"
        await self.until(lambda: self.windows.state != "looking")
        return self.windows.state, self.windows.why


def answering(monkeypatch: pytest.MonkeyPatch, found: bool) -> None:
    """Let a screen answer so."""

    async def probe(program: WindowProgram) -> bool:
        return found

    monkeypatch.setattr(WindowProgram, "probe", probe)


async def test_switched_off_no_screen_is_looked_for(monkeypatch: pytest.MonkeyPatch) -> None:
    answering(monkeypatch, found=True)
    assert await Parts({"DISPLAY": ":0"}, windows=False).known() == ("off", "setting")


async def test_without_a_screen_there_are_none() -> None:
    assert await Parts({}).known() == ("off", "no-screen")


async def test_on_a_screen_that_does_not_answer_there_are_none(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    answering(monkeypatch, found=False)
    assert await Parts({"DISPLAY": ":0"}).known() == ("off", "no-window")


@pytest.mark.parametrize("failure", [StoreError("store.failed"), OSError(24, "too many files")])
async def test_on_a_screen_that_answers_they_are_opened_and_told_of_checks(
    monkeypatch: pytest.MonkeyPatch, failure: Exception
) -> None:
    answering(monkeypatch, found=True)
    tries = []

    async def run(approver: DesktopApprover) -> None:
        tries.append(approver)
        if len(tries) == 1:
            raise failure
        await asyncio.Event().wait()

    monkeypatch.setattr(DesktopApprover, "run", run)
    monkeypatch.setattr(windows, "AGAIN_S", 0)
    parts = Parts({"DISPLAY": ":0"})
    await parts.until(lambda: len(tries) == 2)
    assert parts.windows.state == "on"
    assert parts.agent.engine.on_checked == tries[0].show
    assert parts.wanted == [tries[0].remind]
    assert parts.entered == ["desktop"]


SERVICE = {"INVOCATION_ID": "1", "PATH": "/usr/bin:/bin"}


@pytest.fixture
def supervisor(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Supervisor:
    playing = Supervisor(tmp_path)
    monkeypatch.setattr(display, "_ASK", (str(tmp_path / "systemctl"), *display._ASK[1:]))
    return playing


@pytest.mark.heavy
async def test_a_service_asks_where_the_display_is_and_takes_nothing_else(
    supervisor: Supervisor,
) -> None:
    told = "PATH=/evil\nDISPLAY=:7\nXAUTHORITY=/run/user/1/x.Y\nWAYLAND_DISPLAY=$'a b'\nTOKEN=t"
    supervisor.play(environment=told)
    found = await display.with_display(SERVICE)
    assert found == SERVICE | {"DISPLAY": ":7", "XAUTHORITY": "/run/user/1/x.Y"}
    assert supervisor.calls() == [["systemctl", "--user", "show-environment"]]


@pytest.mark.heavy
async def test_nobody_is_asked_where_the_display_is_known_or_a_terminal_started_the_agent(
    supervisor: Supervisor,
) -> None:
    known = SERVICE | {"DISPLAY": ":1"}
    assert await display.with_display(known) == known
    assert await display.with_display({}) == {}
    assert supervisor.calls() == []


@pytest.mark.heavy
@pytest.mark.parametrize("program", ["systemctl", "gone"])
async def test_a_service_without_an_answer_has_no_display(
    supervisor: Supervisor, monkeypatch: pytest.MonkeyPatch, tmp_path: Path, program: str
) -> None:
    supervisor.play(fails={"systemctl": "Failed to connect to bus"})
    monkeypatch.setattr(display, "_ASK", (str(tmp_path / program), "show-environment"))
    assert await display.with_display(SERVICE) == SERVICE


@pytest.mark.heavy
async def test_a_service_opens_windows_once_somebody_is_at_the_desktop(
    supervisor: Supervisor, monkeypatch: pytest.MonkeyPatch
) -> None:
    answering(monkeypatch, found=True)
    monkeypatch.setattr(windows, "LOOK_S", 0.01)
    parts = Parts(SERVICE)
    seen: list[str] = []

    def settled() -> bool:
        if parts.windows.state == "off" and not seen:
            seen.append(parts.windows.why)
            supervisor.play(environment="DISPLAY=:3")
        return parts.windows.state == "on"

    await parts.until(settled)
    assert seen == ["no-screen"]


@pytest.mark.heavy
async def test_a_display_that_does_not_answer_is_tried_anew_when_it_is_another(
    supervisor: Supervisor, monkeypatch: pytest.MonkeyPatch
) -> None:
    tried: list[WindowProgram] = []

    async def probe(program: WindowProgram) -> bool:
        tried.append(program)
        return len(tried) > 1

    monkeypatch.setattr(WindowProgram, "probe", probe)
    monkeypatch.setattr(windows, "LOOK_S", 0.01)
    supervisor.play(environment="DISPLAY=:3")
    parts = Parts(SERVICE)

    def settled() -> bool:
        if parts.windows.why == "no-window":
            supervisor.play(environment="DISPLAY=:4")
        return parts.windows.state == "on"

    await parts.until(settled)
    assert len(tried) == 2
