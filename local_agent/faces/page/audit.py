"""The audit log for the local page: where it stands, a page of its entries, and a check of it all.

The page of entries is read over the journal's own connection, so `audit_view` runs in its thread;
the check reads the file beside the running agent, in any thread.  Both block.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, Final

from common import strict_json
from common.audit import MAX_ENTRY_BYTES
from common.audit_check import Checked
from common.errors import AuthError, RemoteProtocolError
from common.home import Home
from common.records import SHA256_HEX
from common.seal import short_code
from common.sentences import Sentence
from common.text import clip_bytes, reveal_all
from local_agent.link.keys import OwnKeys
from local_agent.store.audit_log import read_audit
from local_agent.store.journal import Journal
from local_agent.store.lock import JOURNAL
from local_agent.views.audit import AuditCheck, AuditEntry, AuditFact, AuditView

MAX_ENTRIES: Final = 100  # of a page
MAX_FACTS: Final = 40  # of an entry
MAX_FACT_BYTES: Final = 400
MAX_NAME_BYTES: Final = 100
_TASKS: Final = ("task_id", "retry_of", "approval_id", "checks")  # facts that lead to a task

# What happened, by the name of the event.
EVENTS: Final[Mapping[str, Sentence]] = {
    "agent.rekeyed": Sentence(en="This machine changed its key", zh="本机更换了密钥"),
    "approval.approved": Sentence(en="Approved", zh="已批准"),
    "approval.expired": Sentence(en="The approval expired", zh="审批已过期"),
    "approval.rejected": Sentence(en="Rejected", zh="已拒绝"),
    "approval.requested": Sentence(en="An approval was asked for", zh="发起审批"),
    "approval.superseded": Sentence(
        en="The approval was replaced by a newer one, or withdrawn", zh="审批已撤回，或由新的取代"
    ),
    "approval.tampered": Sentence(
        en="A stored approval was changed; nothing was done",
        zh="存储的审批内容有改动；没有执行任何操作",
    ),
    "approval.wrong-codes": Sentence(
        en="Too many wrong confirmation codes", zh="确认码输错次数过多"
    ),
    "audit.forked": Sentence(
        en="ALARM: the gateway signed what contradicts this log",
        zh="警报：网关签名的内容与本日志矛盾",
    ),
    "audit.signed-anew": Sentence(
        en="The log had no signature of this machine, and was signed anew",
        zh="日志没有本机签名，已重新签名",
    ),
    "disclosure.answered": Sentence(
        en="An answer about a workspace was recorded before it goes to the chat",
        zh="记录了一条将发往聊天的工作区答复",
    ),
    "disclosure.read": Sentence(
        en="A workspace was read for an answer to the chat", zh="为回答聊天读取了工作区"
    ),
    "exec.intent": Sentence(en="Execution began", zh="开始执行"),
    "exec.result": Sentence(en="Execution ended", zh="执行结束"),
    "gateway.rekey-refused": Sentence(
        en="A new key of the gateway was refused", zh="拒绝了网关的新密钥"
    ),
    "gateway.rekeyed": Sentence(en="The gateway changed its key", zh="网关更换了密钥"),
    "head.kept": Sentence(
        en="The gateway signed where this log and its own stand", zh="网关签名确认了双方日志的链头"
    ),
    "inbox.cancel": Sentence(en="The gateway asked to cancel a task", zh="网关请求取消任务"),
    "inbox.repeated-id": Sentence(
        en="The gateway sent a message that was here already; it was ignored",
        zh="网关发来重复的消息；已忽略",
    ),
    "inbox.task-again": Sentence(
        en="The gateway sent a task that was here already; it was ignored",
        zh="网关发来重复的任务；已忽略",
    ),
    "inbox.tombstone": Sentence(
        en="The gateway no longer had the text of a message", zh="网关已不再保存某条消息的内容"
    ),
    "passkey.added": Sentence(en="A passkey was added", zh="添加了通行密钥"),
    "passkey.cloned": Sentence(
        en="ALARM: a passkey signed with a counter of the past, as a copy would; it was refused",
        zh="警报：通行密钥的计数器倒退，可能已被复制；已拒绝",
    ),
    "passkey.removed": Sentence(en="A passkey was removed", zh="删除了通行密钥"),
    "passkey.used": Sentence(en="A passkey signed an approval", zh="通行密钥签署了批准"),
    "task.accepted": Sentence(en="A task was accepted", zh="已接受任务"),
    "task.ended": Sentence(en="The task ended", zh="任务结束"),
}


def audit_view(journal: Journal, *, before: int | None = None) -> AuditView:
    """Return where the log stands, and a page of it, the newest entry first.

    Args:
        journal: In its own thread.
        before: As the page before gave it.

    Raises:
        StoreError: ``store.damaged`` and the like.
    """
    rows = journal.audit.newest(MAX_ENTRIES + 1, before=before)
    page = [(seq, _read(body)) for seq, body in rows[:MAX_ENTRIES]]
    named = {
        value for _, record in page for _, value in _leading(record["facts"] if record else {})
    }
    short_ids = journal.audit.short_ids(named)
    return AuditView(
        standing=journal.heads.standing(),
        entries=tuple(_entry(seq, record, short_ids) for seq, record in page),
        before=page[-1][0] if len(rows) > MAX_ENTRIES else None,
    )


def check_journal(home: Home) -> Checked:
    """Check the whole log of this machine where it lies, beside a running agent or without one.

    Raises:
        AuthError: ``audit.broken`` (seq, what).
        ConfigError: ``audit.none`` and the like.
        StoreError: ``audit.unreadable``.
    """
    with read_audit(home.state / JOURNAL) as log:
        return log.check(keys=OwnKeys(home), to_the_end=True)


def verify(home: Home) -> AuditCheck:
    """Return what a check of the whole log comes to.

    Raises:
        CodexBridgeError: as `check_journal`, but for ``audit.broken``: it could not be checked.
    """
    try:
        checked = check_journal(home)
    except AuthError as error:
        if error.code != "audit.broken":
            raise
        seq, what = error.facts["seq"], error.facts["what"]
        return AuditCheck(ok=False, broken_at=int(str(seq)), what=str(what))
    ours = [kept.own_seq for kept in checked.kept if kept.peer in checked.gateways]
    return AuditCheck(
        ok=True,
        entries=checked.head.seq,
        signed_to=checked.signed.seq if checked.signed else 0,
        gateway_keeps=max(ours, default=0),
        renewed=checked.renewed,
    )


def _read(body: bytes | None) -> dict[str, Any] | None:
    """Return an entry, or None for what is none: whoever changed the file could put in anything."""
    try:
        record = strict_json.loads(body or b"", max_bytes=MAX_ENTRY_BYTES)
    except RemoteProtocolError:
        return None
    if not isinstance(record, dict) or record.keys() != {"event", "at", "facts"}:
        return None
    kinds = tuple(type(record[name]) for name in ("event", "at", "facts"))
    return record if kinds == (str, int, dict) else None


def _leading(facts: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    for name in _TASKS:
        if isinstance(value := facts.get(name), str):
            yield name, value


def _entry(seq: int, record: dict[str, Any] | None, short_ids: Mapping[str, str]) -> AuditEntry:
    if record is None:
        return AuditEntry(seq=seq, at=0, event="", tasks=(), facts=(), left=0)
    facts = {name: value for name, value in record["facts"].items() if value is not None}
    found = [short_ids[value] for _, value in _leading(facts) if value in short_ids]
    shown = list(facts.items())[:MAX_FACTS]
    return AuditEntry(
        seq=seq,
        at=record["at"],
        event=_told(record["event"], MAX_NAME_BYTES),
        tasks=tuple(dict.fromkeys(found)),
        facts=tuple(
            AuditFact(name=_told(name, MAX_NAME_BYTES), value=_told(_text(value), MAX_FACT_BYTES))
            for name, value in map(_fingerprint, shown)
        ),
        left=len(facts) - len(shown),
    )


def _fingerprint(fact: tuple[str, Any]) -> tuple[str, Any]:
    """Return a digest as the code that people know it by: the page is sent no other one."""
    name, value = fact
    return ("code", short_code(value)) if name == "digest" and SHA256_HEX(value) else fact


def _text(value: object) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    # Anything but a text or a number was put there by somebody else.
    return str(value)


def _told(text: str, limit: int) -> str:
    return reveal_all(clip_bytes(text, limit))
