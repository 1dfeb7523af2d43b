"""The doctor beside a running agent, its mends, and what it promises of the first task."""

from __future__ import annotations

import json
import os
import re
import socket
import stat
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

import local_agent.doctor
from common.doctor import SHARED
from local_agent.cli.doctor import link_diagnoses
from local_agent.doctor.checks import AT_START, checks
from local_agent.doctor.diagnoses import DIAGNOSES
from local_agent.doctor.installation import Installation
from local_agent.doctor.machine import why_no_sandbox
from local_agent.error_texts import ERRORS
from local_agent.link.condition import OWN, TRANSPORT
from local_agent.store.lock import take_lock
from tests.doctor.agent.conftest import Good, another_machine, end_agent
from tests.doctor.agent.house import House, copy_of, ills
from tests.e2e.place import Place, Terminal, wait_until

needs_all = [
    pytest.mark.needs("bubblewrap"),
    pytest.mark.needs("git"),
    pytest.mark.needs("a screen (xvfb, openbox, xdotool, Tk)"),
]


@pytest.fixture
def place(good: Good) -> Iterator[Place]:
    """The good installation itself, with its agent running."""
    good.place.start_agent()
    yield good.place
    if "agent" in good.place.processes:
        end_agent(good.place)


def doctor(place: Place, *options: str) -> dict[str, Any]:
    return dict(json.loads(place.run("doctor", "--json", *options, check=False).stdout))


class TestWell:
    pytestmark = needs_all

    def test_a_good_installation_is_green_and_its_first_task_runs(self, place: Place) -> None:
        wait_until(lambda: place.status()["windows"]["state"] == "on")
        answer = doctor(place, "--models", "--audit")
        assert ills(answer) == set()
        assert answer["ok"] is True
        done = place.run("doctor")
        assert "All is well." in done.stdout
        assert "sent to the chat: summaries" in done.stdout
        words = ("--secrets-dir", str(place.made.secrets), "doctor", "--json")
        gateway = json.loads(place.admin(*words))
        assert ills(gateway) == set(), "both are green, and the way leads to its end"
        place.callback("@dev test")
        task = place.waiting()["short_id"]
        waiting = [one for one in doctor(place)["checks"] if one["check"] == "approvals"]
        assert waiting[0]["code"] == "approvals.waiting"
        assert task in waiting[0]["facts"]["tasks"]
        place.approve(task)
        assert place.final(task)["reason"] == "completed"
        place.hears(f"{task} ✓")

    def test_looking_takes_over_no_connection(self, place: Place) -> None:
        before = place.log("agent").count("relay.disconnected")
        doctor(place)
        assert place.log("agent").count("relay.disconnected") == before
        assert place.status()["connected"]

    def test_an_agent_without_a_display_is_told_apart(self, good: Good) -> None:
        place = good.place
        shown = dict(place.extra)
        try:
            place.extra = {}
            place.start_agent()
        finally:
            place.extra = shown
        try:
            assert ills(doctor(place)) == {"desktop.agent-without"}
        finally:
            end_agent(place)

    def test_what_was_changed_since_the_start_is_told_apart(self, place: Place) -> None:
        file = place.root / "config/agent.toml"
        before = file.read_text(encoding="utf-8")
        try:
            file.write_text(f"# a word\n{before}", encoding="utf-8")
            assert ills(doctor(place)) == set()
            file.write_text(f'prefix = "@bot"\n{before}', encoding="utf-8")
            assert ills(doctor(place)) == {"agent.other-settings"}
        finally:
            file.write_text(before, encoding="utf-8")

    def test_a_sandbox_that_went_after_the_start_is_missed(self, place: Place) -> None:
        house = House(place.root, extra=dict(place.extra))
        house.cover("/usr/bin/bwrap", None)
        assert ills(house.found()) == {"sandbox.not-installed"}

    def test_a_start_logs_what_is_ill_by_the_same_names(self, good: Good) -> None:
        stray = good.place.root / "config/policies/shpo.toml"
        stray.parent.mkdir(mode=0o700)
        stray.write_text("require_typed = true\n", encoding="utf-8")
        stray.chmod(0o600)
        before = len(good.place.log("agent"))
        good.place.start_agent()
        try:
            wait_until(lambda: "doctor.found" in good.place.log("agent")[before:])
            (line,) = re.findall(r".*doctor\.found.*", good.place.log("agent")[before:])
            assert "check=policies code=policies.stray" in line
        finally:
            end_agent(good.place)
            stray.unlink()
            stray.parent.rmdir()


@pytest.mark.thorough
class TestRefused:
    pytestmark = needs_all

    def test_a_machine_that_its_admin_removed(self, good: Good, tmp_path: Path) -> None:
        place = another_machine(good, tmp_path / "home", "dev-2")
        place.start_agent()
        try:
            good.place.admin("revoke", "dev-2")
            wait_until(lambda: place.status()["gateway"]["state"] == "refused")
            assert ills(doctor(place)) <= {"gateway.revoked", "gateway.auth"}
            assert place.run("doctor", check=False).returncode == 1
        finally:
            place.stop()


class TestMends:
    pytestmark = needs_all

    @pytest.mark.parametrize(("answer", "mode"), [("y", 0o700), ("n", 0o755)])
    def test_a_mend_is_asked_for_first(
        self, answer: str, mode: int, good: Good, tmp_path: Path
    ) -> None:
        house = House(copy_of(good.place.root, tmp_path / "home"), extra={"DISPLAY": good.screen})
        house.state.chmod(0o755)
        with Terminal(house.environ, "doctor", "--fix") as terminal:
            terminal.read_until("[y/N]", after=re.compile("private to you"))
            terminal.type(answer)
            terminal.read_to_end()
        assert stat.S_IMODE(house.state.stat().st_mode) == mode

    def test_what_came_since_the_question_is_left_as_it_is(
        self, good: Good, tmp_path: Path
    ) -> None:
        house = House(copy_of(good.place.root, tmp_path / "home"), extra={"DISPLAY": good.screen})
        pairing, other = house.config / "pairing.json", tmp_path / "other"
        other.write_bytes(pairing.read_bytes())
        for path in (pairing, other):
            path.chmod(0o644)
        with Terminal(house.environ, "doctor", "--fix") as terminal:
            terminal.read_until("[y/N]", after=re.compile("private to you"))
            pairing.unlink()
            pairing.symlink_to(other)
            terminal.type("y")
            terminal.read_to_end()
        assert "nothing was done to it" in " ".join(terminal.shown.split())
        assert stat.S_IMODE(other.stat().st_mode) == 0o644

    def test_a_left_socket_is_removed_and_folders_are_made(self, tmp_path: Path) -> None:
        house = House(tmp_path / "home", extra={"DISPLAY": None})
        (house.root / "run").mkdir(mode=0o700, parents=True)
        with closing(socket.socket(socket.AF_UNIX)) as left:
            left.bind(str(house.root / "run/agent.sock"))
        (house.root / "run/agent.sock").chmod(0o600)
        with Terminal(house.environ, "doctor", "--fix") as terminal:
            terminal.read_until("[y/N]", after=re.compile("Create"))
            terminal.type("y")
            terminal.read_until("[y/N]", after=re.compile("left-over"))
            terminal.type("y")
            terminal.read_to_end()
        assert not (house.root / "run/agent.sock").exists()
        assert stat.S_IMODE(house.state.stat().st_mode) == 0o700

    def test_the_socket_of_an_agent_that_started_meanwhile_stays(self, tmp_path: Path) -> None:
        house = House(tmp_path / "home", extra={"DISPLAY": None})
        place, lock = house.root / "run/agent.sock", house.state / "journal.db"
        for folder in (house.config, house.state, place.parent):
            folder.mkdir(mode=0o700, parents=True)
        with closing(socket.socket(socket.AF_UNIX)) as left:
            left.bind(str(place))
        place.chmod(0o600)
        with Terminal(house.environ, "doctor", "--fix") as terminal:
            terminal.read_until("[y/N]", after=re.compile("left-over"))
            held = take_lock(lock)
            terminal.type("y")
            terminal.read_to_end()
        os.close(held)
        assert "The agent is already running" in terminal.shown
        assert place.exists()
        with Terminal(house.environ, "doctor", "--fix") as terminal:
            terminal.read_until("[y/N]", after=re.compile("left-over"))
            beside = place.with_name("beside")
            with closing(socket.socket(socket.AF_UNIX)) as new:
                new.bind(str(beside))
            beside.replace(place)
            terminal.type("y")
            terminal.read_to_end()
        assert "nothing was done to it" in " ".join(terminal.shown.split())
        assert place.exists()

    def test_without_a_person_nothing_is_mended(self, good: Good, tmp_path: Path) -> None:
        house = House(copy_of(good.place.root, tmp_path / "home"))
        house.state.chmod(0o755)
        for options in (("--fix",), ("--fix", "--json")):
            done = house.doctor(*options)
            assert (done.returncode, done.stdout) == (2, "")
        assert stat.S_IMODE(house.state.stat().st_mode) == 0o755


def test_every_code_has_its_words_and_every_word_its_code() -> None:
    folder = Path(local_agent.doctor.__file__).parent
    source = "".join(
        path.read_text(encoding="utf-8")
        for path in folder.glob("*.py")
        if "diagnoses" not in path.name
    )
    named = {
        code
        for code in re.findall(r'"([a-z]+\.[a-z-]+)"', source)
        if code.partition(".")[0] in {check.name for check in checks(_nowhere())}
    }
    known = {*DIAGNOSES, *link_diagnoses(), *SHARED, *ERRORS}
    assert named - known == set()
    made = {f"models.key-{how}" for how in ("away", "broken", "missing")}
    told_by_the_sandbox = {code for code in DIAGNOSES if code.startswith("sandbox.")}
    assert DIAGNOSES.keys() - named - made - told_by_the_sandbox == set()
    assert {f"gateway.{why}" for why in OWN | TRANSPORT} <= known


def test_what_a_start_looks_at_is_on_the_list() -> None:
    assert {check.name for check in checks(_nowhere(), AT_START)} == {*AT_START}


def _nowhere() -> Installation:
    from common.home import Home

    nowhere = Path(os.devnull)
    return Installation(places=Home(nowhere, nowhere, nowhere), home=nowhere, environ={})


@pytest.mark.parametrize(
    ("files", "said", "code"),
    [
        ({"/proc/sys/user/max_user_namespaces": "0"}, "", "sandbox.no-namespaces"),
        ({"/proc/sys/kernel/unprivileged_userns_clone": "0"}, "", "sandbox.namespaces-off"),
        (
            {"/proc/sys/kernel/apparmor_restrict_unprivileged_userns": "1", "/.dockerenv": ""},
            "bwrap: setting up uid map: Permission denied",
            "sandbox.apparmor",
        ),
        ({"/.dockerenv": ""}, "bwrap: prctl(PR_SET_SECCOMP): Invalid argument", "sandbox.seccomp"),
        ({"/run/.containerenv": ""}, "bwrap: Can't mount proc", "sandbox.container"),
        ({"/.dockerenv": ""}, "[Errno 24] Too many open files", "sandbox.cannot-start"),
        ({"/proc/sys/user/max_user_namespaces": "9"}, "bwrap: …", "sandbox.cannot-start"),
        *(
            (place, said, code)
            for place in (
                {"/.dockerenv": ""},
                {"/run/.containerenv": ""},
                {"/proc/sys/user/max_user_namespaces": "0"},
                {"/proc/sys/kernel/unprivileged_userns_clone": "0"},
                {"/proc/sys/kernel/apparmor_restrict_unprivileged_userns": "1"},
            )
            for said, code in (
                ("bwrap: Unknown option --disable-userns", "sandbox.too-old"),
                ("bwrap: unknown option --json-status-fd", "sandbox.too-old"),
                (
                    "bwrap: error while loading shared libraries: libcap.so.2",
                    "sandbox.cannot-start",
                ),
                ("bwrap: prctl(PR_SET_SECCOMP): Invalid argument", "sandbox.seccomp"),
            )
        ),
    ],
)
def test_each_cause_of_a_sandbox_that_does_not_start(
    files: dict[str, str], said: str, code: str
) -> None:
    assert why_no_sandbox(files.get, said) == code
