"""Blobs: exact bytes under their hash."""

from __future__ import annotations

import hashlib
import os
import stat
import threading
from collections.abc import Iterable
from pathlib import Path

import pytest

from common.errors import AuthError, CodexBridgeError, InputError, StoreError
from local_agent.store import blobs
from local_agent.store.blobs import Blobs

pytestmark = pytest.mark.heavy


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return tmp_path / "blobs"


def put_all(store: Blobs, contents: Iterable[bytes]) -> None:
    """Store many, with nothing else to wait for."""
    with store.putting(contents):
        pass


@pytest.mark.parametrize("data", [b"", b"\xff\x00\r\n", "张".encode("gb18030")])
def test_any_bytes_come_back_exactly(folder: Path, data: bytes) -> None:
    name = Blobs(folder).put(data)
    assert name == hashlib.sha256(data).hexdigest()
    assert Blobs(folder).get(name) == data


def test_the_same_bytes_are_stored_once_and_for_the_owner_alone(folder: Path) -> None:
    store = Blobs(folder)
    assert store.put(b"x") == store.put(b"x")
    [file] = [item for item in folder.rglob("*") if item.is_file()]
    assert stat.S_IMODE(file.stat().st_mode) == 0o600
    assert stat.S_IMODE(file.parent.stat().st_mode) == 0o700


@pytest.mark.requirement("P2")
def test_bytes_that_were_changed_are_not_given_out(folder: Path) -> None:
    name = Blobs(folder).put(b"good")
    (folder / name[:2] / name).write_bytes(b"evil")
    with pytest.raises(AuthError) as caught:
        Blobs(folder).get(name)
    assert caught.value.code == "blob.changed"


@pytest.mark.parametrize("name", ["../../etc/passwd", "", "0" * 63, "A" * 64, "0" * 64 + "\n"])
def test_only_a_hash_is_a_name(folder: Path, name: str) -> None:
    with pytest.raises(InputError) as caught:
        Blobs(folder).get(name)
    assert caught.value.code == "blob.name"


def test_a_missing_blob_is_an_error(folder: Path) -> None:
    with pytest.raises(StoreError) as caught:
        Blobs(folder).get("0" * 64)
    assert caught.value.code == "blob.missing"


def test_a_blob_is_bounded(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(blobs, "MAX_BLOB_BYTES", 10)
    Blobs(folder).put(b"x" * 10)
    with pytest.raises(CodexBridgeError) as caught:
        Blobs(folder).put(b"x" * 11)
    assert caught.value.code == "blob.too-large"


@pytest.mark.requirement("R59")
def test_many_are_stored_at_once_for_the_owner_alone(folder: Path) -> None:
    contents = [b"%d" % number for number in range(300)]
    put_all(Blobs(folder), [*contents, contents[0]])
    names = [hashlib.sha256(data).hexdigest() for data in contents]
    assert [Blobs(folder).get(name) for name in names] == contents
    files = [item for item in folder.rglob("*") if item.is_file()]
    assert sorted(file.name for file in files) == sorted(names)
    assert {stat.S_IMODE(file.stat().st_mode) for file in files} == {0o600}


@pytest.mark.parametrize("harm", ["changed", "readable"])
def test_what_is_no_longer_whole_is_stored_anew(folder: Path, harm: str) -> None:
    name = Blobs(folder).put(b"good")
    path = folder / name[:2] / name
    if harm == "changed":
        path.write_bytes(b"evil")
    else:
        path.chmod(0o644)
    put_all(Blobs(folder), [b"good"])
    assert Blobs(folder).get(name) == b"good"


def test_what_is_kept_again_with_many_others_lives_longer(folder: Path) -> None:
    name = Blobs(folder).put(b"x")
    os.utime(folder / name[:2] / name, (1000, 1000))
    put_all(Blobs(folder), [b"x"])
    assert Blobs(folder).prune(before_s=2000) == 0


@pytest.mark.parametrize("way", ["put", "putting"])
@pytest.mark.requirement("P5")
def test_what_is_kept_again_while_the_old_are_removed_is_there(
    folder: Path, monkeypatch: pytest.MonkeyPatch, way: str
) -> None:
    store = Blobs(folder)
    name = store.put(b"x")
    os.utime(folder / name[:2] / name, (1000, 1000))
    looked, kept = threading.Event(), threading.Event()
    real = Path.unlink

    def keep() -> None:
        looked.wait(5)
        store.put(b"x") if way == "put" else put_all(store, [b"x"])
        kept.set()

    def unlink(path: Path, *, missing_ok: bool = False) -> None:
        looked.set()
        assert not kept.wait(0.1)  # it has to wait until the old one is gone, and stores it anew
        real(path, missing_ok=missing_ok)

    monkeypatch.setattr(Path, "unlink", unlink)
    keeper = threading.Thread(target=keep)
    keeper.start()
    assert store.prune(before_s=2000) == 1
    keeper.join(5)
    assert store.get(name) == b"x"


def test_one_that_is_too_large_keeps_the_others_out(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(blobs, "MAX_BLOB_BYTES", 3)
    with pytest.raises(StoreError):
        put_all(Blobs(folder), [b"x", b"1234"])
    assert not folder.exists()


@pytest.mark.requirement("R59")
def test_a_new_folder_is_on_disk_as_well_and_flushed_once(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    put_all(Blobs(folder), [b"before"])
    flushed: list[int] = []
    real = os.fsync

    def sync(handle: int) -> None:
        real(handle)
        flushed.append(os.fstat(handle).st_ino)

    monkeypatch.setattr(os, "fsync", sync)
    with Blobs(folder).putting([b"one", b"two", b"three"]):
        assert len(flushed) == 3
        assert not {path.stat().st_ino for path in (folder, *folder.iterdir())} & set(flushed)
    top = folder.stat().st_ino
    assert flushed.count(top) == 1
    assert flushed[-1] == top  # after what is in the new folders
    assert len(flushed) == 3 + 3 + 1
    flushed.clear()
    put_all(Blobs(folder), [b"one", b"two", b"three"])
    assert flushed == []


def test_a_note_is_found_by_its_name_and_forgotten_with_the_blobs(folder: Path) -> None:
    store = Blobs(folder)
    store.put_note("a/b", b"said")
    assert (store.note("a/b"), store.note("a/c")) == (b"said", None)
    store.put_note("a/b", b"said again")
    assert store.note("a/b") == b"said again"
    assert store.prune(before_s=2**33) == 1
    assert store.note("a/b") is None
