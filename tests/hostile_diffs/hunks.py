"""R32 and R33: lines, counts and numbers of hunks, read from bytes."""

from __future__ import annotations

from tests.hostile_diffs.case import (
    EDIT,
    EDITED,
    SOURCE,
    TREE,
    Case,
    Tree,
    delete,
    edit,
    git_add,
    text,
)

_SIDES = ("diff --git a/a.txt b/a.txt", "--- a/a.txt", "+++ b/a.txt")
_OPEN = "\\ No newline at end of file"
_BODY = EDIT[1:]
_TWICE = b"x\none\ntwo\nthree\none\ntwo\nthree\n"


def _hunk(header: str | bytes, *body: str | bytes) -> bytes:
    return text(*_SIDES, header, *(body or _BODY))


_HEADERS = {
    "no numbers": "@@ @@",
    "no blanks": "@@-1,3 +1,3@@",
    "tabs for blanks": "@@\t-1,3\t+1,3\t@@",
    "two blanks": "@@  -1,3 +1,3 @@",
    "signs": "@@ --1,3 ++1,3 @@",
    "a negative number": "@@ -1,-3 +1,3 @@",
    "zeros before a number": "@@ -01,03 +01,03 @@",
    "hexadecimal": "@@ -0x1,3 +0x1,3 @@",
    "Arabic digits": "@@ -\u0661,\u0663 +\u0661,\u0663 @@",
    "full-width digits": "@@ -１,３ +１,３ @@",
    "underlined digits": "@@ -1_0,3 +1_0,3 @@",
    "a fraction": "@@ -1.0,3 +1.0,3 @@",
    "a number beyond 2^31": "@@ -2147483648,3 +2147483648,3 @@",
    "a number beyond 2^63": "@@ -9223372036854775808,3 +9223372036854775808,3 @@",
    "a number of 4,000 digits": "@@ -" + "9" * 4000 + ",3 +1,3 @@",
    "a count beyond 2^64": "@@ -1,18446744073709551619 +1,3 @@",
    "line 0 with lines": "@@ -0,3 +0,3 @@",
    "both sides empty": "@@ -0,0 +0,0 @@",
    "the sides the wrong way round": "@@ +1,3 -1,3 @@",
    "one at sign": "@ -1,3 +1,3 @",
    "no closing at signs": "@@ -1,3 +1,3",
    "three closing at signs": "@@ -1,3 +1,3 @@@",
    "text that touches it": "@@ -1,3 +1,3 @@x",
    "a carriage return": "@@ -1,3 +1,3 @@\r",
    "a blank before it": " @@ -1,3 +1,3 @@",
    "three numbers": "@@ -1,3,3 +1,3 @@",
    "a first hunk whose sides begin apart": "@@ -1,3 +7,3 @@",
}

_BODIES: dict[str, tuple[str | bytes, ...]] = {
    "one line more than counted": (*_BODY, "+more"),
    "one context line more than counted": (*_BODY, " more"),
    "a hidden file after the count": (*_BODY, "--- a/run.sh", "+++ b/run.sh", "+evil"),
    "one line less than counted": _BODY[:-1],
    "nothing": (),
    "context alone": (" one", " two", " three"),
    "an unknown marker": (" one", "-two", "!TWO", " three"),
    "a tab for the blank": ("\tone", "-two", "+TWO", " three"),
    "an end of file first": (_OPEN, *_BODY),
    "an end of file in the middle": (" one", _OPEN, "-two", "+TWO", " three"),
    "an end of file twice": (*_BODY, _OPEN, _OPEN),
    "an end of file before more of the new side": (" one", "-two", "+TWO", _OPEN, " three"),
    "a backslash that says something else": (*_BODY, "\\"),
}


def _refused(name: str, diff: bytes, code: str, *, rule: str = "R32", before: Tree = TREE) -> Case:
    return Case(name=name, rule=rule, diff=diff, code=code, before=before)


def _done(name: str, diff: bytes, after: bytes, *, before: Tree = TREE) -> Case:
    return Case(
        name=name,
        rule="R33",
        diff=diff,
        before=before,
        after={"a.txt": after},
    )


def _split(name: str, code_point: str) -> Case:
    """Return a case whose line holds what `str.splitlines` takes for its end."""
    line = f"tw{code_point}+++ b/run.sh"
    return Case(
        name=f"a line that holds {name}",
        rule="R33",
        diff=_hunk(EDIT[0], " one", "-two", "+" + line, " three"),
        after={"a.txt": f"one\n{line}\nthree\n".encode()},
    )


READ = [
    *(
        _refused(f"hunk header: {name}", _hunk(header), "diff.refused", rule="R33")
        for name, header in _HEADERS.items()
    ),
    *(
        _refused(f"hunk body: {name}", text(*_SIDES, EDIT[0], *body), "diff.refused")
        for name, body in _BODIES.items()
    ),
    _refused(
        "a NUL in a line", _hunk(EDIT[0], " one", "-two", b"+T\0WO", " three"), "diff.refused"
    ),
    _refused(
        "lines of a diff that end in CR LF",
        edit().replace(b"\n", b"\r\n"),
        "diff",
        rule="R33",
    ),
    _refused(
        "overlapping hunks",
        text(*_SIDES, *EDIT, "@@ -3,1 +3,1 @@", "-three", "+THREE"),
        "diff.refused",
    ),
    _refused(
        "hunks out of order",
        text(*_SIDES, "@@ -3 +3 @@", "-three", "+THREE", "@@ -1 +1 @@", "-one", "+ONE"),
        "diff.refused",
    ),
    _refused(
        "hunks whose new sides do not follow from the old ones",
        text(*_SIDES, "@@ -1 +1 @@", "-one", "+ONE", "@@ -3 +9 @@", "-three", "+THREE"),
        "diff.refused",
    ),
    _refused(
        "a hunk after the end of the file",
        text(*_SIDES, "@@ -1 +1 @@", "-one", "+ONE", _OPEN, "@@ -3 +3 @@", "-three", "+THREE"),
        "diff.refused",
    ),
]

# A hunk without context below: git takes it for the end of the file, GNU patch for the stated line.
TWO_READINGS = [
    _refused("no context at all", _hunk("@@ -2 +2 @@", "-two", "+TWO"), "diff.context"),
    _refused("no context below", _hunk("@@ -1,2 +1,2 @@", " one", "-two", "+TWO"), "diff.context"),
    _refused(
        "no context, and the end of the file looks the same",
        _hunk("@@ -5 +5 @@", "-x", "+y"),
        "diff.context",
        before={"a.txt": b"x\n" * 9},
    ),
    _refused("an insertion without context", _hunk("@@ -2,0 +3 @@", "+x"), "diff.context"),
]

TREE_DECIDES = [
    _refused(
        "a context line that differs",
        _hunk(EDIT[0], " One", "-two", "+TWO", " three"),
        "diff.context",
    ),
    _refused(
        "a removed line that differs",
        _hunk(EDIT[0], " one", "-Two", "+TWO", " three"),
        "diff.context",
    ),
    _refused(
        "fuzz: only the outer context differs",
        _hunk(EDIT[0], " one", "-two", "+TWO", " THREE"),
        "diff.context",
    ),
    _refused(
        "context that differs in its blanks",
        _hunk(EDIT[0], " one ", "-two", "+TWO", " three"),
        "diff.context",
    ),
    _refused(
        "a hunk that stands elsewhere twice",
        _hunk("@@ -1,3 +1,3 @@"),
        "diff.context",
        before={**TREE, "a.txt": _TWICE},
    ),
    _refused(
        "two hunks that moved past each other",
        text(
            *(*_SIDES, "@@ -1,2 +1,2 @@", "-three", "+THREE", " four"),
            *("@@ -3,2 +3,2 @@", " one", "-two", "+TWO"),
        ),
        "diff.context",
        before={**TREE, "a.txt": b"one\ntwo\nthree\nfour\n"},
    ),
    _refused(
        "a hunk beyond the end of the file",
        _hunk("@@ -900,1 +900,1 @@", "-nine hundred", "+900"),
        "diff.context",
    ),
    _refused(
        "a hunk that runs over the end of the file",
        _hunk("@@ -3,2 +3,2 @@", " three", "-four", "+FOUR"),
        "diff.context",
    ),
    _refused(
        "LF lines for a file of CR LF",
        edit(),
        "diff.context",
        rule="R33",
        before={**TREE, "a.txt": SOURCE.replace(b"\n", b"\r\n")},
    ),
    _refused(
        "CR LF in the lines for a file of LF",
        text(*_SIDES, EDIT[0], *(line + "\r" for line in _BODY)),
        "diff.context",
        rule="R33",
    ),
    _refused(
        "the diff says that the file ends without a line feed, and it has one",
        _hunk("@@ -3 +3 @@", "-three", _OPEN, "+THREE"),
        "diff.context",
    ),
    _refused(
        "the diff says that the file ends with a line feed, and it has none",
        _hunk("@@ -3 +3 @@", "-three", "+THREE"),
        "diff.context",
        before={**TREE, "a.txt": SOURCE.rstrip(b"\n")},
    ),
    _refused(
        "the old file ends in the diff before its end",
        _hunk("@@ -1 +1 @@", "-one", _OPEN, "+ONE", _OPEN),
        "diff.context",
    ),
    _refused(
        "a delete that leaves lines",
        delete("a.txt", "@@ -1,2 +0,0 @@", "-one", "-two"),
        "diff.context",
    ),
    _refused(
        "a delete of more than there is",
        delete("folder/b.txt", "@@ -1,2 +0,0 @@", "-b", "-c"),
        "diff.context",
    ),
    _refused("a delete without lines of a file that has some", delete("a.txt"), "diff.context"),
    _refused(
        "content for a file that is said to be empty",
        _hunk("@@ -0,0 +1 @@", "+new"),
        "diff.context",
    ),
]

DONE = [
    *(
        _split(name, char)
        for name, char in {
            "a carriage return": "\r",
            "a vertical tab": "\v",
            "a form feed": "\f",
            "a file separator": "\x1c",
            "a group separator": "\x1d",
            "a record separator": "\x1e",
            "a next line": "\u0085",
            "a line separator": "\u2028",
            "a paragraph separator": "\u2029",
        }.items()
    ),
    _done(
        "a file of CR LF",
        text(*_SIDES, EDIT[0], *(line + "\r" for line in _BODY)),
        EDITED.replace(b"\n", b"\r\n"),
        before={"a.txt": SOURCE.replace(b"\n", b"\r\n")},
    ),
    _done(
        "CR LF becomes LF",
        _hunk(EDIT[0], " one", "-two\r", "+two", " three"),
        SOURCE,
        before={"a.txt": b"one\ntwo\r\nthree\n"},
    ),
    _done(
        "bytes that are not UTF-8",
        text(*_SIDES, "@@ -1 +1 @@", b"-caf\xe9", b"+caf\xc3\xa9"),
        b"caf\xc3\xa9\n",
        before={"a.txt": b"caf\xe9\n"},
    ),
    _done(
        "a byte-order mark in the content",
        text(*_SIDES, "@@ -1 +1 @@", "-\ufeffone", "+one"),
        b"one\n",
        before={"a.txt": b"\xef\xbb\xbfone\n"},
    ),
    _done(
        "the last line feed is taken away",
        _hunk("@@ -1,3 +1,3 @@", " one", " two", "-three", "+three", _OPEN),
        SOURCE.rstrip(b"\n"),
    ),
    _done(
        "the last line feed is added",
        _hunk("@@ -1,3 +1,3 @@", " one", " two", "-three", _OPEN, "+three"),
        SOURCE,
        before={"a.txt": SOURCE.rstrip(b"\n")},
    ),
    _done(
        "no line feed before and after",
        _hunk("@@ -1,3 +1,3 @@", " one", "-two", "+TWO", " three", _OPEN),
        EDITED.rstrip(b"\n"),
        before={"a.txt": SOURCE.rstrip(b"\n")},
    ),
    _done(
        "both sides changed and without a line feed",
        _hunk("@@ -1,3 +1,3 @@", " one", " two", "-three", _OPEN, "+THREE", _OPEN),
        b"one\ntwo\nTHREE",
        before={"a.txt": SOURCE.rstrip(b"\n")},
    ),
    _done(
        "the word for it in another language",
        _hunk("@@ -1,3 +1,3 @@", " one", " two", "-three", "+three", "\\ 文件尾没有换行符"),
        SOURCE.rstrip(b"\n"),
    ),
    _done(
        "lines that look like headers",
        _hunk(
            "@@ -1,3 +1,4 @@",
            "--- a/run.sh",
            "+++ b/run.sh",
            "+@@ -1 +1 @@",
            " diff --git a/x b/x",
            " two",
        ),
        b"++ b/run.sh\n@@ -1 +1 @@\ndiff --git a/x b/x\ntwo\n",
        before={"a.txt": b"-- a/run.sh\ndiff --git a/x b/x\ntwo\n"},
    ),
    _done(
        "a removed line that looks like the end of a mail",
        _hunk("@@ -1,3 +1,2 @@", " one", "-- ", " three"),
        b"one\nthree\n",
        before={"a.txt": b"one\n- \nthree\n"},
    ),
    _done(
        "an empty context line that has lost its blank",
        _hunk("@@ -1,3 +1,3 @@", "", "-two", "+TWO", ""),
        b"\nTWO\n\n",
        before={"a.txt": b"\ntwo\n\n"},
    ),
    _done(
        "counts that are left out",
        _hunk("@@ -1 +1 @@", "-one", "+ONE"),
        b"ONE\n",
        before={"a.txt": b"one\n"},
    ),
    _done(
        "an insertion at the start",
        _hunk("@@ -1,3 +1,4 @@", "+zero", " one", " two", " three"),
        b"zero\n" + SOURCE,
    ),
    _done(
        "an insertion at the end",
        _hunk("@@ -1,3 +1,4 @@", " one", " two", " three", "+four"),
        SOURCE + b"four\n",
    ),
    _done(
        "two hunks",
        text(
            *(*_SIDES, "@@ -1,2 +1,3 @@", "+0", " 1", " 2", "@@ -8,2 +9,2 @@", " 8", "-9", "+nine"),
        ),
        b"0\n1\n2\n3\n4\n5\n6\n7\n8\nnine\n",
        before={"a.txt": b"1\n2\n3\n4\n5\n6\n7\n8\n9\n"},
    ),
    _done(
        "removed before added or after it",
        _hunk("@@ -1,3 +1,3 @@", " one", "+TWO", "-two", " three"),
        EDITED,
    ),
    _done(
        "a line of 100,000 characters",
        _hunk("@@ -1,3 +1,3 @@", " one", "-two", "+" + "x" * 100_000, " three"),
        b"one\n" + b"x" * 100_000 + b"\nthree\n",
    ),
    Case(
        name="a new file of CR LF without a last line feed",
        rule="R33",
        diff=git_add("new.txt", "@@ -0,0 +1,2 @@", "+a\r", "+b\r", _OPEN),
        after={"new.txt": b"a\r\nb\r"},
    ),
]

CASES = [*READ, *TWO_READINGS, *TREE_DECIDES, *DONE]
