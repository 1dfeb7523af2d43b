"""What it costs to start a command under its warden, beside the sandbox alone.

    python -m bench.warden [--quick]

A command that does nothing is started in the same sandbox, options and filter: by ``bwrap`` alone,
and as the agent does it, with its warden in between, paired round by round.  The difference is the
warden's own: a Python that starts, sets the limits, watches and sweeps.  Bare Python of the same
run stands beside it: the warden's own cannot be less.
"""

from __future__ import annotations

import argparse
import asyncio
import os
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Final

from bench.aims import Aim
from local_agent.sandbox.bubblewrap import bubblewrap_profile, find_bubblewrap
from local_agent.sandbox.process import run_child

AIM: Final = Aim(10)
_BARE: Final = (sys.executable, "-I", "-S", "-c", "pass")


async def measure(folder: Path, rounds: int) -> dict[str, float]:
    """Return milliseconds, medians: of the sandbox alone, of the agent's way, of bare Python."""
    program = find_bubblewrap()
    assert program is not None
    profile = bubblewrap_profile(
        program, workspace=folder, home=folder, read_only=(), private=(), network=False
    )
    contained = profile.wrap(["/bin/true"], cwd=folder)
    times: dict[str, list[float]] = {"bwrap alone": [], "with its warden": [], "bare Python": []}
    for _ in range(rounds):
        times["bwrap alone"].append(await asyncio.to_thread(_alone, contained, profile.seccomp))
        begun = time.perf_counter()
        await asyncio.to_thread(subprocess.run, _BARE, check=True)
        times["bare Python"].append(time.perf_counter() - begun)
        begun = time.perf_counter()
        ended = await run_child(
            contained, cwd=folder, env={}, contained=True, seccomp=profile.seccomp
        )
        times["with its warden"].append(time.perf_counter() - begun)
        assert ended.ok, ended.stderr.parts()
    return {name: statistics.median(each) * 1000 for name, each in times.items()}


def _alone(argv: list[str], seccomp: bytes) -> float:
    """Return the seconds of a sandbox that is given its filter and told on by nobody."""
    with tempfile.TemporaryFile() as source, Path(os.devnull).open("wb") as status:
        source.write(seccomp)
        source.seek(0)
        words = [*argv]
        for option, file in (("--seccomp", source), ("--json-status-fd", status)):
            words[words.index(option) + 1] = str(file.fileno())
        begun = time.perf_counter()
        subprocess.run(words, check=True, pass_fds=(source.fileno(), status.fileno()))
        return time.perf_counter() - begun


def main() -> int:
    """Measure, print, and return 0: a figure is a report, not a verdict."""
    parser = argparse.ArgumentParser(description=__doc__, allow_abbrev=False)
    parser.add_argument("--quick", action="store_true", help="10 rounds")
    rounds = 10 if parser.parse_args().quick else 60
    if find_bubblewrap() is None:
        print("bubblewrap is not installed: nothing measured")
        return 0
    with tempfile.TemporaryDirectory() as folder:
        found = asyncio.run(measure(Path(folder).resolve(), rounds))
    for name, milliseconds in found.items():
        print(f"{name:16} {milliseconds:6.1f} ms")
    own = round(found["with its warden"] - found["bwrap alone"], 1)
    print(f"the warden's own {own:6.1f} ms ({AIM.beside(own)})")
    return 0


if __name__ == "__main__":
    sys.exit(main())
