"""What is said where it is not clear what is wanted: a question back, with what to send instead."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from common.sentences import Sentence

HERE = Sentence(
    en="I am here. `{prefix} help` shows what I can do.",
    zh="我在。发送 `{prefix} 帮助` 可以查看能做什么。",
)
MISTYPED = Sentence(
    en="“{word}” is no command. Did you mean `{prefix} {meant}`?",
    zh="没有“{word}”这个命令。是不是想发 `{prefix} {meant}`？",
)
UNSURE = Sentence(
    en="Not sure what you want; nothing was done. Likeliest:",
    zh="不确定你想做什么，没有执行任何操作。可能是：",
)
# What to send instead, of each kind that a message may be (`local_agent.understand.reading.Kind`).
SAY_IT: Final[Mapping[str, Sentence]] = {
    "help": Sentence(en="what I can do: `{prefix} help`", zh="了解用法：`{prefix} 帮助`"),
    "status": Sentence(
        en="how your tasks stand: `{prefix} status`", zh="查看任务进度：`{prefix} 状态`"
    ),
    "explain": Sentence(
        en="an explanation: `{prefix} how does … work?`", zh="解释：`{prefix} … 是怎么实现的？`"
    ),
    "change": Sentence(en="a change: `{prefix} patch …`", zh="改代码：`{prefix} 补丁 …`"),
    "run": Sentence(en="the tests run: `{prefix} test`", zh="运行测试：`{prefix} 测试`"),
    "diagnose": Sentence(
        en="a failure explained: `{prefix} why does … fail?`",
        zh="排查故障：`{prefix} … 为什么失败？`",
    ),
    "search": Sentence(en="something found: `{prefix} search …`", zh="查找：`{prefix} 查找 …`"),
    "review": Sentence(en="a review: `{prefix} review`", zh="审查改动：`{prefix} 审查`"),
    "git_sync": Sentence(en="commit and push: `{prefix} sync`", zh="提交并推送：`{prefix} 同步`"),
    "cancel": Sentence(
        en="a task stopped: `{prefix} cancel ID`", zh="停止任务：`{prefix} 取消 编号`"
    ),
    "undo": Sentence(
        en="a change taken back: `{prefix} undo ID`", zh="撤销改动：`{prefix} 撤销 编号`"
    ),
    "approve": Sentence(
        en="to approve: only at the machine, `codexbridge approve`",
        zh="批准：只能在开发机上运行 `codexbridge approve`",
    ),
    "output": Sentence(
        en="what the output means: `{prefix} why does … fail?`",
        zh="看看这段输出：`{prefix} … 为什么失败？`",
    ),
}
