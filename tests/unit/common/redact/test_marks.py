"""Numbers of people are taken out where that is asked for, and only where they are right."""

from __future__ import annotations

import pytest

from common.redact import redact, redact_lines
from tests.each import each

# Test numbers of the standards and of card schemes; none was given to anybody.
IDENTITY = "11010519491231" + "002X"
CARD = "4111 1111 " + "1111 1111"
MOBILE = "138" + "00138000"


@pytest.mark.requirement("R54")
@pytest.mark.parametrize(
    ("text", "shown"),
    [
        (f"身份证{IDENTITY}。", "身份证[redacted:identity]。"),
        (IDENTITY.lower(), "[redacted:identity]"),
        (f"call +86 {MOBILE} now", "call [redacted:phone] now"),
        (f"手机号：{MOBILE[:3]}-{MOBILE[3:7]}-{MOBILE[7:]}", "手机号：[redacted:phone]"),
        (MOBILE, "[redacted:phone]"),
        (f"card {CARD}", "card [redacted:card]"),
        (CARD.replace(" ", ""), "[redacted:card]"),
    ],
)
def test_numbers_of_people_go_when_asked(text: str, shown: str) -> None:
    assert redact(text, personal=True) == shown
    assert redact_lines(text, personal=True) == shown
    assert redact(text) == text


@each(
    "text",
    [
        IDENTITY[:-1] + "1",
        "110105194913310021",  # there is no month 13
        "4111 1111 1111 1112",
        "20260301123456789",
        "1453488539181080577",
        "12800138000",
        "id 138001380001",
        "4111 1111 1111 1111 1111 11",
        "3.13800138000",
        "192.168.100.200:8080",
    ],
)
def test_other_numbers_stay(text: str) -> None:
    assert redact(text, personal=True) == text
