"""How long looking into a workspace takes, beside git and ripgrep in the same run.

    python -m bench.context [--quick]

Each round lets ours and theirs take turns, and of all rounds the fastest of each counts: what else
the machine does hits both.  The workspace is made anew, with 5,000 files of the size of source
files.  Both find it in the cache of the system, and ours has looked into it before, as an agent
that runs has; the first time is told as well.
"""

from __future__ import annotations

import argparse
import asyncio
import random
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Final

sys.path.insert(0, str(Path(__file__).parent.parent))

from bench.aims import Aim
from local_agent.propose.context.collector import Collector
from local_agent.workspace import files
from local_agent.workspace.files import Finder, Listing, SearchResult
from local_agent.workspace.git.repository import local_changes
from local_agent.workspace.registry import Workspace

FILES: Final = 5000
NAME: Final = "parse_config_file"
_WORDS: Final = ("self", "value", "return", "config", "token", "items", "load", "result", "error")
_ROUNDS: Final = 25
_SETTLED_S: Final = 2.5  # until the listing trusts the times of new folders


@dataclass(frozen=True, slots=True)
class Row:
    """One comparison.

    Attributes:
        aim: Times as long as theirs that ours may take.
    """

    name: str
    ours: Callable[[], Awaitable[object]]
    theirs: Sequence[str]
    aim: float


def make_repository(folder: Path, count: int, *, seed: int = 5) -> None:
    """Fill a folder with source files, and commit them."""
    chance = random.Random(seed)
    for number in range(count):
        place = folder / f"src/package{number % 37}/part{number % 11}"
        place.mkdir(parents=True, exist_ok=True)
        text = "".join(_line(chance, number, row) for row in range(chance.randrange(20, 300)))
        (place / f"module_{number}.py").write_text(text, encoding="utf-8")
    (folder / ".gitignore").write_text("build/\n*.pyc\n", encoding="utf-8")
    who = ("-c", "user.name=bench", "-c", "user.email=bench@localhost")
    for words in (("init", "--quiet"), ("add", "--all"), (*who, "commit", "-qm", "all")):
        _run(folder, ("git", *words))
    for number in range(5):
        changed = folder / f"src/package{number}/part{number}/module_{number}.py"
        changed.write_text("changed = True\n", encoding="utf-8")


def rows(workspace: Workspace) -> list[Row]:
    """Return what is compared."""
    finder: Finder
    compared = []
    for query in (NAME, NAME.title()):
        program = ("rg", "--smart-case", "--fixed-strings", "--line-number", query)
        for finder, aim in (("ripgrep", 1.3), ("python", 3.0)):
            ours = partial(files.search_all, workspace.path, (query,), finder=finder)
            compared.append(Row(f"search {query} ({finder})", ours, program, aim))
    listed = ("git", "ls-files", "--cached", "--others", "--exclude-standard")
    compared.append(Row("listing", partial(files.list_files, workspace.path), listed, 1.5))
    status = ("git", "status", "--porcelain")
    collect = collector().collect
    some = ["src/package3/part3/module_3.py", "module_40.py"]
    compared.append(
        Row("context of two files", partial(collect, workspace, files=some, names=()), status, 2.0)
    )
    # No aim of its own: ripgrep alone takes longer than twice what git status does.
    named = partial(collect, workspace, files=(), names=(NAME,))
    compared.append(Row("context of a name", named, status, 0))
    return compared


def collector() -> Collector:
    """Return a collector as the agent has one."""

    async def list_files(workspace: Workspace) -> Listing:
        return await files.list_files(workspace.path)

    async def search_all(
        workspace: Workspace, queries: Sequence[str], among: Listing
    ) -> Sequence[SearchResult]:
        return await files.search_all(workspace.path, queries, among=among)

    return Collector(
        list_files=list_files,
        search_all=search_all,
        local_changes=local_changes,
    )


async def compare(row: Row, folder: Path, rounds: int) -> None:
    """Measure and print one comparison."""
    ours, theirs = [], []
    await row.ours()
    for _ in range(rounds):
        begun = time.perf_counter()
        await row.ours()
        ours.append(time.perf_counter() - begun)
        begun = time.perf_counter()
        await asyncio.to_thread(_run, folder, row.theirs)
        theirs.append(time.perf_counter() - begun)
    ratio = min(ours) / min(theirs)
    aim = Aim(row.aim).beside(ratio) if row.aim else "no aim"
    print(
        f"{row.name:34} ours {min(ours) * 1000:6.1f} ms, {' '.join(row.theirs[:2]):14} "
        f"{min(theirs) * 1000:6.1f} ms: {ratio:4.2f} times as long ({aim})"
    )


async def measure(folder: Path, rounds: int) -> None:
    """Compare everything, and print it."""
    workspace = Workspace(name="bench", path=folder)
    begun = time.perf_counter()
    await files.list_files(folder)
    print(f"{FILES:,} files; listed for the first time in {time.perf_counter() - begun:.3f} s")
    for row in rows(workspace):
        if row.theirs[0] == "rg" and shutil.which("rg") is None:
            print(f"{row.name:34} ripgrep is not installed")
            continue
        await compare(row, folder, rounds)


def main() -> int:
    """Measure, print, and return 0: a figure is a report, not a verdict."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true")
    rounds = 5 if parser.parse_args().quick else _ROUNDS
    with tempfile.TemporaryDirectory() as place:
        folder = Path(place).resolve()
        make_repository(folder, FILES)
        time.sleep(_SETTLED_S)
        asyncio.run(measure(folder, rounds))
    return 0


def _line(chance: random.Random, number: int, row: int) -> str:
    if row == 5 and number % 500 == 7:
        return f"def {NAME}(path):\n"
    if row % 12 == 0:
        return f"def function_{number}_{row}(value):\n"
    return "    " + " ".join(chance.choices(_WORDS, k=chance.randrange(1, 9))) + "\n"


def _run(folder: Path, words: Sequence[str]) -> None:
    subprocess.run(words, cwd=folder, stdout=subprocess.DEVNULL, check=False)


if __name__ == "__main__":
    sys.exit(main())
