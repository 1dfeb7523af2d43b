"""What a change replaced is kept as long as an undo is promised, and believed only by content."""

from __future__ import annotations

import hashlib
from pathlib import Path

import pytest

from common.errors import StateError, StoreError
from local_agent.safety.backups import KEPT_DAYS, Backups, Details
from local_agent.store import blobs as blob_store
from local_agent.store.blobs import Blobs
from local_agent.store.retention import KEPT_MS
from local_agent.workspace.tree import MAX_FILE_BYTES

pytestmark = pytest.mark.requirement("P5")

APPROVAL = "0191-approval"


@pytest.fixture
def blobs(tmp_path: Path) -> Blobs:
    """An empty store."""
    return Blobs(tmp_path / "blobs")


def _name(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()


def test_what_is_kept_comes_back(blobs: Blobs) -> None:
    backups = Backups(blobs)
    details = Details(files={"a": 0o640}, folders={"b": 0o700}, empty=("c",))
    with backups.keeping(APPROVAL, [b"one", b"two", b"one"], details):
        pass
    assert [backups.content(_name(data)) for data in (b"one", b"two")] == [b"one", b"two"]
    assert backups.details(APPROVAL) == details
    assert backups.details("another") == Details()


def test_nothing_is_noted_where_there_is_nothing_to_note(blobs: Blobs, tmp_path: Path) -> None:
    with Backups(blobs).keeping(APPROVAL, [], Details()):
        pass
    assert not (tmp_path / "blobs").exists()


@pytest.mark.parametrize("harm", ["gone", "changed", "readable by others"])
def test_a_backup_that_is_gone_or_damaged_is_told_as_that(
    blobs: Blobs, tmp_path: Path, harm: str
) -> None:
    backups = Backups(blobs)
    with backups.keeping(APPROVAL, [b"one"], Details()):
        pass
    (path,) = (tmp_path / "blobs").glob("??/*")
    if harm == "gone":
        path.unlink()
    elif harm == "changed":
        path.write_bytes(b"two")
    else:
        path.chmod(0o644)
    with pytest.raises(StateError) as caught:
        backups.content(_name(b"one"))
    gone = ("undo.expired", {"days": KEPT_DAYS})
    damaged = ("undo.damaged", {"name": _name(b"one")[:12]})
    assert (caught.value.code, caught.value.facts) == (gone if harm == "gone" else damaged)


@pytest.mark.parametrize(
    "note",
    [
        b"",
        b"[]",
        b"{}",
        b'{"files":[],"folders":{},"empty":[]}',
        b'{"files":{},"folders":{},"empty":7}',
        b'"' + b"x" * 100,
    ],
)
def test_a_note_that_is_none_says_nothing(blobs: Blobs, note: bytes) -> None:
    blobs.put_note(f"change/{APPROVAL}", note)
    assert Backups(blobs).details(APPROVAL) == Details()


def test_a_note_gives_permissions_and_nothing_more(blobs: Blobs) -> None:
    note = b'{"empty":["a",1],"files":{"a":2541,"b":true,"c":"x"},"folders":{}}'
    blobs.put_note(f"change/{APPROVAL}", note)
    assert Backups(blobs).details(APPROVAL) == Details(files={"a": 0o755}, empty=("a",))


def test_what_is_too_large_is_not_kept(blobs: Blobs) -> None:
    contents = [b"x" * (blob_store.MAX_BLOB_BYTES + 1)]
    with pytest.raises(StoreError) as caught, Backups(blobs).keeping(APPROVAL, contents, Details()):
        pass
    assert caught.value.code == "blob.too-large"


def test_every_file_that_may_be_changed_can_be_kept() -> None:
    assert MAX_FILE_BYTES <= blob_store.MAX_BLOB_BYTES


def test_backups_live_as_long_as_an_undo_is_promised() -> None:
    assert KEPT_DAYS * 86_400_000 <= KEPT_MS
