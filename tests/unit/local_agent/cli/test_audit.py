"""``codexbridge audit`` over a real journal: what holds, and every way in which it does not."""

from __future__ import annotations

import argparse
import json
from contextlib import closing
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from common.audit import entry_hash
from common.clock import ManualClock
from common.errors import CodexBridgeError, ConfigError, InputError, StoreError
from common.home import find_home
from common.sentences import Lang
from common.signing import SigningKey
from local_agent.cli import audit
from local_agent.link.pairing import KEYS, key_name, open_keys
from local_agent.store.journal import Journal
from tests.sealed import AGENT, a_peer, answered, fresh_journal, to_waiting
from tests.tamper import TABLES, Tampered

pytestmark = pytest.mark.heavy


class Desk:
    """A machine with a log that its gateway has countersigned."""

    def __init__(self, home: Path, capsys: pytest.CaptureFixture[str]) -> None:
        self.home, self.clock, self._capsys = home, ManualClock(), capsys
        self.environ = {"CODEXBRIDGE_HOME": str(home)}
        self.places = find_home(self.environ)
        keys = open_keys(self.places)
        keys.put(key_name(AGENT.public.key_id), AGENT.private_bytes())
        self.path = fresh_journal(self.places.state / "journal.db")
        with closing(self.open()) as journal:
            to_waiting(journal)
            answered(journal, self.clock, 1)
            journal.audit.append("test.after", number=1)

    def open(self) -> Journal:
        """Open the journal as the agent does."""
        peer = a_peer(self.clock)
        return Journal(self.path, clock=self.clock, key=lambda: AGENT, peer=peer)

    def run(self, *words: str, lang: Lang = "en") -> tuple[int, str]:
        """Run a command; returns its exit code and what it printed."""
        parser = argparse.ArgumentParser()
        audit.add_parser(parser.add_subparsers(), lang)
        code = audit.run(parser.parse_args(["audit", *words]), lang, self.environ)
        return code, self._capsys.readouterr().out

    def verify(self, *words: str) -> dict[str, Any]:
        """Return what a program is told."""
        code, said = self.run("verify", "--json", *words)
        told: dict[str, Any] = json.loads(said)
        assert code == (0 if told["ok"] else 1)
        return told

    def notices(self) -> bool:
        """Tell whether a check finds something, and says so in its one way."""
        try:
            return not self.verify()["ok"]
        except StoreError as error:
            return error.code == "audit.unreadable"


@pytest.fixture
def desk(tmp_path: Path, capsys: pytest.CaptureFixture[str], no_keyring: None) -> Desk:
    return Desk(tmp_path, capsys)


@pytest.fixture
def no_keyring(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("common.keystore._chosen_backend", lambda: None)


@pytest.mark.requirement("P6")
def test_a_whole_log_holds_with_and_without_a_running_agent(desk: Desk) -> None:
    alone = desk.verify()
    with closing(desk.open()):
        beside = desk.verify()
    assert alone["ok"]
    assert alone == beside
    assert alone["signed"]["seq"] == alone["head"]["seq"] == alone["entries"]
    (kept,) = alone["kept"]
    assert kept["own_seq"] == alone["head"]["seq"] - 2
    code, said = desk.run("verify")
    assert (code, str(alone["entries"]) in said) == (0, True)
    assert desk.run("verify", lang="zh")[0] == 0


@pytest.mark.requirement("P6")
@pytest.mark.requirement("R58")
@pytest.mark.timeout(120)
@pytest.mark.parametrize("table", TABLES)
@pytest.mark.thorough
def test_one_changed_byte_anywhere_is_found(desk: Desk, table: str) -> None:
    log = Tampered(desk.path)
    assert log.unnoticed(log.every_byte(table), desk.notices) == []


@pytest.mark.requirement("P6")
@pytest.mark.timeout(120)
@pytest.mark.parametrize("table", TABLES)
def test_strange_values_and_missing_rows_are_found_and_never_a_traceback(
    desk: Desk, table: str
) -> None:
    log = Tampered(desk.path)
    assert log.unnoticed(log.every_value(table), desk.notices) == []
    assert log.unnoticed(log.every_row(table), desk.notices) == []
    # A strict table refuses it; with another program's schema it would be one byte of the file.
    assert not any(map(log.apply, log.every_type(table)))


@pytest.mark.requirement("P6")
def test_a_log_that_is_cut_swapped_forged_or_written_anew_is_found(desk: Desk) -> None:
    log = Tampered(desk.path)
    assert log.unnoticed(log.every_cut(), desk.notices) == []
    assert log.unnoticed(log.every_swap(), desk.notices) == []
    assert log.unnoticed(log.every_insertion(entry_hash), desk.notices) == []
    assert log.unnoticed(log.rewritten(entry_hash), desk.notices) == []


@pytest.mark.parametrize(
    ("seq", "column", "what"),
    [(2, "prev", "prev"), (2, "body", "changed"), (2, "hash", "changed"), (2, "seq", "missing")],
)
def test_the_first_broken_entry_is_named_with_what_is_wrong(
    desk: Desk, seq: int, column: str, what: str
) -> None:
    log = Tampered(desk.path)
    change = next(
        one for one in log.every_byte("audit") if one.what.startswith(f"audit {seq} {column}:")
    )
    if column == "seq":
        change = next(one for one in log.every_row("audit") if one.what == "audit without 2")
    assert log.apply(change)
    assert desk.verify()["broken"] == {"seq": seq, "what": what}
    code, said = desk.run("verify")
    assert (code, f"entry {seq}" in said) == (1, True)


@pytest.mark.requirement("P6")
def test_an_export_verifies_with_the_public_key_alone(desk: Desk, tmp_path: Path) -> None:
    exported = tmp_path / "log.jsonl"
    code, said = desk.run("export", "--output", str(exported))
    assert (code, said.count("\n"), str(exported) in said) == (0, 1, True)
    assert exported.stat().st_mode & 0o777 == 0o600
    whole = desk.verify()
    desk.path.unlink()
    for key in (AGENT.public.raw.hex(), *_as_file(tmp_path)):
        assert desk.verify("--file", str(exported), "--key", key) == whole
    assert desk.verify("--file", str(exported)) == whole  # its own keys are still here
    other = SigningKey.generate().public.raw.hex()
    assert desk.verify("--file", str(exported), "--key", other)["broken"]["what"] == "key"


def _as_file(tmp_path: Path) -> list[str]:
    path = tmp_path / "machine.pub"
    path.write_text(AGENT.public.raw.hex() + "\n", encoding="ascii")
    return [str(path)]


def test_a_part_of_a_log_is_exported_and_checked_as_a_part(desk: Desk, tmp_path: Path) -> None:
    exported = tmp_path / "part.jsonl"
    desk.run("export", "--since", "2", "--output", str(exported))
    told = desk.verify("--file", str(exported))
    assert (told["ok"], told["first"]) == (True, 2)
    assert desk.run("verify", "--file", str(exported))[0] == 0


def test_nothing_is_written_over_and_nothing_broken_is_exported(desk: Desk, tmp_path: Path) -> None:
    exported = tmp_path / "log.jsonl"
    exported.write_text("mine", encoding="utf-8")
    with pytest.raises(FileExistsError):
        desk.run("export", "--output", str(exported))
    assert exported.read_text(encoding="utf-8") == "mine"
    log = Tampered(desk.path)
    for changes in (log.every_byte("audit"), log.every_byte("signed_heads")):
        assert log.apply(next(changes))
        with pytest.raises(CodexBridgeError) as caught:
            desk.run("export", "--output", str(tmp_path / "broken.jsonl"))
        assert caught.value.code == "audit.not-exported"
        assert not (tmp_path / "broken.jsonl").exists()


def test_an_export_from_beyond_the_end_is_refused_and_leaves_no_file(
    desk: Desk, tmp_path: Path
) -> None:
    last = desk.verify()["head"]["seq"]
    desk.run("export", "--since", str(last), "--output", str(tmp_path / "last.jsonl"))
    assert desk.verify("--file", str(tmp_path / "last.jsonl"))["entries"] == 1
    for beyond in (last + 1, 10**30):
        with pytest.raises(InputError) as caught:
            desk.run("export", "--since", str(beyond), "--output", str(tmp_path / "none.jsonl"))
        assert (caught.value.code, caught.value.facts) == ("audit.since", {"since": beyond})
    assert not (tmp_path / "none.jsonl").exists()


def test_the_other_half_is_named_as_people_know_it(desk: Desk) -> None:
    (kept,) = desk.verify()["kept"]
    for lang, name in (("en", "The gateway has signed"), ("zh", "网关已签名")):
        said = desk.run("verify", lang="zh" if lang == "zh" else "en")[1]
        assert name in said
        assert kept["peer"] not in said


def test_a_file_is_nobodys_where_this_machine_has_no_key(desk: Desk, tmp_path: Path) -> None:
    exported = tmp_path / "log.jsonl"
    desk.run("export", "--output", str(exported))
    (desk.places.state / KEYS).rename(tmp_path / "away")
    with pytest.raises(InputError) as caught:
        desk.run("verify", "--file", str(exported))
    assert caught.value.code == "audit.no-key"
    assert desk.verify("--file", str(exported), "--key", AGENT.public.raw.hex())["ok"]


@pytest.mark.parametrize(
    ("words", "code"),
    [
        (("verify", "--key", AGENT.public.raw.hex()), "audit.file-needed"),
        (("verify", "--file", "x", "--key", "nonsense"), "input.public-key"),
        (("verify", "--file", "x", "--key", "00"), "input.public-key"),
    ],
)
def test_arguments_that_cannot_be_used_are_refused(
    desk: Desk, words: tuple[str, ...], code: str
) -> None:
    with pytest.raises(InputError) as caught:
        desk.run(*words)
    assert caught.value.code == code


def test_a_machine_that_never_ran_has_no_log(desk: Desk) -> None:
    desk.path.unlink()
    with pytest.raises(ConfigError) as caught:
        desk.run("verify")
    assert caught.value.code == "audit.none"


def test_a_damaged_file_is_told_as_damaged(desk: Desk) -> None:
    desk.path.write_bytes(b"SQLite format 3\x00" + bytes(4096))
    read = partial(desk.run, "verify")
    with pytest.raises(StoreError) as caught:
        read()
    assert caught.value.code == "audit.unreadable"
    assert str(caught.value.facts["why"]).startswith("SQLITE_")  # the engine's name, as everywhere


def test_the_agent_does_not_start_on_a_log_that_was_cut(desk: Desk) -> None:
    log = Tampered(desk.path)
    for change in log.every_cut():
        if change.what != "cut before 1":
            assert log.apply(change)
            with pytest.raises(CodexBridgeError) as caught:
                desk.open()
            assert caught.value.code == "audit.broken"
