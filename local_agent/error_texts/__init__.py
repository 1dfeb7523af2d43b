"""What the command line of the agent says when something fails, by code: one line, what to do."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from common.sentences import Sentence
from common.service_words import SERVICE_ERRORS
from local_agent.error_texts import (
    agent,
    changes,
    files,
    passkeys,
    playbooks,
    runs,
    sync,
    workspace,
)
from local_agent.models import texts as model_texts

_SETTINGS: Final = {
    "config.missing": Sentence(
        en="The setting {name} is missing. Set it in the settings file or as {how}.",
        zh="缺少设置项 {name}。请在设置文件中填写，或通过 {how} 提供。",
    ),
    "config.unusable": Sentence(en="{path} cannot be used: {why}.", zh="无法使用 {path}：{why}。"),
    "config.key-file-broken": Sentence(
        en="The key file {path} is damaged. Pair this machine again: "
        "codexbridge pair --gateway URL --replace",
        zh="密钥文件 {path} 已损坏。请重新配对：codexbridge pair --gateway URL --replace",
    ),
    "keystore.keyring-away": Sentence(
        en="This machine's key is in the system keyring, which cannot be reached now. Unlock it "
        "or start from your desktop session.",
        zh="本机密钥在系统密钥环中，目前无法访问。请先解锁，或从桌面会话启动。",
    ),
    "process.not-hardened": Sentence(
        en="The kernel refused to protect this process's memory; the agent does not start.",
        zh="内核拒绝保护本进程的内存；Agent 不会启动。",
    ),
}
_TASK: Final = {
    "approve.no-terminal": Sentence(
        en="Only a person at a terminal can approve: standard input is not a terminal here. "
        "Nothing was approved.",
        zh="只有终端前的人可以批准：此处的标准输入不是终端。没有批准任何操作。",
    ),
    "reject.no-terminal": Sentence(
        en="There is no terminal to ask at, so name the task: codexbridge reject {task}",
        zh="没有可以询问的终端，请指明任务：codexbridge reject {task}",
    ),
    "approve.several": Sentence(
        en="{count} requests wait for approval; say which one, such as: codexbridge approve T-7K3F",
        zh="有 {count} 个请求等待批准；请指明，例如：codexbridge approve T-7K3F",
    ),
    "approve.ended": Sentence(en="{task} no longer waits: {how}", zh="{task} 已不再等待：{how}"),
    "approve.not-waiting": Sentence(
        en="{task} does not wait for approval. `codexbridge show {task}` shows its state.",
        zh="{task} 并不在等待批准。用 `codexbridge show {task}` 查看其状态。",
    ),
    "receipt.open": Sentence(
        en="{task} has not ended; its receipt can be had when it has.",
        zh="{task} 尚未结束；结束后才能取得凭证。",
    ),
    "receipt.arguments": Sentence(
        en="Say `codexbridge receipt T-7K3F [--output FILE]` or `codexbridge receipt verify FILE "
        "--key PUB`.",
        zh="用法：`codexbridge receipt T-7K3F [--output FILE]` 或 `codexbridge receipt verify FILE "
        "--key PUB`。",
    ),
    "receipt.broken": Sentence(
        en="No receipt is given out: what the journal holds of the task ({what}) does not verify. "
        "Run `codexbridge audit verify`.",
        zh="无法出具凭证：日志库中该任务的内容（{what}）未通过验证。"
        "请运行 `codexbridge audit verify`。",
    ),
    "audit.store-older": Sentence(
        en="{path} is still of an earlier release: start the agent once, then look again.",
        zh="{path} 仍为旧版本：请先启动一次 Agent 再检查。",
    ),
    "retry.open": Sentence(
        en="{task} has not ended; there is nothing to ask again. To stop it: "
        "codexbridge cancel {task}",
        zh="{task} 尚未结束，无需重试。如需停止：codexbridge cancel {task}",
    ),
    "retry.unknown": Sentence(
        en="{task} was interrupted and may have taken effect. Look first: codexbridge show {task}. "
        "Then run this in a terminal, without --json: it asks before the request is put again.",
        zh="{task} 被中断，可能已经生效。请先查看：codexbridge show {task}。"
        "然后在终端中运行本命令（不带 --json）：它会先询问，再重新提出请求。",
    ),
    "tasks.limit": Sentence(
        en="--limit takes a number from 1 to {most}.", zh="--limit 应为 1 到 {most} 的数字。"
    ),
    "task.over": Sentence(en="{task} has ended already.", zh="{task} 已经结束。"),
    "log.none": Sentence(
        en="No output of {task} is kept: it ran nothing, printed nothing, or the disk was full.",
        zh="没有保存 {task} 的输出：它没有运行命令、没有输出，或当时磁盘已满。",
    ),
    "blob.missing": Sentence(en="The kept output is no longer there.", zh="保存的输出已不存在。"),
    "blob.changed": Sentence(
        en="The kept output was changed on the disk, so it is not shown.",
        zh="保存的输出在磁盘上被改动过，因此不予显示。",
    ),
}
_AUTHORITY: Final = {
    "config.agent-running": Sentence(
        en="The agent is already running ({path} is locked). Use it, or stop it first.",
        zh="Agent 已在运行（{path} 已被锁定）。请直接使用，或先将其停止。",
    ),
    "config.store-newer": Sentence(
        en="{path} was written by a newer release (version {found}; this one knows {known}). "
        "Install that release again.",
        zh="{path} 由更新的版本写入（版本 {found}，本程序支持到 {known}）。请重新安装该版本。",
    ),
    "config.journal-damaged": Sentence(
        en="The journal {path} is damaged ({why}), so the agent does not start; nothing was "
        "changed. Copy journal.db* somewhere safe, then put a backup in its place (see “A damaged "
        "journal” in `codexbridge help approver`).",
        zh="任务日志 {path} 已损坏（{why}），Agent 不会启动；没有任何更改。请先把 journal.db* "
        "复制到安全的地方，再换上备份：步骤见 `codexbridge help approver` 的“任务日志损坏”。",
    ),
    "config.journal-full": Sentence(
        en="There is no room left on the disk of {path}, so the agent cannot start. Free some and "
        "start it again; nothing is lost.",
        zh="{path} 所在磁盘已满，Agent 无法启动。请清理出空间后再启动；没有丢失任何内容。",
    ),
    "config.journal-denied": Sentence(
        en="This user may not read and write {path} ({why}). Run the agent as the user that owns "
        "the state folder.",
        zh="当前用户无权读写 {path}（{why}）。请以状态文件夹所属的用户运行 Agent。",
    ),
    "audit.broken": Sentence(
        en="The audit log does not hold at entry {seq}: it was changed or damaged, so the agent "
        "does not start. Copy journal.db* somewhere safe, see `codexbridge audit verify`, then "
        "put a backup in its place (see “A damaged journal” in `codexbridge help approver`).",
        zh="审计日志在第 {seq} 条处校验失败：内容有改动或已损坏，Agent 不会启动。请先把 "
        "journal.db* 复制到安全的地方，用 `codexbridge audit verify` 查看详情，再换上备份："
        "步骤见 `codexbridge help approver` 的“任务日志损坏”。",
    ),
    "store.full": Sentence(
        en="The disk is full, so the journal takes nothing in; nothing was changed. Free some room "
        "and try again; the agent goes on by itself.",
        zh="磁盘已满，任务日志无法写入；没有任何更改。请清理出空间后重试；Agent 会自行继续。",
    ),
    "store.damaged": Sentence(
        en="The journal is damaged ({why}); nothing was changed. Stop the agent and start it "
        "again: it looks through the file and says what to do.",
        zh="任务日志已损坏（{why}）；没有任何更改。请停止并重新启动 Agent："
        "它会检查文件并说明如何处理。",
    ),
    "store.failed": Sentence(
        en="The journal could not be read or written ({why}); nothing was changed. Try again; if "
        "it stays so, restart the agent, which then looks through the file.",
        zh="无法读写任务日志（{why}）；没有任何更改。请重试；如仍出错，请重启 Agent，"
        "它会检查该文件。",
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
        en="This approval no longer waits; look at its task again.",
        zh="该审批已不再等待；请重新查看该任务。",
    ),
    "approval.expired": Sentence(
        en="This approval has expired; nothing was done. Ask for the task again.",
        zh="该审批已过期；没有执行任何操作。请重新发起任务。",
    ),
    "approval.digest-mismatch": Sentence(
        en="What you looked at is not what waits now. Look again before you decide.",
        zh="你看到的内容与当前待审批的内容不一致。请重新查看后再决定。",
    ),
    "approval.code-mismatch": Sentence(
        en="That is not the confirmation code. The approval still waits; nothing was done.",
        zh="确认码不正确。审批仍在等待；没有执行任何操作。",
    ),
    "approval.paused": Sentence(
        en="Too many wrong codes. Try again in {seconds} s; nothing was done.",
        zh="确认码输错次数过多。请在 {seconds} 秒后重试；没有执行任何操作。",
    ),
    "approval.blocked": Sentence(
        en="Nothing can be approved right now: {why}. Wait until it has ended.",
        zh="现在无法批准：{why}。请等待其结束。",
    ),
    "approval.not-approved": Sentence(
        en="There is no valid approval for this; nothing was done.",
        zh="没有有效的审批；没有执行任何操作。",
    ),
    "approval.task-over": Sentence(
        en="The task has ended or is being cancelled; nothing was done.",
        zh="任务已结束或正在取消；没有执行任何操作。",
    ),
    "approval.changed": Sentence(
        en="The stored approval is not the one that was shown. Nothing was done; check this "
        "machine.",
        zh="存储的审批内容与展示内容不符。没有执行任何操作；请检查本机。",
    ),
    "approval.unsigned": Sentence(
        en="The stored decision is not one that this machine signed. Nothing was done; check this "
        "machine, and run `codexbridge audit verify`.",
        zh="存储的审批决定并非由本机签名。没有运行任何操作；请检查本机，"
        "并运行 `codexbridge audit verify`。",
    ),
    "approval.too-many": Sentence(
        en="{limit} approvals wait there already. Nothing was asked; ask again once some of them "
        "are decided.",
        zh="开发机上已有 {limit} 个审批在等待。未发起审批；请待其中一些处理后重新提出。",
    ),
    "approval.too-many/member": Sentence(
        en="You have asked for {limit} approvals within an hour, which is the most. Nothing was "
        "asked; try later.",
        zh="你在一小时内已发起 {limit} 次审批，达到上限。未发起审批；请稍后再试。",
    ),
    "approval.too-many/gateway": Sentence(
        en="All members together have asked for {limit} approvals within an hour, which is the "
        "most. Nothing was asked; try later.",
        zh="全体成员在一小时内已发起 {limit} 次审批，达到上限。未发起审批；请稍后再试。",
    ),
    "approval.too-many/run": Sentence(
        en="This run has asked {limit} times, which is the most. Nothing was asked; begin another.",
        zh="这次执行已询问 {limit} 次，达到上限。未发起审批；请重新执行。",
    ),
    "approval.too-many/rejected": Sentence(
        en="The same was rejected {limit} times within an hour. Nothing was asked.",
        zh="相同的请求一小时内已被拒绝 {limit} 次。未发起审批。",
    ),
    "policy.refused": Sentence(
        en="This machine refuses it: {reasons}.", zh="本机拒绝运行：{reasons}。"
    ),
}
_CHECK: Final = {
    "check.not-a-change": Sentence(
        en="Only a proposed change can be tried out first.", zh="只有拟议的改动才能先行检查。"
    ),
    "check.no-command": Sentence(
        en="This workspace has no test command to try it out with. Set one: "
        "codexbridge workspace add PATH --test COMMAND",
        zh="该工作区没有可用于检查的测试命令。请先设置：codexbridge workspace add 路径 --test 命令",
    ),
    "check.not-sandboxed": Sentence(
        en="Nothing can be tried out here: that needs the bubblewrap sandbox, which does not work "
        "on this machine. `codexbridge status` says why.",
        zh="此处无法先行检查：需要 bubblewrap 沙箱，而它在本机不可用。"
        "`codexbridge status` 会说明原因。",
    ),
    "check.no-git": Sentence(
        en="The change could not be checked here: git does not work in the sandbox, as its folder "
        "{path} lies outside of the workspace. To let commands read it: codexbridge workspace add "
        "{workspace}",
        zh="无法在此检查该改动：git 的文件夹 {path} 位于工作区之外，因此 git 在沙箱中不可用。"
        "要让命令读取它：codexbridge workspace add {workspace}",
    ),
    "check.runs-off": Sentence(
        en="Commands are switched off on this machine (allow_run_terminal).",
        zh="本机已关闭命令运行（allow_run_terminal）。",
    ),
    "check.too-large": Sentence(
        en="The workspace, or a file in it, is too large to be copied (more than {limit} bytes). "
        "Nothing ran.",
        zh="工作区或其中的文件过大，无法复制（超过 {limit} 字节）。没有运行任何命令。",
    ),
    "check.too-many": Sentence(
        en="The workspace has too many files to be copied (more than {limit}). Nothing ran.",
        zh="工作区文件过多，无法复制（超过 {limit} 个）。没有运行任何命令。",
    ),
    "check.moved-on": Sentence(
        en="The files have changed since the change was asked for. Nothing ran; look at the change "
        "again.",
        zh="自提出改动以来，文件已发生变化。没有运行任何命令；请重新查看该改动。",
    ),
    "check.not-copied": Sentence(
        en="The workspace could not be copied ({why}). Nothing ran.",
        zh="无法复制工作区（{why}）。没有运行任何命令。",
    ),
}
_POLICY: Final = {  # they reach the chat as well
    "policy.unreadable": Sentence(
        en="{file} cannot be read: it is not an ordinary file, too large, or not open to this "
        "account. Until it is put right, everything in this workspace is refused.",
        zh="无法读取 {file}：它不是普通文件、过大，或本账户无权访问。修正之前，"
        "该工作区的一切操作都会被拒绝。",
    ),
    "policy.not-private": Sentence(
        en="Others may read or write {file} or its folder. Until that is put right (chmod 600 the "
        "file, 700 the folder), everything in this workspace is refused.",
        zh="其他人可读写 {file} 或其所在文件夹。修正之前（文件 chmod 600，文件夹 chmod 700），"
        "该工作区的一切操作都会被拒绝。",
    ),
    "policy.syntax": Sentence(
        en="{file} is not valid TOML. Until it is put right, everything in this workspace is "
        "refused.",
        zh="{file} 不是有效的 TOML。修正之前，该工作区的一切操作都会被拒绝。",
    ),
    "policy.unknown-key": Sentence(
        en="{file} has the unknown key “{key}”. Until it is put right, everything in this "
        "workspace is refused; `codexbridge help policy.toml` lists the keys.",
        zh="{file} 中有未知的键“{key}”。修正之前，该工作区的一切操作都会被拒绝；"
        "可用的键见 `codexbridge help policy.toml`。",
    ),
    "policy.value": Sentence(
        en="{file} has a value for “{key}” that it cannot have. Until it is put right, everything "
        "in this workspace is refused; `codexbridge help policy.toml` shows each key.",
        zh="{file} 中“{key}”的值无效。修正之前，该工作区的一切操作都会被拒绝；"
        "写法见 `codexbridge help policy.toml`。",
    ),
}
_UNDO: Final = {
    "undo.nothing": Sentence(
        en="This task changed nothing, so there is nothing to undo.",
        zh="该任务没有任何改动，无可撤销。",
    ),
    "undo.part": Sentence(
        en="This task made {count} changes, one after the other. Say which one to take back.",
        zh="该任务依次做了 {count} 处改动。请指明要撤销哪一处。",
    ),
    "undo.command": Sentence(
        en="This task ran a command, pushed, or had an answer told; that cannot be undone.",
        zh="该任务运行了命令、推送了提交或发出了回答，无法撤销。",
    ),
    "undo.not-applied": Sentence(
        en="The change of this task was not applied, so there is nothing to undo. "
        "`codexbridge show` says how it ended.",
        zh="该任务的改动没有应用，无可撤销。用 `codexbridge show` 查看其结果。",
    ),
    "undo.other-workspace": Sentence(
        en="This task changed another workspace. Say which one, and ask again.",
        zh="该任务改动的是另一个工作区。请指明工作区后重试。",
    ),
    "undo.already": Sentence(
        en="The change of this task was undone already.", zh="该任务的改动已经撤销。"
    ),
}
_STEPS: Final = {
    "steps.overlap": Sentence(
        en="The steps “{earlier}” and “{step}” both touch {path} or its folder, so one approval "
        "cannot cover both. Let the second be asked about by itself.",
        zh="步骤“{earlier}”和“{step}”都涉及 {path} 或其所在目录，不能由一次批准同时涵盖。"
        "请让后一步单独请求批准。",
    ),
    "steps.command": Sentence(
        en="Step “{earlier}” changes {path}, on which the command of step “{step}” depends, so one "
        "approval cannot cover both. Let the command be asked about by itself.",
        zh="步骤“{earlier}”会改动 {path}，而步骤“{step}”的命令依赖它，不能由一次批准同时涵盖。"
        "请让该命令单独请求批准。",
    ),
    "steps.too-many": Sentence(
        en="One approval cannot cover so many steps, or steps so large; at most {limit} of these. "
        "Ask about fewer at a time.",
        zh="一次批准无法涵盖这么多或这么大的步骤；这里最多 {limit} 个。请分几次请求批准。",
    ),
}
_PAIR: Final = {
    "input.help-topic": Sentence(
        en="There is no page “{given}”; closest: {did_you_mean}. `codexbridge help` lists them; "
        "`codexbridge COMMAND --help` describes a command.",
        zh="没有“{given}”这一页，最接近的是：{did_you_mean}。`codexbridge help` 列出全部说明；"
        "`codexbridge 命令 --help` 查看某个命令。",
    ),
    "input.no-help-topic": Sentence(
        en="There is no page “{given}”. `codexbridge help` lists them; "
        "`codexbridge COMMAND --help` describes a command.",
        zh="没有“{given}”这一页。`codexbridge help` 列出全部说明；"
        "`codexbridge 命令 --help` 查看某个命令。",
    ),
    "input.pairing-code": Sentence(
        en="That code is not complete, or has a typing error: copy it again. If it stays so, ask "
        "your admin for a new one (codexbridge gateway pair).",
        zh="配对码不完整或有错字，请重新复制。仍不行时，请管理员重新生成"
        "（codexbridge gateway pair）。",
    ),
    "input.gateway-url": Sentence(
        en="“{url}” is not a gateway's address. It looks like https://gateway.example.com",
        zh="“{url}”不是网关地址。形如 https://gateway.example.com",
    ),
    "pair.no-gateway": Sentence(
        en="That is a code without the gateway's address. Nothing was paired. Paste the whole line "
        "from your admin (https://…#CB1-…), or give the address: codexbridge pair --gateway URL",
        zh="只有配对码，没有网关地址，未配对。请粘贴管理员给你的整行（https://…#CB1-…），或给出地址："
        "codexbridge pair --gateway URL",
    ),
    "pair.insecure-url": Sentence(
        en="{url} has no TLS. Use https://, or http:// with 127.0.0.1 for a gateway on this "
        "machine.",
        zh="{url} 没有 TLS。请使用 https://；若网关在本机，可用 http://127.0.0.1。",
    ),
    "pair.already": Sentence(
        en="This machine is paired with {url} as {machine}. To pair it again, run on a terminal: "
        "codexbridge pair --replace --gateway URL",
        zh="本机已作为 {machine} 与 {url} 配对。如需重新配对，请在终端运行："
        "codexbridge pair --replace --gateway URL",
    ),
    "pair.unreachable": Sentence(
        en="{url} cannot be reached: {why}. Is the address right, and the gateway running?",
        zh="无法连接 {url}：{why}。地址是否正确，网关是否在运行？",
    ),
    "pair.busy": Sentence(
        en="{url} is busy. Try again in a minute; the code stays valid.",
        zh="{url} 正忙。请一分钟后再试；配对码仍然有效。",
    ),
    "pair.limited": Sentence(
        en="Not paired: {url} refuses, after too many failed attempts from this network address. A "
        "gateway takes a valid code even then: check yours, or ask the admin for a new one. Where "
        "a proxy limits requests, try again in a minute.",
        zh="未配对：来自本网络地址的失败尝试过多，{url} 已拒绝。网关此时仍接受有效的配对码："
        "请核对配对码，或向管理员索取新的；如果是代理服务器限流，请一分钟后再试。",
    ),
    "pair.not-a-gateway": Sentence(
        en="{url} does not answer like a CodexBridge gateway. Is the address right?",
        zh="{url} 的应答不像 CodexBridge 网关。地址是否正确？",
    ),
    "pair.refused": Sentence(
        en="The gateway does not take this code: mistyped, used, or older than ten minutes; or the "
        "address is not the one it calls itself. Nothing was changed.",
        zh="网关不接受此配对码：可能输错、已使用、超过十分钟，或地址与网关自称的不符。没有任何改动。",
    ),
    "pair.interrupted": Sentence(
        en="Pairing with this code was begun here before and interrupted, and the gateway does not "
        "take it again: it may know this machine already. Ask your admin for a new one, which "
        "replaces that entry: codexbridge gateway pair --machine NAME --member USER --replace",
        zh="此前用这个配对码配对时中断，网关不再接受它：网关可能已登记本机。"
        "请管理员重新生成配对码，它会取代原有登记："
        "codexbridge gateway pair --machine 名称 --member 用户 --replace",
    ),
    "pair.file": Sentence(
        en="{path} is damaged. Pair this machine again: codexbridge pair --gateway URL "
        "(after removing that file)",
        zh="{path} 已损坏。请删除该文件后重新配对：codexbridge pair --gateway URL",
    ),
    "pair.key-missing": Sentence(
        en="This machine is paired, but its key ({name}) is gone from the keystore. Pair it again: "
        "codexbridge pair --gateway URL --replace",
        zh="本机已配对，但密钥（{name}）不在密钥库中。请重新配对："
        "codexbridge pair --gateway URL --replace",
    ),
    "rotate.unpaired": Sentence(
        en="This machine is not paired, so there is no key to rotate. codexbridge pair makes one.",
        zh="本机尚未配对，没有可更换的密钥。codexbridge pair 会生成密钥。",
    ),
    "rotate.pending": Sentence(
        en="The gateway has not taken the last new key over yet. It does when it is connected "
        "again; codexbridge status shows it.",
        zh="网关尚未接受上一次的新密钥，重新连接后即会接受；可用 codexbridge status 查看。",
    ),
    "rotate.too-soon": Sentence(
        en="The key was rotated only just now. Try again in {minutes} min.",
        zh="刚刚更换过密钥。请在 {minutes} 分钟后再试。",
    ),
}
ERRORS: Final[Mapping[str, Sentence]] = {
    **_AUTHORITY,
    **_CHECK,
    **_POLICY,
    **_UNDO,
    **_STEPS,
    **_SETTINGS,
    **agent.ERRORS,
    **_TASK,
    **_PAIR,
    **workspace.ERRORS,
    **files.ERRORS,
    **sync.ERRORS,
    **changes.ERRORS,
    **playbooks.ERRORS,
    **runs.ERRORS,
    **passkeys.ERRORS,
    **model_texts.ERRORS,
    **SERVICE_ERRORS,
}
