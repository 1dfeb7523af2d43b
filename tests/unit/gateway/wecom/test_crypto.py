"""What the callback crypto refuses, and that a refusal leaves the next message alone."""

from __future__ import annotations

import ast
import base64
import inspect
import re
from pathlib import Path

import pytest
from cryptography.hazmat.primitives.ciphers import Cipher
from cryptography.hazmat.primitives.ciphers.algorithms import AES
from cryptography.hazmat.primitives.ciphers.modes import CBC
from wechatpy.enterprise.crypto import WeChatCrypto

from common.errors import AuthError, ConfigError
from gateway.wecom import crypto as module
from gateway.wecom.crypto import CallbackCrypto, decode_key, pad, unpad
from tests.each import each

TOKEN = "QDG6eK"
AES_KEY = "jWmYm7qr5nMoAUwZRjGtBxmz3KA1tkAj3ykkR6q2B2C"
CORP = "wx5823bf96d3bd56c7"
RANDOM = b"0123456789abcdef"


def new_crypto(*, receive_id: str = CORP, token: str = TOKEN, key: str = AES_KEY) -> CallbackCrypto:
    return CallbackCrypto(token=token, encoding_aes_key=key, receive_id=receive_id)


def sealed(plain: bytes) -> str:
    """Encrypt a plaintext as it stands, as only a broken or hostile sender would."""
    key = decode_key(AES_KEY)
    encryptor = Cipher(AES(key), CBC(key[:16])).encryptor()
    return base64.b64encode(encryptor.update(plain) + encryptor.finalize()).decode()


def framed(message: bytes, receive_id: bytes = CORP.encode(), *, length: int | None = None) -> str:
    size = (len(message) if length is None else length).to_bytes(4, "big")
    return sealed(pad(RANDOM + size + message + receive_id))


def code_of(encrypted: str, *, receive_id: str = CORP) -> str:
    with pytest.raises(AuthError) as caught:
        new_crypto(receive_id=receive_id).decrypt(encrypted)
    return caught.value.code


def test_a_message_comes_back_as_it_went() -> None:
    crypto = new_crypto()
    for size in range(100):
        message = b"m" * size
        assert crypto.decrypt(crypto.encrypt(message, random=RANDOM)) == message


def test_an_independent_implementation_reads_what_we_write_and_writes_what_we_read() -> None:
    theirs = WeChatCrypto(TOKEN, AES_KEY, CORP)
    ours = new_crypto()
    message = "<xml><Content>状态 🚀</Content></xml>"
    body = theirs.encrypt_message(message, "nonce123", "1760000000")
    encrypted = body.split("<Encrypt><![CDATA[")[1].split("]]>")[0]
    signature = body.split("<MsgSignature><![CDATA[")[1].split("]]>")[0]
    ours.verify(signature, "1760000000", "nonce123", encrypted)
    assert ours.decrypt(encrypted).decode() == message
    back = ours.encrypt(message.encode(), random=RANDOM)
    signature = ours.sign("1760000000", "nonce123", back)
    envelope = f"<xml><Encrypt>{back}</Encrypt></xml>"
    assert theirs.decrypt_message(envelope, signature, "1760000000", "nonce123") == message


@pytest.mark.requirement("MJ-6")
@pytest.mark.requirement("R20")
def test_a_signature_is_compared_in_constant_time_and_as_bytes() -> None:
    tree = ast.parse(inspect.getsource(module))
    compared = [
        ast.unparse(node)
        for node in ast.walk(tree)
        if isinstance(node, ast.Compare) and "signature" in ast.unparse(node)
    ]
    assert compared == []
    source = Path(module.__file__).read_text(encoding="utf-8")
    assert source.count("hmac.compare_digest(") == 2


@pytest.mark.requirement("R20")
@each("given", ["", "a" * 40, "签名", "\udcff", "0" * 39, "0" * 4000])
def test_a_wrong_signature_is_refused_whatever_it_is_made_of(given: str) -> None:
    with pytest.raises(AuthError) as caught:
        new_crypto().verify(given, "1760000000", "nonce", "encrypt")
    assert caught.value.code == "callback.signature"


def test_a_signature_counts_in_lower_case_only() -> None:
    crypto = new_crypto()
    signature = crypto.sign("1760000000", "nonce", "encrypt")
    crypto.verify(signature, "1760000000", "nonce", "encrypt")
    with pytest.raises(AuthError):
        crypto.verify(signature.upper(), "1760000000", "nonce", "encrypt")


def test_a_signature_of_another_token_is_refused() -> None:
    signature = new_crypto(token="other").sign("1760000000", "nonce", "encrypt")
    with pytest.raises(AuthError):
        new_crypto().verify(signature, "1760000000", "nonce", "encrypt")


@each(
    "encrypted",
    [
        "",
        "====",
        "AAAA",
        "not base64!",
        "签名",
        base64.b64encode(b"x" * 16).decode(),
        base64.b64encode(b"x" * 33).decode(),
        base64.b64encode(b"x" * 32).decode().rstrip("="),
        base64.b64encode(b"x" * 32).decode() + "\n",
        " " + base64.b64encode(b"x" * 32).decode(),
        "-_" + base64.b64encode(b"x" * 32).decode()[2:],
        base64.b64encode(b"x" * 32).decode() + "AAAA",
    ],
)
def test_what_is_no_whole_ciphertext_is_refused(encrypted: str) -> None:
    assert code_of(encrypted) == "callback.ciphertext"


@each(
    "tail",
    [b"\x00" * 32, b"\x21" * 33, b"\x01" * 31 + b"\x02", b"\x00", b"\xff", b"\x07\x20" * 16],
)
def test_every_byte_of_the_padding_is_checked(tail: bytes) -> None:
    body = RANDOM + (0).to_bytes(4, "big") + CORP.encode()
    plain = body + b"\x05" * (-(len(body) + len(tail)) % 32) + tail
    assert code_of(sealed(plain)) == "callback.ciphertext"


@each("plain", [b"", b"\x00", b"\x21", b"\x02", b"ab\x02\x03"])
def test_unpad_refuses_what_pad_never_makes(plain: bytes) -> None:
    with pytest.raises(AuthError):
        unpad(plain)


def test_a_plaintext_without_room_for_a_length_is_refused() -> None:
    assert code_of(sealed(pad(b"x" * 19))) == "callback.ciphertext"


@each("length", [2**32 - 1, 2**31, 40, 23])
@each("receive_id", ["", CORP])
def test_a_length_beyond_the_text_is_refused_even_where_no_receive_id_is_expected(
    length: int, receive_id: str
) -> None:
    encrypted = framed(b"ab", receive_id.encode(), length=length)
    assert code_of(encrypted, receive_id=receive_id) in {
        "callback.ciphertext",
        "callback.receive-id",
    }
    if length > 2 + len(receive_id):
        assert code_of(encrypted, receive_id=receive_id) == "callback.ciphertext"


@pytest.mark.requirement("MJ-6")
@each("receive_id", [b"", b"wx0000000000000000", CORP.encode() + b"x", b"\xff"])
def test_a_wrong_receive_id_is_refused(receive_id: bytes) -> None:
    assert code_of(framed(b"hello", receive_id)) == "callback.receive-id"


def test_an_empty_receive_id_means_that_nothing_may_follow() -> None:
    assert code_of(framed(b"hello", CORP.encode()), receive_id="") == "callback.receive-id"
    assert new_crypto(receive_id="").decrypt(framed(b"hello", b"")) == b"hello"


def test_a_refused_message_does_not_spoil_the_next_one() -> None:
    crypto = new_crypto()
    good = crypto.encrypt(b"good", random=RANDOM)
    for bad in ("AAAA", framed(b"bad", b"other"), sealed(b"\x00" * 32), framed(b"", length=99)):
        with pytest.raises(AuthError):
            crypto.decrypt(bad)
        assert crypto.decrypt(good) == b"good"


def test_every_message_is_decrypted_whole_whatever_came_before_it(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    seen: list[bytes] = []

    def seeing(padded: bytes) -> bytes:
        seen.append(padded)
        return unpad(padded)

    monkeypatch.setattr(module, "unpad", seeing)
    crypto = new_crypto()
    crypto.decrypt(framed(b"first"))
    crypto.decrypt(framed(b"second"))
    # Chained on to the first message, the second would begin with noise.
    assert [plain[: len(RANDOM)] for plain in seen] == [RANDOM, RANDOM]


def test_the_gateway_and_the_simulator_encrypt_with_different_libraries() -> None:
    # One bug in one of them must not hide on both sides (docs/adr/0027).
    root = Path(module.__file__).parent.parent
    libraries = {
        place: {"Crypto", "cryptography"} & set(re.findall(r"(?m)^from (\w+)", source))
        for place in ("wecom/crypto.py", "simulator/crypto.py")
        for source in [(root / place).read_text(encoding="utf-8")]
    }
    assert libraries == {"wecom/crypto.py": {"Crypto"}, "simulator/crypto.py": {"cryptography"}}


def test_a_wrong_key_looks_like_a_broken_ciphertext() -> None:
    other = new_crypto(key="kWxPEV2UEDyxWpmPdKC3F4dgPDmOvfKX1HGnEUDS1aR")
    with pytest.raises(AuthError) as caught:
        other.decrypt(new_crypto().encrypt(b"hello", random=RANDOM))
    assert caught.value.code == "callback.ciphertext"


def test_random_bytes_must_be_sixteen() -> None:
    with pytest.raises(ValueError, match="16"):
        new_crypto().encrypt(b"", random=b"short")


@each("key", ["", "x" * 42, "x" * 44, "x" * 42 + "=", "x" * 42 + "\n", "中" * 43])
def test_a_key_has_43_letters_and_digits(key: str) -> None:
    with pytest.raises(ConfigError) as caught:
        new_crypto(key=key)
    assert caught.value.code == "config.encoding-aes-key"
    assert key not in str(caught.value) or not key


def test_nothing_shown_of_the_object_tells_its_secrets() -> None:
    shown = repr(new_crypto())
    assert TOKEN not in shown
    assert AES_KEY not in shown
