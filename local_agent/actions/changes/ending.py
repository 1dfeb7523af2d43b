"""How a change of files is sealed and how it ends, whether it is applied or taken back.

What came of it is told in words and as facts.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import asdict
from functools import partial
from typing import Any, Final

from common.model.state import Reason
from common.seal import Action, Seal, SealedChange
from common.sentences import Lang, Sentence, say
from local_agent.actions.changes.perform import PreparedChange
from local_agent.actions.changes.settle import ChangeOutcome, Mixture
from local_agent.actions.operation import (
    ABOUT,
    CHAT_FILES,
    Ended,
    Sealable,
    render_drift,
    render_names,
)
from local_agent.propose import words as proposal_words

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


MIXED_NAMES: Final = 3
DISCLOSES: Final = ("outcome", "file-list")
_HERE: Final = "codexbridge"  # what undoes at this machine, where the chat has its prefix


def render_change(
    outcome: ChangeOutcome, lang: Lang, *, short_id: str, undone: str | None, prefix: str
) -> str:
    """Return what came of a change, or of taking one back, with its files."""
    if outcome.mixture is not None:
        return "\n".join(_mixed(outcome.mixture, lang, short_id=short_id, prefix=prefix))
    if outcome.reason is not Reason.COMPLETED:
        told = [_not_changed(outcome, lang)]
    else:
        count = len(outcome.files)
        done = UNDONE if undone else APPLIED
        told = [say(done, lang, count=count, task=short_id, undone=undone, prefix=prefix)]
        told += [_row(change, lang) for change in outcome.files[:CHAT_FILES]]
        if (rest := count - CHAT_FILES) > 0:
            told.append(say(proposal_words.MORE_FILES, lang, count=rest))
        if outcome.code == "change.leftover":
            told.append(say(LEFTOVER, lang))
    if outcome.paths:
        told.append(say(ABOUT, lang, paths=render_names(outcome.paths, lang)))
    return "\n".join(told)


def change_facts(outcome: ChangeOutcome, *, undoes: str | None) -> dict[str, Any]:
    """Return how a change ended, and each of its files.

    Args:
        undoes: Short ID of the task whose change it took back; None when it took none back.
    """
    return {
        "code": outcome.code,
        "drift": list(outcome.drift),
        "undoes": undoes,
        "files": [
            {"op": change.op, "path": change.path, "old_path": change.old_path}
            for change in outcome.files
        ],
        "mixture": asdict(outcome.mixture) if outcome.mixture else None,
    }


def _mixed(found: Mixture, lang: Lang, *, short_id: str, prefix: str) -> Iterator[str]:
    """Give what lies there of a change that was cut off: the counts, and the first of each."""
    yield say(CHANGE_MIXED, lang)
    for kind, sentence in STANDING.items():
        if paths := getattr(found, kind):
            named = render_names(paths, lang, most=MIXED_NAMES)
            yield say(sentence, lang, count=len(paths), paths=named)
    if found.new:
        yield say(TO_RESTORE, lang, task=short_id, prefix=prefix)


def _not_changed(outcome: ChangeOutcome, lang: Lang) -> str:
    code = outcome.code or ""
    if outcome.reason is Reason.DRIFTED:
        return render_drift(outcome.drift, lang)
    if outcome.reason is Reason.UNKNOWN:
        half = code == "change.half-done"
        unknown = CHANGE_HALF_DONE if half else CHANGE_UNKNOWN
        return say(unknown, lang)
    known = NOT_CHANGED.get(code)
    return say(known or CHANGE_FAILED, lang, why=code)


def _row(change: SealedChange, lang: Lang) -> str:
    op = say(OPS[change.op], lang)
    return say(CHANGE_ROW, lang, op=op, path=change.path)


def sealable_change(action: Action, prepared: PreparedChange) -> Sealable:
    """Return a change of files as it can be sealed and judged."""
    return Sealable(
        action=action,
        payload=prepared.payload,
        workspace=prepared.workspace,
        git_head=prepared.git_head,
        base=prepared.base,
        undo="yes",
        discloses=DISCLOSES,
        diff=prepared.model,
        moved=prepared.moved,
    )


def ended_change(
    outcome: ChangeOutcome, seal: Seal, prefix: str, *, undone: str | None = None
) -> Ended:
    """Return how a change ended, with its words for the chat and for this machine.

    Args:
        outcome: From the applier.
        seal: What was approved.
        prefix: The word that addresses the bot.
        undone: Short ID of the task whose change it took back; None when it took none back.
    """
    words = partial(render_change, outcome, short_id=seal.short_id, undone=undone)
    here = partial(words, prefix=_HERE)
    # What was asked at this machine is no task of anybody in the chat.
    summary = partial(words, prefix=prefix) if seal.source.gateway_key_id else here
    did = {"change": change_facts(outcome, undoes=undone)}
    return Ended(outcome.reason, summary, here=here, did=did)
