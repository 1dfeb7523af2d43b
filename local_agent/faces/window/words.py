"""What only the window says; the rest it shares with the terminal (`local_agent.cards.words`)."""

from __future__ import annotations

from typing import Final

from common.sentences import Sentence

WINDOW_TITLE: Final = Sentence(en="{task} · CodexBridge", zh="{task} · CodexBridge")

REJECT: Final = Sentence(en="Reject", zh="拒绝")
LATER: Final = Sentence(en="Later", zh="稍后")
CHECK: Final = Sentence(en="Run the check first", zh="先运行检查")
NARROW: Final = Sentence(en="Only the ticked files", zh="仅所选文件")
APPROVE: Final = {
    "run_command": Sentence(en="Approve and run", zh="批准并运行"),
    "apply_diff": Sentence(en="Approve and apply", zh="批准并应用"),
    "undo": Sentence(en="Approve and take back", zh="批准并撤销"),
    "git_sync": Sentence(en="Approve and push", zh="批准并推送"),
    "disclose": Sentence(en="Approve and send", zh="批准并发出"),
}

ASKED_HERE: Final = Sentence(en="Asked at this machine", zh="在本机提出")
ASKED_AFAR: Final = Sentence(en="Asked from afar, not verified", zh="远程请求，身份未经核实")
FLAGS: Final = Sentence(en="Look closely", zh="请留意")
FLAG_AT: Final = Sentence(en="{path}, line {line}: {what}", zh="{path} 第 {line} 行：{what}")
FLAG_MORE: Final = Sentence(
    en="… and {count} more, marked in the diff", zh="……另有 {count} 处，已在改动中标出"
)

CLOSES: Final = Sentence(
    en="closes undecided in {left}  ·  {waits} to decide",
    zh="{left} 后关闭且不作决定  ·  请求{waits}",
)
ARMING: Final = Sentence(
    en="The buttons work once the window has stood still for a moment.",
    zh="窗口静止片刻后按钮才可使用。",
)
NOT_WHOLE: Final = Sentence(
    en="Not all of the change is here yet: it is still being put in.",
    zh="改动尚未全部显示，正在载入，请稍候。",
)
READ_FIRST: Final = Sentence(
    en="High risk: read to the end, or look at each file, first.",
    zh="高风险：请先看到末尾，或逐个查看文件。",
)
TYPE_CODE: Final = Sentence(
    en="High risk: type the whole code to approve exactly this.",
    zh="高风险：请输入完整确认码，即批准以上内容。",
)
UNTICKED: Final = Sentence(
    en="Some files are unticked: you are asked again for the ticked ones alone.",
    zh="有文件未选中：将仅就所选文件重新请你批准。",
)
NONE_TICKED: Final = Sentence(
    en="No file is ticked: tick some, or reject.", zh="没有选中任何文件：请选择文件，或拒绝。"
)
READY: Final = Sentence(
    en="Enter never approves; closing the window decides nothing.",
    zh="回车键不会批准；关闭窗口不作任何决定。",
)

ALERT: Final = Sentence(en="CodexBridge: {task} waits for you", zh="CodexBridge：{task} 等待你确认")
ALERT_HOW: Final = Sentence(
    en="Too many windows were opened for one gateway. Look at it in a terminal: "
    "codexbridge approve {task}",
    zh="同一网关弹出的窗口过多。请在终端中查看：codexbridge approve {task}",
)
NOT_TAKEN: Final = Sentence(
    en="CodexBridge: your answer to {task} was not taken",
    zh="CodexBridge：你对 {task} 的答复未被接受",
)
NOT_TAKEN_WHY: Final = Sentence(
    en="It ended, changed, or cannot be approved right now. Nothing was done; see: "
    "codexbridge show {task}",
    zh="它已结束、已变化，或目前无法批准。没有执行任何操作；请查看：codexbridge show {task}",
)
