"""The sentences of the commands about changes: apply, diff, undo, check; help included."""

from __future__ import annotations

from typing import Final

from common.sentences import Sentence

APPLY: Final = Sentence(
    en="Ask for a change: what a model proposed, by the ID of its task, or a patch from a file. "
    "It is checked, sealed and shown; nothing is written before it is approved at this machine. "
    "`codexbridge undo` takes it back.",
    zh="请求应用改动：模型提出的改动（用任务编号），或文件中的补丁。先检查并显示，"
    "在本机批准之前不写入任何内容。可用 `codexbridge undo` 撤销。",
)
APPLY_FILE: Final = Sentence(
    en="the ID of a task such as T-7K3F; or the patch: a git or unified diff with a/ and b/ names; "
    "- reads standard input",
    zh="任务编号，例如 T-7K3F；或补丁：带 a/、b/ 名称的 git 或 unified diff；- 表示标准输入",
)
WORKSPACE: Final = Sentence(
    en="name of the workspace; without it the one that the current folder lies in, else the "
    "default one",
    zh="工作区名称；省略时为当前文件夹所在的工作区，否则为默认工作区",
)
DIFF: Final = Sentence(
    en="Show the diff that a task proposes, or has applied: all of it, with what is hidden in it "
    "made visible.",
    zh="显示任务提出或已应用的全部改动，其中隐藏的字符都会标出。",
)
DIFF_RAW: Final = Sentence(
    en="the exact bytes instead, as they were sealed; for a file or another program",
    zh="改为输出获批的原始字节，供存盘或其他程序使用",
)
UNDO: Final = Sentence(
    en="Ask to take back what a task has changed. The reverse change is shown and approved like "
    "any other. Where somebody has changed the same file since, it is refused and says where; "
    "--only takes back the other files. Of a change that was interrupted, it puts back the files "
    "that still hold what the change wrote, and leaves those that somebody else edited.",
    zh="请求撤销任务所作的改动。反向改动会像其他改动一样显示并须批准。若相同文件此后又被改动，"
    "会拒绝并指出位置；可用 --only 只撤销其余文件。对中断的改动，"
    "只恢复仍是改动后内容的文件，不动他人编辑过的文件。",
)
UNDO_ONLY: Final = Sentence(en="these files alone", zh="仅限这些文件")
APPROVE_ONLY: Final = Sentence(
    en="accept these files of a change and leave the others; it is sealed and shown anew first",
    zh="只接受改动中的这些文件，其余放弃；会重新生成确认码并再次显示",
)
APPROVE_CHECK: Final = Sentence(
    en="first run the workspace's tests on a copy with the change in it; that is asked for and "
    "approved by itself, and then the change is shown again",
    zh="先在含该改动的副本上运行工作区的测试；这会单独请求批准，之后再次显示该改动",
)
CHECK: Final = Sentence(
    en="Say whether a patch, or what a task proposes, could be applied, and if not, why. Nothing "
    "is asked or written; the agent need run for the ID of a task alone. Exit code 0: accepted, "
    "1: refused.",
    zh="检查补丁或任务提出的改动能否应用；不能时说明原因。不提出请求、不写入任何内容；"
    "仅在给出任务编号时需要本机 Agent 正在运行。"
    "退出码 0：可接受，1：被拒绝。",
)
CHECK_WORKSPACE: Final = Sentence(
    en="name of the workspace; without it the one that the current folder lies in, else the "
    "default one, and where there is none the current folder",
    zh="工作区名称；省略时为当前文件夹所在的工作区，否则为默认工作区；没有工作区时为当前文件夹",
)
CHECK_FOLDER: Final = Sentence(
    en="check against this folder, whether it is a workspace or not",
    zh="针对此文件夹检查（不必是工作区）",
)
ACCEPTED: Final = Sentence(
    en="Accepted in {folder}: {count} {count:file|files}, +{added} −{removed}.",
    zh="可以应用于 {folder}：{count} 个文件，+{added} −{removed}。",
)
MOVED: Final = Sentence(
    en="{count} {count:block stands|blocks stand} at another line than the patch says; the diff "
    "that is asked for has the true numbers.",
    zh="有 {count} 处改动的实际行号与补丁所写不同；请求批准时显示真实行号。",
)
CHECK_HIGH: Final = Sentence(
    en="It would be asked for as high risk: {reasons}.", zh="请求批准时会标为高风险：{reasons}。"
)
REFUSED: Final = Sentence(en="Refused: {why}", zh="被拒绝：{why}")
CHANGED: Final = Sentence(en="Changed", zh="改动")
STANDING: Final = {
    "new": Sentence(en="as changed", zh="已改动"),
    "old": Sentence(en="as before", zh="原样"),
    "foreign": Sentence(en="by somebody else", zh="他人写入"),
    "beside": Sentence(en="temporary file", zh="临时文件"),
}
CAN_UNDO: Final = Sentence(
    en="Can be undone for {days} days: codexbridge undo {task}",
    zh="{days} 天内可以撤销：codexbridge undo {task}",
)
CAN_UNDO_REST: Final = Sentence(
    en="{left} of {count} files can still be undone for {days} days: codexbridge undo {task}",
    zh="{count} 个文件中还有 {left} 个可在 {days} 天内撤销：codexbridge undo {task}",
)
TAKEN_BACK: Final = Sentence(
    en="Taken back since; there is nothing left of it to undo.",
    zh="之后已全部撤销，没有剩余内容可以撤销。",
)
