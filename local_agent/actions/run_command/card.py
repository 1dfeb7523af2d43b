"""The card of a command: every argument of it, and what surrounds the run (R25).

Of a shell line the operators are named (R42).  That is advice and decides nothing, since a shell
line is high risk whatever it holds: where shells differ, or where quotes stop telling what is
quoted, too much is named rather than too little.
"""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final

from common.sentences import Sentence
from common.text import one_line
from local_agent.actions.card import SAID_BY, Card, machine_name, model_name, text, value
from local_agent.propose.words import REASON_ASKED, REASON_INFERRED, REASON_TEST_COMMAND
from local_agent.safety.risk_commands import script_at, shell_at, started
from local_agent.views.question import Fact, Lines, Named, Part, Question, Text, Value
from local_agent.words import render_size
from local_agent.workspace.survey import STAMPS

TITLE: Final = Sentence(en="Run this command on {machine}?", zh="要在 {machine} 上运行这条命令吗？")
TITLE_CHECK: Final = Sentence(
    en="Try the change of {task} out on {machine}?", zh="要在 {machine} 上先检查 {task} 的改动吗？"
)
NAMED: Final = Sentence(en="Taken from", zh="取自")
NAMED_BY: Final = Sentence(
    en="{file} ({what}); no command was named", zh="{file}（{what}）；请求未指定命令"
)
REASON: Final = Sentence(en="Reason", zh="提出理由")
COMMAND: Final = Sentence(en="Command", zh="命令")
ARGV: Final = Sentence(
    en="no shell; {count} {count:argument|arguments}, one on each line",
    zh="不经过 shell；共 {count} 个参数，每行一个",
)
ARGV_OF_SHELL: Final = Sentence(
    en="given to a shell ({shell}); {count} {count:argument|arguments}, one on each line",
    zh="交给 shell（{shell}）；共 {count} 个参数，每行一个",
)
ARGV_SHELL: Final = Sentence(
    en="a shell ({shell}) runs what is in argument {at}; {count} arguments, one on each line",
    zh="由 shell（{shell}）运行第 {at} 号参数的内容；共 {count} 个参数，每行一个",
)
SHELL: Final = Sentence(
    en="runs in a shell ({shell}); {count} {count:line|lines}, all shown",
    zh="在 shell（{shell}）中运行；共 {count} 行，全部显示",
)
OPERATORS: Final = Sentence(
    en="the shell gives these a meaning of their own: {found}",
    zh="shell 会对这些符号作特殊处理：{found}",
)
STDIN: Final = Sentence(en="Input", zh="标准输入")
STDIN_IS: Final = Sentence(
    en="what the command reads; {count} {count:line|lines}, all shown",
    zh="命令读取的内容；共 {count} 行，全部显示",
)
COPY: Final = Sentence(en="Runs on", zh="运行于")
COPY_IS: Final = Sentence(
    en="a copy of the workspace with the change of {task} in it; the copy is removed afterwards, "
    "and nothing in the workspace changes",
    zh="工作区的副本（含 {task} 的改动）；副本随后删除，工作区本身不会有任何变化",
)
PROGRAM: Final = Sentence(en="Program", zh="程序")
PROGRAM_INSIDE: Final = Sentence(
    en="lies in the workspace; SHA-256 {sha256}…", zh="位于工作区内；SHA-256 {sha256}…"
)
FOLDER: Final = Sentence(en="Folder", zh="目录")
TOP: Final = Sentence(en="the top of the workspace", zh="工作区根目录")
COMPARED: Final = Sentence(en="Files", zh="文件")
BY_STAMPS: Final = Sentence(
    en="checked before it runs: by content, but the largest, which are too large or too many, by "
    "size and time alone",
    zh="运行前会核对是否有变化：按内容核对，但其中最大的文件过大或过多，只核对大小和时间",
)
LEADS_OUT: Final = Sentence(
    en="a link that the command names leads out of the workspace, to {path}",
    zh="命令中写明的链接指向工作区之外：{path}",
)
UNCOMPARED: Final = Sentence(en="Not compared", zh="不核对")
UNCOMPARED_ARE: Final = Sentence(
    en="{names}: changes there go unnoticed, except in files that the command names",
    zh="{names}：其中的改动不会被发现，命令中写明的文件除外",
)
ENVIRONMENT: Final = Sentence(en="Environment", zh="环境变量")
NO_ENVIRONMENT: Final = Sentence(en="none", zh="无")
SANDBOX: Final = Sentence(en="Sandbox", zh="沙箱")
SANDBOXED: Final = Sentence(
    en="{level}: it can change this workspace and nothing else of yours",
    zh="{level}：只能改动此工作区，不能改动你的其他内容",
)
SANDBOXED_COPY: Final = Sentence(
    en="{level}: it can change the copy and nothing of yours",
    zh="{level}：只能改动副本，不能改动你的任何内容",
)
NOT_SANDBOXED: Final = Sentence(en="NOT SANDBOXED", zh="未隔离")
NOT_SANDBOXED_MEANS: Final = Sentence(
    en="it can do everything that you can do on this machine",
    zh="它能在本机上做你能做的一切",
)
NO_GIT: Final = Sentence(
    en="git does not work in it: its folder lies outside of the workspace; to let commands "
    "read it, run `codexbridge workspace add` again",
    zh="其中无法使用 git：git 的文件夹位于工作区之外。要让命令读取它，请重新运行 "
    "`codexbridge workspace add`",
)
NETWORK: Final = Sentence(en="Network", zh="网络")
NETWORK_ON: Final = Sentence(en="ON: it can send and receive data", zh="开放：它可以收发数据")
NETWORK_OFF: Final = Sentence(en="off", zh="关闭")
NETWORK_FREE: Final = Sentence(
    en="not restricted: nothing keeps it from sending and receiving data",
    zh="不受限制：没有任何机制阻止它收发数据",
)
LIMITS: Final = Sentence(en="Limits", zh="限制")
LIMITS_ARE: Final = Sentence(
    en="ended after {seconds} s; the log keeps {size} of each output stream",
    zh="{seconds} 秒后终止；日志为每路输出保留 {size}",
)
LIMITS_WITHOUT_SANDBOX: Final = Sentence(
    en="ended after {seconds} s, but not what it hands to others to run (systemd, cron, docker) "
    "or runs under other accounts; the log keeps {size} of each output stream",
    zh="{seconds} 秒后终止，但它交由其他服务（systemd、cron、docker）或以其他账户运行的内容"
    "不会终止；日志为每路输出保留 {size}",
)
OUTCOME_OF_COMMAND: Final = Sentence(
    en="how it ended, the exit code and the duration", zh="结果、退出码与耗时"
)
CANNOT_BE_UNDONE: Final = Sentence(
    en="What a command did CANNOT BE UNDONE.", zh="命令运行后的结果无法撤销。"
)

_DOUBLE_QUOTE_SPECIALS: Final = frozenset('"$`\\!')
_NAME_BYTES: Final = 200
_NAMES_BYTES: Final = 400
_REASON_BYTES: Final = 1_000

# What does nothing: an escaped character, a quoted word in which nothing is expanded, plain text.
_QUIET: Final = re.compile(
    r"""\\.|'[^']*'|"(?:[^"\\`$]|\\.)*"|[^\\'"|&;<>($`*?\[{~!#\n]+""", re.DOTALL
)
# In double quotes nothing but variables: the quotes still hold.
_WITH_VARIABLES: Final = re.compile(
    r'"(?:[^"\\`$]|\\.|\$(?:[A-Za-z0-9_?#@*!$-]|\{[A-Za-z0-9_]*\}|(?=["\s])))*"', re.DOTALL
)
_OPERATOR: Final = re.compile(
    r"&&|&>>?|&|\|\||\|&|\||;;&?|;&|;|<<<|<<-?|<\(|<&|<>|<|>\(|>>|>&|>\||>"
    r"|\$\(\(|\$\(|\$'|\$|`|\(|\*|\?|\[|\{|~|!|\n"
)
_NAMES: Final = {
    "$(": "$(…)",
    "$((": "$((…))",
    "$'": "$'…'",
    "`": "`…`",
    "<(": "<(…)",
    ">(": ">(…)",
    "(": "(…)",
    "[": "[…]",
    "{": "{…}",
    "<<-": "<<",
    "\n": "↵",
}
# Behind these, quotes begin anew, or are text, or mean something else in another shell.
_UNSETTLING: Final = frozenset({"$(", "`", "<(", ">(", "<<", "<<-", "$'"})


def title(question: Question) -> Text:
    """Return what is asked, in one line."""
    if copied := question.seal.payload.get("copy"):
        task = one_line(copied["short_id"], 32)
        return text(TITLE_CHECK, task=task, machine=machine_name(question))
    return text(TITLE, machine=machine_name(question))


def parts(question: Question) -> Iterator[Sequence[Part]]:
    """Give the command and how it came about, then what surrounds it."""
    payload = question.seal.payload
    yield [*_command(payload), *_input(payload), *_origin(question)]
    yield [*_surroundings(payload, question.seal.base)]


def _command(payload: Mapping[str, Any]) -> Sequence[Part]:
    if "argv" in payload:
        argv: list[str] = payload["argv"]
        shown = Lines(tuple(map(_quoted, argv)), 0)
        words = started(payload)
        shell, at = shell_at(words), script_at(words)
        if shell is None:
            note = value(text(ARGV, count=len(argv)), "quiet")
            return [Fact("command", (note,)), shown]
        if at is None:
            note = value(text(ARGV_OF_SHELL, shell=words[shell], count=len(argv)), "quiet")
            return [Fact("command", (note,)), shown]
        note = value(text(ARGV_SHELL, shell=words[shell], at=at, count=len(argv)), "danger")
        return [Fact("command", (note, *_special(argv[at]))), shown]
    script: str = payload["script"]
    lines = script.split("\n")
    note = value(text(SHELL, shell=payload["shell"], count=len(lines)), "danger")
    return [Fact("command", (note, *_special(script))), Lines(tuple(lines), 1)]


def _input(payload: Mapping[str, Any]) -> Iterator[Part]:
    if (stdin := payload.get("stdin")) is not None:
        lines = tuple(stdin.split("\n"))
        yield Fact("stdin", (value(text(STDIN_IS, count=len(lines)), "quiet"),))
        yield Lines(lines, 1)


def _special(script: str) -> list[Value]:
    found = operators(script)
    return [value(text(OPERATORS, found="  ".join(found)), "danger")] if found else []


def _origin(question: Question) -> Iterator[Part]:
    """Give which project file names it, and why it is proposed.

    Both are the agent's word and explain; neither is sealed, and nothing is decided by them.
    """
    if named := question.told.named:
        file, what = (one_line(fact, _NAME_BYTES) for fact in (named.file, named.what))
        yield Fact("named", (value(text(NAMED_BY, file=file, what=what)),))
    if reason := question.told.reason:
        said = one_line(reason.text, _REASON_BYTES)
        if reason.model is None:
            yield Fact("reason", (value(_own_reason(said, question.told.named)),))
        else:
            note = text(SAID_BY, model=model_name(reason.model))
            yield Fact("reason", (value(note, "quiet"), value(said, "quoted")))


def _own_reason(said: str, named: Named | None) -> Text | str:
    """Return a reason of ours for whoever reads it: it was written for whoever asked."""
    facts = {"file": one_line(named.file), "what": one_line(named.what)} if named else {}
    known = (REASON_TEST_COMMAND, REASON_ASKED, *([REASON_INFERRED] if named else ()))
    ours = (text(sentence, **facts) for sentence in known)
    return next((one for one in ours if said in (one.en, one.zh)), said)


def _surroundings(payload: Mapping[str, Any], base: Mapping[str, str]) -> Iterator[Part]:
    if copied := payload.get("copy"):
        said = text(COPY_IS, task=one_line(copied["short_id"], 32))
        yield Fact("copy", (value(said, "good"),))
    program = [value(payload["executable"]["path"])]
    if sha256 := payload["executable"]["sha256"]:
        program.append(value(text(PROGRAM_INSIDE, sha256=sha256[:16]), "quiet"))
    yield Fact("program", tuple(program), exact=True)
    folder = payload["cwd"]
    shown = text(TOP) if folder == "." else folder
    yield Fact("folder", (value(shown),), exact=folder != ".")
    out = [text(LEADS_OUT, path=one_line(path)) for path in base if path.startswith("/")]
    if compared := [*([text(BY_STAMPS)] if STAMPS in base else []), *out]:
        yield Fact("compared", tuple(value(one, "danger") for one in compared))
    if names := ", ".join(payload.get("uncompared", ())):
        note = text(UNCOMPARED_ARE, names=one_line(names, _NAMES_BYTES))
        yield Fact("uncompared", (value(note, "quiet"),))
    given = " ".join(payload["env_names"]) or text(NO_ENVIRONMENT)
    yield Fact("environment", (value(given),))
    yield Fact("sandbox", _sandbox(payload))
    yield Fact("network", (_network(payload),))
    limits = LIMITS_ARE if _sandboxed(payload) else LIMITS_WITHOUT_SANDBOX
    size = render_size(payload["output_cap"])
    yield Fact("limits", (value(text(limits, seconds=payload["timeout"], size=size)),))


def _sandboxed(payload: Mapping[str, Any]) -> bool:
    return bool(payload["sandbox"]["level"] != "none")


def _network(payload: Mapping[str, Any]) -> Value:
    # What is sealed is a wish to the sandbox: without one nothing keeps the network off.
    if not _sandboxed(payload):
        return value(text(NETWORK_FREE), "danger")
    if payload["network"]:
        return value(text(NETWORK_ON), "danger")
    return value(text(NETWORK_OFF))


def _sandbox(payload: Mapping[str, Any]) -> tuple[Value, ...]:
    if not _sandboxed(payload):
        loud = value(text(NOT_SANDBOXED), "alarm")
        return loud, value(text(NOT_SANDBOXED_MEANS), "danger")
    sentence = SANDBOXED_COPY if "copy" in payload else SANDBOXED
    lacks = [value(text(NO_GIT), "danger")] if payload.get("lacks") else []
    return value(text(sentence, level=payload["sandbox"]["level"]), "good"), *lacks


def _quoted(argument: str) -> str:
    """Return an argument so that its beginning and its end are unmistakable, as a shell would."""
    if "'" in argument and not set(argument) & _DOUBLE_QUOTE_SPECIALS:
        return f'"{argument}"'
    return shlex.quote(argument)


CARD: Final = Card(
    approve=Sentence(en="Approve and run", zh="批准并运行"),
    named=Sentence(en="a command", zh="命令"),
    title=title,
    parts=parts,
    labels={
        "named": NAMED,
        "reason": REASON,
        "command": COMMAND,
        "stdin": STDIN,
        "copy": COPY,
        "program": PROGRAM,
        "folder": FOLDER,
        "compared": COMPARED,
        "uncompared": UNCOMPARED,
        "environment": ENVIRONMENT,
        "sandbox": SANDBOX,
        "network": NETWORK,
        "limits": LIMITS,
    },
    undo={"no": CANNOT_BE_UNDONE},
    discloses={"outcome": OUTCOME_OF_COMMAND},
)


def operators(script: str) -> tuple[str, ...]:
    """Return the operators of a shell line, each once, in the order of their first appearance.

    Such as ``&&``, ``|``, ``;``, ``>``, ``$(…)``, `````, ``*``; ``↵`` stands for a further line.
    """
    found: dict[str, None] = {}
    at = 0
    while at < len(script):
        if quiet := _QUIET.match(script, at):
            at = quiet.end()
        elif _starts_comment(script, at):
            found["#"] = None
            end = script.find("\n", at)
            at = len(script) if end < 0 else end
        elif variables := _WITH_VARIABLES.match(script, at):
            found["$"] = None
            at = variables.end()
        elif (token := _OPERATOR.match(script, at)) and token[0] not in _UNSETTLING:
            found[_name(token[0])] = None
            at = token.end()
        elif token or script[at] != "#":
            found |= dict.fromkeys(map(_name, _OPERATOR.findall(script, at)))
            break
        else:
            at += 1  # a "#" within a word
    return tuple(found)


def _starts_comment(script: str, at: int) -> bool:
    return script[at] == "#" and (at == 0 or script[at - 1] in " \t\n;&|()<>`")


def _name(token: str) -> str:
    return _NAMES.get(token, token)
