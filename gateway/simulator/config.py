"""What a simulated WeCom must agree on with a gateway, and how both are written to files.

The values are made up, freshly and at random, for one installation on one machine.
"""

from __future__ import annotations

import ipaddress
import json
import secrets
import string
import time
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from urllib.parse import urlsplit

from common import strict_json
from common.errors import ConfigError, RemoteProtocolError
from common.home import read_private, write_private
from common.sentences import Lang

MAX_BYTES = 16_384
_ALPHANUMERIC = string.ascii_letters + string.digits
CALLBACK_PATH = "/wecom/app"


@dataclass(frozen=True, slots=True)
class SimulatorConfig:
    """One simulated corp with one self-built app.

    Attributes:
        host: Loopback address to listen on.
        port: Port to listen on; 0 lets the system choose.
        callback_url: Where the gateway takes callbacks; loopback only.  Empty, as token and key,
            until it is saved in the simulated console.
        corp_id: Corp id, also the receive id of the encryption.
        app_id: ``AgentID`` of the app.
        token: Callback token.
        encoding_aes_key: 43 characters.
        corp_secret: Secret of the app, for ``gettoken``.
        trusted_ip: The address that may call; ``*`` for any.
    """

    host: str
    port: int
    callback_url: str
    corp_id: str
    app_id: int
    token: str
    encoding_aes_key: str
    corp_secret: str
    trusted_ip: str = "*"

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
    called = [urlsplit(config.callback_url).hostname or ""] if config.callback_url else []
    for host in (config.host, *called):
        try:
            local = ipaddress.ip_address(host).is_loopback
        except ValueError:
            local = False
        if not local:
            raise ConfigError("config.simulator-not-loopback", host=host)


def _random(length: int) -> str:
    return "".join(secrets.choice(_ALPHANUMERIC) for _ in range(length))


@dataclass(frozen=True, slots=True)
class Installation:
    """The files that were written."""

    simulator: Path
    gateway: Path
    secrets: Path
    config: SimulatorConfig


def write_installation(
    folder: Path, *, simulator_port: int, gateway_port: int, lang: Lang
) -> Installation:
    """Write ``simulator.json``, ``gateway.toml`` and ``secrets/`` for a made-up corp.

    Args:
        folder: Where to; made private.
        simulator_port: Fixed port of the simulator, which stands in for WeCom's API.
        gateway_port: Fixed port of the gateway.
        lang: Language of the chat where the message itself does not show it.

    Raises:
        ConfigError: ``sim.already-there`` (path): what is there may be a real gateway's.
    """
    for name in ("simulator.json", "gateway.toml", "secrets"):
        if (folder / name).exists():
            raise ConfigError("sim.already-there", path=folder / name)
    config = new_config(
        port=simulator_port, callback_url=f"http://127.0.0.1:{gateway_port}{CALLBACK_PATH}"
    )
    made = Installation(
        folder / "simulator.json", folder / "gateway.toml", folder / "secrets", config
    )
    save(config, made.simulator)
    write_private(made.gateway, _gateway_toml(config, gateway_port, lang).encode())
    for name, value in (
        ("wecom__token", config.token),
        ("wecom__encoding_aes_key", config.encoding_aes_key),
        ("wecom__corp_secret", config.corp_secret),
    ):
        write_private(made.secrets / name, value.encode())
    return made


def write_console(folder: Path, *, port: int) -> SimulatorConfig:
    """Write ``simulator.json`` alone: a corp whose console still waits for a callback URL.

    Raises:
        ConfigError: ``sim.already-there`` (path).
    """
    path = folder / "simulator.json"
    if path.exists():
        raise ConfigError("sim.already-there", path=path)
    made = new_config(port=port, callback_url="")
    config = replace(made, token="", encoding_aes_key="", trusted_ip="")
    save(config, path)
    return config


def _gateway_toml(config: SimulatorConfig, port: int, lang: Lang) -> str:
    return f"""# A gateway for the simulated WeCom of this machine.  The secrets lie in secrets/.
language = "{lang}"
time_zone = "{_local_offset()}"

[listen]
host = "127.0.0.1"
port = {port}

[wecom]
corp_id = "{config.corp_id}"
agent_id = {config.app_id}
api_base = "http://127.0.0.1:{config.port}"
callback_path = "{CALLBACK_PATH}"
"""


def _local_offset() -> str:
    """Return the machine's offset from UTC now, such as ``+08:00``."""
    seconds = time.localtime().tm_gmtoff
    hours, minutes = divmod(abs(seconds) // 60, 60)
    return f"{'-' if seconds < 0 else '+'}{hours:02}:{minutes:02}"
