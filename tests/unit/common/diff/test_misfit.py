"""Why a modification does not fit: it is there already, or only the line ends differ."""

from __future__ import annotations

import pytest

from common.diff.misfit import Misfit, misfit
from common.diff.parse import parse_diff

OLD = b"one\ntwo\nthree\n"
EDIT = b"--- a/x\n+++ b/x\n@@ -1,3 +1,3 @@\n one\n-two\n+TWO\n three\n"
WITH_CR = b"--- a/x\n+++ b/x\n@@ -1,3 +1,3 @@\n one\r\n-two\r\n+TWO\r\n three\r\n"
ADDED = b"--- /dev/null\n+++ b/x\n@@ -0,0 +1 @@\n+one\n"


@pytest.mark.parametrize(
    ("diff", "old", "why"),
    [
        (EDIT, OLD.replace(b"two", b"TWO"), "applied"),
        (EDIT, b"# moved\n" + OLD.replace(b"two", b"TWO"), "applied"),
        (EDIT, OLD.replace(b"\n", b"\r\n"), "line-ends"),
        (WITH_CR, OLD, "line-ends"),
        (EDIT, OLD.replace(b"two", b"2"), None),
        (EDIT, b"", None),
        (ADDED, b"one\n", None),
    ],
)
def test_a_misfit_has_its_reason(diff: bytes, old: bytes, why: Misfit | None) -> None:
    assert misfit(parse_diff(diff).files[0], old) == why
