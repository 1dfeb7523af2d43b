"""The list of what is looked at, in order: what others hang on comes first."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Collection
from functools import partial
from typing import Final, TypeAlias

from common.doctor import LOOK_S, Check, Doctor, Finding, examine
from common.logs import Log
from common.sentences import Lang, Sentence
from local_agent.doctor import gateway, machine, own, workspaces
from local_agent.doctor.diagnoses import DIAGNOSES
from local_agent.doctor.installation import Installation
from local_agent.error_texts import ERRORS

Look: TypeAlias = Callable[[Installation], Awaitable[Finding]]
MODELS_S: Final = 130.0  # a program has to start, and a model to think

_CHECKS: Final[tuple[tuple[str, Sentence, Look, tuple[str, ...]], ...]] = (
    ("program", Sentence(en="Program", zh="程序"), machine.program, ()),
    ("home", Sentence(en="Folders", zh="文件夹"), own.home, ()),
    ("settings", Sentence(en="Settings", zh="设置"), own.settings, ("home",)),
    ("disk", Sentence(en="Disk", zh="磁盘"), own.disk, ()),
    ("sandbox", Sentence(en="Sandbox", zh="沙箱"), machine.sandbox, ()),
    ("git", Sentence(en="git", zh="git"), machine.git, ()),
    ("desktop", Sentence(en="Windows", zh="窗口"), machine.desktop, ("settings",)),
    ("fonts", Sentence(en="Fonts", zh="字体"), machine.fonts, ("desktop",)),
    ("page", Sentence(en="Local page", zh="本地页面"), machine.page, ()),
    ("journal", Sentence(en="Journal", zh="任务日志"), own.journal, ("home", "disk")),
    ("pairing", Sentence(en="Pairing", zh="配对"), own.pairing, ("home",)),
    ("key", Sentence(en="Key", zh="密钥"), own.key, ("pairing", "journal")),
    ("audit", Sentence(en="Audit log", zh="审计日志"), own.audit, ("journal", "key")),
    ("socket", Sentence(en="Socket", zh="套接字"), own.control_socket, ("home",)),
    ("agent", Sentence(en="Agent", zh="Agent"), own.agent, ("socket",)),
    ("service", Sentence(en="Service", zh="服务"), own.service, ()),
    (
        "gateway",
        Sentence(en="Gateway", zh="网关"),
        gateway.gateway,
        ("pairing", "journal", "agent"),
    ),
    ("clock", Sentence(en="Clock", zh="时钟"), gateway.clock, ("gateway",)),
    ("workspaces", Sentence(en="Workspaces", zh="工作区"), workspaces.workspaces, ("home",)),
    ("policies", Sentence(en="Policies", zh="策略"), own.policies, ("workspaces",)),
    ("models", Sentence(en="Models", zh="模型"), own.models, ("settings",)),
    ("approvals", Sentence(en="Approvals", zh="待批准"), own.approvals, ("agent",)),
)
# What a start can tell without a child, a connection or a question to itself.
AT_START: Final = (
    *("program", "home", "settings", "disk", "sandbox", "pairing", "key"),
    *("workspaces", "policies", "models"),
)


def checks(here: Installation, names: Collection[str] = ()) -> list[Check]:
    """Return the checks of an installation; all of them, unless some are named."""
    return [
        Check(name, title, partial(look, here), after, MODELS_S if name == "models" else LOOK_S)
        for name, title, look, after in _CHECKS
        if not names or name in names
    ]


async def log_start(here: Installation, log: Log, lang: Lang) -> None:
    """Write what is ill at a start, by the names that `codexbridge doctor` has for it."""
    Doctor(DIAGNOSES, ERRORS, lang).log(await examine(checks(here, AT_START)), log)
