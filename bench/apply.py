"""How fast a change is checked and made, beside plainer ways to do it in the same run.

    python -m bench.apply [--quick] [--rounds N] [--json]

Every figure is a ratio against a peer of the same run, paired round by round, median of the
rounds: absolute times of a shared machine mean little.

- *make*: ours, once it was approved, reads the diff, checks it against the workspace, keeps what it
  replaces and writes, all on disk when it returns; the peer is a plain loop that for each file
  keeps a copy and writes the new content, each beside, flushed and renamed.  It is given the new
  contents and checks nothing; it flushes no folder, and once more with each folder flushed at the
  end.  ``git apply`` (no flush, no backup) beside it.  Ours runs as in the agent's process: a
  thread is there, the proposed diff is in the store, and garbage is looked for as seldom.  Making
  checks everything once more, and for one file that is half of it: less that, a figure of its own.
- *check*: ours alone, beside ``git apply --check``.
- *parse*: 2 MB of diff, beside PyPI ``unidiff`` where it is installed.

Each figure that has an aim is printed with it.
"""

from __future__ import annotations

import argparse
import asyncio
import gc
import json
import os
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from importlib import import_module, util
from pathlib import Path

from bench.aims import Aim, judged
from codexbridge import COLLECT_AFTER
from common.diff.parse import parse_diff
from tests.changing import Changing

SIZES = (1, 100, 500)
AIMS = {
    **{f"make {count} / plain loop": Aim(2) for count in SIZES},
    "check 500 / git apply --check": Aim(2),
    "unidiff / our parser, 2 MB": Aim(5, least=True),
}
FOLDERS = 10
LINES = 200
PARSED_BYTES = 1_990_000
_HUNK = b"   " + b"-" * 27 + b"+" * 27 + b"   "  # the kinds of its lines
GIT = shutil.which("git") or "/usr/bin/git"

Timed = Callable[[], float]


@dataclass(frozen=True)
class Sample:
    """A tree of files of 200 lines in ten folders, and a diff that edits a line in each.

    Attributes:
        before: Relative path to content.
        after: The same after the edit.
    """

    before: dict[str, bytes]
    after: dict[str, bytes]
    diff: bytes

    @classmethod
    def of(cls, count: int) -> Sample:
        """Return one with so many files."""
        before, after, diff = {}, {}, []
        for number in range(count):
            name = f"folder-{number % FOLDERS}/file-{number}.txt"
            lines = [b"line %d of file %d\n" % (line, number) for line in range(LINES)]
            before[name] = b"".join(lines)
            after[name] = before[name].replace(lines[99], b"edited\n")
            diff.append(
                b"diff --git a/%(name)s b/%(name)s\n--- a/%(name)s\n+++ b/%(name)s\n"
                b"@@ -97,7 +97,7 @@\n"
                % {b"name": name.encode()}
                + b"".join(b" " + line for line in lines[96:99])
                + b"-%s+edited\n" % lines[99]
                + b"".join(b" " + line for line in lines[100:103])
            )
        return cls(before, after, b"".join(diff))

    def lay(self, root: Path) -> Path:
        """Write the tree as it was, on disk, as a repository with an index."""
        tree = root / "tree"
        shutil.rmtree(root, ignore_errors=True)
        for name, content in self.before.items():
            (tree / name).parent.mkdir(parents=True, exist_ok=True)
            (tree / name).write_bytes(content)
        _git(tree, "init", "--quiet")
        _git(tree, "add", "--all")
        os.sync()
        return tree


def ours(sample: Sample, root: Path) -> tuple[float, float]:
    """Return the seconds of our check, and of making it, which checks again."""
    desk = Changing.at(sample.lay(root), root / "state")
    return asyncio.run(_ours(desk, sample))


async def _ours(desk: Changing, sample: Sample) -> tuple[float, float]:
    applier = desk.applier
    await asyncio.to_thread(int)  # an agent has its thread already
    desk.blobs.put(sample.diff)  # and a proposal's diff in the store
    begun = time.perf_counter()
    prepared = await applier.prepare(desk.workspace, sample.diff)
    checked = time.perf_counter() - begun
    grant = desk.grant(desk.seal(prepared))  # a person's time, not ours
    begun = time.perf_counter()
    outcome = await applier.run(grant, workspace=desk.workspace)
    made = time.perf_counter() - begun
    assert len(outcome.files) == len(sample.after), outcome
    _check(desk.workspace.path, sample)
    return checked, made


def plain_loop(sample: Sample, root: Path, *, folders: bool = False) -> float:
    """Return the seconds of a loop that copies, writes, flushes and renames.

    Args:
        folders: Flush the folders, too, each once at the end: only then the new names are on disk.
    """
    tree = sample.lay(root)
    copies = root / "copies"
    copies.mkdir()
    begun = time.perf_counter()
    for number, (name, content) in enumerate(sample.after.items()):
        _write(copies / str(number), (tree / name).read_bytes())
        _write(tree / name, content)
    for folder in {copies, *((tree / name).parent for name in sample.after)} if folders else ():
        handle = os.open(folder, os.O_RDONLY)
        os.fsync(handle)
        os.close(handle)
    seconds = time.perf_counter() - begun
    _check(tree, sample)
    return seconds


def _write(path: Path, content: bytes) -> None:
    beside = path.with_name(path.name + ".tmp")
    with beside.open("wb") as file:
        file.write(content)
        file.flush()
        os.fsync(file.fileno())
    beside.replace(path)


def git_apply(sample: Sample, root: Path, *options: str) -> float:
    """Return the seconds of ``git apply``."""
    tree = sample.lay(root)
    diff = root / "the.diff"
    diff.write_bytes(sample.diff)
    begun = time.perf_counter()
    _git(tree, "apply", *options, str(diff))
    seconds = time.perf_counter() - begun
    if not options:
        _check(tree, sample)
    return seconds


def parse_seconds(data: bytes) -> float:
    """Return the seconds of our parser."""
    begun = time.perf_counter()
    parse_diff(data)
    return time.perf_counter() - begun


def unidiff_seconds(data: bytes) -> float:
    """Return the seconds of PyPI ``unidiff``, which must be installed."""
    patch_set = import_module("unidiff").PatchSet
    text = data.decode()
    begun = time.perf_counter()
    patch_set(text)
    return time.perf_counter() - begun


def measure(rounds: int, root: Path) -> dict[str, object]:
    """Return all figures of one run."""
    found: dict[str, object] = {}
    for count in SIZES:
        sample = Sample.of(count)
        makes, durable, beyond, checks, gits = [], [], [], [], []
        for _ in range(rounds + 1):  # the first is not counted
            checked, made = ours(sample, root / "ours")
            makes.append((made, plain_loop(sample, root / "plain")))
            beyond.append((max(made - checked, 0.0), makes[-1][1]))
            durable.append((made, plain_loop(sample, root / "plain", folders=True)))
            checks.append((checked, git_apply(sample, root / "git", "--check")))
            gits.append((made, git_apply(sample, root / "git")))
        found[f"make {count} / plain loop"] = _paired(makes[1:])
        found[f"make {count} / plain loop, folders flushed"] = _paired(durable[1:])
        found[f"make {count}, less a check / plain loop"] = _paired(beyond[1:])
        found[f"make {count} / git apply"] = _paired(gits[1:])
        found[f"check {count} / git apply --check"] = _paired(checks[1:])
    found["unidiff / our parser, 2 MB"] = _parsing(rounds)
    return found


def _parsing(rounds: int) -> object:
    if util.find_spec("unidiff") is None:
        return "not measured: unidiff is not installed"
    hunk = b"".join(b"%c line %d of a hunk\n" % (kind, n) for n, kind in enumerate(_HUNK))
    data = bytearray()
    number = 0
    while len(data) < PARSED_BYTES:
        name = b"folder/file-%d.txt" % number
        data += b"diff --git a/%b b/%b\n--- a/%b\n+++ b/%b\n" % (name, name, name, name)
        for at in range(1, 1001, 200):
            data += b"@@ -%d,33 +%d,33 @@\n" % (at, at) + hunk
        number += 1
    pairs = [(unidiff_seconds(bytes(data)), parse_seconds(bytes(data))) for _ in range(rounds)]
    return _paired(pairs)


def _paired(pairs: Sequence[tuple[float, float]]) -> dict[str, float | list[float]]:
    ratios = sorted(mine / other for mine, other in pairs)
    return {
        "first_ms": round(statistics.median(mine for mine, _ in pairs) * 1000, 2),
        "second_ms": round(statistics.median(other for _, other in pairs) * 1000, 2),
        "ratio": round(statistics.median(ratios), 2),
        "spread": [round(ratios[0], 2), round(ratios[-1], 2)],
    }


def _check(tree: Path, sample: Sample) -> None:
    assert all((tree / name).read_bytes() == content for name, content in sample.after.items())


def _git(tree: Path, *arguments: str) -> None:
    subprocess.run([GIT, *arguments], cwd=tree, check=True, timeout=60, stdin=subprocess.DEVNULL)


def main() -> int:
    """Measure, print, and return 0: a figure is a report, not a verdict."""
    parser = argparse.ArgumentParser(description=__doc__, allow_abbrev=False)
    parser.add_argument("--rounds", type=int, default=9)
    parser.add_argument("--quick", action="store_true", help="three rounds")
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args()
    gc.set_threshold(COLLECT_AFTER)
    with tempfile.TemporaryDirectory() as folder:
        found = measure(3 if options.quick else options.rounds, Path(folder))
    if options.json:
        print(json.dumps(found, indent=2))
        return 0
    for name, figures in found.items():
        print(name)
        print("   ", figures)
    ratios = {name: one["ratio"] for name, one in found.items() if isinstance(one, dict)}
    print(*judged(ratios, AIMS), sep="\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
