"""One agent for all cases of playbooks of a worker; each case finds its workspace as new."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.e2e.playbooks.stage import Model, Stage


@pytest.fixture(scope="session")
def open_stage(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Stage]:
    """Started once; what a case leaves is for the next to reset."""
    with Model() as model:
        stage = Stage.open(tmp_path_factory.mktemp("stage"), model)
        try:
            yield stage
        finally:
            stage.place.stop()


@pytest.fixture
def stage(open_stage: Stage) -> Stage:
    """The stage with workspace, files and model as new."""
    open_stage.reset()
    return open_stage
