"""Whether the desktop is dark."""

from __future__ import annotations

from pathlib import Path

import pytest

from local_agent.faces.window import surroundings
from local_agent.faces.window.surroundings import Windows, is_dark, theme_of

BUS = {"DBUS_SESSION_BUS_ADDRESS": "unix:path=/nowhere"}


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
    program = tmp_path / "gsettings"
    if said is not None:
        program.write_text(f'#!/bin/sh\necho "{said}"\n', encoding="utf-8")
        program.chmod(0o755)
    monkeypatch.setattr(surroundings, "_SCHEME", (str(program), "get", "a", "b"))
    assert await is_dark(BUS) is dark


def test_it_is_looked_for_then_on_or_off_with_the_reason() -> None:
    windows = Windows()
    assert (windows.state, windows.why) == ("looking", "")
    windows.turn_off("no-window")
    assert (windows.state, windows.why) == ("off", "no-window")
    windows.turn_on()
    assert (windows.state, windows.why) == ("on", "")
