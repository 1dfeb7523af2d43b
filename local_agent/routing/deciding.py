"""Both stages of the table together: what its rules say (`rules`), and what the words weigh.

The weights know more words than the table, the table more of what a sentence does.  So the words
choose the kind; what asks, forbids or approves by the table never becomes a deed by them, nor what
they themselves doubt, and where a text wishes several things the table says which comes first.
Pure.
"""

from __future__ import annotations

from typing import Final

from common.model.intent import TaskKind
from local_agent.routing import rules
from local_agent.routing.rules import ACTS, CERTAIN, Form, Guess, Reading
from local_agent.routing.tags import letters
from local_agent.routing.weighing import (
    HARMLESS,
    KINDS,
    RUNS_NOTHING,
    UNIT,
    Weighed,
    Weights,
    traits,
    weigh,
)
from local_agent.routing.wishes import split_wish

WEIGHED: Final = "weighed"  # the name of what no rule decided
_CONFIDENCE: Final = 0.72  # how often the words are right where they disagree with the rules
_CERTAIN: Final = 0.9  # a rule so certain is overruled by little, by a wish to push not at all
# How much must speak for a wish before it may be a deed: plainly put; beside a question or ban.
_DEED: Final = 80
_DOUBTED_DEED: Final = 120
# By how much another kind must be the better one: at all, than that of a certain rule, and where
# no rule fits.
_AHEAD: Final = 2 * UNIT
_AHEAD_OF_CERTAIN: Final = 14 * UNIT
_AHEAD_OF_NONE: Final = 10 * UNIT
_AHEAD_TO_RUN: Final = 5 * UNIT  # of all that runs nothing, where the table does not say so
_DOUBTS: Final = (Form.FORBIDS, Form.ASKS, Form.APPROVES)
_DOUBTFUL: Final = letters(
    "how why should ma neg approve grant noask opine whether nature who or pass"
)
_COMMIT: Final = letters("commit")
# Beside these the words begin nothing that runs: to take back is none, nor is "push --force".
_NEVER_RUN: Final = letters("neg cannot approve grant noask pass flag undo cancel")
_NAMES: Final = "".join(letters("word code quoted pasted num"))
_SENDS: Final = letters("push pushing sync remote")


def decide(text: str, weights: Weights | None = None) -> Guess:
    """Guess the kind of a free text by both stages; the weights are those of the file if None."""
    reading = rules.read(text)
    guess = reading.guess
    if guess.command is not None or guess.form is Form.APPROVES or not _is_weighed(reading):
        return guess
    kind = _chosen(reading, weigh(read_traits(reading), weights))
    if kind is guess.kind:
        return guess
    only_commits = _holds(reading, _COMMIT) and not _holds(reading, _SENDS)
    return Guess(
        kind,
        _CONFIDENCE,
        WEIGHED,
        Form.WISHES if kind in ACTS else Form.ASKS,
        rest=text,
        sends=not only_commits,
    )


def read_traits(reading: Reading) -> list[str]:
    """Return what is weighed of a text (`weighing`)."""
    fitted = [rule.name for _, rule in reading.found]
    return traits(reading.folded, reading.clauses, [*fitted, f"={reading.guess.rule}"])


def _is_weighed(reading: Reading) -> bool:
    """Tell whether there is anything to weigh: a sentence that says more than names."""
    if not reading.is_sentence:
        return False
    return reading.tags.strip(_NAMES) != ""


def _chosen(reading: Reading, weighed: Weighed) -> TaskKind:
    guess = reading.guess
    is_wish = weighed.deed >= (_DEED if _is_plain(reading) else _DOUBTED_DEED)
    kind = weighed.most(_allowed(reading)) if is_wish else weighed.most(HARMLESS)
    calm = weighed.most(RUNS_NOTHING)
    if kind is not guess.kind and 0 < weighed.ahead(kind, calm) < _AHEAD_TO_RUN:
        kind = calm
    if guess.kind in ACTS:
        if not is_wish:
            return kind
        if kind is not guess.kind and kind in ACTS and _has_more(guess):
            return guess.kind  # of several wishes the first
    if kind is TaskKind.GIT_SYNC and guess.confidence >= _CERTAIN:
        return guess.kind
    return kind if weighed.ahead(kind, guess.kind) >= _needed(guess, kind) else guess.kind


def _allowed(reading: Reading) -> int:
    """Return how many of the kinds the words may choose among."""
    if _is_barred(reading.guess):
        return HARMLESS
    return RUNS_NOTHING if _holds(reading, _NEVER_RUN) else len(KINDS)


def _has_more(guess: Guess) -> bool:
    return not guess.single and split_wish(guess.rest)[1] != ""


def _needed(guess: Guess, kind: TaskKind) -> int:
    if guess.confidence == rules.NOTHING:
        return _AHEAD_OF_NONE
    if guess.kind in ACTS and kind not in ACTS:
        return _AHEAD  # rather not
    is_certain = guess.confidence >= _CERTAIN or _is_barred(guess)
    return _AHEAD_OF_CERTAIN if is_certain else _AHEAD


def _is_barred(guess: Guess) -> bool:
    """Tell whether the table is sure that a text forbids or asks."""
    asks = guess.rule.startswith("asks-") and guess.kind not in ACTS
    return guess.form is Form.FORBIDS or (asks and guess.confidence >= CERTAIN)


def _is_plain(reading: Reading) -> bool:
    """Tell whether nothing in a text asks, forbids or approves."""
    if _holds(reading, _DOUBTFUL):
        return False
    for _, rule in reading.found:
        if rule.form in _DOUBTS or rule.name.startswith("asks-"):
            return False
    return not any(clause.asked for clause in reading.clauses)


def _holds(reading: Reading, classes: frozenset[str]) -> bool:
    return not classes.isdisjoint(reading.tags)
