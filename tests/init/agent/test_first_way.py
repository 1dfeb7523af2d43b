"""``codexbridge init`` in a real terminal, with a real gateway: from nothing to a first task."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from common.protocol.pairing import pairing_line
from tests.e2e.place import CODE, Place, Terminal, sample, wait_until

SPOKEN = {
    "en": {
        "paste": "without a gateway): ",
        "same": "same",
        "compare": "different: ",
        "folder": "work in",
        "command": "no command): ",
        "send": "skip): ",
        "proved": "Approved by you (terminal)",
        "stays": "The agent goes on here",
    },
    "zh": {
        "paste": "不使用网关）：",
        "same": "相同",
        "compare": "不同：",
        "folder": "可以使用的文件夹",
        "command": "none：无）：",
        "send": "跳过）：",
        "proved": "由你批准（终端）并已运行",
        "stays": "Agent 继续在此运行",
    },
}
CHOSEN = re.compile("")


@pytest.fixture
def place(tmp_path: Path) -> Iterator[Place]:
    """A gateway with a member, and a machine on which nothing has been done."""
    made = Place.at(tmp_path / "home")
    made.admin("member", "add", "zhangwei")
    made.start_simulator()
    made.start_gateway()
    yield made
    made.stop()


@pytest.fixture
def workspace(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A repository with a test target, in which the terminals are."""
    made = sample(
        tmp_path / "shop-api", [("Makefile", "test:\n\t@echo 1 passed\n"), (".git/HEAD", "x\n")]
    )
    monkeypatch.chdir(made)
    return made


def line_for(place: Place, machine: str = "dev-1", *more: str) -> str:
    """Return what the admin hands over."""
    said = place.admin("pair", "--machine", machine, "--member", "zhangwei", *more)
    code = re.search(r"CB1-[A-Z2-7]{26}", said)
    assert code, said
    return pairing_line(place.base, code[0])


@pytest.mark.parametrize("lang", ["en", "zh"])
def test_the_whole_way_leads_to_a_task_that_was_approved(
    place: Place, workspace: Path, lang: str
) -> None:
    told = SPOKEN[lang]
    environ = place.environ | {"CODEXBRIDGE_LANG": lang}
    with Terminal(environ, "init") as terminal:

        def until(words: str, *ends: str) -> str:
            return terminal.read_until(*(ends or (words.rstrip(),)), after=re.compile(re.escape(words.rstrip())))

        until(told["paste"])
        terminal.type(line_for(place))
        until(told["compare"])
        terminal.type(told["same"])
        until(told["folder"], ":", "：")
        terminal.type("")
        until(told["command"])
        terminal.type("")
        until(told["send"])
        print(terminal.shown)
        assert place.callback("@dev test") == 200
        until("codexbridge approve T-", ":", "：")
        terminal.type("")
        shown = terminal.read_until(":", "：", after=CODE)
        print(terminal.shown)
