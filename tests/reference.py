"""Renders docs/reference*.md and docs/man from the parsers and the settings themselves.

    python -m tests.reference     (or: make reference)

`test_docs.py` compares the files with what this renders, so the reference cannot rot.
"""

from __future__ import annotations

import argparse
import json
from pathlib import Path
from typing import Any

from pydantic_core import PydanticUndefined

import codexbridge
from common.sentences import Lang, Sentence, say
from common.settings import Settings, every_leaf, is_from_file, is_secret, variable_name
from gateway.base.settings import GatewaySettings
from local_agent.cli.manual import Argument, manual, usages
from local_agent.settings import AgentSettings, ModelSettings

DOCS = Path(__file__).parent.parent / "docs"
FILES: dict[Lang, Path] = {"en": DOCS / "reference.md", "zh": DOCS / "reference.zh-CN.md"}
MANUALS: dict[Lang, Path] = {
    "en": DOCS / "man" / "codexbridge.1",
    "zh": DOCS / "man" / "zh_CN" / "codexbridge.1",
}

TITLE = Sentence(
    en="# Reference\n\n[中文](reference.zh-CN.md)", zh="# 参考\n\n[English](reference.md)"
)
INTRO = Sentence(
    en="Every command and every setting. Exit codes: 0 done, 1 failed, 2 wrong input or "
    "configuration, 3 the agent is not running (`status`), 130 interrupted.",
    zh="全部命令与设置。退出码：0 完成，1 失败，2 输入或配置有误，3 Agent 没有运行（`status`），"
    "130 被中断。",
)
COMMANDS = Sentence(en="## Commands", zh="## 命令")
SETTINGS = Sentence(en="## Settings of the {half}", zh="## {half} 的设置")
HEAD = Sentence(
    en="| setting | environment | default |\n|---|---|---|",
    zh="| 设置 | 环境变量 | 默认值 |\n|---|---|---|",
)
FILE_ONLY = Sentence(en="the file alone", zh="只能写在文件中")
SECRET = Sentence(en="secret, never in the file", zh="机密，绝不写入文件")


def render(lang: Lang) -> str:
    """Return the whole page."""
    parts = [say(TITLE, lang), say(INTRO, lang), say(COMMANDS, lang)]
    parts += [_command(name, parser) for name, parser in codexbridge.new_parsers(lang).items()]
    for model in (GatewaySettings, AgentSettings):
        parts += [say(SETTINGS, lang, half=model.half), _settings(model, lang)]
    return "\n\n".join(parts) + "\n"


def _command(name: str, parser: argparse.ArgumentParser) -> str:
    lines = [f"### codexbridge {name}"]
    for usage in usages(name, parser):
        lines += ["", f"`codexbridge {usage.words}`", ""]
        lines += [usage.about, ""] if usage.about else []
        lines += [_row(argument) for argument in usage.arguments]
    return "\n".join(lines).replace("\n\n\n", "\n\n").rstrip()


def _row(argument: Argument) -> str:
    shown = f"{argument.names} {argument.value}".rstrip()
    return f"- `{shown}`: {argument.about}".rstrip(": ")


def _settings(model: type[Settings], lang: Lang) -> str:
    rows = [say(HEAD, lang)]
    named: dict[str, Any] = {"wecom": {"apps": {"NAME": {}}}} if model is GatewaySettings else {}
    for path, field in every_leaf(model, named):
        if path == ("wecom", "apps"):
            continue
        default = say(SECRET, lang) if is_secret(field) else _default(field.default)
        where = f"`{variable_name(model, path)}`"
        if is_from_file(field):
            where = say(FILE_ONLY, lang)
        if path == ("models",):
            rows += [
                f"| `models.NAME.{name}` | {where} | {_default(inner.default)} |"
                for name, inner in ModelSettings.model_fields.items()
            ]
            continue
        rows.append(f"| `{'.'.join(path)}` | {where} | {default} |")
    return "\n".join(rows)


def _default(value: object) -> str:
    if value is None or value == "" or value is PydanticUndefined:
        return "—"
    return f"`{json.dumps(value, ensure_ascii=False)}`"


if __name__ == "__main__":
    for _lang, _path in FILES.items():
        _path.write_text(render(_lang), encoding="utf-8")
        MANUALS[_lang].parent.mkdir(parents=True, exist_ok=True)
        MANUALS[_lang].write_text(manual(_lang), encoding="utf-8")
