"""A child that stays: lines both ways, bounded, and nothing left of it."""

from __future__ import annotations

import asyncio
import os
import signal
import subprocess
import sys
import textwrap
from collections.abc import AsyncIterator, Awaitable, Callable
from pathlib import Path

import psutil
import pytest

from common.errors import InputError, RemoteProtocolError, UnavailableError
from local_agent.sandbox.child import MAX_LINE_BYTES, Child, open_child
from local_agent.sandbox.process import Limits

pytestmark = pytest.mark.heavy

LIMITS = Limits(grace_s=0.3)
ROOT = Path(__file__).parents[3]
Opening = Callable[[str], Awaitable[Child]]


@pytest.fixture
async def opened() -> AsyncIterator[Opening]:
    """Give a way to start a script; what is started is ended after the test."""
    children = []

    async def opening(script: str) -> Child:
        argv = [sys.executable, "-I", "-S", "-c", textwrap.dedent(script)]
        child = await open_child(argv, cwd=Path("/"), env={"LANG": "C.UTF-8"}, limits=LIMITS)
        children.append(child)
        return child

    yield opening
    for child in children:
        await child.end()


async def test_lines_go_both_ways(opened: Opening) -> None:
    child = await opened("import sys\nfor line in sys.stdin: print(line.upper(), end='', flush=1)")
    for said in (b"one", "zwölf".encode(), b""):
        await child.write_line(said)
        assert await child.read_line() == said.decode().upper().encode()


async def test_it_is_asked_first_by_the_end_of_its_input(opened: Opening, tmp_path: Path) -> None:
    mark = tmp_path / "ended"
    child = await opened(f"import sys\nsys.stdin.read()\nopen({str(mark)!r}, 'x').close()")
    assert await child.end() == 0
    assert mark.exists()


@pytest.mark.requirement("R44")
async def test_one_that_will_not_go_is_killed_with_all_that_it_started(opened: Opening) -> None:
    child = await opened("""
        import os, signal, time
        signal.signal(signal.SIGTERM, signal.SIG_IGN)
        if os.fork() == 0:
            os.setsid()
            signal.signal(signal.SIGTERM, signal.SIG_IGN)
            if os.fork() == 0:
                print(os.getpid(), flush=True)
        time.sleep(60)
    """)
    grandchild = psutil.Process(int(await child.read_line()))
    assert await asyncio.wait_for(child.end(), 30) == 0
    assert not grandchild.is_running()


async def test_ending_twice_at_once_ends_once(opened: Opening) -> None:
    child = await opened("import sys; sys.stdin.read()")
    assert tuple(await asyncio.gather(child.end(), child.end())) == (0, 0)
    assert await child.end() == 0


async def test_who_gives_up_waiting_for_the_end_does_not_stop_it(opened: Opening) -> None:
    child = await opened("""
        import os, signal, time
        signal.signal(signal.SIGTERM, signal.SIG_IGN)
        print(os.getpid(), flush=True)
        time.sleep(60)
    """)
    process = psutil.Process(int(await child.read_line()))
    ending = asyncio.ensure_future(child.end())
    await asyncio.sleep(0)
    ending.cancel()
    assert await asyncio.wait_for(child.end(), 30) == 0
    assert not process.is_running()


async def test_a_child_that_has_ended_is_told_to_reader_and_writer(opened: Opening) -> None:
    child = await opened("print('half', end='')")
    with pytest.raises(UnavailableError) as none:
        await child.read_line()
    assert none.value.code == "child.gone"
    await child.end()
    with pytest.raises(UnavailableError) as deaf:
        await child.write_line(b"x")
    assert deaf.value.code == "child.gone"


async def test_writing_to_one_that_is_gone_is_no_broken_pipe(opened: Opening) -> None:
    child = await opened("")
    with pytest.raises(UnavailableError):
        await child.read_line()
    with pytest.raises(UnavailableError):
        await _write(child, lines=100)


async def _write(child: Child, *, lines: int) -> None:
    for _ in range(lines):
        await child.write_line(b"x" * 65_536)


@pytest.mark.requirement("R62")
async def test_a_line_over_the_bound_is_not_read_whole(opened: Opening) -> None:
    child = await opened("import sys\nfor _ in range(50): sys.stdout.write('x' * 1_000_000)")
    with pytest.raises(RemoteProtocolError) as refused:
        await asyncio.wait_for(child.read_line(), 30)
    assert refused.value.code == "child.line"
    assert await child.end() == 0


async def test_a_line_of_the_largest_size_is_read(opened: Opening) -> None:
    size = MAX_LINE_BYTES - 1
    child = await opened(f"print('x' * {size}, flush=True)")
    assert len(await asyncio.wait_for(child.read_line(), 30)) == size


async def test_complaints_are_drained_and_bounded(opened: Opening) -> None:
    child = await opened("""
        import sys
        for _ in range(100):
            sys.stderr.write('why' * 10_000)
        print('done', flush=True)
        sys.stdin.read()
    """)
    assert await asyncio.wait_for(child.read_line(), 30) == b"done"
    await child.end()
    assert child.stderr.total == 3_000_000
    assert sum(map(len, child.stderr.parts())) < 20_000


async def test_what_it_writes_is_for_this_user_alone(opened: Opening) -> None:
    child = await opened("import os; print(oct(os.umask(0)), flush=True)")
    assert await child.read_line() == b"0o77"


@pytest.mark.requirement("R43")
async def test_the_environment_is_exactly_what_was_given(opened: Opening) -> None:
    child = await opened("import os; print(dict(os.environ), flush=True)")
    assert await child.read_line() == b"{'LANG': 'C.UTF-8'}"


async def test_a_program_must_be_named_absolutely() -> None:
    with pytest.raises(InputError) as refused:
        await open_child(["python"], cwd=Path("/"), env={}, limits=LIMITS)
    assert refused.value.code == "process.program"


async def test_a_program_that_cannot_be_started_says_nothing() -> None:
    child = await open_child(["/no/such/program"], cwd=Path("/"), env={}, limits=LIMITS)
    with pytest.raises(UnavailableError):
        await asyncio.wait_for(child.read_line(), 30)
    assert await child.end() == 0


@pytest.mark.requirement("R44")
def test_it_dies_with_the_agent_even_when_that_is_killed() -> None:
    agent = subprocess.Popen(
        [sys.executable, "-c", _AGENT], stdout=subprocess.PIPE, cwd=ROOT, encoding="utf-8"
    )
    assert agent.stdout is not None
    child = psutil.Process(int(agent.stdout.readline()))
    os.kill(agent.pid, signal.SIGKILL)
    agent.wait(5)
    agent.stdout.close()
    psutil.wait_procs([child], timeout=30)
    assert not child.is_running()


_AGENT = """
import asyncio, sys
from pathlib import Path
from local_agent.sandbox.child import open_child
from local_agent.sandbox.process import Limits

DEAF = '''
import os, signal, time
signal.signal(signal.SIGTERM, signal.SIG_IGN)
print(os.getpid(), flush=True)
time.sleep(60)
'''

async def main():
    child = await open_child(
        [sys.executable, "-I", "-S", "-c", DEAF], cwd=Path("/"), env={}, limits=Limits(grace_s=0.2)
    )
    print((await child.read_line()).decode(), flush=True)
    await asyncio.sleep(60)

asyncio.run(main())
"""
