"""What the command line of the gateway says when something fails, by code: one line, what to do."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from common.sentences import Sentence
from common.service_words import SERVICE_ERRORS

_SETTINGS: Final = {
    "config.missing": Sentence(
        en="The setting {name} is missing. Set it in the settings file, or as the environment "
        "variable {how}.",
        zh="缺少设置项 {name}。请在设置文件中填写，或通过环境变量 {how} 提供。",
    ),
    "config.missing/nothing": Sentence(
        en="The gateway is not set up here yet: nothing of an app of WeCom is in its settings. Set "
        "it up step by step: codexbridge gateway init",
        zh="这里还没有设置网关：设置中没有企业微信应用的任何信息。逐步设置："
        "codexbridge gateway init",
    ),
    "config.secret-missing": Sentence(
        en="The secret {name} is missing. Give it as the environment variable {how}, or as the "
        "file {file} in the folder gateway-secrets beside the settings file, or in the one that "
        "--secrets-dir names.",
        zh="缺少机密 {name}。请通过环境变量 {how} 提供，或放在设置文件旁 gateway-secrets 文件夹"
        "（或 --secrets-dir 所指文件夹）的 {file} 文件中。",
    ),
    "config.secret-in-file": Sentence(
        en="{name} is a secret and must not stand in {file}. Remove it there, change it at WeCom "
        "if others could read it, and give it as {how} or through --secrets-dir.",
        zh="{name} 是机密，不能写在 {file} 中。请删除；如可能已被他人看到，请在企业微信后台更换，"
        "并通过 {how} 或 --secrets-dir 提供。",
    ),
    "config.same-app": Sentence(
        en="The apps {app} and {other} have the same corp id and AgentId: they are one. Remove one "
        "of them from the settings.",
        zh="应用 {app} 和 {other} 的企业ID与 AgentId 相同，是同一个应用。请从设置中删除其中一个。",
    ),
    "config.same-path": Sentence(
        en="The apps {app} and {other} have the same callback_path. Give one of them another.",
        zh="应用 {app} 和 {other} 的 callback_path 相同。请为其中一个另设路径。",
    ),
    "config.ca-bundle": Sentence(
        en="egress.ca_bundle names {path}, which cannot be read as certificates in PEM form. "
        "Correct the setting or the file.",
        zh="egress.ca_bundle 指向的 {path} 无法作为 PEM 格式的证书读取。请更正该设置或文件。",
    ),
    "config.invalid/proxy": Sentence(
        en="The setting {name} is not valid. It is http://, a host and a port, such as "
        "http://proxy.example.com:3128; a login is the secret egress.proxy_login.",
        zh="设置项 {name} 无效。应为 http:// 加主机名和端口，例如 http://proxy.example.com:3128；"
        "登录信息是密钥 egress.proxy_login。",
    ),
    "config.invalid/origin": Sentence(
        en="The setting {name} is not valid. It is https://, a host and perhaps a port, without a "
        "path, such as https://codexbridge.example.com; on this machine also "
        "http://127.0.0.1:8787",
        zh="设置项 {name} 无效。应为 https:// 加主机名（可带端口），不带路径，"
        "例如 https://codexbridge.example.com；在本机也可以是 http://127.0.0.1:8787",
    ),
    "config.invalid/https": Sentence(
        en="The setting {name} must be https; plain http is only for 127.0.0.1 and ::1.",
        zh="设置项 {name} 必须使用 https；http 只能用于 127.0.0.1 和 ::1。",
    ),
    "config.invalid/zone": Sentence(
        en="The setting {name} is not valid. It is an offset such as +08:00, or the name of a time "
        "zone that this machine knows, such as Asia/Shanghai.",
        zh="设置项 {name} 无效。应为 +08:00 这样的偏移，或本机已有的时区名，例如 Asia/Shanghai。",
    ),
    "config.invalid/first-app": Sentence(
        en="“main” is the name of the app that [wecom] itself sets up: give this one another.",
        zh="“main”是 [wecom] 本身所配置应用的名称：请为此应用另取名称。",
    ),
    "config.invalid/callback-path": Sentence(
        en="The setting {name} is not valid. It is a plain path such as /wecom/app, not below "
        "/agent or /health.",
        zh="设置项 {name} 无效。应为 /wecom/app 这样的路径，且不在 /agent 或 /health 之下。",
    ),
    "config.invalid/network": Sentence(
        en="The setting {name} is not valid. It is the address of a network, such as 127.0.0.1/32 "
        "or 10.0.0.0/8.",
        zh="设置项 {name} 无效。应为网段地址，例如 127.0.0.1/32 或 10.0.0.0/8。",
    ),
    "config.invalid/network-broad": Sentence(
        en="The setting {name} is not valid: so broad a network holds clients too, and each could "
        "choose the address that it is taken for. Name the proxy itself, such as 127.0.0.1/32; at "
        "most a /8, or a /16 of IPv6.",
        zh="设置项 {name} 无效：网段过大，会包含客户端，客户端就能冒用任意地址。"
        "请只写代理服务器的地址，例如 127.0.0.1/32；最大 /8（IPv6 为 /16）。",
    ),
    "config.invalid/address": Sentence(
        en="The setting {name} is not valid. It is the IP address of this machine, such as "
        "127.0.0.1; a name is not taken.",
        zh="设置项 {name} 无效。应为本机的 IP 地址，例如 127.0.0.1，不能是名称。",
    ),
    "config.invalid/absolute": Sentence(
        en="The setting {name} must be an absolute path, beginning with /.",
        zh="设置项 {name} 必须是以 / 开头的绝对路径。",
    ),
    "config.key-file-broken": Sentence(
        en="The key in {path} cannot be used. Restore it from a backup; with a new key every "
        "machine has to be paired again.",
        zh="{path} 中的密钥无法使用。请从备份恢复；若换新密钥，所有开发机都需重新配对。",
    ),
    "config.insecure-url": Sentence(
        en="{name} must be https; plain http is only for a loopback address.",
        zh="{name} 必须使用 https；http 只能用于本机回环地址。",
    ),
    "config.encoding-aes-key": Sentence(
        en="The EncodingAESKey of {of} is not 43 letters and digits. Copy it again from WeCom's "
        "console.",
        zh="{of} 的 EncodingAESKey 不是 43 位字母和数字。请从企业微信管理后台重新复制。",
    ),
    "config.token": Sentence(
        en="The Token of {of} is not 1 to 32 letters and digits. Copy it again from WeCom's "
        "console.",
        zh="{of} 的 Token 不是 1 到 32 位字母和数字。请从企业微信管理后台重新复制。",
    ),
    "config.trusted-proxies-required": Sentence(
        en="public_url names an address of others while the gateway listens on {host}, so there is "
        'a proxy before it: name it, such as trusted_proxies = ["{host}"].',
        zh="public_url 是外部地址，而网关监听 {host}，说明前面有代理服务器：请写明，"
        '例如 trusted_proxies = ["{host}"]。',
    ),
    "config.public-url-required": Sentence(
        en="{host} can be reached by others, so public_url must be set: the https address of your "
        "reverse proxy. Or listen on 127.0.0.1.",
        zh="{host} 可被他人访问，因此必须设置 public_url，即反向代理的 https 地址；"
        "或改为监听 127.0.0.1。",
    ),
}

_START: Final = {
    "config.no-members": Sentence(
        en="There is no member, so nobody could use the gateway. Add one first: "
        "codexbridge gateway member add USER",
        zh="还没有成员，没有人能使用网关。请先添加：codexbridge gateway member add USER",
    ),
    "config.port-in-use": Sentence(
        en="Port {port} on {host} is in use. Stop what uses it, or set another listen.port.",
        zh="{host} 的端口 {port} 已被占用。请停止占用它的程序，或设置其他 listen.port。",
    ),
    "config.port-forbidden": Sentence(
        en="Port {port} on {host} needs rights that this process does not have. Use a port above "
        "1023 behind your reverse proxy.",
        zh="监听 {host} 的端口 {port} 需要更高权限。请在反向代理之后使用 1023 以上的端口。",
    ),
    "config.no-such-address": Sentence(
        en="This machine has no address {host}. Set listen.host to one of its own.",
        zh="本机没有地址 {host}。请把 listen.host 设为本机的地址。",
    ),
    "config.cannot-listen": Sentence(
        en="Cannot listen on {host} port {port}: {why}.",
        zh="无法监听 {host} 的端口 {port}：{why}。",
    ),
    "config.store-in-use": Sentence(
        en="Another gateway runs on {path}. Stop it first.",
        zh="已有另一个网关在使用 {path}。请先停止它。",
    ),
    "config.store-newer": Sentence(
        en="{path} was written by a newer version (revision {revision}). Install that version.",
        zh="{path} 由更新的版本写入（修订 {revision}）。请安装该版本。",
    ),
    "config.store-foreign": Sentence(
        en="{path} is a database, but not of CodexBridge.",
        zh="{path} 是数据库，但不属于 CodexBridge。",
    ),
    "config.store-damaged": Sentence(
        en="The database {path} is damaged ({why}), so it is not used. Keep the state "
        "folder as it is and put the newest backup in its place (see “Restore a backup” "
        "in `codexbridge help admin`).",
        zh="数据库 {path} 已损坏（{why}），不再使用。请保留当前的状态文件夹，并换上最近的备份："
        "步骤见 `codexbridge help admin` 的“恢复备份”。",
    ),
    "config.store-full": Sentence(
        en="There is no room left on the disk of {path}, so the database cannot be opened. Free "
        "some and try again; nothing is lost.",
        zh="{path} 所在磁盘已满，无法打开数据库。请清理出空间后重试；没有丢失任何内容。",
    ),
    "config.store-denied": Sentence(
        en="This user may not read and write {path} ({why}). Run the gateway, and its commands, as "
        "the user that owns the state folder.",
        zh="当前用户无权读写 {path}（{why}）。请以状态文件夹所属的用户运行网关及其命令。",
    ),
    "config.sqlite-too-old": Sentence(
        en="SQLite {found} is too old; 3.35 or newer is needed.",
        zh="SQLite {found} 版本过旧，需要 3.35 或更新版本。",
    ),
}

_COMMANDS: Final = {
    "audit.broken": Sentence(
        en="The audit log does not hold at entry {seq}: it was changed or damaged. Keep the file "
        "and compare it with a backup; `codexbridge gateway audit verify` tells more.",
        zh="审计日志在第 {seq} 条处校验失败：已被更改或损坏。请保留该文件并与备份比对；"
        "`codexbridge gateway audit verify` 显示详情。",
    ),
    "outbox.no-member": Sentence(
        en="{user} is not a member any more, and is told nothing.",
        zh="{user} 已不是成员，不再向其发送消息。",
    ),
    "outbox.unknown": Sentence(
        en="No message {id} waits. The numbers: codexbridge gateway outbox",
        zh="没有等待中的消息 {id}。查看编号：codexbridge gateway outbox",
    ),
    "member.unknown-app": Sentence(
        en="There is no app {app} in the settings. Apps: {apps}",
        zh="设置中没有应用 {app}。现有应用：{apps}",
    ),
    "member.unknown": Sentence(
        en="{user} is not a member. Add them first: codexbridge gateway member add {user}",
        zh="{user} 不是成员。请先添加：codexbridge gateway member add {user}",
    ),
    "member.no-group": Sentence(
        en="Nobody is in the group {group}. Groups are listed by: codexbridge gateway member list",
        zh="分组 {group} 中没有成员。查看分组：codexbridge gateway member list",
    ),
    "member.invalid-group": Sentence(
        en="“{group}” cannot be a group: a to z, 0 to 9 and -, beginning with a letter, at most "
        "32; - alone for no group.",
        zh="“{group}”不能用作分组名：只能用 a–z、0–9 和 -，以字母开头，最多 32 个字符；"
        "单独的 - 表示不属于任何分组。",
    ),
    "member.nothing-to-set": Sentence(
        en="Nothing to set was given: --role, --group or --lang.",
        zh="没有给出要设置的内容：--role、--group 或 --lang。",
    ),
    "member.not-listed": Sentence(
        en="{user} is not a member; nothing was changed. The UserIDs are listed by: codexbridge "
        "gateway member list",
        zh="{user} 不是成员，没有任何改动。查看 UserID：codexbridge gateway member list",
    ),
    "member.invalid": Sentence(
        en="“{user}” cannot be a UserID, so nobody was added: letters, digits and _ . @ -, "
        "beginning with a letter or digit, at most 64.",
        zh="“{user}”不可能是 UserID，没有添加：只能用字母、数字和 _ . @ -，以字母或数字开头，"
        "最多 64 个字符。它在通讯录的“账号”一栏。",
    ),
    "machine.invalid-name": Sentence(
        en="“{machine}” is not a valid machine name: a to z, 0 to 9 and -, at most 32, not "
        "beginning with -.",
        zh="“{machine}”不能作为开发机名称：只能用 a–z、0–9 和 -，最多 32 个字符，且不以 - 开头。",
    ),
    "machine.claimed": Sentence(
        en="The machine {machine} is paired already. To give it a new key, add --replace: its "
        "present key is revoked at once.",
        zh="开发机 {machine} 已配对。如需更换密钥，请加 --replace：现有密钥会立即吊销。",
    ),
    "machine.unknown": Sentence(
        en="No machine is called {machine}. The names are listed by: codexbridge gateway devices",
        zh="没有名为 {machine} 的开发机。查看名称：codexbridge gateway devices",
    ),
    "machine.not-bound": Sentence(
        en="{machine} does not work for {user}; nothing was changed.",
        zh="{machine} 没有绑定给 {user}，没有任何改动。",
    ),
    "tasks.limit": Sentence(
        en="--limit takes a number from 1 to {most}.", zh="--limit 应为 1 到 {most} 的数字。"
    ),
    "rotation.too-many-keys": Sentence(
        en="{limit} keys are in use: some machines have not taken the last ones over yet. Let them "
        "connect, revoke those that will not, or drop the old keys with --now.",
        zh="已有 {limit} 个密钥在使用中：部分开发机尚未接受之前的新密钥。请让它们上线，"
        "吊销不再使用的开发机，或用 --now 废弃旧密钥。",
    ),
    "pairing.over": Sentence(
        en="The code was not used in time, or was voided by wrong tries. Make a new one.",
        zh="配对码未在有效期内使用，或因多次错误而作废。请重新生成。",
    ),
    "store.busy": Sentence(
        en="The store is busy; nothing was changed. Try again.",
        zh="存储正忙，没有任何改动。请重试。",
    ),
    "store.full": Sentence(
        en="The disk of the store is full; nothing was changed. Free some room and try again.",
        zh="存储所在磁盘已满，没有任何改动。请清理出空间后重试。",
    ),
    "store.failed": Sentence(
        en="The store failed ({why}); nothing was changed. Try again; if it stays so, restart the "
        "gateway, which then looks through its database.",
        zh="存储出错（{why}），没有任何改动。请重试；如仍出错，请重启网关，启动时会检查数据库。",
    ),
    "gateway.part-failed": Sentence(
        en="A part of the gateway ({part}) ended unexpectedly, so all of it was stopped. Nothing "
        "was lost; see the log.",
        zh="网关的一个部分（{part}）意外结束，因此整个网关已停止。没有丢失任何内容；请查看日志。",
    ),
}

_SIMULATOR: Final = {
    "init.missing": Sentence(
        en="{name} is missing. Give it as {how}.", zh="缺少 {name}。请通过 {how} 提供。"
    ),
    "init.refused": Sentence(
        en="{said}. Do this, then run it again: {mend}", zh="{said}。请先处理，再重新运行：{mend}"
    ),
    "init.overridden": Sentence(
        en="{name} was written, but {how} or a secret given elsewhere stands above it. Unset that, "
        "then run this again.",
        zh="{name} 已写入，但 {how} 或别处给出的机密优先于它。请取消后重新运行。",
    ),
    "init.no-terminal": Sentence(
        en="This asks questions and needs a terminal. Without one, use --non-interactive.",
        zh="此命令需要在终端中回答问题。没有终端时请使用 --non-interactive。",
    ),
    "init.busy": Sentence(
        en="Another `codexbridge gateway init` works on {path}. End it first.",
        zh="另一个 `codexbridge gateway init` 正在使用 {path}。请先结束它。",
    ),
    "init.gateway-ended": Sentence(
        en="The gateway has ended: {why} Its log: {path}", zh="网关已退出：{why} 日志：{path}"
    ),
    "init.not-live": Sentence(
        en="The gateway does not answer. Look at its log: {path}",
        zh="网关没有响应。请查看日志：{path}",
    ),
    "sim.not-saved": Sentence(
        en="The simulated console did not save it: the URL check was answered with HTTP {why}. Do "
        "Token and EncodingAESKey match the gateway's?",
        zh="模拟的管理后台没有保存：URL 验证返回 HTTP {why}。Token 和 EncodingAESKey "
        "与网关一致吗？",
    ),
    "sim.not-saved/404": Sentence(
        en="The gateway has no callback at this path (HTTP 404), so nothing was saved. It is the "
        "setting callback_path, by default /wecom/app.",
        zh="网关在这个路径上没有回调（HTTP 404），没有保存。路径是设置项 callback_path，"
        "默认 /wecom/app。",
    ),
    "sim.not-saved/key": Sentence(
        en="EncodingAESKey must be 43 letters and digits; nothing was saved.",
        zh="EncodingAESKey 必须是 43 位字母和数字；没有保存。",
    ),
    "sim.not-saved/silent": Sentence(
        en="Nobody answered the URL check within a second; nothing was saved. Is the gateway "
        "running at this URL?",
        zh="URL 验证在 1 秒内没有应答；没有保存。网关在这个 URL 上运行吗？",
    ),
    "sim.not-saved/echo": Sentence(
        en="The URL check was not answered with the decrypted echostr alone; nothing was saved. "
        "Find out more: codexbridge sim check",
        zh="URL 验证没有只返回解密后的 echostr；没有保存。查看详情：codexbridge sim check",
    ),
    "sim.not-saved/elsewhere": Sentence(
        en="The simulator calls this machine only, by an address such as "
        "http://127.0.0.1:8787/wecom/app; nothing was saved.",
        zh="模拟器只能回调本机，地址例如 http://127.0.0.1:8787/wecom/app；没有保存。",
    ),
    "sim.not-saved/no-url": Sentence(
        en="As in WeCom's console, the URL comes first: codexbridge sim save URL",
        zh="与企业微信管理后台一样，要先保存 URL：codexbridge sim save URL",
    ),
    "sim.not-saved/address": Sentence(
        en="This is no IP address, such as 127.0.0.1; nothing was saved.",
        zh="这不是 IP 地址（例如 127.0.0.1）；没有保存。",
    ),
    "sim.port-in-use": Sentence(
        en="Port {port} on {host} is in use, perhaps by another codexbridge sim. Stop what uses "
        "it, or set another port in simulator.json.",
        zh="{host} 的端口 {port} 已被占用，可能是另一个 codexbridge sim。请停止占用它的程序，或在 "
        "simulator.json 中设置其他 port。",
    ),
    "sim.already-there/simulator": Sentence(
        en="{path} already exists; nothing was written. What its console shows: "
        "codexbridge sim init --console-only. For another trial, set CODEXBRIDGE_HOME to a new "
        "folder.",
        zh="{path} 已经存在，没有写入任何内容。查看其管理后台的内容："
        "codexbridge sim init --console-only。要另外试用，请把 CODEXBRIDGE_HOME 设为一个新文件夹。",
    ),
    "sim.address": Sentence(
        en="--address takes an IP address, such as 203.0.113.7; nothing was switched on.",
        zh="--address 应为 IP 地址，例如 203.0.113.7；没有打开任何错误。",
    ),
    "sim.already-there": Sentence(
        en="{path} already exists and may belong to a real gateway; nothing was written. Set "
        "CODEXBRIDGE_HOME to a new folder for a trial.",
        zh="{path} 已经存在，可能属于正式的网关；没有写入任何内容。试用请把 CODEXBRIDGE_HOME "
        "设为一个新文件夹。",
    ),
    "demo.folder-exists": Sentence(
        en="{path} already exists; --keep needs the name of a new folder.",
        zh="{path} 已经存在；--keep 需要一个新文件夹的名称。",
    ),
    "sim.not-set-up": Sentence(
        en="There is no {file} yet. Write it: codexbridge sim init",
        zh="还没有 {file}。请先生成：codexbridge sim init",
    ),
    "sim.not-started": Sentence(
        en="No simulator is running. Start it: codexbridge sim",
        zh="模拟器没有运行。请先启动：codexbridge sim",
    ),
    "sim.not-running": Sentence(
        en="No simulator answers on port {port}. Start it: codexbridge sim",
        zh="端口 {port} 上没有模拟器响应。请先启动：codexbridge sim",
    ),
    "sim.unknown-app": Sentence(
        en="The simulator has no app {name}. Its apps are in simulator.json.",
        zh="模拟器没有名为 {name} 的应用。它的应用见 simulator.json。",
    ),
    "sim.app-name": Sentence(
        en="{name} cannot be the name of one more app: lower-case letters and digits, each name "
        "once, at most 17 apps.",
        zh="{name} 不能作为新应用的名称：只能用小写字母和数字，不能重名，最多 17 个应用。",
    ),
    "sim.console-only": Sentence(
        en="--console-only makes one app: leave out --app and --corp. Nothing was written.",
        zh="--console-only 只生成一个应用：请去掉 --app 和 --corp。没有写入任何内容。",
    ),
    "sim.no-scenario": Sentence(
        en="There is no scenario {name}. List them: codexbridge sim run",
        zh="没有名为 {name} 的场景。查看全部：codexbridge sim run",
    ),
    "sim.scenario": Sentence(
        en="The scenario {name} cannot be read: {why}. What a file may hold: "
        "codexbridge help admin",
        zh="无法读取场景 {name}：{why}。文件可以包含的内容：codexbridge help admin",
    ),
    "sim.scenario/keys": Sentence(
        en="The scenario {name} needs exactly title, why and at least one [[step]]. An example: "
        "codexbridge help admin",
        zh="场景 {name} 必须且只能有 title、why 和至少一个 [[step]]。示例：codexbridge help admin",
    ),
    "sim.scenario/languages": Sentence(
        en="In the scenario {name}, title and why need both languages, such as "
        'title = { en = "…", zh = "…" }.',
        zh='场景 {name} 的 title 和 why 要写两种语言，例如 title = { en = "…", zh = "…" }。',
    ),
    "sim.check-url": Sentence(
        en="{url} cannot be checked: only http:// with an address of this machine, such as "
        "http://127.0.0.1:8787/wecom/app. Run the check where the server is.",
        zh="无法检查 {url}：只支持本机地址的 http://，例如 http://127.0.0.1:8787/wecom/app。请在服务器"
        "所在的机器上检查。",
    ),
    "sim.check-url/missing": Sentence(
        en="With --receive-id the URL is needed too, such as http://127.0.0.1:8787/wecom/app.",
        zh="使用 --receive-id 时还需要给出 URL，例如 http://127.0.0.1:8787/wecom/app。",
    ),
    "sim.check-refused": Sentence(
        en="The URL refuses both the URL check (HTTP {echo}) and a message (HTTP {message}) made "
        "with these keys: Token, EncodingAESKey or receive id does not belong to it, or its path "
        "is wrong. The other checks would tell nothing and were not made. Compare with the "
        "server's settings and log, then check again.",
        zh="服务器拒绝了用这组密钥生成的 URL 验证（HTTP {echo}）和消息（HTTP {message}）：Token、"
        "EncodingAESKey 或 receive id 与这个 URL 不符，或者路径有误。其余检查没有意义，未执行。"
        "请与服务器的设置和日志核对后重新检查。",
    ),
    "sim.check-nobody": Sentence(
        en="Nobody listens on port {port} of this machine. Start the server, then check again.",
        zh="本机端口 {port} 上没有服务。请先启动服务器，再检查。",
    ),
    "sim.check-keys": Sentence(
        en="The check needs Token, EncodingAESKey (43 letters and digits) and receive id. Name the "
        "gateway's secrets with --secrets-dir, or give --receive-id to be asked for them.",
        zh="检查需要 Token、EncodingAESKey（43 位字母和数字）和 receive id。请用 --secrets-dir 指定"
        "网关的机密文件夹，或给出 --receive-id 后按提示输入。",
    ),
    "sim.unknown-fault": Sentence(
        en="There is no error {name}. List them: codexbridge sim fault",
        zh="没有名为 {name} 的错误。查看全部：codexbridge sim fault",
    ),
    "sim.no-such-card": Sentence(
        en="This member has no such card that can be clicked.",
        zh="这位成员没有可以点击的这张卡片。",
    ),
    "sim.no-such-button": Sentence(
        en="The card has no button {key}, or it was clicked already.",
        zh="卡片上没有按钮 {key}，或者已经点过了。",
    ),
    "sim.no-such-callback": Sentence(
        en="There is no such callback to deliver again. Send a message first.",
        zh="没有可以再次投递的回调。请先发一条消息。",
    ),
    "sim.refused": Sentence(
        en="The simulator on port {port} did not take this (HTTP {status}): perhaps an empty name "
        "or text. See --help.",
        zh="端口 {port} 上的模拟器没有接受（HTTP {status}）：名称或内容可能为空。见 --help。",
    ),
    "demo.step-failed": Sentence(
        en="The demo stopped at “{step}”: {why}", zh="演示在“{step}”这一步停止：{why}"
    ),
    "demo.part-ended": Sentence(
        en="The demo stopped because its part “{name}” ended. It last said: {why}",
        zh="演示停止，因为“{name}”部分已结束。它最后的输出：{why}",
    ),
}

ERRORS: Final[Mapping[str, Sentence]] = {
    **_SETTINGS,
    **_START,
    **_COMMANDS,
    **_SIMULATOR,
    **SERVICE_ERRORS,
}
