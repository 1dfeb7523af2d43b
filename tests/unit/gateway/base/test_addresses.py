"""Whose an address is, and how often it may fail."""

from __future__ import annotations

import ipaddress

import pytest

from gateway.base import addresses
from gateway.base.addresses import FailureLimit, client_address, owner_of


@pytest.mark.parametrize(
    ("hops", "client"),
    [
        (["203.0.113.9"], "203.0.113.9"),
        (["1.1.1.1", " 203.0.113.9 "], "203.0.113.9"),
        (["203.0.113.9", "10.0.0.7"], "203.0.113.9"),
        (["10.0.0.8", "10.0.0.7"], "10.0.0.8"),
        (["203.0.113.9", "nonsense"], "10.0.0.1"),
        (["203.0.113.9", "nonsense", "10.0.0.7"], "10.0.0.7"),
        ([""], "10.0.0.1"),
        (["::ffff:203.0.113.9"], "203.0.113.9"),
        (["::ffff:10.0.0.7"], "10.0.0.7"),
        (["2001:db8::1"], "2001:db8::1"),
        (["203.0.113.9", *["10.0.0.7"] * 100], "10.0.0.7"),
    ],
)
def test_the_client_is_the_nearest_address_that_no_proxy_owns(hops: list[str], client: str) -> None:
    trusted = (ipaddress.ip_network("10.0.0.0/8"),)
    assert client_address("10.0.0.1", hops, trusted) == client


def test_one_network_of_ipv6_is_one_address() -> None:
    limit = FailureLimit(failures=2)
    limit.count("2001:db8::1", 0.0)
    limit.count("2001:db8::ffff:2", 0.0)
    assert limit.wait("2001:db8:0:0:1::", 0.0) > 0
    assert limit.wait("2001:db8:0:1::1", 0.0) == 0


def test_disguised_addresses_of_ipv4_count_each_for_itself() -> None:
    limit = FailureLimit(failures=1)
    limit.count("::ffff:192.0.2.1", 0.0)
    assert limit.wait("192.0.2.1", 0.0) > 0
    assert limit.wait("::ffff:192.0.2.2", 0.0) == 0
    limit.count("", 0.0)
    assert limit.wait("", 0.0) > 0


def test_failures_are_forgotten_at_a_steady_rate() -> None:
    limit = FailureLimit(failures=3, seconds_per_failure=2.0)
    for _ in range(3):
        assert limit.wait("192.0.2.1", 0.0) == 0
        limit.count("192.0.2.1", 0.0)
    assert limit.wait("192.0.2.1", 0.0) == 2.0
    assert limit.wait("192.0.2.1", 1.5) == 0.5
    assert limit.wait("192.0.2.1", 2.0) == 0
    limit.count("192.0.2.1", 2.0)
    assert limit.wait("192.0.2.1", 2.0) == 2.0
    assert limit.wait("192.0.2.1", 100.0) == 0


def test_memory_of_addresses_is_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(addresses, "MAX_ADDRESSES", 5)
    limit = FailureLimit(failures=1)
    for number in range(20):
        limit.count(f"192.0.2.{number}", 0.0)
    held = [number for number in range(20) if limit.wait(f"192.0.2.{number}", 0.0) > 0]
    assert held == [15, 16, 17, 18, 19]


def test_one_ipv6_network_is_one_client() -> None:
    assert owner_of("2001:db8::1") == owner_of("2001:db8::ffff:1") != owner_of("2001:db8:0:1::1")
    assert owner_of("192.0.2.1") != owner_of("192.0.2.2")
    assert owner_of("") == ""
