"""Every sentence of the page; what other faces say as well is taken from them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from common.sentences import AUDIT_FAULTS, Sentence
from local_agent.cards import words as cards
from local_agent.faces.page.audit import EVENTS
from local_agent.words import DISCLOSED, DISCLOSURES, REASONS, STATES

PAGE: Final[Mapping[str, Sentence]] = {
    # -- around everything --
    "tasks": Sentence(en="Tasks", zh="任务"),
    "approvals": Sentence(en="Approvals", zh="审批"),
    "playbooks": Sentence(en="Playbooks", zh="剧本"),
    "files": Sentence(en="Files", zh="文件"),
    "insights": Sentence(en="Insights", zh="统计"),
    "audit": Sentence(en="Audit", zh="审计"),
    "settings": Sentence(en="Settings", zh="设置"),
    "skip": Sentence(en="Skip to the content", zh="跳到正文"),
    "sections": Sentence(en="Sections", zh="栏目"),
    "gateway-connected": Sentence(en="Gateway connected", zh="网关已连接"),
    "gateway-unpaired": Sentence(en="No gateway", zh="未接入网关"),
    "gateway-away": Sentence(en="Gateway not connected", zh="网关未连接"),
    "agent-away": Sentence(
        en="The agent does not answer. What you see may be out of date; trying again …",
        zh="Agent 没有响应，显示的内容可能已过时；正在重试……",
    ),
    "session-over": Sentence(
        en="This page's session has ended. Open it again: codexbridge open",
        zh="页面会话已结束。请重新打开：codexbridge open",
    ),
    "failed": Sentence(
        en="The agent did not answer. Nothing was lost; try again.",
        zh="Agent 没有响应。没有丢失任何内容，请重试。",
    ),
    "loading": Sentence(en="Loading …", zh="正在加载……"),
    "more": Sentence(en="Show more", zh="显示更多"),
    "close": Sentence(en="Close", zh="关闭"),
    "back": Sentence(en="Back to the list", zh="返回列表"),
    # -- list of tasks --
    "find": Sentence(en="Find a task", zh="查找任务"),
    "open-only": Sentence(en="Open only", zh="仅未结束"),
    "no-tasks": Sentence(en="No tasks yet", zh="还没有任务"),
    "no-tasks-how": Sentence(
        en="Write below what you want, such as “explain the login retry”.",
        zh="在下方写下要做的事，例如“解释登录重试”。",
    ),
    "nothing-found": Sentence(en="Nothing found", zh="没有找到"),
    "choose-task": Sentence(
        en="Choose a task on the left, or write a new request below.",
        zh="在左侧选择一个任务，或在下方写新的请求。",
    ),
    "examples": Sentence(en="What you can ask for", zh="可以请求什么"),
    "example-question": Sentence(en="Ask about the code", zh="了解代码"),
    "try-question": Sentence(en="explain what this project does", zh="解释这个项目是做什么的"),
    "example-change": Sentence(en="Have a change proposed", zh="提出改动方案"),
    "try-change": Sentence(en="fix the typos in the README", zh="修正 README 里的错别字"),
    "example-run": Sentence(en="Run the tests", zh="运行测试"),
    "try-run": Sentence(en="{prefix} test", zh="{prefix} 测试"),
    "keys": Sentence(en="Keyboard", zh="键盘"),
    "key-enter": Sentence(en="Enter", zh="回车"),
    "key-sends": Sentence(en="sends what you have written", zh="发送"),
    "key-shift-enter": Sentence(en="Shift+Enter", zh="Shift+回车"),
    "key-new-line": Sentence(en="begins a new line", zh="换行"),
    "key-earlier": Sentence(
        en="in the empty field: brings back earlier requests", zh="输入框为空时：找回以前的请求"
    ),
    "key-list": Sentence(
        en="in the list: the task above or below", zh="任务列表中：上一个、下一个任务"
    ),
    "from-wecom": Sentence(en="from WeCom", zh="来自企业微信"),
    "you": Sentence(en="You", zh="你"),
    "claimed": Sentence(
        en="Name as the gateway claims it; this machine has not verified it.",
        zh="名字由网关声称，本机没有核实。",
    ),
    "resting": Sentence(en="waiting to be applied", zh="待应用"),
    "replaced-by": Sentence(en="replaced by {task}", zh="已由 {task} 取代"),
    "version": Sentence(en="version {version}", zh="第 {version} 版"),
    "part-of": Sentence(
        en="step {step} of {total} of {playbook}: {name}",
        zh="{playbook} 第 {step} 步，共 {total} 步：{name}",
    ),
    "part-of-run": Sentence(en="a step of {playbook}", zh="{playbook} 的步骤"),
    "left": Sentence(en="{left} left", zh="剩余 {left}"),
    "expired": Sentence(en="expired", zh="已过期"),
    "hours": Sentence(en="{h} h {m} min", zh="{h} 小时 {m} 分"),
    "minutes": Sentence(en="{m} min", zh="{m} 分钟"),
    "seconds": Sentence(en="{s} s", zh="{s} 秒"),
    "no-time": Sentence(en="< 0.1 s", zh="< 0.1 秒"),
    # -- composer --
    "compose": Sentence(en="What should be done?", zh="要做什么？"),
    "revise-hint": Sentence(en="What should be different?", zh="希望怎么改？"),
    "compose-hint": Sentence(
        en="Describe what you want, or type {prefix} for commands",
        zh="描述要做的事，或输入 {prefix} 使用命令",
    ),
    "send": Sentence(en="Send", zh="发送"),
    "send-how": Sentence(
        en="Enter sends, Shift+Enter begins a new line, ↑ brings back earlier requests",
        zh="回车发送，Shift+回车换行，↑ 找回以前的请求",
    ),
    "workspace": Sentence(en="Workspace", zh="工作区"),
    "default-workspace": Sentence(en="{name} (default)", zh="{name}（默认）"),
    "no-workspace": Sentence(
        en="No workspace yet. Add one: codexbridge workspace add PATH",
        zh="还没有工作区。添加：codexbridge workspace add 路径",
    ),
    "commands": Sentence(en="Commands", zh="命令"),
    "revising": Sentence(en="Revising {task}", zh="修订 {task}"),
    "stop-revising": Sentence(en="New request instead", zh="改为新的请求"),
    # -- one task --
    "progress": Sentence(en="Progress", zh="进度"),
    "reached": Sentence(en="reached", zh="已到达"),
    "present": Sentence(en="now", zh="当前"),
    "ahead": Sentence(en="not yet", zh="未到"),
    "answer": Sentence(en="Answer", zh="回答"),
    "at-work": Sentence(en="The model is writing …", zh="模型正在输出……"),
    "model-says": Sentence(
        en="{model} in its own words: not checked, and no part of what you approve",
        zh="{model} 的原话：未经核实，不属于批准内容",
    ),
    "left-out-edits": Sentence(en="Edits that were not taken", zh="未采用的修改"),
    "suggested-commands": Sentence(
        en="Commands it suggests; none has been run", zh="它建议的命令；均未执行"
    ),
    "outcome": Sentence(en="Outcome", zh="结果"),
    "output": Sentence(en="Output", zh="输出"),
    "no-output": Sentence(en="It printed nothing.", zh="没有输出。"),
    "whole-output": Sentence(en="Whole output", zh="完整输出"),
    "exit-code": Sentence(en="exit code {code}", zh="退出码 {code}"),
    "changed-files": Sentence(en="Files that changed", zh="变化的文件"),
    "files-of-change": Sentence(en="Files of this change", zh="涉及的文件"),
    "file-new": Sentence(en="new", zh="新增"),
    "file-changed": Sentence(en="changed", zh="修改"),
    "file-deleted": Sentence(en="deleted", zh="删除"),
    "model-use": Sentence(
        en="{model}, {time}: {read} tokens read, {written} written",
        zh="{model}，{time}：读入 {read}、写出 {written} 个 token",
    ),
    "model-shown": Sentence(
        en="{count} {count:file|files}, {size} shown to the model",
        zh="向模型展示了 {count} 个文件，{size}",
    ),
    "details": Sentence(en="Details", zh="详情"),
    # -- a question --
    "code": Sentence(en="Confirmation code", zh="确认码"),
    "code-how": Sentence(
        en="The window and the terminal show the same code for exactly this.",
        zh="窗口和终端对同一内容显示相同的确认码。",
    ),
    "high-risk": Sentence(en="HIGH RISK", zh="高风险"),
    "normal-risk": Sentence(en="ordinary risk", zh="一般风险"),
    "why-risky": Sentence(en="Why", zh="原因"),
    "request": Sentence(en="Request", zh="请求原文"),
    "asked-by": Sentence(en="Asked by", zh="请求者"),
    "place": Sentence(en="Workspace", zh="工作区"),
    "at-commit": Sentence(en="at commit {commit}", zh="位于提交 {commit}"),
    "to-chat": Sentence(en="To the chat", zh="发到聊天"),
    "undo-said": Sentence(en="Undo", zh="撤销"),
    "checked": Sentence(en="Check", zh="检查"),
    "ask-here": Sentence(en="Decide on this machine", zh="在本机上决定"),
    "ask-here-how": Sentence(
        en="Opens the approval window. This page approves with a passkey alone, "
        "which must have been added before.",
        zh="打开审批窗口。本页面只能用通行密钥批准，且须事先添加。",
    ),
    "window-opens": Sentence(
        en="{task} is asked in a window on this machine, after the one that may be open now.",
        zh="{task} 的审批窗口将在本机打开；如有其他窗口开着，则在它关闭之后。",
    ),
    "no-window": Sentence(
        en="No window can be opened here. In a terminal: codexbridge approve {task} (or reject)",
        zh="此处无法打开窗口。请在终端中运行：codexbridge approve {task}（或 reject）",
    ),
    "blocked": Sentence(
        en="Nothing can be approved right now: {why}", zh="目前不能批准任何内容：{why}"
    ),
    "check-first": Sentence(en="Try it on a copy first", zh="先在副本上检查"),
    "apply": Sentence(en="Apply …", zh="应用……"),
    "apply-how": Sentence(en="Asks for approval on this machine", zh="在本机上请求批准"),
    "cancel": Sentence(en="Cancel", zh="取消"),
    "retry": Sentence(en="Try again", zh="重试"),
    "undo": Sentence(en="Undo …", zh="撤销……"),
    "undone": Sentence(en="All of it has been taken back.", zh="已全部撤销。"),
    "revise": Sentence(en="Revise …", zh="修订……"),
    "receipt": Sentence(en="Receipt", zh="凭证"),
    "retry-sure": Sentence(
        en="This was interrupted and may have taken effect. Ask for it once more?",
        zh="该任务曾中断，可能已经生效。要再次提出吗？",
    ),
    "keep-chosen": Sentence(
        en="Ask for these {count} of {total} only", zh="只请求这 {count} 项（共 {total} 项）"
    ),
    "keep-how": Sentence(
        en="The chosen part is sealed anew, with a code of its own.",
        zh="所选部分会重新生成批准内容和确认码。",
    ),
    "keep-file": Sentence(en="Keep {path}", zh="保留 {path}"),
    "keep-hunk": Sentence(en="Keep this part", zh="保留这一处"),
    # -- decided --
    "decided": Sentence(en="Decision", zh="决定"),
    "decided-yes": Sentence(en="Approved ({face}), {when}", zh="{when} 批准（{face}）"),
    "decided-no": Sentence(en="Rejected ({face}), {when}", zh="{when} 拒绝（{face}）"),
    "face-terminal": Sentence(en="terminal", zh="终端"),
    "face-desktop": Sentence(en="window", zh="窗口"),
    "face-passkey": Sentence(en="passkey", zh="通行密钥"),
    "face-dry-run": Sentence(
        en="the answers file of a dry run, or its rollback", zh="试运行的答案文件或其回滚"
    ),
    # -- passkeys --
    "passkey-approve": Sentence(en="Approve with a passkey", zh="用通行密钥批准"),
    "passkey-how": Sentence(
        en="Your passkey signs exactly what is shown above, all of it.",
        zh="通行密钥只对上面显示的全部内容签名。",
    ),
    "passkey-sign": Sentence(en="Sign with the passkey", zh="用通行密钥签名"),
    "passkey-code-window": Sentence(
        en="High risk: type the one-time code from the window that opened on this machine",
        zh="高风险：输入本机弹出窗口中的一次性代码",
    ),
    "passkey-code-terminal": Sentence(
        en="High risk: type the one-time code from the terminal (codexbridge passkey code)",
        zh="高风险：输入终端中的一次性代码（codexbridge passkey code）",
    ),
    "passkey-no-display": Sentence(
        en="No passkey for high risk: nothing here can show its one-time code. In a terminal: "
        "codexbridge passkey code",
        zh="高风险暂不能用通行密钥：此处无法显示一次性代码。请在终端运行：codexbridge passkey code",
    ),
    "read-first": Sentence(
        en="High risk: read to the end, or look at each file, first.",
        zh="高风险：请先看到末尾，或逐个查看文件。",
    ),
    "cut-lines": Sentence(
        en="This file has lines that are too long for this page. For high risk decide in the "
        "window or the terminal, which show all of them.",
        zh="此文件有本页面放不下的长行。高风险改动请在窗口或终端中审批，那里会完整显示。",
    ),
    "passkey-failed": Sentence(
        en="The passkey was not used. Nothing was approved.",
        zh="没有使用通行密钥。没有批准任何操作。",
    ),
    "passkey-add": Sentence(en="Add this passkey", zh="添加通行密钥"),
    "passkey-begin": Sentence(
        en="A terminal on this machine asks for a passkey. Make one in this browser now.",
        zh="本机终端请求添加通行密钥。请在此浏览器中创建。",
    ),
    "passkey-none": Sentence(
        en="No terminal asks for a passkey now. Begin there: codexbridge passkey add NAME",
        zh="目前没有终端请求添加通行密钥。请先运行：codexbridge passkey add 名称",
    ),
    "passkey-type": Sentence(
        en="The terminal shows the second half of this code. If it is the same, type the first "
        "half there. The passkey counts only then.",
        zh="终端会显示此代码的后半部分。如果一致，请在终端中输入前半部分，之后通行密钥才生效。",
    ),
    "passkey-accepted": Sentence(
        en="Accepted: this passkey may approve on this page.",
        zh="已接受：可以在本页面用此通行密钥批准。",
    ),
    "passkeys": Sentence(en="Passkeys", zh="通行密钥"),
    "no-passkeys": Sentence(
        en="None. To approve on this page, add one: codexbridge passkey add NAME",
        zh="没有。如需在本页面批准，请添加：codexbridge passkey add 名称",
    ),
    # -- diff --
    "side-by-side": Sentence(en="Side by side", zh="并排"),
    "unified": Sentence(en="Unified", zh="合并"),
    "layout": Sentence(en="Layout of the diff", zh="diff 布局"),
    "files-count": Sentence(en="{count} {count:file|files}", zh="{count} 个文件"),
    "show-file": Sentence(en="Show {count} lines", zh="显示 {count} 行"),
    "hide-file": Sentence(en="Hide", zh="收起"),
    "more-lines": Sentence(en="{count} more lines", zh="还有 {count} 行"),
    "more-chars": Sentence(en="… {count} more characters", zh="……还有 {count} 个字符"),
    "removed-line": Sentence(en="removed", zh="删去"),
    "added-line": Sentence(en="added", zh="加入"),
    "look-at": Sentence(en="Look at", zh="请留意"),
    # -- approvals --
    "no-approvals": Sentence(en="Nothing waits for you", zh="没有等待你的请求"),
    "no-approvals-how": Sentence(
        en="What needs your approval appears here, on your desktop and in the terminal.",
        zh="需要你批准的请求会出现在这里、桌面和终端。",
    ),
    "look": Sentence(en="Look at it", zh="查看"),
    # -- kinds and states of what is told --
    "theme": Sentence(en="Colours", zh="配色"),
    "theme-auto": Sentence(en="as the system", zh="跟随系统"),
    "theme-light": Sentence(en="light", zh="浅色"),
    "theme-dark": Sentence(en="dark", zh="深色"),
    "kind-help": Sentence(en="help", zh="帮助"),
    "kind-status": Sentence(en="status", zh="状态"),
    "kind-explain": Sentence(en="explanation", zh="解释"),
    "kind-change": Sentence(en="change", zh="改动"),
    "kind-run": Sentence(en="command", zh="命令"),
    "kind-diagnose": Sentence(en="diagnosis", zh="诊断"),
    "kind-search": Sentence(en="search", zh="搜索"),
    "kind-review": Sentence(en="review", zh="审查"),
    "kind-git_sync": Sentence(en="commit and push", zh="提交并推送"),
    "kind-playbook": Sentence(en="playbook", zh="剧本"),
    "steps": Sentence(en="Steps", zh="步骤"),
    "step-tool": Sentence(en="tool", zh="工具"),
    "step-agent": Sentence(en="model", zh="模型"),
    "step-gate": Sentence(en="gate", zh="审批点"),
    "run-pending": Sentence(en="not yet", zh="未到"),
    "run-running": Sentence(en="running", zh="执行中"),
    "run-waiting": Sentence(en="waiting for approval", zh="等待批准"),
    "run-completed": Sentence(en="completed", zh="已完成"),
    "run-failed": Sentence(en="failed", zh="失败"),
    "run-denied": Sentence(en="rejected", zh="已拒绝"),
    "run-timeout": Sentence(en="nobody decided in time", zh="超时未决定"),
    "run-interrupted": Sentence(en="interrupted", zh="中断"),
    "run-cancelled": Sentence(en="cancelled", zh="已取消"),
    "run-skipped": Sentence(en="skipped", zh="已跳过"),
    "run-rolled_back": Sentence(en="rolled back", zh="已回滚"),
    # -- playbooks --
    "playbook": Sentence(en="Playbook", zh="剧本"),
    "origin-own": Sentence(en="yours", zh="自定义"),
    "origin-shipped": Sentence(en="comes with CodexBridge", zh="随产品提供"),
    "instead": Sentence(en="instead of the one that comes along", zh="替代随产品提供的版本"),
    "risk-low": Sentence(en="low risk", zh="低风险"),
    "risk-medium": Sentence(en="medium risk", zh="中等风险"),
    "risk-high": Sentence(en="high risk", zh="高风险"),
    "asked-by-words": Sentence(en="In words: {words}", zh="触发词：{words}"),
    "steps-count": Sentence(en="{count} {count:step|steps}", zh="{count} 个步骤"),
    "only-if": Sentence(en="only if", zh="条件"),
    "run-playbook": Sentence(en="Run …", zh="执行……"),
    "playbook-message": Sentence(en="What the playbook is told", zh="告诉剧本的话"),
    "run-now": Sentence(en="Run", zh="执行"),
    "dry-run": Sentence(en="Dry run", zh="试运行"),
    "dry-run-how": Sentence(
        en="On a copy; the workspace stays as it is", zh="在副本上执行，工作区保持不变"
    ),
    "run-how": Sentence(
        en="Every change asks for approval on this machine.", zh="每次改动都会在本机请求批准。"
    ),
    "runs": Sentence(en="Runs", zh="执行记录"),
    "no-runs": Sentence(en="No playbook was run yet.", zh="还没有执行过剧本。"),
    "resume": Sentence(en="Resume", zh="继续"),
    "roll-back": Sentence(en="Roll back …", zh="回滚……"),
    "task": Sentence(en="Task", zh="任务"),
    "state": Sentence(en="State", zh="状态"),
    "begun": Sentence(en="Begun", zh="开始"),
    "actions": Sentence(en="Actions", zh="操作"),
    # -- files --
    "path": Sentence(en="Path", zh="路径"),
    "choose-file": Sentence(en="Choose a file.", zh="请选择一个文件。"),
    "folder-empty": Sentence(en="empty", zh="空文件夹"),
    "folder-cut": Sentence(
        en="This folder has too many entries to show them all.", zh="条目过多，未能全部显示。"
    ),
    "refused-denied": Sentence(en="never read here", zh="禁止读取"),
    "refused-name": Sentence(en="its name cannot be opened", zh="名称无法打开"),
    "kind-of-link": Sentence(en="link, not followed", zh="链接，不跟随"),
    "kind-of-other": Sentence(en="not a file", zh="不是普通文件"),
    "line": Sentence(en="line {line}", zh="第 {line} 行"),
    "lines": Sentence(en="{count} {count:line|lines}", zh="{count} 行"),
    "not-utf8": Sentence(en="not UTF-8", zh="不是 UTF-8"),
    "mixed-ends": Sentence(en="mixed line ends", zh="换行符不一致"),
    "file-text": Sentence(en="Text of the file", zh="文件内容"),
    "file-stopped": Sentence(
        en="The rest is too far into the file to be shown.", zh="其余部分过长，不予显示。"
    ),
    "binary-file": Sentence(en="Not text; its first bytes", zh="不是文本；开头的字节"),
    # -- insights --
    "period": Sentence(en="Period", zh="时段"),
    "days": Sentence(en="{count} days", zh="{count} 天"),
    "day": Sentence(en="Day", zh="日期"),
    "count": Sentence(en="Count", zh="数量"),
    "as-table": Sentence(en="As a table", zh="以表格显示"),
    "nothing-yet": Sentence(en="Nothing in this period.", zh="此时段没有数据。"),
    "still-open": Sentence(en="open", zh="未结束"),
    "plot-outcomes": Sentence(en="Tasks by outcome", zh="任务结果"),
    "plot-states": Sentence(en="Time in each state", zh="各状态用时"),
    "plot-states-how": Sentence(
        en="Median · nine of ten; the scale is logarithmic.",
        zh="中位数 · 90 分位数；横轴为对数刻度。",
    ),
    "median": Sentence(en="median", zh="中位数"),
    "p90": Sentence(en="nine of ten within", zh="90 分位数"),
    "nine-of-ten": Sentence(en="Nine of ten within", zh="90 分位数"),
    "plot-waits": Sentence(en="How long approvals waited", zh="审批等待时间"),
    "waits-median": Sentence(en="Median until approval: {time}", zh="批准前等待的中位数：{time}"),
    "waited": Sentence(en="Waited", zh="等待"),
    "wait-approved": Sentence(en="approved", zh="已批准"),
    "wait-rejected": Sentence(en="rejected", zh="已拒绝"),
    "wait-expired": Sentence(en="expired", zh="已过期"),
    "plot-cost": Sentence(en="Cost of models ({currency})", zh="模型费用（{currency}）"),
    "plot-tokens": Sentence(en="Tokens used by models", zh="模型用量（token）"),
    "plot-tokens-how": Sentence(
        en="With price_input and price_output in the settings, this shows what it cost.",
        zh="在设置中填写 price_input 与 price_output 后，这里显示费用。",
    ),
    "model": Sentence(en="Model", zh="模型"),
    "turns": Sentence(en="Turns", zh="次数"),
    "tokens-read": Sentence(en="Tokens read", zh="读入 token"),
    "tokens-written": Sentence(en="Tokens written", zh="写出 token"),
    "cost": Sentence(en="Cost", zh="费用"),
    # -- audit --
    "chain": Sentence(en="State of the audit log", zh="审计日志状态"),
    "chain-entries": Sentence(en="{count} {count:entry|entries}.", zh="共 {count} 条记录。"),
    "gateway-keeps": Sentence(
        en="The gateway has signed for all up to {seq}.", zh="网关已签名确认到第 {seq} 条。"
    ),
    "gateway-keeps-none": Sentence(en="No gateway has signed for it.", zh="尚无网关为日志签名。"),
    "forked": Sentence(
        en="Since {at} the gateway signs what contradicts this log. Run: codexbridge audit verify",
        zh="自 {at} 起，网关签名的内容与此日志矛盾。请运行：codexbridge audit verify",
    ),
    "verify": Sentence(en="Check every entry", zh="检查全部记录"),
    "chain-holds": Sentence(
        en="All {count} entries hold: nothing was changed, removed or cut off.",
        zh="全部 {count} 条记录完好：没有改动、删除或截断。",
    ),
    "chain-broken": Sentence(
        en="Entry {seq} does not hold: {what}.", zh="第 {seq} 条记录有问题：{what}。"
    ),
    "receipts-where": Sentence(
        en="The receipt of a task is on its page, once it has ended.",
        zh="任务结束后，可在任务页面下载凭证。",
    ),
    "entries": Sentence(en="Entries", zh="记录"),
    "number": Sentence(en="Number", zh="序号"),
    "when": Sentence(en="When", zh="时间"),
    "what-happened": Sentence(en="What happened", zh="事件"),
    "facts-count": Sentence(en="{count} {count:fact|facts}", zh="{count} 项"),
    "event-": Sentence(en="cannot be read", zh="无法读取"),
    # -- settings --
    "this-page": Sentence(en="This page", zh="本页面"),
    "language": Sentence(en="Language", zh="语言"),
    "leave": Sentence(en="End this session", zh="结束会话"),
    "in-force": Sentence(en="Settings in force", zh="生效的设置"),
    "settings-file": Sentence(en="Settings file: {file}.", zh="设置文件：{file}。"),
    "no-settings-file": Sentence(en="There is no settings file.", zh="没有设置文件。"),
    "settings-how": Sentence(
        en="They are changed there and read when the agent starts; this page only shows them.",
        zh="在设置文件中修改，Agent 启动时读取；本页面只显示。",
    ),
    "settings-problem": Sentence(
        en="The sources cannot be read now, so a restart would fail:",
        zh="目前无法读取设置来源，重启会失败：",
    ),
    "setting": Sentence(en="Setting", zh="设置项"),
    "value": Sentence(en="Value", zh="值"),
    "comes-from": Sentence(en="Comes from", zh="来源"),
    "source-default": Sentence(en="default", zh="默认值"),
    "source-file": Sentence(en="settings file", zh="设置文件"),
    "source-environment": Sentence(en="environment", zh="环境变量"),
    "source-start": Sentence(en="as it was at the start", zh="启动时的值"),
    "after-restart": Sentence(en="after a restart: {value}", zh="重启后：{value}"),
    "workspaces": Sentence(en="Workspaces", zh="工作区"),
    "default": Sentence(en="default", zh="默认"),
    "disclosed": DISCLOSED,
    "policy-none": Sentence(en="no policy of its own", zh="没有专门的策略"),
    "policy-in-force": Sentence(en="policy in force", zh="策略已生效"),
    "policy-broken": Sentence(
        en="policy BROKEN: everything is refused", zh="策略无效：一切操作都被拒绝"
    ),
    "models": Sentence(en="Models", zh="模型"),
    "no-models": Sentence(
        en="none; how to connect one: codexbridge models",
        zh="无；接入方法见 codexbridge models",
    ),
    "is-asked": Sentence(en="is asked", zh="正在使用"),
    "model-turns": Sentence(
        en="{count} {count:turn|turns} in {days} days: {read} tokens read, {written} written",
        zh="{days} 天内 {count} 次：读入 {read}、写出 {written} 个 token",
    ),
}


def catalogue() -> dict[str, Sentence]:
    """Return all sentences by key."""
    named = {f"state-{name}": one for name, one in STATES.items()}
    named |= {f"reason-{name}": one for name, one in REASONS.items()}
    named |= {f"op-{name}": one for name, one in cards.OPS.items()}
    named |= {f"effect-{name}": one for name, one in cards.EFFECTS.items()}
    named |= {f"event-{name}": one for name, one in EVENTS.items()}
    named |= {f"fault-{name}": one for name, one in AUDIT_FAULTS.items()}
    named |= {f"disclosure-{name}": one for name, one in DISCLOSURES.items()}
    named |= {"open-end": cards.OPEN_END}
    return {**named, **PAGE}
