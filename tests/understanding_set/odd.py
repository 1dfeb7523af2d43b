"""Odd wordings of what must not be done: bans, questions, reports, quotations and approvals around
a deed, in both languages and mixed, behind marks and before politeness."""

from __future__ import annotations

import random
from collections.abc import Iterator
from typing import Final

_DEEDS: Final = (
    *("push to main", "run the migrations", "delete the cache folder", "fix the login retry"),
    *("rename UserService", "commit everything", "deploy it", "drop the table", "cancel my task"),
    *("undo the last change", "apply the patch", "run rm -rf build"),
)
_DEEDS_ZH: Final = (
    *(
        "推到 main",
        "跑一下迁移",
        "删掉缓存目录",
        "修复登录重试",
        "把 UserService 改名",
        "提交并推送",
    ),
    *("部署一下", "清空数据表", "取消我的任务", "撤销刚才的改动", "应用补丁", "执行 rm -rf build"),
)
_AROUND: Final = (
    *("don't {}", "do not, under any circumstances, {}", "please never {}", "no need to {}"),
    *("nobody should {} before Friday", "you said you would {}, did you?", "should I {}?"),
    *("is it safe to {}", "what happens if I {}?", "Li asked: “{}”. Why?", "I already did: {}"),
    *("the ticket says '{}', is that right", "who told you to {}?", "wait with it. {}? no."),
    *("not yet: {}", "how would one {}", "can one {} without approval", "{}? what a silly idea"),
    *("“{}” is what the old bot used to do", "approve it and {}", "ok, approved, {}"),
    *("it fails when I {}", "after we {} the build breaks", "if you {} I will be angry"),
    *("why did you {}", "when did somebody {}", "let's not {}", "hands off, no '{}' today"),
    *("don't\u200b {}", "d\u043en't {}", "D O N ' T {}", "i would rather not {}"),
    *("under no circumstances {}", "remind me never to {}", "does it {} by itself"),
    *("I wonder whether to {}", "explain what it means to {}", "the docs say: {}"),
    *("my colleague will {} tomorrow, just so you know", "`{}` does what exactly"),
)
_AROUND_ZH: Final = (
    *("别{}", "千万不要{}", "先别急着{}", "谁都不许{}", "要不要{}？", "{}安全吗", "{}会怎么样"),
    *("老王说“{}”，对吗", "工单上写着：{}，是什么意思", "我已经{}了", "谁让你{}的", "为什么要{}"),
    *("怎么{}", "{}是干嘛的", "如果{}会出问题吗", "刚才{}失败了", "一{}就报错", "昨天{}之后就挂了"),
    *(
        "暂时不{}",
        "不用{}了",
        "没让你{}",
        "你会自动{}吗",
        "能不能不{}",
        "是不是应该{}",
        "同意，{}吧",
    ),
    *("批准{}", "解释一下{}", "“{}”这句话谁写的", "小李明天会{}，跟你说一声", "不\u200b要{}"),
    *(
        "不要、不要、不要{}",
        "拒绝{}",
        "什么时候才能{}",
        "{}了没",
        "禁止{}",
        "不许你{}",
        "这周不能{}",
    ),
    *("除非我说，否则不要{}", "{}？算了", "假如我{}呢"),
)
_BEFORE: Final = ("", "@dev ", "hey, ", "请问 ", "ok so ", "嗯 ", "1) ", "**", "> ")
_BEHIND: Final = ("", "!", "...", "?", " thanks", " 谢谢", "。", " 🙏", "**")


def odd_wordings() -> Iterator[str]:
    """Yield some thousand of them, always the same."""
    chance = random.Random(5)
    for around, deeds, others in (
        (_AROUND, _DEEDS, _DEEDS_ZH),
        (_AROUND_ZH, _DEEDS_ZH, _DEEDS),
    ):
        for frame in around:
            for deed in deeds * 3:
                yield chance.choice(_BEFORE) + frame.format(deed) + chance.choice(_BEHIND)
            for deed in others:
                yield frame.format(deed)
