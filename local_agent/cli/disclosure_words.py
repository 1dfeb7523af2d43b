"""The sentences of ``codexbridge workspace set``, and of what the chat may be told."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from common.sentences import Sentence

SET: Final = Sentence(
    en="Set what the chat may be told of a workspace, and how much a day. It is set here alone: no "
    "message can.",
    zh="设置聊天可以得知工作区的哪些内容，以及每天的数量。只能在此设置，任何消息都不能更改。",
)
LEVEL: Final = Sentence(
    en="what answers to the chat may hold. summary: without recognised secrets, one message long, "
    "at most 20 lines of a file in a row; ask: nothing until you have released it here; full: "
    "without recognised secrets, one message long",
    zh="发到聊天的回答可含的内容。summary：去除已识别的机密，一条消息以内，最多连续 20 行文件原文；"
    "ask：须先由你在此同意；full：去除已识别的机密，一条消息以内",
)
DAILY_READS: Final = Sentence(
    en="questions from the chat that are answered each member a day; 50 unless set. All members "
    "together: ten times as many",
    zh="每天回答每位成员的提问次数；未设置时为 50。所有成员合计为其十倍",
)
DAILY_BYTES: Final = Sentence(
    en="bytes that those answers may have together; 100000 unless set. All members together: ten "
    "times as many",
    zh="这些回答合计的字节数；未设置时为 100000。所有成员合计为其十倍",
)
HERE_ALONE: Final = Sentence(en="Here alone", zh="仅本机")
IS_SET: Final = Sentence(
    en="{name}: the chat may be told {level}; at most {reads} answers and {size} a day to each "
    "member. It counts from the next answer on.",
    zh="{name}：聊天可得知{level}；每位成员每天最多 {reads} 次回答、共 {size}。"
    "自下一个回答起生效。",
)
LEVELS: Final[Mapping[str, Sentence]] = {
    "summary": Sentence(en="summaries", zh="摘要"),
    "ask": Sentence(en="what you release", zh="你同意发出的内容"),
    "full": Sentence(en="EVERYTHING it may read", zh="可读取的全部内容"),
}
FULL_MEANS: Final = Sentence(
    en="Whoever is on the allow-list, and whoever controls the gateway, can now read any file of "
    "it that is no secret by name, part by part. To take that back: --disclosure summary",
    zh="从现在起，允许名单上的成员以及控制网关的人，都可以逐段读取其中名称不像机密的任何文件。"
    "收回：--disclosure summary",
)
