"""The admin's commands, in this process, on a real store."""

from __future__ import annotations

import argparse
import json
import re
import subprocess
import sys
import threading
from dataclasses import replace
from pathlib import Path

import pytest

from common.clock import SystemClock
from common.errors import CodexBridgeError, ConfigError, InputError, StateError, UnavailableError
from common.ids import new_uuid
from common.model.state import FINAL, Reason, TaskState, final_of
from common.protocol.pairing import check_words, pairing_id, parse_code
from common.sentences import Lang
from common.signing import SigningKey
from common.terminal import cells
from gateway import app
from gateway.base.identity import open_identity
from gateway.faces.cli import devices
from gateway.store import agents, audit, members, pairings, tasks
from gateway.store.runner import open_admin

pytestmark = pytest.mark.heavy

HEAVY = ("pydantic", "aiohttp", "sqlalchemy", "keyring", "structlog", "cryptography", "asyncio")


class Desk:
    """Where an admin types commands."""

    def __init__(self, home: Path, capsys: pytest.CaptureFixture[str]) -> None:
        self.home = home
        self.store = home / "state" / "gateway" / "gateway.db"
        self._capsys = capsys

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

    def code(self, *words: str) -> bytes:
        """Make a pairing code and return its secret."""
        said = self.type("pair", "--machine", "dev-1", "--member", "zhangwei", *words)
        found = re.search(r"CB1-[A-Z2-7]{26}", said)
        assert found is not None
        return parse_code(found[0])

    def pair(self, secret: bytes, key: SigningKey) -> None:
        """Use a code, as the server would."""
        with open_admin(self.store) as store:
            store.write(
                pairings.complete,
                pairing_id(secret),
                agent_id=new_uuid(),
                public_key=key.public,
                at_ms=SystemClock().now().wall_ms,
            )


@pytest.fixture
def desk(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> Desk:
    return Desk(tmp_path, capsys)


def test_members_come_and_go(desk: Desk) -> None:
    assert "zhangwei" in desk.type("member", "add", "zhangwei", "--lang", "zh")
    assert "already" in desk.type("member", "add", "zhangwei")
    (listed,) = json.loads(desk.type("member", "list", "--json"))
    assert (listed["user"], listed["lang"], listed["machines"]) == ("zhangwei", "zh", [])
    assert desk.type("member", "list").split()[:3] == ["zhangwei", "member", "zh"]
    desk.type("member", "remove", "zhangwei")
    assert json.loads(desk.type("member", "list", "--json")) == []


def test_a_role_is_given_changed_and_listed(desk: Desk) -> None:
    assert "role approver" in desk.type("member", "add", "zhangwei", "--role", "approver")
    assert desk.type("member", "add", "zhangwei", "--lang", "en").count("\n") == 1
    (listed,) = json.loads(desk.type("member", "list", "--json"))
    assert (listed["role"], listed["by_settings"], listed["lang"]) == ("approver", False, "en")
    assert "role member" in desk.type("member", "set", "zhangwei", "--role", "member")
    assert desk.type("member", "list").split()[:2] == ["zhangwei", "member"]
    said = desk.type("member", "set", "zhangwei", "--role", "approver", lang="zh")
    assert said == "zhangwei：角色 审批人。\n"
    assert desk.type("member", "list", lang="zh").split()[:2] == ["zhangwei", "审批人"]
    assert desk.refused("member", "set", "nobody", "--role", "admin").code == "member.unknown"


def test_it_is_said_when_the_last_admin_goes(desk: Desk) -> None:
    desk.type("member", "add", "zhangwei", "lina", "--role", "admin")
    assert "no admin" not in desk.type("member", "remove", "lina")
    assert "no admin" in desk.type("member", "set", "zhangwei", "--role", "member")
    assert "no admin" not in desk.type("member", "set", "zhangwei", "--role", "approver")


def test_several_are_named_at_once_and_by_their_group(desk: Desk) -> None:
    desk.type("member", "add", "zhangwei")
    desk.pair(desk.code(), SigningKey.generate())
    desk.type("member", "remove", "zhangwei")
    desk.type("member", "add", "lina", "wangwu", "--group", "interns")
    said = desk.type("bind", "dev-1", "@interns", "lina")
    assert said.count("dev-1") == 2
    assert "role approver" in desk.type("member", "set", "@interns", "--role", "approver")
    rows = [line.split() for line in desk.type("member", "list").splitlines()]
    assert rows[:2] == [[name, "approver", "-", "dev-1", "@interns"] for name in ("lina", "wangwu")]
    for words, code in (
        (("member", "set", "lina", "nobody", "--role", "admin"), "member.unknown"),
        (("member", "remove", "wangwu", "nobody"), "member.not-listed"),
        (("member", "add", "new", "张"), "member.invalid"),
        (("member", "add", "new", "--group", "A b"), "member.invalid-group"),
        (("unbind", "dev-1", "lina", "nobody"), "machine.not-bound"),
        (("bind", "dev-1", "@nobodys"), "member.no-group"),
        (("member", "set", "lina"), "member.nothing-to-set"),
    ):
        assert desk.refused(*words).code == code
    assert [line.split() for line in desk.type("member", "list").splitlines()] == rows
    desk.type("unbind", "dev-1", "@interns")
    desk.type("member", "set", "lina", "--group", "-")
    desk.type("member", "remove", "@interns")
    (left,) = json.loads(desk.type("member", "list", "--json"))
    assert (left["user"], left["machines"], left["group"]) == ("lina", [], None)


def test_an_admin_of_the_settings_is_shown_as_such_and_stays_one(
    desk: Desk, tmp_path: Path
) -> None:
    file = tmp_path / "gw.toml"
    file.write_text('admins = ["zhangwei", "boss"]\n', encoding="utf-8")
    desk.type("member", "add", "zhangwei")
    said = desk.type("--config", str(file), "member", "list")
    assert said.splitlines()[0].split()[:3] == ["zhangwei", "admin", "(settings)"]
    assert "boss" in said.splitlines()[1]
    (listed,) = json.loads(desk.type("--config", str(file), "member", "list", "--json"))
    assert (listed["role"], listed["by_settings"]) == ("admin", True)
    said = desk.type("--config", str(file), "member", "set", "zhangwei", "--role", "member")
    assert "stays an admin" in said
    assert "stays" not in desk.type("member", "set", "zhangwei", "--role", "member")


def test_an_empty_list_says_what_to_do(desk: Desk) -> None:
    assert "member add" in desk.type("member", "list")


def test_a_hint_names_the_settings_file_in_use(desk: Desk, tmp_path: Path) -> None:
    file = tmp_path / "gw.toml"
    file.write_text('language = "en"\n', encoding="utf-8")
    said = desk.type("--config", str(file), "member", "list")
    assert f"codexbridge gateway --config {file} member add" in said


def test_removing_who_is_no_member_is_an_error(desk: Desk) -> None:
    error = desk.refused("member", "remove", "nobody")
    assert isinstance(error, InputError)
    assert error.code == "member.not-listed"


def test_a_name_that_could_hide_something_is_no_member(desk: Desk) -> None:
    assert desk.refused("member", "add", "zhang\u202ewei").code == "member.invalid"


@pytest.mark.requirement("R9")
def test_a_code_is_printed_once_and_kept_only_as_long_as_it_works(desk: Desk) -> None:
    desk.type("member", "add", "zhangwei")
    secret = desk.code()
    with open_admin(desk.store) as store:
        found = store.read(pairings.find, pairing_id(secret))
        assert found is not None
        assert (found.machine, found.user_id, found.secret) == ("dev-1", "zhangwei", secret)
        left = found.expires_at - SystemClock().now().wall_ms
        assert 590_000 < left <= 600_000
    desk.pair(secret, SigningKey.generate())
    with open_admin(desk.store) as store:
        found = store.read(pairings.find, pairing_id(secret))
        assert found is not None
        assert found.secret is None


def test_the_code_comes_with_the_command_for_the_machine(desk: Desk) -> None:
    desk.type("member", "add", "zhangwei")
    said = desk.type("pair", "--machine", "dev-1", "--member", "zhangwei")
    assert "codexbridge pair --gateway http://127.0.0.1:8787" in said
    said = desk.type("pair", "--machine", "dev-1", "--member", "zhangwei", lang="zh")
    assert "codexbridge pair --gateway http://127.0.0.1:8787" in said
    assert "配对码" in said


def test_a_public_url_is_what_the_machine_is_told(desk: Desk) -> None:
    desk.type("member", "add", "zhangwei")
    settings = desk.home / "gateway.toml"
    settings.write_text('public_url = "https://gw.example"\n', encoding="utf-8")
    words = ("pair", "--machine", "dev-1", "--member", "zhangwei", "--config", str(settings))
    assert "--gateway https://gw.example\n" in desk.type(*words)


@pytest.mark.parametrize("machine", ["Dev", "dev_1", "a" * 33, "-x", "dev 1", "机器"])
@pytest.mark.requirement("R10")
def test_a_machine_has_a_plain_name(desk: Desk, machine: str) -> None:
    desk.type("member", "add", "zhangwei")
    error = desk.refused("pair", f"--machine={machine}", "--member", "zhangwei")
    assert error.code == "machine.invalid-name"


def test_a_machine_works_for_a_member_only(desk: Desk) -> None:
    error = desk.refused("pair", "--machine", "dev-1", "--member", "nobody")
    assert error.code == "member.unknown"


@pytest.mark.requirement("R11")
def test_a_paired_machine_gets_a_new_key_only_when_the_admin_says_so(desk: Desk) -> None:
    desk.type("member", "add", "zhangwei")
    desk.pair(desk.code(), SigningKey.generate())
    error = desk.refused("pair", "--machine", "dev-1", "--member", "zhangwei")
    assert isinstance(error, StateError)
    assert error.code == "machine.claimed"
    desk.pair(desk.code("--replace"), SigningKey.generate())
    with open_admin(desk.store) as store:
        known = store.read(agents.everyone)
        events = [json.loads(body)["event"] for _, _, body, _ in store.read(audit.entries)]
        (member,) = store.read(members.everyone)
    assert [agent.revoked_at is None for agent in known].count(True) == 1
    assert len(known) == 2
    assert "agent.revoked" in events
    assert member.machines == ("dev-1",)


@pytest.mark.requirement("R10")
def test_waiting_shows_the_words_that_the_machine_shows(
    desk: Desk, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(devices, "PAIR_POLL_SECONDS", 0.01)
    desk.type("member", "add", "zhangwei")
    key, codes = SigningKey.generate(), []

    def use(secret: bytes) -> None:
        codes.append(secret)
        desk.pair(secret, key)

    made = devices._open_code

    def make_and_use(conn: object, name: str, **facts: object) -> int:
        until = made(conn, name, **facts)  # type: ignore[arg-type]  # passed on as they came
        threading.Timer(0.05, use, [facts["secret"]]).start()
        return until

    monkeypatch.setattr(devices, "_open_code", make_and_use)
    said = desk.type("pair", "--machine", "dev-1", "--member", "zhangwei", "--wait")
    gateway = open_identity(desk.home / "state" / "gateway").current.public
    words = "  ".join(check_words(key.public, gateway))
    assert words in said
    assert words in desk.type("devices"), "also for whoever did not wait"
    assert codes


def test_waiting_for_a_code_that_was_voided_ends(
    desk: Desk, monkeypatch: pytest.MonkeyPatch
) -> None:
    desk.type("member", "add", "zhangwei")
    made = devices._open_code

    def make_and_void(conn: object, name: str, **facts: object) -> int:
        until = made(conn, name, **facts)  # type: ignore[arg-type]  # passed on as they came
        for _ in range(pairings.MAX_WRONG_TRIES):
            pairings.count_wrong_try(conn, name, at_ms=1)  # type: ignore[arg-type]  # same
        return until

    monkeypatch.setattr(devices, "_open_code", make_and_void)
    error = desk.refused("pair", "--machine", "dev-1", "--member", "zhangwei", "--wait")
    assert isinstance(error, UnavailableError)
    assert error.code == "pairing.over"


def test_tasks_are_listed_the_open_ones_unless_all_are_asked_for(desk: Desk) -> None:
    desk.type("member", "add", "zhangwei")
    assert desk.type("tasks").strip() == "No task yet."
    desk.pair(desk.code(), SigningKey.generate())
    with open_admin(desk.store) as store:
        (agent,) = store.read(agents.everyone)
        for number, reason in ((1, None), (2, "completed")):
            store.write(tasks.create, a_task(agent.agent_id, number))
            if reason:
                ended = tasks.Change(TaskState.COMPLETED, Reason(reason))
                store.write(tasks.change, f"task-{number}", ended, at_ms=5)
    assert desk.type("tasks").split() == ["T-0001", "queued", "01-01", "08:00", "dev-1", "zhangwei"]
    assert len(desk.type("tasks").splitlines()) == 1
    assert len(desk.type("tasks", "--all").splitlines()) == 2
    listed = json.loads(desk.type("tasks", "--json"))
    assert [(task["short_id"], task["reason"]) for task in listed] == [
        ("T-0002", "completed"),
        ("T-0001", None),
    ]
    assert "secret plan" not in desk.type("tasks", "--json"), "what was asked is the member's"


@pytest.mark.parametrize("lang", ["en", "zh"])
def test_tasks_are_listed_in_words_in_columns_within_a_small_terminal(
    desk: Desk, lang: Lang
) -> None:
    desk.type("member", "add", "zhangwei")
    desk.pair(desk.code(), SigningKey.generate())
    ends = [tasks.Change(state) for state in TaskState if state not in FINAL]
    ends += [tasks.Change(final_of(reason)[0], reason) for reason in Reason]
    with open_admin(desk.store) as store:
        (agent,) = store.read(agents.everyone)
        for number, end in enumerate(ends):
            task = replace(a_task(agent.agent_id, number), user_id="张伟" * 20)
            store.write(tasks.create, task)
            store.write(tasks.change, task.task_id, end, at_ms=5)
    lines = desk.type("tasks", "--all", lang=lang).splitlines()
    assert len(lines) == len(ends)
    assert max(map(cells, lines)) <= 80
    assert len({cells(line.partition("01-01 08:00")[0]) for line in lines}) == 1
    for raw in (*TaskState, *(Reason if lang == "zh" else ())):
        assert all(raw not in line for line in lines)


def a_task(agent_id: str, number: int) -> tasks.Task:
    """Return a task as intake makes it."""
    return tasks.Task(
        task_id=f"task-{number}",
        short_id=f"T-{number:04}",
        agent_id=agent_id,
        app="main",
        user_id="zhangwei",
        chat="",
        channel="wecom_app",
        text="secret plan",
        lang="en",
        state=TaskState.RECEIVED,
        envelope_sha256="0" * 64,
        created_at=number,
        updated_at=number,
        expires_at=number + 1000,
    )


def test_settings_may_be_named_before_or_after_the_command(desk: Desk) -> None:
    for words in (
        ("--config", "/nonexistent", "tasks"),
        ("tasks", "--config", "/nonexistent"),
        ("--config", "/nonexistent", "member", "list"),
        ("member", "--config", "/nonexistent", "list"),
        ("member", "list", "--config", "/nonexistent"),
    ):
        error = desk.refused(*words)
        assert isinstance(error, ConfigError)
        assert error.code == "config.no-file"


def test_the_server_names_what_it_lacks(desk: Desk) -> None:
    error = desk.refused()
    assert error.code == "config.missing"


def test_help_costs_nothing_but_the_standard_library() -> None:
    program = (
        "import sys, argparse; from gateway import app;"
        "app.add_parser(argparse.ArgumentParser().add_subparsers(), 'en');"
        "print(*sorted({name.partition('.')[0] for name in sys.modules}))"
    )
    done = subprocess.run(
        [sys.executable, "-c", program],
        check=True,
        capture_output=True,
        encoding="utf-8",
        cwd=Path(app.__file__).parents[2],
    )
    assert not set(HEAVY) & set(done.stdout.split())


def test_setting_the_language_of_a_member_says_so(desk: Desk) -> None:
    desk.type("member", "add", "zhangwei")
    assert "answered in zh" in desk.type("member", "add", "zhangwei", "--lang", "zh")
    (listed,) = json.loads(desk.type("member", "list", "--json"))
    assert listed["lang"] == "zh"
