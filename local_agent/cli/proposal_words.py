"""What the command line says about proposals of a model; both languages, like `words`."""

from __future__ import annotations

from typing import Final

from common.sentences import Sentence

ASK_AT: Final = Sentence(
    en="what you have in front of you: a file of the workspace, a line or lines of it",
    zh="你正在看的位置：工作区中的文件，可带行号或行范围",
)
RESTS: Final = Sentence(
    en="Nothing is changed yet. To apply it: codexbridge apply {task}   All of it: "
    "codexbridge diff {task}",
    zh="尚未改动任何内容。应用：codexbridge apply {task}　查看全部：codexbridge diff {task}",
)
REVISE: Final = Sentence(
    en='To have it otherwise: codexbridge ask "revise {task} …"',
    zh='如需修订：codexbridge ask "revise {task} …"',
)
REVISES: Final = Sentence(en="Version", zh="版本")
VERSION: Final = Sentence(en="{version}, after {task}", zh="第 {version} 版，上一版为 {task}")
