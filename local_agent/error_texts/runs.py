"""What people read where a run of a playbook, or the copy for a dry run, fails."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from common.sentences import Sentence

ERRORS: Final[Mapping[str, Sentence]] = {
    "approval.not-dry-run": Sentence(
        en="A file of answers decides on nothing but changes of a dry run's own copy.",
        zh="答案文件只能决定试运行副本中的改动。",
    ),
    "copy.too-large": Sentence(
        en="The workspace has more than {limit} bytes, which is the most that a dry run copies. "
        "Nothing was run.",
        zh="工作区超过 {limit} 字节，试运行无法复制。没有执行任何操作。",
    ),
    "copy.too-many": Sentence(
        en="The workspace has more than {limit} files and folders, which is the most that a dry "
        "run copies. Nothing was run.",
        zh="工作区的文件和文件夹超过 {limit} 个，试运行无法复制。没有执行任何操作。",
    ),
    "copy.too-deep": Sentence(
        en="The workspace has folders more than {limit} deep, so it is not copied for a dry run. "
        "Nothing was run.",
        zh="工作区的文件夹超过 {limit} 层，无法为试运行复制。没有执行任何操作。",
    ),
    "copy.unreadable": Sentence(
        en="{path} cannot be read, so the workspace cannot be copied for a dry run. Nothing was "
        "run.",
        zh="无法读取 {path}，因此无法为试运行复制工作区。没有执行任何操作。",
    ),
    "copy.no-room": Sentence(
        en="There is not enough room on the disk to copy the workspace for a dry run. Nothing was "
        "run.",
        zh="磁盘空间不足，无法为试运行复制工作区。没有执行任何操作。",
    ),
    "copy.failed": Sentence(
        en="The workspace could not be copied for a dry run ({why}). Nothing was run.",
        zh="无法为试运行复制工作区（{why}）。没有执行任何操作。",
    ),
    "copy.gone": Sentence(
        en="The copy of {workspace} in which this dry run acted is not there any more: the newest "
        "ten are kept, for 30 days. Begin a new dry run.",
        zh="这次试运行所用的 {workspace} 副本已不存在（保留最新十份，至多 30 天），请重新试运行。",
    ),
    "run.unknown": Sentence(
        en="There is no run {name}. `codexbridge runs` lists them.",
        zh="没有执行记录 {name}。用 `codexbridge runs` 可以列出。",
    ),
    "run.not-resumable/completed": Sentence(
        en="This run of {run} cannot be carried on: it completed.",
        zh="剧本 {run} 的这次执行无法继续：它已完成。",
    ),
    "run.not-resumable/running": Sentence(
        en="This run of {run} cannot be carried on: it is running.",
        zh="剧本 {run} 的这次执行无法继续：它正在执行。",
    ),
    "run.not-resumable/pending": Sentence(
        en="This run of {run} cannot be carried on: it is about to begin.",
        zh="剧本 {run} 的这次执行无法继续：它即将开始。",
    ),
    "run.not-resumable/rolled_back": Sentence(
        en="This run of {run} cannot be carried on: it was taken back.",
        zh="剧本 {run} 的这次执行无法继续：它已回滚。",
    ),
    "run.not-reversible/running": Sentence(
        en="This run of {run} cannot be taken back: it is running.",
        zh="剧本 {run} 的这次执行无法回滚：它正在执行。",
    ),
    "run.not-reversible/pending": Sentence(
        en="This run of {run} cannot be taken back: it is about to begin.",
        zh="剧本 {run} 的这次执行无法回滚：它即将开始。",
    ),
    "run.not-reversible/rolled_back": Sentence(
        en="This run of {run} cannot be taken back: it was taken back.",
        zh="剧本 {run} 的这次执行无法回滚：它已回滚。",
    ),
    "run.not-rolled-back": Sentence(
        en="The run of {playbook} was not taken back: {why}",
        zh="剧本 {playbook} 的这次执行没有回滚：{why}",
    ),
    "run.changed-since": Sentence(
        en="{path} was changed after the run. Nothing was taken back; look at it first.",
        zh="{path} 在执行之后又被改动。没有回滚任何内容，请先查看该文件。",
    ),
    "run.no-backup": Sentence(
        en="The backup of {path} is gone or was altered. Nothing was taken back.",
        zh="{path} 的备份已不存在或被改动。没有回滚任何内容。",
    ),
    "run.other-workspace": Sentence(
        en="This run of {run} belongs to the workspace at {path}.",
        zh="剧本 {run} 的这次执行属于 {path} 处的工作区。",
    ),
    "run.other-client": Sentence(
        en="There is no run {name} of client {client}. `codexbridge runs` lists them; name another "
        "client with --client.",
        zh="client {client} 没有执行记录 {name}。用 `codexbridge runs` 可以列出；"
        "其他 client 的记录用 --client 指定。",
    ),
    "run.stands-still": Sentence(
        en="The agent stopped in the middle of this run, which stands still. What was done stays. "
        "To carry it on, run at the machine: codexbridge playbook resume {task}",
        zh="Agent 在执行途中停止，剧本停在原处，已完成的内容保留。在开发机上继续执行："
        "codexbridge playbook resume {task}",
    ),
    "run.rollback-cut-off": Sentence(
        en="The agent stopped while this run was taken back. What was taken back stays so. Take "
        "the rest back: codexbridge playbook rollback {task}",
        zh="Agent 在回滚途中停止，已撤销的内容保持撤销。继续回滚："
        "codexbridge playbook rollback {task}",
    ),
    "run.failed": Sentence(
        en="Playbook {playbook} failed: {why} · To carry it on once that is put right, run at the "
        "machine: codexbridge playbook resume {task}",
        zh="剧本 {playbook} 失败：{why} · 解决后可在开发机上继续："
        "codexbridge playbook resume {task}",
    ),
    "run.aborted": Sentence(
        en="Playbook {playbook} ended, as a question was not approved. Nothing more was done. To "
        "ask again, run at the machine: codexbridge playbook resume {task}",
        zh="剧本 {playbook} 已中止：有一个问题没有得到批准。没有再执行任何操作。"
        "再次询问，请在开发机上运行："
        "codexbridge playbook resume {task}",
    ),
    "run.aborted/denied": Sentence(
        en="Playbook {playbook} ended, as a question was rejected. Nothing more was done. To ask "
        "again, run at the machine: codexbridge playbook resume {task}",
        zh="剧本 {playbook} 已中止：有一个问题被拒绝。没有再执行任何操作。"
        "再次询问，请在开发机上运行："
        "codexbridge playbook resume {task}",
    ),
    "run.aborted/timeout": Sentence(
        en="Playbook {playbook} ended, as nobody answered a question in time. Nothing more was "
        "done. To ask again, run at the machine: codexbridge playbook resume {task}",
        zh="剧本 {playbook} 已中止：有一个问题超时未答复。没有再执行任何操作。"
        "再次询问，请在开发机上运行："
        "codexbridge playbook resume {task}",
    ),
    "run.not-done": Sentence(en="Not completed: {why}", zh="没有完成：{why}"),
    "run.backup": Sentence(
        en="A backup of {path} could not be made, so nothing was written. Is the disk full?",
        zh="无法为 {path} 制作备份，因此没有写入任何内容。磁盘是否已满？",
    ),
    "run.events": Sentence(
        en="{path} is no ordinary file of its own, so the run was ended. Remove it, then carry the "
        "run on.",
        zh="{path} 不是独立的普通文件，执行因此结束。请删除它，然后继续执行。",
    ),
    "run.damaged": Sentence(
        en="The record of step {step} cannot be read.", zh="步骤 {step} 的记录无法读取。"
    ),
    "run.result-gone": Sentence(
        en="The result of step {step} is not there any more, or was changed. The run cannot be "
        "carried on; begin a new one.",
        zh="步骤 {step} 的结果已不存在或被改动，无法继续；请重新执行剧本。",
    ),
}
