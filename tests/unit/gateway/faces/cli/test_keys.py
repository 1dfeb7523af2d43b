"""``codexbridge gateway rotate``, beside a store that a server may be running on."""

from __future__ import annotations

from pathlib import Path

import pytest

from common.clock import SystemClock
from common.errors import StateError
from common.signing import SigningKey
from gateway.base.identity import open_identity
from gateway.faces.cli import keys
from gateway.store import agents
from gateway.store.runner import open_admin
from tests.unit.gateway.faces.cli.test_commands import Desk

pytestmark = pytest.mark.heavy


@pytest.fixture
def desk(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> Desk:
    monkeypatch.setattr(keys, "TAKE_SECONDS", 0.3)
    made = Desk(tmp_path, capsys)
    made.type("member", "add", "zhangwei")
    return made


def offered(desk: Desk) -> list[str]:
    """Return the names of the gateway's keys, the current one first."""
    ring = open_identity(desk.home / "state" / "gateway")
    return [key.public.key_id for key in ring.offered()]


def machine(desk: Desk) -> agents.Agent:
    """Return the record of the one machine."""
    with open_admin(desk.store) as store:
        (found,) = store.read(agents.everyone)
    return found


def test_a_rotation_names_the_new_key_and_keeps_the_old(desk: Desk) -> None:
    desk.pair(desk.code(), SigningKey.generate())
    (old,) = offered(desk)
    said = desk.type("rotate")
    new, kept = offered(desk)
    assert kept == old
    assert new in said
    assert machine(desk).sealing_key_id == new


def test_one_key_too_many_is_refused(desk: Desk) -> None:
    desk.pair(desk.code(), SigningKey.generate())
    for _ in range(3):
        desk.type("rotate")
    error = desk.refused("rotate")
    assert isinstance(error, StateError)
    assert error.code == "rotation.too-many-keys"


def test_at_once_the_old_keys_are_gone_and_who_knows_only_those_is_named(desk: Desk) -> None:
    desk.pair(desk.code(), SigningKey.generate())
    old = offered(desk)
    said = desk.type("rotate", "--now")
    assert "dev-1" in said
    assert machine(desk).revoked_at is not None
    assert len(offered(desk)) == 1
    assert offered(desk) != old


def test_at_once_a_connected_machine_is_waited_for(
    desk: Desk, monkeypatch: pytest.MonkeyPatch
) -> None:
    desk.pair(desk.code(), SigningKey.generate())
    with open_admin(desk.store) as store:
        store.write(agents.connect, machine(desk).agent_id, at_ms=1)
    monkeypatch.setattr(keys, "TAKE_SECONDS", 5.0)

    def take_over(_seconds: float) -> None:
        with open_admin(desk.store) as store:
            found = machine(desk)
            store.write(
                agents.connect, found.agent_id, at_ms=2, gateway_key_id=found.sealing_key_id
            )

    monkeypatch.setattr("gateway.faces.cli.keys.time.sleep", take_over)
    said = desk.type("rotate", "--now")
    assert "dev-1" not in said
    assert machine(desk).revoked_at is None
    assert len(offered(desk)) == 1


def test_at_once_a_machine_that_reconnects_with_the_new_key_is_waited_for(
    desk: Desk, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A machine that takes a key over disconnects first; then it is offline for a moment."""
    desk.pair(desk.code(), SigningKey.generate())
    agent_id, at_ms = machine(desk).agent_id, SystemClock().now().wall_ms
    with open_admin(desk.store) as store:
        store.write(agents.connect, agent_id, at_ms=at_ms)
        store.write(agents.disconnect, agent_id, epoch=1, at_ms=at_ms)
    monkeypatch.setattr(keys, "TAKE_SECONDS", 5.0)

    def come_back(_seconds: float) -> None:
        with open_admin(desk.store) as store:
            new = machine(desk).sealing_key_id
            store.write(agents.connect, agent_id, at_ms=at_ms + 1, gateway_key_id=new)

    monkeypatch.setattr("gateway.faces.cli.keys.time.sleep", come_back)
    said = desk.type("rotate", "--now")
    assert "dev-1" not in said
    assert machine(desk).revoked_at is None
