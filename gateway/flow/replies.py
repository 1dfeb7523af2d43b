"""Every sentence that the gateway says, in English and in Chinese, side by side.

A reply says which machine, which task, which state, who must act, how long is left and what to do
next (P7).  `speaker` fills them in; whether something is said at all is decided by intake,
results and upkeep.
"""

from __future__ import annotations

from collections.abc import Mapping

from common.model.state import Reason
from common.sentences import Sentence

# What is said when a message leads to nothing, by the code of the error.
REFUSALS: Mapping[str, Sentence] = {
    "access.stranger": Sentence(
        en="You are not a member of this bot, so nothing was done. Ask its admin to run: "
        "codexbridge gateway member add {user}",
        zh="你不是本机器人的成员，没有执行任何操作。请管理员运行："
        "codexbridge gateway member add {user}",
    ),
    "intake.not-addressed": Sentence(
        en="Start with {prefix} to ask your machine something. “{prefix} help” shows what it can "
        "do.",
        zh="请以 {prefix} 开头向开发机提出请求。发送“{prefix} 帮助”查看用法。",
    ),
    "intake.not-text": Sentence(
        en="Only text messages are read here, so nothing was done. Send it as text.",
        zh="这里只处理文字消息，没有执行任何操作。请改发文字。",
    ),
    "intake.too-long": Sentence(
        en="That message is longer than {limit} bytes, so nothing was done. Send a shorter one.",
        zh="消息超过 {limit} 字节，没有执行任何操作。请缩短后重新发送。",
    ),
    "access.too-fast": Sentence(
        en="Limit: {limit} {limit:message|messages} a minute; extra ones are ignored. Try again in "
        "a minute.",
        zh="每分钟最多 {limit} 条消息，多出的不处理。请一分钟后再试。",
    ),
    "access.too-many-tasks": Sentence(
        en="You have {count} open {count:task|tasks}, the most allowed. “{prefix} status” lists "
        "them, “{prefix} cancel ID” stops one.",
        zh="你有 {count} 个未完成的任务，已达上限。"
        "“{prefix} 状态”可查看，“{prefix} 取消 编号”可停止。",
    ),
    "access.queue-full": Sentence(
        en="Not sent: {count} messages already wait for {machine}, which is not taking them in. "
        "Send it again when it is back.",
        zh="没有发送：{machine} 没有接收消息，已有 {count} 条在排队。请在它恢复后重新发送。",
    ),
    "access.no-machine": Sentence(
        en="No machine works for you yet. Ask the admin for a pairing code and enter it on your "
        "machine. Admin: codexbridge gateway pair --machine NAME --member {user}",
        zh="还没有绑定到你的开发机。请向管理员索取配对码，并在开发机上输入。管理员运行："
        "codexbridge gateway pair --machine NAME --member {user}",
    ),
    "access.which-machine": Sentence(
        en="Not sent: which machine? You have {machines}. “{prefix} use NAME” chooses one, "
        "“{prefix} on NAME …” is for one message.",
        zh="没有发送：要用哪台开发机？你有：{machines}。“{prefix} 使用 名称”选定一台，"
        "“{prefix} 在 名称 …”只用于这一条。",
    ),
    "access.machine-gone": Sentence(
        en="Not sent: {machine}, which you had chosen, no longer works for you. You have: "
        "{machines}. Send it again, or choose with “{prefix} use NAME”.",
        zh="没有发送：你选定的 {machine} 已与你解绑。你有：{machines}。"
        "请重新发送，或用“{prefix} 使用 名称”另选。",
    ),
    "access.unknown-machine": Sentence(
        en="Not sent: you have no machine “{name}”. You have: {machines}.",
        zh="没有发送：你没有名为“{name}”的开发机。你有：{machines}。",
    ),
    "access.ambiguous-machine": Sentence(
        en="Not sent: “{name}” may mean {machines}. Write the whole name.",
        zh="没有发送：“{name}”可能指 {machines}。请写出完整名称。",
    ),
    "task.not-yours": Sentence(
        en="You have no task {id}. “{prefix} status” lists yours.",
        zh="你没有任务 {id}。“{prefix} 状态”可列出你的任务。",
    ),
    "task.not-there": Sentence(
        en="You have no task {id} on {machine}. “{prefix} status” lists yours.",
        zh="你在 {machine} 上没有任务 {id}。“{prefix} 状态”可列出你的任务。",
    ),
    "task.ambiguous": Sentence(
        en="Not sent: {id} names a task on each of {machines}. Say which: “{prefix} on NAME …”",
        zh="没有发送：{machines} 上各有一个 {id}。请指明：“{prefix} 在 名称 …”",
    ),
    "task.bad-id": Sentence(
        en="“{given}” is not a task ID; they look like T-7K3F. “{prefix} status” lists yours.",
        zh="“{given}”不是任务编号，编号形如 T-7K3F。“{prefix} 状态”可列出你的任务。",
    ),
    "task.none-open": Sentence(en="You have no open task.", zh="你没有未完成的任务。"),
}
# What admins are told, by the event in the audit log.
ALARMS: Mapping[str, Sentence] = {
    "agent.taken-over": Sentence(
        en="⚠ {machine}: its key connected again, from {address} instead of {before} "
        "({count}× in 10 min). No restart or new network? Then the key was copied: pair anew after "
        "codexbridge gateway revoke {machine}",
        zh="⚠ {machine} 的密钥从 {address} 再次连接，取代了 {before}（10 分钟内 {count} 次）。"
        "如果没有重启或切换网络，说明密钥已被复制。请先执行 codexbridge gateway revoke {machine}，"
        "再重新配对。",
    ),
    "agent.wrong-key": Sentence(
        en="⚠ {address} claimed to be {machine} without its key; refused ({count}× in 10 min). "
        "If the machine was set up anew, pair it again; otherwise block the address at your proxy.",
        zh="⚠ {address} 自称是 {machine}，但没有它的密钥，已拒绝（10 分钟内 {count} 次）。"
        "如果这台开发机刚重装过，请重新配对；否则请在反向代理上拦截该地址。",
    ),
    "agent.malformed-frame": Sentence(
        en="⚠ Something that is not an agent dialled the address for machines, from {address}, and "
        "was refused ({count}× in ten minutes). No machine is affected. If it goes on, block the "
        "address at your proxy.",
        zh="⚠ {address} 连接了开发机专用的地址，但发来的不是 Agent 的数据，已拒绝"
        "（十分钟内 {count} 次）。不影响任何开发机。如果持续出现，请在反向代理上拦截该地址。",
    ),
    "pairing.used-again": Sentence(
        en="⚠ The used pairing code of {machine} came again from {address}; refused "
        "({count}× in 10 min). If nobody repeated it there, compare the check words, or pair "
        "again with --replace.",
        zh="⚠ {machine} 用过的配对码又从 {address} 提交，已拒绝（10 分钟内 {count} 次）。"
        "如果没有人重复执行过，请核对核对词，或用 --replace 重新配对。",
    ),
}
MORE_ALARMS = Sentence(
    en="{count} more {count:alarm|alarms} came within ten minutes and {count:is|are} not told one "
    "by one. All are in the audit log: codexbridge gateway audit export",
    zh="十分钟内还有 {count} 条告警，不再逐条通知。全部记录在审计日志中："
    "codexbridge gateway audit export",
)
DISK_FULL = Sentence(
    en="⚠ The disk of the gateway is full: new messages are not taken in. WeCom delivers them "
    "again for a short while; nothing that was accepted is lost. Free some room; the gateway goes "
    "on by itself.",
    zh="⚠ 网关所在磁盘已满，暂时无法接收新消息。企业微信会在短时间内重新投递；"
    "已接收的内容不会丢失。请清理出空间，网关会自动恢复。",
)
DISK_HAS_ROOM = Sentence(
    en="The disk of the gateway has room again, after {seconds} s; messages are taken in. What was "
    "sent meanwhile and got no answer has to be sent again.",
    zh="网关所在磁盘已有空间（{seconds} 秒后恢复），重新接收消息。"
    "期间没有得到回复的消息需要重新发送。",
)
SENT = Sentence(en="{id} sent to {machine}.", zh="{id} 已发往 {machine}。")
QUEUED = Sentence(
    en="{id} waits: {machine} has been offline since {since}. It is sent when the machine is back "
    "and expires at {until} ({left} left).\nTo take it back: {prefix} cancel {id}",
    zh="{id} 排队中：{machine} 自 {since} 起离线。上线后即发送，{until} 过期（还剩 {left}）。\n"
    "撤回：{prefix} 取消 {id}",
)
QUEUED_FIRST = Sentence(
    en="{id} waits: {machine} has not been online yet. It is sent when the machine first connects "
    "and expires at {until} ({left} left).\nTo take it back: {prefix} cancel {id}",
    zh="{id} 排队中：{machine} 还从未上线。首次连接后即发送，{until} 过期（还剩 {left}）。\n"
    "撤回：{prefix} 取消 {id}",
)
WAITING = Sentence(
    en="Proposal ready; waiting for local approval on {machine}\n{id} · code {code}",
    zh="方案已就绪，等待在 {machine} 上本地批准\n{id} · 确认码 {code}",
)
APPROVE_BY = Sentence(
    en="Until {until} ({left}):\ncodexbridge approve {id}",
    zh="{until} 前（{left}）：\ncodexbridge approve {id}",
)
RUNNING = Sentence(
    en="{id}: approved on {machine}, now running.", zh="{id}：已在 {machine} 上批准，正在运行。"
)
PROGRESS = Sentence(en="{id} on {machine}: {message}", zh="{id}（{machine}）：{message}")

# How the first line of a task's end begins; the agent's own words follow.
FINAL: Mapping[Reason, Sentence] = {
    Reason.COMPLETED: Sentence(en="{id} ✓", zh="{id} ✓"),
    Reason.FAILED: Sentence(en="{id} ✗", zh="{id} ✗"),
    Reason.REJECTED: Sentence(
        en="{id} – rejected on {machine}.", zh="{id} – 已在 {machine} 上拒绝。"
    ),
    Reason.EXPIRED: Sentence(
        en="{id} – expired on {machine}.", zh="{id} – 已在 {machine} 上过期。"
    ),
    Reason.REFUSED: Sentence(en="{id} – refused on {machine}.", zh="{id} – {machine} 未受理。"),
    Reason.CANCELLED: Sentence(
        en="{id} – cancelled on {machine}.", zh="{id} – 已在 {machine} 上取消。"
    ),
    Reason.DRIFTED: Sentence(
        en="{id} – not run on {machine}.", zh="{id} – 没有在 {machine} 上执行。"
    ),
    Reason.UNKNOWN: Sentence(
        en="{id} ⚠ interrupted on {machine}, outcome unknown.",
        zh="{id} ⚠ 在 {machine} 上中断，结果不明。",
    ),
}
# What such an end says where its agent says nothing.
WORDLESS: Mapping[Reason, Sentence] = {
    Reason.COMPLETED: Sentence(en="completed", zh="已完成"),
    Reason.FAILED: Sentence(en="failed", zh="失败"),
}
ON_MACHINE = Sentence(en="{words} · {machine}", zh="{words} · {machine}")
MORE = Sentence(
    en="More on {machine}:\ncodexbridge show {id}",
    zh="在 {machine} 上查看：\ncodexbridge show {id}",
)
UNSENT: Mapping[Reason, Sentence] = {
    Reason.EXPIRED: Sentence(
        en="{id} – expired. {machine} did not take it in by {until}. Send it again when the "
        "machine is online.",
        zh="{id} – 已过期。{machine} 在 {until} 之前没有接收。请在它上线后重新发送。",
    ),
    Reason.CANCELLED: Sentence(
        en="{id} – cancelled. {machine} did not take it in by {until}.",
        zh="{id} – 已取消。{machine} 在 {until} 之前没有接收。",
    ),
}

CANCELLED_UNSENT = Sentence(
    en="{id} – cancelled. It never reached {machine}, so nothing was done.",
    zh="{id} – 已取消。它没有到达 {machine}，没有执行任何操作。",
)
UNBOUND_UNSENT = Sentence(
    en="{id} – refused. {machine} no longer works for you. It never reached the machine, so "
    "nothing was done.",
    zh="{id} – 未受理。{machine} 已与你解绑。任务没有到达，没有执行任何操作。",
)
UNBOUND_IN_FLIGHT = Sentence(
    en="{id} – refused. {machine} no longer works for you. If it has arrived there, it is stopped "
    "and the chat then says what was done.",
    zh="{id} – 未受理。{machine} 已与你解绑。如已到达，会通知它停止并告知你结果。",
)
UNBOUND_DELIVERED = Sentence(
    en="{id}: {machine} no longer works for you and is being told to stop it. You will hear what "
    "was done.",
    zh="{id}：{machine} 已与你解绑，正在通知它停止。结果会告知你。",
)
UNBOUND_CANCELLED = Sentence(
    en="{id} – cancelled. {machine} no longer works for you.",
    zh="{id} – 已取消。{machine} 已与你解绑。",
)
UNSENT_REVOKED = Sentence(
    en="{id} – refused. The key of {machine} was revoked. It never reached the machine, so nothing "
    "was done.",
    zh="{id} – 未受理。任务到达前 {machine} 的密钥已吊销，没有执行任何操作。",
)

REVOKED = Sentence(
    en="{id} ⚠ outcome unknown. The key of {machine} was revoked; look on that machine.",
    zh="{id} ⚠ 结果不明。{machine} 的密钥已吊销；请到该开发机上查看。",
)

SILENT = Sentence(
    en="{id} ⚠ outcome unknown. {machine} has said nothing of it since {since}. Look there before "
    "you send it again; if it reports its end, it is shown here.",
    zh="{id} ⚠ 结果不明。自 {since} 起没有收到 {machine} 的消息。"
    "重新发送前请先到该开发机上查看；之后如收到结果会通知你。",
)

CANCEL_SENT = Sentence(
    en="{machine} is being told to stop {id}.", zh="正在通知 {machine} 停止 {id}。"
)
CANCEL_WAITS = Sentence(
    en="{machine} is offline and is told to stop {id} when it is back. Nothing runs there without "
    "approval.",
    zh="{machine} 离线，上线后会通知它停止 {id}。未经批准，那里不会运行任何内容。",
)
ALREADY_OVER = Sentence(en="{id} has ended already: {outcome}.", zh="{id} 已经结束：{outcome}。")
WHICH_MACHINE = Sentence(
    en="{id} names more than one; nothing was cancelled. Say “{prefix} on NAME cancel {id}”:",
    zh="{id} 对应多个任务，没有取消任何一个。请发送“{prefix} 在 名称 取消 {id}”：",
)
WHICH_TASK = Sentence(
    en="Which one? Say “{prefix} cancel ID”:", zh="要取消哪一个？请发送“{prefix} 取消 编号”："
)

OUTCOME: Mapping[Reason, Sentence] = {
    Reason.COMPLETED: Sentence(en="completed", zh="已完成"),
    Reason.FAILED: Sentence(en="failed", zh="失败"),
    Reason.REJECTED: Sentence(en="rejected", zh="已拒绝"),
    Reason.EXPIRED: Sentence(en="expired", zh="已过期"),
    Reason.REFUSED: Sentence(en="refused, nothing was done", zh="未受理，没有执行任何操作"),
    Reason.CANCELLED: Sentence(en="cancelled", zh="已取消"),
    Reason.DRIFTED: Sentence(en="changed since approval, not run", zh="内容已变，未执行"),
    Reason.UNKNOWN: Sentence(en="interrupted, outcome unknown", zh="中断，结果不明"),
}
AT_WORK = Sentence(en="the machine is working on it", zh="开发机正在处理")
QUEUED_STATE = Sentence(
    en="queued until {until} ({left} left)", zh="排队中，{until} 过期（还剩 {left}）"
)
WAITING_STATE = Sentence(
    en="waiting for approval at the machine, {left} left, code {code}",
    zh="等待在开发机上批准，还剩 {left}，确认码 {code}",
)
RUNNING_STATE = Sentence(en="running", zh="正在运行")
STOPPING = Sentence(en=" (to be stopped)", zh="（等待停止）")
ONLINE = Sentence(en="{machine}: online", zh="{machine}：在线")
OFFLINE = Sentence(en="{machine}: offline since {since}", zh="{machine}：自 {since} 起离线")
NEVER_ONLINE = Sentence(en="{machine}: not online yet", zh="{machine}：还从未上线")
CHOSEN = Sentence(en="{line} (chosen)", zh="{line}（已选定）")
HOW_TO_CHOOSE = Sentence(
    en="“{prefix} use NAME” chooses one, “{prefix} on NAME …” is for a single message.",
    zh="“{prefix} 使用 名称”选定一台，“{prefix} 在 名称 …”只用于一条消息。",
)
NO_REQUEST = Sentence(
    en="Not sent: that message names a machine and no request. Such as: “{prefix} on {machine} "
    "test”",
    zh="没有发送：这条消息没有写明请求。例如：“{prefix} 在 {machine} 测试”",
)
NOW_CHOSEN = Sentence(
    en="From now on your messages go to {machine}.", zh="今后你的消息都发给 {machine}。"
)
TASK_LINE = Sentence(en="{id} · {state} · {asked}", zh="{id} · {state} · {asked}")
TASK_LINE_ON = Sentence(
    en="{id} · {machine} · {state} · {asked}", zh="{id} · {machine} · {state} · {asked}"
)
HOURS = Sentence(en="{hours} h {minutes} min", zh="{hours} 小时 {minutes} 分")
MINUTES = Sentence(en="{minutes} min", zh="{minutes} 分钟")
SECONDS = Sentence(en="{seconds} s", zh="{seconds} 秒")
