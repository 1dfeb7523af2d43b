"""What the chat says, in English and Chinese side by side, and how it is filled for one person.

A reply says which machine, which task, which state, who must act, until when and what to do next
(P7), within WeCom's bounds.  It names hours, never how long it is until then: it may be sent later,
and is read whenever its reader looks.  Whether something is said at all is decided by intake,
results and upkeep.  Pure: the moment and the time zone come in.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime, tzinfo
from typing import Final

from common.errors import CodexBridgeError
from common.model.state import Reason, TaskState
from common.redact import redact
from common.sentences import Lang, Sentence, explain, listed, say
from common.text import CHAT_BYTES, ELLIPSIS, clip_bytes, one_line, reveal, split_bytes
from gateway.store.agents import Agent
from gateway.store.tasks import Task

PARTS: Final = 3  # messages of one end
ROOM: Final = CHAT_BYTES - 64  # of one message; what marks a copy (`outbox`) fits as well
_ASKED_BYTES: Final = 60  # of a task's own text, in a list
_SAID_BYTES: Final = 240  # of what its machine last said, in a list
_MARKED: Final = frozenset({Reason.COMPLETED, Reason.FAILED})  # the words say what came of it

# What is said when a message leads to nothing, by the code of the error.
REFUSALS: Mapping[str, Sentence] = {
    "access.stranger": Sentence(
        en="Hello! Your ID here is {user}, and it is not a member yet, so nothing was done. To get "
        "access, ask the admin to run: codexbridge gateway member add {user}",
        zh="你好！你的 ID 是 {user}，还不是本应用的成员，没有执行任何操作。"
        "如需使用，请管理员运行：codexbridge gateway member add {user}",
    ),
    "access.not-admin": Sentence(
        en="Only admins can list the members. “{prefix} whoami” shows your role.",
        zh="只有管理员可以查看成员。“{prefix} 我是谁”可查看你的角色。",
    ),
    "access.in-a-group": Sentence(
        en="Not in a group, where everybody would read it. Send it to the app directly.",
        zh="群里所有人都能看到，不在这里显示。请单独向应用发送。",
    ),
    "access.day-is-spent": Sentence(
        en="Not sent: you have used your {limit} {limit:task|tasks} of today. Please send it again "
        "from {until} on. “{prefix} status” and “{prefix} cancel ID” still work.",
        zh="没有发送：你今天的 {limit} 个任务已用完。请在 {until} 之后再发送。"
        "“{prefix} 状态”“{prefix} 取消 编号”仍可使用。",
    ),
    "language.which": Sentence(
        en="Which language? “{prefix} lang en” is English, “{prefix} lang zh” Chinese.",
        zh="要用哪种语言？“{prefix} 语言 中文”或“{prefix} 语言 英文”。",
    ),
    "language.unknown": Sentence(
        en="There is no language “{given}” here; nothing was changed. There are “{prefix} lang en” "
        "and “{prefix} lang zh”.",
        zh="不支持语言“{given}”，没有更改。可用：“{prefix} 语言 中文”“{prefix} 语言 英文”。",
    ),
    "intake.not-addressed": Sentence(
        en="Start with {prefix} to ask your machine something. “{prefix} help” shows what it can "
        "do.",
        zh="请以 {prefix} 开头向开发机提出请求。发送“{prefix} 帮助”查看用法。",
    ),
    "intake.not-text": Sentence(
        en="Only text messages are read here, so nothing was done. Send it as text.",
        zh="这里只处理文字消息，没有执行任何操作。请改发文字。",
    ),
    "intake.unreadable": Sentence(
        en="Nothing was done: control characters and “]]>” cannot be read. Send it without them.",
        zh="没有执行任何操作：控制字符（如终端颜色）和“]]>”无法读取。请去掉后重新发送。",
    ),
    "intake.too-long": Sentence(
        en="That message is longer than {limit} bytes, so nothing was done. Send a shorter one.",
        zh="消息超过 {limit} 字节，没有执行任何操作。请缩短后重新发送。",
    ),
    "access.too-fast": Sentence(
        en="Limit: {limit} {limit:message|messages} a minute; extra ones are ignored. Try again in "
        "a minute.",
        zh="每分钟最多 {limit} 条消息，多出的不处理。请一分钟后再试。",
    ),
    "access.too-many-tasks": Sentence(
        en="You have {count} open {count:task|tasks}, the most allowed. “{prefix} status” lists "
        "them, “{prefix} cancel ID” stops one.",
        zh="你有 {count} 个未完成的任务，已达上限。"
        "“{prefix} 状态”可查看，“{prefix} 取消 编号”可停止。",
    ),
    "access.queue-full": Sentence(
        en="Not sent: {machine} {links:is|is not} connected, and {count} messages already wait "
        "for it. Send it again {links:in a few minutes|when it is back}.",
        zh="未发送：{machine} {links:已|未}连接，{count} 条消息在等待。请{links:稍后|上线后}重发。",
    ),
    "access.no-machine": Sentence(
        en="No machine works for you yet. Ask the admin for a pairing code and enter it on your "
        "machine. Admin: codexbridge gateway pair --machine NAME --member {user}",
        zh="还没有绑定到你的开发机。请向管理员索取配对码，并在开发机上输入。管理员运行："
        "codexbridge gateway pair --machine NAME --member {user}",
    ),
    "access.which-machine": Sentence(
        en="Not sent: which machine? You have {machines}. “{prefix} use NAME” chooses one, "
        "“{prefix} on NAME …” is for one message.",
        zh="没有发送：要用哪台开发机？你有：{machines}。“{prefix} 使用 名称”选定一台，"
        "“{prefix} 在 名称 …”只用于这一条。",
    ),
    "access.machine-gone": Sentence(
        en="Not sent: {machine}, which you had chosen, no longer works for you. You have: "
        "{machines}. Send it again, or choose with “{prefix} use NAME”.",
        zh="没有发送：你选定的 {machine} 已与你解绑。你有：{machines}。"
        "请重新发送，或用“{prefix} 使用 名称”另选。",
    ),
    "access.unknown-machine": Sentence(
        en="Not sent: you have no machine “{name}”. You have: {machines}.",
        zh="没有发送：你没有名为“{name}”的开发机。你有：{machines}。",
    ),
    "access.ambiguous-machine": Sentence(
        en="Not sent: “{name}” may mean {machines}. Write the whole name.",
        zh="没有发送：“{name}”可能指 {machines}。请写出完整名称。",
    ),
    "task.not-yours": Sentence(
        en="You have no task {id}. “{prefix} status” lists yours.",
        zh="你没有任务 {id}。“{prefix} 状态”可列出你的任务。",
    ),
    "task.not-there": Sentence(
        en="You have no task {id} on {machine}. “{prefix} status” lists yours.",
        zh="你在 {machine} 上没有任务 {id}。“{prefix} 状态”可列出你的任务。",
    ),
    "task.ambiguous": Sentence(
        en="Not sent: {id} names a task on each of {machines}. Say which: “{prefix} on NAME …”",
        zh="没有发送：{machines} 上各有一个 {id}。请指明：“{prefix} 在 名称 …”",
    ),
    "task.bad-id": Sentence(
        en="“{given}” is not a task ID; they look like T-7K3F. “{prefix} status” lists yours.",
        zh="“{given}”不是任务编号，编号形如 T-7K3F。“{prefix} 状态”可列出你的任务。",
    ),
    "card.not-yours": Sentence(
        en="That card belongs to no task of yours, so nothing was done. “{prefix} status” lists "
        "yours.",
        zh="这张卡片不属于你的任何任务，没有执行任何操作。“{prefix} 状态”可列出你的任务。",
    ),
    "task.none-open": Sentence(en="You have no open task.", zh="你没有未完成的任务。"),
}
MISTYPED = Sentence(
    en="Not sent: “{word}” is no command. Did you mean “{prefix} {meant}”?",
    zh="没有发送：没有“{word}”这个命令。是不是想发“{prefix} {meant}”？",
)
APPROVE_THERE = Sentence(
    en="Not sent: nothing can be approved from the chat. On the machine: codexbridge approve",
    zh="没有发送：聊天中不能批准。请在开发机上运行：codexbridge approve",
)
SENT = Sentence(en="{id} sent to {machine}.", zh="{id} 已发往 {machine}。")
QUEUED = Sentence(
    en="{id} waits: {machine} has been offline since {since}. It is sent when the machine is back "
    "and expires at {until}.\nTo take it back: {prefix} cancel {id}",
    zh="{id} 排队中：{machine} 自 {since} 起离线。上线后即发送，{until} 过期。\n"
    "撤回：{prefix} 取消 {id}",
)
QUEUED_FIRST = Sentence(
    en="{id} waits: {machine} has not been online yet. It is sent when the machine first connects "
    "and expires at {until}.\nTo take it back: {prefix} cancel {id}",
    zh="{id} 排队中：{machine} 还从未上线。首次连接后即发送，{until} 过期。\n"
    "撤回：{prefix} 取消 {id}",
)
WAITS_THERE = Sentence(
    en="Proposal ready; waiting for local approval on {machine}",
    zh="方案已就绪，等待在 {machine} 上本地批准",
)
WAITING = Sentence(en="{waits}\n{id} · code {code}", zh="{waits}\n{id} · 确认码 {code}")
APPROVE_BY = Sentence(
    en="Until {until}:\ncodexbridge approve {id}", zh="{until} 前：\ncodexbridge approve {id}"
)
RUNNING = Sentence(
    en="{id}: approved on {machine}, now running.", zh="{id}：已在 {machine} 上批准，正在运行。"
)
PROGRESS = Sentence(
    en="{id} on {machine} ({hour}): {message}", zh="{id}（{machine}，{hour}）：{message}"
)

# How the first line of a task's end begins; the agent's own words follow, with ✓ after a deed.
FINAL: Mapping[Reason, Sentence] = {
    Reason.COMPLETED: Sentence(en="{id}", zh="{id}"),
    Reason.FAILED: Sentence(en="{id} ✗", zh="{id} ✗"),
    Reason.REJECTED: Sentence(
        en="{id} – rejected on {machine}.", zh="{id} – 已在 {machine} 上拒绝。"
    ),
    Reason.EXPIRED: Sentence(
        en="{id} – expired on {machine}.", zh="{id} – 已在 {machine} 上过期。"
    ),
    Reason.REFUSED: Sentence(en="{id} – refused on {machine}.", zh="{id} – {machine} 未受理。"),
    Reason.CANCELLED: Sentence(
        en="{id} – cancelled on {machine}.", zh="{id} – 已在 {machine} 上取消。"
    ),
    Reason.DRIFTED: Sentence(
        en="{id} – not run on {machine}.", zh="{id} – 没有在 {machine} 上执行。"
    ),
    Reason.UNKNOWN: Sentence(
        en="{id} ⚠ interrupted on {machine}, outcome unknown.",
        zh="{id} ⚠ 在 {machine} 上中断，结果不明。",
    ),
}
# What such an end says where its agent says nothing.
WORDLESS: Mapping[Reason, Sentence] = {
    Reason.COMPLETED: Sentence(en="completed", zh="已完成"),
    Reason.FAILED: Sentence(en="failed", zh="失败"),
}
ON_MACHINE = Sentence(en="{words} · {machine}", zh="{words} · {machine}")
PART = Sentence(
    en="{head} ({number}/{count}) · {machine}\n{text}",
    zh="{head}（{number}/{count}）· {machine}\n{text}",
)
MORE = Sentence(
    en="More on {machine}:\ncodexbridge show {id}",
    zh="在 {machine} 上查看：\ncodexbridge show {id}",
)
UNSENT: Mapping[Reason, Sentence] = {
    Reason.EXPIRED: Sentence(
        en="{id} – expired. {machine} did not take it in by {until}. Send it again when the "
        "machine is online.",
        zh="{id} – 已过期。{machine} 在 {until} 之前没有接收。请在它上线后重新发送。",
    ),
    Reason.CANCELLED: Sentence(
        en="{id} – cancelled. {machine} did not take it in by {until}.",
        zh="{id} – 已取消。{machine} 在 {until} 之前没有接收。",
    ),
}

CANCELLED_UNSENT = Sentence(
    en="{id} – cancelled. It never reached {machine}, so nothing was done.",
    zh="{id} – 已取消。它没有到达 {machine}，没有执行任何操作。",
)
UNBOUND_CANCELLED = Sentence(
    en="{id} – cancelled. {machine} no longer works for you.",
    zh="{id} – 已取消。{machine} 已与你解绑。",
)

REVOKED = Sentence(
    en="{id} ⚠ outcome unknown. The key of {machine} was revoked; look on that machine.",
    zh="{id} ⚠ 结果不明。{machine} 的密钥已吊销；请到该开发机上查看。",
)
SILENT = Sentence(
    en="{id} ⚠ outcome unknown. {machine} has said nothing of it since {since}. Look there before "
    "you send it again; if it reports its end, it is shown here.",
    zh="{id} ⚠ 结果不明。自 {since} 起没有收到 {machine} 的消息。"
    "重新发送前请先到该开发机上查看；之后如收到结果会通知你。",
)

CANCEL_SENT = Sentence(
    en="{machine} is being told to stop {id}.", zh="正在通知 {machine} 停止 {id}。"
)
CANCEL_WAITS = Sentence(
    en="{machine} is offline and is told to stop {id} when it is back. Nothing runs there without "
    "approval.",
    zh="{machine} 离线，上线后会通知它停止 {id}。未经批准，那里不会运行任何内容。",
)
ALREADY_OVER = Sentence(en="{id} has ended already: {outcome}.", zh="{id} 已经结束：{outcome}。")
WHICH_MACHINE = Sentence(
    en="{id} names more than one; nothing was cancelled. Say “{prefix} on NAME cancel {id}”:",
    zh="{id} 对应多个任务，没有取消任何一个。请发送“{prefix} 在 名称 取消 {id}”：",
)
WHICH_TASK = Sentence(
    en="Which one? Say “{prefix} cancel ID”, or “{prefix} cancel all”:",
    zh="要取消哪一个？请发送“{prefix} 取消 编号”，或“{prefix} 取消全部”：",
)

OUTCOME: Mapping[Reason, Sentence] = {
    Reason.COMPLETED: Sentence(en="completed", zh="已完成"),
    Reason.FAILED: Sentence(en="failed", zh="失败"),
    Reason.REJECTED: Sentence(en="rejected", zh="已拒绝"),
    Reason.EXPIRED: Sentence(en="expired", zh="已过期"),
    Reason.REFUSED: Sentence(en="refused, nothing was done", zh="未受理，没有执行任何操作"),
    Reason.CANCELLED: Sentence(en="cancelled", zh="已取消"),
    Reason.DRIFTED: Sentence(en="not run: something changed", zh="内容已变，未执行"),
    Reason.UNKNOWN: Sentence(en="interrupted, outcome unknown", zh="中断，结果不明"),
}
AT_WORK = Sentence(en="the machine is working on it", zh="开发机正在处理")
QUEUED_STATE = Sentence(en="queued until {until}", zh="排队中，{until} 过期")
WAITING_STATE = Sentence(
    en="waiting for approval at the machine until {until}, code {code}",
    zh="等待在开发机上批准，{until} 过期，确认码 {code}",
)
RUNNING_STATE = Sentence(en="running", zh="正在运行")
STOPPING = Sentence(en=" (to be stopped)", zh="（等待停止）")
AWAY = Sentence(en=" ({machine} offline since {since})", zh="（{machine} 自 {since} 起离线）")
AS_OF = Sentence(en="{words} ({hour})", zh="{words}（{hour}）")
ONLINE = Sentence(en="{machine}: online", zh="{machine}：在线")
OFFLINE = Sentence(en="{machine}: offline since {since}", zh="{machine}：自 {since} 起离线")
NEVER_ONLINE = Sentence(en="{machine}: not online yet", zh="{machine}：还从未上线")
CHOSEN = Sentence(en="{line} (chosen)", zh="{line}（已选定）")
HOW_TO_CHOOSE = Sentence(
    en="“{prefix} use NAME” chooses one, “{prefix} on NAME …” is for a single message.",
    zh="“{prefix} 使用 名称”选定一台，“{prefix} 在 名称 …”只用于一条消息。",
)
NO_REQUEST = Sentence(
    en="Not sent: that message names a machine and no request. Such as: “{prefix} on {machine} "
    "test”",
    zh="没有发送：这条消息没有写明请求。例如：“{prefix} 在 {machine} 测试”",
)
NOW_CHOSEN = Sentence(
    en="From now on your messages go to {machine}.", zh="今后你的消息都发给 {machine}。"
)
TASK_LINE = Sentence(en="{id} · {state} · {asked}", zh="{id} · {state} · {asked}")
TASK_LINE_ON = Sentence(
    en="{id} · {machine} · {state} · {asked}", zh="{id} · {machine} · {state} · {asked}"
)


@dataclass(frozen=True, slots=True)
class Speaker:
    """Speaks to one person at one moment.

    Attributes:
        lang: Their language.
        zone: The time zone of the hours that are named.
        now_ms: The moment, in milliseconds since the epoch.
    """

    lang: Lang
    zone: tzinfo
    now_ms: int

    def say(self, sentence: Sentence, **facts: object) -> str:
        """Return the sentence, within the size of one message; what hides in a fact is shown."""
        shown = {name: reveal(listed(fact, self.lang)) for name, fact in facts.items()}
        return _bounded(say(sentence, self.lang, **shown))

    def hour(self, at_ms: int) -> str:
        """Return ``14:05``, with the day before it when that is another day."""
        then = datetime.fromtimestamp(at_ms / 1000, self.zone)
        today = datetime.fromtimestamp(self.now_ms / 1000, self.zone).date()
        hour = f"{then.hour:02}:{then.minute:02}"
        return hour if then.date() == today else f"{then.month:02}-{then.day:02} {hour}"

    def refusal(self, error: CodexBridgeError, *, prefix: str) -> str:
        """Say why a message leads to nothing."""
        facts = dict(error.facts)
        if isinstance(until_ms := facts.get("until_ms"), int):
            facts["until"] = self.hour(until_ms)
        told = CodexBridgeError(error.code, prefix=prefix, **facts)
        return _bounded(explain(told, REFUSALS, self.lang))

    def accepted(self, task: Task, machine: Agent, *, prefix: str) -> str:
        """Say that a task was taken, what happens to it next, and how to take it back."""
        if machine.connected_at is not None:
            return self.say(SENT, id=task.short_id, machine=machine.machine)
        facts = {"id": task.short_id, "machine": machine.machine, "prefix": prefix}
        facts["until"] = self.hour(task.expires_at)
        if machine.last_seen_at is None:
            return self.say(QUEUED_FIRST, **facts)
        return self.say(QUEUED, since=self.hour(machine.last_seen_at), **facts)

    def waiting(self, task: Task, machine: str, words: str, *, code: str, until_ms: int) -> str:
        """Say that a person must decide at the machine, on what its agent says, and until when."""
        waits = say(WAITS_THERE, self.lang, machine=machine)
        head = say(WAITING, self.lang, id=task.short_id, waits=waits, code=code)
        how = f"\n{say(APPROVE_BY, self.lang, id=task.short_id, until=self.hour(until_ms))}"
        return with_words(head, words, room=ROOM - len(how.encode())) + how

    def progress(self, task: Task, machine: str, message: str, *, at_ms: int) -> str:
        """Pass on one line of a command that runs, or of a model at work, and when it was so."""
        facts = {"id": task.short_id, "machine": machine, "hour": self.hour(at_ms)}
        return self.say(PROGRESS, message=one_line(redact(message)), **facts)

    def final(self, task: Task, machine: str, reason: Reason, summary: str) -> list[str]:
        """Say how a task ended: a mark or the outcome, then the agent's own summary of it.

        The machine is named as this gateway knows it: where the end is of one line, in that line,
        else below, with where the rest can be read.  What is long goes in three messages at most.
        """
        facts: dict[str, object] = {"id": task.short_id, "machine": machine}
        head = say(FINAL[reason], self.lang, **facts)
        if reason not in _MARKED:
            return [with_words(head, summary, by=self._blank())]
        told = summary if summary.strip() else say(WORDLESS[reason], self.lang)
        more = f"\n{say(MORE, self.lang, **facts)}"
        text = f"{head} {shown_words(told)}"
        line = say(ON_MACHINE, self.lang, words=text, machine=machine)
        if "\n" not in text and reason is Reason.COMPLETED and len(line.encode()) <= ROOM:
            return [line]
        if len((text + more).encode()) <= ROOM:
            return [text + more]
        # Each names the task and its place, so that no two read the same.
        facts |= {"head": head, "number": PARTS, "count": PARTS, "text": ELLIPSIS}
        room = ROOM - len((say(PART, self.lang, **facts) + more).encode())
        found = [part for part in split_bytes(shown_words(told), room) if part.strip()]
        parts = found[:PARTS]
        if len(found) > PARTS:
            parts[-1] = parts[-1].rstrip() + ELLIPSIS
        facts["count"] = len(parts)
        shown = []
        for number, part in enumerate(parts, 1):
            facts |= {"number": number, "text": part.rstrip().lstrip("\n")}
            shown.append(say(PART, self.lang, **facts))
            facts["head"] = task.short_id
        return [*shown[:-1], shown[-1] + more]

    def unbound(self, task: Task, machine: str, summary: str) -> str:
        """Say that a machine stopped a task, which it may not do for this person any more."""
        head = self.say(UNBOUND_CANCELLED, id=task.short_id, machine=machine)
        return with_words(head, summary, by=self._blank())

    def unsent(self, task: Task, machine: str, reason: Reason) -> str:
        """Say that a task ended without having reached its machine, as far as is known here."""
        until = self.hour(task.expires_at)
        return self.say(UNSENT[reason], id=task.short_id, machine=machine, until=until)

    def orphaned(self, task: Task, machine: str) -> str:
        """Say that no word of a task can come any more."""
        return self.say(REVOKED, id=task.short_id, machine=machine)

    def silent(self, task: Task, machine: str) -> str:
        """Say that a machine has not spoken of a task for too long."""
        since = self.hour(task.updated_at)
        return self.say(SILENT, id=task.short_id, machine=machine, since=since)

    def over(self, task: Task, reason: Reason) -> str:
        """Say that nothing is left to be done about a task."""
        return self.say(ALREADY_OVER, id=task.short_id, outcome=say(OUTCOME[reason], self.lang))

    def machine_line(self, machine: Agent) -> str:
        """Say whether a machine is there."""
        if machine.connected_at is not None:
            return say(ONLINE, self.lang, machine=machine.machine)
        if machine.last_seen_at is None:
            return say(NEVER_ONLINE, self.lang, machine=machine.machine)
        since = self.hour(machine.last_seen_at)
        return say(OFFLINE, self.lang, machine=machine.machine, since=since)

    def task_line(
        self, task: Task, *, machine: str | None = None, away: Agent | None = None
    ) -> str:
        """Say in one line where a task stands, and on which machine when that is not plain.

        Args:
            task: The task.
            machine: The name, when it is not plain.
            away: Its machine, when that is not there to say more.
        """
        state = self._standing(task)
        if task.reason is None and task.cancel_asked_at is not None:
            state += say(STOPPING, self.lang)
        if away is not None and away.last_seen_at is not None:
            since = self.hour(away.last_seen_at)
            state += say(AWAY, self.lang, machine=away.machine, since=since)
        asked = one_line(redact(task.text), _ASKED_BYTES)
        facts = {"id": task.short_id, "state": state, "asked": asked}
        if machine is None:
            return say(TASK_LINE, self.lang, **facts)
        return say(TASK_LINE_ON, self.lang, machine=machine, **facts)

    def as_of(self, task: Task, words: str) -> str:
        """Return what its machine last said of a task at work, and when that was so."""
        return say(AS_OF, self.lang, hour=self.hour(task.updated_at), words=words)

    def _blank(self) -> str:
        """Return what stands between two sentences."""
        return "" if self.lang == "zh" else " "

    def _standing(self, task: Task) -> str:
        if task.reason is not None:
            return say(OUTCOME[task.reason], self.lang)
        if task.state is TaskState.WAITING_APPROVAL and task.waiting_until is not None:
            until = self.hour(task.waiting_until)
            return say(WAITING_STATE, self.lang, until=until, code=task.seal_code)
        if task.state is TaskState.RECEIVED:
            return say(QUEUED_STATE, self.lang, until=self.hour(task.expires_at))
        if task.state is TaskState.PROPOSING and task.message:
            # Such as the step of a playbook that the machine is at.
            return self.as_of(task, one_line(reveal(redact(task.message)), _SAID_BYTES))
        running = task.state is TaskState.EXECUTING
        return say(RUNNING_STATE if running else AT_WORK, self.lang)


def shown_words(words: str) -> str:
    """Return an agent's words without secrets (R54), and with what hides in them shown (R26)."""
    return reveal(redact(words)).strip()


def with_words(head: str, words: str, *, by: str = "\n", room: int = ROOM) -> str:
    """Return our own sentence with an agent's words after it, in the size of one message.

    Args:
        head: Our own.
        words: The agent's.
        by: What stands between them.
        room: UTF-8 bytes of both together.
    """
    shown, left = shown_words(words), room - len((head + by).encode())
    return f"{head}{by}{clip_bytes(shown, left)}" if shown and left > 0 else head


def as_list(lines: Iterable[str]) -> str:
    """Return lines as one message; those that find no place are left out."""
    return _bounded("\n".join(lines))


def _bounded(text: str) -> str:
    return clip_bytes(text, ROOM)
