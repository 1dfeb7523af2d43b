"""A screen of its own for the tests of the window: Xvfb, a window manager, and hands (xdotool)."""

from __future__ import annotations

import contextlib
import os
import re
import shutil
import signal
import struct
import subprocess
import sys
import time
import zlib
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final, TypeVar

T = TypeVar("T")

PARTS: Final = ("Xvfb", "openbox", "xdotool")
CHILD: Final = (sys.executable, "-I", "-m", "local_agent.faces.window.child")
WITHIN_S: Final = 30.0
SHOWN: Final = "Xvfb_screen0"  # where Xvfb keeps what it shows
HEADER: Final = 100  # bytes before that
_NUMBER: Final = re.compile(r"(\w+)=(-?\d+)")


def is_there() -> bool:
    """Tell whether this machine has all that a screen needs."""
    import importlib.util

    return all(map(shutil.which, PARTS)) and importlib.util.find_spec("_tkinter") is not None


def soon(look: Callable[[], T], *, seconds: float = 1.0) -> T:
    """Return the first truthy answer, or what there is at the end."""
    end = time.monotonic() + seconds
    while not (found := look()) and time.monotonic() < end:
        time.sleep(0.02)
    return found


def until(look: Callable[[], T], *, seconds: float = WITHIN_S) -> T:
    """Return the first truthy answer, or fail."""
    found = soon(look, seconds=seconds)
    assert found, f"not within {seconds} s; last answer: {found!r}"
    return found


@dataclass
class Shown:
    """A window's program with its order read; what it writes is read at its end."""

    process: subprocess.Popen[bytes]

    def answer(self, *, seconds: float = WITHIN_S) -> tuple[int, bytes]:
        """Return exit code and output, once it has ended."""
        out, _ = self.process.communicate(timeout=seconds)
        return self.process.returncode, out

    @property
    def ended(self) -> bool:
        """Whether it has ended by now."""
        return self.process.poll() is not None


@dataclass
class Screen:
    """One display."""

    name: str
    home: Path
    processes: list[subprocess.Popen[bytes]] = field(default_factory=list)
    unseen_at: float = 0.0  # the window that was found last was not there before

    @property
    def environ(self) -> dict[str, str]:
        """What a program on this screen needs."""
        return {"DISPLAY": self.name, "HOME": str(self.home), "LANG": "C.UTF-8"}

    def start(self, *argv: str, stdin: int = subprocess.DEVNULL) -> subprocess.Popen[bytes]:
        """Start a program here; ended with the screen."""
        process = subprocess.Popen(
            argv,
            env=self.environ | {"PATH": os.environ["PATH"]},
            stdin=stdin,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            start_new_session=True,
        )
        self.processes.append(process)
        return process

    def show(self, said: bytes) -> Shown:
        """Start the window's program, as the agent does, with what it is told."""
        process = self.start(*CHILD, stdin=subprocess.PIPE)
        assert process.stdin is not None
        with contextlib.suppress(BrokenPipeError):
            process.stdin.write(said)
            process.stdin.close()
        process.stdin = None
        return Shown(process)

    def do(self, *words: str, check: bool = True) -> str:
        """Run xdotool, and return what it says."""
        done = subprocess.run(
            ["xdotool", *words],
            env=self.environ | {"PATH": os.environ["PATH"]},
            capture_output=True,
            encoding="utf-8",
            timeout=WITHIN_S,
            check=False,
        )
        assert not check or done.returncode == 0, (words, done.stderr)
        return done.stdout.strip()

    def focus(self, window: str) -> None:
        """Give a window the focus, as the window manager does.

        What the window manager *says* is active proves nothing: a new window may bear the number of
        one that has gone, of which it was last said.
        """
        self.do("windowactivate", window)
        until(lambda: self.has_focus(window))

    def has_focus(self, window: str) -> bool:
        """Tell whether keys go to a window: the window manager then knows of it before any key."""
        return self.do("getwindowfocus", check=False) == window

    def window(self, title: str) -> str:
        """Return the id of the window of that title, once it is on the screen."""

        def look() -> list[str]:
            begun = time.monotonic()
            found = self.windows(title)
            if not found:
                self.unseen_at = begun
            return found

        self.unseen_at = 0.0
        return until(look)[0]

    def windows(self, title: str) -> list[str]:
        """Return the ids of all windows of that title that are on the screen now."""
        return self.do("search", "--onlyvisible", "--name", title, check=False).split()

    def place(self, window: str) -> tuple[int, int, int, int]:
        """Return left, top, width and height of a window; the pointer is put in a corner."""
        said = self.do("getwindowgeometry", "--shell", window)
        size = {name: int(value) for name, value in _NUMBER.findall(said)}
        # What xdotool says of the place counts the frame twice; where the pointer is, it knows.
        self.do("mousemove", "--window", window, "0", "0")
        at = dict(_NUMBER.findall(self.do("getmouselocation", "--shell")))
        self.do("mousemove", "0", "0")
        return int(at["X"]), int(at["Y"]), size["WIDTH"], size["HEIGHT"]

    def pixel(self, x: int, y: int) -> tuple[int, int, int]:
        """Return red, green and blue of one point of the screen."""
        with (self.home / SHOWN).open("rb") as file:
            width, begin = _layout(file.read(HEADER))
            file.seek(begin + (y * width + x) * 4)
            blue, green, red = file.read(3)
        return red, green, blue

    def picture(self, path: Path, window: str) -> None:
        """Write a window as a PNG."""
        left, top, across, down = self.place(window)
        width, raw = self._pixels()
        rows = []
        for y in range(top, top + down):
            line = raw[(y * width + left) * 4 :][: across * 4]
            row = bytearray(3 * across)
            row[::3], row[1::3], row[2::3] = line[2::4], line[1::4], line[::4]
            rows.append(bytes(row))
        path.write_bytes(_png(rows))

    def _pixels(self) -> tuple[int, bytes]:
        """Return the width of the screen and its points, four bytes each."""
        raw = (self.home / SHOWN).read_bytes()
        width, begin = _layout(raw[:HEADER])
        return width, raw[begin:]

    def wake_keys(self) -> None:
        """Press keys of the window manager until it obeys.

        The first key that a new display is given may be lost: the window manager takes it from the
        window that has the focus, and does nothing (3 of 100 displays; of later keys none).
        """
        until(lambda: self._goes_to("super+F2", "1"))
        until(lambda: self._goes_to("super+F1", "0"))

    def _goes_to(self, key: str, desktop: str) -> bool:
        self.do("key", key)
        return self.do("get_desktop") == desktop

    def clear(self) -> None:
        """End all but the display and its window manager."""
        self._end(self.processes[2:])
        del self.processes[2:]

    def stop(self) -> None:
        """End everything on it."""
        self._end(self.processes)

    def _end(self, processes: list[subprocess.Popen[bytes]]) -> None:
        for process in reversed(processes):
            with contextlib.suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGKILL)
            process.wait(WITHIN_S)
            for pipe in (process.stdout, process.stdin):
                if pipe is not None:
                    pipe.close()


@contextlib.contextmanager
def a_screen(home: Path, *, size: str = "1280x800") -> Iterator[Screen]:
    """Give a screen with a window manager that has taken it over."""
    shown, told = os.pipe()
    where = ("-displayfd", str(told), "-screen", "0", f"{size}x24", "-fbdir", str(home))
    display = subprocess.Popen(
        ["Xvfb", *where, "-noreset", "-nolisten", "tcp"],
        pass_fds=(told,),
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        start_new_session=True,
    )
    os.close(told)
    with os.fdopen(shown, "rb") as line:
        screen = Screen(f":{int(line.readline())}", home, [display])
    try:
        screen.start("openbox")
        until(lambda: screen.do("get_num_desktops", check=False) not in ("", "0"))
        screen.wake_keys()
        yield screen
    finally:
        screen.stop()


def _layout(header: bytes) -> tuple[int, int]:
    """Return the width of an X Window Dump, and where its points begin."""
    head = struct.unpack(">25I", header)
    size, width, colours = head[0], head[12] // 4, head[19]
    return width, size + 12 * colours


def _png(rows: list[bytes]) -> bytes:
    """Return rows of red, green and blue as a PNG (RFC 2083)."""
    above, told = bytes(len(rows[0])), bytearray()
    for row in rows:
        # Filter 2: what differs from the row above, which in a window is little.
        told += b"\2" + bytes((one - other) & 255 for one, other in zip(row, above, strict=True))
        above = row
    size = struct.pack(">IIBBBBB", len(rows[0]) // 3, len(rows), 8, 2, 0, 0, 0)
    chunks = ((b"IHDR", size), (b"IDAT", zlib.compress(bytes(told), 9)), (b"IEND", b""))
    return b"\x89PNG\r\n\x1a\n" + b"".join(
        struct.pack(">I", len(body)) + name + body + struct.pack(">I", zlib.crc32(name + body))
        for name, body in chunks
    )
