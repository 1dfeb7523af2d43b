"""The launcher: finds out that our packages are ours, then runs one subcommand.

Standard library only, and little of it: ``--help`` must answer like a shell builtin, and nothing
may be imported from a ``common/`` that is not beside this file (a workspace may well have one).
What a subcommand does lives in the module that the table names; it is imported when it is chosen.

Each of those modules offers ``add_parser(subparsers, lang)``, which declares its subcommands and
sets ``run`` of each to the function that carries it out: ``run(args, lang, environ)``.

Exit codes: 0 done · 1 failed · 2 wrong input or configuration · 3 the agent is not running (from
``status`` only) · 130 interrupted · 141 the reader of our output went away.
"""

from __future__ import annotations

import errno
import gc
import importlib.util
import os
import sys
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    import argparse

    from common.sentences import Lang

__version__ = "0.1.0"

PACKAGES = ("common", "gateway", "local_agent")
_ERRORS = {"gateway": "gateway.faces.cli.error_texts", "local_agent": "local_agent.error_texts"}
EXIT_OK, EXIT_FAILED, EXIT_INPUT, EXIT_INTERRUPTED, EXIT_PIPE = 0, 1, 2, 130, 141
# Imports make no cycles worth looking for; at Python's 700 the looking is a sixth of a start.
COLLECT_AFTER = 50_000
# What the system refuses about a file that a person named; anything else is told in its own words.
_SYSTEM = {
    errno.ENOENT: "system.no-file",
    errno.EISDIR: "system.folder",
    errno.EACCES: "system.denied",
    errno.EPERM: "system.denied",
    errno.EEXIST: "system.exists",
    errno.EROFS: "system.read-only",
    errno.ENOSPC: "system.full",
}


class Words(NamedTuple):
    """One sentence in both languages.  `common.sentences` may not be imported yet, here."""

    en: str
    zh: str


class Command(NamedTuple):
    """One subcommand: its name, where it lives, what it does in both languages."""

    name: str
    module: str
    en: str
    zh: str


SECTIONS: tuple[tuple[Words, tuple[Command, ...]], ...] = (
    (
        Words("Start", "开始"),
        (
            Command(
                "demo",
                "gateway.simulator.cli",
                "the whole loop on this machine, with a simulated WeCom",
                "在本机用模拟的企业微信走完整个流程",
            ),
            Command(
                "init",
                "local_agent.cli.init",
                "set this machine up, step by step, to a first task",
                "逐步设置本机，直到完成第一个任务",
            ),
            Command(
                "pair",
                "local_agent.cli.pair",
                "join this machine to a gateway with a pairing code",
                "用配对码把本机接入网关",
            ),
            Command(
                "workspace",
                "local_agent.cli.workspace",
                "choose the folders that tasks may work in",
                "选择任务可以使用的工作区文件夹",
            ),
            Command(
                "agent",
                "local_agent.cli.agent",
                "run the agent of this machine in the foreground",
                "在前台运行本机的 Agent",
            ),
            Command(
                "gateway",
                "gateway.app",
                "run the gateway; manage its members and pairings",
                "运行网关；管理成员与配对",
            ),
            Command(
                "sim",
                "gateway.simulator.cli",
                "a simulated WeCom on loopback",
                "本机回环上的模拟企业微信",
            ),
        ),
    ),
    (
        Words("Work", "工作"),
        (
            Command(
                "ask", "local_agent.cli.ask", "put a request from this terminal", "在本终端提出请求"
            ),
            Command(
                "apply",
                "local_agent.cli.apply",
                "ask for a proposed change, or for a patch from a file",
                "请求应用提出的改动或文件中的补丁",
            ),
            Command("tasks", "local_agent.cli.tasks", "list the tasks", "列出任务"),
            Command(
                "show",
                "local_agent.cli.show",
                "show a task, and everything that would be done",
                "显示任务，以及将要执行的全部内容",
            ),
            Command(
                "diff", "local_agent.cli.diff", "show the diff of a task", "显示任务的改动内容"
            ),
            Command(
                "approve",
                "local_agent.cli.decide",
                "look at what would be done, then confirm it by typing its code",
                "查看将要执行的内容，然后输入其确认码予以确认",
            ),
            Command("reject", "local_agent.cli.decide", "refuse what waits", "拒绝等待中的请求"),
            Command(
                "cancel",
                "local_agent.cli.tasks",
                "stop a task, waiting or running",
                "停止等待中或运行中的任务",
            ),
            Command(
                "undo",
                "local_agent.cli.ask",
                "ask to take back what a task changed",
                "请求撤销任务的改动",
            ),
            Command(
                "retry",
                "local_agent.cli.ask",
                "ask again for what has ended",
                "再次提出已结束的请求",
            ),
            Command(
                "open",
                "local_agent.cli.open",
                "open the local page in your browser",
                "在浏览器中打开本地页面",
            ),
            Command(
                "playbook",
                "local_agent.cli.playbook",
                "run steps that always go the same way",
                "执行固定顺序的步骤（剧本）",
            ),
            Command(
                "runs",
                "local_agent.cli.playbook",
                "list the runs of playbooks",
                "列出剧本的执行记录",
            ),
            Command(
                "context",
                "local_agent.cli.context",
                "show what a model was shown for a task",
                "查看为任务向模型展示的内容",
            ),
            Command(
                "route",
                "local_agent.cli.route",
                "show how a request would be read, and by which rule",
                "显示一条请求会被如何理解、由哪条规则决定",
            ),
            Command(
                "check",
                "local_agent.cli.apply",
                "say whether a patch could be applied",
                "检查补丁能否应用",
            ),
        ),
    ),
    (
        Words("Care", "维护"),
        (
            Command(
                "status",
                "local_agent.cli.status",
                "how the agent of this machine is doing",
                "查看本机 Agent 的状态",
            ),
            Command(
                "doctor",
                "local_agent.cli.doctor",
                "find out what is wrong, and what mends it",
                "检查问题所在与解决办法",
            ),
            Command(
                "service",
                "local_agent.cli.service",
                "have the agent start by itself, at login and after a failure",
                "让 Agent 自动启动：登录时，以及失败后",
            ),
            Command(
                "models",
                "local_agent.cli.models",
                "list and test the models of this machine; store their keys",
                "列出并测试本机的模型；存入密钥",
            ),
            Command(
                "audit",
                "local_agent.cli.audit",
                "check the audit log of this machine",
                "检查本机的审计日志",
            ),
            Command(
                "receipt",
                "local_agent.cli.receipt",
                "prove what came of a task",
                "证明一个任务的经过与结果",
            ),
            Command(
                "passkey",
                "local_agent.cli.passkey",
                "add, list and remove the passkeys that may approve on the local page",
                "添加、列出、删除可在本地页面批准的通行密钥",
            ),
            Command(
                "rotate", "local_agent.cli.agent", "give this machine another key", "为本机更换密钥"
            ),
            Command(
                "bugreport",
                "local_agent.cli.doctor",
                "write one file for whoever helps you",
                "生成一个供协助者查看的文件",
            ),
            Command(
                "help",
                "local_agent.cli.help",
                "how-to pages, and example settings",
                "使用说明与设置示例",
            ),
            Command(
                "completion",
                "local_agent.cli.completion",
                "complete commands and options in your shell",
                "在 shell 中补全命令与选项",
            ),
        ),
    ),
)
COMMANDS = {command.name: command for _, commands in SECTIONS for command in commands}

HELP = Words(
    en="Message @dev in WeCom; confirm on your own machine; nothing runs before that.\n\n"
    "usage: codexbridge COMMAND [...]\n",
    zh="在企业微信里 @dev，在自己的开发机上确认；确认之前什么都不会运行。\n\n"
    "用法：codexbridge 命令 [...]\n",
)
_HELP_END = Words(
    en="`codexbridge COMMAND --help` says more.  --version prints the version.",
    zh="`codexbridge 命令 --help` 查看详情。--version 显示版本。",
)
_FOREIGN = Words(
    en="codexbridge: found a folder or module named “{name}” at {found} that is not part of "
    "CodexBridge and would run in its place. Start codexbridge from another folder, remove it "
    "from PYTHONPATH, or run `python -I -m codexbridge`.",
    zh="codexbridge: 在 {found} 发现名为“{name}”的文件夹或模块，它不属于 CodexBridge，"
    "却会顶替运行。请换一个文件夹启动，或将其移出 PYTHONPATH，或使用 `python -I -m codexbridge`。",
)
_MISSING = Words(
    en="codexbridge: the installation is incomplete: “{name}” is missing. Install it again.",
    zh="codexbridge: 安装不完整，缺少“{name}”。请重新安装。",
)
_UNKNOWN = Words(
    en="codexbridge: there is no command “{name}”.{hint} `codexbridge --help` lists them.",
    zh="codexbridge: 没有“{name}”这个命令。{hint}用 `codexbridge --help` 查看全部命令。",
)
_AFTER = Words(
    en="codexbridge: options come after the command: codexbridge {name} {option}",
    zh="codexbridge: 选项写在命令之后：codexbridge {name} {option}",
)
_NO_OPTION = Words(
    en="codexbridge: there is no option {option}.{hint} See `codexbridge {name} --help`.",
    zh="codexbridge: 没有 {option} 这个选项。{hint}见 `codexbridge {name} --help`。",
)
_LANGUAGE = Words(
    en=" The language is set by CODEXBRIDGE_LANG=zh or en.",
    zh="语言由环境变量 CODEXBRIDGE_LANG=zh 或 en 设置。",
)
_UNWRITTEN = Words("the output could not be written: {why}", "无法写出输出：{why}")
_MEANT = Words(en=" Did you mean “{name}”?", zh="是想用“{name}”吗？")


def main(argv: Sequence[str] | None = None) -> int:
    """Run a command line, that of the process where none is given, and return its exit code."""
    if argv is None:  # a process of its own
        gc.set_threshold(COLLECT_AFTER)
        os.umask(os.umask(0o077) | 0o022)  # what we make is never for others to change
    arguments = list(sys.argv[1:] if argv is None else argv)
    lang = system_language(os.environ)
    ours = not foreign_package(lang)
    if ours and None in (sys.stdin, sys.stdout, sys.stderr):
        importlib.import_module("common.streams").open_closed()
    for stream in (sys.stdout, sys.stderr):
        if reconfigure := getattr(stream, "reconfigure", None):
            # A terminal of another encoding shows a mark instead of ending in a traceback.
            reconfigure(errors="replace")
    if ours and any(stream and stream.isatty() for stream in (sys.stdout, sys.stderr)):
        importlib.import_module("common.prose").fold_terminals()
    try:
        code = _dispatch(arguments, lang)
        print(end="", flush=True)
    except OSError as error:
        # The interpreter must not complain at its end, too.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        if isinstance(error, BrokenPipeError):  # whoever read our output has closed it
            return EXIT_PIPE
        told = _fill(_UNWRITTEN, lang, why=error.strerror)
        return _complain(f"codexbridge: {told}", EXIT_FAILED)
    except KeyboardInterrupt:
        return EXIT_INTERRUPTED
    return code


def _dispatch(arguments: list[str], lang: Lang) -> int:
    first = arguments[0] if arguments else ""
    if first in ("", "-h", "--help"):
        print(_help(lang), end="")
        return EXIT_OK if first else EXIT_INPUT
    if first == "--version":
        print(f"codexbridge {__version__}")
        return EXIT_OK
    if refusal := foreign_package(lang):
        return _complain(refusal)
    if first not in COMMANDS:
        return _complain(_unknown(arguments, lang))
    return _run(COMMANDS[first], arguments, lang)


def foreign_package(lang: Lang) -> str | None:
    """Return why the packages that an import would find are not ours, or None.

    Nothing is imported to find out: whatever lies in the working directory must not run.
    """
    beside = os.path.dirname(os.path.realpath(__file__))  # noqa: PTH120 - pathlib costs start-up
    for name in PACKAGES:
        found = _origin(name)
        if found is None:
            return _fill(_MISSING, lang, name=name)
        ours = f"{beside}/{name}/__init__.py"
        if os.path.realpath(found) != ours:
            return _fill(_FOREIGN, lang, name=name, found=found)
    return None


def _origin(name: str) -> str | None:
    try:
        spec = importlib.util.find_spec(name)
    except ValueError:  # an already imported module that says nothing of where it came from
        return "sys.modules"
    if spec is None:
        return None
    return spec.origin or next(iter(spec.submodule_search_locations or ()), "sys.path")


def _run(command: Command, arguments: list[str], lang: Lang) -> int:
    from common.errors import CodexBridgeError

    config: os.PathLike[str] | None = None
    try:
        args = _parser(command, lang).parse_args(arguments[1:])
        args.command = command.name
        config = getattr(args, "config", None)
        return int(args.run(args, lang, os.environ))
    except SystemExit as stop:  # argparse, after --help or a usage error
        return stop.code if isinstance(stop.code, int) else EXIT_INPUT
    except CodexBridgeError as error:
        return _explain(error, command, lang, config)
    except BrokenPipeError:
        raise
    except OSError as error:
        path = error.filename or ""
        named = path or error.errno == errno.ENOSPC  # a full disk needs no path to be told
        code = _SYSTEM.get(error.errno or 0, "system") if named else "system"
        wrapped = CodexBridgeError(code, why=error.strerror or error, path=path)
        return _explain(wrapped, command, lang, config)
    except Exception as error:  # noqa: BLE001 - the top of the command line: one line, no traceback
        return _explain(CodexBridgeError(_where(error)), command, lang, config)


def new_parsers(lang: Lang) -> dict[str, argparse.ArgumentParser]:
    """Return the parser of every command; imports the modules of all."""
    return {name: _parser(command, lang) for name, command in COMMANDS.items()}


def _parser(command: Command, lang: Lang) -> argparse.ArgumentParser:
    from common.arguments import new_parser

    subparsers = new_parser("codexbridge", lang).add_subparsers()
    importlib.import_module(command.module).add_parser(subparsers, lang)
    return subparsers.choices[command.name]


def _explain(error: object, command: Command, lang: Lang, config: os.PathLike[str] | None) -> int:
    from common.arguments import with_config
    from common.errors import CodexBridgeError, ConfigError, InputError
    from common.sentences import explain

    assert isinstance(error, CodexBridgeError)  # noqa: S101 - narrows for the type checker
    table = importlib.import_module(_ERRORS[command.module.partition(".")[0]]).ERRORS
    told = with_config(explain(error, table, lang), config)
    print(f"codexbridge: {told}", file=sys.stderr)
    return EXIT_INPUT if isinstance(error, ConfigError | InputError) else EXIT_FAILED


def _where(error: Exception) -> str:
    import traceback

    *_, last = traceback.extract_tb(error.__traceback__)
    file = os.path.basename(last.filename)  # noqa: PTH119 - start-up
    return f"{type(error).__name__} {file}:{last.lineno}"


def _help(lang: Lang) -> str:
    lines = [_fill(HELP, lang)]
    for title, commands in SECTIONS:
        rows = (f"  {command.name:<12}{_fill(command, lang)}" for command in commands)
        lines += [_fill(title, lang), *rows, ""]
    return "\n".join([*lines, _fill(_HELP_END, lang), ""])


def _unknown(arguments: list[str], lang: Lang) -> str:
    import difflib

    from common.verbs import COMMANDS as VERBS

    name = arguments[0]
    command = next(filter(COMMANDS.__contains__, arguments), "")
    if name.startswith("-") and command:
        option = name.partition("=")[0][:40]
        if option in _parser(COMMANDS[command], lang).format_help().split():
            return _fill(_AFTER, lang, name=command, option=option)
        hint = _fill(_LANGUAGE, lang) if option == "--lang" else ""
        return _fill(_NO_OPTION, lang, name=command, option=option, hint=hint)
    near = difflib.get_close_matches(name, COMMANDS, n=1)
    if any(name in (verb.name, *verb.aliases) for verb in VERBS):  # a word of the chat
        near = [f'codexbridge ask "{name} …"']
    hint = _fill(_MEANT, lang, name=near[0]) if near else ""
    return _fill(_UNKNOWN, lang, name=name[:40], hint=hint)


def _complain(line: str, code: int = EXIT_INPUT) -> int:
    print(line, file=sys.stderr)
    return code


def _fill(words: Words | Command, lang: Lang, **facts: object) -> str:
    text = words.zh if lang == "zh" else words.en
    return text.format(**facts) if facts else text


def system_language(environ: Mapping[str, str]) -> Lang:
    """Return the language of the machine's user by CODEXBRIDGE_LANG, LC_ALL, LC_MESSAGES, LANG."""
    for name in ("CODEXBRIDGE_LANG", "LC_ALL", "LC_MESSAGES", "LANG"):
        if value := environ.get(name):
            return "zh" if value.lower().startswith("zh") else "en"
    return "en"


if __name__ == "__main__":
    sys.exit(main())
