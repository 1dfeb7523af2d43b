"""The shipped examples of nginx and Caddy, filled in and run with TLS in front of the gateway."""

from __future__ import annotations

import http.client
import ipaddress
import json
import re
import ssl
import subprocess
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path
from urllib.parse import urlencode

import pytest
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import NameOID
from wechatpy.enterprise.crypto import WeChatCrypto

from common.protocol.flow_control import DEADLINES
from gateway.app.serving import KEEPALIVE_SECONDS
from gateway.base.addresses import FAILURES, LIVE_PATH, READY_PATH
from gateway.base.settings import WeCom
from gateway.channels.wecom_app import MAX_BODY_BYTES, MAX_QUERY_CHARS
from gateway.link.endpoint import LINK_PATH
from gateway.link.pairing import MAX_BYTES, PAIR_PATH
from tests.e2e.place import Place, free_ports, listens, wait_until
from tests.programs import program

CONFIG = Path(__file__).parents[2] / "config"
NGINX, CADDY = CONFIG / "nginx.example.conf", CONFIG / "Caddyfile.example"
CALLBACK = WeCom.model_fields["callback_path"].default
DOMAIN_CHECK = "/WW_verify_Ab1Cd2Ef3Gh4Ij5K.txt"
MEMBER, STRANGER = "127.0.0.5", "127.0.0.6"  # where requests come from; the proxy is 127.0.0.1
OF_US = ("site.conf", "nginx.conf", "Caddyfile")


@dataclass(frozen=True)
class Answer:
    """What came back."""

    status: int
    headers: http.client.HTTPMessage
    body: bytes


@dataclass(frozen=True)
class Front:
    """An installation whose gateway is reached through a proxy alone.

    Attributes:
        folder: The filled-in example, and what the proxy writes: logs, and nothing else.
    """

    place: Place
    folder: Path
    port: int
    plain_port: int
    tls: ssl.SSLContext

    @property
    def url(self) -> str:
        """What machines and WeCom dial."""
        return f"https://localhost:{self.port}"

    def ask(
        self,
        method: str,
        target: str,
        body: bytes | None = None,
        *,
        address: str = MEMBER,
        **headers: str,
    ) -> Answer:
        """Send one request over TLS, its target exactly as given."""
        connection = http.client.HTTPSConnection(
            "localhost", self.port, timeout=20, context=self.tls, source_address=(address, 0)
        )
        return _asked(connection, method, target, body, headers)

    def ask_plainly(self, target: str) -> Answer:
        """Send one GET without TLS."""
        connection = http.client.HTTPConnection("localhost", self.plain_port, timeout=20)
        return _asked(connection, "GET", target, None, {})

    def callback(self, text: str) -> Answer:
        """Deliver a member's message, encrypted by an independent implementation."""
        query, body = self.place.encrypted(text)
        return self.ask("POST", f"{CALLBACK}?{urlencode(query)}", body)

    def check(self, encoding: Callable[[str], str], *, address: str = MEMBER) -> Answer:
        """Check the URL as the console does, with an echo that has at least two plus signs.

        Args:
            encoding: Of the echo in the query.
            address: Where it comes from.
        """
        config = self.place.made.config.first
        crypto = WeChatCrypto(config.token, config.encoding_aes_key, config.corp_id)
        timestamp = str(int(time.time()))
        while True:
            sealed = crypto.encrypt_message("5836912736", "n0nce", timestamp)
            echo, signature = (_field(name, sealed) for name in ("Encrypt", "MsgSignature"))
            if echo.count("+") >= 2:
                break
        return self.ask(
            "GET",
            f"{CALLBACK}?msg_signature={signature}&timestamp={timestamp}&nonce=n0nce"
            f"&echostr={encoding(echo)}",
            address=address,
        )

    def pair(self) -> None:
        """Pair this machine through the proxy, as the admin and the person do."""
        said = self.place.admin("pair", "--machine", "dev-1", "--member", "zhangwei")
        code = re.search(r"CB1-[A-Z2-7]{26}", said)
        assert code, said
        self.place.run("pair", "--gateway", self.url, stdin=code[0] + "\n")


def _asked(
    connection: http.client.HTTPConnection,
    method: str,
    target: str,
    body: bytes | None,
    headers: dict[str, str],
) -> Answer:
    try:
        named = {name.replace("_", "-"): value for name, value in headers.items()}
        connection.request(method, target, body, named)
        answer = connection.getresponse()
        return Answer(answer.status, answer.headers, answer.read())
    finally:
        connection.close()


def _field(name: str, sealed: str) -> str:
    found = re.search(rf"<{name}><!\[CDATA\[(.*?)\]\]>", sealed)
    assert found
    return found[1]


# -- the proxies -----------------------------------------------------------------------------------


def nginx_command(folder: Path, *, port: int, plain_port: int, gateway_port: int) -> list[str]:
    """Fill in the example for nginx, have nginx check it, and return how it is started."""
    site = _filled(
        NGINX.read_text(encoding="utf-8"),
        ("    listen [::]:80;\n", ""),
        ("    listen [::]:443 ssl;\n", ""),
        ("listen 80;", f"listen 127.0.0.1:{plain_port};"),
        ("listen 443 ssl;", f"listen 127.0.0.1:{port} ssl;"),
        ("server_name codexbridge.example.com;", "server_name localhost;"),
        ("127.0.0.1:8787;", f"127.0.0.1:{gateway_port};"),
        ("/etc/nginx/codexbridge/", f"{folder.parent}/"),
        ("/var/www/codexbridge", f"{folder.parent}/www"),
        ("/var/log/nginx/", f"{folder}/"),
    )
    (folder / "site.conf").write_text(site, encoding="utf-8")
    places = "".join(
        f"{kind}_temp_path {folder}/{kind}; "
        for kind in ("client_body", "proxy", "fastcgi", "scgi", "uwsgi")
    )
    # What stands in Debian's own nginx.conf, for one process of whoever runs the test.
    (folder / "nginx.conf").write_text(
        f"daemon off; master_process off; pid {folder}/pid; error_log stderr;\n"
        "events { worker_connections 256; }\n"
        f"http {{ {places} include {folder}/site.conf; }}\n",
        encoding="utf-8",
    )
    command = [program("nginx"), "-p", str(folder), "-c", str(folder / "nginx.conf")]
    tried = subprocess.run([*command, "-t"], capture_output=True, encoding="utf-8", check=False)
    assert tried.returncode == 0, tried.stderr
    assert "[warn]" not in tried.stderr, tried.stderr
    return command


def caddy_command(folder: Path, *, port: int, plain_port: int, gateway_port: int) -> list[str]:
    """Fill in the example for Caddy, have Caddy check it, and return how it is started."""
    site = _filled(
        CADDY.read_text(encoding="utf-8"),
        ("\n{\n", f"\n{{\n\tadmin off\n\thttp_port {plain_port}\n\tdefault_bind 127.0.0.1\n"),
        ("\ncodexbridge.example.com {", f"\nhttps://localhost:{port} {{"),
        ("# tls /etc/caddy/fullchain.pem", f"tls {folder.parent}/fullchain.pem"),
        (" /etc/caddy/privkey.pem", f" {folder.parent}/privkey.pem"),
        ("reverse_proxy 127.0.0.1:8787", f"reverse_proxy 127.0.0.1:{gateway_port}"),
        ("/var/www/codexbridge", f"{folder.parent}/www"),
        ("/var/log/caddy/", f"{folder}/"),
    )
    (folder / "Caddyfile").write_text(site, encoding="utf-8")
    arguments = ["--config", str(folder / "Caddyfile"), "--adapter", "caddyfile"]
    tried = subprocess.run(
        [program("caddy"), "validate", *arguments],
        env={"HOME": str(folder)},
        capture_output=True,
        encoding="utf-8",
        check=False,
    )
    assert tried.returncode == 0, tried.stderr
    return [program("caddy"), "run", *arguments]


def _filled(example: str, *changes: tuple[str, str]) -> str:
    for stands, wanted in changes:
        assert stands in example, stands
        example = example.replace(stands, wanted)
    return example


PROXIES = {"nginx": nginx_command, "caddy": caddy_command}
# The requests are the same, so all runs of the tests have one of them.
MARKS = {
    "nginx": [pytest.mark.needs("nginx")],
    "caddy": [pytest.mark.needs("caddy"), pytest.mark.thorough],
}


def write_certificate(folder: Path) -> None:
    """Write a certificate for ``localhost`` that vouches for itself, and its key."""
    key = ec.generate_private_key(ec.SECP256R1())
    name = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, "localhost")])
    now = datetime.now(UTC)
    names = [x509.DNSName("localhost"), x509.IPAddress(ipaddress.ip_address("127.0.0.1"))]
    certificate = (
        x509.CertificateBuilder(issuer_name=name, subject_name=name, public_key=key.public_key())
        .serial_number(x509.random_serial_number())
        .not_valid_before(now - timedelta(hours=1))
        .not_valid_after(now + timedelta(days=1))
        .add_extension(x509.SubjectAlternativeName(names), critical=False)
        .add_extension(x509.BasicConstraints(ca=True, path_length=0), critical=True)
        .sign(key, hashes.SHA256())
    )
    pem = serialization.Encoding.PEM
    (folder / "fullchain.pem").write_bytes(certificate.public_bytes(pem))
    private = key.private_bytes(
        pem, serialization.PrivateFormat.PKCS8, serialization.NoEncryption()
    )
    (folder / "privkey.pem").write_bytes(private)


@pytest.fixture(params=[pytest.param(name, marks=marks) for name, marks in MARKS.items()])
def front(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Front]:
    """A gateway and a proxy run, with one member and no machine."""
    write_certificate(tmp_path)
    (tmp_path / "www").mkdir()
    (tmp_path / "www" / DOMAIN_CHECK[1:]).write_text("Ab1Cd2Ef3Gh4Ij5K", encoding="utf-8")
    certificate = str(tmp_path / "fullchain.pem")
    place = Place.at(tmp_path / "home", SSL_CERT_FILE=certificate)
    port, plain_port = free_ports(2)
    settings = place.made.gateway
    settings.write_text(
        f'public_url = "https://localhost:{port}"\ntrusted_proxies = ["127.0.0.1/32"]\n'
        + settings.read_text(encoding="utf-8"),
        encoding="utf-8",
    )
    folder = tmp_path / "proxy"
    folder.mkdir()
    command = PROXIES[request.param](
        folder, port=port, plain_port=plain_port, gateway_port=place.gateway_port
    )
    tls = ssl.create_default_context(cafile=certificate)
    with _running(command, folder):
        try:
            place.admin("member", "add", "zhangwei")
            place.start_simulator()
            place.start_gateway()
            wait_until(lambda: listens(port))
            yield Front(place, folder, port, plain_port, tls)
        finally:
            place.stop()


@contextmanager
def _running(command: list[str], folder: Path) -> Iterator[None]:
    environ = {"HOME": str(folder), "XDG_DATA_HOME": str(folder)}
    with (folder / "output").open("wb") as output:
        process = subprocess.Popen(command, env=environ, stdout=output, stderr=output)
    try:
        yield
    finally:
        process.terminate()
        process.wait(10)


# -- through them ----------------------------------------------------------------------------------


def test_a_machine_is_paired_and_a_task_goes_there_and_back(front: Front, workspace: Path) -> None:
    place = front.place
    front.pair()
    place.run(
        *("workspace", "add", str(workspace), "--test", "sh count.sh", "--toolchains", "none")
    )
    place.start_agent()
    assert front.callback("@dev test").status == 200
    short_id = place.waiting()["short_id"]
    place.approve(short_id)
    assert place.final(short_id)["reason"] == "completed"
    place.hears(f"{short_id} ✓", "1 passed")


@pytest.mark.parametrize(
    "encoding",
    [lambda echo: echo, lambda echo: echo.replace("+", "%2B").replace("/", "%2F")],
    ids=["as they are", "percent-encoded"],
)
def test_the_url_check_passes_with_every_spelling_of_plus(
    front: Front, encoding: Callable[[str], str]
) -> None:
    answer = front.check(encoding)
    assert (answer.status, answer.body) == (200, b"5836912736")
    assert answer.headers["Content-Type"].startswith("text/plain")
    assert answer.headers["Strict-Transport-Security"] == "max-age=31536000"
    assert not re.search(r"\d|aiohttp|[Pp]ython", answer.headers["Server"] or "")


def test_a_client_is_known_by_its_own_address_whatever_it_claims(front: Front) -> None:
    wrong = json.dumps({"pairing": "a"}).encode()
    claims = {"X_Forwarded_For": "203.0.113.7", "Forwarded": "for=203.0.113.7", "X_Real_IP": "::1"}
    for number in range(FAILURES):
        claim = f"203.0.113.{number}, 127.0.0.1"
        refused = front.ask("POST", PAIR_PATH, wrong, **{**claims, "X_Forwarded_For": claim})
        assert refused.status == 403
    assert front.ask("POST", PAIR_PATH, wrong, **claims).status == 429
    assert front.check(str, address=STRANGER).status == 200, "only who failed must wait"
    log = wait_until(lambda: _with(MEMBER, front.place.admin("audit", "export")))
    assert "203.0.113." not in log
    assert '"127.0.0.1"' not in log


def _with(word: str, text: str) -> str:
    return text if word in text else ""


def test_nothing_but_what_is_meant_for_outside_can_be_reached(front: Front) -> None:
    hidden = (LIVE_PATH, READY_PATH, "/", "/agent/v1/", f"{CALLBACK}/", "/privkey.pem", "/.git")
    tricks = (f"{CALLBACK}/..%2f..{READY_PATH}", f"{CALLBACK}/../..{READY_PATH}", f"//{READY_PATH}")
    around = (f"{READY_PATH}/..%2f..%2f..{CALLBACK}", f"{READY_PATH}%3f/../../..{CALLBACK}")
    for target in (*hidden, *tricks, *around):
        answer = front.ask("GET", target)
        assert answer.status in (400, 404), target
        assert b"ready" not in answer.body, target
        assert front.ask_plainly(target).status in (308, 400, 404), target
    served = front.ask("GET", DOMAIN_CHECK)
    assert (served.status, served.body) == (200, b"Ab1Cd2Ef3Gh4Ij5K")
    assert front.ask_plainly(DOMAIN_CHECK).status in (200, 308)
    for target in ("/WW_verify_../privkey.pem", "/WW_verify_x.pem", "/a" + DOMAIN_CHECK):
        assert front.ask("GET", target).status in (400, 404), target


def test_what_is_too_large_is_refused_and_what_is_allowed_arrives(front: Front) -> None:
    target = f"{CALLBACK}?msg_signature={'0' * 40}&timestamp={int(time.time())}&nonce=1"
    assert front.ask("POST", target, b"x" * MAX_BODY_BYTES).status == 400, "it is no XML"
    # Caddy 2.6 says 502 of what it did not pass on.
    assert front.ask("POST", target, b"x" * (MAX_BODY_BYTES + 1)).status in (413, 502)
    assert front.ask("POST", PAIR_PATH, b"x" * (MAX_BYTES + 1)).status in (413, 502)
    # The longest query that the gateway reads gets there: 400 is its own answer.
    assert front.ask("GET", f"{CALLBACK}?echostr={'x' * (MAX_QUERY_CHARS - 8)}").status == 400
    assert front.ask("GET", f"{CALLBACK}?{'x' * 9_000}").status in (400, 414)
    assert front.ask("GET", CALLBACK, X_Padding="x" * 9_000).status == 400


def test_no_query_stands_in_a_log_not_even_when_the_gateway_is_away(front: Front) -> None:
    front.check(str)
    front.callback("@dev help")
    front.place.kill("gateway")
    assert front.callback("@dev help").status == 502
    assert front.ask("POST", f"{CALLBACK}?msg_signature=1", b"x" * 99_999).status in (413, 502)

    def logged() -> str:
        found = front.folder.rglob("*")
        files = [file for file in found if file.is_file() and file.name not in OF_US]
        text = "\n".join(file.read_text(encoding="utf-8", errors="replace") for file in files)
        return text if "502" in text else ""

    text = wait_until(logged)
    assert CALLBACK in text
    for secret in ("msg_signature", "echostr", "nonce"):
        assert secret not in text


# -- what takes too long to wait for ---------------------------------------------------------------


def test_an_idle_machine_is_kept_and_no_stale_connection_is_used_again() -> None:
    nginx, caddy = (file.read_text(encoding="utf-8") for file in (NGINX, CADDY))
    link = re.search(rf"location = {LINK_PATH} {{(.*?)\n    }}", nginx, re.DOTALL)
    assert link
    for name in ("proxy_read_timeout", "proxy_send_timeout"):
        seconds = re.search(rf"{name} (\d+)s;", link[1])
        assert seconds
        assert int(seconds[1]) >= 2 * DEADLINES.dead_s
    assert "stream_timeout 1" not in caddy
    kept = re.findall(r"keepalive (\d+)s", caddy)
    assert len(kept) == 2
    assert all(int(seconds) < KEEPALIVE_SECONDS / 2 for seconds in kept)


def test_the_examples_name_the_paths_and_bounds_of_the_gateway() -> None:
    nginx, caddy = (file.read_text(encoding="utf-8") for file in (NGINX, CADDY))
    for path in (CALLBACK, LINK_PATH, PAIR_PATH):
        assert f"location = {path} {{" in nginx
        assert f"handle {path} {{" in caddy
    assert nginx.count("X-Forwarded-For $remote_addr;") == 2, "replaced, never appended to"
    assert f"client_max_body_size {MAX_BODY_BYTES // 1024}k;" in nginx
    assert f"max_size {MAX_BODY_BYTES // 1024}KiB" in caddy
    assert f"client_max_body_size {MAX_BYTES // 1024}k;" in nginx
    assert f"max_size {MAX_BYTES // 1024}KiB" in caddy
