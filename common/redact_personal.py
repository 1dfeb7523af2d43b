"""Numbers of people: Chinese identity cards, mobile telephones, bank cards; by option only (R54).

A number counts when its check digit is right, so that few other numbers are taken for one.  Pure.
"""

from __future__ import annotations

import re
from typing import Final

_IDENTITY: Final = re.compile(
    r"(?<![0-9A-Za-z])[1-9][0-9]{5}(?:18|19|20)[0-9]{2}(?:0[1-9]|1[0-2])(?:0[1-9]|[12][0-9]|3[01])"
    r"[0-9]{3}[0-9Xx](?![0-9A-Za-z])"
)
_MOBILE: Final = re.compile(
    r"(?<![0-9A-Za-z.])(\+?86[ -]?)?1[3-9][0-9][ -]?[0-9]{4}[ -]?[0-9]{4}(?![0-9A-Za-z])"
)
_CARD: Final = re.compile(
    r"(?<![0-9A-Za-z.])(?:[3-6][0-9]{3}[ -]?(?:[0-9]{4}[ -]?){2,3}[0-9]{1,7})(?![0-9A-Za-z])"
)
_WEIGHTS: Final = (7, 9, 10, 5, 8, 4, 2, 1, 6, 3, 7, 9, 10, 5, 8, 4, 2)  # GB 11643
_CHECKS: Final = "10X98765432"


def without_personal(text: str) -> str:
    """Return the text without the numbers of people."""
    text = _IDENTITY.sub(_identity, text)
    text = _CARD.sub(_card, text)
    return _MOBILE.sub("[redacted:phone]", text)


def _identity(match: re.Match[str]) -> str:
    number = match[0].upper()
    total = sum(int(digit) * weight for digit, weight in zip(number, _WEIGHTS, strict=False))
    return "[redacted:identity]" if _CHECKS[total % 11] == number[17] else match[0]


def _card(match: re.Match[str]) -> str:
    digits = [int(char) for char in match[0] if char.isdigit()]
    if not 13 <= len(digits) <= 19:
        return match[0]
    # Luhn, ISO/IEC 7812-1
    total = sum(digits[-1::-2]) + sum(sum(divmod(2 * digit, 10)) for digit in digits[-2::-2])
    return match[0] if total % 10 else "[redacted:card]"
