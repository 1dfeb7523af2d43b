"""Forks real ``codexbridge`` processes from one that has imported everything once.

Runs as a program of its own, with one thread and a socket to whoever started it (`forks`).  Each
order is a JSON object and up to three descriptors; the answer names the new process, or tells how
one ended.  A child is a session of its own with its own environment, standard streams and, when it
is given a terminal, that terminal in control: it differs from a started program in its start alone.

Children wait as zombies until they are asked for, so that a process number is never used twice.
"""

from __future__ import annotations

import ctypes
import fcntl
import gc
import importlib
import json
import os
import pkgutil
import re
import signal
import socket
import subprocess
import sys
import termios
import traceback
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final, NoReturn, TextIO, cast

ORDER_BYTES: Final = 65_536
PACKAGES: Final = ("common", "gateway", "local_agent")
# What the product imports once it needs it.
LATER: Final = ("alembic.command", "keyring", "pygit2", "secretstorage", "sqlalchemy.engine")
# Programs that are run as files of their own, and what only one of them imports.
NOT_LOADED: Final = re.compile(
    r"local_agent\.(warden|approval\.dialogs\.window)\b|.*\.migrations\b"
)

# Of <linux/sched.h> and <sys/mount.h>: MS_REC | MS_PRIVATE.
NAMESPACES: Final = {"mount": 0x0002_0000, "user": 0x1000_0000, "network": 0x4000_0000}
PRIVATE: Final = 0x4000 | 0x4_0000


def main(descriptor: int, root: str) -> None:
    """Serve orders until the other side hangs up, then end what is left."""
    sys.path.insert(0, root)
    for name in ("codexbridge", *_modules(), *LATER, "tests.matrix.witness"):
        importlib.import_module(name)
    from tests.matrix import witness

    witness.make_store()
    gc.freeze()
    alive: set[int] = set()
    with socket.socket(fileno=descriptor) as orders:
        orders.sendall(b"{}\n")
        while True:
            message, descriptors, _, _ = socket.recv_fds(orders, ORDER_BYTES, 3)
            if not message:
                break
            order = json.loads(message)
            if "reap" in order:
                alive.discard(order["reap"])
                _, status = os.waitpid(order["reap"], 0)
                answer = {"status": os.waitstatus_to_exitcode(status)}
            else:
                answer = {"pid": _start(order, descriptors, orders)}
                alive.add(answer["pid"])
            orders.sendall(json.dumps(answer).encode() + b"\n")
    for pid in alive:
        os.kill(pid, signal.SIGKILL)


def _modules() -> Iterator[str]:
    for package in PACKAGES:
        found = importlib.import_module(package)
        for module in pkgutil.walk_packages(found.__path__, f"{package}."):
            if not NOT_LOADED.match(module.name):
                yield module.name


def _start(order: dict[str, Any], descriptors: list[int], orders: socket.socket) -> int:
    pid = os.fork()
    if pid == 0:
        orders.close()
        _become(order, descriptors)
    for descriptor in descriptors:
        os.close(descriptor)
    return pid


def _become(order: dict[str, Any], descriptors: list[int]) -> NoReturn:
    from tests import standby

    code = 1
    try:
        standby.put_beside(order["argv"], descriptors, _become)
        os.setsid()
        if order["terminal"]:
            fcntl.ioctl(descriptors[0], termios.TIOCSCTTY, 0)
        for number, descriptor in enumerate(descriptors):
            os.dup2(descriptor, number)
            os.close(descriptor)
        sys.stdin, sys.stdout, sys.stderr = map(_stream, (0, 1, 2))
        os.chdir(order["cwd"])
        os.environ.clear()
        os.environ.update(order["environ"])
        _look_for_home_again()
        if order["apart"] is not None:
            _set_apart(**order["apart"])
        from tests.matrix import witness

        if order["watch"] is not None:
            witness.watch(**order["watch"])
        witness.hasten(order["sandbox"], watched=order["watch"] is not None)
        from codexbridge import main as codexbridge

        code = codexbridge(order["argv"])
        sys.stdout.flush()
    except BaseException:  # noqa: BLE001  # the top of a process; nothing may return into the zygote
        traceback.print_exc()
    finally:
        os._exit(code)


def _look_for_home_again() -> None:
    """Let libgit2 look for a person's configuration as at its start: by the environment of now."""
    from pygit2.enums import ConfigLevel
    from pygit2.ffi import C, ffi

    C.git_libgit2_opts(C.GIT_OPT_SET_HOMEDIR, ffi.NULL)
    for level in (ConfigLevel.GLOBAL, ConfigLevel.XDG, ConfigLevel.SYSTEM):
        C.git_libgit2_opts(C.GIT_OPT_SET_SEARCH_PATH, ffi.cast("int", level), ffi.NULL)


def _set_apart(kinds: list[str], script: str) -> None:
    """Leave the machine's mounts, as unshare(1) does, and run a script there by a shell."""
    libc = ctypes.CDLL(None, use_errno=True)
    ids = {"uid_map": os.getuid(), "gid_map": os.getgid()}
    _checked(libc.unshare(sum(NAMESPACES[kind] for kind in ("mount", *kinds))))
    if "user" in kinds:
        for name, line in {"setgroups": "deny", **{n: f"0 {i} 1" for n, i in ids.items()}}.items():
            Path("/proc/self", name).write_text(line, encoding="ascii")
    _checked(libc.mount(b"none", b"/", None, PRIVATE, None))
    subprocess.run(["sh", "-c", f"set -e\n{script}"], check=True)


def _checked(result: int) -> None:
    if result != 0:
        raise OSError(ctypes.get_errno(), os.strerror(ctypes.get_errno()))


def _stream(number: int) -> TextIO:
    """Return a standard stream as a started program has it: line by line for people, else whole."""
    mode = "r" if number == 0 else "w"
    buffering = 1 if number == 2 else -1
    return cast("TextIO", os.fdopen(number, mode, buffering, encoding="utf-8", closefd=False))


if __name__ == "__main__":
    main(int(sys.argv[1]), sys.argv[2])
