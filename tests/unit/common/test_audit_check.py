"""Exported logs: what verifies with a public key alone, and that one changed byte does not."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pytest

from common.audit import (
    GENESIS,
    Entry,
    Head,
    SignedHead,
    base_of,
    entry_body,
    entry_hash,
    sign_head,
    verify_head,
)
from common.audit_check import (
    RENEWED,
    STARTED,
    Checked,
    LogCheck,
    check_export,
    entry_line,
    kept_line,
    last_line,
)
from common.audit_report import export_lines
from common.errors import AuthError
from common.heads import KEPT, KeptHead, kept_head, verify_kept
from common.protocol.bodies import HeadBody
from common.protocol.envelope import Envelope, agent_name, gateway_name, seal_envelope
from common.sentences import AUDIT_FAULTS
from common.signing import SigningKey
from tests.each import each

pytestmark = pytest.mark.heavy

OWN, OTHER = SigningKey(bytes([1]) * 32), SigningKey(bytes([2]) * 32)
NOW = 1_760_000_000_000
KEYS = frozenset({OWN.public.raw})


def a_head(own: Head, *, seq: int = 7) -> Envelope:
    """Return a head that the other half signed."""
    said = HeadBody(seq, "cd" * 32, own.seq, own.hash.hex(), NOW)
    return seal_envelope(
        OTHER,
        typ="head",
        iss=gateway_name(OTHER.public),
        aud=agent_name("agent-1"),
        jti="j",
        seq=4,
        iat=NOW // 1000,
        exp=NOW // 1000 + 60,
        body=said.to_dict(),
    )


def kept_of(own: Head, *, seq: int = 7) -> KeptHead:
    """Return what is kept of it."""
    envelope = a_head(own, seq=seq)
    said = envelope.content
    assert isinstance(said, HeadBody)
    return kept_head("peer", envelope, said, at_ms=NOW)


class Log:
    """A small log: two entries, a kept head, one more entry, its end signed."""

    def __init__(self) -> None:
        self.entries: list[Entry] = []
        self.add("test.first")
        self.add("test.second", text='"event":"head.kept"')
        self.kept = kept_of(self.head)
        self.add(KEPT, **self.kept.facts())
        self.add("test.last")
        self.signed: SignedHead | None = sign_head(OWN, self.head, NOW)

    @property
    def head(self) -> Head:
        return Head(self.entries[-1][0], self.entries[-1][3]) if self.entries else Head()

    def add(self, event: str, **facts: Any) -> None:
        """Append an entry."""
        body, head = entry_body(event, NOW, facts), self.head
        self.entries.append((head.seq + 1, head.hash, body, entry_hash(head.hash, body)))

    def lines(self, since: int = 1) -> list[bytes]:
        """Return the lines of its export."""
        return [*export_lines(self.entries[since - 1 :], [self.kept], self.signed)]


def fault(lines: Sequence[bytes], **how: Any) -> tuple[int, str]:
    """Return where and why an export does not hold."""
    with pytest.raises(AuthError) as caught:
        check_export(lines, **{"keys": KEYS, **how})
    assert caught.value.code == "audit.broken"
    seq, what = caught.value.facts["seq"], str(caught.value.facts["what"])
    assert isinstance(seq, int)
    assert what in AUDIT_FAULTS
    return seq, what


def checked(lines: Sequence[bytes]) -> Checked:
    """Return what an export says when it holds."""
    return check_export(lines, keys=KEYS)


@pytest.mark.requirement("P6")
def test_an_exported_log_holds_with_the_public_key_alone() -> None:
    log = Log()
    found = checked(log.lines())
    assert (found.first, found.head, found.signed, found.kept) == (
        1,
        log.head,
        log.signed,
        (log.kept,),
    )


@pytest.mark.requirement("P6")
def test_one_changed_byte_anywhere_in_an_export_is_found() -> None:
    lines = Log().lines()
    for number, line in enumerate(lines):
        for at, byte in enumerate(line):
            changed = line[:at] + bytes([byte ^ 1 << at % 8]) + line[at + 1 :]
            fault([*lines[:number], changed, *lines[number + 1 :]])


def test_a_line_taken_away_doubled_or_moved_is_found() -> None:
    lines = Log().lines()
    for at in range(len(lines)):
        if at:
            fault([*lines[:at], *lines[at + 1 :]])
        fault([*lines[:at], lines[at], lines[at], *lines[at + 1 :]])
        if at + 1 < len(lines):
            fault([*lines[:at], lines[at + 1], lines[at], *lines[at + 2 :]])
        fault(lines[:at])
    assert fault([]) == (1, "end")


def test_a_part_of_a_log_holds_as_far_as_it_goes() -> None:
    log = Log()
    for since in range(2, 5):
        found = checked(log.lines(since))
        assert (found.first, found.head) == (since, log.head)
    # What a part begins with it cannot know, but what it says of it is fixed by the signed head.
    assert checked(log.lines()[1:]).first == 2


@pytest.mark.parametrize(
    ("change", "found"),
    [
        (lambda log: setattr(log, "signed", None), (5, "unsigned")),
        (lambda log: setattr(log, "signed", sign_head(OTHER, log.head, NOW)), (4, "key")),
        (lambda log: setattr(log, "signed", sign_head(OWN, Head(5, GENESIS), NOW)), (5, "end")),
        (lambda log: setattr(log, "signed", sign_head(OWN, Head(4, GENESIS), NOW)), (4, "head")),
        (
            lambda log: setattr(log, "signed", sign_head(OWN, Head(3, log.entries[2][3]), NOW)),
            (4, "unsigned"),
        ),
        (lambda log: setattr(log, "kept", kept_of(log.head)), (3, "kept")),
        (lambda log: setattr(log, "kept", kept_of(Head(2, log.entries[1][3]), seq=6)), (3, "kept")),
    ],
)
def test_what_is_wrong_is_named(change: Any, found: tuple[int, str]) -> None:
    log = Log()
    change(log)
    assert fault(log.lines()) == found


def test_a_chain_written_anew_by_its_own_key_is_found_by_the_other_halfs_head() -> None:
    log = Log()
    forged = Log()
    forged.entries = []
    for event in ("test.other", "test.second"):
        forged.add(event)
    forged.add(KEPT, **log.kept.facts())
    forged.kept = log.kept
    forged.signed = sign_head(OWN, forged.head, NOW)
    assert fault(forged.lines()) == (2, "countersigned")
    forged.entries = []
    forged.add(KEPT, **log.kept.facts())
    forged.signed = sign_head(OWN, forged.head, NOW)
    assert fault(forged.lines()) == (2, "end")


def now_and_then(log: Log, signed: SignedHead | None) -> Checked:
    """Check a log where it lies, as one that is signed now and then."""
    check = LogCheck(keys=KEYS, to_the_end=False)
    for entry in log.entries:
        check.entry(entry)
    if signed:
        check.signed(signed)
    check.kept(log.kept)
    return check.finish()


def test_a_log_that_is_signed_now_and_then_may_have_newer_entries_but_no_lost_signature() -> None:
    log = Log()
    signed = sign_head(OWN, Head(2, log.entries[1][3]), NOW)
    assert now_and_then(log, signed).signed == signed
    assert now_and_then(log, None).signed is None
    log.add(STARTED)
    with pytest.raises(AuthError) as caught:
        now_and_then(log, None)
    assert caught.value.facts == {"seq": 6, "what": "unsigned"}


@pytest.mark.requirement("P6")
def test_an_export_without_a_signature_over_its_last_entry_is_anybodys() -> None:
    log = Log()
    log.signed = None
    assert fault(log.lines()) == (5, "unsigned"), "nothing of it is signed"
    log = Log()
    log.add("test.written-on")
    assert fault(log.lines()) == (5, "unsigned"), "written on behind the owner's signature"
    part = [entry_line((seq + 9, prev, body, found)) for seq, prev, body, found in log.entries]
    assert fault([*part, last_line(log.signed)]) == (5, "unsigned"), "a part that begins behind it"


def test_an_entry_that_notes_a_lost_signature_is_told() -> None:
    log = Log()
    assert checked(log.lines()).renewed is None
    log.add(RENEWED)
    log.signed = sign_head(OWN, log.head, NOW)
    assert checked(log.lines()).renewed == log.head.seq


def test_two_signed_heads_or_two_of_one_half_are_one_too_many() -> None:
    log = Log()
    assert log.signed is not None
    for extra in ("signed", "kept"):
        check = LogCheck(keys=KEYS, to_the_end=True)
        for entry in log.entries:
            check.entry(entry)
        check.signed(log.signed)
        check.kept(log.kept)
        getattr(check, extra)(getattr(log, extra))
        with pytest.raises(AuthError):
            check.finish()


@each(
    "row",
    [
        (None, GENESIS, b"", GENESIS),
        ("1", GENESIS, b"", GENESIS),
        (True, GENESIS, b"", GENESIS),
        (1, None, b"", GENESIS),
        (1, b"short", b"", GENESIS),
        (1, GENESIS, None, GENESIS),
        (1, GENESIS, "text", GENESIS),
        (1, GENESIS, b"", "text"),
        (1, GENESIS, b"", None),
        (1, GENESIS, b"\x00", b"x" * 33),
    ],
)
def test_a_row_that_is_no_entry_is_broken_and_never_a_traceback(row: tuple[object, ...]) -> None:
    with pytest.raises(AuthError) as caught:
        LogCheck(keys=KEYS, to_the_end=True).entry(row)
    assert caught.value.facts == {"seq": 1, "what": "malformed"}
    with pytest.raises(AuthError):
        [*export_lines([row], [], None)]
    assert base_of(row) == Head()


def test_a_body_that_only_looks_like_a_kept_head_is_no_traceback() -> None:
    for body in (b'"event":"head.kept"', b'{"event":"head.kept","at":1,"facts":[]}'):
        check = LogCheck(keys=KEYS, to_the_end=True)
        with pytest.raises(AuthError) as caught:
            check.entry((1, GENESIS, body, entry_hash(GENESIS, body)))
        assert caught.value.facts == {"seq": 1, "what": "malformed"}


def test_a_body_that_is_no_text_is_not_exported() -> None:
    with pytest.raises(AuthError) as caught:
        entry_line((1, GENESIS, b"\xff", entry_hash(GENESIS, b"\xff")))
    assert caught.value.facts["what"] == "malformed"


def test_a_version_to_come_is_not_taken_for_this_one() -> None:
    lines = Log().lines()
    assert fault([*lines[:-1], lines[-1].replace(b'"v":1', b'"v":2')])[1] == "malformed"
    assert last_line(None) == b'{"signed":null,"v":1}\n'


@each(
    "changes",
    [
        {"seq": "7"},
        {"at": 1.5},
        {"hash": b"short"},
        {"public_key": b""},
        {"frame": "text"},
        {"frame": b"{}"},
        {"peer": b"peer"},
        {"frame": b"x" * 9000},
    ],
)
def test_a_kept_head_of_strange_values_does_not_verify(changes: dict[str, Any]) -> None:
    kept = Log().kept
    values = {name: getattr(kept, name) for name in KeptHead.__slots__}
    with pytest.raises(AuthError):
        verify_kept(KeptHead(**values | changes))
    assert kept_line(kept)


@each(
    "changes", [{"seq": "4"}, {"at": None}, {"hash": b""}, {"signature": 0}, {"public_key": b"x"}]
)
def test_a_signed_head_of_strange_values_does_not_verify(changes: dict[str, Any]) -> None:
    signed = Log().signed
    values = {name: getattr(signed, name) for name in SignedHead.__slots__}
    with pytest.raises(AuthError):
        verify_head(SignedHead(**values | changes))
