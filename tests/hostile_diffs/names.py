"""R34: names of files, as they stand in a diff."""

from __future__ import annotations

from tests.hostile_diffs.case import (
    EDIT,
    EDITED,
    NEW,
    SOURCE,
    TREE,
    Case,
    edit,
    git_add,
    plain_add,
    rename,
    text,
)

# What stands after "+++ ": as it is, or in git's quotes.
_REFUSED: dict[str, tuple[str | bytes, str | None]] = {
    # absolute, and up
    "an absolute name": ("b//etc/passwd", "absolute"),
    "an absolute name without a prefix": ("/etc/passwd", None),
    "two dots (CVE-2015-1395)": ("b/../outside/canary", "component"),
    "two dots in the middle": ("b/folder/../../outside/canary", "component"),
    "two dots that stay inside": ("b/folder/../new.txt", "component"),
    "two dots at the end": ("b/folder/..", "component"),
    "two dots in quotes": ('"b/\\056\\056/outside/canary"', "component"),
    "one dot": ("b/./new.txt", "component"),
    "one dot in the middle": ("b/folder/./new.txt", "component"),
    "two slashes": ("b/folder//new.txt", "component"),
    "a slash at the end": ("b/folder/", "component"),
    "no name after the prefix": ("b/", "component"),
    "an empty name": ("", None),
    "a name in empty quotes": ('""', None),
    "a prefix alone": ("b", None),
    # characters
    "a backslash": ("b/folder\\new.txt", "character"),
    "a backslash in quotes": ('"b/folder\\\\new.txt"', "character"),
    "Windows' way up": ("b/..\\..\\outside\\canary", "character"),
    "a drive": ("b/C:/new.txt", "character"),
    "a drive alone": ("b/C:new.txt", "character"),
    "another stream of a file (CVE-2019-1352)": ("b/a.txt:hidden", "character"),
    "a full-width backslash": ("b/folder＼new.txt", "character"),
    "a full-width colon": ("b/C：new.txt", "character"),
    "a full-width slash": ("b/..／canary", None),
    "a full stop of another width for two dots": ("b/．．/canary", "component"),
    "a one-character two dots": ("b/‥/canary", "component"),
    "a NUL": (b"b/new\0.txt", None),
    "a NUL in quotes": ('"b/new\\000.txt"', "hidden"),
    "a line feed in quotes": ('"b/new\\n.txt"', "hidden"),
    "a tab in quotes": ('"b/new\\t.txt"', "hidden"),
    "a carriage return": (b"b/new.txt\r", None),
    "a carriage return in quotes (CVE-2025-48384)": ('"b/new.txt\\r"', "hidden"),
    "an escape in quotes": ('"b/new\\033[2J.txt"', "hidden"),
    "a bell": (b"b/new\a.txt", "hidden"),
    "a DEL": (b"b/new\x7f.txt", "hidden"),
    "a C1 control": ("b/new\u0085.txt", "hidden"),
    "a line separator": ("b/new\u2028.txt", "hidden"),
    "a paragraph separator": ("b/new\u2029.txt", "hidden"),
    "an override of direction (CVE-2021-42574)": ("b/new\u202etxt.exe", "hidden"),
    "an isolate": ("b/new\u2066.txt", "hidden"),
    "a mark of direction": ("b/new\u200f.txt", "hidden"),
    "a zero-width space": ("b/new\u200b.txt", "hidden"),
    "a zero-width joiner in a word": ("b/ne\u200dw.txt", "hidden"),
    "a word joiner": ("b/new\u2060.txt", "hidden"),
    "a soft hyphen": ("b/new\u00ad.txt", "hidden"),
    "a byte-order mark": ("b/\ufeffnew.txt", "hidden"),
    "a tag character": ("b/new\U000e0041.txt", "hidden"),
    "a variation selector": ("b/new\ufe0e.txt", "hidden"),
    "a Hangul filler": ("b/new\u3164.txt", "hidden"),
    "a space that does not break": ("b/new\u00a0file.txt", "hidden"),
    "a thin space": ("b/new\u2009file.txt", "hidden"),
    "an ideographic space at the end": ("b/new\u3000", None),
    "an unassigned character": ("b/new\u0378.txt", "hidden"),
    "a character of private use": ("b/new\ue000.txt", "hidden"),
    # encoding and quotes
    "a byte that is no UTF-8": (b"b/new\xff.txt", "encoding"),
    "a byte that is no UTF-8, in quotes": ('"b/new\\377.txt"', "encoding"),
    "Latin-1": (b"b/caf\xe9.txt", "encoding"),
    "a dot in two bytes": ('"b/\\300\\256git/config"', "encoding"),
    "a slash in two bytes": (b"b/..\xc0\xaf..\xc0\xafcanary", "encoding"),
    "half a surrogate": (b"b/new\xed\xa0\x80.txt", "encoding"),
    "a character cut off": (b"b/new\xe6\xb5", "encoding"),
    "quotes that do not end": ('"b/new.txt', "quoting"),
    "text after the quotes": ('"b/new.txt"x', None),
    "quotes within quotes": ('"b/new"x.txt"', None),
    "an escape that is none": ('"b/new\\x2e.txt"', "quoting"),
    "an octal number of two digits": ('"b/\\56git/config"', "quoting"),
    "an octal number beyond a byte": ('"b/\\456git/config"', "quoting"),
    "quotes inside a name that has none around it": ('b/say "hi".txt', "quoting"),
    "a backslash at the end": ('"b/new.txt\\"', "quoting"),
    # parts
    "a blank before a part": ("b/ new.txt", "component"),
    "a blank before an inner part": ("b/folder/ x/new.txt", "component"),
    "a blank after an inner part": ("b/folder /new.txt", "component"),
    "a blank at the end": ("b/new.txt ", "component"),
    "a dot after a part": ("b/folder./new.txt", "component"),
    "a dot at the end": ("b/new.txt.", "component"),
    "three dots": ("b/.../new.txt", "component"),
    "a part of 256 bytes": ("b/" + "x" * 256, "too-long"),
    "a part of 86 Chinese characters": ("b/" + "测" * 86, "too-long"),
    "a name of 1,025 bytes": ("b/" + "/".join(["x" * 204] * 5) + "/y", "too-long"),
    # git's own, in every spelling (CVE-2014-9390)
    "a hook": ("b/.git/hooks/pre-commit", "git"),
    "the configuration": ("b/.git/config", "git"),
    "a .git that is a file": ("b/.git", "git"),
    "a nested .git": ("b/folder/.git/config", "git"),
    "capitals": ("b/.GIT/config", "git"),
    "one capital": ("b/.giT/config", "git"),
    "in quotes, as numbers": ('"b/\\056git/hooks/pre-commit"', "git"),
    "NTFS' short name": ("b/git~1/config", "git"),
    "NTFS' short name in capitals": ("b/GIT~1/config", "git"),
    "NTFS' second short name": ("b/git~2/config", "git"),
    "a short name of something else": ("b/gi~1/x.txt", "alias"),
    "a dot after it": ("b/.git./config", None),
    "blanks after it": ("b/.git  /config", None),
    "dots and blanks after it": ("b/.git . ./config", None),
    "its NTFS stream (CVE-2019-1353)": ("b/.git::$INDEX_ALLOCATION/config", None),
    "a character that HFS+ ignores": ("b/.g\u200cit/config", None),
    "a joiner that HFS+ ignores": ("b/.git\u200d/config", None),
    "an override that HFS+ ignores": ("b/\u202e.git/config", None),
    "a mark that HFS+ ignores": ("b/.git\ufeff/config", None),
    "an old format character that HFS+ ignores": ("b/.gi\u206at/config", None),
    "full width": ("b/．ｇｉｔ/config", "git"),
    "full-width short name": ("b/ｇｉｔ～１/config", "git"),
    "mathematical letters": ("b/.\U0001d420\U0001d422\U0001d42d/config", "git"),
    "letters in circles": ("b/.ⓖⓘⓣ/config", "git"),
    "a small full stop": ("b/﹒git/config", "git"),
    # what Windows takes for a device
    "CON": ("b/CON", "device"),
    "con with an extension": ("b/con.txt", "device"),
    "NUL as a folder": ("b/nul/new.txt", "device"),
    "NUL with two extensions": ("b/NUL.tar.gz", "device"),
    "AUX": ("b/folder/aux.c", "device"),
    "PRN": ("b/prn", "device"),
    "COM1": ("b/COM1", "device"),
    "COM with a raised one": ("b/com¹.txt", "device"),
    "LPT9 with an extension": ("b/lpt9.log", "device"),
    "CONIN$": ("b/CONIN$", "device"),
    "a device before a blank": ("b/nul .txt", "device"),
}

_FINE = {
    "a name in Chinese": "测试/文件.txt",
    "a name with accents": "café/naïve.txt",
    "a name in Arabic": "ملف.txt",
    "an emoji": "🎉.md",
    "blanks inside": "my file with  blanks.txt",
    "a name like an option": "--help",
    "a dot file": ".editorconfig",
    ".gitignore": ".gitignore",
    "a folder named git": "git/new.txt",
    "a word that begins with git": "gitlab/.github.txt",
    ".git with more letters": ".github/x.txt",
    "a word that begins with a device": "console/nullable.txt",
    "COM10": "com10.txt",
    "a tilde": "draft~.txt",
    "a dollar and a semicolon": "$(id);x.txt",
    "a part of 255 bytes": "x" * 255,
    "a name of 1,024 bytes": "/".join(["x" * 204] * 5),
    "a tab of GNU diff after it": "new.txt",
}

_TWO = "x b/y.txt"


def _spellings(name: str, raw: str | bytes, why: str | None) -> list[Case]:
    return [
        Case(name=f"name: {name}", rule="R34", diff=plain_add(raw), code=_code(why), why=why),
        Case(
            name=f"name of what is read: {name}",
            rule="R34",
            diff=_reading(raw),
            code=_code(why),
            why=why,
        ),
    ]


def _code(why: str | None) -> str:
    # Without a `why` several clauses refuse it, and which does so first is no promise.
    return "diff.name" if why else "diff"


def _reading(raw: str | bytes) -> bytes:
    new = raw.encode() if isinstance(raw, str) else raw
    old = new.replace(b"b/", b"a/", 1)
    return text(b"--- " + old, b"+++ " + new, *EDIT)


CASES = [
    *(case for name, (raw, why) in _REFUSED.items() for case in _spellings(name, raw, why)),
    *(
        Case(
            name=f"good name: {name}",
            rule="R34",
            diff=git_add(path, *NEW).replace(b"txt\n@@", b"txt\t\n@@"),
            after={path: b"new\n"},
        )
        for name, path in _FINE.items()
    ),
    Case(
        name="a name as git quotes it",
        rule="R34",
        diff=text(
            *('diff --git "a/\\346\\265\\213.txt" "b/\\346\\265\\213.txt"',),
            *('--- "a/\\346\\265\\213.txt"', '+++ "b/\\346\\265\\213.txt"', *EDIT),
        ),
        before={**TREE, "测.txt": SOURCE},
        after={"测.txt": EDITED},
    ),
    Case(
        name="a name with quotes in it",
        rule="R34",
        diff=text("--- /dev/null", '+++ "b/say \\"hi\\".txt"', *NEW),
        after={'say "hi".txt': b"new\n"},
    ),
    Case(
        name="one name quoted and one not",
        rule="R34",
        diff=text(
            *('diff --git "a/\\346\\265\\213.txt" b/c.txt', "similarity index 100%"),
            *('rename from "\\346\\265\\213.txt"', "rename to c.txt"),
        ),
        before={**TREE, "测.txt": SOURCE},
        after={"测.txt": None, "c.txt": SOURCE},
    ),
    Case(
        name="a name that holds ' b/'",
        rule="R34",
        diff=edit(_TWO),
        before={**TREE, _TWO: SOURCE},
        after={_TWO: EDITED},
    ),
    Case(
        name="a name that holds ' b/' and no names below",
        rule="R34",
        diff=text(f"diff --git a/{_TWO} b/{_TWO}", "deleted file mode 100644"),
        before={**TREE, _TWO: b""},
        after={_TWO: None},
    ),
    Case(
        name="a header that can be cut in two places, where the names decide otherwise",
        rule="R34",
        diff=text("diff --git a/x b/y b/x b/y", "--- a/x", "+++ b/y b/x b/y", *EDIT),
        code="diff.refused",
    ),
    Case(
        name="header: quotes hide another name",
        rule="R34",
        diff=text('diff --git "a/\\056git/config" b/a.txt', "--- a/a.txt", "+++ b/a.txt", *EDIT),
        code="diff.refused",
    ),
    *(
        Case(name=f"name in a rename: {name}", rule="R34", diff=rename(old, new), code="diff")
        for name, old, new in (
            ("from outside", "../outside/canary", "c.txt"),
            ("to the outside", "a.txt", "../outside/canary"),
            ("from an absolute name", "/etc/passwd", "c.txt"),
            ("to an absolute name", "a.txt", "/tmp/c.txt"),
            ("out of .git", ".git/config", "c.txt"),
            ("into .git", "a.txt", ".git/hooks/pre-commit"),
            ("into a quoted .git", "a.txt", '"\\056git/hooks/pre-commit"'),
        )
    ),
    # Twins within the diff, and of what is there.
    *(
        Case(
            name=f"twins in the diff: {name}",
            rule="R34",
            diff=git_add(one, *NEW) + git_add(other, *NEW),
            code="diff.refused",
        )
        for name, one, other in (
            ("case", "new.txt", "NEW.txt"),
            ("composed and decomposed", "caf\u00e9.txt", "cafe\u0301.txt"),
            ("width", "new.txt", "ｎｅｗ.txt"),
            ("sharp s", "stra\u00dfe.txt", "STRASSE.txt"),
            ("a ligature", "\ufb01le.txt", "file.txt"),
        )
    ),
    *(
        Case(
            name=f"twin of what is there: {name}",
            rule="R34",
            diff=git_add(path, *NEW),
            before={**TREE, "caf\u00e9.txt": b"x\n"},
            code="change.twin",
        )
        for name, path in (
            ("case", "A.TXT"),
            ("case of a folder", "Folder/new.txt"),
            ("case of a program", "RUN.sh"),
            ("composed and decomposed", "cafe\u0301.txt"),
            ("width", "ａ.txt"),
        )
    ),
    Case(
        name="twins in the diff: case of a new folder",
        rule="R34",
        diff=git_add("src/a.txt", *NEW) + git_add("Src/b.txt", *NEW),
        code="change.twin",
    ),
    Case(
        name="a rename makes a twin",
        rule="R34",
        diff=rename("a.txt", "RUN.SH"),
        code="change.twin",
    ),
]
