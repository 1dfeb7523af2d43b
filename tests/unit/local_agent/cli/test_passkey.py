"""``codexbridge passkey``: added at a terminal alone, by the code that the page shows."""

from __future__ import annotations

import asyncio
import json
import os
import threading
from collections.abc import AsyncIterator, Iterator, Mapping
from typing import Any

import pytest

import codexbridge
from common.errors import ConfigError, InputError, StateError
from common.home import Home
from common.sentences import LANGS, Lang, explain, say
from local_agent.cli import passkey
from local_agent.error_texts import ERRORS
from local_agent.faces.control import wire
from tests.unit.local_agent.cli.conftest import AgentDouble
from tests.unit.local_agent.cli.terminal import in_front, reads, reads_all

Captured = pytest.CaptureFixture[str]
CODE = "7K3F-9Q2M"
LAPTOP = {"name": "laptop", "code": CODE, "created_at": 1_700_000_000_000, "last_used_at": None}
SHOWN = {
    "task": "T-7K3F",
    "title": {"en": "Delete\x1b[2J 2 files on dev-1?", "zh": "要删除吗？"},
    "code": "7K3F-9Q2M",
    "once": "8T0QXZ",
}
LINK = "http://localhost:8474/launch/abc"


class Ceremony(AgentDouble):
    """Knows one code, which three wrong ones end."""

    def __init__(self, home: Home) -> None:
        super().__init__(home)
        self.accepted = False
        self.wrong = 0
        self.ended = asyncio.Event()
        self.hung_up = threading.Event()

    async def answer(self, request: wire.Request) -> AsyncIterator[tuple[bool, Mapping[str, Any]]]:
        """Play the agent."""
        self.asked.append(request)
        if request.op == "passkey_codes":
            try:
                yield False, SHOWN
                await self.ended.wait()
            finally:
                self.hung_up.set()
        elif request.op == "passkey_add":
            async for step in self._add():
                yield step
        else:
            yield True, self._confirm(request.args)

    async def _add(self) -> AsyncIterator[tuple[bool, Mapping[str, Any]]]:
        try:
            yield False, {"url": LINK, "ceremony": "c-1"}
            yield False, {"ends": CODE[5:]}
            await self.ended.wait()
        finally:
            self.hung_up.set()
        if not self.accepted:
            raise StateError("passkey.not-accepted")
        yield True, LAPTOP

    def _confirm(self, args: Mapping[str, Any]) -> Mapping[str, Any]:
        assert args["ceremony"] == "c-1"
        if args["typed"].upper() == CODE[:4]:
            self.accepted = True
            self.ended.set()
            return {}
        self.wrong += 1
        if self.wrong < 3:
            raise InputError("passkey.wrong-code", left=3 - self.wrong)
        self.ended.set()
        raise StateError("passkey.not-accepted")


@pytest.fixture
def ceremony(home: Home) -> Iterator[Ceremony]:
    double = Ceremony(home)
    double.start()
    yield double
    double.stop()


@pytest.mark.requirement("R31")
@pytest.mark.heavy
def test_a_passkey_is_added_by_the_code_that_the_page_shows(ceremony: Ceremony) -> None:
    with in_front("passkey", "add", "laptop", term="dumb") as screen:
        seen = reads(screen, passkey.CODE.en.rstrip())
        assert LINK in seen
        assert CODE[5:] in seen
        assert CODE[:4] not in seen  # it stands on the page
        os.write(screen, b"0000\n")
        seen = reads(screen, passkey.CODE.en.rstrip() + " $")
        wrong = InputError("passkey.wrong-code", left=2)
        assert explain(wrong, ERRORS, "en") in " ".join(seen.split())
        os.write(screen, b"7k3f\n")
        assert "laptop" in reads_all(screen)
    assert ceremony.args_of("passkey_add") == {"name": "laptop"}
    assert ceremony.accepted


@pytest.mark.requirement("R31")
@pytest.mark.heavy
def test_three_wrong_codes_add_nothing(ceremony: Ceremony) -> None:
    with in_front("passkey", "add", "laptop", term="dumb") as screen:
        for _ in range(3):
            reads(screen, passkey.CODE.en.rstrip() + " $")
            os.write(screen, b"0000\n")
        seen = reads_all(screen)
    assert explain(StateError("passkey.not-accepted"), ERRORS, "en") in seen.replace("\r\n", "\n")
    assert not ceremony.accepted


@pytest.mark.heavy
@pytest.mark.parametrize("key", [b"\n", b"\x04", b"\x03"])
def test_enter_alone_and_ctrl_d_and_ctrl_c_add_nothing(ceremony: Ceremony, key: bytes) -> None:
    with in_front("passkey", "add", "laptop", term="dumb") as screen:
        reads(screen, passkey.CODE.en.rstrip() + " $")
        os.write(screen, key)
        seen = reads_all(screen)
    assert (passkey.NOT_ADDED.en in seen) == (key != b"\x03")
    assert ceremony.hung_up.wait(10)
    assert not any(one.op == "passkey_confirm" for one in ceremony.asked)


@pytest.mark.requirement("R31")
@pytest.mark.heavy
def test_a_one_time_code_stands_beside_what_it_is_for(ceremony: Ceremony) -> None:
    with in_front("passkey", "code", term="dumb") as screen:
        seen = reads(screen, "good for one approval")
        for word in ("T-7K3F: Delete", "2 files on dev-1?", "HIGH RISK", "7K3F-9Q2M", "8T0QXZ"):
            assert word in seen
        assert "\x1b[2J" not in seen
        os.write(screen, b"\x03")
        reads_all(screen)
    assert ceremony.hung_up.wait(10)


@pytest.mark.requirement("R31")
@pytest.mark.parametrize("argv", [["passkey", "add", "laptop"], ["passkey", "code"]])
@pytest.mark.parametrize("lang", LANGS)
def test_what_is_no_terminal_adds_nothing(
    agent: AgentDouble,
    capsys: Captured,
    monkeypatch: pytest.MonkeyPatch,
    lang: Lang,
    argv: list[str],
) -> None:
    monkeypatch.setenv("LANG", "zh_CN.UTF-8" if lang == "zh" else "C.UTF-8")
    assert codexbridge.main(argv) == 2
    told = capsys.readouterr().err
    assert told == f"codexbridge: {say(ERRORS['passkey.no-terminal'], lang)}\n"
    assert agent.asked == []


@pytest.mark.parametrize("lang", LANGS)
def test_the_list_tells_code_and_use(
    agent: AgentDouble, capsys: Captured, monkeypatch: pytest.MonkeyPatch, lang: Lang
) -> None:
    monkeypatch.setenv("LANG", "zh_CN.UTF-8" if lang == "zh" else "C.UTF-8")
    phone = {"name": "ph\x1b[1mone", "code": "AAAA-BBBB", "created_at": 1, "last_used_at": 2}
    agent.answers["passkeys"] = {"passkeys": [LAPTOP, phone]}
    assert codexbridge.main(["passkey", "list"]) == 0
    first, second = capsys.readouterr().out.splitlines()
    assert "laptop" in first
    assert CODE in first
    assert "2023" in first
    assert say(passkey.NEVER, lang) in first
    assert say(passkey.NEVER, lang) not in second
    assert "\x1b" not in second


def test_programs_get_the_list_whole(agent: AgentDouble, capsys: Captured) -> None:
    agent.answers["passkeys"] = {"passkeys": [LAPTOP]}
    assert codexbridge.main(["passkey", "list", "--json"]) == 0
    assert json.loads(capsys.readouterr().out) == {"passkeys": [LAPTOP]}


def test_without_any_the_way_to_add_one_is_named(agent: AgentDouble, capsys: Captured) -> None:
    agent.answers["passkeys"] = {"passkeys": []}
    assert codexbridge.main(["passkey", "list"]) == 0
    assert capsys.readouterr().out == passkey.NONE.en + "\n"


def test_one_is_removed_by_its_name(agent: AgentDouble, capsys: Captured) -> None:
    assert codexbridge.main(["passkey", "remove", "laptop"]) == 0
    assert agent.args_of("passkey_remove") == {"name": "laptop"}
    assert "laptop" in capsys.readouterr().out


@pytest.mark.parametrize("lang", LANGS)
def test_what_is_missing_is_said_in_one_line(
    agent: AgentDouble, capsys: Captured, monkeypatch: pytest.MonkeyPatch, lang: Lang
) -> None:
    monkeypatch.setenv("LANG", "zh_CN.UTF-8" if lang == "zh" else "C.UTF-8")
    agent.answers["passkeys"] = ConfigError("passkey.not-installed")
    assert codexbridge.main(["passkey", "list"]) == 2
    told = capsys.readouterr().err
    assert told.count("\n") == 1
    assert "pipx inject codexbridge" in told
    assert "codexbridge[passkey]" in told
