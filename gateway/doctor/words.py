"""What the findings of `local` mean: said, why it matters, what mends it; and names of checks.

Pages of WeCom's console are named in its own words, which are Chinese in either language.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from common.doctor import Diagnosis
from common.sentences import Sentence

CREATE_FOLDER: Final = Sentence(en="Create the folder {path}?", zh="创建文件夹 {path}？")
MAKE_PRIVATE: Final = Sentence(
    en="Let only its owner read these in {path}: {names}?",
    zh="将 {path} 中的这些设为只有所有者可读：{names}？",
)

TITLES: Final[Mapping[str, Sentence]] = {
    "version": Sentence(en="version", zh="版本"),
    "secrets": Sentence(en="secret files", zh="机密文件"),
    "settings": Sentence(en="settings", zh="设置"),
    "callback-keys": Sentence(en="callback keys", zh="回调密钥"),
    "state": Sentence(en="state folder", zh="状态文件夹"),
    "disk": Sentence(en="disk", zh="磁盘"),
    "store": Sentence(en="store", zh="存储"),
    "audit-log": Sentence(en="audit log", zh="审计日志"),
    "keys": Sentence(en="gateway keys", zh="网关密钥"),
    "members": Sentence(en="members", zh="成员"),
    "wecom-api": Sentence(en="WeCom API", zh="企业微信接口"),
    "clock": Sentence(en="clock", zh="时钟"),
    "wecom-token": Sentence(en="WeCom token", zh="访问令牌"),
    "wecom-app": Sentence(en="WeCom app", zh="应用"),
    "port": Sentence(en="gateway", zh="网关"),
    "public-url": Sentence(en="public address", zh="公开地址"),
    "callback": Sentence(en="callback", zh="回调"),
    "link": Sentence(en="machines' link", zh="开发机连接"),
    "messages": Sentence(en="messages", zh="消息"),
    "machines": Sentence(en="machines", zh="开发机"),
    "ready": Sentence(en="ready", zh="就绪"),
    "outbox": Sentence(en="outbox", zh="待发消息"),
    "alarms": Sentence(en="alarms", zh="告警"),
}


def good(en: str, zh: str) -> Diagnosis:
    return Diagnosis(Sentence(en=en, zh=zh))


def ill(said: tuple[str, str], why: tuple[str, str], mend: tuple[str, str]) -> Diagnosis:
    return Diagnosis(*(Sentence(en=en, zh=zh) for en, zh in (said, why, mend)))


NO_START: Final = ("the gateway does not start", "网关无法启动")
_READABLE: Final = (
    "who reads them can speak for WeCom or for the gateway",
    "读到它们的人可以冒充企业微信或网关",
)
_LED_ELSEWHERE: Final = (
    "what it leads to is not looked at here, and whoever can turn it chooses what is read",
    "此处不检查链接指向的内容；能更改链接的人可以决定网关读到什么",
)
_OWN_FILE: Final = (
    "put the file itself there, if you can: private, in the link's place",
    "如果可以，请用文件本身（仅所有者可读）替换链接",
)
_FIX: Final = ("codexbridge gateway doctor --fix", "codexbridge gateway doctor --fix")
NO_SENDING: Final = ("no reply reaches the chat", "回复发不到聊天中")
NO_CALLBACK: Final = ("messages from WeCom do not arrive", "收不到企业微信的消息")
_BACKUP: Final = (
    "restore a backup: “Restore a backup” in `codexbridge help admin`",
    "恢复备份：见 `codexbridge help admin` 的“恢复备份”",
)

LOCAL: Final[Mapping[str, Diagnosis]] = {
    "version.fine": good(
        "CodexBridge {version} on Python {python}", "CodexBridge {version}，Python {python}"
    ),
    "secrets.no-folder": good("none given as files", "没有以文件形式提供"),
    "secrets.fine": good(
        "{count} {count:file|files} in {path}, private", "{path} 中有 {count} 个，仅所有者可读"
    ),
    "secrets.owner": ill(
        ("{path} belongs to {owner}", "{path} 属于用户 {owner}"),
        ("that user can read and change the secret", "该用户可以读取和更改这项机密"),
        (
            "run this as the user of the gateway, or: chown USER {path}",
            "请用运行网关的用户执行，或：chown USER {path}",
        ),
    ),
    "secrets.exposed": ill(
        ("others can read in {path}: {names}", "{path} 中其他用户可读：{names}"), _READABLE, _FIX
    ),
    "secrets.link": ill(
        ("{names} in {path}: a link", "{path} 中的 {names} 是链接"), _LED_ELSEWHERE, _OWN_FILE
    ),
    "secrets.folder": ill(
        (
            "{path} is a folder, such as Docker makes where the mounted file is missing",
            "{path} 是文件夹；挂载的文件不存在时 Docker 会建立这样的文件夹",
        ),
        NO_START,
        (
            "remove it, and put a file with the value in its place",
            "删除它，并在原处放入包含该值的文件",
        ),
    ),
    "secrets.empty": ill(
        ("{path} is empty", "{path} 是空的"),
        NO_START,
        (
            "write the value into it, from WeCom's console: 应用管理 → 自建 → the app",
            "写入管理后台中的值：应用管理 → 自建 → 该应用",
        ),
    ),
    "secrets.blanks": ill(
        (
            "{path} holds a blank, or a character that no secret of WeCom has",
            "{path} 含有空格或机密中不会出现的字符",
        ),
        ("WeCom will not accept it", "企业微信不会接受"),
        (
            "copy the value again, on one line: 应用管理 → 自建 → the app",
            "重新复制，只占一行：应用管理 → 自建 → 该应用",
        ),
    ),
    "settings.fine": good("valid, corp {corp}", "有效，企业 {corp}"),
    "settings.example": ill(
        ("{name} is still that of the example", "{name} 仍是示例中的值"),
        ("nothing of WeCom will work with it", "用它无法接入企业微信"),
        (
            "set your own; the corp id is under 我的企业 → 企业信息 → 企业ID",
            "改为自己的值；企业 ID 位于：我的企业 → 企业信息 → 企业ID",
        ),
    ),
    "callback-keys.fine": good(
        "Token and EncodingAESKey are well-formed", "Token 和 EncodingAESKey 格式正确"
    ),
    "state.fine": good("{path}, private", "{path}，仅所有者可读"),
    "state.missing": ill(
        ("there is no folder {path}", "没有文件夹 {path}"),
        (
            "members, machines and keys would be in it",
            "成员、开发机和密钥都应存放在其中",
        ),
        (
            "if the gateway ran before, look at state_dir; else: codexbridge gateway doctor --fix",
            "如果网关曾经运行过，请检查 state_dir；否则：codexbridge gateway doctor --fix",
        ),
    ),
    "state.no-folder": ill(
        ("{path} is not a folder", "{path} 不是文件夹"),
        NO_START,
        ("set another state_dir, or move the file away", "设置其他 state_dir，或移走该文件"),
    ),
    "state.owner": ill(
        ("{path} belongs to {owner}", "{path} 属于用户 {owner}"),
        ("only its owner may run the gateway on it", "只有所有者才能用它运行网关"),
        (
            "run this and the gateway as {owner}, or: chown -R USER the state folder",
            "请以 {owner} 运行本命令和网关，或用 chown -R USER 更改状态文件夹的所有者",
        ),
    ),
    "state.exposed": ill(
        ("others can read in {path}: {names}", "{path} 中其他用户可读：{names}"), _READABLE, _FIX
    ),
    "state.link": ill(
        ("{names} in {path}: a link", "{path} 中的 {names} 是链接"), _LED_ELSEWHERE, _OWN_FILE
    ),
    "disk.fine": good("{free} free", "剩余 {free}"),
    "disk.little": ill(
        ("only {free} free at {path}", "{path} 只剩 {free}"),
        ("when it is full, no message is taken in", "写满后将无法接收消息"),
        ("free some space", "请清理空间"),
    ),
    "disk.full": ill(
        ("full: {free} free at {path}", "已满：{path} 剩余 {free}"),
        ("no message is taken in", "无法接收消息"),
        (
            "free some space; the gateway goes on by itself",
            "请清理空间；网关会自动恢复",
        ),
    ),
    "disk.unwritable": ill(
        ("{path} cannot be written: {why} ({free} free)", "无法写入 {path}：{why}（剩余 {free}）"),
        ("no message is taken in", "无法接收消息"),
        ("free some space, or mount the disk writable", "请清理空间，或以可写方式挂载磁盘"),
    ),
    "store.fine": good("{path} is whole", "{path} 完好"),
    "store.none-yet": ill(
        ("nothing has been stored yet", "尚未存入任何内容"),
        ("without a member the gateway does not start", "没有成员，网关不启动"),
        ("codexbridge gateway member add USER", "codexbridge gateway member add USER"),
    ),
    "store.older": ill(
        ("{path} is of an older version", "{path} 属于旧版本"),
        (
            "it is brought up to date when the gateway starts, after a backup",
            "网关启动时会先备份再升级它",
        ),
        ("restart the gateway", "请重启网关"),
    ),
    "audit-log.fine": good("the newest entries hold", "最新的记录校验通过"),
    "keys.fine": good("{count} {count:key|keys}", "{count} 个"),
    "keys.none-yet": good("none yet; the first start makes one", "尚无；首次启动时生成"),
    "keys.lost": ill(
        ("machines are paired, but {path} holds no key", "已有配对的开发机，但 {path} 中没有密钥"),
        ("with a new key, every machine must be paired again", "换新密钥后所有开发机都要重新配对"),
        _BACKUP,
    ),
    "members.fine": good("{count} {count:member|members}", "{count} 位"),
    "members.no-admin": ill(
        ("{count} {count:member|members}, no admin", "{count} 位，没有管理员"),
        ("alarms reach nobody in the chat", "告警无法通过聊天通知任何人"),
        (
            "codexbridge gateway member set USER --role admin",
            "codexbridge gateway member set USER --role admin",
        ),
    ),
    "machines.fine": good(
        "{count} paired, {online} connected", "已配对 {count} 台，在线 {online} 台"
    ),
    "machines.none": ill(
        ("no machine is paired", "没有已配对的开发机"),
        ("tasks have nowhere to go", "任务无处可去"),
        (
            "codexbridge gateway pair --machine NAME --member USER",
            "codexbridge gateway pair --machine NAME --member USER",
        ),
    ),
    "machines.revoked": ill(
        ("every machine has been revoked", "所有开发机都已吊销"),
        ("tasks have nowhere to go", "任务无处可去"),
        (
            "codexbridge gateway pair --machine NAME --member USER",
            "codexbridge gateway pair --machine NAME --member USER",
        ),
    ),
    "machines.unbound": ill(
        ("no member is bound to {names}", "没有成员绑定到：{names}"),
        (
            "a machine without a member gets no tasks, and its key still counts",
            "没有成员的开发机收不到任务，但它的密钥仍然有效",
        ),
        (
            "codexbridge gateway bind MACHINE USER, or gateway revoke MACHINE",
            "codexbridge gateway bind MACHINE USER，或 gateway revoke MACHINE",
        ),
    ),
    "machines.lacking": ill(
        ("no machine works for {names}", "这些成员没有开发机：{names}"),
        ("what they ask for is refused", "他们的请求会被拒绝"),
        (
            "codexbridge gateway pair --machine NAME --member USER, or gateway bind MACHINE USER",
            "codexbridge gateway pair --machine NAME --member USER，或 gateway bind MACHINE USER",
        ),
    ),
    "machines.away": ill(
        ("no machine is connected: {names}", "没有开发机在线：{names}"),
        ("tasks wait until one is", "任务会一直等到有开发机上线"),
        (
            "on the machine: codexbridge status, then codexbridge agent",
            "在开发机上：codexbridge status，然后 codexbridge agent",
        ),
    ),
    "messages.fine": good("the last one came at {at}", "最近一条：{at}"),
    "messages.not-saved": ill(
        (
            "none yet, and no console has checked our address",
            "尚无，管理后台也没有校验过我们的 URL",
        ),
        (
            "WeCom sends messages only to an address that was saved",
            "企业微信只把消息发往已保存的 URL",
        ),
        (
            "WeCom's console: 应用管理 → 自建 → the app → 接收消息 → 设置API接收 → 保存",
            "企业微信管理后台：应用管理 → 自建 → 该应用 → 接收消息 → 设置API接收 → 保存",
        ),
    ),
    "messages.other-url": ill(
        (
            "the console checked {saved}, and the callback is {url} now",
            "管理后台保存的是 {saved}，而现在的回调地址是 {url}",
        ),
        (
            "nothing has come since the gateway's start: messages may go to the old address",
            "网关启动后还没有收到消息：消息可能仍发往旧地址",
        ),
        (
            "save the URL again: 应用管理 → 自建 → the app → 接收消息 → 设置API接收 → URL",
            "重新保存 URL：应用管理 → 自建 → 该应用 → 接收消息 → 设置API接收 → URL",
        ),
    ),
    "messages.none-yet": good(
        "none yet: send @dev help to the app", "尚无：请给应用发送 @dev 帮助"
    ),
    "callback.ciphertext": ill(
        ("one came at {at} that cannot be decrypted", "{at} 收到的消息无法解密"),
        (
            "EncodingAESKey is not that of the console; messages are lost",
            "EncodingAESKey 与管理后台不一致，消息会丢失",
        ),
        (
            (
                "copy it again into {file}__encoding_aes_key: 应用管理 → 自建 → the app → "
                "接收消息 → 设置API接收 → EncodingAESKey"
            ),
            (
                "重新复制到 {file}__encoding_aes_key：应用管理 → 自建 → 该应用 → 接收消息 → "
                "设置API接收 → EncodingAESKey"
            ),
        ),
    ),
    "callback.receive-id": ill(
        ("one came at {at} for another corp", "{at} 收到的消息属于另一个企业"),
        ("messages are lost", "消息会丢失"),
        (
            "correct {of}.corp_id: 我的企业 → 企业信息 → 企业ID; then restart the gateway",
            "更正 {of}.corp_id：我的企业 → 企业信息 → 企业ID；然后重启网关",
        ),
    ),
    "callback.signature": ill(
        (
            "one with a wrong signature came at {at}, and none that is right since",
            "{at} 收到签名错误的请求，此后没有收到有效消息",
        ),
        (
            "if it was WeCom, {of}.token is not that of the console; messages are lost",
            "如果来自企业微信，说明 {of}.token 与管理后台不一致，消息会丢失",
        ),
        (
            (
                "copy it again into {file}__token: 应用管理 → 自建 → the app → 接收消息 → "
                "设置API接收 → Token"
            ),
            "重新复制到 {file}__token：应用管理 → 自建 → 该应用 → 接收消息 → 设置API接收 → Token",
        ),
    ),
    "outbox.fine": good("nothing is held up", "没有滞留"),
    "outbox.held": ill(
        ("{count} held up since {at}: {code}", "{count} 条从 {at} 起滞留：{code}"),
        NO_SENDING,
        (
            "they are tried again by themselves; cause and mend: codexbridge gateway status",
            "会自动重试；原因和解决办法：codexbridge gateway status",
        ),
    ),
    "outbox.failed": ill(
        ("{count} could not be sent since {at}: {code}", "{at} 以来有 {count} 条无法发送：{code}"),
        ("somebody waits for an answer that does not come", "有人在等待不会到达的回答"),
        ("codexbridge gateway outbox", "codexbridge gateway outbox"),
    ),
    "alarms.fine": good("none in the last day", "最近一天没有"),
    "alarms.recent": ill(
        ("in the last day: {names}", "最近一天：{names}"),
        ("somebody may be attacking, or a key was copied", "可能有人在攻击，或密钥被复制"),
        ("“Notices” in `codexbridge help admin`", "`codexbridge help admin` 的“你会收到哪些通知”"),
    ),
}
