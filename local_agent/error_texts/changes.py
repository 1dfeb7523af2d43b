"""Why a diff cannot be read, applied or taken back, by the code of the error; one line each.

They reach the terminal and the chat.  Where one code has several reasons, each has its sentence
under ``code/why`` (`common.sentences.explain`).
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from common.sentences import Sentence

_NOT_WRITTEN = Sentence(en="Nothing was written.", zh="没有写入任何内容。")


def _at_line(en: str, zh: str) -> Sentence:
    return Sentence(
        en=f"The diff is refused at line {{line}}: {en}. {_NOT_WRITTEN.en}",
        zh=f"补丁在第 {{line}} 行被拒绝：{zh}。{_NOT_WRITTEN.zh}",
    )


def _about(en: str, zh: str) -> Sentence:
    return Sentence(en=f"{{path}} {en}. {_NOT_WRITTEN.en}", zh=f"{{path}} {zh}。{_NOT_WRITTEN.zh}")


_JUNK = _at_line(
    "such a line has no place there. Give the diff alone, as `git diff` prints it",
    "此处不应有这样的内容。请只提供 diff 本身，即 `git diff` 的输出",
)
_DIFF: Final = {
    "diff.empty": Sentence(
        en="There is no diff in it: no file would change.", zh="其中没有 diff：不会改动任何文件。"
    ),
    "diff.too-large": Sentence(
        en="The diff is too large: at most {limit} {what} are read. Split it.",
        zh="补丁过大：最多读取 {limit} {what}。请拆分。",
    ),
    "diff.refused": _at_line("{why}", "{why}"),
    "diff.name": Sentence(
        en="The diff is refused at line {line}: it names a file in a way that is not allowed "
        "({why}). Nothing was written.",
        zh="补丁在第 {line} 行被拒绝：文件名不被允许（{why}）。没有写入任何内容。",
    ),
    "diff.context": Sentence(
        en="{path} is not as the diff has it: block {hunk}, near line {line}. Nothing was written; "
        "make a new diff from the current file.",
        zh="{path} 与补丁中的内容不符：第 {hunk} 处改动，第 {line} 行附近。没有写入任何内容；"
        "请根据文件现状重新生成补丁。",
    ),
    "diff.context/applied": Sentence(
        en="{path} seems to have this change already: it is what the diff would leave. Nothing was "
        "written.",
        zh="{path} 似乎已含此改动：内容已是补丁应用后的样子。没有写入任何内容。",
    ),
    "diff.context/line-ends": Sentence(
        en="{path} and the diff differ in their line ends alone: one has CR LF, the other LF. "
        "Nothing was written; make a new diff from the current file.",
        zh="{path} 与补丁只有行尾不同：一方为 CR LF，另一方为 LF。没有写入任何内容；"
        "请根据文件现状重新生成补丁。",
    ),
    "diff.context/last-line": Sentence(
        en="The last line of {path} has no line end and the diff says that it has one, or vice "
        "versa. Nothing was written; make a new diff from the current file.",
        zh="{path} 的最后一行没有换行符，而补丁认为有，或者相反。没有写入任何内容；"
        "请根据文件现状重新生成补丁。",
    ),
    "diff.unknown-path": Sentence(
        en="The change does not touch {path}. `codexbridge diff` shows the files that it does.",
        zh="该改动不涉及 {path}。用 `codexbridge diff` 查看涉及的文件。",
    ),
    "diff.unknown-hunk": Sentence(
        en="These blocks of {path} cannot be chosen. `codexbridge diff` shows those that it has.",
        zh="无法选择 {path} 中的这些改动块。用 `codexbridge diff` 查看该文件有哪些改动块。",
    ),
    "diff.irreversible": Sentence(
        en="The change of {path} cannot be turned around.", zh="{path} 的改动无法反向。"
    ),
    "diff.none": Sentence(
        en="{task} changes no file, so it has no diff. `codexbridge show {task}` shows what it is.",
        zh="{task} 不改动文件，没有 diff。用 `codexbridge show {task}` 查看其内容。",
    ),
    "diff.to-terminal": Sentence(
        en="The exact bytes may hold what a terminal obeys. Write them to a file: "
        "codexbridge diff {task} --raw > FILE",
        zh="原始字节中可能含有终端会执行的控制序列。请写入文件："
        "codexbridge diff {task} --raw > 文件",
    ),
}
_DIFF_WHY: Final = {
    "symlink": _at_line("it makes or changes a symbolic link", "涉及符号链接"),
    "submodule": _at_line("it changes a submodule", "涉及子模块"),
    "mode": _at_line(
        "it gives a file another mode than 100644 or 100755", "文件模式不是 100644 或 100755"
    ),
    "binary": _at_line(
        "it changes a file that is no text, which cannot be shown", "涉及无法显示的非文本文件"
    ),
    "combined": _at_line("it is the combined diff of a merge", "这是合并提交的组合 diff"),
    "context": _at_line(
        "it is a context diff; make a unified one (diff -u)",
        "这是 context 格式；请改用 unified 格式（diff -u）",
    ),
    "normal": _at_line(
        "it is a plain diff; make a unified one (diff -u)",
        "这是普通格式；请改用 unified 格式（diff -u）",
    ),
    "ed": _at_line("it is a script for ed", "这是 ed 脚本"),
    "mail": _at_line(
        "a mail or commit header stands there; give the diff alone",
        "此处是邮件或提交信息；请只提供 diff",
    ),
    "signature": _at_line(
        "the signature of a mail stands there; give the diff alone",
        "此处是邮件签名；请只提供 diff",
    ),
    "index-line": _at_line(
        "an Index: line stands there, which programs read differently",
        "此处有 Index: 行，不同程序对它的理解不同",
    ),
    "only-in": _at_line("it tells of a file in one folder only", "此处说明某文件仅存在于一侧"),
    "command-line": _at_line(
        "the command of another program stands there; make the diff with git or diff -u",
        "此处是其他程序的命令行；请用 git 或 diff -u 生成",
    ),
    "byte-order-mark": _at_line(
        "the file begins with a byte order mark; save it without",
        "文件以字节顺序标记（BOM）开头；请去掉后保存",
    ),
    "junk": _JUNK,
    "no-names": _at_line("a block has no file names before it", "该处改动之前没有文件名"),
    "nul": _at_line("it holds a NUL byte", "含有 NUL 字节"),
    "crlf": _at_line(
        "the lines of the diff itself end in CR LF; save it with plain line feeds",
        "补丁自身的行以 CR LF 结尾；请改用 LF 保存",
    ),
    "cut": _at_line("it ends in the middle of a block", "补丁在一处改动的中间结束"),
    "after-end": _at_line(
        "something follows the last line of a file that has no line feed",
        "在没有换行符的文件末行之后还有内容",
    ),
    "after-name": _at_line("something follows the name of a file", "文件名之后还有其他内容"),
    "no-file-time": _at_line(
        "the time behind the name says to some programs that there is no file",
        "文件名后的时间会让某些程序认为文件不存在",
    ),
    "header": _at_line("its header lines contradict each other", "头部各行相互矛盾"),
    "header-twice": _at_line("a header line stands there twice", "头部某行重复出现"),
    "names-differ": _at_line("its header lines name different files", "头部各行所写的文件名不一致"),
    "prefix": _at_line(
        "a name does not begin with a/ or b/, because of a git option or setting. Make it with: "
        "git -c diff.noprefix=false -c diff.mnemonicPrefix=false diff",
        "文件名不以 a/ 或 b/ 开头，这是 git 的选项或设置所致。请这样生成："
        "git -c diff.noprefix=false -c diff.mnemonicPrefix=false diff",
    ),
    "other-side": _at_line(
        "a file that comes or goes has lines on the other side too",
        "新增或删除的文件在另一侧也有内容",
    ),
    "no-change": _at_line("it changes nothing in this file", "没有改动该文件的任何内容"),
    "no-hunks": _at_line("no lines follow the names", "文件名之后没有改动内容"),
    "hunk-header": _at_line("the line that begins a block is malformed", "改动起始行格式有误"),
    "hunk-line": _at_line(
        "a line of a block begins with none of blank, + and -", "改动中的行不以空格、+ 或 - 开头"
    ),
    "hunk-count": _at_line(
        "a block has more or fewer lines than it says", "该处改动的行数与其声明不符"
    ),
    "hunk-numbers": _at_line(
        "the line numbers of a block cannot be true", "该处改动的行号不可能成立"
    ),
    "hunk-order": _at_line("the blocks overlap or are out of order", "各处改动重叠或次序颠倒"),
    "file-twice": _at_line("a file stands in it twice", "同一文件出现两次"),
    "twin": _at_line(
        "two names differ only in case or in how they are encoded", "两个文件名只有大小写或编码不同"
    ),
    "file-is-folder": _at_line("one file lies in another", "一个文件位于另一个文件之内"),
    "copy-source": _at_line(
        "it copies a file that it makes or moves itself", "复制的来源是补丁自身新增或改名的文件"
    ),
}
_NAME_WHY: Final = {
    "quoting": _at_line("the quotes around a file name are broken", "文件名的引号有误"),
    "encoding": _at_line("a file name is no UTF-8", "文件名不是 UTF-8"),
    "too-long": _at_line("a file name is too long", "文件名过长"),
    "hidden": _at_line("a file name holds hidden characters", "文件名含有不可见字符"),
    "character": _at_line(
        "a file name holds a character that other systems read differently",
        "文件名含有其他系统会另作解释的字符",
    ),
    "absolute": _at_line("a file name begins at the root", "文件名是绝对路径"),
    "component": _at_line(
        "a part of a path is empty, . or .., or ends in a blank or dot",
        "路径中有空的部分、. 或 ..，或以空格、点结尾的部分",
    ),
    "git": _at_line("it leads into .git, by one of its spellings", "指向 .git（或其变体写法）"),
    "device": _at_line("a name is that of a device on Windows", "是 Windows 的设备名"),
    "alias": _at_line(
        "a name can mean another file on Windows or macOS", "在 Windows 或 macOS 上会指向其他文件"
    ),
}
_CHANGE: Final = {
    "change.action": Sentence(
        en="That approval is for something else.", zh="该批准不是针对此操作的。"
    ),
    "path.missing": _about("is not there any more", "已不存在"),
    "change.exists": _about("exists already", "已经存在"),
    "change.missing": _about("does not exist", "不存在"),
    "change.mode": _about(
        "has another executable bit than the diff says", "的可执行位与补丁所写不符"
    ),
    "change.symlink": _about(
        "lies behind a symbolic link, or is one; links are never followed",
        "是符号链接或位于符号链接之后；绝不跟随链接",
    ),
    "change.submodule": _about("lies in a submodule", "位于子模块之内"),
    "change.encoding": _about(
        "is text in {encoding} and would no longer be: the diff adds lines in another encoding",
        "是 {encoding} 编码的文本，应用后就不再是：补丁新增的行用了另一种编码",
    ),
    "change.misread": _about(
        "declares {encoding}, in which Python may run other code than is shown",
        "声明了 {encoding}：Python 用它读取时，运行的代码可能与显示的不同",
    ),
    "change.special": _about("is not an ordinary file", "不是普通文件"),
    "change.not-folder": _about("would have to be a folder, and is none", "应为文件夹，实际不是"),
    "change.folder": _about("is a folder", "是文件夹"),
    "change.twin": _about(
        "differs from another name there only in case or encoding",
        "与同处另一名称只有大小写或编码不同",
    ),
    "change.denied": _about(
        "is kept out by the workspace's own settings or looks like a secret",
        "按工作区设置不可触及，或疑似机密",
    ),
    "change.reserved": _about(
        "has a name that is kept for files of an unfinished change",
        "的名称专供未完成的改动所用的临时文件",
    ),
    "change.copy-secret": _about("looks like a secret, and is not copied", "疑似机密，不予复制"),
    "change.copy-untracked": _about(
        "is not tracked by git, and only what is tracked is copied",
        "未被 git 跟踪；只能复制已跟踪的文件",
    ),
    "change.too-large": _about(
        "is larger than is changed here ({limit} bytes)", "过大（上限 {limit} 字节）"
    ),
    "change.too-many": Sentence(
        en="The change is too large to be sealed. Split it.", zh="改动过大，无法提交批准。请拆分。"
    ),
    "change.no-undo": Sentence(
        en="The change is so large that it could not be undone in one piece. Split it.",
        zh="改动过大，应用后将无法整体撤销。请拆分。",
    ),
    "change.too-deep": _about("lies too deep ({limit} folders)", "所在层级过深（上限 {limit} 层）"),
    "change.unreadable": _about("cannot be read by this account", "本账户无法读取"),
    "change.moved": _about(
        "was moved or replaced while it was looked at; try again", "在查看时被移动或替换；请重试"
    ),
    "change.raced": Sentence(
        en="Something else wrote to {path} at the same moment, so all was put back. Try again.",
        zh="另有程序同时写入 {path}，因此已全部恢复原状。请重试。",
    ),
    "change.half-done": Sentence(
        en="The change could neither be finished nor taken back in {paths}. Look at those files; "
        "what they held before is kept.",
        zh="{paths} 中的改动既未完成也未能恢复。请查看这些文件；其原有内容已保存。",
    ),
}
_UNDO: Final = {
    "undo.changed": Sentence(
        en="{path} has changed since (block {hunk} of the change; 0 is the file as a whole), so it "
        "cannot be taken back. Files that still can, alone, with --only: {undoable}",
        zh="{path} 此后又有改动（改动的第 {hunk} 处；0 表示整个文件），无法撤销。"
        "可用 --only 单独撤销的文件：{undoable}",
    ),
    "undo.changed/none": Sentence(
        en="{path} has changed since (block {hunk} of the change; 0 is the file as a whole), so it "
        "cannot be taken back, nor can any other file of it. Mend it by hand, or with git.",
        zh="{path} 此后又有改动（改动的第 {hunk} 处；0 表示整个文件），无法撤销，"
        "这次改动的其他文件也无法撤销。请手动或用 git 处理。",
    ),
    "undo.paths": Sentence(
        en="A quote in the list of files is not closed. Quote only names that hold blanks.",
        zh="文件列表中有未闭合的引号。只有含空格的名称才需要加引号。",
    ),
    "undo.expired": Sentence(
        en="What was there before is kept for {days} days; it is gone by now.",
        zh="改动之前的内容只保存 {days} 天，现已删除。",
    ),
    "undo.damaged": Sentence(
        en="The backup {name}… is damaged: it is no longer what was kept, so nothing is written "
        "from it. Take the file from git or from a backup of the disk.",
        zh="备份 {name}… 已损坏，与保存时的内容不符，因此不会用它写入。"
        "请从 git 或磁盘备份中恢复文件。",
    ),
    "undo.elsewhere": Sentence(
        en="The change was made in {path}, which is another folder.",
        zh="该改动是在另一个文件夹 {path} 中进行的。",
    ),
    "undo.not-a-change": Sentence(
        en="That task changed no file itself; what a command did cannot be undone.",
        zh="该任务本身没有改动文件；命令造成的结果无法撤销。",
    ),
    "approval.narrow": Sentence(
        en="Nothing is narrowed: name some of the files of the change, and not all of them. "
        "`codexbridge show` lists them. A command or a push has no parts.",
        zh="没有缩小范围：请指明该改动中的部分文件，而不是全部。用 `codexbridge show` 可列出。"
        "命令和推送不能只取一部分。",
    ),
    "approval.not-whole": Sentence(
        en="Not all of the change is chosen, and the question is about all of it. Nothing was "
        "approved: ask for the chosen parts only, or choose everything.",
        zh="没有选中全部改动，而审批针对全部改动。没有批准任何操作：请只为所选部分重新请求，或全部选中。",
    ),
    "approval.narrow/unknown": Sentence(
        en="Nothing is narrowed: the change does not touch {paths}. `codexbridge show` lists the "
        "files that it does.",
        zh="没有缩小范围：该改动不涉及 {paths}。用 `codexbridge show` 可列出涉及的文件。",
    ),
    "approval.narrow/hunks": Sentence(
        en="Nothing is narrowed: these blocks of {path} cannot be chosen. Name blocks of a file "
        "that is kept, each once. A file that is new, deleted, renamed or copied, or whose mode "
        "changes, is kept whole or left out; so is every file of an undo.",
        zh="没有缩小范围：无法选择 {path} 中的这些改动块。请指明所保留文件中的改动块，每块一次。"
        "新增、删除、重命名、复制或更改权限的文件，以及撤销中的文件，只能整个保留或整个略去。",
    ),
}

ERRORS: Final[Mapping[str, Sentence]] = {
    **_DIFF,
    **{f"diff.refused/{why}": sentence for why, sentence in _DIFF_WHY.items()},
    **{f"diff.name/{why}": sentence for why, sentence in _NAME_WHY.items()},
    **_CHANGE,
    **_UNDO,
}
