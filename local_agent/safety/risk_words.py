"""Why something is risky or refused, by the code that `local_agent.safety` gives; one short phrase.

They are read in a list, below "Why" at the machine and after "High risk:" in the chat, so none of
them tells a path, a name or a number of the case.
"""

from __future__ import annotations

from typing import Final

from common.sentences import Sentence

_ANY: Final = {
    "unknown-action": Sentence(en="unknown kind of action", zh="未知的操作类型"),
    "control-character": Sentence(
        en="contains control or direction-changing characters",
        zh="含有控制字符或改变文字方向的字符",
    ),
    "outside-workspace": Sentence(en="leads out of the workspace", zh="指向工作区之外"),
    "hidden-characters": Sentence(en="contains hidden characters", zh="含有不可见字符"),
    "network": Sentence(en="can reach the network", zh="可以访问网络"),
    "publishes": Sentence(
        en="publishes something, which cannot be called back", zh="会向外发布内容，无法收回"
    ),
}
_COMMAND: Final = {
    "too-long": Sentence(en="longer than 20,000 bytes", zh="超过 20000 字节"),
    "empty-program": Sentence(en="names no program", zh="没有指定程序"),
    "unknown-sandbox": Sentence(en="unknown sandbox level", zh="未知的沙箱级别"),
    "shell": Sentence(en="runs in a shell", zh="通过 shell 运行"),
    "not-sandboxed": Sentence(en="NOT SANDBOXED", zh="未隔离"),
    "not-the-test-command": Sentence(
        en="not the test command that is set for the workspace", zh="不是为工作区设置的测试命令"
    ),
    "other-folder": Sentence(
        en="does not run at the top of the workspace", zh="不在工作区根目录下运行"
    ),
    "destructive": Sentence(
        en="names a program that deletes, overwrites or stops things",
        zh="含有会删除、覆盖或终止内容的程序",
    ),
    "privilege": Sentence(en="asks for other rights", zh="请求更改权限"),
    "look-alike-program": Sentence(
        en="the program's name has letters that may look like others", zh="程序名含有易混淆的字符"
    ),
}
_CHANGE: Final = {
    "unread-diff": Sentence(
        en="its diff could not be read, or names other files than are sealed",
        zh="无法读取其改动内容，或与批准的文件列表不符",
    ),
    "git-folder": Sentence(
        en="touches git's own folder, in one of its spellings",
        zh="会改动 git 自身的目录（或其变体写法）",
    ),
    "unsafe-name": Sentence(
        en="has a file name that means another file on some system",
        zh="含有在某些系统上会指向其他文件的文件名",
    ),
    "too-many-files": Sentence(en="more than 500 files", zh="超过 500 个文件"),
    "deletes": Sentence(en="deletes files", zh="会删除文件"),
    "execution-surface": Sentence(
        en="changes what other programs run or obey (builds, hooks, CI, editor, agent rules)",
        zh="会改动其他程序自动执行或遵循的文件（构建、钩子、CI、编辑器、编码 Agent 的规则）",
    ),
    "dotfile": Sentence(en="changes hidden files", zh="会改动隐藏文件"),
    "lock-file": Sentence(
        en="changes which code of others is installed", zh="会改动所安装的第三方代码"
    ),
    "executable": Sentence(en="makes a file executable", zh="会使文件可执行"),
    "moved": Sentence(
        en="some of its blocks stand elsewhere than their author said",
        zh="部分改动块的位置与作者所述不同",
    ),
    "many-files": Sentence(en="more than 50 files", zh="超过 50 个文件"),
    "secret-file": Sentence(
        en="touches files that look like secrets by name", zh="涉及名称像机密的文件"
    ),
    "secret-content": Sentence(en="adds lines that look like secrets", zh="新增内容像机密信息"),
    "look-alike-characters": Sentence(
        en="adds names whose letters may look like others", zh="新增内容含有易混淆的字符"
    ),
    "case-rename": Sentence(
        en="changes only the case of a file name: a disk that ignores case has one file for both",
        zh="仅改变文件名的大小写：在不区分大小写的磁盘上，两者是同一个文件",
    ),
    "shell-name": Sentence(
        en="has file names that a shell may read as code, a pattern or an option, such as -rf or "
        "$(id)",
        zh="含有 shell 可能当作代码、通配符或选项的文件名，例如 -rf、$(id)",
    ),
    "other-encoding": Sentence(
        en="adds bytes that are not text, or that other programs may read as \\, | or the like",
        zh="新增内容含有不是文本的字节，或可能被其他程序当作 \\、| 等符号的字节",
    ),
    "long-lines": Sentence(
        en="adds lines of more than 400 characters", zh="新增了超过 400 个字符的行"
    ),
}
_SYNC: Final = {
    "unsafe-address": Sentence(
        en="its address would make git run another program, or is none",
        zh="推送地址会让 git 运行其他程序，或不是有效地址",
    ),
    "password-in-address": Sentence(
        en="its address holds a password; keep that in git's credential helper",
        zh="推送地址中含有密码；请改由 git 凭据助手保存",
    ),
    "unsafe-branch": Sentence(en="it would push to no ordinary branch", zh="推送目标不是普通分支"),
    "unknown-steps": Sentence(
        en="its steps are none that belong to a commit and push", zh="步骤不属于提交并推送"
    ),
    "unprotected-address": Sentence(
        en="the connection is neither encrypted nor checked", zh="连接未加密，也无法核实对方身份"
    ),
    "new-branch": Sentence(en="makes a new branch there", zh="会在远端新建分支"),
    "unread-content": Sentence(
        en="some of what is committed could not be shown", zh="部分提交内容无法显示"
    ),
    "hidden-text": Sentence(
        en="its message, branch or address contains hidden characters",
        zh="提交说明、分支或地址含有不可见字符",
    ),
}
_DISCLOSURE: Final = {
    "answer-too-large": Sentence(
        en="longer than what the chat is told at once", zh="超过聊天一次可发送的长度上限"
    ),
}
_POLICY: Final = {
    "policy-action": Sentence(
        en="the workspace's policy refuses this kind of action", zh="工作区策略拒绝此类操作"
    ),
    "policy-path": Sentence(
        en="the workspace's policy keeps one of these files as it is",
        zh="工作区策略禁止改动其中的文件",
    ),
    "policy-program": Sentence(
        en="the workspace's policy refuses a program that it names", zh="工作区策略拒绝其中的程序"
    ),
    "policy-sandbox": Sentence(
        en="the workspace's policy refuses commands without a sandbox",
        zh="工作区策略拒绝未隔离的命令",
    ),
    "policy-network": Sentence(
        en="the workspace's policy refuses what can reach the network",
        zh="工作区策略拒绝可访问网络的操作",
    ),
    "policy-shell": Sentence(
        en="the workspace's policy refuses shell lines", zh="工作区策略拒绝 shell 命令行"
    ),
    "policy-files": Sentence(
        en="more files than the workspace's policy lets a change have",
        zh="文件数超过工作区策略的上限",
    ),
    "policy-high-path": Sentence(
        en="touches files that the workspace's policy marks", zh="涉及工作区策略标记的文件"
    ),
    "policy-typed": Sentence(
        en="the workspace's policy asks for the whole code", zh="工作区策略要求输入完整确认码"
    ),
}

RISK: Final[dict[str, Sentence]] = {
    **_ANY,
    **_COMMAND,
    **_CHANGE,
    **_SYNC,
    **_DISCLOSURE,
    **_POLICY,
}
