"""Sentences about changes of files, undo and git sync (P5, P7); like `local_agent.replies`."""

from __future__ import annotations

from typing import Final

from common.sentences import Sentence

# --- proposals ------------------------------------------------------------------------------

WOULD_APPLY = Sentence(
    en="Proposed in workspace {workspace}: {count} {count:file|files}, +{added} −{removed}. It can "
    "be undone.",
    zh="在工作区 {workspace} 提议改动 {count} 个文件，+{added} −{removed}。应用后可以撤销。",
)
WOULD_UNDO = Sentence(
    en="Proposed in workspace {workspace}: undo {task}, {count} {count:file|files}.",
    zh="在工作区 {workspace} 提议撤销 {task}，共 {count} 个文件。",
)
WOULD_RESTORE = Sentence(
    en="Proposed in workspace {workspace}: put back the files that still hold what {task} wrote "
    "before it was interrupted. All others are left as they are.",
    zh="在工作区 {workspace} 提议：把 {task} 中断前已写入、此后无人改动的文件恢复原样。"
    "其余文件不动。",
)
LEFT_AS_THEY_ARE = Sentence(
    en="Left alone, edited by somebody else ({count}):",
    zh="保留他人的改动，不动这 {count} 个文件：",
)
FILE_ROW = Sentence(en="{path} +{added} −{removed}", zh="{path} +{added} −{removed}")
APPLY_OFF = Sentence(
    en="Changes of files are switched off on this machine (allow_apply_patch = false).",
    zh="本机已禁止改动文件（allow_apply_patch = false）。",
)
UNDO_WHICH = Sentence(
    en="Say which change to undo: {prefix} undo T-7K3F. `{prefix} status` lists your tasks.",
    zh="请说明撤销哪个改动：{prefix} 撤销 T-7K3F。“{prefix} 状态”可列出你的任务。",
)
NARROWED = Sentence(
    en="Narrowed at the machine to some of its files; asked anew there.",
    zh="已在开发机上缩小为其中部分文件；正在那里重新询问。",
)

# --- outcomes -------------------------------------------------------------------------------

TO_ASK_AGAIN = Sentence(
    en="To ask again from here: codexbridge retry {task}",
    zh="在本机重新提出：codexbridge retry {task}",
)
TO_REVISE = Sentence(
    en="To have it made anew for the files as they are: {prefix} revise {task} fit the files as "
    "they are",
    zh="如需按现在的文件重新提出：{prefix} 修订 {task} 适配现在的文件",
)
TO_REVISE_HERE = Sentence(
    en="To have it made anew for the files as they are: "
    'codexbridge ask "revise {task} fit the files as they are"',
    zh='如需按现在的文件重新提出：codexbridge ask "修订 {task} 适配现在的文件"',
)
APPLIED = Sentence(
    en="Applied to {count} {count:file|files}. To take it back: {prefix} undo {task}",
    zh="已应用到 {count} 个文件。如需撤销：{prefix} undo {task}",
)
UNDONE = Sentence(
    en="{undone} is undone: {count} {count:file is|files are} as before. To bring it back: "
    "{prefix} undo {task}",
    zh="已撤销 {undone}：{count} 个文件恢复原样。如需再次应用：{prefix} undo {task}",
)
CHANGE_ROW = Sentence(en="{op} {path}", zh="{op} {path}")
OPS: Final[dict[str, Sentence]] = {
    "add": Sentence(en="new", zh="新增"),
    "modify": Sentence(en="changed", zh="修改"),
    "delete": Sentence(en="deleted", zh="删除"),
    "rename": Sentence(en="renamed to", zh="重命名为"),
    "copy": Sentence(en="copied to", zh="复制为"),
}
# Why a change that was approved was not made; every file is as it was.
NOT_CHANGED: Final[dict[str, Sentence]] = {
    "change.no-space": Sentence(
        en="The disk is full. Every file is as it was; make room, then ask again.",
        zh="磁盘已满。所有文件保持原样；请腾出空间后重新提出。",
    ),
    "change.not-permitted": Sentence(
        en="This account may not write there. Every file is as it was.",
        zh="本账户无权写入。所有文件保持原样。",
    ),
    "change.not-written": Sentence(
        en="It was interrupted before anything was written; every file is as it was. Ask again.",
        zh="在写入任何内容之前被中断；所有文件保持原样。请重新提出。",
    ),
    "change.restored": Sentence(
        en="It was interrupted halfway and has been taken back; every file is as it was. Ask "
        "again.",
        zh="写到一半时被中断，已全部恢复；所有文件保持原样。请重新提出。",
    ),
}
CHANGE_FAILED = Sentence(
    en="It could not be written ({why}). Every file is as it was.",
    zh="无法写入（{why}）。所有文件保持原样。",
)
CHANGE_UNKNOWN = Sentence(
    en="It was approved, then interrupted, and files have changed since: whether it was applied is "
    "unknown. Nothing is written by itself; please check at the machine.",
    zh="获批后被中断，之后文件又有变化：不确定是否已应用。不会自动写入；请在开发机上检查。",
)
CHANGE_MIXED = Sentence(
    en="It was approved, then interrupted, and files have changed since: whether it was applied is "
    "unknown. Nothing more is written by itself.",
    zh="获批后被中断，之后文件又有变化：不确定是否已应用。不会再自动写入。",
)
# What lies there of it: how many files, and the first of them.
STANDING: Final[dict[str, Sentence]] = {
    "new": Sentence(
        en="{count} {count:file is|files are} as the change wrote them: {paths}",
        zh="{count} 个文件已是改动后的内容：{paths}",
    ),
    "old": Sentence(
        en="{count} {count:file is|files are} as before: {paths}",
        zh="{count} 个文件仍是原来的内容：{paths}",
    ),
    "foreign": Sentence(
        en="{count} {count:file holds|files hold} something else, written by somebody else: "
        "{paths}",
        zh="{count} 个文件是他人写入的其他内容：{paths}",
    ),
    "beside": Sentence(
        en="{count} temporary {count:file|files} left because their content is nowhere else: "
        "{paths}",
        zh="保留 {count} 个临时文件，其内容别处没有：{paths}",
    ),
}
TO_RESTORE = Sentence(
    en="To put back what it wrote, and nothing that somebody else edited: {prefix} undo {task}",
    zh="如需恢复它写入的文件（不动他人的改动）：{prefix} undo {task}",
)
CHANGE_HALF_DONE = Sentence(
    en="It could neither be finished nor taken back whole. What these files held before is kept; "
    "please look at them at the machine.",
    zh="既未能完成，也未能全部恢复。这些文件的原有内容已保存；请在开发机上查看。",
)
LEFTOVER = Sentence(
    en="Temporary files beside it could not be removed.", zh="旁边的临时文件无法删除。"
)
ABOUT = Sentence(en="Files: {paths}", zh="文件：{paths}")
UNKNOWN = Sentence(
    en="It was approved, then interrupted. Whether it happened is unknown; it is not done again by "
    "itself. Please check at the machine.",
    zh="获批后被中断。不确定是否已执行；不会自动再次执行。请在开发机上检查。",
)
