"""How a person goes through ``codexbridge init``: what each question says, and the answers."""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from typing import Final

from common.protocol.pairing import pairing_line
from tests.e2e.place import CODE, Place, Terminal


@dataclass(frozen=True, slots=True)
class Told:
    """Words by which a question is known, in one language."""

    paste: str
    same: str
    compare: str
    folder: str
    command: str
    send: str
    proved: str
    stays: str
    whole: str
    window: str
    pressed: str
    opened: str
    proved_in_window: str


SPOKEN: Final = {
    "en": Told(
        paste="without a gateway",
        same="same",
        compare="Type same or different",
        folder="Folder that tasks may work in",
        command="Test command for",
        send="First task: send",
        proved="Approved by you (terminal), and run. Receipt ",
        stays="The agent goes on here.",
        whole="both groups",
        window="press Later in it",
        pressed="The window works",
        opened="a window has opened",
        proved_in_window="Approved by you (window), and run.",
    ),
    "zh": Told(
        paste="不使用网关",
        same="相同",
        compare="输入 相同 或 不同",
        folder="任务可以使用的文件夹（",
        command="的测试命令（",
        send="第一个任务：",
        proved="由你批准（终端）并已运行。凭证 ",
        stays="Agent 继续在此运行。",
        whole="两组",
        window="请在其中按“稍后”",
        pressed="窗口可用",
        opened="窗口已打开",
        proved_in_window="由你批准（窗口）并已运行。",
    ),
}
_SERVICE: Final = re.compile(r"(?:as a service|设为服务)[^\n]*\[Y/n\]\s*\Z")
_ENDS: Final = (":", "：", "]", "agent")


def wrapped(words: str) -> str:
    """Return a pattern of the words, wherever a narrow terminal breaks their line."""
    return r"\s*".join(map(re.escape, words.replace(" ", "")))


def answer(terminal: Terminal, words: str, reply: str | None = None) -> None:
    """Wait for a question, and answer it; a service is declined on the way."""
    asked = re.compile(f"{wrapped(words)}|{_SERVICE.pattern}")
    while _SERVICE.search(terminal.read_until(*_ENDS, after=asked)):
        terminal.type("n")
        terminal.read_until("", after=re.compile(r"\[Y/n\] n"))
    if reply is not None:
        terminal.type(reply)


def line_for(place: Place, machine: str = "dev-1", *more: str) -> str:
    """Return what the admin hands over."""
    said = place.admin("pair", "--machine", machine, "--member", "zhangwei", *more)
    code = re.search(r"CB1-[A-Z2-7]{26}", said)
    assert code, said
    return pairing_line(place.base, code[0])


def to_first_task(terminal: Terminal, told: Told, line: str) -> None:
    """Answer everything that comes before the first task."""
    answer(terminal, told.paste, line)
    answer(terminal, told.compare, told.same)
    answer(terminal, told.folder, "")
    answer(terminal, told.command, "")


def approve(terminal: Terminal, told: Told) -> None:
    """Have what waits shown in this terminal, and type its code."""
    answer(terminal, "codexbridge approve T-", "")
    shown = terminal.read_until(":", "：", after=CODE)
    code = CODE.search(shown)
    assert code
    terminal.type(code[0] if told.whole in shown else code[1])


def kept(place: Place) -> dict[str, bytes]:
    """Return what a person has decided, and every key: all files but what tasks leave."""
    files = [*(place.root / "config").glob("*"), *(place.root / "state/keys").glob(".*")]
    files += [*(place.root / "state/keys").glob("*"), *(place.root / "state").glob("pairing-*/*")]
    return {
        str(path.relative_to(place.root)): path.read_bytes()
        for path in sorted({*files})
        if path.is_file() and "agent.db" not in path.name
    }


def devices(place: Place) -> list[str]:
    """Return the machines that the gateway knows, those that were put out as well."""
    return [one["machine"] for one in json.loads(place.admin("devices", "--all", "--json"))]
