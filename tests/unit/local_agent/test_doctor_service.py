"""What the doctor says of the agent's service, as systemd tells of it."""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping
from pathlib import Path

import pytest

from common.doctor import Tone
from common.home import Home
from local_agent.doctor import own
from local_agent.doctor.diagnoses import DIAGNOSES
from local_agent.doctor.installation import Installation
from tests.supervisor import ABSENT, FAILED, RUNS, Supervisor

pytestmark = pytest.mark.heavy


AGENT = f"[Service]\nExecStart={sys.executable} -I -m codexbridge agent\n"
GONE = "[Service]\nExecStart=/no/codexbridge \\\n  agent\n"


@pytest.mark.parametrize(
    ("unit", "code"),
    [
        (RUNS, "service.ok"),
        (FAILED, "service.failed"),
        (RUNS | {"ActiveState": "activating", "SubState": "auto-restart"}, "service.failed"),
        (RUNS | {"ActiveState": "inactive", "SubState": "dead"}, "service.stopped"),
        (RUNS | {"UnitFileState": "disabled"}, "service.by-hand"),
        (ABSENT, "service.installed"),
    ],
)
async def test_the_service_is_told_as_it_stands(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, unit: dict[str, str], code: str
) -> None:
    supervisor = Supervisor(tmp_path)
    supervisor.play(unit=unit)
    monkeypatch.setattr(own, "_SHOW", (str(tmp_path / "systemctl"), *own._SHOW[1:]))
    folder = tmp_path / ".config/systemd/user"
    folder.mkdir(parents=True)
    (folder / "codexbridge-agent.service").touch()
    found = await own.service(Installation(places=Home(*[tmp_path] * 3), home=tmp_path, environ={}))
    assert found.code == code
    if found.tone is not Tone.GOOD:
        mend = DIAGNOSES[code].mend
        assert mend is not None
        assert "codexbridge service" in mend.en
    assert supervisor.calls()[0][-1] == "codexbridge-agent"


@pytest.mark.parametrize(
    ("units", "code"),
    [
        ({"own/codexbridge.service": GONE}, "service.gone"),
        ({"own/codexbridge.service": GONE.replace("/no", '"/%h no')}, "service.installed"),
        (
            {
                "own/codexbridge.service": GONE,
                "own/codexbridge.service.d/override.conf": f"ExecStart=\n{AGENT}",
            },
            "service.installed",
        ),
        (
            {"own/codexbridge-agent.service": AGENT, "own/codexbridge-old.service": GONE},
            "service.installed",
        ),
        ({"system/codexbridge-agent.service": f"{AGENT}User={os.getuid()}\n"}, "service.installed"),
        ({"system/codexbridge-agent.service": f"{GONE}User={os.getuid()}\n"}, "service.gone"),
        ({"system/codexbridge-agent-other.service": f"{AGENT}User=other\n"}, "service.none"),
        (
            {
                "system/codexbridge-gateway.service": f"User={os.getuid()}\n"
                + AGENT.replace(" agent", " gateway")
            },
            "service.none",
        ),
    ],
)
async def test_a_unit_counts_that_can_start_this_agent(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, units: Mapping[str, str], code: str
) -> None:
    monkeypatch.setattr(own, "_SHOW", ("/bin/false",))
    monkeypatch.setattr(own, "_SERVICES", ("own/codexbridge*.service",))
    system = str(tmp_path / "system/codexbridge*.service").lstrip("/")
    monkeypatch.setattr(own, "_SYSTEM_SERVICES", system)
    for name, text in units.items():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(text, encoding="utf-8")
    found = await own.service(Installation(places=Home(*[tmp_path] * 3), home=tmp_path, environ={}))
    assert found.code == code
