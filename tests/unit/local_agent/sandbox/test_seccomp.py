"""The filter of system calls: its numbers, its bytes, and what a program meets under it."""

from __future__ import annotations

import os
import re
import struct
from collections.abc import Callable
from pathlib import Path

import pytest

from local_agent.sandbox.seccomp import (
    ABSENT,
    MODES,
    OPENING,
    REFUSED,
    build_filter,
    supports,
)
from tests.each import each

ALLOW, REFUSE, ENOSYS, FAMILY, KILL = 0x7FFF0000, 0x50001, 0x50026, 0x50061, 0x80000000
MACHINES = {"x86_64": 0xC000003E, "aarch64": 0xC00000B7}
SOCKET = {"x86_64": 41, "aarch64": 198}
SOCKETPAIR = {"x86_64": 53, "aarch64": 199}
CLONE = {"x86_64": 56, "aarch64": 220}
IOCTL = {"x86_64": 16, "aarch64": 29}
HEADERS = {
    "x86_64": Path("/usr/include/x86_64-linux-gnu/asm/unistd_64.h"),
    "aarch64": Path("/usr/include/asm-generic/unistd.h"),
}
UNIX, INET, INET6, NETLINK, ALG, VSOCK, PACKET = 1, 2, 10, 16, 38, 40, 17
STREAM, DGRAM, SEQPACKET, CLOEXEC = 1, 2, 5, 0o2000000


def _verdict(program: bytes, number: int, *arguments: int, audit: int) -> int:
    """Run the filter as the kernel would: classic BPF over ``struct seccomp_data``."""
    words = [*arguments, *[0] * (6 - len(arguments))]
    data = struct.pack("<IIQ6Q", number, audit, 0, *words)
    steps = list(struct.iter_unpack("<HBBI", program))
    at = accumulator = 0
    while True:
        code, yes, no, k = steps[at]
        at += 1
        if code == 0x06:
            return int(k)
        if code == 0x20:
            (accumulator,) = struct.unpack_from("<I", data, k)
        elif code == 0x54:
            accumulator &= k
        else:
            holds = {0x15: accumulator == k, 0x35: accumulator >= k, 0x45: bool(accumulator & k)}
            at += yes if holds[code] else no


Ask = Callable[..., int]


@pytest.fixture(params=MACHINES)
def machine(request: pytest.FixtureRequest) -> str:
    return str(request.param)


@pytest.fixture(params=[False, True], ids=["alone", "network"])
def network(request: pytest.FixtureRequest) -> bool:
    return bool(request.param)


@pytest.fixture
def ask(machine: str, network: bool) -> Ask:
    program = build_filter(machine, network=network)

    def ask(number: int, *arguments: int, audit: int = MACHINES[machine]) -> int:
        return _verdict(program, number, *arguments, audit=audit)

    return ask


@pytest.mark.requirement("R47")
def test_what_reaches_into_the_kernel_or_others_is_refused(ask: Ask, machine: str) -> None:
    column = list(MACHINES).index(machine)
    verdicts = {name: ask(of[column]) for name, of in REFUSED.items() if of[column] is not None}
    assert set(verdicts.values()) == {REFUSE}
    assert {"ptrace", "keyctl", "bpf", "mount", "unshare", "setns"} <= verdicts.keys()
    assert {ask(of[column]) for of in ABSENT.values()} == {ENOSYS}


def test_ordinary_calls_are_allowed(ask: Ask, machine: str) -> None:
    ordinary = {
        "x86_64": (0, 1, 2, 9, 57, 58, 59, 62, 202, 257),  # read … openat
        "aarch64": (63, 64, 56, 222, 221, 129, 98),
    }
    assert {ask(number) for number in ordinary[machine]} == {ALLOW}


@pytest.mark.requirement("R47")
@pytest.mark.parametrize("audit", [0x40000003, 0x40000028, 0])
def test_another_table_of_calls_ends_the_program(ask: Ask, audit: int) -> None:
    assert ask(0, audit=audit) == KILL


@each("number", [0x40000000, 0x40000000 | 101, 0xFFFFFFFF])
def test_the_second_table_of_x86_is_absent(number: int) -> None:
    program = build_filter("x86_64", network=False)
    assert _verdict(program, number, audit=MACHINES["x86_64"]) == ENOSYS


@pytest.mark.requirement("R47")
def test_only_families_that_programs_need_make_sockets(
    ask: Ask, machine: str, network: bool
) -> None:
    number = SOCKET[machine]
    assert {ask(number, family, STREAM) for family in (INET, INET6)} == {ALLOW}
    assert {ask(number, family, DGRAM) for family in (ALG, VSOCK, PACKET, 3, 29, 44)} == {FAMILY}
    assert ask(number, NETLINK, 3, 0) == ALLOW
    assert {ask(number, NETLINK, 3, protocol) for protocol in (4, 9, 12, 16)} == {FAMILY}
    assert ask(number, UNIX, STREAM) == (FAMILY if network else ALLOW)


@pytest.mark.requirement("R47")
def test_a_pair_of_sockets_cannot_be_turned_to_somebody_else(
    ask: Ask, machine: str, network: bool
) -> None:
    number = SOCKETPAIR[machine]
    assert ask(number, UNIX, STREAM | CLOEXEC) == ALLOW
    assert ask(number, UNIX, SEQPACKET) == ALLOW
    assert ask(number, UNIX, DGRAM) == (FAMILY if network else ALLOW)
    assert ask(number, INET, STREAM) == FAMILY


@pytest.mark.requirement("R47")
def test_processes_can_be_made_and_namespaces_not(ask: Ask, machine: str) -> None:
    thread, process = 0x3D0F00, 17
    assert {ask(CLONE[machine], flags) for flags in (thread, process)} == {ALLOW}
    spaces = (0x20000, 0x2000000, 0x4000000, 0x8000000, 0x10000000, 0x20000000, 0x40000000)
    assert {ask(CLONE[machine], process | flag) for flag in spaces} == {REFUSE}


@pytest.mark.requirement("R44")
def test_no_keys_can_be_put_into_a_terminal(ask: Ask, machine: str) -> None:
    assert ask(IOCTL[machine], 0, 0x5401) == ALLOW  # TCGETS
    # The kernel takes the lower half of what is given alone, and so does the filter.
    for request in (0x5412, 0x541C, 0xFFFFFFFF_00005412, 1 << 32 | 0x5412):
        assert ask(IOCTL[machine], 0, request) == REFUSE


@pytest.mark.requirement("R47")
def test_no_file_gets_the_bits_that_lend_its_owners_rights(ask: Ask, machine: str) -> None:
    column = list(MACHINES).index(machine)
    for calls, flags in ((MODES, 0), (OPENING, 0o101), (OPENING, 0o20200002)):
        for name, of in calls.items():
            number, at = of[column], of[2]
            if number is None:
                continue
            before = [flags] * at
            assert ask(number, *before, 0o755) == ALLOW, name
            assert ask(number, *before, 0o1777) == ALLOW, name
            for mode in (0o4755, 0o2755, 0o6000, 0xFFFFFFFF_00000800):
                assert ask(number, *before, mode) == REFUSE, (name, oct(mode))
    for of in OPENING.values():
        if (number := of[column]) is not None:
            assert ask(number, *[0] * of[2], 0o4755) == ALLOW, "a mode that nobody reads"


def test_every_number_is_that_of_the_headers(machine: str) -> None:
    if not HEADERS[machine].exists():
        pytest.skip("the kernel's headers are not installed")
    text = HEADERS[machine].read_text(encoding="utf-8")
    known = {name: int(at) for name, at in re.findall(r"#define __NR_(\w+)\s+(\d+)", text)}
    column = list(MACHINES).index(machine)
    newest = max(known.values())
    for name, of in (REFUSED | ABSENT | MODES | OPENING).items():
        number = of[column]
        assert number == known.get(name) or (number and number > newest), name
    for name, at in zip(
        ("socket", "socketpair", "clone", "ioctl"),
        (SOCKET, SOCKETPAIR, CLONE, IOCTL),
        strict=True,
    ):
        assert known[name] == at[machine]


def test_other_architectures_have_no_filter() -> None:
    assert not supports("riscv64")
    assert supports(os.uname().machine) == (os.uname().machine in MACHINES)
