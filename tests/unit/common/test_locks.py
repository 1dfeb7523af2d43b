"""A lock that fails is no lost race: the cause is named, by whichever program takes one."""

from __future__ import annotations

import errno
import fcntl
import os
from collections.abc import Callable
from pathlib import Path

import pytest

from common.errors import CodexBridgeError, ConfigError
from common.home import Home, only_one
from common.locks import open_lock
from gateway.store.sqlite import ServerLock
from local_agent.doctor.own import _home
from local_agent.store.lock import is_held, take_lock


def _only_one(path: Path) -> None:
    with only_one(path):
        pass


def _look(path: Path) -> None:
    path.with_suffix(".lock").touch()
    assert is_held(path) is True
    raise ConfigError("config.agent-running")


TAKERS: list[tuple[Callable[[Path], object], str]] = [
    (take_lock, "config.agent-running"),
    (_look, "config.agent-running"),
    (_only_one, "init.busy"),
    (ServerLock, "config.store-in-use"),
]


@pytest.mark.requirement("P7")
@pytest.mark.parametrize("number", [errno.ENOLCK, errno.EOPNOTSUPP, errno.EINVAL, errno.EAGAIN])
@pytest.mark.parametrize(("take", "busy"), TAKERS)
def test_a_file_system_without_locks_is_not_taken_for_another_process(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    take: Callable[[Path], object],
    busy: str,
    number: int,
) -> None:
    def refuse(_descriptor: int, _how: int) -> None:
        raise OSError(number, os.strerror(number))

    monkeypatch.setattr(fcntl, "flock", refuse)
    opened = len([*Path("/proc/self/fd").iterdir()])
    with pytest.raises(CodexBridgeError) as caught:
        take(tmp_path / "journal.db")
    assert caught.value.code == (busy if number == errno.EAGAIN else "config.no-locks")
    assert len([*Path("/proc/self/fd").iterdir()]) == opened


def test_a_lock_is_a_private_file_and_no_link_is_followed(tmp_path: Path) -> None:
    (tmp_path / "link").symlink_to(tmp_path / "elsewhere")
    with pytest.raises(OSError, match="symbolic"):
        open_lock(tmp_path / "link")
    held = open_lock(tmp_path / "lock")
    assert held is not None
    assert (tmp_path / "lock").stat().st_mode & 0o777 == 0o600
    assert open_lock(tmp_path / "lock") is None
    os.close(held)


@pytest.mark.requirement("P7")
def test_the_doctor_names_a_file_system_without_locks(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    places = Home(*(tmp_path / name for name in ("config", "state", "run")))
    for folder in (places.config, places.state):
        folder.mkdir(mode=0o700)
    assert _home(places).code == "home.ok"

    def refuse(_descriptor: int, _how: int) -> None:
        raise OSError(errno.ENOLCK, "No locks available")

    monkeypatch.setattr(fcntl, "flock", refuse)
    assert _home(places).code == "home.no-locks"
    assert list(places.state.iterdir()) == []
