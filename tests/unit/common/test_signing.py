from __future__ import annotations

import itertools

import pytest

from common import signing
from common.errors import AuthError
from common.signing import SigningKey, VerifyKey
from tests.each import each

# RFC 8032, section 7.1, test 1.
RFC_SECRET = bytes.fromhex("9d61b19deffd5a60ba844af492ec2cc44449c5697b326919703bac031cae7f60")
RFC_PUBLIC = bytes.fromhex("d75a980182b10ab7d54bfed3c964073a0ee172f3daa62325af021a68f707511a")
RFC_SIGNATURE = bytes.fromhex(
    "e5564300c360ac729086e2cc806e828a84877f1eb8e5d974d873e065224901555fb8821590a33bac"
    "c61e39701cf9b46bd25bf5f0595bbe24655141438e7a100b"
)
LABELS = (
    signing.AGENT_AUTH,
    signing.GATEWAY_AUTH,
    signing.ENVELOPE,
    signing.APPROVAL,
    signing.AUDIT,
    signing.AUDIT_HEAD,
    signing.ACK,
    signing.PAIR,
    signing.REKEY,
    signing.RECEIPT,
)


def test_it_is_the_ed25519_of_rfc_8032() -> None:
    key = SigningKey(RFC_SECRET)
    assert key.public.raw == RFC_PUBLIC
    assert key.sign(b"", b"") == RFC_SIGNATURE
    VerifyKey(RFC_PUBLIC).verify(b"", b"", RFC_SIGNATURE)


@pytest.mark.requirement("R12")
@each("made, used", list(itertools.permutations(LABELS, 2)))
def test_a_signature_is_never_valid_under_two_labels(made: bytes, used: bytes) -> None:
    key = SigningKey(RFC_SECRET)
    signature = key.sign(made, b"message")
    key.public.verify(made, b"message", signature)
    with pytest.raises(AuthError):
        key.public.verify(used, b"message", signature)


@pytest.mark.requirement("R12")
def test_no_label_begins_another() -> None:
    assert all(label.endswith(b"/v1\0") and label.count(b"\0") == 1 for label in LABELS)
    assert len(set(LABELS)) == len(LABELS)


@each("signature", [b"", b"0" * 63, b"0" * 64, b"0" * 65])
def test_every_wrong_signature_fails_in_the_same_way(signature: bytes) -> None:
    with pytest.raises(AuthError) as caught:
        SigningKey(RFC_SECRET).public.verify(signing.AUDIT, b"message", signature)
    assert (caught.value.code, caught.value.facts) == ("auth.signature", {})
    assert caught.value.__cause__ is None


@each("size", [0, 31, 33])
def test_a_key_of_another_size_is_refused(size: int) -> None:
    for kind in (SigningKey, VerifyKey):
        with pytest.raises(AuthError) as caught:
            kind(b"k" * size)
        assert caught.value.code == "auth.key-size"


FIELD = 2**255 - 19
ORDER_8 = 0x7A03AC9277FDC74EC6CC392CFA53202A0F67100D760B3CBA4FD84D3D706A17C7
WEAK = {
    **{f"order {order}": y for order, y in ((1, 1), (2, FIELD - 1), (4, 0))},
    "order 8": ORDER_8,
    "order 8, the other": FIELD - ORDER_8,
    **{f"not reduced, {y}": FIELD + y for y in (0, 1, 3, 18)},
}


@pytest.mark.requirement("R12", "R16")
@each("sign_bit", [0, 2**255])
@each("y", WEAK.values())
def test_a_key_under_which_one_signature_fits_everything_is_refused(y: int, sign_bit: int) -> None:
    with pytest.raises(AuthError) as caught:
        VerifyKey((y | sign_bit).to_bytes(32, "little"))
    assert caught.value.code == "auth.key-weak"


def test_a_key_is_named_by_its_hash_and_equal_by_its_bytes() -> None:
    one, same, other = VerifyKey(RFC_PUBLIC), VerifyKey(RFC_PUBLIC), SigningKey.generate().public
    assert one.key_id == "21fe31dfa154a261"
    assert one == same
    assert len({one, same, other}) == 2
    assert one != other
    assert one != RFC_PUBLIC


def test_a_fresh_key_comes_back_from_its_bytes_and_never_shows_them() -> None:
    key = SigningKey.generate()
    assert SigningKey(key.private_bytes()).public == key.public
    assert key.private_bytes().hex() not in repr(vars(key)) + repr(key)
    assert key.public != SigningKey.generate().public
