"""What stands beside the card of any action; every face says the same."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Final

from common.sentences import Lang, Sentence, say

if TYPE_CHECKING:
    from common.diff.view import MarkCode

NORMAL: Final = Sentence(en="ordinary risk", zh="一般风险")
HIGH: Final = Sentence(en="HIGH RISK", zh="高风险")

MACHINE: Final = Sentence(en="Machine", zh="开发机")
WORKSPACE: Final = Sentence(en="Workspace", zh="工作区")
AT_COMMIT: Final = Sentence(en="at commit {commit}", zh="位于提交 {commit}")
ASKED_BY: Final = Sentence(en="Asked by", zh="请求者")
ASKED_CHAT: Final = Sentence(
    en="claimed to be “{user}” in {channel}, relayed by the gateway (key {key}). "
    "This machine has not verified who it was.",
    zh="据称是{channel}中的“{user}”，由网关（密钥 {key}）转达。本机没有核实其身份。",
)
ASKED_HERE: Final = Sentence(en="somebody at this machine", zh="本机前的人")
ASKED_CHECK: Final = Sentence(
    en="somebody at this machine, before deciding on the change", zh="本机前的人，在决定改动之前"
)
REQUEST: Final = Sentence(en="Request", zh="请求原文")
ONLY_COPY: Final = Sentence(
    en="only a copy of the workspace is touched; the workspace stays as it is",
    zh="只会改动工作区的副本，工作区保持不变",
)
BEYOND_COPY: Final = Sentence(
    en="it acts on a copy of the workspace, but can REACH BEYOND IT",
    zh="在工作区的副本上执行，但可能影响副本以外的内容",
)
VERSION: Final = Sentence(en="Version", zh="版本")
VERSION_OF: Final = Sentence(en="version {version} of {task}", zh="{task} 的第 {version} 版")
VERSION_WISH: Final = Sentence(
    en="{task}, version {version}: {wish}", zh="{task} 第 {version} 版：{wish}"
)
FIRST_REQUEST: Final = Sentence(en="First request: {request}", zh="最初的请求：{request}")


AFTERWARDS: Final = Sentence(en="To the chat", zh="发到聊天")
NOTHING_TO_CHAT: Final = Sentence(
    en="nothing; it was asked at this machine", zh="无；这是在本机提出的请求"
)
DISCLOSES: Final = {
    "outcome": Sentence(en="how it ended", zh="结果"),
    "output-tail": Sentence(
        en="what it reports (counts, up to three failures) or else its last lines, bounded, with "
        "recognised secrets taken out",
        zh="它报告的结果（数量和最多三项失败），否则为输出的最后几行；有长度限制，已识别的机密会去除",
    ),
    "file-list": Sentence(en="the list of files", zh="文件列表"),
    "outcome-of-run": Sentence(
        en="that the playbook goes on and waits, and how it ended, with the names of its steps",
        zh="剧本的进度、等待和结果，以及步骤名称",
    ),
    "why-failed": Sentence(
        en="where a step fails, why: also the names of files and the command line",
        zh="步骤失败的原因，可能含文件名和命令行",
    ),
    "last-answer": Sentence(
        en="what the model answers last, bounded, with recognised secrets taken out",
        zh="模型的最后一段回答；有长度限制，已识别的机密会去除",
    ),
    "answer": Sentence(
        en="exactly this answer; where it is rejected, only that it stays here",
        zh="仅此回答原文；若拒绝，则只说明回答留在本机",
    ),
}
DISCLOSES_OTHER: Final = Sentence(en="“{name}”", zh="“{name}”")
UNDO: Final = Sentence(en="Undo", zh="撤销")
UNDO_COPY: Final = Sentence(
    en="nothing to take back: the workspace does not change", zh="无需撤销：工作区不会变化"
)
UNDO_NO: Final = Sentence(en="CANNOT BE UNDONE", zh="无法撤销")
UNDO_PARTLY: Final = Sentence(en="can be undone in part", zh="可以部分撤销")
UNDO_YES: Final = Sentence(en="can be undone", zh="可以撤销")
CHECKED: Final = Sentence(en="Check", zh="检查")
CHECKS: Final = {
    "waiting": Sentence(en="{task} waits for its own approval", zh="{task} 等待其自身的批准"),
    "running": Sentence(en="{task} is running", zh="{task} 正在运行"),
    "passed": Sentence(
        en="passed on a copy with this change, in {duration} ({task})",
        zh="在含此改动的副本上通过，用时 {duration}（{task}）",
    ),
    "failed": Sentence(
        en="FAILED on a copy with this change: exit code {exit_code} after {duration} "
        "(codexbridge show {task})",
        zh="在含此改动的副本上未通过：退出码 {exit_code}，用时 {duration}"
        "（codexbridge show {task}）",
    ),
}
# Counts, and a name without blanks: no sentence of what ran stands beside the button that approves.
CHECK_READ: Final = Sentence(
    en="{verdict}, on a copy with this change (codexbridge show {task})",
    zh="{verdict}，在含此改动的副本上（codexbridge show {task}）",
)
CHECK_MARKED: Final = Sentence(en="{mark} Check: {said}", zh="{mark} 检查：{said}")
CHECK_ENDED: Final = Sentence(
    en="did not run to its end (codexbridge show {task})",
    zh="未运行完毕（codexbridge show {task}）",
)
WHY: Final = Sentence(en="Why", zh="原因")

CODE: Final = Sentence(en="Confirmation code", zh="确认码")
LEFT: Final = Sentence(en="{left} left", zh="剩余 {left}")
EXPIRED: Final = Sentence(en="expired", zh="已过期")
PROMPT: Final = Sentence(
    en="Type the first four characters of the code to approve exactly this.",
    zh="输入确认码的前四个字符，即批准以上内容。",
)
PROMPT_BOTH: Final = Sentence(
    en="High risk: type the whole code, both groups, to approve exactly this.",
    zh="高风险：请输入完整确认码（两组），即批准以上内容。",
)
PROMPT_ELSE: Final = Sentence(
    en="Enter alone, Ctrl-D or Ctrl-C decides nothing: it stays waiting.",
    zh="直接回车、Ctrl-D 或 Ctrl-C 都不作决定，请求继续等待。",
)
TYPE_HERE: Final = Sentence(en="Code for {task}: ", zh="{task} 的确认码：")
ONE_GROUP: Final = Sentence(
    en="That is the first group alone. The risk is high: type both groups. Nothing was approved.",
    zh="这只是第一组。风险高，请输入两组。没有批准任何操作。",
)
WRONG: Final = Sentence(
    en="That is not the code of what is shown above. Nothing was approved; try again.",
    zh="这不是上面内容的确认码。没有批准任何操作；请再试一次。",
)

HOURS: Final = Sentence(en="{h} h {m} min", zh="{h} 小时 {m} 分")
MINUTES: Final = Sentence(en="{m} min", zh="{m} 分钟")
SECONDS: Final = Sentence(en="{s} s", zh="{s} 秒")

# -- files and lines ---------------------------------------------------------------------------

CHANGES: Final = Sentence(en="Files", zh="文件")
OPS: Final = {
    "add": Sentence(en="new", zh="新增"),
    "modify": Sentence(en="changed", zh="修改"),
    "delete": Sentence(en="deleted", zh="删除"),
    "rename": Sentence(en="renamed", zh="重命名"),
    "copy": Sentence(en="copied", zh="复制"),
}
FROM: Final = Sentence(en="from {path}", zh="来自 {path}")
MARK_AT: Final = Sentence(en="line {line}: {what}", zh="第 {line} 行：{what}")
MARKS: Final[Mapping[MarkCode, Sentence]] = {
    "hidden-characters": Sentence(
        en="characters that draw nothing or turn the text around; shown as ⟨U+…⟩",
        zh="含不可见或改变显示方向的字符，以 ⟨U+…⟩ 标出",
    ),
    "confusable": Sentence(
        en="letters of other scripts that look like ordinary ones",
        zh="含与普通字母外形相似的其他文字字母",
    ),
    "long-line": Sentence(en="a very long line; read it to its end", zh="行很长，请看到末尾"),
    "encoding": Sentence(
        en="bytes that are not text, or that another program may read as \\, | or the like; "
        "shown as ⟨0x…⟩",
        zh="含不是文本的字节，或可能被其他程序当作 \\、| 等符号的字节，以 ⟨0x…⟩ 标出",
    ),
    "secret-looking": Sentence(en="looks like a password or key", zh="疑似密码或密钥"),
}
DIFF: Final = Sentence(en="Diff", zh="改动内容")
DIFF_WHOLE: Final = Sentence(
    en="all of it, line by line; − goes, + comes, ⇥ is a tab",
    zh="以下逐行列出全部内容；− 为删去，+ 为加入，⇥ 为制表符",
)
DIFF_TEXT: Final = Sentence(
    en="every line of the files that are text; − goes, + comes, ⇥ is a tab",
    zh="以下逐行列出文本文件的全部改动；− 为删去，+ 为加入，⇥ 为制表符",
)
OPEN_END: Final = Sentence(en="(no line feed at the end of the file)", zh="（文件末尾没有换行符）")

# -- steps -------------------------------------------------------------------------------------

STEPS: Final = Sentence(en="Steps", zh="步骤")
EFFECTS: Final = {
    "read-only": Sentence(en="read-only", zh="只读"),
    "local-write": Sentence(en="LOCAL WRITE", zh="本地写入"),
    "remote-write": Sentence(en="REMOTE WRITE", zh="远程写入"),
}

# -- how long it still waits ---------------------------------------------------------------------


def time_left(expires_at: int, now_ms: int, lang: Lang) -> str:
    """Return how long an approval still waits, such as ``23 h 59 min left``."""
    seconds = (expires_at - now_ms) // 1000
    if seconds <= 0:
        return say(EXPIRED, lang)
    minutes, hours = seconds // 60, seconds // 3600
    if hours:
        left = say(HOURS, lang, h=hours, m=minutes % 60)
    elif minutes:
        left = say(MINUTES, lang, m=minutes)
    else:
        left = say(SECONDS, lang, s=seconds)
    return say(LEFT, lang, left=left)
