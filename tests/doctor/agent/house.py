"""One good installation, copied for each test, and the doctor as people run it.

What is broken of the machine itself is broken in a mount namespace of the doctor's own.
"""

from __future__ import annotations

import json
import os
import secrets
import shutil
import subprocess
import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

from websockets.sync.server import serve

from common.clock import SystemClock
from common.protocol.codec import NONCE_BYTES
from common.protocol.frames import Challenge, encode_frame
from common.protocol.handshake import GatewayHandshake
from common.signing import SigningKey
from tests import forks
from tests.e2e.place import COMMAND
from tests.forks import Apart


@dataclass
class House:
    """A copy of the good installation.

    Attributes:
        root: ``CODEXBRIDGE_HOME``.
        around: Run by a shell in a mount namespace before the doctor; nothing where it is empty.
        own: Namespaces that the doctor has besides, as of `forks.Apart`.
        started_by: The command before a doctor that is started as people start it; None to fork.
        extra: Of the environment; None takes a name out.
        tries_sandbox: As of `forks.Zygote.start`; on a machine that is not as usual it always does.
    """

    root: Path
    around: str = ""
    options: tuple[str, ...] = ()
    extra: dict[str, str | None] = field(default_factory=dict)
    own: tuple[str, ...] = ()
    started_by: tuple[str, ...] | None = None
    tries_sandbox: bool = True

    @property
    def config(self) -> Path:
        return self.root / "config"

    @property
    def state(self) -> Path:
        return self.root / "state"

    @property
    def environ(self) -> dict[str, str]:
        """What the doctor is given."""
        kept = {name: os.environ[name] for name in ("PATH", "HOME", "TMPDIR") if name in os.environ}
        given = kept | {"CODEXBRIDGE_HOME": str(self.root), "LANG": "C.UTF-8"} | self.extra
        return {name: value for name, value in given.items() if value is not None}

    def doctor(self, *options: str) -> subprocess.CompletedProcess[str]:
        """Run it to its end."""
        if self.started_by is not None:
            command = [*self.started_by, *COMMAND, "doctor", *self.options, *options]
            return subprocess.run(
                command, env=self.environ, capture_output=True, encoding="utf-8", check=False
            )
        apart = Apart(self.around, self.own) if self.around or self.own else None
        return forks.run(
            *("doctor", *self.options, *options),
            environ=self.environ,
            tries_sandbox=self.tries_sandbox or apart is not None,
            apart=apart,
        )

    def found(self) -> dict[str, Any]:
        """Return its answer for programs."""
        done = self.doctor("--json")
        assert done.stderr == "", done.stderr
        answer = json.loads(done.stdout)
        assert done.returncode == (0 if answer["ok"] else 1)
        return dict(answer)

    def key_file(self) -> Path:
        """Return the file of the pairing's key."""
        return self.state / "keys" / f"agent-{self.pairing()['agent_key_id']}.key"

    def pairing(self) -> dict[str, Any]:
        """Return what is kept of the pairing."""
        return dict(json.loads((self.config / "pairing.json").read_bytes()))

    def pair_with(self, **changed: str) -> None:
        """Change what is kept of the pairing."""
        record = json.dumps(self.pairing() | changed, sort_keys=True, separators=(",", ":"))
        (self.config / "pairing.json").write_text(record, encoding="utf-8")

    def write(self, name: str, text: str, mode: int = 0o600) -> Path:
        """Write a file below the installation."""
        path = self.root / name
        path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
        path.chmod(mode)
        return path

    def cover(self, target: str, script: str | None = None) -> None:
        """Put a program in the place of one of the machine's, or nothing that could be run."""
        source = "/dev/null"
        if script is not None:
            source = str(self.write(f"cover-{secrets.token_hex(4)}", script, 0o755))
        self.around += f"mount --bind {source} {target}\n"


def ills(answer: Mapping[str, Any]) -> set[str]:
    """Return the codes of what is bad or could be better."""
    return {one["code"] for one in answer["checks"] if one["tone"] in ("bad", "warn")}


def copy_of(good: Path, root: Path) -> Path:
    """Copy an installation whose agent does not run."""
    for part in ("config", "state"):
        shutil.copytree(good / part, root / part, symlinks=True)
    return root


def make_certificate(path: Path, *, expired: bool) -> None:
    """Write key and certificate of localhost, by itself."""
    from datetime import UTC, datetime, timedelta

    from cryptography import x509
    from cryptography.hazmat.primitives import hashes, serialization
    from cryptography.hazmat.primitives.asymmetric import ec
    from cryptography.x509.oid import NameOID

    key = ec.generate_private_key(ec.SECP256R1())
    name = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, "localhost")])
    begin = datetime.now(UTC) - timedelta(days=30)
    made = (
        x509.CertificateBuilder()
        .subject_name(name)
        .issuer_name(name)
        .public_key(key.public_key())
        .serial_number(x509.random_serial_number())
        .not_valid_before(begin)
        .not_valid_after(begin + timedelta(days=10 if expired else 60))
        .add_extension(x509.SubjectAlternativeName([x509.DNSName("localhost")]), critical=False)
        .add_extension(x509.BasicConstraints(ca=True, path_length=None), critical=True)
        .sign(key, hashes.SHA256())
    )
    path.write_bytes(
        key.private_bytes(
            serialization.Encoding.PEM,
            serialization.PrivateFormat.PKCS8,
            serialization.NoEncryption(),
        )
        + made.public_bytes(serialization.Encoding.PEM)
    )
    path.chmod(0o600)


@contextmanager
def page_server(status: int = 200, tls: Path | None = None) -> Iterator[str]:
    """Answer everything with a page of HTML, and give the origin."""

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_GET(self) -> None:
            body = b"<html>hello</html>"
            self.send_response(status)
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *_: object) -> None:
            """Say nothing."""

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    scheme, host = "http", "127.0.0.1"
    if tls is not None:
        import ssl

        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(tls)
        server.socket = context.wrap_socket(server.socket, server_side=True)
        scheme, host = "https", "localhost"
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    try:
        yield f"{scheme}://{host}:{server.server_address[1]}"
    finally:
        server.shutdown()
        server.server_close()
        thread.join()


@contextmanager
def gateway_of(key: SigningKey, *, ahead_s: int = 0, body: str = "") -> Iterator[str]:
    """Answer as a gateway with this key does, as far as anybody may see, and give the origin.

    Args:
        key: Its own.
        ahead_s: How far its clock is ahead.
        body: Of the challenge, where it is another than a gateway's.
    """

    def welcome(link: Any) -> None:
        at = SystemClock().now()
        made = GatewayHandshake(
            key,
            "http://127.0.0.1",
            nonce=secrets.token_bytes(NONCE_BYTES),
            session_id=secrets.token_hex(16),
            at=type(at)(at.wall_ms + ahead_s * 1000, at.mono),
        )
        link.send(encode_frame(Challenge(body or made.challenge)))

    with serve(welcome, "127.0.0.1", 0) as server:
        thread = threading.Thread(target=server.serve_forever, daemon=True)
        thread.start()
        try:
            yield f"http://127.0.0.1:{server.socket.getsockname()[1]}"
        finally:
            server.shutdown()
            thread.join()
