"""Passkeys in the journal: each change with its audit entry, or not at all."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from common.audit import MAX_ENTRY_BYTES
from common.clock import ManualClock
from common.errors import InputError, StoreError
from common.strict_json import loads
from local_agent.store.journal import Journal
from local_agent.store.passkeys import MOST, Passkey, fingerprint
from tests.sealed import a_journal

LAPTOP = Passkey(
    credential_id=b"\1" * 16,
    public_key=b"key",
    sign_count=3,
    name="laptop",
    aaguid="00000000-0000-0000-0000-000000000000",
    created_at=1000,
)
AT = 2000


@pytest.fixture
def journal(tmp_path: Path) -> Iterator[Journal]:
    with closing(a_journal(tmp_path, ManualClock())) as opened:
        yield opened


def entries(journal: Journal) -> list[tuple[str, dict[str, Any]]]:
    found = [loads(body, max_bytes=MAX_ENTRY_BYTES) for _, _, body, _ in journal.audit.entries()]
    return [(one["event"], one["facts"]) for one in found if "passkey." in one["event"]]


@pytest.mark.requirement("P6")
def test_what_is_added_used_and_removed_is_audited_without_its_name(journal: Journal) -> None:
    journal.passkeys.add(LAPTOP)
    assert journal.passkeys.live() == [LAPTOP]
    assert journal.passkeys.use(LAPTOP, 4, approval_id="a-1", at_ms=AT)
    assert journal.passkeys.find(LAPTOP.credential_id) == replace(
        LAPTOP, sign_count=4, last_used_at=AT
    )
    journal.passkeys.revoke("laptop", AT)
    assert journal.passkeys.live() == []
    assert journal.passkeys.find(LAPTOP.credential_id) is None
    named = {"digest": LAPTOP.fingerprint}
    assert entries(journal) == [
        ("passkey.added", named),
        ("passkey.used", named | {"approval_id": "a-1"}),
        ("passkey.removed", named),
    ]


@pytest.mark.requirement("R31")
@pytest.mark.parametrize("count", [0, 2, 3])
def test_a_counter_that_does_not_go_on_is_audited_and_changes_nothing(
    journal: Journal, count: int
) -> None:
    journal.passkeys.add(LAPTOP)
    assert not journal.passkeys.use(LAPTOP, count, approval_id="a-1", at_ms=AT)
    assert journal.passkeys.live() == [LAPTOP]
    cloned = {"digest": LAPTOP.fingerprint, "approval_id": "a-1"}
    assert entries(journal)[1:] == [("passkey.cloned", cloned)]


def test_one_that_does_not_count_may_be_used_as_often_as_needed(journal: Journal) -> None:
    uncounted = replace(LAPTOP, sign_count=0)
    journal.passkeys.add(uncounted)
    assert journal.passkeys.use(uncounted, 0, approval_id="a-1", at_ms=AT)
    assert journal.passkeys.use(uncounted, 0, approval_id="a-2", at_ms=AT)


@pytest.mark.requirement("R31")
def test_one_that_was_removed_meanwhile_is_not_used(journal: Journal) -> None:
    journal.passkeys.add(LAPTOP)
    journal.passkeys.revoke("laptop", AT)
    assert not journal.passkeys.use(LAPTOP, 4, approval_id="a-1", at_ms=AT)
    assert [event for event, _ in entries(journal)] == ["passkey.added", "passkey.removed"]


def test_an_id_is_added_once_for_ever_and_a_name_while_it_is_in_use(journal: Journal) -> None:
    journal.passkeys.add(LAPTOP)
    for other, code in (
        (replace(LAPTOP, name="phone"), "passkey.known"),
        (replace(LAPTOP, credential_id=b"\2" * 16), "passkey.name-taken"),
    ):
        with pytest.raises(InputError) as caught:
            journal.passkeys.add(other)
        assert caught.value.code == code
    journal.passkeys.revoke("laptop", AT)
    with pytest.raises(InputError) as caught:
        journal.passkeys.add(LAPTOP)
    assert caught.value.code == "passkey.known"
    journal.passkeys.add(replace(LAPTOP, credential_id=b"\2" * 16))
    with pytest.raises(InputError) as caught:
        journal.passkeys.revoke("phone", AT)
    assert caught.value.code == "passkey.unknown"


def test_they_are_bounded(journal: Journal) -> None:
    for number in range(MOST):
        journal.passkeys.add(
            replace(LAPTOP, credential_id=bytes([number]) * 16, name=f"key-{number}")
        )
    with pytest.raises(InputError) as caught:
        journal.passkeys.add(replace(LAPTOP, credential_id=b"x" * 16))
    assert caught.value.code == "passkey.too-many"


@pytest.mark.requirement("R58")
def test_what_cannot_be_audited_does_not_happen(
    journal: Journal, monkeypatch: pytest.MonkeyPatch
) -> None:
    journal.passkeys.add(LAPTOP)

    def fail(*_: Any, **_facts: Any) -> None:
        raise StoreError("audit.too-large")

    monkeypatch.setattr(journal.audit, "append", fail)
    with pytest.raises(StoreError):
        journal.passkeys.add(replace(LAPTOP, credential_id=b"\2" * 16, name="phone"))
    with pytest.raises(StoreError):
        journal.passkeys.use(LAPTOP, 4, approval_id="a-1", at_ms=AT)
    with pytest.raises(StoreError):
        journal.passkeys.revoke("laptop", AT)
    assert journal.passkeys.live() == [LAPTOP]


def test_no_byte_moves_between_id_and_key_under_one_fingerprint() -> None:
    assert fingerprint(b"ab", b"c") != fingerprint(b"a", b"bc")
