"""The admin's commands about machines and the key they trust, in this process, on a real store."""

from __future__ import annotations

import argparse
import base64
import json
from pathlib import Path
from typing import Any

import pytest

from common.clock import ManualClock, SystemClock
from common.errors import CodexBridgeError, InputError, StateError
from common.model.state import Reason, TaskState
from common.sentences import Lang
from common.signing import SigningKey
from common.terminal import cells
from gateway import app
from gateway.base.identity import open_identity, sealer
from gateway.faces.cli import devices
from gateway.store import agents, audit, mailbox, members, tasks
from gateway.store.runner import AdminStore, open_admin
from gateway.store.tasks import Task
from tests.people import someone
from tests.unit.gateway.faces.cli.test_commands import Desk

pytestmark = pytest.mark.heavy

AT = ManualClock(SystemClock().now().wall_ms).now()
KEY = SigningKey.generate().public


class Office:
    """Where an admin types commands; two members, one machine that works for the first."""

    def __init__(self, home: Path, capsys: pytest.CaptureFixture[str]) -> None:
        self.home = home
        self.state = home / "state" / "gateway"
        self._capsys = capsys
        with self.store() as store:
            for user in ("zhangwei", "lina"):
                store.write(members.add, someone(user), lang=None, at_ms=AT.wall_ms)
            self.enrol(store, "agent-1", "dev-1", KEY.raw)
            store.write(members.bind, someone("zhangwei"), "agent-1", at_ms=AT.wall_ms)

    def store(self) -> Any:
        return open_admin(self.state / "gateway.db")

    def enrol(self, store: AdminStore, agent_id: str, machine: str, raw: bytes) -> None:
        key = KEY if raw == KEY.raw else SigningKey.generate().public
        store.write(agents.enrol, agent_id, machine=machine, public_key=key, at_ms=AT.wall_ms)

    def type(self, *words: str, lang: Lang = "en") -> str:
        """Run a command that succeeds, and return what it printed."""
        parser = argparse.ArgumentParser()
        app.add_parser(parser.add_subparsers(dest="command"), lang)
        args = parser.parse_args(["gateway", *words])
        assert app.run(args, lang, {"CODEXBRIDGE_HOME": str(self.home)}) == 0
        return self._capsys.readouterr().out

    def refused(self, *words: str) -> CodexBridgeError:
        """Run a command that fails, and return how."""
        with pytest.raises(CodexBridgeError) as caught:
            self.type(*words)
        return caught.value

    def devices(self, *words: str) -> list[dict[str, Any]]:
        """Return the listing for programs."""
        return list(json.loads(self.type("devices", "--json", *words)))

    def queue(self, *, user: str = "zhangwei", number: int = 1) -> None:
        """Let a task wait for the machine, as intake does."""
        task_id = f"task-{number}"
        with self.store() as store:
            envelope = store.write(
                mailbox.enqueue,
                sealer(open_identity(self.state).signing),
                "task",
                agent_id="agent-1",
                task_id=task_id,
                body={
                    "task_id": task_id,
                    "short_id": f"T-000{number}",
                    "thread_id": "x",
                    "channel": "wecom_app",
                    "claimed_user": user,
                    "text": "@dev test",
                    "lang": "en",
                    "received_at": AT.wall_ms,
                },
                at=AT,
                life_s=3600,
            )
            task = Task(
                task_id=task_id,
                short_id=f"T-000{number}",
                agent_id="agent-1",
                app="main",
                user_id=user,
                chat="",
                channel="wecom_app",
                text="@dev test",
                lang="en",
                state=TaskState.RECEIVED,
                envelope_sha256=envelope.sha256,
                created_at=AT.wall_ms,
                updated_at=AT.wall_ms,
                expires_at=AT.wall_ms + 3_600_000,
            )
            store.write(tasks.create, task)

    def reasons(self) -> list[str | None]:
        """Return how the tasks ended."""
        return [task["reason"] for task in json.loads(self.type("tasks", "--json"))]

    def audited(self) -> list[str]:
        """Return the names of what was recorded."""
        with self.store() as store:
            found = store.read(audit.entries)
        return [json.loads(body)["event"] for _, _, body, _ in found]


@pytest.fixture
def office(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> Office:
    return Office(tmp_path, capsys)


def test_every_machine_is_listed_with_its_key_and_whom_it_works_for(office: Office) -> None:
    office.queue()
    (device,) = office.devices()
    assert device["machine"] == "dev-1"
    assert base64.b64decode(device["public_key"]) == KEY.raw
    assert device["key_id"] == KEY.key_id
    assert (device["members"], device["waiting"], device["online"]) == (["zhangwei"], 1, False)
    assert device["enrolled_at"] == AT.wall_ms
    row = office.type("devices")
    for part in ("dev-1", "never online", "zhangwei", "1 waiting", KEY.key_id):
        assert part in row


def test_online_and_offline_are_told_with_their_time(office: Office) -> None:
    with office.store() as store:
        agent = store.write(agents.connect, "agent-1", at_ms=AT.wall_ms)
    assert agent is not None
    assert "online since 2" in office.type("devices")
    assert office.devices()[0]["online"] is True
    with office.store() as store:
        store.write(agents.disconnect, "agent-1", epoch=agent.epoch, at_ms=AT.wall_ms)
    assert "offline since 2" in office.type("devices")
    assert "起离线" in office.type("devices", lang="zh")


@pytest.mark.parametrize("lang", ["en", "zh"])
def test_the_listing_is_in_columns_within_a_small_terminal(office: Office, lang: Lang) -> None:
    with office.store() as store:
        office.enrol(store, "agent-2", "a-much-longer-name-of-a-machine", b"")
    lines = office.type("devices", lang=lang).splitlines()
    assert len(lines) == 4, "of each, a row and its check words"
    assert max(map(cells, lines[:2])) <= 80


def test_without_a_machine_the_next_step_is_told(tmp_path: Path, office: Office) -> None:
    office.type("revoke", "dev-1")
    assert "pair --machine" in office.type("devices")


@pytest.mark.requirement("R14")
def test_a_revoked_machine_is_listed_only_when_asked_for_and_its_name_is_free(
    office: Office,
) -> None:
    office.queue()
    said = office.type("revoke", "dev-1")
    assert "1 task was refused" in said
    assert "within half a minute" not in said, "it had none"
    assert office.reasons() == ["refused"]
    assert office.devices() == []
    (gone,) = office.devices("--all")
    assert gone["revoked_at"] is not None
    assert (gone["members"], gone["online"], gone["waiting"]) == ([], False, 0)
    assert "revoked 2" in office.type("devices", "--all")
    assert {"agent.revoked", "task.withdrawn"} <= set(office.audited())
    assert "CB1-" in office.type("pair", "--machine", "dev-1", "--member", "zhangwei")


def test_pairing_again_with_another_key_takes_back_what_was_never_sent(office: Office) -> None:
    office.queue()
    office.type("pair", "--machine", "dev-1", "--member", "zhangwei", "--replace")
    assert office.reasons() == ["refused"]


def test_a_machine_works_for_several_members_and_a_member_has_several(office: Office) -> None:
    with office.store() as store:
        office.enrol(store, "agent-2", "dev-2", b"")
    assert "works for lina now" in office.type("bind", "dev-1", "lina")
    assert "already" in office.type("bind", "dev-1", "lina")
    office.type("bind", "dev-2", "lina")
    assert [device["members"] for device in office.devices()] == [["lina", "zhangwei"], ["lina"]]
    assert office.type("unbind", "dev-1", "lina") == "dev-1 no longer works for lina.\n"
    assert [device["members"] for device in office.devices()] == [["zhangwei"], ["lina"]]
    assert {"member.bound", "member.unbound"} <= set(office.audited())


def test_unbinding_takes_back_what_that_member_queued(office: Office) -> None:
    office.type("bind", "dev-1", "lina")
    office.queue()
    office.queue(user="lina", number=2)
    assert "1 task was taken back" in office.type("unbind", "dev-1", "lina")
    assert sorted(map(str, office.reasons())) == ["None", "refused"]


def test_removing_a_member_takes_back_what_they_queued(office: Office) -> None:
    office.queue()
    said = office.type("member", "remove", "zhangwei")
    assert said.endswith("1 task was taken back before a machine was known to have it.\n")
    assert office.reasons() == ["refused"]


@pytest.mark.parametrize(
    ("words", "code"),
    [
        (("revoke", "dev-9"), "machine.unknown"),
        (("bind", "dev-9", "lina"), "machine.unknown"),
        (("unbind", "dev-9", "lina"), "machine.unknown"),
        (("bind", "dev-1", "nobody"), "member.unknown"),
        (("unbind", "dev-1", "lina"), "machine.not-bound"),
        (("tasks", "--limit", "0"), "tasks.limit"),
    ],
)
def test_what_is_not_there_is_said_so(office: Office, words: tuple[str, ...], code: str) -> None:
    error = office.refused(*words)
    assert isinstance(error, InputError)
    assert error.code == code


def test_a_listing_that_is_cut_says_so(office: Office) -> None:
    for number in (1, 2, 3):
        office.queue(number=number)
    whole = office.type("tasks", "--limit", "3").splitlines()
    cut = office.type("tasks", "--limit", "2").splitlines()
    assert len(whole) == len(cut) == 3
    assert "--limit" in cut[-1]
    assert "--limit" not in "".join(whole)
    assert len(json.loads(office.type("tasks", "--json", "--limit", "2"))) == 2


def test_an_old_open_task_is_not_hidden_by_newer_ones_that_ended(office: Office) -> None:
    for number in (1, 2, 3):
        office.queue(number=number)
    ended = tasks.Change(TaskState.COMPLETED, Reason.COMPLETED)
    with office.store() as store:
        for number in (2, 3):
            store.write(tasks.change, f"task-{number}", ended, at_ms=AT.wall_ms)
    assert office.type("tasks", "--limit", "1").split()[0] == "T-0001"


@pytest.fixture
def desk(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> Desk:
    monkeypatch.setattr(devices, "TAKE_SECONDS", 0.3)
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
    monkeypatch.setattr(devices, "TAKE_SECONDS", 5.0)

    def take_over(_seconds: float) -> None:
        with open_admin(desk.store) as store:
            found = machine(desk)
            store.write(
                agents.connect, found.agent_id, at_ms=2, gateway_key_id=found.sealing_key_id
            )

    monkeypatch.setattr("gateway.faces.cli.devices.time.sleep", take_over)
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
    monkeypatch.setattr(devices, "TAKE_SECONDS", 5.0)

    def come_back(_seconds: float) -> None:
        with open_admin(desk.store) as store:
            new = machine(desk).sealing_key_id
            store.write(agents.connect, agent_id, at_ms=at_ms + 1, gateway_key_id=new)

    monkeypatch.setattr("gateway.faces.cli.devices.time.sleep", come_back)
    said = desk.type("rotate", "--now")
    assert "dev-1" not in said
    assert machine(desk).revoked_at is None
