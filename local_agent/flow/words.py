"""What the flow of a task says to people, English and Chinese side by side."""

from __future__ import annotations

from typing import Final

from common.sentences import Sentence

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
    en="Which task? `{prefix} cancel ID` or `{prefix} cancel all` in the chat, "
    "`codexbridge cancel ID` at the machine.",
    zh="要取消哪个任务？聊天中用 `{prefix} 取消 编号` 或 `{prefix} 取消全部`，"
    "在开发机上用 `codexbridge cancel 编号`。",
)
ASK_GATEWAY = Sentence(
    en="Only the gateway answers that: send it in the chat, such as `{prefix} use NAME`. Here you "
    "always ask this machine; nothing was done.",
    zh="这个命令只由网关回答，请在聊天中发送，例如 `{prefix} 使用 名称`。"
    "这里始终是本机；没有执行任何操作。",
)
UNSUPPORTED = Sentence(
    en="Nothing was done: this is not offered here. What is: answer questions, propose and undo "
    "changes, run a command that you name (`{prefix} run npm test`), commit and push.",
    zh="没有执行任何操作：这里做不了这件事。可以做的有：回答问题、提出和撤销改动、运行你写明的命令"
    "（`{prefix} 运行 npm test`）、提交并推送。",
)
NOTHING_OPEN = Sentence(en="No open task of yours.", zh="你没有未完成的任务。")
NO_SUCH_TASK = Sentence(
    en="No task {short_id} of yours is known here.", zh="本机没有你的任务 {short_id}。"
)
OPEN_TASKS = Sentence(en="Open tasks:", zh="未完成的任务：")
TASK_ROW = Sentence(en="{short_id} · {state} · {what}", zh="{short_id} · {state} · {what}")
MORE_TASKS = Sentence(en="… and {count} more", zh="…… 另有 {count} 个")
WAITS_FOR = Sentence(
    en="waiting for approval at the machine until {until} on its clock",
    zh="等待在开发机上批准，{until} 过期（开发机时间）",
)
ENDED_AS = Sentence(en="ended: {reason}", zh="已结束：{reason}")
WORKSPACE_WITH_TEST = Sentence(
    en="Workspace: {name} (tests: `{command}`)", zh="工作区：{name}（测试：`{command}`）"
)
WORKSPACE_WITHOUT_TEST = Sentence(
    en="Workspace: {name} (no test command set)", zh="工作区：{name}（未设置测试命令）"
)
WORKSPACE_NAMED = Sentence(en="Workspace: {name}", zh="工作区：{name}")
WORKSPACE_NONE = Sentence(en="Workspace: none added yet", zh="工作区：尚未添加")
SANDBOXED = Sentence(en="Commands run in a sandbox ({level}).", zh="命令在沙箱中运行（{level}）。")
NOT_SANDBOXED = Sentence(
    en="NOT SANDBOXED: commands run with all rights of this account.",
    zh="未隔离：命令以本账户的全部权限运行。",
)
RUN_OFF = Sentence(
    en="Running commands is switched off on this machine (allow_run_terminal).",
    zh="本机已关闭运行命令的功能（allow_run_terminal）。",
)
LEFT_OVER = Sentence(
    en="Only “{taken}” was understood; “{left}” is NOT done. Ask for that by itself.",
    zh="只处理“{taken}”；不会进行“{left}”，请单独提出。",
)
APPROVAL_EXPIRED = Sentence(
    en="Nobody approved it in time, so nothing was done. Send it again if it is still wanted.",
    zh="没有人在期限内批准，没有执行任何操作。如仍需要，请重新发送。",
)
REJECTED = Sentence(en="Nothing was done.", zh="没有执行任何操作。")
REJECTED_WHY = Sentence(en="“{why}”. Nothing was done.", zh="“{why}”。没有执行任何操作。")
REFUSED = Sentence(
    en="The policy of this machine does not allow it: {why}", zh="本机策略不允许：{why}"
)
RUN_AT = Sentence(
    en="playbook {playbook}, step {number} of {count} ({step})",
    zh="剧本 {playbook}，第 {number} 步，共 {count} 步（{step}）",
)
RUN_WAITS = Sentence(
    en="playbook {playbook}, step {number} of {count} ({step}), waits at the machine: "
    "codexbridge approve {task}",
    zh="剧本 {playbook}，第 {number} 步，共 {count} 步（{step}），等待在开发机上批准："
    "codexbridge approve {task}",
)
RUN_HOOK_WAITS = Sentence(
    en="playbook {playbook}, a step of a hook, waits at the machine: codexbridge approve {task}",
    zh="剧本 {playbook}，钩子的步骤，等待在开发机上批准：codexbridge approve {task}",
)
RUN_STOPPED = Sentence(
    en="The playbook was stopped. What its steps have done stays. To carry it on, run at the "
    "machine: codexbridge playbook resume {task}",
    zh="剧本已停止，已完成的内容保留。在开发机上继续执行：codexbridge playbook resume {task}",
)
MOVED_ON = Sentence(
    en="The files have changed since it was proposed, so it no longer fits. Nothing was done; ask "
    "again for a new proposal.",
    zh="方案提出之后文件已变，不再适用。没有执行任何操作；请重新提出。",
)
INTERNAL = Sentence(
    en="It failed inside the agent ({code}). See the log at the machine.",
    zh="Agent 内部出错（{code}）。请查看开发机上的日志。",
)
ASKED_AGAIN = Sentence(
    en="Asked again at the machine: {why}.\n{what}", zh="已在开发机上重新询问：{why}。\n{what}"
)
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
AGENT_STOPPED = Sentence(en="The agent was stopped at the machine.", zh="Agent 已在开发机上停止。")
HIGH_RISK = Sentence(en="High risk: {why}.", zh="高风险：{why}。")
AND_ALSO = Sentence(en="; ", zh="；")
APPLY_OFF = Sentence(
    en="Changes of files are switched off on this machine (allow_apply_patch = false).",
    zh="本机已禁止改动文件（allow_apply_patch = false）。",
)
REFUSALS: Final[dict[str, Sentence]] = {"run-off": RUN_OFF, "apply-off": APPLY_OFF}
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
        en="No program “{program}” can be run in this workspace. Nothing was run. At the machine: "
        "a script must be executable (chmod +x), and `codexbridge workspace add` finds toolchains.",
        zh="在此工作区中没有可以运行的程序“{program}”。没有运行任何命令。在开发机上：脚本需要有执行权限"
        "（chmod +x）；用 `codexbridge workspace add` 可以重新查找工具链。",
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
    "workspace.moved": Sentence(
        en="The folder of the workspace was moved, and a link stands in its place. Nothing was "
        "run. See at the machine: codexbridge doctor",
        zh="工作区所在的文件夹已移走，原处是一个链接。没有运行任何命令。请在开发机上查看："
        "codexbridge doctor",
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
WOULD_UNDO = Sentence(
    en="Proposed in workspace {workspace}: undo {task}, {count} {count:file|files}.",
    zh="在工作区 {workspace} 提议撤销 {task}，共 {count} 个文件。",
)
WOULD_RESTORE = Sentence(
    en="Proposed in workspace {workspace}: put back the files that still hold what {task} wrote "
    "before it was interrupted. All others are left as they are.",
    zh="在工作区 {workspace} 提议：把 {task} 中断前已写入、此后无人改动的文件恢复原样。"
    "其余文件不动。",
)
LEFT_AS_THEY_ARE = Sentence(
    en="Left alone, edited by somebody else ({count}):",
    zh="保留他人的改动，不动这 {count} 个文件：",
)
UNDO_ONE_OF = Sentence(
    en="Say which change to undo, such as: {prefix} undo {task}\nYour latest changes here:",
    zh="请说明撤销哪个改动，例如：{prefix} 撤销 {task}\n你最近在这里的改动：",
)
UNDO_NONE = Sentence(
    en="None of your latest requests here made a change that can be undone. An older one by its "
    "ID: {prefix} undo T-7K3F.",
    zh="你最近在这里的请求中，没有可撤销的改动。更早的请写明编号：{prefix} 撤销 T-7K3F。",
)
NARROWED = Sentence(
    en="Narrowed at the machine to a part of it; asked anew there.",
    zh="已在开发机上缩小为其中一部分；正在那里重新询问。",
)
TO_ASK_AGAIN = Sentence(
    en="To ask again from here: codexbridge retry {task}",
    zh="在本机重新提出：codexbridge retry {task}",
)
TO_REVISE = Sentence(
    en="To have it made anew for the files as they are: {prefix} revise {task} fit the files as "
    "they are",
    zh="如需按现在的文件重新提出：{prefix} 修订 {task} 适配现在的文件",
)
TO_REVISE_HERE = Sentence(
    en="To have it made anew for the files as they are: "
    'codexbridge ask "revise {task} fit the files as they are"',
    zh='如需按现在的文件重新提出：codexbridge ask "修订 {task} 适配现在的文件"',
)
UNKNOWN = Sentence(
    en="It was approved, then interrupted. Whether it happened is unknown; it is not done again by "
    "itself. Please check at the machine.",
    zh="获批后被中断。不确定是否已执行；不会自动再次执行。请在开发机上检查。",
)
THINKING = Sentence(
    en="The model {model} is at work ({duration}).", zh="模型 {model} 正在处理（{duration}）。"
)
VERSION_OF = Sentence(
    en="Version {version} of {task}. {text}", zh="这是 {task} 的第 {version} 版。{text}"
)
REVISE_WHICH = Sentence(
    en="Say which proposal and what should be otherwise: {prefix} revise T-7K3F use a longer delay",
    zh="请说明修订哪个方案、如何修订：{prefix} 修订 T-7K3F 把间隔调长一些",
)
REVISE_ONE_OF = Sentence(
    en="Say which proposal, such as: {prefix} revise {task} use a longer delay\n"
    "For a new change: {prefix} patch …\nYour proposals here:",
    zh="请说明修订哪个方案，例如：{prefix} 修订 {task} 把间隔调长一些\n"
    "如需新的改动：{prefix} 补丁 …\n你在这里的方案：",
)
OFFERED_ROW = Sentence(en="{task}: {what}", zh="{task}：{what}")
REVISE_TAKEN = Sentence(
    en="No proposal was named; {task} is meant, your only one here.",
    zh="未指明方案；理解为 {task}，即你在这里唯一的方案。",
)
REVISE_NOT = Sentence(
    en="{task} has no proposal of a model to revise. Ask for what you want in a new message.",
    zh="{task} 没有可修订的模型方案。请用新消息说明你的需求。",
)
REPLACED = Sentence(
    en="Replaced by {task}, its next version; nothing was applied.",
    zh="已由其下一版本 {task} 取代；没有应用任何改动。",
)
RESTED_TOO_LONG = Sentence(
    en="Nobody applied it in {hours} {hours:hour|hours}; nothing was changed.",
    zh="{hours} 小时内无人应用；没有改动任何内容。",
)
APPLIED_ALREADY = Sentence(
    en="{task} is applied already. To take it back: {prefix} undo {task}",
    zh="{task} 已经应用。如需撤销：{prefix} 撤销 {task}",
)
REJECTED_ALREADY = Sentence(
    en="{task} was rejected at the machine. Ask for another version: {prefix} revise {task} …",
    zh="{task} 已在开发机上被拒绝。可要求另一版本：{prefix} 修订 {task} …",
)
BROUGHT_BACK = Sentence(
    en="The change of {task}, an earlier version that {newer} replaced. {text}",
    zh="这是 {task} 的改动，属于较早的版本，已由 {newer} 取代。{text}",
)
NOTHING_IN_IT = Sentence(
    en="{task} proposes no change of files, so there is nothing to apply.",
    zh="{task} 没有提议改动文件，因此没有可应用的内容。",
)
NOT_READY = Sentence(
    en="{task} is not ready yet; it will be asked at the machine when it is.",
    zh="{task} 尚未就绪；就绪后会在开发机上询问。",
)
ASKED_THERE = Sentence(
    en="Nothing is approved from the chat: {task} waits for a decision at the machine and is shown "
    "there once more. At its terminal: codexbridge approve {task}",
    zh="聊天中不能批准：{task} 正在等待开发机上的决定，已在那里再次显示。"
    "也可在其终端运行：codexbridge approve {task}",
)
# One for all: not even whether there is something to be done is told before a person decides.
KEPT_THERE = Sentence(
    en="What came of it is shown at the machine alone. A person there decides whether it is done, "
    "or sent here.",
    zh="结果仅在开发机上显示。是否执行、是否发到聊天，由开发机前的人决定。",
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
HERE = Sentence(
    en="I am here. `{prefix} help` shows what I can do.",
    zh="我在。发送 `{prefix} 帮助` 可以查看能做什么。",
)
MISTYPED = Sentence(
    en="“{word}” is no command. Did you mean `{prefix} {meant}`?",
    zh="没有“{word}”这个命令。是不是想发 `{prefix} {meant}`？",
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
    "earlier-command": Sentence(
        en="a command from before the agent's last start is still being ended; this takes a few "
        "seconds",
        zh="Agent 上次启动前开始的命令正在终止，需要几秒",
    ),
    "journal-check": Sentence(
        en="the journal is large and is still being looked through; it takes seconds",
        zh="任务日志较大，仍在检查，需要几秒",
    ),
}
