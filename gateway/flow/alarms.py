"""What an attacker or a full disk does, and who is told: the log, the audit log, the admins' chat.

Anyone can dial the gateway, and a machine can send what it likes: neither may fill the disk with
entries or a person's chat with notices.  So the first of a kind is told at once, and what follows
within ten minutes is counted and reported as a number.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, field
from datetime import datetime, tzinfo
from pathlib import Path
from typing import Final

from common.audit import Fact
from common.clock import Clock
from common.errors import StoreError
from common.home import write_private
from common.logs import Log
from common.sentences import Lang, Sentence, say
from gateway.base.messages import URL_CHECKED, Conversation, Deliver, Outgoing, Person
from gateway.store import Connection, Store, agents, audit, inbound, members, outbox
from gateway.store.runner import SqliteRunner

QUIET_SECONDS: Final = 600.0
MAX_KEPT: Final = 1000  # kinds of alarms of machines and codes; beyond it a kind is counted as one
MAX_NOTICES: Final = 10  # to each admin in ten minutes
ROUND_SECONDS: Final = 5.0
LOOK_SECONDS: Final = 1.0
NOTED_FILE: Final = "noted.json"
UNREADABLE: Final = frozenset({"callback.ciphertext", "callback.receive-id"})
# What WeCom says of an app that is hardly used, or was (page 90240), and what we call it.
LIFECYCLE: Final = {
    "inactive_alert": "app.suspension-announced",
    "close_inactive_agent": "app.suspended",
    "reopen_inactive_agent": "app.restored",
    "low_active_alert": "app.limit-announced",
    "low_active": "app.limited",
    "active_restored": "app.restored",
}

# What admins are told, by the event in the audit log.
SENTENCES: Final[Mapping[str, Sentence]] = {
    "agent.taken-over": Sentence(
        en="⚠ {machine}: its key connected again, from {address} instead of {before} "
        "({count}× in 10 min). No restart or new network? Then the key was copied: pair anew after "
        "codexbridge gateway revoke {machine}",
        zh="⚠ {machine} 的密钥从 {address} 再次连接，取代了 {before}（10 分钟内 {count} 次）。"
        "如果没有重启或切换网络，说明密钥已被复制。请先执行 codexbridge gateway revoke {machine}，"
        "再重新配对。",
    ),
    "agent.wrong-key": Sentence(
        en="⚠ {address} claimed to be {machine} without its key; refused ({count}× in 10 min). "
        "If the machine was set up anew, pair it again; otherwise block the address at your proxy.",
        zh="⚠ {address} 自称是 {machine}，但没有它的密钥，已拒绝（10 分钟内 {count} 次）。"
        "如果这台开发机刚重装过，请重新配对；否则请在反向代理上拦截该地址。",
    ),
    "agent.malformed-frame": Sentence(
        en="⚠ Something that is not an agent dialled the address for machines, from {address}, and "
        "was refused ({count}× in ten minutes). No machine is affected. If it goes on, block the "
        "address at your proxy.",
        zh="⚠ {address} 连接了开发机专用的地址，但发来的不是 Agent 的数据，已拒绝"
        "（十分钟内 {count} 次）。不影响任何开发机。如果持续出现，请在反向代理上拦截该地址。",
    ),
    "app.suspension-announced": Sentence(
        en="⚠ WeCom is about to suspend the app {app}: it is hardly used. Open it in WeCom, or "
        "confirm it in the console: 应用管理 → 自建 → the app",
        zh="⚠ 应用 {app} 使用过少，企业微信即将停用它。请在企业微信中打开它，或在管理后台确认："
        "应用管理 → 自建 → 该应用",
    ),
    "app.suspended": Sentence(
        en="⚠ WeCom has suspended the app {app}, for it was hardly used: no message arrives. "
        "Restore it in the console: 应用管理 → 自建 → the app",
        zh="⚠ 应用 {app} 使用过少，已被企业微信停用，收不到消息。请在管理后台恢复："
        "应用管理 → 自建 → 该应用",
    ),
    "app.limit-announced": Sentence(
        en="⚠ WeCom is about to limit the app {app}: few people use it. Look in the console: "
        "应用管理 → 自建 → the app",
        zh="⚠ 应用 {app} 活跃人数过少，企业微信即将限制它。请在管理后台查看："
        "应用管理 → 自建 → 该应用",
    ),
    "app.limited": Sentence(
        en="⚠ WeCom has limited the app {app}: few people use it, and messages may not arrive. "
        "Look in the console: 应用管理 → 自建 → the app",
        zh="⚠ 应用 {app} 活跃人数过少，已被企业微信限制，可能收不到消息。请在管理后台查看："
        "应用管理 → 自建 → 该应用",
    ),
    "app.restored": Sentence(
        en="The app {app} works in WeCom again.", zh="应用 {app} 已恢复正常。"
    ),
    "callback.ciphertext": Sentence(
        en="⚠ What WeCom sends to the app {app} cannot be decrypted and is lost ({count}× since "
        "{since}): EncodingAESKey is not that of the console. Find out more: codexbridge gateway "
        "doctor",
        zh="⚠ 无法解密企业微信发给应用 {app} 的消息，消息已丢失（{since} 起 {count} 次）："
        "EncodingAESKey 与管理后台不一致。查看详情：codexbridge gateway doctor",
    ),
    "callback.receive-id": Sentence(
        en="⚠ What WeCom sends to the app {app} is for another corp and is lost ({count}× since "
        "{since}): its corp_id is not that of the console. Find out more: codexbridge gateway "
        "doctor",
        zh="⚠ 企业微信发给应用 {app} 的消息属于另一个企业，消息已丢失（{since} 起 {count} 次）："
        "它的 corp_id 与管理后台不一致。查看详情：codexbridge gateway doctor",
    ),
    "pairing.used-again": Sentence(
        en="⚠ The used pairing code of {machine} came again from {address}; refused "
        "({count}× in 10 min). If nobody repeated it there, compare the check words, or pair "
        "again with --replace.",
        zh="⚠ {machine} 用过的配对码又从 {address} 提交，已拒绝（10 分钟内 {count} 次）。"
        "如果没有人重复执行过，请核对核对词，或用 --replace 重新配对。",
    ),
}
MORE_ALARMS: Final = Sentence(
    en="{count} more {count:alarm|alarms} came within ten minutes and {count:is|are} not told one "
    "by one. All are in the audit log: codexbridge gateway audit export",
    zh="十分钟内还有 {count} 条告警，不再逐条通知。全部记录在审计日志中："
    "codexbridge gateway audit export",
)
DISK_FULL: Final = Sentence(
    en="⚠ The disk of the gateway is full: new messages are not taken in. WeCom delivers them "
    "again for a short while; nothing that was accepted is lost. Free some room; the gateway goes "
    "on by itself.",
    zh="⚠ 网关所在磁盘已满，暂时无法接收新消息。企业微信会在短时间内重新投递；"
    "已接收的内容不会丢失。请清理出空间，网关会自动恢复。",
)
DISK_HAS_ROOM: Final = Sentence(
    en="The disk of the gateway has room again, after {seconds} s; messages are taken in. What was "
    "sent meanwhile and got no answer has to be sent again.",
    zh="网关所在磁盘已有空间（{seconds} 秒后恢复），重新接收消息。"
    "期间没有得到回复的消息需要重新发送。",
)


@dataclass(frozen=True, slots=True)
class Admins:
    """Who is told in the chat.

    Attributes:
        channel: On which they are written to.
        named: By the settings; members of that role are told, too.
        apps: That there are.
        lang: Language of those who have none set.
        zone: Time zone of the moments that are named.
        wake: Hint that there is something to say.
    """

    channel: str
    named: tuple[Person, ...]
    apps: Collection[str]
    lang: Lang
    zone: tzinfo
    wake: Callable[[], None]

    def everyone(self, conn: Connection) -> list[Conversation]:
        """Return where each of them is written to."""
        by_role = (person for person in members.admins(conn) if person.app in self.apps)
        told = dict.fromkeys((*self.named, *by_role))
        return [Conversation(self.channel, person.app, person.user) for person in told]

    def put(
        self, conn: Connection, key: str, sentence: Sentence, at_ms: int, **facts: Fact
    ) -> None:
        """Queue one notice for each of them."""
        for to in self.everyone(conn):
            member = members.look_up(conn, to.person)
            lang = (member.lang if member else None) or self.lang
            text = say(sentence, lang, **facts)
            outbox.put(conn, f"{key}:{to.app}:{to.user}", text, to=to, at_ms=at_ms)


@dataclass(slots=True)
class _Heard:
    """What came of one kind since it was told last; ``facts`` are those of the newest."""

    facts: dict[str, Fact] = field(default_factory=dict)
    count: int = 0
    since_ms: int = 0
    quiet_until: float = 0.0


@dataclass(frozen=True, slots=True)
class _Due:
    """What is recorded now, and whether admins are told, too."""

    key: tuple[str, str]
    facts: dict[str, Fact]
    count: int
    since_ms: int
    notice: Sentence | None


class Alarms:
    """Records alarms and tells admins; call it to note one.

    Args:
        store: Where they are recorded.  Until that succeeds, they are kept in memory.
        admins: Who is told.
        clock: Tells the moment.
        log: Gets the first of each kind at once.
        noted: File that says when what came last for each app, also of what is only counted.
    """

    def __init__(
        self, store: Store, *, admins: Admins, clock: Clock, log: Log, noted: Path
    ) -> None:
        self._store = store
        self._admins = admins
        self._clock = clock
        self._log = log
        self._file = noted
        self._noted: dict[str, dict[str, int]] = {}  # since the start: app, event, when
        self._announced = audit.Allowance(MAX_NOTICES)
        self._written: str | None = None
        self._bell = asyncio.Event()
        self._heard: dict[tuple[str, str], _Heard] = {}
        self._window_until = 0.0
        self._told = 0  # notices to each admin in this window
        self._untold = 0  # alarms for which there was no room among them

    def __call__(self, event: str, **facts: Fact) -> None:
        """Note what happened; what one agent, pairing or app does is counted together."""
        whose = (str(facts[name]) for name in ("agent", "pairing", "app") if name in facts)
        key = (event, next(whose, ""))
        if key not in self._heard and len(self._heard) >= MAX_KEPT:
            key = (event, "")
        heard, now = self._heard.setdefault(key, _Heard()), self._clock.now()
        heard.facts = facts
        heard.since_ms = heard.since_ms if heard.count else now.wall_ms
        heard.count += 1
        if "app" in facts:
            self._keep(str(facts["app"]), event)
        if heard.count == 1 and now.mono >= heard.quiet_until:
            tell = self._log.info if event == URL_CHECKED else self._log.warning
            tell(event, **facts)
            self._bell.set()

    def announce(self, conn: Connection, event: str, *, app: str, at_ms: int) -> None:
        """Record and tell what WeCom does with an app, in the transaction that takes the event in.

        Each is told at once, for the last one says how it stands; a flood of one kind is not.
        """
        known = LIFECYCLE.get(event)
        if known is None or self._announced.take(f"{known}:{app}", at_ms) < 1:
            return
        self._log.warning(known, app=app)
        audit.append(conn, known, at_ms, app=app)
        self._admins.put(conn, f"{known}:{app}:{at_ms}", SENTENCES[known], at_ms, app=app)

    def _keep(self, app: str, event: str) -> None:
        noted, at_ms = self._noted.setdefault(app, {}), self._clock.now().wall_ms
        if at_ms - noted.get(event, 0) >= ROUND_SECONDS * 1000:  # no flood rings without end
            self._bell.set()
        noted[event] = at_ms

    async def run(self) -> None:
        """Record what is due until cancelled."""
        while True:
            self._bell.clear()
            await self.flush()
            try:
                async with asyncio.timeout(ROUND_SECONDS):
                    await self._bell.wait()
            except TimeoutError:
                pass

    async def end(self) -> None:
        """Record what is left, even where the same was told a moment ago."""
        for heard in self._heard.values():
            heard.quiet_until = 0.0
        await self.flush()

    async def flush(self) -> None:
        """Record what is due; what cannot be recorded is tried again in the next round."""
        await self._write_noted()
        now = self._clock.now()
        is_new_window = now.mono >= self._window_until
        told, untold = (0, self._untold) if is_new_window else (self._told, 0)
        due = self._due(now.mono, notices=MAX_NOTICES - told)
        if not due and not untold:
            return
        try:
            await self._store.write(self._record, due, untold, at_ms=now.wall_ms)
        except StoreError as error:
            self._log.error("alarms.not-recorded", code=error.code)
            return
        if is_new_window:
            self._window_until, self._told, self._untold = now.mono + QUIET_SECONDS, 0, 0
        for alarm in due:
            self._settle(alarm, now.mono)
        self._admins.wake()

    async def _write_noted(self) -> None:
        if (noted := json.dumps(self._noted)) != self._written:
            try:
                await asyncio.to_thread(write_private, self._file, noted.encode())
            except OSError:
                return  # a full disk is told of elsewhere; the next round tries again
            self._written = noted

    def _due(self, mono: float, *, notices: int) -> list[_Due]:
        due = []
        for key, heard in list(self._heard.items()):
            if mono < heard.quiet_until:
                continue
            if not heard.count:
                del self._heard[key]
                continue
            notice = SENTENCES.get(key[0]) if notices > 0 else None
            notices -= notice is not None
            due.append(_Due(key, heard.facts, heard.count, heard.since_ms, notice))
        return due

    def _settle(self, alarm: _Due, mono: float) -> None:
        heard = self._heard[alarm.key]
        heard.count -= alarm.count
        heard.quiet_until = mono + QUIET_SECONDS
        if alarm.notice is not None:
            self._told += 1
        elif alarm.key[0] in SENTENCES:
            self._untold += alarm.count

    def _record(self, conn: Connection, due: list[_Due], untold: int, *, at_ms: int) -> None:
        for alarm in due:
            event, facts = alarm.key[0], alarm.facts
            if alarm.count > 1:
                facts = facts | {"count": alarm.count}
            if at_ms - alarm.since_ms >= ROUND_SECONDS * 1000:
                facts = facts | {"since": alarm.since_ms}
            audit.append(conn, event, at_ms, **facts)
            if alarm.notice is not None and not self._is_over(conn, alarm):
                words = self._words(conn, alarm)
                key = ":".join((*alarm.key, str(at_ms)))
                self._admins.put(conn, key, alarm.notice, at_ms, **words)
        if untold:
            self._admins.put(conn, f"alarms:{at_ms}", MORE_ALARMS, at_ms, count=untold)

    def _is_over(self, conn: Connection, alarm: _Due) -> bool:
        """Tell whether something of that app could be read since."""
        event, app = alarm.key[0], str(alarm.facts.get("app", ""))
        if event not in UNREADABLE:
            return False
        noted = self._noted[app]
        return max(noted.get(URL_CHECKED, 0), inbound.last_heard(conn, app)) > noted[event]

    def _words(self, conn: Connection, alarm: _Due) -> dict[str, Fact]:
        name = str(alarm.facts.get("agent", ""))
        agent = agents.find(conn, name)
        machine = agent.machine if agent else name
        since = datetime.fromtimestamp(alarm.since_ms / 1000, self._admins.zone)
        facts = {"machine": machine} | alarm.facts
        return facts | {"since": since.strftime("%H:%M"), "count": alarm.count}


def read_noted(state: Path, app: str) -> dict[str, int]:
    """Return when what came last for an app since the gateway's last start.  Blocks."""
    try:
        found = json.loads((state / NOTED_FILE).read_bytes()).get(app, {})
    except (OSError, ValueError):
        return {}
    return {str(event): int(at_ms) for event, at_ms in found.items()}


class DiskWatch:
    """Tells when there is no room left on the disk of the store, and finds out when there is.

    Args:
        store: The store; it knows whether its last change found room.
        deliver: Sends past the outbox, which has no room either.
        admins: Who is told.
        clock: Tells the moment.
        log: For an admin.
    """

    def __init__(
        self,
        store: SqliteRunner,
        deliver: Deliver,
        *,
        admins: Admins,
        clock: Clock,
        log: Log,
    ) -> None:
        self._store = store
        self._deliver = deliver
        self._admins = admins
        self._clock = clock
        self._log = log
        self._quiet_until = 0.0

    async def run(self) -> None:
        """Look once a second until cancelled."""
        while True:
            if self._store.is_full:
                await self._until_room()
            await asyncio.sleep(LOOK_SECONDS)

    async def _until_room(self) -> None:
        since = self._clock.now()
        self._log.error("store.full")
        if since.mono >= self._quiet_until:
            self._quiet_until = since.mono + QUIET_SECONDS
            text = say(DISK_FULL, self._admins.lang)
            told = await self._store.read(self._admins.everyone)
            await asyncio.gather(*(self._deliver(to, Outgoing(text)) for to in told))
        # To write what there was to say is the only way to know that it can be written.
        while not await self._is_recorded(since.wall_ms):  # noqa: ASYNC110  a disk rings no bell
            await asyncio.sleep(LOOK_SECONDS)
        seconds = round(self._clock.now().mono - since.mono)
        self._log.warning("store.has-room", seconds=seconds)
        self._admins.wake()

    async def _is_recorded(self, since_ms: int) -> bool:
        try:
            await self._store.write(self._record, since_ms, at_ms=self._clock.now().wall_ms)
        except StoreError:
            return False
        return True

    def _record(self, conn: Connection, since_ms: int, *, at_ms: int) -> None:
        seconds = (at_ms - since_ms) // 1000
        audit.append(conn, "store.was-full", at_ms, since=since_ms)
        self._admins.put(conn, f"disk:{at_ms}", DISK_HAS_ROOM, at_ms, seconds=seconds)
