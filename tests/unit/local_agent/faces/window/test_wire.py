"""One order in, one answer out; whatever else comes out of the window is no decision."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any

import pytest

from common.errors import AuthError, CodexBridgeError, RemoteProtocolError
from local_agent.faces.window.wire import (
    MAX_ANSWER,
    Answer,
    Order,
    decode_answer,
    decode_order,
    encode_answer,
    encode_order,
)
from local_agent.views.question import ApprovalView
from tests.each import each

SHOWN = ApprovalView(
    approval_id="a-1",
    short_id="T-7K3F",
    digest="d" * 64,
    seal="{}",
    state="pending",
    risk="normal",
    reasons=(),
    blocked="",
    expires_at=1,
    text="修复",
    machine="build-1",
    workspace="shop",
    can_narrow=False,
    can_check=False,
)
ORDER = Order(
    shown=SHOWN,
    nonce="5e" * 16,
    lang="zh",
    theme="dark",
    lasts_s=600,
)
BODY = encode_order(ORDER, None).partition(b"\n")[2]
ANSWER = Answer(approval_id="a-1", digest="d" * 64, nonce="5e" * 16, decision="approve")


def told(body: bytes) -> bytes:
    return b"%d -\n%s" % (len(body), body)


@each("diff", [None, b"", b"--- a\n+++ b\n\xff\x00"])
def test_an_order_comes_through_whole(diff: bytes | None) -> None:
    assert decode_order(encode_order(ORDER, diff)) == (ORDER, diff)


@each(
    "raw",
    [
        b"",
        b"probe\n",
        b"2 -\n{}",
        b"2 -\n{}x",
        b"3 -\n{}",
        b"01 -\n{",
        b"2 5\n{}diff",
        b"9999999999 -\n{}",
        encode_order(ORDER, b"diff")[:-1],
        encode_order(ORDER, b"diff") + b"x",
        encode_order(replace(ORDER, lang="fr"), None),  # type: ignore[arg-type]  # as on the wire
        encode_order(replace(ORDER, theme="pink"), None),  # type: ignore[arg-type]  # same
        told(json.dumps(json.loads(BODY) | {"shown": []}).encode()),
        told(BODY.replace(b'"shop"', b"[]")),
        told(BODY.replace(b'"machine":"build-1",', b"")),
    ],
)
def test_an_order_that_is_not_whole_is_refused(raw: bytes) -> None:
    with pytest.raises(RemoteProtocolError) as caught:
        decode_order(raw)
    assert caught.value.code == "window.order"


@pytest.mark.requirement("R27")
@each("decision", ["approve", "reject", "none", "narrow", "check"])
def test_an_answer_comes_through_whole(decision: Any) -> None:
    answer = replace(ANSWER, decision=decision, typed="7K3F-9Q2M", keep=("a b.py", "ü.py"))
    assert decode_answer(encode_answer(answer), ORDER) == answer


@pytest.mark.requirement("R27")
@each(
    "raw",
    [
        b"",
        b"\n",
        b"approve\n",
        b"true\n",
        b"[]\n",
        encode_answer(ANSWER)[:-1],
        encode_answer(ANSWER) * 2,
        encode_answer(ANSWER) + b"\n",
        b"\n" + encode_answer(ANSWER),
        b" " * MAX_ANSWER + encode_answer(ANSWER),
    ],
)
def test_anything_but_one_line_is_no_decision(raw: bytes) -> None:
    with pytest.raises(CodexBridgeError) as caught:
        decode_answer(raw, ORDER)
    assert caught.value.code in ("window.answer", "json.malformed", "json.too-large")


@pytest.mark.requirement("R27")
@each(
    "change",
    [
        {"decision": "yes"},
        {"decision": True},
        {"digest": None},
        {"typed": "x" * 65},
        {"keep": "all"},
        {"keep": [1]},
        {"extra": 1},
        {"typed": ...},
    ],
)
def test_an_answer_in_any_other_form_is_no_decision(change: dict[str, Any]) -> None:
    fields = json.loads(encode_answer(ANSWER)) | change
    fields = {name: value for name, value in fields.items() if value is not ...}
    with pytest.raises(RemoteProtocolError) as caught:
        decode_answer(json.dumps(fields).encode() + b"\n", ORDER)
    assert caught.value.code == "window.answer"


@pytest.mark.requirement("R27")
@each("change", [{"approval_id": "a-2"}, {"digest": "e" * 64}, {"nonce": ""}, {"nonce": "5f" * 16}])
def test_an_answer_to_something_else_is_no_decision(change: dict[str, Any]) -> None:
    with pytest.raises(AuthError) as caught:
        decode_answer(encode_answer(replace(ANSWER, **change)), ORDER)
    assert caught.value.code == "window.other"
