"""Stage A of the router: one ordered table of rules over classes of words (seed 002 §4.1).

Pure.  A text is read clause by clause, and the first row of `table` that fits a clause decides it:
what approves, what is forbidden, what is asked, what is wished, what is told.  Then the clauses are
weighed: an attempt to approve before all, a wish before a question, a question before a report.  A
wrong guess is cheap by design: no kind executes anything, and a command is always asked at the
machine (P1).
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from enum import Enum
from typing import Final, NamedTuple

from common.model.intent import TaskKind
from local_agent.routing.clauses import MAX_WORDS, Clause, behind, split_clauses
from local_agent.routing.folding import blot, fold, seen
from local_agent.routing.screening import Screen
from local_agent.routing.table import PARTS, ROWS
from local_agent.routing.tagging import tag_words
from local_agent.routing.tags import LETTER, letters, pattern

NOTHING: Final = 0.3


class Form(Enum):
    """How a clause speaks."""

    APPROVES = "approves"
    FORBIDS = "forbids"
    WISHES = "wishes"
    ASKS = "asks"
    TELLS = "tells"
    GREETS = "greets"


@dataclass(frozen=True, slots=True)
class Rule:
    """One row of the table.

    Attributes:
        name: What `codexbridge route` shows.
        form: How a clause speaks that fits.
        kind: What is then wanted.
        confidence: How often that is right, as measured on the labelled set.
        words: A pattern over classes of words (`tags`), from the beginning of the clause.
    """

    name: str
    form: Form
    kind: TaskKind
    confidence: float
    words: str


class Guess(NamedTuple):
    """What the words point at.

    Attributes:
        kind: The kind of the rule that decided; EXPLAIN where none did.
        confidence: That of the rule.
        rule: Its name.
        form: How the deciding clause speaks.
        lead: The deciding verb as written where one leads the clause; else None.
        rest: The text behind it, to its end; the whole text where none leads.
        command: The command line that was written without any verb.
        sends: A git wish means to send something, not only to commit it.
        single: Nothing stands in the text that could join another wish to it.
    """

    kind: TaskKind
    confidence: float
    rule: str
    form: Form = Form.ASKS
    lead: str | None = None
    rest: str = ""
    command: str | None = None
    sends: bool = True
    single: bool = False


class Reading(NamedTuple):
    """A text as the table reads it.

    Attributes:
        folded: The text, folded and blotted (`folding`).
        clauses: Its clauses.
        found: Those that a rule fits, each with its rule.
        guess: What they point at together.
        tags: The classes of all words.
    """

    folded: str
    clauses: Sequence[Clause]
    found: Sequence[tuple[Clause, Rule]]
    guess: Guess
    tags: str

    @property
    def is_sentence(self) -> bool:
        """Tell whether somebody may have written this: neither nothing nor endless."""
        short = len(self.folded) <= MAX_WORDS
        return bool(self.clauses) and (
            short or all(len(one.tokens) <= MAX_WORDS for one in self.clauses)
        )


def _rules() -> Iterator[Rule]:
    """Read the table: a heading, and the lines of its pattern, which are indented."""
    heading, words = "", ""
    for line in [*ROWS.splitlines(), "end:"]:
        if line.startswith("    "):
            words += f"{line} "
        elif line and not line.startswith("#"):
            if words:
                name, form, kind, confidence = heading.replace(":", "").split()
                fits = words.format_map(PARTS)
                yield Rule(name, Form(form), TaskKind(kind), float(confidence), fits)
            heading, words = line, ""


RULES: Final = tuple(_rules())
_TABLE: Final = Screen([pattern(rule.words) for rule in RULES])
_ASKED: Final = LETTER["asked"]
_POLITE_CHARS: Final = 80  # nobody is polite for longer
_POLITE: Final = re.compile(pattern(PARTS["P"]))
# What a polite text may begin with, or a text whose first word says nothing.
_OPENINGS: Final = frozenset(_POLITE.pattern) | letters("stop mark comma but and")
_PLEADS: Final = re.compile(pattern("[canyou maywe helpme okq please]"))
_VERBS: Final = letters(
    "change become off make edit verb run find explain digest review debug push sync commit "
    "pull test look show ask status"
)
_GIT: Final = letters("push pushing sync commit")
_SENDS: Final = letters("push pushing sync remote")
_JOINT_WORDS: Final = """
    and then also plus & && after afterwards
    并 并且 而且 然后 接着 随后 之后 同时 顺便 顺手 再 然后再 再把 再去 再来 完了 完了再
"""
_JOINTS: Final = frozenset(_JOINT_WORDS.split())
_AGAIN: Final = "再"  # joins, and stands before a verb as one word with it
_UP: Final = "上去"
_OR: Final = letters("or rel")
ACTS: Final = frozenset({TaskKind.CHANGE, TaskKind.RUN, TaskKind.GIT_SYNC})
_DOUBTS: Final = (Form.FORBIDS, Form.ASKS)
_NAMES: Final = "".join(letters("code quoted num flag"))
_WEAK_YES: Final = ("says-yes", "agrees", "asks-not-to-be-asked")
CERTAIN: Final = 0.85
SURE: Final = 0.76  # a wish of less comes behind a question and a report

Found = Sequence[tuple[Clause, Rule]]


def guess_kind(text: str) -> Guess:
    """Guess the kind of a free text by its rules, safe by default: the unclear is a question."""
    return read(text).guess


def read(text: str) -> Reading:
    """Read a free text clause by clause."""
    text = seen(text)
    folded = blot(fold(text))
    clauses = split_clauses(tag_words(text, folded))
    found = list(_apart(clauses))
    tags = "".join([clause.tags for clause in clauses])
    return Reading(folded, clauses, found, _by_rules(text, clauses, found), tags)


def _by_rules(text: str, clauses: Sequence[Clause], found: Found) -> Guess:
    decided = _decided(found)
    if decided is None:
        return Guess(TaskKind.EXPLAIN, NOTHING, "nothing", rest=text)
    return _guess(*decided, text, found, single=len(clauses) == 1 and _is_single(clauses[0]))


def fitting(clause: Clause) -> Rule | None:
    """Return the first rule of the table that fits a clause."""
    place = _TABLE.first(clause.tags + _ASKED if clause.asked else clause.tags)
    return None if place is None else RULES[place]


def skip_polite(text: str) -> str:
    """Return the text from its first word that says something."""
    text = seen(text)
    begins = text[:_POLITE_CHARS]
    folded = fold(begins)
    first = tag_words(begins, folded, 0)  # no more than it takes to know the first word
    if first and first[0].tag not in _OPENINGS:
        return text[first[0].start :]
    for clause in split_clauses(tag_words(begins, folded)):
        polite = _POLITE.match(clause.tags)
        if polite is None or polite.end() < len(clause.tokens):
            return text[clause.tokens[polite.end() if polite else 0].start :]
    return ""


def is_no_wish(text: str) -> bool:
    """Tell whether the text asks something, forbids it or tells of a failure, rather than wish."""
    text = seen(text)
    clauses = split_clauses(tag_words(text, blot(fold(text))))
    rule = fitting(clauses[0]) if clauses else None
    if rule is None:
        return False
    fails = rule.kind is TaskKind.DIAGNOSE and clauses[0].tags[:1] in _FAILED
    return rule.form is Form.FORBIDS or rule.name.startswith("asks-") or fails


def wants_tests(text: str) -> bool:
    """Tell whether a wish to run something is about the tests, whose command we know."""
    return _TESTS.search(text) is not None


def starts_command(lead: str | None) -> bool:
    """Tell whether the leading word is followed by a command ("run X"), not a thing ("build X")."""
    return lead is not None and _RUNS.fullmatch(lead.casefold()) is not None


def _apart(clauses: Sequence[Clause]) -> Iterator[tuple[Clause, Rule]]:
    """Return the clauses with their rules, without what only goes on with a question or report."""
    before: Rule | None = None
    for place, clause in enumerate(clauses):
        goes_on = clause.joined and (before is None or before.form is not Form.WISHES)
        if (goes_on and not _PLEADS.match(clause.tags)) or (clause.aside and len(clauses) > 1):
            continue
        before = (_behind_names(clause) if place == 0 else None) or fitting(clause)
        if before is not None:
            yield clause, before


def _behind_names(clause: Clause) -> Rule | None:
    """Return what is no wish behind names that open a text: "`x` don't push", "1) should we …"."""
    bare = behind(clause, _NAMES) if clause.tags[0] in _NAMES else None
    rule = fitting(bare) if bare is not None else None
    if rule is None or rule.kind in ACTS or rule.confidence < SURE:
        return None
    return rule if rule.form in (*_DOUBTS, Form.APPROVES) else None


def _decided(found: Found) -> tuple[Clause, Rule] | None:
    if len(found) == 1:
        return found[0]  # whatever it says, there is nothing to weigh it against
    for clause, rule in found:
        if rule.form is Form.APPROVES and not (rule.name in _WEAK_YES and _goes_on(found, rule)):
            return clause, rule
    kept = [pair for place, pair in enumerate(found) if not _taken_back(found, place)]
    kept = _held(kept)
    floor = 0.0
    if any(rule.form in _DOUBTS or rule.name == "pastes-a-failure" for _, rule in kept):
        floor = CERTAIN
    for form, least in _ORDER:
        for clause, rule in kept:
            if rule.kind in ACTS and rule.confidence < floor:
                continue  # beside a question, what is forbidden, or a log, nothing is guessed
            if rule.form is form and rule.confidence >= least:
                return None if form is Form.FORBIDS and _says_more(kept) else (clause, rule)
    return kept[0] if kept else None


def _says_more(found: Found) -> bool:
    """Tell whether a text does more than forbid, though nothing else of it was taken up."""
    return any(rule.form not in (Form.FORBIDS, Form.GREETS) for _, rule in found)


_ORDER: Final = (
    (Form.WISHES, SURE), (Form.ASKS, 0.0), (Form.TELLS, 0.0), (Form.WISHES, 0.0),
    (Form.FORBIDS, 0.0), (Form.GREETS, 0.0),
)  # fmt: skip


def _held(found: Found) -> list[tuple[Clause, Rule]]:
    """Return the clauses without what goes on with a question or ban: "how do I fix, push?"."""
    kept: list[tuple[Clause, Rule]] = []
    held = banned = False
    for clause, rule in found:
        held = held and not clause.fresh
        banned = banned and not clause.fresh
        if (held and clause.asked) or (banned and _lists_on(clause, rule)):
            continue
        banned = rule.form is Form.FORBIDS
        held = rule.form is Form.ASKS
        kept.append((clause, rule))
    return kept


def _lists_on(clause: Clause, rule: Rule) -> bool:
    """Tell whether a clause goes on with what is forbidden: "nothing is pushed, run or altered"."""
    return rule.kind in ACTS and (len(clause.tags) == 1 or not _OR.isdisjoint(clause.tags))


def _taken_back(found: Found, place: int) -> bool:
    """Tell whether a deed is only asked about behind it: "delete the folder, is that safe?"."""
    clause, rule = found[place]
    if rule.kind not in ACTS or rule.form is not Form.WISHES or _PLEADS.search(clause.tags[:-1]):
        return False
    for later, after in found[place + 1 :]:
        if later.fresh:
            return False
        if after.form is Form.ASKS:
            return True
    return False


def _goes_on(found: Found, said: Rule) -> bool:
    """Tell whether more is said than yes: "ok, run it" and "add logging, don't ask" are wishes."""
    return any(
        rule.form is not Form.APPROVES
        and (
            said.name == "agrees"
            or (
                rule.kind is TaskKind.CHANGE and rule.confidence >= CERTAIN and len(clause.tags) > 2
            )
        )
        for clause, rule in found
    )


def _guess(clause: Clause, rule: Rule, text: str, found: Found, *, single: bool) -> Guess:
    polite = _POLITE.match(clause.tags)
    place = min(polite.end() if polite else 0, len(clause.tags) - 1)
    head = clause.tokens[place]
    last = head
    if rule.kind is TaskKind.GIT_SYNC:
        last = next((word for word in reversed(clause.tokens) if word.tag in _GIT), head)
    leads = head.tag in _VERBS
    return Guess(
        kind=rule.kind,
        confidence=rule.confidence,
        rule=rule.name,
        form=rule.form,
        lead=text[head.start : last.end] if leads else None,
        rest=text[last.end :].strip() if leads else text,
        command=text[head.start : head.end] if head.tag == LETTER["command"] else None,
        sends=_sends(found) if rule.kind is TaskKind.GIT_SYNC else True,
        single=single,
    )


def _is_single(clause: Clause) -> bool:
    words = [token.word for token in clause.tokens]
    return _JOINTS.isdisjoint(words) and not any(word[:1] == _AGAIN for word in words)


def _sends(found: Found) -> bool:
    return any(
        word.tag in _SENDS or word.word.endswith(_UP)
        for clause, rule in found
        if rule.form is Form.WISHES
        for word in clause.tokens
    )


_FAILED: Final = (LETTER["fail"], LETTER["failed"], LETTER["cannot"], LETTER["weak"])
_TESTS: Final = re.compile(
    r"\b(?:tests?|testing|pytest|unittests?|specs?|test_\w+|\w+_test)\b|测试|测式|测一下|单测|用例",
    re.IGNORECASE,
)
_RUNS: Final = re.compile(
    r"re-?run|run|execute|launch|(?:运行|执行|跑|重跑|重新跑|试跑)[一下遍次个趟轮波]*"
)
