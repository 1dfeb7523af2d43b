"""What is wrong with a playbook, or with what one of its steps asks of a tool."""

from __future__ import annotations

from typing import Final

from common.sentences import Sentence

ERRORS: Final = {
    "playbook.no-model": Sentence(
        en="No model is set up here, so no change can be proposed. To set one up: "
        "codexbridge models",
        zh="此处没有配置模型，无法提出改动。配置方法：codexbridge models",
    ),
    "playbook.file": Sentence(en="{path} cannot be read ({why}).", zh="无法读取 {path}（{why}）。"),
    "playbook.file/name": Sentence(
        en="{path} is not a path that a step may name: it must be relative to the top of the "
        "workspace, without “..” and without .git.",
        zh="步骤不能使用路径 {path}：须相对于工作区顶层，且不含“..”和 .git。",
    ),
    "playbook.file/denied": Sentence(
        en="{path} may never be read: its name is that of a secret, or your rules deny it.",
        zh="{path} 绝不读取：名称属于密钥类文件，或被你的规则禁止。",
    ),
    "playbook.file/missing": Sentence(
        en="There is no {path} in the workspace; folders that are links are not entered.",
        zh="工作区中没有 {path}；不会进入作为链接的文件夹。",
    ),
    "playbook.file/link": Sentence(
        en="{path} is a link or cannot be opened; name the file itself.",
        zh="{path} 是链接或无法打开；请直接指定文件本身。",
    ),
    "playbook.file/not-regular": Sentence(
        en="{path} is not an ordinary file.", zh="{path} 不是普通文件。"
    ),
    "playbook.file/not-a-folder": Sentence(
        en="{path} is not a folder of this workspace that a command may start in.",
        zh="{path} 不是此工作区中可供命令启动的文件夹。",
    ),
    "playbook.file/not-text": Sentence(
        en="{path} is not text in UTF-8, so a step cannot read it.",
        zh="{path} 不是 UTF-8 文本，步骤无法读取。",
    ),
    "playbook.file/binary": Sentence(
        en="{path} holds, or would hold, bytes that are no text, so no diff can show the change. "
        "Nothing was written.",
        zh="{path} 含有（或将含有）非文本字节，无法用 diff 展示该改动。没有写入任何内容。",
    ),
    "playbook.file/too-large": Sentence(
        en="{path} has more than {limit} bytes, which is the most that a step reads.",
        zh="{path} 超过 {limit} 字节，步骤无法读取。",
    ),
    "playbook.not-unicode": Sentence(
        en="The argument {argument} of {tool} holds half of a character, which no file can.",
        zh="{tool} 的参数 {argument} 含有不完整的字符，无法写入文件。",
    ),
    "playbook.glob": Sentence(
        en="“{glob}” is not a pattern for files: it must be relative, such as src/**/*.py.",
        zh="“{glob}”不是有效的文件模式：须为相对路径，例如 src/**/*.py。",
    ),
    "playbook.too-many-files": Sentence(
        en="The workspace has more files than can be listed ({limit}), or folders too deep or too "
        "slow to read. Nothing was left out silently: the step ends here.",
        zh="工作区的文件超出可列出的数量（{limit}），或文件夹过深、读取过慢。为避免遗漏，步骤到此结束。",
    ),
    "playbook.query": Sentence(
        en="Such a text cannot be searched for: one line, 1 to {limit} bytes.",
        zh="无法搜索这样的文本：须为一行，1 到 {limit} 字节。",
    ),
    "playbook.search-cut": Sentence(
        en="The search found more than {limit} lines or took over {seconds} s. Narrow it, such as "
        "with a glob.",
        zh="搜索结果超过 {limit} 行，或用时超过 {seconds} 秒。请缩小范围，例如加上 glob。",
    ),
    "playbook.no-repository": Sentence(
        en="The workspace is not a git repository that can be read.",
        zh="此工作区不是可读取的 git 仓库。",
    ),
    "playbook.revision": Sentence(
        en="There is no single commit “{name}” here, and it is no date. Alike: {near}",
        zh="此处没有唯一的提交“{name}”，它也不是日期。相近的有：{near}",
    ),
    "playbook.history": Sentence(
        en="The history of the repository cannot be read: objects are missing or damaged.",
        zh="无法读取仓库的历史：对象缺失或已损坏。",
    ),
    "playbook.limit": Sentence(
        en="{argument} must be a number from 1 to {most}.",
        zh="{argument} 应为 1 到 {most} 的数字。",
    ),
    "playbook.too-much": Sentence(
        en="It is more than a step reads: at most {limit} {what}. Name a smaller range.",
        zh="超出步骤可读取的范围：最多 {limit} {what}。请缩小范围。",
    ),
    "playbook.output-lost": Sentence(
        en="The command ended, but its output could not be kept (is the disk full?), so the steps "
        "after it cannot have it.",
        zh="命令已结束，但无法保存其输出（磁盘是否已满？），后续步骤无法使用。",
    ),
    "playbook.tool": Sentence(
        en="The tool {tool} does not do this.", zh="工具 {tool} 不支持此用法。"
    ),
}
