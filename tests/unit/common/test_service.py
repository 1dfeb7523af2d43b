"""Both halves as services: what is written, what systemd is asked, and what a person is told."""

from __future__ import annotations

import json
import os
import plistlib
import pwd
import re
import shutil
import subprocess
import sys
import threading
from collections.abc import Callable
from dataclasses import replace
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

import codexbridge
from common import service, units
from common.errors import InputError
from common.home import find_home
from common.sentences import LANGS
from common.service_words import SERVICE_ERRORS
from common.units import Service, plist_text, unit_text
from gateway.faces.cli import service as gateway_service
from local_agent.cli import service as agent_service
from tests.each import each
from tests.golden import golden
from tests.supervisor import ABSENT, FAILED, RUNS, Supervisor
from tests.unit.local_agent.cli.conftest import AgentDouble

pytestmark = pytest.mark.heavy

Told = Callable[..., tuple[int, str]]
analyzed = pytest.mark.needs("systemd-analyze")


def a_service(*, system: bool, **changes: Any) -> Service:
    half = gateway_service if system else agent_service
    name = "gateway" if system else "agent"
    folder = Path(str(half.__file__)).parent
    secrets = [f"LoadCredential=wecom__{one}:/etc/codexbridge/secrets/wecom__{one}" for one in "ab"]
    made = Service(
        name=service.GATEWAY if system else service.AGENT,
        system=system,
        verb="codexbridge gateway service" if system else "codexbridge service",
        template=(folder / f"{name}.service").read_text(encoding="utf-8"),
        marks={"STATE": ["StateDirectory=codexbridge"], "CREDENTIALS": secrets} if system else {},
        command=("/usr/bin/python3", "-I", "-m", "codexbridge", name),
        environment={"CODEXBRIDGE_LANG": "zh", "CODEXBRIDGE_HOME": "/srv/a b"},
        user="daemon" if system else "",
        home=Path("/"),
        is_ready=bool,
        lang="en",
        environ={},
        tell=print,
        ask=None,
        launchd=False,
    )
    return replace(made, **changes)


# --- what is written --------------------------------------------------------------------------


@each("system", [False, True])
@each("version", [252, 254])
def test_the_units_are_those_that_were_agreed_upon(*, system: bool, version: int) -> None:
    made = a_service(system=system)
    golden.check(f"units/{made.name}-{version}.service", unit_text(made, version))


@analyzed
@each("system", [False, True])
def test_systemd_finds_no_fault_in_a_unit(tmp_path: Path, *, system: bool) -> None:
    made = a_service(system=system)
    file = tmp_path / f"{made.name}.service"
    file.write_text(unit_text(made, 252), encoding="utf-8")
    found = subprocess.run(
        ["systemd-analyze", *([] if system else ["--user"]), "verify", file],
        env={**os.environ, "XDG_RUNTIME_DIR": str(tmp_path)},
        capture_output=True,
        encoding="utf-8",
        check=False,
    )
    assert (found.returncode, found.stderr) == (0, "")


@analyzed
def test_the_gateways_unit_is_exposed_to_little(tmp_path: Path) -> None:
    made = a_service(system=True)
    file = tmp_path / f"{made.name}.service"
    file.write_text(unit_text(made, 252), encoding="utf-8")
    found = subprocess.run(
        ["systemd-analyze", "security", "--offline=true", "--no-pager", file],
        capture_output=True,
        encoding="utf-8",
        check=True,
    )
    exposure = re.search(r"exposure level for \S+: ([\d.]+)", found.stdout)
    assert exposure, found.stdout
    assert float(exposure[1]) <= 2.0


@each("system", [False, True])
def test_no_secret_and_no_retry_of_wrong_settings(*, system: bool) -> None:
    text = unit_text(a_service(system=system), 254)
    assert "RestartPreventExitStatus=2\n" in text
    assert codexbridge.EXIT_INPUT == 2
    assert "StartLimitIntervalSec=0\n" in text
    assert not re.search(r"@[A-Z]+@", text)
    assert not re.search(r"(?mi)^environment=.*(token|secret|key)", text)


@each(
    "word, written",
    [
        ("/a b", '"/a b"'),
        ("/50%", '"/50%%"'),
        ("/$HOME", '"/$$HOME"'),
        ('/"\\', '"/\\"\\\\"'),
        ("/开发", '"/开发"'),
    ],
)
def test_whatever_a_path_holds_reaches_the_program_as_it_is(word: str, written: str) -> None:
    made = a_service(system=False, command=("/python", word))
    assert f"ExecStart=/python {written}\n" in unit_text(made)


def test_a_path_that_reads_like_a_mark_of_ours_stays_a_path() -> None:
    made = a_service(system=False, command=("/opt/codexbridge", "--config", "/x/@BACKOFF@"))
    assert "/x/@BACKOFF@" in unit_text(made, 252)


def test_a_path_cannot_add_a_line_to_a_unit() -> None:
    with pytest.raises(InputError) as caught:
        unit_text(a_service(system=False, environment={"CODEXBRIDGE_HOME": "/a\nExecStartPre=/x"}))
    assert caught.value.code == "service.characters"


@each("system", [False, True])
def test_launchd_is_told_the_same_in_keys_that_it_knows(*, system: bool) -> None:
    made = a_service(system=system, launchd=True)
    text = plist_text(made)
    keys = plistlib.loads(text.encode())
    assert units.MARK in text
    assert keys["Label"] == made.file.stem
    assert keys["ProgramArguments"] == [*made.command]
    assert keys["KeepAlive"] == {"SuccessfulExit": False}
    assert ("UserName" in keys, keys.get("Umask")) == ((True, 0o077) if system else (False, None))
    # launchd.plist(5)
    assert keys.keys() <= {
        *("Label", "ProgramArguments", "EnvironmentVariables", "RunAtLoad", "KeepAlive"),
        *("ThrottleInterval", "ExitTimeOut", "StandardOutPath", "StandardErrorPath", "UserName"),
        *("Umask", "HardResourceLimits", "ProcessType", "LimitLoadToSessionType"),
    }
    folder = "LaunchDaemons" if system else "LaunchAgents"
    assert made.file == Path(f"/Library/{folder}/{made.name}.plist")


# --- the commands -----------------------------------------------------------------------------


@pytest.fixture
def supervisor(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Supervisor:
    folder = tmp_path / "bin"
    folder.mkdir()
    playing = Supervisor(folder)
    for name, value in {
        "HOME": str(tmp_path),
        "CODEXBRIDGE_HOME": str(tmp_path / "h"),
        "CODEXBRIDGE_LANG": "en",
        "USER": "ada",
    }.items():
        monkeypatch.setenv(name, value)
    for name in ("SUDO_USER", "CODEXBRIDGE_CONFIG"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setattr(service, "TOOLS", playing.path)
    runs = lambda *_: playing.unit.get("ActiveState") == "active"  # noqa: E731 - twice the same
    monkeypatch.setattr(agent_service, "_answers", runs)
    monkeypatch.setattr(gateway_service, "_answers", runs)
    return playing


@pytest.fixture
def told(supervisor: Supervisor, capfd: pytest.CaptureFixture[str]) -> Told:
    """Run a command; its exit code, and what it told."""
    del supervisor

    def run(*words: str) -> tuple[int, str]:
        code = codexbridge.main(words)
        shown = capfd.readouterr()
        return code, shown.out + shown.err

    return run


def unit_file(tmp_path: Path) -> Path:
    return tmp_path / ".config/systemd/user/codexbridge-agent.service"


def test_installing_writes_starts_and_waits_for_an_answer(
    tmp_path: Path, supervisor: Supervisor, told: Told
) -> None:
    code, said = told("service", "install", "--config", "agent.toml")
    assert code == 0
    text = unit_file(tmp_path).read_text(encoding="utf-8")
    assert text.rstrip() in said
    config = Path("agent.toml").absolute()
    assert f"ExecStart={sys.executable} -I -m codexbridge agent --config {config}\n" in text
    assert f"Environment=CODEXBRIDGE_HOME={tmp_path}/h\n" in text
    assert unit_file(tmp_path).stat().st_mode & 0o777 == 0o644
    assert supervisor.calls("show") == [
        ["systemctl", "--user", "daemon-reload"],
        ["systemctl", "--user", "enable", "--now", "codexbridge-agent"],
    ]
    assert "answers (process 4711)" in said
    assert "loginctl enable-linger ada" in said


def test_installing_again_says_that_nothing_changed(supervisor: Supervisor, told: Told) -> None:
    told("service", "install")
    supervisor.calls()
    code, said = told("service", "install")
    assert (code, "as it was" in said) == (0, True)
    assert supervisor.calls("show")[-1][-3:] == ["enable", "--now", "codexbridge-agent"]


def test_a_changed_unit_is_written_anew_and_the_service_restarted(
    tmp_path: Path, supervisor: Supervisor, told: Told
) -> None:
    told("service", "install")
    supervisor.calls()
    code, said = told("service", "install", "--config", "other.toml")
    assert (code, "anew" in said) == (0, True)
    assert "other.toml" in unit_file(tmp_path).read_text(encoding="utf-8")
    assert [call[2] for call in supervisor.calls("show")] == ["daemon-reload", "enable", "restart"]


def test_a_dry_run_changes_nothing_and_needs_no_systemd(
    tmp_path: Path, supervisor: Supervisor, told: Told
) -> None:
    supervisor.play(fails={"systemctl": "Failed to connect to bus"})
    code, said = told("service", "install", "--dry-run")
    assert (code, "[Service]" in said, str(unit_file(tmp_path)) in said) == (0, True, True)
    assert not unit_file(tmp_path).exists()
    assert all(call[2] == "show" for call in supervisor.calls())
    assert told("service", "install", "--print")[1] == said


def test_a_unit_of_somebody_else_is_neither_overwritten_nor_removed(
    tmp_path: Path, supervisor: Supervisor, told: Told
) -> None:
    file = unit_file(tmp_path)
    file.parent.mkdir(parents=True)
    file.write_text("[Service]\nExecStart=/bin/true\n", encoding="utf-8")
    assert told("service", "install")[0] == 2
    assert told("service", "remove")[0] == 2
    assert file.read_text(encoding="utf-8") == "[Service]\nExecStart=/bin/true\n"
    assert supervisor.calls("show") == []


@pytest.mark.parametrize(("answer", "code"), [("y", 0), ("n", 2), ("", 2)])
def test_at_a_terminal_it_is_asked_before_overwriting(
    tmp_path: Path, told: Told, monkeypatch: pytest.MonkeyPatch, *, answer: str, code: int
) -> None:
    unit_file(tmp_path).parent.mkdir(parents=True)
    unit_file(tmp_path).write_text("mine", encoding="utf-8")
    monkeypatch.setattr(agent_service, "at_keyboard", lambda: True)
    monkeypatch.setattr(agent_service, "read_answer", lambda _question: answer)
    assert told("service", "install")[0] == code
    assert (unit_file(tmp_path).read_text(encoding="utf-8") == "mine") == (code != 0)


def test_an_agent_that_runs_in_a_terminal_has_to_end_first(
    tmp_path: Path, told: Told, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(agent_service, "_answers", lambda *_: True)
    code, said = told("service", "install")
    assert (code, "outside of the service" in said) == (1, True)
    assert not unit_file(tmp_path).exists()


def test_what_does_not_answer_is_told_with_its_log(supervisor: Supervisor, told: Told) -> None:
    log = "codexbridge: There is no setting “x”.\x1b[2J"
    supervisor.play(after={"enable": FAILED}, log=log)
    code, said = told("service", "install")
    assert code == 1
    assert "There is no setting “x”." in said
    assert "\x1b" not in said


@pytest.mark.parametrize(
    ("booted", "says"), [(False, "No systemd runs here"), (True, "enable-linger ada; export XDG")]
)
@pytest.mark.parametrize("action", ["install", "status"])
def test_without_a_systemd_to_ask_it_says_what_to_do(
    supervisor: Supervisor,
    told: Told,
    monkeypatch: pytest.MonkeyPatch,
    tmp_path: Path,
    *,
    booted: bool,
    says: str,
    action: str,
) -> None:
    supervisor.play(fails={"systemctl": "Failed to connect to bus: No medium found"})
    monkeypatch.setattr(service, "BOOTED", tmp_path if booted else tmp_path / "none")
    code, said = told("service", action)
    assert code == 1
    assert says in said
    assert said.count("\n") == 1
    assert not unit_file(tmp_path).exists()


def test_only_the_systems_own_programs_are_run(
    tmp_path: Path, told: Told, monkeypatch: pytest.MonkeyPatch
) -> None:
    planted = tmp_path / "node_modules/.bin"
    planted.mkdir(parents=True)
    for name in ("systemctl", "journalctl", "loginctl"):
        (planted / name).write_text(f"#!/bin/sh\ntouch {tmp_path}/ran\n", encoding="utf-8")
        (planted / name).chmod(0o755)
    monkeypatch.undo()
    monkeypatch.setenv("CODEXBRIDGE_HOME", str(tmp_path / "h"))
    monkeypatch.setenv("PATH", f"{planted}:/usr/bin:/bin")
    monkeypatch.chdir(tmp_path)
    told("service", "status")
    assert not (tmp_path / "ran").exists()


def test_what_they_are_told_of_the_environment_is_no_secret(
    supervisor: Supervisor, told: Told, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("DEEPSEEK_API_KEY", "sk-1")
    (supervisor.folder / "systemctl").write_text(
        f"#!/bin/sh\nenv > {supervisor.folder}/seen\n", encoding="utf-8"
    )
    told("service", "status")
    seen = (supervisor.folder / "seen").read_text(encoding="utf-8")
    assert "sk-1" not in seen
    assert "HOME=" in seen


def test_where_systemctl_is_not_there_it_is_said(
    told: Told, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(service, "TOOLS", "/nowhere")
    assert told("service", "install")[0] == 1
    assert "No systemd" in told("service", "logs")[1]


def test_what_systemd_refuses_is_told_in_one_line(supervisor: Supervisor, told: Told) -> None:
    supervisor.play(fails={"enable": "masked"})
    code, said = told("service", "install")
    assert (code, said.splitlines()[-1]) == (
        1,
        "codexbridge: `systemctl --user enable --now codexbridge-agent` failed: masked",
    )


def test_an_agent_is_not_installed_through_sudo(
    told: Told, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(os, "geteuid", lambda: 0)
    monkeypatch.setenv("SUDO_USER", "ada")
    code, said = told("service", "install")
    assert (code, "as ada" in said) == (2, True)


def test_an_installation_that_cannot_start_elsewhere_is_refused(
    told: Told, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sys, "executable", shutil.which("false"))
    assert told("service", "install")[0] == 2


def test_removing_takes_only_the_unit(tmp_path: Path, supervisor: Supervisor, told: Told) -> None:
    told("service", "install")
    supervisor.calls()
    state = find_home({"CODEXBRIDGE_HOME": str(tmp_path / "h")}).state
    state.mkdir(parents=True)
    code, said = told("service", "remove")
    assert (code, "State and settings stay" in said) == (0, True)
    assert not unit_file(tmp_path).exists()
    assert state.is_dir()
    asked = [call[2:] for call in supervisor.calls("--property=Version")]
    assert asked == [
        ["disable", "--now", "codexbridge-agent"],
        ["daemon-reload"],
        ["reset-failed", "codexbridge-agent"],
    ]
    assert told("service", "remove")[0] == 0


@pytest.mark.parametrize("lang", LANGS)
def test_every_standing_fits_on_a_screen(
    supervisor: Supervisor, told: Told, monkeypatch: pytest.MonkeyPatch, *, lang: str
) -> None:
    monkeypatch.setenv("CODEXBRIDGE_LANG", lang)
    standings = {
        "running": (0, RUNS),
        "absent": (3, ABSENT),
        "by hand": (0, RUNS | {"UnitFileState": "disabled"}),
        "stopped": (3, RUNS | {"ActiveState": "inactive", "SubState": "dead"}),
        "settings": (3, FAILED),
        "program gone": (3, FAILED | {"ExecMainStatus": "203"}),
        "out of memory": (
            3,
            RUNS
            | {"ActiveState": "activating", "SubState": "auto-restart", "Result": "oom-kill"}
            | {"ExecMainCode": "2", "ExecMainStatus": "9"},
        ),
    }
    parts = []
    for name, (expected, unit) in standings.items():
        supervisor.play(unit=unit)
        code, said = told("service", "status")
        assert code == expected
        parts.append((name, re.sub(r"/\S*/\.config", "~/.config", said)))
    golden.check(f"units/status-{lang}.txt", golden.sections(parts))


def test_a_program_can_read_the_standing(supervisor: Supervisor, told: Told) -> None:
    supervisor.play(unit=FAILED)
    code, said = told("service", "status", "--json")
    found = json.loads(said)
    assert (code, found["state"], found["code"], found["restarts"]) == (3, "failed", 2, 2)


def test_logs_are_those_of_the_unit(
    supervisor: Supervisor, told: Told, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr(service, "BOOTED", tmp_path)
    assert told("service", "logs", "-f", "-n", "7") == (0, "started\n")
    assert supervisor.calls() == [
        ["journalctl", "--user-unit", "codexbridge-agent", "-n", "7", "-f"]
    ]
    told("gateway", "service", "logs")
    assert supervisor.calls() == [["journalctl", "--unit", "codexbridge-gateway", "-n", "50"]]
    monkeypatch.setattr(service, "BOOTED", tmp_path / "none")
    assert told("service", "logs")[0] == 1
    assert supervisor.calls() == [], "no systemd, no journal"


def test_a_real_agent_is_asked_over_its_socket(tmp_path_factory: pytest.TempPathFactory) -> None:
    environ = {"CODEXBRIDGE_HOME": str(tmp_path_factory.mktemp("h"))}
    places = find_home(environ)
    assert not agent_service._answers(places, environ)
    agent = AgentDouble(places)
    agent.start()
    try:
        assert agent_service._answers(places, environ)
    finally:
        agent.stop()


# --- the gateway ------------------------------------------------------------------------------


@pytest.fixture
def admin(tmp_path: Path, supervisor: Supervisor, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Where root installs a gateway; the folder is the root of the system."""
    del supervisor
    monkeypatch.delenv("CODEXBRIDGE_HOME")
    monkeypatch.setattr(os, "geteuid", lambda: 0)
    monkeypatch.setattr(gateway_service, "ROOT", tmp_path)
    monkeypatch.setattr(gateway_service, "HIDDEN", (str(tmp_path / "home"),))
    account = SimpleNamespace(pw_uid=990, pw_dir="/var/lib/codexbridge")
    known = {"codexbridge": account, "root": SimpleNamespace(pw_uid=0, pw_dir="/root")}
    monkeypatch.setattr(pwd, "getpwnam", known.__getitem__)
    (tmp_path / "gateway.toml").write_text("", encoding="utf-8")
    secrets = tmp_path / "secrets"
    secrets.mkdir()
    for name in ("wecom__token", "wecom__corp_secret", ".old"):
        (secrets / name).write_text("TOP-SECRET", encoding="utf-8")
    return tmp_path


def install(folder: Path, *more: str, secrets: bool = True) -> list[str]:
    given = ["--secrets-dir", str(folder / "secrets")] if secrets else []
    return [
        "gateway",
        "--config",
        str(folder / "gateway.toml"),
        *given,
        "service",
        "install",
        *more,
    ]


def test_the_gateway_is_a_service_of_the_machine(
    admin: Path, supervisor: Supervisor, told: Told
) -> None:
    code, said = told(*install(admin))
    assert code == 0, said
    text = (admin / "etc/systemd/system/codexbridge-gateway.service").read_text(encoding="utf-8")
    assert "User=codexbridge\n" in text
    assert "StateDirectory=codexbridge/.local/state/codexbridge/gateway\n" in text
    credentials = re.findall(r"LoadCredential=(\S+):(\S+)", text)
    assert [name for name, _ in credentials] == ["wecom__corp_secret", "wecom__token"]
    assert "TOP-SECRET" not in text + said
    assert "linger" not in said
    assert supervisor.calls("show") == [
        ["systemctl", "daemon-reload"],
        ["systemctl", "enable", "--now", "codexbridge-gateway"],
    ]
    assert told("gateway", "service", "status")[0] == 0
    assert told("gateway", "service", "remove")[0] == 0


@pytest.mark.parametrize(
    ("setting", "line"),
    [
        ('state_dir = "/var/lib/bridge"', "StateDirectory=bridge\n"),
        ('state_dir = "{folder}/state"', "ReadWritePaths={folder}/state\n"),
    ],
)
def test_the_state_folder_of_the_settings_is_the_one_it_can_write_to(
    admin: Path, told: Told, *, setting: str, line: str
) -> None:
    (admin / "state").mkdir()
    (admin / "gateway.toml").write_text(setting.format(folder=admin), encoding="utf-8")
    code, said = told(*install(admin, "--dry-run"))
    assert code == 0
    assert line.format(folder=admin) in said


@pytest.mark.parametrize(
    ("change", "code"),
    [
        ("toml", "service.in-home/file"),
        ("program", "service.in-home/program"),
        ("state", "service.in-home/state"),
        ("no state", "service.no-state"),
        ("user", "service.no-user"),
        ("root", "service.root-user"),
        ("no config", "service.config-needed"),
        ("not root", "service.needs-root"),
    ],
)
def test_what_would_not_start_is_refused_with_what_to_do(
    admin: Path, told: Told, monkeypatch: pytest.MonkeyPatch, *, change: str, code: str
) -> None:
    words = install(admin)
    match change:
        case "toml":
            (admin / "home").mkdir()
            (admin / "home/gateway.toml").write_text("", encoding="utf-8")
            words[2] = str(admin / "home/gateway.toml")
        case "program":
            monkeypatch.setattr(sys, "prefix", str(admin / "home/ada/venv"))
        case "state":
            (admin / "home").mkdir()
            (admin / "home/s").mkdir()
            (admin / "gateway.toml").write_text(f'state_dir = "{admin}/home/s"', encoding="utf-8")
        case "no state":
            (admin / "gateway.toml").write_text('state_dir = "/srv/none"', encoding="utf-8")
        case "user":
            words += ["--user", "nobody-else"]
        case "root":
            words += ["--user", "root"]
        case "no config":
            words = ["gateway", "service", "install"]
        case "not root":
            monkeypatch.setattr(os, "geteuid", lambda: 1000)
    exit_code, said = told(*words)
    assert exit_code == 2
    assert said.startswith("codexbridge: ")
    assert SERVICE_ERRORS[code].en.partition("{")[0] in said
    assert not (admin / "etc").exists()


def test_a_real_gateway_is_asked_for_its_health() -> None:
    class Answering(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            self.send_response(200 if self.path == "/health/live" else 404)
            self.end_headers()

        def log_message(self, *_words: object) -> None:
            """Say nothing."""

    server = HTTPServer(("127.0.0.1", 0), Answering)
    threading.Thread(target=server.serve_forever).start()
    listen = SimpleNamespace(host="127.0.0.1", port=server.server_port)
    settings: Any = SimpleNamespace(listen=listen)
    assert gateway_service._answers(settings)
    server.shutdown()
    server.server_close()
    assert not gateway_service._answers(settings)


# --- launchd: its texts and commands alone -----------------------------------------------------


def test_launchd_is_asked_by_its_own_commands(
    tmp_path: Path, supervisor: Supervisor, told: Told, monkeypatch: pytest.MonkeyPatch
) -> None:
    running = "gui/501/codexbridge-agent = {\n\tstate = running\n\tpid = 77\n\truns = 3\n}"
    supervisor.play(launchd=running)
    said: list[str] = []
    made = a_service(
        system=False,
        launchd=True,
        home=tmp_path,
        environ=dict(os.environ),
        is_ready=lambda: True,
        tell=said.append,
    )
    del told, monkeypatch
    assert service.install(made, only_show=False) == 0
    assert service.standing(made).pid == 77
    assert service.standing(made).restarts == 2
    assert service.status(made, as_json=False) == 0
    assert service.logs(made, lines=3, follow=True) == 0
    assert service.remove(made) == 0
    assert not made.file.exists()
    target = f"gui/{os.getuid()}"
    assert supervisor.calls("print") == [
        ["launchctl", "bootout", f"{target}/codexbridge-agent"],
        ["launchctl", "bootstrap", target, str(made.file)],
        ["tail", "-n", "3", "-f", str(made.log)],
        ["launchctl", "bootout", f"{target}/codexbridge-agent"],
    ]
