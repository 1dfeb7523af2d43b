"""Installations for the end-to-end tests."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.e2e.place import Place, sample


@pytest.fixture
def place(tmp_path: Path) -> Iterator[Place]:
    """Configured and empty; every part it starts is ended."""
    made = Place.at(tmp_path / "home")
    yield made
    made.stop()


@pytest.fixture
def workspace(tmp_path: Path) -> Path:
    """A workspace whose test command leaves a mark each time it runs."""
    return sample(
        tmp_path / "shop-api",
        [("count.sh", "echo run >> ran.txt\necho 1 passed\n"), ("login.py", "retry = 3\n")],
    )


@pytest.fixture
def running(place: Place, workspace: Path) -> Place:
    """Everything runs; the workspace's test command is ``sh count.sh``."""
    place.start_all(workspace, "sh count.sh")
    return place
