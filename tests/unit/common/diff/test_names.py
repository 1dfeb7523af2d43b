"""Names are unquoted as git does it, and mean one file on every system (R34)."""

from __future__ import annotations

import pytest

from common.diff.names import checked_path, quoted, quoted_prefix, twin_key, unquote
from common.errors import InputError
from tests.each import each


def _why(name: str | bytes) -> object:
    with pytest.raises(InputError) as caught:
        checked_path(name if isinstance(name, bytes) else name.encode())
    assert caught.value.code == "diff.name"
    return caught.value.facts["why"]


@pytest.mark.requirement("R34")
@pytest.mark.parametrize(
    ("token", "name"),
    [
        (b"x", b"x"),
        (b'"x"', b"x"),
        (b'"\\056git/hooks"', b".git/hooks"),
        (b'"\\a\\b\\f\\n\\r\\t\\v\\"\\\\"', b'\a\b\f\n\r\t\v"\\'),
        (b'"\\345\\233\\276"', "图".encode()),
    ],
)
def test_a_name_is_unquoted_as_git_quotes_it(token: bytes, name: bytes) -> None:
    assert unquote(token) == name


@each("token", [b'"', b'"x', b'x"', b'x"y', b'"x"y"', b'"\\x41"', b'"\\400"', b'"\\1"', b'"\\"'])
def test_broken_quotes_are_refused(token: bytes) -> None:
    with pytest.raises(InputError) as caught:
        unquote(token)
    assert caught.value.facts == {"why": "quoting"}


@each("name", [b"x", b"a b", "图".encode(), b'say "x"'])
def test_a_name_written_and_read_is_the_same(name: bytes) -> None:
    assert unquote(quoted(name)) == name
    assert quoted_prefix(quoted(name) + b" ") in (b"", quoted(name))


@pytest.mark.requirement("R34")
@each(
    "name",
    [
        "x", "a/b/c.txt", "图/说明.md", ".gitignore", ".github/workflows/x.yml", "git", "git/x",
        "gitx", "x.git", "con1", "com", "console.py", "nul-x", "aux_.py", "a..b", "...a",
        "[id].tsx",
        "e\u0301", "rocket🚀.md", "~x", "backup~", "a~b", "longname~1", "-x", "x y", "a\u00b7b",
        "n" * 255, "/".join(["d" * 200] * 5)[:1024],
    ],
)  # fmt: skip
def test_an_ordinary_name_is_accepted(name: str) -> None:
    assert checked_path(name.encode()) == name


@pytest.mark.requirement("R34")
@each(
    "name, why",
    [
        (b"\xff", "encoding"),
        (b"\xed\xa0\x80", "encoding"),
        (b"\xc0\xae\xc0\xae", "encoding"),
        ("x/" * 512 + "x", "too-long"),
        ("n" * 256, "too-long"),
        ("图" * 86, "too-long"),
        ("a\tb", "hidden"), ("a\nb", "hidden"), ("a\rb", "hidden"), ("a\x1bb", "hidden"),
        ("a\x7fb", "hidden"), ("a\u0085b", "hidden"), ("a\u202eb", "hidden"),
        ("a\u200bb", "hidden"), ("a\u00a0b", "hidden"), ("a\u3000b", "hidden"),
        ("a\u2028b", "hidden"), ("a\ufe0fb", "hidden"), ("\U0001f468\u200d\U0001f469", "hidden"),
        ("a\U000e0041b", "hidden"), ("a\u3164b", "hidden"), ("a\ue000b", "hidden"),
        ("a\\b", "character"), ("c:x", "character"), ("x::$INDEX_ALLOCATION", "character"),
        ("a\uff0fb", "character"), ("a\uff3cb", "character"), ("a\uff1ab", "character"),
        ("/etc/passwd", "absolute"), ("//x", "absolute"),
        ("", "component"), ("a//b", "component"), ("a/", "component"), (".", "component"),
        ("..", "component"), ("a/../b", "component"), ("./a", "component"), (" a", "component"),
        ("a ", "component"), ("a /b", "component"), ("a./b", "component"), ("a.", "component"),
        ("\u2025", "component"), ("\uff0e\uff0e/x", "component"),
        (".git", "git"), (".GIT/config", "git"), ("a/.Git/x", "git"), ("git~1", "git"),
        ("GIT~2/x", "git"), (".g\u0131t/x", "git"), ("\uff0egit/x", "git"),
        (".\uff47\uff49\uff54", "git"), ("\u2024git", "git"),
        ("con", "device"), ("a/NUL", "device"), ("aux.txt", "device"), ("com1", "device"),
        ("LPT9.tar.gz", "device"), ("com\u00b9", "device"), ("conin$", "device"),
        ("nul .txt", "device"), ("\uff43on", "device"),
        ("progra~1", "alias"), ("a/SECRET~2.txt", "alias"), ("x/..namedfork/rsrc", "alias"),
    ],
)  # fmt: skip
def test_a_name_that_may_mean_something_else_is_refused(name: str | bytes, why: str) -> None:
    assert _why(name) == why


@pytest.mark.requirement("R34")
@each("part", ["\u200c", "\u200d", "\u200e", "\u202a", "\u206a", "\ufeff"])
def test_what_macos_leaves_out_of_a_name_cannot_hide_git(part: str) -> None:
    assert _why(f".g{part}it/config") == "hidden"


@pytest.mark.parametrize(
    ("one", "other"),
    [("x", "X"), ("é", "e\u0301"), ("\uff41", "A"), ("straße", "STRASSE"), ("\u212a", "k"),
     ("a\u200db", "ab"), ("ı", "I")],
)  # fmt: skip
def test_names_that_some_file_system_takes_for_one_are_twins(one: str, other: str) -> None:
    assert twin_key(one) == twin_key(other)


def test_names_that_differ_are_no_twins() -> None:
    assert len({twin_key(name) for name in ("a", "b", "a/b", "ab", "а", "图", "圖")}) == 7
