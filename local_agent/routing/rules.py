"""Stage A of the router: one ordered table of words, English and Chinese (seed 002 §4.1).

Pure.  It reads structure before words: what is forbidden ("don't run …") is taken out first, then
the leading verb decides, then a question, then any word of the table.  A wrong guess is cheap by
design: no kind executes anything, and a command is always asked at the machine (P1).
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Final

from common.model.intent import TaskKind

LEADS: Final = 0.9
ASKED: Final = 0.8
ALONE: Final = 0.7
AMONG_OTHERS: Final = 0.6
NOTHING: Final = 0.3


@dataclass(frozen=True, slots=True)
class Rule:
    """The words of one kind.  English stands between word boundaries, Chinese anywhere.

    Attributes:
        must_lead: They count only where they lead the text: elsewhere they tell of something.
    """

    kind: TaskKind
    en: str
    zh: str
    must_lead: bool = False


@dataclass(frozen=True, slots=True)
class Guess:
    """What the words point at.

    Attributes:
        kind: The kind of the rule that decided; EXPLAIN where none did.
        confidence: How it decided, one of the constants above.
        lead: The deciding word where it led the text; else None.
        rest: The text after it; the whole text where none led.
    """

    kind: TaskKind
    confidence: float
    lead: str | None = None
    rest: str = ""


# What is pushed, and where to; nothing but this, a message or a further wish may follow the verb:
# "push failed", "推送失败了" and "push the button to the left" wish for no push.
_MINE_EN: Final = (
    r"(?:(?: (?:all|my|our|the|these|those|this|local|latest|current))*"
    r" (?:changes?|work|code|commits?|branch|edits|files|everything|it|them|this|all))?"
)
_THERE_EN: Final = (
    r"(?: (?:up )?(?:to|with) (?:(?:the|my|our) )?"
    r"(?:github|gitlab|gitee|gitea|bitbucket|origin|upstream|remote|server|repo(?:sitory)?))?"
)
_END_EN: Final = (
    r"(?: (?:now|please|for me|up))*(?=\s*(?:$|[.!,;:：，。；！、\"“「『`']"
    r"|(?:and|then|with (?:the )?message)\b))"
)
_MINE_ZH: Final = (
    r"(?:一下|下)?(?:我|本地|这些|这次|所有|全部|最新|当前|的)*"
    r"(?:改动|修改|变更|代码|提交|分支|内容)?"
)
_THERE_ZH: Final = (
    r"\s?(?:上去|上|(?:到|至|给)?\s?(?:github|gitlab|gitee|gitea|码云|远端|远程|云端|服务器|origin)"
    r"(?:仓库|分支|\s?上)*|(?:远端|远程)?仓库)?"
)
_END_ZH: Final = r"(?:一下|吧|啦|哈)*(?=\s*(?:$|[.!,;:：，。；！、\"“「『`']|然后|再|并|接着|谢谢))"
_PUSH_ZH: Final = (
    r"提交(?:代码|改动|修改)?\s?(?:并|后|再|然后|和|、|，|,)?\s?(?:推送?|push)|推送|推"
    r"|同步(?=\s?(?:到|至|上))|提交(?=\s?(?:到|至)\s?(?:git|远))"
)

# The order decides where several kinds are named and none leads.  Execution stands last: in
# "the build failed after we changed X" neither "build" nor "changed" is a wish.
RULES: Final[tuple[Rule, ...]] = (
    Rule(
        TaskKind.HELP,
        en=r"help|what can you do|how do i use (?:this|you|it)|usage",
        zh=r"帮助|你能做什么|你会什么|怎么用你?$|使用说明",
    ),
    Rule(
        TaskKind.STATUS,
        en=r"status|what(?:'s| is) (?:running|pending|waiting)|any news",
        zh=r"状态|进度|在跑什么|还在跑吗|做完了吗|好了吗",
    ),
    Rule(
        TaskKind.EXPLAIN,
        en=r"why|explain|what do(?:es)?|what (?:is|are)|what's|how (?:do|does|is|are|can|should)"
        r"|describe|tell me about|meaning of",
        zh=r"为什么|为何|为啥|解释|讲解|讲讲|讲一下|说明一下|介绍|什么意思|是什么|干什么用|怎么回事"
        r"|怎么工作|怎么实现|怎样|如何|原理",
    ),
    Rule(
        TaskKind.REVIEW,
        en=r"review|code review|what (?:did i|have i) chang\w*|(?:my|local) (?:changes|diff)"
        r"|git (?:status|diff)",
        zh=r"审查|评审|审阅|审一下|代码检查|(?:我的|本地|这次|当前)的?(?:改动|修改|变更)"
        r"|看看改动|改了(?:什么|哪些)|有哪些改动",
    ),
    Rule(
        TaskKind.CHANGE,
        en=r"fix(?:es|ed|ing)?|implement\w*|refactor\w*|add(?:s|ed|ing)?|chang(?:e|es|ed|ing)"
        r"|rename\w*|remov(?:e|es|ed|ing)|delet(?:e|es|ed|ing)|updat(?:e|es|ed|ing)|create"
        r"|write|replac(?:e|es|ed|ing)|improve|upgrade|bump|edit|migrate|move",
        zh=r"修复|修一下|修好|修正|改正|实现|重构|添加|增加|加上|加一|加个|新增|修改|改成|改为|改一下"
        r"|改下|更改|变更|重命名|改名|删除|删掉|去掉|移除|更新|创建|新建|写一个|写个|编写|优化|替换"
        r"|升级|迁移",
    ),
    Rule(
        TaskKind.DIAGNOSE,
        en=r"errors?|stack ?traces?|traceback|fail(?:ed|s|ing|ure|ures)?|exceptions?"
        r"|crash\w*|broken|diagnos\w*|debug|does(?: not|n't) work|not working|hangs?",
        zh=r"报错|错误|出错|异常|失败|崩溃|崩了|挂了|堆栈|不工作|不能用|用不了|没反应|诊断|排查|卡住|卡死",
    ),
    Rule(
        TaskKind.SEARCH,
        en=r"find|locate|where(?:'s| is| are)|search(?: for)?|grep|look for|list (?:all )?files"
        r"|who (?:calls|uses)|occurrences of|usages of|references to",
        zh=r"查找|搜索|搜一下|搜下|搜|找一下|找下|找找|找到|找出|找|定位|在哪里?|哪里|哪儿|哪些文件"
        r"|谁调用|引用",
    ),
    Rule(
        TaskKind.GIT_SYNC,
        en=rf"(?:(?:git )?(?:add,? )?commit{_MINE_EN},? (?:and|then|&|\+) (?:then )?(?:git )?push"
        rf"(?: it| them| everything)?|(?:git )?push{_MINE_EN}"
        rf"|(?:git )?sync{_MINE_EN}){_THERE_EN}{_END_EN}",
        zh=rf"{_MINE_ZH}(?:都|直接)?(?:{_PUSH_ZH}){_MINE_ZH}{_THERE_ZH}{_END_ZH}",
        must_lead=True,
    ),
    Rule(
        TaskKind.RUN,
        en=r"run(?:s|ning)?|re-?run|tests?|build|lint|execute|compile|launch",
        zh=r"运行|执行|跑一下|跑一遍|跑下|跑个|跑跑|跑|测试|测一下|构建|编译|打包|格式检查",
    ),
)

_POLITE = re.compile(
    r"(?:please|pls|kindly|hi|hello|hey|ok(?:ay)?|now|then|just|(?:can|could|would|will) (?:you|we)"
    r"|i(?:'d like| want| need)(?: you)? to|let(?:'s| us)|help me(?: to)?|go ahead and"
    r"|请你?|麻烦你?|帮我|帮忙|帮|给我|你好|能不能|能否|可以|可不可以|再|先|现在|我想|我要|想|去|把"
    r"|一下)(?=$|[^a-z])[\s,，:：、!！]*",
    re.IGNORECASE,
)
# What follows a negation up to the end of its clause is not wished.
_NEGATED = re.compile(
    r"(?:\b(?:do not|don't|dont|never|without|not to|no need to|instead of|rather than)\b"
    r"|不要|不用|不必|不需要|无需|无须|先不|请勿|切勿|没让你|(?<![特区级分个性类识辨鉴])别(?![的人处])"
    r")[^,.;:!?，。；：！？\n]*?(?=$|[,.;:!?，。；：！？\n]|\b(?:but|just|only)\b|但|只)",
    re.IGNORECASE,
)
_ASKING = re.compile(
    r"^(?:why|what|how|which|who|when|is|are|does|do|did|should)\b|[?？]\s*$|[吗呢么]\s*[?？。]?\s*$",
    re.IGNORECASE,
)
_ASKING_ZH = re.compile(r"^(?:怎么|怎样|如何|为什么|为何|为啥|什么时候|失败|报错|被拒|不了)|怎么办")
_LEAD: Final = tuple(
    (r.kind, re.compile(rf"(?:(?:{r.en})(?![\w-])|(?:{r.zh}))", re.IGNORECASE)) for r in RULES
)
_ANYWHERE: Final = tuple(
    (r.kind, re.compile(rf"(?:(?<![\w-])(?:{r.en})(?![\w-])|(?:{r.zh}))", re.IGNORECASE))
    for r in RULES
    if not r.must_lead
)
_TESTS = re.compile(
    r"\b(?:tests?|testing|pytest|unittests?|specs?|test_\w+|\w+_test)\b|测试|测一下|单测",
    re.IGNORECASE,
)
_RUNS = re.compile(r"re-?run|run|execute|launch|运行|执行|跑一下|跑一遍|跑下|跑个|跑")
_WISH_TO_APPROVE = re.compile(
    r"(?:yes|ok(?:ay)?|lgtm|approved?|accept|allow|confirm(?:ed)?|go|同意|批准|通过|确认|允许|准了?|好的?|可以)"
    r"(?:\s*(?:it|this|that|执行|运行|了|吧))?\W*(?:#?t-?\s?[0-9a-z]{4,5})?\W*",
    re.IGNORECASE,
)
_WISH_TO_REJECT = re.compile(
    r"(?:no|nope|reject(?:ed)?|deny|denied|decline|拒绝|驳回|不同意|不批准|不行)"
    r"(?:\s*(?:it|this|that|执行|运行|了|吧))?\W*(?:#?t-?\s?[0-9a-z]{4,5})?\W*",
    re.IGNORECASE,
)


def guess_kind(text: str) -> Guess:
    """Guess the kind of a free text, safe by default: the unclear is a question."""
    wished = _NEGATED.sub(" ", text).strip()
    plain = skip_polite(wished)
    if led := _leading(plain):
        return led
    kinds = [kind for kind, words in _ANYWHERE if words.search(wished)]
    if _ASKING.search(plain) and TaskKind.SEARCH not in kinds:
        return Guess(TaskKind.EXPLAIN, ASKED if kinds else AMONG_OTHERS, rest=text)
    if not kinds:
        return Guess(TaskKind.EXPLAIN, NOTHING, rest=text)
    return Guess(kinds[0], ALONE if len(kinds) == 1 else AMONG_OTHERS, rest=text)


def skip_polite(text: str) -> str:
    """Return the text from its first word that says something."""
    rest = text.strip()
    while (match := _POLITE.match(rest)) and match.end():
        rest = rest[match.end() :]
    return rest


def wishes_to_approve(text: str) -> bool:
    """Tell whether the whole text says yes to something: the chat cannot (P1, P4)."""
    return _WISH_TO_APPROVE.fullmatch(text.strip()) is not None


def wishes_to_reject(text: str) -> bool:
    """Tell whether the whole text says no to something."""
    return _WISH_TO_REJECT.fullmatch(text.strip()) is not None


def is_no_wish(text: str) -> bool:
    """Tell whether the text asks something or forbids it, rather than wishing it."""
    plain = text.strip()
    return any(words.search(plain) for words in (_ASKING, _ASKING_ZH)) or bool(
        _NEGATED.match(plain)
    )


def wants_tests(text: str) -> bool:
    """Tell whether a wish to run something is about the tests, whose command we know."""
    return _TESTS.search(text) is not None


def starts_command(lead: str | None) -> bool:
    """Tell whether the leading word is followed by a command ("run X"), not a thing ("build X")."""
    return lead is not None and _RUNS.fullmatch(lead) is not None


def _leading(plain: str) -> Guess | None:
    longest: tuple[int, TaskKind] | None = None
    for kind, words in _LEAD:
        match = words.match(plain)
        if match and (longest is None or match.end() > longest[0]):
            longest = (match.end(), kind)
    if longest is None:
        return None
    end, kind = longest
    return Guess(kind, LEADS, plain[:end].casefold(), plain[end:].strip())
