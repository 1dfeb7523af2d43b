"""Mistyped English words: one letter too many, too few, another, or two in the wrong order.

Only the words that decide are looked for, and nothing that is a word itself is taken for one.
Pure, and bounded: a word costs a few look-ups for each of its letters.
"""

from __future__ import annotations

from functools import lru_cache
from typing import Final

from local_agent.routing.tags import EN

_MEANT_LISTED: Final = """
    fix add run find push test tests testing build lint help status explain describe review change
    changes rename remove delete update create refactor implement replace improve upgrade migrate
    commit please locate search execute install compile restart start diagnose debug investigate
    where which what why how error errors failed failing fails broken crash crashes extract
    convert could should would pull login function optimize rewrite write deploy progress approve
    approved branch project database endpoint button missing defined summarize troubleshoot
    simplify configure validate disable enable
"""
_MEANT: Final = frozenset(_MEANT_LISTED.split())
_KNOWN: Final = _MEANT & EN.keys()
_WORDS_LISTED: Final = """
    preview previews charge charges chance chances crate crates cerate best rest text list fast
    last past cast west nest vest toast test's lest mint hint line link lift print hide ran rum
    fun pun gun sun bun rung find's fond fund bind kind mind wind finds pish posh puss bush rush
    lush mush hush there were here wear when then hat that than chat wheat who hot shot show now
    know cow bow row low try dry wry whip witch watch reach each pleased pleases lease release
    releases states statue stats explains descried reviews reviewer reviewed rested tested texting
    resting listing building built guild buildings builder fixed fixes fixer mix six nix fax fox
    fixe adds added ad and aid odd commits committed comment comet tests's store stare stark stat
    stars smart start's logic plugin begin legion remote removed removes removal renamed related
    deleted updated updates created creates improved terror errors's mirror fairs tails files
    fills fields falls rails mails sails fable able table cable stable unable cold would-be mould
    shoulder full pulls pill poll bull dull gull hull lull null pell wright white whites writer
    written quite while hell held hello hero heap kelp yelp whelp replica defines refined refine
    rename's bench brunch break proved approves button's bottom mission missed fission missive
    searched research starch reserch locates allocate vacate tasks branches brand progresses
    projects subject reject object functions junction databases endpoints crush clash cash trash
    crass brash crashed rash wash failing's fading filing falling sailing broke broker token
    spoken woken extracts contact contract abstract exact converts convent covert diagnosed bug
    bugs rebug debt
"""
_WORDS: Final = frozenset(_WORDS_LISTED.split())


def _shorter(word: str) -> list[str]:
    return [word[:place] + word[place + 1 :] for place in range(len(word))]


def _swapped(word: str) -> list[str]:
    return [
        word[:place] + word[place + 1] + word[place] + word[place + 2 :]
        for place in range(len(word) - 1)
    ]


_MINUS_ONE: Final = {
    (shorter, place): word
    for word in sorted(_KNOWN)
    if len(word) >= 5
    for place, shorter in enumerate(_shorter(word))
}
_TOO_SHORT: Final = {shorter: word for (shorter, _), word in _MINUS_ONE.items()}


@lru_cache(maxsize=4096)
def meant(word: str) -> str | None:
    """Return the deciding word that was meant by an unknown one; None where it is another word."""
    if not 3 <= len(word) <= 16 or word in _WORDS:
        return None
    for swapped in _swapped(word):
        if swapped in _KNOWN:
            return swapped
    if len(word) < 4:
        return None
    if word in _TOO_SHORT:
        return _TOO_SHORT[word]
    for place, shorter in enumerate(_shorter(word)):
        if shorter in _KNOWN and len(shorter) >= 4:
            return shorter
        if len(word) >= 6 and (found := _MINUS_ONE.get((shorter, place))):
            return found
    return None
