"""The sentences of ``codexbridge workspace``, help included."""

from __future__ import annotations

from typing import Final

from common.sentences import Sentence

WORKSPACE: Final = Sentence(
    en="The folders that tasks may work in. Only a command that runs without a sandbox can change "
    "anything of yours outside them.",
    zh="任务可以使用的文件夹。只有未隔离的命令才能改动你的其他内容。",
)
WORKSPACE_ADD: Final = Sentence(en="add a folder", zh="添加文件夹")
WORKSPACE_LIST: Final = Sentence(en="list them", zh="列出")
WORKSPACE_REMOVE: Final = Sentence(
    en="forget one; its files stay as they are", zh="移除登记；不会改动其中的文件"
)
WORKSPACE_PATH: Final = Sentence(en="the folder", zh="文件夹")
WORKSPACE_NAME: Final = Sentence(en="its name in requests", zh="在请求中使用的名称")
WORKSPACE_TEST: Final = Sentence(
    en="command that a bare `@dev test` runs here", zh="单独的 `@dev test` 在此运行的命令"
)
WORKSPACE_DEFAULT: Final = Sentence(
    en="use it where a request names none", zh="请求未指明时使用此工作区"
)
DENY: Final = Sentence(
    en="what may never be read here, beside what looks like a secret, such as 'private/**'; may "
    "be repeated",
    zh="此处绝不读取的内容（疑似机密的文件本来就不读取），例如 'private/**'；可重复给出",
)
PASS_ENV: Final = Sentence(
    en="one of your environment variables that commands are given here; may be repeated",
    zh="在此运行的命令可以得到的一个环境变量；可重复给出",
)
WORKSPACE_TOOLCHAINS: Final = Sentence(
    en="toolchains to allow without being asked: all, none, or names with commas "
    "(needed where standard input is not a terminal)",
    zh="不经询问即允许的工具链：all、none 或以逗号分隔的名称（标准输入不是终端时必须给出）",
)
ADDED: Final = Sentence(
    en="Workspace {name}: {path} ({count} {count:toolchain|toolchains} allowed).",
    zh="工作区 {name}：{path}（已允许 {count} 个工具链）。",
)
ADDED_NO_TEST: Final = Sentence(
    en="No test command was named: what the project's own files name is proposed, as high risk. "
    'To name one: codexbridge workspace set {name} --test "CMD"',
    zh="未指定测试命令：将提议项目自身文件中写明的命令，并按高风险处理。"
    '如需指定：codexbridge workspace set {name} --test "命令"',
)
WAS_KNOWN: Final = Sentence(
    en="It was there already. Changed: {changed}. Kept: {kept}.",
    zh="它原已登记。已更改：{changed}。保持不变：{kept}。",
)
NOTHING: Final = Sentence(en="nothing", zh="无")
AND: Final = Sentence(en="; ", zh="；")
PARTS: Final = {
    "path": Sentence(en="folder {value}", zh="文件夹 {value}"),
    "test_command": Sentence(en="test command `{value}`", zh="测试命令 `{value}`"),
    "toolchains": Sentence(en="toolchains {value}", zh="工具链 {value}"),
    "pass_env": Sentence(en="variables {value}", zh="环境变量 {value}"),
    "deny": Sentence(en="never read {value}", zh="绝不读取 {value}"),
    "default": Sentence(en="used where a request names none", zh="请求未指明时使用"),
}
TEST_LOST: Final = Sentence(
    en="The test command kept, `{command}`, could not start here now. Set another one with "
    "--test, or allow its toolchain with --toolchains.",
    zh="保留的测试命令 `{command}` 目前无法在此启动。请用 --test 另设，或用 --toolchains "
    "允许其工具链。",
)
NOTHING_ADDED: Final = Sentence(en="Nothing was added or changed.", zh="没有添加或更改任何内容。")
YES_OR_NO: Final = Sentence(
    en="  Please answer y or n; Enter alone is no.", zh="  请回答 y 或 n；直接回车表示否。"
)
REMOVED: Final = Sentence(en="Workspace {name} is forgotten.", zh="工作区 {name} 已移除登记。")
TOOLCHAINS_FOUND: Final = Sentence(
    en="Where the sandbox works, commands here see this folder and the system. If you allow these "
    "toolchains, their programs are on the PATH and what lies outside this folder can be read:",
    zh="沙箱可用时，此处的命令只能看到本文件夹和系统。允许以下工具链后，其程序会加入 PATH，"
    "位于本文件夹之外的部分可以读取：",
)
TOOLCHAIN_ASK: Final = Sentence(
    en="  allow {kind} at {path}? [y/N] ", zh="  允许位于 {path} 的 {kind}？[y/N] "
)
GIT_ASK: Final = Sentence(
    en="  let commands read git's folder {path}, which lies outside? [y/N] ",
    zh="  允许命令读取位于外部的 git 文件夹 {path}？[y/N] ",
)
NO_GIT: Final = Sentence(
    en="{name}: git does not work in the sandbox, as its folder {path} lies outside of the "
    "workspace. To let commands read it: codexbridge workspace add {workspace}",
    zh="{name}：git 的文件夹 {path} 位于工作区之外，因此 git 在沙箱中不可用。"
    "要让命令读取它：codexbridge workspace add {workspace}",
)
TOOLCHAINS_SKIPPED: Final = Sentence(
    en="{count} {count:toolchain|toolchains} found and not allowed, as nobody could be asked: "
    "{kinds}. "
    "Add the workspace again with --toolchains all|none|NAMES.",
    zh="发现 {count} 个工具链，因无法询问而未允许：{kinds}。"
    "请用 --toolchains all|none|名称 重新添加。",
)
IS_DEFAULT: Final = Sentence(en="default", zh="默认")
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
ENCODING: Final = Sentence(
    en="encoding of the files here that are not UTF-8 and declare none, such as gbk; utf-8: none",
    zh="此处既非 UTF-8 又未声明编码的文件所用的编码，例如 gbk；utf-8 表示取消",
)
ENCODING_SET: Final = Sentence(
    en="{name}: files that declare nothing else are read and changed as {encoding} where they are "
    "text in it, else as UTF-8.",
    zh="{name}：未另行声明的文件，凡是 {encoding} 文本的按 {encoding} 读取和修改，其余按 UTF-8。",
)
_NOT_TEXT: Final = Sentence(
    en="{count} {count:file is|files are} neither UTF-8 nor in a declared encoding, such as {path}"
    ". No model may change such a file.",
    zh="{count} 个文件既不是 UTF-8，也未声明编码，例如 {path}。模型不能修改这样的文件。",
)
ENCODING_WANTED: Final = Sentence(
    en=f"{_NOT_TEXT.en} To name the encoding: codexbridge workspace set {{name}} --encoding gbk",
    zh=f"{_NOT_TEXT.zh}如需指明编码：codexbridge workspace set {{name}} --encoding gbk",
)
ENCODING_ASK: Final = Sentence(
    en=f"{_NOT_TEXT.en} Which encoding is it (gbk, gb18030, big5, …)? Enter alone: not known. ",
    zh=f"{_NOT_TEXT.zh}是哪种编码（gbk、gb18030、big5……）？直接回车：不清楚。",
)
BEGINS_ABOVE: Final = Sentence(
    en="The repository begins above this folder, in {path}, which commands here do not see: "
    "there is no review, commit or push, and no git in tests. If you need them, add {path}.",
    zh="仓库从上级文件夹 {path} 开始，此处的命令看不到它：不能审阅、提交和推送，"
    "测试中也没有 git。"
    "如果需要，请改为添加 {path}。",
)
WORKSPACE_SET: Final = Sentence(
    en="Set the test command of a workspace, what the chat may be told of it, and how much a day. "
    "It is set here alone: no message can.",
    zh="设置工作区的测试命令、聊天可以得知的内容，以及每天的数量。只能在此设置，任何消息都不能更改。",
)
DISCLOSURE: Final = Sentence(
    en="what answers to the chat may hold. summary: without recognised secrets, one message long, "
    "at most 20 lines of a file in a row; ask: nothing until you have released it here; full: "
    "without recognised secrets, three messages long",
    zh="发到聊天的回答可含的内容。summary：去除已识别的机密，一条消息以内，最多连续 20 行文件原文；"
    "ask：须先由你在此同意；full：去除已识别的机密，三条消息以内",
)
DAILY_READS: Final = Sentence(
    en="questions from the chat that are answered each member a day; 50 unless set. All members "
    "together: ten times as many",
    zh="每天回答每位成员的提问次数；未设置时为 50。所有成员合计为其十倍",
)
DAILY_BYTES: Final = Sentence(
    en="bytes that those answers may have together; 100000 unless set. All members together: ten "
    "times as many",
    zh="这些回答合计的字节数；未设置时为 100000。所有成员合计为其十倍",
)
TEST_SET: Final = Sentence(
    en="{name}: a bare `@dev test` runs `{command}` from now on.",
    zh="{name}：今后单独的 `@dev test` 运行 `{command}`。",
)
IS_SET: Final = Sentence(
    en="{name}: the chat may be told {level}; at most {reads} answers and {size} a day to each "
    "member. It counts from the next answer on.",
    zh="{name}：聊天可得知{level}；每位成员每天最多 {reads} 次回答、共 {size}。"
    "自下一个回答起生效。",
)
FULL_MEANS: Final = Sentence(
    en="Whoever is on the allow-list, and whoever controls the gateway, can now read any file of "
    "it that is no secret by name, part by part. To take that back: --disclosure summary",
    zh="从现在起，允许名单上的成员以及控制网关的人，都可以逐段读取其中名称不像机密的任何文件。"
    "收回：--disclosure summary",
)
