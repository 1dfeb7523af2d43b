"""Finding what a request names: several words, whole words, in one part of the workspace.

    phrase ─found▶ its lines          the words of the request as they stand
       └── none ─▶ lines that hold all of its words ─none▶ files that hold all of them

Where a line looks like the definition of what is searched for, it comes before those that use it.
The looking itself, its bounds and its path guard are those of `local_agent.workspace.files`.
"""

from __future__ import annotations

import asyncio
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from fnmatch import translate
from functools import lru_cache
from typing import Final, Literal

from common.clock import Clock
from common.text import ELLIPSIS
from local_agent.workspace import files
from local_agent.workspace.definitions import defines, last_part
from local_agent.workspace.files import Match, SearchLimits, SearchResult
from local_agent.workspace.registry import Workspace

MAX_WORDS: Final = 5
MAX_HITS: Final = 500  # that are listed
MAX_LOOKED_AT: Final = 5000  # of each word, of which those are chosen that hold the others, too
MAX_SCOPES: Final = 5
MAX_SCOPE_CHARS: Final = 200
_NAME: Final = re.compile(r"[A-Za-z_$][\w$]*(?:(?:\.|::|->)[A-Za-z_$][\w$]*){0,5}", re.ASCII)

Found = Literal["phrase", "words", "files"]


@dataclass(frozen=True, slots=True)
class Scope:
    """A part of the workspace: a folder, a file, or a pattern such as ``*.py``.

    Attributes:
        name: As it was written.
        sure: It can be nothing else; otherwise it counts only where there is such a folder.
        outside: All but this part is meant.
    """

    name: str
    sure: bool = True
    outside: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Query:
    """What is looked for.

    Attributes:
        phrase: The literal text; with a capital letter in it case matters, otherwise not.
        words: Its words, where they may stand apart.
        whole: Only whole words count, unless there is none.
        scopes: Where.
        paths_only: Only which files is asked.
    """

    phrase: str
    words: tuple[str, ...] = ()
    whole: bool = False
    scopes: tuple[Scope, ...] = ()
    paths_only: bool = False


@dataclass(frozen=True, slots=True)
class Hit:
    """One line; ``defines`` tells that it looks like the definition of what was searched for."""

    path: str
    line: int
    preview: str
    defines: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Sighting:
    """What was found.

    Attributes:
        hits: Definitions first, then by path and line.
        found: Whether as it stands, or its words in one line or in one file.
        scopes: The parts of the workspace that were looked into; empty for all of it.
        nowhere: A part that there is not.
        truncated: A limit was reached: there may be more.
        large: Files of the workspace that are too large to be looked into.
    """

    hits: tuple[Hit, ...] = ()
    found: Found = "phrase"
    scopes: tuple[str, ...] = ()
    nowhere: str = ""
    truncated: bool = False
    large: int = 0


async def search_for(workspace: Workspace, query: Query, *, clock: Clock | None = None) -> Sighting:
    """Return where a workspace holds what is looked for.

    Raises:
        InputError: ``search.query``; ``path.missing``.
    """
    listing = await files.list_files(workspace.path, clock=clock, deny=workspace.deny)
    scopes, named = await asyncio.to_thread(_among, query.scopes, listing.files)
    if nowhere := next((one.name for one in query.scopes if one.sure and one not in scopes), ""):
        return Sighting(nowhere=nowhere)
    among = replace(listing, files=named)
    results = await files.search_all(
        workspace.path,
        _terms(query),
        among=among,
        limits=SearchLimits(
            matches=MAX_LOOKED_AT if query.whole or len(_terms(query)) > 1 else MAX_HITS
        ),
        deny=workspace.deny,
        encoding=workspace.encoding,
        clock=clock,
    )
    of_terms = dict(zip(_terms(query), results, strict=True))
    made = await asyncio.to_thread(chosen, query, of_terms)
    names = tuple(f"-{one.name}" if one.outside else one.name for one in scopes)
    truncated, large = made.truncated or among.truncated, listing.skipped.get("too-large", 0)
    return replace(made, scopes=names, truncated=truncated, large=large)


def within(known: Sequence[str], scopes: Sequence[Scope]) -> Iterable[str]:
    """Return the files that are inside of the scopes that ask for it, and outside of the others."""
    inside = [one for one in scopes if not one.outside]
    outside = [one for one in scopes if one.outside]
    return (
        path
        for path in known
        if (not inside or any(_holds(one.name, path) for one in inside))
        and not any(_holds(one.name, path) for one in outside)
    )


def chosen(query: Query, found: Mapping[str, SearchResult]) -> Sighting:
    """Return what of the lines that hold a term is what was looked for.  Pure.

    Args:
        query: What is looked for.
        found: Of each term, its lines.
    """
    phrase = found[query.phrase]
    if phrase.items:
        lines = _whole(phrase.items, query)
        return _sighting(
            query, [*_defining(query, found), *lines], "phrase", truncated=phrase.truncated
        )
    if not query.words:
        return _sighting(query, _defining(query, found), "phrase", truncated=phrase.truncated)
    of_words = [found[word] for word in query.words]
    cut = any(result.truncated for result in of_words)
    if lines := _together(of_words):
        return _sighting(query, lines, "words", truncated=cut)
    return _sighting(query, _in_one_file(of_words), "files", truncated=cut)


def _among(scopes: Sequence[Scope], known: Sequence[str]) -> tuple[list[Scope], tuple[str, ...]]:
    """Return the scopes that there are, and the files that are meant by them."""
    there = [one for one in scopes[:MAX_SCOPES] if any(_holds(one.name, path) for path in known)]
    return there, tuple(within(known, there))


def _terms(query: Query) -> tuple[str, ...]:
    terms = [query.phrase, *query.words[:MAX_WORDS]]
    if _NAME.fullmatch(query.phrase):
        terms.append(last_part(query.phrase))
    return tuple(dict.fromkeys(terms))


def _sighting(query: Query, lines: Iterable[Match], found: Found, *, truncated: bool) -> Sighting:
    name = last_part(query.phrase) if _NAME.fullmatch(query.phrase) else ""
    unique = {(one.path, one.line): one for one in lines}
    hits = [
        Hit(one.path, one.line, one.preview, bool(name) and defines(one.preview, name))
        for one in sorted(unique.values(), key=lambda one: (one.path, one.line))
    ]
    hits.sort(key=lambda hit: not hit.defines)
    more = len(hits) > MAX_HITS
    return Sighting(hits=tuple(hits[:MAX_HITS]), found=found, truncated=truncated or more)


def _whole(lines: Sequence[Match], query: Query) -> Sequence[Match]:
    if not query.whole:
        return lines
    word = re.compile(rf"(?<![\w$]){re.escape(query.phrase)}(?![\w$])", _case(query.phrase))
    # What stands behind the end of a preview cannot be told, and is not left out.
    kept = [
        one for one in lines if word.search(one.preview) or _is_beyond(one.preview, query.phrase)
    ]
    return kept or lines


def _is_beyond(preview: str, phrase: str) -> bool:
    return preview.endswith(ELLIPSIS) and phrase.casefold() not in preview.casefold()


def _case(phrase: str) -> re.RegexFlag:
    capital = any("A" <= char <= "Z" for char in phrase)
    return re.RegexFlag(0) if capital else re.IGNORECASE


def _defining(query: Query, found: Mapping[str, SearchResult]) -> list[Match]:
    """Return where the last part of a qualified name is defined: ``login`` of ``Session.login``."""
    last = last_part(query.phrase)
    if last == query.phrase or last not in found or not _NAME.fullmatch(query.phrase):
        return []
    return [one for one in found[last].items if defines(one.preview, last)]


def _together(results: Sequence[SearchResult]) -> list[Match]:
    places = [{(one.path, one.line) for one in result.items} for result in results]
    both = set.intersection(*places)
    return [one for one in results[0].items if (one.path, one.line) in both]


def _in_one_file(results: Sequence[SearchResult]) -> list[Match]:
    holding = [{one.path for one in result.items} for result in results]
    every = set.intersection(*holding)
    return [one for result in results for one in result.items if one.path in every]


def _holds(scope: str, path: str) -> bool:
    name = scope.removeprefix("./").rstrip("/")
    if "*" in name or "?" in name:
        return _pattern(name).match(path if "/" in name else path.rpartition("/")[2]) is not None
    slashed = f"/{path}"
    return path.startswith(f"{name}/") or slashed.endswith(f"/{name}") or f"/{name}/" in slashed


@lru_cache(maxsize=16)
def _pattern(name: str) -> re.Pattern[str]:
    return re.compile(translate(name[:MAX_SCOPE_CHARS].replace("**/", "*").replace("**", "*")))
