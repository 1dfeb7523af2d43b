"""Which of our errors a refusal is: of a provider, and of a turn of codex."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from local_agent.models.faults import SAID_BYTES, of_refusal, of_status, of_turn, said
from tests.each import each


def body(**error: Any) -> bytes:
    return json.dumps({"error": error}).encode()


@pytest.mark.parametrize(
    ("status", "code"),
    [
        (301, "model.request"),
        (307, "model.request"),
        (400, "model.request"),
        (401, "model.key"),
        (402, "model.quota"),
        (403, "model.key"),
        (404, "model.not-found"),
        (413, "model.context"),
        (422, "model.request"),
        (429, "model.busy"),
        (500, "model.server"),
        (503, "model.server"),
        (529, "model.server"),
        (204, "model.server"),
        (999, "model.server"),
    ],
)
@pytest.mark.parametrize("sent", [b"", b"<html>", b"[]", b'"no"', b'{"error": 7}', b"\xff{"])
def test_a_status_alone_tells_what_happened(status: int, code: str, sent: bytes) -> None:
    assert of_status(status, sent).code == code


@pytest.mark.parametrize(
    ("status", "error", "code"),
    [
        (429, {"type": "insufficient_quota", "code": "insufficient_quota"}, "model.quota"),
        (429, {"code": "1113", "message": "账户已欠费"}, "model.quota"),
        (400, {"type": "Arrearage", "code": "Arrearage"}, "model.quota"),
        (429, {"type": "exceeded_current_quota_error"}, "model.quota"),
        (400, {"code": "context_length_exceeded"}, "model.context"),
        (400, {"type": "exceed_context_size_error", "code": 400}, "model.context"),
        (
            400,
            {"code": 400, "message": "This model's maximum context length is 4096"},
            "model.context",
        ),
        (400, {"message": "Range of input length should be [1, 30720]"}, "model.context"),
        (400, {"code": "data_inspection_failed"}, "model.declined"),
        (400, {"code": "content_filter"}, "model.declined"),
        (400, {"code": "invalid_api_key"}, "model.key"),
        (400, {"code": "model_not_found"}, "model.not-found"),
        (400, {"message": "Unsupported parameter: 'max_tokens'"}, "model.request"),
        (500, {"code": "server_is_overloaded"}, "model.busy"),
        (400, {"code": None, "type": ["x"]}, "model.request"),
    ],
)
def test_type_and_code_tell_it_more_exactly(status: int, error: dict[str, Any], code: str) -> None:
    assert of_status(status, body(**error)).code == code


@pytest.mark.parametrize(
    ("answer", "code"),
    [
        ({"error": {"code": "rate_limit_exceeded", "message": "slow"}}, "model.busy"),
        ({"error": {"code": "server_error", "message": "oops"}}, "model.server"),
        ({"type": "error", "code": "invalid_prompt", "message": "no"}, "model.declined"),
        ({"error": {"type": "invalid_request_error", "message": "no"}}, "model.request"),
        ({"error": "plain words"}, "model.server"),
        ({"error": None}, "model.server"),
    ],
)
def test_an_error_within_a_stream_has_no_status(answer: object, code: str) -> None:
    assert of_refusal(answer).code == code


@pytest.mark.requirement("R54")
def test_its_words_are_kept_on_one_line_without_secrets() -> None:
    key = "a-key-of-no-known-form"
    message = f"Incorrect\nkey {key}; use sk-{'a' * 40} \u202e now " + "x" * 500
    error = of_status(401, body(message=message), key=key)
    said = str(error.facts["said"])
    assert error.facts["why"] == "said"
    assert said.startswith("Incorrect key [redacted:own]; use [redacted:key]")
    assert "\n" not in said
    assert "\u202e" not in said
    assert len(said.encode()) <= SAID_BYTES


def test_where_it_has_no_words_none_are_made_up() -> None:
    assert of_status(429, b"").facts == {}
    assert of_status(307, body(message="moved")).facts == {"why": "redirect"}


@given(st.integers(300, 600), st.binary(max_size=300))
def test_whatever_it_sends_there_is_one_error(status: int, sent: bytes) -> None:
    assert of_status(status, sent).code.startswith("model.")


KEY = "key-of-the-model-0123456789"


def failed(info: Any, message: str = "") -> dict[str, Any]:
    return {"message": message, "codexErrorInfo": info, "additionalDetails": None}


# The first ten as 0.169.0 told them of a scripted service.
@each(
    "error, code",
    [
        (failed({"httpConnectionFailed": {"httpStatusCode": 401}}), "model.key"),
        (failed({"responseTooManyFailedAttempts": {"httpStatusCode": 429}}), "model.busy"),
        (failed("internalServerError"), "model.server"),
        (failed({"httpConnectionFailed": {"httpStatusCode": 503}}), "model.server"),
        (failed({"httpConnectionFailed": {"httpStatusCode": None}}), "model.unreachable"),
        (failed("contextWindowExceeded"), "model.context"),
        (failed("usageLimitExceeded"), "model.quota"),
        (failed("modelNotFound"), "model.not-found"),
        (failed("other", "stream disconnected before completion: closed"), "model.cut"),
        (failed("other", '{"error": {"message": "nope"}}'), "model.request"),
        (failed("other", "Incomplete response returned, reason: other"), "model.cut"),
        (failed("other", "Incomplete response returned, reason: content_filter"), "model.declined"),
        (failed("other", "Missing environment variable: `X`."), "model.key"),
        (failed("rateLimitExceeded"), "model.busy"),
        (failed("serverOverloaded"), "model.server"),
        (failed("cyberPolicy"), "model.declined"),
        (failed({"httpConnectionFailed": {"httpStatusCode": 403}}), "model.key"),
        (failed({"httpConnectionFailed": {"httpStatusCode": 404}}), "model.not-found"),
        (failed({"httpConnectionFailed": {"httpStatusCode": 402}}), "model.quota"),
        (failed({"httpConnectionFailed": {"httpStatusCode": 418}}), "model.request"),
        (failed({"responseStreamDisconnected": {"httpStatusCode": None}}), "model.cut"),
        (failed({"responseStreamConnectionFailed": "?"}), "model.unreachable"),
        (failed("aNameOfTomorrow"), "model.request"),
        (failed({"a": 1, "b": 2}), "model.request"),
        (failed(["x"]), "model.request"),
        ({"message": 5}, "model.request"),
        (None, "model.request"),
    ],
)
def test_a_failed_turn_is_one_of_our_errors(error: object, code: str) -> None:
    assert of_turn(error, key=None).code == code


def test_an_answer_that_reached_the_bound_of_its_length_is_told_so() -> None:
    error = of_turn(
        failed("other", "Incomplete response returned, reason: max_output_tokens"), key=None
    )
    assert (error.code, error.facts) == ("model.cut", {"why": "length"})


def test_words_are_told_on_one_line_without_secrets() -> None:
    told = of_turn(failed("badRequest", f"bad\nkey {KEY} " + "x" * 500), key=KEY).facts
    assert told["why"] == "said"
    words = str(told["said"])
    assert KEY not in words
    assert "\n" not in words
    assert len(words.encode()) <= 200


def test_without_words_nothing_is_said() -> None:
    assert of_turn(failed("badRequest"), key=None).facts == {}
    assert said(" \n", key=KEY) == {}
