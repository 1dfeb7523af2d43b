"""What is wrong with a folder that a person adds or sets, or with its toolchains."""

from __future__ import annotations

from typing import Final

from common.sentences import Sentence

ERRORS: Final = {
    "workspace.file": Sentence(
        en="{file} is damaged. Move it away and add your workspaces again.",
        zh="{file} 已损坏。请移走该文件并重新添加工作区。",
    ),
    "workspace.unknown": Sentence(
        en="There is no workspace {name}. `codexbridge workspace list` lists them.",
        zh="没有工作区 {name}。用 `codexbridge workspace list` 可以列出。",
    ),
    "workspace.closed": Sentence(
        en="The workspace that {task} is about is no longer open to tasks, so nothing was done. To "
        "open it again, at the machine: codexbridge workspace add PATH",
        zh="{task} 所属的工作区已不再对任务开放，因此未作任何操作。如需重新开放，请在开发机上运行："
        "codexbridge workspace add 路径",
    ),
    "workspace.none": Sentence(
        en="No workspace yet. Add one: codexbridge workspace add PATH",
        zh="还没有工作区。添加：codexbridge workspace add 路径",
    ),
    "workspace.name": Sentence(
        en="“{name}” is not a valid workspace name: a to z, 0 to 9 and -, at most 32.",
        zh="“{name}”不能作为工作区名称：只能用 a–z、0–9 和 -，最多 32 个字符。",
    ),
    "workspace.not-a-folder": Sentence(
        en="There is no folder {path}; name another.", zh="没有文件夹 {path}，请另行指定。"
    ),
    "workspace.forbidden": Sentence(
        en="{path} cannot be a workspace: it is a system folder or holds your whole home.",
        zh="{path} 不能作为工作区：它是系统目录，或包含你的整个主目录。",
    ),
    "workspace.nested": Sentence(
        en="{path} cannot be a workspace: it holds, or lies in, CodexBridge's own folder {place}.",
        zh="{path} 不能作为工作区：它包含或位于 CodexBridge 自己的文件夹 {place}。",
    ),
    "workspace.overlaps": Sentence(
        en="{path} lies in, or holds, the workspace {name}. One command could change what is "
        "protected in the other; remove {name} first.",
        zh="{path} 位于工作区 {name} 之内或包含它。一处的命令可能改动另一处受保护的内容；"
        "请先移除 {name}。",
    ),
    "workspace.too-many": Sentence(
        en="There are {limit} workspaces already; remove one first.",
        zh="已有 {limit} 个工作区；请先移除一个。",
    ),
    "workspace.too-deep": Sentence(
        en="The workspace has folders more than {limit} deep. What is there cannot be compared "
        "with what is approved, so nothing runs in it: remove them, or have git ignore them. They "
        "are listed by `find . -mindepth {limit} -type d`.",
        zh="工作区的文件夹超过 {limit} 层，其中的内容无法与批准的内容比对，因此不会在其中运行任"
        "何命令。请删除，或让 git 忽略它们。可用 `find . -mindepth {limit} -type d` 列出。",
    ),
    "workspace.too-many-files": Sentence(
        en="The workspace has more than {limit} files and folders of its own, too many to compare "
        "with what is approved, so nothing runs in it: make a folder in it the workspace, or have "
        "git ignore what is not its own.",
        zh="工作区自己的文件和文件夹超过 {limit} 个，无法与批准的内容逐一比对，因此不会在其中运行任"
        "何命令。请把其中的某个文件夹设为工作区，或让 git 忽略不属于它的内容。",
    ),
    "workspace.too-many-repositories": Sentence(
        en="The workspace holds more than {limit} other repositories, too many to protect from "
        "what runs, so nothing runs in it: make a folder in it the workspace, or have git ignore "
        "them.",
        zh="工作区中还有超过 {limit} 个其他仓库，无法一一防止被写入，因此不会在其中运行任何命令。"
        "请把其中的某个文件夹设为工作区，或让 git 忽略它们。",
    ),
    "workspace.unreadable": Sentence(
        en="{path} in the workspace cannot be read, so nobody could tell whether it was changed, "
        "and nothing runs there. Make it readable (`chmod u+rX`), remove it, or have git ignore "
        "it.",
        zh="工作区中的 {path} 无法读取，也就无法确认其中是否有改动，因此不会在其中运行任何命令。"
        "请让它可读（`chmod u+rX`）、删除它，或让 git 忽略它。",
    ),
    "workspace.diagnostics": Sentence(
        en="At most {limit} files can be named, each by its path from the top of the workspace, "
        "and none that may never be read.",
        zh="最多可指定 {limit} 个文件，须为相对于工作区顶层的路径，且不能是绝不读取的文件。",
    ),
    "context.none": Sentence(
        en="Nothing of a workspace was collected for {task}.",
        zh="没有为 {task} 收集工作区的内容。",
    ),
    "workspace.encoding": Sentence(
        en="The encoding {name} is not supported. Supported: utf-8, gbk, gb18030, gb2312, big5, "
        "shift_jis, euc-jp, euc-kr, latin-1, cp1252 and similar ones.",
        zh="不支持编码 {name}。支持 utf-8、gbk、gb18030、gb2312、big5、shift_jis、euc-jp、euc-kr、"
        "latin-1、cp1252 等。",
    ),
    "workspace.command": Sentence(
        en="The test command is empty or longer than {limit} bytes.",
        zh="测试命令为空或超过 {limit} 字节。",
    ),
    "workspace.name-taken": Sentence(
        en="{name} is the workspace {path} already. Give this folder another name: --name NAME",
        zh="{name} 已是工作区 {path}。请为此文件夹另取名称：--name 名称",
    ),
    "workspace.test-not-found": Sentence(
        en="Nothing was added: the test command's program “{program}” is in none of the toolchains "
        "that are allowed, and not in the system. Install it, allow its toolchain (--toolchains "
        "all), or write its path, such as ./tools/run-tests or .venv/bin/python.",
        zh="没有添加：测试命令的程序“{program}”既不在已允许的工具链中，也不在系统中。请安装它、允许其"
        "工具链（--toolchains all），或写出路径，例如 ./tools/run-tests 或 .venv/bin/python。",
    ),
    "workspace.test-not-executable": Sentence(
        en="Nothing was added: the test command's “{program}” cannot be executed. If it is a "
        "script: chmod +x it, or name its interpreter first, such as: sh {program}",
        zh="没有添加：测试命令中的“{program}”不是可运行的程序。如果是脚本：请 chmod +x，"
        "或先写解释器，例如：sh {program}",
    ),
    "workspace.test-hidden": Sentence(
        en="Nothing was added: commands here could not reach the test command's program "
        "“{program}”. Allow the toolchain it belongs to (--toolchains all), or name one in the "
        "folder or the system.",
        zh="没有添加：此处的命令接触不到测试命令的程序“{program}”。请允许它所属的工具链"
        "（--toolchains all），或改用此文件夹或系统中的程序。",
    ),
    "workspace.test-unreadable": Sentence(
        en="Nothing was added: the test command is empty, too long, has a quote that does not end, "
        "or holds a control character.",
        zh="没有添加：测试命令为空、过长、引号没有闭合，或含有控制字符。",
    ),
    "workspace.variable": Sentence(
        en="{name} cannot be passed to commands.", zh="不能把 {name} 传给命令。"
    ),
    "workspace.toolchain": Sentence(
        en="No toolchain “{name}” was found for this folder. Found: {found}",
        zh="没有为此文件夹找到工具链“{name}”。已找到：{found}",
    ),
    "toolchain.missing": Sentence(
        en="The toolchain {kind} at {path} is not there any more.",
        zh="位于 {path} 的工具链 {kind} 已不存在。",
    ),
    "toolchain.too-wide": Sentence(
        en="The toolchain {kind} at {path} would open your home or CodexBridge's own files to "
        "commands; it is not allowed.",
        zh="位于 {path} 的工具链 {kind} 会让命令接触你的主目录或 CodexBridge 自己的文件，不允许。",
    ),
    "workspace.daily-reads": Sentence(
        en="--daily-reads is a number from 0 to {limit}.", zh="--daily-reads 应为 0 到 {limit}。"
    ),
    "workspace.daily-bytes": Sentence(
        en="--daily-bytes is a number from 0 to {limit}.", zh="--daily-bytes 应为 0 到 {limit}。"
    ),
}
