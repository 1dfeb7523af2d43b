"""The settings of the agent: what a person may decide in ``agent.toml`` or the environment.

Nothing here can approve anything or turn a guard off (P1, P8).  What is bound to one machine and
must not come from a file that travels, such as the gateway's key, is in the pairing instead
(`local_agent.relay.pairing`); workspaces are in `local_agent.workspace.registry`.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, ClassVar, Literal

from pydantic import Field

from common.home import Home
from common.settings import Section, Settings, load

SETTINGS_FILE = "agent.toml"


class NaturalLanguage(Section):
    """How free text is understood (seed 002 §11).

    Attributes:
        enable: Whether free text is routed at all; False leaves the commands of the grammar.
        use_model_router: Whether a model may be asked which kind a text is.  Its answer picks a
            kind and nothing more (R63).
        confidence_threshold: Percent-free share from 0 to 1 below which a text counts as a
            question.
    """

    enable: bool = True
    use_model_router: bool = False
    confidence_threshold: Annotated[float, Field(ge=0, le=1)] = 0.55


class AgentSettings(Settings):
    """Everything the agent reads at its start, once.

    Attributes:
        nl: Natural language.
        default_test_command: What a bare ``@dev test`` runs where the workspace names nothing.
        allow_apply_patch: False refuses every change; True grants nothing by itself.
        allow_run_terminal: False refuses every command; True grants nothing by itself.
        prefix: What a message to the agent begins with.
        approval_hours: How long an approval may wait for a person.  At most 72.
        windows: Whether questions are shown in windows where there is a screen; False asks at the
            terminal alone.
        language: Of everything this machine says where no request decides it; None asks LANG.
        theme: Of the approval window; ``auto`` goes with the desktop.
        log_level: Least level that is logged.
        log_format: ``text`` for people, ``json`` for collectors.
    """

    half: ClassVar[str] = "agent"

    nl: NaturalLanguage = NaturalLanguage()
    default_test_command: Annotated[str, Field(min_length=1, max_length=4096)] | None = None
    allow_apply_patch: bool = True
    allow_run_terminal: bool = True
    prefix: Annotated[str, Field(pattern=r"^@\S{1,31}$")] = "@dev"
    approval_hours: Annotated[int, Field(ge=1, le=72)] = 24
    windows: bool = True
    language: Literal["en", "zh"] | None = None
    theme: Literal["auto", "light", "dark"] = "auto"
    log_level: Literal["debug", "info", "warning", "error"] = "info"
    log_format: Literal["text", "json"] = "text"


def load_settings(home: Home, environ: Mapping[str, str], file: Path | None) -> AgentSettings:
    """Read the settings from the named file, from CODEXBRIDGE_CONFIG, or from the usual place.

    Args:
        home: Where the usual file may lie; there need not be one.
        environ: The process environment.
        file: What the command line named.

    Raises:
        ConfigError: as `common.settings.load`.
    """
    usual = home.config / SETTINGS_FILE
    named = file or (Path(said) if (said := environ.get("CODEXBRIDGE_CONFIG")) else None)
    return load(AgentSettings, file=named or (usual if usual.exists() else None), environ=environ)
