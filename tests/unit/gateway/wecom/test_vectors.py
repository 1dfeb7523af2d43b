"""Every published and derived vector of WeCom's callback crypto goes through our code."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeAlias

import pytest

from common import strict_json
from common.errors import AuthError, ConfigError, RemoteProtocolError
from common.text import split_bytes
from gateway.channels.wecom_app.messages import parse_message
from gateway.wecom.crypto import CallbackCrypto, decode_key, pad, unpad
from gateway.wecom.xml import cdata, parse_fields, render_encrypted
from tests.each import each

Vector: TypeAlias = dict[str, Any]

VECTORS: dict[str, Any] = json.loads(
    Path(__file__).parents[3].joinpath("vectors/wecom_app.json").read_text(encoding="utf-8")
)
ANY_KEY = "abcdefghijklmnopqrstuvwxyz0123456789ABCDEFG"
# The published PHP sample whose signature holds while its plaintext is no JSON.
BROKEN_PLAINTEXT = "KA-04-post-json-official-php"


def crypto_of(vector: Vector) -> CallbackCrypto:
    return CallbackCrypto(
        token=vector.get("token", "unused"),
        encoding_aes_key=vector.get("encoding_aes_key", ANY_KEY),
        receive_id=vector.get("receiveid", ""),
    )


def by_id(vector: Vector) -> str:
    return str(vector["id"])


def key(vector: Vector) -> None:
    found = decode_key(vector["encoding_aes_key"])
    assert found.hex() == vector["expect_key_hex"]
    assert found[:16].hex() == vector["expect_iv_hex"]


def key_must_fail(vector: Vector) -> None:
    with pytest.raises(ConfigError) as caught:
        decode_key(vector["encoding_aes_key"])
    assert caught.value.code == "config.encoding-aes-key"


def url_verify(vector: Vector) -> None:
    crypto = crypto_of(vector)
    signed = (vector["msg_signature"], vector["timestamp"], vector["nonce"])
    crypto.verify(*signed, vector["echostr"])
    assert crypto.decrypt(vector["echostr"]).decode() == vector["expect_plaintext"]


def url_verify_must_fail(vector: Vector) -> None:
    signed = (vector["msg_signature"], vector["timestamp"], vector["nonce"])
    with pytest.raises(AuthError) as caught:
        crypto_of(vector).verify(*signed, vector["echostr"])
    assert caught.value.code == "callback.signature"


def post_xml(vector: Vector) -> None:
    crypto = crypto_of(vector)
    encrypted = parse_fields(vector["body"].encode())["Encrypt"]
    assert encrypted == vector["encrypt"]
    crypto.verify(vector["msg_signature"], vector["timestamp"], vector["nonce"], encrypted)
    plain = crypto.decrypt(encrypted)
    assert plain.decode() == vector["expect_plaintext"]
    assert parse_fields(plain).items() >= vector["expect_fields"].items()
    message = parse_message(plain)
    assert message.user == vector["expect_fields"]["FromUserName"]
    assert message.text == vector["expect_fields"]["Content"]


def post_json(vector: Vector) -> None:
    crypto = crypto_of(vector)
    encrypted = strict_json.loads(vector["body"], max_bytes=65_536)["Encrypt"]
    assert encrypted == vector["encrypt"]
    crypto.verify(vector["msg_signature"], vector["timestamp"], vector["nonce"], encrypted)
    plain = crypto.decrypt(encrypted)
    assert plain.decode() == vector["expect_plaintext"]
    assert vector["id"] == BROKEN_PLAINTEXT
    with pytest.raises(RemoteProtocolError) as caught:
        strict_json.loads(plain, max_bytes=65_536)
    assert caught.value.code == "json.malformed"


def encrypt(vector: Vector) -> None:
    random = vector["random16_ascii"].encode()
    crypto = crypto_of(vector)
    encrypted = crypto.encrypt(vector["plaintext"].encode(), random=random)
    assert encrypted == vector["expect_encrypt"]
    assert crypto.decrypt(encrypted).decode() == vector["plaintext"]


def encrypt_reply(vector: Vector) -> None:
    encrypt(vector)
    nonce, timestamp = vector["nonce"], vector["timestamp"]
    signature = crypto_of(vector).sign(timestamp, nonce, vector["expect_encrypt"])
    assert signature == vector["expect_msg_signature"]
    body = render_encrypted(
        encrypted=vector["expect_encrypt"],
        signature=signature,
        timestamp=int(timestamp),
        nonce=nonce,
    )
    assert body == vector["expect_body"]


def signature(vector: Vector) -> None:
    values = (vector["timestamp"], vector["nonce"], vector["encrypt"])
    assert crypto_of(vector).sign(*values) == vector["expect_msg_signature"]


def padding(vector: Vector) -> None:
    plain = b"x" * vector["input_len"]
    padded = pad(plain)
    assert padded[len(plain) :] == bytes([vector["expect_pad_len"]]) * vector["expect_pad_len"]
    assert unpad(padded) == plain


KINDS: dict[str, Callable[[Vector], None]] = {
    "aes_key": key,
    "aes_key_must_fail": key_must_fail,
    "url_verify": url_verify,
    "url_verify_must_fail": url_verify_must_fail,
    "post_xml": post_xml,
    "post_json_legacy": post_json,
    "encrypt_fixed_random": encrypt,
    "encrypt_reply_xml": encrypt_reply,
    "signature": signature,
    "pkcs7_32": padding,
}


@pytest.mark.requirement("MJ-3")
@each("vector", VECTORS["known_answer"])
def test_known_answers_come_out_as_published(vector: Vector) -> None:
    KINDS[vector["kind"]](vector)


@pytest.mark.requirement("MJ-3")
@each("vector", VECTORS["derived"])
def test_derived_messages_open_and_close_byte_for_byte(vector: Vector) -> None:
    profile = VECTORS["profiles"][vector["profile"]]
    crypto = crypto_of(profile)
    plain = vector["plaintext"].encode()
    random = bytes.fromhex(vector["random16_hex"])
    encrypted = crypto.encrypt(plain, random=random)
    assert encrypted == vector["expect_encrypt"]
    values = (vector["timestamp"], vector["nonce"], encrypted)
    assert crypto.sign(*values) == vector["expect_msg_signature"]
    crypto.verify(vector["expect_msg_signature"], *values)
    assert crypto.decrypt(encrypted) == plain
    whole = len(random) + 4 + len(plain) + len(profile["receiveid"])
    assert pad(b"x" * whole)[-1] == vector["pad"]


@pytest.mark.requirement("MJ-3")
@pytest.mark.parametrize(
    ("start", "expected"),
    [
        ("DV-06", {"text": "@dev status", "event": None}),
        ("DV-07", {"text": "a]]>b", "event": None}),
        ("DV-08", {"text": None, "event": "enter_agent"}),
        ("DV-09", {"text": None, "event": "template_card_event"}),
    ],
)
def test_derived_app_messages_are_read(start: str, expected: dict[str, object]) -> None:
    [vector] = [found for found in VECTORS["derived"] if found["id"].startswith(start)]
    message = parse_message(vector["plaintext"].encode())
    assert {name: getattr(message, name) for name in expected} == expected
    assert (message.user, message.bot, message.created_s) == ("zhangsan", "218", 1_760_000_000)


@pytest.mark.requirement("MJ-3")
def test_derived_bot_messages_are_json_that_the_strict_reader_takes() -> None:
    texts = [
        vector["plaintext"]
        for vector in VECTORS["derived"]
        if vector["profile"] == "aibot_json" and vector["plaintext"].startswith("{")
    ]
    assert len(texts) >= 9
    for text in texts:
        assert "msgtype" in strict_json.loads(text, max_bytes=65_536)


@pytest.mark.requirement("R73")
@each("vector", VECTORS["text_chunking"])
def test_texts_are_cut_where_the_limit_says(vector: Vector) -> None:
    repeat = vector["repeat"]
    text = (
        repeat["unit"] * repeat["n"]
        if "unit" in repeat
        else "x" * repeat["text_prefix_x"] + repeat["then"]
    )
    pieces = split_bytes(text, vector["limit_bytes"])
    sizes = [len(piece.encode()) for piece in pieces]
    assert "".join(pieces) == text
    assert sizes == vector["expect_chunk_bytes_hard_split"]


@each("vector", VECTORS["cdata_rendering"])
def test_texts_become_cdata_that_reads_back(vector: Vector) -> None:
    # The escape in CD-06 stands for the lone surrogate that no file of ours can hold.
    text = vector["text"].replace("\\ud800", "\ud800")
    rendered = cdata(text)
    if "expect" in vector:
        assert rendered == vector["expect"]
    read = parse_fields(f"<xml><Content>{rendered}</Content></xml>".encode())["Content"]
    if "expect" in vector:
        assert read == text
    else:
        assert "\ufffd" in read
        assert len(read) == len(text)
