"""`common.children`: where the output of a child goes; that it runs, the demo and init try."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from common.children import start_own


def test_the_log_of_a_child_is_private_and_added_to(tmp_path: Path) -> None:
    log = tmp_path / "agent.log"
    log.write_text("before\n", encoding="utf-8")
    log.chmod(0o666)
    child = start_own(["--version"], env={"PATH": "/usr/bin:/bin"}, output=log)
    assert child.wait(60) == 0
    assert log.read_text(encoding="utf-8").startswith("before\ncodexbridge ")
    assert log.stat().st_mode & 0o777 == 0o600


@pytest.mark.parametrize("planted", ["link", "hard link", "pipe"])
def test_what_somebody_put_in_its_place_is_not_written_to(tmp_path: Path, planted: str) -> None:
    log, other = tmp_path / "agent.log", tmp_path / "other"
    other.write_bytes(b"")
    if planted == "link":
        log.symlink_to(other)
    elif planted == "hard link":
        os.link(other, log)
    else:
        os.mkfifo(log)
    with pytest.raises(OSError, match=r"agent\.log"):
        start_own(["--version"], env={}, output=log)
    assert other.read_bytes() == b""
