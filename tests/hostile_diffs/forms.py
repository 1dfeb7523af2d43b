"""R32: the forms of a diff that are accepted, and every other form, which is refused."""

from __future__ import annotations

from collections.abc import Mapping

from tests.hostile_diffs.case import (
    EDIT,
    EDITED,
    NEW,
    SOURCE,
    TREE,
    Case,
    Entry,
    File,
    Tree,
    copy,
    delete,
    edit,
    git_add,
    plain_add,
    rename,
    text,
)

_SIDES = ("--- a/a.txt", "+++ b/a.txt")
_FIRST = "diff --git a/a.txt b/a.txt"
_HASHES = "index 4cb29ea38f70d7c61b2a3a25b02e3bdf44905402..0000000000000000000000000000000000000000"
_EPOCH = "1970-01-01 00:00:00.000000000 +0000"
_LINES = b"".join(b"line %d\n" % number for number in range(1, 31))
_MIDDLE = ("@@ -14,3 +14,3 @@", " line 14", "-line 15", "+LINE 15", " line 16")


def _ok(
    name: str,
    diff: bytes,
    *,
    after: Mapping[str, Entry | None],
    before: Tree = TREE,
    tracked: tuple[str, ...] | None = None,
    moved: int = 0,
    git_refuses: str = "",
) -> Case:
    return Case(
        name=name,
        rule="R32",
        diff=diff,
        before=before,
        after=after,
        tracked=tracked,
        moved=moved,
        git_refuses=git_refuses,
    )


def _no(name: str, diff: bytes, why: str | None) -> Case:
    return Case(name=name, rule="R32", diff=diff, code="diff.refused", why=why)


ACCEPTED = [
    _ok(
        "a git diff that edits",
        edit("a.txt", "index 4cb29ea..0b6a3c3 100644"),
        after={"a.txt": EDITED},
    ),
    _ok("a git diff without an index line", edit(), after={"a.txt": EDITED}),
    _ok("a plain diff that edits", text(*_SIDES, *EDIT), after={"a.txt": EDITED}),
    _ok(
        "a plain diff with times after the names",
        text(
            "--- a/a.txt\t2024-05-06 07:08:09.000000000 +0800",
            "+++ b/a.txt\t2024-05-06 07:08:10.123456789 +0800",
            *EDIT,
        ),
        after={"a.txt": EDITED},
    ),
    _ok(
        "names in quotes with times after them",
        text(
            '--- "a/\\141.txt"\t2024-05-06 07:08:09.000000000 +0800',
            '+++ "b/\\141.txt"\t2024-05-06 07:08:10.123456789 +0800',
            *EDIT,
        ),
        after={"a.txt": EDITED},
    ),
    _ok("a plain diff that adds", plain_add("b/new.txt"), after={"new.txt": b"new\n"}),
    _ok(
        "a plain diff that deletes",
        text("--- a/folder/b.txt", "+++ /dev/null", "@@ -1 +0,0 @@", "-b"),
        after={"folder/b.txt": None},
    ),
    _ok("a git diff that adds", git_add("new.txt", *NEW), after={"new.txt": b"new\n"}),
    _ok(
        "a git diff that adds into folders that are not there",
        git_add("x/y/z/new.txt", *NEW),
        after={"x/y/z/new.txt": b"new\n"},
    ),
    _ok(
        "a git diff that adds a program",
        git_add("new.sh", *NEW, mode="100755"),
        after={"new.sh": File(b"new\n", 0o755)},
    ),
    _ok("an empty file is added", git_add("empty.txt"), after={"empty.txt": b""}),
    _ok(
        "an empty file is deleted",
        delete("empty.txt"),
        before={**TREE, "empty.txt": b""},
        after={"empty.txt": None},
    ),
    _ok(
        "an empty file gets content",
        text("diff --git a/empty.txt b/empty.txt", "--- a/empty.txt", "+++ b/empty.txt", *NEW),
        before={**TREE, "empty.txt": b""},
        after={"empty.txt": b"new\n"},
    ),
    _ok(
        "a file loses all content and stays",
        text(_FIRST, *_SIDES, "@@ -1,3 +0,0 @@", "-one", "-two", "-three"),
        after={"a.txt": b""},
    ),
    _ok(
        "a git diff that deletes",
        delete("a.txt", "@@ -1,3 +0,0 @@", "-one", "-two", "-three"),
        after={"a.txt": None},
    ),
    _ok(
        "a program is deleted",
        delete("run.sh", "@@ -1 +0,0 @@", "-#!/bin/sh", mode="100755"),
        after={"run.sh": None},
    ),
    _ok("a rename alone", rename("a.txt", "c.txt"), after={"a.txt": None, "c.txt": SOURCE}),
    _ok(
        "a rename with an edit",
        rename("a.txt", "c.txt", *EDIT),
        after={"a.txt": None, "c.txt": EDITED},
    ),
    _ok(
        "a rename into a folder that is not there",
        rename("folder/b.txt", "other/deep/b.txt"),
        after={"folder/b.txt": None, "other/deep/b.txt": b"b\n"},
    ),
    _ok(
        "a rename keeps the executable bit",
        rename("run.sh", "go.sh"),
        after={"run.sh": None, "go.sh": File(b"#!/bin/sh\n", 0o755)},
    ),
    _ok(
        "a rename that sets the executable bit",
        text(
            "diff --git a/a.txt b/c.txt",
            *("old mode 100644", "new mode 100755", "similarity index 100%"),
            *("rename from a.txt", "rename to c.txt"),
        ),
        after={"a.txt": None, "c.txt": File(SOURCE, 0o755)},
    ),
    _ok(
        "the executable bit alone is set",
        text(_FIRST, "old mode 100644", "new mode 100755"),
        after={"a.txt": File(SOURCE, 0o755)},
    ),
    _ok(
        "the executable bit is cleared with an edit",
        text(
            "diff --git a/run.sh b/run.sh",
            *("old mode 100755", "new mode 100644", "--- a/run.sh", "+++ b/run.sh"),
            *("@@ -1 +1 @@", "-#!/bin/sh", "+text"),
        ),
        after={"run.sh": b"text\n"},
    ),
    _ok(
        "a copy of a tracked file",
        copy("a.txt", "c.txt"),
        tracked=("a.txt",),
        after={"c.txt": SOURCE},
    ),
    _ok(
        "several files in one diff",
        edit() + git_add("new.txt", *NEW) + delete("folder/b.txt", "@@ -1 +0,0 @@", "-b"),
        after={"a.txt": EDITED, "new.txt": b"new\n", "folder/b.txt": None},
    ),
    _ok(
        "git and plain sections in one diff",
        edit() + plain_add("b/new.txt"),
        after={"a.txt": EDITED, "new.txt": b"new\n"},
    ),
    _ok(
        "no line feed at the end of the diff",
        edit().rstrip(b"\n"),
        after={"a.txt": EDITED},
        git_refuses="git wants a line feed there; without it the text can mean nothing else",
    ),
    _ok(
        "the function after the second @@",
        text(_FIRST, *_SIDES, "@@ -1,3 +1,3 @@ def one():", *EDIT[1:]),
        after={"a.txt": EDITED},
    ),
    _ok(
        "a dissimilarity index",
        text(_FIRST, "dissimilarity index 90%", *_SIDES, *EDIT),
        after={"a.txt": EDITED},
    ),
    _ok(
        "a hunk that stands elsewhere, in one place only",
        text(_FIRST, *_SIDES, "@@ -4,3 +4,3 @@", *_MIDDLE[1:]),
        before={"a.txt": _LINES},
        after={"a.txt": _LINES.replace(b"line 15", b"LINE 15")},
        moved=1,
    ),
    _ok(
        "a hunk of the first line that stands elsewhere, in one place only",
        edit(),
        before={"a.txt": b"x\n" + SOURCE},
        after={"a.txt": b"x\n" + EDITED},
        moved=1,
        git_refuses="git lets a hunk of line 1 stand at the start only",
    ),
    _ok(
        "two hunks, of which the second has moved",
        text(
            *(_FIRST, *_SIDES, "@@ -1,3 +1,2 @@", "-line 1", " line 2", " line 3"),
            *("@@ -20,3 +19,3 @@", *_MIDDLE[1:]),
        ),
        before={"a.txt": _LINES},
        after={"a.txt": _LINES.replace(b"line 15", b"LINE 15").partition(b"\n")[2]},
        moved=1,
    ),
]

_MODES = {
    "a symlink is added": (
        git_add("link", "@@ -0,0 +1 @@", "+/etc/passwd", mode="120000"),
        "symlink",
    ),
    "a symlink is deleted": (delete("link", "@@ -1 +0,0 @@", "-x", mode="120000"), "symlink"),
    "a symlink changes its target (CVE-2023-23946)": (
        edit("a.txt", "index 4cb29ea..0b6a3c3 120000"),
        "symlink",
    ),
    "a file becomes a symlink": (text(_FIRST, "old mode 100644", "new mode 120000"), "symlink"),
    "a symlink becomes a file": (text(_FIRST, "old mode 120000", "new mode 100644"), "symlink"),
    "a submodule is added": (
        git_add("sub", "@@ -0,0 +1 @@", "+Subproject commit " + "1" * 40, mode="160000"),
        "submodule",
    ),
    "a submodule moves": (edit("sub", "index 4cb29ea..0b6a3c3 160000"), "submodule"),
    "a submodule as --submodule=log prints it": (
        text("Submodule sub 1111111..2222222:", "  > fix"),
        "submodule",
    ),
    "a folder's mode": (git_add("new", *NEW, mode="040000"), "mode"),
    "set-user-id": (git_add("new", *NEW, mode="104755"), "mode"),
    "writable by the group": (git_add("new", *NEW, mode="100664"), "mode"),
    "writable by everybody": (text(_FIRST, "old mode 100644", "new mode 100777"), "mode"),
    "readable by nobody else": (git_add("new", *NEW, mode="100600"), "mode"),
    "a mode that is too long": (git_add("new", *NEW, mode="0100644"), "mode"),
    "a mode with a blank after it": (git_add("new", *NEW, mode="100644 "), "mode"),
    "a mode with a carriage return": (git_add("new", *NEW, mode="100644\r"), "mode"),
    "a mode that is no number": (git_add("new", *NEW, mode="rwxr-xr-x"), "mode"),
    "an empty mode": (git_add("new", *NEW, mode=""), "mode"),
}

_FOREIGN = {
    "a binary patch": (
        text(
            _FIRST,
            _HASHES,
            "GIT binary patch",
            "literal 3",
            "Kc$~{iEiXx*",
            "",
            "literal 0",
            "HcmV?d00001",
        ),
        "binary",
    ),
    "binary files that differ": (
        text(_FIRST, _HASHES, "Binary files a/a.txt and b/a.txt differ"),
        "binary",
    ),
    "GNU diff's word for binary files": (text("Binary files a/a.txt and b/a.txt differ"), "binary"),
    "a combined diff": (
        text(
            "diff --cc a.txt",
            "index 1111111,2222222..3333333",
            *_SIDES,
            "@@@ -1,1 -1,1 +1,1 @@@",
            "++x",
        ),
        "combined",
    ),
    "a combined diff by its long name": (text("diff --combined a.txt", *_SIDES, *EDIT), "combined"),
    "a combined hunk in a git section": (
        text(_FIRST, *_SIDES, "@@@ -1,1 -1,1 +1,1 @@@", "++x"),
        None,
    ),
    "a context diff": (
        text(
            "*** a/a.txt",
            "--- b/a.txt",
            "***************",
            "*** 1,3 ****",
            "  one",
            "! two",
            "--- 1,3 ----",
            "! TWO",
        ),
        "context",
    ),
    "an ed script that runs a program (CVE-2018-1000156)": (
        text("1,2c", "!touch /tmp/pwned", "."),
        None,
    ),
    "an ed script after names (CVE-2019-13638)": (
        text(*_SIDES, "1c", "!touch /tmp/pwned", "."),
        None,
    ),
    "an ed script after a git header": (text(_FIRST, "1d", "0a", "x", "."), None),
    "an RCS script": (text("d1 1", "a1 1", "x"), None),
    "a normal diff": (text("1c1", "< one", "---", "> ONE"), None),
    "a normal diff with a file name": (
        text("diff a/a.txt b/a.txt", "1c1", "< one", "---", "> ONE"),
        None,
    ),
    "a command line of GNU diff": (text("diff -u a/a.txt b/a.txt", *_SIDES, *EDIT), None),
    "an Index line": (text("Index: a.txt", "=" * 67, *_SIDES, *EDIT), None),
    "a mail around it": (
        text("From 1111111 Mon Sep 17 00:00:00 2001", "From: Me", "Subject: [PATCH] x", "", "---")
        + edit(),
        None,
    ),
    "the end of a mail": (edit() + text("-- ", "2.39.5", ""), None),
    "a file only on one side": (text("Only in b: new.txt"), None),
    "a word of prose": (b"Here is the patch you asked for:\n" + edit(), None),
    "a fence of markdown": (b"```diff\n" + edit() + b"```\n", None),
    "prose between two sections": (edit() + b"and then\n" + git_add("new.txt", *NEW), None),
    "an empty line between two sections": (edit() + b"\n" + git_add("new.txt", *NEW), None),
    "an empty line after the last section": (edit() + b"\n", None),
    "an empty line before the first section": (b"\n" + edit(), None),
    "prose between header and names": (text(_FIRST, "hello", *_SIDES, *EDIT), None),
    "prose between names and hunk": (text(_FIRST, *_SIDES, "hello", *EDIT), None),
    "prose between the two names": (text("--- a/a.txt", "hello", "+++ b/a.txt", *EDIT), None),
    "a byte-order mark before it": (b"\xef\xbb\xbf" + edit(), None),
    "UTF-16": (edit().decode().encode("utf-16"), None),
    "UTF-16 without a mark": (edit().decode().encode("utf-16-le"), None),
    "a blank line alone": (b"\n", None),
    "a NUL alone": (b"\0", None),
    "the headers of git 1.4 for a rename": (
        text(
            "diff --git a/a.txt b/c.txt",
            "similarity index 100%",
            "rename old a.txt",
            "rename new c.txt",
        ),
        None,
    ),
}

_DISAGREE = {
    "header and names": text(_FIRST, "--- a/run.sh", "+++ b/run.sh", *EDIT),
    "header and the new name": text(_FIRST, "--- a/a.txt", "+++ b/run.sh", *EDIT),
    "header and the old name": text(_FIRST, "--- a/run.sh", "+++ b/a.txt", *EDIT),
    "the two names of the header": text("diff --git a/a.txt b/run.sh", *_SIDES, *EDIT),
    "the two names of a header without more": text(
        "diff --git a/a.txt b/run.sh", "old mode 100644", "new mode 100755"
    ),
    "the two names of a plain diff": text("--- a/a.txt", "+++ b/run.sh", *EDIT),
    "rename source and header": text(
        "diff --git a/a.txt b/c.txt", "rename from run.sh", "rename to c.txt"
    ),
    "rename target and header": text(
        "diff --git a/a.txt b/c.txt", "rename from a.txt", "rename to d.txt"
    ),
    "rename and names": text(
        "diff --git a/a.txt b/c.txt",
        "rename from a.txt",
        "rename to c.txt",
        "--- a/a.txt",
        "+++ b/d.txt",
        *EDIT,
    ),
    "copy source and header": text(
        "diff --git a/a.txt b/c.txt", "copy from run.sh", "copy to c.txt"
    ),
    "a rename without a target": text("diff --git a/a.txt b/c.txt", "rename from a.txt"),
    "a rename without a source": text("diff --git a/a.txt b/c.txt", "rename to c.txt"),
    "a rename without either name (CVE-2018-6951)": text(
        "diff --git a/a.txt b/c.txt", "similarity index 100%"
    ),
    "rename from and copy to": text(
        "diff --git a/a.txt b/c.txt", "rename from a.txt", "copy to c.txt"
    ),
    "rename and copy": text(
        "diff --git a/a.txt b/c.txt",
        "rename from a.txt",
        "rename to c.txt",
        "copy from a.txt",
        "copy to c.txt",
    ),
    "a rename of a new file": text(
        "diff --git a/a.txt b/c.txt", "new file mode 100644", "rename from a.txt", "rename to c.txt"
    ),
    "new and deleted": text(_FIRST, "new file mode 100644", "deleted file mode 100644"),
    "an old mode without a new one": text(_FIRST, "old mode 100644", *_SIDES, *EDIT),
    "a new mode without an old one": text(_FIRST, "new mode 100755", *_SIDES, *EDIT),
    "a new file that has an old mode": text(
        _FIRST, "old mode 100644", "new mode 100755", "new file mode 100755"
    ),
    "a new file with an old name": text(_FIRST, "new file mode 100644", *_SIDES, *NEW),
    "an old name of /dev/null without a new file": text(
        _FIRST, "--- /dev/null", "+++ b/a.txt", *NEW
    ),
    "a deleted file with a new name": text(
        _FIRST, "deleted file mode 100644", *_SIDES, "@@ -1 +0,0 @@", "-b"
    ),
    "a new name of /dev/null without a deleted file": text(
        _FIRST, "--- a/a.txt", "+++ /dev/null", "@@ -1 +0,0 @@", "-b"
    ),
    "/dev/null on both sides": text("--- /dev/null", "+++ /dev/null", *NEW),
    "a header line twice": text(_FIRST, "old mode 100644", "old mode 100644", "new mode 100755"),
    "a similarity of 101": text(
        "diff --git a/a.txt b/c.txt",
        "similarity index 101%",
        "rename from a.txt",
        "rename to c.txt",
    ),
    "a similarity that is no number": text(
        "diff --git a/a.txt b/c.txt",
        "similarity index ../x",
        "rename from a.txt",
        "rename to c.txt",
    ),
    "an index line that is none": text(_FIRST, "index ../../etc/passwd", *_SIDES, *EDIT),
    "no a/ and b/": text("diff --git a.txt a.txt", "--- a.txt", "+++ a.txt", *EDIT),
    "no a/ and b/ in a plain diff": text("--- a.txt", "+++ a.txt", *EDIT),
    "a/ on both sides": text("--- a/a.txt", "+++ a/a.txt", *EDIT),
    "a/ and b/ the wrong way round": text("--- b/a.txt", "+++ a/a.txt", *EDIT),
    "git's mnemonic prefixes": text(
        "diff --git i/a.txt w/a.txt", "--- i/a.txt", "+++ w/a.txt", *EDIT
    ),
    "/dev/null after a prefix": text("--- a/dev/null", "+++ b/a.txt", *EDIT),
    "names without a hunk": text(_FIRST, *_SIDES),
    "a header without anything": text(_FIRST),
    "a header without names": text("diff --git ", *_SIDES, *EDIT),
    "one name only": text("--- a/a.txt", *EDIT),
    "the new name first": text("+++ b/a.txt", "--- a/a.txt", *EDIT),
    "hunks without a name": text(*EDIT),
    "a rename to itself": text(
        "diff --git a/a.txt b/a.txt", "rename from a.txt", "rename to a.txt"
    ),
    "a copy to itself": text("diff --git a/a.txt b/a.txt", "copy from a.txt", "copy to a.txt"),
    "a mode that does not change": text(_FIRST, "old mode 100644", "new mode 100644"),
    "the same file twice": edit() + edit(),
    "a file edited and renamed": edit() + rename("a.txt", "c.txt"),
    "two renames to one place": rename("a.txt", "c.txt") + rename("run.sh", "c.txt"),
    "one file renamed to two places": rename("a.txt", "c.txt") + rename("a.txt", "d.txt"),
    "a file added and renamed to": git_add("c.txt", *NEW) + rename("a.txt", "c.txt"),
    "a file deleted and edited": delete("a.txt", "@@ -1,3 +0,0 @@", "-one", "-two", "-three")
    + edit(),
    "a file and a folder of one name": git_add("x", *NEW) + git_add("x/y", *NEW),
    "a folder and a file of one name": git_add("x/y", *NEW) + git_add("x", *NEW),
    # To git and GNU patch the epoch means that the file is not there.
    "the time of a file that is not there, before": text(
        f"--- a/a.txt\t{_EPOCH}", "+++ b/a.txt\t2024-05-06 07:08:10 +0000", *EDIT
    ),
    "the time of a file that is not there, afterwards": text(
        "--- a/a.txt\t2024-05-06 07:08:10 +0000",
        f"+++ b/a.txt\t{_EPOCH}",
        *("@@ -1,3 +0,0 @@", "-one", "-two", "-three"),
    ),
    "a new mode and the mode of the index line": text(
        _FIRST,
        "old mode 100644",
        "new mode 100755",
        "index 1111111..2222222 100644",
        *_SIDES,
        *EDIT,
    ),
    "the mode of a new file and of the index line": text(
        "diff --git a/n b/n",
        *(
            "new file mode 100644",
            "index 0000000..2222222 100755",
            "--- /dev/null",
            "+++ b/n",
            *NEW,
        ),
    ),
    "a new file that had lines": text(
        _FIRST, "new file mode 100644", "--- /dev/null", "+++ b/a.txt", "@@ -1 +1 @@", "-x", "+y"
    ),
    "a new file with context": git_add("c.txt", "@@ -1 +1,2 @@", " x", "+y"),
    "a deleted file that keeps lines": delete("a.txt", "@@ -1,3 +1 @@", " one", "-two", "-three"),
    "a plain delete that keeps lines": text(
        "--- a/a.txt", "+++ /dev/null", "@@ -1,3 +1 @@", " one", "-two", "-three"
    ),
    "a plain add that had lines": text("--- /dev/null", "+++ b/a.txt", "@@ -1 +1 @@", "-x", "+y"),
}

LIMITS = [
    Case(name="nothing at all", rule="R32", diff=b"", code="diff.empty"),
    Case(
        name="one byte more than 2 MB",
        rule="R32",
        diff=git_add("big.txt", "@@ -0,0 +1 @@", "+" + "x" * (2_000_000 - 95)).ljust(
            2_000_001, b"x"
        ),
        code="diff.too-large",
    ),
    Case(
        name="501 files",
        rule="R32",
        diff=b"".join(git_add(f"f{number}.txt") for number in range(501)),
        code="diff.too-large",
    ),
    Case(
        name="5,001 hunks",
        rule="R32",
        diff=text(
            *_SIDES,
            *(
                line
                for number in range(1, 5002)
                for line in (f"@@ -{number} +{number} @@", "-x", "+y")
            ),
        ),
        code="diff.too-large",
    ),
]

CASES = [
    *ACCEPTED,
    *(_no(name, diff, why) for name, (diff, why) in (_MODES | _FOREIGN).items()),
    *(_no(f"disagreement: {name}", diff, None) for name, diff in _DISAGREE.items()),
    *LIMITS,
]
