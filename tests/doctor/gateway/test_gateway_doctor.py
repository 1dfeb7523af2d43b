"""``codexbridge gateway doctor`` over real installations, whole and broken."""

from __future__ import annotations

import asyncio
import contextlib
import json
import os
import re
import shutil
import socket
import sqlite3
import subprocess
import time
import tomllib
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, closing
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from aiohttp.test_utils import TestServer

from common.doctor import SHARED, Diagnosis
from common.sentences import Sentence
from common.signing import SigningKey
from gateway.base.settings import STORE_FILE
from gateway.doctor import DIAGNOSES
from gateway.simulator.client import SimulatorClient
from gateway.simulator.config import save
from gateway.store import agents, members
from gateway.store.runner import open_admin
from tests import forks
from tests.doctor.gateway.around import Certificates, Front
from tests.doctor.gateway.broken import CASES, Broken, Files, case
from tests.e2e.place import Place, Terminal, free_ports, wait_until
from tests.people import someone

USER = "zhangwei"
NOW_MS = 1_767_240_000_000
SMALL_DISK = "a small tmpfs (root, unshare)"


@pytest.fixture(scope="module")
def good(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Place]:
    """A whole installation that runs, its one machine connected as far as the store knows."""
    place = Place.at(tmp_path_factory.mktemp("good") / "home")
    try:
        install(place, seen_by=(USER, "li"))
        # Whoever examines it with another Token leaves a wrong signature, which counts only while
        # none was ever right.
        assert place.callback("@dev help") == 200
        yield place
    finally:
        place.stop()


def install(place: Place, *, seen_by: tuple[str, ...] = ()) -> None:
    """Do all that an admin does up to the first message; all of the corp see the app, or some."""
    config = place.made.config
    save(config.with_app(replace(config.first, members=seen_by)), place.made.simulator)
    place.admin("member", "add", USER, "--role", "admin")
    place.start_simulator()
    place.start_gateway()
    with open_admin(store_of(place)) as store:
        key = SigningKey.generate().public
        store.write(agents.enrol, "agent-1", machine="dev-1", public_key=key, at_ms=NOW_MS)
        store.write(members.bind, someone(USER), "agent-1", at_ms=NOW_MS)
        store.write(agents.connect, "agent-1", at_ms=NOW_MS)


@pytest.fixture(scope="module")
def certificates(tmp_path_factory: pytest.TempPathFactory) -> Certificates:
    return Certificates(tmp_path_factory.mktemp("certificates"))


def store_of(place: Place) -> Path:
    return place.root / "state" / "gateway" / STORE_FILE


class Patient:
    """A copy of the good installation, to be broken; its own gateway if a case needs one."""

    def __init__(self, good: Place, root: Path, broken: Broken) -> None:
        self.good = good
        self.broken = broken
        self.files = Files(root / "config", root / "state")
        self.environ = good.environ
        self.settings = tomllib.loads(good.made.gateway.read_text(encoding="utf-8"))
        self.settings["state_dir"] = str(self.files.state)
        self.secrets = {
            name: (good.made.secrets / f"wecom__{name}").read_text(encoding="utf-8")
            for name in ("token", "encoding_aes_key", "corp_secret")
        } | dict(broken.secrets)
        self._processes = Place(root, good.made, good.gateway_port)

    def set(self, name: str, value: Any) -> None:
        """Set one setting by its dotted name."""
        *tables, last = name.split(".")
        table = self.settings
        for one in tables:
            table = table.setdefault(one, {})
        table[last] = value

    def write(self) -> None:
        """Write everything, the store as it is at this moment."""
        (self.files.config / "secrets").mkdir(parents=True, mode=0o700)
        for name, value in self.secrets.items():
            self.files.secret(name).write_text(value, encoding="utf-8")
            self.files.secret(name).chmod(0o600)
        top = {name: value for name, value in self.settings.items() if type(value) is not dict}
        lines = [f"{name} = {json.dumps(value)}" for name, value in top.items()]
        for table in self.settings.keys() - top.keys():
            lines.append(f"[{table}]")
            lines += [f"{name} = {json.dumps(v)}" for name, v in self.settings[table].items()]
        (self.files.config / "gateway.toml").write_text("\n".join(lines), encoding="utf-8")
        self.files.state.mkdir(mode=0o700)
        source = store_of(self.good)
        shutil.copytree(source.parent / "keys", self.files.state / "keys")
        copy = self.files.state / STORE_FILE
        with closing(sqlite3.connect(source)) as from_, closing(sqlite3.connect(copy)) as to:
            from_.backup(to)
            to.execute("PRAGMA journal_mode=WAL")
        copy.chmod(0o600)

    def break_it(self) -> None:
        """Do to the files what the case says."""
        with closing(sqlite3.connect(self.files.state / STORE_FILE)) as store:
            for statement in self.broken.sql:
                store.execute(statement)
            store.commit()
            store.execute("PRAGMA wal_checkpoint(TRUNCATE)")
        for left in self.files.state.glob(f"{STORE_FILE}-*"):
            left.unlink()
        if self.broken.touch is not None:
            self.broken.touch(self.files)

    @property
    def words(self) -> tuple[str, ...]:
        """The options that name the files."""
        config = self.files.config
        return (
            *("--config", str(config / "gateway.toml")),
            *("--secrets-dir", str(config / "secrets")),
        )

    def doctor(
        self, *words: str, stdin: str = "", apart: forks.Apart | None = None
    ) -> subprocess.CompletedProcess[str]:
        """Run the doctor; nothing of a secret may ever be told."""
        command = ("gateway", "doctor", *self.words, *words)
        done = forks.run(*command, environ=self.environ, stdin=stdin, apart=apart)
        for secret in (*self.secrets.values(), "canary"):
            assert len(secret.strip()) < 6 or secret.strip() not in done.stdout + done.stderr
        return done

    def examine(self) -> dict[str, Any]:
        """Return what programs are told."""
        done = self.doctor("--json")
        told: dict[str, Any] = json.loads(done.stdout)
        assert done.returncode == (0 if told["ok"] else 1), done
        return told

    @asynccontextmanager
    async def served(self) -> AsyncIterator[None]:
        """Let the gateway itself run with these settings, and hear one message."""
        (port,) = free_ports(1)
        self.set("listen.port", port)
        self.write()
        self.break_it()
        self._processes.gateway_port = port
        self._processes.start("gateway", "gateway", *self.words)
        try:
            await asyncio.to_thread(wait_until, self._is_there)
            query, body = self.good.encrypted("@dev help")
            url = f"http://127.0.0.1:{port}{self.settings['wecom']['callback_path']}"
            status = await asyncio.to_thread(post, url, query, body)
            assert status in (200, 403)
            if status == 403:
                await asyncio.to_thread(wait_until, self._is_noted)
            await asyncio.to_thread(self._connect_machine)
            yield
        finally:
            await asyncio.to_thread(self._processes.stop)

    def _is_there(self) -> bool:
        assert self._processes.processes["gateway"].poll() is None, self._processes.log("gateway")
        return "listening" in self._processes.log("gateway")

    def _is_noted(self) -> bool:
        with closing(sqlite3.connect(self.files.state / STORE_FILE)) as store:
            events = store.execute("SELECT body FROM audit ORDER BY seq DESC LIMIT 3")
            return any(b'"event":"callback.' in bytes(body) for (body,) in events)

    def _connect_machine(self) -> None:
        with open_admin(self.files.state / STORE_FILE) as store:
            store.write(agents.connect, "agent-1", at_ms=NOW_MS)


def post(url: str, query: dict[str, str], body: bytes) -> int:
    import urllib.error
    import urllib.request
    from urllib.parse import urlencode

    request = urllib.request.Request(f"{url}?{urlencode(query)}", data=body, method="POST")
    try:
        with urllib.request.urlopen(request, timeout=10) as answer:
            return int(answer.status)
    except urllib.error.HTTPError as refusal:
        return refusal.code


@asynccontextmanager
async def around(patient: Patient, certificates: Certificates) -> AsyncIterator[None]:
    """Start what surrounds a patient, and name it in the settings."""
    patient.environ = patient.environ | {"SSL_CERT_FILE": str(certificates.trusted)}
    async with contextlib.AsyncExitStack() as stack:
        if fault := patient.broken.fault:
            simulator = SimulatorClient(patient.good.made.config.page_port)
            await asyncio.to_thread(simulator.ask, "fault", on=True, **fault)
            stack.push_async_callback(asyncio.to_thread, simulator.ask, "fault", name="", on=False)
        if (wecom := patient.broken.wecom) is not None:
            base = await _started(stack, wecom.server(), wecom.tls, certificates)
            patient.set("wecom.api_base", base.replace("http:", f"{wecom.scheme or 'http'}:", 1))
        if (front := patient.broken.front) is not None:
            server = front.server(patient.good.base)
            patient.set("public_url", await _started(stack, server, front.tls, certificates))
            patient.set("trusted_proxies", ["127.0.0.1/32"])
        for name, value in patient.broken.settings.items():
            patient.set(name, value)
        yield


async def _started(
    stack: contextlib.AsyncExitStack, server: TestServer, tls: Any, certificates: Certificates
) -> str:
    if tls:
        context = certificates.context(tls, server.host)
        await server.start_server(ssl=context)
    else:
        await server.start_server()
    stack.push_async_callback(server.close)
    return f"{'https' if tls else 'http'}://{server.host}:{server.port}"


def ill(told: dict[str, Any]) -> set[str]:
    return {one["code"] for one in told["checks"] if one["tone"] in ("warn", "bad")}


@pytest.mark.parametrize("broken", CASES, ids=lambda broken: broken.name)
async def test_the_cause_is_found_and_nothing_else(
    good: Place, certificates: Certificates, tmp_path: Path, broken: Broken
) -> None:
    if broken.needs_root and os.getuid() != 0:
        pytest.skip("only root can give a file away")
    patient = Patient(good, tmp_path, broken)
    async with around(patient, certificates), ports(patient):
        if broken.own:
            async with patient.served():
                told = await asyncio.to_thread(patient.examine)
        else:
            patient.write()
            patient.break_it()
            told = await asyncio.to_thread(patient.examine)
    assert ill(told) == broken.found, json.dumps(told["checks"], ensure_ascii=False)
    text = json.dumps(told, ensure_ascii=False)
    assert [said for said in broken.said if said not in text] == [], text
    for one in told["checks"]:
        if one["tone"] in ("warn", "bad") and one["code"] in DIAGNOSES:
            assert all(one[lang]["why"] and one[lang]["mend"] for lang in ("en", "zh"))


@asynccontextmanager
async def ports(patient: Patient) -> AsyncIterator[None]:
    """Put real ports in the place of -1, which is free, and -2 to -4, where others listen.

    What has -2 answers nothing; what has -4 answers as a gateway does, but has no link.
    """
    wanted = patient.settings["listen"]["port"]
    live = Front(answer=(200, '{"status": "live"}')).server("http://127.0.0.1:9")
    with socket.create_server(("127.0.0.1", 0)) as other:
        if wanted == -1:
            patient.set("listen.port", free_ports(1)[0])
        if wanted == -2:
            patient.set("listen.port", other.getsockname()[1])
        if wanted == -3:
            patient.set("listen.port", patient.good.made.config.page_port)
        if wanted == -4:
            await live.start_server()
            patient.set("listen.port", live.port)
        yield
    await live.close()


def test_there_are_more_than_35_broken_installations_with_names_of_their_own() -> None:
    assert sum(bool(broken.found) for broken in CASES) >= 35
    assert len({broken.name for broken in CASES}) == len(CASES)


def _own_address() -> str:
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as probe:
        try:
            probe.connect(("192.0.2.1", 9))
        except OSError:
            return ""
        return str(probe.getsockname()[0])


@pytest.mark.parametrize("names_client", [True, False])
async def test_a_proxy_that_does_not_name_its_clients_is_found(
    good: Place, certificates: Certificates, tmp_path: Path, names_client: bool
) -> None:
    if not (address := _own_address()) or address.startswith("127."):
        pytest.skip("this machine has no address but loopback")
    front = Front(tls="good", host=address, names_client=names_client)
    # The gateway of the others trusts no proxy; this one must.
    broken = replace(case("a proxy"), front=front, own=True)
    patient = Patient(good, tmp_path, broken)
    (port,) = free_ports(1)
    server = front.server(f"http://127.0.0.1:{port}")
    patient.environ = patient.environ | {"SSL_CERT_FILE": str(certificates.trusted)}
    async with contextlib.AsyncExitStack() as stack:
        patient.set("public_url", await _started(stack, server, front.tls, certificates))
        patient.set("trusted_proxies", ["127.0.0.1/32"])
        patient.set("listen.port", port)
        patient.write()
        place = Place(tmp_path, good.made, port)
        place.start("gateway", "gateway", *patient.words)
        stack.push_async_callback(asyncio.to_thread, place.stop)
        await asyncio.to_thread(wait_until, lambda: "listening" in place.log("gateway"))
        await asyncio.to_thread(patient._connect_machine)
        told = await asyncio.to_thread(patient.examine)
    assert ill(told) == (set() if names_client else {"callback.address"})


def test_a_green_doctor_is_followed_by_a_first_message_that_is_answered(tmp_path: Path) -> None:
    place = Place.at(tmp_path / "home")
    try:
        install(place)
        app, console = place.made.config.first, SimulatorClient(place.made.config.page_port)
        keys = {"token": app.token, "encoding_aes_key": app.encoding_aes_key}
        assert console.save(url=app.callback_url, **keys) == ""
        words = ("--secrets-dir", str(place.made.secrets), "doctor", "--json")
        assert ill(json.loads(place.admin(*words))) == set()
        assert place.callback("@dev help") == 200
        assert place.hears("@dev")
        with place.made.gateway.open("a", encoding="utf-8") as settings:
            settings.write("# a word\n")
        assert ill(json.loads(place.admin(*words))) == set()
        text = place.made.gateway.read_text(encoding="utf-8")
        place.made.gateway.write_text(f'prefix = "@bot"\n{text}', encoding="utf-8")
        assert ill(json.loads(place.admin(*words))) == {"ready.other-settings"}
        place.kill("gateway")
        place.start_gateway()
        assert ill(json.loads(place.admin(*words))) == {"machines.away"}  # it is none
    finally:
        place.stop()


def test_each_ill_is_a_line_with_why_and_what_mends_it_in_both_languages(
    good: Place, tmp_path: Path
) -> None:
    patient = Patient(good, tmp_path, case("x", secrets={"corp_secret": "canary" * 7}))
    patient.write()
    for lang, words in (("en", "40001 Secret no reply"), ("zh", "40001 Secret 回复发不到聊天中")):
        patient.environ = patient.environ | {"CODEXBRIDGE_LANG": lang, "COLUMNS": "120"}
        done = patient.doctor()
        assert done.returncode == 1
        assert all(word in done.stdout for word in words.split())
        assert sum(line.startswith("✗") for line in done.stdout.splitlines()) == 1
        assert "→ " in done.stdout


def test_fix_asks_before_each_and_does_what_it_was_allowed(good: Place, tmp_path: Path) -> None:
    patient = Patient(good, tmp_path, CASES[0])
    patient.write()
    secret = patient.files.secret("token")
    secret.chmod(0o644)
    refused = patient.doctor("--fix", stdin="n\n")
    assert refused.returncode == 1
    assert secret.stat().st_mode & 0o777 == 0o644
    allowed = patient.doctor("--fix", stdin="y\n")
    assert allowed.returncode == 0, allowed.stdout
    assert secret.stat().st_mode & 0o777 == 0o600
    patient.files.state.chmod(0o755)
    assert patient.doctor("--fix", stdin="").returncode == 1  # silence is no
    assert patient.files.state.stat().st_mode & 0o777 == 0o755
    assert patient.doctor("--fix", stdin="y\n").returncode == 0
    assert patient.files.state.stat().st_mode & 0o777 == 0o700


@pytest.mark.parametrize("place", ["config/secrets/wecom__token", "state/gateway.db"])
def test_fix_changes_nothing_that_came_since_the_question(
    good: Place, tmp_path: Path, place: str
) -> None:
    patient = Patient(good, tmp_path, CASES[0])
    patient.write()
    other, exposed = tmp_path / "other", tmp_path / place
    other.write_bytes(exposed.read_bytes())
    for path in (other, exposed):
        path.chmod(0o644)
    with Terminal(good.environ, "gateway", "doctor", *patient.words, "--fix") as terminal:
        terminal.read_until("[y/N]", after=re.compile("Let only its owner"))
        exposed.unlink()
        exposed.symlink_to(other)
        terminal.type("y")
        terminal.read_to_end()
        assert terminal.fork.wait(10) != 0
    assert "nothing was done to it" in " ".join(terminal.shown.split())
    assert other.stat().st_mode & 0o777 == 0o644


def test_looking_changes_nothing(good: Place, tmp_path: Path) -> None:
    patient = Patient(good, tmp_path, CASES[0])
    patient.write()
    patient.break_it()
    before = _contents(tmp_path)
    patient.examine()
    assert _contents(tmp_path) == before


def _contents(folder: Path) -> dict[str, tuple[int, bytes]]:
    return {
        str(path): (path.stat().st_mode, path.read_bytes() if path.is_file() else b"")
        for path in folder.rglob("*")
        if not path.name.endswith(("-wal", "-shm"))  # SQLite's own, of whoever reads
    }


def test_watch_tells_changes_alone_and_ends_when_all_is_well(good: Place, tmp_path: Path) -> None:
    patient = Patient(good, tmp_path, CASES[0])
    patient.write()
    secret = patient.files.secret("token")
    secret.chmod(0o644)
    started = time.monotonic()
    with Terminal(good.environ, "gateway", "doctor", *patient.words, "--watch") as terminal:
        terminal.read_until("", after=re.compile("alarms"))
        shown = len(terminal.shown)
        secret.chmod(0o600)
        terminal.read_to_end()
        assert terminal.fork.wait(10) == 0
    assert "secret files" in terminal.shown[shown:]
    assert "version" not in terminal.shown[shown:]
    assert time.monotonic() - started < 60


def test_ctrl_c_ends_the_watch(good: Place, tmp_path: Path) -> None:
    patient = Patient(good, tmp_path, CASES[0])
    patient.write()
    patient.files.secret("token").chmod(0o644)
    with Terminal(good.environ, "gateway", "doctor", *patient.words, "--watch") as terminal:
        terminal.read_until("", after=re.compile("alarms"))
        terminal.interrupt()
        terminal.read_to_end()
        assert terminal.fork.wait(10) == 130


def test_a_wrong_use_ends_with_2(good: Place) -> None:
    done = forks.run("gateway", "doctor", "--json", "--fix", environ=good.environ)
    assert done.returncode == 2


@pytest.mark.needs(SMALL_DISK)
@pytest.mark.parametrize(
    ("then", "code"),
    [
        ("true", "disk.full"),
        ("umask 077; dd if=/dev/zero of={}/fill bs=4k status=none || true", "disk.unwritable"),
        ("mount -o remount,ro {}", "disk.unwritable"),
    ],
)
def test_a_disk_without_room_is_found(good: Place, tmp_path: Path, then: str, code: str) -> None:
    patient = Patient(good, tmp_path, CASES[0])
    patient.write()
    aside = patient.files.state.rename(tmp_path / "aside")
    state = patient.files.state
    script = (
        f"mkdir -m 700 {state}\nmount -t tmpfs -o size=4m,mode=700 tmpfs {state}\n"
        f"cp -a {aside}/. {state}\n{then.format(state)} 2>/dev/null"
    )
    done = patient.doctor("--json", apart=forks.Apart(script))
    assert ill(json.loads(done.stdout)) == {code}, done.stderr


def test_both_languages_of_every_diagnosis_use_the_same_facts() -> None:
    for code, diagnosis in {**SHARED, **DIAGNOSES}.items():
        for sentence in _sentences(diagnosis):
            assert sentence.fields("en") == sentence.fields("zh"), code
            assert "docs/" not in sentence.en + sentence.zh


def _sentences(diagnosis: Diagnosis) -> Iterator[Sentence]:
    for sentence in (diagnosis.said, diagnosis.why, diagnosis.mend):
        if sentence is not None:
            yield sentence


def test_the_start_up_log_tells_the_same_by_the_same_names(good: Place, tmp_path: Path) -> None:
    wait_until(lambda: "doctor.well" in good.log("gateway"))
    patient = Patient(good, tmp_path, case("x", secrets={"corp_secret": "canary" * 7}))
    patient.set("listen.port", free_ports(1)[0])
    patient.write()
    place = Place(tmp_path, good.made, patient.settings["listen"]["port"])
    place.start("gateway", "gateway", *patient.words)
    try:
        wait_until(lambda: "doctor.found" in place.log("gateway"))
    finally:
        place.stop()
    log = place.log("gateway")
    assert "check=wecom-token code=wecom.bad-secret" in log
    assert log.index("listening") < log.index("doctor.found")
    assert "canary" not in log


def test_a_gateway_starts_although_wecom_is_away_and_says_so(good: Place, tmp_path: Path) -> None:
    patient = Patient(good, tmp_path, CASES[0])
    patient.set("listen.port", free_ports(1)[0])
    patient.set("wecom.api_base", "http://127.0.0.1:9")
    patient.set("wecom.corp_id", "ww0123456789abcdef")
    patient.write()
    place = Place(tmp_path, good.made, patient.settings["listen"]["port"])
    place.start("gateway", "gateway", *patient.words)
    try:
        wait_until(lambda: "code=settings.example" in place.log("gateway"))
        assert place.gateway_is_ready()
        assert place.processes["gateway"].poll() is None
    finally:
        place.stop()
