"""Sentences about what leaves this machine in answers (R52, R53); like `local_agent.replies`."""

from __future__ import annotations

from typing import Final

from common.sentences import Sentence

# --- in an answer ---------------------------------------------------------------------------

WITHHELD = Sentence(
    en="[… {count} lines withheld; see them at the machine]",
    zh="[……已略去 {count} 行；请在开发机上查看]",
)
CUT = Sentence(
    en="… (the whole answer is at the machine: codexbridge show)",
    zh="……（完整回答在开发机上：codexbridge show）",
)

# --- in place of one ------------------------------------------------------------------------

KEPT_THERE = Sentence(
    en="The answer is ready. A person at the machine decides whether it is sent here.",
    zh="回答已就绪。是否发到聊天，由开发机前的人决定。",
)
STAYS_THERE = Sentence(
    en="A person at the machine decided that the answer stays there.",
    zh="开发机前的人决定不发出此回答；它留在开发机上。",
)
STAYS_THERE_WHY = Sentence(
    en="A person at the machine decided that the answer stays there: {why}",
    zh="开发机前的人决定不发出此回答，它留在开发机上。原因：{why}",
)
CHANGE_THERE = Sentence(
    en="A change is proposed. What is in it is shown at the machine alone.",
    zh="已提出改动。其内容仅在开发机上显示。",
)
NOT_SENT = Sentence(
    en="The answer was released and not sent: the agent was ended before. Nothing of it left the "
    "machine.",
    zh="已同意发出回答，但 Agent 在发出前中止。没有任何内容离开开发机。",
)
GONE = Sentence(
    en="The answer is no longer kept as it was shown, so it was not sent.",
    zh="保存的回答已与当时显示的不符，因此没有发出。",
)
NO_READS_LEFT = Sentence(
    en="Not answered: {limit} questions about workspace {workspace} were answered today, which is "
    "all that is allowed. Ask again after {free}. More can be allowed at the machine.",
    zh="未回答：今天对工作区 {workspace} 的提问已达上限（{limit} 次）。请在 {free} 之后再试。"
    "可在开发机上调高上限。",
)
NO_BYTES_LEFT = Sentence(
    en="Not answered: with this answer more than {limit} would have been told of workspace "
    "{workspace} today, which is all that is allowed. The answer is at the machine. Ask again "
    "after {free}.",
    zh="未回答：加上此回答，今天对工作区 {workspace} 的回答将超过上限（{limit}）。回答在开发机上。"
    "请在 {free} 之后再试。",
)
READS_OF_ALL = Sentence(
    en="Not answered: members together have asked {limit} questions about workspace {workspace} "
    "today, which is all that is allowed. Ask again after {free}.",
    zh="未回答：今天所有成员对工作区 {workspace} 的提问合计已达上限（{limit} 次）。"
    "请在 {free} 之后再试。",
)
BYTES_OF_ALL = Sentence(
    en="Not answered: members together would have been told more than {limit} of workspace "
    "{workspace} today, which is all that is allowed. The answer is at the machine. Ask again "
    "after {free}.",
    zh="未回答：加上此回答，今天对工作区 {workspace} 的全部回答将超过上限（{limit}）。"
    "回答在开发机上。请在 {free} 之后再试。",
)
OVER: Final = {
    "reads": NO_READS_LEFT,
    "bytes": NO_BYTES_LEFT,
    "reads-of-all": READS_OF_ALL,
    "bytes-of-all": BYTES_OF_ALL,
}

# --- beside it, at this machine -------------------------------------------------------------

NOTICE = Sentence(en="CodexBridge: read from afar", zh="CodexBridge：远程读取")
NOTICE_ONE = Sentence(
    en="{who} (not verified) asked about {workspace}; {count} {count:file|files}. "
    "See: codexbridge show {task}",
    zh="{who}（未经核实）查询了 {workspace}，涉及 {count} 个文件。查看：codexbridge show {task}",
)
NOTICE_MORE = Sentence(
    en="{reads} more questions were answered meanwhile, the last one by {who} (not verified) about "
    "{workspace}. See: codexbridge tasks --all",
    zh="期间又有 {reads} 次查询，最近一次是 {who}（未经核实）查询 {workspace}。"
    "查看：codexbridge tasks --all",
)

# --- at the command line --------------------------------------------------------------------

ERRORS: Final = {
    "workspace.daily-reads": Sentence(
        en="--daily-reads is a number from 0 to {limit}.", zh="--daily-reads 应为 0 到 {limit}。"
    ),
    "workspace.daily-bytes": Sentence(
        en="--daily-bytes is a number from 0 to {limit}.", zh="--daily-bytes 应为 0 到 {limit}。"
    ),
}
