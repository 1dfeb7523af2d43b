"""Other implementations of WeCom's protocol, against the whole gateway and the simulated API.

``@wecom/crypto`` (npm, WeCom's own) sends callbacks and reads the replies in their answers;
``wechatpy`` sends messages through the simulated API as any other app would.
"""

from __future__ import annotations

import json
import secrets
import subprocess
import time
import urllib.request
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final
from urllib.parse import urlencode
from xml.etree import ElementTree as ET

import pytest
from wechatpy.enterprise import WeChatClient
from wechatpy.exceptions import WeChatClientException

from tests.e2e.place import Place, wait_until

ROOT: Final = Path(__file__).parents[2]
PEER: Final = ROOT / "tests/page_tools/wecom_peer.js"
MODULES: Final = ROOT / ".page-tools/node_modules"


@pytest.fixture
def place(tmp_path: Path) -> Iterator[Place]:
    place = Place.at(tmp_path)
    try:
        place.start_simulator()
        place.admin("member", "add", "zhangwei")
        place.start_gateway()
        yield place
    finally:
        place.stop()


def _peer(place: Place, **request: Any) -> dict[str, Any]:
    config = place.made.config.first
    keys = {"token": config.token, "key": config.encoding_aes_key, "id": config.corp_id}
    done = subprocess.run(  # our own script
        ["node", str(PEER)],
        input=json.dumps(keys | request).encode(),
        env={"PATH": place.environ["PATH"], "NODE_PATH": str(MODULES)},
        capture_output=True,
        check=True,
        timeout=30,
    )
    answer: dict[str, Any] = json.loads(done.stdout)
    return answer


def _deliver(place: Place, text: str, *, msg_id: int) -> tuple[int, bytes]:
    """Post a message as WeCom's own package closes it; status and body of the answer."""
    config, now = place.made.config.first, str(int(time.time()))
    plain = (
        f"<xml><ToUserName><![CDATA[{config.corp_id}]]></ToUserName>"
        "<FromUserName><![CDATA[zhangwei]]></FromUserName>"
        f"<CreateTime>{now}</CreateTime><MsgType><![CDATA[text]]></MsgType>"
        f"<Content><![CDATA[{text}]]></Content><MsgId>{msg_id}</MsgId>"
        f"<AgentID>{config.app_id}</AgentID></xml>"
    )
    query = {"timestamp": now, "nonce": secrets.token_hex(8)}
    made = _peer(place, message=plain, **query)
    query["msg_signature"] = made["signature"]
    body = f"<xml><Encrypt><![CDATA[{made['sealed']}]]></Encrypt></xml>".encode()
    request = urllib.request.Request(f"{config.callback_url}?{urlencode(query)}", data=body)
    with urllib.request.urlopen(request, timeout=10) as answer:
        return int(answer.status), answer.read()


def _read(place: Place, body: bytes) -> tuple[ET.Element, str]:
    """Return a passive reply as WeCom's own package opens it, and whom it says it is from."""
    outer = {field.tag: field.text or "" for field in ET.fromstring(body)}  # noqa: S314
    opened = _peer(
        place, timestamp=outer["TimeStamp"], nonce=outer["Nonce"], sealed=outer["Encrypt"]
    )
    assert opened["signature"] == outer["MsgSignature"]
    return ET.fromstring(opened["message"]), opened["id"]  # noqa: S314  # our own gateway's


def _is_held(place: Place) -> bool:
    return bool(json.loads(_ready(place))["sending"]["main"])


def _ready(place: Place) -> bytes:
    with urllib.request.urlopen(f"{place.base}/health/ready", timeout=10) as answer:
        body: bytes = answer.read()
        return body


@pytest.mark.requirement("P3")
@pytest.mark.requirement("P7")
@pytest.mark.needs("page-tools")
def test_wecoms_own_package_is_heard_and_reads_what_is_said_while_nothing_can_be_sent(
    place: Place,
) -> None:
    assert _deliver(place, "@dev help", msg_id=1) == (200, b"")
    place.hears("Ask your own dev machine")
    place.kill("simulator")
    assert _deliver(place, "@dev machines", msg_id=2) == (200, b"")
    wait_until(lambda: _is_held(place))
    status, body = _deliver(place, "@dev status", msg_id=3)
    reply, receiver = _read(place, body)
    assert (status, receiver) == (200, place.made.config.first.corp_id)
    assert reply.findtext("ToUserName") == "zhangwei"
    assert reply.findtext("MsgType") == "text"
    said = reply.findtext("Content") or ""
    assert said
    again, _ = _read(place, _deliver(place, "@dev status", msg_id=3)[1])
    assert again.findtext("Content") == said, "delivered again, it was not read"
    place.start_simulator()
    place.hears("No machine works for you yet")
    wait_until(lambda: not _is_held(place))
    assert _deliver(place, "@dev help", msg_id=4) == (200, b"")
    assert len([text for text in place.chat() if "No machine works" in text]) == 1


def test_wechatpys_client_sends_through_the_simulated_api(place: Place) -> None:
    config = place.made.config.first
    client = _client(place, config.corp_secret)
    answer = client.message.send_text(config.app_id, "zhangwei", "来自 wechatpy")
    assert answer["errcode"] == 0
    place.hears("来自 wechatpy")
    with pytest.raises(WeChatClientException) as refused:
        _client(place, "wrong").message.send_text(config.app_id, "zhangwei", "x")
    assert refused.value.errcode == 40001


class Client(WeChatClient):  # type: ignore[misc]
    """Asks the simulated API for its token as well, which the package asks of one fixed address."""

    def fetch_access_token(self) -> Any:
        """Fetch it as the package does."""
        query = {"corpid": self.corp_id, "corpsecret": self.secret}
        return self._fetch_access_token(url=f"{self.API_BASE_URL}gettoken", params=query)


def _client(place: Place, secret: str) -> Client:
    config = place.made.config.first
    client = Client(config.corp_id, secret)
    client.API_BASE_URL = f"http://127.0.0.1:{place.made.config.port}/cgi-bin/"
    return client
