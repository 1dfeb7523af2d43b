"""Passwords as arguments of well-known tools, and in their files (R54).  Pure, in linear time."""

from __future__ import annotations

import re
from typing import Final

from common.redact_values import is_stand_in, looks_random

_ARGS: Final = r"[^\r\n|;&]{0,200}?"
_WORD: Final = r"([\"']?)([^\s\"'|;&<>]{1,512}+)"
# What must stand in a text for the pattern to find anything, and the pattern.
_PATTERNS: Final = (
    ((" -p",), re.compile(rf"(\bmysql\w{{0,12}}\b{_ARGS}[ ]-p)(?![ ]){_WORD}")),
    (
        (" -p", " -P", " -a", " -w"),
        re.compile(
            rf"((?:\bsshpass{_ARGS}[ ]-p|\b(?:docker|podman|registry|oras|crane)[ ]{{1,4}}login"
            rf"{_ARGS}[ ]-p|\bredis-cli{_ARGS}[ ]-a|\bldap\w{{3,12}}{_ARGS}[ ]-w"
            rf"|\bmongo\w{{0,8}}{_ARGS}[ ]-p|\b(?:7z|unzip|zip){_ARGS}[ ]-P)[ =]?){_WORD}"
        ),
    ),
    (
        (" -u", " -U", "--user", "--proxy-user"),
        re.compile(
            rf"((?:[ ]-[uU]|--(?:proxy-)?user)[ =]?[\"']?[\w.%@+-]{{1,64}}:){_WORD}", re.ASCII
        ),
    ),
    (("/user:",), re.compile(rf"(/user:[^\s]{{1,64}}[ ]){_WORD}")),
    (
        (" '", ' "'),
        re.compile(r"(?i:(\b(?:identified[ ]by|password)[ ]))(['\"])([^'\"\r\n]{4,512}+)"),
    ),
    (  # .pgpass
        (":*:", ":5", ":6"),
        re.compile(
            r"(?m)((?:^|(?<=[\s+>]))[^\s:/]{1,128}+:(?:\*|[56]\d{3}):[\w*-]{1,64}:[\w*-]{1,64}:)()"
            r"(\S{1,512}+)",
            re.ASCII,
        ),
    ),
)
_BASIC_AUTH: Final = re.compile(
    r"([\"']?\b_?auth[\"']?[ ]?[:=][ ]?[\"']?)([A-Za-z0-9+/]{12,}+={0,2})"
)


def without_arguments(text: str) -> str:
    """Return the text without passwords that are arguments, and without those of tools' files."""
    for needles, pattern in _PATTERNS:
        if any(needle in text for needle in needles):
            text = pattern.sub(_argument, text)
    return _BASIC_AUTH.sub(_basic, text)


def _argument(match: re.Match[str]) -> str:
    value = match[3]
    if is_stand_in(value) or (value.isdigit() and len(value) < 6):
        return match[0]
    return f"{match[1]}{match[2]}[redacted]"


def _basic(match: re.Match[str]) -> str:
    return match[1] + "[redacted]" if looks_random(match[2], least=12) else match[0]
