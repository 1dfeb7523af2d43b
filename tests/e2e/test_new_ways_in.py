"""What comes from outside by newer ways: a scenario's file, a proxy, a policy, an admin's typing.

None of it reaches a terminal as it is, ends in an inner error, or leaves the machine unasked.
"""

from __future__ import annotations

import json
import re
import ssl
import subprocess
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest

from gateway.faces.cli.service import _state_lines
from gateway.simulator.client import SimulatorClient
from tests.doctor.gateway.around import Certificates
from tests.e2e.place import Place, wait_until

HEAD = '[why]\nen = "c"\nzh = "d"\n[[step]]\nsay = "x"\n'
HIDDEN = r"\u001b]0;renamed\u0007\u001b[2J\u202e"
INNER = "inside CodexBridge"
ANYTHING = re.compile("")


@pytest.fixture
def place(tmp_path: Path) -> Iterator[Place]:
    place = Place.at(tmp_path / "home")
    try:
        yield place
    finally:
        place.stop()


# -- scenarios are data --------------------------------------------------------------------------


def _scenario(place: Place, title: str, step: str = HEAD) -> Path:
    path = place.root / "theirs.toml"
    path.write_text(f'[title]\nen = "{title}"\nzh = "{title}"\n{step}', encoding="utf-8")
    return path


def test_what_a_scenario_says_is_no_order_to_the_terminal(place: Place) -> None:
    path = _scenario(place, f"T{HIDDEN}", HEAD.replace('"x"', f'"x{HIDDEN}"'))
    place.admin("member", "add", "zhangwei")
    place.start_simulator()
    place.start_gateway()
    said = place.run("sim", "run", str(path), check=False).stdout
    assert "writes:" in said or "：" in said
    assert [char for char in ("\x1b", "\x07", "\u202e") if char in said] == []


@pytest.mark.parametrize("title", ["{x}"])
def test_a_title_with_braces_is_a_title(place: Place, title: str) -> None:
    done = place.run("sim", "run", str(_scenario(place, title)), check=False)
    assert INNER not in done.stderr


def test_a_scenario_of_a_thousand_brackets_is_refused(place: Place) -> None:
    path = place.root / "deep.toml"
    path.write_text("title = " + "[" * 20_000 + "]" * 20_000, encoding="utf-8")
    done = place.run("sim", "run", str(path), check=False)
    assert (done.returncode, INNER in done.stderr) == (2, False), done.stderr


# -- the proxy -----------------------------------------------------------------------------------


def _through(place: Place, egress: str) -> None:
    place.admin("member", "add", "zhangwei")
    text = place.made.gateway.read_text(encoding="utf-8")
    line = next(line for line in text.splitlines() if line.startswith("api_base"))
    text = text.replace(line, 'api_base = "https://localhost"')
    place.made.gateway.write_text(f"{text}\n[egress]\n{egress}\n", encoding="utf-8")


def _doctor(place: Place, **environ: str) -> str:
    place.extra = {**place.extra, **environ}
    secrets = ("--secrets-dir", str(place.made.secrets))
    named = ("--config", str(place.made.gateway), *secrets)
    done = place.run("gateway", *named, "doctor", "--json", check=False)
    return done.stdout + done.stderr


@pytest.mark.parametrize(
    "url",
    [
        "http://svc:pa/ss@proxy.test:3128",  # as passwords are, before somebody encodes them
        "http://svc:pa#ss@proxy.test:3128",
        "http://svc:pass@proxy.test:99999",
        "http://svc:pass]@proxy.test:3128",
    ],
)
def test_a_proxy_that_cannot_be_read_is_a_setting_to_correct(place: Place, url: str) -> None:
    _through(place, "use_environment = true")
    said = _doctor(place, HTTPS_PROXY=url)
    assert "ValueError" not in said
    assert "HTTPS_PROXY" in said


@pytest.mark.parametrize(
    "url", ["http://proxy.test:port", "http://proxy.test:99999", "http://:s3cret@proxy.test:1"]
)
def test_a_proxy_in_the_settings_is_read_whole_and_holds_no_password(
    place: Place, url: str
) -> None:
    _through(place, f'proxy = "{url}"')
    found = json.loads(_doctor(place))
    codes = {one["check"]: one["code"] for one in found["checks"]}
    assert codes["settings"] == "config.invalid", codes


class _Opens(BaseHTTPRequestHandler):
    """A company's proxy that opens TLS, with an authority that nobody here was told of."""

    certificates: Certificates

    def do_CONNECT(self) -> None:
        self.send_response(200)
        self.end_headers()
        try:
            context = self.certificates.context("", "localhost")
            context.wrap_socket(self.connection, server_side=True)
        except (ssl.SSLError, OSError):
            pass
        self.close_connection = True

    def log_message(self, *_: object) -> None:
        """Say nothing."""


def test_the_doctor_tells_a_proxy_that_opens_tls_from_one_that_is_silent(
    place: Place, tmp_path: Path
) -> None:
    handler = type("Opens", (_Opens,), {"certificates": Certificates(tmp_path)})
    with ThreadingHTTPServer(("127.0.0.1", 0), handler) as proxy:
        threading.Thread(target=proxy.serve_forever, daemon=True).start()
        _through(place, f'proxy = "http://127.0.0.1:{proxy.server_port}"')
        said = _doctor(place)
        proxy.shutdown()
    assert "egress.ca_bundle" in said
    assert "does not answer" not in said


# -- what an admin does --------------------------------------------------------------------------


def test_a_failed_message_is_not_sent_to_who_was_removed_since(place: Place) -> None:
    for user in ("zhangwei", "lisi"):
        place.admin("member", "add", user)
    place.start_simulator()
    place.start_gateway()
    simulator = SimulatorClient(place.made.config.page_port)
    simulator.ask("fault", app="", name="81013", on=True)
    assert place.callback("@dev whoami") == 200
    failed = wait_until(
        lambda: [one for one in json.loads(place.admin("outbox", "--json")) if one["code"]]
    )
    simulator.ask("fault", app="", name="", on=False)
    place.admin("member", "remove", "zhangwei")
    place.run(
        *("gateway", "--config", str(place.made.gateway), "outbox", "retry", str(failed[0]["id"])),
        check=False,
    )
    assert place.callback("@dev whoami", user="lisi") == 200
    place.hears("lisi", user="lisi")
    assert place.chat("zhangwei") == []


def test_a_number_beyond_all_messages_is_one_that_does_not_wait(place: Place) -> None:
    place.admin("member", "add", "zhangwei")
    named = ("gateway", "--config", str(place.made.gateway))
    done = place.run(*named, "outbox", "retry", "9" * 20, check=False)
    assert (done.returncode, INNER in done.stderr) == (2, False), done.stderr


@pytest.mark.parametrize("user", ["ｚｈａｎｇｗｅｉ", "shop：zhangwei", "张伟"])
def test_nobody_is_added_who_could_never_write(place: Place, user: str) -> None:
    named = ("gateway", "--config", str(place.made.gateway))
    done = place.run(*named, "member", "add", user, check=False)
    listed = json.loads(place.admin("member", "list", "--json"))
    assert done.returncode == 2 or [one["user"] for one in listed] == ["zhangwei"]


@pytest.mark.needs("systemd-analyze")
def test_a_service_may_write_to_a_state_folder_with_a_blank_and_to_nothing_else(
    tmp_path: Path,
) -> None:
    state = tmp_path / "my state"
    state.mkdir()
    unit = tmp_path / "x.service"
    lines = "\n".join(_state_lines(state, "daemon"))
    unit.write_text(f"[Service]\nExecStart=/bin/true\n{lines}\n", encoding="utf-8")
    done = subprocess.run(
        ["/usr/bin/systemd-analyze", "verify", str(unit)],
        capture_output=True,
        encoding="utf-8",
        check=False,
    )
    assert "ignoring" not in done.stderr


# -- what leaves ---------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("file", "text"),
    [
        ("policies/code.toml", "canarykey = 1\n"),
        ("policies/code.toml", "[canarytable]\nx = 1\n"),
        ("agent.toml", 'model = "canary"\n'),
        ("agent.toml", '[models.canary]\nkind = "openai"\n'),
        ("agent.toml", '[models."canary x"]\nkind = "http"\n'),
    ],
)
def test_no_word_that_a_person_wrote_into_a_broken_file_is_reported(
    place: Place, file: str, text: str
) -> None:
    folder = place.root / "code"
    folder.mkdir(parents=True)
    place.run("workspace", "add", str(folder), "--test", "true", "--toolchains", "none")
    path = place.root / "config" / file
    path.parent.mkdir(mode=0o700, exist_ok=True)
    path.write_text(text, encoding="utf-8")
    path.chmod(0o600)
    report = place.root / "report.json"
    place.run("bugreport", "--output", str(report))
    assert "canary" not in report.read_text(encoding="utf-8")


@pytest.mark.parametrize(
    "url", ["https://user:pass@", "https://user:pa/ss@", "https://user:pa#ss@"]
)
def test_an_address_with_a_password_is_told_without_it(place: Place, url: str) -> None:
    done = place.run("pair", "--gateway", f"{url}gateway.test", stdin="CB1-\n", check=False)
    assert "ss@" not in done.stdout + done.stderr
