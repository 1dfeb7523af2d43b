"""The settings in force and the workspaces, as a person looks at them on the local page."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

from local_agent.views.status import OpenWorkspace


@dataclass(frozen=True, slots=True, kw_only=True)
class Problem:
    """Why something cannot be read now: the code of the error, and its facts as text."""

    code: str
    facts: Mapping[str, str]


@dataclass(frozen=True, slots=True, kw_only=True)
class SettingView:
    """One setting.

    Attributes:
        name: As in the file: ``nl.enable``, ``models.deepseek.model``.
        key: The same for every model: ``models.NAME.model``; what it is described under.
        value: In force since the start; None where it has none.
        source: Where that comes from; ``start`` where the sources no longer say so, or cannot be
            read now.
        where: The file or the variable.
        changed: The sources say something else now, which a restart takes up.
        after_restart: That value.
    """

    name: str
    key: str
    value: str | None
    source: Literal["default", "file", "environment", "start"]
    where: str
    changed: bool
    after_restart: str | None


@dataclass(frozen=True, slots=True, kw_only=True)
class SettingsView:
    """All settings of the agent.

    Attributes:
        file: Where they are read from; None where there is no file.
        problem: Why a restart would not take up what the sources say now.
    """

    file: str | None
    problem: Problem | None
    settings: tuple[SettingView, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class WorkspacesView:
    """The folders that the agent works in.

    Attributes:
        stray_policies: Files that belong to no workspace, so that nothing reads them.
        problem: Why the list cannot be read.
    """

    workspaces: tuple[OpenWorkspace, ...]
    stray_policies: tuple[str, ...]
    problem: Problem | None
