"""The sentences of the agent's command line, help included.  Errors are in `error_texts`."""

from __future__ import annotations

from typing import Final

from common.sentences import Sentence

# -- help ------------------------------------------------------------------------------------

AGENT: Final = Sentence(
    en="Run the agent of this machine in the foreground until SIGTERM or Ctrl-C.",
    zh="在前台运行本机 Agent，直到收到 SIGTERM 或按下 Ctrl-C。",
)
AGENT_CONFIG: Final = Sentence(
    en="settings file instead of agent.toml in the configuration folder",
    zh="使用此设置文件，而不是配置目录中的 agent.toml",
)
PAIR: Final = Sentence(
    en="Join this machine to a gateway. The code (CB1-…) is read from standard input, without "
    "echo on a terminal; `codexbridge gateway pair` makes one on the gateway.",
    zh="把本机接入网关。配对码（CB1-…）从标准输入读取，在终端上不回显；在网关上用 "
    "`codexbridge gateway pair` 生成。",
)
PAIR_GATEWAY: Final = Sentence(
    en="address of the gateway, such as https://gateway.example.com",
    zh="网关地址，例如 https://gateway.example.com",
)
PAIR_REPLACE: Final = Sentence(
    en="pair again although this machine is paired; asks on the terminal first",
    zh="本机已配对时重新配对；会先在终端上确认",
)
WORKSPACE: Final = Sentence(
    en="The folders that tasks may work in. Only a command that runs without a sandbox can change "
    "anything of yours outside them.",
    zh="任务可以使用的文件夹。只有未隔离的命令才能改动你的其他内容。",
)
WORKSPACE_ADD: Final = Sentence(en="add a folder", zh="添加文件夹")
WORKSPACE_LIST: Final = Sentence(en="list them", zh="列出")
WORKSPACE_REMOVE: Final = Sentence(
    en="forget one; its files stay as they are", zh="移除登记；不会改动其中的文件"
)
WORKSPACE_PATH: Final = Sentence(en="the folder", zh="文件夹")
WORKSPACE_NAME: Final = Sentence(en="its name in requests", zh="在请求中使用的名称")
WORKSPACE_TEST: Final = Sentence(
    en="command that a bare `@dev test` runs here", zh="单独的 `@dev test` 在此运行的命令"
)
WORKSPACE_DEFAULT: Final = Sentence(
    en="use it where a request names none", zh="请求未指明时使用此工作区"
)
DENY: Final = Sentence(
    en="what may never be read here, beside what looks like a secret, such as 'private/**'; may "
    "be repeated",
    zh="此处绝不读取的内容（疑似机密的文件本来就不读取），例如 'private/**'；可重复给出",
)
PASS_ENV: Final = Sentence(
    en="one of your environment variables that commands are given here; may be repeated",
    zh="在此运行的命令可以得到的一个环境变量；可重复给出",
)
WORKSPACE_TOOLCHAINS: Final = Sentence(
    en="toolchains to allow without being asked: all, none, or names with commas "
    "(needed where standard input is not a terminal)",
    zh="不经询问即允许的工具链：all、none 或以逗号分隔的名称（标准输入不是终端时必须给出）",
)
ASK: Final = Sentence(
    en="Put a request from this terminal, as a chat message would, and follow it until it has "
    "ended, rests or waits for approval. What a model says is shown as it comes; a change that it "
    "proposes rests until `codexbridge apply`. Ctrl-C only stops watching.",
    zh="在本终端提出请求（与聊天消息相同），并显示进展，直到结束、待应用或等待批准。模型的输出会实时显示；"
    "它提出的改动先不应用，等你运行 `codexbridge apply`。Ctrl-C 只是停止查看。",
)
ASK_TEXT: Final = Sentence(
    en="the request; `@dev` in front may be left out", zh="请求内容；开头的 `@dev` 可以省略"
)
ASK_WORKSPACE: Final = Sentence(en="name of the workspace", zh="工作区名称")
TASKS: Final = Sentence(
    en="List the tasks of this machine, newest first.", zh="列出本机任务，最新的在前。"
)
TASKS_ALL: Final = Sentence(en="finished ones too", zh="包括已结束的任务")
TASKS_LIMIT: Final = Sentence(
    en="how many at most, 1 to 200; 100 unless given", zh="最多列出多少个，1 到 200，默认 100"
)
SHOW: Final = Sentence(
    en="Show a task: everything that would be done if it were approved; afterwards how it ended, "
    "its last lines, the files it changed, and whether that can be undone.",
    zh="显示任务：批准后将执行的全部内容；结束后则是结果、输出的最后几行、改动的文件，以及能否撤销。",
)
SHOW_LOG: Final = Sentence(
    en="print the command's output, all that is kept of it", zh="显示命令的输出（保存下来的全部）"
)
APPROVE: Final = Sentence(
    en="Show everything that would be done, then ask for its code on this terminal. Only a person "
    "can approve: standard input must be a terminal, and there is no option that answers for you. "
    "Enter alone, Ctrl-D or Ctrl-C decides nothing. Afterwards the run is followed; Ctrl-C then "
    "only stops watching.",
    zh="显示将要执行的全部内容，然后在本终端询问其确认码。只有人能批准：标准输入必须是终端，没有任何"
    "选项可以代答。直接回车、Ctrl-D 或 Ctrl-C 都不作决定。批准后会显示运行过程，此时 Ctrl-C 只是"
    "停止查看。",
)
REJECT: Final = Sentence(
    en="Reject what waits: nothing runs, and the chat is notified.",
    zh="拒绝等待中的请求；不会运行，并会通知聊天。",
)
REJECT_REASON: Final = Sentence(en="reason, shown in the chat", zh="告知聊天的原因")
CANCEL: Final = Sentence(
    en="Stop a task: one that waits is dropped, a command that runs is ended.",
    zh="停止任务：等待中的放弃，运行中的命令会被终止。",
)
RETRY: Final = Sentence(
    en="Ask again for what a task that has ended asked for: a new task with the same words, asked "
    "from this terminal, which needs its own approval. One that was interrupted may have taken "
    "effect already; then the terminal asks first.",
    zh="再次提出一个已结束任务的请求：在本终端以相同内容新建任务，须重新批准。"
    "被中断的任务可能已经生效，因此会先在终端上询问。",
)
STATUS: Final = Sentence(
    en="How the agent of this machine is doing. Exit code 3: it is not running.",
    zh="查看本机 Agent 的状态。退出码 3：Agent 没有运行。",
)
TASK_ID: Final = Sentence(en="such as T-7K3F", zh="例如 T-7K3F")
TASK_ID_OR_ONLY: Final = Sentence(
    en="such as T-7K3F; without it, the only one that waits",
    zh="例如 T-7K3F；省略时为唯一等待中的那个",
)
JSON: Final = Sentence(en="for programs", zh="供程序使用")

# -- agent -----------------------------------------------------------------------------------

READY: Final = Sentence(
    en="CodexBridge agent ready on {machine}: {workspaces} {workspaces:workspace|workspaces}, "
    "{sandbox}, {model}, {gateway}.",
    zh="CodexBridge Agent 已就绪（{machine}）：{workspaces} 个工作区，{sandbox}，{model}，"
    "{gateway}。",
)
READY_MODEL: Final = Sentence(en="asks the model {name}", zh="使用模型 {name}")
READY_NO_MODEL: Final = Sentence(
    en="no model configured (`codexbridge models`)", zh="未配置模型（`codexbridge models`）"
)
READY_PAIRED: Final = Sentence(en="gateway {url}", zh="网关 {url}")
READY_UNPAIRED: Final = Sentence(
    en="not paired, so it serves this terminal only (`codexbridge pair --gateway URL` joins one)",
    zh="尚未配对，只服务本终端（用 `codexbridge pair --gateway URL` 接入网关）",
)
SANDBOXED: Final = Sentence(en="commands sandboxed by {level}", zh="命令由 {level} 隔离")
NOT_SANDBOXED: Final = Sentence(en="commands NOT SANDBOXED", zh="命令未隔离")
STOPPED: Final = Sentence(en="CodexBridge agent stopped.", zh="CodexBridge Agent 已停止。")

# -- pair ------------------------------------------------------------------------------------

PAIR_CODE: Final = Sentence(en="Pairing code (not shown): ", zh="配对码（不回显）：")
PAIR_SURE: Final = Sentence(
    en="This machine is paired with {url} as {machine}. Pairing again replaces its key; the old "
    "one stops working. Type yes to go on: ",
    zh="本机已作为 {machine} 与 {url} 配对。重新配对会替换其密钥，旧密钥随即失效。输入 yes 继续：",
)
PAIRED: Final = Sentence(
    en="Paired as {machine} with {url}.\nCheck words, the same on the gateway:  {words}\n"
    "Key kept in: {where}.",
    zh="已作为 {machine} 与 {url} 配对。\n核对词（网关上应相同）：{words}\n密钥保存于：{where}。",
)
PAIRED_NEXT: Final = Sentence(
    en="Next: codexbridge workspace add PATH, then codexbridge agent.",
    zh="下一步：codexbridge workspace add 路径，然后 codexbridge agent。",
)
PAIRED_START: Final = Sentence(en="Next: codexbridge agent.", zh="下一步：codexbridge agent。")
PAIRED_RESTART: Final = Sentence(
    en="The agent that runs here does not know this pairing yet. Stop it, and start it again: "
    "codexbridge agent",
    zh="正在运行的 Agent 还不知道此次配对。请停止它，然后重新启动：codexbridge agent",
)
IN_KEYRING: Final = Sentence(en="the system keyring", zh="系统密钥环")
IN_FILE: Final = Sentence(
    en="a file only you can read (no usable system keyring was found)",
    zh="仅你可读的文件（未找到可用的系统密钥环）",
)
KEPT: Final = Sentence(en="Nothing was changed.", zh="未作任何更改。")

# -- workspace -------------------------------------------------------------------------------

ADDED: Final = Sentence(
    en="Workspace {name}: {path} ({count} {count:toolchain|toolchains} allowed).",
    zh="工作区 {name}：{path}（已允许 {count} 个工具链）。",
)
ADDED_NO_TEST: Final = Sentence(
    en="No test command was named: what the project's own files name is proposed, as high risk. "
    'To name one, add it again with --test "CMD".',
    zh="未指定测试命令：将提议项目自身文件中写明的命令，并按高风险处理。"
    '如需指定，请用 --test "命令" 重新添加。',
)
WAS_KNOWN: Final = Sentence(
    en="It was there already. Changed: {changed}. Kept: {kept}.",
    zh="它原已登记。已更改：{changed}。保持不变：{kept}。",
)
NOTHING: Final = Sentence(en="nothing", zh="无")
AND: Final = Sentence(en="; ", zh="；")
PARTS: Final = {
    "path": Sentence(en="folder {value}", zh="文件夹 {value}"),
    "test_command": Sentence(en="test command `{value}`", zh="测试命令 `{value}`"),
    "toolchains": Sentence(en="toolchains {value}", zh="工具链 {value}"),
    "pass_env": Sentence(en="variables {value}", zh="环境变量 {value}"),
    "deny": Sentence(en="never read {value}", zh="绝不读取 {value}"),
    "default": Sentence(en="used where a request names none", zh="请求未指明时使用"),
}
TEST_LOST: Final = Sentence(
    en="The test command kept, `{command}`, could not start here now. Set another one with "
    "--test, or allow its toolchain with --toolchains.",
    zh="保留的测试命令 `{command}` 目前无法在此启动。请用 --test 另设，或用 --toolchains "
    "允许其工具链。",
)
NOTHING_ADDED: Final = Sentence(en="Nothing was added or changed.", zh="没有添加或更改任何内容。")
YES_OR_NO: Final = Sentence(
    en="  Please answer y or n; Enter alone is no.", zh="  请回答 y 或 n；直接回车表示否。"
)
REMOVED: Final = Sentence(en="Workspace {name} is forgotten.", zh="工作区 {name} 已移除登记。")
TOOLCHAINS_FOUND: Final = Sentence(
    en="Where the sandbox works, commands here see this folder and the system. If you allow these "
    "toolchains, their programs are on the PATH and what lies outside this folder can be read:",
    zh="沙箱可用时，此处的命令只能看到本文件夹和系统。允许以下工具链后，其程序会加入 PATH，"
    "位于本文件夹之外的部分可以读取：",
)
TOOLCHAIN_ASK: Final = Sentence(
    en="  allow {kind} at {path}? [y/N] ", zh="  允许位于 {path} 的 {kind}？[y/N] "
)
TOOLCHAINS_SKIPPED: Final = Sentence(
    en="{count} {count:toolchain|toolchains} found and not allowed, as nobody could be asked: "
    "{kinds}. "
    "Add the workspace again with --toolchains all|none|NAMES.",
    zh="发现 {count} 个工具链，因无法询问而未允许：{kinds}。"
    "请用 --toolchains all|none|名称 重新添加。",
)
NO_WORKSPACES: Final = Sentence(
    en="No workspace yet. Add one: codexbridge workspace add PATH",
    zh="还没有工作区。添加：codexbridge workspace add 路径",
)
IS_DEFAULT: Final = Sentence(en="default", zh="默认")

# -- tasks -----------------------------------------------------------------------------------

NO_TASKS: Final = Sentence(en="No open tasks.", zh="没有未结束的任务。")
NO_TASKS_AT_ALL: Final = Sentence(en="No tasks yet.", zh="还没有任务。")
TASKS_MORE: Final = Sentence(
    en="Only the newest {count}; --limit N shows more, at most {most}.",
    zh="仅列出最新的 {count} 个；用 --limit N 查看更多，最多 {most} 个。",
)
RETRY_SURE: Final = Sentence(
    en="{task} was interrupted: it may have taken effect, wholly or in part. Look first: "
    "codexbridge show {task}\nAsked again, it may happen twice. Type yes to ask again: ",
    zh="{task} 被中断：它可能已经全部或部分生效。请先查看：codexbridge show {task}\n"
    "再次提出可能会重复生效。输入 yes 再次提出：",
)
WAITING: Final = Sentence(en="waiting, {left}", zh="等待批准，{left}")
NONE_WAITS: Final = Sentence(en="Nothing waits for approval.", zh="没有等待批准的请求。")
HERE: Final = Sentence(en="this machine", zh="本机")
NO_DECISION: Final = Sentence(
    en="No decision. {task} stays waiting, {left}.", zh="未作决定。{task} 继续等待，{left}。"
)
APPROVED: Final = Sentence(en="Approved. {task} starts.", zh="已批准。{task} 开始执行。")
DETACHED: Final = Sentence(
    en="Stopped watching; {task} goes on. `codexbridge show {task}` shows its progress.",
    zh="已停止查看；{task} 仍在继续。用 `codexbridge show {task}` 查看。",
)
REJECTED: Final = Sentence(en="Rejected {task}.", zh="已拒绝 {task}。")
ROTATE: Final = Sentence(
    en="Give this machine another key. The agent must be running. The gateway takes the key over "
    "by itself; pairing again is not needed.",
    zh="为本机更换密钥。Agent 须正在运行。网关会自动接受新密钥，无需重新配对。",
)
ROTATED: Final = Sentence(
    en="This machine signs with the new key {key} from now on. The old one is thrown away once the "
    "gateway has the new one.",
    zh="本机从现在起使用新密钥 {key} 签名。网关接受新密钥后，旧密钥即被删除。",
)
CANCELLED: Final = Sentence(en="{task} is being stopped.", zh="正在停止 {task}。")
WAITS: Final = Sentence(
    en="{task} waits for you: codexbridge approve {task}",
    zh="{task} 等待你确认：codexbridge approve {task}",
)

STATES: Final = {
    "RECEIVED": Sentence(en="received", zh="已收到"),
    "ROUTED": Sentence(en="understood", zh="已理解"),
    "CONTEXT_COLLECTED": Sentence(en="context collected", zh="已收集上下文"),
    # What is prepared may be an answer or a change.
    "PROPOSING": Sentence(en="preparing", zh="准备中"),
    "PROPOSAL_READY": Sentence(en="proposal ready", zh="方案已就绪"),
    "WAITING_APPROVAL": Sentence(en="waiting for approval", zh="等待批准"),
    "EXECUTING": Sentence(en="running", zh="运行中"),
    "COMPLETED": Sentence(en="completed", zh="已完成"),
    "FAILED": Sentence(en="failed", zh="失败"),
    "REJECTED": Sentence(en="not carried out", zh="未运行"),
}
REASONS: Final = {
    "completed": Sentence(en="completed", zh="已完成"),
    "failed": Sentence(en="failed", zh="失败"),
    "rejected": Sentence(en="rejected", zh="已拒绝"),
    "expired": Sentence(en="expired", zh="已过期"),
    "refused": Sentence(en="refused, nothing was done", zh="未受理，没有执行任何操作"),
    "cancelled": Sentence(en="cancelled", zh="已取消"),
    "drifted": Sentence(en="not run: something changed", zh="未运行：内容已变化"),
    "unknown": Sentence(en="interrupted, outcome unknown", zh="被中断，结果不明"),
}

MACHINE: Final = Sentence(en="Machine", zh="开发机")
GATEWAY: Final = Sentence(en="Gateway", zh="网关")
TASK: Final = Sentence(en="Task", zh="任务")
STATE: Final = Sentence(en="State", zh="状态")
ASKED_BY: Final = Sentence(en="Asked by", zh="请求者")
REQUEST: Final = Sentence(en="Request", zh="请求原文")
WORKSPACE_LABEL: Final = Sentence(en="Workspace", zh="工作区")
WHEN: Final = Sentence(en="When", zh="时间")
RETRY_OF: Final = Sentence(en="Retry of", zh="重试自")
WHEN_ENDED: Final = Sentence(en="{asked}, ended {ended}", zh="{asked}，{ended} 结束")
SUMMARY: Final = Sentence(en="Summary", zh="摘要")
OUTPUT: Final = Sentence(en="Output", zh="输出")
FILES_LABEL: Final = Sentence(en="Files", zh="文件")

# -- how it ended ----------------------------------------------------------------------------

COMMA: Final = Sentence(en=", ", zh="，")
NO_OUTPUT: Final = Sentence(en="It printed nothing.", zh="没有输出。")
OUTPUT_WHOLE: Final = Sentence(
    en="its whole output: codexbridge show {task} --log",
    zh="完整输出：codexbridge show {task} --log",
)
OUTPUT_BEFORE: Final = Sentence(
    en="… {size} before this; codexbridge show {task} --log",
    zh="…… 前面还有 {size}；codexbridge show {task} --log",
)
OUTPUT_NOT_KEPT: Final = Sentence(
    en="… {size} before this, which could not be kept", zh="…… 前面还有 {size}，未能保存"
)
FILES_NONE: Final = Sentence(
    en="No file in the workspace changed while it ran.", zh="运行期间工作区中没有文件变化。"
)
FILES: Final = Sentence(
    en="{count} {count:file|files} in the workspace changed while it ran: {parts}",
    zh="运行期间工作区中有 {count} 个文件变化：{parts}",
)
FILES_OF_KIND: Final = Sentence(en="{count} {kind}", zh="{kind} {count}")
FILE_IS: Final = {
    "new": Sentence(en="new", zh="新增"),
    "changed": Sentence(en="changed", zh="修改"),
    "deleted": Sentence(en="deleted", zh="删除"),
}
FILE_LINK: Final = Sentence(en="symbolic link", zh="符号链接")
FILE_SURFACE: Final = Sentence(
    en="other programs run or obey it, or it lends its owner's rights",
    zh="其他程序会运行它或读取其指令，或它会让人以其所有者的权限运行",
)
FILES_MORE: Final = Sentence(en="… and {count} more", zh="…… 另有 {count} 个")
FILES_MORE_HERE: Final = Sentence(
    en="… and {count} more: codexbridge show {task}",
    zh="…… 另有 {count} 个：codexbridge show {task}",
)
FILES_INCOMPLETE: Final = Sentence(
    en="The workspace has too many files to compare them all; more may have changed.",
    zh="工作区文件过多，未能全部比较；可能还有其他变化。",
)
FILES_ELSEWHERE: Final = Sentence(
    en="It ran without a sandbox: what it changed outside the workspace is not listed.",
    zh="它运行时未隔离：工作区之外的改动没有列出。",
)

HELP: Final = Sentence(
    en="Show a how-to page, or an example of the settings.", zh="查看使用说明或设置示例。"
)
HELP_TOPIC: Final = Sentence(
    en="which page, such as admin; left out, the pages are listed",
    zh="要查看的说明，例如 admin；不填则列出全部",
)
HELP_PAGES: Final = Sentence(
    en="`codexbridge help TOPIC` shows one of these:", zh="`codexbridge help TOPIC` 查看以下说明："
)
HELP_EXAMPLES: Final = Sentence(
    en="Example settings of the gateway, the agent and a workspace's policy",
    zh="网关、Agent 和工作区策略的设置示例",
)
HELP_COMMANDS: Final = Sentence(
    en="`codexbridge --help` lists the commands.", zh="`codexbridge --help` 列出全部命令。"
)
HELP_CONFIG: Final = Sentence(
    en="Example settings, each explained where it stands. Write one to a file and change it:\n\n"
    "  codexbridge help gateway.toml > gateway.toml   the gateway; codexbridge gateway --config "
    "gateway.toml\n"
    "  codexbridge help agent.toml > agent.toml       the agent; codexbridge agent --config "
    "agent.toml\n"
    "  codexbridge help policy.toml > policy.toml     what may run in a workspace; see "
    "codexbridge help policy",
    zh="设置示例，每一项都有说明。写入文件后再修改：\n\n"
    "  codexbridge help gateway.toml > gateway.toml   网关；codexbridge gateway --config "
    "gateway.toml\n"
    "  codexbridge help agent.toml > agent.toml       Agent；codexbridge agent --config "
    "agent.toml\n"
    "  codexbridge help policy.toml > policy.toml     工作区中允许运行的内容；见 "
    "codexbridge help policy",
)
