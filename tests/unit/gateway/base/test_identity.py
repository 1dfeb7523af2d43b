"""The gateway's own keys."""

from __future__ import annotations

from pathlib import Path

import pytest

from common.errors import ConfigError
from common.keystore import FileKeystore
from common.protocol.handshake import MAX_GATEWAY_KEYS
from gateway.base.identity import KeyRing, open_identity


def ids(ring: KeyRing) -> list[str]:
    """Return the names of the keys that are offered, the current one first."""
    return [key.public.key_id for key in ring.offered()]


def test_the_key_is_made_once_and_kept(tmp_path: Path) -> None:
    assert open_identity(tmp_path).current.public == open_identity(tmp_path).current.public


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


def test_the_newest_key_is_the_current_one_and_all_are_kept(tmp_path: Path) -> None:
    ring = open_identity(tmp_path)
    first, second, third = ring.current, ring.add(), ring.add()
    assert ids(ring) == [key.public.key_id for key in (third, second, first)]
    assert ids(open_identity(tmp_path)) == ids(ring)
    assert ring.current is third
    for key in (first, second, third):
        assert open_identity(tmp_path).signing(key.public.key_id).public == key.public


def test_the_first_key_is_also_known_without_a_name(tmp_path: Path) -> None:
    ring = open_identity(tmp_path)
    first = ring.current
    ring.add()
    assert ring.signing(None) is first


def drop_unused(ring: KeyRing, pinned: set[str | None]) -> tuple[str, ...]:
    """Drop what need not be kept for these, and return the names."""
    unused = ring.unused(pinned)
    ring.drop(unused)
    return unused


def test_a_running_server_learns_of_a_key_by_its_name(tmp_path: Path) -> None:
    server, admin = open_identity(tmp_path), open_identity(tmp_path)
    new = admin.add()
    assert server.signing(new.public.key_id).public == new.public
    assert ids(server) == ids(admin)


def test_a_running_server_lets_go_of_a_key_that_was_dropped(tmp_path: Path) -> None:
    admin = open_identity(tmp_path)
    new = admin.add()
    server = open_identity(tmp_path)
    drop_unused(admin, {new.public.key_id})
    assert len(ids(server)) == 2
    assert server.reload() == {new.public.key_id}
    assert ids(server) == [new.public.key_id]


def test_where_a_key_is_gone_the_current_one_signs(tmp_path: Path) -> None:
    ring = open_identity(tmp_path)
    new = ring.add()
    drop_unused(ring, {new.public.key_id})
    assert ring.signing(None) is ring.signing("0" * 16) is new


def test_keys_between_the_oldest_that_is_pinned_and_the_current_one_stay(tmp_path: Path) -> None:
    ring = open_identity(tmp_path)
    names = [ring.current.public.key_id, *(ring.add().public.key_id for _ in range(3))]
    assert drop_unused(ring, {names[1], names[3]}) == (names[0],)
    assert ids(ring) == names[:0:-1]
    assert ids(open_identity(tmp_path)) == names[:0:-1]


def test_a_machine_that_pins_the_first_key_keeps_all(tmp_path: Path) -> None:
    ring = open_identity(tmp_path)
    ring.add()
    assert drop_unused(ring, {None}) == ()
    assert len(ids(ring)) == 2


@pytest.mark.parametrize("pinned", [set(), {"0" * 16}], ids=["no machine", "an unknown key"])
def test_the_current_key_is_never_dropped(tmp_path: Path, pinned: set[str | None]) -> None:
    ring = open_identity(tmp_path)
    new = ring.add()
    assert len(drop_unused(ring, pinned)) == 1
    assert ids(ring) == [new.public.key_id]


def test_a_number_is_given_out_once(tmp_path: Path) -> None:
    ring = open_identity(tmp_path)
    ring.add()
    drop_unused(ring, set())
    ring.add()
    assert sorted(path.name for path in (tmp_path / "keys").iterdir()) == [
        "gateway-key-2.key",
        "gateway-key-3.key",
    ]


def test_no_more_keys_are_offered_than_a_machine_takes(tmp_path: Path) -> None:
    ring = open_identity(tmp_path)
    for _ in range(5):
        ring.add()
    assert len(ring.offered()) == MAX_GATEWAY_KEYS
    assert ring.offered()[0] is ring.current


def test_a_damaged_new_key_does_not_stop_a_running_server(tmp_path: Path) -> None:
    ring = open_identity(tmp_path)
    before = ids(ring)
    FileKeystore(tmp_path / "keys").put("gateway-key-2", b"short")
    ring.reload()
    assert ids(ring) == before


def test_a_server_whose_files_are_taken_away_keeps_its_keys(tmp_path: Path) -> None:
    ring = open_identity(tmp_path)
    before = ids(ring)
    for path in (tmp_path / "keys").iterdir():
        path.unlink()
    assert ring.newest() is ring.current
    assert ids(ring) == before


def test_other_files_are_no_keys(tmp_path: Path) -> None:
    ring = open_identity(tmp_path)
    for name in ("gateway-key-0.key", "gateway-key-02.key", "gateway-key-x.key", "other.key"):
        (tmp_path / "keys" / name).write_text("nonsense", encoding="utf-8")
    ring.reload()
    assert len(ids(ring)) == 1


def test_the_current_key_is_never_dropped_by_name_either(tmp_path: Path) -> None:
    ring = open_identity(tmp_path)
    ring.drop([ring.current.public.key_id])
    assert ids(open_identity(tmp_path)) == ids(ring) == [ring.current.public.key_id]
