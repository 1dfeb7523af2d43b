"""What the classifier weighs of a text: runs of words and of letters, each as a number.  Pure.

The number of a run follows from its bytes alone (CRC-32), so training and every process agree.
"""

from __future__ import annotations

import re
from itertools import pairwise
from typing import Final
from zlib import crc32

from local_agent.understand.folding import PASTED, QUOTED

HEAD, TAIL = 900, 300  # characters that are read: what is wished stands at the ends of a long text
_TOKENS: Final = 220
_TOKEN: Final = re.compile(
    rf"{PASTED}[{PASTED}\s]*|{QUOTED}+|(?P<url>https?://\S+)"
    r"|(?P<path>(?:[\w@~.-]{1,60}/)+[\w.@*-]+|[\w-]{1,60}\.[a-z]{1,5}(?::\d+)*(?![\w.])"
    r"|[a-z]{1,30}\.[a-z_]+\w*\(?\)?)"
    r"|(?P<name>[a-z]{1,40}_\w+|\w{1,60}\(\)|--?[a-z][\w-]*|(?=[a-f]*\d)[a-f\d]{7,40}\b)"
    r"|(?P<id>t-[\da-z]{4,5}\b)|(?P<number>\d+)"
    r"|[a-z]+(?:'[a-z]+)?|[^\x00-\x7f]|[?!:;,.\n+&=<>{}()\[\]#$@-]",
    re.ASCII,
)
_STANDS_FOR: Final = {PASTED: "/p", QUOTED: "/q"}


def features(folded: str) -> set[int]:
    """Return the numbers of what occurs in a folded and blotted text."""
    words = tokens(folded)
    runs = {*words, *map("^".__add__, words[:4])}
    framed = ["^", *words, "$"]
    runs.update(map(" ".join, pairwise(framed)))
    runs.update(map(" ".join, zip(framed, framed[1:], framed[2:], strict=False)))
    runs.update(map("_".join, zip(words, words[2:], strict=False)))
    for word in words:
        if len(word) > 3 and word[0] != "/":
            runs.add("=" + word[:4])
            padded = f"<{word}>"
            runs.update([padded[place : place + 4] for place in range(len(padded) - 3)])
    if not folded.isascii():
        han = [word for word in words if word > "\u2fff"]
        runs.update(map("".join, zip(han, han[1:], han[2:], han[3:], strict=False)))
    return {crc32(run.encode("utf-8", "replace")) for run in runs}


def tokens(folded: str) -> list[str]:
    """Return the words of a folded and blotted text: a Chinese character is one.

    Names of files, of code and of tasks, numbers, and what was pasted or quoted, each become one
    word for all of their kind.
    """
    if len(folded) > HEAD + TAIL:
        folded = f"{folded[:HEAD]}\n{folded[-TAIL:]}"
    found = [_word(match) for match in _TOKEN.finditer(folded)]
    return found if len(found) <= _TOKENS else found[: _TOKENS - 60] + found[-60:]


def _word(match: re.Match[str]) -> str:
    kind, word = match.lastgroup, match[0]
    if kind is None:
        return _STANDS_FOR.get(word[0], word)
    if kind == "path":
        return f"/f{word[word.rfind('.') :][:5]}" if "." in word[-6:] else "/d"
    if kind == "number":
        return "0" if len(word) > 1 else word
    return f"/{kind}"
