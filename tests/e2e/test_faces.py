"""Proposals in a real terminal: a model's words as they come, and a change that rests."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from tests.e2e.place import Place, Terminal, wait_until
from tests.e2e.proposing import configure, http
from tests.model_script import drip, edits, hang, only
from tests.model_server import started

SAID = "It retries three times, because `retry = 3` stands in login.py:1."
CHANGED = "Raised it to five."
EDIT = {"path": "login.py", "action": "edit", "search": "retry = 3", "replace": "retry = 5"}
SCRIPT = (
    only(drip(SAID, pause_s=0.001), when="why does"),
    only(edits(CHANGED, EDIT), when="five times"),
    only(hang(after="Let me look at "), when="for ever"),
)


@pytest.mark.requirement("P1")
@pytest.mark.requirement("R25")
def test_a_person_reads_applies_and_looks_away(
    place: Place, workspace: Path, tmp_path: Path
) -> None:
    with started(tmp_path, *SCRIPT) as server:
        configure(place, {"local": http(server, "chat")}, asked="local")
        place.run("workspace", "add", str(workspace), "--toolchains", "none")
        place.start_agent(connected=False)

        with Terminal(place.environ, "ask", "why does login.py retry three times?") as terminal:
            shown = terminal.read_to_end()
        assert "│ It retries three times" in shown
        assert shown.count("The model says:") == 1, "what came as it was written is not repeated"

        with Terminal(place.environ, "ask", "change login.py to retry five times") as terminal:
            shown = terminal.read_to_end()
        assert f"│ {CHANGED}" in shown
        assert "  +1 −1  login.py" in shown
        (short_id,) = [task["short_id"] for task in place.tasks() if task["rests"]]
        assert f"codexbridge apply {short_id}" in shown
        assert (workspace / "login.py").read_text(encoding="utf-8") == "retry = 3\n"
        place.run("apply", short_id)
        place.approve(short_id)
        assert place.final(short_id)["reason"] == "completed"
        assert (workspace / "login.py").read_text(encoding="utf-8") == "retry = 5\n"

        with Terminal(place.environ, "ask", "why does it go on for ever?") as terminal:
            terminal.read_until("Let me look at", after=re.compile("│ Let me look at"))
            terminal.interrupt()
            assert "Stopped watching" in terminal.read_to_end()
        (going,) = [task for task in place.tasks() if task["state"] == "PROPOSING"]
        place.run("cancel", going["short_id"])
        wait_until(lambda: place.final(going["short_id"])["reason"] == "cancelled")


def test_an_agent_at_a_terminal_says_what_waits_and_how_it_ended(
    place: Place, workspace: Path
) -> None:
    place.start_all(workspace, "sh count.sh")
    place.kill("agent")
    with Terminal(place.environ, "agent") as terminal:
        wait_until(lambda: place.status().get("connected"))
        place.callback("@dev test")
        short_id = place.waiting()["short_id"]
        waits = re.compile(rf"{short_id} waits for you: Run `sh count.sh` .*\r\n")
        terminal.read_until(f"codexbridge approve {short_id}", after=waits)
        place.approve(short_id)
        ended = rf"{short_id} completed: `sh count.sh` succeeded"
        assert re.search(ended, terminal.read_until(")", after=re.compile(ended)))
