"""What is examined: one installation, and what the checks learn of it on the way."""

from __future__ import annotations

import shlex
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

from common.clock import Clock, SystemClock
from common.errors import CodexBridgeError
from gateway.base.messages import FIRST_APP, SendOutcome
from gateway.base.settings import (
    STORE_FILE,
    App,
    GatewaySettings,
    load_settings,
    secrets_folder,
    setting_of,
    state_dir,
)

SHOWN: Final = 5  # names in one line


def few(names: Sequence[str]) -> Sequence[str]:
    """Return some names, and how many more there are."""
    return names if len(names) <= SHOWN else (*names[:SHOWN], f"+{len(names) - SHOWN}")


def named(app: str) -> dict[str, object]:
    """Return what the settings of an app, and the files of its secrets, begin with."""
    path = setting_of(app, "")[:-1]
    return {"of": ".".join(path), "file": "__".join(path)}


@dataclass(slots=True)
class Subject:
    """One installation.

    Attributes:
        environ: The process environment.
        file: Settings file that the command line named.
        secrets_dir: The same for the folder of secrets.
        served: The settings of the server that looks at itself; else they are read anew.
        loaded: The settings, once they could be read.
        ahead_s: How far this machine's clock is ahead of WeCom's.
        running: Whether the gateway answers on its port.
        refusals: What WeCom refused, by corp id and secret.  The same is not asked again: a wrong
            secret, tried again and again, locks the address.
    """

    environ: Mapping[str, str]
    file: Path | None = None
    secrets_dir: Path | None = None
    served: GatewaySettings | None = None
    loaded: GatewaySettings | None = None
    ahead_s: float | None = None
    running: bool = False
    refusals: dict[tuple[str, str], SendOutcome] = field(default_factory=dict, repr=False)
    clock: Clock = field(default_factory=SystemClock)

    def read(self) -> GatewaySettings:
        """Read the settings as they stand now.  Blocks.

        Raises:
            ConfigError: as `load_settings`.
        """
        return load_settings(file=self.file, environ=self.environ, secrets_dir=self.secrets_dir)

    @property
    def settings(self) -> GatewaySettings:
        """The settings; for what comes after their check."""
        assert self.loaded is not None  # noqa: S101  # narrows: `settings` was well
        return self.loaded

    def app(self, name: str) -> App:
        """Return one app; for what comes after the check of the settings."""
        return self.settings.wecom.every()[name]

    @property
    def apps(self) -> tuple[str, ...]:
        """The names of all apps; of settings that cannot be read, that of the first."""
        settings = self.loaded or self.served
        with suppress(CodexBridgeError):
            settings = settings or self.read()
        return tuple(settings.wecom.every()) if settings else (FIRST_APP,)

    @property
    def is_unknown_corp(self) -> bool:
        """Whether WeCom said that it does not know the corp of the settings."""
        corps = {app.corp_id for app in self.settings.wecom.every().values()}
        return any(
            known in corps and refusal.code == "wecom.bad-corp-id"
            for (known, _), refusal in self.refusals.items()
        )

    @property
    def start(self) -> str:
        """The command that starts this gateway."""
        named = {"--config": self.file, "--secrets-dir": self.secrets_dir}
        words = (str(word) for pair in named.items() if pair[1] for word in pair)
        return shlex.join(("codexbridge", "gateway", *words))

    @property
    def secrets_folder(self) -> Path | None:
        """Where secrets lie as files, if they do."""
        return secrets_folder(self.secrets_dir, file=self.file, environ=self.environ)

    @property
    def state(self) -> Path:
        """The folder of the store and the keys."""
        return state_dir(self.settings, self.environ)

    @property
    def store(self) -> Path:
        """The database."""
        return self.state / STORE_FILE
