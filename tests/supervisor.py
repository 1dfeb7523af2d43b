"""Programs that play systemd: they note what they are asked, and tell what a test lays down.

No test may start a real one for the machine, which it would take over; a user's own manager is
tried in `tests/e2e/test_service_by_systemd.py`.
"""

from __future__ import annotations

import json
import os
import sys
from pathlib import Path
from typing import Any

_SCRIPT = """#!{python} -IS
import json, sys, pathlib
folder = pathlib.Path({folder!r})
name, words = pathlib.Path(sys.argv[0]).name, sys.argv[1:]
with (folder / "calls").open("a") as calls:
    calls.write(json.dumps([name, *words]) + "\\n")
play = json.loads((folder / "play.json").read_text())
verbs = [word for word in words if not word.startswith("-")]
verb = verbs[0] if verbs else ""
if why := play["fails"].get(verb) or play["fails"].get(name):
    sys.exit(why)
if name in ("journalctl", "tail"):
    print(play["log"])
elif name == "loginctl":
    print(play["linger"])
elif name == "launchctl":
    if verb == "print":
        print(play["launchd"])
elif "--property=Version" in words:
    print(play["version"])
elif verb == "show":
    print(*(f"{{key}}={{value}}" for key, value in play["unit"].items()), sep="\\n")
elif verb == "show-environment":
    print(play["environment"])
if verb in play["after"]:
    (folder / "play.json").write_text(json.dumps(play | {{"unit": play["after"][verb]}}))
"""
RUNS: dict[str, str] = {
    "LoadState": "loaded",
    "UnitFileState": "enabled",
    "ActiveState": "active",
    "SubState": "running",
    "ActiveEnterTimestamp": "Tue 2026-01-06 10:00:00 CST",
    "MainPID": "4711",
    "NRestarts": "2",
    "Result": "success",
    "ExecMainCode": "0",
    "ExecMainStatus": "0",
}
ABSENT = {"LoadState": "not-found", "ActiveState": "inactive", "SubState": "dead"}
FAILED = RUNS | {
    "ActiveState": "failed",
    "SubState": "failed",
    "MainPID": "0",
    "Result": "exit-code",
    "ExecMainCode": "1",
    "ExecMainStatus": "2",
}


class Supervisor:
    """The programs in a folder for PATH."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.play(unit=ABSENT, after={"enable": RUNS, "restart": RUNS, "disable": ABSENT})
        for name in ("systemctl", "journalctl", "loginctl", "launchctl", "tail"):
            file = folder / name
            file.write_text(
                _SCRIPT.format(python=sys.executable, folder=str(folder)), encoding="utf-8"
            )
            file.chmod(0o755)

    @property
    def path(self) -> str:
        return f"{self.folder}:{os.environ['PATH']}"

    @property
    def unit(self) -> dict[str, str]:
        return dict(json.loads((self.folder / "play.json").read_text(encoding="utf-8"))["unit"])

    def play(self, **changes: Any) -> None:
        """Lay down what is told from now on."""
        file = self.folder / "play.json"
        play = {
            "version": "252.39-1",
            "unit": ABSENT,
            "after": {},
            "fails": {},
            "log": "started",
            "linger": "no",
            "environment": "",
            "launchd": "",
        }
        if file.exists():
            play = json.loads(file.read_text(encoding="utf-8"))
        beside = self.folder / "play.new"
        beside.write_text(json.dumps(play | changes), encoding="utf-8")
        beside.replace(file)  # a program that reads just now finds the one or the other

    def calls(self, *but: str) -> list[list[str]]:
        """Return what was asked since the last time, without what begins so."""
        file = self.folder / "calls"
        lines = file.read_text(encoding="utf-8").splitlines() if file.exists() else []
        file.unlink(missing_ok=True)
        return [call for line in lines if not {*(call := json.loads(line))} & {*but}]
