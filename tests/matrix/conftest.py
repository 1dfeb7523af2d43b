"""The ground that the tests of this folder share; the whole matrix has a larger one of its own."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.matrix.matrix import Ground


@pytest.fixture(scope="session")
def ground(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Ground]:
    """Two plots."""
    with Ground(tmp_path_factory.mktemp("matrix"), plots=2) as ground:
        yield ground
