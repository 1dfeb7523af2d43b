"""What the first system of this kind got wrong, each by name, against real processes."""

from __future__ import annotations

import ast
import json
import secrets
import urllib.error
import urllib.request
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest
from websockets.exceptions import ConnectionClosed, InvalidStatus
from websockets.sync.client import ClientConnection, connect
from websockets.typing import Origin

from common.clock import SystemClock
from common.ids import new_uuid
from common.keystore import FileKeystore
from common.protocol.envelope import seal_envelope
from common.protocol.link import Link, LinkState
from common.signing import SigningKey, VerifyKey
from tests.e2e.place import Place, sample, wait_until

pytestmark = [pytest.mark.requirement("MJ-6")]
ROOT = Path(__file__).parent.parent.parent
CLOCK = SystemClock()


@pytest.fixture(scope="module")
def idle(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Place]:
    """Everything runs, and whatever is tried there becomes no task."""
    folder = tmp_path_factory.mktemp("idle")
    place = Place.at(folder / "home")
    try:
        place.start_all(sample(folder / "shop-api", [("login.py", "retry = 3\n")]), "true")
        yield place
        assert place.tasks() == []
    finally:
        place.stop()


def request(url: str, *, body: bytes | None = None, **headers: str) -> int:
    """Return the status of one plain HTTP request; what it says must be nothing."""
    made = urllib.request.Request(url, data=body, headers=headers)
    try:
        with urllib.request.urlopen(made, timeout=5) as answer:
            return int(answer.status)
    except urllib.error.HTTPError as refusal:
        return refusal.code


def pairing_of(place: Place) -> dict[str, str]:
    """Return what the machine stored when it was paired."""
    found = json.loads((place.root / "config" / "pairing.json").read_text(encoding="utf-8"))
    return dict(found)


def dial(place: Place, *, key: SigningKey, agent_id: str) -> Link:
    """Play an agent by hand until the link is ready or closed, and return it."""
    url = place.base.replace("http", "ws")
    gateway_key = VerifyKey(bytes.fromhex(pairing_of(place)["gateway_key"]))
    link = Link.for_agent(
        key,
        agent_id=agent_id,
        gateway_key=gateway_key,
        url=place.base,
        last_seq=0,
        nonce=secrets.token_bytes(32),
        at=CLOCK.now(),
    )
    try:
        with connect(f"{url}/agent/v1/link", compression=None) as socket:
            while link.state is LinkState.OPENING:
                link.receive(socket.recv(timeout=5), CLOCK.now())
                for frame in link.data_to_send():
                    socket.send(frame)
    except (ConnectionClosed, InvalidStatus):
        pass
    return link


def read_to_the_end(socket: ClientConnection) -> None:
    """Read until the other side closes."""
    while True:
        socket.recv(timeout=5)


@pytest.mark.requirement("P4")
def test_an_unauthenticated_socket_that_claims_a_machine_gets_nothing(running: Place) -> None:
    agent_id = pairing_of(running)["agent_id"]
    link = dial(running, key=SigningKey.generate(), agent_id=agent_id)
    assert link.state is not LinkState.READY
    url = running.base.replace("http", "ws")
    with connect(f"{url}/agent/v1/link", compression=None) as socket:
        socket.recv(timeout=5)
        socket.send(json.dumps({"type": "register", "machineId": "dev-1"}))
        with pytest.raises(ConnectionClosed):
            read_to_the_end(socket)
    assert running.status()["connected"], "the real machine did not notice"
    running.callback("@dev test")
    running.waiting()


def test_a_web_page_cannot_open_the_agents_socket(idle: Place) -> None:
    url = idle.base.replace("http", "ws")
    with pytest.raises(InvalidStatus):
        connect(f"{url}/agent/v1/link", origin=Origin("https://evil.example"), compression=None)


@pytest.mark.requirement("R18")
def test_a_forged_result_changes_nothing(running: Place, tmp_path: Path) -> None:
    """Another, honestly paired machine claims a result for a task that is not its own."""
    running.callback("@dev test")
    short_id = running.waiting()["short_id"]
    (task,) = running.gateway_tasks()
    other = Place(tmp_path / "other", running.made, running.gateway_port)
    (other.root).mkdir(mode=0o700)
    running.admin("member", "add", "lisi")
    code = running.admin("pair", "--machine", "dev-2", "--member", "lisi")
    other.run("pair", "--gateway", running.base, stdin=_code_in(code) + "\n")
    _send_result(other, task["task_id"])
    (after,) = running.gateway_tasks()
    assert after["state"] == "WAITING_APPROVAL"
    assert not any("forged" in text for text in running.chat())
    running.approve(short_id)
    running.hears(short_id, "1 passed")


def _code_in(said: str) -> str:
    return next(word for word in said.split() if "CB1-" in word)  # `pair` takes the whole line


def _send_result(place: Place, task_id: str) -> None:
    """Send a result signed by this machine's own key over its own, properly opened link."""
    paired = pairing_of(place)
    key = SigningKey(_key_bytes(place))
    at = CLOCK.now()
    gateway_key = VerifyKey(bytes.fromhex(paired["gateway_key"]))
    link = Link.for_agent(
        key,
        agent_id=paired["agent_id"],
        gateway_key=gateway_key,
        url=place.base,
        last_seq=0,
        nonce=secrets.token_bytes(32),
        at=at,
    )
    envelope = seal_envelope(
        key,
        typ="result",
        iss=f"agent:{paired['agent_id']}",
        aud=f"gateway:{gateway_key.key_id}",
        jti=new_uuid(),
        seq=1,
        iat=at.wall_s,
        exp=at.wall_s + 600,
        body={
            "task_id": task_id,
            "task_sha256": "0" * 64,
            "state": "COMPLETED",
            "reason": "completed",
            "summary": "forged",
            "at": at.wall_ms,
        },
    )
    with connect(place.base.replace("http", "ws") + "/agent/v1/link", compression=None) as socket:
        while link.state is LinkState.OPENING:
            link.receive(socket.recv(timeout=5), CLOCK.now())
            for frame in link.data_to_send():
                socket.send(frame)
        assert link.state is LinkState.READY
        link.send(envelope.frame)
        for frame in link.data_to_send():
            socket.send(frame)
        try:
            while "ack" not in str(socket.recv(timeout=5)):
                pass
        except (ConnectionClosed, TimeoutError):
            pass


def _key_bytes(place: Place) -> bytes:
    name = f"agent-{pairing_of(place)['agent_key_id']}"
    found = FileKeystore(place.root / "state" / "keys").get(name)
    assert found
    return found


@pytest.mark.requirement("R71")
def test_an_unsigned_json_post_is_refused(idle: Place) -> None:
    url = idle.made.config.first.callback_url
    body = json.dumps({"text": "@dev test", "from": "zhangwei", "machineId": "dev-1"}).encode()
    assert 400 <= request(url, body=body) < 500
    assert 400 <= request(f"{url}?msg_signature={'0' * 40}&timestamp=1&nonce=a", body=body) < 500
    assert idle.gateway_tasks() == []


@pytest.mark.requirement("P1")
@pytest.mark.parametrize(
    "name",
    [
        "CODEXBRIDGE_AUTO_APPROVE",
        "CODEXBRIDGE_APPROVE",
        "CODEXBRIDGE_AGENT__AUTO_APPROVE",
        "CODEXBRIDGE_AGENT__ALLOW_RUN_TERMINAL_WITHOUT_APPROVAL",
    ],
)
def test_an_environment_variable_that_approves_does_not_exist(place: Place, name: str) -> None:
    place.extra = {name: "1"}
    place.root.mkdir(exist_ok=True)
    done = place.run("agent", check=False)
    assert done.returncode == 2
    assert name in done.stderr


@pytest.mark.requirement("P1")
def test_allowing_commands_in_the_settings_still_asks(place: Place, workspace: Path) -> None:
    place.extra = {"CODEXBRIDGE_AGENT__ALLOW_RUN_TERMINAL": "true", "CI": "true"}
    place.start_all(workspace, "sh count.sh")
    place.callback("@dev test")
    place.waiting()
    assert not (workspace / "ran.txt").exists()


@pytest.mark.requirement("P1")
def test_no_chat_message_approves(running: Place, workspace: Path) -> None:
    running.callback("@dev test")
    short_id = running.waiting()["short_id"]
    for words in ("approve {id}", "同意 {id}", "yes", "@dev apply {id}", "批准"):
        said = words.format(id=short_id)
        before = len(running.chat())
        running.callback(said if said.startswith("@dev") else f"@dev {said}")
        wait_until(lambda before=before: len(running.chat()) > before)  # type: ignore[misc]
        assert running.waiting()["short_id"] == short_id, words
        assert not (workspace / "ran.txt").exists(), words


@pytest.mark.requirement("R20")
def test_no_signature_is_compared_in_variable_time() -> None:
    secretive = ("signature", "mac", "digest", "hmac", "token", "secret")
    offenders = []
    for path in [*(ROOT / "gateway").rglob("*.py"), *(ROOT / "common" / "protocol").rglob("*.py")]:
        if "simulator" in path.parts:
            continue
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if not isinstance(node, ast.Compare):
                continue
            if not any(isinstance(test, ast.Eq | ast.NotEq) for test in node.ops):
                continue
            sides = [node.left, *node.comparators]
            if any(isinstance(side, ast.Constant) for side in sides):
                continue
            names = {_last_name(side) for side in sides}
            if any(name.split("_")[-1] in secretive for name in names):
                offenders.append((path.name, node.lineno, sorted(names)))
    assert offenders == []


def _last_name(node: ast.AST) -> str:
    if isinstance(node, ast.Attribute):
        return node.attr
    return node.id if isinstance(node, ast.Name) else ""


def test_a_wrong_receive_id_is_refused(idle: Place) -> None:
    """Right token and key, another corp: only the receive id inside the ciphertext tells."""
    config = idle.made.config
    foreign = config.with_app(replace(config.first, corp_id="ww0000000000000000"))
    stranger = Place(idle.root, replace(idle.made, config=foreign), idle.gateway_port)
    assert 400 <= stranger.callback("@dev test") < 500
    assert idle.gateway_tasks() == []


def test_no_endpoint_operates_without_authentication(idle: Place) -> None:
    base = idle.base
    assert request(f"{base}/health/live") == 200
    assert request(f"{base}/health/ready") == 200
    for path in ("/", "/tasks", "/api/tasks", "/admin", "/metrics", "/approve", "/agent/v1/tasks"):
        assert request(base + path) == 404
        assert request(base + path, body=b"{}") in (404, 405)
    assert 400 <= request(f"{base}/agent/v1/link") < 500
    assert 400 <= request(f"{base}/agent/v1/pair", body=b"{}") < 500
    assert idle.gateway_tasks() == []
