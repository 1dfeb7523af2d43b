"""Seal and chain under arbitrary input."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from common.audit import GENESIS, entry_hash, verify_chain
from common.clock import ManualClock
from common.errors import AuthError, CodexBridgeError
from common.seal import code_matches, digest, short_code
from local_agent.actions.registry import ACTIONS, read_seal, seal_bytes
from local_agent.safety.authority import classify_operation
from local_agent.safety.risk import Circumstances
from tests.sealed import a_payload, a_seal

WORDS = st.lists(st.text(st.characters(exclude_categories=["Cs"])), min_size=1, max_size=5)
DIGESTS = st.binary(min_size=32, max_size=32).map(bytes.hex)


@pytest.mark.requirement("R21")
@pytest.mark.requirement("R7")
@given(WORDS)
def test_any_command_reads_back_exactly(argv: list[str]) -> None:
    seal = a_seal(ManualClock(), payload=a_payload(argv=argv))
    raw = seal_bytes(seal)
    assert read_seal(raw) == seal
    assert seal_bytes(read_seal(raw)) == raw


@pytest.mark.requirement("P2")
@given(WORDS, WORDS)
def test_two_commands_share_a_digest_only_when_they_are_one(
    one: list[str], other: list[str]
) -> None:
    clock = ManualClock()
    first, second = (
        digest(seal_bytes(a_seal(clock, approval_id="a", payload=a_payload(argv=argv))))
        for argv in (one, other)
    )
    assert (first == second) == (one == other)


@given(st.binary(max_size=300))
def test_no_bytes_make_the_reader_raise_anything_of_its_own(raw: bytes) -> None:
    with pytest.raises(CodexBridgeError):
        read_seal(raw)


@given(st.data())
def test_a_seal_with_one_changed_byte_is_another_seal_or_none(data: st.DataObject) -> None:
    raw = seal_bytes(a_seal(ManualClock(), approval_id="a"))
    at = data.draw(st.integers(0, len(raw) - 1))
    byte = data.draw(st.integers(0, 255).filter(lambda value: value != raw[at]))
    assert digest(raw[:at] + bytes([byte]) + raw[at + 1 :]) != digest(raw)


@given(DIGESTS)
def test_the_code_shown_is_the_code_taken(value: str) -> None:
    code = short_code(value)
    assert code_matches(code, value, both_groups=True)
    assert code_matches(code[:4].lower(), value, both_groups=False)


@given(st.text(max_size=80), DIGESTS)
def test_any_typed_text_gets_an_answer(typed: str, value: str) -> None:
    assert code_matches(typed, value, both_groups=True) in (True, False)


@pytest.mark.requirement("R42")
@given(st.lists(st.text(), min_size=1, max_size=4), st.booleans())
def test_only_the_configured_command_is_ever_normal(argv: list[str], network: bool) -> None:
    payload = a_payload(network=network) | {"argv": argv}
    risk = classify_operation(
        "run_command", payload, Circumstances(allowed=[["pytest", "-q"]]), known=ACTIONS
    )
    assert (risk.level == "normal") == (not risk.reasons)
    assert risk.level != "normal" or argv == ["pytest", "-q"]


@pytest.mark.requirement("P6a")
@settings(max_examples=60)
@given(st.lists(st.binary(max_size=30), min_size=1, max_size=8), st.data())
def test_any_changed_byte_of_any_entry_breaks_the_chain(
    bodies: list[bytes], data: st.DataObject
) -> None:
    rows = []
    prev = GENESIS
    for seq, body in enumerate(bodies, start=1):
        rows.append((seq, prev, body, entry_hash(prev, body)))
        prev = rows[-1][3]
    verify_chain(rows)
    victim = data.draw(st.integers(0, len(rows) - 1))
    seq, before, body, found = rows[victim]
    rows[victim] = (seq, before, body + b"x", found)
    with pytest.raises(AuthError) as caught:
        verify_chain(rows)
    assert caught.value.facts["seq"] == seq
