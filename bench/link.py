"""Ten thousand idle machines on one gateway: what they hold, how fast they are there and reached.

    python -m bench.link [--quick] [--agents N] [--rounds N] [--json]

One real gateway process on a real store takes really encrypted callbacks and holds N authenticated
agents over loopback.  Beside it, in the same run and with as many agents each, two peers: (a) a
bare aiohttp relay, POST to WebSocket, that checks and keeps nothing; (b) the same with one durable
commit, one signature and one check of it.  Absolute figures of a shared machine mean little; the
ratios count.

Then a burst: 1,000 callbacks at once, on 64 connections, for the machines that are connected.

Aims: at most 18 KiB for each idle agent after its handshake, one message each way and heartbeats;
delivery p50 at most 2.2 times (a), p99 at most 1.5 times (b); p99 with all agents connected at most
1.5 times that with one; all 10,000 back within 8 s.
"""

from __future__ import annotations

import argparse
import json
import random
import signal
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from typing import Any, Final, Self
from urllib.parse import urlencode

import psutil

from bench.aims import Aim, judged
from bench.enrolment import enrol
from common.ids import new_uuid
from gateway.base.identity import open_identity
from tests.e2e.place import Place, free_ports, listens, wait_until
from tests.forks import Fork

ROOT: Final = Path(__file__).parent.parent
KIB: Final = 1024
PER_MEMBER: Final = 10  # tasks; a member may have twenty open at one time
PER_SLICE: Final = 150
RATE: Final = 100.0  # callbacks a second
BURST: Final = 1_000  # callbacks, as fast as they are answered …
BURST_ROUNDS: Final = 3
CONNECTIONS: Final = 64  # … on so many connections
QUIET_S: Final = 22.0  # for a heartbeat to have gone both ways
AIMS: Final = {
    "idle agent, KiB": Aim(18),
    "delivery p50 / relay": Aim(2.2),
    "delivery p99 / durable relay": Aim(1.5),
    "delivery p99, all connected / one": Aim(1.5),
    "all back, seconds": Aim(8),
    "burst of 1,000 / relay": Aim(6),
}


@dataclass
class Server:
    """One process that is measured, and the fleet that is connected to it."""

    name: str
    port: int
    process: subprocess.Popen[bytes] | Fork
    fleet: subprocess.Popen[str]
    found: dict[str, Any] = field(default_factory=dict)
    took: dict[int, list[int]] = field(default_factory=dict)
    spent: dict[str, float] = field(default_factory=dict)
    bursts: list[tuple[float, float]] = field(default_factory=list)

    def tell(self, do: str, **facts: Any) -> dict[str, Any]:
        """Have the fleet do something and return what it says."""
        assert self.fleet.stdin
        assert self.fleet.stdout
        self.fleet.stdin.write(json.dumps({"do": do, **facts}) + "\n")
        self.fleet.stdin.flush()
        said = self.fleet.stdout.readline()
        assert said, f"the fleet of {self.name} ended"
        answer: dict[str, Any] = json.loads(said)
        return answer

    @contextmanager
    def spending(self, what: str, count: int) -> Iterator[None]:
        """Add up the processor time that the server needs for each of so many things."""
        before = self._cpu_s()
        yield
        spent = (self._cpu_s() - before) / count * 1e6
        self.spent[what] = spent + self.spent.get(what, 0.0)

    def _cpu_s(self) -> float:
        times = psutil.Process(self.process.pid).cpu_times()
        return float(times.user + times.system)

    def memory(self) -> dict[str, int]:
        """Return what the process holds, in bytes."""
        info = psutil.Process(self.process.pid).memory_full_info()
        return {"pss": info.pss, "rss": info.rss}


class Bench:
    """The servers, the callbacks that go to them, and what was measured."""

    def __init__(self, root: Path, count: int, rounds: int) -> None:
        self.count = count
        self.levels = sorted({1, min(100, count), count})
        self._rounds = rounds
        self._root = root
        self._place = replace(Place.at(root / "home"), forked=False)
        self._state = root / "home" / "state" / "gateway"
        self._processes: list[subprocess.Popen[Any]] = []
        self._servers: list[Server] = []
        self._members: dict[int, Iterator[str]] = {}

    def __enter__(self) -> Self:
        self._place.admin("member", "add", "somebody")  # makes the folder and the store
        enrol(self._state, self.count, self._member_lists())
        self._start_servers()
        return self

    def __exit__(self, *_: object) -> None:
        for process in self._processes:
            process.kill()
            process.wait()
        self._place.stop()

    # parts

    def _member_lists(self) -> dict[str, int]:
        """Return who asks for what: as many members for each level as their limits demand."""
        found: dict[str, int] = {}
        each = -(-(self._rounds * PER_SLICE + BURST_ROUNDS * BURST) // PER_MEMBER)
        for level in self.levels:
            names = [f"member-{level}-{number}" for number in range(each)]
            spread = random.Random(level).choices(range(level), k=each)
            found |= dict(zip(names, spread, strict=True))
            self._members[level] = iter([name for name in names for _ in range(PER_MEMBER)])
        return found

    def _start_servers(self) -> None:
        plain, durable = free_ports(2)
        self._start("bench.relays", str(self._place.made.config.port), "--wecom")
        wait_until(lambda: listens(self._place.made.config.port))
        self._place.start_gateway()
        gateway = self._place.processes["gateway"]
        key = open_identity(self._place.root / "state" / "gateway").current.public.raw.hex()
        fleet = self._fleet("gateway", self._place.gateway_port, url=self._place.base, key=key)
        self._servers.append(Server("gateway", self._place.gateway_port, gateway, fleet))
        for name, port, kept in (
            ("relay", plain, ()),
            ("durable relay", durable, (str(self._root / "relay.db"),)),
        ):
            process = self._start("bench.relays", str(port), *kept)
            wait_until(partial(listens, port))
            self._servers.append(Server(name, port, process, self._fleet("relay", port)))

    def _start(self, module: str, *arguments: str) -> subprocess.Popen[bytes]:
        argv = [sys.executable, "-m", module, *arguments]
        process = subprocess.Popen(argv, cwd=ROOT, stdin=subprocess.DEVNULL)
        self._processes.append(process)
        return process

    def _fleet(
        self, kind: str, port: int, *, url: str = "", key: str = ""
    ) -> subprocess.Popen[str]:
        fleet = subprocess.Popen(
            [sys.executable, "-m", "bench.fleet"],
            cwd=ROOT,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            encoding="utf-8",
        )
        self._processes.append(fleet)
        assert fleet.stdin
        who = {"kind": kind, "port": port, "url": url, "gateway_key": key}
        fleet.stdin.write(json.dumps(who) + "\n")
        return fleet

    # measuring

    def measure(self) -> dict[str, Any]:
        """Return all figures of one run."""
        connected = 0
        for level in self.levels:
            say(f"{level} connected …")
            for server in self._servers:
                self._connect(server, connected, level)
            connected = level
            self._deliver(level)
            if level == self.levels[min(1, len(self.levels) - 1)]:
                self._burst(level)
        self._weigh()
        say("all cut, all back …")
        for server in self._servers:
            with server.spending("coming back", self.count):
                server.tell("cut")
                back = server.tell("connect", first=0, count=self.count)
            server.found["all back, seconds"] = round(back["seconds"], 2)
        return self._report()

    def _connect(self, server: Server, first: int, level: int) -> None:
        before = server.memory()
        done = server.tell("connect", first=first, count=level - first)
        if level == self.count:
            server.found["connects a second"] = round((level - first) / done["seconds"])
            server.found["refused meanwhile"] = done["refused"]
            server.found["before"] = before | {"agents": level - first}

    def _deliver(self, level: int) -> None:
        for _ in range(self._rounds):
            for server in self._servers:
                requests, marks = self._callbacks(server, level)
                with server.spending(f"delivery at {level}", PER_SLICE * self._rounds):
                    done = server.tell("deliver", requests=requests, marks=marks, rate=RATE)
                assert not done["lost"], (server.name, done["lost"])
                server.took.setdefault(level, []).extend(done["us"])

    def _burst(self, level: int) -> None:
        say("a burst …")
        for _ in range(BURST_ROUNDS):
            for server in self._servers:
                requests, marks = self._callbacks(server, level, BURST)
                done = server.tell(
                    "deliver", requests=requests, marks=marks, rate=1e9, posters=CONNECTIONS
                )
                assert not done["lost"], (server.name, done["lost"])
                server.bursts.append((done["first_s"], done["last_s"]))

    def _weigh(self) -> None:
        """Wait until everybody has been silent and asked, then see what they hold."""
        say("heartbeats …")
        time.sleep(QUIET_S)
        for server in self._servers:
            before, after = server.found.pop("before"), server.memory()
            for kind in ("pss", "rss"):
                kib = (after[kind] - before[kind]) / before["agents"] / KIB
                server.found[f"idle agent, KiB {kind.upper()}"] = round(kib, 2)

    def _callbacks(
        self, server: Server, level: int, count: int = PER_SLICE
    ) -> tuple[list[str], list[str]]:
        marks = [new_uuid() for _ in range(count)]
        if server.name == "gateway":
            return [self._callback(next(self._members[level]), mark) for mark in marks], marks
        to = random.Random(level).choices(range(level), k=count)
        made = [
            request(f"/to/{number}", mark.encode()) for number, mark in zip(to, marks, strict=True)
        ]
        return made, marks

    def _callback(self, member: str, mark: str) -> str:
        query, body = self._place.encrypted(f"@dev test {mark}", user=member)
        url = self._place.made.config.first.callback_url
        path = url.partition(str(self._place.gateway_port))[2]
        return request(f"{path}?{urlencode(query)}", body)

    # reporting

    def _report(self) -> dict[str, Any]:
        shown = {server.name: summary(server) for server in self._servers}
        ours, plain, durable = (shown[server.name] for server in self._servers)
        most, one = (f"delivery at {level}" for level in (self.levels[-1], self.levels[0]))
        shown["ratios"] = {
            "idle agent, KiB": ours["idle agent, KiB PSS"],
            "all back, seconds": ours["all back, seconds"],
            "burst of 1,000 / relay": round(
                statistics.median(
                    mine[1] / other[1]
                    for mine, other in zip(
                        self._servers[0].bursts, self._servers[1].bursts, strict=True
                    )
                ),
                1,
            ),
        }
        if self._rounds:
            shown["ratios"] |= {
                "delivery p50 / relay": ratio(ours[one]["p50"], plain[one]["p50"]),
                "delivery p99 / durable relay": ratio(ours[one]["p99"], durable[one]["p99"]),
                "delivery p50 / relay, all connected": ratio(ours[most]["p50"], plain[most]["p50"]),
                "delivery p99 / durable relay, all connected": ratio(
                    ours[most]["p99"], durable[most]["p99"]
                ),
                "delivery p99, all connected / one": ratio(ours[most]["p99"], ours[one]["p99"]),
            }
        return shown


def say(what: str) -> None:
    """Tell the person who waits where we are."""
    print(what, file=sys.stderr, flush=True)


def ratio(ours: float, peer: float) -> float:
    """Return how many times the peer's figure ours is."""
    return round(ours / peer, 2)


def summary(server: Server) -> dict[str, Any]:
    """Return the figures of one server, with p50 and p99 in microseconds for deliveries."""
    shown = dict(server.found)
    shown |= {f"CPU us, each {what}": round(spent) for what, spent in server.spent.items()}
    for number, (first_s, last_s) in enumerate(server.bursts, 1):
        shown[f"burst {number}, ms"] = {"first": round(first_s * 1e3), "last": round(last_s * 1e3)}
    for level, took in server.took.items():
        cuts = statistics.quantiles(took, n=100)
        shown[f"delivery at {level}"] = {"p50": round(cuts[49]), "p99": round(cuts[98])}
    return shown


def request(target: str, body: bytes) -> str:
    """Return an HTTP request as text of one character a byte."""
    head = f"POST {target} HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Length: {len(body)}\r\n\r\n"
    return head + body.decode("latin-1")


def main() -> int:
    """Measure, print, and return 0: a figure is a report, not a verdict."""
    parser = argparse.ArgumentParser(description=__doc__, allow_abbrev=False)
    parser.add_argument("--agents", type=int, default=10_000)
    parser.add_argument("--rounds", type=int, default=4)
    parser.add_argument("--quick", action="store_true", help="500 agents and one round")
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args()
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))  # or the servers would outlive us
    count, rounds = (500, 1) if options.quick else (options.agents, options.rounds)
    with tempfile.TemporaryDirectory() as folder, Bench(Path(folder), count, rounds) as bench:
        found = bench.measure()
    if options.json:
        print(json.dumps(found, indent=2))
        return 0
    for name, figures in found.items():
        print(name)
        for what, figure in figures.items():
            print("   ", what, figure)
    print(*judged(found["ratios"], AIMS), sep="\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
