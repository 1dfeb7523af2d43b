"""One installation with a screen, for all tests of a module; each asks for tasks of its own."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.e2e.proposing import Shop
from tests.page_desk import shop_with_page
from tests.screen import Screen, a_screen


@pytest.fixture(scope="module")
def screen(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Screen]:
    with a_screen(tmp_path_factory.mktemp("screen")) as made:
        yield made


@pytest.fixture(scope="module")
def shop(tmp_path_factory: pytest.TempPathFactory, screen: Screen) -> Iterator[Shop]:
    with shop_with_page(tmp_path_factory.mktemp("page"), screen) as made:
        yield made
