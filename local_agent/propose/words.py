"""What answers and proposals say to people, English and Chinese side by side."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from common.sentences import Sentence

NO_WORKSPACE = Sentence(
    en="This machine has no workspace yet. At the machine: "
    '`codexbridge workspace add PATH --test "COMMAND"`.',
    zh='开发机上还没有工作区。请在开发机上运行：`codexbridge workspace add 路径 --test "命令"`。',
)
NO_TEST_COMMAND = Sentence(
    en='Workspace {workspace} has no test command. Give one: `{prefix} test --cmd="…"`, or at '
    'the machine: `codexbridge workspace set {workspace} --test "COMMAND"`.',
    zh='工作区 {workspace} 未设置测试命令。请指定：`{prefix} 测试 --cmd="…"`，或在开发机上运行：'
    '`codexbridge workspace set {workspace} --test "命令"`。',
)
WHICH_COMMAND = Sentence(
    en='Which command? For example `{prefix} test --cmd="…"` or “{prefix} run npm test”. '
    "Nothing was run.",
    zh='要运行哪条命令？例如 `{prefix} 测试 --cmd="…"` 或“{prefix} 运行 npm test”。'
    "没有运行任何命令。",
)
BAD_OPTION = Sentence(
    en="“{given}” was not understood, so nothing was run. Write: "
    '`{prefix} test --cmd="pytest -q"`.',
    zh='无法理解“{given}”，因此没有运行任何命令。写法：`{prefix} 测试 --cmd="pytest -q"`。',
)
WOULD_RUN = Sentence(
    en="Run `{command}` in workspace {workspace}. A command cannot be undone.",
    zh="在工作区 {workspace} 运行 `{command}`。命令运行后无法撤销。",
)
WOULD_CHECK = Sentence(
    en="Proposed on a copy of workspace {workspace}, with the change in it: `{command}`. Nothing "
    "in the workspace changes.",
    zh="拟在工作区 {workspace} 的副本（含该改动）上运行：`{command}`。工作区本身不会有任何变化。",
)
NOT_NARROWED = Sentence(
    en="“{beyond}” is left out: how to run only part of the tests is not known here, so all of "
    'them are proposed. Or name the command: `{prefix} test --cmd="…"`.',
    zh="没有考虑“{beyond}”：这里不知道如何只运行部分测试，方案是运行全部测试。"
    '也可以指定命令：`{prefix} 测试 --cmd="…"`。',
)
# It may be another by the time that somebody approves.
REASON_TEST_COMMAND = Sentence(
    en="the workspace's test command when this was asked for", zh="提出请求时工作区设置的测试命令"
)
REASON_ASKED = Sentence(en="the command as it was asked for", zh="按请求中给出的命令")
SEARCH_WHAT = Sentence(
    en="What should be looked for? For example “{prefix} find parse_config”.",
    zh="要查找什么？例如“{prefix} 查找 parse_config”。",
)
FOUND = Sentence(
    en="“{query}”: {places} {places:place|places} in {files} {files:file|files}.",
    zh="“{query}”：在 {files} 个文件中有 {places} 处。",
)
FOUND_NOTHING = Sentence(
    en="“{query}” does not occur in the files that may be read.",
    zh="在可读取的文件中没有找到“{query}”。",
)
FOUND_ROW = Sentence(en="{path} ({count})", zh="{path}（{count}）")
MORE_FILES = Sentence(en="… and {count} more {count:file|files}", zh="…… 另有 {count} 个文件")
SEARCH_CUT = Sentence(
    en="The search stopped at its limit; there may be more.",
    zh="搜索已达上限而停止；可能还有更多。",
)
SEARCH_LARGE = Sentence(
    en="{count} {count:file|files} larger than 1 MiB {count:was|were} not searched.",
    zh="有 {count} 个超过 1 MiB 的文件未搜索。",
)
NOT_A_REPOSITORY = Sentence(
    en="Workspace {workspace} is not a git repository, so there is nothing to review.",
    zh="工作区 {workspace} 不是 git 仓库，无法审阅改动。",
)
BEGINS_ABOVE = Sentence(
    en="The repository begins in a folder above workspace {workspace}, so there is nothing to "
    "review here. Add that folder as the workspace.",
    zh="仓库从工作区 {workspace} 的上级文件夹开始，无法在此审阅改动。请把该文件夹添加为工作区。",
)
NO_CHANGES = Sentence(
    en="No local changes in {workspace} ({branch}).", zh="{workspace}（{branch}）没有本地改动。"
)
CHANGES = Sentence(
    en="Local changes in {workspace} ({branch}): {files} {files:file|files}, "
    "+{added} −{deleted} lines.",
    zh="{workspace}（{branch}）的本地改动：{files} 个文件，+{added} −{deleted} 行。",
)
CHANGES_ROW = Sentence(en="{status} {path} {amount}", zh="{status} {path} {amount}")
NO_BRANCH = Sentence(en="no branch", zh="无分支")
NOT_COUNTED = Sentence(en="(lines not counted)", zh="（未计行数）")
NO_MODEL = Sentence(
    en="No model is configured on this machine, so nothing was {verb}. To connect one, run there: "
    "codexbridge models",
    zh="开发机上未配置模型，没有{verb}任何内容。如需接入，请在那里运行：codexbridge models",
)
VERBS: Final[dict[str, Sentence]] = {
    "explain": Sentence(en="explained", zh="解释"),
    "change": Sentence(en="changed", zh="改动"),
    "plan": Sentence(en="planned", zh="规划"),
    "diagnose": Sentence(en="diagnosed", zh="诊断"),
}
WOULD_LOOK_AT = Sentence(en="A model would be shown these files:", zh="模型将会查看这些文件：")
LOOK_ROW = Sentence(en="{path} ({size})", zh="{path}（{size}）")
LOOK_ROW_CUT = Sentence(
    en="{path} (first {granted} of {size})", zh="{path}（{size} 中的前 {granted}）"
)
TESTS_FOUND = Sentence(en="Tests that look related: {paths}", zh="可能相关的测试：{paths}")
ON_BRANCH = Sentence(
    en="Branch {branch}, {changed} {changed:file|files} changed locally.",
    zh="分支 {branch}，本地已改动 {changed} 个文件。",
)
WOULD_APPLY = Sentence(
    en="Proposed in workspace {workspace}: {count} {count:file|files}, +{added} −{removed}. It can "
    "be undone.",
    zh="在工作区 {workspace} 提议改动 {count} 个文件，+{added} −{removed}。应用后可以撤销。",
)
FILE_ROW = Sentence(en="{path} +{added} −{removed}", zh="{path} +{added} −{removed}")
NO_EDITS = Sentence(
    en="Nothing was done; only answered. No change is proposed: the model {model} made no edit "
    "that may be made. It says:",
    zh="没有执行任何操作，仅作回答。没有提议改动：模型 {model} 没有可采用的修改。它的说明：",
)
ONLY_ANSWERED = Sentence(en="Nothing was done; only answered.", zh="没有执行任何操作，仅作回答。")
UNSURE_CHANGE = Sentence(
    en="Nothing was done; only answered. It was not clear what to change, so nothing was changed. "
    "To have a change proposed, ask again and name the file and what is to be different in it.",
    zh="没有执行任何操作，仅作回答。不清楚要改什么，因此没有改动。如需改动，请用一句话说明文件和内容后重新提出。",
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
WHAT = Sentence(
    en="Say what is wanted, such as: {prefix} {word} retry the login three times",
    zh="请写明需求，例如：{prefix} {word} 登录失败时重试三次",
)
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
WOULD_COMMIT = Sentence(
    en="Proposed in workspace {workspace}: commit {files} {files:file|files} (+{added} −{deleted} "
    "lines) on {branch} as “{message}”, then push to {remote}.",
    zh="拟在工作区 {workspace} 提交 {files} 个文件（+{added} −{deleted} 行）到 {branch}，"
    "说明为“{message}”，然后推送到 {remote}。",
)
WOULD_PUSH = Sentence(
    en="Proposed in workspace {workspace}: nothing has changed since the last commit, so only push "
    "{branch} to {remote} ({ahead} {ahead:commit|commits}).",
    zh="工作区 {workspace} 自上次提交后没有改动，因此拟仅将 {branch} 推送到 {remote}"
    "（{ahead} 个提交）。",
)
WITH_EARLIER = Sentence(
    en="{ahead} earlier {ahead:commit is|commits are} pushed along with it.",
    zh="此前未推送的 {ahead} 个提交会一并推送。",
)
CANNOT_BE_UNDONE = Sentence(
    en="A push cannot be undone; it is never forced.", zh="推送后无法撤销；不会强制推送。"
)
NOTHING_DONE = Sentence(
    en="Nothing was committed, nothing was pushed. {why}", zh="没有提交，也没有推送。{why}"
)
COMMIT_ALONE = Sentence(
    en="A commit alone is not offered: `{prefix} sync` commits and pushes, once it is approved at "
    "the machine.",
    zh="不提供只提交的操作：`{prefix} 同步` 会提交并推送，须先在开发机上批准。",
)
NO_PULL = Sentence(
    en="Nothing is fetched, merged or rebased from here, no branch is made or switched, and no tag "
    "or pull request is made; `{prefix} sync` commits and pushes, once it is approved at the "
    "machine.",
    zh="此处不拉取、不合并、不变基，不新建或切换分支，也不打标签、不提合并请求；"
    "`{prefix} 同步` 会提交并推送，须先在开发机上批准。",
)
# What cannot be shown whole is not committed.
NOT_SHOWN: Final[dict[str, Sentence]] = {
    "diff.too-large": Sentence(
        en="The change is too large to be shown whole. Commit it by hand.",
        zh="改动过大，无法完整显示。请手动提交。",
    ),
    "diff": Sentence(
        en="The change cannot be shown whole. Commit it by hand.",
        zh="无法完整显示此改动。请手动提交。",
    ),
    "diff.name": Sentence(
        en="A file has a name that cannot be shown safely. Commit it by hand.",
        zh="有文件的名称无法安全显示。请手动提交。",
    ),
}
UNSURE = Sentence(
    en="Not sure what you want; nothing was done. Likeliest:",
    zh="不确定你想做什么，没有执行任何操作。可能是：",
)
# What to send instead, of each kind that a message may be (`local_agent.understand.reading.Kind`).
SAY_IT: Final[Mapping[str, Sentence]] = {
    "help": Sentence(en="what I can do: `{prefix} help`", zh="了解用法：`{prefix} 帮助`"),
    "status": Sentence(
        en="how your tasks stand: `{prefix} status`", zh="查看任务进度：`{prefix} 状态`"
    ),
    "explain": Sentence(
        en="an explanation: `{prefix} how does … work?`", zh="解释：`{prefix} … 是怎么实现的？`"
    ),
    "change": Sentence(en="a change: `{prefix} patch …`", zh="改代码：`{prefix} 补丁 …`"),
    "run": Sentence(en="the tests run: `{prefix} test`", zh="运行测试：`{prefix} 测试`"),
    "diagnose": Sentence(
        en="a failure explained: `{prefix} why does … fail?`",
        zh="排查故障：`{prefix} … 为什么失败？`",
    ),
    "search": Sentence(en="something found: `{prefix} search …`", zh="查找：`{prefix} 查找 …`"),
    "review": Sentence(en="a review: `{prefix} review`", zh="审查改动：`{prefix} 审查`"),
    "git_sync": Sentence(en="commit and push: `{prefix} sync`", zh="提交并推送：`{prefix} 同步`"),
    "cancel": Sentence(
        en="a task stopped: `{prefix} cancel ID`", zh="停止任务：`{prefix} 取消 编号`"
    ),
    "undo": Sentence(
        en="a change taken back: `{prefix} undo ID`", zh="撤销改动：`{prefix} 撤销 编号`"
    ),
    "approve": Sentence(
        en="to approve: only at the machine, `codexbridge approve`",
        zh="批准：只能在开发机上运行 `codexbridge approve`",
    ),
    "output": Sentence(
        en="what the output means: `{prefix} why does … fail?`",
        zh="看看这段输出：`{prefix} … 为什么失败？`",
    ),
}
