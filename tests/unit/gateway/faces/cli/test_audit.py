"""``codexbridge gateway audit`` over a real store: what holds, and each way it does not."""

from __future__ import annotations

import argparse
import asyncio
import json
import sqlite3
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from common.audit import entry_body, entry_hash
from common.errors import AuthError, CodexBridgeError, ConfigError, InputError, StoreError
from common.protocol.bodies import HeadBody
from common.sentences import Lang
from common.signing import SigningKey
from gateway import app
from gateway.base.identity import KEYS, open_identity
from gateway.base.settings import load_settings
from gateway.faces.cli import Console, audit
from gateway.store import audit as log_of
from tests.gateway_desk import Desk as Server
from tests.gateway_desk import open_desk
from tests.tamper import TABLES, Tampered

pytestmark = pytest.mark.heavy

ONE = f"{7:064x}"


async def a_log(folder: Path, key: SigningKey) -> None:
    """Let a server run: it starts, keeps and answers a machine's head, and ends in order."""
    async with open_desk(folder) as desk:
        server = Server(desk.store, desk.clock, gateway_key=key, agent_key=desk.agent_key)
        await server.upkeep.begin()
        await server.connect()
        own = await server.store.read(log_of.newest)
        said = HeadBody(3, ONE, own.seq, own.hash.hex(), desk.clock.now().wall_ms)
        await server.tell(server.signed("head", said.to_dict()))
        await server.write(log_of.append, "test.after", desk.clock.now().wall_ms, number=1)
        await server.upkeep.end()


class Desk:
    """Where an admin types commands, beside a log that a machine has countersigned."""

    def __init__(self, home: Path, capsys: pytest.CaptureFixture[str]) -> None:
        self._capsys = capsys
        self.environ = {"CODEXBRIDGE_HOME": str(home)}
        settings = load_settings(file=None, environ=self.environ, secrets_dir=None)
        self._consoles: dict[Lang, Console] = {
            "en": Console("en", self.environ, settings),
            "zh": Console("zh", self.environ, settings),
        }
        state = self._consoles["en"].state
        state.mkdir(parents=True, mode=0o700)
        self.key = open_identity(state).current
        made = home / "made"
        made.mkdir()
        asyncio.run(a_log(made, self.key))
        (made / "state" / "gateway.db").rename(state / "gateway.db")
        self.path = state / "gateway.db"

    def run(self, *words: str, lang: Lang = "en") -> tuple[int, str]:
        """Run a command; returns its exit code and what it printed."""
        parser = argparse.ArgumentParser()
        app.add_parser(parser.add_subparsers(dest="command"), lang)
        args = parser.parse_args(["gateway", "audit", *words])
        return audit.run(args, self._consoles[lang]), self._capsys.readouterr().out

    def verify(self, *words: str) -> dict[str, Any]:
        """Return what a program is told."""
        code, said = self.run("verify", "--json", *words)
        told: dict[str, Any] = json.loads(said)
        assert code == (0 if told["ok"] else 1)
        return told

    def noticing(self) -> Callable[[], bool]:
        """Return what tells whether a check finds something, and says so in its one way."""
        parser = argparse.ArgumentParser()
        app.add_parser(parser.add_subparsers(dest="command"), "en")
        args = parser.parse_args(["gateway", "audit", "verify", "--json"])

        def notices() -> bool:
            try:
                code = audit.run(args, self._consoles["en"])
            except StoreError as error:
                return error.code == "audit.unreadable"
            return code == 1 and not json.loads(self._capsys.readouterr().out)["ok"]

        return notices


@pytest.fixture
def desk(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> Desk:
    return Desk(tmp_path, capsys)


@pytest.mark.requirement("P6")
def test_a_whole_log_holds(desk: Desk) -> None:
    told = desk.verify()
    assert told["ok"]
    assert told["signed"]["seq"] == told["head"]["seq"] == told["entries"]
    (kept,) = told["kept"]
    assert (kept["peer"], kept["seq"]) == ("agent-1", 3)
    for lang in ("en", "zh"):
        code, said = desk.run("verify", lang="zh" if lang == "zh" else "en")
        assert (code, str(told["entries"]) in said) == (0, True)


@pytest.mark.requirement("P6")
def test_an_export_is_signed_to_its_last_entry_and_only_when_it_holds(
    desk: Desk, tmp_path: Path
) -> None:
    head = desk.verify()["head"]
    body = entry_body("test.newer", 1, {})
    prev = bytes.fromhex(head["hash"])
    entry = (head["seq"] + 1, prev, body, entry_hash(prev, body))
    with closing(sqlite3.connect(desk.path, isolation_level=None)) as db:
        db.execute("INSERT INTO audit (seq, prev, body, hash) VALUES (?, ?, ?, ?)", entry)
    assert desk.verify()["signed"]["seq"] == head["seq"], "not signed yet"
    exported, key = tmp_path / "log.jsonl", desk.run("key")[1].strip()
    assert desk.run("export", "--output", str(exported))[0] == 0
    told = desk.verify("--file", str(exported), "--key", key)
    assert told["signed"]["seq"] == told["head"]["seq"] == head["seq"] + 1
    with closing(sqlite3.connect(desk.path, isolation_level=None)) as db:
        db.execute("DELETE FROM signed_heads")
    with pytest.raises(AuthError) as caught:
        desk.run("export", "--output", str(tmp_path / "forged.jsonl"))
    assert caught.value.code == "audit.not-exported"
    assert not (tmp_path / "forged.jsonl").exists()


@pytest.mark.requirement("P6")
@pytest.mark.requirement("R58")
@pytest.mark.timeout(120)
@pytest.mark.parametrize("table", TABLES)
@pytest.mark.thorough
def test_one_changed_byte_anywhere_is_found(desk: Desk, table: str) -> None:
    log = Tampered(desk.path)
    assert log.unnoticed(log.every_byte(table), desk.noticing()) == []


@pytest.mark.requirement("P6")
@pytest.mark.timeout(120)
@pytest.mark.parametrize("table", TABLES)
def test_strange_values_and_missing_rows_are_found_and_never_a_traceback(
    desk: Desk, table: str
) -> None:
    log, notices = Tampered(desk.path), desk.noticing()
    assert log.unnoticed(log.every_value(table), notices) == []
    assert log.unnoticed(log.every_type(table), notices) == []
    assert log.unnoticed(log.every_row(table), notices) == []


@pytest.mark.requirement("P6")
def test_a_log_that_is_cut_swapped_or_written_anew_is_found(desk: Desk) -> None:
    log, notices = Tampered(desk.path), desk.noticing()
    assert log.unnoticed(log.every_cut(), notices) == []
    assert log.unnoticed(log.every_swap(), notices) == []
    assert log.unnoticed(log.rewritten(entry_hash), notices) == []
    before = [
        one for one in log.every_insertion(entry_hash) if one.what in ("inserted 0", "inserted -7")
    ]
    assert log.unnoticed(iter(before), notices) == []


def test_what_was_appended_after_the_last_signature_is_told_as_unsigned(desk: Desk) -> None:
    log = Tampered(desk.path)
    (*_, after) = log.every_insertion(entry_hash)
    assert log.apply(after)
    told = desk.verify()
    assert (told["ok"], told["head"]["seq"]) == (True, told["signed"]["seq"] + 1)
    assert "1 newer entry is not signed yet" in desk.run("verify")[1]


@pytest.mark.requirement("P6")
def test_a_server_does_not_start_on_a_log_whose_signed_end_is_gone(
    desk: Desk, tmp_path: Path
) -> None:
    log = Tampered(desk.path)
    (*_, last) = log.every_cut()
    assert log.apply(last)

    async def start() -> None:
        from gateway.store.runner import open_store

        store = await asyncio.to_thread(open_store, desk.path)
        try:
            async with open_desk(tmp_path / "other") as other:
                await Server(store, other.clock, gateway_key=desk.key).upkeep.begin()
        finally:
            await store.close()

    (tmp_path / "other").mkdir()
    with pytest.raises(CodexBridgeError) as caught:
        asyncio.run(start())
    assert caught.value.code == "audit.broken"


@pytest.mark.requirement("P6")
def test_an_export_verifies_with_the_public_key_alone(desk: Desk, tmp_path: Path) -> None:
    exported = tmp_path / "log.jsonl"
    code, said = desk.run("export", "--output", str(exported))
    assert (code, said.count("\n"), str(exported) in said) == (0, 1, True)
    whole = desk.verify()
    key = desk.run("key")[1].strip()
    desk.path.unlink()
    assert desk.verify("--file", str(exported), "--key", key) == whole
    assert desk.verify("--file", str(exported)) == whole
    other = SigningKey.generate().public.raw.hex()
    assert desk.verify("--file", str(exported), "--key", other)["broken"]["what"] == "key"
    lines = exported.read_bytes().splitlines(keepends=True)
    exported.write_bytes(b"".join(lines[:-1]))
    assert desk.verify("--file", str(exported))["broken"]["what"] == "end"


def test_a_part_of_a_log_is_exported_and_checked_as_a_part(desk: Desk, tmp_path: Path) -> None:
    exported = tmp_path / "part.jsonl"
    desk.run("export", "--since", "3", "--output", str(exported))
    told = desk.verify("--file", str(exported))
    assert (told["ok"], told["first"]) == (True, 3)


def test_a_key_without_a_file_and_a_gateway_without_a_log_are_refused(desk: Desk) -> None:
    with pytest.raises(InputError) as caught:
        desk.run("verify", "--key", desk.key.public.raw.hex())
    assert caught.value.code == "audit.file-needed"
    desk.path.unlink()
    with pytest.raises(ConfigError) as missing:
        desk.run("verify")
    assert missing.value.code == "audit.none"


def test_a_file_is_nobodys_where_no_gateway_has_a_key_and_none_is_made(
    desk: Desk, tmp_path: Path
) -> None:
    exported, keys = tmp_path / "log.jsonl", desk.path.parent / KEYS
    desk.run("export", "--output", str(exported))
    keys.rename(tmp_path / "away")
    with pytest.raises(InputError) as caught:
        desk.run("verify", "--file", str(exported))
    assert caught.value.code == "audit.no-key"
    assert not keys.exists()


def test_an_export_from_beyond_the_end_is_refused_and_leaves_no_file(
    desk: Desk, tmp_path: Path
) -> None:
    last = desk.verify()["head"]["seq"]
    with pytest.raises(InputError) as caught:
        desk.run("export", "--since", str(last + 1), "--output", str(tmp_path / "none.jsonl"))
    assert (caught.value.code, caught.value.facts) == ("audit.since", {"since": last + 1})
    assert not (tmp_path / "none.jsonl").exists()
