"""How often a request is read as it was meant, and how fast, beside plain keywords in the same run.

    python -m bench.understand [--learnt] [--wrong] [--before CHECKOUT] [--quick]

Read are the lists of ``tests/understanding_set/held_out``, from which nothing is learnt and which
nobody who writes guards reads; ``--learnt`` takes the others, ``--wrong`` prints what is wrong in
those.  A message is right when its likeliest kind is its label or one that the label also accepts;
it is *sure* when it is taken up; an *unwished deed* is a message that asks for none and is surely
taken for one.  ``--before`` reads the same messages with an older checkout.  Times are the fastest
of some rounds; of long texts the slowest shape counts.
"""

from __future__ import annotations

import argparse
import json
import statistics
import subprocess
import sys
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Final

sys.path.insert(0, str(Path(__file__).parent.parent))

from bench.aims import Aim, judged
from common.text import clip_bytes
from common.verbs import Topic
from local_agent.understand.reader import Reader, guess
from local_agent.understand.reading import Kind
from tests.understanding_set.messages import HELD_OUT, LEARNT, Labelled, labelled

AIMS: Final = {
    "right": Aim(0.88, least=True),
    "sure": Aim(0.85, least=True),
    "right of the sure": Aim(0.95, least=True),
    "unwished deeds in 1,000": Aim(2),
    "an ordinary message, us": Aim(300),
    "20 KB, ms": Aim(10),
    "20 KB / 10 KB": Aim(3),
    "memory, MB": Aim(3),
}
_KEYWORDS: Final = (
    (Kind.EXPLAIN, ("why", "explain", "what does")),
    (Kind.CHANGE, ("fix", "implement", "refactor", "add", "change")),
    (Kind.RUN, ("run", "test", "build", "lint")),
    (Kind.DIAGNOSE, ("error", "stacktrace", "failed", "exception")),
    (Kind.SEARCH, ("find", "locate", "where is", "search")),
    (Kind.REVIEW, ("review",)),
)
_SHAPES: Final = (
    "please make the login retry exponential, and tell me why it was linear before. ",
    "麻烦把登录重试改成指数退避，然后告诉我为什么之前是线性的。",
    '  File "app/main.py", line 12, in <module>\n2024-05-01 ERROR boom: KeyError\n',
    *(
        "don't 不要 ",
        "where is a.b(c) ",
        "\"'`“",
        "a.b-",
        "a/",
        "在",
        "a",
        " \t",
        "run ",
        "别推",
        "t-",
    ),
)
_BEFORE: Final = """
import json, sys
from local_agent.routing.router import Router
router = Router()
for line in sys.stdin:
    found = router.route(json.loads(line))
    kind = {"undo": "undo", "cancel": "cancel"}.get(found.topic.value, found.intent.kind.value)
    print(json.dumps([kind, not found.unsure]))
"""
_MEMORY: Final = """
import psutil, time
import common.model.intent, common.dsl
before, begun = psutil.Process().memory_full_info().uss, time.perf_counter()
from local_agent.understand import reader
reader.load()
print(psutil.Process().memory_full_info().uss - before, time.perf_counter() - begun)
"""

Answer = tuple[Kind, bool]  # the kind, and whether it is taken up
# What the labels call by more exact names than older routers did.
_COARSE: Final = {Kind.APPROVE: Kind.HELP, Kind.CHATTER: Kind.HELP, Kind.OUTPUT: Kind.DIAGNOSE}


@dataclass(frozen=True, slots=True)
class Score:
    """What the answers to some messages came to, as shares."""

    right: float
    sure: float
    right_of_sure: float
    unwished: int
    of: int


def keyword_kind(text: str) -> Kind:
    """Classify as the plainest router would: the first keyword, else explain."""
    folded = text.casefold()
    return next((k for k, words in _KEYWORDS if any(w in folded for w in words)), Kind.EXPLAIN)


def ours(text: str) -> Answer:
    """Return what is read; a command of the grammar is sure, and so is what is refused."""
    reading = Reader().read(text)
    if reading.rule == "command":
        topic = reading.topic.value
        by_topic = {"undo": Kind.UNDO, "cancel": Kind.CANCEL}.get(topic)
        return by_topic or Kind(reading.intent.kind.value), True
    if reading.rule == "names-it":
        return Kind.RUN, True
    if reading.topic is Topic.UNSUPPORTED:
        return Kind.UNSUPPORTED, True
    return guess(text).kind, not reading.unsure


def score(
    messages: Sequence[Labelled], answers: Sequence[Answer], *, coarse: bool = False
) -> Score:
    """Compare the answers, one a message, with the labels.

    Args:
        messages: What was asked.
        answers: What was made of it.
        coarse: Take what older routers have no name for as what they call it.
    """
    pairs = list(zip(messages, answers, strict=True))
    right = [_accepts(one, kind, coarse=coarse) for one, (kind, _) in pairs]
    sure = [right_ for right_, (_, (_, sure_)) in zip(right, pairs, strict=True) if sure_]
    unwished = sum(one.forbids(kind) and sure_ for one, (kind, sure_) in pairs)
    share = sum(sure) / max(len(sure), 1)
    return Score(sum(right) / len(pairs), len(sure) / len(pairs), share, unwished, len(pairs))


def _accepts(one: Labelled, kind: Kind, *, coarse: bool) -> bool:
    if kind is Kind.UNSUPPORTED and one.accepts(Kind.RUN):
        return True  # it names no command: lists that are older than this kind call it a run
    return one.accepts(kind) or (coarse and kind in {_COARSE.get(k) for k in (one.kind, *one.also)})


def main(argv: Sequence[str] | None = None) -> int:
    """Judge, measure and print."""
    options = argparse.ArgumentParser(prog="python -m bench.understand")
    options.add_argument("--learnt", action="store_true", help="judge what was learnt from instead")
    options.add_argument("--wrong", action="store_true", help="print what is wrong of that")
    options.add_argument("--before", type=Path, metavar="CHECKOUT", help="read with this one too")
    options.add_argument("--quick", action="store_true", help="fewer rounds")
    chosen = options.parse_args(argv)
    names = LEARNT if chosen.learnt or chosen.wrong else HELD_OUT
    messages = [one for name in names for one in labelled(name)]
    answers = [ours(one.text) for one in messages]
    if chosen.wrong:
        _print_wrong(messages, answers)
    whole = score(messages, answers)
    place = 0
    for name in names:
        count = len(labelled(name))
        _print(name, score(messages[place : place + count], answers[place : place + count]))
        place += count
    for group in sorted(
        {one.tags[0] for one in messages} | {f"kind {m.kind.value}" for m in messages}
    ):
        picked = [(m, a) for m, a in zip(messages, answers, strict=True) if group in _groups(m)]
        _print(group, score([m for m, _ in picked], [a for _, a in picked]))
    _print("ALL", whole)
    keywords = [(keyword_kind(one.text), True) for one in messages]
    _print("plain keywords", score(messages, keywords, coarse=True))
    if chosen.before:
        _print("before", score(messages, _before(chosen.before, messages), coarse=True))
    found = {
        "right": whole.right,
        "sure": whole.sure,
        "right of the sure": whole.right_of_sure,
        "unwished deeds in 1,000": 1000 * whole.unwished / whole.of,
    } | _times([one.text for one in messages], rounds=2 if chosen.quick else 5)
    print("\n".join(judged(found, AIMS)))
    return 0


def _groups(one: Labelled) -> tuple[str, str]:
    return one.tags[0], f"kind {one.kind.value}"


def _print(name: str, found: Score) -> None:
    print(
        f"{name:<16} of {found.of:>5}  right {found.right:>6.1%}  sure {found.sure:>6.1%}"
        f"  right of the sure {found.right_of_sure:>6.1%}  unwished deeds {found.unwished}"
    )


def _print_wrong(messages: Sequence[Labelled], answers: Sequence[Answer]) -> None:
    for one, (kind, sure) in zip(messages, answers, strict=True):
        if not one.accepts(kind):
            mark = "UNWISHED " if one.forbids(kind) and sure else "" if sure else "(unsure) "
            print(f"  {mark}{one.kind.value} taken for {kind.value}: {one.text[:160]!r}")


def _before(checkout: Path, messages: Sequence[Labelled]) -> list[Answer]:
    lines = "\n".join(json.dumps(one.text) for one in messages)
    done = subprocess.run(
        (sys.executable, "-c", _BEFORE), input=lines, cwd=checkout, text=True, check=True,
        capture_output=True, encoding="utf-8",
    )  # fmt: skip
    return [(Kind(kind), sure) for kind, sure in map(json.loads, done.stdout.splitlines())]


def _times(texts: Sequence[str], *, rounds: int) -> dict[str, float]:
    reader = Reader()
    each = sorted(_fastest(partial(reader.read, text), rounds) for text in texts)
    long = {size: _slowest_shape(reader, size * 1000, rounds) for size in (10, 20)}
    done = subprocess.run(
        (sys.executable, "-c", _MEMORY), cwd=Path(__file__).parent.parent, text=True, check=True,
        capture_output=True, encoding="utf-8",
    )  # fmt: skip
    used, took = map(float, done.stdout.split())
    print(f"99 of 100 messages within {each[len(each) * 99 // 100] * 1e6:.0f} us")
    print(f"loaded in {took * 1e3:.0f} ms")
    return {
        "an ordinary message, us": statistics.median(each) * 1e6,
        "20 KB, ms": long[20] * 1e3,
        "20 KB / 10 KB": long[20] / long[10],
        "memory, MB": used / 1e6,
    }


def _slowest_shape(reader: Reader, size: int, rounds: int) -> float:
    texts = (clip_bytes(shape * size, size) for shape in _SHAPES)
    return max(_fastest(partial(reader.read, text), rounds) for text in texts)


def _fastest(act: Callable[[], object], rounds: int) -> float:
    return min(_seconds(act) for _ in range(rounds))


def _seconds(act: Callable[[], object]) -> float:
    begun = time.perf_counter()
    act()
    return time.perf_counter() - begun


if __name__ == "__main__":
    sys.exit(main())
