"""What every test shares: no blocking calls on the event loop, and system parts named by marker."""

from __future__ import annotations

import gc
import os
import shutil
import signal
import subprocess
from collections.abc import AsyncIterator, Callable, Iterator
from functools import cache, partial
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
import pytest_asyncio
from blockbuster import BlockBuster, blockbuster_ctx
from hypothesis import settings

from tests import codex_program as codex
from tests import screen
from tests.programs import program
from tests.requirements import planned

if TYPE_CHECKING:
    from playwright.async_api import Browser


def _can_mount() -> bool:
    """Tell whether a process of ours may have a file system of its own."""
    mount = "mount -t tmpfs -o size=64k tmpfs /mnt"
    tried = subprocess.run(["unshare", "-m", "sh", "-c", mount], capture_output=True, check=False)
    return tried.returncode == 0


PARTS: dict[str, Callable[[], object]] = {
    "a small tmpfs (root, unshare)": lambda: shutil.which("unshare") is not None and _can_mount(),
    "bubblewrap": lambda: shutil.which("bwrap") is not None,
    "systemd-analyze": lambda: shutil.which("systemd-analyze") is not None,
    "ripgrep": lambda: shutil.which("rg") is not None,
    "chromium": lambda: shutil.which("chromium") is not None,
    "git": lambda: shutil.which("git") is not None,
    **{
        name: partial(program, name) for name in ("bash", "caddy", "fish", "mandoc", "nginx", "zsh")
    },
    "a screen (xvfb, openbox, xdotool, Tk)": screen.is_there,
    "codex (make codex)": codex.is_there,
    "page-tools": (Path(__file__).parent.parent / ".page-tools/.installed").is_file,
}

# For `--hypothesis-profile=many`: minutes of search where a test run takes seconds.
settings.register_profile("usual", settings(), deadline=None)  # a busy machine is no fault
settings.load_profile("usual")
settings.register_profile("many", max_examples=1_500, deadline=None)


@pytest.fixture(autouse=True, scope="session")
def no_blocking_calls() -> Iterator[BlockBuster]:
    """Fail a test in which our code blocks the event loop."""
    with blockbuster_ctx(["common", "gateway", "local_agent"]) as blockbuster:
        yield blockbuster


@pytest.fixture
def codex_program() -> Path:
    """Give the real codex; for tests that are marked as needing it."""
    return codex.PROGRAM


@pytest_asyncio.fixture(scope="session", loop_scope="session")
async def browser() -> AsyncIterator[Browser]:
    """Give the browser of this process; for tests that run on the loop of the session."""
    from tests import browsing

    async with browsing.browser() as started:
        yield started


# A run that a shell put into the background ignores Ctrl-C, and so would all that tests start.
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)

# What is collected stays to the end: to search it for garbage takes a third of the collection, and
# some of every test after it.
gc.disable()


def pytest_collection_finish() -> None:
    """From here on look for garbage, but only in what the tests themselves make."""
    gc.collect()
    gc.freeze()
    gc.enable()


# Seconds within which a test of a kind ends even on a busy machine.
LIMITS = {"unit": 60, "contract": 60}
LONGEST = 180  # of those that start processes


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Give each test the time limit of its kind, unless it has its own."""
    for item in items:
        if item.get_closest_marker("timeout") is None:
            kind = item.path.relative_to(item.config.rootpath).parts[1]
            item.add_marker(pytest.mark.timeout(LIMITS.get(kind, LONGEST)))


@pytest.fixture(autouse=True)
def _processor_time(request: pytest.FixtureRequest) -> Iterator[None]:
    """End a test that takes more processor time than it is marked with: load does not count."""
    marker = request.node.get_closest_marker("cpu")
    if marker is None:
        yield
        return

    def too_long(number: int, frame: object) -> None:
        pytest.fail(f"more than {marker.args[0]} s of processor time")

    before = signal.signal(signal.SIGPROF, too_long)
    signal.setitimer(signal.ITIMER_PROF, marker.args[0])
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)
        signal.signal(signal.SIGPROF, before)


@cache
def _is_there(part: str) -> bool:
    """Tell whether a part is on this machine; some can be told by a program alone, so once."""
    return bool(PARTS[part]())


def pytest_runtest_setup(item: pytest.Item) -> None:
    """Skip, with its reason, a test that needs a missing system part; in CI that is a failure."""
    for marker in item.iter_markers("needs"):
        part = marker.args[0]
        if not _is_there(part):
            reason = f"needs {part}, which this machine does not have"
            if os.environ.get("CI"):
                pytest.fail(reason, pytrace=False)
            pytest.skip(reason)


def pytest_terminal_summary(
    terminalreporter: pytest.TerminalReporter, config: pytest.Config
) -> None:
    """Print, after a whole run, what the product promises and does not yet do."""
    if config.args_source is pytest.Config.ArgsSource.ARGS:
        return
    waiting = planned()
    terminalreporter.write_sep("-", f"planned, not built yet: {len(waiting)}")
    for identifier, requirement in waiting.items():
        terminalreporter.write_line(f"{identifier:7} {requirement.text}")
