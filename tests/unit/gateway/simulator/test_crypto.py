"""The simulator's encryption against published vectors and against a third implementation."""

from __future__ import annotations

import pytest
from wechatpy.enterprise.crypto import WeChatCrypto

from gateway.simulator.crypto import SimulatedCrypto

# WeCom's official sample (developer page 90968, callback samples).
TOKEN = "QDG6eK"
KEY = "jWmYm7qr5nMoAUwZRjGtBxmz3KA1tkAj3ykkR6q2B2C"
CORP = "wx5823bf96d3bd56c7"
ECHO_SIGNATURE = "5c45ff5e21c57e6ad56bac8758b79b1d9ac89fd3"
ECHO = "P9nAzCzyDtyTWESHep1vC5X9xho/qYX3Zpb4yKa9SKld1DsH3Iyt3tP3zNdtp+4RPcs8TgAE7OaBO+FZXvnaqQ=="


@pytest.fixture
def crypto() -> SimulatedCrypto:
    return SimulatedCrypto(TOKEN, KEY, CORP)


def test_the_official_sample_is_signed_and_read_as_published(crypto: SimulatedCrypto) -> None:
    assert crypto.signature("1409659589", "263014780", ECHO) == ECHO_SIGNATURE
    assert crypto.decrypt(ECHO) == b"1616140317555161061"


@pytest.mark.parametrize("size", [0, 1, 11, 12, 13, 31, 32, 33, 2048])
def test_another_implementation_reads_what_is_encrypted(crypto: SimulatedCrypto, size: int) -> None:
    text = "中" * (size // 3) + "x" * (size % 3)
    encrypted = crypto.encrypt(text.encode(), b"0123456789abcdef")
    envelope = (
        f"<xml><ToUserName>{CORP}</ToUserName><Encrypt>{encrypted}</Encrypt>"
        "<AgentID>1</AgentID></xml>"
    )
    signature = crypto.signature("1760000000", "abc", encrypted)
    other = WeChatCrypto(TOKEN, KEY, CORP)
    read = other.decrypt_message(envelope, signature, "1760000000", "abc")
    assert (read.decode() if isinstance(read, bytes) else read) == text


def test_what_another_implementation_encrypts_is_read(crypto: SimulatedCrypto) -> None:
    import xml.etree.ElementTree as ET

    sealed = WeChatCrypto(TOKEN, KEY, CORP).encrypt_message("你好 @dev", "nonce", "1760000000")
    found = ET.fromstring(sealed).findtext("Encrypt")  # noqa: S314 - made here, a line above
    assert found is not None
    assert crypto.decrypt(found).decode() == "你好 @dev"


def test_a_foreign_corp_is_refused(crypto: SimulatedCrypto) -> None:
    foreign = SimulatedCrypto(TOKEN, KEY, "wwforeign").encrypt(b"x", b"0" * 16)
    with pytest.raises(ValueError, match="receive id"):
        crypto.decrypt(foreign)


def test_broken_padding_is_refused(crypto: SimulatedCrypto) -> None:
    other_key = SimulatedCrypto(TOKEN, "A" * 43, CORP).encrypt(b"x" * 5, b"0" * 16)
    with pytest.raises(ValueError, match=r"padding|receive id"):
        crypto.decrypt(other_key)
