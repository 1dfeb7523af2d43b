"""Alerts about reads: at once, then together, and no markup from outside in them."""

from __future__ import annotations

import asyncio
import sys
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from common.sentences import say
from local_agent import disclosure_replies as words
from local_agent.faces.window import alerts
from local_agent.faces.window.alerts import MAX_NAME, Notifier, ReadNotice


@dataclass
class Desktop:
    """Keeps what was shown, and lets the next alert wait until it is let go."""

    shown: list[str] = field(default_factory=list)
    stirred: asyncio.Event = field(default_factory=asyncio.Event)
    may_go_on: asyncio.Semaphore = field(default_factory=lambda: asyncio.Semaphore(0))

    async def alert(self, title: str, body: str) -> bool:
        assert title == say(words.NOTICE, "en")
        self.shown.append(body)
        self.stirred.set()
        return False

    async def rest(self) -> None:
        await self.may_go_on.acquire()

    async def until(self, count: int) -> None:
        async with asyncio.timeout(30):
            while len(self.shown) < count:
                self.stirred.clear()
                await self.stirred.wait()


@pytest.fixture
def desktop() -> Desktop:
    return Desktop()


@pytest.fixture
def notice(desktop: Desktop) -> ReadNotice:
    return ReadNotice(desktop, lang="en", rest=desktop.rest)


def one(who: str, task: str = "T-7K3F") -> str:
    facts = {"workspace": "shop", "count": 3, "task": task}
    return say(words.NOTICE_ONE, "en", who=who, **facts)


@pytest.mark.requirement("R53")
async def test_a_read_is_told_at_once(notice: ReadNotice, desktop: Desktop) -> None:
    notice.tell(who="zhang.san", workspace="shop", files=3, task="T-7K3F")
    await desktop.until(1)
    assert desktop.shown == [one("zhang.san")]


async def test_what_follows_soon_is_told_together_with_nobody_left_out(
    notice: ReadNotice, desktop: Desktop
) -> None:
    notice.tell(who="zhang", workspace="shop", files=3, task="T-7K3F")
    await desktop.until(1)
    for number in range(40):
        notice.tell(who=f"li{number}", workspace="shop", files=3, task="T-0001")
    desktop.may_go_on.release()
    await desktop.until(2)
    more = say(words.NOTICE_MORE, "en", reads=40, who="li39", workspace="shop")
    assert desktop.shown[1:] == [more]
    desktop.may_go_on.release()
    notice.tell(who="wu", workspace="shop", files=3, task="T-0002")
    await desktop.until(3)
    assert desktop.shown[2:] == [one("wu", "T-0002")]


@pytest.mark.parametrize(
    ("claimed", "shown"),
    [
        ("<b>root</b>", "?b?root??b?"),
        ("张伟", "张伟"),
        ("a\u202eb\nc", "a?b?c"),
        ("x" * 500, "x" * MAX_NAME),
        ("", ""),
    ],
)
async def test_a_claimed_name_is_shown_without_markup_and_in_bounds(
    notice: ReadNotice, desktop: Desktop, claimed: str, shown: str
) -> None:
    notice.tell(who=claimed, workspace="shop", files=3, task="T-7K3F")
    await desktop.until(1)
    assert desktop.shown == [one(shown)]


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
    monkeypatch.setattr(alerts, "_PROGRAMS", ("/nowhere", a_program(tmp_path, script)))
    assert await Notifier(DESKTOP).alert("--help", "<b>T-7K3F</b>")
    told = (tmp_path / "told").read_text(encoding="utf-8").splitlines()
    assert told == ["--app-name=CodexBridge", "--", "--help", "<b>T-7K3F</b>", "False"]


async def test_without_a_desktop_nothing_is_started(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(alerts, "_PROGRAMS", (a_program(tmp_path, ""),))
    assert not await Notifier({}).alert("title", "body")


@pytest.mark.parametrize("script", ["raise SystemExit(1)", None])
async def test_an_alert_that_cannot_be_shown_troubles_nobody(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, script: str | None
) -> None:
    program = "/nowhere/notify-send" if script is None else a_program(tmp_path, script)
    monkeypatch.setattr(alerts, "_PROGRAMS", (program,))
    assert not await Notifier(DESKTOP).alert("title", "body")
