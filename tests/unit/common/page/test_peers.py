"""Whose process is at the other end of a loopback connection, as Linux tells it."""

from __future__ import annotations

import os
import socket
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

import pytest

from common.page import peers
from common.page.peers import Address, is_told, owner_of
from tests.each import each

pytestmark = pytest.mark.skipif(not is_told(), reason="this system tells no owners of sockets")

HEAD = (
    "  sl  local_address rem_address   st tx_queue rx_queue tr tm->when retrnsmt   uid  timeout\n"
)
CLIENT, SERVER = ("127.0.0.1", 40000), ("127.0.0.1", 7000)
FROM, TO = "0100007F:9C40", "0100007F:1B58"
MAPPED = "0000000000000000FFFF0000"


def row(local: str, remote: str, *, state: str = "01", uid: int = 1000, inode: int = 77) -> str:
    head = f"   0: {local} {remote} {state} 00000000:00000000 00:00000000 00000000"
    return f"{head} {uid:5d}        0 {inode} 1 0000 20 4 30 10 -1\n"


@pytest.fixture
def tables(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> tuple[Path, Path]:
    found = tmp_path / "tcp", tmp_path / "tcp6"
    monkeypatch.setattr(peers, "TABLES", found)
    return found


@contextmanager
def joined(
    family: socket.AddressFamily, server: str, client: str
) -> Iterator[tuple[socket.socket, Address, Address]]:
    """Give a client that is connected, its address and the server's, as the server sees them."""
    with ExitStack() as stack:
        listening = stack.enter_context(socket.socket(family))
        if family is socket.AF_INET6:
            listening.setsockopt(socket.IPPROTO_IPV6, socket.IPV6_V6ONLY, 0)
        listening.bind((server, 0))
        listening.listen()
        port = listening.getsockname()[1]
        calling = stack.enter_context(socket.create_connection((client, port)))
        answering, peer = listening.accept()
        stack.enter_context(answering)
        yield calling, peer[:2], answering.getsockname()[:2]


@each(
    "family, server, client",
    [
        (socket.AF_INET, "127.0.0.1", "127.0.0.1"),
        (socket.AF_INET, "127.0.0.1", "127.0.0.2"),
        (socket.AF_INET6, "::1", "::1"),
        (socket.AF_INET6, "::", "127.0.0.1"),
        (socket.AF_INET, "127.0.0.1", "::ffff:127.0.0.1"),
    ],
)
def test_the_owner_of_a_real_client_is_found(
    family: socket.AddressFamily, server: str, client: str
) -> None:
    if client == "127.0.0.2":
        server = ""  # any of ours, so that the two ends have different addresses
    with joined(family, server, client) as (_, peer, own):
        assert owner_of(peer, own) == os.getuid()


def test_both_ways_to_write_an_address_of_ipv4_mean_the_same(tables: tuple[Path, Path]) -> None:
    mapped = ("::ffff:127.0.0.1", 40000), ("::ffff:127.0.0.1", 7000)
    for table, start in zip(tables, ("", MAPPED), strict=True):
        table.write_text(HEAD + row(f"{start}{FROM}", f"{start}{TO}", uid=1004), "ascii")
        assert {owner_of(CLIENT, SERVER), owner_of(*mapped)} == {1004}
        table.unlink()


def test_a_client_that_has_gone_belongs_to_nobody() -> None:
    with joined(socket.AF_INET, "127.0.0.1", "127.0.0.1") as (calling, peer, own):
        calling.close()
        assert owner_of(peer, own) is None


def test_a_client_that_says_no_more_but_listens_is_no_longer_answered() -> None:
    with joined(socket.AF_INET, "127.0.0.1", "127.0.0.1") as (calling, peer, own):
        calling.shutdown(socket.SHUT_WR)
        assert owner_of(peer, own) is None


def test_the_client_s_end_is_asked_and_not_ours(tables: tuple[Path, Path]) -> None:
    tables[0].write_text(HEAD + row(TO, FROM, uid=0) + row(FROM, TO, uid=1001), "ascii")
    assert owner_of(CLIENT, SERVER) == 1001


def test_another_user_s_process_is_told_from_ours(tables: tuple[Path, Path]) -> None:
    tables[0].write_text(HEAD + row("0100007F:9C41", TO) + row(FROM, TO, uid=65534), "ascii")
    assert owner_of(CLIENT, SERVER) == 65534


@each("state, inode", [("06", 0), ("06", 77), ("08", 77), ("0A", 77), ("01", 0)])
def test_a_connection_that_is_not_open_belongs_to_nobody(state: str, inode: int) -> None:
    # Such as a row in TIME_WAIT, which names user 0.
    assert peers._find(row(FROM, TO, state=state, uid=0, inode=inode) + "\n", {(FROM, TO)}) is None


def test_an_open_row_is_found_behind_one_in_time_wait(tables: tuple[Path, Path]) -> None:
    waiting = row(FROM, TO, state="06", uid=0, inode=0)
    tables[0].write_text(HEAD + waiting, "ascii")
    tables[1].write_text(HEAD + row(f"{MAPPED}{FROM}", f"{MAPPED}{TO}", uid=1002), "ascii")
    assert owner_of(CLIENT, SERVER) == 1002


def test_a_socket_of_ipv6_is_written_in_words(tables: tuple[Path, Path]) -> None:
    tables[0].write_text(HEAD, "ascii")
    one = "00000000000000000000000001000000"
    tables[1].write_text(HEAD + row(f"{one}:9C40", f"{one}:1B58", uid=1003), "ascii")
    assert owner_of(("::1", 40000), ("::1", 7000)) == 1003
    assert owner_of(("::1", 40001), ("::1", 7000)) is None


def test_without_any_table_nobody_is_known(tables: tuple[Path, Path]) -> None:
    assert not any(table.exists() for table in tables)
    assert not is_told()
    assert owner_of(CLIENT, SERVER) is None


def test_without_ipv6_the_other_table_is_enough(tables: tuple[Path, Path]) -> None:
    tables[0].write_text(HEAD + row(FROM, TO), "ascii")
    assert is_told()
    assert owner_of(CLIENT, SERVER) == 1000
