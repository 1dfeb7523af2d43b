"""``codexbridge route``: how a text would be read, and by what.  Nothing is asked or kept.

The agent need not run: reading a text is pure but for the settings.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import TYPE_CHECKING, Any, Final

from common.home import find_home
from common.sentences import Lang, Sentence, say
from common.text import one_line
from common.verbs import Topic
from local_agent.cli import words
from local_agent.cli.screen import Screen, print_json, screen_for
from local_agent.settings import load_settings

if TYPE_CHECKING:
    import argparse

    from local_agent.understand.reading import Reading

ROUTE: Final = Sentence(
    en="Show how a request would be read, and by what. Nothing is asked, kept or run; "
    "the agent need not be running.",
    zh="显示一条请求会被如何理解、依据是什么。不会提出、保存或运行任何内容；Agent 无需运行。",
)
ROUTE_TEXT: Final = Sentence(
    en="the request; `@dev` in front may be left out", zh="请求内容；开头的 `@dev` 可以省略"
)
KIND: Final = Sentence(en="kind", zh="类型")
CONFIDENCE: Final = Sentence(en="confidence", zh="置信度")
RULE: Final = Sentence(en="decided by", zh="依据")
TOPIC: Final = Sentence(en="topic", zh="主题")
TASK: Final = Sentence(en="task", zh="任务")
PLAYBOOK: Final = Sentence(en="playbook", zh="剧本")
LEFT: Final = Sentence(en="left over", zh="未处理的部分")
UNSURE: Final = Sentence(
    en="Not sure what is wanted: at most a plan or an answer follows.",
    zh="没有把握：最多只会给出计划或回答。",
)
PARAMS: Final[Mapping[str, Sentence]] = {
    "files": Sentence(en="files", zh="文件"),
    "cmd": Sentence(en="command", zh="命令"),
    "question": Sentence(en="question", zh="问题"),
    "changeRequest": Sentence(en="change", zh="改动要求"),
    "query": Sentence(en="search for", zh="查找"),
}
MEANINGS: Final[Mapping[str, Sentence]] = {
    "help": Sentence(
        en="Answered with help, or with where approval happens. Nothing is approved from a chat.",
        zh="会用帮助信息或“在哪里批准”来回答。聊天中不能批准任何内容。",
    ),
    "status": Sentence(en="Answered with the state of tasks.", zh="会用任务的状态来回答。"),
    "explain": Sentence(
        en="Answered in words. Nothing is changed or run.", zh="用文字回答，不作改动，也不运行。"
    ),
    "change": Sentence(
        en="A change is proposed; it is applied only once it is approved at the machine.",
        zh="会提出一个改动；在开发机上批准之后才会应用。",
    ),
    "run": Sentence(
        en="A command is proposed; it runs only once it is approved at the machine.",
        zh="会提出一条命令；在开发机上批准之后才会运行。",
    ),
    "diagnose": Sentence(
        en="A failure is looked into; a fix is proposed at most.",
        zh="会排查故障；最多提出一个修复。",
    ),
    "search": Sentence(
        en="The workspace is searched. Nothing is changed or run.",
        zh="在工作区中查找，不作改动，也不运行。",
    ),
    "review": Sentence(
        en="What has been changed is looked through. Nothing is changed or run.",
        zh="审阅已有的改动，不作改动，也不运行。",
    ),
    "git_sync": Sentence(
        en="A commit and push is proposed; it is done only once it is approved at the machine.",
        zh="会提出提交并推送；在开发机上批准之后才会执行。",
    ),
    "playbook": Sentence(
        en="A playbook is begun. It only reads; every change and command asks at the machine.",
        zh="会开始执行剧本。它只读取内容；每个改动和命令都要在开发机上批准。",
    ),
}
LISTS_PLAYBOOKS: Final = Sentence(
    en="Answered with the playbooks of this machine.", zh="会列出本机的剧本。"
)
NO_SUCH_PLAYBOOK: Final = Sentence(
    en="There is no playbook of this name; answered with those that are alike.",
    zh="没有这个名称的剧本；会回答相近的名称。",
)
_OTHER_GIT: Final = Sentence(
    en="Refused: only commit and push together are offered. Nothing is fetched, merged or rebased, "
    "and no branch is made or switched.",
    zh="会拒绝：只提供提交并推送。不拉取、不合并、不变基，也不新建或切换分支。",
)
# Where a command says more than the kind of its task.
OF_TOPICS: Final[Mapping[Topic, Sentence]] = {
    Topic.PLAN: Sentence(
        en="It is said how it would be done. Nothing is changed or run.",
        zh="只说明做法，不作改动，也不运行。",
    ),
    Topic.APPLY: Sentence(
        en="A proposed change is asked about once more, at the machine. Nothing is approved by it.",
        zh="会在开发机上再次询问是否应用该改动；这本身不批准任何内容。",
    ),
    Topic.UNDO: Sentence(
        en="It is proposed to take a change back; it is done only once it is approved at the "
        "machine.",
        zh="会提出撤销改动；在开发机上批准之后才会执行。",
    ),
    Topic.CANCEL: Sentence(en="The task is stopped.", zh="会停止该任务。"),
    Topic.UNSUPPORTED: Sentence(
        en="Refused: nothing here does that; it says what can be done instead.",
        zh="会拒绝：这里做不了这件事；会说明可以做什么。",
    ),
    Topic.PULL: _OTHER_GIT,
    Topic.COMMIT: _OTHER_GIT,
    Topic.GATEWAY: Sentence(en="Answered by the gateway alone.", zh="只由网关回答。"),
}

_SHOWN_BYTES: Final = 400


def add_parser(subparsers: argparse._SubParsersAction[argparse.ArgumentParser], lang: Lang) -> None:
    """Declare the arguments."""
    parser = subparsers.add_parser("route", description=say(ROUTE, lang))
    parser.set_defaults(run=run)
    parser.add_argument("text", help=say(ROUTE_TEXT, lang))
    words.add_json(parser, lang)


def run(args: argparse.Namespace, lang: Lang, environ: Mapping[str, str]) -> int:
    """Show it.

    Raises:
        ConfigError: the settings cannot be read.
    """
    from local_agent.playbooks.library import Phrases
    from local_agent.understand.reader import Reader
    from local_agent.understand.triggers import Triggers

    home = find_home(environ)
    understood = load_settings(home, environ, None).nl
    reader = Reader(threshold=understood.confidence_threshold, free_text=understood.enable)
    playbooks = Phrases(home).read()
    reading = reader.read(args.text, Triggers(playbooks))
    meaning = _meaning(reading, playbooks)
    screen = screen_for(lang, environ)
    if args.json:
        print_json(_facts(reading, meaning, lang))
    else:
        _print(reading, meaning, screen)
    return 0


def _facts(reading: Reading, meaning: Sentence, lang: Lang) -> dict[str, Any]:
    intent = reading.intent
    return {
        "kind": intent.kind.value,
        "confidence": round(intent.confidence, 2),
        "rule": reading.rule,
        "likeliest": [kind.value for kind in reading.likeliest],
        "topic": reading.topic.value,
        "unsure": reading.unsure,
        "params": _params(reading),
        "task": reading.task_id,
        "playbook": _playbook(reading) or None,
        "taken": reading.taken or None,
        "left": reading.left or None,
        "meaning": say(meaning, lang),
    }


def _params(reading: Reading) -> dict[str, Any]:
    return reading.intent.params.model_dump(mode="json", by_alias=True, exclude_none=True)


def _print(reading: Reading, meaning: Sentence, screen: Screen) -> None:
    intent = reading.intent
    rows: list[tuple[Sentence, list[str]]] = [
        (KIND, [intent.kind.value]),
        (CONFIDENCE, [f"{intent.confidence:.2f}"]),
        (RULE, [reading.rule]),
    ]
    if reading.topic is not Topic.PLAIN:
        rows.append((TOPIC, [reading.topic.value]))
    if reading.task_id:
        rows.append((TASK, [reading.task_id]))
    if name := _playbook(reading):
        rows.append((PLAYBOOK, [name]))
    for name, value in _params(reading).items():
        given = value if isinstance(value, list) else [value]
        rows.append((PARAMS[name], [one_line(one, _SHOWN_BYTES) for one in given]))
    if reading.left:
        rows.append((LEFT, [one_line(reading.left, _SHOWN_BYTES)]))
    screen.fields(rows)
    screen.tell(UNSURE if reading.unsure else meaning)


def _playbook(reading: Reading) -> str:
    return reading.subject.partition(" ")[0] if reading.topic is Topic.PLAYBOOK else ""


def _meaning(reading: Reading, playbooks: Collection[str]) -> Sentence:
    if reading.topic is Topic.PLAYBOOK and not (name := _playbook(reading)):
        return LISTS_PLAYBOOKS
    if reading.topic is Topic.PLAYBOOK and name not in playbooks:
        return NO_SUCH_PLAYBOOK
    return OF_TOPICS.get(reading.topic, MEANINGS[reading.intent.kind])
