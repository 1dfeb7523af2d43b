"""Stage A of the router: one ordered table of rules over classes of words (seed 002 §4.1).

Pure.  A text is read clause by clause (`clauses`), and the first rule that fits a clause decides it:
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
from typing import Final

from common.model.intent import TaskKind
from local_agent.routing.clauses import Clause, split_clauses
from local_agent.routing.folding import PASTED, blot, fold
from local_agent.routing.tagging import Token, tag_words
from local_agent.routing.tags import LETTER, pattern

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


@dataclass(frozen=True, slots=True)
class Guess:
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
    """

    kind: TaskKind
    confidence: float
    rule: str
    form: Form = Form.ASKS
    lead: str | None = None
    rest: str = ""
    command: str | None = None
    sends: bool = True


_P: Final = (
    "(?:please|ok|thou|canyou|maywe|helpme|i(?=please|canyou|desire|helpme)|(?:it|bot|you|greet|can|with|done|yes)(?=please|canyou|helpme))*"
)
_TOPIC: Final = "(?:det|my|it|i|of|thing|word|han|code|codeword|quoted|num|http|test|diff|prep|remote|please)*"
_MAY: Final = "(?:(?=.*(?:canyou|maywe|okq))|(?!.*(?:asked|ma)))"  # a wish, or one put politely
_HEADS: Final = "(?:change|become|edit|off(?!.*approve)|find|explain|review|debug)"

A, F, W, Q, T, G = Form.APPROVES, Form.FORBIDS, Form.WISHES, Form.ASKS, Form.TELLS, Form.GREETS
K = TaskKind
RULES: Final[tuple[Rule, ...]] = (
    # -- approving: not from here ----------------------------------------------------------------
    Rule("asks-whether-approved", Q, K.STATUS, 0.85, "(?:.*(?:who|have|be|do|cannot).*approve.*id|(?:have|be|do|who)(?:det|my|it|task|diff|id|of|done)*approve(?:prep|done|ma|asked|id|it|det|task|diff|status)*$)"),
    Rule("asks-how-to-approve", Q, K.HELP, 0.9, f"(?=.*(?:how|where|can|should|who|what|which|ma|or|canyou|maywe|be|do|whether|asksbot))(?!{_P}{_HEADS}).*approve[^thing code codeword of where]*$"),
    Rule("skips-approval", A, K.HELP, 0.9, f"(?!{_P}{_HEADS}[^please]).*(?:skip|without|neg|cannot|noask)(?:you|i|det|my|it|to|prep|want|have|please|can)*approve(?!thing|code)|{_P}(?:off|cancel|skip)(?:det|my|all)*approve(?!thing|prep)|{_P}ba(?:det|my)*approve(?:off|skip|cancel)"),
    Rule("asks-not-to-be-asked", A, K.HELP, 0.9, f"(?!{_P}{_HEADS}(?!.*noask(?:please|i|prep|approve|it)*$)).*noask"),
    Rule("approves", A, K.HELP, 0.95, "(?:i|you|thou|have|yes|ok|id|please|it|can|want|my|code|helpme|word(?=approve))*(?:weak)?approve(?:word$|thing$|ok|thou|it|id|det|diff|task|status|my|code|please|yes|apply|run|you|i|prep|change|test|num|to|edit|done|all)*$|(?:please)*(?:run|push|test|commit|apply)[^asked ma thing code]*approve$"),
    Rule("acts-on-a-task", A, K.HELP, 0.9, f"(?!{_P}(?:explain|review|look|find|show|debug|ask|undo|cancel|nope))(?!.*(?:how|what|why|when|where|who|ma|asked|status|done|standing|fail|wrong))(?=.*id).*(?:run|apply|push|yes|ok|commit|change|become|edit|can|word|test|off)"),
    Rule("agrees", A, K.HELP, 0.9, "(?:ok|please)*ok(?:please)*$"),
    Rule("rejects", A, K.HELP, 0.95, "(?:please)*(?:nope|det(?=$))(?:it|id|please|approve|det|diff|task|greet)*$"),
    Rule("says-yes", A, K.HELP, 0.9, "(?=.*yes|ok.*(?:run|apply|push))(?:yes|ok|please|to|it|apply|id|diff|run|i|you|thou|greet|push|can|approve|code|once|helpme|prep|of|all|have|want)+$"),
    # -- the bot itself --------------------------------------------------------------------------
    Rule("greets", G, K.HELP, 0.9, "(?:greet|please|ok|thou|yes|nope|you|bot|it|i)+(?:asked|ma|word)?$"),
    Rule("asks-for-help", G, K.HELP, 0.95, f"{_P}(?:det|my|i|want|have|desire|show|exists|what|be|can|which|ask|or)*help(?:asked|please|it|i|prep|bot|you|ma|show|exists|what|can|with|to|once|use)*$"),
    Rule("asks-how-it-is-used", Q, K.HELP, 0.85, "how(?:do|can)i(?:use)(?:it|bot|you|det)+(?:task|thing)?asked?$"),
    Rule("asks-about-the-bot", Q, K.HELP, 0.85, "(?=.*(?:how|what|which|canyou|help))(?!.*(?:thing|codeword|test|fail)).*(?:bot|what.*you.*do|help)(?!.*(?:done|status)).*$"),
    Rule("asks-how-to-undo", Q, K.HELP, 0.85, "how(?!.*(?:code|thing|codeword)).*(?:undo|cancel|apply)(?!.*(?:code|codeword))"),
    Rule("asks-what-the-bot-is", Q, K.HELP, 0.85, ".*botask|(?!.*(?:code|thing|codeword|test|diff|task|fail|done|status|standing|it|change|become)).*(?:thou.*(?:what|how|which|who|ma|where)|(?:what|how|which|who).*thou)|(?:what|which)(?:word|det|of|thing)*(?:asksbot|canyou|can(?:you|i))(?!.*(?:code|codeword|test|diff|done|it))"),
    Rule("asks-where-it-stands", Q, K.STATUS, 0.9, "(?!.*(?:fail|wrong)).*standing"),
    Rule("asks-the-bot-for-status", Q, K.STATUS, 0.8, "asksbot.*(?:done|status|run|task)"),
    Rule("asks-the-bot", Q, K.HELP, 0.8, "asksbot(?=.*(?:ma|asked))"),
    # -- where tasks stand -----------------------------------------------------------------------
    Rule("names-a-task", Q, K.STATUS, 0.9, f"(?!{_P}(?:change|edit|undo|apply|approve|cancel|explain|review|run|debug|nope))(?=.*id).*(?:status|done|how|what|where|be|do|ma|asked|who|when|show|have|cannot|look|fail|why)"),
    Rule("asks-for-status", Q, K.STATUS, 0.9, "(?=.*(?:status|(?:task|bot).*done|done.*task|task.*(?:show|find)|(?:show|find|look).*task|bot.*(?:asked|ma)|exists.*done|(?:be|have|do)(?:my|it)?(?:task|it)(?:prep|it|you|i|word)*done|what.*done|^(?:det|my|it)*task asked))(?!.*(?:thing|codeword))(?:please|canyou|look|show|ask|find|what|which|how|why|where|who|when|det|my|it|i|you|be|do|have|exists|of|prep|status|task|done|bot|num|id|ma|asked|cannot|once|or|to|han|word|run|test|change|diff|approve|greet|want|edit|with|and|neg|quoted|yes|fail|remote|push|asksbot|explain|wrong|ok|thou|helpme)*$|id$"),
    # -- forbidden -------------------------------------------------------------------------------
    Rule("forbids", F, K.EXPLAIN, 0.3, f"{_P}(?:i|you|it|det)*neg"),
    Rule("forbids-behind", F, K.EXPLAIN, 0.3, "[^change become off edit run push commit find review debug explain look]*neg"),
    # -- failures to look into -------------------------------------------------------------------
    Rule("asks-what-is-wrong", W, K.DIAGNOSE, 0.9, f"(?!{_P}explain)(?!.*diff).*wrong"),
    Rule("looks-into-why", W, K.DIAGNOSE, 0.85, f"{_P}(?:look|debug|find|review)(?!.*(?:what.*do)).*(?:why|cause)|{_P}look(?!.*(?:diff|quality|test.*passing)).*(?:fail|wrong|http)|how(?:thing|it|han)*fail$"),
    Rule("explains-a-failure", W, K.DIAGNOSE, 0.75, f"{_P}explain.*(?:pasted|fail.*pasted|stop.*fail)"),
    Rule("tells-after-a-deed", T, K.DIAGNOSE, 0.85, f".*(?:change|become|off|edit|run|push|commit|test)did.*(?:fail|cannot|weak|wrong)|{_P}(?:det)?(?:change|edit|off|run|find|review|push)(?:thing|word)?failed(?!thing|plural|test|code|word)"),
    # -- git: nothing but these words may stand in the clause ------------------------------------
    Rule("moves-work-to-remote", W, K.GIT_SYNC, 0.85, f"{_MAY}{_P}(?:ba)?(?:change|make|word|push|edit|sync)?(?:my|det|it|of|please|i|edit)*(?:diff|codeword)(?:my|det|it|of|please|word|code|commit|done|diff)*(?:change|make|push|word|sync|edit)?(?:to|prep|push|han|det|my|yes|code)*(?:remote|program)(?:please|yes|prep|of|asked|ma|okq)*$|{_P}(?:edit|push)(?:to|prep|det)*(?:remote|program)(?:please)*$"),
    Rule("pushes", W, K.GIT_SYNC, 0.95, f"{_MAY}{_P}(?:ba(?:change|edit|thing|occur|test)*)?(?:det|diff|it|codeword|my|of|please|code|commit)*(?:commit(?:det|diff|it|my|codeword|thing|code|of|once)*(?:and|please)*)?(?:push|sync)(?:det|diff|it|to|prep|my|codeword|once|please|of|i|you|num|code|commit|and|pushing|quoted|greet|what|rel|have|be|weak|yes|done|word(?=diff|codeword|$)|test|thing(?=diff|codeword|remote)|remote|change(?=$)|asked|ma|okq)*(?:with.*)?$"),
    Rule("pulls", W, K.GIT_SYNC, 0.8, f"{_MAY}{_P}(?:ba|det|my|it|codeword)*pull(?:det|diff|it|to|prep|my|codeword|once|please|of|i|you|code|remote|word|and|change|asked|okq|task|ma)*$"),
    Rule("commits", W, K.GIT_SYNC, 0.9, f"{_MAY}{_P}(?:ba)?(?:det|diff|it|codeword|my|of|please|thing|code|test|fail|edit)*commit(?:det|diff|it|to|prep|remote|my|codeword|once|please|of|i|you|num|code|thing|test|fail|word|what|rel|weak|have|be|han|yes|and|pushing|push|quoted|change|asked|ma|okq|done)*(?:with.*)?$"),
    # -- what has been changed -------------------------------------------------------------------
    Rule("asks-about-a-deed", Q, K.EXPLAIN, 0.85, f"(?!.*(?:canyou|maywe|helpme|okq)){_P}(?:ba)?(?:change|become|off|edit|run|test(?!thing)|push|commit|pull).*(?:quality|nature|whether|should|ma|how|what|who)"),
    Rule("asks-for-a-verdict", W, K.REVIEW, 0.85, "(?!.*why).*verdict"),
    Rule("digests-changes", W, K.REVIEW, 0.85, f"{_P}digest.*diff|{_P}(?:show|make|change|want|desire)(?:i|it|det|my)*(?:word|code|diff|prep|det)*review"),
    Rule("asks-for-a-judgement", W, K.REVIEW, 0.85, f"(?!.*why|{_P}(?:run|test))(?=.*(?:diff|look|my|it)).*quality"),
    Rule("asks-for-review", W, K.REVIEW, 0.85, f"(?!{_P}explain)(?=.*(?:diff|(?:my|it|prep)commit))(?!.*(?:why|push)).*(?:exists|whether|ma|asked|how|fail|what|where|okq|wrong)"),
    Rule("asks-what-i-changed", W, K.REVIEW, 0.85, "(?:what|which)(?:do|have)i(?:change|make|become|off|edit)|(?:be|do|have|whether)(?:my|it)(?:change|edit|diff|commit)|what.*do.*you.*(?:my|it)(?:diff|change|edit|code|codeword)"),
    # -- where something is ----------------------------------------------------------------------
    Rule("asks-where", W, K.SEARCH, 0.9, f"(?!{_P}explain).*where"),
    Rule("asks-who-uses", W, K.SEARCH, 0.9, ".*who.*(?:use|occur)"),
    Rule("asks-which-files", W, K.SEARCH, 0.85, f"{_P}(?:look|show|find|prep|ask)*(?:which|what)(?:det|of)*(?:thing|test|codeword|occur)(?!.*(?:nature|should))"),
    Rule("asks-how-many", W, K.SEARCH, 0.75, ".*count(?:thing|code|quoted|word|test)*(?:exists|asked|be|use|have|prep)*$|have(?:occur|of|thing|han|code|codeword)+ma"),
    Rule("asks-which-exist", W, K.SEARCH, 0.85, ".*(?:thing|test)exists(?:asked|ma)*$"),
    Rule("asks-what-exists", W, K.SEARCH, 0.8, "(?!.*(?:fail|diff|why|how)).*exists.*(?:use|occur|code|thing|codeword|quoted|word|han)"),
    Rule("names-what-uses", W, K.SEARCH, 0.8, "(?:det|thing|codeword|occur|test)+(?:it|det)+(?:use|occur|find|word).*(?:code|word|quoted|thing)$|(?:det)?occur"),
    # -- questions -------------------------------------------------------------------------------
    Rule("asks-to-be-told", W, K.EXPLAIN, 0.9, f"{_P}(?:ask|explain|digest)|{_P}(?:show|change|want|desire|det)*gist"),
    Rule("asks-why", Q, K.EXPLAIN, 0.9, f"(?!{_P}(?:find|change|edit)).*why"),
    Rule("asks-how", Q, K.EXPLAIN, 0.9, f"(?!{_P}(?:find|review|debug)).*(?:how|nature|what|which|who|count)"),
    Rule("asks-whether-to", Q, K.EXPLAIN, 0.9, "(?:and|or|please|it|when)*(?:should|whether|be|do|(?:have|cannot|can)(?=.*asked))(?!please)|.*(?:whether|maywe(?:change|make|become|off|edit)(?:asked|ma)*$)"),
    Rule("asks-with-should", Q, K.EXPLAIN, 0.85, ".*should(?=.*(?:asked|ma))|(?:.*(?:han|thing|it|please))?should"),
    Rule("asks-with-a-particle", Q, K.EXPLAIN, 0.85, "(?!.*(?:canyou|maywe|okq)).*ma"),
    Rule("asks-after-a-wish", Q, K.EXPLAIN, 0.75, f"(?!.*(?:canyou|maywe|okq))(?!{_P}(?:find|review|debug))(?!.*please(?:change|edit|run|test|find|look|review)).*asked"),
    # -- wishes that their first word tells ------------------------------------------------------
    Rule("gives-a-command", W, K.RUN, 0.95, f"{_P}command(?!.*(?:diff|quality))"),
    Rule("reviews", W, K.REVIEW, 0.9, f"{_P}(?:ba)?(?:det|diff|it|codeword|my|of|code|test|han)*review(?!(?:thing)?(?:be|cannot|fail|thing))"),
    Rule("looks-at-changes", W, K.REVIEW, 0.85, f"{_P}(?:look|show|find|ask|debug)(?!.*(?:fail.*test)).*diff|{_P}(?:my|it|det|of|please)*diff.*look|{_P}my(?:thing|code|codeword|test|of)*(?:i|you|please)*look|(?:my|det)*diff$"),
    Rule("debugs", W, K.DIAGNOSE, 0.9, f"{_P}(?:ba|it)*debug"),
    Rule("has-a-run", W, K.RUN, 0.85, f"{_MAY}{_P}(?:make|look|want|desire|use)(?:i|it|det|my|whether|when|word|fail|program|to|of|diff)*(?:test|run)(?:run|test|once|please|passing|it|be|plural|can|thing(?=$)|asked)*$"),
    Rule("changes", W, K.CHANGE, 0.9, f"{_P}(?:it|det)?(?:(?:change|make)(?!(?:be|cannot)(?!of))|become|off)"),
    Rule("finds", W, K.SEARCH, 0.9, f"{_P}find(?!(?:of|thing)*(?:be|fail|cannot|have))"),
    Rule("runs", W, K.RUN, 0.9, f"{_P}(?:once)?run(?!.*(?:fail|cannot)(?!test|of|codeword|thing|han|task))"),
    Rule("checks-that-it-passes", W, K.RUN, 0.8, f"{_P}look(?!.*fail).*(?:test.*(?:passing|canyou|maywe)|passing)"),
    Rule("runs-by-name", W, K.RUN, 0.85, f"{_P}(?:ba)?(?:det|my|it|code|thing|of|prep|han|codeword|fail|please)*test(?!thing)[^fail cannot be change become off edit should have desire weak asked ma passing plural past]*$"),
    Rule("runs-what-comes-first", W, K.RUN, 0.85, f"{_P}(?:ba)?(?:det|my|it|code|thing|of|prep|han|codeword|fail|test|look|quoted)+(?:please)*run(?:once|i|please|it)*$"),
    Rule("uses-a-program", W, K.RUN, 0.8, f"{_P}(?:prep)?program(?:look|test|run|once|code|of)*$"),
    # -- changes ---------------------------------------------------------------------------------
    Rule("changes-once", W, K.CHANGE, 0.85, ".*(?:edit|change|become|off)once"),
    Rule("changes-what-comes-first", W, K.CHANGE, 0.85, f"{_P}{_TOPIC}ba(?:[^run test]|test(?!once)|run)*(?:change|make|become|off|edit)"),
    Rule("gives", W, K.CHANGE, 0.75, f"{_P}ba(?!.*(?:fail|run|test once|push|commit|look))"),
    Rule("asks-later", W, K.CHANGE, 0.8, ".*(?:please|canyou|maywe|helpme)(?:change|make|become|off|edit)"),
    Rule("uses", W, K.CHANGE, 0.75, f"{_P}use(?:det|code|word|quoted|thing|my)"),
    Rule("desires", W, K.CHANGE, 0.8, f"{_P}(?:desire|want)|(?!.*(?:fail|cannot).*desire).*desire"),
    Rule("edits", W, K.CHANGE, 0.85, f"{_P}edit(?!(?:thing|word|test|code)*(?:be|have)|.*(?:fail(?!of|thing|test)|cannot(?!.*of)))"),
    # -- what is told ----------------------------------------------------------------------------
    Rule("pastes-a-failure", T, K.DIAGNOSE, 0.9, ".*pasted"),
    Rule("tells-of-a-failure", T, K.DIAGNOSE, 0.9, ".*(?:fail|http)"),
    Rule("tells-what-does-not", T, K.DIAGNOSE, 0.8, ".*(?:cannot|weak)"),
    Rule("changes-behind", W, K.CHANGE, 0.75, "(?:det|my|it|code|thing|of|prep|han|codeword|test|quoted|num|task|diff|please)+change|(?:det|my|it|code|thing|of|prep|han|codeword|test|quoted|num|task|diff|please|word|weak|edit|find|can|fail)+(?:become|off)"),
    Rule("changes-on-condition", W, K.CHANGE, 0.76, "when(?!.*(?:ma|what|how)).*(?:it|thing|code|han|num|quoted|fail|be|status|word|please|test|passing)(?:please)*(?:change|make|become|off|edit)"),
    Rule("edits-behind", W, K.CHANGE, 0.7, "(?:det|my|it|code|thing|of|prep|han|codeword|test|quoted|num)+edit(?:please|once|ok)*$"),
    Rule("names-a-wish", W, K.CHANGE, 0.7, "(?:det|thing|word)+(?:prep|code|thing|det|word|num)*please$"),
    Rule("looks", W, K.REVIEW, 0.6, f"{_P}look.*(?:code|codeword|it)"),
    Rule("shows", W, K.SEARCH, 0.65, f"{_P}show"),
    Rule("unlisted-verb", W, K.CHANGE, 0.7, f"{_P}(?:word|verb)(?:det|my|code|it|quoted|num)(?!.*(?:be|have|do))"),
    Rule("unlisted-verb-by-form", W, K.CHANGE, 0.65, f"{_P}verb(?:thing|word|plural)"),
    Rule("tells", T, K.DIAGNOSE, 0.6, "(?:det|my|it|i|code|thing|test|han|codeword|word|plural)+.*be|(?:det|my|it|thing|program|i)(?:det|thing|word|code|test|program|past)*(?:plural|past)|(?:det|my|it|of|han)*(?:thing|codeword)(?!.*please).*(?:han|have|be|run)"),
    Rule("mentions-changes", W, K.REVIEW, 0.6, "(?!.*(?:be|fail|cannot)).*diff"),
    Rule("mentions-a-change", W, K.CHANGE, 0.6, "(?!.*(?:be|plural)).*(?:become|off|desire)|(?:han|thing|code|test|of|prep|det|it)+(?:change|edit)"),
    Rule("mentions-a-run", W, K.RUN, 0.6, "(?!(?:.*(?:be|word))).*(?:run|test(?:once|please)*$)"),
    Rule("mentions-a-search", W, K.SEARCH, 0.6, ".*(?:occur|find)"),
    Rule("mentions-a-task", Q, K.STATUS, 0.6, "(?!.*(?:thing|codeword|code)).*(?:task|status|standing)"),
    Rule("mentions-the-bot", G, K.HELP, 0.6, "(?!.*(?:thing|codeword|code|test)).*(?:bot|thou)"),
    Rule("looks-around", W, K.EXPLAIN, 0.55, f"{_P}look"),
)
_LETTERS: Final = {f"r{place}": rule for place, rule in enumerate(RULES)}
_TABLE: Final = re.compile(
    "|".join(f"(?P<{name}>{pattern(rule.words)})" for name, rule in _LETTERS.items())
)
_ASKED: Final = LETTER["asked"]
_POLITE: Final = re.compile(pattern(_P))
_PLEADS: Final = re.compile(pattern("[canyou maywe helpme okq please]"))
_VERBS: Final = frozenset(
    LETTER[name]
    for name in (
        "change", "become", "off", "make", "edit", "verb", "run", "find", "explain", "digest",
        "review", "debug", "push", "sync", "commit", "pull", "test", "look", "show", "ask", "status",
    )
)  # fmt: skip
_GIT: Final = frozenset(LETTER[name] for name in ("push", "pushing", "sync", "commit"))
_SENDS: Final = frozenset(LETTER[name] for name in ("push", "pushing", "sync", "remote"))
_UP: Final = "上去"
_WEAK_YES: Final = ("says-yes", "agrees")
ACTS: Final = frozenset({TaskKind.CHANGE, TaskKind.RUN, TaskKind.GIT_SYNC})
SURE: Final = 0.76  # a wish of less comes behind a question and a report

Found = Sequence[tuple[Clause, Rule]]


def guess_kind(text: str) -> Guess:
    """Guess the kind of a free text, safe by default: the unclear is a question."""
    folded = blot(fold(text))
    clauses = split_clauses(tag_words(text, folded))
    found = list(_apart(clauses))
    decided = _decided(found)
    if decided is None:
        return Guess(TaskKind.EXPLAIN, NOTHING, "nothing", rest=text)
    return _guess(*decided, text, found)


def fitting(clause: Clause) -> Rule | None:
    """Return the first rule of the table that fits a clause."""
    match = _TABLE.match(clause.tags + _ASKED if clause.asked else clause.tags)
    return _LETTERS[match.lastgroup] if match and match.lastgroup else None


def skip_polite(text: str) -> str:
    """Return the text from its first word that says something."""
    for clause in split_clauses(tag_words(text, fold(text))):
        polite = _POLITE.match(clause.tags)
        if polite is None or polite.end() < len(clause.tokens):
            return text[clause.tokens[polite.end() if polite else 0].start :]
    return ""


def is_no_wish(text: str) -> bool:
    """Tell whether the text asks something, forbids it or tells of a failure, rather than wish."""
    clauses = split_clauses(tag_words(text, blot(fold(text))))
    rule = fitting(clauses[0]) if clauses else None
    if rule is None:
        return False
    fails = rule.kind is TaskKind.DIAGNOSE and clauses[0].tags[:1] in _FAILED
    return rule.form in (Form.ASKS, Form.FORBIDS) or rule.name == "asks-what-is-wrong" or fails


def wants_tests(text: str) -> bool:
    """Tell whether a wish to run something is about the tests, whose command we know."""
    return _TESTS.search(text) is not None


def starts_command(lead: str | None) -> bool:
    """Tell whether the leading word is followed by a command ("run X"), not a thing ("build X")."""
    return lead is not None and _RUNS.fullmatch(lead.casefold()) is not None


def _apart(clauses: Sequence[Clause]) -> Iterator[tuple[Clause, Rule]]:
    """Return the clauses with their rules, but those that only go on with a question or a report."""
    before: Rule | None = None
    for clause in clauses:
        goes_on = clause.joined and (before is None or before.form is not Form.WISHES)
        if (goes_on and not _PLEADS.match(clause.tags)) or (clause.aside and len(clauses) > 1):
            continue
        before = fitting(clause)
        if before is not None:
            yield clause, before


def _decided(found: Found) -> tuple[Clause, Rule] | None:
    for clause, rule in found:
        if rule.form is Form.APPROVES and not (rule.name in _WEAK_YES and _goes_on(found, rule)):
            return clause, rule
    kept = [pair for place, pair in enumerate(found) if not _taken_back(found, place)]
    kept = _held(kept)
    for form, least in _ORDER:
        for clause, rule in kept:
            if rule.form is form and rule.confidence >= least:
                return clause, rule
    return kept[0] if kept else None


_ORDER: Final = (
    (Form.WISHES, SURE), (Form.ASKS, 0.0), (Form.TELLS, 0.0), (Form.WISHES, 0.0),
    (Form.FORBIDS, 0.0), (Form.GREETS, 0.0),
)  # fmt: skip


def _held(found: Found) -> list[tuple[Clause, Rule]]:
    """Return the clauses without those that a question goes on with: "how do I fix, test, push?"."""
    kept: list[tuple[Clause, Rule]] = []
    held = False
    for clause, rule in found:
        held = held and not clause.fresh
        if held and clause.asked:
            continue
        held = rule.form is Form.ASKS
        kept.append((clause, rule))
    return kept


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
    """Tell whether more is said than yes: "ok, run it" and "yes, add logging" approve nothing."""
    return any(
        rule.form is not Form.APPROVES
        and (said.name == "agrees" or (rule.kind is TaskKind.CHANGE and len(clause.tags) > 2))
        for clause, rule in found
    )


def _guess(clause: Clause, rule: Rule, text: str, found: Found) -> Guess:
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
    )


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
_RUNS: Final = re.compile(r"re-?run|run|execute|launch|(?:运行|执行|跑|重跑|重新跑|试跑)[一下遍次个趟轮波]*")
