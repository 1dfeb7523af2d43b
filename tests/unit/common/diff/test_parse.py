"""What is accepted as a diff, what is refused, at which line, and where the limits are."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from common.diff.model import MAX_BYTES, MAX_FILES, MAX_HUNKS, FileDiff, Hunk
from common.diff.parse import parse_diff
from common.errors import InputError
from tests.each import each

TITLE = "diff --git a/x b/x\n"
SIDES = "--- a/x\n+++ b/x\n"
HUNK = "@@ -1 +1 @@\n-a\n+b\n"
RENAME = "diff --git a/x b/y\nrename from x\nrename to y\n"
OPEN = "\\ No newline at end of file\n"


def _bytes(text: str | bytes) -> bytes:
    return text if isinstance(text, bytes) else text.encode()


def _one(text: str | bytes) -> FileDiff:
    (file,) = parse_diff(_bytes(text)).files
    return file


def _refusal(text: str | bytes) -> tuple[str, object, object]:
    with pytest.raises(InputError) as caught:
        parse_diff(_bytes(text))
    return caught.value.code, caught.value.facts.get("why"), caught.value.facts.get("line")


# --- accepted ---


@pytest.mark.requirement("R32")
@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (
            TITLE + "index 1234567..89abcde 100644\n" + SIDES + HUNK,
            ("modify", "x", "x", None, None),
        ),
        (SIDES + HUNK, ("modify", "x", "x", None, None)),
        ("--- /dev/null\n+++ b/x\n@@ -0,0 +1 @@\n+b\n", ("add", "x", None, None, None)),
        ("--- a/x\n+++ /dev/null\n@@ -1 +0,0 @@\n-a\n", ("delete", "x", "x", None, None)),
        (
            TITLE + "new file mode 100755\nindex 0000000..e69de29\n",
            ("add", "x", None, None, "100755"),
        ),
        (
            TITLE + "new file mode 100644\n--- /dev/null\n+++ b/x\n@@ -0,0 +1 @@\n+b\n",
            ("add", "x", None, None, "100644"),
        ),
        (TITLE + "deleted file mode 100644\n", ("delete", "x", "x", "100644", None)),
        (TITLE + "old mode 100644\nnew mode 100755\n", ("modify", "x", "x", "100644", "100755")),
        (
            "diff --git a/x b/y z\nsimilarity index 100%\nrename from x\nrename to y z\n",
            ("rename", "y z", "x", None, None),
        ),
        (
            "diff --git a/x b/y\nsimilarity index 60%\nrename from x\nrename to y\n"
            "--- a/x\n+++ b/y\n" + HUNK,
            ("rename", "y", "x", None, None),
        ),
        ("diff --git a/x b/y\ncopy from x\ncopy to y\n", ("copy", "y", "x", None, None)),
        (
            TITLE + "dissimilarity index 100%\nindex 1234..5678 100755\n" + SIDES + HUNK,
            ("modify", "x", "x", None, None),
        ),
    ],
)
def test_each_form_of_a_change_is_read(
    text: str, expected: tuple[str, str, str | None, str | None, str | None]
) -> None:
    file = _one(text)
    assert (file.op, file.path, file.old_path, file.old_mode, file.new_mode) == expected


@pytest.mark.parametrize(
    ("title", "sides", "path"),
    [
        ("a/a b b/a b", "--- a/a b\t\n+++ b/a b\t\n", "a b"),
        ("a/x b/x b/x b/x", "--- a/x b/x\t\n+++ b/x b/x\t\n", "x b/x"),
        (
            '"a/\\345\\233\\276.txt" "b/\\345\\233\\276.txt"',
            "--- a/图.txt\n+++ b/图.txt\n",
            "图.txt",
        ),
        ("a/图 b/图", '--- "a/\\345\\233\\276"\n+++ "b/\\345\\233\\276"\t\n', "图"),
        ('"a/\\"q\\"" "b/\\"q\\""', '--- "a/\\"q\\""\n+++ "b/\\"q\\""\n', '"q"'),
    ],
)
def test_names_with_blanks_quotes_and_chinese_are_read(title: str, sides: str, path: str) -> None:
    assert _one(f"diff --git {title}\n{sides}{HUNK}").path == path


def test_a_quoted_rename_agrees_with_its_title() -> None:
    title = 'diff --git "a/\\303\\251" b/e\n'
    file = _one(title + 'rename from "\\303\\251"\nrename to e\n')
    assert (file.old_path, file.path) == ("é", "e")


def test_the_time_that_gnu_diff_puts_behind_a_name_says_nothing() -> None:
    sides = "--- a/x\t2026-01-02 03:04:05.123456789 +0800\n+++ b/x\t2026-01-02 03:04:05\n"
    assert _one(sides + HUNK).path == "x"


def test_a_hunk_is_read_with_its_counts_and_its_section() -> None:
    file = _one(SIDES + "@@ -2,3 +2,4 @@ def f():\n a\n-b\n+B\n+C\n d\n")
    assert file.hunks == (
        Hunk(2, 3, 2, 4, (b" a", b"-b", b"+B", b"+C", b" d"), section=b"def f():"),
    )
    assert (file.added, file.removed) == (2, 1)


@pytest.mark.requirement("R33")
def test_a_line_ends_at_a_line_feed_and_nowhere_else() -> None:
    odd = b"a\x0b\x0c\r\x1c\x1d\x1e\xc2\x85\xe2\x80\xa8b\r"
    file = _one(SIDES.encode() + b"@@ -1 +1 @@\n-" + odd + b"\n+b\n")
    assert file.hunks[0].lines == (b"-" + odd, b"+b")


def test_the_last_line_of_a_diff_needs_no_line_feed() -> None:
    assert _one(SIDES + "@@ -1 +1 @@\n-a\n+b") == _one(SIDES + HUNK)


def test_an_empty_line_is_an_empty_context_line() -> None:
    hunk = _one(SIDES + "@@ -1,2 +1,2 @@\n\n-a\n+b\n").hunks[0]
    assert hunk.lines == (b" ", b"-a", b"+b")


def test_an_empty_line_is_one_in_a_body_out_of_order_as_well() -> None:
    hunk = _one(SIDES + "@@ -1,3 +1,3 @@\n\n+b\n-a\n\n").hunks[0]
    assert hunk.lines == (b" ", b"-a", b"+b", b" ")


def test_removed_lines_come_before_what_takes_their_place() -> None:
    hunk = _one(SIDES + "@@ -1,3 +1,3 @@\n+A\n-a\n+B\n-b\n c\n").hunks[0]
    assert hunk.lines == (b"-a", b"-b", b"+A", b"+B", b" c")


@pytest.mark.parametrize(
    ("body", "ends"),
    [
        ("@@ -1 +1 @@\n-a\n" + OPEN + "+b\n", (True, False)),
        ("@@ -1 +1 @@\n-a\n+b\n" + OPEN, (False, True)),
        ("@@ -1 +1 @@\n-a\n" + OPEN + "+b\n" + OPEN, (True, True)),
        ("@@ -1 +1 @@\n+b\n" + OPEN + "-a\n" + OPEN, (True, True)),
        ("@@ -1,2 +1,2 @@\n-a\n+b\n c\n" + OPEN, (True, True)),
        ("@@ -1 +1 @@\n-a\n+b\n\\ 文件末尾没有换行符\n", (False, True)),
    ],
)
def test_a_missing_final_line_feed_belongs_to_its_side(body: str, ends: tuple[bool, bool]) -> None:
    hunk = _one(SIDES + body).hunks[0]
    assert (hunk.old_open, hunk.new_open) == ends
    assert hunk.lines[:2] == (b"-a", b"+b")


def test_a_removed_line_that_looks_like_a_name_is_a_line() -> None:
    hunk = _one(SIDES + "@@ -1,2 +1 @@\n--- a/y\n-+++ b/y\n+b\n").hunks[0]
    assert hunk.old_side() == [b"-- a/y", b"+++ b/y"]


def test_plain_sections_may_follow_each_other() -> None:
    model = parse_diff(
        (
            SIDES
            + HUNK
            + "--- a/y\n+++ b/y\n"
            + HUNK
            + TITLE.replace("x", "z")
            + "old mode 100644\nnew mode 100755\n"
        ).encode()
    )
    assert [file.path for file in model.files] == ["x", "y", "z"]
    assert (model.added, model.removed) == (2, 2)


def test_a_source_may_be_copied_twice_and_be_changed_besides() -> None:
    copies = "".join(f"diff --git a/x b/{n}\ncopy from x\ncopy to {n}\n" for n in ("y", "z"))
    assert len(parse_diff((copies + TITLE + SIDES + HUNK).encode()).files) == 3


def test_a_deleted_file_may_be_copied_and_its_folder_may_become_a_file() -> None:
    text = (
        "diff --git a/d/x b/y\ncopy from d/x\ncopy to y\n"
        "diff --git a/d/x b/d/x\ndeleted file mode 100644\n"
        "diff --git a/d b/d\nnew file mode 100644\n"
    )
    assert [file.op for file in parse_diff(text.encode()).files] == ["copy", "delete", "add"]


# --- refused ---


@pytest.mark.requirement("R32")
@each(
    "text, why, line",
    [
        # kinds of files and of diffs
        (TITLE + "new file mode 120000\n", "symlink", 2),
        (TITLE + "old mode 100644\nnew mode 120000\n", "symlink", 3),
        (TITLE + "index 1234..5678 160000\n", "submodule", 2),
        (TITLE + "new file mode 100664\n", "mode", 2),
        (TITLE + "deleted file mode 040000\n", "mode", 2),
        (TITLE + "index 1234..5678 100644\nGIT binary patch\n", "binary", 3),
        (TITLE + "index 1234..5678\nBinary files a/x and b/x differ\n", "binary", 3),
        (TITLE + "new file mode 100644\nGIT binary patch\nliteral 1\n", "binary", 3),
        ("diff --cc x\nindex 1,2..3\n", "combined", 1),
        ("diff --combined x\n", "combined", 1),
        (SIDES + "@@@ -1 -1 +1 @@@\n", "combined", 3),
        ("*** a/x\n--- b/x\n", "context", 1),
        ("1c1\n< a\n---\n> b\n", "normal", 1),
        ("1,2c\nb\n.\n", "ed", 1),
        ("d1 2\n", "ed", 1),
        ("Submodule x 1..2:\n", "submodule", 1),
        # text around the sections
        ("From 1234 Mon Sep 17 00:00:00 2001\n", "mail", 1),
        ("Subject: [PATCH] x\n", "mail", 1),
        ("Index: x\n", "index-line", 1),
        ("diff -ru a/x b/x\n" + SIDES + HUNK, "command-line", 1),
        ("Only in a: x\n", "only-in", 1),
        ("\ufeff" + SIDES + HUNK, "byte-order-mark", 1),
        ("hello\n", "junk", 1),
        ("\n", "junk", 1),
        ("+b\n", "junk", 1),
        (HUNK, "no-names", 1),
        (SIDES + HUNK + "\n", "junk", 6),
        (SIDES + HUNK + "-- \n2.39.5\n", "signature", 6),
        (SIDES + HUNK + "text\n" + SIDES, "junk", 6),
        ((SIDES + HUNK).replace("\n", "\r\n"), "crlf", 1),
        # names that do not agree
        ("--- a/x\n+++ b/y\n" + HUNK, "names-differ", 1),
        (TITLE + "--- a/y\n+++ b/y\n" + HUNK, "names-differ", 2),
        (TITLE + "--- /dev/null\n+++ b/x\n@@ -0,0 +1 @@\n+b\n", "names-differ", 2),
        (TITLE + "new file mode 100644\n" + SIDES + HUNK, "names-differ", 3),
        ("diff --git a/x b/y\n", "names-differ", 1),
        ("diff --git a/xb/x\n", "prefix", 1),
        ("diff --git x x\n", "prefix", 1),
        ('diff --git "a/x" "x"\n', "prefix", 1),
        ("diff --git a/x b/y\nrename from x\nrename to z\n", "names-differ", 1),
        ("--- x\n+++ x\n" + HUNK, "prefix", 1),
        ("--- a/x\n+++ a/x\n" + HUNK, "prefix", 2),
        ('--- "/dev/null"\n+++ b/x\n' + HUNK, "prefix", 1),
        ("--- /dev/null\n+++ /dev/null\n" + HUNK, "header", 1),
        ("--- a/x\n" + HUNK, "header", 2),
        ("--- a/x", "header", 2),
        ("--- a/x\tlater\n+++ b/x\n" + HUNK, "after-name", 1),
        ('--- "a/x" \n+++ b/x\n' + HUNK, "after-name", 1),
        ("--- a/x\t1970-01-01 08:00:00 +0800\n+++ b/x\n" + HUNK, "no-file-time", 1),
        # headers that do not agree
        (TITLE + "old mode 100644\n", "header", 1),
        (TITLE + "old mode 100644\nnew mode 100644\n", "header", 1),
        (TITLE + "new mode 100644\nnew mode 100644\n", "header-twice", 3),
        (TITLE + "rename from x\n", "header", 1),
        (TITLE + "copy from x\ncopy to x\n", "header", 1),
        (TITLE + "new file mode 100644\ndeleted file mode 100644\n", "header", 1),
        (TITLE + "new file mode 100644\nold mode 100644\nnew mode 100755\n", "header", 1),
        (TITLE + "new file mode 100644\nindex 1234..5678 100644\n", "header", 1),
        (TITLE + "index 123..5678\n", "header", 2),
        (TITLE + "similarity index 101%\n", "header", 2),
        (
            "diff --git a/x b/y\nsimilarity index 100%\nrename from x\nrename to y\n"
            "--- a/x\n+++ b/y\n" + HUNK,
            "header",
            1,
        ),
        (TITLE, "no-change", 1),
        (TITLE + "index 1234..5678 100644\n", "no-change", 1),
        # hunks
        (SIDES, "no-hunks", 3),
        (SIDES + "@@ -1 +1 @\n-a\n+b\n", "hunk-header", 3),
        (SIDES + "@@ -01 +1 @@\n-a\n+b\n", "hunk-header", 3),
        (SIDES + "@@ -1000000000 +1 @@\n-a\n+b\n", "hunk-header", 3),
        (SIDES + "@@ -0 +1 @@\n-a\n+b\n", "hunk-header", 3),
        (SIDES + "@@ -1 +0 @@\n-a\n+b\n", "hunk-header", 3),
        (SIDES + "@@ -0,0 +0,0 @@\n", "no-change", 3),
        (SIDES + "@@ -1 +1 @@\n a\n", "no-change", 3),
        (SIDES + "@@ -1 +2 @@\n-a\n+b\n", "hunk-numbers", 3),
        (SIDES + HUNK + "@@ -3 +4 @@\n-a\n+b\n", "hunk-numbers", 6),
        (SIDES + HUNK + "@@ -1 +1 @@\n-a\n+b\n", "hunk-order", 6),
        (SIDES + "@@ -1,2 +1 @@\n-a\n+b\n", "cut", 6),
        (SIDES + "@@ -1,2 +1,2 @@\n-a\n+b\n" + TITLE, "hunk-line", 6),
        (SIDES + HUNK + "+c\n", "hunk-count", 6),
        (SIDES + HUNK + " c\n", "hunk-count", 6),
        (SIDES + "@@ -1 +1 @@\n-a\n-b\n+c\n", "hunk-count", 5),
        # ends of files
        (SIDES + "@@ -1 +1 @@\n" + OPEN + "-a\n+b\n", "after-end", 4),
        (SIDES + "@@ -1,2 +1 @@\n-a\n" + OPEN + "-b\n+c\n", "after-end", 5),
        (SIDES + HUNK + OPEN + OPEN, "hunk-count", 7),
        (SIDES + "@@ -1 +1 @@\n-a\n+\n" + OPEN, "after-end", 6),
        (SIDES + "@@ -1 +1 @@\n-a\n+b\n\\ No\n", "after-end", 6),
        (SIDES + "@@ -1 +1 @@\n-a\n+b\n\\No newline at end of file\n", "after-end", 6),
        (SIDES + HUNK + OPEN + "@@ -3 +3 @@\n-a\n+b\n", "after-end", 7),
        # whole files
        ("--- /dev/null\n+++ b/x\n@@ -1 +1 @@\n-a\n+b\n", "other-side", 1),
        ("--- a/x\n+++ /dev/null\n@@ -1 +1 @@\n-a\n+b\n", "other-side", 1),
        (
            "--- a/x\n+++ /dev/null\n@@ -1 +0,0 @@\n-a\n@@ -3 +1,0 @@\n-a\n",
            "other-side",
            1,
        ),
        # files beside each other
        (SIDES + HUNK + SIDES + HUNK, "file-twice", 6),
        (SIDES + HUNK + "--- a/X\n+++ b/X\n" + HUNK, "twin", 6),
        ("diff --git a/e\u0301 b/é\nrename from e\u0301\nrename to é\n", "twin", 1),
        ("diff --git a/x b/X\ncopy from x\ncopy to X\n", "twin", 1),
        (RENAME + SIDES + HUNK, "names-differ", 4),
        (RENAME + TITLE + SIDES + HUNK, "file-twice", 4),
        (RENAME + "diff --git a/y b/z\ncopy from y\ncopy to z\n", "copy-source", 4),
        (SIDES + HUNK + "--- /dev/null\n+++ b/x/y\n@@ -0,0 +1 @@\n+b\n", "file-is-folder", 6),
        (SIDES + HUNK + "--- a/X/y\n+++ /dev/null\n@@ -1 +0,0 @@\n-a\n", "file-is-folder", 6),
        ("diff --git a/x b/x/y\ncopy from x\ncopy to x/y\n", "file-is-folder", 1),
    ],
)
def test_what_is_no_plain_change_is_refused_with_the_line(text: str, why: str, line: int) -> None:
    assert _refusal(text) == ("diff.refused", why, line)


@pytest.mark.requirement("R33")
@each("digit", ["\u0661", "\uff11", "\u00b2"])
def test_digits_are_ascii_digits(digit: str) -> None:
    assert _refusal(SIDES + f"@@ -{digit} +1 @@\n-a\n+b\n") == ("diff.refused", "hunk-header", 3)


@pytest.mark.requirement("R33")
def test_a_nul_byte_is_refused_wherever_it_stands() -> None:
    assert _refusal(SIDES + "@@ -1 +1 @@\n-a\n+b\0\n") == ("diff.refused", "nul", 5)


@pytest.mark.requirement("R34")
@pytest.mark.parametrize(
    ("text", "why", "line"),
    [
        ("--- /dev/null\n+++ b/.git/hooks/x\n@@ -0,0 +1 @@\n+b\n", "git", 2),
        ("diff --git a/../x b/../x\nnew file mode 100644\n", "component", 1),
        ("diff --git a/x b/y\nrename from x\nrename to /y\n", "absolute", 3),
        ('diff --git "a/\\056git/x" "b/\\056git/x"\nnew file mode 100644\n', "git", 1),
        ('diff --git a/x"y b/x"y\nnew file mode 100644\n', "quoting", 1),
        ('--- "a/x\n+++ b/x\n' + HUNK, "quoting", 1),
        ('diff --git "a/\\"" "b/\\""\n--- a/"\n+++ b/"\n' + HUNK, "quoting", 2),
    ],
)
def test_a_bad_name_is_refused_with_its_line(text: str, why: str, line: int) -> None:
    assert _refusal(text) == ("diff.name", why, line)


# --- limits ---


def _sized(size: int) -> bytes:
    head = b"--- /dev/null\n+++ b/x\n@@ -0,0 +1 @@\n+"
    return head + b"a" * (size - len(head) - 1) + b"\n"


def _of_files(number: int) -> bytes:
    return b"".join(
        b"diff --git a/%d b/%d\nold mode 100644\nnew mode 100755\n" % (n, n) for n in range(number)
    )


def _of_hunks(number: int) -> bytes:
    # In several files: the limit is one for the whole diff.
    hunks = [b"@@ -%d +%d @@\n-a\n+b\n" % (2 * n + 1, 2 * n + 1) for n in range(number)]
    first = b"--- a/x\n+++ b/x\n" + b"".join(hunks[: number // 2])
    return first + b"--- a/y\n+++ b/y\n" + b"".join(hunks[: number - number // 2])


@pytest.mark.requirement("R32")
@pytest.mark.parametrize(
    ("made", "what", "limit"),
    [
        (_sized, "bytes", MAX_BYTES),
        (_of_files, "files", MAX_FILES),
        (_of_hunks, "hunks", MAX_HUNKS),
    ],
)
def test_a_limit_holds_exactly(made: Callable[[int], bytes], what: str, limit: int) -> None:
    assert parse_diff(made(limit)).files
    with pytest.raises(InputError) as caught:
        parse_diff(made(limit + 1))
    assert (caught.value.code, caught.value.facts) == (
        "diff.too-large",
        {"what": what, "limit": limit},
    )


def test_an_empty_text_is_no_diff() -> None:
    assert _refusal(b"")[0] == "diff.empty"


@each(
    "text",
    [
        b"\n" * 2_000_000,
        b'diff --git "' + b'\\"' * 900_000,
        b"diff --git a/" + b"a/ b/" * 390_000,
        SIDES.encode() + b"@@ -" + b"1" * 1_900_000 + b" +1 @@\n",
        SIDES.encode() + b"@@ -1,999999999 +1,999999999 @@\n" + b"+a\n-b\n" * 300_000,
        b"--- /dev/null\n+++ b/" + b"a/" * 900_000 + b"\n",
        b"".join(b"--- /dev/null\n+++ b/%d/%sx\n" % (n, b"a/" * 500) for n in range(500)),
    ],
)
@pytest.mark.cpu(5)
def test_hostile_text_takes_no_longer_than_any_other(text: bytes) -> None:
    assert _refusal(text)[0] in ("diff.refused", "diff.name")
