"""A hostile repository: every read-only kind runs on it, and none of its code does.

The commands and the agent are even started inside it, with it at the head of their PATH.
"""

from __future__ import annotations

import asyncio
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from common.model.state import Reason
from tests.changing import Changing
from tests.e2e.place import Place, wait_until
from tests.hostile_diffs.case import NEW, copy, git_add, text
from tests.hostile_repository import HostileRepository, make_hostile_repository

pytestmark = [pytest.mark.needs("git")]


PATCH = text("--- a/login.py", "+++ b/login.py", "@@ -1 +1 @@", "-retry = 5", "+retry = 7")


@pytest.fixture
def repository(tmp_path: Path) -> HostileRepository:
    """A fresh one."""
    return make_hostile_repository(tmp_path)


@pytest.fixture
def careless(repository: HostileRepository, tmp_path: Path) -> Iterator[Place]:
    """Everything runs, started where and how it should not be."""
    path = os.pathsep.join((str(repository.path), ".", os.environ["PATH"]))
    made = Place.at(tmp_path / "home", PATH=path, RIPGREP_CONFIG_PATH=".ripgreprc")
    made.cwd = repository.path
    try:
        made.start_all(repository.path, "./test")
        yield made
    finally:
        made.stop()


def _plainly(repository: HostileRepository, *command: str, **environ: str) -> None:
    """Run what a developer would run there without a thought."""
    home = {"HOME": str(repository.marks.parent), "PATH": "/usr/bin:/bin"}
    subprocess.run(
        command,
        cwd=repository.path,
        env=home | environ,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        timeout=30,
        check=False,
    )


def test_the_traps_are_live(repository: HostileRepository) -> None:
    _plainly(repository, "/usr/bin/git", "status")
    assert {"config.included", "config.filter.trap.clean"} <= set(repository.sprung())
    _plainly(repository, "/usr/bin/git", "diff")
    assert "config.diff.trap.command" in repository.sprung()
    _plainly(repository, "/usr/bin/git", "diff", "--no-ext-diff")
    assert "config.diff.trap.textconv" in repository.sprung()
    who = ("-c", "user.name=x", "-c", "user.email=x@example.com")
    _plainly(repository, "/usr/bin/git", *who, "commit", "--all", "--no-gpg-sign", "-m", "x")
    assert {"hook.pre-commit", "hook.reference-transaction"} <= set(repository.sprung())
    _plainly(repository, "/usr/bin/git", "st")
    assert "config.alias" in repository.sprung()
    _plainly(repository, "/usr/bin/env", "git", "status", PATH=f"{repository.path}:/usr/bin:/bin")
    assert repository.sprung() == ["program.git"]
    _plainly(repository, sys.executable, "-c", "import common, json")
    assert set(repository.sprung()) >= {"module.common.__init__.py", "module.json.py"}
    _plainly(repository, sys.executable, "-c", "", PYTHONPATH=str(repository.path))
    assert "module.sitecustomize.py" in repository.sprung()


ASKED = {
    "@dev help": "@dev test",
    "@dev status": "dev-1: online",
    "@dev search retry": "login.py (1",
    "@dev review": "? .envrc",
    "@dev what have I changed?": "? .envrc",
    "@dev explain login.py": "login.py (",
    "@dev plan a faster login": "nothing was planned",
    "@dev why does login.py fail?": "login.py (",
    "@dev fix the retry in login.py": "login.py (",
    "@dev commit and push": "nothing was pushed",
}


def _answered(place: Place, said: str) -> str:
    """Ask in the chat and return everything that is said until the task has ended."""
    before = len(place.chat())
    assert place.callback(said) == 200
    return wait_until(lambda: "\n".join(place.chat()[before:]) if _ended(place, before) else "")


def _ended(place: Place, before: int) -> bool:
    news = place.chat()[before:]
    # That it was sent may be told before what came of it.
    return any(" sent to " not in text for text in news)


@pytest.mark.requirement("P1", "R40")
def test_no_read_only_kind_runs_any_of_its_code(
    careless: Place, repository: HostileRepository
) -> None:
    assert repository.sprung() == []  # nor has adding it as a workspace
    for said, expected in ASKED.items():
        assert expected in _answered(careless, said)
        assert repository.sprung() == [], said


@pytest.mark.requirement("P1", "R40")
def test_no_command_started_inside_it_runs_any_of_its_code(
    careless: Place, repository: HostileRepository, tmp_path: Path
) -> None:
    careless.run("ask", "@dev review")
    patch = tmp_path / "login.patch"
    patch.write_bytes(PATCH)
    careless.run("check", str(patch))
    careless.run("apply", str(patch))
    asked = careless.waiting()["short_id"]
    for shown in ("show", "diff"):
        careless.run(shown, asked)
    careless.approve(asked)
    assert careless.final(asked)["reason"] == "completed"
    careless.run("undo", asked)
    careless.approve(careless.waiting()["short_id"])
    for line in ("git status && rg x", "python3 -c pass", "./test", "make test"):
        assert careless.callback(f'@dev test --cmd="{line}"') == 200
        short_id = careless.waiting()["short_id"]
        careless.run("show", short_id)
        careless.run("reject", short_id)
        careless.final(short_id)
    for command in (
        ("status",),
        ("status", "--json"),
        ("tasks", "--all"),
        ("workspace", "list"),
        ("workspace", "add", str(repository.path), "--toolchains", "none"),
        ("audit", "verify"),
        ("--help",),
        ("--version",),
    ):
        careless.run(*command)
    assert repository.sprung() == []


@pytest.mark.requirement("P1", "P5", "R40")
def test_a_change_is_applied_and_undone_without_running_any_of_its_code(
    repository: HostileRepository, tmp_path: Path
) -> None:
    desk = Changing.at(repository.path, tmp_path / "state")
    diff = PATCH + copy("login.py", "copied.py") + git_add("hooks.py", *NEW)
    done, outcome = asyncio.run(desk.apply(diff))
    assert outcome.reason is Reason.COMPLETED
    assert (repository.path / "copied.py").read_text(encoding="utf-8") == "retry = 5\n"
    _, undone = asyncio.run(desk.undo(done))
    assert undone.reason is Reason.COMPLETED
    assert repository.sprung() == []
