"""The sentences of ``codexbridge init``, help included."""

from __future__ import annotations

from typing import Final

from common.sentences import Sentence

INIT: Final = Sentence(
    en="Set this machine up, step by step: checks, pairing, workspace, model, window, agent, and a "
    "first task that you approve. What is there already is kept; stop at any point, and run it "
    "again to go on.",
    zh="逐步设置本机：检查、配对、工作区、模型、窗口、Agent，以及由你批准的第一个任务。"
    "已有的设置保持不变；可以随时停下，再次运行即可继续。",
)
QUIET: Final = Sentence(
    en="ask nothing; the pairing line is read from standard input if this machine is not paired",
    zh="不询问；本机尚未配对时，从标准输入读取配对行",
)
WORKSPACE: Final = Sentence(
    en="folder that tasks may work in; kept if it is a workspace already",
    zh="任务可以使用的文件夹；已登记则保持不变",
)
TEST: Final = Sentence(
    en="what a bare `@dev test` runs there, or `none`; without it, what the project's own files "
    "name, when that is one command",
    zh="单独的 `@dev test` 在其中运行的命令，或 `none`；省略时取项目文件中写明的唯一命令",
)
MODEL: Final = Sentence(
    en="model to set up, if none is configured: {names}", zh="没有配置模型时要配置的模型：{names}"
)
NO_WINDOW: Final = Sentence(en="open no test window", zh="不打开测试窗口")
NO_TASK: Final = Sentence(en="leave the first task out", zh="略过第一个任务")

STOPPED: Final = Sentence(
    en="Stopped here. Mend what is marked ✗, then go on: codexbridge init",
    zh="到此停止。请先解决标有 ✗ 的问题，再继续：codexbridge init",
)
LEFT: Final = Sentence(
    en="Stopped. What was set up so far is kept. To go on: codexbridge init",
    zh="已停止。目前的设置已保存。继续：codexbridge init",
)
PASTE: Final = Sentence(
    en="Paste the line from your admin, https://…#CB1-… (not shown; Enter alone: without a "
    "gateway): ",
    zh="粘贴管理员给你的一行 https://…#CB1-…（不回显；直接回车：不使用网关）：",
)
GATEWAY: Final = Sentence(
    en="Address of the gateway, such as https://gateway.example.com: ",
    zh="网关地址，例如 https://gateway.example.com：",
)
COMPARE: Final = Sentence(
    en="Read the six words aloud to your admin. Are they the same on the gateway? Type same or "
    "different: ",
    zh="请向管理员念出这六个词。网关上的词相同吗？输入 相同 或 不同：",
)
COMPARE_LATER: Final = Sentence(
    en="Compare the six words with your admin. If they differ: codexbridge pair --replace "
    "--gateway {url}",
    zh="请与管理员核对这六个词。如果不同：codexbridge pair --replace --gateway {url}",
)
DIFFERENT: Final = Sentence(
    en="Unpaired; the key of this machine is deleted. Different words mean that somebody between "
    "here and the gateway may have put in a key of their own. Tell your admin, who removes the "
    "entry: codexbridge gateway revoke {machine}",
    zh="已取消配对，本机密钥已删除。词不同说明可能有人在中间换成了自己的密钥。请告诉管理员，"
    "由其移除登记：codexbridge gateway revoke {machine}",
)
FOLDER: Final = Sentence(
    en="Folder that tasks may work in, such as ~/shop-api: ",
    zh="任务可以使用的文件夹，例如 ~/shop-api：",
)
FOLDER_HERE: Final = Sentence(
    en="Folder that tasks may work in (Enter: {found}): ",
    zh="任务可以使用的文件夹（回车：{found}）：",
)
COMMAND: Final = Sentence(
    en="Test command for `@dev test` (Enter: none): ", zh="`@dev test` 的测试命令（回车：无）："
)
COMMAND_FOUND: Final = Sentence(
    en="Test command for `@dev test` (Enter: {found}, from {file}; none: no command): ",
    zh="`@dev test` 的测试命令（回车：{found}，取自 {file}；none：无）：",
)
COMMANDS_MORE: Final = Sentence(
    en="Other test commands found: {commands}", zh="还找到其他测试命令：{commands}"
)
CHOOSE_MODEL: Final = Sentence(
    en="Found for a model: {names}. Which one may be asked? What you ask it, and parts of your "
    "code, go to its provider (Enter: none): ",
    zh="找到可用的模型：{names}。使用哪一个？所提的问题和部分代码会发给它的提供方（回车：不使用）：",
)
NO_MODEL: Final = Sentence(
    en="You can go on without a model. To connect one: codexbridge help models",
    zh="没有模型也可以继续；接入方法：codexbridge help models",
)
WINDOW: Final = Sentence(
    en="Enter opens a test window; press Later in it (s: skip): ",
    zh="回车打开测试窗口，请在其中按“稍后”（s：跳过）：",
)
WINDOW_WORKS: Final = Sentence(
    en="The window works: it was seen and answered.", zh="窗口可用：已看到并作答。"
)
WINDOW_FAILED: Final = Sentence(
    en="Later was not pressed. Without windows, approve in a terminal: codexbridge approve",
    zh="没有按“稍后”。不用窗口时，请在终端批准：codexbridge approve",
)
BY_TERMINAL: Final = Sentence(
    en="Approvals are asked in a terminal here: codexbridge approve",
    zh="本机没有窗口，请在终端批准：codexbridge approve",
)
SERVICE: Final = Sentence(
    en="Run the agent as a service, so that it is there after each login? [Y/n] ",
    zh="把 Agent 设为服务，每次登录后自动运行？[Y/n] ",
)
CHILD: Final = Sentence(
    en="The agent runs as long as this terminal stays here; its log: {log}",
    zh="Agent 随本终端运行；日志：{log}",
)
STAYS: Final = Sentence(
    en="The agent goes on here. Ctrl-C ends it; to start it again: codexbridge agent",
    zh="Agent 继续在此运行。Ctrl-C 结束；再次启动：codexbridge agent",
)
SEND: Final = Sentence(
    en="First task: send `@dev {text}` to the app in WeCom, or press Enter to ask for it here (s: "
    "skip): ",
    zh="第一个任务：在企业微信中给应用发送 `@dev {text}`，或按回车在本机提出（s：跳过）：",
)
SEND_HERE: Final = Sentence(
    en="First task: Enter asks for `@dev {text}` here (s: skip): ",
    zh="第一个任务：按回车在本机提出 `@dev {text}`（s：跳过）：",
)
OPENED: Final = Sentence(
    en="{task} waits for you: a window has opened. Approve it there, or press Enter to do so here "
    "(s: skip): ",
    zh="{task} 等待你批准：窗口已打开。请在窗口中批准，或按回车在此批准（s：跳过）：",
)
ASKED: Final = Sentence(
    en="{task} waits for you. Press Enter to look at it and approve it here, or run in another "
    "terminal: codexbridge approve {task} (s: skip): ",
    zh="{task} 等待你批准。按回车在此查看并批准，或在另一个终端运行：codexbridge approve {task}"
    "（s：跳过）：",
)
PROVED: Final = Sentence(
    en="Approved by you ({approver}), and run. Receipt {receipt}: codexbridge receipt {task}",
    zh="由你批准（{approver}）并已运行。凭证 {receipt}：codexbridge receipt {task}",
)
PROVED_FAILED: Final = Sentence(
    en="Approved by you ({approver}), and run: the way works, the command itself failed as shown. "
    "Another test command: codexbridge workspace set {workspace} --test CMD\n"
    "Receipt {receipt}: codexbridge receipt {task}",
    zh="由你批准（{approver}）并已运行：流程可用，命令本身如上所示失败。"
    "换一条测试命令：codexbridge workspace set {workspace} --test 命令\n"
    "凭证 {receipt}：codexbridge receipt {task}",
)
NOT_RUN: Final = Sentence(
    en="{task} was not approved and run, so it is no first task yet.",
    zh="{task} 没有经批准运行，还不算第一个任务。",
)
SKIPPED: Final = Sentence(
    en="No first task. Later: codexbridge ask test, then codexbridge approve",
    zh="略过第一个任务。之后可以：codexbridge ask 测试，然后 codexbridge approve",
)
NEXT: Final = Sentence(
    en="Next:\n  codexbridge status        how the agent is doing\n"
    "  codexbridge tasks         what waits\n"
    "  codexbridge help member   what to send with @dev",
    zh="接下来：\n  codexbridge status        查看 Agent 的状态\n"
    "  codexbridge tasks         查看等待中的任务\n"
    "  codexbridge help member   可以发送哪些 @dev 消息",
)
