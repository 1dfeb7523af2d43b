"""Which files could help with a request, and which of their lines, in the order of their worth.

Pure: the words of the request, names, lines of search results and remarks of tools in, candidates
out.  Nothing is read here.
"""

from __future__ import annotations

import posixpath
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from common.model.intent import MAX_FILES
from local_agent.propose.context.collected import Around
from local_agent.propose.context.diagnostics import Diagnostic
from local_agent.workspace.definitions import defines, last_part
from local_agent.workspace.files import Match

MAX_IN_FOLDER = 50  # files of a named folder that are candidates
MAX_ALIKE: Final = 3  # files of one name: a word that more of them bear names none
_SPOKEN_IN: Final = 2000  # characters of a request
_WORD: Final = re.compile(r"[A-Za-z][A-Za-z0-9_-]{2,40}")
MAX_CANDIDATES: Final = 100  # files that are looked at
MAX_TESTS: Final = 5
MAX_LOOKED_UP: Final = 20  # names in remarks of tools that are no paths from the top
_TEST_NAME: Final = re.compile(r"(?i:(?:^|[._-])(?:tests?|specs?)(?:[._-]|$))|Tests?\.")
_TEST_FOLDERS: Final = frozenset({"test", "tests", "__tests__", "spec", "specs"})
_CHANGES: Final = re.compile(
    r"\b(?:my|our|these|those|the|local|recent|current|latest|uncommitted|unstaged|staged|pending|working)"
    r"\s+(?:\w+\s+){0,2}(?:changes?|edits?|diffs?|modifications?|work)\b"
    r"|\bwhat (?:have |did )?i (?:have )?(?:change|edit|touch|modif)"
    r"|\bgit diff\b|\bworking tree\b|\bnot (?:yet )?committed\b"
    r"|(?:我|本地|当前|这些|未提交|没提交|刚才|刚刚|最近)的?[^，。,.]{0,6}(?:改动|修改|变更|更改|改了)"
    r"|未提交|没有?提交|工作区|暂存",
    re.IGNORECASE,
)
_FAILURE: Final = re.compile(
    r"\b(?:errors?|fail(?:s|ed|ing|ures?)?|exceptions?|traceback|stack ?trace|crash(?:es|ed|ing)?"
    r"|warnings?|lint(?:er|ing)?|diagnostics?|broken|bugs?|type.?check|mypy|ruff|eslint|tsc)\b"
    r"|报错|错误|失败|异常|崩溃|告警|警告|堆栈|诊断|不通过|没通过|跑不通|挂了",
    re.IGNORECASE,
)
_LOOKED_AT: Final = 20_000  # characters


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


@dataclass(frozen=True, slots=True)
class Named:
    """What was found of one name.

    Attributes:
        files: Exact path first, then files that end so.
        inside: Files of a folder of that name, the upper ones first.
    """

    files: tuple[str, ...] = ()
    inside: tuple[str, ...] = ()


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
    sure = [*named, *active, *holding]
    if not is_exact:
        words = find_spoken(text, known)
        sure += [Wanted(path, "spoken") for path in words if not is_test(path)]
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


def find_named(name: str, known: Sequence[str]) -> Named:
    """Return the files that a name may mean.

    Args:
        name: Relative path or bare name, of a file or a folder.
        known: All files that may be read, sorted.
    """
    plain = name.strip().removeprefix("./").rstrip("/")
    if not plain:
        return Named()
    tail = f"/{plain}"
    # The one condition first that nearly none meets.
    alike = [path for path in known if path.endswith(plain)]
    ends = [path for path in alike if path == plain or path.endswith(tail)]
    if ends:
        return Named(files=tuple(sorted(ends, key=lambda path: (path != plain, path))[:MAX_FILES]))
    inside = [path for path in known if path.startswith(f"{plain}/")]
    if not inside and "/" not in plain:
        inside = [path for path in known if f"/{plain}/" in path]
    upper = sorted(inside, key=lambda path: (path.count("/"), path))
    return Named(inside=tuple(upper[:MAX_IN_FOLDER]))


def find_spoken(text: str, known: Sequence[str]) -> tuple[str, ...]:
    """Return the files that a plain word of a request is the name of, such as "login" or "readme".

    Args:
        text: The request.
        known: All files that may be meant, sorted.
    """
    words = dict.fromkeys(word.casefold() for word in _WORD.findall(text[:_SPOKEN_IN]))
    alike: dict[str, list[str]] = {word: [] for word in words}
    for path in known:
        if (found := alike.get(path.rpartition("/")[2].partition(".")[0].casefold())) is not None:
            found.append(path)
    few = [path for paths in alike.values() if len(paths) <= MAX_ALIKE for path in paths]
    return tuple(few[:MAX_FILES])


def about_changes(text: str) -> bool:
    """Tell whether a request is about what was changed and not committed."""
    return _CHANGES.search(text, 0, _LOOKED_AT) is not None


def about_failure(text: str) -> bool:
    """Tell whether a request is about something that fails."""
    return _FAILURE.search(text, 0, _LOOKED_AT) is not None


def _named(files: Iterable[Named]) -> Iterator[Wanted]:
    found = tuple(files)
    for one in found:
        yield from (Wanted(path, "named") for path in one.files)
    for one in found:
        yield from (Wanted(path, "in-folder") for path in one.inside)


def _folders(names: Sequence[str], known: Sequence[str]) -> Iterator[Wanted]:
    for name in names:
        if "/" in name:
            yield from _named([find_named(name, known)])


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
