"""Whether a line defines a name, by the customs of the usual languages.  Pure.

No parser: a line that looks like a definition puts its file before those that only use the name.
"""

from __future__ import annotations

import re
from functools import lru_cache
from typing import Final

# Words that stand before them, in any number: `export default async function`, `pub(crate) fn`.
_BEFORE: Final = (
    r"(?:(?:export|default|declare|abstract|async|static|final|sealed|open|override|inline|extern"
    r"|public|private|protected|internal|unsafe|virtual|readonly|suspend|data|partial"
    r"|pub(?:\([\w\s:]{1,40}\))?|const)\s+){0,6}"
)
_KEYWORDS: Final = (
    r"(?:def|class|function\*?|func|fn|fun|type|interface|struct|enum|trait|impl|union|record"
    r"|protocol|module|namespace|package|macro_rules!|const|let|var|val|static|object|extension"
    r"|typedef|#define|sub|proc|procedure|defp|defmodule|defmacro|message|service|rpc|table|view"
    r"|CREATE\s+(?:TABLE|VIEW|FUNCTION|PROCEDURE|INDEX))"
)
_RECEIVER: Final = r"(?:\([^()]{0,80}\)\s*)?"  # Go: func (s *Server) Name
_TYPE: Final = r"(?:[A-Za-z_][\w:<>,*&\[\]. ]{0,60}[\s*&]+)"


@lru_cache(maxsize=64)
def _patterns(name: str) -> tuple[re.Pattern[str], ...]:
    word = re.escape(name)
    return (
        re.compile(
            rf"^\s*{_BEFORE}{_KEYWORDS}\s+(?:mut\s+)?{_RECEIVER}(?:[\w.]+(?:\.|::))?{word}(?!\w)",
            re.IGNORECASE,
        ),
        # NAME = …, NAME: type = …, at the margin or of an object; not NAME == …
        re.compile(rf"^\s{{0,8}}(?:self\.|this\.)?{word}\s*(?::[^=\n]{{1,60}})?=(?![=>~])"),
        re.compile(rf"^\s*['\"]?{word}['\"]?\s*:\s*(?:async\s+)?(?:function\b|\()"),
        # C and Java: a type, the name and a parenthesis, with no dot, return or assignment before.
        re.compile(
            rf"^\s*(?!(?:return|await|new|throw|else|yield|case|raise|goto|delete|not|print)\b)"
            rf"{_TYPE}(?:\w+::)?{word}\s*\([^;]*$"
        ),
        # A shell function, a rule of a makefile, a method of JavaScript.
        re.compile(rf"^\s*(?:async\s+|static\s+)?{word}\s*\([^()]{{0,200}}\)\s*\{{"),
        re.compile(rf"^{word}\s*:(?![=:])"),
    )


def defines(line: str, name: str) -> bool:
    """Tell whether this line of code looks like the place where the name is defined.

    Args:
        line: Its beginning suffices.
        name: An identifier; of a dotted one the last part.
    """
    return any(pattern.search(line) for pattern in _patterns(name))


def last_part(name: str) -> str:
    """Return what a qualified name names: ``login`` of ``Session.login`` and ``auth::login``."""
    return re.split(r"\.|::|->", name)[-1]
