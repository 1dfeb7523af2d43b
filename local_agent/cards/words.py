"""The sentences of the cards; every face says the same."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Final

from common.sentences import Lang, Sentence, say

if TYPE_CHECKING:
    from common.diff.view import MarkCode

TITLES: Final = {
    "run_command": Sentence(
        en="Run this command on {machine}?", zh="要在 {machine} 上运行这条命令吗？"
    ),
    "apply_diff": Sentence(
        en="Apply this change on {machine}?", zh="要在 {machine} 上应用这个改动吗？"
    ),
    "undo": Sentence(
        en="Take back the change of {undone} on {machine}?",
        zh="要在 {machine} 上撤销 {undone} 的改动吗？",
    ),
    "git_sync": Sentence(en="Push from {machine}?", zh="要从 {machine} 推送吗？"),
    "disclose": Sentence(
        en="Send this answer from {machine} to the chat?",
        zh="要把这个回答从 {machine} 发到聊天吗？",
    ),
}
TITLE_COMMIT: Final = Sentence(
    en="Commit and push from {machine}?", zh="要从 {machine} 提交并推送吗？"
)
TITLE_CHECK: Final = Sentence(
    en="Try the change of {task} out on {machine}?", zh="要在 {machine} 上先检查 {task} 的改动吗？"
)
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
ASKED_HERE: Final = Sentence(en="somebody at this machine's terminal", zh="本机终端前的人")
ASKED_CHECK: Final = Sentence(
    en="somebody at this machine, before deciding on the change", zh="本机前的人，在决定改动之前"
)
REQUEST: Final = Sentence(en="Request", zh="请求原文")
VERSION: Final = Sentence(en="Version", zh="版本")
VERSION_OF: Final = Sentence(en="version {version} of {task}", zh="{task} 的第 {version} 版")
VERSION_WISH: Final = Sentence(
    en="{task}, version {version}: {wish}", zh="{task} 第 {version} 版：{wish}"
)
FIRST_REQUEST: Final = Sentence(en="First request: {request}", zh="最初的请求：{request}")
CHANNELS: Final = {"wecom_app": Sentence(en="WeCom", zh="企业微信")}

SAID: Final = Sentence(en="Model says", zh="模型说明")
SAID_BY: Final = Sentence(
    en="{model} in its own words: not checked, and no part of what you approve",
    zh="{model} 的原话：未经核实，不属于批准内容",
)
SAID_CUT: Final = Sentence(
    en="… cut here; all of it: codexbridge show {task} --json",
    zh="……此处截断；全文：codexbridge show {task} --json",
)
REASON: Final = Sentence(en="Reason", zh="提出理由")
NAMED: Final = Sentence(en="Taken from", zh="取自")
NAMED_BY: Final = Sentence(
    en="{file} ({what}); no command was named", zh="{file}（{what}）；请求未指定命令"
)

RECIPIENT: Final = Sentence(en="Would go to", zh="将发给")
RECIPIENT_IS: Final = Sentence(
    en="“{user}”, so the gateway claims, in {channel}; the gateway and whoever else is in that "
    "chat can read it as well",
    zh="{channel}中据网关称的“{user}”；网关以及该聊天中的其他人也能读到",
)
BASED_ON: Final = Sentence(en="Based on", zh="依据")
BASED_ON_NOTHING: Final = Sentence(en="no file by name", zh="没有具体文件")
BASED_ON_NAME: Final = Sentence(en="{path} (by name alone)", zh="{path}（仅名称）")
BASED_ON_MORE: Final = Sentence(
    en="… and {count} {count:file|files} more", zh="……另有 {count} 个文件"
)
ANSWER: Final = Sentence(en="Answer", zh="回答")
ANSWER_IS: Final = Sentence(
    en="{size}, {count} {count:line|lines}, all of it shown; the words are the model's or of the "
    "files, and recognised secrets are taken out",
    zh="{size}，共 {count} 行，全部显示；文字出自模型或文件，已识别的机密已去除",
)

COMMAND: Final = Sentence(en="Command", zh="命令")
ARGV: Final = Sentence(
    en="no shell; {count} {count:argument|arguments}, one on each line",
    zh="不经过 shell；共 {count} 个参数，每行一个",
)
SHELL: Final = Sentence(
    en="runs in a shell ({shell}); {count} {count:line|lines}, all shown",
    zh="在 shell（{shell}）中运行；共 {count} 行，全部显示",
)
OPERATORS: Final = Sentence(
    en="the shell gives these a meaning of their own: {found}",
    zh="shell 会对这些符号作特殊处理：{found}",
)
COPY: Final = Sentence(en="Runs on", zh="运行于")
COPY_IS: Final = Sentence(
    en="a copy of the workspace with the change of {task} in it; the copy is removed afterwards, "
    "and nothing in the workspace changes",
    zh="工作区的副本（含 {task} 的改动）；副本随后删除，工作区本身不会有任何变化",
)
PROGRAM: Final = Sentence(en="Program", zh="程序")
PROGRAM_INSIDE: Final = Sentence(
    en="lies in the workspace; SHA-256 {sha256}…", zh="位于工作区内；SHA-256 {sha256}…"
)
FOLDER: Final = Sentence(en="Folder", zh="目录")
TOP: Final = Sentence(en="the top of the workspace", zh="工作区根目录")
ENVIRONMENT: Final = Sentence(en="Environment", zh="环境变量")
NO_ENVIRONMENT: Final = Sentence(en="none", zh="无")
SANDBOX: Final = Sentence(en="Sandbox", zh="沙箱")
SANDBOXED: Final = Sentence(
    en="{level}: it can change this workspace and nothing else of yours",
    zh="{level}：只能改动此工作区，不能改动你的其他内容",
)
SANDBOXED_COPY: Final = Sentence(
    en="{level}: it can change the copy and nothing of yours",
    zh="{level}：只能改动副本，不能改动你的任何内容",
)
NOT_SANDBOXED: Final = Sentence(en="NOT SANDBOXED", zh="未隔离")
NOT_SANDBOXED_MEANS: Final = Sentence(
    en="it can do everything that you can do on this machine",
    zh="它能在本机上做你能做的一切",
)
NETWORK: Final = Sentence(en="Network", zh="网络")
NETWORK_ON: Final = Sentence(en="ON: it can send and receive data", zh="开放：它可以收发数据")
NETWORK_OFF: Final = Sentence(en="off", zh="关闭")
NETWORK_FREE: Final = Sentence(
    en="not restricted: nothing keeps it from sending and receiving data",
    zh="不受限制：没有任何机制阻止它收发数据",
)
LIMITS: Final = Sentence(en="Limits", zh="限制")
LIMITS_ARE: Final = Sentence(
    en="ended after {seconds} s; the log keeps {size} of each output stream",
    zh="{seconds} 秒后终止；日志为每路输出保留 {size}",
)
LIMITS_WITHOUT_SANDBOX: Final = Sentence(
    en="ended after {seconds} s, but not what it hands to others to run (systemd, cron, docker) "
    "or runs under other accounts; the log keeps {size} of each output stream",
    zh="{seconds} 秒后终止，但它交由其他服务（systemd、cron、docker）或以其他账户运行的内容"
    "不会终止；日志为每路输出保留 {size}",
)
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
    "answer": Sentence(
        en="exactly this answer; where it is rejected, only that it stays here",
        zh="仅此回答原文；若拒绝，则只说明回答留在本机",
    ),
}
OUTCOME_OF_COMMAND: Final = Sentence(
    en="how it ended, the exit code and the duration", zh="结果、退出码与耗时"
)
DISCLOSES_OTHER: Final = Sentence(en="“{name}”", zh="“{name}”")
UNDO: Final = Sentence(en="Undo", zh="撤销")
UNDO_NO: Final = {
    "run_command": Sentence(
        en="What a command did CANNOT BE UNDONE.", zh="命令运行后的结果无法撤销。"
    ),
    "git_sync": Sentence(
        en="A push CANNOT BE UNDONE: others may have what was pushed at once.",
        zh="推送后无法撤销：其他人可能立即取得已推送的内容。",
    ),
    "disclose": Sentence(
        en="What was told CANNOT BE TAKEN BACK. Nothing on this machine changes.",
        zh="已发出的内容无法收回。本机不会有任何变化。",
    ),
}
UNDO_COPY: Final = Sentence(
    en="nothing to take back: the workspace does not change", zh="无需撤销：工作区不会变化"
)
UNDO_NO_OTHER: Final = Sentence(en="CANNOT BE UNDONE", zh="无法撤销")
UNDO_PARTLY: Final = Sentence(en="can be undone in part", zh="可以部分撤销")
UNDO_YES: Final = {
    "apply_diff": Sentence(
        en="can be undone for {days} days, file by file, where nobody has changed the lines since: "
        "codexbridge undo {task}",
        zh="{days} 天内可以按文件撤销（前提是相关内容此后未被改动）：codexbridge undo {task}",
    ),
    "undo": Sentence(
        en="puts the files back as they were before; can itself be undone for {days} days: "
        "codexbridge undo {task}",
        zh="把文件恢复到改动之前；{days} 天内此撤销本身也可以撤销：codexbridge undo {task}",
    ),
}
UNDO_YES_OTHER: Final = Sentence(en="can be undone", zh="可以撤销")
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

# -- changes and undo -------------------------------------------------------------------------

CHANGES: Final = Sentence(en="Files", zh="文件")
CHANGES_ARE: Final = Sentence(
    en="{count} {count:file|files}, +{added} −{removed}, counted on this machine",
    zh="{count} 个文件，+{added} −{removed}（由本机计算）",
)
LEFT_OUT: Final = Sentence(
    en="{kept} of {total} files. Left out: {paths}. For the whole again: codexbridge cancel "
    "{task}, then codexbridge retry {task}",
    zh="共 {total} 个文件中的 {kept} 个。未包含：{paths}。如需完整改动：codexbridge cancel {task}，"
    "再运行 codexbridge retry {task}",
)
CHANGES_ONLY: Final = Sentence(
    en="Nothing else is touched. All of it is done, or nothing.",
    zh="不会改动其他内容。要么全部完成，要么什么都不做。",
)
OPS: Final = {
    "add": Sentence(en="new", zh="新增"),
    "modify": Sentence(en="changed", zh="修改"),
    "delete": Sentence(en="deleted", zh="删除"),
    "rename": Sentence(en="renamed", zh="重命名"),
    "copy": Sentence(en="copied", zh="复制"),
}
FROM: Final = Sentence(en="from {path}", zh="来自 {path}")
BECOMES_PROGRAM: Final = Sentence(en="may be executed afterwards", zh="之后将可以执行")
NO_PROGRAM: Final = Sentence(en="may no longer be executed", zh="之后将不能执行")
EMPTY: Final = Sentence(en="empty", zh="空文件")
NO_TEXT: Final = Sentence(
    en="its content is not text, and is not shown", zh="内容不是文本，不予显示"
)
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
        en="bytes that are not UTF-8; shown as ⟨0x…⟩", zh="含非 UTF-8 的字节，以 ⟨0x…⟩ 标出"
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
TAKES_BACK: Final = Sentence(en="Takes back", zh="撤销对象")
TAKES_BACK_IS: Final = Sentence(
    en="what {task} changed, in the files below and in no others",
    zh="{task} 的改动，仅限以下文件",
)

# -- git sync ----------------------------------------------------------------------------------

BRANCH: Final = Sentence(en="Branch", zh="分支")
BRANCH_AT: Final = Sentence(en="at commit {commit}", zh="位于提交 {commit}")
BRANCH_EMPTY: Final = Sentence(en="without a commit yet", zh="尚无提交")
REMOTE: Final = Sentence(en="Pushed to", zh="推送到")
REMOTE_REF: Final = Sentence(
    en="{ref} there, last known at {commit}", zh="其 {ref}，已知位于 {commit}"
)
REMOTE_NEW: Final = Sentence(en="{ref} there, which will be made", zh="其 {ref}（将新建）")
REMOTE_NAMED: Final = Sentence(en="{remote}: {ref}", zh="{remote}: {ref}")
STANDING: Final = Sentence(en="Standing", zh="进度")
STANDING_IS: Final = Sentence(
    en="{ahead} {ahead:commit|commits} ahead of it, {behind} behind, by what is known here",
    zh="据本机所知，领先 {ahead} 个提交，落后 {behind} 个",
)
COMMIT: Final = Sentence(en="Commit", zh="提交")
COMMIT_BY: Final = Sentence(en="by {author} <{email}>", zh="作者 {author} <{email}>")
NO_COMMIT: Final = Sentence(
    en="none; what is committed already is pushed", zh="无；仅推送已有的提交"
)
STEPS: Final = Sentence(en="Steps", zh="步骤")
STEP_NAMES: Final = {
    "check": Sentence(en="look whether all is still as shown", zh="核对一切是否仍与所示一致"),
    "add": Sentence(en="take the files above into the index", zh="把以上文件加入暂存区"),
    "commit": Sentence(en="commit them on {branch}", zh="提交到 {branch}"),
    "push": Sentence(en="push {branch}; never forced", zh="推送 {branch}；绝不强制"),
}
EFFECTS: Final = {
    "read-only": Sentence(en="read-only", zh="只读"),
    "local-write": Sentence(en="LOCAL WRITE", zh="本地写入"),
    "remote-write": Sentence(en="REMOTE WRITE", zh="远程写入"),
}
GIT: Final = Sentence(en="Git", zh="Git")
GIT_RUNS_NOTHING: Final = Sentence(
    en="No hook of the repository runs and nothing is signed. The push uses your global git "
    "settings alone (credentials, ssh), and nothing of the repository's own .git/config.",
    zh="不会运行仓库的任何钩子，也不会签名。推送只使用你的全局 git 设置（凭据、ssh），"
    "不使用仓库自身的 .git/config。",
)
GIT_SKIPS_HOOKS: Final = Sentence(
    en="The remote is a folder on this machine: its own hooks (pre-receive, update, post-receive) "
    "do not run either, so whatever they check or start is skipped.",
    zh="远端是本机上的文件夹：其自身的钩子（pre-receive、update、post-receive）也不会运行，"
    "由钩子进行的检查或触发的动作都会跳过。",
)
GIT_LIMIT: Final = Sentence(en="given up after {seconds} s", zh="{seconds} 秒后放弃")

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
