"""The demo, driven as a person would: it waits for a person, and never approves by itself."""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from tests.e2e.place import COMMAND, wait_until

pytestmark = [pytest.mark.requirement("MJ-1")]
DRIVE = Path(__file__).parent.parent.parent / ".ci" / "drive_demo.py"
BARE = {"PATH": os.environ["PATH"], "LANG": "C.UTF-8"}


@pytest.mark.thorough
def test_a_person_types_the_code_and_the_chat_hears_what_came_of_it(tmp_path: Path) -> None:
    done = subprocess.run(
        [sys.executable, str(DRIVE), *COMMAND, "demo"],
        env=BARE | {"HOME": str(tmp_path)},
        cwd=tmp_path,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        encoding="utf-8",
        timeout=120,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    assert "waiting for you" in done.stdout
    assert re.search(r"chat hears │ T-\w{4} ✗ 1 of 3 tests failed:", done.stdout)


@pytest.mark.thorough
@pytest.mark.requirement("P1")
def test_a_script_writes_to_the_chat_and_never_approves(tmp_path: Path) -> None:
    script = tmp_path / "messages.txt"
    script.write_text("@dev help\n@dev test\n@dev approve\n", encoding="utf-8")
    home = tmp_path / "kept"
    log = tmp_path / "demo.log"
    with log.open("wb") as output:
        demo = subprocess.Popen(
            [*COMMAND, "demo", "--script", str(script), "--keep", str(home)],
            env=BARE | {"HOME": str(tmp_path), "CODEXBRIDGE_AUTO_APPROVE": "1"},
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=subprocess.STDOUT,
            start_new_session=True,
        )
    try:
        wait_until(lambda: "waiting for you" in log.read_text(encoding="utf-8"), seconds=60)
        listed = subprocess.run(
            [*COMMAND, "tasks", "--json"],
            env=BARE | {"CODEXBRIDGE_HOME": str(home)},
            capture_output=True,
            check=True,
            timeout=30,
        )
        assert [task["state"] for task in json.loads(listed.stdout)] == ["WAITING_APPROVAL"]
    finally:
        os.killpg(demo.pid, signal.SIGTERM)
        assert demo.wait(40) == 0
    assert not (home / "shop-api" / "__pycache__").exists(), "the tests were never run"
    assert "Ended" in log.read_text(encoding="utf-8")


@pytest.mark.thorough
def test_a_closed_terminal_leaves_nothing_behind(tmp_path: Path) -> None:
    home = tmp_path / "kept"
    log = tmp_path / "demo.log"
    with log.open("wb") as output:
        demo = subprocess.Popen(
            [*COMMAND, "demo", "--keep", str(home)],
            env=BARE | {"HOME": str(tmp_path)},
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=subprocess.STDOUT,
            start_new_session=True,
        )
    wait_until(lambda: "waiting for you" in log.read_text(encoding="utf-8"), seconds=60)
    os.kill(demo.pid, signal.SIGHUP)
    assert demo.wait(40) == 0
    left = subprocess.run(["ps", "-eo", "args"], capture_output=True, encoding="utf-8", check=True)
    assert str(home) not in left.stdout


def test_a_folder_or_script_that_cannot_be_used_is_told_in_one_line(tmp_path: Path) -> None:
    for arguments in (["--keep", str(tmp_path)], ["--script", str(tmp_path / "none.txt")]):
        done = subprocess.run(
            [*COMMAND, "demo", *arguments],
            env=BARE | {"HOME": str(tmp_path)},
            capture_output=True,
            encoding="utf-8",
            timeout=30,
            check=False,
        )
        assert done.returncode == 2
        assert len(done.stderr.strip().splitlines()) == 1
        assert str(tmp_path) in done.stderr
