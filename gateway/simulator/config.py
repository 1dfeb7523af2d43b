"""What a simulated WeCom must agree on with a gateway, and how both are written to files.

The values are made up, freshly and at random, for one installation on one machine.
"""

from __future__ import annotations

import ipaddress
import json
import re
import secrets
import string
import time
from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any, Final
from urllib.parse import urlsplit

from common import strict_json
from common.errors import ConfigError, RemoteProtocolError
from common.home import read_private, write_private
from common.sentences import Lang

MAX_BYTES: Final = 65_536
MAX_APPS: Final = 17  # as many as one gateway has
FIRST: Final = "main"
_ALPHANUMERIC: Final = string.ascii_letters + string.digits
_NAME: Final = re.compile(r"[a-z][a-z0-9]{0,31}")


@dataclass(frozen=True, slots=True)
class AppConfig:
    """One self-built app of one simulated corp.

    Attributes:
        name: What it is called here and in the gateway's settings.
        corp_id: Corp id, also the receive id of the encryption.
        app_id: ``AgentID`` of the app.
        callback_url: Where the gateway takes callbacks; loopback only.  Empty, as token and key,
            until it is saved in the simulated console.
        token: Callback token.
        encoding_aes_key: 43 characters.
        corp_secret: Secret of the app, for ``gettoken``.
        trusted_ip: The address that may call; ``*`` for any.
        members: Who sees the app; empty: everybody.
    """

    name: str
    corp_id: str
    app_id: int
    callback_url: str
    token: str
    encoding_aes_key: str
    corp_secret: str
    trusted_ip: str = "*"
    members: tuple[str, ...] = ()

    def __repr__(self) -> str:
        """Without the secrets."""
        return f"AppConfig({self.name}: {self.corp_id}/{self.app_id} -> {self.callback_url})"


@dataclass(frozen=True, slots=True)
class SimulatorConfig:
    """A simulated WeCom with its apps.

    Attributes:
        host: Loopback address to listen on.
        port: Where the API answers; 0 lets the system choose.
        page_port: Where the page and the commands are; a line that is cut at the API leaves it.
        apps: At least one; of one corp or of several.
    """

    host: str
    port: int
    page_port: int
    apps: tuple[AppConfig, ...]

    @property
    def first(self) -> AppConfig:
        """The app that is meant where none is named."""
        return self.apps[0]

    def with_app(self, app: AppConfig) -> SimulatorConfig:
        """Return the same with one app replaced."""
        return replace(self, apps=tuple(app if one.name == app.name else one for one in self.apps))


def new_app(
    name: str = FIRST, *, callback_url: str, corp_id: str = "", app_id: int = 1_000_002
) -> AppConfig:
    """Return a fresh app with random secrets; of a fresh corp unless one is named."""
    return AppConfig(
        name=name,
        corp_id=corp_id or "ww" + secrets.token_hex(8),
        app_id=app_id,
        callback_url=callback_url,
        token=_random(24),
        encoding_aes_key=_random(43),
        corp_secret=_random(43),
    )


def new_config(*apps: AppConfig, port: int = 0, page_port: int = 0) -> SimulatorConfig:
    """Return the configuration of a simulator on loopback."""
    return SimulatorConfig("127.0.0.1", port, page_port, apps)


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
        config = _read(found)
    except FileNotFoundError:
        raise ConfigError("config.no-file", file=path) from None
    except (AttributeError, TypeError, KeyError, ValueError, RemoteProtocolError):
        raise ConfigError("config.simulator", file=path) from None
    check_loopback(config.host, *(app.callback_url for app in config.apps))
    return config


def _read(found: Any) -> SimulatorConfig:
    if "apps" not in found:  # as it was written while there was one app, without a page of its own
        app = {name: value for name, value in found.items() if name not in ("host", "port")}
        found = {name: found[name] for name in ("host", "port")} | {"page_port": 0}
        found["apps"] = [{"name": FIRST} | app]
    apps = tuple(
        AppConfig(**app | {"members": tuple(app.get("members", ()))}) for app in found["apps"]
    )
    if not 0 < len(apps) <= MAX_APPS or len({app.name for app in apps}) < len(apps):
        raise ValueError("apps")
    return SimulatorConfig(**found | {"apps": apps})


def check_loopback(*places: str) -> None:
    """Refuse to listen on, or to send callbacks to, anything but this machine.

    Args:
        places: Addresses, and URLs; an empty one is none.

    Raises:
        ConfigError: ``config.simulator-not-loopback``.
    """
    for place in places:
        if not place:
            continue
        try:
            host = urlsplit(place).hostname or "" if "//" in place else place
            local = ipaddress.ip_address(host).is_loopback
        except ValueError:
            host, local = place, False
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
    folder: Path,
    *,
    ports: tuple[int, int, int],
    lang: Lang,
    apps: Sequence[tuple[str, bool]] = (),
) -> Installation:
    """Write ``simulator.json``, ``gateway.toml`` and ``gateway-secrets/`` for made-up corps.

    Args:
        folder: Where to; made private.
        ports: Of the simulated API, of the simulator's page, and of the gateway.
        lang: Language of the chat where the message itself does not show it.
        apps: Further apps: a name, and whether it belongs to a corp of its own.

    Raises:
        ConfigError: ``sim.already-there`` (path, why): what is there may be a real gateway's;
            ``sim.app-name`` (name).
    """
    files = folder / "simulator.json", folder / "gateway.toml", folder / "gateway-secrets"
    for path in files:
        if path.exists():
            raise ConfigError("sim.already-there", path=path, why=path.stem)
    config = _config_of(ports, apps)
    made = Installation(*files, config)
    save(config, made.simulator)
    write_private(made.gateway, _gateway_toml(config, ports[2], lang).encode())
    for app in config.apps:
        prefix = "wecom__" if app.name == FIRST else f"wecom__apps__{app.name}__"
        for name in ("token", "encoding_aes_key", "corp_secret"):
            write_private(made.secrets / (prefix + name), getattr(app, name).encode())
    return made


def _config_of(ports: tuple[int, int, int], further: Sequence[tuple[str, bool]]) -> SimulatorConfig:
    callback = f"http://127.0.0.1:{ports[2]}/wecom/"
    apps = [new_app(callback_url=callback + "app")]
    for name, own_corp in further:
        taken = any(app.name == name for app in apps)
        if not _NAME.fullmatch(name) or taken or len(apps) == MAX_APPS:
            raise ConfigError("sim.app-name", name=name)
        corp = "" if own_corp else apps[0].corp_id
        number = apps[0].app_id + len(apps)
        apps.append(new_app(name, callback_url=callback + name, corp_id=corp, app_id=number))
    return new_config(*apps, port=ports[0], page_port=ports[1])


def write_console(folder: Path, *, port: int, page_port: int) -> SimulatorConfig:
    """Write ``simulator.json`` alone: a corp whose console still waits for a callback URL.

    What is there is returned as it is.

    Raises:
        ConfigError: as `load`.
    """
    path = folder / "simulator.json"
    if path.exists():
        return load(path)
    app = replace(new_app(callback_url=""), token="", encoding_aes_key="", trusted_ip="")
    config = new_config(app, port=port, page_port=page_port)
    save(config, path)
    return config


def _gateway_toml(config: SimulatorConfig, port: int, lang: Lang) -> str:
    app = config.first
    further = "".join(
        f'\n[[wecom.apps]]\nname = "{one.name}"\ncorp_id = "{one.corp_id}"\n'
        f"agent_id = {one.app_id}\n"
        for one in config.apps[1:]
    )
    return f"""# A gateway for the simulated WeCom of this machine; its secrets: gateway-secrets/
language = "{lang}"
time_zone = "{_local_offset()}"

[listen]
host = "127.0.0.1"
port = {port}

[wecom]
corp_id = "{app.corp_id}"
agent_id = {app.app_id}
api_base = "http://127.0.0.1:{config.port}"
callback_path = "/wecom/app"
{further}"""


def _local_offset() -> str:
    """Return the machine's offset from UTC now, such as ``+08:00``."""
    seconds = time.localtime().tm_gmtoff
    hours, minutes = divmod(abs(seconds) // 60, 60)
    return f"{'-' if seconds < 0 else '+'}{hours:02}:{minutes:02}"
