"""The seal: one stored form, one digest, one code."""

from __future__ import annotations

import hashlib
import json
from dataclasses import asdict, replace
from typing import Any

import pytest

from common.clock import ManualClock
from common.errors import CodexBridgeError, InputError, RemoteProtocolError
from common.seal import MAX_SEAL_BYTES, code_matches, digest, short_code
from common.strict_json import canonical
from local_agent.actions.registry import read_seal, seal_bytes
from local_agent.actions.run_command.payload import Executable, SealedCopy
from tests.each import each
from tests.sealed import ZEROS, a_payload, a_seal

COPY = SealedCopy("approval-1", "T-7K3F", ZEROS)

# First 40 bits 0x39C6F4DC4F: 00111 00111 00011 01111 01001 10111 00010 01111
DIGEST = "39c6f4dc4f" + "0" * 54
CODE = "773F-9Q2F"


def stored(**changes: Any) -> dict[str, Any]:
    value: dict[str, Any] = json.loads(seal_bytes(a_seal(ManualClock())))
    return value | changes


@pytest.mark.requirement("R21")
def test_a_seal_reads_back_as_it_was_written() -> None:
    seal = a_seal(ManualClock())
    assert read_seal(seal_bytes(seal)) == seal


@pytest.mark.requirement("R21")
def test_the_stored_form_is_ascii_with_sorted_keys_and_no_blanks() -> None:
    raw = seal_bytes(a_seal(ManualClock()))
    value = json.loads(raw)
    assert raw.isascii()
    assert raw == json.dumps(value, sort_keys=True, separators=(",", ":")).encode()


def test_the_digest_covers_label_and_bytes() -> None:
    assert digest(b"x") == hashlib.sha256(b"codexbridge/approval/v1\0x").hexdigest()


@pytest.mark.requirement("P2")
@each(
    "changes",
    [
        {"task_id": "task-2"},
        {"version": 2},
        {"git_head": "a" * 40},
        {"base": {}},
        {"undo": "partly"},
        {"discloses": ()},
        {"nonce": "m"},
        {"payload": a_payload(argv=["pytest", "-q "])},
        {"payload": a_payload(env={"PATH": "/usr/bin", "LANG": "C"})},
        {"payload": a_payload(network=True)},
        {"payload": a_payload(script="pytest -q")},
    ],
)
def test_whatever_differs_changes_the_digest(changes: dict[str, Any]) -> None:
    seal = a_seal(ManualClock(), approval_id="a")
    other = replace(seal, **changes)
    assert digest(seal_bytes(seal)) != digest(seal_bytes(other))


def test_identities_beyond_what_json_integers_hold_survive() -> None:
    seal = a_seal(ManualClock())
    assert read_seal(seal_bytes(seal)).workspace.ino == 2**63 + 1
    assert seal.payload["executable"]["ino"] == str(2**63 + 5)


def test_the_values_of_the_environment_are_hashed_and_never_stored() -> None:
    payload = a_payload(env={"B": "secret-value", "A": "1"})
    assert payload["env_names"] == ["A", "B"]
    assert "secret-value" not in json.dumps(payload)


@pytest.mark.requirement("R42")
def test_a_shell_line_names_its_shell() -> None:
    payload = a_payload(script="make && make test")
    assert (payload["shell"], payload["script"]) == ("/bin/sh", "make && make test")
    assert "argv" not in payload


@each(
    "form",
    [
        {"argv": None},
        {"argv": ["make"], "shell": "/bin/sh"},
        {"argv": ["make"], "shell": "/bin/sh", "script": "make"},
        {"argv": None, "shell": "/bin/sh"},
    ],
)
def test_a_command_has_exactly_one_form(form: dict[str, Any]) -> None:
    with pytest.raises(InputError) as caught:
        a_payload(**{"shell": None} | form)
    assert caught.value.code == "seal.command-form"


@pytest.mark.requirement("R4")
@each(
    "broken",
    [
        stored() | {"extra": 1},
        {name: value for name, value in stored().items() if name != "nonce"},
        stored(v=2),
        stored(v=True),
        stored(action="apply_everything"),
        stored(version="1"),
        stored(version=True),
        stored(version=-1),
        stored(task_id=1),
        stored(git_head=1),
        stored(policy_sha256="0" * 63),
        stored(policy_sha256=None),
        stored(undo="maybe"),
        stored(discloses="output-tail"),
        stored(discloses=[1]),
        stored(base={"a": "gone"}),
        stored(base=[]),
        stored(workspace={"path": "/", "dev": 1, "ino": "1"}),
        stored(workspace={"path": "/", "dev": "01", "ino": "1"}),
        stored(workspace={"path": "/"}),
        stored(source={}),
        stored(payload=[]),
        stored(payload={}),
        stored(payload=a_payload() | {"argv": []}),
        stored(payload=a_payload() | {"argv": ["a", 1]}),
        stored(payload=a_payload() | {"script": "x"}),
        stored(payload=a_payload() | {"network": 1}),
        stored(payload=a_payload() | {"timeout": None}),
        stored(payload=a_payload() | {"sandbox": "none"}),
        stored(payload=a_payload() | {"executable": {"path": "/x"}}),
        stored(payload=a_payload(executable=Executable("/x", 1, 1, "short"))),
        stored(payload=a_payload() | {"copy": None}),
        stored(payload=a_payload() | {"copy": {}}),
        stored(payload=a_payload(copy=SealedCopy("a", "T-7K3F", "short"))),
        stored(payload=a_payload(copy=COPY) | {"copy": asdict(COPY) | {"more": "x"}}),
        "seal",
    ],
)
def test_anything_but_a_whole_known_seal_is_refused(broken: object) -> None:
    with pytest.raises(RemoteProtocolError) as caught:
        read_seal(canonical(broken))
    assert caught.value.code == "seal.malformed"


def test_what_a_check_runs_on_is_sealed_and_other_commands_have_no_such_field() -> None:
    seal = a_seal(ManualClock(), payload=a_payload(copy=COPY))
    assert read_seal(seal_bytes(seal)).payload["copy"] == asdict(COPY)
    assert "copy" not in read_seal(seal_bytes(a_seal(ManualClock()))).payload


def test_a_program_of_the_workspace_is_sealed_with_its_content() -> None:
    payload = a_payload(executable=Executable("/w/run", 1, 2, ZEROS))
    seal = a_seal(ManualClock(), payload=payload)
    assert read_seal(seal_bytes(seal)).payload["executable"]["sha256"] == ZEROS


@pytest.mark.parametrize(
    ("raw", "code"),
    [(b"{", "json.malformed"), (b" " * (MAX_SEAL_BYTES + 1), "json.too-large")],
)
def test_bytes_that_are_no_json_are_refused(raw: bytes, code: str) -> None:
    with pytest.raises(CodexBridgeError) as caught:
        read_seal(raw)
    assert caught.value.code == code


def test_what_could_not_be_read_back_is_never_written() -> None:
    with pytest.raises(RemoteProtocolError):
        seal_bytes(a_seal(ManualClock(), nonce="\ud800"))


def test_the_code_is_the_first_40_bits_in_two_groups() -> None:
    assert short_code(DIGEST) == CODE
    assert short_code("f" * 64) == "ZZZZ-ZZZZ"
    assert short_code("0" * 64) == "0000-0000"


@pytest.mark.requirement("R29")
@each(
    "typed, both_groups, matches",
    [
        ("773F", False, True),
        ("773f", False, True),
        ("７７３Ｆ", False, True),
        (" 773F\n", False, True),
        ("773F-9Q2F", False, True),
        ("773f9q2f", True, True),
        ("773F—9Q2F", True, True),
        ("773F−9Q2F", True, True),
        ("773F", True, False),
        ("773F-9Q2", False, False),
        ("773F-9Q2G", False, False),
        ("773", False, False),
        ("9Q2F", False, False),
        ("", False, False),
        ("", True, False),
        ("\ud800", False, False),
        ("773F" + " " * 60 + "x", False, True),  # only the first 64 characters are looked at
    ],
)
def test_the_code_is_recognised_as_people_type_it(
    typed: str, both_groups: bool, matches: bool
) -> None:
    assert code_matches(typed, DIGEST, both_groups=both_groups) is matches


def test_letters_that_look_like_digits_are_taken_for_them() -> None:
    zeros_and_ones = "0000100001" + "0" * 54
    code = short_code(zeros_and_ones)
    assert code_matches(code.replace("0", "o").replace("1", "l"), zeros_and_ones, both_groups=True)
    assert code_matches(code.replace("1", "I"), zeros_and_ones, both_groups=True)
