"""``codexbridge agent`` and ``rotate``: the agent in the foreground, and another key for it."""

from __future__ import annotations

import sys
from collections.abc import Mapping
from typing import TYPE_CHECKING, Final

from common.home import find_home
from common.sentences import Lang, Sentence, say
from common.text import one_line, reveal_all
from local_agent.cli import words
from local_agent.cli.screen import screen_for
from local_agent.faces.control.client import call
from local_agent.words import REASONS

if TYPE_CHECKING:
    import argparse
    import asyncio

    from local_agent.assembly import Agent, Ground

LINE_BYTES: Final = 300

AGENT: Final = Sentence(
    en="Run the agent of this machine in the foreground until SIGTERM or Ctrl-C.",
    zh="在前台运行本机 Agent，直到收到 SIGTERM 或按下 Ctrl-C。",
)
READY: Final = Sentence(
    en="CodexBridge agent ready on {machine}: {workspaces} {workspaces:workspace|workspaces}, "
    "{sandbox}, {model}, {gateway}.",
    zh="CodexBridge Agent 已就绪（{machine}）：{workspaces} 个工作区，{sandbox}，{model}，"
    "{gateway}。",
)
READY_MODEL: Final = Sentence(en="asks the model {name}", zh="使用模型 {name}")
READY_NO_MODEL: Final = Sentence(
    en="no model configured (`codexbridge models`)", zh="未配置模型（`codexbridge models`）"
)
READY_PAIRED: Final = Sentence(en="gateway {url}", zh="网关 {url}")
READY_UNPAIRED: Final = Sentence(
    en="not paired, so it serves this terminal only (`codexbridge pair` joins one)",
    zh="尚未配对，只服务本终端（用 `codexbridge pair` 接入网关）",
)
WAITS: Final = Sentence(
    en="{id} waits for you: {what}\n    codexbridge approve {id}",
    zh="{id} 等待你批准：{what}\n    codexbridge approve {id}",
)
ENDED: Final = Sentence(en="{id} {how}: {what}", zh="{id} {how}：{what}")
STOPPED: Final = Sentence(en="CodexBridge agent stopped.", zh="CodexBridge Agent 已停止。")
ROTATE: Final = Sentence(
    en="Give this machine another key. The agent must be running. The gateway takes the key over "
    "by itself; pairing again is not needed.",
    zh="为本机更换密钥。Agent 须正在运行。网关会自动接受新密钥，无需重新配对。",
)
ROTATED: Final = Sentence(
    en="This machine signs with the new key {key} from now on. The old one is thrown away once the "
    "gateway has the new one.",
    zh="本机从现在起使用新密钥 {key} 签名。网关接受新密钥后，旧密钥即被删除。",
)


def add_parser(subparsers: argparse._SubParsersAction[argparse.ArgumentParser], lang: Lang) -> None:
    """Declare the arguments."""
    parser = subparsers.add_parser("agent", description=say(AGENT, lang))
    parser.set_defaults(run=run_in_foreground)
    words.add_config(parser, lang)
    parser = subparsers.add_parser("rotate", description=say(ROTATE, lang))
    parser.set_defaults(run=rotate)


def run_in_foreground(args: argparse.Namespace, lang: Lang, environ: Mapping[str, str]) -> int:
    """Run until SIGTERM or Ctrl-C."""
    import asyncio
    import logging

    from common.logs import adopt_libraries, open_log
    from local_agent.app import run_agent
    from local_agent.sandbox.process import harden_self
    from local_agent.settings import load_settings, settings_file

    # Before any key is read: no core files, and no child may look into this process (R43, R61).
    harden_self()
    places = find_home(environ)
    settings = load_settings(places, environ, args.config)
    level = logging.getLevelNamesMapping()[settings.log_level.upper()]
    log = open_log("agent", level=level, json=settings.log_format == "json")
    adopt_libraries(log)
    speaking = settings.language or lang

    telling: set[asyncio.Task[None]] = set()

    def announce(agent: Agent, ground: Ground) -> None:
        print(_ready_line(ground, speaking), flush=True)
        if sys.stdout.isatty():  # a service's log says it already
            telling.add(asyncio.create_task(_tell(agent, speaking)))

    file = settings_file(places, environ, args.config)
    running = run_agent(
        settings, places, environ, file=file, log=log, lang=speaking, announce=announce
    )
    asyncio.run(running)
    print(say(STOPPED, speaking), flush=True)
    return 0


async def _tell(agent: Agent, lang: Lang) -> None:
    """Say at this terminal what waits for its person, and how that ended; until the agent stops."""
    from common.errors import CodexBridgeError
    from common.model.proposal import TaskStateChanged
    from common.model.state import FINAL, TaskState

    asked: set[str] = set()
    while True:
        try:
            with agent.bus.read() as events:
                async for told in events:
                    event = told.event
                    if not isinstance(event, TaskStateChanged):
                        continue
                    if event.state is TaskState.WAITING_APPROVAL:
                        asked.add(event.task_id)
                        await _print(agent, WAITS, event.task_id, told.said, lang)
                    elif event.state in FINAL and event.task_id in asked:
                        asked.discard(event.task_id)
                        await _print(agent, ENDED, event.task_id, told.said, lang)
            return
        except CodexBridgeError:  # too much at once, or a journal that refused: what comes next
            asked.clear()


async def _print(
    agent: Agent, sentence: Sentence, task_id: str, said: Mapping[Lang, str], lang: Lang
) -> None:
    task = await agent.db.run(agent.db.journal.tasks.get, task_id)
    what = one_line(reveal_all(said.get(lang, "").partition("\n")[0]), LINE_BYTES)
    how = say(REASONS[task.reason], lang) if task.reason else ""
    print(say(sentence, lang, id=task.short_id, how=how, what=what), flush=True)


def _ready_line(ground: Ground, lang: Lang) -> str:
    from local_agent.workspace.registry import Registry

    level = ground.sandbox.level
    sandbox = words.NOT_SANDBOXED if level == "none" else words.SANDBOXED
    pairing = ground.pairing
    gateway = say(READY_PAIRED, lang, url=pairing.url) if pairing else say(READY_UNPAIRED, lang)
    asked = ground.settings.asked_model
    return say(
        READY,
        lang,
        machine=ground.machine,
        workspaces=len(Registry(ground.places, home=ground.home).load()),
        sandbox=say(sandbox, lang, level=level),
        model=say(READY_MODEL, lang, name=asked) if asked else say(READY_NO_MODEL, lang),
        gateway=gateway,
    )


def rotate(args: argparse.Namespace, lang: Lang, environ: Mapping[str, str]) -> int:
    """Have the running agent do it.

    Raises:
        StateError: ``rotate.unpaired``, ``rotate.pending``, ``rotate.too-soon``.
        UnavailableError: ``agent.not-running``.
    """
    made = call(find_home(environ), environ, "rotate")
    screen_for(lang, environ).tell(ROTATED, key=made["key_id"])
    return 0
