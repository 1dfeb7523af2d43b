"""Encodings that a text may be in beside UTF-8, and how its bytes are read and shown.  Pure.

A repository chooses by name from a closed table: each is stateless, and a byte below 0x80 that
stands alone means the same in all of them.  No UTF-16, whose NUL no diff can tell.  Nothing is
guessed.
"""

from __future__ import annotations

import codecs
import re
from collections.abc import Sequence
from encodings.aliases import aliases
from typing import Final

from common.text import has_hidden

UTF8: Final = "utf_8"
_NAMES: Final = (
    "gb18030 gbk gb2312 big5 big5hkscs cp950 shift_jis cp932 euc_jp euc_kr cp949 latin_1 iso8859_2"
    " iso8859_5 iso8859_7 iso8859_9 iso8859_15 cp1250 cp1251 cp1252 cp1253 cp1254 cp1255 cp1256"
    " cp1257 cp1258 cp437 cp850 cp866 koi8_r koi8_u tis_620"
)
CODECS: Final = frozenset(_NAMES.split())
_BOM: Final = b"\xef\xbb\xbf"
# PEP 263: in the first line, or in the second where the first is a comment or blank.
_COOKIE: Final = re.compile(
    rb"(?:[ \t\f]*+(?:#[^\n]*+)?\r?\n)?[ \t\f]*+#[^\n]*?coding[:=][ \t]*+([-\w.]+)"
)
_PYTHON: Final = (".py", ".pyi", ".pyw")
_WIDE: Final = re.compile(r"[^\0-\x7f]")
# The second byte of a character that is one of these means something to whoever reads bytes.
_SIGNS: Final = frozenset(b"@[\\]^`{|}~")
LOW: Final = 0xDC00  # added to a byte that is shown as a number


def known(name: str) -> str | None:
    """Return an encoding as the table names it, None for one that is not in it."""
    plain = re.sub(r"[^a-z0-9]+", "_", name.lower()).strip("_")
    found = aliases.get(plain, plain)
    if found in (UTF8, "utf_8_sig", "utf_8_bom"):
        return UTF8
    return found if found in CODECS else None


def told(encoding: str) -> str:
    """Return its name for people."""
    return encoding.upper().replace("_", "-")


def cookie(path: str, content: bytes) -> str | None:
    """Return the encoding that a Python file declares of itself, None where it declares none."""
    found = _COOKIE.match(content) if path.endswith(_PYTHON) else None
    return known(found[1].decode("ascii", "replace")) if found else None


def misread(path: str, content: bytes) -> str | None:
    """Return what a Python file declares where Python knows it and the table does not.

    In UTF-7 or ``unicode_escape`` a comment of plain ASCII may hold lines that run.
    """
    is_python = path.endswith(_PYTHON) or b"python" in content.split(b"\n", 1)[0]
    found = _COOKIE.match(content) if is_python else None
    name = found[1].decode("ascii", "replace") if found else UTF8
    try:
        codec = codecs.lookup(name)
    except LookupError:
        return None  # nor does it run
    return None if known(name) or codec.name == "ascii" else name


def decoded(content: bytes, encoding: str) -> str | None:
    """Return a text, None where the bytes are none: read strictly, and written back the same."""
    try:
        text = content.decode(encoding)
        return text if text.encode(encoding) == content else None
    except UnicodeError:
        return None


def encoded(text: str, encoding: str) -> bytes:
    """Return the bytes of a text.

    Raises:
        UnicodeEncodeError: it has a character that the encoding has not, or gives back as another.
    """
    content = text.encode(encoding)
    if decoded(content, encoding) != text:
        lost = (at for at, one in enumerate(text) if decoded(one.encode(encoding), encoding) != one)
        at = next(lost, 0)
        raise UnicodeEncodeError(encoding, text, at, at + 1, "")
    return content


def encoding_of(content: bytes, declared: Sequence[str], usual: str | None) -> str | None:
    """Return the first encoding in which the bytes are a text; None where they are none.

    Args:
        content: A whole file.
        declared: For this file.
        usual: For files of its workspace.  Some of them may be UTF-8 all the same: of two ways to
            read a file, the one with fewer characters is meant.
    """
    plain = decoded(content, UTF8)
    if plain is not None and content.startswith(_BOM):
        return UTF8
    for encoding in declared:
        if decoded(content, encoding) is not None:
            return encoding
    own = decoded(content, usual) if usual else None
    if own is not None and (plain is None or len(own) <= len(plain)):
        return usual
    return None if plain is None else UTF8


def line_text(line: bytes, encoding: str) -> str:
    """Return a line for people; a byte to be shown as its number stands as a lone surrogate.

    Who runs a file may not know its encoding.  Where a line read as UTF-8 would hide something, it
    is shown so; a sign of ASCII within a character is shown after it.
    """
    text = None if encoding == UTF8 or line.isascii() else decoded(line, encoding)
    if text is None or has_hidden("".join(_WIDE.findall(line.decode("utf-8", "replace")))):
        return line.decode("utf-8", "surrogateescape")
    return _WIDE.sub(lambda char: char[0] + _signs(char[0].encode(encoding, "ignore")), text)


def in_utf8(content: bytes, encoding: str) -> bytes:
    """Return the same text in UTF-8; what is none in its encoding stays as it is."""
    text = None if encoding == UTF8 else decoded(content, encoding)
    return content if text is None else text.encode()


def _signs(character: bytes) -> str:
    return "".join(chr(LOW + byte) for byte in character if byte in _SIGNS)
