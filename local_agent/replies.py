"""Every sentence the agent says to people, in English and Chinese, by the part that says it.

No logic but small renderings of amounts.  What goes to the chat names no machine and no task ID:
the gateway puts those in front.
"""

from __future__ import annotations

from typing import Final

from common.sentences import Lang, Sentence, say

# --- engine: answers ------------------------------------------------------------------------

FREE_TEXT_OFF = Sentence(
    en="Plain words are switched off on this machine; these commands work:",
    zh="本机已关闭自然语言；可以使用下列命令：",
)
APPROVE_THERE = Sentence(
    en="Nothing can be approved from the chat. Approve at the machine itself: "
    "`codexbridge approve` shows everything that would run and asks there.",
    zh="聊天中无法批准任何操作。请在电脑上批准：`codexbridge approve` "
    "会显示将要执行的全部内容并在那里询问。",
)
REJECT_THERE = Sentence(
    en="To stop a task from the chat: `{prefix} cancel ID`. To reject with a reason, at the "
    "machine: `codexbridge reject ID`.",
    zh="在聊天中停止任务：`{prefix} 取消 编号`。"
    "如需附理由拒绝，请在电脑上执行：`codexbridge reject 编号`。",
)
NOTHING_TO_APPLY = Sentence(
    en="There is no proposed change to apply: no model is configured here, so none was made. "
    "A change would be applied only after an approval at the machine itself.",
    zh="没有可应用的改动：本机未配置模型，因此没有生成改动。任何改动都须先在电脑上批准才会应用。",
)
CANCEL_HOW = Sentence(
    en="Which task? `{prefix} cancel ID` in the chat, or `codexbridge cancel ID` at the machine.",
    zh="要取消哪个任务？聊天中用 `{prefix} 取消 编号`，在电脑上用 `codexbridge cancel 编号`。",
)
NOTHING_OPEN = Sentence(en="No open task of yours.", zh="没有你的未完成任务。")
NO_SUCH_TASK = Sentence(
    en="No task {short_id} of yours is known here.", zh="本机没有你的任务 {short_id}。"
)
OPEN_TASKS = Sentence(en="Open tasks:", zh="未完成的任务：")
TASK_ROW = Sentence(en="{short_id} · {state} · {what}", zh="{short_id} · {state} · {what}")
MORE_TASKS = Sentence(en="… and {count} more", zh="…… 另有 {count} 个")
WAITS_FOR = Sentence(
    en="waiting for approval at the machine, {left} left", zh="等待在电脑上批准，剩余 {left}"
)
ENDED_AS = Sentence(en="ended: {reason}", zh="已结束：{reason}")
WORKSPACE_WITH_TEST = Sentence(
    en="Workspace: {name} (tests: `{command}`)", zh="工作区：{name}（测试：`{command}`）"
)
WORKSPACE_WITHOUT_TEST = Sentence(
    en="Workspace: {name} (no test command set)", zh="工作区：{name}（未设置测试命令）"
)
WORKSPACE_NONE = Sentence(en="Workspace: none added yet", zh="工作区：尚未添加")
SANDBOXED = Sentence(en="Commands run in a sandbox ({level}).", zh="命令在沙箱中运行（{level}）。")
NOT_SANDBOXED = Sentence(
    en="NOT SANDBOXED: commands run with all rights of this account.",
    zh="无沙箱：命令以本账户的全部权限运行。",
)

STATES: Final[dict[str, Sentence]] = {
    "RECEIVED": Sentence(en="received", zh="已收到"),
    "ROUTED": Sentence(en="understood", zh="已理解"),
    "CONTEXT_COLLECTED": Sentence(en="context collected", zh="已收集上下文"),
    "PROPOSING": Sentence(en="being prepared", zh="正在准备"),
    "PROPOSAL_READY": Sentence(en="proposal ready", zh="提案已就绪"),
    "WAITING_APPROVAL": Sentence(en="waiting for approval", zh="等待批准"),
    "EXECUTING": Sentence(en="running", zh="执行中"),
    "COMPLETED": Sentence(en="completed", zh="已完成"),
    "FAILED": Sentence(en="failed", zh="失败"),
    "REJECTED": Sentence(en="not done", zh="未执行"),
}
REASONS: Final[dict[str, Sentence]] = {
    "completed": Sentence(en="completed", zh="已完成"),
    "failed": Sentence(en="failed", zh="失败"),
    "rejected": Sentence(en="rejected", zh="已拒绝"),
    "expired": Sentence(en="expired", zh="已过期"),
    "refused": Sentence(en="refused by policy", zh="策略不允许"),
    "cancelled": Sentence(en="cancelled", zh="已取消"),
    "drifted": Sentence(en="changed since approval, not run", zh="批准后内容有变，未执行"),
    "unknown": Sentence(en="outcome unknown", zh="结果未知"),
}

# --- proposers ------------------------------------------------------------------------------

NO_WORKSPACE = Sentence(
    en="No workspace has been added on this machine. At the machine: "
    '`codexbridge workspace add PATH --test "COMMAND"`.',
    zh='本机尚未添加工作区。请在电脑上执行：`codexbridge workspace add 路径 --test "命令"`。',
)
NO_TEST_COMMAND = Sentence(
    en="No test command is set for workspace {workspace}, so nothing was run. Name one: "
    '`{prefix} test --cmd="…"`, or set it at the machine: '
    '`codexbridge workspace add PATH --test "COMMAND"`.',
    zh="工作区 {workspace} 未设置测试命令，因此没有执行任何操作。可以指定一条："
    '`{prefix} 测试 --cmd="…"`，或在电脑上设置：`codexbridge workspace add 路径 --test "命令"`。',
)
WHICH_COMMAND = Sentence(
    en='Which command? For example `{prefix} test --cmd="…"` or “{prefix} run npm test”. '
    "Nothing was run.",
    zh='要运行哪条命令？例如 `{prefix} 测试 --cmd="…"` 或“{prefix} 运行 npm test”。'
    "没有执行任何操作。",
)
BAD_OPTION = Sentence(
    en="“{given}” was not understood, so nothing was run. Write: "
    '`{prefix} test --cmd="pytest -q"`.',
    zh='无法理解“{given}”，因此没有执行任何操作。写法：`{prefix} 测试 --cmd="pytest -q"`。',
)
RUN_OFF = Sentence(
    en="Running commands is switched off on this machine (allow_run_terminal).",
    zh="本机已关闭命令执行（allow_run_terminal）。",
)
WOULD_RUN = Sentence(
    en="Proposed in workspace {workspace}: `{command}`. A command cannot be undone.",
    zh="拟在工作区 {workspace} 执行：`{command}`。命令执行后无法撤销。",
)
REASON_TEST_COMMAND = Sentence(en="the workspace's test command", zh="工作区设置的测试命令")
REASON_ASKED = Sentence(en="the command as it was asked for", zh="按请求中给出的命令")
SEARCH_WHAT = Sentence(
    en="What should be looked for? For example “{prefix} find parse_config”.",
    zh="要查找什么？例如“{prefix} 查找 parse_config”。",
)
FOUND = Sentence(
    en="“{query}”: {places} places in {files} files.",
    zh="“{query}”：在 {files} 个文件中有 {places} 处。",
)
FOUND_NOTHING = Sentence(
    en="“{query}” does not occur in the files that may be read.",
    zh="在可读取的文件中没有找到“{query}”。",
)
FOUND_ROW = Sentence(en="{path} ({count})", zh="{path}（{count}）")
MORE_FILES = Sentence(en="… and {count} more files", zh="…… 另有 {count} 个文件")
SEARCH_CUT = Sentence(
    en="The search stopped at its limit; there may be more.",
    zh="搜索已达上限而停止；可能还有更多。",
)
NOT_A_REPOSITORY = Sentence(
    en="Workspace {workspace} is not a git repository, so there is nothing to review.",
    zh="工作区 {workspace} 不是 git 仓库，无法审阅改动。",
)
NO_CHANGES = Sentence(
    en="No local changes in {workspace} ({branch}).", zh="{workspace}（{branch}）没有本地改动。"
)
CHANGES = Sentence(
    en="Local changes in {workspace} ({branch}): {files} files, +{added} −{deleted} lines.",
    zh="{workspace}（{branch}）的本地改动：{files} 个文件，+{added} −{deleted} 行。",
)
CHANGES_ROW = Sentence(en="{status} {path} {amount}", zh="{status} {path} {amount}")
NO_BRANCH = Sentence(en="no branch", zh="无分支")
NOT_COUNTED = Sentence(en="(lines not counted)", zh="（未计行数）")
NO_MODEL = Sentence(
    en="No model is configured on this machine, so nothing was {verb}.",
    zh="本机未配置模型，因此没有{verb}任何内容。",
)
VERBS: Final[dict[str, Sentence]] = {
    "explain": Sentence(en="explained", zh="解释"),
    "change": Sentence(en="changed", zh="改动"),
    "diagnose": Sentence(en="diagnosed", zh="诊断"),
}
UNSURE = Sentence(
    en="It was not clear what you want, so this was taken as a question. `{prefix} help` shows "
    "what works.",
    zh="没有看懂你的意思，因此按提问处理。`{prefix} 帮助` 会列出可用的命令。",
)
WOULD_LOOK_AT = Sentence(en="A model would be shown these files:", zh="模型将会查看这些文件：")
WOULD_LOOK_AT_NOTHING = Sentence(
    en="Nothing in the workspace matches what was named; name files or identifiers.",
    zh="工作区中没有与描述相符的内容；请写明文件名或标识符。",
)
LOOK_ROW = Sentence(en="{path} ({size})", zh="{path}（{size}）")
LOOK_ROW_CUT = Sentence(
    en="{path} (first {granted} of {size})", zh="{path}（{size} 中的前 {granted}）"
)
TESTS_FOUND = Sentence(en="Tests that look related: {paths}", zh="可能相关的测试：{paths}")
NO_TESTS_FOUND = Sentence(en="No related tests were found.", zh="没有找到相关的测试。")
ON_BRANCH = Sentence(
    en="Branch {branch}, {changed} files changed locally.",
    zh="分支 {branch}，本地已改动 {changed} 个文件。",
)

# --- engine: outcomes -----------------------------------------------------------------------

APPROVAL_EXPIRED = Sentence(
    en="Nobody approved it in time; nothing ran.", zh="未在期限内获得批准；没有执行任何操作。"
)
REJECTED = Sentence(
    en="Rejected at the machine; nothing ran.", zh="已在电脑上拒绝；没有执行任何操作。"
)
REJECTED_WHY = Sentence(
    en="Rejected at the machine: “{why}”. Nothing ran.",
    zh="已在电脑上拒绝：“{why}”。没有执行任何操作。",
)
CANCELLED = Sentence(en="Cancelled; nothing ran.", zh="已取消；没有执行任何操作。")
CANCELLED_RUNNING = Sentence(
    en="Cancelled while `{command}` ran: ended after {duration}. What it had done by then stays.",
    zh="`{command}` 执行中被取消：{duration} 后结束。在此之前已完成的操作不会撤回。",
)
REFUSED = Sentence(
    en="Refused by this machine's policy; nothing ran. {why}",
    zh="本机策略不允许；没有执行任何操作。{why}",
)
DRIFTED = Sentence(
    en="What would have run is no longer what was approved, so nothing ran. Ask again to see the "
    "new proposal.",
    zh="将要执行的内容与批准时不一致，因此没有执行。请重新提出以查看新的提案。",
)
UNKNOWN = Sentence(
    en="The agent stopped while `{command}` ran. Whether it finished is unknown; it is not run "
    "again by itself. Please check at the machine.",
    zh="执行 `{command}` 时代理程序中断。是否完成未知；不会自动重新执行。请在电脑上检查。",
)
INTERNAL = Sentence(
    en="It failed inside the agent ({code}); see the log at the machine.",
    zh="代理程序内部出错（{code}）；请查看电脑上的日志。",
)
RAN_OK = Sentence(
    en="`{command}` succeeded: exit code 0 after {duration}.",
    zh="`{command}` 成功：退出码 0，用时 {duration}。",
)
RAN_BADLY = Sentence(
    en="`{command}` failed: exit code {exit_code} after {duration}.",
    zh="`{command}` 失败：退出码 {exit_code}，用时 {duration}。",
)
KILLED = Sentence(
    en="`{command}` was ended by signal {signal} after {duration}.",
    zh="`{command}` 被信号 {signal} 终止，用时 {duration}。",
)
TIMED_OUT = Sentence(
    en="`{command}` was ended at its time limit, after {duration}.",
    zh="`{command}` 超时，{duration} 后被终止。",
)
NOT_STARTED = Sentence(
    en="`{command}` could not be started ({why}).", zh="`{command}` 无法启动（{why}）。"
)
NO_OUTPUT = Sentence(en="It printed nothing.", zh="没有输出。")
LAST_LINES = Sentence(en="Last lines:\n{tail}", zh="最后几行：\n{tail}")
RUNNING = Sentence(
    en="still running · {duration} · {lines} lines", zh="仍在运行 · {duration} · {lines} 行"
)
ASKED_AGAIN = Sentence(en="Asked again at the machine: {why}.", zh="已在电脑上重新询问：{why}。")
AGAIN_INTERRUPTED = Sentence(
    en="the agent was interrupted before the approved command started",
    zh="已批准的命令在开始前代理程序中断",
)
AGAIN_BUSY = Sentence(
    en="another command was still running in this workspace",
    zh="该工作区仍有其他命令在运行",
)
BEGUN = Sentence(en="Approved; running.", zh="已批准；正在执行。")

SURVIVORS = Sentence(
    en="{count} processes it started could not be ended; look at the machine.",
    zh="它启动的 {count} 个进程无法终止；请查看电脑。",
)
SURVIVORS_LIVE = Sentence(
    en="processes of an unsandboxed command could not be ended",
    zh="无沙箱命令的残留进程未能终止",
)
UNSANDBOXED_RUNS = Sentence(en="an unsandboxed command is running", zh="无沙箱的命令正在执行")
AGENT_STOPPED = Sentence(
    en="The agent was stopped at the machine.", zh="代理程序已在电脑上被停止。"
)
HIGH_RISK = Sentence(en="High risk: {why}.", zh="高风险：{why}。")
AND_ALSO = Sentence(en="; ", zh="；")
REFUSALS: Final[dict[str, Sentence]] = {"run-off": RUN_OFF}


def render_duration(milliseconds: int, lang: Lang) -> str:
    """Return a duration as people say it: ``0.4 s``, ``42 s``, ``3 min 5 s``, ``23 h 59 min``."""
    tenths = max(milliseconds, 0) // 100
    seconds = tenths // 10
    if seconds < 10:
        return say(_SECONDS, lang, n=f"{tenths // 10}.{tenths % 10}")
    if seconds < 60:
        return say(_SECONDS, lang, n=seconds)
    if seconds < 3600:
        return say(_MINUTES, lang, m=seconds // 60, s=seconds % 60)
    return say(_HOURS, lang, h=seconds // 3600, m=seconds % 3600 // 60)


def render_size(size: int) -> str:
    """Return a number of bytes as people say it: ``812 B``, ``3.4 kB``."""
    if size < 1000:
        return f"{size} B"
    return f"{size / 1000:.1f} kB" if size < 1_000_000 else f"{size / 1_000_000:.1f} MB"


_SECONDS = Sentence(en="{n} s", zh="{n} 秒")
_MINUTES = Sentence(en="{m} min {s} s", zh="{m} 分 {s} 秒")
_HOURS = Sentence(en="{h} h {m} min", zh="{h} 小时 {m} 分")

# --- further parts add theirs below, each under its own line ---------------------------------

# --- authority: store, safety, approval gate -------------------------------------------------

SHORT_ID_REFUSED = Sentence(
    en="Refused: the ID {short_id} already names another task on the machine, or the gateway may "
    "not give it. Nothing was done; please ask again.",
    zh="已拒绝：编号 {short_id} 在电脑上已指向另一个任务，或网关无权分配该编号。"
    "没有执行任何操作；请重新发送。",
)
EXPIRED_ON_ARRIVAL = Sentence(
    en="The task reached the machine after its time had run out. Nothing was done.",
    zh="任务送达电脑时已过期。没有执行任何操作。",
)
RISK: Final[dict[str, Sentence]] = {
    "unknown-action": Sentence(en="unknown kind of action", zh="未知的操作类型"),
    "too-long": Sentence(en="longer than 20,000 bytes", zh="超过 20000 字节"),
    "control-character": Sentence(
        en="contains control or direction-changing characters",
        zh="含有控制字符或改变文字方向的字符",
    ),
    "empty-program": Sentence(en="names no program", zh="没有指定程序"),
    "outside-workspace": Sentence(
        en="its folder is outside the workspace", zh="所在目录位于工作区之外"
    ),
    "unknown-sandbox": Sentence(en="unknown sandbox level", zh="未知的沙箱级别"),
    "shell": Sentence(en="runs in a shell", zh="通过 shell 执行"),
    "not-sandboxed": Sentence(en="NOT SANDBOXED", zh="无沙箱"),
    "network": Sentence(en="can reach the network", zh="可以访问网络"),
    "not-the-test-command": Sentence(
        en="is not the workspace's test command", zh="不是工作区设置的测试命令"
    ),
    "other-folder": Sentence(
        en="does not run at the top of the workspace", zh="不在工作区根目录下运行"
    ),
    "destructive": Sentence(
        en="names a program that deletes, overwrites or stops things",
        zh="含有会删除、覆盖或终止内容的程序",
    ),
    "privilege": Sentence(en="asks for other rights", zh="请求更改权限"),
    "publishes": Sentence(en="publishes something", zh="会向外发布内容"),
    "hidden-characters": Sentence(en="contains hidden characters", zh="含有不可见字符"),
    "look-alike-program": Sentence(
        en="the program's name has letters that may look like others", zh="程序名含有易混淆的字符"
    ),
}
AUTHORITY_ERRORS: Final[dict[str, Sentence]] = {
    "config.agent-running": Sentence(
        en="The agent is already running ({path} is locked). Use it, or stop it first.",
        zh="代理已在运行（{path} 已被锁定）。请直接使用，或先将其停止。",
    ),
    "config.store-newer": Sentence(
        en="{path} was written by a newer release (version {found}; this one knows {known}). "
        "Install that release again.",
        zh="{path} 由更新的版本写入（版本 {found}，本程序支持到 {known}）。请重新安装该版本。",
    ),
    "audit.broken": Sentence(
        en="The audit log does not hold at entry {seq}: it was changed or damaged. The agent does "
        "not start; keep the file and compare it with a backup.",
        zh="审计日志在第 {seq} 条处校验失败：已被更改或损坏。"
        "代理不会启动；请保留该文件并与备份比对。",
    ),
    "store.failed": Sentence(
        en="The journal could not be written ({why}). Nothing was changed; is the disk full?",
        zh="无法写入日志库（{why}）。没有任何更改；磁盘是否已满？",
    ),
    "task.unknown": Sentence(
        en="No task {name} here. `codexbridge tasks` lists them.",
        zh="没有任务 {name}。用 `codexbridge tasks` 可以列出。",
    ),
    "approval.unknown": Sentence(
        en="Nothing waits for a decision under {name}. `codexbridge tasks` lists what does.",
        zh="{name} 没有待审批的操作。用 `codexbridge tasks` 可以列出。",
    ),
    "approval.not-pending": Sentence(
        en="This approval no longer waits: it is {state}.", zh="该审批已不再等待：状态为 {state}。"
    ),
    "approval.expired": Sentence(
        en="This approval has expired; nothing ran. Ask for the task again.",
        zh="该审批已过期；没有执行任何操作。请重新发起任务。",
    ),
    "approval.digest-mismatch": Sentence(
        en="What you looked at is not what waits now. Look again before you decide.",
        zh="您看到的内容与当前待审批的内容不一致。请重新查看后再决定。",
    ),
    "approval.code-mismatch": Sentence(
        en="That is not the code. The approval still waits; nothing ran.",
        zh="验证码不正确。审批仍在等待；没有执行任何操作。",
    ),
    "approval.paused": Sentence(
        en="Too many wrong codes. Try again in {seconds} s; nothing ran.",
        zh="验证码错误次数过多。请在 {seconds} 秒后重试；没有执行任何操作。",
    ),
    "approval.blocked": Sentence(
        en="Nothing can be approved right now: {why}. Wait until it has ended.",
        zh="现在无法批准：{why}。请等待其结束。",
    ),
    "approval.not-approved": Sentence(
        en="There is no valid approval for this; nothing ran.",
        zh="没有有效的审批；没有执行任何操作。",
    ),
    "approval.task-over": Sentence(
        en="The task has ended or is being cancelled; nothing ran.",
        zh="任务已结束或正在取消；没有执行任何操作。",
    ),
    "approval.changed": Sentence(
        en="The stored approval is not the one that was shown. Nothing ran; check this machine.",
        zh="存储的审批内容与展示内容不符。没有执行任何操作；请检查本机。",
    ),
    "approval.too-many": Sentence(
        en="Too many approvals are asked for ({limit} {what}). Nothing was asked; try later.",
        zh="审批请求过多（{what} 上限 {limit}）。未发起审批；请稍后再试。",
    ),
    "policy.refused": Sentence(
        en="This machine refuses it: {reasons}.", zh="本机拒绝执行：{reasons}。"
    ),
}

# --- engine: errors -------------------------------------------------------------------------

# They reach the chat, so none of them tells where something lies on this machine.
ENGINE_ERRORS: Final[dict[str, Sentence]] = {
    "task.illegal-transition": Sentence(
        en="The task is no longer in the state for this ({current}); nothing was changed.",
        zh="任务已不处于可执行此操作的状态（{current}）；没有任何更改。",
    ),
    "command.empty": Sentence(
        en="No command was given. Nothing was run.", zh="没有给出命令。没有执行任何操作。"
    ),
    "command.quotes": Sentence(
        en="A quote or a backslash in the command does not end. Nothing was run.",
        zh="命令中的引号或反斜杠没有结束。没有执行任何操作。",
    ),
    "command.control-character": Sentence(
        en="The command contains a control character; it is refused, not repaired. Nothing "
        "was run.",
        zh="命令中含有控制字符；不会代为修改，已拒绝。没有执行任何操作。",
    ),
    "command.too-long": Sentence(
        en="The command is longer than {limit} bytes. Nothing was run.",
        zh="命令超过 {limit} 字节。没有执行任何操作。",
    ),
    "command.not-found": Sentence(
        en="There is no program “{program}” in the workspace's confirmed toolchains or the system. "
        "Nothing was run. At the machine, `codexbridge workspace add` finds toolchains.",
        zh="在工作区已确认的工具链和系统中找不到程序“{program}”。没有执行任何操作。"
        "在电脑上用 `codexbridge workspace add` 可以重新查找工具链。",
    ),
    "command.not-executable": Sentence(
        en="“{program}” is not executable. Nothing was run.",
        zh="“{program}”不可执行。没有执行任何操作。",
    ),
    "command.not-visible": Sentence(
        en="The sandbox would not show the program “{program}”. Nothing was run. Confirm its "
        "toolchain at the machine: `codexbridge workspace add`.",
        zh="沙箱中看不到程序“{program}”。没有执行任何操作。请在电脑上用 "
        "`codexbridge workspace add` 确认其工具链。",
    ),
    "command.outside": Sentence(
        en="“{program}” lies outside the workspace. Nothing was run.",
        zh="“{program}”位于工作区之外。没有执行任何操作。",
    ),
    "command.path-form": Sentence(
        en="“{program}” is not a name or path of a program. Nothing was run.",
        zh="“{program}”不是程序名或程序路径。没有执行任何操作。",
    ),
    "command.program-too-large": Sentence(
        en="The program “{program}” is too large to be checked. Nothing was run.",
        zh="程序“{program}”过大，无法校验。没有执行任何操作。",
    ),
    "command.folder": Sentence(
        en="There is no folder “{folder}” in the workspace. Nothing was run.",
        zh="工作区中没有文件夹“{folder}”。没有执行任何操作。",
    ),
    "search.query": Sentence(
        en="Only one line of at most {limit} bytes can be looked for.",
        zh="只能查找一行文字，且不超过 {limit} 字节。",
    ),
    "path.missing": Sentence(
        en="The folder of the workspace is no longer there.", zh="工作区所在的文件夹已不存在。"
    ),
    "workspace.gone": Sentence(
        en="The folder of the workspace is no longer there. Nothing was run.",
        zh="工作区所在的文件夹已不存在。没有执行任何操作。",
    ),
    "sandbox.link": Sentence(
        en="“{path}” in the workspace is a symbolic link that the sandbox cannot protect. Nothing "
        "was run.",
        zh="工作区中的“{path}”是符号链接，沙箱无法保护。没有执行任何操作。",
    ),
    "sandbox.home": Sentence(
        en="The sandbox cannot hide this account's home folder. Nothing was run.",
        zh="沙箱无法隐藏本账户的主目录。没有执行任何操作。",
    ),
}
