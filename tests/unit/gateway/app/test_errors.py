"""How failures leave the process."""

from __future__ import annotations

import errno

import pytest

from gateway.app.errors import cannot_listen


@pytest.mark.parametrize(
    ("number", "code"),
    [
        (errno.EADDRINUSE, "config.port-in-use"),
        (errno.EACCES, "config.port-forbidden"),
        (errno.EADDRNOTAVAIL, "config.no-such-address"),
        (errno.ENOBUFS, "config.cannot-listen"),
    ],
)
def test_a_socket_that_cannot_be_opened_says_where_and_why(number: int, code: str) -> None:
    error = cannot_listen(OSError(number, "why"), host="127.0.0.1", port=80)
    assert error.code == code
    assert error.facts == {"host": "127.0.0.1", "port": 80, "why": "why"}


def test_an_os_error_without_a_number_is_still_explained() -> None:
    assert cannot_listen(OSError("odd"), host="::1", port=1).code == "config.cannot-listen"
