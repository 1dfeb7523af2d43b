"""Every sentence of the simulator and of the demo, in both languages."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from common.sentences import Sentence

SIM_SUMMARY: Final = Sentence(
    en="WeCom on this machine: real signatures and encryption, made-up members",
    zh="本机上的企业微信：签名和加密是真的，成员是虚构的",
)
SIM_INIT: Final = Sentence(
    en="write settings for a simulator and a gateway that belong together",
    zh="写出相互匹配的模拟器和网关设置",
)
SIM_SEND: Final = Sentence(
    en="write to the app as a member and print the replies", zh="以成员身份给应用发消息，并显示回复"
)
DEMO_SUMMARY: Final = Sentence(
    en="the main job on this machine: chat, gateway and agent here, and you approve",
    zh="在本机走一遍：聊天、网关和 Agent 都在这里，由你批准",
)
SIM_SAVE: Final = Sentence(
    en="save the callback URL in the simulated console; asks for Token and EncodingAESKey",
    zh="在模拟的管理后台保存回调 URL；会询问 Token 和 EncodingAESKey",
)
SIM_TRUST: Final = Sentence(
    en="add an IP address to 企业可信IP in the simulated console",
    zh="在模拟的管理后台把 IP 地址加入企业可信IP",
)
HELP_CONSOLE: Final = Sentence(
    en="simulate only WeCom's console: write simulator.json and print what `gateway init` asks for",
    zh="只模拟管理后台：写出 simulator.json，并显示 `gateway init` 要填的值",
)
SIM_CONSOLE: Final = Sentence(
    en="The simulated console shows:\n\n    企业ID    {corp}\n    AgentId   {app}\n"
    "    Secret    {secret}\n\nNext, each in a terminal of its own:\n"
    "    codexbridge sim\n    codexbridge gateway init --api-base {api}{port}\n"
    "Where it asks you to save something in the console, do it here:\n"
    "    codexbridge sim save URL            接收消息 → 设置API接收 → 保存\n"
    "    codexbridge sim trust 127.0.0.1     企业可信IP",
    zh="模拟的管理后台显示：\n\n    企业ID    {corp}\n    AgentId   {app}\n"
    "    Secret    {secret}\n\n"
    "接下来，分别在各自的终端里运行：\n    codexbridge sim\n"
    "    codexbridge gateway init --api-base {api}{port}\n让你在管理后台保存时，在这里操作：\n"
    "    codexbridge sim save URL            接收消息 → 设置API接收 → 保存\n"
    "    codexbridge sim trust 127.0.0.1     企业可信IP",
)
SIM_SAVED: Final = Sentence(en="Saved.", zh="已保存。")
HELP_CONFIG: Final = Sentence(en="settings written by `sim init`", zh="`sim init` 写出的设置文件")
HELP_PORT_FILE: Final = Sentence(
    en="write the port to this file once it listens", zh="开始监听后把端口写入这个文件"
)
HELP_DEADLINE: Final = Sentence(
    en="cut off a callback after this time (default 5, as WeCom does)",
    zh="回调超过这个时间就断开（默认 5，与企业微信一致）",
)
HELP_PAUSE: Final = Sentence(
    en="wait this long before delivering again (default 1)", zh="重新投递前等待的时间（默认 1）"
)
HELP_RENEWED: Final = Sentence(
    en="encrypt and sign retries anew; WeCom does not say whether it does",
    zh="重试时重新加密和签名；企业微信没有说明是否如此",
)
HELP_PAGE_PORT: Final = Sentence(
    en="port of the simulator's page and commands", zh="模拟器页面和命令的端口"
)
HELP_APP: Final = Sentence(
    en="name of the app (default: the first one)", zh="应用名称（默认为第一个）"
)
HELP_FURTHER_APP: Final = Sentence(
    en="also make an app of the same corp; can be repeated",
    zh="同时生成同一企业的另一个应用；可重复",
)
HELP_FURTHER_CORP: Final = Sentence(
    en="also make an app of another corp; can be repeated",
    zh="同时生成另一个企业的应用；可重复",
)
SIM_REPEAT: Final = Sentence(en="deliver the last callback again", zh="再次投递上一个回调")
HELP_REPEAT_RENEWED: Final = Sentence(
    en="encrypt and sign it anew instead of sending the same bytes",
    zh="重新加密和签名，而不是原样重发",
)
SIM_REPEATED: Final = Sentence(en="Delivered again: {answer}.", zh="已再次投递：{answer}。")
SIM_REPEATED_LATE: Final = Sentence(
    en="A signature counts for five minutes, and with the keys of then. Signed anew: "
    "codexbridge sim repeat --renewed",
    zh="签名只在五分钟内有效，且须与当前密钥一致。重新签名：codexbridge sim repeat --renewed",
)
SIM_NO_REPLY: Final = Sentence(en="No reply within {seconds} s.", zh="{seconds} 秒内没有回复。")
SIM_NO_REPLY_ON: Final = Sentence(
    en="No reply within {seconds} s. Switched on: {faults}; off again: codexbridge sim fault --off",
    zh="{seconds} 秒内没有回复。已打开：{faults}；全部关闭：codexbridge sim fault --off",
)
SIM_FAULT: Final = Sentence(
    en="switch an API error on or off; without a name, list all",
    zh="打开或关闭一种 API 错误；不写名称则列出全部",
)
HELP_FAULT: Final = Sentence(
    en="such as 60020 or 45009-hour; --off without a name: all of them",
    zh="例如 60020 或 45009-hour；只写 --off 则关闭全部",
)
HELP_OFF: Final = Sentence(en="switch it off", zh="关闭")
HELP_SECONDS: Final = Sentence(
    en="how long (default: until switched off; a block lasts as long as WeCom's)",
    zh="持续多久（默认直到关闭；频率限制与企业微信一样长）",
)
HELP_COUNT: Final = Sentence(en="for how many calls", zh="影响多少次调用")
HELP_ADDRESS: Final = Sentence(en="IP address that 60020 names", zh="60020 中显示的 IP 地址")
SIM_TOKENS: Final = Sentence(en="end the access tokens of an app", zh="让应用的 access_token 失效")
HELP_TOKENS: Final = Sentence(
    en="expire: calls get 42001; forget: calls get 40014",
    zh="expire：调用返回 42001；forget：返回 40014",
)
HELP_TOKEN_SECONDS: Final = Sentence(
    en="how long new tokens are valid (default 7200)", zh="新的 access_token 有效多久（默认 7200）"
)
SIM_TOKENS_ENDED: Final = Sentence(
    en="Earlier access tokens are no longer valid.", zh="之前的 access_token 都已失效。"
)
FAULTS: Final[Mapping[str, Sentence]] = {  # by their names in `faults`
    "busy": Sentence(en="system busy (-1)", zh="系统繁忙（-1）"),
    "40001": Sentence(en="wrong secret", zh="Secret 错误"),
    "40014": Sentence(en="invalid access_token", zh="access_token 不合法"),
    "42001": Sentence(en="access_token expired", zh="access_token 过期"),
    "45009-minute": Sentence(en="rate limit, 1 min", zh="限频一分钟"),
    "45009-hour": Sentence(en="rate limit, 1 hour", zh="限频一小时"),
    "45009-day": Sentence(en="rate limit, today", zh="限频到当天结束"),
    "45033": Sentence(en="too many calls at once", zh="并发过高"),
    "48002": Sentence(en="API not permitted", zh="没有 API 权限"),
    "50003": Sentence(en="the app is switched off", zh="应用已停用"),
    "60020": Sentence(en="address not trusted", zh="IP 不在企业可信IP 中"),
    "301002": Sentence(en="another app's AgentID", zh="AgentID 属于其他应用"),
    "81013": Sentence(en="no member sees the app", zh="成员都看不到应用"),
    "html": Sentence(en="a web page, status 200", zh="返回网页，状态 200"),
    "http-500": Sentence(en="server error", zh="服务器错误"),
    "http-502": Sentence(en="bad gateway", zh="网关错误"),
    "http-503": Sentence(en="unavailable", zh="服务不可用"),
    "slow": Sentence(en="answers after 15 s", zh="15 秒后才应答"),
    "closed": Sentence(en="cut before it is taken", zh="收下之前断开"),
    "answer-lost": Sentence(en="taken, answer lost", zh="已收下，应答丢失"),
    "unreachable": Sentence(en="cut off, all apps", zh="拒绝连接，所有应用"),
}
SIM_FAULTS_ON: Final = Sentence(en="On: {faults}", zh="已打开：{faults}")
SIM_NO_FAULTS: Final = Sentence(en="No error is on.", zh="没有打开任何错误。")
HELP_USER: Final = Sentence(
    en="member who writes (default {user})", zh="发送消息的成员（默认 {user}）"
)
HELP_WAIT: Final = Sentence(
    en="how long to wait for replies (default 3)", zh="等待回复的时间（默认 3）"
)
HELP_TEXT: Final = Sentence(
    en='message, such as "@dev help"',
    zh='消息，例如 "@dev help"',
)
HELP_SIM_PORT: Final = Sentence(en="port of the simulated API", zh="模拟 API 的端口")
HELP_GATEWAY_PORT: Final = Sentence(en="port of the gateway", zh="网关的端口")
HELP_SCRIPT: Final = Sentence(
    en="chat messages, one a line, sent in turn; it never approves",
    zh="聊天消息文件，每行一条，依次发送；它从不批准",
)
HELP_KEEP: Final = Sentence(
    en="keep the demo's files in this new folder", zh="把演示的文件保留在这个新文件夹"
)

SIM_WROTE: Final = Sentence(
    en="Wrote simulator.json, gateway.toml and gateway-secrets/ to {folder}\nNext:\n"
    "    codexbridge gateway member add zhangwei\nThen each in a terminal of its own:\n"
    "    codexbridge sim\n    codexbridge gateway",
    zh="已写出 simulator.json、gateway.toml 和 gateway-secrets/，位于 {folder}\n接下来：\n"
    "    codexbridge gateway member add zhangwei\n再分别在各自的终端里运行：\n"
    "    codexbridge sim\n    codexbridge gateway",
)
SIM_READY: Final = Sentence(
    en="The WeCom simulator is running; Ctrl-C ends it.\n"
    "    page       http://127.0.0.1:{port}/\n    API        http://127.0.0.1:{api}\n"
    "    callbacks  {callback}",
    zh="企业微信模拟器已启动；按 Ctrl-C 结束。\n    页面  http://127.0.0.1:{port}/\n"
    "    API   http://127.0.0.1:{api}\n    回调  {callback}",
)
SIM_UNSAVED: Final = Sentence(en="not saved yet", zh="尚未保存")
SIM_SENT_BADLY: Final = Sentence(
    en="The gateway refused the message: HTTP {status}. Find out why: codexbridge gateway doctor",
    zh="网关拒绝了这条消息：HTTP {status}。查看原因：codexbridge gateway doctor",
)

SIM_UNANSWERED: Final = Sentence(
    en="The gateway did not answer. Start it, then send the message again.",
    zh="网关没有应答。请启动网关后再发送。",
)
REMARKS: Final[Mapping[str, Sentence]] = {  # of the simulator itself, in a chat
    "no-answer": Sentence(en="The gateway did not answer.", zh="网关没有应答。"),
    "not-taken": Sentence(
        en="The gateway did not take it: HTTP {fact}.", zh="网关没有接收：HTTP {fact}。"
    ),
    "wecom-refuses": Sentence(
        en="WeCom would drop this reply: {fact}", zh="企业微信会丢弃这个回复：{fact}"
    ),
}
HELP_SAVED_URL: Final = Sentence(
    en="the gateway's callback URL, such as http://127.0.0.1:8787/wecom/app",
    zh="网关的回调 URL，例如 http://127.0.0.1:8787/wecom/app",
)
HELP_TRUSTED: Final = Sentence(en="IP address that may call the API", zh="可以调用 API 的 IP 地址")

SIM_RUN: Final = Sentence(
    en="play a scenario against the gateway, step by step; without a name, list all",
    zh="对网关演练一个场景并显示每一步；不写名称则列出全部",
)
HELP_SCENARIO: Final = Sentence(
    en="name of a scenario, or your own .toml file", zh="场景名称，或你自己的 .toml 文件"
)
RUN_GOOD: Final = Sentence(en="All as expected.", zh="全部符合预期。")
RUN_STEP: Final = Sentence(en="{step} — {found}", zh="{step}——{found}")
RUN_BAD: Final = Sentence(
    en="Not as expected: see the step marked ✗. All errors are switched off again.",
    zh="不符合预期：见标有 ✗ 的步骤。错误已全部关闭。",
)
STEPS: Final[Mapping[str, Sentence]] = {
    "say": Sentence(en="{user} writes: {value}", zh="{user} 发送：{value}"),
    "event": Sentence(en="event {value} of {user}", zh="{user} 的事件 {value}"),
    "card": Sentence(en="a card for {user}", zh="发给 {user} 一张卡片"),
    "click": Sentence(en="{user} clicks: {value}", zh="{user} 点击：{value}"),
    "repeat": Sentence(en="the last callback again, {value}", zh="再次投递上一个回调，{value}"),
    "fault": Sentence(en="switch on: {value}", zh="打开错误：{value}"),
    "clear": Sentence(en="switch off: {value}", zh="关闭错误：{value}"),
    "tokens": Sentence(en="access tokens end: {value}", zh="access_token 失效：{value}"),
    "expect": Sentence(en="{value}", zh="{value}"),
}
VALUES: Final[Mapping[str, Sentence]] = {  # what the words in a scenario's file mean
    "same": Sentence(en="unchanged", zh="原样"),
    "renewed": Sentence(en="signed anew", zh="重新签名"),
    "expire": Sentence(en="expired (42001)", zh="已过期（42001）"),
    "forget": Sentence(en="unknown to WeCom (40014)", zh="企业微信不再认可（40014）"),
    "all": Sentence(en="all errors", zh="全部错误"),
}
FAULT_NAMED: Final = Sentence(en="{name} ({label})", zh="{name}（{label}）")
EXPECTED: Final[Mapping[str, Sentence]] = {
    "sent": Sentence(
        en="{user} gets an answer within {within} s", zh="{user} 在 {within} 秒内收到回复"
    ),
    "held": Sentence(
        en="the answer is kept: calls fail and {user} sees nothing, within {within} s",
        zh="回复先保留：{within} 秒内调用失败，{user} 看不到内容",
    ),
    "nothing": Sentence(
        en="{user} sees nothing new for {within} s", zh="{within} 秒内 {user} 没有看到新内容"
    ),
    "called": Sentence(
        en="the gateway calls {call} within {within} s", zh="网关在 {within} 秒内调用 {call}"
    ),
}
FOUND_STATUS: Final = Sentence(en="HTTP {status}", zh="HTTP {status}")
FOUND_SILENCE: Final = Sentence(en="no answer", zh="无应答")
FOUND_ERRCODE: Final = Sentence(en="errcode {errcode} {errmsg}", zh="errcode {errcode} {errmsg}")
FOUND_DONE: Final = Sentence(en="done", zh="完成")
FOUND_ANSWER: Final = Sentence(en="after {seconds} s: {text}", zh="{seconds} 秒后：{text}")
FOUND_FAILED: Final = Sentence(
    en="after {seconds} s: a call failed ({why}), no answer",
    zh="{seconds} 秒后：调用失败（{why}），没有回复",
)
FOUND_CALLED: Final = Sentence(en="after {seconds} s", zh="{seconds} 秒后")
FOUND_NOTHING: Final = Sentence(en="nothing new within {seconds} s", zh="{seconds} 秒内没有新内容")
FOUND_UNHEARD: Final = Sentence(
    en="nothing new within {seconds} s. Is {member} a member? Others get one answer a day: "
    "codexbridge gateway member add {member}, or play as a member with --user. Was an error on "
    "just before? The gateway tries the app again within a minute: run it once more then",
    zh="{seconds} 秒内没有新内容。{member} 是成员吗？非成员每天只会收到一次回复：请运行 "
    "codexbridge gateway member add {member}，或用 --user 指定一位成员。刚才打开过错误吗？"
    "网关会在一分钟内重试该应用：届时再运行一次",
)

SIM_CHECK: Final = Sentence(
    en="check a callback URL on this machine against WeCom's rules",
    zh="按企业微信的规则检查本机上的回调 URL",
)
HELP_CHECK_URL: Final = Sentence(
    en="http://127.0.0.1:PORT/PATH (default: from the gateway's settings)",
    zh="http://127.0.0.1:PORT/PATH（默认取自网关设置）",
)
HELP_RECEIVE_ID: Final = Sentence(
    en="corp id, for a URL that is not this gateway's; asks for Token and EncodingAESKey, "
    "since others can read a command line",
    zh="检查其他服务器时填它的企业 ID；会询问 Token 和 EncodingAESKey，因为命令行会被其他用户看到",
)
HELP_AGENT_ID: Final = Sentence(
    en="AgentId of that app (default 1000002)", zh="该应用的 AgentId（默认 1000002）"
)
HELP_GATEWAY_CONFIG: Final = Sentence(en="the gateway's settings file", zh="网关的设置文件")
HELP_SECRETS: Final = Sentence(en="the gateway's folder of secrets", zh="网关的机密文件夹")
HELP_JSON: Final = Sentence(en="print JSON", zh="输出 JSON")
CHECK_TITLE: Final = Sentence(
    en="Callback {url}, {count} checks. Messages come from {user}.",
    zh="回调 {url}，共 {count} 项检查。消息来自 {user}。",
)
CHECK_STRANGER: Final = Sentence(
    en="That is no member, so no task comes of them.", zh="它不是成员，消息不会产生任务。"
)
CHECK_ADVISED: Final = Sentence(
    en="All required checks passed; {advised} advised {advised:one|ones} of {count} failed (!).",
    zh="必需项全部通过；{count} 项检查中有 {advised} 项建议未通过（!）。",
)
CHECK_GOOD: Final = Sentence(en="All {count} checks passed.", zh="{count} 项检查全部通过。")
CHECK_FAILED: Final = Sentence(
    en="{count} checks: {failed} required {failed:one|ones} failed (✗).",
    zh="共 {count} 项检查：必需项 {failed} 项未通过（✗）。",
)
CHECK_BAD: Final = Sentence(
    en="{count} checks: {failed} required {failed:one|ones} failed (✗), {advised} advised "
    "{advised:one|ones} failed (!).",
    zh="共 {count} 项检查：必需项 {failed} 项未通过（✗），建议项 {advised} 项未通过（!）。",
)

DEMO_TITLE: Final = Sentence(
    en="CodexBridge demo — a WeCom, a gateway and a dev machine, all on this computer",
    zh="CodexBridge 演示——企业微信、网关和开发机，全部在本机",
)
DEMO_PROJECT: Final = Sentence(en="sample project, one test fails", zh="示例项目，有一个测试失败")
DEMO_SIM: Final = Sentence(en="WeCom simulator, chat page", zh="企业微信模拟器，聊天页面")
DEMO_GATEWAY: Final = Sentence(en="gateway, member zhangwei", zh="网关，成员 zhangwei")
DEMO_PAIRED: Final = Sentence(en="paired as demo-machine", zh="已配对为 demo-machine")
DEMO_AGENT: Final = Sentence(en="agent, connected", zh="Agent，已连接")
DEMO_BOXED: Final = Sentence(en="sandbox: bubblewrap", zh="沙箱：bubblewrap")
DEMO_UNBOXED: Final = Sentence(
    en="no sandbox here: approvals will say NOT SANDBOXED", zh="未隔离：批准界面会写明“未隔离”"
)
DEMO_WAITING: Final = Sentence(
    en="waiting for you — {short_id}. You are now at the dev machine: read what would run,\n"
    "  then type the code it asks for. Enter alone decides nothing.",
    zh="等你确认——{short_id}。你现在坐在开发机前：看清将要运行的内容，\n"
    "  再输入它要求的确认码。只按回车不会做出任何决定。",
)
DEMO_WINDOW: Final = Sentence(
    en="waiting for you — {short_id}. A window has opened on this screen: you are now at the dev\n"
    "  machine. Read what would run and decide there, or type `approve` here.",
    zh="等你确认——{short_id}。屏幕上已弹出一个窗口：你现在坐在开发机前。\n"
    "  看清将要运行的内容，在窗口里决定；也可以在这里输入 `approve`。",
)
DEMO_WINDOW_ALONE: Final = Sentence(
    en="waiting for you — {short_id}. A window has opened on this screen: decide there, or in a\n"
    "  terminal:  CODEXBRIDGE_HOME={home} codexbridge approve {short_id}",
    zh="等你确认——{short_id}。屏幕上已弹出一个窗口：请在窗口里决定，或在终端中运行\n"
    "  CODEXBRIDGE_HOME={home} codexbridge approve {short_id}",
)
DEMO_NO_TERMINAL: Final = Sentence(
    en="waiting for you — {short_id}. This is not a terminal, and only a person at one can "
    "approve:\n  CODEXBRIDGE_HOME={home} codexbridge approve {short_id}\n"
    "  (in another terminal; this demo keeps running until it is ended)",
    zh="等你确认——{short_id}。这里不是终端，而只有终端前的人才能批准：\n"
    "  CODEXBRIDGE_HOME={home} codexbridge approve {short_id}\n"
    "  （在另一个终端里；演示会一直运行，直到被结束）",
)
DEMO_UNDECIDED: Final = Sentence(
    en="Nothing was decided; {short_id} still waits. Type `approve` to see it again.",
    zh="没有做出决定；{short_id} 仍在等待。输入 `approve` 可再次查看。",
)
DEMO_PROMPT: Final = Sentence(
    en="Write to the app as zhangwei: @dev help · @dev status · @dev search retry · @dev review\n"
    "  At the machine, also here: approve [T-…] · show T-… · diff T-… · undo T-… · tasks\n"
    "  q ends the demo and removes its files",
    zh="以 zhangwei 的身份给应用发消息：@dev help · @dev status · @dev search retry · @dev review\n"
    "  也可在这里输入开发机上的命令：approve [T-…] · show T-… · diff T-… · undo T-… · tasks\n"
    "  q 结束演示并删除文件",
)
DEMO_NOTHING_WAITS: Final = Sentence(en="Nothing waits for you.", zh="没有等待你的内容。")
DEMO_CHAT_ONLY: Final = Sentence(
    en="Start a chat message with @dev, or type a command such as approve, show T-… or q.",
    zh="聊天消息请以 @dev 开头，或输入 approve、show T-…、q 等命令。",
)
DEMO_STOPPING: Final = Sentence(en="Stopping …", zh="正在停止……")
DEMO_END: Final = Sentence(en="Ended; everything was stopped.", zh="已结束，全部进程均已停止。")
DEMO_KEPT: Final = Sentence(en="The files are in {home}.", zh="文件保留在 {home}。")
DEMO_ME: Final = Sentence(en="zhangwei writes", zh="zhangwei 发送")
DEMO_APP: Final = Sentence(en="chat hears", zh="聊天收到")
