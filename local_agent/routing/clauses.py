"""Tagged words as clauses: what is said, what is asked, what only tells when.  Pure."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import Final, NamedTuple

from local_agent.routing.tagging import Token
from local_agent.routing.tags import LETTER, letters, pattern

MAX_WORDS: Final = 40  # of one clause: its rules look no further
_STOP, _ASK = LETTER["stop"], LETTER["mark"]
_AND, _WITHOUT = LETTER["and"], LETTER["without"]
_COMMA_OR_BUT: Final = LETTER["comma"] + LETTER["but"]
_ENDS: Final = frozenset((_STOP, _ASK))
_ACTS: Final = re.compile(
    pattern(
        "(?:please|canyou|you|i)*(?:change|edit|run|find|explain|review|debug|push|commit|test|ba)"
    )
)
_GIT: Final = letters("push pushing commit")
_COMMITS: Final = re.compile(pattern("(?:commit)[^run test find]*"))
_UNANSWERED: Final = frozenset(("没", "没有", "不"))
_NEG: Final = LETTER["neg"]
_VERB_FIRST: Final = re.compile(
    pattern(
        "(?:please|ok|thou|canyou|helpme|you)*(?:change|make|edit|off|verb|run|push|commit|test)"
    )
)
_DEMANDS: Final = frozenset(("要", "得", "应该", "必须", "需要"))
_DEMAND: Final = re.compile(
    pattern(
        "[thing fail han code word edit quoted it become shows]please"
        "(?!run|test|push|commit|sync|pull|find|review|explain|debug|look|mark|$)"
    )
)
_PLEASE: Final = letters("please mayiask")
_DESIRE: Final = LETTER["desire"]
_FILLER: Final = LETTER["please"] + LETTER["ok"]
_SHOULD: Final = LETTER["should"]
_OUGHT: Final = frozenset(("should", "must", "shall", "ought", "shoud", "shuold"))
_ASKING: Final = letters("how what why who where which whether do be asksbot when should")
_RELATIVE: Final = LETTER["rel"]  # "fix what broke" asks nothing
_INTERROGATIVE: Final = letters("how what who which where exists count or")
_BEFORE_NEG: Final = letters("please canyou maywe helpme i you thou can ok")
_PLEAS: Final = letters("canyou maywe helpme")
_CUTS: Final = _PLEAS | {*_COMMA_OR_BUT, _AND}
_BEFORE_PLEAS: Final = letters(
    "please canyou maywe helpme i you thou can ok want neg ba how what why who where which "
    "whether should or"
)
_AFTERWARDS: Final = frozenset(
    ("之后", "以后", "之前", "以前", "的时候", "时候", "后", "时", "的话", "前", "期间")
)


class Clause(NamedTuple):
    """What stands between two marks.

    Attributes:
        tags: The class of each word, one character each.
        tokens: The words themselves.
        asked: Its sentence ends with a question mark.
        joined: It goes on with the clause before it: "… and push".
        fresh: It opens a sentence.
        aside: It only tells when or whether: "if they pass, …".
    """

    tags: str
    tokens: Sequence[Token]
    asked: bool = False
    joined: bool = False
    fresh: bool = False
    aside: bool = False


def split_clauses(tokens: Sequence[Token]) -> list[Clause]:
    """Return the clauses of a text in order."""
    return [clause for sentence, asked in _sentences(tokens) for clause in _split(sentence, asked)]


def behind(clause: Clause, classes: str) -> Clause | None:
    """Return a clause without the words of some classes that open it; None where it opens bare."""
    tokens = clause.tokens[len(clause.tags) - len(clause.tags.lstrip(classes)) :]
    if not tokens or len(tokens) == len(clause.tokens):
        return None
    tags = "".join([token.tag for token in tokens])
    return _clause(tokens, tags, clause.asked, clause.joined, clause.fresh, clause.aside)


def _sentences(tokens: Sequence[Token]) -> Iterator[tuple[Sequence[Token], bool]]:
    begun = 0
    for place, token in enumerate(tokens):
        if token.tag in _ENDS:
            if place > begun:
                yield tokens[begun:place], token.tag == _ASK
            begun = place + 1
    if begun < len(tokens):
        yield tokens[begun:], False


def _split(sentence: Sequence[Token], asked: bool) -> Iterator[Clause]:
    tags = "".join([token.tag for token in sentence])
    begun, joined, fresh = 0, False, True
    for place, token in enumerate(sentence):
        if token.tag not in _CUTS and token.word not in _AFTERWARDS:
            continue
        kept = _begins_plea(tags, begun, place)
        aside = token.word in _AFTERWARDS and begun < place < len(tags) - 1
        if not (kept or aside or _ends(tags, begun, place)):
            continue
        if place > begun:
            span = slice(begun, place)
            yield _clause(sentence[span], tags[span], asked, joined, fresh, aside)
            fresh = False
        begun, joined = place + (not kept), token.tag == _AND
    if begun < len(tags):
        yield _clause(sentence[begun:], tags[begun:], asked, joined, fresh, False)


def _begins_plea(tags: str, begun: int, place: int) -> bool:
    """Tell whether somebody is asked for something behind other words: "the retry, can you …"."""
    return tags[place] in _PLEAS and place > begun and tags[place - 1] not in _BEFORE_PLEAS


def _ends(tags: str, begun: int, place: int) -> bool:
    if tags[place] != _AND:
        return tags[place] in _COMMA_OR_BUT
    if place == begun or not _ACTS.match(tags, place + 1):
        return False
    commits = tags[place + 1] in _GIT and _COMMITS.search(tags, begun, place)
    return not commits  # "commit … and push" is one wish


def _clause(
    tokens: Sequence[Token], tags: str, asked: bool, joined: bool, fresh: bool, aside: bool
) -> Clause:
    tags = _settled(tags, tokens)
    if len(tags) > 1 and tokens[-1].word in _UNANSWERED:
        tags = tags[:-1] + LETTER["ma"]  # "好了没" asks, "没好" tells
    return Clause(tags[:MAX_WORDS], tokens, asked, joined, fresh, aside)


def _demanded(tags: str, tokens: Sequence[Token]) -> str:
    """Return the classes with a demand where a subject stands before it: "密码要十二位"."""
    if _PLEASE.isdisjoint(tags):
        return tags
    for match in _DEMAND.finditer(tags):
        place = match.end() - 1
        if tokens[place].word in _DEMANDS:
            return tags[:place] + _DESIRE + tags[place + 1 :]
    return tags


def _settled(tags: str, tokens: Sequence[Token]) -> str:
    """Return the classes where the place decides: "don't save" forbids, "users don't save" tells.

    What stands behind "without" is not wished.
    """
    place = tags.find(_SHOULD, 1)
    if place > 0 and tokens[place].word in _OUGHT and tags.lstrip(_FILLER)[0] not in _ASKING:
        tags = tags[:place] + LETTER["desire"] + tags[place + 1 :]  # "the link should be blue"
    tags = _demanded(tags, tokens)
    place = tags.find(_NEG, 1)
    behind = place == len(tags) - 1 or (place > 0 and tokens[place].word.isascii())
    if place > 0 and behind and tags[place - 1] not in _BEFORE_NEG:
        tags = tags[:place] + LETTER["cannot"] + tags[place + 1 :]
    if not _INTERROGATIVE.isdisjoint(tags) and _VERB_FIRST.match(tags):
        tags = "".join(
            _RELATIVE if tag in _INTERROGATIVE and token.word.isascii() else tag
            for tag, token in zip(tags, tokens, strict=True)
        )
    place = tags.find(_WITHOUT, 1)
    return tags[:place] if place > 0 and LETTER["approve"] not in tags[place:] else tags
