"""Encodings beside UTF-8: which there are, when a text is one, and what of it is shown."""

from __future__ import annotations

import pytest

from common.encodings import (
    CODECS,
    UTF8,
    cookie,
    decoded,
    encoded,
    encoding_of,
    known,
    line_text,
)
from tests.each import each

GBK = "# 注释测试\n".encode("gbk")


def test_every_encoding_of_the_table_has_ascii_as_it_is_and_no_line_end_within_a_character() -> (
    None
):
    ascii_bytes = bytes(range(0x80))
    for codec in CODECS:
        assert ascii_bytes.decode(codec) == ascii_bytes.decode("ascii"), codec
        high = (bytes((one, other)) for one in range(0x80, 0x100) for other in range(0x30))
        texts = (text for pair in high if (text := decoded(pair, codec)))
        assert all(len(text) == 2 for text in texts), codec


@each(
    "name, codec",
    [
        *((name, "gbk") for name in ("gbk", "GBK", "cp936")),
        ("GB18030", "gb18030"),
        ("Shift_JIS", "shift_jis"),
        ("windows-1252", "cp1252"),
        ("latin1", "latin_1"),
        *((name, UTF8) for name in ("utf-8", "utf-8-bom", "UTF8")),
        *((name, None) for name in ("idna", "rot13", "utf-7", "unicode_escape", "utf-16", "hz")),
        *((name, None) for name in ("punycode", "iso2022_jp", "cp037", "os", "")),
    ],
)
def test_an_encoding_is_chosen_by_name_from_the_table_alone(name: str, codec: str | None) -> None:
    assert known(name) == codec


@each(
    "content, codec",
    [
        (b"# -*- coding: gbk -*-\n", "gbk"),
        (b"#!/usr/bin/python3\n# vim: set fileencoding=big5 :\n", "big5"),
        (b"\n# coding=gbk\n", "gbk"),
        (b"x = 1\n# coding: gbk\n", None),
        (b"\n\n# coding: gbk\n", None),
        (b"# coding: rot13\n", None),
    ],
)
def test_a_python_file_declares_its_encoding_as_pep_263_has_it(
    content: bytes, codec: str | None
) -> None:
    assert cookie("a.py", content) == codec
    assert cookie("a.c", content) is None


@each(
    "content, declared, usual, found",
    [
        (GBK, ["gbk"], None, "gbk"),
        (GBK, [], "gbk", "gbk"),
        ("朱镕基".encode("gbk"), ["gb2312", "gb18030"], None, "gb18030"),
        (GBK, [], None, None),
        ("朱镕基".encode("gbk"), ["gb2312"], None, None),
        # A file of two encodings is text in neither.
        (GBK + "测".encode(), ["gbk"], "gbk", None),
        ("测试".encode(), ["gbk"], None, "gbk"),
        # The setting is of a whole workspace, in which UTF-8 is at home too.
        ("测试\n".encode(), [], "gbk", UTF8),
        ("größer".encode(), [], "latin_1", UTF8),
        ("größer".encode("latin-1"), [], "latin_1", "latin_1"),
        ("颜".encode("gbk"), [], "gbk", "gbk"),
        (b"\xef\xbb\xbf" + "中文".encode(), ["gbk"], "gbk", UTF8),
    ],
)
def test_the_first_encoding_that_fits_whole_is_that_of_a_file(
    content: bytes, declared: list[str], usual: str | None, found: str | None
) -> None:
    assert encoding_of(content, declared, usual) == found


def test_what_an_encoding_gives_back_as_another_character_is_refused() -> None:
    for text, at in (("a→é", 2), ("a¥b", 1), ("注😀", 1)):
        codec = "gbk" if text != "a¥b" else "shift_jis"
        with pytest.raises(UnicodeEncodeError) as caught:
            encoded(text.replace("é", "ŵ"), codec)
        assert caught.value.start == at


@each(
    "line, codec, text",
    [
        ("// 注释".encode("gbk"), "gbk", "// 注释"),
        # Whoever runs it may read bytes, and finds a pipe, or reads UTF-8, and finds a line end.
        (b"echo \x81|rm -rf x", "gbk", "echo 亅\udc7crm -rf x"),
        ("功".encode("big5"), "big5", "功\udc5c"),
        (b"// \xe2\x80\xa8evil()", "gbk", "// \u2028evil()"),
        (b"caf\xe9", UTF8, "caf\udce9"),
        (b"\xff\xff", "gbk", "\udcff\udcff"),
        (b"\x88b|", "big5hkscs", "\xca\u0304|"),  # two characters, and one alone has no bytes
    ],
)
def test_a_line_is_shown_as_text_and_whatever_else_it_may_be_stands_there_too(
    line: bytes, codec: str, text: str
) -> None:
    assert line_text(line, codec) == text
