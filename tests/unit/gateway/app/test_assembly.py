"""What the settings become, and the look around of a server that has started."""

from __future__ import annotations

import asyncio
import io

import pytest

from common.doctor import Check
from gateway.app import assembly
from gateway.base.messages import Person
from gateway.base.settings import GatewaySettings
from gateway.doctor import Subject
from tests.unit.gateway.link.doubles import silent_log


async def test_a_look_around_that_fails_is_in_the_log(monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(_: Subject) -> list[Check]:
        raise OverflowError("of whatever was read")

    monkeypatch.setattr(assembly, "at_start", fail)
    lines, again = io.StringIO(), asyncio.Event()
    looking = asyncio.create_task(
        assembly._look_around(Subject({}), again, "en", silent_log(lines))
    )
    for times in (1, 2):
        again.set()
        said = 0
        async with asyncio.timeout(5):
            while said < times:
                await asyncio.sleep(0)
                said = lines.getvalue().count("doctor.failed")
    looking.cancel()
    assert "OverflowError" in lines.getvalue()


def test_limits_and_admins_of_each_app_reach_what_takes_messages_in() -> None:
    shop = {"corp_id": "ww1", "agent_id": 1, "tasks_per_day": 0, "admins": ["boss"]}
    settings = GatewaySettings.model_validate(
        {"limits": {"tasks_per_day": 5}, "wecom": {"apps": {"shop": shop}}}
    )
    policy = assembly._policy(settings)
    assert (policy.limits.tasks_per_day, policy.daily) == (5, {"shop": 0})
    assert policy.admins == {Person("shop", "boss")}
