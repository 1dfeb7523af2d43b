"""How many callbacks a gateway accepts durably, and at what cost, beside peers of the same run.

    python -m bench.callback [--quick] [--json] [--folder FOLDER]

A real gateway process on a real store is sent really encrypted messages of many members, each with
a machine, all limits in force: every 200 is a task, signed and queued, on the disk.  WeCom's own
interface accepts connections and never answers, so nothing is sent back meanwhile.  Each round
measures, one after the other: the gateway; the same store functions called in groups without HTTP
and encryption; plain SQLite committing as many rows in such groups; a bare aiohttp handler; and
what is usual: wechatpy in Flask under waitress, which opens each message and commits it to SQLite.

Each figure that has an aim is printed with it.
"""

from __future__ import annotations

import argparse
import json
import mmap
import os
import random
import signal
import socket
import struct
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, replace
from itertools import chain, cycle, repeat
from pathlib import Path
from statistics import median
from typing import Final

import psutil

sys.path.insert(0, str(Path(__file__).parent.parent))

from bench.aims import Aim, judged
from bench.load import BARE_REQUEST, Load, callbacks, messages_of, one_by_one, press
from bench.peers import PlainCommits, StoreAlone, enrol
from gateway.base.settings import STORE_FILE
from gateway.store import tasks
from gateway.store.runner import open_admin
from tests.e2e.place import Place, wait_until

CONNECTIONS: Final = 64
PER_MEMBER: Final = 20  # messages of one member: no more than the limits allow
BARE_SERVER: Final = """
import sys
from aiohttp import web
async def answer(request):
    await request.read()
    return web.Response(text="success")
app = web.Application()
app.add_routes([web.post("/wecom/app", answer)])
web.run_app(app, host="127.0.0.1", port=int(sys.argv[1]), print=None, access_log=None)
"""


# Opens a message and keeps it, one commit for each, as durably as the gateway does.
USUAL_SERVER: Final = """
import logging, sqlite3, sys, threading
import flask, waitress
from wechatpy.enterprise.crypto import WeChatCrypto
logging.getLogger("waitress.queue").setLevel(logging.ERROR)
port, token, key, corp, path = sys.argv[1:]
app, crypto, own = flask.Flask("usual"), WeChatCrypto(token, key, corp), threading.local()
def store():
    if not hasattr(own, "db"):
        own.db = sqlite3.connect(path, timeout=30, isolation_level=None)
        own.db.execute("PRAGMA journal_mode=WAL")
        own.db.execute("PRAGMA synchronous=FULL")
        own.db.execute("CREATE TABLE IF NOT EXISTS inbound (text TEXT)")
    return own.db
@app.post("/wecom/app")
def answer():
    given = flask.request.args
    text = crypto.decrypt_message(
        flask.request.data, given["msg_signature"], given["timestamp"], given["nonce"]
    )
    store().execute("INSERT INTO inbound VALUES (?)", (text,))
    return ""
waitress.serve(app, host="127.0.0.1", port=int(port), threads=8, _quiet=True)
"""


@dataclass(frozen=True)
class Plan:
    """How long to measure.

    Attributes:
        rounds: Each of some slices.
        slice_s: Seconds of a slice under load.
        single_s: Seconds of a slice of one connection.
        steady_s: Seconds of one connection at the end, while checkpoints move what came before.
        members: Enough for all of it; what is left over is not sent.
    """

    rounds: int
    slice_s: float
    single_s: float
    steady_s: float
    members: int


WHOLE: Final = Plan(rounds=9, slice_s=1.0, single_s=0.5, steady_s=6.0, members=2400)
QUICK: Final = Plan(rounds=4, slice_s=0.7, single_s=0.4, steady_s=2.0, members=900)


@dataclass
class Round:
    """What one round found; rates per second, CPU and latencies in seconds."""

    accepted: float
    store_alone: float
    plain: float
    bare: float
    usual: float
    cpu: float
    bare_cpu: float
    usual_cpu: float
    under_load: tuple[list[float], list[float]]
    single: tuple[list[float], list[float]]
    bare_single: list[float]
    syncs: list[float]


class Checkpoints:
    """Tells whether a checkpoint is at work, from the shared memory of SQLite's log.

    https://sqlite.org/walformat.html: how many frames are backfilled, and how many will be once
    the checkpoint at work is done.
    """

    def __init__(self, store: Path) -> None:
        with store.with_name(f"{store.name}-shm").open("rb") as file:
            self._memory = mmap.mmap(file.fileno(), 136, access=mmap.ACCESS_READ)

    def at_work(self) -> bool:
        """Look once."""
        done, wanted = struct.unpack_from("=I28xI", self._memory, 96)
        return bool(wanted > done)


@dataclass(frozen=True)
class Server:
    """Where a server listens, and its process."""

    port: int
    pid: int


def cpu_of(pid: int) -> float:
    """Return the CPU seconds of a process so far."""
    times = psutil.Process(pid).cpu_times()
    return float(times.user + times.system)


def never() -> bool:
    """Say that no checkpoint is at work, of a server that makes none."""
    return False


def loaded(
    server: Server, requests: Iterator[bytes], seconds: float, *, look: Callable[[], bool] = never
) -> tuple[Load, float]:
    """Return a slice under load, and the server's CPU seconds for each answer."""
    before = cpu_of(server.pid)
    load = press(server.port, requests, connections=CONNECTIONS, seconds=seconds, look=look)
    return load, (cpu_of(server.pid) - before) / max(load.good + load.bad, 1)


@contextmanager
def peer_server(script: str, *arguments: str) -> Iterator[Server]:
    """Run a peer on a port of its own."""
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = int(free.getsockname()[1])
    argv = [sys.executable, "-c", script, str(port), *arguments]
    with subprocess.Popen(argv, stdin=subprocess.DEVNULL) as process:
        try:
            wait_until(lambda: _listens(port))
            yield Server(port, process.pid)
        finally:
            process.send_signal(signal.SIGTERM)


def _listens(port: int) -> bool:
    try:
        socket.create_connection(("127.0.0.1", port), timeout=1).close()
    except OSError:
        return False
    return True


def sync_times(folder: Path, *, seconds: float) -> list[float]:
    """Return how long it takes to append a line and to wait for the disk."""
    times: list[float] = []
    until = time.perf_counter() + seconds
    descriptor = os.open(folder / "sync", os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)
    while (begun := time.perf_counter()) < until:
        os.write(descriptor, b"x" * 512)
        os.fdatasync(descriptor)
        times.append(time.perf_counter() - begun)
    os.close(descriptor)
    return times


def quantiles(seconds: Iterable[float]) -> dict[str, float]:
    """Return how many there are, with median and 99th percentile in milliseconds."""
    values = sorted(seconds)
    found: dict[str, float] = {"count": len(values)}
    for name, share in (("p50", 0.5), ("p99", 0.99)):
        if values:
            found[name] = round(values[int(len(values) * share)] * 1000, 2)
    return found


def ratio(pairs: Sequence[tuple[float, float]]) -> dict[str, float | list[float]]:
    """Return the median of the paired ratios and their range."""
    ratios = sorted(one / other for one, other in pairs)
    middle, span = round(median(ratios), 2), [round(ratios[0], 2), round(ratios[-1], 2)]
    return {"median": middle, "range": span}


AIMS: Final = {
    "accepted / store functions alone": Aim(0.60, least=True),
    "accepted / wechatpy, Flask and waitress": Aim(1, least=True),
    "CPU per callback / bare aiohttp": Aim(5),
    "CPU per callback / wechatpy, Flask and waitress": Aim(1),
}


@dataclass
class Rig:
    """A gateway that holds its members, its peers, and what is still to be posted."""

    root: Path
    gateway: Server
    bare: Server
    usual: Server
    requests: Iterator[bytes]
    same: Iterator[bytes]
    alone: StoreAlone
    plain: PlainCommits
    checkpoints: Checkpoints
    accepted: int = 0

    def round(self, plan: Plan) -> Round:
        """Measure everything once, one after the other."""
        load, cpu = self._loaded(plan.slice_s)
        single = self.single(plan.single_s)
        bare, bare_cpu = loaded(self.bare, repeat(BARE_REQUEST), plan.slice_s / 2)
        usual, usual_cpu = loaded(self.usual, self.same, plan.slice_s / 2)
        assert usual.bad == 0, f"{usual.bad} were refused by the peer"
        bare_single, _ = one_by_one(
            self.bare.port,
            repeat(BARE_REQUEST),
            seconds=plan.single_s / 2,
            look=never,
        )
        return Round(
            accepted=load.good / load.seconds,
            store_alone=self.alone.rate(CONNECTIONS, seconds=plan.slice_s / 2),
            plain=self.plain.rate(CONNECTIONS, seconds=plan.slice_s / 4),
            bare=bare.good / bare.seconds,
            usual=usual.good / usual.seconds,
            cpu=cpu,
            bare_cpu=bare_cpu,
            usual_cpu=usual_cpu,
            under_load=load.apart,
            single=single,
            bare_single=bare_single,
            syncs=sync_times(self.root, seconds=plan.single_s / 4),
        )

    def steady(self, plan: Plan) -> tuple[list[float], list[float]]:
        """Return the times of single callbacks outside and inside of checkpoints of a long log."""
        self._loaded(plan.slice_s)
        return self.single(plan.steady_s)

    def single(self, seconds: float) -> tuple[list[float], list[float]]:
        """Return the times of single callbacks outside and inside of checkpoints."""
        quiet, busy = one_by_one(
            self.gateway.port, self.requests, seconds=seconds, look=self.checkpoints.at_work
        )
        self.accepted += len(quiet) + len(busy)
        return quiet, busy

    def _loaded(self, seconds: float) -> tuple[Load, float]:
        load, cpu = loaded(self.gateway, self.requests, seconds, look=self.checkpoints.at_work)
        assert load.bad == 0, f"{load.bad} callbacks were refused"
        self.accepted += load.good
        return load, cpu


@contextmanager
def rig_of(plan: Plan, root: Path) -> Iterator[Rig]:
    """Start everything; at the end, whatever was answered with 200 must be stored."""
    place = replace(Place.at(root / "home"), forked=False)
    store = place.root / "state" / "gateway" / STORE_FILE
    users = [f"member-{number:05}" for number in range(plan.members)]
    messages = messages_of(users, PER_MEMBER, random.Random(7))
    with ExitStack() as until_the_end:
        # In WeCom's place: takes connections and says nothing.
        silent = socket.create_server(("127.0.0.1", place.made.config.port), backlog=64)
        until_the_end.callback(silent.close)
        enrol(store, users)
        until_the_end.callback(place.stop)
        place.start_gateway()
        app = place.made.config.first
        keys = (app.token, app.encoding_aes_key, app.corp_id, str(root / "usual.db"))
        requests = callbacks(app, messages)
        rig = Rig(
            root,
            Server(place.gateway_port, place.processes["gateway"].pid),
            until_the_end.enter_context(peer_server(BARE_SERVER)),
            until_the_end.enter_context(peer_server(USUAL_SERVER, *keys)),
            iter(requests),
            cycle(requests[:2000]),  # it knows no copy
            until_the_end.enter_context(StoreAlone(root / "alone", users, messages)),
            until_the_end.enter_context(PlainCommits(root / "plain.db")),
            Checkpoints(store),
        )
        yield rig
        place.stop()
        with open_admin(store) as admin:
            stored = len(admin.read(tasks.newest, limit=rig.accepted + 1))
        assert stored == rig.accepted, f"{rig.accepted} were accepted, {stored} are stored"


def measure(plan: Plan, root: Path) -> dict[str, Mapping[str, object]]:
    """Return the figures of one run by name."""
    with rig_of(plan, root) as rig:
        rig.round(plan)  # warms up
        rounds = [rig.round(plan) for _ in range(plan.rounds)]
        steady = rig.steady(plan)
    inside = [steady[True], *(r.single[True] for r in rounds)]
    return {
        "accepted / store functions alone": ratio([(r.accepted, r.store_alone) for r in rounds]),
        "accepted / plain group commit": ratio([(r.accepted, r.plain) for r in rounds]),
        "accepted / bare aiohttp": ratio([(r.accepted, r.bare) for r in rounds]),
        "accepted / wechatpy, Flask and waitress": ratio([(r.accepted, r.usual) for r in rounds]),
        "CPU per callback / bare aiohttp": ratio([(r.cpu, r.bare_cpu) for r in rounds]),
        "CPU per callback / wechatpy, Flask and waitress": ratio(
            [(r.cpu, r.usual_cpu) for r in rounds]
        ),
        "medians of this run": {
            "accepted_per_s": round(median(r.accepted for r in rounds)),
            "store_alone_per_s": round(median(r.store_alone for r in rounds)),
            "usual_per_s": round(median(r.usual for r in rounds)),
            "cpu_us": round(median(r.cpu for r in rounds) * 1e6),
            "bare_cpu_us": round(median(r.bare_cpu for r in rounds) * 1e6),
            "usual_cpu_us": round(median(r.usual_cpu for r in rounds) * 1e6),
        },
        "milliseconds to the answer": {
            "one at a time": quantiles(
                chain(steady[False], chain.from_iterable(r.single[False] for r in rounds))
            ),
            "one at a time, inside checkpoints": quantiles(chain.from_iterable(inside)),
            "bare aiohttp, one at a time": quantiles(
                chain.from_iterable(r.bare_single for r in rounds)
            ),
            "append and fdatasync": quantiles(chain.from_iterable(r.syncs for r in rounds)),
            f"{CONNECTIONS} at a time, outside checkpoints": quantiles(
                chain.from_iterable(r.under_load[False] for r in rounds)
            ),
            f"{CONNECTIONS} at a time, inside checkpoints": quantiles(
                chain.from_iterable(r.under_load[True] for r in rounds)
            ),
        },
    }


def main() -> int:
    """Measure, print, and return 0: a figure is a report, not a verdict."""
    parser = argparse.ArgumentParser(description=__doc__, allow_abbrev=False)
    parser.add_argument("--quick", action="store_true", help="within 25 s, less exact")
    parser.add_argument("--json", action="store_true")
    parser.add_argument("--folder", type=Path, help="on the disk that is meant; not in memory")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory(dir=options.folder) as folder:
        found = measure(QUICK if options.quick else WHOLE, Path(folder))
    print(json.dumps(found, indent=2) if options.json else as_text(found))
    if not options.json:
        medians = {name: float(str(found[name]["median"])) for name in AIMS}
        print(*judged(medians, AIMS), sep="\n")
    return 0


def as_text(found: Mapping[str, Mapping[str, object]]) -> str:
    """Return the figures, each on a line of its own."""
    lines: list[str] = []
    for name, figures in found.items():
        lines += [name, *(f"    {inner}: {figure}" for inner, figure in figures.items())]
    return "\n".join(lines)


if __name__ == "__main__":
    sys.exit(main())
