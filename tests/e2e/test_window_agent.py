"""The agent's windows on a real screen: they open by themselves, and their decisions count."""

from __future__ import annotations

import contextlib
import os
import re
import signal
import subprocess
from collections.abc import Iterator
from pathlib import Path

import psutil
import pytest

from tests.e2e.place import COMMAND, Place, sample, wait_until
from tests.e2e.test_changes import asked
from tests.e2e.test_window import Seen
from tests.screen import Screen, Shown, a_screen, until

pytestmark = [
    pytest.mark.needs("a screen (xvfb, openbox, xdotool, Tk)"),
]

ONE = """\
diff --git a/login.py b/login.py
--- a/login.py
+++ b/login.py
@@ -1 +1 @@
-retry = 3
+retry = 5
"""
TWO = (
    ONE
    + """\
diff --git a/notes.txt b/notes.txt
--- a/notes.txt
+++ b/notes.txt
@@ -1 +1 @@
-one
+two
"""
)
LONG = """\
diff --git a/long.txt b/long.txt
--- a/long.txt
+++ b/long.txt
@@ -1,4 +1,4 @@
-one
+1
 two
 three
 four
"""
TEST = "grep -q 'retry = 5' login.py"


@pytest.fixture(scope="module")
def screen(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Screen]:
    with a_screen(tmp_path_factory.mktemp("screen")) as made:
        yield made


@pytest.fixture
def workspace(tmp_path: Path) -> Path:
    lines = "one\ntwo\nthree\nfour\nfive\nsix\nseven\neight\n"
    files = [("login.py", "retry = 3\n"), ("notes.txt", "one\n"), ("long.txt", lines)]
    return sample(tmp_path / "shop-api", files)


@pytest.fixture
def local(tmp_path: Path, workspace: Path, screen: Screen) -> Iterator[Place]:
    """An agent without a gateway, in a desktop session."""
    place = Place.at(tmp_path / "home", DISPLAY=screen.name)
    place.run("workspace", "add", str(workspace), "--test", TEST, "--toolchains", "none")
    place.start_agent(connected=False)
    yield place
    place.stop()
    until(lambda: not screen.windows("CodexBridge"))


def proposed(place: Place, patch: str) -> str:
    """Ask for a patch at the terminal."""
    file = place.root / "fix.diff"
    file.write_text(patch, encoding="utf-8")
    return asked(place, "apply", str(file))


def opened(screen: Screen, short_id: str) -> Seen:
    """Return the window of a task, once it is there by itself."""
    window = screen.window(short_id)
    return Seen(screen, Shown(screen.processes[0]), window, *screen.place(window))


def click(seen: Seen, from_right: int) -> None:
    """Click a button of the right-hand row, once it counts."""
    seen.screen.do(
        "mousemove", "--window", seen.window, str(seen.width - from_right), str(seen.height - 35)
    )
    until(seen.armed)
    seen.screen.do("click", "1")


def approve(seen: Seen) -> None:
    """Approve what a window shows."""
    seen.over("approve")
    until(seen.awake)
    seen.screen.do("click", "1")


def code_of(place: Place, short_id: str) -> str:
    """Return the seal code under which a task waits."""
    found = re.search(r"[0-9A-Z]{4}-[0-9A-Z]{4}\b", place.run("show", short_id).stdout)
    assert found
    return found[0]


@pytest.mark.requirement("P1")
@pytest.mark.requirement("P2")
@pytest.mark.requirement("R27")
@pytest.mark.thorough
def test_a_window_opens_by_itself_and_a_click_in_it_applies_the_change(
    local: Place, workspace: Path, screen: Screen
) -> None:
    short_id = proposed(local, ONE)
    seen = opened(screen, short_id)
    assert (workspace / "login.py").read_text(encoding="utf-8") == "retry = 3\n"
    assert local.status()["windows"] == {"state": "on", "why": ""}
    approve(seen)
    assert local.final(short_id)["reason"] == "completed"
    assert (workspace / "login.py").read_text(encoding="utf-8") == "retry = 5\n"


@pytest.mark.requirement("R23")
@pytest.mark.thorough
def test_some_files_are_ticked_and_asked_for_in_a_window_of_their_own(
    local: Place, workspace: Path, screen: Screen
) -> None:
    short_id = proposed(local, TWO)
    first, seen = code_of(local, short_id), opened(screen, short_id)
    screen.do("mousemove", "--window", seen.window, "36", "208")
    until(seen.awake)
    screen.do("click", "1")
    until(lambda: not seen.awake())
    click(seen, 260)
    until(lambda: seen.window not in screen.windows(short_id))
    again = opened(screen, short_id)
    assert code_of(local, short_id) != first
    approve(again)
    assert local.final(short_id)["reason"] == "completed"
    assert (workspace / "login.py").read_text(encoding="utf-8") == "retry = 3\n"
    assert (workspace / "notes.txt").read_text(encoding="utf-8") == "two\n"


@pytest.mark.requirement("R27")
def test_a_killed_window_decides_nothing_and_the_terminal_still_works(
    local: Place, workspace: Path, screen: Screen
) -> None:
    short_id = proposed(local, ONE)
    opened(screen, short_id)
    for process in psutil.Process(local.processes["agent"].pid).children(recursive=True):
        with contextlib.suppress(psutil.Error):
            if "local_agent.faces.window.child" in process.cmdline():
                os.kill(process.pid, signal.SIGKILL)
    until(lambda: not screen.windows("CodexBridge"))
    assert local.waiting()["short_id"] == short_id
    local.approve(short_id)
    assert local.final(short_id)["reason"] == "completed"
    assert (workspace / "login.py").read_text(encoding="utf-8") == "retry = 5\n"


@pytest.mark.requirement("P1")
@pytest.mark.needs("bubblewrap")
@pytest.mark.thorough
def test_the_check_is_begun_approved_and_told_in_windows(
    local: Place, workspace: Path, screen: Screen
) -> None:
    short_id = proposed(local, ONE)
    seen = opened(screen, short_id)
    click(seen, 235)
    check = wait_until(
        lambda: next((t["short_id"] for t in local.tasks() if t["short_id"] != short_id), "")
    )
    approve(opened(screen, check))
    assert local.final(check)["reason"] == "completed"
    assert (workspace / "login.py").read_text(encoding="utf-8") == "retry = 3\n"
    assert "passed on a copy" in " ".join(local.run("show", short_id).stdout.split())
    approve(opened(screen, short_id))
    assert local.final(short_id)["reason"] == "completed"


@pytest.mark.requirement("R24")
@pytest.mark.thorough
def test_what_changed_before_a_window_opens_is_asked_anew_first(
    local: Place, workspace: Path, screen: Screen
) -> None:
    first = proposed(local, ONE)
    seen = opened(screen, first)
    second = proposed(local, LONG)
    older = code_of(local, second)
    with (workspace / "long.txt").open("a", encoding="utf-8") as file:
        file.write("nine\n")
    seen.over("later")
    until(seen.armed)
    screen.do("click", "1")
    anew = opened(screen, second)
    assert code_of(local, second) != older
    approve(anew)
    assert local.final(second)["reason"] == "completed"
    assert (workspace / "long.txt").read_text(encoding="utf-8").startswith("1\n")


@pytest.mark.thorough
def test_at_the_end_of_the_agent_its_window_closes_undecided(local: Place, screen: Screen) -> None:
    short_id = proposed(local, ONE)
    opened(screen, short_id)
    local.stop()
    until(lambda: not screen.windows("CodexBridge"))
    local.start_agent(connected=False)
    assert local.waiting()["short_id"] == short_id
    opened(screen, short_id)


@pytest.mark.thorough
def test_windows_that_are_switched_off_stay_away(local: Place, screen: Screen) -> None:
    local.stop()
    (local.root / "config").joinpath("agent.toml").write_text("windows = false\n", encoding="utf-8")
    local.start_agent(connected=False)
    short_id = proposed(local, ONE)
    assert local.status()["windows"] == {"state": "off", "why": "setting"}
    assert "at a terminal (windows are switched off)" in local.run("status").stdout
    local.approve(short_id)
    assert local.final(short_id)["reason"] == "completed"
    assert screen.windows("CodexBridge") == []


@pytest.mark.thorough
@pytest.mark.requirement("MJ-1")
@pytest.mark.needs("bubblewrap")
def test_the_demo_says_truly_that_a_window_has_opened(screen: Screen, tmp_path: Path) -> None:
    log = tmp_path / "demo.log"
    kept = {"PATH": os.environ["PATH"], "LANG": "C.UTF-8", "HOME": str(tmp_path)}
    with log.open("wb") as output:
        demo = subprocess.Popen(
            [*COMMAND, "demo"],
            env=kept | {"DISPLAY": screen.name},
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=subprocess.STDOUT,
            start_new_session=True,
        )
    try:
        wait_until(lambda: "waiting for you" in log.read_text(encoding="utf-8"), seconds=60)
        said = log.read_text(encoding="utf-8")
        assert "A window has opened on this screen" in said
        found = re.search(r"waiting for you — (T-\w+)", said)
        assert found
        approve(opened(screen, found[1]))
        ended = rf"chat hears │ {found[1]} ✗ "
        wait_until(lambda: re.search(ended, log.read_text(encoding="utf-8")))
    finally:
        os.killpg(demo.pid, signal.SIGTERM)
        assert demo.wait(40) == 0
