"""The gateway's own key."""

from __future__ import annotations

from pathlib import Path

import pytest

from common.errors import ConfigError
from common.keystore import FileKeystore
from gateway.identity import open_identity


def test_the_key_is_made_once_and_kept(tmp_path: Path) -> None:
    assert open_identity(tmp_path).public == open_identity(tmp_path).public


@pytest.mark.requirement("R60")
def test_only_its_owner_can_read_the_key(tmp_path: Path) -> None:
    open_identity(tmp_path)
    (file,) = (tmp_path / "keys").iterdir()
    assert file.stat().st_mode & 0o777 == 0o600
    assert (tmp_path / "keys").stat().st_mode & 0o777 == 0o700


def test_a_damaged_key_is_never_replaced_silently(tmp_path: Path) -> None:
    FileKeystore(tmp_path / "keys").put("gateway-key", b"short")
    with pytest.raises(ConfigError) as caught:
        open_identity(tmp_path)
    assert caught.value.code == "config.key-file-broken"
