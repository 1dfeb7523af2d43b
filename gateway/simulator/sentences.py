"""Every sentence of the simulator and of the demo, in both languages."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from common.sentences import Sentence

SIM_SUMMARY: Final = Sentence(
    en="a WeCom on this machine: real signatures and encryption, made-up members",
    zh="本机上的企业微信：真实的签名与加密，虚构的成员",
)
SIM_INIT: Final = Sentence(
    en="write a matching configuration for simulator and gateway",
    zh="为模拟器和网关写出一套相互匹配的配置",
)
SIM_SEND: Final = Sentence(
    en="write to the app as a member and print what comes back",
    zh="以成员身份给应用发消息，并显示回复",
)
DEMO_SUMMARY: Final = Sentence(
    en="the main job on this machine: chat, gateway and agent here, and you approve",
    zh="在本机走一遍：聊天、网关和 Agent 都在这里，由你批准",
)
SIM_SAVE: Final = Sentence(
    en="save the callback in the simulated console: URL here, Token and EncodingAESKey are asked",
    zh="在模拟的管理后台保存回调：URL 写在这里，Token 和 EncodingAESKey 按提示输入",
)
SIM_TRUST: Final = Sentence(
    en="add an address under 企业可信IP in the simulated console",
    zh="在模拟的管理后台把地址加入企业可信IP",
)
HELP_CONSOLE: Final = Sentence(
    en="play the console alone: write simulator.json and print what the console shows, for "
    "`gateway init`",
    zh="只模拟管理后台：写出 simulator.json 并显示后台中的各项值，供 `gateway init` 使用",
)
SIM_CONSOLE: Final = Sentence(
    en="The simulated console shows:\n\n    企业ID    {corp}\n    AgentId   {app}\n"
    "    Secret    {secret}\n\n"
    "Next, each in a terminal of its own:\n"
    "    codexbridge sim\n"
    "    codexbridge gateway init --api-base {api}\n"
    "When it tells you to save something in the console, that is here:\n"
    "    codexbridge sim save URL            接收消息 → 设置API接收 → 保存\n"
    "    codexbridge sim trust 127.0.0.1     企业可信IP",
    zh="模拟的管理后台显示：\n\n    企业ID    {corp}\n    AgentId   {app}\n"
    "    Secret    {secret}\n\n"
    "接下来，分别在各自的终端里运行：\n"
    "    codexbridge sim\n"
    "    codexbridge gateway init --api-base {api}\n"
    "它让你在管理后台保存时，在这里这样做：\n"
    "    codexbridge sim save URL            接收消息 → 设置API接收 → 保存\n"
    "    codexbridge sim trust 127.0.0.1     企业可信IP",
)
SIM_SAVED: Final = Sentence(en="Saved.", zh="已保存。")
HELP_CONFIG: Final = Sentence(
    en="configuration written by `sim init`", zh="由 `sim init` 写出的配置文件"
)
HELP_PORT_FILE: Final = Sentence(
    en="write the port to this file once it listens", zh="开始监听后把端口写入此文件"
)
HELP_DEADLINE: Final = Sentence(
    en="seconds after which a callback is cut off (default 5, as WeCom's)",
    zh="回调超过多少秒即断开（默认 5，与企业微信一致）",
)
HELP_PAUSE: Final = Sentence(
    en="seconds before a callback is delivered again (default 1)",
    zh="重新投递回调前等待的秒数（默认 1）",
)
HELP_RENEWED: Final = Sentence(
    en="encrypt and sign retries anew; WeCom does not document which it does",
    zh="重试时重新加密和签名；企业微信没有说明它用哪一种",
)
HELP_PAGE_PORT: Final = Sentence(
    en="port of the simulator's page and commands", zh="模拟器页面和命令的端口"
)
HELP_APP: Final = Sentence(
    en="which app, by its name; without it the first", zh="应用的名称；不写就是第一个"
)
HELP_FURTHER_APP: Final = Sentence(
    en="one more app of the same corp; may be repeated", zh="同一企业的另一个应用；可重复"
)
HELP_FURTHER_CORP: Final = Sentence(
    en="one more app, of a corp of its own; may be repeated",
    zh="另一个企业的一个应用；可重复",
)
SIM_REPEAT: Final = Sentence(en="deliver the last callback again", zh="把上一个回调再投递一次")
HELP_REPEAT_RENEWED: Final = Sentence(
    en="encrypted and signed anew, instead of the same bytes", zh="重新加密和签名，而不是原样重发"
)
SIM_REPEATED: Final = Sentence(
    en="Delivered again: HTTP {status}.", zh="已再次投递：HTTP {status}。"
)
SIM_FAULT: Final = Sentence(
    en="switch an error of the API on or off; alone, list them",
    zh="打开或关闭 API 的一种错误；不带参数则列出全部",
)
HELP_FAULT: Final = Sentence(
    en="which error, such as 60020 or 45009-hour; with --off alone, all of them",
    zh="哪种错误，例如 60020 或 45009-hour；只写 --off 则关闭全部",
)
HELP_OFF: Final = Sentence(en="switch it off", zh="关闭它")
HELP_SECONDS: Final = Sentence(
    en="for so many seconds; without it until it is switched off, or as long as WeCom's block",
    zh="持续的秒数；不写就一直持续到关闭，频率限制则与企业微信一样长",
)
HELP_COUNT: Final = Sentence(en="for so many calls", zh="持续的调用次数")
HELP_ADDRESS: Final = Sentence(en="the address that 60020 names", zh="60020 中显示的 IP 地址")
SIM_TOKENS: Final = Sentence(en="end the access tokens of an app", zh="让应用的 access_token 失效")
HELP_TOKENS: Final = Sentence(
    en="expire: they answer 42001; forget: 40014", zh="expire：返回 42001；forget：返回 40014"
)
HELP_TOKEN_SECONDS: Final = Sentence(
    en="how long the next tokens last (default 7200)",
    zh="之后的 access_token 有效多少秒（默认 7200）",
)
SIM_TOKENS_ENDED: Final = Sentence(
    en="No access token of before counts any more.", zh="之前的 access_token 都已失效。"
)
SIM_FAULTS: Final = Sentence(en="There are: {names}", zh="可选：{names}")
SIM_FAULTS_ON: Final = Sentence(en="On: {faults}", zh="已打开：{faults}")
SIM_NO_FAULTS: Final = Sentence(en="No error is on.", zh="没有打开任何错误。")
HELP_USER: Final = Sentence(en="which member writes", zh="以哪位成员的身份发送")
HELP_WAIT: Final = Sentence(
    en="seconds to wait for replies (default 3)", zh="等待回复的秒数（默认 3）"
)
HELP_TEXT: Final = Sentence(en='what to write, such as "@dev help"', zh='内容，例如 "@dev help"')
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
    en="Wrote {simulator}, {gateway} and {secrets}/.\n"
    "Next: codexbridge gateway --config {gateway} member add zhangwei\n"
    "      codexbridge sim                                   (in one terminal)\n"
    "      codexbridge gateway --config {gateway} --secrets-dir {secrets}",
    zh="已写出 {simulator}、{gateway} 和 {secrets}/。\n"
    "接下来：codexbridge gateway --config {gateway} member add zhangwei\n"
    "        codexbridge sim                                 （在一个终端里）\n"
    "        codexbridge gateway --config {gateway} --secrets-dir {secrets}",
)
SIM_READY: Final = Sentence(
    en="WeCom simulator: the page is at http://127.0.0.1:{port}/ , the API at port {api}, "
    "callbacks go to {callback}",
    zh="企业微信模拟器：页面在 http://127.0.0.1:{port}/ ，API 在端口 {api}，回调发往 {callback}",
)
SIM_SENT_BADLY: Final = Sentence(
    en="The gateway did not take the message (HTTP {status}). Is it running? 0 means no answer.",
    zh="网关没有接收这条消息（HTTP {status}）。它在运行吗？0 表示没有应答。",
)

SIM_RUN: Final = Sentence(
    en="play a scenario against the gateway and print each step; alone, list them",
    zh="对网关演练一个场景并显示每一步；不带参数则列出全部",
)
HELP_SCENARIO: Final = Sentence(
    en="name of a scenario, or a file of your own that ends in .toml",
    zh="场景的名称，或你自己的 .toml 文件",
)
RUN_GOOD: Final = Sentence(en="As it should be.", zh="符合预期。")
RUN_BAD: Final = Sentence(
    en="Not as it should be: see the step marked ✗. All errors are switched off again.",
    zh="不符合预期：见标 ✗ 的步骤。打开的错误已全部关闭。",
)
STEPS: Final[Mapping[str, Sentence]] = {
    "say": Sentence(en="{user} writes: {value}", zh="{user} 发送：{value}"),
    "event": Sentence(en="event {value} of {user}", zh="{user} 的事件 {value}"),
    "card": Sentence(en="a card for {user}", zh="发给 {user} 一张卡片"),
    "click": Sentence(en="{user} clicks: {value}", zh="{user} 点击：{value}"),
    "repeat": Sentence(en="the last callback again ({value})", zh="再次投递上一个回调（{value}）"),
    "fault": Sentence(en="error on: {value}", zh="打开错误：{value}"),
    "clear": Sentence(en="error off: {value}", zh="关闭错误：{value}"),
    "tokens": Sentence(en="access tokens end ({value})", zh="access_token 失效（{value}）"),
    "expect": Sentence(en="{value}", zh="{value}"),
}
EXPECTED: Final[Mapping[str, Sentence]] = {
    "sent": Sentence(
        en="{user} has an answer within {within} s", zh="{user} 在 {within} 秒内收到回复"
    ),
    "held": Sentence(
        en="the answer is held back: calls fail, {user} sees nothing ({within} s)",
        zh="回复被保留：调用失败，{user} 看不到内容（{within} 秒内）",
    ),
    "nothing": Sentence(
        en="{user} sees nothing new for {within} s", zh="{within} 秒内 {user} 没有看到新内容"
    ),
    "called": Sentence(
        en="the gateway calls {call} within {within} s", zh="网关在 {within} 秒内调用 {call}"
    ),
}
FOUND_STATUS: Final = Sentence(en="HTTP {status}", zh="HTTP {status}")
FOUND_ERRCODE: Final = Sentence(en="errcode {errcode} {errmsg}", zh="errcode {errcode} {errmsg}")
FOUND_DONE: Final = Sentence(en="done", zh="完成")
FOUND_ANSWER: Final = Sentence(en="after {seconds} s: {text}", zh="{seconds} 秒后：{text}")
FOUND_FAILED: Final = Sentence(
    en="after {seconds} s: a call met {why}, no answer",
    zh="{seconds} 秒后：调用遇到 {why}，没有回复",
)
FOUND_CALLED: Final = Sentence(en="after {seconds} s", zh="{seconds} 秒后")
FOUND_NOTHING: Final = Sentence(en="nothing within {seconds} s", zh="{seconds} 秒内什么都没有")

SIM_CHECK: Final = Sentence(
    en="check a callback URL on this machine against WeCom's rules, and print a report",
    zh="按企业微信的规则检查本机上的回调 URL，并给出报告",
)
HELP_CHECK_URL: Final = Sentence(
    en="http://127.0.0.1:PORT/PATH; without it the one of the gateway's settings",
    zh="http://127.0.0.1:PORT/PATH；不写就用网关设置中的地址",
)
HELP_RECEIVE_ID: Final = Sentence(
    en="corp id of a URL that is not this gateway's; Token and EncodingAESKey are asked, since "
    "other users can read a command line",
    zh="不属于本网关的 URL 的企业ID；Token 和 EncodingAESKey 按提示输入，因为其他用户能看到命令行",
)
HELP_AGENT_ID: Final = Sentence(en="AgentId of that app", zh="该应用的 AgentId")
HELP_GATEWAY_CONFIG: Final = Sentence(en="the gateway's settings file", zh="网关的设置文件")
HELP_SECRETS: Final = Sentence(en="the gateway's folder of secrets", zh="网关的机密文件夹")
HELP_JSON: Final = Sentence(en="print JSON", zh="输出 JSON")
CHECK_TITLE: Final = Sentence(
    en="Callback {url}, {count} checks. Messages come from {user}, who is no member.",
    zh="回调 {url}，共 {count} 项检查。消息来自 {user}，不是真实成员。",
)
CHECK_GOOD: Final = Sentence(
    en="{count} checks: every required one is met, {advised} of the advised are not.",
    zh="共 {count} 项检查：必需项全部通过，建议项有 {advised} 项未通过。",
)
CHECK_BAD: Final = Sentence(
    en="{count} checks: {failed} required ones are not met (✗), and {advised} of the advised (!).",
    zh="共 {count} 项检查：{failed} 项必需项未通过（✗），建议项有 {advised} 项未通过（!）。",
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
