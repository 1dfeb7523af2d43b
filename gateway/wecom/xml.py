"""The XML of WeCom: flat documents in, CDATA out.

Reading refuses everything that WeCom does not send: document types, attributes, comments,
processing instructions, a field given twice, any encoding but UTF-8 (R71).  There are two readers
with one result: an expression for the shape that nearly every callback has, and expat for what
does not fit it, such as entities and nested fields.  What a field means is `messages`' matter.
"""

from __future__ import annotations

import re
from typing import Final, NoReturn
from xml.parsers import expat

from common.errors import RemoteProtocolError

ROOT: Final = "xml"
MAX_DEPTH: Final = 8

# What XML 1.0 forbids below U+0080, and CR, which is legal but is changed by a parser.
_CONTROLS: Final = bytes({*range(32)} - set(b"\t\n"))
_BLANK: Final = r"[ \t\n]*+"
_VALUE: Final = r"(?:<!\[CDATA\[(?P<quoted>[^\]]*+)\]\]>|(?P<bare>[^<&\]]*+))"
_FIELD: Final = re.compile(rf"<(?P<name>[A-Za-z][A-Za-z0-9_]*+)>{_VALUE}</(?P=name)>")
_FLAT: Final = re.compile(
    rf"{_BLANK}<{ROOT}>{_BLANK}(?:{_FIELD.pattern}{_BLANK})*+</{ROOT}>{_BLANK}"
)
_UNWRITABLE: Final = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\ufffe\uffff]")
_SURROGATE: Final = re.compile("[\ud800-\udfff]")


def parse_fields(document: bytes) -> dict[str, str]:
    """Return the fields directly under ``<xml>`` that hold text, each name at most once.

    A field that holds fields itself (``SelectedItems``) is checked and left out.

    Raises:
        RemoteProtocolError: ``xml.malformed``.
    """
    try:
        text = document.decode("utf-8")
    except UnicodeDecodeError:
        raise RemoteProtocolError("xml.malformed") from None
    if not _is_flat(document, text):
        return _Reader().read(document)
    # From behind the root's own tag: an empty root looks like a field.
    pairs = _FIELD.findall(text, text.index(">") + 1)
    fields = {name: quoted or bare for name, quoted, bare in pairs}
    if len(fields) != len(pairs):
        raise RemoteProtocolError("xml.malformed")
    return fields


def _is_flat(document: bytes, text: str) -> bool:
    # What the expression leaves open is checked apart from it: as classes of characters inside
    # it they would make it three times as slow.
    return (
        len(document.translate(None, _CONTROLS)) == len(document)
        and "\ufffe" not in text
        and "\uffff" not in text
        and _FLAT.fullmatch(text) is not None
    )


def cdata(text: str) -> str:
    """Return the text as one CDATA value that any parser reads back.

    ``]]>`` is split over two sections; what XML cannot hold becomes U+FFFD.
    """
    writable = _SURROGATE.sub("\ufffd", _UNWRITABLE.sub("\ufffd", text))
    return f"<![CDATA[{writable.replace(']]>', ']]]]><![CDATA[>')}]]>"


def render_encrypted(*, encrypted: str, signature: str, timestamp: int, nonce: str) -> str:
    """Return the body of an encrypted passive reply (page 90238)."""
    return (
        f"<xml>\n<Encrypt>{cdata(encrypted)}</Encrypt>\n"
        f"<MsgSignature>{cdata(signature)}</MsgSignature>\n"
        f"<TimeStamp>{timestamp}</TimeStamp>\n"
        f"<Nonce>{cdata(nonce)}</Nonce>\n</xml>"
    )


class _Reader:
    """One document through expat, which checks what the expression does not cover."""

    def __init__(self) -> None:
        self._depth = 0
        self._name = ""
        self._nested = False
        self._pieces: list[str] = []
        self._fields: dict[str, str | None] = {}
        # The encoding is ours to say; a declaration in the document does not change it.
        parser = expat.ParserCreate("UTF-8")
        parser.buffer_text = True
        parser.StartElementHandler = self._start
        parser.EndElementHandler = self._end
        parser.CharacterDataHandler = self._text
        parser.StartDoctypeDeclHandler = _refuse
        parser.EntityDeclHandler = _refuse
        parser.ProcessingInstructionHandler = _refuse
        parser.CommentHandler = _refuse
        parser.ExternalEntityRefHandler = _refuse
        self._parser = parser

    def read(self, document: bytes) -> dict[str, str]:
        """Return the text fields of the document."""
        try:
            self._parser.Parse(document, True)
        except expat.ExpatError:
            raise RemoteProtocolError("xml.malformed") from None
        return {name: text for name, text in self._fields.items() if text is not None}

    def _start(self, name: str, attributes: dict[str, str]) -> None:
        self._depth += 1
        if attributes or self._depth > MAX_DEPTH or (self._depth == 1 and name != ROOT):
            _refuse()
        if self._depth == 2:
            if name in self._fields:
                _refuse()
            self._name, self._nested, self._pieces = name, False, []
        elif self._depth > 2:
            self._nested = True

    def _end(self, _name: str) -> None:
        if self._depth == 2:
            self._fields[self._name] = None if self._nested else "".join(self._pieces)
        self._depth -= 1

    def _text(self, text: str) -> None:
        if self._depth == 2:
            self._pieces.append(text)
        elif self._depth == 1 and text.strip(" \t\n\r"):
            _refuse()


def _refuse(*_parts: object) -> NoReturn:
    raise RemoteProtocolError("xml.malformed")
