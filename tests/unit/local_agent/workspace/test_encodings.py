"""What a workspace declares of the encodings of its files, and how a hostile one gains nothing."""

from __future__ import annotations

import time
from collections.abc import Mapping

import pytest

from common.encodings import UTF8
from common.errors import InputError
from local_agent.workspace.encodings import Encodings
from tests.each import each

FILES = {
    ".editorconfig": "root = true\n[*.c]\ncharset = gbk\n[{old,older}/**.txt]\ncharset = big5\n",
    "lib/.editorconfig": "[*.{c,h}]\nCharset = latin1 ; as ever\n[inner/*.c]\ncharset = utf-8\n",
    "apart/.editorconfig": "; nothing from above\nroot=true\n[*]\nindent_size = 2\n",
    ".gitattributes": "*.bat text working-tree-encoding=GBK eol=crlf\n"
    "docs/**/old.md working-tree-encoding=GB18030\nnew.bat -working-tree-encoding\n",
    "sub/.gitattributes": "/x.bat working-tree-encoding=UTF-16\n",
}
GBK = "注释\n".encode("gbk")


def declared(files: Mapping[str, str], usual: str | None = None) -> Encodings:
    return Encodings(lambda path: files.get(path, "").encode(), usual)


@each(
    "path, found",
    [
        ("a.c", ("gbk",)),
        ("src/deep/a.c", ("gbk",)),
        ("a.py", ()),
        ("old/a.txt", ("big5",)),
        ("older/a.txt", ("big5",)),
        ("new/a.txt", ()),
        ("lib/a.c", ("latin_1",)),
        ("lib/a.h", ("latin_1",)),
        ("lib/inner/a.c", (UTF8,)),
        ("apart/a.c", ()),
        ("run.bat", ("gbk",)),
        ("sub/y.bat", ("gbk",)),
        ("sub/x.bat", ()),
        ("new.bat", ()),
        ("docs/old.md", ("gb18030",)),
        ("docs/a/b/old.md", ("gb18030",)),
        ("a/docs/old.md", ()),
    ],
)
def test_the_nearest_and_last_rule_that_names_a_file_says_its_encoding(
    path: str, found: tuple[str, ...]
) -> None:
    assert declared(FILES).declared(path) == found


def test_a_file_is_in_the_first_declared_encoding_that_fits() -> None:
    cookie = b"# coding: gbk\n"
    assert declared({}, "gbk").of("a.c", GBK) == "gbk"
    assert declared({}).of("a.c", GBK) is None
    assert declared({}).of("a.py", cookie + GBK) == "gbk"
    assert declared({".editorconfig": "[*]\ncharset=utf-8\n"}, "gbk").of("a.c", GBK) == "gbk"
    assert declared(FILES).of("lib/inner/a.c", GBK) is None
    assert declared(FILES).of("run.bat", b"echo\n") == "gbk", "what comes into it is written so"


def test_new_text_is_written_in_the_encoding_of_its_file_or_refused_by_name() -> None:
    gbk = declared({}, "gbk")
    assert gbk.rewritten("a.c", GBK, "注释→\n".encode()) == ("注释→\n".encode("gbk"), "gbk")
    with pytest.raises(InputError) as refused:
        gbk.rewritten("a.c", GBK, "注释 🚀\n".encode())
    assert refused.value.facts == {"path": "a.c", "encoding": "GBK", "character": "🚀"}
    assert gbk.rewritten("new.c", b"", "🚀\n".encode()) == ("🚀\n".encode(), UTF8)
    # A Python file that says otherwise is written as it says, or nothing could read it.
    before, after = b"# coding: gbk\n" + GBK, "# coding: utf-8\n注释\n".encode()
    assert declared({}).rewritten("a.py", before, after) == (after, UTF8)


def test_hostile_patterns_take_no_time() -> None:
    globs = ("*a" * 100, "/".join(["**"] * 60), "{a,b}" * 60, "[" * 200, "{" * 200 + "," * 200)
    text = "".join(f"[{glob}]\ncharset = gbk\n" for glob in globs)
    began = time.process_time()
    hostile = declared({".editorconfig": text, ".gitattributes": text.replace("[", "")})
    hostile.declared("/".join(["a" * 200] * 5))
    assert time.process_time() - began < 1
