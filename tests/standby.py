"""A process that stands by to become the ``codexbridge`` which a forked command starts beside it.

A command that sets something up starts an agent or a gateway as a program of its own
(`common.children`), and a program's start takes ten times what a fork does.  So a forked command of
that kind forks once more before it begins, and what it then starts is that process: its own child,
with the arguments, environment and streams that the program would get.  A second one that it starts
is a program as ever.
"""

from __future__ import annotations

import json
import os
import select
import signal
import socket
import subprocess
from collections.abc import Callable, Sequence
from pathlib import Path
from types import SimpleNamespace
from typing import Any, Final, TypeAlias

ORDER_BYTES: Final = 65_536
SETS_UP: Final = (["init"], ["gateway", "init"])

Become: TypeAlias = Callable[[dict[str, Any], list[int]], object]


def put_beside(argv: list[str], streams: Sequence[int], become: Become) -> None:
    """Let a process stand by, if a command with these arguments would start one.

    Args:
        argv: Of the command that this process is about to be.
        streams: Of that command, which are not the other's.
        become: Turns a process into the one of an order; never returns.
    """
    if argv[:1] not in SETS_UP and argv[:2] not in SETS_UP:
        return
    ours, theirs = socket.socketpair()
    pid = os.fork()
    if pid == 0:
        ours.close()
        for stream in streams:
            os.close(stream)
        _stand_by(theirs, become)
    theirs.close()
    _hand_out(ours, pid)


def _stand_by(orders: socket.socket, become: Become) -> None:
    from common import children

    children._end_with_parent()
    with orders:
        message, descriptors, _, _ = socket.recv_fds(orders, ORDER_BYTES, 3)
    if not message:
        os._exit(0)  # nobody needs it
    become(json.loads(message), descriptors)


def _hand_out(orders: socket.socket, pid: int) -> None:
    """Let the first program that is started in a session of its own be the one that stands by."""
    from common import children

    waiting = [pid]

    def start(args: Sequence[str], **how: Any) -> Any:
        if not waiting or not how.get("start_new_session"):
            return subprocess.Popen(args, **how)
        with orders, Path(os.devnull).open("rb") as nothing:
            order = {
                "argv": args[len(children.COMMAND) :],
                "environ": how["env"],
                "cwd": how["cwd"],
                **dict.fromkeys(("terminal", "watch", "sandbox", "apart")),
            }
            streams = [nothing.fileno(), how["stdout"], how["stderr"]]
            socket.send_fds(orders, [json.dumps(order).encode()], streams)
        return Beside(waiting.pop())

    vars(children)["subprocess"] = SimpleNamespace(**{**vars(subprocess), "Popen": start})


class Beside:
    """What `subprocess.Popen` is of a program, for the process that stood by."""

    def __init__(self, pid: int) -> None:
        self.pid = pid
        self.returncode: int | None = None
        self._descriptor = os.pidfd_open(pid)

    def poll(self) -> int | None:
        """Return the exit code, or None while it lives."""
        return self._look(0)

    def wait(self, timeout: float | None = None) -> int:
        """Wait for the end and return the exit code.

        Raises:
            subprocess.TimeoutExpired: it does not come in time.
        """
        code = self._look(timeout)
        if code is None:
            raise subprocess.TimeoutExpired(["codexbridge"], timeout or 0)
        return code

    def terminate(self) -> None:
        """Send SIGTERM; it may be gone already."""
        if self.poll() is None:
            os.kill(self.pid, signal.SIGTERM)

    def _look(self, seconds: float | None) -> int | None:
        if self.returncode is None and select.select([self._descriptor], [], [], seconds)[0]:
            _, status = os.waitpid(self.pid, 0)
            self.returncode = os.waitstatus_to_exitcode(status)
            os.close(self._descriptor)
        return self.returncode
