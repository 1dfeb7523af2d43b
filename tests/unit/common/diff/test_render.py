"""A model has one text, which is read back as the same model."""

from __future__ import annotations

import pytest

from common.diff.parse import parse_diff
from common.diff.render import MAX_LINES, is_wide, render
from tests.each import each

MOVED = "diff --git a/x b/y z\nold mode 100755\nnew mode 100644\nrename from x\nrename to y z\n"
OPEN = "\\ No newline at end of file\n"


@each(
    "text",
    [
        "diff --git a/x b/x\n--- a/x\n+++ b/x\n@@ -1 +1,2 @@ def f():\n-a\n+b\n+c\n",
        "diff --git a/a b b/a b\n--- a/a b\t\n+++ b/a b\t\n@@ -1 +1 @@\n-a\n+b\n",
        'diff --git "a/\\"" "b/\\""\n--- "a/\\""\n+++ "b/\\""\n@@ -1 +1 @@\n-a\n+b\n',
        "diff --git a/图 b/图\nnew file mode 100644\n--- /dev/null\n+++ b/图\n@@ -0,0 +1 @@\n+b\n",
        "diff --git a/x b/x\nnew file mode 100755\n",
        "diff --git a/x b/x\ndeleted file mode 100644\n--- a/x\n+++ /dev/null\n@@ -1 +0,0 @@\n-a\n",
        "--- /dev/null\n+++ b/x\n@@ -0,0 +1 @@\n+b\n",
        "--- a/x\n+++ /dev/null\n@@ -1 +0,0 @@\n-b\n",
        "diff --git a/x b/x\nold mode 100644\nnew mode 100755\n",
        MOVED + "--- a/x\n+++ b/y z\t\n@@ -1 +1 @@\n-a\n+b\n",
        "diff --git a/x b/y\ncopy from x\ncopy to y\n",
        f"diff --git a/x b/x\n--- a/x\n+++ b/x\n@@ -1,2 +1,2 @@\n-a\n-b\n{OPEN}+A\n+B\n{OPEN}",
        f"diff --git a/x b/x\n--- a/x\n+++ b/x\n@@ -1,2 +1,2 @@\n-a\n+A\n b\n{OPEN}",
        f"diff --git a/x b/x\n--- a/x\n+++ b/x\n@@ -1 +1 @@\n-a\n+A\n{OPEN}",
        f"diff --git a/x b/x\n--- a/x\n+++ b/x\n@@ -1 +1 @@\n-a\n{OPEN}+A\n",
    ],
)
def test_the_canonical_text_is_its_own_rendering(text: str) -> None:
    assert render(parse_diff(text.encode())) == text.encode()


@pytest.mark.parametrize(
    ("text", "canonical"),
    [
        (
            "--- a/x\t2026-01-02 03:04:05\n+++ b/x\n@@ -1,1 +1,1 @@ \n-a\n+b",
            "diff --git a/x b/x\n--- a/x\n+++ b/x\n@@ -1 +1 @@\n-a\n+b\n",
        ),
        (
            "--- a/x\n+++ b/x\n@@ -1,2 +1,2 @@\n\n+b\n-a\n",
            "diff --git a/x b/x\n--- a/x\n+++ b/x\n@@ -1,2 +1,2 @@\n \n-a\n+b\n",
        ),
    ],
)
def test_other_texts_of_the_same_diff_are_rendered_alike(text: str, canonical: str) -> None:
    model = parse_diff(text.encode())
    assert render(model) == canonical.encode()
    assert parse_diff(canonical.encode()) == model


MANY = b"a\n" * (2 * MAX_LINES)


@pytest.mark.parametrize(
    ("old", "new", "wide"),
    [
        (b"", b"", False),
        (b"a\n" * 1000, b"b\n" * 1000, False),
        (MANY, MANY.replace(b"a", b"b"), True),
        (MANY, b"b\n" + MANY, False),
        (MANY, MANY + b"b\n", False),
        (MANY, MANY[: len(MANY) // 2] + b"b\n" + MANY[len(MANY) // 2 :], False),
        (b"b\n" + MANY + b"b\n", b"c\n" + MANY + b"c\n", True),
        (MANY, b"", False),
        (b"", MANY, False),
        (b"x" * 1_000_000, b"y" * 1_000_000, False),
    ],
)
def test_a_text_is_wide_by_the_lines_between_the_first_and_the_last_that_differ(
    old: bytes, new: bytes, wide: bool
) -> None:
    assert is_wide(old, new) is wide
