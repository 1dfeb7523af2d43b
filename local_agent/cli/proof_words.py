"""The sentences of ``codexbridge audit`` and ``codexbridge receipt``, help included."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from common.sentences import Sentence

AUDIT: Final = Sentence(
    en="The audit log of this machine: what happened, chained and signed.",
    zh="本机的审计日志：链式记录并签名。",
)
AUDIT_VERIFY: Final = Sentence(
    en="Check every byte of the audit log: the chain, its signed end, and the head that the "
    "gateway signed. Names the first broken entry; exit code 1. The agent may be running or not.",
    zh="检查审计日志的每个字节：链、已签名的末端，以及网关签名的链头。"
    "指出第一条损坏的记录；退出码 1。Agent 是否运行都可以。",
)
AUDIT_FILE: Final = Sentence(en="check this exported file instead", zh="改为检查此导出文件")
AUDIT_KEY: Final = Sentence(
    en="public key of the exported log's owner: base64, hex, or a file that holds it; without it "
    "this machine's own",
    zh="导出日志所有者的公钥：base64、十六进制，或存放它的文件；省略时为本机公钥",
)
AUDIT_EXPORT: Final = Sentence(
    en="Print the audit log as JSON lines, with its signatures: the file verifies anywhere.",
    zh="以 JSON 行输出审计日志及其签名；该文件可在任何地方验证。",
)
AUDIT_SINCE: Final = Sentence(
    en="begin with this entry; it can then be checked only from there on",
    zh="从此条记录开始；此后也只能从该处检查",
)
NEW_FILE: Final = Sentence(
    en="write to this new file instead of standard output",
    zh="写入此新文件，而不是标准输出",
)
RECEIPT: Final = Sentence(
    en="Prove what came of a task: who is said to have asked, who approved what, how it ended. "
    "`receipt T-7K3F` prints the signed receipt; `receipt verify FILE --key PUB` checks one, on "
    "any machine and without a network; `receipt key` prints this machine's public key. Only "
    "`verify` works without the running agent.",
    zh="证明一个任务的经过：据称由谁提出、谁批准了什么、结果如何。"
    "`receipt T-7K3F` 输出已签名的凭证；`receipt verify FILE --key PUB` 在任何机器上"
    "离线验证；`receipt key` 显示本机公钥。除 `verify` 外，都需要 Agent 正在运行。",
)
RECEIPT_WHAT: Final = Sentence(
    en="a task such as T-7K3F, or `verify`, or `key`",
    zh="任务编号（如 T-7K3F），或 `verify`、`key`",
)
RECEIPT_FILE: Final = Sentence(en="the receipt to verify", zh="要验证的凭证文件")
RECEIPT_KEY: Final = Sentence(
    en="the machine's public key, obtained from somewhere other than the receipt: base64, hex, or "
    "a file that holds it",
    zh="开发机的公钥（须从凭证以外的途径取得）：base64、十六进制，或存放它的文件",
)
RECEIPT_GATEWAY_KEY: Final = Sentence(
    en="the gateway's public key; without it its signature is not believed",
    zh="网关的公钥；不提供则不采信其签名",
)
RECEIPT_HOLDS: Final = Sentence(
    en="The receipt holds. The machine {machine} signed on {when}:",
    zh="凭证有效。开发机 {machine} 于 {when} 签名：",
)
RECEIPT_BROKEN: Final = Sentence(en="The receipt does NOT hold: {why}.", zh="凭证无效：{why}。")
RECEIPT_ASKED: Final = Sentence(
    en="{who}, so it is said, through the {channel}, {when}",
    zh="据称为 {who}，经由 {channel}，{when}",
)
CHANNELS: Final[Mapping[str, Sentence]] = {
    "wecom_app": Sentence(en="WeCom app", zh="企业微信应用"),
    "terminal": Sentence(en="terminal of the machine", zh="该开发机的终端"),
}
ACTIONS: Final[Mapping[str, Sentence]] = {
    "run_command": Sentence(en="a command", zh="命令"),
    "apply_diff": Sentence(en="a change of files", zh="文件改动"),
    "undo": Sentence(en="an undo", zh="撤销改动"),
    "git_sync": Sentence(en="a git push", zh="git 推送"),
    "disclose": Sentence(en="an answer sent to the chat", zh="把回答发到聊天"),
}
RECEIPT_WRITTEN: Final = Sentence(
    en="Wrote the receipt of {task} to {path}, for you alone to read.",
    zh="{task} 的凭证已写入 {path}，仅你可读。",
)
RECEIPT_DECISION: Final = Sentence(en="Decision", zh="决定")
RECEIPT_OUTCOME: Final = Sentence(en="Outcome", zh="结果")
RECEIPT_NOTHING_ASKED: Final = Sentence(
    en="no approval was asked for, and none given", zh="没有请求批准，也没有批准"
)
RECEIPT_UNDECIDED: Final = Sentence(
    en="{code} was asked for; nobody decided", zh="曾请求批准 {code}；无人作出决定"
)
RECEIPT_APPROVED: Final = Sentence(
    en="{code} approved by a person at the machine itself ({approver}), {when}",
    zh="{code} 由该开发机前的人批准（{approver}），{when}",
)
RECEIPT_REJECTED: Final = Sentence(
    en="{code} rejected by a person at the machine itself ({approver}), {when}",
    zh="{code} 由该开发机前的人拒绝（{approver}），{when}",
)
RECEIPT_DIGEST: Final = Sentence(en="{action}, digest {digest}", zh="{action}，摘要 {digest}")
RECEIPT_NOT_RUN: Final = Sentence(en="nothing was executed", zh="没有执行任何操作")
RECEIPT_RAN: Final = Sentence(en="execution began {when}", zh="开始执行于 {when}")
RECEIPT_USED: Final = Sentence(
    en="the approval was used {when}; whether anything ran is not recorded",
    zh="批准已于 {when} 使用；是否运行过没有记录",
)
RECEIPT_DONE: Final[Mapping[str, Sentence]] = {
    "apply_diff": Sentence(
        en="the change was made as approved, begun {when}", zh="改动已按批准内容应用，开始于 {when}"
    ),
    "undo": Sentence(
        en="the change was taken back as approved, begun {when}",
        zh="改动已按批准内容撤销，开始于 {when}",
    ),
    "git_sync": Sentence(
        en="what was approved was pushed, begun {when}", zh="已按批准内容推送，开始于 {when}"
    ),
    "disclose": Sentence(
        en="the answer was released to the chat as approved {when}",
        zh="回答已按批准内容发到聊天，{when}",
    ),
}
RECEIPT_NOT_WHOLE: Final[Mapping[str, Sentence]] = {
    "apply_diff": Sentence(
        en="begun {when} and not made; every file stayed as it was",
        zh="开始于 {when}，但没有应用；所有文件保持原样",
    ),
    "undo": Sentence(
        en="begun {when} and not taken back; every file stayed as it was",
        zh="开始于 {when}，但没有撤销；所有文件保持原样",
    ),
    "git_sync": Sentence(
        en="begun {when} and not pushed; it may be committed on the machine",
        zh="开始于 {when}，但没有推送；可能已在本机提交",
    ),
}
RECEIPT_INTERRUPTED: Final = Sentence(
    en="begun {when}, then interrupted; how far it got is unknown",
    zh="开始于 {when}，随后中断；进行到哪一步不明",
)
RECEIPT_WROTE: Final = Sentence(en="{count} {count:file|files} written", zh="写入 {count} 个文件")
RECEIPT_EXIT: Final = Sentence(en="exit code {code}", zh="退出码 {code}")
RECEIPT_SIGNAL: Final = Sentence(en="ended by signal {signal}", zh="被信号 {signal} 终止")
RECEIPT_FILES: Final = Sentence(
    en="{count} {count:file|files} changed meanwhile", zh="期间改动了 {count} 个文件"
)
RECEIPT_OUTPUT: Final = Sentence(en="output kept under {digest}", zh="输出保存为 {digest}")
RECEIPT_NO_GATEWAY: Final = Sentence(
    en="had signed nothing of the machine's log by then", zh="当时尚未对该开发机的日志签名"
)
RECEIPT_COVERED: Final = Sentence(
    en="keeps the machine's log up to entry {seq}. That this task's entries are in it is the "
    "machine's own word; its exported log shows them.",
    zh="保存该开发机的日志至第 {seq} 条。本任务的记录在其中，是开发机自己的说法；"
    "可用其导出的日志核对。",
)
RECEIPT_NOT_COVERED: Final = Sentence(
    en="keeps the machine's log up to entry {seq}, not yet the end of this task.",
    zh="保存该开发机的日志至第 {seq} 条，尚未包含本任务的结束。",
)
RECEIPT_CHECKED: Final = Sentence(
    en="Its signature was checked with the key given.", zh="其签名已用给出的公钥验证。"
)
RECEIPT_UNCHECKED: Final = Sentence(
    en="Whose signature that is was not checked: give --gateway-key.",
    zh="未核对签名者身份：请用 --gateway-key 给出公钥。",
)
