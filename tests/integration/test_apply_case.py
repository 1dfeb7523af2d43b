"""A rename in case alone, as git writes it, on a disk that tells case apart."""

from __future__ import annotations

from pathlib import Path

import pytest

from common.diff.parse import parse_diff
from common.errors import InputError
from common.model.state import Reason
from local_agent.safety.risk import Circumstances
from local_agent.safety.risk_changes import judge_change
from tests.changing import Changing
from tests.scratching import contents, write_files

RENAMES = {"readme.md": "README.md", "Docs/Über.md": "Docs/über.md", "Lib/a.c": "lib/a.c"}


def renamed(old: str, new: str) -> bytes:
    head = f"diff --git a/{old} b/{new}\nsimilarity index 100%\n"
    return f"{head}rename from {old}\nrename to {new}\n".encode()


@pytest.mark.requirement("P2")
@pytest.mark.requirement("P5")
@pytest.mark.parametrize("old", RENAMES)
async def test_a_rename_in_case_alone_is_applied_as_high_risk_and_taken_back(
    tmp_path: Path, old: str
) -> None:
    write_files(tmp_path / "shop", {old: b"content\n"})
    changing = Changing.at(tmp_path / "shop", tmp_path / "state")
    diff = renamed(old, RENAMES[old])
    prepared = await changing.applier.prepare(changing.workspace, diff)
    found = judge_change(prepared.payload, Circumstances(diff=prepared.model))
    assert ("high", "case-rename") in found
    done, outcome = await changing.apply(diff)
    assert outcome.reason is Reason.COMPLETED
    assert contents(tmp_path / "shop") == {RENAMES[old]: b"content\n"}
    _, outcome = await changing.undo(done)
    assert outcome.reason is Reason.COMPLETED
    assert contents(tmp_path / "shop") == {old: b"content\n"}


@pytest.mark.requirement("R34")
async def test_where_both_names_stand_nothing_is_overwritten(tmp_path: Path) -> None:
    # As of a disk that tells no case apart, on which both are one file.
    both = {"readme.md": b"one\n", "README.md": b"two\n"}
    write_files(tmp_path / "shop", both)
    changing = Changing.at(tmp_path / "shop", tmp_path / "state")
    with pytest.raises(InputError) as refused:
        await changing.applier.prepare(changing.workspace, renamed("readme.md", "README.md"))
    assert refused.value.code == "change.exists"
    assert contents(tmp_path / "shop") == both


@pytest.mark.requirement("R34")
@pytest.mark.parametrize(
    "diff",
    [
        renamed("e\u0301", "\u00e9"),
        renamed("k", "\u212a"),
        renamed("a", "A") + renamed("b", "a"),
        b"--- a/a\n+++ b/a\n@@ -1 +1 @@\n-a\n+b\n" + renamed("a", "A"),
        renamed("ﬁle", "file"),
    ],
    ids=["normalisation", "look-alike", "twice", "changed too", "ligature"],
)
def test_names_that_differ_in_more_than_case_are_twins_as_ever(diff: bytes) -> None:
    with pytest.raises(InputError) as refused:
        parse_diff(diff)
    assert refused.value.code in ("diff.refused", "diff.name")
