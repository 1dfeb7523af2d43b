"""How fast the commands start and how much the idle parts hold, beside bare peers of the same run.

    python bench/start.py [--quick] [--rounds N] [--json]

Every figure is a ratio against a peer measured in the same run, paired round by round, median of
the rounds: absolute times of a shared machine mean little.  The peers: a bare interpreter
(``python -I -c pass``) and a bare aiohttp server that answers one route.

Each figure is printed with its aim.
"""

from __future__ import annotations

import argparse
import json
import os
import signal
import statistics
import subprocess
import sys
import tempfile
import time
import urllib.error
import urllib.request
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path

import psutil

sys.path.insert(0, str(Path(__file__).parent.parent))

from bench.aims import Aim, judged
from tests.e2e.place import Place, sample, wait_until

AIMS = {
    "--help / bare interpreter": Aim(4),
    "status / bare interpreter": Aim(10),
    "gateway ready / bare aiohttp ready": Aim(2),
    "agent ready, ms": Aim(300),
    "agent_mb": Aim(52.4),  # 50 MiB
    "gateway_mb": Aim(90),
}
BARE = (sys.executable, "-I", "-c", "pass")
COMMAND = str(Path(sys.executable).with_name("codexbridge"))
BARE_SERVER = """
import sys
from aiohttp import web
async def answer(request):
    return web.Response(text="ok")
app = web.Application()
app.add_routes([web.get("/health/ready", answer)])
web.run_app(app, host="127.0.0.1", port=int(sys.argv[1]), print=None, access_log=None)
"""
MB = 1_000_000


def run_once(argv: Sequence[str], environ: Mapping[str, str]) -> float:
    """Return the seconds from start to end of a command."""
    begun = time.perf_counter()
    subprocess.run(
        argv, env=environ, stdin=subprocess.DEVNULL, capture_output=True, check=True, timeout=30
    )
    return time.perf_counter() - begun


def until_ready(
    argv: Sequence[str], environ: Mapping[str, str], answers: Callable[[], bool]
) -> float:
    """Start a server, return the seconds until its first good answer, and end it."""
    begun = time.perf_counter()
    with subprocess.Popen(
        argv,
        env=environ,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        start_new_session=True,
    ) as process:
        try:
            while not answers():
                time.sleep(0.002)
                assert process.poll() is None, argv
            return time.perf_counter() - begun
        finally:
            os.killpg(process.pid, signal.SIGTERM)


def _answers(url: str) -> bool:
    try:
        with urllib.request.urlopen(url, timeout=1) as answer:  # noqa: S310 - loopback
            return bool(answer.status == 200)
    except (OSError, urllib.error.HTTPError):
        return False


def paired(
    rounds: int, ours: Callable[[], float], peer: Callable[[], float]
) -> dict[str, float | list[float]]:
    """Return both medians in milliseconds and the median of the paired ratios."""
    ours(), peer()
    pairs = [(ours(), peer()) for _ in range(rounds)]
    ratios = sorted(mine / other for mine, other in pairs)
    return {
        "ours_ms": round(statistics.median(mine for mine, _ in pairs) * 1000, 1),
        "peer_ms": round(statistics.median(other for _, other in pairs) * 1000, 1),
        "ratio": round(statistics.median(ratios), 2),
        "spread": [round(ratios[0], 2), round(ratios[-1], 2)],
    }


def resident_mb(pid: int) -> float:
    """Return the resident memory of a process and its children, in MB."""
    process = psutil.Process(pid)
    family = [process, *process.children(recursive=True)]
    return round(sum(member.memory_info().rss for member in family) / MB, 1)


def measure(rounds: int, root: Path) -> dict[str, object]:
    """Return all figures of one run."""
    place = replace(Place.at(root / "home"), forked=False)
    workspace = sample(root / "workspace", [("a.txt", "a\n")])
    found: dict[str, object] = {}
    try:
        place.start_all(workspace, "true")
        environ = place.environ
        found["--help / bare interpreter"] = paired(
            rounds * 3,
            lambda: run_once([COMMAND, "--help"], environ),
            lambda: run_once(BARE, environ),
        )
        found["status / bare interpreter"] = paired(
            rounds * 3,
            lambda: run_once([COMMAND, "status"], environ),
            lambda: run_once(BARE, environ),
        )
        server = [sys.executable, "-c", BARE_SERVER, str(place.gateway_port + 0)]
        agent = resident_mb(place.processes["agent"].pid)
        gateway = resident_mb(place.processes["gateway"].pid)
        place.stop()
        url = f"{place.base}/health/ready"
        argv = [COMMAND, "gateway", "--config", str(place.made.gateway)]
        argv += ["--secrets-dir", str(place.made.secrets)]
        found["gateway ready / bare aiohttp ready"] = paired(
            rounds,
            lambda: until_ready(argv, environ, lambda: _answers(url)),
            lambda: until_ready(server, environ, lambda: _answers(url)),
        )
        found["agent ready / bare interpreter"] = paired(
            rounds,
            lambda: until_ready([COMMAND, "agent"], environ, lambda: bool(place.status())),
            lambda: run_once(BARE, environ),
        )
        found["resident memory"] = {
            "agent_mb": agent,
            "gateway_mb": gateway,
            "bare_aiohttp_mb": _bare_memory(server, environ, url),
        }
    finally:
        place.stop()
    return found


def _bare_memory(argv: Sequence[str], environ: Mapping[str, str], url: str) -> float:
    with subprocess.Popen(argv, env=environ, stdin=subprocess.DEVNULL) as process:
        try:
            wait_until(lambda: _answers(url))
            return resident_mb(process.pid)
        finally:
            process.terminate()


def main() -> int:
    """Measure, print, and return 0: a figure is a report, not a verdict."""
    parser = argparse.ArgumentParser(description=__doc__, allow_abbrev=False)
    parser.add_argument("--rounds", type=int, default=7)
    parser.add_argument("--quick", action="store_true", help="two rounds")
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        found = measure(2 if options.quick else options.rounds, Path(folder))
    if options.json:
        print(json.dumps(found, indent=2))
        return 0
    figures: dict[str, float] = {}
    for name, found_here in found.items():
        print(name)
        print("   ", found_here)
        assert isinstance(found_here, dict)
        figures |= {name: found_here["ratio"]} if "ratio" in found_here else found_here
    ready = found["agent ready / bare interpreter"]
    assert isinstance(ready, dict)
    figures["agent ready, ms"] = ready["ours_ms"]
    print(*judged(figures, AIMS), sep="\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
