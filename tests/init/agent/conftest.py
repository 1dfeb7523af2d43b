"""A gateway with a member, and a machine on which nothing has been done."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.e2e.place import Place, sample


@pytest.fixture
def workspace(tmp_path: Path) -> Path:
    """A repository with a target for its tests, on a machine without toolchains of the person's."""
    files = [("Makefile", "test:\n\t@echo 1 passed\n"), (".git/HEAD", "ref: refs/heads/main\n")]
    return sample(tmp_path / "shop-api", files)


@pytest.fixture
def place(tmp_path: Path, workspace: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Place]:
    """Everything of the gateway's runs; terminals are in the workspace."""
    person = tmp_path / "person"
    person.mkdir()
    made = Place.at(tmp_path / "home", HOME=str(person), PATH="/usr/bin:/bin")
    made.root.chmod(0o700)
    monkeypatch.chdir(workspace)
    made.admin("member", "add", "zhangwei")
    made.start_simulator()
    made.start_gateway()
    yield made
    made.stop()
