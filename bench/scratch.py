"""How soon a scratch copy of a repository is there, beside plainer ways to copy it.

    python -m bench.scratch [--quick]

A repository of 5,000 text files and 42 MiB; every figure is the fastest of the rounds of one run:
what else the machine and its disk do hits all of them.

- *cold*: nothing is there.  Beside it ``git clone --shared`` and ``cp -r``, in turn.
- *renewed*: the first copy after the agent was started anew, when all contents are compared.
- *warm*: a kept tree is lent again, after a task has changed 20 files of it.
- *diff*: what became of a copy in which 20 files were changed.
- *back*: the tree is put right for the next task, after the answer was given.

Aims: warm at most one second; cold at most three times ``git clone --shared``, which writes each
file once, where a copy keeps what was lent beside it.
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
from collections import defaultdict
from collections.abc import Sequence
from pathlib import Path
from typing import Final

sys.path.insert(0, str(Path(__file__).parent.parent))

from bench.aims import Aim
from common.home import Home
from local_agent.propose.scratch import Scratches
from local_agent.workspace.registry import Workspace

WARM_SECONDS: Final = Aim(1)
COLD_RATIO: Final = Aim(3)
FILES: Final = 5_000
FILE_BYTES: Final = 42 * 1024 * 1024 // FILES
TOUCHED: Final = 20
SETTLING_SECONDS: Final = 2.1  # after which the times of a file tell whether it was changed

_WORDS: Final = ("self", "value", "return", "x", "=", "config", "for", "token", "in", "items()")
_GIT: Final = shutil.which("git") or "/usr/bin/git"
_AS = ("-c", "user.name=bench", "-c", "user.email=bench@example.com", "-c", "gc.auto=0")


def write_repository(folder: Path, *, seed: int = 5) -> list[str]:
    """Make a repository in an empty folder, and return its files."""
    chance = random.Random(seed)
    names = [f"part{n % 40}/group{n % 7}/module{n}.py" for n in range(FILES)]
    for name in names:
        lines, size = [], 0
        while size < FILE_BYTES:
            lines.append(" ".join(chance.choices(_WORDS, k=9)))
            size += len(lines[-1]) + 1
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text("\n".join([*lines, ""]), encoding="utf-8")
    for command in (("init", "--quiet"), ("add", "--all"), ("commit", "--quiet", "-m", "all")):
        subprocess.run([_GIT, *_AS, *command], cwd=folder, check=True)
    return names


def main(argv: Sequence[str] | None = None) -> int:
    """Measure, print, and return 0: a figure is a report, not a verdict."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--quick", action="store_true", help="one round in place of three")
    rounds = 1 if parser.parse_args(argv).quick else 3
    with tempfile.TemporaryDirectory(prefix="bench-scratch-") as folder:
        bench = Bench(Path(folder))
        for _ in range(rounds):
            bench.peers()
            asyncio.run(bench.ours())
    found = {name: min(seconds) for name, seconds in bench.seconds.items()}
    for name, seconds in found.items():
        print(f"{name:20} {seconds * 1000:7.0f} ms")
    ratio = found["cold"] / found["git clone --shared"]
    print(
        f"warm {found['warm']:.2f} s ({WARM_SECONDS.beside(found['warm'])})\n"
        f"cold {ratio:.2f} of git clone --shared ({COLD_RATIO.beside(ratio)}), "
        f"{found['cold'] / found['cp -r']:.2f} of cp -r"
    )
    return 0


class Bench:
    """One repository, and the seconds that each way of copying it took.

    Args:
        top: An empty folder.
    """

    def __init__(self, top: Path) -> None:
        self._top = top
        self._workspace = Workspace(name="bench", path=top / "repository")
        self._workspace.path.mkdir()
        self._files = write_repository(self._workspace.path)
        self.seconds: dict[str, list[float]] = defaultdict(list)

    def peers(self) -> None:
        """Copy the repository as others do."""
        source, clone, copy = self._workspace.path, self._top / "clone", self._top / "copy"
        commands: tuple[tuple[str, list[str | Path]], ...] = (
            ("git clone --shared", [_GIT, "clone", "--quiet", "--shared", source, clone]),
            ("cp -r", ["cp", "-r", source, copy]),
        )
        for name, command in commands:
            begun = time.perf_counter()
            subprocess.run(command, check=True)
            self.seconds[name].append(time.perf_counter() - begun)
        shutil.rmtree(clone)
        shutil.rmtree(copy)

    async def ours(self) -> None:
        """Lend a tree that is not there, again and again, and by another agent."""
        await self._scratches().keep_only(())
        scratches = self._scratches()
        await self._task(scratches, "cold")
        await asyncio.sleep(SETTLING_SECONDS)
        for _ in range(3):
            await self._task(scratches, "warm", then=("diff", "back"))
        await self._task(self._scratches(), "renewed")

    def _scratches(self) -> Scratches:
        return Scratches(Home(self._top / "config", self._top / "state", self._top / "run"))

    async def _task(self, scratches: Scratches, name: str, then: Sequence[str] = ()) -> None:
        moments = [time.perf_counter()]
        async with scratches.lend(self._workspace, whole=True) as copy:
            moments.append(time.perf_counter())
            await asyncio.to_thread(self._touch, copy.root)
            touched = time.perf_counter() - moments[1]
            made = await copy.diff()
            moments.append(time.perf_counter() - touched)
        moments.append(time.perf_counter() - touched)
        if len(made.base) != TOUCHED:
            raise AssertionError("the diff is not of what was changed")
        for step, begun, ended in zip((name, *then), moments, moments[1:], strict=False):
            self.seconds[step].append(ended - begun)

    def _touch(self, root: Path) -> None:
        for name in self._files[:TOUCHED]:
            with (root / name).open("a", encoding="utf-8") as file:
                file.write("one line more\n")


if __name__ == "__main__":
    sys.exit(main())
