"""The sentences of ``codexbridge status``, the state of the link above all."""

from __future__ import annotations

from typing import Final

from common.sentences import Sentence

KEY: Final = Sentence(en="Key", zh="密钥")
WORKSPACES: Final = Sentence(en="Workspaces", zh="工作区")
POLICY_IN_FORCE: Final = Sentence(en="policy: yes", zh="策略：有")
POLICY_BROKEN: Final = Sentence(
    en="policy: BROKEN ({where}): everything is refused",
    zh="策略：无效（{where}）：一切操作都被拒绝",
)
POLICY_STRAY: Final = Sentence(
    en="{file} has the name of no workspace, so nothing reads it",
    zh="{file} 与任何工作区都不同名，不会被读取",
)
DISCLOSED: Final = Sentence(en="sent to the chat: {level}", zh="聊天可得知{level}")
MODEL: Final = Sentence(en="Model", zh="模型")
NO_MODEL: Final = Sentence(
    en="none; `codexbridge models` says how to connect one",
    zh="无；`codexbridge models` 会说明如何接入",
)
SANDBOX: Final = Sentence(en="Sandbox", zh="沙箱")
ASKS: Final = Sentence(en="Asks", zh="询问方式")
ASKS_BOTH: Final = Sentence(en="in a window, and at a terminal", zh="窗口与终端")
ASKS_LOOKING: Final = Sentence(
    en="at a terminal; whether windows can be opened is being found out",
    zh="终端；正在确认能否打开窗口",
)
ASKS_TERMINAL: Final = Sentence(en="at a terminal ({why})", zh="终端（{why}）")
NO_WINDOWS: Final = {
    "setting": Sentence(en="windows are switched off", zh="窗口已关闭"),
    "no-screen": Sentence(
        en="no DISPLAY where the agent was started", zh="启动 Agent 的环境中没有 DISPLAY"
    ),
    "no-window": Sentence(
        en="no window could be opened: the display does not answer, or Python lacks Tk",
        zh="无法打开窗口：显示服务没有应答，或 Python 缺少 Tk",
    ),
}
TASKS_LABEL: Final = Sentence(en="Tasks", zh="任务")
OPEN_TASKS: Final = Sentence(en="{count} open", zh="{count} 个未结束")
APPROVALS: Final = Sentence(en="Approvals", zh="待批准")
NO_APPROVALS: Final = Sentence(en="none", zh="无")
AUDIT_LABEL: Final = Sentence(en="Audit log", zh="审计日志")
AUDIT_STANDS: Final = Sentence(
    en="{count} {count:entry|entries}; the gateway has signed for {own_seq}",
    zh="共 {count} 条；网关已签名确认至第 {own_seq} 条",
)
AUDIT_ALONE: Final = Sentence(en="{count} {count:entry|entries}", zh="共 {count} 条")
AUDIT_FORKED: Final = Sentence(
    en="ALARM since {since}: the gateway signed what contradicts the logs. One of them was cut, "
    "changed or put back in time. Run `codexbridge audit verify`, and ask your admin.",
    zh="警报（自 {since}）：网关签名的内容与日志矛盾，其中一方被截断、改动或回退。"
    "请运行 `codexbridge audit verify` 并联系管理员。",
)

CONNECTED: Final = Sentence(en="{url}, connected", zh="{url}，已连接")
CONNECTING: Final = Sentence(en="{url}, connecting", zh="{url}，连接中")
UNPAIRED: Final = Sentence(
    en="not paired; codexbridge pair --gateway URL", zh="未配对；codexbridge pair --gateway URL"
)
NOT_CONNECTED: Final = Sentence(
    en="{url}, not connected since {since}; next try within {seconds} s",
    zh="{url}，自 {since} 起未连接；{seconds} 秒内重试",
)
CLOCK_DIFFERS: Final = Sentence(
    en="the clocks differ by {seconds} s, so nothing is accepted; set the wrong one right "
    "(timedatectl set-ntp true)",
    zh="两端时钟相差 {seconds} 秒，因此拒绝所有消息；请校准有误的一端（timedatectl set-ntp true）",
)
# What happened, what it means, what to do: by `link.condition.Why`.
LINK_WHY: Final = {
    "connect": Sentence(
        en="nothing answers there; check the network and whether the gateway runs",
        zh="该地址没有应答；请检查网络，以及网关是否在运行",
    ),
    "tls": Sentence(
        en="its certificate does not verify, so nothing was sent; ask the gateway's admin",
        zh="证书未通过验证，因此什么也没有发送；请联系网关管理员",
    ),
    "http": Sentence(
        en="what answers there is not a CodexBridge gateway; check the address, and the proxy if "
        "there is one before it",
        zh="该地址上的不是 CodexBridge 网关；请检查地址及其前面的代理服务器",
    ),
    "busy": Sentence(
        en="the gateway has no room for a new connection now; it gets its turn by itself",
        zh="网关暂时无法接受新连接；稍后会自动重连",
    ),
    "lost": Sentence(
        en="the connection broke; nothing is lost by that", zh="连接中断；不会因此丢失任何内容"
    ),
    "shutdown": Sentence(
        en="the gateway went away in good order, as for a restart; nothing is lost by that",
        zh="网关正常退出（例如重启）；不会因此丢失任何内容",
    ),
    "timeout": Sentence(
        en="the gateway did not answer in time; check the network and the gateway's load",
        zh="网关未及时应答；请检查网络以及网关的负载",
    ),
    "dead": Sentence(
        en="the other side fell silent, so the connection was given up; check the network",
        zh="对方长时间没有响应，连接已断开；请检查网络",
    ),
    "store-unavailable": Sentence(
        en="the gateway could not write to its store; its admin finds the reason in its log",
        zh="网关无法写入其存储；管理员可在网关日志中找到原因",
    ),
    "congested": Sentence(
        en="this machine has more open work than it takes on; the rest waits at the gateway",
        zh="本机未结束的工作已达上限；其余的在网关等待",
    ),
    "rekeyed": Sentence(
        en="a key was replaced, and the connection is made anew with it",
        zh="密钥已更换，正在用新密钥重新连接",
    ),
    "too-fast": Sentence(
        en="one side sent far more than the link allows, and was stopped; if it comes again, "
        "something is broken or hostile: see both logs",
        zh="一方发送的内容远超链路允许的量，已被制止；若再次出现，说明有故障或恶意行为：请查看两端日志",
    ),
    "journal": Sentence(
        en="this machine's journal cannot be written, as when the disk is full; what comes waits "
        "at the gateway until it can",
        zh="本机的任务日志无法写入，例如磁盘已满；恢复之前，新消息留在网关等待",
    ),
    "protocol": Sentence(
        en="one side broke the rules of the link, so it was closed; bring both sides up to date, "
        "and if it stays, see both logs",
        zh="一方违反了链路规则，连接已关闭；请把两端都更新到最新版本，若仍如此请查看两端日志",
    ),
    "auth": Sentence(
        en="the gateway does not admit this machine: it was removed, or paired anew; "
        "ask the gateway's admin for a code, then codexbridge pair --replace --gateway URL, and "
        "start the agent again",
        zh="网关不接纳本机：本机已被移除，或已重新配对；请向网关管理员索取配对码，"
        "再运行 codexbridge pair --replace --gateway URL，并重新启动 Agent",
    ),
    "revoked": Sentence(
        en="the gateway's admin has removed this machine, and it gets no more work; "
        "to come back, ask the admin for a code, then codexbridge pair --replace --gateway URL, "
        "and start the agent again",
        zh="网关管理员已移除本机，本机不再收到任务；如需恢复，请向管理员索取配对码，"
        "再运行 codexbridge pair --replace --gateway URL，并重新启动 Agent",
    ),
    "wrong-gateway": Sentence(
        en="what answers there does not hold the key that this machine was paired with: another "
        "gateway, or somebody in between; ask the admin before you pair again",
        zh="对方没有与本机配对时的密钥：是另一个网关，或有人居中冒充；重新配对之前请先向管理员核实",
    ),
    "taken-over": Sentence(
        en="another process connected with this machine's key, perhaps a copy of its folder; "
        "stop the other one, and if it is not yours, have this machine removed and pair it again",
        zh="另一个进程用本机密钥接入了网关，可能是本机目录的副本；请停掉它；"
        "若不是你运行的，请让管理员移除本机并重新配对",
    ),
    "sequence-gap": Sentence(
        en="the two sides disagree about which messages there were: one was restored from a "
        "backup, or messages were cut out. Nothing after the gap is accepted. Ask the admin what "
        "happened, then pair this machine again",
        zh="两端对已有消息的记录不一致：一端是从备份恢复的，或有消息被截去。缺口之后的消息都会拒绝。"
        "请先向管理员问明原因，再重新配对本机",
    ),
    "clock-skew": Sentence(
        en="the clocks of the two sides differ by more than a minute, so nothing is accepted; "
        "set the wrong one right (timedatectl set-ntp true)",
        zh="两端时钟相差超过一分钟，因此拒绝所有消息；请校准有误的一端（timedatectl set-ntp true）",
    ),
    "version": Sentence(
        en="the two sides have no version of the link in common; update the older one",
        zh="两端没有共同的链路版本；请更新较旧的一端",
    ),
    "version-gateway": Sentence(
        en="the gateway is too old for this machine; its admin must update the gateway",
        zh="网关版本过旧，无法与本机配合；请管理员更新网关",
    ),
    "version-machine": Sentence(
        en="this machine's CodexBridge is too old for the gateway; update it here",
        zh="本机的 CodexBridge 版本过旧，无法与网关配合；请更新本机",
    ),
}
