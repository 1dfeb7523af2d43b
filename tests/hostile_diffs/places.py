"""R35, R36 and the rest of R32 and R34: what the workspace holds decides."""

from __future__ import annotations

from tests.hostile_diffs.case import (
    CANARY,
    EDITED,
    NEW,
    SOURCE,
    TREE,
    Case,
    Device,
    Fifo,
    File,
    Folder,
    Hard,
    Link,
    Socket,
    Tree,
    copy,
    delete,
    edit,
    git_add,
    rename,
    text,
)

_ALL = ("@@ -1,3 +0,0 @@", "-one", "-two", "-three")

_CANARY = CANARY.decode().rstrip("\n")

_ON_CANARY = ("@@ -1 +1 @@", f"-{_CANARY}", "+changed")


def _no(
    name: str,
    diff: bytes,
    code: str,
    more: Tree | None = None,
    *,
    rule: str = "R35",
    tracked: tuple[str, ...] | None = None,
) -> Case:
    before = {**TREE, **(more or {})}
    return Case(name=name, rule=rule, diff=diff, code=code, before=before, tracked=tracked)


def _edits(name: str, *body: str) -> bytes:
    return text(f"diff --git a/{name} b/{name}", f"--- a/{name}", f"+++ b/{name}", *body)


EXISTENCE = [
    _no("an add over a file", git_add("a.txt", *NEW), "change.exists"),
    _no("an add over an equal file", git_add("x", *NEW), "change.exists", {"x": b"new\n"}),
    _no("an empty add over an empty file", git_add("x"), "change.exists", {"x": b""}),
    _no("an add over a folder", git_add("folder", *NEW), "change.exists"),
    _no("an add over an empty folder", git_add("x", *NEW), "change.exists", {"x": Folder()}),
    _no("an add below a file", git_add("a.txt/new.txt", *NEW), "change"),
    _no("an edit of what is not there", edit("gone.txt"), "change.missing"),
    _no("an edit of a folder", edit("folder"), "change"),
    _no("an edit below a file", edit("a.txt/x"), "change"),
    _no("a delete of what is not there", delete("gone.txt", *_ALL), "change.missing"),
    _no("a delete of an empty file that is not there", delete("gone.txt"), "change.missing"),
    _no("a delete of a folder", delete("folder"), "change"),
    _no("a rename of what is not there", rename("gone.txt", "c.txt"), "change.missing"),
    _no("a rename of a folder", rename("folder", "other"), "change"),
    _no(
        "a folder becomes a file and keeps another",
        delete("folder/b.txt", "@@ -1 +0,0 @@", "-b") + git_add("folder", *NEW),
        "change",
        {"folder/other": b"other\n"},
    ),
    _no("a rename over a file", rename("a.txt", "run.sh"), "change.exists"),
    _no("a rename over a folder", rename("a.txt", "folder"), "change.exists"),
    _no(
        "a copy over a file", copy("a.txt", "run.sh"), "change.exists", tracked=("a.txt", "run.sh")
    ),
    _no(
        "a mode change of what is not there",
        text("diff --git a/g b/g", "old mode 100644", "new mode 100755"),
        "change.missing",
    ),
    _no(
        "the third file of three cannot be written",
        git_add("x", *NEW) + edit() + edit("gone.txt"),
        "change.missing",
        rule="R36",
    ),
    _no(
        "the second hunk of the second file does not fit",
        git_add("x", *NEW)
        + edit()
        + delete("run.sh", "@@ -1 +0,0 @@", "-#!/bin/bash", mode="100755"),
        "diff.context",
        rule="R36",
    ),
    _no(
        "a delete of many folders that stops at the last",
        delete("folder/b.txt", "@@ -1 +0,0 @@", "-b") + delete("x/y/z", "@@ -1 +0,0 @@", "-other"),
        "diff.context",
        {"x/y/z": b"z\n"},
        rule="R36",
    ),
]

MODES = [
    _no(
        "an old mode that the file does not have",
        text("diff --git a/a.txt b/a.txt", "old mode 100755", "new mode 100644"),
        "change.mode",
        rule="R32",
    ),
]

LINKS = [
    _no(
        "an edit of a link",
        _edits("link", *_ON_CANARY),
        "change",
        {"link": Link("../outside/canary")},
    ),
    _no("an edit of a link that stays inside", edit("link"), "change", {"link": Link("a.txt")}),
    _no("a delete of a link", delete("link", *_ALL), "change", {"link": Link("a.txt")}),
    _no(
        "a rename of a link (CVE-2023-23946)",
        rename("link", "c.txt"),
        "change",
        {"link": Link("../outside/canary")},
    ),
    _no(
        "a copy of a link",
        copy("link", "c.txt"),
        "change",
        {"link": Link("../outside/canary")},
        tracked=("link",),
    ),
    _no(
        "a mode change of a link",
        text("diff --git a/link b/link", "old mode 100644", "new mode 100755"),
        "change",
        {"link": Link("../outside/canary")},
    ),
    _no(
        "an add over a link (CVE-2015-1196)",
        git_add("link", *NEW),
        "change",
        {"link": Link("../outside/canary")},
    ),
    _no(
        "an add over a link to nothing",
        git_add("link", *NEW),
        "change",
        {"link": Link("../outside/new.txt")},
    ),
    _no(
        "an add through a link (CVE-2019-13636)",
        git_add("link/new.txt", *NEW),
        "change",
        {"link": Link("../outside")},
    ),
    _no(
        "an add through a link that stays inside",
        git_add("link/new.txt", *NEW),
        "change",
        {"link": Link("folder")},
    ),
    _no(
        "an add through a link into .git",
        git_add("link/post-checkout", *NEW),
        "change",
        {"link": Link(".git/hooks")},
        tracked=(),
    ),
    _no(
        "an add through a link to itself",
        git_add("link/new.txt", *NEW),
        "change",
        {"link": Link("link")},
    ),
    _no(
        "an add through an absolute link",
        git_add("link/new.txt", *NEW),
        "change",
        {"link": Link("/tmp")},
    ),
    _no(
        "an add through a link to nothing",
        git_add("link/new.txt", *NEW),
        "change",
        {"link": Link("../outside/not-there")},
    ),
    _no(
        "an add through an inner link",
        git_add("folder/link/x/new.txt", *NEW),
        "change",
        {"folder/link": Link("../../outside")},
    ),
    _no(
        "an edit through a link",
        _edits("link/canary", *_ON_CANARY),
        "change",
        {"link": Link("../outside")},
    ),
    _no(
        "a delete through a link",
        delete("link/canary", "@@ -1 +0,0 @@", f"-{_CANARY}"),
        "change",
        {"link": Link("../outside")},
    ),
    _no(
        "a rename into a link",
        rename("a.txt", "link/new.txt"),
        "change",
        {"link": Link("../outside")},
    ),
    _no(
        "a rename out of a link",
        rename("link/canary", "c.txt"),
        "change",
        {"link": Link("../outside")},
    ),
    _no(
        "a copy out of a link",
        copy("link/canary", "c.txt"),
        "change",
        {"link": Link("../outside")},
        tracked=("a.txt",),
    ),
    _no(
        "a link made and written through in one diff (CVE-2023-23946)",
        git_add(
            "link", "@@ -0,0 +1 @@", "+../outside", "\\ No newline at end of file", mode="120000"
        )
        + git_add("link/new.txt", *NEW),
        "diff.refused",
    ),
    _no(
        "a reject file that is a link (CVE-2023-25652)",
        _edits("a.txt", "@@ -1 +1 @@", "-nothing", "+x"),
        "diff.context",
        {"a.txt.rej": Link("../outside/canary"), "a.txt.orig": Link("../outside/canary")},
        rule="R36",
    ),
]

SPECIAL = [
    _no("an edit of a FIFO", edit("pipe"), "change", {"pipe": Fifo()}),
    _no("a delete of a FIFO", delete("pipe"), "change", {"pipe": Fifo()}),
    _no("a rename of a FIFO", rename("pipe", "c.txt"), "change", {"pipe": Fifo()}),
    _no("an add over a FIFO", git_add("pipe", *NEW), "change", {"pipe": Fifo()}),
    _no("an add below a FIFO", git_add("pipe/new.txt", *NEW), "change", {"pipe": Fifo()}),
    _no("an edit of a socket", edit("sock"), "change", {"sock": Socket()}),
    _no("a delete of a socket", delete("sock"), "change", {"sock": Socket()}),
    _no("an edit of a device", edit("dev"), "change", {"dev": Device()}),
    _no("a delete of a device", delete("dev"), "change", {"dev": Device()}),
    _no(
        "a copy of a FIFO",
        copy("pipe", "c.txt"),
        "change",
        {"pipe": Fifo()},
        tracked=("a.txt",),
    ),
]

REPOSITORIES = [
    _no(
        "an edit in a repository below",
        edit("sub/a.txt"),
        "change",
        {"sub/a": b"", "sub/a.txt": SOURCE, "sub/.git/HEAD": b"ref: refs/heads/main\n"},
    ),
    _no(
        "an add in a repository below",
        git_add("sub/deep/new.txt", *NEW),
        "change",
        {"sub/x": b"", "sub/.git/HEAD": b"x\n"},
    ),
    _no(
        "an add in a submodule",
        git_add("sub/new.txt", *NEW),
        "change",
        {"sub/.git": b"gitdir: ../.git/modules/sub\n"},
    ),
    _no(
        "a delete in a submodule",
        delete("sub/a.txt", *_ALL),
        "change",
        {"sub/.git": b"gitdir: x\n", "sub/a.txt": SOURCE},
    ),
    _no(
        "a rename out of a submodule",
        rename("sub/a.txt", "c.txt"),
        "change",
        {"sub/.git": b"gitdir: x\n", "sub/a.txt": SOURCE},
    ),
    _no(
        "an add where a submodule is not checked out",
        git_add("sub/new.txt", *NEW),
        "change",
        {"sub/x": b"", "sub/.git": Link("../elsewhere")},
    ),
]

_SUB: Tree = {**TREE, "sub": Folder()}

NOT_OURS = [
    Case(
        name="an add in a submodule that is not checked out",
        rule="R35",
        diff=git_add("sub/new.txt", *NEW),
        code="change.submodule",
        before=_SUB,
        tracked=("a.txt",),
        submodules=("sub",),
    ),
    Case(
        name="a file in the place of a submodule",
        rule="R35",
        diff=git_add("sub", *NEW),
        code="change",
        tracked=("a.txt",),
        submodules=("sub",),
    ),
    Case(
        name="a rename into a submodule that is not checked out",
        rule="R35",
        diff=rename("a.txt", "sub/deep/a.txt"),
        code="change.submodule",
        before=_SUB,
        tracked=("a.txt",),
        submodules=("sub",),
    ),
    Case(
        name="an edit of what the person has denied",
        rule="R35",
        diff=edit("private/a.txt"),
        code="change.denied",
        before={"private/a.txt": SOURCE},
        deny=("private",),
    ),
    Case(
        name="an add to what the person has denied",
        rule="R35",
        diff=git_add("private/new.txt", *NEW),
        code="change.denied",
        deny=("private/**",),
    ),
    Case(
        name="a rename out of what the person has denied",
        rule="R35",
        diff=rename("private/a.txt", "a.txt"),
        code="change.denied",
        before={"private/a.txt": SOURCE},
        deny=("private",),
    ),
    _no("a file 70 folders down", git_add("/".join(["d"] * 70), *NEW), "change.too-deep"),
    _no(
        "a file of more than 8 MB",
        edit("big.txt"),
        "change.too-large",
        {"big.txt": SOURCE + b"x" * 8_400_000},
    ),
]

COPIES = [
    _no(
        "a copy of /etc/passwd",
        text("diff --git a//etc/passwd b/c.txt", "copy from /etc/passwd", "copy to c.txt"),
        "diff",
        rule="R32",
        tracked=("a.txt",),
    ),
    _no(
        "a copy from outside",
        copy("../outside/canary", "c.txt"),
        "diff",
        rule="R32",
        tracked=("a.txt",),
    ),
    _no(
        "a copy of a file that is not tracked",
        copy("run.sh", "c.txt"),
        "change",
        rule="R32",
        tracked=("a.txt",),
    ),
    _no("a copy in a folder without git", copy("a.txt", "c.txt"), "change", rule="R32"),
    _no(
        "a copy of .env",
        copy(".env", "c.txt"),
        "change",
        {".env": b"TOKEN=1\n"},
        rule="R32",
        tracked=(".env",),
    ),
    _no(
        "a copy of a key",
        copy("deploy/id_ed25519", "c.txt"),
        "change",
        {"deploy/id_ed25519": b"KEY\n"},
        rule="R32",
        tracked=("deploy/id_ed25519",),
    ),
    _no(
        "a copy of what the workspace denies",
        copy("a.txt", "c.txt"),
        "change",
        {".codexbridgeignore": b"a.txt\n"},
        rule="R32",
        tracked=("a.txt",),
    ),
    _no(
        "a copy of git's configuration",
        copy(".git/config", "c.txt"),
        "diff.name",
        rule="R32",
        tracked=("a.txt",),
    ),
    _no(
        "a copy of what is not there",
        copy("gone.txt", "c.txt"),
        "change",
        rule="R32",
        tracked=("a.txt",),
    ),
    _no(
        "a copy of a folder",
        copy("folder", "c.txt"),
        "change",
        rule="R32",
        tracked=("folder/b.txt",),
    ),
]

DONE = [
    Case(
        name="a file that has another name outside",
        rule="R35",
        diff=_edits("hard", *_ON_CANARY),
        before={**TREE, "hard": Hard("../outside/canary")},
        after={"hard": b"changed\n"},
    ),
    Case(
        name="a delete of a file that has another name outside",
        rule="R35",
        diff=delete("hard", "@@ -1 +0,0 @@", f"-{_CANARY}"),
        before={**TREE, "hard": Hard("../outside/canary")},
        after={"hard": None},
    ),
    Case(
        name="the permissions of a file stay",
        rule="R35",
        diff=edit(),
        before={**TREE, "a.txt": File(SOURCE, 0o640)},
        after={"a.txt": File(EDITED, 0o640)},
    ),
    Case(
        name="a file that only its owner may read stays so",
        rule="R35",
        diff=rename("a.txt", "c.txt"),
        before={**TREE, "a.txt": File(SOURCE, 0o600)},
        after={"a.txt": None, "c.txt": File(SOURCE, 0o600)},
    ),
    Case(
        name="a read-only file",
        rule="R35",
        diff=edit(),
        before={**TREE, "a.txt": File(SOURCE, 0o444)},
        after={"a.txt": File(EDITED, 0o444)},
    ),
    Case(
        name="links that nobody names stay",
        rule="R35",
        diff=edit(),
        before={**TREE, "link": Link("../outside"), "dead": Link("nowhere")},
        after={"a.txt": EDITED},
    ),
    Case(
        name="a repository below that nobody names stays",
        rule="R35",
        diff=edit(),
        before={**TREE, "sub/.git/HEAD": b"x\n"},
        after={"a.txt": EDITED},
    ),
    Case(
        name="a delete takes the folders that it empties",
        rule="R35",
        diff=delete("x/y/z.txt", "@@ -1 +0,0 @@", "-z"),
        before={**TREE, "x/y/z.txt": b"z\n"},
        after={"x/y/z.txt": None},
    ),
    Case(
        name="a rename takes the folder that it empties",
        rule="R35",
        diff=rename("x/y/z.txt", "x/z.txt"),
        before={**TREE, "x/y/z.txt": b"z\n"},
        after={"x/y/z.txt": None, "x/z.txt": b"z\n"},
    ),
    Case(
        name="an empty folder gets a file",
        rule="R35",
        diff=git_add("empty/new.txt", *NEW),
        before={**TREE, "empty": Folder()},
        after={"empty": None, "empty/new.txt": b"new\n"},
    ),
    Case(
        name="an index line cannot make a file executable",
        rule="R32",
        diff=edit("a.txt", "index 1111111..2222222 100755"),
        after={"a.txt": EDITED},
    ),
    Case(
        name="a deleted mode that the file does not have",
        rule="R32",
        diff=delete("a.txt", *_ALL, mode="100755"),
        after={"a.txt": None},
    ),
    Case(
        name="a name beside it that is no UTF-8",
        rule="R35",
        diff=edit() + git_add("new.txt", *NEW),
        before={**TREE, "caf\udce9.txt": b"x\n", "line\nfeed": b"x\n"},
        after={"a.txt": EDITED, "new.txt": b"new\n"},
    ),
    Case(
        name="a file becomes a folder",
        rule="R35",
        diff=delete("a.txt", *_ALL) + git_add("a.txt/x/new.txt", *NEW),
        after={"a.txt": None, "a.txt/x/new.txt": b"new\n"},
    ),
    Case(
        name="a file becomes a folder, the other way round in the diff",
        rule="R35",
        diff=git_add("a.txt/new.txt", *NEW) + delete("a.txt", *_ALL),
        after={"a.txt": None, "a.txt/new.txt": b"new\n"},
    ),
    Case(
        name="a folder becomes a file",
        rule="R35",
        diff=delete("folder/b.txt", "@@ -1 +0,0 @@", "-b") + git_add("folder", *NEW),
        after={"folder/b.txt": None, "folder": b"new\n"},
    ),
    Case(
        name="a rename below itself",
        rule="R35",
        diff=rename("a.txt", "a.txt/b"),
        after={"a.txt": None, "a.txt/b": SOURCE},
    ),
    Case(
        name="a rename above itself",
        rule="R35",
        diff=rename("folder/b.txt", "folder"),
        after={"folder/b.txt": None, "folder": b"b\n"},
    ),
    Case(
        name="an empty folder gets folders with a file",
        rule="R35",
        diff=git_add("empty/x/y/new.txt", *NEW),
        before={**TREE, "empty": Folder()},
        after={"empty": None, "empty/x/y/new.txt": b"new\n"},
    ),
    Case(
        name="a reject and an original file that were there stay (CVE-2023-25652)",
        rule="R36",
        diff=edit(),
        before={**TREE, "a.txt.rej": b"r\n", "a.txt.orig": Link("../outside/canary")},
        after={"a.txt": EDITED},
    ),
    Case(
        name="a change in a repository leaves .git as it is",
        rule="R35",
        diff=edit() + git_add("new.txt", *NEW),
        tracked=("a.txt",),
        after={"a.txt": EDITED, "new.txt": b"new\n"},
    ),
]

CASES = [*EXISTENCE, *MODES, *LINKS, *SPECIAL, *REPOSITORIES, *NOT_OURS, *COPIES, *DONE]
