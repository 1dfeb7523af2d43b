"""Which of our errors a failed turn is."""

from __future__ import annotations

from typing import Any

import pytest

from local_agent.models.codex.faults import of_turn, said

KEY = "key-of-the-model-0123456789"


def failed(info: Any, message: str = "") -> dict[str, Any]:
    return {"message": message, "codexErrorInfo": info, "additionalDetails": None}


# The first ten as 0.169.0 told them of a scripted service.
@pytest.mark.parametrize(
    ("error", "code"),
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
