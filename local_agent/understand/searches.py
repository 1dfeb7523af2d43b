"""How a wish to find something is read: which words, whole or not, and where.  Pure.

``"rate limit" in src/``, "只在 tests 里找 retry", "all TODOs in *.py", "which files use axios".
"""

from __future__ import annotations

import re
from typing import Final

from local_agent.understand.folding import READ_CHARS, plain
from local_agent.understand.params import find_quoted, mask_quoted
from local_agent.workspace.searching import MAX_SCOPES, MAX_WORDS, Query, Scope

_PLACE: Final = r"[\w.*?][\w./*?-]{0,199}+"
_SCOPE: Final = re.compile(
    # "in", but not "in which", and "outside of" with what belongs to them.
    r"(?<![\w/.-])(?:not in|except(?: for| in)?|excluding|outside(?: of)?|but not(?: in)?)"
    rf"\s{{1,4}}(?:the\s{{1,4}})?(?P<without>{_PLACE})"
    r"|(?<![\w/.-])(?P<only>only\s{1,4})?(?:in|under|inside|within|below)\s{1,4}(?:all\s{1,4})?"
    rf"(?:the\s{{1,4}})?(?:(?P<named>folder|directory|dir)\s{{1,4}})?(?P<en>{_PLACE})"
    r"(?P<kind>\s{1,4}(?:folders?|director(?:y|ies)|dir|files?|sources?|code)(?![\w-]))?"
    rf"|(?:除了?|不包括|不含|排除|不要在?)\s{{0,4}}(?P<wo_zh>{_PLACE})\s{{0,4}}(?:目录|文件夹|以外|之外|外|里|中)*"
    rf"|(?P<only_zh>[只仅])?(?:在|到|从)?\s{{0,4}}(?<![\w/.-])(?P<zh>{_PLACE})\s{{0,4}}"
    r"(?P<kind_zh>目录|文件夹|模块|包|文件)?\s{0,4}(?:里面?|下面?|中|内|目录|文件夹)的?"
    r"|(?<![\w*./-])(?P<glob>(?=[\w./-]{0,100}\*)[\w./*-]{2,200}+)(?:\s{0,4}(?:files?(?![\w-])|文件))?",
    re.ASCII | re.IGNORECASE,
)
_LANGUAGES: Final = dict(
    listed.split(":")
    for listed in (
        "python:*.py typescript:*.ts,*.tsx ts:*.ts,*.tsx javascript:*.js,*.jsx,*.mjs,*.cjs"
        " js:*.js,*.jsx,*.mjs,*.cjs go:*.go rust:*.rs java:*.java css:*.css,*.scss,*.less"
        " html:*.html sql:*.sql yaml:*.yml,*.yaml json:*.json markdown:*.md shell:*.sh"
    ).split()
)
_NO_PLACES: Final = frozenset(
    "a all any case code codebase ci each every fact general here it my order our place places"
    " production project repo repository source that the them there these this time use what which"
    " workspace whole".split()
)
_PATHS: Final = re.compile(
    r"\b(?:which|what|list(?: all)?(?: the)?|all(?: the)?) (?:source )?files?\b"
    r"|\bfiles (?:that|which)\b"
    r"|(?:哪些|哪个|哪几个|什么|列出)(?:源|代码)?文件|的文件(?:有哪些|列表)|文件名",
    re.IGNORECASE,
)
_MARKS: Final = re.compile(
    r"(?:all (?:the )?|所有的?)?(?P<mark>TODO|FIXME|XXX|HACK)s?", re.IGNORECASE
)
# What stands around the thing itself: "that import X", "引用了 X", "any X left".
_AROUND: Final = re.compile(
    r"(?:(?:that|which|there|is|are|any|all|the|we|do|use[sd]?|using|import(?:s|ed|ing)?|calls?|called"
    r"|references?|contain(?:s|ing)?|mentions?|throws?) )*"
    r"(?:(?:哪些|哪个|什么|所有)(?:文件|地方|代码)?(?:里|中|都)?)?"
    r"(?:(?:引用|用到|使用|调用|包含|导入|引入|提到|出现|抛)(?:了|过|到)?\s?)?"
    r"(?P<what>.*?\S)(?: left| in use|\s?(?:出现)?在哪里?|的(?:地方|位置|文件))?",
    re.IGNORECASE,
)
_WORD: Final = re.compile(r"[A-Za-z_$][\w$]*", re.ASCII)
_CODE: Final = re.compile(r"[a-z0-9][A-Z]|[A-Za-z\d]_|_[A-Za-z\d]|[A-Za-z]\d|^[A-Z]{2,}$")
_FILLERS: Final = frozenset(
    "a all an and any are by can code do does file for from how i in is it me my of on or our that"
    " the to uses using we what where which who with you".split()
)


def find_search(text: str, query: str) -> Query:
    """Return what is looked for, and where.

    Args:
        text: The whole request.
        query: The literal text that was found in it.
    """
    around = mask_quoted(plain(text))
    scopes = _scopes(around)
    paths_only = _PATHS.search(around) is not None
    if find_quoted(text[:READ_CHARS]) == query:
        return Query(phrase=query, scopes=scopes, paths_only=paths_only)
    phrase = _without_scopes(plain(query)) or query
    if mark := _MARKS.fullmatch(phrase):
        phrase = mark["mark"].upper()
    is_word = _WORD.fullmatch(phrase) is not None
    return Query(
        phrase=phrase,
        words=() if is_word else _words(phrase),
        whole=is_word and _CODE.search(phrase) is not None,
        scopes=scopes,
        paths_only=paths_only,
    )


def _scopes(text: str) -> tuple[Scope, ...]:
    found: dict[Scope, None] = {}
    for match in _SCOPE.finditer(text):
        place = _place(match)
        outside = bool(match["without"] or match["wo_zh"])
        sure = outside or any(match[name] for name in ("only", "named", "only_zh", "kind_zh"))
        sure = sure or any(mark in place for mark in "/*")
        kinds = _LANGUAGES.get(place.casefold(), "") if match["kind"] else ""
        for name in (kinds or place.rstrip("/")).split(","):
            if name and place.casefold() not in _NO_PLACES:
                found.setdefault(Scope(name, sure=sure or bool(kinds), outside=outside))
    return tuple(found)[:MAX_SCOPES]


def _place(match: re.Match[str]) -> str:
    names = ("without", "en", "wo_zh", "zh", "glob")
    return str(next(match[name] for name in names if match[name])).rstrip(".?")


def _without_scopes(query: str) -> str:
    def emptied(match: re.Match[str]) -> str:
        return match[0] if _place(match).casefold() in _NO_PLACES else " "

    bare = " ".join(_SCOPE.sub(emptied, query).split()).strip(" ,，。?？!！")
    if bare != query:
        bare = bare.removeprefix("的").lstrip("找搜 ")  # 在 tests 里找 retry
    found = _AROUND.fullmatch(bare)
    return found["what"] if found else bare


def _words(phrase: str) -> tuple[str, ...]:
    pieces = [piece for piece in re.split(r"[\s的,，]+", phrase) if piece]
    words = tuple(dict.fromkeys(one for one in pieces if one.casefold() not in _FILLERS))
    return words if len(pieces) > 1 and 0 < len(words) <= MAX_WORDS else ()
