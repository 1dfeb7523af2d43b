"""The window is a program of its own: what it is given, what it gives, and whether it is dark."""

from __future__ import annotations

import asyncio
import sys
from pathlib import Path

import pytest

from common.errors import CodexBridgeError
from local_agent.faces.window import program
from local_agent.faces.window.program import PASSED_ON, WindowProgram, Windows, is_dark, theme_of
from local_agent.faces.window.wire import Answer, encode_answer
from local_agent.sandbox.process import Exit, run_child
from tests import windows

BUS = {"DBUS_SESSION_BUS_ADDRESS": "unix:path=/nowhere"}

DISPLAY = {"DISPLAY": ":0"}


@pytest.mark.parametrize(
    ("theme", "dark"),
    [("Adwaita:dark", True), ("Yaru-dark", True), ("Adwaita", False), ("Darkness", False)],
)
async def test_the_theme_that_the_environment_names_counts(theme: str, dark: bool) -> None:
    assert await is_dark({"GTK_THEME": theme, **BUS}) is dark


async def test_what_the_person_set_counts_most() -> None:
    dark = {"GTK_THEME": "Adwaita:dark"}
    assert await theme_of("light", dark) == "light"
    assert await theme_of("dark", {}) == "dark"
    assert await theme_of("auto", dark) == "dark"
    assert await theme_of("auto", {}) == "light"


async def test_without_a_session_it_is_light() -> None:
    assert not await is_dark({})


@pytest.mark.parametrize(
    ("said", "dark"), [("'prefer-dark'", True), ("'default'", False), (None, False)]
)
async def test_else_the_settings_of_the_desktop_are_asked(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, said: str | None, dark: bool
) -> None:
    asked = tmp_path / "gsettings"
    if said is not None:
        asked.write_text(f'#!/bin/sh\necho "{said}"\n', encoding="utf-8")
        asked.chmod(0o755)
    monkeypatch.setattr(program, "_SCHEME", (str(asked), "get", "a", "b"))
    assert await is_dark(BUS) is dark


def test_it_is_looked_for_then_on_or_off_with_the_reason() -> None:
    windows = Windows()
    assert (windows.state, windows.why) == ("looking", "")
    windows.turn_off("no-window")
    assert (windows.state, windows.why) == ("off", "no-window")
    shown: list[str] = []
    windows.turn_on(shown.append)
    windows.show("approval-1")
    assert (windows.state, windows.why, shown) == ("on", "", ["approval-1"])


def instead(monkeypatch: pytest.MonkeyPatch, script: str) -> None:
    """Let another program stand in for the window."""

    async def start(argv: list[str], **options: object) -> Exit:
        other = [sys.executable, "-I", "-S", "-c", script]
        return await run_child(other, **options)  # type: ignore[arg-type]  # handed through

    monkeypatch.setattr(program, "run_child", start)


async def asked(environ: dict[str, str] = DISPLAY) -> Answer:
    seal, diff = windows.a_change()
    order = windows.an_order(seal)
    return await WindowProgram(environ).ask(order, diff, cancel=asyncio.Event())


@pytest.mark.heavy
@pytest.mark.requirement("R27")
async def test_an_answer_to_what_was_shown_is_taken(monkeypatch: pytest.MonkeyPatch) -> None:
    order = windows.an_order(windows.a_change()[0])
    answer = Answer(
        approval_id=order.shown.approval_id,
        digest=order.shown.digest,
        nonce=order.nonce,
        decision="approve",
    )
    line = encode_answer(answer)
    monkeypatch.setattr(windows, "an_order", lambda _seal: order)
    instead(monkeypatch, f"import sys; sys.stdout.buffer.write({line!r})")
    assert await asked() == answer


@pytest.mark.heavy
@pytest.mark.requirement("R27")
@pytest.mark.parametrize(
    "script",
    [
        "",
        "print('approve')",
        "raise SystemExit(0)",
        "raise SystemExit(1)",
        "import os; os.kill(os.getpid(), 9)",
        "import sys; sys.stdout.buffer.write(sys.stdin.buffer.read())",
        "print('x' * 3_000_000)",
    ],
)
async def test_everything_else_is_no_decision(monkeypatch: pytest.MonkeyPatch, script: str) -> None:
    instead(monkeypatch, script)
    with pytest.raises(CodexBridgeError) as caught:
        await asked()
    assert caught.value.code in ("window.failed", "window.answer", "json.malformed")


@pytest.mark.heavy
@pytest.mark.requirement("R27")
async def test_a_window_that_outlives_its_time_is_ended(monkeypatch: pytest.MonkeyPatch) -> None:
    instead(monkeypatch, "import signal; signal.pause()")
    monkeypatch.setattr(program, "OPENS_WITHIN_S", -599.5)
    with pytest.raises(CodexBridgeError) as caught:
        await asked()
    assert caught.value.code == "window.failed"


@pytest.mark.heavy
@pytest.mark.requirement("R27")
async def test_no_variable_that_could_bring_code_in_reaches_the_window(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    seen: dict[str, str] = {}

    async def start(argv: list[str], *, env: dict[str, str], **_: object) -> Exit:
        seen.update(env)
        assert argv[1] == "-I"
        raise OSError

    monkeypatch.setattr(program, "run_child", start)
    evil = dict.fromkeys(
        ("TCLLIBPATH", "TK_LIBRARY", "TCL_LIBRARY", "PYTHONPATH", "PYTHONSTARTUP", "LD_PRELOAD"),
        "/evil",
    )
    with pytest.raises(CodexBridgeError):
        await asked(evil | dict.fromkeys(PASSED_ON, "x"))
    assert seen == dict.fromkeys(PASSED_ON, "x")


@pytest.mark.heavy
async def test_without_a_display_there_is_no_window() -> None:
    assert not await WindowProgram({}).probe()


@pytest.mark.heavy
@pytest.mark.parametrize(
    ("script", "found"),
    [("print('{\"tk\":true}')", True), ("print('{}')", False), ("raise SystemExit(1)", False)],
)
async def test_a_display_counts_when_a_window_was_really_opened(
    monkeypatch: pytest.MonkeyPatch, script: str, found: bool
) -> None:
    instead(monkeypatch, script)
    assert await WindowProgram(DISPLAY).probe() is found


@pytest.mark.heavy
async def test_more_than_a_window_takes_is_not_started(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(program, "MAX_DIFF", 0)
    monkeypatch.setattr(program, "MAX_TOLD", 10)
    with pytest.raises(CodexBridgeError) as caught:
        await asked()
    assert caught.value.code == "window.failed"
