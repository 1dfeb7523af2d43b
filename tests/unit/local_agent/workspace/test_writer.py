"""Writing a set of files: durable, all or none, by handles, and leaving nothing beside."""

from __future__ import annotations

import errno
import os
import stat
import sys
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path

import pytest

from common.errors import InputError, StateError
from local_agent.workspace import temporary_files, writer
from local_agent.workspace import tree as trees
from local_agent.workspace.layout import lay_out
from local_agent.workspace.temporary_files import Name, beside_name
from local_agent.workspace.tree import Tree, open_tree
from local_agent.workspace.writer import Content, Write, write
from tests.hostile_diffs.case import lay, snapshot

pytestmark = pytest.mark.requirement("R35", "R36")

TAG = "0123456789ab"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A small workspace."""
    return lay(tmp_path, {"a": b"a\n", "sub/b": b"b\n", "sub/c": b"c\n", "only/one": b"1\n"})


@pytest.fixture
def tree(folder: Path) -> Iterator[Tree]:
    """The same, open."""
    with open_tree(folder) as opened:
        yield opened


def planned(tree: Tree, **after: bytes | None) -> list[Write]:
    """Return the writes that give files these contents; ``__`` in a name is a slash."""
    writes = []
    for name, data in after.items():
        parts = tuple(name.split("__"))
        content = None if data is None else Content(data, 0o644)
        writes.append(Write(parts, tree.find(parts), content))
    return writes


def make(
    tree: Tree, writes: list[Write], keeping: AbstractContextManager[None] | None = None
) -> tuple[str, ...]:
    """Write them."""
    layout = lay_out(
        tree,
        removed=[one.parts for one in writes if one.after is None],
        added=[one.parts for one in writes if one.before is None],
    )
    return write(tree, writes, layout, tag=TAG, keeping=keeping)


def test_files_are_changed_added_and_removed_with_their_folders(folder: Path, tree: Tree) -> None:
    left = make(tree, planned(tree, a=b"A\n", new__deep__x=b"x\n", only__one=None))
    assert left == ()
    assert snapshot(folder) == {
        "a": ("file", b"A\n", 0o644),
        "sub/b": ("file", b"b\n", 0o644),
        "sub/c": ("file", b"c\n", 0o644),
        "new/deep/x": ("file", b"x\n", 0o644),
    }


def test_a_file_and_a_folder_change_places(folder: Path, tree: Tree) -> None:
    writes = planned(tree, a=None, only__one=None)
    writes += [Write(("only",), None, Content(b"file\n", 0o600))]
    writes += [Write(("a", "b", "c"), None, Content(b"below\n", 0o644))]
    make(tree, writes)
    assert snapshot(folder)["only"] == ("file", b"file\n", 0o600)
    assert snapshot(folder)["a/b/c"] == ("file", b"below\n", 0o644)


def test_new_content_is_on_disk_before_it_gets_its_name_and_folders_after(
    tree: Tree, monkeypatch: pytest.MonkeyPatch
) -> None:
    calls: list[str] = []
    real_sync, real_exchange = os.fsync, temporary_files.exchange

    def sync(handle: int) -> None:
        kind = "folder" if stat.S_ISDIR(os.fstat(handle).st_mode) else "file"
        calls.append(f"flush {kind}")
        real_sync(handle)

    def exchange(new: Name, old: Name) -> None:
        calls.append("exchange")
        real_exchange(new, old)

    monkeypatch.setattr(os, "fsync", sync)
    monkeypatch.setattr(writer, "exchange", exchange)
    make(tree, planned(tree, a=b"A\n", sub__b=b"B\n"))
    assert calls == ["flush file"] * 2 + ["exchange"] * 2 + ["flush folder"] * 2


@pytest.mark.requirement("P5", "R59")
def test_no_name_changes_before_what_is_replaced_was_kept(
    folder: Path, tree: Tree, monkeypatch: pytest.MonkeyPatch
) -> None:
    calls: list[str] = []
    real_exchange = temporary_files.exchange

    @contextmanager
    def keeping() -> Iterator[None]:
        assert not list(folder.glob(".codexbridge-*"))
        calls.append("written")
        yield
        assert list(folder.glob(".codexbridge-*"))  # both are waited for at once
        calls.append("kept")

    def exchange(new: Name, old: Name) -> None:
        calls.append("exchange")
        real_exchange(new, old)

    monkeypatch.setattr(writer, "exchange", exchange)
    make(tree, planned(tree, a=b"A\n"), keeping())
    assert calls == ["written", "kept", "exchange"]
    assert (folder / "a").read_bytes() == b"A\n"


@pytest.mark.requirement("P5", "R59")
@pytest.mark.parametrize("number", [errno.ENOSPC, errno.ENOENT])
@pytest.mark.parametrize("at", ["begin", "end"])
def test_what_cannot_be_kept_is_not_replaced(
    folder: Path, tree: Tree, number: int, at: str
) -> None:
    before = snapshot(folder)

    @contextmanager
    def keeping() -> Iterator[None]:
        if at == "end":
            yield
        raise OSError(number, os.strerror(number))

    with pytest.raises(OSError, match=os.strerror(number)) as caught:
        make(tree, planned(tree, a=b"A\n", new__x=b"x\n", only__one=None), keeping())
    assert caught.value.errno == number
    assert snapshot(folder) == before


def test_nothing_is_overwritten_when_a_new_name_was_taken_meanwhile(
    folder: Path, tree: Tree
) -> None:
    writes = planned(tree, a=b"A\n", sub__new=b"ours\n")
    (folder / "sub/new").write_bytes(b"theirs\n")
    before = snapshot(folder)
    with pytest.raises(InputError) as caught:
        make(tree, writes)
    assert (caught.value.code, caught.value.facts["path"]) == ("change.raced", "sub/new")
    assert snapshot(folder) == before


def test_a_file_that_changed_since_it_was_read_is_put_back(folder: Path, tree: Tree) -> None:
    writes = planned(tree, a=b"A\n", sub__b=b"B\n")
    (folder / "sub/b").write_bytes(b"theirs\n")
    before = snapshot(folder)
    with pytest.raises(InputError) as caught:
        make(tree, writes)
    assert (caught.value.code, caught.value.facts["path"]) == ("change.raced", "sub/b")
    assert snapshot(folder) == before


def test_a_file_whose_permissions_changed_since_is_put_back(folder: Path, tree: Tree) -> None:
    writes = planned(tree, a=b"A\n")
    (folder / "a").chmod(0o600)
    with pytest.raises(InputError):
        make(tree, writes)
    assert snapshot(folder)["a"] == ("file", b"a\n", 0o600)


def test_a_name_beside_that_is_taken_is_nobodys_to_use(folder: Path, tree: Tree) -> None:
    writes = planned(tree, a=b"A\n")
    taken = folder / beside_name(TAG, 0)
    taken.write_bytes(b"theirs\n")
    before = snapshot(folder)
    with pytest.raises(InputError):
        make(tree, writes)
    assert snapshot(folder) == before


@pytest.mark.skipif(sys.platform != "linux", reason="of this system we know where one is mounted")
def test_a_mount_point_is_known(folder: Path, tree: Tree) -> None:
    with open_tree(Path("/")) as top:
        assert top.is_mounted(("proc",))
    assert (folder / "sub").is_dir()
    assert not tree.is_mounted(("sub",))


def test_an_emptied_folder_that_somebody_uses_stays(folder: Path, tree: Tree) -> None:
    writes = planned(tree, only__one=None)
    layout = lay_out(tree, removed=[("only", "one")], added=[])
    (folder / "only/theirs").write_bytes(b"new\n")
    assert write(tree, writes, layout, tag=TAG) == ()
    assert snapshot(folder)["only/theirs"] == ("file", b"new\n", 0o644)


def test_a_folder_that_cannot_give_way_undoes_it_all(folder: Path, tree: Tree) -> None:
    writes = planned(tree, only__one=None)
    writes += [Write(("only",), None, Content(b"file\n", 0o644))]
    layout = lay_out(tree, removed=[("only", "one")], added=[("only",)])
    (folder / "only/theirs").write_bytes(b"new\n")
    before = snapshot(folder)
    with pytest.raises(InputError):
        write(tree, writes, layout, tag=TAG)
    assert snapshot(folder) == before


def _handles() -> int:
    return sum(1 for _ in Path("/proc/self/fd").iterdir())


def test_more_folders_than_may_be_open_at_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(trees, "_HANDLES", 8)
    monkeypatch.setattr(writer, "_AT_ONCE", 5)
    names = [f"d{number}/e/f" for number in range(40)]
    folder = lay(tmp_path, dict.fromkeys(names, b"old\n"))
    opened = _handles()
    with open_tree(folder) as tree:
        make(tree, planned(tree, **{name.replace("/", "__"): b"new\n" for name in names}))
    assert {entry[1] for entry in snapshot(folder).values()} == {b"new\n"}
    assert _handles() == opened


def test_what_cannot_be_brought_back_is_named(
    folder: Path, tree: Tree, monkeypatch: pytest.MonkeyPatch
) -> None:
    writes = planned(tree, a=b"A\n", sub__b=b"B\n")

    def refuse(*_: object) -> None:
        raise OSError(5, "Input/output error")

    monkeypatch.setattr(writer._Transaction, "_sync", refuse)
    monkeypatch.setattr(writer._Transaction, "_exchange_back", refuse)
    with pytest.raises(StateError) as caught:
        make(tree, writes)
    assert caught.value.code == "change.half-done"
    assert set(caught.value.facts["paths"]) == {"a", "sub/b"}  # type: ignore[call-overload]


def test_what_lies_aside_after_half_an_exchange_is_named(
    folder: Path, tree: Tree, monkeypatch: pytest.MonkeyPatch
) -> None:
    real = temporary_files._place_in_steps
    writes = planned(tree, sub__b=b"B\n")

    def place(source: Name, target: Name) -> None:
        if target.name == "b":
            raise OSError(5, "Input/output error")
        real(source, target)

    monkeypatch.setattr(temporary_files, "_system_call", lambda: None)
    monkeypatch.setattr(temporary_files, "_place_in_steps", place)
    with pytest.raises(StateError) as caught:
        make(tree, writes)
    aside = f"sub/{beside_name(TAG, 0)}.old"
    assert (caught.value.code, caught.value.facts["paths"]) == (
        "change.half-done",
        ("sub/b", aside),
    )
    assert (folder / aside).read_bytes() == b"b\n"


def test_a_spare_file_that_cannot_be_removed_is_told(
    folder: Path, tree: Tree, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(*_: object, **__: object) -> None:
        raise PermissionError(13, "Permission denied")

    writes = planned(tree, sub__b=b"B\n")
    monkeypatch.setattr(os, "unlink", refuse)
    assert make(tree, writes) == (f"sub/{beside_name(TAG, 0)}",)
    assert (folder / "sub/b").read_bytes() == b"B\n"


@pytest.mark.skipif(os.getuid() != 0, reason="only root gives files away")
def test_a_file_stays_with_its_owner(folder: Path, tree: Tree) -> None:
    os.chown(folder / "a", 12345, 12346)
    before = tree.find(("a",))
    assert before is not None
    make(tree, [Write(("a",), before, Content(b"A\n", 0o644, before.owner))])
    found = (folder / "a").stat()
    assert (found.st_uid, found.st_gid) == (12345, 12346)
