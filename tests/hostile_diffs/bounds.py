"""R6: diffs at their limits, which are read, and diffs that are made to take long."""

from __future__ import annotations

from tests.hostile_diffs.case import NEW, TREE, Tree, git_add, text

MOST_BYTES = 2_000_000
_SIDES = text("diff --git a/a.txt b/a.txt", "--- a/a.txt", "+++ b/a.txt")


def _hunks(count: int, old: str) -> bytes:
    rows = (f"@@ -{at} +{at} @@\n-{old}\n+y\n" for at in range(1, count + 1))
    return _SIDES + "".join(rows).encode()


def _of_most_bytes() -> bytes:
    start = git_add("big.txt", "@@ -0,0 +1 @@")
    return start + b"+".ljust(MOST_BYTES - len(start) - 1, b"x") + b"\n"


AT_THE_LIMIT: dict[str, bytes] = {
    "2 MB": _of_most_bytes(),
    "500 files": b"".join(git_add(f"f{number}.txt") for number in range(500)),
    "5,000 hunks": _hunks(5000, "x"),
}

_SAME = b"x\n" * 3_900_000

# What a quadratic reader would be busy with for hours.
SLOW: dict[str, tuple[Tree, bytes]] = {
    "line feeds alone": (TREE, b"\n" * MOST_BYTES),
    "a name of backslashes": (TREE, b'--- "a/' + b"\\\\" * 990_000),
    "a name of quotes": (TREE, b'--- "a/' + b'\\"' * 990_000),
    "a header that can be cut anywhere": (TREE, b"diff --git a/" + b"x b/" * 490_000 + b"\n"),
    "blanks": (TREE, b"diff --git " + b" " * 1_990_000 + b"\n"),
    "ends of files": (TREE, _SIDES + b"@@ -1 +1 @@\n-one\n" + b"\\ No\n" * 390_000),
    "a name of combining marks": (
        TREE,
        b"--- /dev/null\n+++ b/a" + "\u0301\u0323".encode() * 490_000,
    ),
    "hunks that stand at many places": ({"a.txt": _SAME}, _hunks(5000, "x")),
    "hunks that all stand at the end": ({"a.txt": _SAME + b"z\n"}, _hunks(5000, "z")),
    "a long hunk that nearly stands everywhere": (
        {"a.txt": _SAME},
        _SIDES + b"@@ -5,300000 +5,300001 @@\n" + b" x\n" * 299_999 + b" q\n+y\n",
    ),
    "long names": (
        TREE,
        b"".join(git_add("/".join([f"{number:03}"] * 60), *NEW) for number in range(500)),
    ),
}
