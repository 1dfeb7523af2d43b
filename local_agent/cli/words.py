"""The sentences and arguments that several verbs share; errors are in `error_texts`."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Final

from common.sentences import Lang, Sentence, say

if TYPE_CHECKING:
    import argparse

AGENT_CONFIG: Final = Sentence(
    en="settings file instead of agent.toml in the configuration folder",
    zh="使用此设置文件，而不是配置目录中的 agent.toml",
)
TASK_ID: Final = Sentence(en="such as T-7K3F", zh="例如 T-7K3F")
JSON: Final = Sentence(en="for programs", zh="供程序使用")
SANDBOXED: Final = Sentence(en="commands sandboxed by {level}", zh="命令由 {level} 隔离")
NOT_SANDBOXED: Final = Sentence(en="commands NOT SANDBOXED", zh="命令未隔离")
IN_KEYRING: Final = Sentence(en="the system keyring", zh="系统密钥环")
IN_FILE: Final = Sentence(
    en="a file only you can read (no usable system keyring was found)",
    zh="仅你可读的文件（未找到可用的系统密钥环）",
)
KEPT: Final = Sentence(en="Nothing was changed.", zh="未作任何更改。")
NO_WORKSPACES: Final = Sentence(
    en="No workspace yet. Add one: codexbridge workspace add PATH",
    zh="还没有工作区。添加：codexbridge workspace add 路径",
)
WAITS: Final = Sentence(
    en="{task} waits for you: codexbridge approve {task}",
    zh="{task} 等待你确认：codexbridge approve {task}",
)
MACHINE: Final = Sentence(en="Machine", zh="开发机")
GATEWAY: Final = Sentence(en="Gateway", zh="网关")
TASK: Final = Sentence(en="Task", zh="任务")
ASKED_BY: Final = Sentence(en="Asked by", zh="请求者")
FILES_MORE: Final = Sentence(en="… and {count} more", zh="…… 另有 {count} 个")
NEW_FILE: Final = Sentence(
    en="write to this new file instead of standard output",
    zh="写入此新文件，而不是标准输出",
)


def add_json(parser: argparse._ActionsContainer, lang: Lang) -> None:
    """Declare the option that prints for programs."""
    parser.add_argument("--json", action="store_true", help=say(JSON, lang))


def add_config(parser: argparse.ArgumentParser, lang: Lang) -> None:
    """Declare the option that names the settings file."""
    parser.add_argument("--config", type=Path, metavar="FILE", help=say(AGENT_CONFIG, lang))


def add_task(parser: argparse.ArgumentParser, lang: Lang) -> None:
    """Declare the argument that names a task."""
    parser.add_argument("task", metavar="T-…", help=say(TASK_ID, lang))
