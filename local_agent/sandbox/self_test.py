"""The sandbox's test at start (R50): it is believed only after it held, on this machine, today.

A probe runs inside a real sandbox and tries what must not work: reading our own state directory,
writing outside of the workspace, writing ``.git``, reaching a TCP port of this machine, a socket
in our run directory, one in the workspace and an abstract one, opening a setting of the kernel for
writing, changing a device, tracing, making a namespace, lending our rights to whoever runs a file.
Once more with the network shared, where all but the port must be out of reach as well.  Writing in
the workspace must work, or nothing ran.
"""

from __future__ import annotations

import asyncio
import json
import os
import secrets
import shutil
import socket
import sys
import tempfile
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from common.errors import InputError
from common.home import Home, private_dir
from local_agent.sandbox.bubblewrap import (
    NOT_SANDBOXED,
    Level,
    bubblewrap_profile,
    find_bubblewrap,
)
from local_agent.sandbox.process import Exit, Limits, run_child

_LIMITS: Final = Limits(timeout_s=10.0, grace_s=0.5, output_cap_bytes=8192)
_MUST_FAIL: Final = (
    *("git", "state", "tcp", "socket", "near", "abstract", "kernel", "device", "trace"),
    "namespace",
    "setuid",
)
_PROBE: Final = """
import ctypes, json, os, socket, sys
asked = json.loads(sys.argv[1])
def tried(act):
    try:
        act()
        return True
    except OSError:
        return False
def write(name):
    with open(asked[name], "w") as file:
        file.write("x")
def connect(family, address):
    with socket.socket(family) as link:
        link.settimeout(2)
        link.connect(address)
def call(name, *words):
    if getattr(ctypes.CDLL(None, use_errno=True), name)(*words) != 0:
        raise OSError(ctypes.get_errno(), name)
print(json.dumps({
    "workspace": tried(lambda: write("workspace")),
    "git": tried(lambda: write("git")),
    "outside": tried(lambda: write("outside")),
    "state": tried(lambda: open(asked["state"]).read()),
    "tcp": tried(lambda: connect(socket.AF_INET, ("127.0.0.1", asked["tcp"]))),
    "socket": tried(lambda: connect(socket.AF_UNIX, asked["socket"])),
    "near": tried(lambda: connect(socket.AF_UNIX, asked["near"])),
    "abstract": tried(lambda: connect(socket.AF_UNIX, "\\0" + asked["abstract"])),
    "kernel": tried(lambda: open("/proc/sys/kernel/core_pattern", "a").close()),
    "device": tried(lambda: os.chmod("/dev/null", 0o666)),
    "trace": tried(lambda: call("ptrace", 0, 0, None, None)),
    "namespace": tried(lambda: call("unshare", 0x10000000)),
    "setuid": tried(lambda: os.chmod(asked["workspace"], 0o4755)),
}))
"""


@dataclass(frozen=True, slots=True)
class SelfTest:
    """What the sandbox proved.

    Attributes:
        level: The level to run commands at.
        reason: ``sandbox.ok``, or why there is none: ``sandbox.not-installed``,
            ``sandbox.cannot-start``, ``sandbox.architecture``, ``sandbox.home`` or
            ``sandbox.leaks``.
        detail: What leaked, or the last line that was said.
    """

    level: Level
    reason: str
    detail: str = ""


async def self_test(places: Home, *, home: Path) -> SelfTest:
    """Try the sandbox for real and return the level it reached.

    Args:
        places: Our own directories, which must not be reachable from inside.
        home: The person's home.
    """
    program = await asyncio.to_thread(find_bubblewrap)
    if program is None:
        return SelfTest("none", "sandbox.not-installed")
    try:
        return await _try(program, places, home)
    except InputError as error:
        return SelfTest("none", error.code)
    except OSError as error:
        return SelfTest("none", "sandbox.cannot-start", str(error)[:200])


async def _try(program: str, places: Home, home: Path) -> SelfTest:
    with ExitStack() as cleanup:
        scene = await asyncio.to_thread(cleanup.enter_context, _scene(places))
        try:
            for network in (False, True):
                ended = await _probe(program, scene, places, home, network=network)
                found = await asyncio.to_thread(_judge, ended, scene, network=network)
                if found.level == "none":
                    return found
            return found
        finally:
            await asyncio.to_thread(cleanup.close)


async def _probe(
    program: str, scene: dict[str, Any], places: Home, home: Path, *, network: bool
) -> Exit:
    workspace = Path(scene["workspace"]).parent
    base = Path(sys.base_prefix)
    profile = await asyncio.to_thread(
        lambda: bubblewrap_profile(
            program,
            workspace=workspace,
            home=home,
            read_only=(base, base.resolve()),
            private=(places.config, places.state, places.run),
            network=network,
        )
    )
    python = await asyncio.to_thread(os.path.realpath, sys.executable)
    argv = [python, "-I", "-S", "-c", _PROBE, json.dumps(scene)]
    return await run_child(
        profile.wrap(argv, cwd=workspace, closed=[Path(scene["near"])]),
        cwd=workspace,
        env={"LANG": "C.UTF-8"},
        limits=_LIMITS,
        contained=profile is not NOT_SANDBOXED,
        seccomp=profile.seccomp,
    )


@contextmanager
def _scene(places: Home) -> Iterator[dict[str, Any]]:
    """Set up what the probe is to try on, and take it down again."""
    with ExitStack() as cleanup:
        state = Path(tempfile.mkdtemp(prefix="self-test-", dir=private_dir(places.state)))
        cleanup.callback(shutil.rmtree, state, ignore_errors=True)
        # Not below the state directory, which is hidden as a whole.
        workspace = Path(tempfile.mkdtemp(prefix="codexbridge-self-test-")).resolve()
        cleanup.callback(shutil.rmtree, workspace, ignore_errors=True)
        (workspace / ".git").mkdir()
        (state / "secret").write_text("secret", encoding="utf-8")
        door = private_dir(places.run) / f"self-test-{secrets.token_hex(4)}.sock"
        cleanup.callback(door.unlink, missing_ok=True)
        abstract = f"codexbridge-self-test-{secrets.token_hex(8)}"
        near = workspace / "near.sock"
        for address in (str(door), str(near), f"\0{abstract}"):
            listening = cleanup.enter_context(socket.socket(socket.AF_UNIX, socket.SOCK_STREAM))
            listening.bind(address)
            listening.listen()
        tcp = cleanup.enter_context(socket.create_server(("127.0.0.1", 0)))
        yield {
            "workspace": str(workspace / "written"),
            "git": str(workspace / ".git/written"),
            "outside": str(state / "outside"),
            "state": str(state / "secret"),
            "tcp": tcp.getsockname()[1],
            "socket": str(door),
            "near": str(near),
            "abstract": abstract,
        }


def _judge(ended: Exit, scene: dict[str, Any], *, network: bool) -> SelfTest:
    said = ended.stderr.parts()[0].decode("utf-8", "replace").strip().rpartition("\n")[2]
    try:
        worked = json.loads(ended.stdout.parts()[0])
    except ValueError:
        worked = {}
    if not ended.ok or not worked.get("workspace") or not Path(scene["workspace"]).is_file():
        return SelfTest("none", "sandbox.cannot-start", said[:200])
    # A write into the sandbox's own empty home may succeed; it must not arrive here.
    outside = Path(scene["outside"]).exists()
    leaks = [name for name in _MUST_FAIL if worked[name] and not (network and name == "tcp")]
    leaks += ["outside"] if outside else []
    if leaks:
        return SelfTest("none", "sandbox.leaks", ", ".join(leaks))
    return SelfTest("bubblewrap", "sandbox.ok")
