"""Sentences about what a model proposes (P7); like `local_agent.replies`."""

from __future__ import annotations

from common.sentences import Sentence

# --- while it works -------------------------------------------------------------------------

THINKING = Sentence(
    en="The model {model} is at work ({duration}).", zh="模型 {model} 正在处理（{duration}）。"
)

# --- what came of it ------------------------------------------------------------------------

NO_EDITS = Sentence(
    en="No change is proposed: the model {model} made no edit that may be made. It says:",
    zh="没有提议改动：模型 {model} 没有可采用的修改。它的说明：",
)
UNSURE_CHANGE = Sentence(
    en="It was not clear what to change, so nothing was changed; the model only answers. To have a "
    "change proposed, ask again and name the file and what is to be different in it.",
    zh="不清楚要改什么，因此没有改动；以下只是模型的回答。如需改动，请用一句话说明文件和内容后重新提出。",
)
MODEL_SAYS = Sentence(en="The model {model} says:", zh="模型 {model} 的说明：")
NOTHING_SAID = Sentence(en="The model {model} said nothing.", zh="模型 {model} 没有给出任何内容。")
NOT_TAKEN = Sentence(
    en="{count} {count:edit|edits} of the model {count:was|were} not taken:",
    zh="模型的 {count} 处修改未被采用：",
)
NOT_TAKEN_ROW = Sentence(en="{path}: {why}", zh="{path}：{why}")
NOT_TAKEN_CHAT = Sentence(
    en="{count} {count:edit|edits} outside of what a proposal may touch {count:was|were} left out.",
    zh="有 {count} 处超出方案范围的修改已被排除。",
)
SUGGESTED = Sentence(
    en="It would run this, which nothing has; ask for it if you want it:",
    zh="它建议运行以下命令（均未运行）；如需要请另行提出：",
)
VERSION_OF = Sentence(
    en="Version {version} of {task}. {text}", zh="这是 {task} 的第 {version} 版。{text}"
)

WHAT = Sentence(
    en="Say what is wanted, such as: {prefix} {word} retry the login three times",
    zh="请写明需求，例如：{prefix} {word} 登录失败时重试三次",
)

# --- making a proposal anew -----------------------------------------------------------------

REVISE_WHICH = Sentence(
    en="Say which proposal and what should be otherwise: {prefix} revise T-7K3F use a longer delay",
    zh="请说明修订哪个方案、如何修订：{prefix} 修订 T-7K3F 把间隔调长一些",
)
REVISE_ONE_OF = Sentence(
    en="Say which proposal, such as: {prefix} revise {task} use a longer delay\n"
    "For a new change: {prefix} patch …\nYour proposals here:",
    zh="请说明修订哪个方案，例如：{prefix} 修订 {task} 把间隔调长一些\n"
    "如需新的改动：{prefix} 补丁 …\n你在这里的方案：",
)
REVISE_ROW = Sentence(en="{task}: {what}", zh="{task}：{what}")
REVISE_TAKEN = Sentence(
    en="No proposal was named; {task} is meant, your only one here.",
    zh="未指明方案；理解为 {task}，即你在这里唯一的方案。",
)
REVISE_NOT = Sentence(
    en="{task} has no proposal of a model to revise. Ask for what you want in a new message.",
    zh="{task} 没有可修订的模型方案。请用新消息说明你的需求。",
)
REPLACED = Sentence(
    en="Replaced by {task}, its next version; nothing was applied.",
    zh="已由其下一版本 {task} 取代；没有应用任何改动。",
)

# --- applying a proposal --------------------------------------------------------------------

RESTS = Sentence(
    en="Not applied. To apply it: codexbridge apply {task}   To change it: "
    'codexbridge ask "revise {task} …"',
    zh='尚未应用。应用：codexbridge apply {task}　修订：codexbridge ask "修订 {task} …"',
)
RESTED_TOO_LONG = Sentence(
    en="Nobody applied it in {hours} {hours:hour|hours}; nothing was changed.",
    zh="{hours} 小时内无人应用；没有改动任何内容。",
)
APPLIED_ALREADY = Sentence(
    en="{task} is applied already. To take it back: {prefix} undo {task}",
    zh="{task} 已经应用。如需撤销：{prefix} 撤销 {task}",
)
REJECTED_ALREADY = Sentence(
    en="{task} was rejected at the machine. Ask for another version: {prefix} revise {task} …",
    zh="{task} 已在开发机上被拒绝。可要求另一版本：{prefix} 修订 {task} …",
)
BROUGHT_BACK = Sentence(
    en="The change of {task}, an earlier version that {newer} replaced. {text}",
    zh="这是 {task} 的改动，属于较早的版本，已由 {newer} 取代。{text}",
)
NOTHING_IN_IT = Sentence(
    en="{task} proposes no change of files, so there is nothing to apply.",
    zh="{task} 没有提议改动文件，因此没有可应用的内容。",
)
NOT_READY = Sentence(
    en="{task} is not ready yet; it will be asked at the machine when it is.",
    zh="{task} 尚未就绪；就绪后会在开发机上询问。",
)
ASKED_THERE = Sentence(
    en="Nothing is approved from the chat: {task} waits for a decision at the machine and is shown "
    "there once more. At its terminal: codexbridge approve {task}",
    zh="聊天中不能批准：{task} 正在等待开发机上的决定，已在那里再次显示。"
    "也可在其终端运行：codexbridge approve {task}",
)

# --- changes between two states -------------------------------------------------------------

RANGE_CHANGES = Sentence(
    en="Changes in {workspace}, {range}: {files} {files:file|files}, +{added} −{deleted} lines.",
    zh="{workspace} 中 {range} 的改动：{files} 个文件，+{added} −{deleted} 行。",
)
RANGE_NOTHING = Sentence(
    en="Nothing differs in {workspace}, {range}.", zh="{workspace} 中 {range} 没有差异。"
)
RANGE_STAGED = Sentence(en="staged", zh="已暂存部分")
RANGE_COMMIT = Sentence(en="commit {tip}", zh="提交 {tip}")
RANGE_LAST = Sentence(
    en="the last {count} commits, {base}..{tip}", zh="最近 {count} 个提交 {base}..{tip}"
)
RANGE_BETWEEN = Sentence(
    en="{base}..{tip}, {count} {count:commit|commits}", zh="{base}..{tip}（{count} 个提交）"
)
NO_SUCH_NAME = Sentence(
    en="“{name}” is not a branch, tag or commit of {workspace}, so nothing was looked at.",
    zh="“{name}”不是 {workspace} 的分支、标签或提交，因此没有查看任何内容。",
)
NAME_AMBIGUOUS = Sentence(
    en="“{name}” can mean more than one thing in {workspace}; say more of it. Nothing was looked "
    "at.",
    zh="“{name}”在 {workspace} 中可指多个对象，请写得更完整。没有查看任何内容。",
)
NO_MAIN_BRANCH = Sentence(
    en="No main branch was found in {workspace}; say what to compare with, for example "
    "“{prefix} review develop..HEAD”.",
    zh="在 {workspace} 中没有找到主分支；请说明与什么比较，例如“{prefix} review develop..HEAD”。",
)
NEAR_NAMES = Sentence(en="There is: {names}", zh="现有：{names}")
LINES_NOT_SHOWN = {
    "secret": Sentence(
        en="{path}: not shown, it may hold secrets", zh="{path}：可能含机密，不显示"
    ),
    "binary": Sentence(en="{path}: binary", zh="{path}：二进制文件"),
    "too-large": Sentence(en="{path}: too large to compare", zh="{path}：过大，未比较"),
    "submodule": Sentence(en="{path}: another repository", zh="{path}：子仓库"),
}

# --- searching ------------------------------------------------------------------------------

FOUND_ROW_DEFINED = Sentence(en="{path} ({count}, defined here)", zh="{path}（{count}，在此定义）")
FOUND_APART = {
    "words": Sentence(
        en="No exact match: these lines hold all of its words.",
        zh="没有完全一致的内容：以下各行包含其中所有的词。",
    ),
    "files": Sentence(
        en="No exact match: these files hold all of its words.",
        zh="没有完全一致的内容：以下文件包含其中所有的词。",
    ),
}
LOOKED_IN = Sentence(en="Looked in: {place}", zh="查找范围：{place}")
NO_SUCH_PLACE = Sentence(
    en="There is no “{place}” in the workspace, so nothing was looked for.",
    zh="工作区中没有“{place}”，因此没有查找。",
)
MORE_PLACES = Sentence(en="… and {count} more {count:place|places}", zh="…… 另有 {count} 处")

# --- commands that the project's own files name ---------------------------------------------

INFERRED = Sentence(
    en="No command was named; this one is from {file} ({what}).",
    zh="未指定命令；该命令取自 {file}（{what}）。",
)
REASON_INFERRED = Sentence(
    en="no command was named; {file} has this one ({what})",
    zh="未指定命令；取自 {file}（{what}）",
)
SEVERAL_COMMANDS = Sentence(
    en="There is more than one way to {goal} here, and none is set, so nothing was run. Say which, "
    "for example “{prefix} run {command}”:",
    zh="这里{goal}的方式不止一种，且未设置用哪一种，因此没有运行任何命令。"
    "请说明用哪一个，例如“{prefix} 运行 {command}”：",
)
COMMAND_ROW = Sentence(en="`{command}` ({file})", zh="`{command}`（{file}）")
NO_COMMAND_FOUND = Sentence(
    en="Nothing in workspace {workspace} tells how to {goal}, so nothing was run. Name the "
    "command: “{prefix} run …”.",
    zh="工作区 {workspace} 中没有说明如何{goal}，因此没有运行任何命令。"
    "请写出命令：“{prefix} 运行 …”。",
)
PART_NOT_TAKEN = Sentence(
    en="“{part}” is not taken into account: how to {goal} only there is not known here.",
    zh="没有考虑“{part}”：这里不知道如何只对它{goal}。",
)
FILE_IGNORED = {
    "too-large": Sentence(
        en="{file} was not looked at: it is too large.", zh="没有查看 {file}：文件过大。"
    ),
    "malformed": Sentence(
        en="{file} was not looked at: it cannot be parsed.", zh="没有查看 {file}：无法解析。"
    ),
    "unreadable": Sentence(
        en="{file} was not looked at: it cannot be read.", zh="没有查看 {file}：无法读取。"
    ),
    "does-not-end": Sentence(
        en="A script in {file} is not taken: it watches and does not end by itself.",
        zh="没有采用 {file} 中的脚本：它会持续监视，不会自行结束。",
    ),
}
GOALS = {
    "test": Sentence(en="run the tests", zh="运行测试"),
    "build": Sentence(en="build", zh="构建"),
    "lint": Sentence(en="lint", zh="运行静态检查"),
    "format": Sentence(en="format the code", zh="格式化代码"),
    "format-check": Sentence(en="check the formatting", zh="检查格式"),
    "typecheck": Sentence(en="check the types", zh="检查类型"),
    "check": Sentence(en="run the checks", zh="运行检查"),
}
