"""Which changes a wish for a review names, English and Chinese.  Pure.

``main..feature``, "the last three commits", "最近三个提交", "commit 1a2b3c4", "this branch against
main", "staged".  Where nothing of the kind is named, the local changes are meant.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Final

from local_agent.understand.folding import plain
from local_agent.workspace.git.ranges import Range

MAX_COUNT: Final = 1000
_REV: Final = r"[A-Za-z0-9_@](?:[\w/@~^-]|\.(?![.\s]|$)){0,199}"
_APART: Final = r"(?<![\w./~^@-])"
_DOTS: Final = re.compile(
    rf"{_APART}(?P<base>{_REV})?(?P<dots>\.\.\.?)(?P<tip>{_REV})?(?![./])", re.ASCII
)
# Three dots are prose, unless one side can be nothing else than a name in a repository.
_SURE: Final = re.compile(
    r"(?:HEAD|@|main|master|develop|trunk)(?:[~^].*)?|.*[/~^].*|[0-9a-f]{7,40}|v?\d{1,5}(?:\.\d{1,5})+"
)
_NUMBERS_EN: Final = "one two three four five six seven eight nine ten eleven twelve".split()
_NUMBERS_ZH: Final = dict(
    zip("一两俩二三几四五六七八九十", (1, 2, 2, 2, 3, *range(3, 11)), strict=True)
)
_LAST_EN: Final = re.compile(
    r"\b(?:last|latest|previous|past|most recent|recent)\s{1,4}"
    rf"(?:(?P<count>\d{{1,6}}|{'|'.join(_NUMBERS_EN)}|(?:a )?few|(?:a )?couple(?: of)?)\s{{1,4}})?"
    r"(?:\w{1,20}\s{1,4})?commit(?P<many>s)?\b",
    re.IGNORECASE,
)
_LAST_ZH: Final = re.compile(
    r"(?:最近|最后|最新|上|前|近)(?:的|这)?\s{0,4}(?P<count>\d{1,6}|[一两俩二三四五六七八九十几])?\s{0,4}"
    r"(?:个|次|条|笔|回)?\s{0,4}(?:的)?\s{0,4}(?:提交|commits?(?![a-z]))",
    re.IGNORECASE,
)
# What came after the last commit are the local changes, and not that commit.
_AFTER_LAST: Final = re.compile(
    r"\b(?:since|after)\s{1,4}(?:(?:the|my|our)\s{1,4})?(?:last|latest|previous|most recent)\s{1,4}"
    r"(?:git\s{1,4})?commit\b"
    r"|(?:上次|上一次|上个|上一个|最近一次|最后一次)\s{0,4}(?:的)?\s{0,4}(?:提交|commit)\s{0,4}"
    r"(?:之后|以后|以来|后|到现在|起)",
    re.IGNORECASE,
)
_COMMIT: Final = re.compile(
    r"(?:\bcommit|\brevision|\bsha|提交)\s{0,4}[#:]?\s{0,4}(?P<named>(?=[a-f]*\d)[0-9a-f]{4,40})(?![\w/.-])"
    r"|(?<![\w/.#-])(?P<bare>(?=[a-f]*\d)(?=\d*[a-f])[0-9a-f]{7,40}(?:[~^]\d{0,4})?)(?![\w/-])"
    r"|(?<![\w/.-])(?P<head>(?:HEAD|@)(?:[~^]\d{0,4}){1,10})(?![\w/-])",
    re.ASCII,
)
_SINCE: Final = re.compile(
    rf"\b(?:since|after|from)\s{{1,4}}(?:commit\s{{1,4}}|branch\s{{1,4}})?(?P<en>{_REV})(?![\w/])"
    rf"|(?:从|自)\s{{0,4}}(?P<zh>{_REV})\s{{0,4}}(?:以来|之后|以后|开始|到现在)",
    re.IGNORECASE | re.ASCII,
)
_STAGED: Final = re.compile(
    r"(?<![\w-])(?:--)?staged\b|(?<![\w-])--cached\b|(?<![未没])(?:已)?暂存|\bin the index\b",
    re.IGNORECASE,
)
_AGAINST_EN: Final = re.compile(
    rf"(?:{_APART}(?P<tip>{_REV})(?:\s{{1,4}}branch)?\s{{1,4}})?"
    r"\b(?:against|vs\.?|versus|(?:different|differs?) from|on top of"
    r"|compar(?:ed?|ing) (?:(?:it|this|them|that) )?(?:to|with))\s{1,4}"
    rf"(?:the\s{{1,4}})?(?P<base>{_REV})",
    re.IGNORECASE | re.ASCII,
)
_AGAINST_ZH: Final = re.compile(
    rf"(?:(?P<tip>{_REV})\s{{0,4}}(?:分支)?\s{{0,4}})?(?:和|与|跟|同|相对于?|对比|相比于?|比起)\s{{0,4}}"
    rf"(?P<base>{_REV})\s{{0,4}}(?:分支)?\s{{0,4}}(?:上)?(?:的|之间|相比|比较|对比|差|区别|不同|有)",
    re.IGNORECASE | re.ASCII,
)
_BRANCH: Final = re.compile(
    rf"\b(?:this|my|current|the) branch\b|(?:这个?|当前|本|我的?)分支"
    rf"|\bbranch\s{{1,4}}(?P<after>{_REV})|{_APART}(?P<before>{_REV})\s{{0,4}}(?:branch\b|分支)",
    re.IGNORECASE | re.ASCII,
)
_MAIN: Final = frozenset({"main", "master", "trunk", "develop"})
_NO_NAMES: Final = frozenset(
    "a all an and any as at before branch change changes check code commit commits compare compared"
    " current diff do does for from has have hmm i in is it just last latest local look me merging"
    " my new now of ok on one only our please pr review reviewing since thanks that the their them"
    " these this those to us was we what which with work yesterday you your".split()
)


def find_range(text: str) -> Range:
    """Return the range that a text names, the local changes where it names none."""
    here = plain(text)
    for words, named in _NAMED:
        for match in words.finditer(here):
            if (found := named(match)) is not None:
                return found
    return Range()


def _dots(match: re.Match[str]) -> Range | None:
    base, tip = match["base"] or "", match["tip"] or ""
    two = match["dots"] == ".."
    sure = (two or (base and tip)) and any(name and _SURE.fullmatch(name) for name in (base, tip))
    if (base or tip) and not base.endswith("/") and (sure or (two and _name(base) and _name(tip))):
        return Range(kind="between", base=base or "HEAD", tip=tip)
    return None


def _against(match: re.Match[str]) -> Range | None:
    base, tip = _name(match["base"]), _name(match["tip"])
    if tip in _MAIN and base not in _MAIN:  # what the other has, and the main one has not
        base, tip = tip, base
    return Range(kind="between", base=base, tip=tip) if base else None


def _since(match: re.Match[str]) -> Range | None:
    base = match["en"] or match["zh"]
    # "since yesterday" and "from the gateway" name no commit.
    return Range(kind="between", base=base) if _SURE.fullmatch(base) else None


def _last_en(match: re.Match[str]) -> Range:
    return Range(kind="last", count=_count_en(match["count"] or "", many=bool(match["many"])))


def _last_zh(match: re.Match[str]) -> Range:
    count = match["count"] or "1"
    number = int(count) if count.isdecimal() else _NUMBERS_ZH[count]
    return Range(kind="last", count=min(max(number, 1), MAX_COUNT))


def _count_en(count: str, *, many: bool) -> int:
    word = count.casefold()
    if word.isdecimal():
        return min(max(int(word), 1), MAX_COUNT)
    if word in _NUMBERS_EN:
        return _NUMBERS_EN.index(word) + 1
    if "couple" in word:
        return 2
    return 3 if many or word else 1


def _commit(match: re.Match[str]) -> Range:
    return Range(kind="commit", tip=match["named"] or match["bare"] or match["head"])


def _branch(match: re.Match[str]) -> Range | None:
    given = match["after"] or match["before"]
    if given is None:
        return Range(kind="between")
    return Range(kind="between", tip=name) if (name := _name(given)) else None


def _name(given: str | None) -> str:
    bare = (given or "").rstrip("./")
    return "" if bare.casefold() in _NO_NAMES else bare


# What is looked for, in this order, and what it names.
_NAMED: Final[tuple[tuple[re.Pattern[str], Callable[[re.Match[str]], Range | None]], ...]] = (
    (_DOTS, _dots),
    (_AGAINST_EN, _against),
    (_AGAINST_ZH, _against),
    (_SINCE, _since),
    (_AFTER_LAST, lambda _: Range()),
    (_LAST_EN, _last_en),
    (_LAST_ZH, _last_zh),
    (_COMMIT, _commit),
    (_STAGED, lambda _: Range(kind="staged")),
    (_BRANCH, _branch),
)
