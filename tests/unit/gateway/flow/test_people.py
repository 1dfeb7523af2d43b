"""What members are told of themselves and of each other, how much they may ask for, and notices."""

from __future__ import annotations

from collections.abc import AsyncIterator
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from zoneinfo import ZoneInfo

import pytest

from common.sentences import Lang
from common.text import CHAT_BYTES, has_cjk
from gateway.base.messages import Person, SendOutcome
from gateway.flow.access import IntakePolicy, Limits
from gateway.flow.people import NOTICES, NOTICES_MS, SHOWN_MEMBERS
from gateway.flow.withdrawal import send_cancel
from gateway.store import Connection, members, outbox
from gateway.store.members import Requester
from tests.gateway_desk import (
    AGENT,
    MACHINE,
    NOON_MS,
    TO_APPROVAL,
    USER,
    WAITING,
    Desk,
    chat,
    open_desk,
)
from tests.people import someone

DAY_S = 86_400
CODE = str(WAITING["seal_code"])
MIDNIGHT_S = DAY_S // 2  # from the noon at which desks begin


@pytest.fixture
async def desk(tmp_path: Path) -> AsyncIterator[Desk]:
    async with open_desk(tmp_path) as desk:
        yield desk


def _in_another_app(conn: Connection) -> None:
    theirs = Person("shop", "li")
    members.add(conn, theirs, lang=None, role="approver", at_ms=NOON_MS)
    members.bind(conn, theirs, AGENT, at_ms=NOON_MS)


# -- whoami ----------------------------------------------------------------------------------


async def test_whoami_tells_id_app_role_machines_language_and_what_is_left(tmp_path: Path) -> None:
    async with open_desk(tmp_path, limits=Limits(tasks_per_day=3)) as desk:
        await desk.add_member(role="approver")
        await desk.hear("@dev test")
        assert str(await desk.hear("@dev whoami")).splitlines() == [
            f"You are {USER} in the app main.",
            "Role: approver",
            f"Machines: {MACHINE}",
            "Language: Chinese where you write Chinese, else English; “@dev lang en” sets one",
            "Tasks left today: 2 of 3; resets at 01-02 00:00",
        ]


async def test_a_gateway_that_speaks_chinese_answers_in_chinese_alone(tmp_path: Path) -> None:
    async with open_desk(tmp_path) as desk:
        chinese = Desk(desk.store, desk.clock, lang="zh", number=1)
        assert "语言：中文" in str(await chinese.hear("@dev whoami")).splitlines()


async def test_whoami_says_what_there_is_not(desk: Desk) -> None:
    await desk.add_member("li", lang="en")
    said = str(await desk.hear("@dev 我是谁", user="li")).splitlines()
    assert said[1:] == ["Role: member", "Machines: none", "Language: English", said[-1]]
    assert "no limit" in said[-1]
    assert await desk.tasks() == []


async def test_an_admin_of_the_settings_is_one_whatever_the_list_says(tmp_path: Path) -> None:
    async with open_desk(tmp_path) as desk:
        assert "Role: member" in str(await desk.hear("@dev whoami"))
        named = Desk(desk.store, desk.clock, admins={someone(USER)}, number=1)
        assert "Role: admin" in str(await named.hear("@dev whoami"))


# -- language --------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "lang"),
    [
        ("@dev lang zh", "zh"),
        ("@dev LANG En", "en"),
        ("@dev 语言 英文", "en"),
        ("@dev language chinese", "zh"),
    ],
)
async def test_a_language_is_kept_and_followed_by_gateway_and_machine(
    desk: Desk, text: str, lang: Lang
) -> None:
    assert has_cjk(str(await desk.hear(text))) == (lang == "zh")
    assert await desk.store.read(members.look_up, someone(USER)) == members.Speech(lang)
    other = "@dev run the tests" if lang == "zh" else "@dev 跑一下测试"
    assert has_cjk(str(await desk.hear(other)).replace(other, "")) == (lang == "zh")
    (mail,) = await desk.mail()
    assert mail.body["lang"] == lang
    assert any('"member.changed"' in body and f'"{lang}"' in body for body in await desk.audited())


async def test_a_task_that_is_open_is_spoken_of_in_the_language_chosen_since(desk: Desk) -> None:
    await desk.connect()
    task = await desk.ask("@dev test")
    await desk.add_member("li")
    await desk.hear("@dev lang zh", user="li")
    await desk.hear("@dev lang zh")
    await desk.events(task, *TO_APPROVAL)
    await desk.event(task, "WAITING_APPROVAL", "Command: pytest", waiting=WAITING)
    assert "等待在 dev-1 上本地批准" in (await desk.said())[-1]


@pytest.mark.parametrize("text", ["@dev lang fr", "@dev lang", "@dev 语言"])
async def test_a_language_that_there_is_not_changes_nothing(desk: Desk, text: str) -> None:
    assert "@dev lang en" in str(await desk.hear(text)) or "语言 英文" in (await desk.said())[-1]
    assert await desk.store.read(members.look_up, someone(USER)) == members.Speech(None)
    assert await desk.tasks() == []


async def test_what_only_begins_with_the_word_is_a_request(desk: Desk) -> None:
    task = await desk.ask("@dev language files are missing, why?")
    assert task.text == "@dev language files are missing, why?"


# -- members ---------------------------------------------------------------------------------


async def test_only_admins_list_members_and_only_of_their_app(desk: Desk) -> None:
    await desk.write(_in_another_app)
    assert "Only admins" in str(await desk.hear("@dev members"))
    await desk.add_member(role="approver")
    assert "Only admins" in str(await desk.hear("@dev members"))
    await desk.add_member(role="admin")
    await desk.add_member("wang")
    assert str(await desk.hear("@dev members")).splitlines() == [
        "wang · member · none",
        f"{USER} · admin · {MACHINE}",
    ]


async def test_a_long_list_is_bounded_and_says_how_many_are_left_out(desk: Desk) -> None:
    await desk.add_member(role="admin")
    for number in range(SHOWN_MEMBERS):
        await desk.add_member(f"a{number:02}")
    said = str(await desk.hear("@dev members"))
    assert len(said.splitlines()) == SHOWN_MEMBERS + 1
    assert said.splitlines()[-1].startswith("… and 1 more")
    for number in range(SHOWN_MEMBERS):
        await desk.add_member(f"0{number:02}" + "x" * 61)
    assert len(str(await desk.hear("@dev members")).encode()) <= CHAT_BYTES


async def test_a_list_of_members_is_not_shown_to_a_group(desk: Desk) -> None:
    await desk.add_member(role="admin")
    said = await desk.hear("@dev members", chat_id="group-1")
    assert "group" in str(said)
    assert USER not in str(said)


# -- tasks of a day --------------------------------------------------------------------------


@pytest.mark.requirement("P7")
async def test_the_tasks_of_a_day_have_a_limit_that_ends_at_midnight(tmp_path: Path) -> None:
    async with open_desk(tmp_path, limits=Limits(tasks_per_day=2)) as desk:
        await desk.hear("@dev test")
        task = await desk.ask("@dev test")
        said = str(await desk.hear("@dev test"))
        assert "2 tasks" in said
        assert "01-02 00:00" in said
        assert len(await desk.tasks()) == 2
        # What is no task is answered all the same, and a task can be taken back.
        assert "2 of 2" not in str(await desk.hear("@dev whoami"))
        assert task.short_id in str(await desk.hear("@dev status"))
        assert "cancelled" in str(await desk.hear(f"@dev cancel {task.short_id}"))
        assert "2 tasks" in str(await desk.hear("@dev test")), "taken back, it was asked for"
        desk.clock.advance(MIDNIGHT_S - 1)
        assert "2 tasks" in str(await desk.hear("@dev test"))
        desk.clock.advance(1)
        await desk.hear("@dev test")
        assert len(await desk.tasks()) == 3
        assert "1 of 2" in str(await desk.hear("@dev whoami"))


async def test_what_was_refused_for_another_reason_is_not_counted(tmp_path: Path) -> None:
    limits = Limits(open_tasks=1, tasks_per_day=2)
    async with open_desk(tmp_path, limits=limits) as desk:
        await desk.hear("@dev test")
        for _ in range(3):
            assert "1 open task" in str(await desk.hear("@dev test"))
        assert "1 of 2" in str(await desk.hear("@dev whoami"))


async def test_nobody_is_exempt_and_each_counts_alone(tmp_path: Path) -> None:
    async with open_desk(tmp_path, limits=Limits(tasks_per_day=1)) as desk:
        await desk.add_member(role="admin")
        await desk.add_member("li")
        await desk.write(members.bind, someone("li"), AGENT, at_ms=NOON_MS)
        for user in (USER, "li"):
            await desk.hear("@dev test", user=user)
            assert "1 task " in str(await desk.hear("@dev test", user=user))
        assert len(await desk.tasks()) == 2


async def test_what_was_counted_outlives_the_gateway(tmp_path: Path) -> None:
    async with open_desk(tmp_path, limits=Limits(tasks_per_day=1)) as desk:
        await desk.hear("@dev test")
        again = Desk(desk.store, desk.clock, limits=desk.limits, number=1)
        assert "1 task " in str(await again.hear("@dev test"))


def _requester(app: str, *, asked: int = 0, since: int | None = None) -> Requester:
    return Requester(Person(app, "li"), None, "member", (), None, 0, 0, {}, asked, since)


def test_an_app_may_have_a_limit_of_its_own() -> None:
    policy = IntakePolicy(
        "@dev", "en", UTC, limits=Limits(tasks_per_day=5), daily={"shop": 2, "ops": 0}
    )
    limits = {
        app: quota.limit if (quota := policy.quota_of(_requester(app), at_ms=NOON_MS)) else None
        for app in ("main", "shop", "ops")
    }
    assert limits == {"main": 5, "shop": 2, "ops": None}


def test_a_group_may_have_a_limit_of_its_own() -> None:
    policy = IntakePolicy(
        "@dev", "en", UTC, limits=Limits(tasks_per_day=5), of_groups={"interns": 2, "leads": 0}
    )
    limits = [
        quota.limit if (quota := policy.quota_of(asker, at_ms=NOON_MS)) else None
        for group in ("interns", "leads", "others", None)
        for asker in (replace(_requester("main"), group=group),)
    ]
    assert limits == [2, None, 5, 5]


async def test_whoami_names_the_group(desk: Desk) -> None:
    await desk.write(members.change, someone(USER), group="interns", at_ms=NOON_MS)
    assert "Group: interns" in str(await desk.hear("@dev whoami")).splitlines()


def test_a_day_ends_at_midnight_also_where_it_has_25_hours() -> None:
    zone = ZoneInfo("Europe/Berlin")
    policy = IntakePolicy("@dev", "en", zone, limits=Limits(tasks_per_day=5))
    at = datetime(2026, 10, 25, 12, tzinfo=zone)
    found = policy.quota_of(_requester("main"), at_ms=round(at.timestamp() * 1000))
    assert found is not None
    assert (found.until_ms - found.since_ms) / 3_600_000 == 25
    asked = _requester("main", asked=4, since=found.since_ms)
    left = policy.quota_of(asked, at_ms=found.until_ms - 1)
    anew = policy.quota_of(asked, at_ms=found.until_ms)
    assert left is not None
    assert anew is not None
    assert (left.left, anew.left) == (1, 5)


# -- notices to approvers --------------------------------------------------------------------


async def _waiting(desk: Desk, code: str = CODE) -> str:
    """Let a task of the first member wait, and return its ID."""
    task = await desk.ask("@dev test")
    await desk.events(task, *TO_APPROVAL)
    waiting = WAITING | {"seal_code": code}
    await desk.event(task, "WAITING_APPROVAL", "Command: secret-name", waiting=waiting)
    return task.short_id


async def _may_be_told(desk: Desk) -> None:
    await desk.connect()
    await desk.add_member("li", role="approver")
    await desk.add_member("boss", role="admin", lang="zh")
    await desk.add_member("wang")
    await desk.add_member("far", role="approver")
    await desk.write(_in_another_app)
    for user in ("li", "boss", "wang"):
        await desk.write(members.bind, someone(user), AGENT, at_ms=NOON_MS)


@pytest.mark.requirement("P1")
@pytest.mark.requirement("P4")
async def test_approvers_of_a_machine_are_told_what_the_gateway_itself_knows(desk: Desk) -> None:
    await _may_be_told(desk)
    short_id = await _waiting(desk)
    (said,) = await desk.said("li")
    for fact in (USER, short_id, MACHINE, CODE, "codexbridge approve", "01-02 12:00"):
        assert fact in said
    assert "secret-name" not in said, "the machine's words are for its member's chat"
    (said,) = await desk.said("boss")
    assert f"{USER} 的任务 {short_id}" in said
    assert (await desk.said("wang"), await desk.said("far")) == ([], [])
    assert "secret-name" in (await desk.said())[-1]
    assert not any(f"{USER}'s task" in text for text in await desk.said())


@pytest.mark.requirement("P6")
async def test_a_machine_is_told_which_apps_member_it_is_who_asks(desk: Desk) -> None:
    await desk.connect()
    await desk.write(_in_another_app)
    message = replace(chat("@dev test", user="li", number=70), app="shop")
    await desk.intake(message, b"7" * 32)
    (task,) = await desk.tasks()
    (envelope,) = await desk.mail()
    assert envelope.body["claimed_user"] == "shop:li"
    await desk.write(send_cancel, desk.seal, task, at=desk.clock.now())
    assert [one.body["claimed_user"] for one in await desk.mail()] == ["shop:li", "shop:li"]


@pytest.mark.requirement("P1")
async def test_no_role_approves_in_the_chat(desk: Desk) -> None:
    await _may_be_told(desk)
    short_id = await _waiting(desk)
    for user in ("li", "boss"):
        before = len(await desk.mail())
        await desk.hear(f"@dev apply {short_id}", user=user)
        await desk.hear(f"approve {short_id}", user=user)
        (mail,) = (await desk.mail())[before:]
        assert (mail.header.typ, mail.body["claimed_user"]) == ("task", user)
        told = str(await desk.hear(f"@dev cancel {short_id}", user=user))
        assert f"no task {short_id}" in told or f"没有任务 {short_id}" in told
    (task,) = [one for one in await desk.tasks() if one.short_id == short_id]
    assert task.state == "WAITING_APPROVAL"


async def test_a_notice_that_did_not_go_out_is_taken_back_when_nothing_waits(desk: Desk) -> None:
    await _may_be_told(desk)
    await _waiting(desk)
    (task,) = await desk.tasks()
    await desk.result(task, "REJECTED", "rejected")
    left = await desk.write(outbox.claim, now_ms=NOON_MS, limit=9)
    assert [message.user_id for message in left.messages] == [USER]


async def test_who_heard_that_a_task_waits_hears_that_it_was_cancelled(desk: Desk) -> None:
    await _may_be_told(desk)
    short_id = await _waiting(desk)
    (task,) = await desk.tasks()
    going = await desk.write(outbox.claim, now_ms=NOON_MS, limit=9)
    (first,) = (message for message in going.messages if message.user_id == "boss")
    for message in going.messages:
        if message.user_id == "li":  # has not gone out, and is taken back
            later = SendOutcome("retry", None, "", 1.0, "wecom.pace", tried=False)
            await desk.write(outbox.put_back, message.id, later, due_at=NOON_MS, counted=False)
    sent = SendOutcome("sent", 0, "ok", 0.0, "")
    await desk.write(outbox.end, first.id, "sent", sent, at_ms=NOON_MS)
    await desk.result(task, "REJECTED", "cancelled")
    said = (await desk.said("boss"))[-1]
    assert said == f"{USER} 的任务 {short_id} 已取消，不再等待在 {MACHINE} 上批准。"
    assert not any("cancelled" in text for text in await desk.said("li"))


async def test_a_progress_line_leaves_the_notice_alone(desk: Desk) -> None:
    await _may_be_told(desk)
    await _waiting(desk)
    (task,) = await desk.tasks()
    await desk.event(task, "WAITING_APPROVAL", "still there", waiting=WAITING)
    assert len(await desk.said("li")) == 1
    await desk.write(outbox.claim, now_ms=NOON_MS, limit=9)
    again = WAITING | {"seal_code": "AAAA-BBBB"}
    await desk.event(task, "WAITING_APPROVAL", "another", waiting=again)
    said = (await desk.said("li"))[-1]
    assert "AAAA-BBBB; the earlier one is void" in said


async def test_one_machine_takes_no_more_than_its_part_of_an_approvers_chat(desk: Desk) -> None:
    await _may_be_told(desk)
    await _waiting(desk)
    (task,) = await desk.tasks()
    for number in range(12):
        again = WAITING | {"seal_code": f"AAAA-{number:04}"}
        await desk.event(task, "WAITING_APPROVAL", waiting=again)
    said = await desk.said("li")
    assert len(said) == NOTICES
    assert [text for text in said if "it is shown there" in text] == [said[-1]]
    desk.clock.advance(NOTICES_MS // 1000)
    await desk.event(task, "WAITING_APPROVAL", waiting=WAITING)
    assert len(await desk.said("li")) == NOTICES + 1


# -- strangers, events, mistyped commands ----------------------------------------------------


async def test_a_stranger_hears_one_line_in_any_24_hours(desk: Desk) -> None:
    desk.clock.advance(20 * 3600 - 1)  # 07:59:59 of the next day, a day's last second in UTC
    said = str(await desk.hear("@dev whoami", user="li"))
    assert said.splitlines() == [said]
    assert "Your ID here is li" in said
    assert "member add li" in said
    desk.clock.advance(2)
    assert await desk.hear("hello?", user="li") is None
    desk.clock.advance(DAY_S - 3)
    assert await desk.hear("hello?", user="li") is None
    desk.clock.advance(1)
    assert "member add li" in str(await desk.hear("你好", user="li"))
    assert await desk.hear("你好", user="li") is None
    assert await desk.tasks() == []


async def test_events_are_no_messages(tmp_path: Path) -> None:
    async with open_desk(tmp_path, limits=Limits(messages_per_minute=2)) as desk:
        for _ in range(5):
            await desk.hear(None, kind="event", event="view")
        assert "sent to" in str(await desk.hear("@dev test")) or len(await desk.tasks()) == 1
        await desk.hear("@dev test")
        assert "2 messages a minute" in str(await desk.hear("@dev test"))
        assert len(await desk.tasks()) == 2


@pytest.mark.parametrize(
    ("text", "meant"),
    [("@dev stauts", "@dev status"), ("@dev on dev-1 aply T-7K3F", "@dev on dev-1 apply T-7K3F")],
)
async def test_a_mistyped_command_does_not_wait_for_a_machine_that_is_away(
    desk: Desk, text: str, meant: str
) -> None:
    said = str(await desk.hear(text))
    assert f"“{meant}”" in said
    assert await desk.tasks() == []
    await desk.connect()
    await desk.hear(text)
    assert len(await desk.tasks()) == 1, "it is asked, for it may know a playbook of that name"


@pytest.mark.requirement("P7")
@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("@dev stat\u202euts", "“stat⟨U+202E⟩uts”"),
        ("@dev stau\u2066ts", "“stau⟨U+2066⟩ts”"),
        ("@dev he\u200blpp", "“he⟨U+200B⟩lpp”"),
        ("@dev lang f\u202er", "“f⟨U+202E⟩r”"),
        ("@dev cancel T-\u202exx", "“T-⟨U+202E⟩xx”"),
    ],
)
async def test_what_hides_in_an_echoed_word_is_shown(desk: Desk, text: str, shown: str) -> None:
    assert shown in str(await desk.hear(text))


@pytest.mark.requirement("P1")
@pytest.mark.parametrize(
    "text", ["@dev approve T-7K3F", "@dev 批准T-7K3F", "@dev on dev-1 approve"]
)
async def test_an_approval_in_the_chat_does_not_wait_for_a_machine_that_is_away(
    desk: Desk, text: str
) -> None:
    assert "codexbridge approve" in str(await desk.hear(text))
    assert await desk.tasks() == []
    await desk.hear("@dev approve the plan of the team")
    assert len(await desk.tasks()) == 1, "other words are for the machine"


async def test_a_mistyped_command_is_known_without_any_machine(desk: Desk) -> None:
    await desk.add_member("li")
    assert "“@dev whoami”" in str(await desk.hear("@dev whomai", user="li"))
