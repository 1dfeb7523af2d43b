"""Every sentence the agent says to people, in English and Chinese, by the part that says it.

No logic but small renderings of amounts.  What goes to the chat names no machine and no task ID:
the gateway puts those in front.
"""

from __future__ import annotations

from typing import Final

from common.sentences import Lang, Sentence, say
from local_agent import risk_texts
from local_agent.change_replies import APPLY_OFF

# --- engine: answers ------------------------------------------------------------------------

FREE_TEXT_OFF = Sentence(
    en="Plain words are switched off on this machine; these commands work:",
    zh="本机已关闭自然语言；可以使用下列命令：",
)
APPROVE_THERE = Sentence(
    en="Nothing can be approved from the chat. At the machine, `codexbridge approve` shows what "
    "would run and asks there.",
    zh="聊天中不能批准。请在开发机上运行 `codexbridge approve`：它会显示将要运行的内容并询问。",
)
REJECT_THERE = Sentence(
    en="To stop a task: `{prefix} cancel ID`. To reject with a reason, at the machine: "
    "`codexbridge reject ID`.",
    zh="停止任务：`{prefix} 取消 编号`。"
    "如需附理由拒绝，在开发机上运行：`codexbridge reject 编号`。",
)
NOTHING_TO_APPLY = Sentence(
    en="There is no change to apply: none of yours waits. Ask for one, or name the task that "
    "proposed it: {prefix} apply T-7K3F",
    zh="没有待应用的改动。请先提出一个，或指明提出改动的任务：{prefix} 应用 T-7K3F",
)
CANCEL_HOW = Sentence(
    en="Which task? `{prefix} cancel ID` in the chat, or `codexbridge cancel ID` at the machine.",
    zh="要取消哪个任务？聊天中用 `{prefix} 取消 编号`，在开发机上用 `codexbridge cancel 编号`。",
)
MACHINES_THERE = Sentence(
    en="Machines are chosen in the chat: `{prefix} machines`, `{prefix} use NAME`. Here it is "
    "always this one; nothing was done.",
    zh="请在聊天中选择开发机：`{prefix} 开发机`、`{prefix} 使用 名称`。"
    "这里始终是本机；没有执行任何操作。",
)
NOTHING_OPEN = Sentence(en="No open task of yours.", zh="你没有未完成的任务。")
NO_SUCH_TASK = Sentence(
    en="No task {short_id} of yours is known here.", zh="本机没有你的任务 {short_id}。"
)
OPEN_TASKS = Sentence(en="Open tasks:", zh="未完成的任务：")
TASK_ROW = Sentence(en="{short_id} · {state} · {what}", zh="{short_id} · {state} · {what}")
MORE_TASKS = Sentence(en="… and {count} more", zh="…… 另有 {count} 个")
WAITS_FOR = Sentence(
    en="waiting for approval at the machine, {left} left", zh="等待在开发机上批准，剩余 {left}"
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
    zh="未隔离：命令以本账户的全部权限运行。",
)

STATES: Final[dict[str, Sentence]] = {
    "RECEIVED": Sentence(en="received", zh="已收到"),
    "ROUTED": Sentence(en="understood", zh="已理解"),
    "CONTEXT_COLLECTED": Sentence(en="context collected", zh="已收集上下文"),
    "PROPOSING": Sentence(en="being prepared", zh="正在准备"),
    "PROPOSAL_READY": Sentence(en="proposal ready", zh="方案已就绪"),
    "WAITING_APPROVAL": Sentence(en="waiting for approval", zh="等待批准"),
    "EXECUTING": Sentence(en="running", zh="运行中"),
    "COMPLETED": Sentence(en="completed", zh="已完成"),
    "FAILED": Sentence(en="failed", zh="失败"),
    "REJECTED": Sentence(en="not done", zh="未运行"),
}
REASONS: Final[dict[str, Sentence]] = {
    "completed": Sentence(en="completed", zh="已完成"),
    "failed": Sentence(en="failed", zh="失败"),
    "rejected": Sentence(en="rejected", zh="已拒绝"),
    "expired": Sentence(en="expired", zh="已过期"),
    "refused": Sentence(en="refused, nothing was done", zh="未受理，没有执行任何操作"),
    "cancelled": Sentence(en="cancelled", zh="已取消"),
    "drifted": Sentence(en="changed since approval, not run", zh="批准后内容有变，未运行"),
    "unknown": Sentence(en="outcome unknown", zh="结果不明"),
}

# --- proposers ------------------------------------------------------------------------------

NO_WORKSPACE = Sentence(
    en="This machine has no workspace yet. At the machine: "
    '`codexbridge workspace add PATH --test "COMMAND"`.',
    zh='开发机上还没有工作区。请在开发机上运行：`codexbridge workspace add 路径 --test "命令"`。',
)
NO_TEST_COMMAND = Sentence(
    en='Workspace {workspace} has no test command. Give one: `{prefix} test --cmd="…"`, or at '
    'the machine: `codexbridge workspace add PATH --test "COMMAND"`.',
    zh='工作区 {workspace} 未设置测试命令。请指定：`{prefix} 测试 --cmd="…"`，或在开发机上运行：'
    '`codexbridge workspace add 路径 --test "命令"`。',
)
WHICH_COMMAND = Sentence(
    en='Which command? For example `{prefix} test --cmd="…"` or “{prefix} run npm test”. '
    "Nothing was run.",
    zh='要运行哪条命令？例如 `{prefix} 测试 --cmd="…"` 或“{prefix} 运行 npm test”。'
    "没有运行任何命令。",
)
BAD_OPTION = Sentence(
    en="“{given}” was not understood, so nothing was run. Write: "
    '`{prefix} test --cmd="pytest -q"`.',
    zh='无法理解“{given}”，因此没有运行任何命令。写法：`{prefix} 测试 --cmd="pytest -q"`。',
)
RUN_OFF = Sentence(
    en="Running commands is switched off on this machine (allow_run_terminal).",
    zh="本机已关闭运行命令的功能（allow_run_terminal）。",
)
WOULD_RUN = Sentence(
    en="Run `{command}` in workspace {workspace}. A command cannot be undone.",
    zh="在工作区 {workspace} 运行 `{command}`。命令运行后无法撤销。",
)
WOULD_CHECK = Sentence(
    en="Proposed on a copy of workspace {workspace}, with the change in it: `{command}`. Nothing "
    "in the workspace changes.",
    zh="拟在工作区 {workspace} 的副本（含该改动）上运行：`{command}`。工作区本身不会有任何变化。",
)
NOT_NARROWED = Sentence(
    en="“{beyond}” is left out: how to run only part of the tests is not known here, so all of "
    'them are proposed. Or name the command: `{prefix} test --cmd="…"`.',
    zh="没有考虑“{beyond}”：这里不知道如何只运行部分测试，方案是运行全部测试。"
    '也可以指定命令：`{prefix} 测试 --cmd="…"`。',
)
LEFT_OVER = Sentence(
    en="Only “{taken}” was understood; “{left}” is NOT done. Ask for that by itself.",
    zh="只处理“{taken}”；不会进行“{left}”，请单独提出。",
)
REASON_TEST_COMMAND = Sentence(en="the workspace's test command", zh="工作区设置的测试命令")
REASON_ASKED = Sentence(en="the command as it was asked for", zh="按请求中给出的命令")
SEARCH_WHAT = Sentence(
    en="What should be looked for? For example “{prefix} find parse_config”.",
    zh="要查找什么？例如“{prefix} 查找 parse_config”。",
)
FOUND = Sentence(
    en="“{query}”: {places} {places:place|places} in {files} {files:file|files}.",
    zh="“{query}”：在 {files} 个文件中有 {places} 处。",
)
FOUND_NOTHING = Sentence(
    en="“{query}” does not occur in the files that may be read.",
    zh="在可读取的文件中没有找到“{query}”。",
)
FOUND_ROW = Sentence(en="{path} ({count})", zh="{path}（{count}）")
MORE_FILES = Sentence(en="… and {count} more {count:file|files}", zh="…… 另有 {count} 个文件")
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
    en="Local changes in {workspace} ({branch}): {files} {files:file|files}, "
    "+{added} −{deleted} lines.",
    zh="{workspace}（{branch}）的本地改动：{files} 个文件，+{added} −{deleted} 行。",
)
CHANGES_ROW = Sentence(en="{status} {path} {amount}", zh="{status} {path} {amount}")
NO_BRANCH = Sentence(en="no branch", zh="无分支")
NOT_COUNTED = Sentence(en="(lines not counted)", zh="（未计行数）")
NO_MODEL = Sentence(
    en="No model is configured on this machine, so nothing was {verb}. To connect one, run there: "
    "codexbridge models",
    zh="开发机上未配置模型，没有{verb}任何内容。如需接入，请在那里运行：codexbridge models",
)
VERBS: Final[dict[str, Sentence]] = {
    "explain": Sentence(en="explained", zh="解释"),
    "change": Sentence(en="changed", zh="改动"),
    "plan": Sentence(en="planned", zh="规划"),
    "diagnose": Sentence(en="diagnosed", zh="诊断"),
}
WOULD_LOOK_AT = Sentence(en="A model would be shown these files:", zh="模型将会查看这些文件：")
LOOK_ROW = Sentence(en="{path} ({size})", zh="{path}（{size}）")
LOOK_ROW_CUT = Sentence(
    en="{path} (first {granted} of {size})", zh="{path}（{size} 中的前 {granted}）"
)
TESTS_FOUND = Sentence(en="Tests that look related: {paths}", zh="可能相关的测试：{paths}")
ON_BRANCH = Sentence(
    en="Branch {branch}, {changed} {changed:file|files} changed locally.",
    zh="分支 {branch}，本地已改动 {changed} 个文件。",
)

# --- engine: outcomes -----------------------------------------------------------------------

APPROVAL_EXPIRED = Sentence(
    en="Nobody approved it in time, so nothing was done. Send it again if it is still wanted.",
    zh="没有人在期限内批准，没有执行任何操作。如仍需要，请重新发送。",
)
REJECTED = Sentence(en="Nothing was done.", zh="没有执行任何操作。")
REJECTED_WHY = Sentence(en="“{why}”. Nothing was done.", zh="“{why}”。没有执行任何操作。")
CANCELLED = Sentence(en="Nothing was done.", zh="没有执行任何操作。")
CANCELLED_RUNNING = Sentence(
    en="`{command}` was stopped after {duration}. What it had done by then stays.",
    zh="`{command}` 运行 {duration}后已停止；此前完成的操作不会撤回。",
)
REFUSED = Sentence(
    en="The policy of this machine does not allow it: {why}", zh="本机策略不允许：{why}"
)
DRIFTED = Sentence(
    en="Changed since it was shown: {what}. Nothing was done; ask again for a new proposal.",
    zh="展示之后内容已变：{what}。没有执行任何操作；请重新提出。",
)
MOVED_ON = Sentence(
    en="The files have changed since it was proposed, so it no longer fits. Nothing was done; ask "
    "again for a new proposal.",
    zh="方案提出之后文件已变，不再适用。没有执行任何操作；请重新提出。",
)
DRIFTED_FIELDS: Final[dict[str, Sentence]] = {
    "argv": (_COMMAND := Sentence(en="the command", zh="命令")),
    "script": _COMMAND,
    "shell": _COMMAND,
    "executable": Sentence(en="the program", zh="程序"),
    "cwd": Sentence(en="the folder", zh="目录"),
    "env_names": (_ENVIRONMENT := Sentence(en="the environment", zh="环境变量")),
    "env_sha256": _ENVIRONMENT,
    "sandbox": Sentence(en="the sandbox", zh="沙箱"),
    "network": Sentence(en="network access", zh="网络访问"),
    "timeout": (_LIMITS := Sentence(en="the limits", zh="限制")),
    "output_cap": _LIMITS,
    "workspace": Sentence(en="the workspace's folder", zh="工作区所在的文件夹"),
    "git_head": Sentence(en="the commit", zh="提交"),
    "base": Sentence(en="files of the workspace", zh="工作区中的文件"),
    "policy": Sentence(en="this machine's policy", zh="本机的策略"),
    "changes": (_CHANGE := Sentence(en="the change", zh="改动内容")),
    "diff_sha256": _CHANGE,
    "undoes": _CHANGE,
    "copy": _CHANGE,
    "payload": Sentence(en="something that could not be looked at again", zh="无法再次核对的内容"),
}
AND = Sentence(en=", ", zh="、")
UNKNOWN = Sentence(
    en="`{command}` was approved and may have run, wholly or in part. It is not run again by "
    "itself: check at the machine first.",
    zh="`{command}` 已获批准，可能已全部或部分运行。不会自动重新运行：请先在开发机上检查。",
)
INTERNAL = Sentence(
    en="It failed inside the agent ({code}). See the log at the machine.",
    zh="Agent 内部出错（{code}）。请查看开发机上的日志。",
)
RAN_OK = Sentence(en="`{command}` succeeded ({duration})", zh="`{command}` 成功（{duration}）")
RAN_BADLY = Sentence(
    en="`{command}` failed with exit code {exit_code} ({duration})",
    zh="`{command}` 失败，退出码 {exit_code}（{duration}）",
)
KILLED = Sentence(
    en="`{command}` was ended by {signal} after {duration}",
    zh="`{command}` 运行 {duration}后因信号 {signal} 终止",
)
TIMED_OUT = Sentence(
    en="`{command}` reached its time limit and was stopped after {duration}. Ask for a smaller "
    "part of it, or run it at the machine.",
    zh="`{command}` 超时，运行 {duration}后已停止。请缩小范围，或在开发机上运行。",
)
# Of what a command and all that it started took more than they may together.
EXCEEDED: Final[dict[str, Sentence]] = {
    "command.too-many-processes": Sentence(
        en="`{command}` started too many processes and was stopped after {duration}. Run fewer at "
        "once.",
        zh="`{command}` 启动的进程过多，运行 {duration}后已停止。请减少并行数量。",
    ),
    "command.too-much-memory": Sentence(
        en="`{command}` used too much memory and was stopped after {duration}. Run a smaller part "
        "of it.",
        zh="`{command}` 占用内存过多，运行 {duration}后已停止。请缩小运行范围。",
    ),
    "command.disk-full": Sentence(
        en="`{command}` was stopped after {duration}, before the disk was full. Make room, then "
        "ask again.",
        zh="`{command}` 运行 {duration}后已停止，以免写满磁盘。请腾出空间后重新提出。",
    ),
}
NOT_STARTED: Final[dict[str, Sentence]] = {
    "command.cannot-start": Sentence(
        en="`{command}` could not be started: the system refused its program. Check at the machine "
        "that it can run there.",
        zh="`{command}` 无法启动：系统拒绝运行该程序。请在开发机上确认它能够运行。",
    ),
    "command.sandbox-failed": Sentence(
        en="The sandbox could not be set up, so `{command}` did not run. See at the machine: "
        "codexbridge status",
        zh="无法建立沙箱，`{command}` 没有运行。请在开发机上查看：codexbridge status",
    ),
}
NO_OUTPUT = Sentence(en="It printed nothing.", zh="没有输出。")
RUNNING = Sentence(
    en="still running · {duration} · {lines} {lines:line|lines}",
    zh="仍在运行 · {duration} · {lines} 行",
)
ASKED_AGAIN = Sentence(en="Asked again at the machine: {why}.", zh="已在开发机上重新询问：{why}。")
AGAIN_INTERRUPTED = Sentence(
    en="what was approved did not start in time, as when the agent is interrupted",
    zh="批准之后未能及时开始，例如 Agent 中断",
)
AGAIN_CHANGED = Sentence(
    en="the files, this machine's policy or the choice of files have changed since it was asked",
    zh="提出询问之后，文件、本机策略或所选文件有变化",
)
AGAIN_BUSY = Sentence(
    en="another command was still running in this workspace",
    zh="该工作区仍有其他命令在运行",
)
BEGUN = Sentence(en="Approved; at work.", zh="已批准；正在执行。")

SURVIVORS = Sentence(
    en="{count} {count:process|processes} it started could not be ended; look at the machine.",
    zh="它启动的 {count} 个进程无法终止；请查看开发机。",
)
RIGHTS_TAKEN = Sentence(
    en="It gave others rights to {count} {count:file|files} (access lists or capabilities); they "
    "were taken back: {paths}",
    zh="它给 {count} 个文件加了访问控制列表或特权，已收回：{paths}",
)
# Why nothing can be approved meanwhile, by the code that the gate is given.
BLOCKED: Final[dict[str, Sentence]] = {
    "unsandboxed-runs": Sentence(
        en="an unsandboxed command is running", zh="有一条未隔离的命令正在运行"
    ),
    "survivors-live": Sentence(
        en="processes of an unsandboxed command could not be ended",
        zh="未隔离的命令留下了无法终止的进程",
    ),
    "journal-check": Sentence(
        en="the journal is large and is still being looked through; it takes seconds",
        zh="任务日志较大，仍在检查，需要几秒",
    ),
}
AGENT_STOPPED = Sentence(en="The agent was stopped at the machine.", zh="Agent 已在开发机上停止。")
HIGH_RISK = Sentence(en="High risk: {why}.", zh="高风险：{why}。")
AND_ALSO = Sentence(en="; ", zh="；")
REFUSALS: Final[dict[str, Sentence]] = {"run-off": RUN_OFF, "apply-off": APPLY_OFF}


def render_duration(milliseconds: int, lang: Lang) -> str:
    """Return a duration as people say it: ``0.4 s``, ``42 s``, ``3 min 5 s``, ``23 h 59 min``."""
    if milliseconds < 100:
        return say(_HARDLY, lang)
    tenths = milliseconds // 100
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


_HARDLY = Sentence(en="under 0.1 s", zh="0.1 秒以内")
_SECONDS = Sentence(en="{n} s", zh="{n} 秒")
_MINUTES = Sentence(en="{m} min {s} s", zh="{m} 分 {s} 秒")
_HOURS = Sentence(en="{h} h {m} min", zh="{h} 小时 {m} 分")

# --- further parts add theirs below, each under its own line ---------------------------------

# --- authority: store, safety, approval gate -------------------------------------------------

SHORT_ID_REFUSED = Sentence(
    en="The ID {short_id} already names another task on the machine. Nothing was done; send it "
    "again.",
    zh="编号 {short_id} 在开发机上已用于其他任务。没有执行任何操作；请重新发送。",
)
MACHINE_FULL = Sentence(
    en="The machine has {limit} open tasks from the chat, the most it takes. Nothing was done; "
    "send it again when some have ended.",
    zh="开发机上来自聊天的未完成任务已达上限（{limit} 个）。没有执行任何操作；请稍后重新发送。",
)
EXPIRED_ON_ARRIVAL = Sentence(
    en="It reached the machine too late, so nothing was done. Send it again.",
    zh="任务送达开发机时已过期，没有执行任何操作。请重新发送。",
)

RISK: Final = risk_texts.RISK

# --- engine: errors -------------------------------------------------------------------------

# They reach the chat, so none of them tells where something lies on this machine.
ENGINE_ERRORS: Final[dict[str, Sentence]] = {
    "task.illegal-transition": Sentence(
        en="The task is no longer in the state for this ({current}); nothing was changed.",
        zh="任务已不处于可进行此操作的状态（{current}）；没有任何更改。",
    ),
    "command.empty": Sentence(
        en="No command was given. Nothing was run.", zh="没有给出命令。没有运行任何命令。"
    ),
    "command.quotes": Sentence(
        en="A quote or a backslash in the command does not end. Nothing was run.",
        zh="命令中的引号或反斜杠没有闭合。没有运行任何命令。",
    ),
    "command.control-character": Sentence(
        en="The command contains a control character; it is refused, not repaired. Nothing "
        "was run.",
        zh="命令中含有控制字符；不会代为修改，已拒绝。没有运行任何命令。",
    ),
    "command.too-long": Sentence(
        en="The command is longer than {limit} bytes. Nothing was run.",
        zh="命令超过 {limit} 字节。没有运行任何命令。",
    ),
    "command.not-found": Sentence(
        en="There is no program “{program}” in the workspace's confirmed toolchains or the system. "
        "Nothing was run. At the machine, `codexbridge workspace add` finds toolchains.",
        zh="在工作区已确认的工具链和系统中找不到程序“{program}”。没有运行任何命令。"
        "在开发机上用 `codexbridge workspace add` 可以重新查找工具链。",
    ),
    "command.not-executable": Sentence(
        en="“{program}” is not executable. Nothing was run.",
        zh="“{program}”不能作为程序运行。没有运行任何命令。",
    ),
    "command.not-visible": Sentence(
        en="The sandbox would not show the program “{program}”. Nothing was run. Confirm its "
        "toolchain at the machine: `codexbridge workspace add`.",
        zh="沙箱中看不到程序“{program}”。没有运行任何命令。请在开发机上用 "
        "`codexbridge workspace add` 确认其工具链。",
    ),
    "command.outside": Sentence(
        en="“{program}” leads out of the workspace and its confirmed toolchains. Nothing was run.",
        zh="“{program}”指向工作区和已确认的工具链之外。没有运行任何命令。",
    ),
    "command.program-too-large": Sentence(
        en="The program “{program}” is too large to be checked. Nothing was run.",
        zh="程序“{program}”过大，无法校验。没有运行任何命令。",
    ),
    "command.folder": Sentence(
        en="There is no folder “{folder}” in the workspace. Nothing was run.",
        zh="工作区中没有文件夹“{folder}”。没有运行任何命令。",
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
        zh="工作区所在的文件夹已不存在。没有运行任何命令。",
    ),
    "sandbox.link": Sentence(
        en="“{path}” in the workspace is a symbolic link that the sandbox cannot protect. Nothing "
        "was run.",
        zh="工作区中的“{path}”是符号链接，沙箱无法保护。没有运行任何命令。",
    ),
    "sandbox.architecture": Sentence(
        en="There is no sandbox for this kind of processor. Nothing was run.",
        zh="没有适用于这种处理器的沙箱。没有运行任何命令。",
    ),
    "sandbox.home": Sentence(
        en="The sandbox cannot hide this account's home folder. Nothing was run.",
        zh="沙箱无法隐藏本账户的主目录。没有运行任何命令。",
    ),
}
