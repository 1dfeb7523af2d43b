"""What a simulated WeCom must agree on with a gateway, and how both are written to files.

The values are made up, freshly and at random, for one installation on one machine.
"""

from __future__ import annotations

import ipaddress
import json
import secrets
import string
from dataclasses import asdict, dataclass
from pathlib import Path
from urllib.parse import urlsplit

from common import strict_json
from common.errors import ConfigError, RemoteProtocolError
from common.home import read_private, write_private

MAX_BYTES = 16_384
_ALPHANUMERIC = string.ascii_letters + string.digits


@dataclass(frozen=True, slots=True)
class SimulatorConfig:
    """One simulated corp with one self-built app.

    Attributes:
        host: Loopback address to listen on.
        port: Port to listen on; 0 lets the system choose.
        callback_url: Where the gateway takes callbacks; loopback only.
        corp_id: Corp id, also the receive id of the encryption.
        app_id: ``AgentID`` of the app.
        token: Callback token.
        encoding_aes_key: 43 characters.
        corp_secret: Secret of the app, for ``gettoken``.
    """

    host: str
    port: int
    callback_url: str
    corp_id: str
    app_id: int
    token: str
    encoding_aes_key: str
    corp_secret: str

    def __repr__(self) -> str:
        """Without the secrets."""
        return f"SimulatorConfig({self.host}:{self.port} -> {self.callback_url})"


def new_config(*, port: int, callback_url: str) -> SimulatorConfig:
    """Return a fresh corp with random secrets."""
    return SimulatorConfig(
        host="127.0.0.1",
        port=port,
        callback_url=callback_url,
        corp_id="ww" + secrets.token_hex(8),
        app_id=1_000_002,
        token=_random(24),
        encoding_aes_key=_random(43),
        corp_secret=_random(43),
    )


def save(config: SimulatorConfig, path: Path) -> None:
    """Write the configuration as a 0600 file."""
    write_private(path, json.dumps(asdict(config), indent=2).encode())


def load(path: Path) -> SimulatorConfig:
    """Read a configuration.

    Raises:
        ConfigError: ``config.no-file``, ``config.simulator`` or ``config.simulator-not-loopback``.
    """
    try:
        found = strict_json.loads(read_private(path, max_bytes=MAX_BYTES), max_bytes=MAX_BYTES)
        config = SimulatorConfig(**found)
    except FileNotFoundError:
        raise ConfigError("config.no-file", file=path) from None
    except (TypeError, RemoteProtocolError):
        raise ConfigError("config.simulator", file=path) from None
    check_loopback(config)
    return config


def check_loopback(config: SimulatorConfig) -> None:
    """Refuse to listen on, or to send callbacks to, anything but this machine.

    Raises:
        ConfigError: ``config.simulator-not-loopback``.
    """
    for host in (config.host, urlsplit(config.callback_url).hostname or ""):
        try:
            local = ipaddress.ip_address(host).is_loopback
        except ValueError:
            local = False
        if not local:
            raise ConfigError("config.simulator-not-loopback", host=host)


def _random(length: int) -> str:
    return "".join(secrets.choice(_ALPHANUMERIC) for _ in range(length))
