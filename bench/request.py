"""What one request passes through: the functions that real processes call for it.

    python bench/request.py CHECKOUT

One ``@dev test`` goes from the callback of WeCom to the answer in the chat, and one patch from
``apply`` to the changed file; both are approved at a terminal.  The processes are the gateway, the
agent and the commands that a person types, each started through this file, which notes with
`sys.setprofile` what is called: the product does not know of it.  Calls before both halves have
settled are left out, those of a command's own start are not.  Not looked into: the simulated
WeCom, and the warden, which the agent starts by itself.

The parts are started and spoken to by the checkout's own `tests.e2e.place`.  Prints JSON: for each
request the functions as ``[file, name, line]``, and the memory of an idle agent without the notes.
"""

from __future__ import annotations

import json
import os
import pty
import signal
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from inspect import CO_OPTIMIZED
from pathlib import Path
from types import CodeType, FrameType
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import psutil

    from tests.e2e.place import Place

PRODUCT = ("common/", "gateway/", "local_agent/", "codexbridge.py")
SETTLED_S = 3.0  # after a start, and after an answer, until what is due then was done
MB = 1_000_000
LOGIN = "def login():\n    retry = 3\n    return retry\n"
PATCH = """\
--- a/login.py
+++ b/login.py
@@ -1,3 +1,3 @@
 def login():
-    retry = 3
+    retry = 5
     return retry
"""
Call = tuple[str, str, int]


def be_codexbridge(checkout: str, notes: str, arguments: Sequence[str]) -> int:
    """Run ``codexbridge`` of a checkout; write what it calls into a file of the folder ``notes``.

    That happens at each SIGUSR2, for what was called since the last one, and at the end.  Nothing
    is noted when there is no folder.
    """
    sys.path.insert(0, checkout)
    sys.argv = ["codexbridge", *arguments]
    seen: set[CodeType] = set()

    def note(frame: FrameType, event: str, _: object) -> None:
        if event == "call":
            seen.add(frame.f_code)

    def write(*_: object) -> None:
        called = tuple(seen)
        seen.clear()
        file = Path(notes, f"{os.getpid()}.json")
        file.with_suffix(".part").write_text(json.dumps(_calls(called, checkout)), encoding="utf-8")
        file.with_suffix(".part").replace(file)

    if notes:
        signal.signal(signal.SIGUSR2, write)
        threading.setprofile(note)
        sys.setprofile(note)
    from codexbridge import main

    try:
        return main()
    finally:
        if notes:
            sys.setprofile(None)
            write()


def _calls(codes: Sequence[CodeType], checkout: str) -> list[Call]:
    """Return the product's functions; bodies of modules and classes and comprehensions are none."""
    found = []
    for code in codes:
        file = code.co_filename.removeprefix(f"{checkout}/")
        is_function = code.co_flags & CO_OPTIMIZED and not code.co_name.endswith(("comp>", "expr>"))
        if is_function and file.startswith(PRODUCT):
            found.append((file, code.co_qualname, code.co_firstlineno))
    return found


class Tracing:
    """Processes that note what they call; stands in for what the tests fork from."""

    def __init__(self, checkout: Path, notes: Path) -> None:
        self._notes = notes
        notes.mkdir()
        self.command = _command(checkout, str(notes))

    def start_at_terminal(
        self, arguments: Sequence[str], *, environ: Mapping[str, str]
    ) -> tuple[psutil.Process, int]:
        """Start a command in control of a terminal; return it with our end of that."""
        import psutil

        pid, descriptor = pty.fork()
        if pid == 0:
            os.execve(self.command[0], [*self.command, *arguments], dict(environ))  # noqa: S606 - ours
        return psutil.Process(pid), descriptor

    def called(self, place: Place, request: Callable[[], None]) -> list[Call]:
        """Return what is called from now on until the request has been answered."""
        pids = [
            place.processes[name].pid for name in ("gateway", "agent") if name in place.processes
        ]
        time.sleep(SETTLED_S)
        self._write_notes(pids)
        for file in self._notes.iterdir():
            file.unlink()
        request()
        time.sleep(SETTLED_S)
        self._write_notes(pids)
        notes = [json.loads(file.read_bytes()) for file in self._notes.glob("*.json")]
        return sorted({(file, name, line) for calls in notes for file, name, line in calls})

    def _write_notes(self, pids: Sequence[int]) -> None:
        from tests.e2e.place import wait_until

        for pid in pids:
            os.kill(pid, signal.SIGUSR2)
            wait_until((self._notes / f"{pid}.json").exists)


def _command(checkout: Path, notes: str) -> tuple[str, ...]:
    return (sys.executable, "-I", str(Path(__file__).resolve()), str(checkout), notes)


def measure(checkout: Path, root: Path) -> dict[str, object]:
    """Return all figures of a checkout, whose modules must come first in the path."""
    from tests.e2e import place as parts

    tracing = Tracing(checkout, root / "notes")
    chat = _place(root / "chat")
    workspace = parts.sample(root / "tested", [("test.sh", "echo 1 passed\n")])
    try:
        vars(parts)["COMMAND"] = _command(checkout, "")
        chat.start_all(workspace, "sh test.sh")
        time.sleep(SETTLED_S)
        memory = idle_memory(chat.processes["agent"].pid)
        chat.stop()

        vars(parts).update(COMMAND=tracing.command, shared_zygote=lambda: tracing)
        chat.start_simulator()
        chat.start_gateway()
        chat.start_agent()
        by_chat = tracing.called(chat, lambda: _test(chat))
    finally:
        chat.stop()
    by_hand = _measure_apply(tracing, root)
    return {"memory": memory, "calls": {"one @dev test": by_chat, "one apply": by_hand}}


def _measure_apply(tracing: Tracing, root: Path) -> list[Call]:
    from tests.e2e.place import sample

    local = _place(root / "local")
    workspace = sample(root / "changed", [("login.py", LOGIN)])
    patch = sample(root, [("fix.diff", PATCH)]) / "fix.diff"
    try:
        local.run("workspace", "add", str(workspace), "--test", "true", "--toolchains", "none")
        local.start_agent(connected=False)
        return tracing.called(local, lambda: _apply(local, patch, workspace / "login.py"))
    finally:
        local.stop()


def _place(root: Path) -> Place:
    from tests.e2e.place import Place

    place = Place.at(root)
    place.forked = False
    return place


def _test(place: Place) -> None:
    """Ask for a test in the chat; the message that it waits is the one with the code."""
    from tests.e2e.place import CODE, wait_until

    assert place.callback("@dev test") == 200
    told = wait_until(lambda: next(filter(CODE.search, place.chat()), ""))
    short_id = next(word for word in told.split() if word.startswith("T-"))
    place.approve(short_id)
    place.hears(short_id, "1 passed")


def _apply(place: Place, patch: Path, changed: Path) -> None:
    """Ask for a patch at the machine and approve it."""
    import subprocess

    from tests.e2e import place as parts

    argv = [*parts.COMMAND, "apply", str(patch), "--json"]
    asked = subprocess.run(argv, env=place.environ, capture_output=True, check=True)
    place.approve(json.loads(asked.stdout)["short_id"])
    parts.wait_until(lambda: "retry = 5" in changed.read_text(encoding="utf-8"))


def idle_memory(pid: int) -> dict[str, float]:
    """Return what a process and its children hold, in MB.

    The shares (PSS) count a page that several processes use once; only root may read those of an
    agent, which hides its memory from other programs.  `bench.start` counts such a page for each.
    """
    import psutil

    process = psutil.Process(pid)
    family = (process, *process.children(recursive=True))
    name = "idle memory of the agent with its children, MB"
    found = {f"{name}, RSS": sum(one.memory_info().rss for one in family) / MB}
    with suppress(psutil.AccessDenied):
        found[f"{name}, PSS"] = sum(one.memory_full_info().pss for one in family) / MB
    return {name: round(size, 1) for name, size in found.items()}


if __name__ == "__main__":
    if len(sys.argv) > 2:
        sys.exit(be_codexbridge(sys.argv[1], sys.argv[2], sys.argv[3:]))
    here = Path(sys.argv[1]).resolve()
    sys.path.insert(0, str(here))
    with tempfile.TemporaryDirectory() as folder:
        print(json.dumps(measure(here, Path(folder))))
