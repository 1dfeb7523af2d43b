"""Random trees, random edits: we make of them what `git apply` does, and undo takes it back.

Byte for byte, executable bits and folders included.  ``--hypothesis-profile=many`` tries more.
"""

from __future__ import annotations

import asyncio
import contextlib
import shutil
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import pygit2
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from common.diff.parse import parse_diff
from common.encodings import UTF8, decoded
from common.errors import InputError
from common.model.state import Reason
from tests import git_apply
from tests.changing import Changing
from tests.hostile_diffs.case import Snapshot, folders, snapshot

EXAMPLES = max(60, settings().max_examples if settings().max_examples > 100 else 0)


@dataclass(frozen=True)
class Kept:
    """A file as git keeps it."""

    content: bytes
    executable: bool = False


Files = Mapping[str, Kept]

# What makes readers of diffs think: odd line ends, lines that look like a diff's, no UTF-8.
LINES = st.sampled_from(
    (
        *(b"a", b"b", b"c", b"", b" ", b"\t", b"a\r", b"\r", b"\f", b"\v", b"\x1c", b"\xc2\x85"),
        *("测试".encode(), b"caf\xe9", b"\xe2\x80\xa8", b"\xef\xbb\xbfbom", b"x" * 300),
        *(b"--- a/x", b"+++ b/x", b"-- a/x", b"++ b/x", b"@@ -1 +1 @@", b"-", b"+", b"-- ", b"\\"),
        *(b"diff --git a/x b/x", b"\\ No newline at end of file", b"def f():", b"}"),
    )
)
BLOCK = st.lists(LINES, max_size=12)
CONTENT = st.builds(
    lambda lines, ends: b"\n".join(lines) + (b"\n" if ends and lines else b""),
    st.lists(LINES, max_size=40),
    st.booleans(),
)
FOLDERS = ("", "x/", "x/y/", "x/y/z/", "目录/", "sp ace/", "-o/")
LEAVES = ("a", "b.txt", "x", "文件.md", "with space.c", "é", "-n", 'say "hi"', ".dot", "b c")
PATH = st.builds(str.__add__, st.sampled_from(FOLDERS), st.sampled_from(LEAVES))
FILE = st.builds(Kept, CONTENT, st.booleans())


def _fits(files: Files, path: str) -> bool:
    """Tell whether a file can be there: none is a folder of another."""
    above = {path[:at] for at, char in enumerate(path) if char == "/"}
    return not (above & set(files)) and not any(name.startswith(f"{path}/") for name in files)


@st.composite
def trees(draw: st.DrawFn) -> Files:
    """A tree of a few files."""
    files: dict[str, Kept] = {}
    for path, file in draw(st.dictionaries(PATH, FILE, max_size=7)).items():
        if _fits(files, path):
            files[path] = file
    return files


@st.composite
def edits(draw: st.DrawFn, content: bytes) -> bytes:
    """The content with some lines replaced, inserted or removed."""
    lines = content.split(b"\n")
    for _ in range(draw(st.integers(1, 3))):
        at = draw(st.integers(0, len(lines)))
        until = min(len(lines), at + draw(st.integers(0, 4)))
        lines[at:until] = draw(BLOCK)
    return b"\n".join(lines)


@st.composite
def changes(draw: st.DrawFn) -> tuple[Files, Files]:
    """A tree and what becomes of it."""
    before = draw(trees())
    after: dict[str, Kept] = {}
    for path, file in before.items():
        wish = draw(st.sampled_from(("keep", "edit", "edit", "mode", "delete", "rename", "move")))
        if wish == "delete":
            continue
        if wish in ("edit", "move"):
            file = Kept(draw(edits(file.content)), file.executable)  # noqa: PLW2901 - what it becomes
        if wish == "mode":
            file = Kept(file.content, not file.executable)  # noqa: PLW2901 - same
        target = draw(PATH) if wish in ("rename", "move") else path
        place = target if target not in before and _fits(after, target) else path
        if _fits(after, place) and place not in after:
            after[place] = file
    for path, file in draw(st.dictionaries(PATH, FILE, max_size=3)).items():
        if path not in before and path not in after and _fits(after, path):
            after[path] = file
    return before, after


OPTIONS = st.tuples(
    st.sampled_from(((), ("-M",), ("-M20%",), ("-C", "--find-copies-harder"), ("--no-renames",))),
    st.sampled_from(((), ("-U1",), ("-U8",), ("-W",))),
    st.sampled_from(((), ("--full-index",), ("--patience",), ("--minimal",))),
)


@pytest.mark.needs("git")
@pytest.mark.timeout(900)
@pytest.mark.requirement("R35", "R37", "P5")
@given(changes(), OPTIONS, st.lists(st.sampled_from(FOLDERS[1:]), max_size=2))
@settings(max_examples=EXAMPLES, deadline=None)
@pytest.mark.thorough
def test_our_apply_gives_the_tree_of_git_apply_and_undo_the_one_before(
    change: tuple[Files, Files], options: tuple[tuple[str, ...], ...], empty: Sequence[str]
) -> None:
    with tempfile.TemporaryDirectory() as place:
        root = Path(place).resolve()
        diff = _diff(root / "made", *change, *(word for words in options for word in words))
        if diff:
            # No folder where the change puts a file: git refuses that, too.
            _compare(root, change[0], diff, [one for one in empty if _fits(change[1], f"{one}.")])


def _is_text(content: bytes) -> bool:
    return decoded(content, UTF8) is not None


def _is_mixed(before: Files, after: Path, diff: bytes) -> bool:
    """Tell whether a change leaves a text of more than ASCII that is text no longer."""
    for file in parse_diff(diff).files:
        old = before[file.old_path or file.path].content if file.op != "add" else b""
        is_wide = file.op != "delete" and not old.isascii() and _is_text(old)
        if is_wide and not _is_text((after / file.path).read_bytes()):
            return True
    return False


def _compare(root: Path, before: Files, diff: bytes, empty: Sequence[str]) -> None:
    ours, theirs = root / "ours", root / "theirs"
    for folder in (ours, theirs):
        _write(folder, before)
        _add_empty_folders(folder, empty)
    repository = pygit2.init_repository(str(ours))
    repository.index.add_all()
    repository.index.write()
    original = snapshot(ours), folders(ours)
    desk = Changing.at(ours, root / "state")
    assert git_apply.numstat(theirs, diff) == git_apply.counted(parse_diff(diff))
    git_apply.apply(theirs, diff)
    if _is_mixed(before, theirs, diff):
        with pytest.raises(InputError, match=r"change\.encoding"):
            asyncio.run(desk.apply(diff))
        return
    done, outcome = asyncio.run(desk.apply(diff))
    assert outcome.reason is Reason.COMPLETED
    assert _kept(ours) == _kept(theirs)
    back, undone = asyncio.run(desk.undo(done))
    assert undone.reason is Reason.COMPLETED
    assert (snapshot(ours), folders(ours)) == original
    _, redone = asyncio.run(desk.undo(back))
    assert redone.reason is Reason.COMPLETED
    assert _kept(ours) == _kept(theirs)


def _add_empty_folders(top: Path, names: Sequence[str]) -> None:
    for name in names:
        with contextlib.suppress(FileExistsError, NotADirectoryError):
            (top / name).mkdir(mode=0o750, parents=True)


def _kept(top: Path) -> Snapshot:
    """Return what lies in a folder, apart from git's own."""
    found = snapshot(top)
    return {
        name: what for name, what in found.items() if name != "." and not name.startswith(".git/")
    }


def _diff(folder: Path, before: Files, after: Files, *options: str) -> bytes:
    """Return what git calls the difference of the two trees."""
    folder.mkdir()
    repository = pygit2.init_repository(str(folder))
    names = [_tree(repository, folder, files) for files in (before, after)]
    done = git_apply.git(folder, "diff", "--no-ext-diff", "--no-textconv", *options, *names)
    assert done.returncode == 0, done.stderr
    return done.stdout


def _tree(repository: pygit2.Repository, folder: Path, files: Files) -> str:
    for entry in folder.iterdir():
        if entry.is_dir() and entry.name != ".git":
            shutil.rmtree(entry)
        elif not entry.is_dir():
            entry.unlink()
    _write(folder, files)
    repository.index.clear()
    repository.index.add_all()
    return str(repository.index.write_tree())


def _write(folder: Path, files: Files) -> None:
    folder.mkdir(exist_ok=True)
    for name, file in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(file.content)
        path.chmod(0o755 if file.executable else 0o644)
