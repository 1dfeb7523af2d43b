"""Which playbook a message names, and the list of those that there are."""

from __future__ import annotations

from typing import Final

from common.errors import CodexBridgeError
from common.home import Home
from common.sentences import Sentence, say
from common.text import has_cjk, one_line
from local_agent.playbooks.definition import titles
from local_agent.playbooks.library import Found, find_playbook, list_playbooks
from local_agent.propose.base import Asked, Proposed, nothing

LISTED = Sentence(
    en="Playbooks on this machine; to run one: {prefix} playbook NAME",
    zh="本机上的剧本；执行方法：{prefix} 剧本 名称",
)
NONE_LISTED = Sentence(
    en="There is no playbook on this machine. To begin one there: codexbridge playbook new NAME",
    zh="本机上没有剧本。在开发机上新建：codexbridge playbook new 名称",
)
UNKNOWN = Sentence(
    en="There is no playbook {name}. “{prefix} playbook” lists them.",
    zh="没有剧本 {name}。“{prefix} 剧本”可列出。",
)
UNKNOWN_NEAR = Sentence(
    en="There is no playbook {name}. Alike: {near}. “{prefix} playbook” lists all.",
    zh="没有剧本 {name}。相近的有：{near}。“{prefix} 剧本”可列出全部。",
)
# Why is told at the machine alone: it names a file there.
BROKEN = Sentence(
    en="Playbook {name} cannot be read, so nothing was begun. At the machine, this says why: "
    "codexbridge playbook show {name}",
    zh="无法读取剧本 {name}，没有开始执行。在开发机上查看原因：codexbridge playbook show {name}",
)

_NAME_BYTES: Final = 80
_ABOUT_BYTES: Final = 120
_LISTED_PHRASES: Final = 2


def named_playbook(places: Home, name: str, asked: Asked, *, is_remote: bool) -> Found | Proposed:
    """Return a playbook, or for whoever asked why there is none.  Blocking.

    Raises:
        InputError: as `find_playbook`, at this machine.
        TaskParseError: the same.
    """
    try:
        return find_playbook(places, name)
    except CodexBridgeError as error:
        if error.code in ("playbook.unknown", "playbook.name"):
            near = error.facts.get("near")
            shown = one_line(name, _NAME_BYTES)
            return nothing(UNKNOWN_NEAR if near else UNKNOWN, asked, name=shown, near=near)
        if is_remote:
            return nothing(BROKEN, asked, name=name)
        raise


def listed(places: Home, asked: Asked) -> str:
    """Return the playbooks of this machine with their phrases, one a line.  Blocking."""
    rows = []
    for one in list_playbooks(places):
        if one.found is not None:
            definition = one.found.definition
            about = titles(definition.description)[asked.lang == "zh"].partition("\n")[0]
            words = definition.trigger_keywords
            spoken = [one for one in words if has_cjk(one) is (asked.lang == "zh")] or words
            phrases = spoken[:_LISTED_PHRASES]
            named = "".join(f" “{phrase}”" for phrase in phrases)
            rows.append(f"- {one.name}{named}  {one_line(about, _ABOUT_BYTES)}".rstrip())
    head = LISTED if rows else NONE_LISTED
    return "\n".join([say(head, asked.lang, prefix=asked.prefix), *rows])
