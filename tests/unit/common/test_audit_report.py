"""What a person is told of a checked log: names that people know, and nothing that is not so."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from common.audit import Head, sign_head
from common.audit_check import ENROLLED, Checked, LogCheck, check_export, last_line
from common.audit_report import export, export_lines, told
from common.errors import AuthError
from common.heads import KEPT, KeptHead, kept_head
from common.protocol.bodies import HeadBody
from common.protocol.envelope import agent_name, gateway_name, seal_envelope
from common.sentences import LANGS, Lang
from common.signing import SigningKey
from tests.unit.common.test_audit_check import KEYS, NOW, OTHER, OWN, Log, kept_of


def of_machine(agent_id: str, own: Head) -> KeptHead:
    """Return a head that a machine signed."""
    said = HeadBody(7, "cd" * 32, own.seq, own.hash.hex(), NOW)
    envelope = seal_envelope(
        OTHER,
        typ="head",
        iss=agent_name(agent_id),
        aud=gateway_name(OWN.public),
        jti="j",
        seq=4,
        iat=NOW // 1000,
        exp=NOW // 1000 + 60,
        body=said.to_dict(),
    )
    return kept_head(agent_id, envelope, said, at_ms=NOW)


def of_gateway(peer: str, key: SigningKey) -> KeptHead:
    """Return a head that a gateway signed for a pairing."""
    said = HeadBody(7, "cd" * 32, 0, Head().hash.hex(), NOW)
    envelope = seal_envelope(
        key,
        typ="head",
        iss=gateway_name(key.public),
        aud=agent_name("agent-1"),
        jti="j",
        seq=4,
        iat=NOW // 1000,
        exp=NOW // 1000 + 60,
        body=said.to_dict(),
    )
    return kept_head(peer, envelope, said, at_ms=NOW)


class Keeping:
    """A log that keeps heads of others."""

    def __init__(self) -> None:
        self.log = Log()
        self.log.entries = []
        self.kept: list[KeptHead] = []

    def enrol(self, agent_id: str, machine: str) -> None:
        """Note that a machine was paired."""
        self.log.add(ENROLLED, agent=agent_id, machine=machine)

    def keep(self, kept: KeptHead) -> None:
        """Keep a head and note it."""
        self.kept.append(kept)
        self.log.add(KEPT, **kept.facts())

    def check(self) -> Checked:
        """Check the whole of it."""
        check = LogCheck(keys=KEYS, to_the_end=True)
        for entry in self.log.entries:
            check.entry(entry)
        check.signed(sign_head(OWN, self.log.head, NOW))
        for kept in self.kept:
            check.kept(kept)
        return check.finish()

    def said(self, lang: Lang = "en") -> str:
        """Return what a person is told."""
        code, text = told(self.check, lang, as_json=False)
        assert code == 0
        return text


def test_a_machine_is_told_by_its_name_and_one_that_was_paired_anew_apart() -> None:
    keeping = Keeping()
    for agent_id, machine in (("uuid-1", "dev-1"), ("uuid-2", "dev-1"), ("uuid-3", "dev-3")):
        keeping.enrol(agent_id, machine)
        keeping.keep(of_machine(agent_id, keeping.log.head))
    for lang in LANGS:
        text = keeping.said(lang)
        assert "uuid" not in text
        assert text.count("dev-1") == 2
        assert text.count("dev-3") == 1
    before, today, _ = keeping.said().splitlines()[-3:]
    assert "paired before" in before
    assert "paired before" not in today
    _, document = told(keeping.check, "en", as_json=True)
    names = [(kept["peer"], kept["machine"]) for kept in json.loads(document)["kept"]]
    assert names == [("uuid-1", "dev-1"), ("uuid-2", "dev-1"), ("uuid-3", "dev-3")]


def test_a_part_that_does_not_name_the_machine_shows_no_id_instead() -> None:
    keeping = Keeping()
    keeping.log.add("test.first")
    keeping.keep(of_machine("uuid-1", keeping.log.head))
    for lang in LANGS:
        assert "uuid" not in keeping.said(lang)


def test_the_gateway_is_told_as_the_gateway_and_several_by_their_keys() -> None:
    keeping = Keeping()
    keeping.log.add("test.first")
    keeping.keep(of_gateway("key-a:key-b", OTHER))
    assert "The gateway has not signed for anything of ours yet" in keeping.said()
    keeping.keep(of_gateway("key-c:key-d", OWN))
    text = keeping.said()
    assert OTHER.public.key_id in text
    assert "key-" not in text


@pytest.mark.parametrize("lang", LANGS)
def test_what_signed_for_nothing_of_ours_keeps_no_entry_0(lang: Lang) -> None:
    keeping = Keeping()
    keeping.enrol("uuid-1", "dev-1")
    keeping.keep(of_machine("uuid-1", Head()))
    line = keeping.said(lang).splitlines()[-1]
    assert "dev-1" in line
    assert "0" not in line


@pytest.mark.parametrize("lang", LANGS)
def test_an_empty_log_reads_as_empty(lang: Lang) -> None:
    code, text = told(lambda: check_export([last_line(None)], keys=KEYS), lang, as_json=False)
    assert (code, len(text.splitlines())) == (0, 1)
    assert ("empty" if lang == "en" else "空") in text


def test_a_name_that_is_no_text_names_nothing() -> None:
    keeping = Keeping()
    keeping.log.add(ENROLLED, agent=1, machine=None)
    assert keeping.check().machines == {}
    keeping.log.add(ENROLLED)
    with pytest.raises(AuthError) as caught:
        keeping.check()
    assert caught.value.facts == {"seq": 2, "what": "malformed"}


def test_only_a_log_that_does_not_hold_is_told_as_broken(tmp_path: Path) -> None:
    log, key = Log(), kept_of(Head())
    target = tmp_path / "log.jsonl"
    with pytest.raises(AuthError) as caught:
        export(export_lines(log.entries[1:2] + log.entries[:1], [key], None), target, "en")
    assert (caught.value.code, caught.value.facts["seq"]) == ("audit.not-exported", 3)

    def away() -> Checked:
        raise AuthError("auth.signature")

    with pytest.raises(AuthError) as other:
        told(away, "en", as_json=False)
    assert other.value.code == "auth.signature"
    assert not target.exists()
