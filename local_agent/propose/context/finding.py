"""Which files could help with a request, and which of their lines, in the order of their worth.

Pure: names, lines of search results and remarks of tools in, candidates out.  Nothing is read here.
"""

from __future__ import annotations

import posixpath
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from local_agent.propose.context.collected import Around
from local_agent.propose.context.diagnostics import Diagnostic
from local_agent.propose.context.naming import Named, find_named, find_spoken
from local_agent.workspace.definitions import defines, last_part
from local_agent.workspace.files import Match

MAX_CANDIDATES: Final = 100  # files that are looked at
MAX_TESTS: Final = 5
MAX_LOOKED_UP: Final = 20  # names in remarks of tools that are no paths from the top
_TEST_NAME: Final = re.compile(r"(?i:(?:^|[._-])(?:tests?|specs?)(?:[._-]|$))|Tests?\.")
_TEST_FOLDERS: Final = frozenset({"test", "tests", "__tests__", "spec", "specs"})


@dataclass(frozen=True, slots=True)
class Wanted:
    """One file that could help.

    Attributes:
        why: Such as ``named``, ``active``, ``defines:parse_config`` or ``diagnostic``.
        lines: Numbers of the lines that matter, the most important first.
        selection: Only this range of lines is meant; it becomes a piece of its own.
    """

    path: str
    why: str
    lines: tuple[int, ...] = ()
    selection: tuple[int, int] | None = None


def wanted(
    *,
    files: Iterable[Named],
    names: Sequence[str],
    around: Around,
    hits: Mapping[str, Sequence[Match]],
    changed: Sequence[str],
    diagnostics: Sequence[Diagnostic],
    known: Sequence[str],
    text: str = "",
) -> list[Wanted]:
    """Return what could help, the most useful first; each file once, but for a selection of it.

    Args:
        files: What the paths and bare names from the request stand for, in their order.
        names: Identifiers from the request; one with a slash may be a folder.
        around: What the person has in front of them.
        hits: What was found of each identifier.
        changed: Files with local changes, where the request is about them.
        diagnostics: What tools say about the workspace.
        known: All files that may be read, sorted.
        text: The request; its plain words count where it says nothing more exact.
    """
    listed = frozenset(known)
    named = [*_named(files), *_folders(names, known)]
    active = [*_active(around)]
    holding = [*_holding(hits)]
    told = [*_diagnosed(diagnostics, known, listed)]
    is_exact = any((named, active, holding, changed, told))
    spoken = [] if is_exact else [*_spoken(text, known)]
    sure = [*named, *active, *holding, *spoken]
    tests = [
        Wanted(path, "test-of") for path in tests_of([one.path for one in sure], known)[:MAX_TESTS]
    ]
    local = [Wanted(path, "changed") for path in changed if path in listed]
    return _merged([*sure, *tests, *local, *told])[:MAX_CANDIDATES]


def search_terms(names: Sequence[str], limit: int) -> tuple[str, ...]:
    """Return the texts to search for: each name, and the last part of a qualified one."""
    terms: dict[str, None] = {}
    for name in names:
        if "/" not in name:
            terms[name] = None
            if len(last := last_part(name)) > 3:
                terms[last] = None
    return tuple(terms)[:limit]


def is_test(path: str) -> bool:
    """Tell whether a path looks like a test by the customs of most languages."""
    *folders, name = path.split("/")
    return not _TEST_FOLDERS.isdisjoint(folders) or _TEST_NAME.search(name) is not None


def tests_of(paths: Sequence[str], known: Iterable[str]) -> tuple[str, ...]:
    """Return the tests that share a name with one of these files."""
    stems = {_stem(path) for path in paths if not is_test(path)} - {"", "__init__", "index"}
    if not stems:
        return ()
    taken = frozenset(paths)
    # Before what costs more, for each file: what can follow a stem in a name of the same stem.
    near = re.compile(rf"(?:{'|'.join(map(re.escape, stems))})(?i:[._-]|tests?|spec|$)")
    return tuple(
        path
        for path in known
        if near.search(path) and _stem(path) in stems and is_test(path) and path not in taken
    )[:MAX_CANDIDATES]


def _named(files: Iterable[Named]) -> Iterator[Wanted]:
    found = tuple(files)
    for one in found:
        yield from (Wanted(path, "named") for path in one.files)
    for one in found:
        yield from (Wanted(path, "in-folder") for path in one.inside)


def _folders(names: Sequence[str], known: Sequence[str]) -> Iterator[Wanted]:
    for name in names:
        if "/" in name:
            found = find_named(name, known)
            yield from (Wanted(path, "named") for path in found.files)
            yield from (Wanted(path, "in-folder") for path in found.inside)


def _spoken(text: str, known: Sequence[str]) -> Iterator[Wanted]:
    yield from (Wanted(path, "spoken") for path in find_spoken(text, known) if not is_test(path))


def _active(around: Around) -> Iterator[Wanted]:
    if around.active_file is None:
        return
    if around.selection is not None:
        first, last = around.selection
        yield Wanted(around.active_file, "selection", selection=(first, max(first, last)))
        yield Wanted(around.active_file, "active", lines=(first, last))
    else:
        yield Wanted(around.active_file, "active")


def _holding(hits: Mapping[str, Sequence[Match]]) -> Iterator[Wanted]:
    """Give the files that hold a name: where it is defined, then where it is used most."""
    defining: list[Wanted] = []
    using: list[tuple[int, Wanted]] = []
    for name, matches in hits.items():
        by_file: dict[str, list[Match]] = {}
        for match in matches:
            by_file.setdefault(match.path, []).append(match)
        for path, lines in by_file.items():
            places = [one.line for one in lines if defines(one.preview, name)]
            every = tuple(dict.fromkeys([*places, *(one.line for one in lines)]))
            if places:
                defining.append(Wanted(path, f"defines:{name}", every))
            else:
                using.append((-len(lines), Wanted(path, f"mentions:{name}", every)))
    yield from sorted(defining, key=lambda one: is_test(one.path))
    ordered = sorted(using, key=lambda pair: (is_test(pair[1].path), pair[0]))
    yield from (one for _, one in ordered)


def _diagnosed(
    diagnostics: Sequence[Diagnostic], known: Sequence[str], listed: frozenset[str]
) -> Iterator[Wanted]:
    left = MAX_LOOKED_UP
    for one in diagnostics:
        path = one.path if one.path in listed else ""
        if not path and left > 0:
            left -= 1
            path = _only(find_named(one.path, known).files)
        if path:
            yield Wanted(path, "diagnostic", (one.line,) if one.line else ())


def _only(found: Sequence[str]) -> str:
    # Tools that name no folder, such as Java's traces; two of one name could be either.
    return found[0] if len(found) == 1 else ""


def _merged(found: Iterable[Wanted]) -> list[Wanted]:
    """Return each file once, where it came first, with the lines of all its mentions."""
    merged: dict[tuple[str, bool], Wanted] = {}
    for one in found:
        key = (one.path, one.selection is not None)
        older = merged.get(key)
        if older is None:
            merged[key] = one
        elif one.lines:
            lines = tuple(dict.fromkeys((*older.lines, *one.lines)))
            merged[key] = Wanted(older.path, older.why, lines, older.selection)
    return list(merged.values())


def _stem(path: str) -> str:
    bare = posixpath.basename(path).split(".")[0]
    return re.sub(r"^(?:test|spec)[_-]?|[_-]?(?:tests?|spec)$", "", bare, flags=re.IGNORECASE)
