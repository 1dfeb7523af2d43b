"""Writes what a simulator and a gateway need to find each other on one machine."""

from __future__ import annotations

import time
from dataclasses import dataclass
from pathlib import Path

from common.errors import ConfigError
from common.home import write_private
from common.sentences import Lang
from gateway.simulator.config import SimulatorConfig, new_config, save

CALLBACK_PATH = "/wecom/app"


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
