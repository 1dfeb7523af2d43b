"""What is wrong with a playbook, with what a step asks of a tool, or with a run."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from common.sentences import Sentence

# The beginning is one word for word in every language: other programs look for it.
_FAILED: Final = "TaskParseError: Failed to parse {path}: "

# Each names its line where it has one, and its key as `steps › build › args › path`.
REASONS: Final[Mapping[str, Sentence]] = {
    "too-large": Sentence(en="it has more than {limit} bytes", zh="文件超过 {limit} 字节"),
    "not-utf-8": Sentence(
        en="line {line}: it is not UTF-8 text; save it as UTF-8",
        zh="第 {line} 行：不是 UTF-8 文本，请以 UTF-8 保存",
    ),
    "empty-file": Sentence(en="the file is empty", zh="文件是空的"),
    "no-front-matter": Sentence(
        en="line 1 must be --- and begin the front matter; a second --- ends it",
        zh="第 1 行必须是 ---，表示 front matter 开始；再写一行 --- 表示结束",
    ),
    "open-front-matter": Sentence(
        en="the front matter has no end: a second line --- is missing",
        zh="front matter 没有结束：缺少第二行 ---",
    ),
    "empty-front-matter": Sentence(
        en="there is nothing between the two lines ---; name and steps are needed",
        zh="两行 --- 之间没有内容；至少要有 name 和 steps",
    ),
    "not-a-mapping": Sentence(
        en="the front matter must consist of keys with values, such as name: weekly-report",
        zh="front matter 必须由键和值组成，例如 name: weekly-report",
    ),
    "character": Sentence(
        en="line {line}: the character {given} is not allowed; remove it, or write it as an escape "
        "in double quotes",
        zh="第 {line} 行：不允许出现字符 {given}；请删除，或在双引号中用转义写出",
    ),
    "yaml": Sentence(
        en="line {line}: this is not valid YAML ({problem})",
        zh="第 {line} 行：不是有效的 YAML（{problem}）",
    ),
    "documents": Sentence(
        en="line {line}: only one YAML document is allowed, without directives",
        zh="第 {line} 行：只允许一个 YAML 文档，且不能有指令",
    ),
    "tag": Sentence(
        en="line {line}: YAML tags such as {given} are not allowed; a text that begins with ! "
        "needs quotes",
        zh="第 {line} 行：不允许 YAML 标签（{given}）；以 ! 开头的文本要加引号",
    ),
    "reference": Sentence(
        en="line {line}: YAML anchors and aliases such as {given} are not allowed; a text that "
        "begins with & or * needs quotes",
        zh="第 {line} 行：不允许 YAML 锚点和别名（{given}）；以 & 或 * 开头的文本要加引号",
    ),
    "key": Sentence(
        en="line {line}: a key must be plain text", zh="第 {line} 行：键必须是普通文本"
    ),
    "repeated-key": Sentence(
        en="line {line}: the key “{key}” is there already; each may be there once",
        zh="第 {line} 行：键“{key}”重复，只能出现一次",
    ),
    "too-deep": Sentence(
        en="line {line}: nested more than {limit} deep",
        zh="第 {line} 行：嵌套超过 {limit} 层",
    ),
    "too-many-nodes": Sentence(
        en="line {line}: there are more than {limit} keys and values",
        zh="第 {line} 行：键和值超过 {limit} 个",
    ),
    "number": Sentence(
        en="line {line}: the number {given} is too large; if it is meant as text, quote it",
        zh="第 {line} 行：数字 {given} 过大；如果是文本，请加引号",
    ),
    "unknown-key": Sentence(
        en="line {line}: unknown key “{key}”; known there: {known}",
        zh="第 {line} 行：未知的键“{key}”；此处可用：{known}",
    ),
    "missing-key": Sentence(
        en="line {line}: the key “{key}” is missing", zh="第 {line} 行：缺少键“{key}”"
    ),
    "not-for-type": Sentence(
        en="line {line}: “{key}”: a step of type {type} cannot have this key",
        zh="第 {line} 行：“{key}”：{type} 类型的步骤不能有这个键",
    ),
    "type-text": Sentence(
        en="line {line}: “{key}” must be text, not {given}; quote it",
        zh="第 {line} 行：“{key}”必须是文本，而不是 {given}；请加引号",
    ),
    "type-list": Sentence(
        en="line {line}: “{key}” must be a list, each item on a line of its own behind “- ”",
        zh="第 {line} 行：“{key}”必须是列表，每项单独一行，以“- ”开头",
    ),
    "type-mapping": Sentence(
        en="line {line}: “{key}” must consist of keys with values",
        zh="第 {line} 行：“{key}”必须由键和值组成",
    ),
    "type-paths": Sentence(
        en="line {line}: “{key}” must be a path, such as build.result, or a path for each argument",
        zh="第 {line} 行：“{key}”必须是路径（例如 build.result），或为每个参数写一个路径",
    ),
    "empty": Sentence(
        en="line {line}: “{key}” must not be empty", zh="第 {line} 行：“{key}”不能为空"
    ),
    "too-long": Sentence(
        en="line {line}: “{key}” is too long: at most {limit} characters",
        zh="第 {line} 行：“{key}”过长，最多 {limit} 个字符",
    ),
    "too-many": Sentence(
        en="line {line}: “{key}” has too many items: at most {limit}",
        zh="第 {line} 行：“{key}”的条目过多，最多 {limit} 个",
    ),
    "label": Sentence(
        en="line {line}: “{key}” must be one line without blanks at its ends or hidden characters, "
        "not “{given}”",
        zh="第 {line} 行：“{key}”必须是一行文本，首尾没有空格，也没有隐藏字符，而不是“{given}”",
    ),
    "identifier": Sentence(
        en="line {line}: “{key}” can have letters, digits, _, . and - alone, not “{given}”",
        zh="第 {line} 行：“{key}”只能用英文字母、数字、_、. 和 -，而不是“{given}”",
    ),
    "choice": Sentence(
        en="line {line}: “{key}” cannot be “{given}”; it can be {known}",
        zh="第 {line} 行：“{key}”不能是“{given}”，可选：{known}",
    ),
    "no-input": Sentence(
        en="line {line}: “{key}” is no input: a name has lower-case letters, digits and _, letters "
        "first; only the type choice has choices, and needs them; a default must be of the type; "
        "there are at most {limit} inputs",
        zh="第 {line} 行：“{key}”不是有效的输入：名称只能用小写字母、数字和 _，并以字母开头；"
        "choice 类型须有 choices，其他类型不能有；默认值须符合类型；输入最多 {limit} 个",
    ),
    "repeated-step": Sentence(
        en="line {line}: there is a step “{step}” already; each needs a name of its own",
        zh="第 {line} 行：已有步骤“{step}”，每个步骤的名称不能重复",
    ),
    "no-prompt": Sentence(
        en="line {line}: “{key}”: an agent step needs a message_template or a description",
        zh="第 {line} 行：“{key}”：agent 步骤需要 message_template 或 description",
    ),
    "condition": Sentence(
        en="line {line}: “{key}” is “{given}”; it must be PATH, PATH == VALUE or PATH != VALUE, "
        "such as test.result.exit_code == 0",
        zh="第 {line} 行：“{key}”是“{given}”；只能写成“路径”、“路径 == 值”或“路径 != 值”，"
        "例如 test.result.exit_code == 0",
    ),
    "path": Sentence(
        en="line {line}: “{key}” is “{given}”; a path looks like build.result.files.0",
        zh="第 {line} 行：“{key}”是“{given}”；路径形如 build.result.files.0",
    ),
    "unknown-step": Sentence(
        en="line {line}: “{key}” is {given}, but there is no step “{step}”",
        zh="第 {line} 行：“{key}”是 {given}，但没有步骤“{step}”",
    ),
    "own-step": Sentence(
        en="line {line}: “{key}” is {given}, the result of this step itself; name an earlier step",
        zh="第 {line} 行：“{key}”是 {given}，即本步骤自己的结果；只能引用更早的步骤",
    ),
    "later-step": Sentence(
        en="line {line}: “{key}” is {given}, but the step “{step}” comes later",
        zh="第 {line} 行：“{key}”是 {given}，但步骤“{step}”在后面",
    ),
    "argument-unknown": Sentence(
        en="line {line}: “{key}”: {tool} has no such argument; it has {known}",
        zh="第 {line} 行：“{key}”：{tool} 没有这个参数；可用：{known}",
    ),
    "argument-missing": Sentence(
        en="line {line}: “{key}” is missing: {tool} needs it, in args or args_from",
        zh="第 {line} 行：缺少“{key}”：{tool} 需要它，请写在 args 或 args_from 中",
    ),
    "argument-text": Sentence(
        en="line {line}: “{key}”: {tool} needs text there; quote numbers, true, false and null",
        zh="第 {line} 行：“{key}”：{tool} 需要文本；数字、true、false 和 null 要加引号",
    ),
    "argument-integer": Sentence(
        en="line {line}: “{key}”: {tool} needs a whole number there",
        zh="第 {line} 行：“{key}”：{tool} 需要整数",
    ),
    "argument-number": Sentence(
        en="line {line}: “{key}”: {tool} needs a number there",
        zh="第 {line} 行：“{key}”：{tool} 需要数字",
    ),
    "argument-texts": Sentence(
        en='line {line}: “{key}”: {tool} needs a list of text there, such as ["make", "test"]',
        zh='第 {line} 行：“{key}”：{tool} 需要文本列表，例如 ["make", "test"]',
    ),
    "no-hook": Sentence(
        en="line {line}: “{key}”: there is no file hooks/{name}.md beside the playbook",
        zh="第 {line} 行：“{key}”：剧本旁边没有文件 hooks/{name}.md",
    ),
    "hook-has-hooks": Sentence(
        en="line {line}: a hook cannot have hooks of its own",
        zh="第 {line} 行：钩子不能再有自己的钩子",
    ),
    "hook-step": Sentence(
        en="line {line}: step “{step}” is of type {type}; a hook can have tool steps alone",
        zh="第 {line} 行：步骤“{step}”的类型是 {type}；钩子只能有 tool 步骤",
    ),
    "other-name": Sentence(
        en="its name is “{given}”, but the file is called {name}.md; make them the same",
        zh="它的 name 是“{given}”，而文件名是 {name}.md；两者必须一致",
    ),
}
ERRORS: Final[Mapping[str, Sentence]] = {
    **{
        f"playbook.parse/{why}": Sentence(en=_FAILED + reason.en, zh=_FAILED + reason.zh)
        for why, reason in REASONS.items()
    },
    "playbook.parse": Sentence(en=_FAILED + "it cannot be read", zh=_FAILED + "无法读取"),
    "playbook.argument": Sentence(
        en="{tool} was not called: its argument “{argument}” is not right.",
        zh="没有调用 {tool}：参数“{argument}”不正确。",
    ),
    "playbook.argument/unknown": Sentence(
        en="{tool} was not called: it has no argument “{argument}”.",
        zh="没有调用 {tool}：它没有参数“{argument}”。",
    ),
    "playbook.argument/missing": Sentence(
        en="{tool} was not called: its argument “{argument}” is missing.",
        zh="没有调用 {tool}：缺少参数“{argument}”。",
    ),
    "playbook.argument/text": Sentence(
        en="{tool} was not called: its argument “{argument}” must be text.",
        zh="没有调用 {tool}：参数“{argument}”必须是文本。",
    ),
    "playbook.argument/integer": Sentence(
        en="{tool} was not called: its argument “{argument}” must be a whole number.",
        zh="没有调用 {tool}：参数“{argument}”必须是整数。",
    ),
    "playbook.argument/number": Sentence(
        en="{tool} was not called: its argument “{argument}” must be a number.",
        zh="没有调用 {tool}：参数“{argument}”必须是数字。",
    ),
    "playbook.argument/texts": Sentence(
        en="{tool} was not called: its argument “{argument}” must be a list of text.",
        zh="没有调用 {tool}：参数“{argument}”必须是文本列表。",
    ),
    "playbook.path": Sentence(
        en="“{given}” is not a path; one looks like build.result.files.0",
        zh="“{given}”不是路径；路径形如 build.result.files.0",
    ),
    "playbook.condition": Sentence(
        en="“{given}” is not a condition; one looks like test.result.exit_code == 0",
        zh="“{given}”不是条件；条件形如 test.result.exit_code == 0",
    ),
    "playbook.missing-value": Sentence(
        en="There is no value under {path}: the step was skipped, or its result has no such part. "
        "The tool was not called.",
        zh="{path} 没有值：该步骤已跳过，或结果中没有这一部分。没有调用工具。",
    ),
    "playbook.not-an-object": Sentence(
        en="{path} is no object whose keys could be arguments. The tool was not called.",
        zh="{path} 不是对象，无法作为参数使用。没有调用工具。",
    ),
    "playbook.name": Sentence(
        en="“{given}” is not a name of a playbook: letters, digits, _, . and -, at most 64.",
        zh="“{given}”不能作为剧本名称：只能用英文字母、数字、_、. 和 -，最多 64 个字符。",
    ),
    "playbook.unknown": Sentence(
        en="There is no playbook {name}. `codexbridge playbook list` lists them.",
        zh="没有剧本 {name}。用 `codexbridge playbook list` 可以列出。",
    ),
    "playbook.unknown/near": Sentence(
        en="There is no playbook {name}. Alike: {near}. `codexbridge playbook list` lists all.",
        zh="没有剧本 {name}。相近的有：{near}。用 `codexbridge playbook list` 可以列出全部。",
    ),
    "playbook.not-a-file": Sentence(
        en="{path} is not an ordinary file, so it is not read.",
        zh="{path} 不是普通文件，因此不会读取。",
    ),
    "playbook.not-private": Sentence(
        en="Others can change {path}, or it is not yours, so it is not read. Run: "
        "chmod go-w {path}",
        zh="其他人可以修改 {path}，或它不属于你，因此不会读取。请运行：chmod go-w {path}",
    ),
    "playbook.unreadable": Sentence(
        en="{path} cannot be read ({why}).", zh="无法读取 {path}（{why}）。"
    ),
    "playbook.needs-model": Sentence(
        en="{name} asks a model in step {step}, and none is set up here. Nothing was begun. To set "
        "one up: codexbridge models",
        zh="{name} 在第 {step} 步需要模型，而此处没有配置模型。没有开始执行。"
        "配置方法：codexbridge models",
    ),
    "playbook.no-model": Sentence(
        en="No model is set up here, so this step cannot be done. To set one up: "
        "codexbridge models",
        zh="此处没有配置模型，无法执行此步骤。配置方法：codexbridge models",
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
    "playbook.input/unknown": Sentence(
        en="The playbook has no input {input}; it has: {wanted}. Nothing ran.",
        zh="剧本没有输入 {input}；现有：{wanted}。没有执行任何操作。",
    ),
    "playbook.input/missing": Sentence(
        en="The playbook needs {input} ({wanted}): write {input}=VALUE behind its name, at the "
        "terminal --input {input}=VALUE. Nothing ran.",
        zh="剧本需要 {input}（{wanted}）：在剧本名称后写 {input}=值，在终端用 --input {input}=值。"
        "没有执行任何操作。",
    ),
    "playbook.input": Sentence(
        en="{input} cannot have this value ({wanted}). Nothing ran.",
        zh="{input} 不能是这个值（{wanted}）。没有执行任何操作。",
    ),
    "playbook.no-test": Sentence(
        en="The workspace {workspace} has no test command. Set it: codexbridge workspace set",
        zh="工作区 {workspace} 没有测试命令。设置方法：codexbridge workspace set",
    ),
    "playbook.too-long": Sentence(
        en="{argument} is too long: at most {limit} bytes.",
        zh="{argument} 过长，最多 {limit} 字节。",
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
    "playbook.no-file": Sentence(
        en="{path} cannot be read: {why}. Nothing was run.",
        zh="无法读取 {path}：{why}。没有执行任何操作。",
    ),
    "playbook.exists": Sentence(
        en="{path} is there already, and is left as it is. Take another name.",
        zh="{path} 已存在，保持不变。请换一个名称。",
    ),
    "playbook.client": Sentence(
        en="“{given}” cannot be a client: letters, digits, _, . and -, at most 64, and not a dot "
        "first.",
        zh="“{given}”不能作为 client：只能用英文字母、数字、_、. 和 -，最多 64 个字符，"
        "且不能以点开头。",
    ),
    "playbook.timeout": Sentence(
        en="“{given}” is no time for a question to wait: over 0 and at most {limit} seconds.",
        zh="“{given}”不能作为问题的等待时间：须大于 0 秒，最多 {limit} 秒。",
    ),
    "playbook.answers": Sentence(
        en="The answers cannot be taken. Nothing was run.", zh="答案文件不可用。没有执行任何操作。"
    ),
    "playbook.answers/json": Sentence(
        en="The answers are not valid JSON, in UTF-8 and with each key once. Nothing was run.",
        zh="答案文件不是有效的 JSON（须为 UTF-8，键不能重复）。没有执行任何操作。",
    ),
    "playbook.answers/too-large": Sentence(
        en="The answers have more than {limit} bytes. Nothing was run.",
        zh="答案文件超过 {limit} 字节。没有执行任何操作。",
    ),
    "playbook.answers/too-many": Sentence(
        en="There are more than {limit} answers. Nothing was run.",
        zh="答案超过 {limit} 条。没有执行任何操作。",
    ),
    "playbook.answers/shape": Sentence(
        en="The answers must be a list, of one object for each answer. Nothing was run.",
        zh="答案必须是列表，每条答案是一个对象。没有执行任何操作。",
    ),
    "playbook.answers/entry": Sentence(
        en='Answer {number} is not as it must be: an object with "step", a name or "*", and '
        '"decision", which is "approve" or "deny", and nothing else. Nothing was run.',
        zh='第 {number} 条答案的格式不对：须是只含 "step"（步骤名或 "*"）和 "decision"'
        '（"approve" 或 "deny"）的对象。没有执行任何操作。',
    ),
    "playbook.answers/repeated": Sentence(
        en='Only one answer can be for "*". Nothing was run.',
        zh='"*" 只能有一条答案。没有执行任何操作。',
    ),
    "playbook.answers-not-dry": Sentence(
        en="Answers from a file are for dry runs alone: only a person approves a real change. "
        "Nothing was run. Try it out: --dry-run",
        zh="答案文件只用于试运行：真正的改动只能由人批准。没有执行任何操作。试运行请加 --dry-run",
    ),
    "undo.dry-run": Sentence(
        en="{task} changed nothing but the copy of a dry run, so there is nothing to take back in "
        "the workspace.",
        zh="{task} 只改动了试运行的副本，工作区没有需要撤销的内容。",
    ),
}
