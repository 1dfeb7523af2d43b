"""Running a part of the tests: the files that were named, where the runner takes paths.  Pure.

A command is narrowed only where every word that names a part stands for something there is; half
of what was asked for would be run as if it were all of it.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Final

from local_agent.workspace.project.model import Narrowing, Recipe

MAX_PATHS: Final = 10  # that one word stands for, and that are added
MAX_WORDS: Final = 20
_WORD: Final = re.compile(r"[\w.~@/:\[\]+-]++")
_PIECES: Final = re.compile(r"[!-~]+|[^!-~]+")
_FILLERS: Final = frozenset(
    {
        *("a", "all", "and", "around", "at", "by", "file", "files", "folder", "for", "from", "in"),
        *("just", "like", "module", "modules", "my", "of", "on", "one", "ones", "only", "our"),
        *("package", "part", "suite", "test", "tests", "that", "the", "these", "this", "those"),
        *("uh", "um", "under", "unit", "with"),
        *("里", "里面", "中", "下", "的", "和", "与", "跟", "及", "只", "仅", "只跑", "就", "目录"),
        *("文件", "文件夹", "模块", "部分", "测试", "用例", "单测", "那个", "这个", "那些"),
    }
)
_FAILED: Final = re.compile(r"(?:failed|failing|broken|失败|没过|上次失败)(?:的|了的)?")
_TEST_FILE: Final = re.compile(
    r"test_(?P<before>\w+)\.py|(?P<after>\w+?)(?:_test|[._](?:test|spec)|Tests?)\.\w+",
    re.ASCII,
)
_TEST_FOLDERS: Final = frozenset({"test", "tests", "__tests__", "spec", "specs"})
_NODE: Final = re.compile(r"(?P<path>[^:]+\.py)(?P<node>(?:::[\w\[\]+./@-]+){1,4})")
_RUST_TEST: Final = re.compile(r"tests/([\w-]+)\.rs", re.ASCII)
_ENDINGS: Final[dict[Narrowing, str]] = {"pytest": ".py", "go": ".go", "cargo": ".rs"}
_LAUNCHERS: Final = (
    ("uv", "run"),
    ("poetry", "run"),
    ("pdm", "run"),
    ("pipenv", "run"),
    ("bundle", "exec"),
    ("npx",),
    ("python", "-m"),
    ("python3", "-m"),
)
_RUNNERS: Final[dict[str, Narrowing]] = {
    "pytest": "pytest",
    "py.test": "pytest",
    "jest": "paths",
    "vitest": "paths",
    "rspec": "paths",
}


def narrowed(recipe: Recipe, only: str, files: Sequence[str]) -> Recipe | None:
    """Return a recipe that runs only what was named; None where that is not known.

    Args:
        recipe: As it runs all tests.
        only: What was named, in the person's words.
        files: All files of the workspace that may be read, sorted.
    """
    words = words_of(only)
    if recipe.narrows == "none" or not words:
        return None
    if recipe.narrows == "pytest" and all(map(_FAILED.fullmatch, words)):
        return replace(recipe, argv=(*recipe.argv, "--last-failed"))
    # Tests in a language that this runner does not run.
    others = tuple(ending for runner, ending in _ENDINGS.items() if runner != recipe.narrows)
    runs = [path for path in files if not path.endswith(others)]
    found = [_meant(word, runs, nodes=recipe.narrows == "pytest") for word in words]
    paths = tuple(dict.fromkeys(path for some in found for path in some))
    if not all(found) or len(paths) > MAX_PATHS:
        return None
    argv = _added(recipe, paths)
    return replace(recipe, argv=argv) if argv else None


def of_person(argv: Sequence[str]) -> Recipe:
    """Return a person's own test command as a recipe: it can be narrowed if it names no path."""
    return Recipe(tuple(argv), narrows=_runner(argv))


def _is_folder(path: str, files: Sequence[str]) -> bool:
    """Tell whether there is a file below this folder."""
    at = bisect_left(files, f"{path}/")
    return at < len(files) and files[at].startswith(f"{path}/")


def words_of(only: str) -> list[str]:
    """Return the words that name a part, without those that only stand around them."""
    found: list[str] = []
    for word in _WORD.findall(only):
        # "login模块" is one word to Python: its Latin part is the name.
        pieces = _PIECES.findall(word)
        found += [
            bare
            for piece in pieces
            if (bare := piece.strip(".,:")) and bare.casefold() not in _FILLERS
        ]
    return found[: MAX_WORDS + 1]


def _runner(argv: Sequence[str]) -> Narrowing:
    rest = tuple(argv)
    if rest == ("go", "test", "./..."):
        return "go"
    if rest == ("cargo", "test"):
        return "cargo"
    while launcher := next((one for one in _LAUNCHERS if rest[: len(one)] == one), None):
        rest = rest[len(launcher) :]
    if not rest or not all(word.startswith("-") for word in rest[1:]):
        return "none"  # a path, or the value of a switch: adding to it would not narrow it
    return _RUNNERS.get(rest[0].rpartition("/")[2], "none")


def _meant(word: str, files: Sequence[str], *, nodes: bool) -> tuple[str, ...]:
    """Return the paths of tests that a word stands for."""
    if nodes and (match := _NODE.fullmatch(word)):
        return tuple(path + match["node"] for path in _named(match["path"], files))
    path = word.removeprefix("./").rstrip("/")
    if _is_folder(path, files):
        return (path,)
    if "/" in path or "." in path:
        named = _named(path, files)
        if len(named) != 1 or _stem_of_test(named[0]) or "/tests/" in f"/{named[0]}":
            return named
        # A file of the program: what is meant are its tests.
        path = named[0].rpartition("/")[2].partition(".")[0]
    return tuple(_tests_of(path, files))[: MAX_PATHS + 1]


def _named(path: str, files: Sequence[str]) -> tuple[str, ...]:
    """Return the one file of this name."""
    if path in files:
        return (path,)
    ends = [one for one in files if one.endswith(f"/{path}")]
    return tuple(ends) if len(ends) == 1 else ()


def _tests_of(name: str, files: Sequence[str]) -> Iterator[str]:
    """Give test files of this name, and folders of tests that bear it."""
    wanted, folders = name.casefold(), set()
    for path in files:
        stem = _stem_of_test(path)
        if stem.casefold() == wanted:
            yield path
        above = path.casefold().split("/")[:-1]
        if wanted in above and not _TEST_FOLDERS.isdisjoint(above):
            folders.add("/".join(path.split("/")[: above.index(wanted) + 1]))
    yield from sorted(folders)


def _stem_of_test(path: str) -> str:
    match = _TEST_FILE.fullmatch(path.rpartition("/")[2])
    return (match["before"] or match["after"] or "") if match else ""


def _added(recipe: Recipe, paths: Sequence[str]) -> tuple[str, ...]:
    # A name that begins with a dash would be read as a switch.
    plain = tuple(f"./{path}" if path.startswith("-") else path for path in paths)
    match recipe.narrows:
        case "dashes":
            return (*recipe.argv, *(() if "--" in recipe.argv else ("--",)), *plain)
        case "go":
            return (*recipe.argv[:-1], *dict.fromkeys(map(_package, plain)))
        case "cargo":
            return _of_cargo(recipe.argv, plain)
        case _:
            return (*recipe.argv, *plain)


def _package(path: str) -> str:
    if path.endswith(".go"):
        return f"./{path.rpartition('/')[0]}".rstrip("/")
    return f"./{path.removeprefix('./')}/..."


def _of_cargo(argv: tuple[str, ...], paths: Sequence[str]) -> tuple[str, ...]:
    """Return it with the integration tests that were named; others have no name of their own."""
    names = [match[1] for path in paths if (match := _RUST_TEST.fullmatch(path))]
    if len(names) < len(paths):
        return ()
    return (*argv, *(word for name in names for word in ("--test", name)))
