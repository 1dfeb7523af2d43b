"""Run the demo as a person does: read, type the code, see the chat hear of it.

    python .ci/drive_demo.py COMMAND [ARGUMENT ...]

Standard library only, so that it can drive `make demo` of a fresh clone and an installed wheel
alike.  Prints how long it took to "waiting for you" and to the summary.  Exit code 0 only when both
came and the demo ended cleanly.
"""

from __future__ import annotations

import os
import pty
import re
import select
import signal
import sys
import time

CODE = re.compile(r"\b([0-9A-HJKMNP-TV-Z]{4})-([0-9A-HJKMNP-TV-Z]{4})\b")
CONTROL = re.compile(r"\x1b\[[0-9;?]*[A-Za-z]")
WAITING = "waiting for you"
SETUP_SECONDS, STEP_SECONDS = 600.0, 60.0


class Screen:
    """What the demo's terminal has shown."""

    def __init__(self, argv: list[str]) -> None:
        self.shown = ""
        self.pid, self._fd = pty.fork()
        if self.pid == 0:
            os.environ |= {
                "LANG": "C.UTF-8",
                "LC_ALL": "C.UTF-8",
                "TERM": "xterm",
                "COLUMNS": "100",
            }
            os.environ.pop("DISPLAY", None)
            os.execvp(argv[0], argv)

    def read_until(self, pattern: str, seconds: float) -> re.Match[str]:
        """Read until the whole of what was shown since the last call matches."""
        until = time.monotonic() + seconds
        while time.monotonic() < until:
            if found := re.search(pattern, self.shown, re.DOTALL):
                return found
            if select.select([self._fd], [], [], 0.2)[0]:
                try:
                    data = os.read(self._fd, 65536)
                except OSError:
                    break
                text = CONTROL.sub("", data.decode("utf-8", "replace"))
                self.shown += text
                sys.stdout.write(text)
                sys.stdout.flush()
        sys.exit(f"\n!! did not see {pattern!r}")

    def type(self, text: str) -> None:
        """Type a line, and look only at what is shown from here on."""
        self.shown = ""
        os.write(self._fd, text.encode() + b"\n")

    def end(self) -> int:
        """Wait for the end and return the exit code."""
        until = time.monotonic() + STEP_SECONDS
        while time.monotonic() < until:
            done, status = os.waitpid(self.pid, os.WNOHANG)
            if done:
                return os.waitstatus_to_exitcode(status)
            if select.select([self._fd], [], [], 0.2)[0]:
                try:
                    sys.stdout.write(os.read(self._fd, 65536).decode("utf-8", "replace"))
                except OSError:
                    pass
        os.kill(self.pid, signal.SIGKILL)
        sys.exit("\n!! the demo did not end")


def main() -> int:
    """Drive one demo."""
    begun = time.monotonic()
    screen = Screen(sys.argv[1:])
    screen.read_until(WAITING, SETUP_SECONDS)
    waiting = time.monotonic() - begun
    screen.read_until(rf"{CODE.pattern}.*[:：]\s*$", STEP_SECONDS)
    code = CODE.search(screen.shown)
    assert code is not None  # noqa: S101 - matched just above
    screen.type(code[0] if "NOT SANDBOXED" in screen.shown else code[1])
    approved = time.monotonic()
    screen.read_until(r"chat hears[^\n]*T-\w{4,5} ✗", STEP_SECONDS)
    told = time.monotonic() - approved
    # What the chat names can be typed here as it stands.
    named = screen.read_until(r"codexbridge show T-\w{4,5}", STEP_SECONDS)
    screen.type(named[0])
    screen.read_until(r"Request +@dev test", STEP_SECONDS)
    screen.type("q")
    code_of_exit = screen.end()
    print(f"\nwaiting for you after {waiting:.1f} s; summary {told:.1f} s after the code was typed")
    return code_of_exit


if __name__ == "__main__":
    sys.exit(main())
