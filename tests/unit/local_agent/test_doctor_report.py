"""What a bug report has of settings that do not load: nothing that a person wrote."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from common.doctor import Check, Examined, Finding, Tone
from common.errors import ConfigError
from common.home import Home
from common.sentences import Sentence
from local_agent.doctor.installation import Installation
from local_agent.doctor.report import Hide
from local_agent.settings import load_settings
from tests.each import each

MARK = "canarymark"
HTTP = 'kind = "http"\nbase_url = "https://models.example"\nmodel = "m"\n'


async def look() -> Finding:
    raise AssertionError("it was looked at already")


CHECK = Check("settings", Sentence(en="settings", zh="设置"), look)


@each(
    "settings, code",
    [
        (f"{MARK} = 1\n", "config.unknown-setting"),
        (f'[models.{MARK}]\nkind = "codex"\n', "models.incomplete"),
        (f'[models.{MARK}]\nargs = ["x"]\nkind = "codex"\n', "models.not-for-kind"),
        (f'model = "no"\n[models.{MARK}]\n{HTTP}', "models.unknown"),
        (f"[models.{MARK}]\n{HTTP}[models.b]\n{HTTP}", "models.several"),
    ],
)
def test_neither_the_path_of_settings_nor_a_name_in_them_leaves(
    tmp_path: Path, settings: str, code: str
) -> None:
    file = tmp_path / f"{MARK}-folder" / "agent.toml"
    file.parent.mkdir(mode=0o700, exist_ok=True)
    file.write_text(settings, encoding="utf-8")
    file.chmod(0o600)
    places = Home(tmp_path / "config", tmp_path / "state", tmp_path / "run")
    environ = {"CODEXBRIDGE_CONFIG": str(file)}
    with pytest.raises(ConfigError) as caught:
        load_settings(places, environ, None)
    assert caught.value.code == code
    found = Examined(CHECK, Finding(code, Tone.BAD, caught.value.facts))
    hide = Hide(Installation(places=places, home=tmp_path, environ=environ), [found])
    told = hide.value({"said": f"{file}: {json.dumps(caught.value.facts, default=str)}"})
    assert MARK not in json.dumps(told)
    assert "<setting" in told["said"]
