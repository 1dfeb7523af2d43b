"""The sentences of the approval dialogs about changes, undo and git sync."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from common.diff.view import MarkCode
from common.sentences import Sentence

# -- changes and undo --------------------------------------------------------------------------

CHANGES: Final = Sentence(en="Files", zh="文件")
CHANGES_ARE: Final = Sentence(
    en="{count} {count:file|files}, +{added} −{removed}, counted on this machine",
    zh="{count} 个文件，+{added} −{removed}（由本机计算）",
)
LEFT_OUT: Final = Sentence(
    en="{kept} of {total} files. Left out: {paths}. For the whole again: codexbridge cancel "
    "{task}, then codexbridge retry {task}",
    zh="共 {total} 个文件中的 {kept} 个。未包含：{paths}。如需完整改动：codexbridge cancel {task}，"
    "再运行 codexbridge retry {task}",
)
CHANGES_ONLY: Final = Sentence(
    en="Nothing else is touched. All of it is done, or nothing.",
    zh="不会改动其他内容。要么全部完成，要么什么都不做。",
)
OPS: Final = {
    "add": Sentence(en="new", zh="新增"),
    "modify": Sentence(en="changed", zh="修改"),
    "delete": Sentence(en="deleted", zh="删除"),
    "rename": Sentence(en="renamed", zh="重命名"),
    "copy": Sentence(en="copied", zh="复制"),
}
FROM: Final = Sentence(en="from {path}", zh="来自 {path}")
BECOMES_PROGRAM: Final = Sentence(en="may be executed afterwards", zh="之后将可以执行")
NO_PROGRAM: Final = Sentence(en="may no longer be executed", zh="之后将不能执行")
EMPTY: Final = Sentence(en="empty", zh="空文件")
NO_TEXT: Final = Sentence(
    en="its content is not text, and is not shown", zh="内容不是文本，不予显示"
)
MARK_AT: Final = Sentence(en="line {line}: {what}", zh="第 {line} 行：{what}")
MARKS: Final[Mapping[MarkCode, Sentence]] = {
    "hidden-characters": Sentence(
        en="characters that draw nothing or turn the text around; shown as ⟨U+…⟩",
        zh="含不可见或改变显示方向的字符，以 ⟨U+…⟩ 标出",
    ),
    "confusable": Sentence(
        en="letters of other scripts that look like ordinary ones",
        zh="含与普通字母外形相似的其他文字字母",
    ),
    "long-line": Sentence(en="a very long line; read it to its end", zh="行很长，请看到末尾"),
    "encoding": Sentence(
        en="bytes that are not UTF-8; shown as ⟨0x…⟩", zh="含非 UTF-8 的字节，以 ⟨0x…⟩ 标出"
    ),
    "secret-looking": Sentence(en="looks like a password or key", zh="疑似密码或密钥"),
}
DIFF: Final = Sentence(en="Diff", zh="改动内容")
DIFF_WHOLE: Final = Sentence(
    en="all of it, line by line; − goes, + comes, ⇥ is a tab",
    zh="以下逐行列出全部内容；− 为删去，+ 为加入，⇥ 为制表符",
)
DIFF_TEXT: Final = Sentence(
    en="every line of the files that are text; − goes, + comes, ⇥ is a tab",
    zh="以下逐行列出文本文件的全部改动；− 为删去，+ 为加入，⇥ 为制表符",
)
OPEN_END: Final = Sentence(en="(no line feed at the end of the file)", zh="（文件末尾没有换行符）")
TAKES_BACK: Final = Sentence(en="Takes back", zh="撤销对象")
TAKES_BACK_IS: Final = Sentence(
    en="what {task} changed, in the files below and in no others",
    zh="{task} 的改动，仅限以下文件",
)

# -- git sync ----------------------------------------------------------------------------------

BRANCH: Final = Sentence(en="Branch", zh="分支")
BRANCH_AT: Final = Sentence(en="at commit {commit}", zh="位于提交 {commit}")
BRANCH_EMPTY: Final = Sentence(en="without a commit yet", zh="尚无提交")
REMOTE: Final = Sentence(en="Pushed to", zh="推送到")
REMOTE_REF: Final = Sentence(
    en="{ref} there, last known at {commit}", zh="其 {ref}，已知位于 {commit}"
)
REMOTE_NEW: Final = Sentence(en="{ref} there, which will be made", zh="其 {ref}（将新建）")
STANDING: Final = Sentence(en="Standing", zh="进度")
STANDING_IS: Final = Sentence(
    en="{ahead} {ahead:commit|commits} ahead of it, {behind} behind, by what is known here",
    zh="据本机所知，领先 {ahead} 个提交，落后 {behind} 个",
)
COMMIT: Final = Sentence(en="Commit", zh="提交")
COMMIT_BY: Final = Sentence(en="by {author} <{email}>", zh="作者 {author} <{email}>")
NO_COMMIT: Final = Sentence(
    en="none; what is committed already is pushed", zh="无；仅推送已有的提交"
)
STEPS: Final = Sentence(en="Steps", zh="步骤")
STEP_NAMES: Final = {
    "check": Sentence(en="look whether all is still as shown", zh="核对一切是否仍与所示一致"),
    "add": Sentence(en="take the files above into the index", zh="把以上文件加入暂存区"),
    "commit": Sentence(en="commit them on {branch}", zh="提交到 {branch}"),
    "push": Sentence(en="push {branch}; never forced", zh="推送 {branch}；绝不强制"),
}
EFFECTS: Final = {
    "read-only": Sentence(en="read-only", zh="只读"),
    "local-write": Sentence(en="LOCAL WRITE", zh="本地写入"),
    "remote-write": Sentence(en="REMOTE WRITE", zh="远程写入"),
}
GIT: Final = Sentence(en="Git", zh="Git")
GIT_RUNS_NOTHING: Final = Sentence(
    en="No hook of the repository runs and nothing is signed. The push uses your global git "
    "settings alone (credentials, ssh), and nothing of the repository's own .git/config.",
    zh="不会运行仓库的任何钩子，也不会签名。推送只使用你的全局 git 设置（凭据、ssh），"
    "不使用仓库自身的 .git/config。",
)
GIT_SKIPS_HOOKS: Final = Sentence(
    en="The remote is a folder on this machine: its own hooks (pre-receive, update, post-receive) "
    "do not run either, so whatever they check or start is skipped.",
    zh="远端是本机上的文件夹：其自身的钩子（pre-receive、update、post-receive）也不会运行，"
    "由钩子进行的检查或触发的动作都会跳过。",
)
GIT_LIMIT: Final = Sentence(en="given up after {seconds} s", zh="{seconds} 秒后放弃")

# -- pages -------------------------------------------------------------------------------------

PAGE: Final = Sentence(
    en="lines {first}–{last} of {total} · Enter: next · a: all the rest · q: decide nothing › ",
    zh="第 {first}–{last} 行，共 {total} 行 · 回车：下一页 · a：显示其余全部 · q：不作决定 › ",
)
