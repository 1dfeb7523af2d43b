"""Where no sandbox works: said loudly, high risk, the whole code, and nothing survives the run."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest

from tests.e2e.place import CODE, Place, Terminal, wait_until
from tests.e2e.test_main_job import runs

ROOT = Path(__file__).parent.parent.parent
WITHOUT_BUBBLEWRAP = """
import sys
import local_agent.sandbox.bubblewrap as sandbox
sandbox._PROGRAMS = ("/nonexistent/bwrap",)
import codexbridge
sys.exit(codexbridge.main(["agent"]))
"""


@pytest.fixture
def unsandboxed(place: Place, workspace: Path, tmp_path: Path) -> Place:
    """Everything runs, on a machine without bubblewrap."""
    place.start_all(workspace, "sh count.sh")
    place.kill("agent")
    script = tmp_path / "agent.py"
    script.write_text(WITHOUT_BUBBLEWRAP, encoding="utf-8")
    with (place.root / "agent.log").open("ab") as log:
        place.processes["agent"] = subprocess.Popen(
            [sys.executable, str(script)],
            env=place.environ | {"PYTHONPATH": str(ROOT)},
            cwd=ROOT,
            stdin=subprocess.DEVNULL,
            stdout=log,
            stderr=subprocess.STDOUT,
            start_new_session=True,
        )
    wait_until(lambda: place.status().get("connected"))
    return place


@pytest.mark.requirement("R29")
@pytest.mark.requirement("R50")
def test_the_approval_says_not_sandboxed_and_wants_the_whole_code(
    unsandboxed: Place, workspace: Path
) -> None:
    unsandboxed.callback("@dev test")
    short_id = unsandboxed.waiting()["short_id"]
    with Terminal(unsandboxed.environ, "approve", short_id) as terminal:
        shown = terminal.read_until(":", "：", after=CODE)
        assert "NOT SANDBOXED" in shown
        code = CODE.search(shown)
        assert code
        terminal.type(code[1])
        terminal.shown = ""
        terminal.read_until(":", "：", after=re.compile("both groups"))
        assert runs(workspace) == 0, "the first group alone is not enough"
    unsandboxed.approve(short_id)
    assert unsandboxed.final(short_id)["reason"] == "completed"
    unsandboxed.hears(short_id, "1 passed")
    assert runs(workspace) == 1


@pytest.mark.requirement("R44")
@pytest.mark.thorough
def test_what_a_command_leaves_behind_does_not_survive_it(
    unsandboxed: Place, workspace: Path
) -> None:
    (workspace / "count.sh").write_text(
        "setsid sh -c 'sleep 300; echo late >> ran.txt' & echo $! > pid.txt; echo left\n",
        encoding="utf-8",
    )
    unsandboxed.callback("@dev test")
    short_id = unsandboxed.waiting()["short_id"]
    unsandboxed.approve(short_id)
    unsandboxed.final(short_id)
    left = [
        line
        for line in subprocess.run(
            ["ps", "-eo", "args"], capture_output=True, encoding="utf-8", check=True
        ).stdout.splitlines()
        if "echo late >> ran.txt" in line and "ps -eo" not in line
    ]
    assert left == []
