"""Whether a message asks for a playbook, by one of the phrases that its file gives.

What was learnt knows no playbooks.  So the phrase, which has to stand whole and outside quotes and
code, is replaced by words that it does know, such as “run the tests”; a request for those is one
for the playbook.  A run of one reads alone until somebody approves, and yet as much is asked of the
words as before a command is proposed (`reader.DEED`, and every guard).  Pure.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import TYPE_CHECKING, Final

from common.text import has_cjk
from local_agent.understand import wishes
from local_agent.understand.folding import READ_CHARS, blot, fold, seen
from local_agent.understand.reading import DEEDS, Kind

if TYPE_CHECKING:
    from local_agent.understand.reader import Guess

_NAMED: Final = 8  # phrases of one message that are looked at
_PARTED: Final = re.compile(r"[\s_-]+")
_BEFORE: Final = r"(?<![\w@./\\-])"
_AFTER: Final = r"(?![\w@/\\]|[.-]\w)"
# Before a Chinese phrase these make another word of it: 双周报.
_OTHER_WORD: Final = re.compile(r"[双半非副子伪日月季年]$")

# What may stand beside a phrase alone: "weekly report, please", "帮我来一下周报".
_POLITE: Final = re.compile(
    r"(?:@dev\b|\b(?:please|pls|plz|kindly|now|right now|asap|today|again|thanks|thank you|thx"
    r"|hey|hi"
    r"|hello|ok|okay|just|go|time for|one|a|an|the|my|our|some|quick|another|for me|for us|me"
    r"|(?:can|could|would|will) you|could (?:i|we) (?:have|get)|let's|let us)\b"
    r"|麻烦|劳驾|拜托|请|帮忙?|给?我们?|咱们?|你们?|来|再|一[下次份个篇遍]|[个份篇]|现在|马上"
    r"|立刻|今天|这周|本周"
    r"|上周|的|吧|呗|哈|啊|谢谢|多谢|谢了|辛苦了?|走起|搞起|可以|能不能|能否|能|要|想要?|需要"
    r"|[把将]|(?:跑|做|写|出|生成|弄|搞|整|执行|准备|整理|起草|汇总)(?:一?[下次份个篇遍]|成)"
    r"|[\s,.:;!@~\u200d\u2600-\u27bf\U0001f300-\U0001faff-])*+"
)
# What may follow where the phrase is what is asked for, and no part of a longer name such as
# "weekly report page" or 周报模板.
_FOLLOWS: Final = re.compile(
    r"\s*(?:$|[,.;:!()\n?~]|[\u2600-\u27bf\U0001f300-\U0001faff]"
    r"|(?:please|pls|plz|for|of|about|on|since|from|between|until|till|by|before|after|in|to|with"
    r"|without|and|but|now|right|again|today|tonight|this|last|next|so|then|as|at|over|using"
    r"|covering"
    r"|including|only|plus|thanks|thank|thx|asap|first|check|via|into|going|started|done)\b"
    r"|吧|呗|哈|啊|一[下次份个篇遍]|下|帮|给|发|并|且|然后|再|麻烦|请|谢|现在|马上|立刻|今天"
    r"|(?:跑|做|写|出|生成|来|弄|搞|整)(?:一?[下次份个篇遍])?(?=\s*(?:$|[,.;!?\n]|吧|呗|给|发|谢"
    r"|然后))"
    r"|走起|搞起|跑?起来|从|到|按|用|以|控制|重点|只|不超过|好[吗么不]|可以[吗么]|行[吗么不]"
    r"|吗(?=[?]?\s*$))"
)
# What it is about: “… for the backend team”, “… since v1.3”.
_STATES: Final = (
    r"\b(?:is|are|was|were|isn't|aren't|wasn't|has|have|had|does|did|do|fail\w*|look\w*|seem\w*"
    r"|say|says|said|need\w*|break\w*|broke\w*|crash\w*|got|went|took|takes|came|never|not)\b"
)
_ABOUT_WHAT: Final = r"(?:[^,.;:!?\n]|\.(?=\S)){1,40}$"
_STATEMENT: Final = re.compile(rf"(?:[^,.;:!?\n]|\.(?=\S))*{_STATES}")
_SCOPE: Final = re.compile(
    rf" (?:for|of|since|from|about|covering|by|until|before|in|with) {_ABOUT_WHAT}"
)
_SCOPE_ALONE: Final = re.compile(rf" (?:for|of|since|from|about|covering) {_ABOUT_WHAT}")
# In the same clause before the phrase these make it something told, forbidden or asked.
_TOLD: Final = re.compile(
    r"\b(?:not|never|no|without|hate\w*|skip\w*|stop\w*|avoid\w*|forgot|instead|rather|see"
    r"|read\w*|who"
    r"|whose|why|if|when|said|says|asked|told|was|were|has|had|did)\b|n't\b"
    r"|[不没别勿免停休]|懒得|讨厌|忘|(?:^|[^帮给让替为])[我他她](?:自己|来)?[写做出弄整]|(?<!现)在|已|刚|昨天|怎|为什么|谁|哪|如果|要是|说|问|让|了|过"
)
# Before it, whichever clause: it is for later, or somebody else's words.
_LATER: Final = re.compile(
    r"\b(?:once|if|when|unless|until|after|tomorrow|later)\b|如果|要是|假如|等|明天|后天|以后|回头|改天"
)
_ATTRIBUTED: Final = re.compile(
    r"[^\s\d:]\s*[\d:]*:(?!//)\s*[^\n:]*$|[^\s\d:]\s*[\d:]*[:\]】]\s*\n[^\n]*$|转发|引用|(?:^|\n)\s*//"
)
_WHETHER: Final = re.compile(r"能不能|可不可以|要不要|好不好|行不行|让我们|说明")
_CLAUSE: Final = re.compile(r"[,;:!?\n]|\.(?!\d)")
_DOES: Final = re.compile(r"\bdo (?=(?:a|an|the|my|our|this|that|another|one)\b)")
_MAKES_EN: Final = re.compile(
    r"\b(?:let's |let us |time to |go ahead and |(?:(?:can|could|may) )?(?:i|we)(?:'d| would"
    r"| will)? )?"
    r"(?:how about|write(?: up)?|make|generate|prepare|create|draft|do|doing|produce|compile"
    r"|build|put together"
    r"|get|give|send|show|start|launch|kick off|trigger|execute|run|running|begin|fire off|redo"
    r"|need"
    r"|want|like|have)"
    r"(?: (?:me|us|up|out|off|a|an|the|my|our|this|that|new|another|one|quick|fresh|full|short"
    r"|weekly"
    r"|usual|regular|latest|next|last|today's|week's|month's|some|first|please|now)){0,5} ?$"
)
_MAKES_ZH: Final = re.compile(
    r"(?<!(?<!现)在)(?:编写|撰写|写|生成|输出|产出|导出|出|做|来|弄|整理|整|搞|准备|起草|汇总"
    r"|总结|拉|发|给|要|跑|运行|执行|启动|开始"
    r"|触发|安排|(?:start|run|generate|make|do|write) ?)(?:一?[下次份个篇遍点]|成)?(?:给?我们?"
    r"|咱们?|大家|团队)?(?:一?[下次份个篇遍])?"
    r"(?:这周|本周|上周|今天|今日|昨天|这个月|本月|最新|这次|新|完整|简短|[a-z]?\d[\d.]*)?的? ?$"
)
# A phrase that begins with its own verb is a wish by itself.
_ACTS: Final = re.compile(
    r"(?:write|make|generate|prepare|create|draft|do|run|check|audit|fix|repair|review|tidy|clean"
    r"|summari[sz]e|update|publish|release|build|test|lint|format|triage|look|find|list|show"
    r"|plan)\b"
    r"|[写做出跑查修检审评整清生起准汇总更发构测列看]"
)
# Letters and digits in full width too, in quotation marks or not.
_NAME: Final = re.compile(
    r"\s*[\"'`“‘「]?([A-Za-z0-9_.\uff10-\uff19\uff21-\uff3a\uff41-\uff5a-]*[A-Za-z0-9_\uff10-\uff19"
    r"\uff21-\uff3a\uff41-\uff5a-])[\"'`”’」]?(?:[\s,.:;!?，。：；！？]+|$|(?=[^\x00-\x7f]))"
)
_RUNS: Final = re.compile(
    r"\s*(?:(?:run|start|execute)\s+|(?:执行|运行|跑(?:一下)?|启动)\s*)(?=\S)", re.IGNORECASE
)
_QUESTION: Final = re.compile(r"\s*(?:怎|是|为什么|(?:how|why|what|where|who|when)\b)")
_QUOTES: Final = "\"'`“”‘’「」"
_LISTS: Final = re.compile(r"(?:list|all|ls|列出|列表|有哪些|全部)[\s?？.。!！]*", re.IGNORECASE)
# What the phrase is replaced by: in English, in Chinese.
_RUN: Final = ("run the tests", "跑一下测试")
_NOUN: Final = ("tests", "测试")


class Triggers:
    """The playbooks there are and their phrases, ready to be looked for.

    Attributes:
        names: Of all of them.

    Args:
        phrases: Of each playbook, by its name.
    """

    def __init__(self, phrases: Mapping[str, Sequence[str]] | None = None) -> None:
        self._names: dict[str, set[str]] = {}
        for name, own in (phrases or {}).items():
            for phrase in own:
                if key := _key(fold(seen(phrase))):
                    self._names.setdefault(key, set()).add(name)
        self.names = tuple(phrases or ())
        patterns = {key: _pattern(key) for key in self._names}
        longest_first = sorted(patterns.values(), key=len, reverse=True)
        self._any = re.compile("|".join(longest_first)) if longest_first else None

    def found(self, blotted: str) -> list[tuple[int, int, frozenset[str]]]:
        """Return where phrases stand in a folded text, and of which playbooks they are."""
        if self._any is None:
            return []
        return [
            (match.start(), match.end(), frozenset(self._names[_key(match[0])]))
            for match in islice(self._any.finditer(blotted), _NAMED)
            if not _OTHER_WORD.search(blotted[: match.start()])
        ]

    def opening(self, text: str) -> tuple[str, str] | None:
        """Return the one playbook of which a phrase opens a text, and the words after that.

        None where there is none, or where the text only speaks of it.
        """
        base = seen(text).lstrip(_QUOTES + " ")
        match = self._any.match(fold(base)) if self._any else None
        if match is None or len(names := self._names[_key(match[0])]) != 1:
            return None
        rest = base[match.end() :].lstrip(_QUOTES)
        after = fold(rest)
        follows = _FOLLOWS.match(after) or after[0].isspace()
        if not follows or _STATEMENT.match(after) or _QUESTION.match(after):
            return None
        return next(iter(names)), rest.strip(" \n\t,.:;!?，。：；！？")


NONE: Final = Triggers()


def find_named(args: str, playbooks: Triggers) -> tuple[str, str]:
    """Return the name that the command for playbooks is given, and the words after it.

    Args:
        args: What follows the command word: ``NAME words``, ``run NAME words`` or ``list``.
        playbooks: Those there are; one of them is found whatever the case and width of its name,
            and by a phrase of it.
    """
    known = {name.casefold(): name for name in playbooks.names}
    words = args
    for _ in range(2):
        match = _NAME.match(words)
        given = unicodedata.normalize("NFKC", match[1]) if match else ""
        rest = words[match.end() :].strip() if match else ""
        if found := known.get(given.casefold()):
            return found, rest
        if opened := playbooks.opening(words):
            return opened
        if is_list(words):
            return "", ""
        if not (run := _RUNS.match(words)):
            return given, rest
        words = words[run.end() :]
    return given, rest


def is_list(args: str) -> bool:
    """Tell whether the command for playbooks is asked for a list of them."""
    return _LISTS.fullmatch(args.strip()) is not None


@dataclass(frozen=True, slots=True)
class Wanted:
    """The playbook that a message asks for, and how likely that is."""

    name: str
    likelihood: float


def find_wanted(text: str, triggers: Triggers, guess: Callable[[str], Guess]) -> Wanted | None:
    """Return the one playbook that a message asks for; None where it asks for none, or for two.

    Args:
        text: The message without the word that addresses the bot.
        triggers: Of the playbooks there are.
        guess: Reads a text by what was learnt.
    """
    base = seen(text)
    if not base.strip() or len(base) > READ_CHARS:
        return None
    folded = blot(fold(base))
    found = triggers.found(folded)
    names = {name for *_, of in found for name in of}
    if len(names) != 1:
        return None
    (name,) = names
    for start, end, _ in found:
        before, after = folded[:start], folded[end:]
        if _is_alone(before) and _is_alone(after):
            return Wanted(name, 1.0)
        if _LATER.search(before) or _ATTRIBUTED.search(before):
            continue
        clause = _WHETHER.sub("", _clause(before))
        if _TOLD.search(clause) or _STATEMENT.match(after) or not _FOLLOWS.match(after):
            continue
        # The verb of the phrase itself says nothing of who does what: "please review this branch".
        noun = _NOUN[has_cjk(folded)]
        if Kind.RUN in guess(f"{_DOES.sub('run ', base[:start])}{noun}{base[end:]}").barred:
            continue
        for said, at in _in_known_words(base, folded, start, end):
            if (likelihood := _asks(said, at, guess)) is not None:
                return Wanted(name, likelihood)
    return None


def _asks(said: str, at: int, guess: Callable[[str], Guess]) -> float | None:
    """Return how likely a text asks for the tests alone; None where that is not sure.

    Args:
        said: The text.
        at: Where it names them.
        guess: As of `find_wanted`.
    """
    read = guess(said)
    if read.kind is not Kind.RUN or read.rule != "words":
        return None
    if not read.sure:
        # What it is about makes a wish no less sure.
        scope = _SCOPE.search(fold(said), at)
        read = guess(said[: scope.start()]) if scope else read
    if not read.sure or read.kind is not Kind.RUN or _wishes_more(said, at, guess):
        return None
    return read.likelihood


def _in_known_words(base: str, folded: str, start: int, end: int) -> Iterator[tuple[str, int]]:
    """Yield what the message would be if it asked for the tests, and where that stands."""
    phrase, before, chinese = folded[start:end], folded[:start], has_cjk(folded)
    after = base[end:].lstrip() if chinese else base[end:]
    for makes in (_MAKES_ZH, _MAKES_EN):
        if match := makes.search(before):
            yield f"{base[: match.start()]}{_RUN[chinese]}{after}", match.start()
    is_first = _is_alone(before)
    is_wish = _ACTS.match(phrase) and _is_alone(_clause(before))
    if is_wish or (is_first and _SCOPE_ALONE.match(folded[end:])):
        yield f"{base[:start]}{_RUN[chinese]}{after}", start
    if is_first:
        yield f"{base[:start]}{_NOUN[chinese]}{after}", start


def _wishes_more(said: str, at: int, guess: Callable[[str], Guess]) -> bool:
    """Tell whether a text that asks for the tests asks for something else besides."""
    for head, left in wishes.splits(said):
        other = guess(head if len(said) - len(left) <= at else left)
        if other.sure and other.kind in DEEDS:
            return True
    return False


def _clause(before: str) -> str:
    return _CLAUSE.split(before)[-1]


def _is_alone(beside: str) -> bool:
    return _POLITE.fullmatch(beside) is not None


def _key(folded: str) -> str:
    """Return a phrase as it is compared: its words with one blank between them."""
    return _PARTED.sub(" ", folded).strip()


def _pattern(key: str) -> str:
    body = r"[\s_-]+".join(map(re.escape, key.split(" ")))
    before = "" if has_cjk(key[0]) else _BEFORE
    after = "" if has_cjk(key[-1]) else _AFTER
    return f"{before}{body}{after}"
