"""Random files and random edits: the diff says exactly what was done, and nothing else remains."""

from __future__ import annotations

import hashlib
import tempfile
from pathlib import Path

from hypothesis import given, settings
from hypothesis import strategies as st

from common.diff.parse import parse_diff
from common.diff.patching import patched
from common.errors import InputError
from local_agent.models.http.edits import Edit, apply_edits
from local_agent.propose.scratch.diffing import Change, Side, make_diff
from tests.memory_scratch import MemoryScratch
from tests.scratching import Lending, contents, snapshot, write_files

_NAMES = st.sampled_from(
    ["a.py", "b", "dir/c.txt", "dir/d.py", "dir/sub/e", "中/文.md", "x y.txt", 'q"t.txt', "tmp/f"]
)
_CONTENT = st.one_of(
    # Hypothesis also draws what it finds in the source, such as our mark: a file may not hold it.
    st.binary(max_size=40).filter(lambda raw: b"\0" not in raw and b"[redacted" not in raw),
    st.lists(st.sampled_from([b"a", b"b", b"cc\r", b"", b"caf\xe9"]), max_size=30).map(b"\n".join),
    st.lists(st.sampled_from([b"one", b"two", b"three"]), max_size=30).map(
        lambda lines: b"".join(line + b"\n" for line in lines)
    ),
)
_TREES = st.dictionaries(_NAMES, _CONTENT, max_size=6)
# A file that is no text cannot be changed in a copy, nor one made no text.
_TEXT = _CONTENT.map(lambda raw: raw.decode("utf-8", "ignore").encode())
_TEXTS = st.dictionaries(_NAMES, _TEXT, max_size=6)


def _made(diff: bytes, before: dict[str, bytes]) -> dict[str, bytes]:
    """Return what files become by a diff, as whoever applies it has it."""
    after = dict(before)
    model = parse_diff(diff)
    for file in model.files:
        if file.old_path and file.op in ("delete", "rename"):
            del after[file.old_path]
    for file in model.files:
        content = patched(file, before.get(file.old_path or "", b""))
        if file.op != "delete":
            after[file.path] = content
    return after


@given(before=_TREES, after=_TREES)
def test_a_diff_gives_the_new_files_and_is_the_same_in_any_order(
    before: dict[str, bytes], after: dict[str, bytes]
) -> None:
    changes = [
        Change(
            path,
            Side(before[path]) if path in before else None,
            Side(after[path]) if path in after else None,
        )
        for path in before | after
    ]
    diff = make_diff(changes)
    assert make_diff(reversed(changes)) == diff
    if diff:
        assert _made(diff, before) == after
    else:
        assert before == after


@settings(max_examples=25, deadline=None)
@given(before=_TEXTS, after=st.lists(_TEXTS, min_size=1, max_size=2))
def test_a_copy_tells_what_was_done_to_it_and_is_put_right(
    before: dict[str, bytes], after: list[dict[str, bytes]]
) -> None:
    with tempfile.TemporaryDirectory() as folder:
        lending = Lending(Path(folder), before)
        seen = snapshot(lending.path)
        for files in after:
            with lending.lend() as copy:
                assert contents(copy.root) == before
                for path in before.keys() - files.keys():
                    (copy.root / path).unlink()
                write_files(copy.root, files)
                made = copy.diff()
            sides = [
                Change(
                    path,
                    Side(before[path]) if path in before else None,
                    Side(files[path]) if path in files else None,
                )
                for path in before | files
            ]
            assert made.diff == make_diff(sides), "whoever compares, it is the same"
            assert made.refused == ()
            for path, base in made.base.items():
                known = before.get(path)
                assert base == ("absent" if known is None else hashlib.sha256(known).hexdigest())
        assert snapshot(lending.path) == seen


_EDITS = st.lists(
    st.one_of(
        st.builds(
            Edit,
            path=_NAMES,
            action=st.just("edit"),
            search=st.sampled_from(["one", "two\n", "one\ntwo", "a", "\n"]),
            replace=st.sampled_from(["", "four", "x\ny\n"]),
        ),
        st.builds(
            Edit, path=_NAMES, action=st.just("create"), content=st.sampled_from(["", "new\n"])
        ),
        st.builds(Edit, path=_NAMES, action=st.just("delete")),
        st.builds(Edit, path=_NAMES, action=st.just("rename"), to=_NAMES),
    ),
    max_size=5,
)


def _refusal(scratch: MemoryScratch, edits: list[Edit]) -> str | None:
    try:
        apply_edits(scratch, edits)
    except InputError as error:
        return error.code
    return None


@given(before=_TREES, edits=_EDITS)
def test_edits_are_made_whole_or_not_at_all(before: dict[str, bytes], edits: list[Edit]) -> None:
    scratch = MemoryScratch()
    scratch.files = dict(before)
    if (code := _refusal(scratch, edits)) is not None:
        assert code.startswith("edit.")
        assert scratch.files == before
        assert scratch.writes == 0
        return
    one_by_one = MemoryScratch()
    one_by_one.files = dict(before)
    for edit in edits:
        apply_edits(one_by_one, [edit])
    assert one_by_one.files == scratch.files
