"""How often the router is right and how fast it is, beside plain keywords in the same run.

    python -m bench.route [--tags] [--wrong]

Both read the labelled messages of ``tests/routing_set``: those that rules are written against or
weights are learnt from (known by heart: ``bench.weigh --check`` tells what that is worth), and
last those that nobody who writes rules reads and nothing is learnt from.  A message is right when
the kind is its label or one that the label also accepts.  The peer takes the kinds' keywords in
their order, first match wins, else explain.  ``--wrong`` lists what the router got wrong, of the
first split only.

*Forbidden* is a question, a negation or an attempt to approve that became change, run or git_sync.
Times are the fastest of some rounds: what else the machine does only ever adds.  Long texts are
prose, logs and the shapes that regular expressions fear; the slowest counts.

Aims: 90 % right on every split, nothing forbidden, 60 µs median, 20 KB in 20 ms, twice the text in
at most three times the time.
"""

from __future__ import annotations

import argparse
import statistics
import sys
import time
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from types import MappingProxyType
from typing import Final

sys.path.insert(0, str(Path(__file__).parent.parent))

from common.model.intent import TaskKind
from common.text import clip_bytes
from local_agent.routing.router import Router
from tests.routing_set.messages import SPLITS, Labelled, labelled

RIGHT_AIM: Final = 0.9
MEDIAN_AIM_US: Final = 60.0
LONG_AIM_MS: Final = 20.0
GROWTH_AIM: Final = 3.0  # from 10 to 20 KB
SIZES_KB: Final = (1, 5, 10, 20)

_COMMANDS: Final = MappingProxyType(
    {
        "help": TaskKind.HELP,
        "status": TaskKind.STATUS,
        "plan": TaskKind.CHANGE,
        "patch": TaskKind.CHANGE,
        "apply": TaskKind.CHANGE,
        "test": TaskKind.RUN,
    }
)
_KEYWORDS: Final = (
    (TaskKind.EXPLAIN, ("why", "explain", "what does")),
    (TaskKind.CHANGE, ("fix", "implement", "refactor", "add", "change")),
    (TaskKind.RUN, ("run", "test", "build", "lint")),
    (TaskKind.DIAGNOSE, ("error", "stacktrace", "failed", "exception")),
    (TaskKind.SEARCH, ("find", "locate", "where is", "search")),
    (TaskKind.REVIEW, ("review",)),
)
_SHAPES: Final = (
    "please make the login retry exponential, and tell me why it was linear before. ",
    "麻烦把登录重试改成指数退避，然后告诉我为什么之前是线性的。",
    '  File "app/main.py", line 12, in <module>\n2024-05-01 ERROR boom: KeyError\n',
    "don't 不要 ",
    "where is a.b(c) ",
    "\"'`“",
    "a.b-",
    "a/",
    "在",
    "a",
    " \t",
)


@dataclass(frozen=True, slots=True)
class Answer:
    """What one of the two made of a message."""

    kind: TaskKind
    files: tuple[str, ...] = ()
    cmd: str = ""
    query: str = ""


@dataclass(frozen=True, slots=True)
class Tally:
    """How many of how many."""

    hits: int
    of: int

    @property
    def share(self) -> float:
        """Return hits over all; 1 where there was nothing to hit."""
        return self.hits / self.of if self.of else 1.0


@dataclass(frozen=True, slots=True)
class Score:
    """What the answers to one split came to.

    Attributes:
        right: Right answers: ``overall``, and of each ``language …``, ``kind …`` and ``tag …``.
        found: Extracted ``files``, ``cmd`` and ``query``, of those that the labels name.
        confused: How often a label (first) was taken for another kind (second).
        forbidden: The messages that acted and must not.
    """

    right: dict[str, Tally]
    found: dict[str, Tally]
    confused: dict[tuple[TaskKind, TaskKind], int]
    forbidden: tuple[Labelled, ...]


@dataclass(frozen=True, slots=True)
class Times:
    """How long the router takes: a message in µs, a long text of the slowest shape in ms."""

    median_us: float
    p99_us: float
    long_ms: dict[int, float]

    @property
    def growth(self) -> float:
        """Return how many times as long 20 KB take as 10 KB."""
        return self.long_ms[20] / self.long_ms[10]


def keyword_kind(text: str) -> TaskKind:
    """Classify as the plainest router would: a known first word, else the first keyword."""
    folded = text.casefold().removeprefix("@dev").strip()
    command = _COMMANDS.get(folded.split(maxsplit=1)[0] if folded else "")
    matches = (kind for kind, words in _KEYWORDS if any(word in folded for word in words))
    return command or next(matches, TaskKind.EXPLAIN)


def routed(router: Router, text: str) -> Answer:
    """Return what our router makes of it."""
    intent = router.route(text).intent
    params = intent.params
    return Answer(intent.kind, params.files or (), params.cmd or "", params.query or "")


def score(messages: Sequence[Labelled], answers: Sequence[Answer]) -> Score:
    """Compare the answers, one a message, with the labels."""
    pairs = tuple(zip(messages, answers, strict=True))
    asked: Counter[str] = Counter()
    right: Counter[str] = Counter()
    for message, answer in pairs:
        asked.update(_groups(message))
        right.update(_groups(message) if message.accepts(answer.kind) else ())
    wrong = ((m.kind, a.kind) for m, a in pairs if not m.accepts(a.kind))
    return Score(
        right={group: Tally(right[group], of) for group, of in asked.items()},
        found={
            "files": _tally(_has_file(a, path) for m, a in pairs for path in m.files),
            "cmd": _tally(m.cmd in a.cmd for m, a in pairs if m.cmd),
            "query": _tally(_has_query(a, m.query) for m, a in pairs if m.query),
        },
        confused=dict(Counter(wrong)),
        forbidden=tuple(m for m, a in pairs if m.forbids(a.kind)),
    )


def measure(router: Router, texts: Sequence[str], *, rounds: int = 7) -> Times:
    """Time each message, and long texts of every shape."""
    each = sorted(_fastest(partial(router.route, text), rounds) for text in texts)
    return Times(
        median_us=statistics.median(each) * 1e6,
        p99_us=each[len(each) * 99 // 100] * 1e6,
        long_ms={size: 1e3 * _slowest_shape(router, size * 1000, rounds) for size in SIZES_KB},
    )


def main(argv: Sequence[str] | None = None) -> int:
    """Judge, measure and print."""
    options = argparse.ArgumentParser(prog="python -m bench.route")
    options.add_argument("--tags", action="store_true", help="accuracy of each tag too")
    options.add_argument("--wrong", action="store_true", help="list what is wrong in dev.jsonl")
    chosen = options.parse_args(argv)
    router = Router()
    for split in SPLITS:
        _judge(split, labelled(split), router, tags=chosen.tags)
    if chosen.wrong:
        _print_wrong(labelled("dev"), router)
    times = measure(router, [message.text for split in SPLITS for message in labelled(split)])
    _print_times(times)
    return 0


def _judge(split: str, messages: Sequence[Labelled], router: Router, *, tags: bool) -> None:
    ours = score(messages, [routed(router, message.text) for message in messages])
    plain = score(messages, [Answer(keyword_kind(message.text)) for message in messages])
    print(f"{split + '.jsonl':<30} {'router':>8}  {'keywords':>8}")
    for group, tally in sorted(ours.right.items(), key=_printed_order):
        if tags or not group.startswith("tag "):
            peer = plain.right[group]
            print(f"  {group:<20} of {tally.of:>4}  {tally.share:>8.1%}  {peer.share:>8.1%}")
    for name, tally in ours.found.items():
        print(f"  extracted {name:<10} of {tally.of:>4}  {tally.share:>8.1%}")
    print(f"  forbidden: router {len(ours.forbidden)}, keywords {len(plain.forbidden)} (aim: 0)")
    for (label, taken), times in sorted(ours.confused.items(), key=lambda item: -item[1])[:12]:
        print(f"  {label} taken for {taken}: {times}")


def _print_wrong(messages: Iterable[Labelled], router: Router) -> None:
    for message in messages:
        kind = routed(router, message.text).kind
        if not message.accepts(kind):
            mark = "FORBIDDEN " if message.forbids(kind) else ""
            print(f"  {mark}{message.kind} taken for {kind}: {message.text!r}")


def _print_times(times: Times) -> None:
    print(
        f"a message: median {times.median_us:.1f} µs (aim: {MEDIAN_AIM_US:.0f}), "
        f"p99 {times.p99_us:.1f} µs"
    )
    sizes = ", ".join(f"{size} KB {taken:.2f} ms" for size, taken in times.long_ms.items())
    print(f"long texts, slowest shape: {sizes} (aim: 20 KB in {LONG_AIM_MS:.0f} ms)")
    print(f"20 KB take {times.growth:.1f} times as long as 10 KB (aim: {GROWTH_AIM:.0f})")


def _groups(message: Labelled) -> tuple[str, ...]:
    lang, *tags = message.tags
    return ("overall", f"language {lang}", f"kind {message.kind}", *(f"tag {tag}" for tag in tags))


def _printed_order(row: tuple[str, Tally]) -> tuple[int, str]:
    return ("overall", "language", "kind", "tag").index(row[0].split()[0]), row[0]


def _tally(hits: Iterable[bool]) -> Tally:
    told = tuple(hits)
    return Tally(sum(told), len(told))


def _has_file(answer: Answer, path: str) -> bool:
    return any(f"/{found}".endswith(f"/{path}") for found in answer.files)


def _has_query(answer: Answer, query: str) -> bool:
    return query.casefold() in answer.query.casefold()


def _slowest_shape(router: Router, size: int, rounds: int) -> float:
    texts = (clip_bytes(shape * size, size) for shape in _SHAPES)
    return max(_fastest(partial(router.route, text), rounds) for text in texts)


def _fastest(act: Callable[[], object], rounds: int) -> float:
    return min(_seconds(act) for _ in range(rounds))


def _seconds(act: Callable[[], object]) -> float:
    begun = time.perf_counter()
    act()
    return time.perf_counter() - begun


if __name__ == "__main__":
    sys.exit(main())
