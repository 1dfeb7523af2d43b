"""The settings for the local page: what is in force, where it comes from, and what each is for.

Nothing can be changed here, and no secret is among them: those are in the keystore, which is not
asked.  Blocking: the settings file is read.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final, Literal

from common.errors import CodexBridgeError
from common.home import Home
from common.redact import redact
from common.sentences import Sentence
from common.settings import Sources, leaves, load_with_sources, variable_name
from common.text import clip_bytes, one_line, reveal_all
from local_agent.safety.policy import open_workspaces, stray_policies
from local_agent.settings import AgentSettings, fields_of
from local_agent.views.settings import Problem, SettingsView, SettingView, WorkspacesView
from local_agent.workspace.registry import Registry

MAX_VALUE_BYTES: Final = 2000
_MODELS: Final = "models"
_UNKNOWN: Final = object()  # what sources say that cannot be read
_LOGIN: Final = re.compile(r"(?<=://)[^/@\s\"]*@")

# What each is for, by `SettingView.key`.
DESCRIPTIONS: Final[Mapping[str, Sentence]] = {
    "nl.enable": Sentence(
        en="Whether free text is understood; off leaves the commands of @dev help",
        zh="是否理解自然语言；关闭后只认 @dev help 中的命令",
    ),
    "nl.use_model_router": Sentence(
        en="Whether a model may be asked what kind a message is; its answer picks a kind, no more",
        zh="是否可请模型判断消息的类型；其回答只用于选择类型",
    ),
    "nl.confidence_threshold": Sentence(
        en="A message that is understood less surely than this counts as a question (0 to 1)",
        zh="理解的把握低于此值的消息按提问处理（0 到 1）",
    ),
    "model": Sentence(en="The model that is asked", zh="使用的模型"),
    "models": Sentence(en="The models that may be asked", zh="可用的模型"),
    "models.NAME.kind": Sentence(
        en="http for an OpenAI-compatible interface, codex for codex app-server, acp for another "
        "agent of the Agent Client Protocol",
        zh="http 为 OpenAI 兼容接口，codex 为 codex app-server，acp 为其他支持 Agent Client "
        "Protocol 的程序",
    ),
    "models.NAME.model": Sentence(en="The provider's name for it", zh="服务商使用的模型名称"),
    "models.NAME.base_url": Sentence(
        en="Address of the interface, up to its version", zh="接口地址，包含版本部分"
    ),
    "models.NAME.api": Sentence(
        en="Which of the two OpenAI-compatible interfaces", zh="使用哪一种 OpenAI 兼容接口"
    ),
    "models.NAME.json_mode": Sentence(
        en="How an answer in a given form is asked for", zh="要求按格式回答的方式"
    ),
    "models.NAME.effort": Sentence(
        en="How much it reasons, in the provider's words", zh="推理强度，按服务商的写法"
    ),
    "models.NAME.max_output_tokens": Sentence(
        en="Most tokens of one answer", zh="单次回答的 token 上限"
    ),
    "models.NAME.stream": Sentence(
        en="Whether an answer is received while it is written", zh="是否流式接收回答"
    ),
    "models.NAME.program": Sentence(en="The program that drives it", zh="驱动该模型的程序"),
    "models.NAME.args": Sentence(en="Arguments of that program", zh="该程序的参数"),
    "models.NAME.read_only": Sentence(
        en="Further folders that the program may read", zh="该程序可读取的其他文件夹"
    ),
    "models.NAME.key_variable": Sentence(
        en="The environment variable in which the program looks for its key",
        zh="该程序读取密钥的环境变量",
    ),
    "models.NAME.deadline_seconds": Sentence(
        en="Longest time for one whole turn, in seconds", zh="一轮对话的总时限（秒）"
    ),
    "models.NAME.idle_seconds": Sentence(
        en="Longest silence within a turn, in seconds", zh="一轮对话中无响应的时限（秒）"
    ),
    "models.NAME.price_input": Sentence(
        en="Price of a million tokens that are read, for the account alone",
        zh="每百万输入 token 的价格，仅用于统计",
    ),
    "models.NAME.price_output": Sentence(
        en="Price of a million tokens that are written, for the account alone",
        zh="每百万输出 token 的价格，仅用于统计",
    ),
    "models.NAME.currency": Sentence(en="Currency of both prices", zh="价格的货币"),
    "default_test_command": Sentence(
        en="What @dev test runs in a workspace that names no test command",
        zh="工作区未设置测试命令时 @dev test 运行的命令",
    ),
    "allow_apply_patch": Sentence(
        en="Off refuses every change to files; on, each is still asked about",
        zh="关闭则拒绝一切文件改动；开启后每次仍需批准",
    ),
    "allow_run_terminal": Sentence(
        en="Off refuses every command; on, each is still asked about",
        zh="关闭则拒绝运行一切命令；开启后每次仍需批准",
    ),
    "prefix": Sentence(en="What a message to this machine begins with", zh="发给本机的消息的前缀"),
    "approval_hours": Sentence(
        en="How many hours an approval waits for you", zh="审批等待的时长（小时）"
    ),
    "windows": Sentence(
        en="Whether approvals are shown in windows where there is a screen",
        zh="有屏幕时是否以窗口显示审批",
    ),
    "language": Sentence(
        en="Language of this machine where no request decides it; without it LANG decides",
        zh="请求未指明语言时本机使用的语言；未设置时由 LANG 决定",
    ),
    "theme": Sentence(en="Look of the approval window", zh="审批窗口的外观"),
    "log_level": Sentence(en="Least level that is logged", zh="日志的最低级别"),
    "log_format": Sentence(
        en="Form of the log: text for people, json for collectors",
        zh="日志格式：text 供人阅读，json 供采集程序使用",
    ),
}


def effective_settings(
    settings: AgentSettings, *, file: Path | None, environ: Mapping[str, str]
) -> SettingsView:
    """Return every setting with its value and its source.

    The sources are read anew: what was changed since the start is told apart from what is in force.

    Args:
        settings: In force, as read at the start.
        file: Where from; as `local_agent.settings.settings_file` gives it.
        environ: The process environment.
    """
    problem: Problem | None = None
    now: AgentSettings | None = None
    sources = Sources()
    try:
        now, sources = load_with_sources(AgentSettings, file=file, environ=environ)
    except CodexBridgeError as error:
        problem = _problem(error)
    origin = _Origin(sources, str(file))
    return SettingsView(
        file=str(file) if file else None,
        problem=problem,
        settings=tuple(_rows(settings, now, origin)),
    )


def workspaces_view(places: Home, registry: Registry) -> WorkspacesView:
    """Return the workspaces, with the policies that belong to none of them."""
    try:
        found = registry.load()
    except CodexBridgeError as error:
        return WorkspacesView(workspaces=(), stray_policies=(), problem=_problem(error))
    return WorkspacesView(
        workspaces=open_workspaces(places, found),
        stray_policies=stray_policies(places, [one.name for one in found]),
        problem=None,
    )


@dataclass(frozen=True, slots=True)
class _Origin:
    """Where values come from, and how that is called."""

    sources: Sources
    file: str

    def of(self, path: tuple[str, ...]) -> tuple[Literal["default", "file", "environment"], str]:
        found = self.sources.of(path)
        if found == "file":
            return found, self.file
        if found == "environment":
            return found, variable_name(AgentSettings, path)
        return "default", ""  # the agent has no other source


def _rows(
    settings: AgentSettings, now: AgentSettings | None, origin: _Origin
) -> Iterator[SettingView]:
    for path, _ in leaves(AgentSettings):
        if path == (_MODELS,):
            yield from _models(settings, now, origin)
            continue
        yield _row(path, ".".join(path), _at(settings, path), _at(now, path), origin)


def _models(
    settings: AgentSettings, now: AgentSettings | None, origin: _Origin
) -> Iterator[SettingView]:
    names = dict.fromkeys((*settings.models, *(now.models if now else ())))
    if not names:
        yield _row((_MODELS,), _MODELS, None, None if now else _UNKNOWN, origin)
    for name in names:
        ours, theirs = settings.models.get(name), now.models.get(name) if now else None
        kinds = [one.kind for one in (ours, theirs) if one is not None]
        for field in dict.fromkeys(field for kind in kinds for field in fields_of(kind)):
            yield _row(
                (_MODELS, name, field),
                f"{_MODELS}.NAME.{field}",
                getattr(ours, field, None),
                getattr(theirs, field, None) if now else _UNKNOWN,
                origin,
            )


def _row(
    path: tuple[str, ...], key: str, value: object, now: object, origin: _Origin
) -> SettingView:
    """Return a setting; ``now`` is what the sources say."""
    changed = now is not _UNKNOWN and now != value
    source: Literal["default", "file", "environment", "start"]
    source, where = ("start", "") if changed or now is _UNKNOWN else origin.of(path)
    return SettingView(
        name=".".join(path),
        key=key,
        value=_text(value),
        source=source,
        where=where,
        changed=changed,
        after_restart=_text(now) if changed else None,
    )


def _at(settings: AgentSettings | None, path: tuple[str, ...]) -> Any:
    if settings is None:
        return _UNKNOWN
    found: Any = settings
    for name in path:
        found = getattr(found, name)
    return found


def _text(value: object) -> str | None:
    """Return a value as the file has it, but a text without its quotes; nothing secret in it."""
    if value is None:
        return None
    is_json = isinstance(value, bool | tuple)
    text = json.dumps(value, ensure_ascii=False) if is_json else str(value)
    # A login in an address, or a key among arguments, has no place there, and is not spread.
    safe = redact(_LOGIN.sub("[redacted:login]@", text))
    return reveal_all(clip_bytes(safe, MAX_VALUE_BYTES))


def _problem(error: CodexBridgeError) -> Problem:
    """Return an error as data; one of the settings or the list never holds a value of theirs."""
    facts = {name: _fact(value) for name, value in error.facts.items()}
    return Problem(code=error.code, facts=facts)


def _fact(value: object) -> str:
    listed = ", ".join(map(str, value)) if isinstance(value, tuple | list) else str(value)
    return one_line(listed, 400)
