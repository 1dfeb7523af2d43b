"""From nothing to a first approved task, in tmux, written down for the how-to pages.

``make walk`` installs the program with pipx into two empty homes, an admin's and a developer's,
types what the pages say at real terminals, and writes both pages anew with what came of it and
when.  It needs tmux, pipx, bubblewrap and the Python package index.
"""

from __future__ import annotations

import re
import shlex
import shutil
import subprocess
import tempfile
import time
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Final

from common.sentences import Lang

ROOT: Final = Path(__file__).parents[1]
PAGE: Final[dict[Lang, str]] = {
    "en": "docs/how-to/first-task.md",
    "zh": "docs/how-to/first-task.zh-CN.md",
}
COLUMNS: Final = 100
THINKS_S: Final = 4.0  # a person reads a question that long before answering
WITHIN_S: Final = 300.0
PROJECT: Final = {
    "Makefile": "test:\n\tpython3 -m unittest\n",
    "shop.py": "def price(count):\n    return count * 3\n",
    "test_shop.py": "import unittest\n\nfrom shop import price\n\n\n"
    "class Price(unittest.TestCase):\n"
    "    def test_two(self):\n        self.assertEqual(price(2), 6)\n",
}
TITLES: Final[dict[str, dict[Lang, str]]] = {
    "admin": {"en": "the admin's terminal", "zh": "管理员的终端"},
    "wecom": {"en": "the simulated WeCom", "zh": "模拟的企业微信"},
    "console": {"en": "the simulated console and chat", "zh": "模拟的管理后台和聊天"},
    "dev": {"en": "the developer's terminal", "zh": "开发者的终端"},
}
HEAD: Final[dict[Lang, str]] = {
    "en": """# From nothing to a first approved task

[中文](first-task.zh-CN.md)

What two people see who have nothing yet: an admin with a server and a developer with a laptop. Here
both are on one machine, and `codexbridge sim` plays WeCom, so you can do the same without an
account: {commands} commands, {minutes}. With a real corp leave out the lines with `sim`, and
`--api-base`; the rest is the same.

This is a recording, made by `make walk` on {day} at real terminals, with a pause of {pause} s
before each answer. Secrets are shortened. Times are minutes and seconds since the first command.
""",
    "zh": """# 从零到第一个获批的任务

[English](first-task.md)

两个人从零开始，各自看到的内容：一位管理员（有服务器）和一位开发者（有笔记本电脑）。这里两人在同一台机器上，
由 `codexbridge sim` 扮演企业微信，所以没有企业微信账号也能照做：共 {commands} 条命令，
用时{minutes}。使用真实企业时，去掉带 `sim` 的命令和 `--api-base`，其余相同。

以下内容由 `make walk` 于 {day} 在真实终端录制，每次回答前停顿 {pause} 秒。机密已截短。
时间为自第一条命令起的分与秒。
""",
}


@dataclass
class Terminal:
    """One person's tmux window; what is new on it since the last look is told once."""

    walk: Walk
    name: str
    home: Path
    told: int = 0

    def __post_init__(self) -> None:
        environ = {
            "HOME": str(self.home),
            "PATH": f"{self.home}/.local/bin:/usr/local/bin:/usr/bin:/bin",
            "LANG": "C.UTF-8",
            "TERM": "xterm-256color",
            "CODEXBRIDGE_LANG": self.walk.lang,
            "PS1": "$ ",
        }
        words = [f"{name}={value}" for name, value in environ.items()]
        shell = shlex.join(["env", "-i", *words, "bash", "--norc", "--noprofile"])
        size = ("-x", str(COLUMNS), "-y", "50", "-c", str(self.home))
        self.walk.tmux("new-session", "-d", "-s", self.name, *size, shell)
        self.until(r"^\$ $")

    def lines(self) -> list[str]:
        """Return all that stands on it, its history included; wrapped lines are whole."""
        shown = self.walk.tmux("capture-pane", "-p", "-J", "-S", "-", "-t", self.name)
        return [line.rstrip() for line in shown.rstrip().splitlines()]

    def run(self, command: str) -> None:
        """Type a command."""
        self.walk.commands += 1
        self.type(command)

    def type(self, text: str) -> None:
        """Type a line."""
        self.walk.tmux("send-keys", "-t", self.name, "-l", text)
        self.walk.tmux("send-keys", "-t", self.name, "Enter")

    def answer(self, prompt: str, text: str) -> None:
        """Wait for a question, read it, and answer."""
        self.until(prompt)
        time.sleep(THINKS_S)
        self.type(text)
        time.sleep(0.3)

    def until(self, pattern: str) -> re.Match[str]:
        """Wait until the screen ends with this; returns the match."""
        end = time.monotonic() + WITHIN_S
        anywhere = pattern.replace(" ", r"\s+")  # wherever a line is broken
        while time.monotonic() < end:
            shown = "\n".join([*self.lines()[self.told :], ""]).rstrip("\n")
            if found := re.search(f"(?:{anywhere})\\s*\\Z", shown + " ", re.MULTILINE):
                return found
            time.sleep(0.1)
        raise TimeoutError(f"{self.name}: {pattern}\n" + "\n".join(self.lines()))

    def tell(self) -> None:
        """Write down what is new; the prompt that waits for the next command is not."""
        lines = self.lines()
        last = len(lines) - (lines[-1:] == ["$"])
        self.walk.write(self, lines[self.told : last])
        self.told = last


@dataclass
class Walk:
    """One recording in one language."""

    lang: Lang
    root: Path
    commands: int = 0
    parts: list[str] = field(default_factory=list)
    hidden: list[str] = field(default_factory=list)
    began: float = 0.0

    def tmux(self, *arguments: str) -> str:
        """Run tmux with a server of our own; returns what it prints."""
        done = subprocess.run(
            ["tmux", "-f", "/dev/null", "-S", str(self.root / "tmux"), *arguments],
            check=True,
            capture_output=True,
            encoding="utf-8",
        )
        return done.stdout

    def write(self, terminal: Terminal, lines: list[str]) -> None:
        """Add what a terminal shows to the page."""
        text = "\n".join(lines).strip("\n")
        for secret in self.hidden:
            text = text.replace(secret, f"{secret[:6]}…")
        text = text.replace(str(ROOT), ".")
        for name in ("admin", "dev"):
            text = text.replace(str(self.root / name), f"/home/{name}")
        seconds = round(time.monotonic() - self.began)
        at = f"{seconds // 60}:{seconds % 60:02}"
        self.parts.append(f"**{at}** {TITLES[terminal.name][self.lang]}\n\n```\n{text}\n```\n")

    def hide(self, pattern: str, terminal: Terminal) -> list[str]:
        """Return what a pattern finds on a screen, and shorten it in the page."""
        found = re.findall(pattern, "\n".join(terminal.lines()))
        self.hidden += found
        return found

    def page(self) -> str:
        """Return the page."""
        minutes = round((time.monotonic() - self.began) / 60)
        took = {"en": f"{minutes} minutes", "zh": f" {minutes} 分钟"}[self.lang]
        day = f"{datetime.now(UTC):%Y-%m-%d}"
        facts = {"commands": self.commands, "minutes": took, "day": day, "pause": round(THINKS_S)}
        return "\n".join([HEAD[self.lang].format(**facts), *self.parts])


def go(walk: Walk) -> None:
    """Go the whole way."""
    admin = Terminal(walk, "admin", walk.root / "admin")
    wecom, console = (Terminal(walk, name, walk.root / "admin") for name in ("wecom", "console"))
    dev = Terminal(walk, "dev", walk.root / "dev")
    dev.type("cd shop-api && clear")
    dev.until(r"^\$ ")
    walk.began = time.monotonic()
    for person in (admin, dev):
        person.run(f"pipx install {ROOT}")
        person.until(r"^\$ ")
    admin.tell()

    console.run("codexbridge sim init --console-only")
    console.until(r"^\$ ")
    (corp,) = re.findall(r"企业ID +(\w+)", "\n".join(console.lines()))
    (app,) = re.findall(r"AgentId +(\w+)", "\n".join(console.lines()))
    (secret,) = walk.hide(r"Secret +(\w{43})", console)
    api = re.findall(r"--api-base (\S+)", "\n".join(console.lines()))[0]
    console.tell()
    wecom.run("codexbridge sim")
    wecom.until("not saved yet|尚未保存")
    wecom.tell()

    admin.run(f"codexbridge gateway init --api-base {api}")
    for prompt, text in (
        (r"企业ID\)?[:：]", corp),
        ("AgentId[:：]", app),
        ("Secret[:：]", secret),
        (r"127\.0\.0\.1:8787\][:：]", ""),
        ("Token[:：]", ""),
        ("EncodingAESKey[:：]", ""),
        (r"账号[)）][:：]", "zhangwei"),
        (r"dev-1\][:：]", ""),
    ):
        admin.answer(prompt, text)
    admin.until(r"Enter goes on without\.|按回车跳过。")
    (url,) = re.findall(r"URL +(http\S+)", "\n".join(admin.lines()))
    (token,) = walk.hide(r"Token +(\w{32})", admin)
    (key,) = walk.hide(r"EncodingAESKey +(\w{43})", admin)
    admin.tell()
    console.run(f"codexbridge sim save {url}")
    console.answer("Token[:：]", token)
    console.answer("EncodingAESKey[:：]", key)
    console.until(r"^\$ ")
    console.tell()
    admin.until(r"\d s\. Enter goes on without\.|秒重试一次。按回车跳过。")
    admin.tell()
    console.run("codexbridge sim trust 127.0.0.1")
    console.until(r"^\$ ")
    console.tell()
    admin.until(r"stays valid\.|仍然有效。")
    (line,) = walk.hide(r"http\S+#(CB1-\w+)", admin)
    admin.tell()

    dev.run("codexbridge init")
    dev.answer(r"without a gateway\):|不使用网关）：", f"{url.rpartition('/wecom')[0]}#{line}")
    same = {"en": "same", "zh": "相同"}[walk.lang]
    dev.answer(r"same or different:|相同 或 不同：", same)
    admin.until(r"gateway\.log")
    dev.answer(r"shop-api\):|shop-api）：", "")
    dev.answer(r"no command\):|none：无）：", "")
    dev.until(r"s: skip\):|s：跳过）：")
    dev.tell()
    admin.tell()
    console.run('codexbridge sim send "@dev test"')
    console.until(r"^\$ ")
    console.tell()
    dev.answer(r"T-\w{4}.*\n?.*(?:s: skip\):|s：跳过）：)", "")
    dev.until(r"T-\w{4}[:：] ?|T-\w{4} 的确认码[:：] ?")
    (code,) = set(re.findall(r"\b([0-9A-Z]{4})-[0-9A-Z]{4}\b", "\n".join(dev.lines())))
    time.sleep(2 * THINKS_S)
    dev.type(code)
    dev.until(r"codexbridge agent")
    dev.tell()


def record(lang: Lang) -> str:
    """Return the page in one language; everything that was started ends with it."""
    root = Path(tempfile.mkdtemp(prefix="walk-", dir=Path.home()))
    try:
        for name in ("admin", "dev/shop-api"):
            (root / name).mkdir(parents=True)
        project = root / "dev" / "shop-api"
        for name, text in PROJECT.items():
            (project / name).write_text(text, encoding="utf-8")
        git = ("git", "-c", "user.name=dev", "-c", "user.email=dev@example.com", "-C", project)
        for words in (("init", "-q"), ("add", "."), ("commit", "-qm", "Start the shop")):
            subprocess.run([*git, *words], check=True)
        walk = Walk(lang, root)
        try:
            go(walk)
        finally:
            _end(walk)
        return walk.page()
    finally:
        shutil.rmtree(root, ignore_errors=True)


def _end(walk: Walk) -> None:
    """Have each person press Ctrl-C, and close the terminals."""
    for name in ("dev", "admin", "wecom", "console"):
        walk.tmux("send-keys", "-t", name, "C-c")
    time.sleep(10)
    walk.tmux("kill-server")


if __name__ == "__main__":
    for language in PAGE:
        (ROOT / PAGE[language]).write_text(record(language), encoding="utf-8")
