"""The sentences of ``codexbridge context``, and of what linters left in a workspace."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from common.sentences import Sentence

CONTEXT: Final = Sentence(
    en="What a model was shown of the workspace for a task: files and lines, and what was left "
    "out and why. Names, sizes and reasons; the content itself is not kept.",
    zh="为某个任务向模型展示了工作区的哪些内容：文件与行，以及略去了什么、为何略去。"
    "只有名称、大小与原因；内容本身不保存。",
)
SHOWN: Final = Sentence(
    en="Shown: {files} of at most {max_files} files, {bytes} of at most {max_bytes}, "
    "{file_bytes} a file.",
    zh="已展示：{files} 个文件（最多 {max_files} 个），{bytes}（最多 {max_bytes}，"
    "每个文件 {file_bytes}）。",
)
COLLECTED: Final = Sentence(
    en="No model was asked, so none was shown anything. Collected on this machine: {files} of at "
    "most {max_files} files, {bytes} of at most {max_bytes}, {file_bytes} a file.",
    zh="没有询问任何模型，因此没有向模型展示任何内容。仅在本机收集：{files} 个文件"
    "（最多 {max_files} 个），{bytes}（最多 {max_bytes}，每个文件 {file_bytes}）。",
)
LEFT_OUT: Final = Sentence(en="Left out:", zh="略去：")
LEFT_OUT_MORE: Final = Sentence(en="… and {count} more", zh="……另有 {count} 项")
NOTHING_SHOWN: Final = Sentence(en="Nothing of the workspace.", zh="没有展示工作区的任何内容。")
NOT_LISTED: Final = Sentence(en="Never looked at: {reasons}.", zh="从未查看：{reasons}。")
NOT_LISTED_ONE: Final = Sentence(en="{count} {reason}", zh="{reason} {count} 项")
JOINED: Final = Sentence(en=", ", zh="、")
TRUNCATED: Final = Sentence(
    en="The workspace has more files than are listed.", zh="工作区的文件多于可列出的数量。"
)
LINES: Final = Sentence(en="lines {first}-{last}", zh="第 {first}-{last} 行")
NOT_ALL: Final = Sentence(en="the rest left out", zh="其余略去")
BYTES: Final = Sentence(en="{count} B", zh="{count} B")
KINDS: Final[Mapping[str, Sentence]] = {
    "file": Sentence(en="file", zh="文件"),
    "selection": Sentence(en="selection", zh="选中内容"),
    "tree": Sentence(en="file tree", zh="文件树"),
    "git": Sentence(en="repository", zh="仓库状态"),
    "changes": Sentence(en="local change", zh="本地改动"),
    "diagnostics": Sentence(en="diagnostics", zh="诊断信息"),
}
WHYS: Final[Mapping[str, Sentence]] = {
    "named": Sentence(en="named in the request", zh="请求中提到"),
    "in-folder": Sentence(en="in a folder that the request names", zh="在请求提到的文件夹中"),
    "selection": Sentence(en="selected by you", zh="由你选中"),
    "active": Sentence(en="in front of you", zh="你正在查看"),
    "defines": Sentence(en="defines {about}", zh="定义了 {about}"),
    "mentions": Sentence(en="mentions {about}", zh="用到 {about}"),
    "spoken": Sentence(en="has a word of the request as its name", zh="名称是请求中的一个词"),
    "test-of": Sentence(en="tests of what is shown", zh="所示内容的测试"),
    "changed": Sentence(en="changed and not committed", zh="有未提交的改动"),
    "diagnostic": Sentence(en="named by a diagnostic", zh="诊断信息指向这里"),
    "printed": Sentence(en="printed by tools", zh="工具的输出"),
    "tree": Sentence(en="overview", zh="概览"),
    "state": Sentence(en="overview", zh="概览"),
}
REASONS: Final[Mapping[str, Sentence]] = {
    "over-files": Sentence(en="there were files enough", zh="文件数已满"),
    "over-bytes": Sentence(en="there was no room left", zh="大小已满"),
    "binary": Sentence(en="binary", zh="二进制"),
    "secret": Sentence(en="may never be read", zh="绝不读取"),
    "denied": Sentence(en="may never be read", zh="绝不读取"),
    "ignored": Sentence(en="ignored by git", zh="被 git 忽略"),
    "too-large": Sentence(en="too large", zh="过大"),
    "unreadable": Sentence(en="could not be read", zh="无法读取"),
    "not-regular": Sentence(en="links or devices", zh="链接或设备"),
    "not-found": Sentence(en="not found", zh="未找到"),
    "duplicate": Sentence(en="shown already", zh="已展示"),
}
DIAGNOSTICS: Final = Sentence(
    en="files in the workspace where a linter, compiler or test run leaves what it found, such as "
    "build/ruff.txt; they are read when a request is about a failure. Without a file: none",
    zh="工作区中保存检查器、编译器或测试结果的文件，例如 build/ruff.txt；"
    "请求涉及失败时会读取。不给出文件则清除",
)
DIAGNOSTICS_SET: Final = Sentence(
    en="{name}: diagnostics are read from {files}.", zh="{name}：从 {files} 读取诊断信息。"
)
DIAGNOSTICS_NONE: Final = Sentence(
    en="{name}: no file is read for diagnostics.", zh="{name}：不从任何文件读取诊断信息。"
)
