"""What redaction finds, what it leaves alone, and how fast it is.

    python -m bench.redact [--quick] [--json]

- *recall*: of the set of secrets in `tests/secrets_set`, how many texts give nothing of theirs
  away; *look-alikes*: how many of the others come through unchanged.  Both for the half by which
  the rules were written and for the half held back.
- *speed*: source, a log and a lock file, in megabytes a second, beside a plain copy line by line in
  the same run.
- PyPI ``detect-secrets`` beside both, where it is installed: it has missed a
  secret of which it reports nothing, and changed a look-alike of which it reports anything.

Aims: recall at least 0.99, all look-alikes unchanged.
"""

from __future__ import annotations

import argparse
import json
import sys
import tempfile
import time
from collections.abc import Callable, Iterable
from dataclasses import asdict, dataclass
from importlib import import_module, util
from pathlib import Path
from typing import Any, Final, TypeAlias

sys.path.insert(0, str(Path(__file__).parent.parent))

from bench.aims import Aim
from common.redact import redact
from tests.secrets_set.halves import secrets
from tests.secrets_set.look_alikes import look_alikes
from tests.secrets_set.making import WINDOW, Case

Peer: TypeAlias = Callable[[str], list[str]]

RECALL_AIM: Final = Aim(0.99, least=True)

_ROOT: Final = Path(__file__).parent.parent
_SIZE: Final = 1_000_000  # characters of each text
_PEER_LINES: Final = 2_000  # a slower peer is given less


@dataclass(frozen=True, slots=True)
class Found:
    """What was found in one half of the set."""

    half: str
    texts: int
    missed: int
    look_alikes: int
    changed: int

    @property
    def recall(self) -> float:
        """Return the share of secrets of which nothing came through."""
        return 1 - self.missed / self.texts

    @property
    def unchanged(self) -> float:
        """Return the share of look-alikes that came through as they were."""
        return 1 - self.changed / self.look_alikes


@dataclass(frozen=True, slots=True)
class Speed:
    """How fast one text is gone through, in megabytes a second."""

    text: str
    ours: float
    plain_copy: float
    detect_secrets: float | None


def measure(*, rounds: int) -> tuple[list[Found], list[Found], list[Speed]]:
    """Return what was found, the same of the peer (nothing without it), and how fast."""
    peer = _peer()
    ours = [_found(held, _misses, _changes) for held in (False, True)]
    theirs = []
    if peer:
        reports = peer
        theirs = [
            _found(held, _missed_by(reports), lambda text: bool(reports(text)))
            for held in (False, True)
        ]
    return ours, theirs, [_speed(name, text, peer, rounds) for name, text in _texts()]


def main(argv: list[str] | None = None) -> int:
    """Measure, print, and return 0: a figure is a report, not a verdict."""
    parser = argparse.ArgumentParser(prog="bench.redact")
    parser.add_argument("--quick", action="store_true", help="one round instead of five")
    parser.add_argument("--json", action="store_true", help="print JSON")
    options = parser.parse_args(argv)
    ours, theirs, speeds = measure(rounds=1 if options.quick else 5)
    if options.json:
        found = {"ours": list(map(asdict, ours)), "detect_secrets": list(map(asdict, theirs))}
        print(json.dumps(found | {"speed": list(map(asdict, speeds))}))
    else:
        _print(ours, theirs, speeds)
    return 0


def _print(ours: list[Found], theirs: list[Found], speeds: list[Speed]) -> None:
    for who, rows in (("ours", ours), ("detect-secrets", theirs)):
        for row in rows:
            print(
                f"{who}, {row.half}: {row.recall:.2%} of {row.texts:,} secrets taken out, "
                f"{row.unchanged:.2%} of {row.look_alikes} look-alikes unchanged"
                f" ({RECALL_AIM.beside(row.recall)}; {Aim(1, least=True).beside(row.unchanged)})"
            )
    for speed in speeds:
        beside = f", detect-secrets {speed.detect_secrets:.3f}" if speed.detect_secrets else ""
        print(f"{speed.text}: {speed.ours:.1f} MB/s, plain copy {speed.plain_copy:.0f}{beside}")


def _found(held: bool, misses: Callable[[Case], bool], changes: Callable[[str], bool]) -> Found:
    every, others = secrets(held=held), look_alikes(held_back=held)
    half = "held back" if held else "written by"
    return Found(half, len(every), sum(map(misses, every)), len(others), sum(map(changes, others)))


def _misses(case: Case) -> bool:
    return case.survives_in(redact(case.text))


def _changes(text: str) -> bool:
    return redact(text) != text


def _peer() -> Peer | None:
    """Return what gives the secrets that ``detect-secrets`` reports of a file, or None."""
    if util.find_spec("detect_secrets") is None:
        return None
    scan: Any = import_module("detect_secrets.core.scan").scan_file
    settings: Any = import_module("detect_secrets.settings").default_settings

    def reported(text: str) -> list[str]:
        with tempfile.TemporaryDirectory() as folder, settings():
            path = Path(folder, "text.txt")
            path.write_text(text, encoding="utf-8")
            return [str(found.secret_value) for found in scan(str(path))]

    return reported


def _missed_by(peer: Peer) -> Callable[[Case], bool]:
    def missed(case: Case) -> bool:
        lines = [line for line in case.secret.split("\n") if line]
        return not any(
            line in value or (len(value) >= WINDOW and value in line) or "PRIVATE KEY" in value
            for value in peer(case.text)
            for line in lines
        )

    return missed


def _speed(name: str, text: str, peer: Peer | None, rounds: int) -> Speed:
    few = "\n".join(text.split("\n")[:_PEER_LINES])
    return Speed(
        name,
        _rate(text, lambda: redact(text), rounds),
        _rate(text, lambda: "\n".join(text.split("\n")), rounds),
        _rate(few, lambda: peer(few), 1) if peer else None,
    )


def _rate(text: str, act: Callable[[], object], rounds: int) -> float:
    seconds = []
    for _ in range(rounds):
        begun = time.perf_counter()
        act()
        seconds.append(time.perf_counter() - begun)
    return len(text.encode()) / min(seconds) / 1e6


def _texts() -> Iterable[tuple[str, str]]:
    source = sorted((_ROOT / "local_agent").rglob("*.py"))
    yield "source", "".join(path.read_text(encoding="utf-8") for path in source)[:_SIZE]
    yield "log", "".join(_log_line(number) for number in range(_SIZE // 120))
    yield "lock file", (_ROOT / "uv.lock").read_text(encoding="utf-8")[:_SIZE]


def _log_line(number: int) -> str:
    return (
        f"2026-03-01T10:00:{number % 60:02}.123+00:00 info gateway relay.delivered "
        f"task=T-{number % 9999:04} device=dev-{number % 7} bytes={number * 37 % 9000} "
        f"peer=10.0.0.{number % 250}:{40000 + number % 9000}\n"
    )


if __name__ == "__main__":
    sys.exit(main())
