"""A scratch copy in memory, for tests of what edits one (`local_agent.models.backend.Scratch`)."""

from __future__ import annotations

from pathlib import Path

from common.errors import InputError


class MemoryScratch:
    """Files by name, behind a gate that knows the three refusals which matter.

    Attributes:
        files: As they are now.
        writes: How often one was written or removed.
    """

    def __init__(self, **files: str) -> None:
        self.files = {name.replace("__", "."): text.encode() for name, text in files.items()}
        self.writes = 0

    @property
    def root(self) -> Path:
        """No folder; nothing here needs one."""
        return Path("/nowhere")

    def inside(self, path: str | Path) -> str:
        """Return the name, when it may be edited."""
        parts = str(path).split("/")
        if str(path).startswith("/") or ".." in parts:
            raise InputError("scratch.outside")
        if parts[0] in {".git", ".codex", ".claude"}:
            raise InputError("scratch.forbidden")
        return str(path)

    def read(self, path: str) -> bytes | None:
        """Return a file."""
        if path == ".env":
            raise InputError("scratch.withheld")
        return self.files.get(path)

    def write(self, path: str, content: bytes) -> None:
        """Write a file."""
        self.writes += 1
        self.files[path] = content

    def delete(self, path: str) -> None:
        """Remove a file."""
        self.writes += 1
        del self.files[path]
