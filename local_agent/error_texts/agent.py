"""What the command line says when the agent cannot be reached, or a request cannot be begun."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from common.sentences import Sentence

ERRORS: Final[Mapping[str, Sentence]] = {
    "agent.not-running": Sentence(
        en="The agent is not running. Start it: codexbridge agent",
        zh="Agent 没有运行。启动：codexbridge agent",
    ),
    "agent.not-running/new": Sentence(
        en="Nothing is set up on this machine yet. Set it up, step by step: codexbridge init",
        zh="本机尚未设置。逐步设置：codexbridge init",
    ),
    "init.busy": Sentence(
        en="Another `codexbridge init` works on {path}. End it first, or wait until it has.",
        zh="另一个 `codexbridge init` 正在使用 {path}。请先结束它，或等待它完成。",
    ),
    "init.no-terminal": Sentence(
        en="init asks questions, so it needs a terminal; without one: codexbridge init "
        "--non-interactive",
        zh="init 需要提问，因此须在终端中运行；没有终端时：codexbridge init --non-interactive",
    ),
    "init.no-line": Sentence(
        en="The pairing line is missing: give https://…#CB1-… on standard input.",
        zh="缺少配对行：请从标准输入给出 https://…#CB1-…",
    ),
    "init.no-workspace": Sentence(
        en="The workspace is missing: --workspace PATH", zh="缺少工作区：--workspace 路径"
    ),
    "init.model": Sentence(
        en="Nothing was found here for the model “{name}”; found: {found}. Others: "
        "codexbridge help models",
        zh="本机没有可用于模型“{name}”的内容；找到：{found}。其他模型：codexbridge help models",
    ),
    "init.agent-ended": Sentence(
        en="The agent did not start. See why: {log}", zh="Agent 没有启动。原因见：{log}"
    ),
    "init.agent-gone": Sentence(
        en="The agent ended unexpectedly. What waits for approval is kept. Its log: {log}. "
        "To start it again: codexbridge agent",
        zh="Agent 意外结束。等待批准的任务都已保存。日志：{log}。再次启动：codexbridge agent",
    ),
    "doctor.no-terminal": Sentence(
        en="--fix asks before each mend, so it needs a terminal, and goes without --json.",
        zh="--fix 会逐项询问，因此需要在终端中运行，且不能与 --json 同用。",
    ),
    "agent.not-listening": Sentence(
        en="The agent runs, but nothing listens at {path}: it is starting, or its control socket "
        "was deleted and is made again within a few seconds. Ask again then.",
        zh="Agent 正在运行，但 {path} 无人监听：它正在启动，或控制套接字已删除，几秒内会自动重建。"
        "请稍后再试。",
    ),
    "agent.no-answer": Sentence(
        en="The agent does not answer, or ended meanwhile. Look at its output; nothing was lost.",
        zh="Agent 没有应答或已退出。请查看其输出；没有丢失任何内容。",
    ),
    "agent.stopped": Sentence(
        en="The agent was stopped, so this is not followed any further. Nothing was lost: it goes "
        "on once the agent runs again. Start it: codexbridge agent",
        zh="Agent 已停止，无法继续跟踪。没有丢失任何内容，Agent 再次启动后会继续。"
        "启动：codexbridge agent",
    ),
    "agent.part-failed": Sentence(
        en="A part of the agent ({part}) ended unexpectedly, so all of it was stopped. Nothing was "
        "lost; see the log.",
        zh="Agent 的一个部分（{part}）意外结束，Agent 已停止。没有丢失任何内容；请查看日志。",
    ),
    "control.path-too-long": Sentence(
        en="{path} is too long for a socket (more than {limit} bytes). Choose a shorter "
        "CODEXBRIDGE_HOME, or set XDG_RUNTIME_DIR.",
        zh="{path} 作为套接字路径过长（超过 {limit} 字节）。请使用更短的 CODEXBRIDGE_HOME，"
        "或设置 XDG_RUNTIME_DIR。",
    ),
    "control.too-large": Sentence(
        en="That is too long to be sent to the agent.", zh="内容过长，无法发送给 Agent。"
    ),
    "control.malformed": Sentence(
        en="Agent and command line do not understand each other: start the agent again after an "
        "upgrade.",
        zh="Agent 与命令行版本不一致：升级后请重新启动 Agent。",
    ),
    "control.unknown-operation": Sentence(
        en="The running agent does not know “{op}”: start it again after an upgrade.",
        zh="运行中的 Agent 不支持“{op}”：升级后请重新启动。",
    ),
    "control.foreign-peer": Sentence(
        en="The control socket belongs to another user's process; nothing was sent.",
        zh="控制套接字属于其他用户的进程；没有发送任何内容。",
    ),
    "json.malformed": Sentence(
        en="Agent and command line do not understand each other: start the agent again after an "
        "upgrade.",
        zh="Agent 与命令行版本不一致：升级后请重新启动 Agent。",
    ),
    "ask.empty": Sentence(
        en='Say what is to be done, such as: codexbridge ask "test"',
        zh='请写明要做什么，例如：codexbridge ask "测试"',
    ),
    "ask.at": Sentence(
        en="“{place}” is not a place in a file; write a file by its path from the top of the "
        "workspace, or with lines: src/app.py:10-20",
        zh="“{place}”不是有效的位置；请写文件（从工作区顶层起的路径），可带行号：src/app.py:10-20",
    ),
    "ask.nowhere/missing": Sentence(
        en="There is no file {file} in the workspace {workspace} (its path counts from the top). "
        "Nothing was asked.",
        zh="工作区 {workspace} 中没有文件 {file}（路径从工作区根目录算起）。没有提出任何请求。",
    ),
    "ask.nowhere/beyond": Sentence(
        en="{file} has {lines} {lines:line|lines}, so there is no line {last}. Nothing was asked.",
        zh="{file} 共 {lines} 行，没有第 {last} 行。没有提出任何请求。",
    ),
    "ask.nowhere/denied": Sentence(
        en="{file} may never be read, by name or by what you deny here. Nothing was asked.",
        zh="{file} 因名称或你的设置而禁止读取。没有提出任何请求。",
    ),
    "ask.nowhere": Sentence(
        en="{file} cannot be read as a text of the workspace {workspace}. Nothing was asked.",
        zh="无法将 {file} 作为工作区 {workspace} 的文本读取。没有提出任何请求。",
    ),
    "apply.not-resting": Sentence(
        en="{task} does not wait to be applied any more. `codexbridge show {task}` shows its "
        "state.",
        zh="{task} 已不在等待应用。用 `codexbridge show {task}` 查看其状态。",
    ),
    "ask.too-long": Sentence(
        en="The request is longer than {limit} bytes.", zh="请求超过 {limit} 字节。"
    ),
    "bus.reader-too-slow": Sentence(
        en="This terminal could not keep up; the task goes on. `codexbridge tasks` shows it.",
        zh="本终端跟不上输出；任务仍在继续。用 `codexbridge tasks` 查看。",
    ),
    "page.no-port": Sentence(
        en="The page cannot listen on this machine's loopback addresses ({why}). Nothing was lost; "
        "the terminal shows the same: codexbridge tasks",
        zh="页面无法监听本机的回环地址（{why}）。没有丢失任何内容；终端可以查看相同内容："
        "codexbridge tasks",
    ),
}
