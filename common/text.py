"""Text for people: bounded by bytes, cut on a character, with nothing hidden or mistaken in it.

Hidden characters (R26) are shown as ``⟨U+202E⟩`` everywhere: terminal, page, dialog, chat, log.
Letters that pass for ASCII ones (R38), so that a name in code is not the name it seems to be, are
told apart by a small table of our own: those that common fonts draw alike (after Unicode TR 39), of
the scripts that have many of them.  Prose in those scripts is let pass; a word that mixes them with
ASCII letters, or that consists of nothing else, is not.  It is advice for a person, no gate.
"""

from __future__ import annotations

import re
import unicodedata
from typing import Final

ELLIPSIS = "…"
CHAT_BYTES = 2048  # WeCom text content, page 90236

_WIDEST = 4  # bytes of one character in UTF-8
_ANSI = re.compile(
    r"\x1b(?:\[[0-?]{0,32}[ -/]{0,8}[@-~]|\][^\x07\x1b]{0,4096}(?:\x07|\x1b\\)?"
    r"|[ -/]{1,4}[0-~]|[0-Z\\-~])"
)
# Default-ignorable and odd-space characters that draw nothing or move what is drawn.
_HIDDEN = re.compile(
    "[\u00ad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200b\u200c\u200e\u200f"
    "\u2028-\u202e\u2060-\u206f\u3164\ufe00-\ufe0e\ufeff\uffa0\ufff9-\ufffb\u00a0\u2000-\u200a"
    "\u1680\u202f\u205f\u2800\U0001bca0-\U0001bca3\U0001d173-\U0001d17a\U000e0000-\U000e0fff]"
    # What joins and colours emoji is fine inside one, and hides things anywhere else.
    "|(?<![\ufe0f\u2190-\u2bff\U0001f000-\U0001faff])\u200d"
    "|\u200d(?![\u2190-\u2bff\U0001f000-\U0001faff])"
    "|(?<![#*0-9\u00a9\u00ae\u203c-\u3299\U0001f000-\U0001faff])\ufe0f"
)
_UNUSUAL = re.compile(r"[^ -~\n\t]+")
_STACKED = 4  # marks on one letter; no script has more, and a tower of them covers other lines
_NO_LETTERS = re.compile(rf"[^\w\x00-\x7f]{{{_STACKED + 1},}}")  # where such marks may be
# A number or a single letter before a dot makes no sentence: ``2. Then …``, ``e.g. this``.
_SENTENCE_END = re.compile(
    r"(?:[。！？；…]|(?<![\d\s.])(?<![\s.][A-Za-z])[.](?=[\s\"'”’)\]])|[!?;](?=[\s\"'”’)\]]))"
    r"[\"'”’」』）】)\]]*[ \t]*"
)
_LINE_END = re.compile(r"\n+")
_BLANK = re.compile(r" +")
# Where a text may be cut, the best first, and how much of the room must then be used.
_ENDS = (
    (_LINE_END, 0.75),
    (re.compile(f"{_SENTENCE_END.pattern}|{_LINE_END.pattern}"), 0.25),
    (_BLANK, 0.5),
)
# What belongs to the character before it: emoji styles and colours, key caps, tags, Hangul vowels.
_JOINED = re.compile(
    "[\u200d\ufe0e\ufe0f\u20e3\u1160-\u11ff\U0001f3fb-\U0001f3ff\U000e0020-\U000e007f]"
)
_FLAGS = re.compile("[\U0001f1e6-\U0001f1ff]+$")
_OPENED = re.compile("⟨[^⟩]*$")
_LONGEST_SIGN = 32  # characters that are drawn as one
_LONGEST_MARK = 8  # ``⟨U+10FFFF`` of what `reveal` shows, without its end
_CJK = re.compile("[\u3400-\u9fff\U00020000-\U0003ffff]")


def clip_bytes(text: str, limit: int, *, marker: str = ELLIPSIS) -> str:
    """Return ``text`` within ``limit`` UTF-8 bytes, cut on a whole character, ending in ``marker``.

    A text that fits comes back unchanged.  ``limit`` below the marker's size gives a bare cut.
    """
    raw = text.encode("utf-8", "replace")
    if len(raw) <= limit:
        return text
    tail = marker.encode()
    if limit < len(tail):
        tail = b""
    cut = len(raw[: limit - len(tail)].decode("utf-8", "ignore"))
    return text[: whole_end(text, cut)].encode("utf-8", "replace").decode() + tail.decode()


def clip_tail_bytes(text: str, limit: int, *, marker: str = ELLIPSIS) -> str:
    """Return the last ``limit`` UTF-8 bytes of ``text``, cut on a character, led by ``marker``.

    A text that fits comes back unchanged.  ``limit`` below the marker's size gives a bare cut.
    """
    raw = text.encode("utf-8", "replace")
    if len(raw) <= limit:
        return text
    head = marker.encode()
    if limit < len(head):
        head = b""
    room = max(limit - len(head), 0)
    kept = raw[len(raw) - room :].decode("utf-8", "ignore")
    begin = len(text) - len(kept)
    whole = range(begin, min(begin + _LONGEST_SIGN, len(text)))
    begin = next((at for at in whole if not _is_joined(text, at)), begin)
    return head.decode() + text[begin:]


def split_bytes(text: str, limit: int) -> list[str]:
    """Split into pieces of at most ``limit`` UTF-8 bytes, at the ends of lines or sentences.

    The pieces joined give the text back.  Takes linear time.

    Raises:
        ValueError: ``limit`` does not hold the widest character (4 bytes).
    """
    if limit < _WIDEST:
        raise ValueError(f"limit must be at least {_WIDEST}")
    pieces: list[str] = []
    start = 0
    while len(window := text[start : start + limit + 1].encode("utf-8", "replace")) > limit:
        end = start + len(window[:limit].decode("utf-8", "ignore"))
        end = _good_end(text, start, end)
        pieces.append(text[start:end])
        start = end
    return [*pieces, text[start:]] if start < len(text) or not pieces else pieces


def _good_end(text: str, start: int, end: int) -> int:
    """Return where to cut: behind a line or a sentence, else a word, else a character.

    Nothing in backquotes is cut through where there is another place.
    """
    room = end - start
    for pattern, least in _ENDS:
        found = [match.end() for match in pattern.finditer(text, start + int(room * least), end)]
        for cut in reversed(found):
            line = text.rfind("\n", start, cut) + 1 or start
            if text.count("`", line, cut) % 2 == 0:
                return cut
    return whole_end(text, end, start)


def whole_end(text: str, end: int, start: int = 0) -> int:
    """Return ``end``, or the place before it that cuts no joined character or mark in two."""
    cut = end
    while start < cut < len(text) and _is_joined(text, cut):
        cut -= 1
    if opened := _OPENED.search(text, max(start, cut - _LONGEST_MARK), cut):
        cut = opened.start()
    return cut if cut > start else end


def _is_joined(text: str, cut: int) -> bool:
    after = text[cut]
    if text[cut - 1] == "\u200d" or _JOINED.match(after) or unicodedata.category(after)[0] == "M":
        return True
    # Two of these letters make a flag.
    flags = _FLAGS.search(text, max(cut - 64, 0), cut) if _FLAGS.match(after) else None
    return flags is not None and len(flags[0]) % 2 == 1


def strip_ansi(text: str) -> str:
    """Remove terminal control sequences."""
    return _ANSI.sub("", text)


def reveal(text: str) -> str:
    """Make every hidden or control character visible; line feed and tab stay as they are."""
    if text.isprintable() and (text.isascii() or not _may_hide(text)):
        return text  # most texts
    marked = _HIDDEN.sub(lambda match: _mark(match[0]), text)
    marked = _NO_LETTERS.sub(lambda match: _unstack(match[0]), marked)
    return _UNUSUAL.sub(lambda match: _reveal_run(match[0]), marked)


def reveal_all(text: str) -> str:
    """Make visible what `reveal` leaves as well: line feeds, tabs, odd blanks such as U+3000."""
    return "".join(char if char.isprintable() else _mark(char) for char in reveal(text))


def has_hidden(text: str) -> bool:
    """Tell whether `reveal` would change the text."""
    return reveal(text) != text


def one_line(text: str, limit: int = 200) -> str:
    """Return the text on one line, revealed and bounded by ``limit`` bytes."""
    begun = " ".join(text.split())[: limit + 1]  # revealed, no character takes less than a byte
    return clip_bytes(reveal(begun), limit)


def has_cjk(text: str) -> bool:
    """Tell whether any Chinese character occurs."""
    return _CJK.search(text) is not None


def _may_hide(text: str) -> bool:
    return _HIDDEN.search(text) is not None or _NO_LETTERS.search(text) is not None


def _unstack(run: str) -> str:
    shown, height = "", 0
    for char in run:
        height = height + 1 if unicodedata.category(char) in ("Mn", "Me") else 0
        shown += _mark(char) if height > _STACKED else char
    return shown


def _reveal_run(run: str) -> str:
    if run.isprintable():
        return run
    return "".join(
        _mark(char) if unicodedata.category(char) in ("Cc", "Cs", "Co", "Cn") else char
        for char in run
    )


def _mark(char: str) -> str:
    return f"⟨U+{ord(char):04X}⟩"


# --- letters that pass for ASCII ones ---

_LOOKALIKES: Final = frozenset(
    "асеорухіјѕһԁԛԝѵӏАВЕКМНОРСТХЅІЈԌԚԜѴӀ"  # Cyrillic
    "αινορυϲϳΑΒΕΖΗΙΚΜΝΟΡΤΥΧϹͿ"  # Greek; not the letters of formulas, such as Δ, λ, μ, π
    "օսոցհյզՕՍՏ"  # Armenian
    "ᎪᎬᎻᎥᎫᏦᏞᎷᏢᎡᏚᎢᏙᎳᏃᏴ"  # Cherokee
    "ɑɡ"  # phonetic
)
# Scripts of the table: a letter of theirs outside it shows that a line really is written in them.
_SCRIPTS: Final = re.compile("[\u0370-\u058f\u13a0-\u13ff]")
# Marks that pass for ; ` . / ! : |
_MARKS: Final = re.compile("[\u037e\u1fef\u2024\u2215\u29f8\u01c3\ua789\u2223\u01c0]")
# Fullwidth ; | & $ ` " ' < > \\ among ASCII: Chinese prose has them between its own characters.
_WIDE_MARKS: Final = re.compile(
    r"(?:^|[\x00-\x7f])\s*[\uff1b\uff5c\uff06\uff04\uff40\uff02\uff07\uff1c\uff1e\uff3c]\s*(?:[\x00-\x7f]|$)"
)
_WORD: Final = re.compile(r"[^\W_]+")
_ASCII_LETTER: Final = re.compile("[A-Za-z]")


def has_confusable(line: str) -> bool:
    """Tell whether something in the line passes for an ASCII letter or mark."""
    if line.isascii():
        return False
    native = any(char not in _LOOKALIKES for char in _SCRIPTS.findall(line))
    if _MARKS.search(line) or _WIDE_MARKS.search(line):
        return True
    return any(
        _is_confusable(word, native=native) for word in _WORD.findall(line) if not word.isascii()
    )


def _is_confusable(word: str, *, native: bool) -> bool:
    alike = sum(char in _LOOKALIKES for char in word)
    if alike == len(word):
        return len(word) > 1 or not native
    if _ASCII_LETTER.search(word) and (alike or any(map(_is_roman_numeral, word))):
        return True
    return any(map(_is_styled, word))


def _is_styled(char: str) -> bool:
    # Fullwidth, mathematical and other dressed-up letters: Python reads them as the plain ones.
    if char.isascii() or unicodedata.category(char) not in ("Lu", "Ll", "Nd"):
        return False
    plain = unicodedata.normalize("NFKC", char)
    return plain.isascii()


def _is_roman_numeral(char: str) -> bool:
    return "\u2160" <= char <= "\u217f"
