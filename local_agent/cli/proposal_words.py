"""What the command line says about proposals of a model; both languages, like `words`."""

from __future__ import annotations

from typing import Final

from common.sentences import Sentence

ASK_AT: Final = Sentence(
    en="what you have in front of you: a file of the workspace, a line or lines of it",
    zh="你正在看的位置：工作区中的文件，可带行号或行范围",
)

# -- what a model says -----------------------------------------------------------------------

MODEL_SAYS: Final = Sentence(en="The model says:", zh="模型的说明：")
NO_EDITS: Final = Sentence(
    en="No change is proposed: the model made no edit.", zh="没有提议改动：模型未作任何修改。"
)
MODEL: Final = Sentence(en="Model", zh="模型")
SHOWN_LABEL: Final = Sentence(en="Shown", zh="已展示")
USED: Final = Sentence(
    en="{model}, {duration}: {read} tokens read, {written} written",
    zh="{model}，{duration}：读入 {read}、写出 {written} 个 token",
)
USED_UNKNOWN: Final = Sentence(en="{model}, {duration}", zh="{model}，{duration}")
FAILED_TURN: Final = Sentence(en="{used} (gave nothing)", zh="{used}（没有结果）")
AT_WORK: Final = Sentence(en="{model}, at work", zh="{model}，正在处理")
CUT_OFF: Final = Sentence(
    en="{model}, cut off when the agent stopped; what it used is not known",
    zh="{model}，因 Agent 停止而中断；用量未知",
)
SHOWN: Final = Sentence(
    en="{count} {count:file|files}, {size}: codexbridge context {task}",
    zh="{count} 个文件，{size}：codexbridge context {task}",
)
WAS_SHOWN: Final = Sentence(en="It was shown {shown}", zh="已向它展示 {shown}")

# -- a change that rests ---------------------------------------------------------------------

RESTS: Final = Sentence(en="proposed, not applied", zh="已提议，未应用")
RESTS_VERSION: Final = Sentence(en="version {version}, not applied", zh="第 {version} 版，未应用")
REPLACED: Final = Sentence(en="replaced by {task}", zh="已由 {task} 取代")
NOTHING_YET: Final = Sentence(en="Nothing is changed yet. To", zh="尚未改动任何内容。可以：")
LOOK: Final = Sentence(en="see all of it", zh="查看全部")
APPLY: Final = Sentence(en="apply it", zh="应用")
REVISE: Final = Sentence(en="have it otherwise", zh="修订")
DROP: Final = Sentence(en="drop it", zh="放弃")
LOOK_BY: Final = Sentence(en="codexbridge diff {task}", zh="codexbridge diff {task}")
APPLY_BY: Final = Sentence(en="codexbridge apply {task}", zh="codexbridge apply {task}")
REVISE_BY: Final = Sentence(
    en='codexbridge ask "revise {task} …"', zh='codexbridge ask "修订 {task} …"'
)
DROP_BY: Final = Sentence(en="codexbridge cancel {task}", zh="codexbridge cancel {task}")
VERSION_LABEL: Final = Sentence(en="Version", zh="版本")
VERSION: Final = Sentence(en="{version}, after {task}", zh="第 {version} 版，上一版为 {task}")
LINEAGE: Final = Sentence(
    en="{task} is version {version}, after {before}.",
    zh="{task} 是第 {version} 版，上一版为 {before}。",
)
SAID: Final = Sentence(en="Said", zh="说明")
PROPOSED: Final = Sentence(en="Proposed", zh="提议")

# -- looking away ----------------------------------------------------------------------------

DETACHED: Final = Sentence(
    en="Stopped watching. What was asked goes on: `codexbridge tasks` lists it.",
    zh="已停止查看。所提的请求仍在继续：用 `codexbridge tasks` 查看。",
)
