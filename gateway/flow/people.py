"""What members are told of themselves and of each other: whoami, language, members, notices.

A role says who is told what.  It decides nothing on a machine: whoever approves does it there (P1).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Final

from common.errors import AuthError, InputError
from common.sentences import Lang, Sentence, say
from gateway.base.messages import Conversation
from gateway.flow.replies import Speaker, as_list
from gateway.store import Connection, members, outbox, tasks
from gateway.store.members import Role
from gateway.store.tasks import Task

if TYPE_CHECKING:  # which answers by what is here
    from gateway.flow.commands import MemberRequest

SHOWN_MEMBERS: Final = 20
NOTICES: Final = 10  # of one machine, to one approver
NOTICES_MS: Final = 600_000

YOU = Sentence(en="You are {user} in the app {app}.", zh="你在应用 {app} 中的 ID 是 {user}。")
YOUR_ROLE = Sentence(en="Role: {role}", zh="角色：{role}")
YOUR_GROUP = Sentence(en="Group: {group}", zh="分组：{group}")
YOUR_MACHINES = Sentence(en="Machines: {machines}", zh="开发机：{machines}")
YOUR_LANGUAGE = Sentence(en="Language: {language}", zh="语言：{language}")
ROLES: Mapping[Role, Sentence] = {
    "member": Sentence(en="member", zh="成员"),
    "approver": Sentence(en="approver", zh="审批人"),
    "admin": Sentence(en="admin", zh="管理员"),
}
NONE = Sentence(en="none", zh="无")
LANGUAGES: Mapping[Lang, Sentence] = {
    "en": Sentence(en="English", zh="英文"),
    "zh": Sentence(en="Chinese", zh="中文"),
}
OF_EACH_MESSAGE = Sentence(
    en="Chinese where you write Chinese, else English; “{prefix} lang en” sets one",
    zh="用中文提问时为中文，否则为英文；“{prefix} 语言 中文”可固定",
)
TASKS_LEFT = Sentence(
    en="Tasks left today: {left} of {limit}; resets at {until}",
    zh="今天还可提交 {left} 个任务（共 {limit} 个）；{until} 起重新计数",
)
NO_DAILY_LIMIT = Sentence(en="Tasks a day: no limit", zh="每天任务数：不限")
NOW_SPOKEN = Sentence(
    en="From now on you are answered in English. What a machine says of tasks that were sent "
    "before may still be in Chinese.",
    zh="今后用中文答复你。此前已发送的任务，开发机的答复可能仍是英文。",
)
MEMBER_ROW = Sentence(en="{user} · {role} · {machines}", zh="{user} · {role} · {machines}")
MORE_MEMBERS = Sentence(
    en="… and {count} more: codexbridge gateway member list",
    zh="……另有 {count} 人：codexbridge gateway member list",
)
# Of what the machine says for its own member's chat nothing is passed on to another one.
WAITS_FOR_APPROVAL = Sentence(
    en="{user}'s task {id} waits for approval on {machine} · code {code}\n"
    "Until {until}, there:\ncodexbridge approve {id}",
    zh="{user} 的任务 {id} 等待在 {machine} 上批准 · 确认码 {code}\n"
    "请在 {until} 前到该开发机上执行：\ncodexbridge approve {id}",
)
WAITS_ANEW = Sentence(
    en="{user}'s task {id} has changed and waits again on {machine} · code {code}; the earlier one "
    "is void\nUntil {until}, there:\ncodexbridge approve {id}",
    zh="{user} 的任务 {id} 内容有变，重新等待在 {machine} 上批准 · 确认码 {code}，之前的作废\n"
    "请在 {until} 前到该开发机上执行：\ncodexbridge approve {id}",
)
NO_MORE_NOTICES = Sentence(
    en="What else waits on this machine is not told in the next minutes; it is shown there.",
    zh="该开发机上其他待批准的任务，接下来几分钟内不再通知，请到该开发机上查看。",
)
NO_LONGER_WAITS = Sentence(
    en="{user}'s task {id} was cancelled. It no longer waits on {machine}.",
    zh="{user} 的任务 {id} 已取消，不再等待在 {machine} 上批准。",
)
# What languages are called, folded.
_NAMED: Final[Mapping[str, Lang]] = {
    "zh": "zh", "中文": "zh", "汉语": "zh", "chinese": "zh", "zh-cn": "zh",
    "en": "en", "英文": "en", "英语": "en", "english": "en",
}  # fmt: skip


def whoami(request: MemberRequest) -> str:
    """Say who somebody is here, and what is left to them today."""
    speaker, member = request.speaker, request.member
    person, prefix = member.person, request.policy.prefix
    machines = tuple(agent.machine for agent in member.machines) or speaker.say(NONE)
    # Where the gateway speaks Chinese, so does whatever is not set.
    own = member.lang or ("zh" if request.policy.lang == "zh" else None)
    spoken = LANGUAGES[own] if own else OF_EACH_MESSAGE
    quota = request.policy.quota_of(member, at_ms=request.at.wall_ms)
    if quota is None:
        left = speaker.say(NO_DAILY_LIMIT)
    else:
        facts = {"left": quota.left, "limit": quota.limit, "until": speaker.hour(quota.until_ms)}
        left = speaker.say(TASKS_LEFT, **facts)
    return as_list(
        [
            speaker.say(YOU, user=person.user, app=person.app),
            speaker.say(YOUR_ROLE, role=speaker.say(ROLES[request.policy.role_of(member)])),
            *([speaker.say(YOUR_GROUP, group=member.group)] if member.group else []),
            speaker.say(YOUR_MACHINES, machines=machines),
            speaker.say(YOUR_LANGUAGE, language=speaker.say(spoken, prefix=prefix)),
            left,
        ]
    )


def speak(request: MemberRequest, name: str) -> str:
    """Answer a member in one language from now on, whatever they write in.

    What a machine says of a task is in the language that the task was signed with.

    Raises:
        InputError: ``language.unknown`` or ``language.which``.
    """
    if not name:
        raise InputError("language.which")
    lang = _NAMED.get(name)
    if lang is None:
        raise InputError("language.unknown", given=name[:32])
    person = request.member.person
    members.change(request.conn, person, lang=lang, at_ms=request.at.wall_ms)
    tasks.speak(request.conn, person, lang)
    return say(NOW_SPOKEN, lang)


def list_members(request: MemberRequest) -> str:
    """List the members of an admin's own app.

    Raises:
        AuthError: ``access.not-admin``.
        InputError: ``access.in-a-group``.
    """
    if request.policy.role_of(request.member) != "admin":
        raise AuthError("access.not-admin")
    if request.message.chat:
        raise InputError("access.in-a-group")
    app = request.member.person.app
    found = [member for member in members.everyone(request.conn) if member.app == app]
    lines = [
        request.speaker.say(
            MEMBER_ROW,
            user=member.user_id,
            role=request.speaker.say(ROLES[request.policy.role_of(member)]),
            machines=member.machines or request.speaker.say(NONE),
        )
        for member in found[:SHOWN_MEMBERS]
    ]
    if len(found) > SHOWN_MEMBERS:
        lines.append(request.speaker.say(MORE_MEMBERS, count=len(found) - SHOWN_MEMBERS))
    return as_list(lines)


def notify_approvers(
    conn: Connection,
    task: Task,
    machine: str,
    speaker: Speaker,
    *,
    code: str,
    until_ms: int,
) -> None:
    """Tell the approvers of a machine that somebody else's task waits there.

    Each hears so much of a machine and no more in a while: it may be a hostile one, and what it
    says takes of the pace at which one person may be written to.

    Args:
        conn: A writing transaction.
        task: That waits; its own member is told by whoever calls.
        machine: Where.
        speaker: Speaks to those who have no language set.
        code: Of what is to be approved.
        until_ms: When it expires.
    """
    heard = outbox.notified(conn, task.task_id)
    for person, lang in members.approvers(conn, task.agent_id, beside=task.person):
        own = replace(speaker, lang=lang or speaker.lang)
        text = own.say(
            WAITS_ANEW if person in heard else WAITS_FOR_APPROVAL,
            user=task.user_id,
            id=task.short_id,
            machine=machine,
            code=code,
            until=own.hour(until_ms),
        )
        where = Conversation(task.channel, person.app, person.user)
        window = f"{task.agent_id}:{person.app}:{person.user}:{speaker.now_ms // NOTICES_MS}"
        for number in range(1, NOTICES + 1):
            told = text if number < NOTICES else f"{text}\n{own.say(NO_MORE_NOTICES)}"
            facts: dict[str, Any] = {"at_ms": speaker.now_ms, "task_id": task.task_id}
            if outbox.put(conn, f"notice:{window}:{number}", told, to=where, **facts):
                break


def notify_cancelled(conn: Connection, task: Task, machine: str, speaker: Speaker) -> None:
    """Tell the approvers who heard that a task waits that it does not any more.

    Args: as of `notify_approvers`.
    """
    heard = outbox.notified(conn, task.task_id)
    for person, lang in members.approvers(conn, task.agent_id, beside=task.person):
        if person not in heard:
            continue
        own = replace(speaker, lang=lang or speaker.lang)
        text = own.say(NO_LONGER_WAITS, user=task.user_id, id=task.short_id, machine=machine)
        where = Conversation(task.channel, person.app, person.user)
        key = f"cancelled:{task.task_id}:{person.app}:{person.user}"
        outbox.put(conn, key, text, to=where, at_ms=speaker.now_ms, task_id=task.task_id)
