"""The verbs of the chat: what each is called, what may follow it, and what it is.

One table; the parser, the help text (`dsl`) and the machine's reader follow it.  Pure.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Final, Literal

from common.model.intent import TaskKind
from common.sentences import Sentence

Takes = Literal[
    "nothing", "task-id", "task-id-and-files", "task-id-and-text", "text", "options", "word",
    "machine", "machine-and-text",
]  # fmt: skip


class Topic(StrEnum):
    """What a request is answered by besides its kind."""

    PLAIN = "plain"  # by nothing else

    # Commands that need their own answer, by their names.
    TEST = "test"
    SYNC = "sync"
    PLAN = "plan"
    PATCH = "patch"
    REVISE = "revise"
    APPLY = "apply"
    UNDO = "undo"
    CANCEL = "cancel"
    PLAYBOOK = "playbook"
    GATEWAY = "machines"  # whatever the gateway alone answers; journals have it by that name

    # What is wrong with a command, and what words alone ask for.
    BAD_OPTION = "bad-option"
    MISTYPED = "mistyped"
    EMPTY = "empty"
    FREE_TEXT_OFF = "free-text-off"
    APPROVE = "approve"
    REJECT = "reject"
    CHATTER = "chatter"
    COMMIT = "commit"
    PULL = "pull"
    UNSUPPORTED = "unsupported"


_TOPICS: Final[Mapping[str, Topic]] = {topic.value: topic for topic in Topic}


@dataclass(frozen=True, slots=True)
class CommandSpec:
    """One shortcut of the grammar.

    Attributes:
        name: The word itself, and the name in `dsl.Command`.
        aliases: Other words for it, already folded.
        kind: What it is to the seed.
        takes: What may follow.  Anything else makes the whole text natural language, so that
            "help me find the bug" is a question and not a call for help.
        usage: How to type it, without the prefix.
        summary: What it does, for the help text.
        needs_model: It can do nothing on a machine where no model is configured.
        for_gateway: The gateway alone answers it; a machine can only say so.
    """

    name: str
    aliases: tuple[str, ...]
    kind: TaskKind
    takes: Takes
    usage: Sentence
    summary: Sentence
    needs_model: bool = False
    for_gateway: bool = False

    @property
    def topic(self) -> Topic:
        """Its own name where it needs its own answer; a machine answers the gateway's alike."""
        return Topic.GATEWAY if self.for_gateway else _TOPICS.get(self.name, Topic.PLAIN)


COMMANDS: Final[tuple[CommandSpec, ...]] = (
    CommandSpec(
        name="help",
        aliases=("帮助", "?", "使用帮助"),
        kind=TaskKind.HELP,
        takes="nothing",
        usage=Sentence(en="help", zh="帮助"),
        summary=Sentence(en="this text", zh="本说明"),
    ),
    CommandSpec(
        name="status",
        aliases=("状态", "进度"),
        kind=TaskKind.STATUS,
        takes="task-id",
        usage=Sentence(en="status [ID]", zh="状态 [编号]"),
        summary=Sentence(en="your open tasks", zh="你的未完成任务"),
    ),
    CommandSpec(
        name="test",
        aliases=("测试", "跑测试", "运行测试"),
        kind=TaskKind.RUN,
        takes="options",
        usage=Sentence(en='test [--cmd="…"]', zh='测试 [--cmd="…"]'),
        summary=Sentence(en="run the tests", zh="运行测试"),
    ),
    CommandSpec(
        name="search",
        aliases=("查找", "搜索"),
        kind=TaskKind.SEARCH,
        takes="text",
        usage=Sentence(en="search TEXT", zh="查找 文字"),
        summary=Sentence(en="where it occurs", zh="出现在哪些文件"),
    ),
    CommandSpec(
        name="review",
        aliases=("审查", "评审"),
        kind=TaskKind.REVIEW,
        takes="text",
        usage=Sentence(en="review", zh="审查"),
        summary=Sentence(en="your local changes", zh="看看本地改动"),
    ),
    CommandSpec(
        name="sync",
        aliases=("同步", "推送"),
        kind=TaskKind.GIT_SYNC,
        takes="text",
        usage=Sentence(en="sync [MESSAGE]", zh="同步 [说明]"),
        summary=Sentence(en="commit and push", zh="提交并推送"),
    ),
    CommandSpec(
        name="plan",
        aliases=("计划", "规划"),
        kind=TaskKind.CHANGE,
        takes="text",
        usage=Sentence(en="plan TEXT", zh="计划 内容"),
        summary=Sentence(en="how it would be done", zh="说明做法，不改动"),
        needs_model=True,
    ),
    CommandSpec(
        name="patch",
        aliases=("补丁", "修改"),
        kind=TaskKind.CHANGE,
        takes="text",
        usage=Sentence(en="patch TEXT", zh="补丁 内容"),
        summary=Sentence(en="propose a change", zh="提出改动方案"),
        needs_model=True,
    ),
    CommandSpec(
        name="revise",
        aliases=("修订", "修改提案"),
        kind=TaskKind.CHANGE,
        takes="task-id-and-text",
        usage=Sentence(en="revise [ID] TEXT", zh="修订 [编号] 意见"),
        summary=Sentence(en="its next version", zh="按意见修改方案"),
        needs_model=True,
    ),
    CommandSpec(
        name="apply",
        aliases=("应用",),
        kind=TaskKind.HELP,
        takes="task-id",
        usage=Sentence(en="apply [ID]", zh="应用 [编号]"),
        summary=Sentence(en="ask there again", zh="在开发机上再次询问"),
        needs_model=True,
    ),
    CommandSpec(
        name="undo",
        aliases=("撤销", "撤消", "还原"),
        kind=TaskKind.CHANGE,
        takes="task-id-and-files",
        usage=Sentence(en="undo ID", zh="撤销 编号"),
        summary=Sentence(en="take a change back", zh="撤销已应用的改动"),
    ),
    CommandSpec(
        name="cancel",
        aliases=("取消", "撤回"),
        kind=TaskKind.HELP,
        takes="task-id",
        usage=Sentence(en="cancel [ID|all]", zh="取消 [编号|全部]"),
        summary=Sentence(en="stop a task", zh="停止任务"),
    ),
    CommandSpec(
        name="playbook",
        aliases=("剧本",),
        kind=TaskKind.PLAYBOOK,
        takes="text",
        usage=Sentence(en="playbook [NAME]", zh="剧本 [名称]"),
        summary=Sentence(en="run one, or list them", zh="执行剧本，或列出剧本"),
    ),
    CommandSpec(
        name="machines",
        aliases=("开发机", "电脑", "机器", "我的电脑"),
        kind=TaskKind.HELP,
        takes="nothing",
        usage=Sentence(en="machines", zh="开发机"),
        summary=Sentence(en="your machines", zh="你有哪些开发机"),
        for_gateway=True,
    ),
    CommandSpec(
        name="use",
        aliases=("使用", "切换到"),
        kind=TaskKind.HELP,
        takes="machine",
        usage=Sentence(en="use NAME", zh="使用 名称"),
        summary=Sentence(en="ask that one from now on", zh="以后都发给它"),
        for_gateway=True,
    ),
    CommandSpec(
        name="on",
        aliases=("在",),
        kind=TaskKind.HELP,
        takes="machine-and-text",
        usage=Sentence(en="on NAME …", zh="在 名称 …"),
        summary=Sentence(en="ask that one just once", zh="只这一条发给它"),
        for_gateway=True,
    ),
    CommandSpec(
        name="whoami",
        aliases=("我是谁",),
        kind=TaskKind.HELP,
        takes="nothing",
        usage=Sentence(en="whoami", zh="我是谁"),
        summary=Sentence(en="your ID, role and limit", zh="你的 ID、角色和限额"),
        for_gateway=True,
    ),
    CommandSpec(
        name="lang",
        aliases=("language", "语言"),
        kind=TaskKind.HELP,
        takes="word",
        usage=Sentence(en="lang zh|en", zh="语言 中文|英文"),
        summary=Sentence(en="your language", zh="用哪种语言答复你"),
        for_gateway=True,
    ),
    CommandSpec(
        name="members",
        aliases=("成员",),
        kind=TaskKind.HELP,
        takes="nothing",
        usage=Sentence(en="members", zh="成员"),
        summary=Sentence(en="who may write here (admins)", zh="谁可以使用（管理员）"),
        for_gateway=True,
    ),
)

BY_NAME: Final[Mapping[str, CommandSpec]] = {spec.name: spec for spec in COMMANDS}

_PLEASE: Final = r"(?:(?:please|pls|ok(?:ay)?|no|wait|just|hey)[,!.]?\s+)*+"
_END: Final = r"(?:\s+(?:now|please|pls|thanks|at once|immediately|right away))*+[.!~。\s]*"
# Other words for a whole message, folded: the command that it is, whether of all tasks, and how
# it is said.  More words than these make it natural language: "stop retrying", "取消按钮".
SAID: Final[tuple[tuple[str, bool, str], ...]] = (
    (
        "cancel",
        True,
        (
            rf"{_PLEASE}(?:cancel|stop|abort|kill)\s+(?:everything|them all|all)(?:\s+(?:of|my|mine"
            rf"|the|open|running|pending|waiting|these|it|them|that|tasks?|requests?|jobs?))*+{_END}"
        ),
    ),
    (
        "cancel",
        True,
        (
            r"(?=.*(?:全|所有|都|一切|统统))(?:请|麻烦|先|把|将|帮我|给我|我的?|所有|全部?|任务|请求|一切|都"
            r"|统统|现在|正在|运行|进行|排队|等待|未完成|的|\s)*+(?:取消|停止|停掉|停|终止|中止|撤回)"
            r"(?:所有|全部?|一切|我的?|任务|请求|掉|了?吧|的|\s)*+[.!~。]*"
        ),
    ),
    (
        "cancel",
        False,
        (
            rf"{_PLEASE}(?:stop|abort|halt|cancel)(?:\s+(?:it|that|this|the|my|current|running|task|run"
            rf"|working|what you(?: a|')re doing))*+(?:\s+(?P<id>(?=\S*[\d-])\S+?))?{_END}"
        ),
    ),
    (
        "cancel",
        False,
        (
            r"(?:请|先|快|赶紧|马上|立刻|别跑了|别做了|算了|帮我|给我|把|它|这个|那个|当前|任务|[,\s])*+"
            r"(?:停下来?|停止|停掉|停一下|停|取消|终止|中止|打住)(?:掉|它|这个|那个|当前|任务|执行|运行|的"
            r"|吧|[,\s])*+(?P<id>[a-z\d-]{4,7})?[.!~。]*"
        ),
    ),
    (
        "undo",
        False,
        (
            rf"{_PLEASE}(?:undo|take back|revert (?=your|what you))\s*(?:\b(?:the|my|your|that|this"
            r"|it|last|latest|previous|most recent|changes?|edits?|patch|you made"
            rf"|what you (?:just )?(?:did|changed))\b\s*)+{_END}"
        ),
    ),
    (
        "undo",
        False,
        (
            r"(?=.*(?:撤[销消]|改))(?:请|麻烦|帮我|把|将|你|我|刚才|刚刚|上一?[个次]|最近一?次?|最后一?[个次]"
            r"|这个|那个|的|改动|修改|更改)*+(?:撤销|撤消|撤回|还原)(?:掉|一下|你|我|刚才|刚刚|上一?[个次]"
            r"|最近|最后|一?[个次]|这个|那个|的|改动|修改|更改|吧)*+[.!~。]*"
        ),
    ),
)
