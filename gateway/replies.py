"""Every sentence that the gateway says, in English and in Chinese, side by side.

A reply says which machine, which task, which state, who must act, how long is left and what to do
next (P7).  `gateway.voice` fills them in; whether something is said at all is decided by intake,
results and upkeep.
"""

from __future__ import annotations

from collections.abc import Mapping

from common.model.state import Reason
from common.sentences import Sentence

# What is said when a message leads to nothing, by the code of the error.
REFUSALS: Mapping[str, Sentence] = {
    "access.stranger": Sentence(
        en="You are not on this bot's list of members, so nothing was done. Its admin can add you: "
        "codexbridge gateway member add {user}",
        zh="你不在本机器人的成员名单中，因此没有进行任何操作。管理员可以添加你："
        "codexbridge gateway member add {user}",
    ),
    "intake.not-addressed": Sentence(
        en="To ask your machine something, start with {prefix}. "
        "“{prefix} help” lists what it can do.",
        zh="要向你的电脑提出请求，请以 {prefix} 开头。发送“{prefix} 帮助”查看用法。",
    ),
    "intake.not-text": Sentence(
        en="Only text messages are understood here; nothing was done with this one.",
        zh="这里只能处理文字消息；这条消息没有被处理。",
    ),
    "intake.too-long": Sentence(
        en="That message is too long (more than {limit} bytes); nothing was done with it.",
        zh="消息过长（超过 {limit} 字节），没有被处理。",
    ),
    "access.too-fast": Sentence(
        en="More than {limit} {limit:message|messages} came from you within a minute; the rest are "
        "not looked at. Try again in a minute.",
        zh="你在一分钟内发送了超过 {limit} 条消息，其余的不会处理。请一分钟后再试。",
    ),
    "access.too-many-tasks": Sentence(
        en="You have {count} unfinished {count:task|tasks}, and more are not taken. "
        "“{prefix} status” lists them, “{prefix} cancel ID” stops one.",
        zh="你有 {count} 个未完成的任务，暂不再接受新任务。"
        "“{prefix} 状态”可查看，“{prefix} 取消 编号”可停止。",
    ),
    "access.queue-full": Sentence(
        en="{machine} is not taking its messages in: {count} wait for it already, so this one was "
        "not added. Nothing was done; send it again when the machine is back.",
        zh="{machine} 没有接收消息：已有 {count} 条在排队，因此这一条没有加入。"
        "没有进行任何操作；请在该电脑恢复后重新发送。",
    ),
    "access.no-machine": Sentence(
        en="No machine works for you yet. Ask the admin for a pairing code "
        "(codexbridge gateway pair --machine NAME --member {user}) and enter it on your machine.",
        zh="还没有绑定到你的电脑。请向管理员索取配对码"
        "（codexbridge gateway pair --machine NAME --member {user}），并在你的电脑上输入。",
    ),
    "access.which-machine": Sentence(
        en="Several machines work for you: {machines}. Which one is meant cannot be told, so "
        "nothing was sent. “{prefix} use NAME” chooses one from now on, “{prefix} on NAME …” one "
        "for a single message.",
        zh="有多台电脑绑定到你：{machines}。无法确定你指的是哪一台，因此没有发送。"
        "“{prefix} 使用 名称”可选定今后使用的电脑，“{prefix} 在 名称 …”只指定这一条。",
    ),
    "access.machine-gone": Sentence(
        en="{machine}, which you had chosen, does not work for you any more, so nothing was sent "
        "and the choice is forgotten. You have: {machines}. Send it again to go on with what is "
        "left, or choose with “{prefix} use NAME”.",
        zh="你选定的 {machine} 已不再为你工作，因此没有发送，该选择已取消。你现有：{machines}。"
        "重新发送即使用剩下的电脑，也可以用“{prefix} 使用 名称”另选。",
    ),
    "access.unknown-machine": Sentence(
        en="You have no machine “{name}”; nothing was sent. You have: {machines}.",
        zh="你没有名为“{name}”的电脑，没有发送。你现有：{machines}。",
    ),
    "access.ambiguous-machine": Sentence(
        en="“{name}” may mean {machines}; nothing was sent. Write the whole name.",
        zh="“{name}”可能指 {machines}，没有发送。请写出完整名称。",
    ),
    "task.not-yours": Sentence(
        en="You have no task {id}. “{prefix} status” lists yours.",
        zh="你没有编号为 {id} 的任务。“{prefix} 状态”可列出你的任务。",
    ),
    "task.not-there": Sentence(
        en="You have no task {id} on {machine}. “{prefix} status” lists yours.",
        zh="你在 {machine} 上没有编号为 {id} 的任务。“{prefix} 状态”可列出你的任务。",
    ),
    "task.ambiguous": Sentence(
        en="{id} names a task on each of {machines}; nothing was sent. "
        "“{prefix} on NAME …” says which one.",
        zh="{machines} 上各有一个 {id}，没有发送。请用“{prefix} 在 名称 …”指明。",
    ),
    "task.bad-id": Sentence(
        en="“{given}” is not a task ID; they look like T-7K3F. “{prefix} status” lists yours.",
        zh="“{given}”不是任务编号，编号形如 T-7K3F。“{prefix} 状态”可列出你的任务。",
    ),
    "task.none-open": Sentence(en="You have no unfinished task.", zh="你没有未完成的任务。"),
}
# What admins are told, by the event in the audit log.
ALARMS: Mapping[str, Sentence] = {
    "agent.taken-over": Sentence(
        en="⚠ The key of {machine} connected a second time, from {address}, and took over from "
        "{before} ({count}× in ten minutes). If the machine was not restarted and did not change "
        "its network just then, its key was copied. Pair it again, which revokes that key: "
        "codexbridge gateway pair --machine {machine} --member USER --replace",
        zh="⚠ {machine} 的密钥从 {address} 再次连接，取代了来自 {before} 的连接"
        "（十分钟内 {count} 次）。如果这台开发机当时没有重启，也没有切换网络，说明密钥已被复制。"
        "请重新配对，旧密钥随即吊销："
        "codexbridge gateway pair --machine {machine} --member USER --replace",
    ),
    "agent.wrong-key": Sentence(
        en="⚠ Something at {address} said that it is {machine}, without its key, and was refused "
        "({count}× in ten minutes). If the machine was set up anew, pair it again; otherwise block "
        "the address at your proxy.",
        zh="⚠ {address} 自称是 {machine}，但没有它的密钥，已拒绝（十分钟内 {count} 次）。"
        "如果这台开发机刚重装过，请重新配对；否则请在反向代理上拦截该地址。",
    ),
    "agent.malformed-frame": Sentence(
        en="⚠ Something that is no agent dialled the address for machines, from {address}, and was "
        "refused ({count}× in ten minutes). No machine is affected. If it goes on, block the "
        "address at your proxy.",
        zh="⚠ {address} 连接了开发机专用的地址，但发来的不是 Agent 的数据，已拒绝"
        "（十分钟内 {count} 次）。不影响任何开发机。如果持续出现，请在反向代理上拦截该地址。",
    ),
    "pairing.used-again": Sentence(
        en="⚠ The pairing code of {machine} was used already and came again from {address}; it was "
        "refused ({count}× in ten minutes). If nobody repeated the command there, somebody else "
        "has seen the code: compare the check words, or pair again with --replace.",
        zh="⚠ {machine} 的配对码已用过，又从 {address} 提交了一次，已拒绝（十分钟内 {count} 次）。"
        "如果没有人在那里重复执行命令，说明配对码已被他人看到：请核对核对词，或用 --replace "
        "重新配对。",
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
    en="{machine} has been offline since {since}. Queued as {id}: it is delivered when the machine "
    "is back, and expires at {until} ({left} left). To take it back: {prefix} cancel {id}",
    zh="{machine} 自 {since} 起离线。已排队，编号 {id}："
    "上线后即送达，{until} 过期（还剩 {left}）。撤回：{prefix} 取消 {id}",
)
QUEUED_FIRST = Sentence(
    en="{machine} has not been online yet. Queued as {id}: it is delivered when the machine first "
    "connects, and expires at {until} ({left} left). To take it back: {prefix} cancel {id}",
    zh="{machine} 还从未上线。已排队，编号 {id}：首次连接后即送达，{until} 过期（还剩 {left}）。"
    "撤回：{prefix} 取消 {id}",
)
WAITING = Sentence(
    en="Proposal ready; waiting for local approval on {machine}\n"
    "{id} · seal {code} · expires {until} ({left} left)\n"
    "On that machine: codexbridge approve {id}",
    zh="方案已就绪，等待在 {machine} 上本地批准\n"
    "{id} · 封印码 {code} · {until} 过期（还剩 {left}）\n"
    "请在该电脑上运行：codexbridge approve {id}",
)
RUNNING = Sentence(
    en="{id}: approved on {machine}, now running.", zh="{id}：已在 {machine} 上批准，正在运行。"
)
PROGRESS = Sentence(en="{id} on {machine}: {message}", zh="{id}（{machine}）：{message}")

FINAL: Mapping[Reason, Sentence] = {
    Reason.COMPLETED: Sentence(
        en="{id} completed on {machine}.", zh="{id} 已在 {machine} 上完成。"
    ),
    Reason.FAILED: Sentence(en="{id} failed on {machine}.", zh="{id} 在 {machine} 上失败。"),
    Reason.REJECTED: Sentence(
        en="{id} was rejected by a person on {machine}; it was not run.",
        zh="{id} 在 {machine} 上被人拒绝，没有运行。",
    ),
    Reason.EXPIRED: Sentence(
        en="{id} expired on {machine}; it was not run. Send it again if it is still wanted.",
        zh="{id} 在 {machine} 上已过期，没有运行。如仍需要，请重新发送。",
    ),
    Reason.REFUSED: Sentence(
        en="{id} was refused on {machine}; nothing was done.",
        zh="{id} 在 {machine} 上未被受理，没有进行任何操作。",
    ),
    Reason.CANCELLED: Sentence(
        en="{id} was cancelled on {machine}.", zh="{id} 已在 {machine} 上取消。"
    ),
    Reason.DRIFTED: Sentence(
        en="{id} was not run on {machine}: what would run is no longer what was approved. "
        "Send it again.",
        zh="{id} 没有在 {machine} 上运行：将要运行的内容与批准的已不一致。请重新发送。",
    ),
    Reason.UNKNOWN: Sentence(
        en="{id} was interrupted on {machine}: it may or may not have taken effect. Look there "
        "before sending it again; it is not repeated by itself.",
        zh="{id} 在 {machine} 上被中断：是否已生效尚不清楚。"
        "重新发送前请先到该电脑上查看；不会自动重试。",
    ),
}
UNSENT: Mapping[Reason, Sentence] = {
    Reason.EXPIRED: Sentence(
        en="{id} expired: {machine} did not take it in by {until}. Send it again when the machine "
        "is online.",
        zh="{id} 已过期：{machine} 在 {until} 之前没有接收。请在该电脑上线后重新发送。",
    ),
    Reason.CANCELLED: Sentence(
        en="{id} is cancelled: {machine} did not take it in by {until}.",
        zh="{id} 已取消：{machine} 在 {until} 之前没有接收。",
    ),
}

CANCELLED_UNSENT = Sentence(
    en="{id} is cancelled. It never reached {machine}, so nothing was done.",
    zh="{id} 已取消。它从未到达 {machine}，没有进行任何操作。",
)
UNBOUND_UNSENT = Sentence(
    en="{id} is refused: {machine} does not work for you any more. It never reached the machine, "
    "so nothing was done.",
    zh="{id} 未被受理：{machine} 已不再为你工作。它从未到达该电脑，没有进行任何操作。",
)
UNBOUND_IN_FLIGHT = Sentence(
    en="{id} is refused: {machine} does not work for you any more. Should it have arrived there "
    "already, the machine is told to stop it, and you are told what was done.",
    zh="{id} 未被受理：{machine} 已不再为你工作。如果它已经到达，会通知该电脑停止，并告知你结果。",
)
UNBOUND_DELIVERED = Sentence(
    en="{machine} does not work for you any more and is being told to stop {id}. "
    "You are told what was done.",
    zh="{machine} 已不再为你工作，正在通知它停止 {id}。结果会告知你。",
)
UNBOUND_CANCELLED = Sentence(
    en="{id} was cancelled on {machine}: the machine does not work for you any more.",
    zh="{id} 已在 {machine} 上取消：该电脑已不再为你工作。",
)
UNSENT_REVOKED = Sentence(
    en="{id} is refused: the key of {machine} was revoked. It never reached the machine, so "
    "nothing was done.",
    zh="{id} 未被受理：{machine} 的密钥已被吊销。它从未到达该电脑，没有进行任何操作。",
)

REVOKED = Sentence(
    en="{id}: the key of {machine} was revoked, so what became of it cannot be told here.",
    zh="{id}：{machine} 的密钥已被吊销，这里无法得知其结果。",
)

SILENT = Sentence(
    en="{id}: nothing was heard of it from {machine} since {since}, so it counts as over here. "
    "Whether it took effect is not known; look there before sending it again. If the machine does "
    "report its end, you are told.",
    zh="{id}：自 {since} 起没有收到 {machine} 的任何消息，这里按已结束处理。"
    "是否已生效尚不清楚，重新发送前请先到该电脑上查看。如果之后收到结果，会再通知你。",
)

CANCEL_SENT = Sentence(
    en="{machine} is being told to stop {id}.", zh="正在通知 {machine} 停止 {id}。"
)
CANCEL_WAITS = Sentence(
    en="{machine} is offline; it is told to stop {id} when it is back. Until it is told, "
    "nothing there runs without approval.",
    zh="{machine} 离线；上线后会被通知停止 {id}。在此之前，未经批准，那里不会运行任何命令。",
)
ALREADY_OVER = Sentence(en="{id} is over already: {outcome}.", zh="{id} 已经结束：{outcome}。")
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
    Reason.REJECTED: Sentence(en="rejected by a person", zh="被人拒绝"),
    Reason.EXPIRED: Sentence(en="expired", zh="已过期"),
    Reason.REFUSED: Sentence(en="refused, nothing was done", zh="未被受理，没有进行任何操作"),
    Reason.CANCELLED: Sentence(en="cancelled", zh="已取消"),
    Reason.DRIFTED: Sentence(en="not run, it had changed since", zh="内容已变化，未运行"),
    Reason.UNKNOWN: Sentence(en="interrupted, effect unknown", zh="被中断，是否生效不明"),
}
AT_WORK = Sentence(en="the machine is working on it", zh="电脑正在处理")
QUEUED_STATE = Sentence(
    en="queued until {until} ({left} left)", zh="排队中，{until} 过期（还剩 {left}）"
)
WAITING_STATE = Sentence(
    en="waiting for approval at the machine until {until} ({left} left), seal {code}",
    zh="等待在电脑上批准，{until} 过期（还剩 {left}），封印码 {code}",
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
    en="No request was in that message, so nothing was sent. Such as: “{prefix} on {machine} test”",
    zh="这条消息没有写明请求，没有发送。例如：“{prefix} 在 {machine} 测试”",
)
NOW_CHOSEN = Sentence(
    en="From now on your messages go to {machine}.", zh="今后你的消息都发给 {machine}。"
)
TASK_LINE = Sentence(en="{id} · {state} · {asked}", zh="{id} · {state} · {asked}")
TASK_LINE_ON = Sentence(
    en="{id} · {machine} · {state} · {asked}", zh="{id} · {machine} · {state} · {asked}"
)
HOURS = Sentence(en="{hours} h {minutes} min", zh="{hours} 小时 {minutes} 分钟")
MINUTES = Sentence(en="{minutes} min", zh="{minutes} 分钟")
SECONDS = Sentence(en="{seconds} s", zh="{seconds} 秒")
