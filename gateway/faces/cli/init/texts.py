"""What `gateway init` says.  The console is named in its own words, in both languages."""

from __future__ import annotations

from typing import Final

from common.sentences import Sentence

# -- help ------------------------------------------------------------------------------------

INIT: Final = Sentence(
    en="Set a gateway up: asks for one value at a time, says where WeCom's console shows it, tries "
    "it at once, and ends with a running gateway and the line that joins a machine. Run it again "
    "to go on where it was; what is there is kept.",
    zh="设置网关：逐项询问，说明在企业微信管理后台的哪里，并立即检查；最后网关运行起来，"
    "并给出接入开发机的一行。可以随时重新运行并从中断处继续；已有的内容会保留。",
)
UNASKED: Final = Sentence(
    en="ask nothing: values come from these options, the settings file, the environment and the "
    "secret files; prints the line for the machine, and starts nothing",
    zh="不提问：各项值来自这些选项、设置文件、环境变量和机密文件；输出接入开发机的一行，不启动网关",
)
FLAGS: Final = (
    ("--corp-id", "CORP", Sentence(en="企业ID of the corp", zh="企业ID")),
    ("--agent-id", "ID", Sentence(en="AgentId of the app", zh="应用的 AgentId")),
    (
        "--public-url",
        "URL",
        Sentence(
            en="what WeCom and machines dial, such as https://codexbridge.example.com",
            zh="企业微信和开发机访问的地址，例如 https://codexbridge.example.com",
        ),
    ),
    (
        "--proxy",
        "ADDRESS",
        Sentence(
            en="address of the reverse proxy as the gateway sees it; 127.0.0.1 unless given",
            zh="网关看到的反向代理地址，默认 127.0.0.1",
        ),
    ),
    (
        "--member",
        "USER",
        Sentence(
            en="UserID of the first member, who is also told of alarms",
            zh="第一位成员的 UserID，同时接收告警",
        ),
    ),
    ("--machine", "NAME", Sentence(en="name of the machine to pair", zh="要配对的开发机名称")),
    ("--port", "PORT", Sentence(en="port to listen on", zh="监听端口")),
    (
        "--api-base",
        "URL",
        Sentence(
            en="WeCom's API; for a trial that of `codexbridge sim`, such as http://127.0.0.1:8790",
            zh="企业微信接口地址；试用时填 `codexbridge sim` 的地址，例如 http://127.0.0.1:8790",
        ),
    ),
)

# -- the values ------------------------------------------------------------------------------

BEGIN: Final = Sentence(
    en="This sets a gateway up, one value at a time. Each is tried and written at once:\n"
    "    settings  {file}\n    secrets   {secrets}\n"
    "Ctrl-C stops; run it again to go on.",
    zh="逐项设置网关。每项立即检查并写入：\n    设置  {file}\n    机密  {secrets}\n"
    "按 Ctrl-C 停止；重新运行即可继续。",
)
STEP_WECOM: Final = Sentence(en="1  WeCom", zh="1  企业微信")
STEP_ADDRESS: Final = Sentence(en="2  The gateway's address", zh="2  网关地址")
STEP_CALLBACK: Final = Sentence(en="3  Callback", zh="3  回调")
STEP_MEMBER: Final = Sentence(en="4  First member, first machine", zh="4  第一位成员和开发机")
STEP_START: Final = Sentence(en="5  Start", zh="5  启动")
STEP_CONSOLE: Final = Sentence(en="6  Save the callback in the console", zh="6  在管理后台保存回调")
STEP_MESSAGE: Final = Sentence(en="7  First message", zh="7  第一条消息")
STEP_MACHINE: Final = Sentence(en="8  Pair the machine", zh="8  配对开发机")
STEP_DONE: Final = Sentence(en="All is in place.", zh="一切就绪。")
STEP_LEFT: Final = Sentence(
    en="{count} {count:thing is|things are} still to do. Then run this again to see it work.",
    zh="还有 {count} 件事要做。完成后再次运行本命令确认。",
)

KEPT: Final = Sentence(en="{label}: {value} (kept)", zh="{label}：{value}（保留）")
GIVEN: Final = Sentence(en="{label}: {value}", zh="{label}：{value}")
CORP_ID: Final = Sentence(en="Corp id (企业ID)", zh="企业ID")
CORP_ID_WHERE: Final = Sentence(
    en="In the console, work.weixin.qq.com: 我的企业 → 企业信息 → 企业ID (at the bottom)",
    zh="管理后台 work.weixin.qq.com：我的企业 → 企业信息 → 企业ID（页面底部）",
)
AGENT_ID: Final = Sentence(en="AgentId", zh="AgentId")
AGENT_ID_WHERE: Final = Sentence(
    en="应用管理 → 自建 → the app → AgentId; no app yet: 自建 → 创建应用",
    zh="应用管理 → 自建 → 应用 → AgentId；还没有应用时：自建 → 创建应用",
)
SECRET: Final = Sentence(en="Secret", zh="Secret")
SECRET_WHERE: Final = Sentence(
    en="应用管理 → 自建 → the app → Secret → 查看; what you type is not shown",
    zh="应用管理 → 自建 → 应用 → Secret → 查看；输入时不显示",
)
CORP_ID_FORM: Final = Sentence(
    en="A corp id begins with ww and goes on in letters and digits, such as ww1d19f3ef47e3e472.",
    zh="企业ID 以 ww 开头，后面是字母和数字，例如 ww1d19f3ef47e3e472。",
)
AGENT_ID_FORM: Final = Sentence(
    en="An AgentId is a number, such as 1000002.", zh="AgentId 是一个数字，例如 1000002。"
)
SECRET_FORM: Final = Sentence(
    en="A Secret has no blanks and no Chinese characters.", zh="Secret 中没有空格和汉字。"
)
TOKEN_FORM: Final = Sentence(
    en="A Token is letters and digits, 32 at most.", zh="Token 由字母和数字组成，最多 32 个字符。"
)
AES_KEY_FORM: Final = Sentence(
    en="An EncodingAESKey is 43 letters and digits.", zh="EncodingAESKey 由 43 个字母和数字组成。"
)
MEMBER_FORM: Final = Sentence(
    en="A UserID is letters, digits and _ . @ -, begins with a letter or digit, and has 64 "
    "characters at most.",
    zh="UserID 只能用字母、数字和 _ . @ -，以字母或数字开头，最多 64 个字符。",
)
LEFT: Final = Sentence(
    en="Stopped. What was entered and accepted so far is kept; the machine's name is asked for "
    "again until it is paired. To go on: codexbridge gateway init",
    zh="已停止。已接受的输入都已保存；开发机名称在配对之前会再次询问。"
    "继续：codexbridge gateway init",
)
TRUST_LATER: Final = Sentence(
    en="{address} is for 企业可信IP; the console takes it once the callback is saved (step 6).",
    zh="{address} 要填入企业可信IP；管理后台在保存回调（第 6 步）之后才能填写。",
)
PUBLIC_URL: Final = Sentence(en="Public address", zh="公开地址")
PUBLIC_URL_WHERE: Final = Sentence(
    en="What WeCom and machines dial: https:// and the host of your reverse proxy, no path",
    zh="企业微信和开发机访问的地址：https:// 加反向代理的主机名，不带路径",
)
PROXY: Final = Sentence(en="Reverse proxy", zh="反向代理")
PROXY_WHERE: Final = Sentence(
    en="Its address as the gateway sees it: 127.0.0.1 where it runs on this server",
    zh="网关看到的反向代理地址；与网关在同一台服务器时为 127.0.0.1",
)
TOKEN: Final = Sentence(en="Token", zh="Token")
TOKEN_WHERE: Final = Sentence(
    en="应用管理 → 自建 → the app → 接收消息 → 设置API接收 → Token: paste it, or press Enter to "
    "have one made here. Leave that page open; do not save yet.",
    zh="应用管理 → 自建 → 应用 → 接收消息 → 设置API接收 → Token：粘贴，或按回车在这里生成。"
    "请保持该页面打开，先不要保存。",
)
AES_KEY: Final = Sentence(en="EncodingAESKey", zh="EncodingAESKey")
AES_KEY_WHERE: Final = Sentence(
    en="On the same page, EncodingAESKey: paste it, or press Enter to have one made here",
    zh="同一页面的 EncodingAESKey：粘贴，或按回车在这里生成",
)
MEMBER: Final = Sentence(en="UserID (账号)", zh="UserID（账号）")
MEMBER_WHERE: Final = Sentence(
    en="通讯录 → the member → 账号: of the first member, who is also told of alarms",
    zh="通讯录 → 成员 → 账号：第一位成员，同时接收告警",
)
MEMBER_ADDED: Final = Sentence(
    en="{user} may write to the app now. Others: codexbridge gateway member add USER",
    zh="{user} 可以使用应用了。添加其他人：codexbridge gateway member add USER",
)
MACHINE: Final = Sentence(en="Machine", zh="开发机")
MACHINE_WHERE: Final = Sentence(
    en="A name for that person's dev machine: a to z, 0 to 9 and -",
    zh="给这位成员的开发机起个名字：a–z、0–9 和 -",
)

# -- the running gateway ---------------------------------------------------------------------

RUNS_ALREADY: Final = Sentence(
    en="A gateway runs already; it is used as it is.", zh="已有网关在运行，直接使用。"
)
STARTED: Final = Sentence(
    en="The gateway runs: {url}\n    log  {log}", zh="网关已运行：{url}\n    日志  {log}"
)
SAVE_THIS: Final = Sentence(
    en="应用管理 → 自建 → the app → 接收消息 → 设置API接收: enter these, then 保存.",
    zh="应用管理 → 自建 → 应用 → 接收消息 → 设置API接收：填入以下各项，然后点“保存”。",
)
WAIT_CONSOLE: Final = Sentence(
    en="Waiting for WeCom's URL check. Enter goes on without.",
    zh="正在等待企业微信校验 URL。按回车跳过。",
)
CONSOLE_DONE: Final = Sentence(en="✓ WeCom has checked the callback.", zh="✓ 企业微信已校验回调。")
CONSOLE_LATER: Final = Sentence(
    en="Not saved yet: until it is, no message arrives.", zh="尚未保存；保存之前收不到消息。"
)
ALL_READY: Final = Sentence(
    en="It works: CodexBridge can write to you. Send “@dev help” here once your machine is paired.",
    zh="一切就绪：CodexBridge 可以给你发消息了。配对开发机之后，在这里发送“@dev 帮助”。",
)
WAIT_MESSAGE: Final = Sentence(
    en="Trying again every {seconds} s. Enter goes on without.",
    zh="每 {seconds} 秒重试一次。按回车跳过。",
)
NOT_DELIVERED: Final = Sentence(
    en="✗ WeCom does not deliver to {user} ({code} {errmsg}). Is that the 账号, and does the app's "
    "可见范围 include it? Another one: codexbridge gateway member add USER",
    zh="✗ 企业微信无法送达 {user}（{code} {errmsg}）。请确认这是“账号”，并在应用的“可见范围”内。"
    "改用其他账号：codexbridge gateway member add USER",
)
GREET_LATER: Final = Sentence(
    en="No message was sent; the gateway tries again with the first reply.",
    zh="没有发出消息；网关会在第一次回复时再试。",
)
GREETED: Final = Sentence(en="✓ {user} has a message.", zh="✓ {user} 已收到消息。")
PAIR_THIS: Final = Sentence(
    en="On {machine}, run `codexbridge init` and paste this line. It works once, until {until}; "
    "hand it over in private.",
    zh="在 {machine} 上运行 `codexbridge init` 并粘贴下面这一行。只能用一次，{until} 前有效；"
    "请私下转交。",
)
WAIT_MACHINE: Final = Sentence(
    en="Waiting for the machine. Enter goes on without; the code stays valid.",
    zh="正在等待开发机。按回车跳过，配对码仍然有效。",
)
MACHINE_LATER: Final = Sentence(
    en="The machine can still use the line until {until}, while the gateway runs.",
    zh="{until} 之前，只要网关在运行，开发机仍可使用这一行。",
)
PAIRED_ALREADY: Final = Sentence(
    en="All is set up, and {machine} is paired already: there is no line to hand over.",
    zh="设置已完成，{machine} 已配对，没有需要转交的配对行。",
)
ONLINE: Final = Sentence(en="✓ {machine} is paired and connected.", zh="✓ {machine} 已配对并在线。")
AWAY: Final = Sentence(
    en="✓ {machine} is paired, and not connected now. There: codexbridge agent",
    zh="✓ {machine} 已配对，目前不在线。请在那台开发机上运行：codexbridge agent",
)
IN_PLACE: Final = Sentence(
    en="    address   {url}\n    settings  {file}\n    state     {state}\n"
    "Look after it: codexbridge gateway doctor",
    zh="    地址  {url}\n    设置  {file}\n    状态  {state}\n检查：codexbridge gateway doctor",
)
STAYS: Final = Sentence(
    en="The gateway runs here and ends with this command (Ctrl-C). Its log: {log}",
    zh="网关由本命令运行，并随本命令结束（Ctrl-C）。日志：{log}",
)
AS_A_SERVICE: Final = Sentence(
    en="To keep it running without a terminal, and start it at boot:\n    {command}",
    zh="要让它脱离终端持续运行并开机启动：\n    {command}",
)
MOVE_FIRST: Final = Sentence(
    en="To keep it running without a terminal, move it out of this home folder, which a service "
    "does not see, in a few commands: “Move it to a service” in codexbridge help admin",
    zh="要让它脱离终端持续运行，请先把它移出用户主目录（服务无法访问），只需几条命令："
    "见 codexbridge help admin 的“移到服务中”",
)
STOPPING: Final = Sentence(en="Stopping the gateway …", zh="正在停止网关……")
