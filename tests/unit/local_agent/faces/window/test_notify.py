"""Alerts: shown where there is a desktop, missed by nobody where there is none."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from local_agent.faces.window import notify
from local_agent.faces.window.notify import Notifier

DESKTOP = {"DBUS_SESSION_BUS_ADDRESS": "unix:path=/nowhere", "SECRET": "s"}


def a_program(folder: Path, script: str) -> str:
    path = folder / "notify-send"
    path.write_text(f"#!{sys.executable} -I\n{script}\n", encoding="utf-8")
    path.chmod(0o755)
    return str(path)


async def test_an_alert_is_given_as_arguments_in_a_clean_environment(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    script = (
        "import os, sys\n"
        f"out = open({str(tmp_path / 'told')!r}, 'w', encoding='utf-8')\n"
        "print(*sys.argv[1:], sep='\\n', file=out)\n"
        "print('SECRET' in os.environ, file=out)"
    )
    monkeypatch.setattr(notify, "_PROGRAMS", ("/nowhere", a_program(tmp_path, script)))
    assert await Notifier(DESKTOP).alert("--help", "<b>T-7K3F</b>")
    told = (tmp_path / "told").read_text(encoding="utf-8").splitlines()
    assert told == ["--app-name=CodexBridge", "--", "--help", "<b>T-7K3F</b>", "False"]


async def test_without_a_desktop_nothing_is_started(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(notify, "_PROGRAMS", (a_program(tmp_path, ""),))
    assert not await Notifier({}).alert("title", "body")


@pytest.mark.parametrize("script", ["raise SystemExit(1)", None])
async def test_an_alert_that_cannot_be_shown_troubles_nobody(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, script: str | None
) -> None:
    program = "/nowhere/notify-send" if script is None else a_program(tmp_path, script)
    monkeypatch.setattr(notify, "_PROGRAMS", (program,))
    assert not await Notifier(DESKTOP).alert("title", "body")
