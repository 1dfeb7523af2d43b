"""The playbooks of this machine, as the page lists them; a broken one with its reason."""

from __future__ import annotations

from common.home import Home
from common.sentences import LANGS, explain
from local_agent.error_texts import ERRORS
from local_agent.playbooks.definition import titles
from local_agent.playbooks.library import Listed, list_playbooks
from local_agent.views.page import PagePlaybook, PageStep
from local_agent.views.question import Text


def listed(places: Home) -> tuple[PagePlaybook, ...]:
    """Return all of them by name; blocks."""
    return tuple(map(_view, list_playbooks(places)))


def _view(one: Listed) -> PagePlaybook:
    found = one.found.definition if one.found else None
    broken = one.error
    return PagePlaybook(
        name=one.name,
        origin=one.origin,
        instead=one.instead,
        about=Text(*titles(found.description if found else "")),
        risk=found.risk_level if found else "",
        keywords=found.trigger_keywords if found else (),
        steps=tuple(
            PageStep(
                name=step.name,
                type=step.type,
                description=step.description,
                tool=step.tool,
                condition=step.condition,
            )
            for step in (found.steps if found else ())
        ),
        broken=Text(*(explain(broken, ERRORS, lang) for lang in LANGS)) if broken else None,
    )
