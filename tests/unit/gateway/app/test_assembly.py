"""The look around of a server that has started."""

from __future__ import annotations

import io

import pytest

from common.doctor import Check
from gateway.app import assembly
from gateway.doctor import Subject
from tests.unit.gateway.link.doubles import silent_log


async def test_a_look_around_that_fails_is_in_the_log(monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(_: Subject) -> list[Check]:
        raise OverflowError("of whatever was read")

    monkeypatch.setattr(assembly, "at_start", fail)
    lines = io.StringIO()
    await assembly._look_around(Subject({}), "en", silent_log(lines))
    assert "doctor.failed" in lines.getvalue()
    assert "OverflowError" in lines.getvalue()
