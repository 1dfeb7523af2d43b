"""What a text says besides the one wish that is taken up, so that the answer can name it (P7).

One request holds one wish.  Nothing here decides what is proposed; it only finds what is left over.
Pure.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import islice
from typing import Final

from local_agent.understand.params import mask_quoted

_JOINTS: Final = 20  # of one text; whoever strings together more is told of the first other wish
_JOIN: Final = (
    r"(?:[,;，；。！!\n]|\.(?=\s)|&&?"
    r"|(?<![\w-])(?:and|then|also|plus|after(?:wards| that))(?![\w-])"
    r"|(?<!合)并且?(?![发行列排])|而且|然后|接着|随后|之后|同时|顺便|再(?!次))"
)
_JOINT: Final = re.compile(rf"{_JOIN}(?:\s*{_JOIN})*\s*", re.IGNORECASE)
_ACT: Final = re.compile(
    r"(?:delete|remove|fix|implement|refactor|add|change|rename|update|create|write|replace|improve"
    r"|upgrade|bump|edit|migrate|move|explain|describe|find|locate|search|grep|run|re-?run|execute"
    r"|compile|launch|commit|push|pull|merge|deploy|publish|release|install|uninstall|restart|start"
    r"|stop|kill|reset|revert|clean|format|send|email|open|close|upload|download|copy|drop|wipe"
    r"|erase|make|apply|approve|tell me (?:why|what|how|which|if|whether))(?![\w-])"
    # These are nouns as well: "the build and test setup" asks for nothing more.
    r"|(?:test|build|lint|review|check|debug|diagnose)(?=\s+(?:the|a|an|my|our|it|them|this|that|all"
    r"|every\w*)\b|\W*$)",
    re.IGNORECASE,
)
_ACT_ZH: Final = re.compile(
    r"删|修|改|实现|重构|添加|增加|加上|新增|重命名|去掉|移除|更新|创建|新建|编写|写[一个]|优化|替换"
    r"|升级|迁移|解释|讲[解讲]|说明|查找|搜|找|运行|执行|跑|测试|测一下|构建|编译|打包|审[查阅]|评审"
    r"|提交|推送|推到|部署|发布|上线|安装|卸载|重启|启动|停止|关闭|关掉|清[理空除]|格式化|发[送给](?!我)"
    r"|发邮件|打开|合并|回滚|重置|批准|应用|告诉我(?:为|哪|怎|什)"
)
_POLITE: Final = re.compile(
    r"(?:please|pls|kindly|just|now|also|then|and|(?:can|could|would|will) you|you|i'd like you to"
    r"|i want you to|let's|ok|hey|hi|@dev"
    r"|麻烦|劳驾|请|帮忙?|我|你|再|还|也|顺手|顺便|可以|能不能|能|给|一下|最后|,|，|\s)+",
    re.IGNORECASE,
)
_OBJECT_FIRST: Final = re.compile(r"[把将]")  # 把…删掉: the verb stands at the end

_TOKEN: Final = re.compile(r"[A-Za-z0-9_.~@/-][A-Za-z0-9_.:/*\[\]~@-]*|[\u3400-\u9fff]+")
# What a plain wish for the tests is made of.
_PLAIN: Final = frozenset(
    "the a an all my our your this that these those it its them they please pls now again once"
    " more time quickly asap for me us in on of from here and then with if whether is are still"
    " run rerun re-run execute test tests testing suite suites unit unittest unittests unit-test"
    " unit-tests spec specs case cases every everything whole full complete entire project code"
    " codebase repo repository workspace command pass passes work works ok green pytest jest"
    " vitest mocha tox let know tell show see report back result results output what happens how"
    " goes you can could would will i we want need to like thanks thank thx just".split()
)
_HEAD_ZH: Final = re.compile(
    r"(?:所有|全部|全套|整个|完整|单元|测试|单测|用例|一下|一遍|一次|跑|运行|执行|这个|那个|这些|我们"
    r"|咱们|项目|工程|代码库?|工作区|仓库|看看|看下|重新|现在|马上|给我|帮我|谢谢|结果|告诉我?|怎么样"
    r"|如何|有没有问题|是否|能不能|能否|通过|发给?我|的|再|把)+"
)
_TAIL_ZH: Final = re.compile(
    r"(?P<plain>所有|全部|全套|整个|完整|单元|测试|单测|用例|套件|一下|一遍|一次|目录|文件夹|文件|模块|包|项目"
    r"|工程|代码库?|工作区|仓库|看看|看下|谢谢|结果|告诉我?|怎么样|如何|有没有问题|是否|能不能|能否"
    r"|通过|里面?|下面?|中|的|吧|了|吗|呢|啊|呀|跑)|."
)


def split_wish(text: str) -> tuple[str, str]:
    """Return the first wish, and what stands after it where that wishes something else.

    Returns:
        The whole text and nothing where only one wish is found.  Quoted pieces are never split.
    """
    return next(splits(text), (text, ""))


def splits(text: str, *, within: int | None = None) -> Iterator[tuple[str, str]]:
    """Yield every way to part a text before something that may be a wish of its own.

    Args:
        within: So many characters may stand before it; any number when not given.
    """
    masked = mask_quoted(text)
    for joint in islice(_JOINT.finditer(masked, 0, within or len(masked)), _JOINTS):
        if acts(masked[joint.end() :]):
            yield text[: joint.start()].strip(), text[joint.end() :].strip()


def polite_end(text: str) -> int:
    """Return where a text begins to say more than please."""
    polite = _POLITE.match(text)
    return polite.end() if polite else 0


def without_polite(text: str) -> str:
    """Return a text from its first word that says more than please."""
    return text[polite_end(text) :]


def beyond_tests(text: str) -> str:
    """Return what a wish for the tests names besides the tests, such as a folder; empty if nothing.

    Args:
        text: What follows the leading word, or the whole text where no word leads.
    """
    spans = [span for token in _TOKEN.finditer(text) if (span := _telling(token))]
    return text[spans[0][0] : spans[-1][1]] if spans else ""


def acts(clause: str) -> bool:
    """Tell whether a clause begins with a verb that asks for a deed."""
    here = clause[:200]
    plain = without_polite(here)
    if _ACT.match(plain) or _ACT_ZH.match(plain):
        return True
    clause = _JOINT.split(here, maxsplit=1)[0]
    return _OBJECT_FIRST.search(clause) is not None and _ACT_ZH.search(clause) is not None


def _telling(token: re.Match[str]) -> tuple[int, int] | None:
    """Return where the token says something that no plain wish for tests says."""
    word = token[0]
    if word[0].isascii():
        bare = word.rstrip(".:-")
        told = bare and bare.casefold() not in _PLAIN
        return (token.start(), token.start() + len(bare)) if told else None
    head = _HEAD_ZH.match(word)
    start = head.end() if head else 0
    end = start  # of the last word that is not plain: found in one pass, however long the run
    for part in _TAIL_ZH.finditer(word, start):
        if part["plain"] is None:
            end = part.end()
    return (token.start() + start, token.start() + end) if start < end else None
