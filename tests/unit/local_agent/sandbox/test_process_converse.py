"""A child that is told something, and then read to its end."""

from __future__ import annotations

import asyncio
import sys
from pathlib import Path

from local_agent.sandbox.process import Exit, Limits, run_child

LIMITS = Limits(timeout_s=10, grace_s=0.2, output_cap_bytes=1000)


async def told(script: str, said: bytes, *, cancel: asyncio.Event | None = None) -> Exit:
    argv = [sys.executable, "-I", "-S", "-c", script]
    return await run_child(argv, said=said, cwd=Path("/"), env={}, limits=LIMITS, cancel=cancel)


async def test_a_child_reads_what_is_said_to_its_end() -> None:
    said = bytes(range(256)) * 4096
    script = "import hashlib, sys; print(hashlib.sha256(sys.stdin.buffer.read()).hexdigest())"
    ended = await told(script, said)
    import hashlib

    assert ended.ok
    assert ended.stdout.parts()[0].decode().strip() == hashlib.sha256(said).hexdigest()


async def test_a_child_that_does_not_listen_ends_all_the_same() -> None:
    ended = await told("print('deaf')", b"x" * 1_000_000)
    assert ended.ok
    assert ended.stdout.parts()[0] == b"deaf\n"


async def test_what_a_child_says_is_bounded() -> None:
    ended = await told("print('y' * 100_000)", b"")
    assert ended.stdout.dropped > 0
    assert sum(map(len, ended.stdout.parts())) <= 1000


async def test_a_child_is_ended_when_the_caller_says_so() -> None:
    cancel = asyncio.Event()
    asking = asyncio.ensure_future(
        told("import sys, signal; sys.stdin.read(); signal.pause()", b"", cancel=cancel)
    )
    cancel.set()
    ended = await asyncio.wait_for(asking, 30)
    assert ended.cancelled
    assert not ended.ok
