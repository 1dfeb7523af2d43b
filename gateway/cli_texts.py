"""The sentences of ``codexbridge gateway …``, help included.  Errors are in `replies`, by code."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from common.sentences import Sentence

# -- help ------------------------------------------------------------------------------------

GATEWAY: Final = Sentence(
    en="Run the gateway in the foreground until SIGTERM or Ctrl-C; with a command, manage its "
    "members and machines. The commands also work while it runs.",
    zh="在前台运行网关，直到收到 SIGTERM 或按下 Ctrl-C；带子命令时管理成员与机器。"
    "网关运行时也可使用这些子命令。",
)
CONFIG: Final = Sentence(
    en="settings file instead of gateway.toml in the configuration folder",
    zh="使用此设置文件，而不是配置目录中的 gateway.toml",
)
SECRETS: Final = Sentence(
    en="folder with one file per secret: wecom__token, wecom__encoding_aes_key, wecom__corp_secret",
    zh="存放机密的文件夹，每项一个文件：wecom__token、wecom__encoding_aes_key、wecom__corp_secret",
)
PORT_FILE: Final = Sentence(
    en="write the port to this file once the gateway is ready",
    zh="网关就绪后把端口写入此文件",
)
TASKS: Final = Sentence(en="List the tasks, newest first.", zh="列出任务，最新的在前。")
TASKS_ALL: Final = Sentence(en="finished ones too", zh="包括已结束的任务")
JSON: Final = Sentence(en="for programs", zh="供程序读取")
MEMBER: Final = Sentence(
    en="The allow-list: only these people may write to the bot.",
    zh="允许名单：只有名单上的人可以使用机器人。",
)
MEMBER_ADD: Final = Sentence(
    en="Add a person, or set the language of one who is a member already.",
    zh="添加成员，或为已有成员设置语言。",
)
MEMBER_REMOVE: Final = Sentence(
    en="Remove a person; their machines no longer work for them.",
    zh="移除成员；其机器不再为其工作。",
)
MEMBER_LIST: Final = Sentence(
    en="List the members, their languages and their machines.", zh="列出成员、语言及其机器。"
)
MEMBER_USER: Final = Sentence(
    en="UserID exactly as WeCom has it", zh="UserID，与企业微信中完全一致"
)
MEMBER_LANG: Final = Sentence(
    en="language to answer in; left out, that of each message",
    zh="答复所用语言；不填则按每条消息的语言",
)
PAIR: Final = Sentence(
    en="Make a single-use code that joins a machine to this gateway. Hand it over in private: "
    "whoever enters it becomes that machine.",
    zh="生成一次性配对码，用于把机器接入本网关。请私下转交：谁输入它，谁就成为那台机器。",
)
PAIR_MACHINE: Final = Sentence(
    en="name of the machine: a to z, 0 to 9 and -, at most 32",
    zh="机器名称：a–z、0–9 和 -，最多 32 个字符",
)
PAIR_MEMBER: Final = Sentence(en="member that the machine works for", zh="该机器为哪位成员工作")
PAIR_REPLACE: Final = Sentence(
    en="revoke the key that the machine has now; it must be paired with the new code",
    zh="吊销该机器现有的密钥；之后必须用新的配对码重新配对",
)
PAIR_WAIT: Final = Sentence(
    en="wait until the machine has used the code, then show the six words to compare",
    zh="等待机器使用配对码，然后显示用于核对的六个词",
)

# -- what the commands say -------------------------------------------------------------------

ADDED: Final = Sentence(en="{user} may write to the bot now.", zh="{user} 现在可以使用机器人了。")
WAS_THERE: Final = Sentence(en="{user} was a member already.", zh="{user} 已经是成员。")
REMOVED: Final = Sentence(
    en="{user} may no longer write to the bot. A task that a machine already has goes on there; "
    "`codexbridge cancel` on the machine stops it.",
    zh="{user} 已不能使用机器人。已送达机器的任务会继续；"
    "在机器上用 `codexbridge cancel` 可以停止。",
)
NO_MEMBERS: Final = Sentence(
    en="There is no member yet, and without one the gateway does not start. Add one: "
    "codexbridge gateway member add USER",
    zh="还没有成员；没有成员时网关不会启动。添加成员：codexbridge gateway member add USER",
)
NO_MACHINE: Final = Sentence(en="no machine yet", zh="尚无机器")
STATES: Final[Mapping[str, Sentence]] = {
    "RECEIVED": Sentence(en="queued", zh="排队中"),
    "ROUTED": Sentence(en="in progress", zh="处理中"),
    "CONTEXT_COLLECTED": Sentence(en="in progress", zh="处理中"),
    "PROPOSING": Sentence(en="in progress", zh="处理中"),
    "PROPOSAL_READY": Sentence(en="in progress", zh="处理中"),
    "WAITING_APPROVAL": Sentence(en="waiting for approval", zh="等待批准"),
    "EXECUTING": Sentence(en="running", zh="正在运行"),
}
OUTCOMES: Final[Mapping[str, Sentence]] = {
    "completed": Sentence(en="completed", zh="已完成"),
    "failed": Sentence(en="failed", zh="失败"),
    "rejected": Sentence(en="rejected", zh="已拒绝"),
    "expired": Sentence(en="expired", zh="已过期"),
    "refused": Sentence(en="refused by policy", zh="被策略拒绝"),
    "cancelled": Sentence(en="cancelled", zh="已取消"),
    "drifted": Sentence(en="not run, had changed", zh="已变化，未运行"),
    "unknown": Sentence(en="outcome unknown", zh="结果未知"),
}
NO_TASKS: Final = Sentence(
    en="No open task. --all shows finished ones.",
    zh="没有进行中的任务。用 --all 查看已结束的任务。",
)
NO_TASKS_AT_ALL: Final = Sentence(en="No task yet.", zh="还没有任务。")
CODE: Final = Sentence(
    en="Pairing code for the machine {machine}, working for {user}. It is shown only now, works "
    "once, and for ten minutes, until {until}:",
    zh="机器 {machine}（为 {user} 工作）的配对码。只显示这一次，只能使用一次，"
    "十分钟内有效，至 {until}：",
)
CODE_NEXT: Final = Sentence(
    en="On the machine, run\n\n    codexbridge pair --gateway {url}\n\nand paste the code when "
    "asked. Six words appear there.",
    zh="在该机器上运行\n\n    codexbridge pair --gateway {url}\n\n并在提示时粘贴配对码。随后那里会"
    "显示六个词。",
)
URL_UNKNOWN: Final = Sentence(en="ADDRESS-OF-THE-GATEWAY", zh="网关地址")
WAITING: Final = Sentence(
    en="Waiting for the machine. Ctrl-C stops waiting; the code stays valid.",
    zh="正在等待机器。Ctrl-C 停止等待，配对码仍然有效。",
)
PAIRED: Final = Sentence(
    en="{machine} is paired. Both sides must show these six words:\n\n    {words}\n\nIf they "
    "differ, somebody is in between: run this command again with --replace and report it.",
    zh="{machine} 已配对。两边必须显示相同的六个词：\n\n    {words}\n\n如果不同，"
    "说明中间有人做了手脚："
    "请用 --replace 重新运行本命令并上报。",
)
