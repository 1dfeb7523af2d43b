"""What a wish to run something without a command is for, English and Chinese.  Pure.

"build it" and "格式检查" name no command; what the project itself would run for them is found by
`local_agent.workspace.project`.  The first of the words decides: of "build and lint" the build.
"""

from __future__ import annotations

import re
from typing import Final

from local_agent.understand.folding import plain
from local_agent.workspace.project.model import Goal

_WORDS: Final[tuple[tuple[Goal, str, str], ...]] = (
    (
        "format-check",
        r"(?:check|verify)\w* (?:that |if |the |code |is ){0,4}format\w*|format[ -]check",
        r"(?:格式|排版|代码风格)\s?检查|检查(?:一下|下)?(?:代码)?(?:的)?(?:格式|排版|代码风格)",
    ),
    (
        "typecheck",
        r"type[ -]?check\w*|check(?:ing)? (?:the )?types|static types|mypy|pyright|tsc",
        r"类型\s?检查|检查(?:一下|下)?类型",
    ),
    (
        "lint",
        r"lint\w*|static analysis|code style|ruff|eslint|clippy|flake8|golangci",
        r"静态检查|代码规范",
    ),
    ("format", r"(?:re)?format(?:s|ter|ting)?|prettier|fmt|black", r"格式化|排版"),
    (
        "build",
        r"(?:re)?build(?:s|ing)?|compil(?:e|es|ing|ation)|package|bundle",
        r"构建|编译|打个?包|打包|构造一下",
    ),
    ("test", r"tests?|testing|specs?|suite", r"测试|测一下|单测|用例|测式"),
    ("check", r"checks?|ci", r"检查|校验"),
)
_GOALS: Final = tuple(
    (goal, re.compile(rf"(?<![\w./-])(?:{en})(?![\w/-])|(?:{zh})", re.IGNORECASE))
    for goal, en, zh in _WORDS
)
_PLACE: Final = re.compile(
    r"(?<![\w./-])(?:in|on|of|for|under|inside|within)\s{1,4}(?:the\s{1,4}|our\s{1,4})?"
    r"(?P<en>[a-z0-9_][\w./-]{0,200})"
    r"|(?:build|compile|lint|format)\s{1,4}(?:the|our|my)\s{1,4}(?P<what>[a-z][\w-]{1,60})"
    r"|(?:构建|编译|打包)(?:一下|下)?\s{0,4}(?P<what_zh>[a-z][\w-]{1,60})"
    r"|(?<![\w./-])(?P<zh>[a-z0-9_][\w./-]{0,200}+)\s{0,4}(?:目录|文件夹|模块|子?项目|包|里|下|中|的)"
    r"|(?<![\w./-])(?P<path>(?:[\w.-]{1,100}+/){1,10}[\w.-]{0,100})",
    re.ASCII | re.IGNORECASE,
)
_NO_PLACES: Final = frozenset(
    "app application changes file files image latest me all project repo repository code codebase"
    " whole workspace it this that my everything types ci errors now once production".split()
)


def find_goal(text: str) -> Goal | None:
    """Return what is to be run; None where the text names nothing of the kind."""
    here = plain(text)
    found = [(match.start(), goal) for goal, words in _GOALS if (match := words.search(here))]
    # "Check that it still builds" is a build.  Where two begin at one place the more exact one
    # stands first in the table.
    exact = [pair for pair in found if pair[1] != "check"] or found
    return min(exact, key=lambda pair: pair[0])[1] if exact else None


def find_place(text: str) -> str:
    """Return the folder or file that the text names beside the goal; empty where it names none."""
    for match in _PLACE.finditer(plain(text)):
        place = next(name for name in match.groups() if name).rstrip("./")
        if place and place.casefold() not in _NO_PLACES and find_goal(place) is None:
            return place
    return ""
