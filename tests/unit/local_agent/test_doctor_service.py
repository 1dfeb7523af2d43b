"""What the doctor says of the agent's service, as systemd tells of it."""

from __future__ import annotations

from pathlib import Path

import pytest

from common.doctor import Tone
from common.home import Home
from local_agent.doctor import own
from local_agent.doctor.diagnoses import DIAGNOSES
from local_agent.doctor.installation import Installation
from tests.supervisor import ABSENT, FAILED, RUNS, Supervisor

pytestmark = pytest.mark.heavy


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
