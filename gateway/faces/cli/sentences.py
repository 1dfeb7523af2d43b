"""The sentences of ``codexbridge gateway …``, help included.  Errors are in `replies`, by code."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from common.sentences import Sentence

# -- help ------------------------------------------------------------------------------------

GATEWAY: Final = Sentence(
    en="Run the gateway in the foreground until SIGTERM or Ctrl-C; with a command, manage its "
    "members and machines. The commands also work while it runs.",
    zh="在前台运行网关，直到收到 SIGTERM 或按下 Ctrl-C；带子命令时管理成员与开发机。"
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
TASKS_LIMIT: Final = Sentence(
    en="how many at most, 1 to 10000; 100 unless given", zh="最多列出多少个，1 到 10000，默认 100"
)
JSON: Final = Sentence(en="for programs", zh="供程序读取")
SERVICE: Final = Sentence(
    en="The gateway as a service of this machine, as a user of its own: it starts at boot, and "
    "again when it fails.",
    zh="把网关作为本机的系统服务运行，使用专用用户：开机时自动启动，失败后自动重启。",
)
SERVICE_USER: Final = Sentence(
    en="who it runs as, and who an admin's commands are run as (codexbridge)",
    zh="以哪个用户运行；管理员的命令也用该用户运行（codexbridge）",
)
DOCTOR: Final = Sentence(
    en="Look at everything that the gateway needs: settings, secrets, disk, store, WeCom's API, "
    "the way in from outside, machines. Says what is wrong, why it matters and what mends it; exit "
    "code 1 if something cannot work.",
    zh="检查网关需要的一切：设置、机密、磁盘、存储、企业微信接口、外部访问路径、开发机。"
    "指出问题、影响和解决办法；有无法工作的项目时退出码为 1。",
)
DOCTOR_FIX: Final = Sentence(
    en="mend what is safe to mend, and ask before each", zh="修复可以安全修复的问题，每项先询问"
)
DOCTOR_WATCH: Final = Sentence(
    en="look again every few seconds until nothing is wrong, and print what changed",
    zh="每隔几秒重新检查并显示变化，直到没有问题",
)
AUDIT: Final = Sentence(
    en="The audit log: what happened, chained and signed.", zh="审计日志：链式记录并签名。"
)
AUDIT_VERIFY: Final = Sentence(
    en="Check every byte of the audit log: the chain, the signed end, and the heads that machines "
    "signed. Names the first broken entry; exit code 1. Works beside a running gateway.",
    zh="检查审计日志的每个字节：链、已签名的末端，以及各开发机签名的链头。指出第一条损坏的记录；"
    "退出码 1。网关运行时也可使用。",
)
AUDIT_FILE: Final = Sentence(en="check this exported file instead", zh="改为检查此导出文件")
AUDIT_KEY: Final = Sentence(
    en="public key of the exported log's owner: base64, hex, or a file that holds it; without it "
    "this gateway's own",
    zh="导出日志所有者的公钥：base64、十六进制，或存放它的文件；省略时为本网关的公钥",
)
AUDIT_EXPORT: Final = Sentence(
    en="Print the audit log as JSON lines, with its signatures: the file verifies anywhere.",
    zh="以 JSON 行输出审计日志及其签名；该文件可在任何地方验证。",
)
AUDIT_SINCE: Final = Sentence(
    en="begin with this entry; it can then be checked only from there on",
    zh="从此条记录开始；此后也只能从该处检查",
)
AUDIT_SHOW_KEY: Final = Sentence(
    en="Print this gateway's public key: it verifies what machines keep of the gateway's log.",
    zh="显示本网关的公钥：用于验证各开发机保存的网关链头。",
)
NEW_FILE: Final = Sentence(
    en="write to this new file instead of standard output",
    zh="写入此新文件，而不是标准输出",
)
MEMBER: Final = Sentence(
    en="The allow-list: only these people may write to the app.",
    zh="允许名单：只有名单上的人可以使用应用。",
)
MEMBER_ADD: Final = Sentence(
    en="Add people, or set language, role or group of those who are members already.",
    zh="添加成员，或为已有成员设置语言、角色或分组。",
)
MEMBER_SET: Final = Sentence(
    en="Set role, group or language of members; takes effect at the next message.",
    zh="设置成员的角色、分组或语言，从下一条消息起生效。",
)
MEMBER_ROLE: Final = Sentence(
    en="member: asks; approver: is also told when a task of others waits on a machine that works "
    "for them; admin: is also told of alarms and may list the members. None of them can approve "
    "in the chat",
    zh="member：提出请求；approver：绑定给他的开发机上有他人的任务等待批准时也会收到通知；"
    "admin：还会收到告警，并可查看成员。任何角色都不能在聊天中批准",
)
MEMBER_GROUP: Final = Sentence(
    en="what to call several members by, as @NAME in place of a UserID, and to limit their tasks a "
    "day (`limits.groups`); - for none",
    zh="分组名：可用 @分组名 代替 UserID 指代其中所有成员，并可限制其每天任务数"
    "（`limits.groups`）；- 表示无分组",
)
MEMBER_REMOVE: Final = Sentence(
    en="Remove people; their machines no longer work for them.",
    zh="移除成员，并与其开发机解绑。",
)
MEMBER_LIST: Final = Sentence(
    en="List the members, their roles, languages, machines and groups.",
    zh="列出成员、角色、语言、开发机和分组。",
)
MEMBER_USERS: Final = Sentence(
    en="UserIDs exactly as WeCom has them, or @GROUP; in another app than the first, APP:UserID",
    zh="UserID（与企业微信中完全一致，可写多个）或 @分组名；属于其他应用时写作 应用名:UserID",
)
MEMBER_LANG: Final = Sentence(
    en="language to answer in; left out, Chinese where they write it, else that of the settings",
    zh="答复所用语言；不填时，用中文提问则为中文，否则为设置中的语言",
)
DEVICES: Final = Sentence(
    en="List the machines: since when each is online or offline as the gateway last noted it, whom "
    "it works for, how many messages wait for it, and its key.",
    zh="列出开发机：网关最后记录的在线或离线时间、绑定给谁、有多少条消息在等待，以及密钥。",
)
DEVICES_ALL: Final = Sentence(en="revoked ones too", zh="包括已吊销的")
REVOKE: Final = Sentence(
    en="Revoke the key of a machine: its connection ends within 5 seconds, what it was not sent is "
    "refused, and what it has counts as unknown. It must be paired again.",
    zh="吊销开发机的密钥：其连接在 5 秒内断开，尚未发送的任务不再受理，已送达的视为结果不明。"
    "之后必须重新配对。",
)
BIND: Final = Sentence(
    en="Let a machine work for one more member.", zh="把一台开发机再绑定给一位成员。"
)
UNBIND: Final = Sentence(
    en="Let a machine no longer work for a member; their open tasks on it are taken back or "
    "stopped.",
    zh="解除一台开发机与某位成员的绑定；该成员在其上未完成的任务会撤回或停止。",
)
MACHINE_NAME: Final = Sentence(en="name of a paired machine", zh="已配对的开发机名称")
PAIR: Final = Sentence(
    en="Make a single-use code that joins a machine to this gateway. Hand it over in private: "
    "whoever enters it becomes that machine.",
    zh="生成一次性配对码，用于把开发机接入本网关。请私下转交：谁输入它，谁就成为那台开发机。",
)
PAIR_MACHINE: Final = Sentence(
    en="name of the machine: a to z, 0 to 9 and -, at most 32",
    zh="开发机名称：a–z、0–9 和 -，最多 32 个字符",
)
PAIR_MEMBER: Final = Sentence(en="member that the machine works for", zh="该开发机绑定给哪位成员")
PAIR_REPLACE: Final = Sentence(
    en="revoke the key that the machine has now; it must be paired with the new code",
    zh="吊销该开发机现有的密钥；之后必须用新的配对码重新配对",
)
PAIR_WAIT: Final = Sentence(
    en="wait until the machine has used the code, then show the six words to compare",
    zh="等待开发机使用配对码，然后显示用于核对的六个词",
)

# -- what the commands say -------------------------------------------------------------------

ADDED: Final = Sentence(en="{user} may write to the app now.", zh="{user} 现在可以使用应用了。")
WAS_THERE: Final = Sentence(en="{user} was a member already.", zh="{user} 已经是成员。")
LANG_SET: Final = Sentence(
    en="{user} was a member already; answered in {lang} from now on.",
    zh="{user} 已经是成员；今后以 {lang} 回复。",
)
GROUP_SET: Final = Sentence(en="{user}: group {group}.", zh="{user}：分组 {group}。")
GROUP_LEFT: Final = Sentence(en="{user}: in no group.", zh="{user}：不属于任何分组。")
ROLE_SET: Final = Sentence(en="{user}: role {role}.", zh="{user}：角色 {role}。")
STILL_ADMIN: Final = Sentence(
    en="{user} stays an admin, because the settings say so (`admins`). Remove the name there and "
    "restart the gateway.",
    zh="{user} 仍是管理员，因为设置中的 `admins` 有此人。请在设置中移除并重启网关。",
)
NO_ADMIN: Final = Sentence(
    en="There is no admin any more: alarms reach nobody in the chat. To name one: codexbridge "
    "gateway member set USER --role admin",
    zh="现在没有管理员：告警无法通过聊天通知任何人。指定管理员："
    "codexbridge gateway member set USER --role admin",
)
BY_SETTINGS: Final = Sentence(en="admin (settings)", zh="管理员（设置）")
ADMINS_OUTSIDE: Final = Sentence(
    en="Told of alarms by the settings (`admins`), and no members: {users}",
    zh="按设置（`admins`）接收告警，但不是成员：{users}",
)
REMOVED: Final = Sentence(en="{user} may no longer write to the app.", zh="{user} 已不能使用应用。")
TAKEN_BACK: Final = Sentence(
    en="{count} {count:task was|tasks were} taken back before a machine was known to have "
    "{count:it|them}.",
    zh="{count} 个任务在确认到达开发机之前已撤回。",
)
STOPPING: Final = Sentence(
    en="{count} {count:task is|tasks are} being stopped on {count:its machine|their machines}.",
    zh="{count} 个任务正在其开发机上停止。",
)
ROTATE: Final = Sentence(
    en="Give the gateway another signing key. Machines take it over by themselves; none has to be "
    "paired again.",
    zh="为网关更换签名密钥。各开发机会自动接受新密钥，无需重新配对。",
)
ROTATE_NOW: Final = Sentence(
    en="after a compromise: drop the old keys at once, also where a machine does not know the new "
    "one yet; such machines have to be paired again",
    zh="密钥泄露后使用：立即废弃旧密钥，即使有开发机尚未接受新密钥；这些开发机需要重新配对",
)
ROTATED: Final = Sentence(
    en="The gateway signs with the new key {key} from now on. Machines to be notified: {count}.",
    zh="网关从现在起使用新密钥 {key} 签名。将通知的开发机数：{count}。",
)
ROTATED_NEXT: Final = Sentence(
    en="Each takes it over when it is connected, within seconds. The old key is kept until the "
    "last one has, and then dropped by itself.",
    zh="每台开发机在线后几秒内即会接受。旧密钥保留到最后一台开发机接受为止，然后自动废弃。",
)
ROTATION_WAITS: Final = Sentence(
    en="Waiting up to {seconds} s for the machines that are connected.",
    zh="等待在线的开发机接受新密钥，最多 {seconds} 秒。",
)
OLD_KEYS_DROPPED: Final = Sentence(
    en="Every machine has the new key. The old ones are dropped.",
    zh="所有开发机都已接受新密钥。旧密钥已废弃。",
)
MACHINES_LOST: Final = Sentence(
    en="The old keys are dropped. These machines did not have the new one yet, so they are revoked "
    "and have to be paired again (codexbridge gateway pair): {machines}",
    zh="旧密钥已废弃。以下开发机尚未接受新密钥，已被吊销，需要重新配对"
    "（codexbridge gateway pair）：{machines}",
)
NO_MEMBERS: Final = Sentence(
    en="There is no member yet, and without one the gateway does not start. Add one: "
    "codexbridge gateway member add USER",
    zh="还没有成员；没有成员时网关不会启动。添加成员：codexbridge gateway member add USER",
)
NO_MACHINE: Final = Sentence(en="no machine yet", zh="尚无开发机")
NO_DEVICES: Final = Sentence(
    en="No machine is paired. Make a code: codexbridge gateway pair --machine NAME --member USER",
    zh="还没有配对的开发机。生成配对码：codexbridge gateway pair --machine NAME --member USER",
)
CHECK_WORDS: Final = Sentence(
    en="Check words of {machine}: {words}", zh="{machine} 的核对词：{words}"
)
ONLINE_SINCE: Final = Sentence(en="online since {at}", zh="{at} 起在线")
OFFLINE_SINCE: Final = Sentence(en="offline since {at}", zh="{at} 起离线")
NEVER_ONLINE: Final = Sentence(en="never online", zh="从未上线")
REVOKED_AT: Final = Sentence(en="revoked {at}", zh="{at} 吊销")
NO_MEMBER: Final = Sentence(en="no member", zh="无成员")
MAIL: Final = Sentence(en="{count} waiting", zh="{count} 条等待")
REVOKED: Final = Sentence(en="The key of {machine} is revoked.", zh="{machine} 的密钥已吊销。")
REFUSED_UNSENT: Final = Sentence(
    en="{count} {count:task was|tasks were} refused before the machine had {count:it|them}.",
    zh="{count} 个任务在到达该开发机之前已被拒绝。",
)
ENDS_UNKNOWN: Final = Sentence(
    en="{count} {count:task that it has ends|tasks that it has end} as unknown within half a "
    "minute, while the gateway runs.",
    zh="它已收到的 {count} 个任务将在半分钟内以结果不明结束（网关须在运行）。",
)
BOUND: Final = Sentence(en="{machine} works for {user} now.", zh="{machine} 已绑定给 {user}。")
WAS_BOUND: Final = Sentence(
    en="{machine} worked for {user} already.", zh="{machine} 原本就已绑定给 {user}。"
)
UNBOUND: Final = Sentence(
    en="{machine} no longer works for {user}.", zh="{machine} 已与 {user} 解绑。"
)
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
    "refused": Sentence(en="refused, nothing was done", zh="未受理，没有执行任何操作"),
    "cancelled": Sentence(en="cancelled", zh="已取消"),
    "drifted": Sentence(en="not run, had changed", zh="已变化，未运行"),
    "unknown": Sentence(en="outcome unknown", zh="结果不明"),
}
NO_TASKS: Final = Sentence(
    en="No open task. --all shows finished ones.",
    zh="没有进行中的任务。用 --all 查看已结束的任务。",
)
NO_TASKS_AT_ALL: Final = Sentence(en="No task yet.", zh="还没有任务。")
TASKS_MORE: Final = Sentence(
    en="Only the newest {count}; --limit N shows more.",
    zh="仅列出最新的 {count} 个；用 --limit N 查看更多。",
)
CODE: Final = Sentence(
    en="Pairing code for the machine {machine}, working for {user}. It is shown only now, works "
    "once, and for ten minutes, until {until}:",
    zh="开发机 {machine}（绑定给 {user}）的配对码。只显示这一次，只能使用一次，"
    "十分钟内有效，至 {until}：",
)
CODE_NEXT: Final = Sentence(
    en="Paste it on the machine where `codexbridge init` asks for it. Where CodexBridge is set up "
    "already:\n\n    codexbridge pair --gateway {url}\n\nSix words appear there, and here "
    "under `codexbridge gateway devices`: they must be the same.",
    zh="在该开发机上运行 `codexbridge init`，按提示粘贴。如果那里已设置好 CodexBridge，则运行\n\n"
    "    codexbridge pair --gateway {url}\n\n随后那里会显示六个词，必须与这里 "
    "`codexbridge gateway devices` 显示的相同。",
)
URL_UNKNOWN: Final = Sentence(en="ADDRESS-OF-THE-GATEWAY", zh="网关地址")
WAITING: Final = Sentence(
    en="Waiting for the machine. Ctrl-C stops waiting; the code stays valid.",
    zh="正在等待开发机。Ctrl-C 停止等待，配对码仍然有效。",
)
PAIRED: Final = Sentence(
    en="{machine} is paired. Both sides must show these six words:\n\n    {words}\n\nIf they "
    "differ, somebody is in between: codexbridge gateway revoke {machine}, and report it.",
    zh="{machine} 已配对。两边必须显示相同的六个词：\n\n    {words}\n\n如果不同，"
    "说明可能有中间人攻击：请运行 codexbridge gateway revoke {machine} 并上报。",
)

# -- outbox ----------------------------------------------------------------------------------

OUTBOX: Final = Sentence(
    en="List what waits to be sent and what could not be, with what WeCom said of it; what the "
    "messages say is not shown.",
    zh="列出等待发送和无法发送的消息，以及企业微信返回的原因；不显示消息内容。",
)
OUTBOX_RETRY: Final = Sentence(
    en="Send one at once that waits, or once more that could not be sent.",
    zh="立即发送一条等待中的消息，或重新发送一条失败的消息。",
)
OUTBOX_DROP: Final = Sentence(
    en="Take one back that waits; it is never sent.", zh="撤回一条等待中的消息，不再发送。"
)
OUTBOX_ID: Final = Sentence(en="its number in the list", zh="列表中的编号")
OUTBOX_EMPTY: Final = Sentence(
    en="Nothing waits, and nothing has failed.", zh="没有等待发送的消息，也没有发送失败的消息。"
)
OUTBOX_MORE: Final = Sentence(
    en="Only the oldest {count} are shown; all: --json", zh="只显示最早的 {count} 条；全部：--json"
)
OUTBOX_RETRIED: Final = Sentence(
    en="Message {id} is sent within seconds, if the gateway runs and the app is not held: "
    "codexbridge gateway outbox",
    zh="只要网关在运行且应用未被暂停，消息 {id} 会在几秒内发送：codexbridge gateway outbox",
)
OUTBOX_HELD: Final = Sentence(
    en="Message {id} waits: {app} has not been able to send since {since} ({code}, {errmsg}). One "
    "message is tried at {at}; when it goes through, all that wait are sent.",
    zh="消息 {id} 等待中：应用 {app} 自 {since} 起无法发送（{code}，{errmsg}）。{at} 会试发一条，"
    "成功后等待的消息全部发出。",
)
OUTBOX_DROPPED: Final = Sentence(en="Message {id} is taken back.", zh="消息 {id} 已撤回。")
OUTBOX_STATES: Final = {
    "queued": Sentence(en="waits until {at}", zh="等待至 {at}"),
    "sending": Sentence(en="is being sent", zh="正在发送"),
    "failed": Sentence(en="failed", zh="发送失败"),
}
OUTBOX_KINDS: Final = {
    "reply": Sentence(en="reply", zh="回复"),
    "progress": Sentence(en="progress", zh="进度"),
}
OUTBOX_TRIES: Final = Sentence(en="{count} {count:try|tries}", zh="已尝试 {count} 次")

# -- status ----------------------------------------------------------------------------------

STATUS: Final = Sentence(
    en="Show whether the gateway runs, and of each app when it last heard and sent, what waits, "
    "and what keeps it from sending. Exit code 1 where something does not work.",
    zh="显示网关是否在运行，以及每个应用最近收到和发出消息的时间、等待发送的消息数和无法发送的原因。"
    "有问题时退出码为 1。",
)
STATUS_RUNS: Final = Sentence(en="{mark} The gateway runs.", zh="{mark} 网关正在运行。")
STATUS_STOPPED: Final = Sentence(
    en="{mark} The gateway does not run or does not answer, so no message comes in: "
    "codexbridge gateway doctor",
    zh="{mark} 网关没有运行或没有响应，收不到消息：codexbridge gateway doctor",
)
STATUS_STORE: Final = Sentence(
    en="✗ Nothing can be stored: {said}; {why}\n  → {mend}",
    zh="✗ 无法存储：{said}；{why}\n  → {mend}",
)
STATUS_APP: Final = Sentence(
    en="{mark} {app} ({corp}, AgentId {agent}): {heard}, {sent}, {waiting} waiting, "
    "{failed} failed",
    zh="{mark} {app}（{corp}，AgentId {agent}）：{heard}，{sent}，{waiting} 条等待，"
    "{failed} 条失败",
)
STATUS_UNREAD: Final = Sentence(
    en="  cannot be read: {said}\n  → {mend}", zh="  无法读取消息：{said}\n  → {mend}"
)
STATUS_UNSURE: Final = Sentence(
    en="  {said}: {why}\n  → {mend}", zh="  {said}，说明：{why}\n  → {mend}"
)
STATUS_HELD: Final = Sentence(
    en="  cannot send since {since}: {said}\n  → {mend}",
    zh="  自 {since} 起无法发送：{said}\n  → {mend}",
)
STATUS_MACHINES: Final = Sentence(
    en="{online} of {known} machines connected", zh="{known} 台开发机中 {online} 台在线"
)
HEARD: Final = Sentence(en="last heard {at}", zh="最近收到 {at}")
NEVER_HEARD: Final = Sentence(en="nothing heard yet", zh="从未收到消息")
LAST_SENT: Final = Sentence(en="last sent {at}", zh="最近发出 {at}")
NEVER_SENT: Final = Sentence(en="nothing sent yet", zh="从未发出")
