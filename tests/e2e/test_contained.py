"""The attacks of a hostile command through real processes, with the sandbox and without it."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.attacks import ATTACKS
from tests.e2e.place import CODE, Place, Terminal
from tests.e2e.test_main_job import runs
from tests.e2e.test_unsandboxed import unsandboxed

__all__ = ["unsandboxed"]  # a fixture

# More would be too many questions for one member in an hour (R28).
ANNOUNCED = ("read-keys", "write-outside", "tcp", "fork-bomb", "fill-disk", "outlive")


def _ask(place: Place, workspace: Path, name: str, **scene: object) -> str:
    """Ask for a command that tries it, and return its short id once it waits."""
    (workspace / "attack.py").write_text(ATTACKS[name], encoding="utf-8")
    (workspace / "scene.json").write_text(json.dumps(scene), encoding="utf-8")
    # One file for each: what a person has refused is not asked for again.
    (workspace / f"{name}.sh").write_text(
        "echo run >> ran.txt\n/usr/bin/python3 attack.py > said.txt 2>&1\n", encoding="utf-8"
    )
    place.callback(f'@dev test --cmd="sh {name}.sh"')
    return str(place.waiting()["short_id"])


@pytest.mark.requirement("R50")
def test_without_a_sandbox_each_attack_is_announced_before_it_can_be_approved(
    unsandboxed: Place, workspace: Path
) -> None:
    for name in ANNOUNCED:
        short_id = _ask(unsandboxed, workspace, name)
        told = unsandboxed.hears(short_id, "NOT SANDBOXED")
        assert "High risk" in told
        with Terminal(unsandboxed.environ, "approve", short_id) as terminal:
            shown = terminal.read_until(":", "：", after=CODE)
            assert "NOT SANDBOXED" in shown
        unsandboxed.run("reject", short_id)
        assert unsandboxed.final(short_id)["reason"] == "rejected"
    assert runs(workspace) == 0


@pytest.mark.needs("bubblewrap")
@pytest.mark.requirement("R43")
@pytest.mark.requirement("R47")
@pytest.mark.parametrize("name", ["environment", "read-keys", "trace"])
@pytest.mark.thorough
def test_an_approved_attack_on_the_agent_itself_reaches_nothing(
    running: Place, workspace: Path, name: str
) -> None:
    home = Path(running.environ["CODEXBRIDGE_HOME"])
    running.kill("agent")
    running.forked = False  # a fork shows the environment of its parent in /proc
    running.start_agent()
    agent = running.processes["agent"].pid
    secret = f"CODEXBRIDGE_HOME={home}"
    assert secret in Path(f"/proc/{agent}/environ").read_text(encoding="utf-8")
    facts = {"home": str(home), "state": str(home), "agent": agent, "secret": secret}
    short_id = _ask(running, workspace, name, **facts)
    running.approve(short_id)
    assert running.final(short_id)["reason"] == "completed"
    said = (workspace / "said.txt").read_text(encoding="utf-8")
    assert "held:" in said
    assert "ESCAPED" not in said
