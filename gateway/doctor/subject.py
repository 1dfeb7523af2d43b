"""What is examined: one installation, and what the checks learn of it on the way."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from common.clock import Clock, SystemClock
from gateway.base.messages import SendOutcome
from gateway.base.settings import STORE_FILE, GatewaySettings, secrets_folder, state_dir


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

    @property
    def settings(self) -> GatewaySettings:
        """The settings; for what comes after their check."""
        assert self.loaded is not None  # noqa: S101  # narrows: `settings` was well
        return self.loaded

    @property
    def is_unknown_corp(self) -> bool:
        """Whether WeCom said that it does not know the corp of the settings."""
        corp = self.settings.wecom.corp_id
        return any(
            known == corp and refusal.code == "wecom.bad-corp-id"
            for (known, _), refusal in self.refusals.items()
        )

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
