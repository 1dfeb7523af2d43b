from __future__ import annotations

import os
import sys
from pathlib import Path

import pytest

from common import home
from common.errors import ConfigError, UnavailableError


def mode(path: Path) -> int:
    """Return the permission bits."""
    return path.stat().st_mode & 0o777


def test_one_variable_moves_everything(tmp_path: Path) -> None:
    found = home.find_home({"CODEXBRIDGE_HOME": str(tmp_path)})
    assert found == home.Home(tmp_path / "config", tmp_path / "state", tmp_path / "run")
    assert list(tmp_path.iterdir()) == []


def test_a_relative_home_is_refused() -> None:
    with pytest.raises(ConfigError) as caught:
        home.find_home({"CODEXBRIDGE_HOME": "here"})
    assert caught.value.code == "config.home-relative"


@pytest.mark.skipif(sys.platform != "linux", reason="XDG is of Linux")
def test_without_it_the_platforms_places_are_used(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "c"))
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "s"))
    found = home.find_home({"XDG_RUNTIME_DIR": str(tmp_path / "r")})
    places = [tmp_path / name / "codexbridge" for name in ("c", "s", "r")]
    assert [found.config, found.state, found.run] == places
    assert home.find_home({}).run == found.state / "run"


def test_a_private_directory_admits_only_its_owner(tmp_path: Path) -> None:
    path = home.private_dir(tmp_path / "a" / "b")
    assert mode(path) == 0o700
    path.chmod(0o755)
    assert mode(home.private_dir(path)) == 0o700


@pytest.mark.skipif(os.getuid() != 0, reason="only root can give a directory away")
def test_someone_elses_directory_is_refused(tmp_path: Path) -> None:
    theirs = tmp_path / "theirs"
    theirs.mkdir(mode=0o777)
    os.chown(theirs, 12345, 12345)
    with pytest.raises(ConfigError) as caught:
        home.private_dir(theirs)
    assert caught.value.code == "config.not-private"


def test_who_is_in_keeps_others_out_until_the_end(tmp_path: Path) -> None:
    with home.only_one(tmp_path / "f/lock"):
        with pytest.raises(UnavailableError) as caught, home.only_one(tmp_path / "f/lock"):
            pass
        assert caught.value.code == "init.busy"
    with home.only_one(tmp_path / "f/lock"):
        assert (tmp_path / "f/lock").stat().st_mode & 0o777 == 0o600


def test_a_private_file_is_0600_whatever_the_umask(tmp_path: Path) -> None:
    old = os.umask(0)
    try:
        home.write_private(tmp_path / "d" / "file", b"one")
    finally:
        os.umask(old)
    assert mode(tmp_path / "d" / "file") == 0o600
    assert mode(tmp_path / "d") == 0o700


def test_a_private_file_is_replaced_whole(tmp_path: Path) -> None:
    path = tmp_path / "d" / "file"
    home.write_private(path, b"a longer first text")
    home.write_private(path, b"two")
    assert home.read_private(path, max_bytes=10) == b"two"
    assert list(path.parent.iterdir()) == [path]


def test_a_failed_write_leaves_the_old_file_and_nothing_else(tmp_path: Path) -> None:
    path = tmp_path / "d" / "file"
    home.write_private(path, b"old")
    with pytest.raises(TypeError):
        home.write_private(path, "not bytes")  # type: ignore[arg-type]  # the failure is wanted
    assert path.read_bytes() == b"old"
    assert list(path.parent.iterdir()) == [path]


def test_a_write_does_not_follow_a_link_laid_in_its_way(tmp_path: Path) -> None:
    target = tmp_path / "target"
    target.write_bytes(b"untouched")
    path = home.private_dir(tmp_path / "d") / "file"
    path.symlink_to(target)
    home.write_private(path, b"new")
    assert target.read_bytes() == b"untouched"
    assert not path.is_symlink()


@pytest.mark.parametrize("bits", [0o640, 0o604, 0o620, 0o601])
def test_a_file_that_others_can_touch_is_not_read(tmp_path: Path, bits: int) -> None:
    path = tmp_path / "file"
    path.write_bytes(b"secret")
    path.chmod(bits)
    with pytest.raises(ConfigError) as caught:
        home.read_private(path, max_bytes=10)
    assert caught.value.code == "config.file-readable-by-others"


def test_a_file_is_read_up_to_its_bound(tmp_path: Path) -> None:
    path = tmp_path / "d" / "file"
    home.write_private(path, b"12345")
    assert home.read_private(path, max_bytes=5) == b"12345"
    with pytest.raises(ConfigError) as caught:
        home.read_private(path, max_bytes=4)
    assert caught.value.code == "config.file-too-large"


def test_a_link_is_not_read_through(tmp_path: Path) -> None:
    real = tmp_path / "d" / "file"
    home.write_private(real, b"x")
    link = tmp_path / "link"
    link.symlink_to(real)
    with pytest.raises(OSError, match="symbolic"):
        home.read_private(link, max_bytes=10)


def test_a_missing_file_is_told_as_such(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError):
        home.read_private(tmp_path / "none", max_bytes=10)


def test_writing_a_file_leaves_an_existing_folder_as_it_is(tmp_path: Path) -> None:
    shared = tmp_path / "shared"
    shared.mkdir()
    shared.chmod(0o755)
    home.write_private(shared / "port", b"8787")
    assert mode(shared) == 0o755
    home.write_private(tmp_path / "new" / "port", b"8787")
    assert mode(tmp_path / "new") == 0o700


def test_a_file_keeps_the_mode_that_it_is_given(tmp_path: Path) -> None:
    home.write_private(tmp_path / "shared", b"x", mode=0o640)
    assert mode(tmp_path / "shared") == 0o640


def test_what_a_killed_writer_left_is_cleared_and_nothing_else(tmp_path: Path) -> None:
    names = [".token.0123456789abcdef.tmp", ".token.short.tmp", "token", ".other.tmp"]
    for name in names:
        (tmp_path / name).touch()
    home.clear_unfinished(tmp_path / "token")
    assert sorted(path.name for path in tmp_path.iterdir()) == sorted(names[1:])
