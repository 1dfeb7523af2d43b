"""Repositories made by libgit2, so that no test needs the git program."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

import pygit2
import pytest

AUTHOR = pygit2.Signature("Zhang", "zhang@example.com", 1_760_000_000, 0)


@dataclass(frozen=True)
class Repository:
    """A repository with a work tree."""

    path: Path
    raw: pygit2.Repository

    def write(self, files: Mapping[str, str | bytes]) -> None:
        """Write files without telling git."""
        for name, text in files.items():
            path = self.path / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(text if isinstance(text, bytes) else text.encode())

    def commit(self, files: Mapping[str, str | bytes]) -> str:
        """Write files and commit everything there is."""
        self.write(files)
        index = self.raw.index
        index.add_all()
        index.write()
        parents = [] if self.raw.head_is_unborn else [self.raw.head.target]
        made = self.raw.create_commit("HEAD", AUTHOR, AUTHOR, "x", index.write_tree(), parents)
        return str(made)


@pytest.fixture
def repository(tmp_path: Path) -> Repository:
    """An empty repository on the branch main."""
    path = tmp_path.resolve() / "project"
    raw = pygit2.init_repository(str(path), initial_head="main")
    return Repository(path, raw)
