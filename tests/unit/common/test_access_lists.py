"""Access lists: read, handed on, and never left out to somebody's gain."""

from __future__ import annotations

import errno
import os
import struct
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from common.access_lists import access_list, set_access_list, without_list

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="Linux keeps them in an attribute")

_NOBODY = 0xFFFFFFFF
_CLOSED = 1 << 20  # no descriptor of ours
# acl(5): the owner and one other user may write; the group may not even read.
ENTRIES = struct.pack("<I", 2) + b"".join(
    struct.pack("<HHI", *entry)
    for entry in (
        (0x01, 6, _NOBODY),
        (0x02, 6, 1000),
        (0x04, 0, _NOBODY),
        (0x10, 6, _NOBODY),
        (0x20, 0, _NOBODY),
    )
)


@pytest.fixture
def descriptor(tmp_path: Path) -> Iterator[int]:
    opened = os.open(tmp_path / "file", os.O_RDWR | os.O_CREAT, 0o600)
    yield opened
    os.close(opened)


def test_a_file_has_none_until_it_is_given_one(descriptor: int) -> None:
    assert access_list(descriptor) == b""
    set_access_list(descriptor, ENTRIES)
    assert access_list(descriptor) == ENTRIES
    assert os.fstat(descriptor).st_mode & 0o777 == 0o660


@pytest.mark.parametrize("given", [b"", ENTRIES])
def test_one_can_be_taken_away_also_where_there_is_none(descriptor: int, given: bytes) -> None:
    if given:
        set_access_list(descriptor, given)
    set_access_list(descriptor, b"")
    assert access_list(descriptor) == b""


def test_a_refusal_is_no_empty_list(descriptor: int) -> None:
    with pytest.raises(OSError, match=r"not supported|Invalid"):
        set_access_list(descriptor, b"none")
    with pytest.raises(OSError, match=os.strerror(errno.EBADF)):
        access_list(_CLOSED)
    with pytest.raises(OSError, match=os.strerror(errno.EBADF)):
        set_access_list(_CLOSED, b"")


def test_without_its_list_the_group_gets_nothing() -> None:
    assert without_list(0o660, ENTRIES) == 0o600
    assert without_list(0o660, b"") == 0o660
