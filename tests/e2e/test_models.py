"""Models of the settings through the real agent: keys, tests, and an agent that is contained."""

from __future__ import annotations

import json
import shutil
import sys
from pathlib import Path

import pytest

from tests.e2e.place import Place
from tests.model_script import text
from tests.model_server import started

KEY = "sk-e2e-0123456789abcdef"
AGENT = Path(__file__).parents[1] / "acp_agent.py"
FIXED = "retry = 5\n"


def configure(place: Place, *lines: str) -> None:
    file = place.root / "config" / "agent.toml"
    file.write_text("\n".join(lines) + "\n", encoding="utf-8")


@pytest.mark.requirement("R54")
@pytest.mark.requirement("R60")
def test_a_model_is_configured_keyed_and_tested(place: Place, tmp_path: Path) -> None:
    assert place.run("models", "key", "local", stdin=KEY, check=False).returncode == 2
    with started(tmp_path, then=text("ready")) as server:
        configure(
            place,
            "[models.local]",
            'kind = "http"',
            'model = "acme-coder"',
            f'base_url = "{server.base_url}"',
        )
        place.start_agent(connected=False)
        stored = place.run("models", "key", "local", stdin=f"{KEY}\n")
        tested = json.loads(place.run("models", "test", "--json").stdout)
        assert (tested["name"], tested["model"]) == ("local", "acme-coder")
        assert f"Bearer {KEY}" in server.sent_to_it
    failed = place.run("models", "test", check=False)
    assert failed.returncode == 1
    assert len(failed.stderr.splitlines()) == 1
    (listed,) = json.loads(place.run("models", "list", "--json").stdout)["models"]
    assert (listed["asked"], listed["kind"]) == (True, "http")
    assert listed["key"] is not None
    place.stop()
    said = stored.stdout + stored.stderr + failed.stderr + place.log("agent")
    assert KEY not in said


@pytest.mark.requirement("R3")
def test_an_agent_whose_model_comes_from_the_environment_does_not_start(place: Place) -> None:
    configure(place, "[models.local]", 'kind = "codex"', 'model = "m"')
    place.extra = {"CODEXBRIDGE_AGENT__MODELS": '{"local": {"base_url": "https://evil.example"}}'}
    refused = place.run("agent", check=False)
    assert refused.returncode == 2
    assert "models" in refused.stderr
    assert "evil" not in refused.stderr


@pytest.mark.needs("bubblewrap")
@pytest.mark.requirement("R62")
def test_a_contained_agent_proposes_and_its_change_waits(
    place: Place, workspace: Path, tmp_path: Path
) -> None:
    programs = tmp_path / "programs"
    programs.mkdir()
    shutil.copy(AGENT, programs)
    secret = tmp_path / "id_rsa"
    secret.write_text("SECRET", encoding="utf-8")
    step = {"do": "permit", "kind": "edit", "paths": ["login.py"], "write": {"login.py": FIXED}}
    look = {"do": "look", "path": str(secret)}
    run = {"do": "permit", "kind": "execute", "paths": [], "title": "sh count.sh"}
    script = {"turns": [[look, step, run, {"do": "write", "path": "new.py", "text": "x = 1\n"}]]}
    (programs / "script.json").write_text(json.dumps(script), encoding="utf-8")
    args = ["-I", "-S", str(programs / AGENT.name), str(programs / "script.json")]
    configure(
        place,
        "[models.scripted]",
        'kind = "acp"',
        f"program = {json.dumps(str(Path(sys.executable).resolve()))}",
        f"args = {json.dumps(args)}",
        f"read_only = {json.dumps([sys.base_prefix, str(programs)])}",
    )
    place.run("workspace", "add", str(workspace), "--toolchains", "none")
    place.start_agent(connected=False)
    before = (workspace / "login.py").read_bytes()
    place.run("ask", "change login.py so that it retries five times", check=False)
    (task,) = place.tasks()
    diff = place.run("diff", task["short_id"]).stdout
    assert "+retry = 5" in diff
    assert "+x = 1" in diff
    shown = place.run("show", task["short_id"]).stdout
    assert "hidden" in shown
    assert "sh count.sh" in shown
    assert (workspace / "login.py").read_bytes() == before
    assert not (workspace / "ran.txt").exists()
    assert not (workspace / "new.py").exists()
