"""Which operators a shell line holds, named for the person who reads it (R42).

Advice only: what is named here decides nothing, and a shell line is high risk whatever it holds.
So where shells differ, or where quotes stop telling what is quoted, too much is named rather than
too little.  Pure.
"""

from __future__ import annotations

import re
from typing import Final

# What does nothing: an escaped character, a quoted word in which nothing is expanded, plain text.
_QUIET: Final = re.compile(
    r"""\\.|'[^']*'|"(?:[^"\\`$]|\\.)*"|[^\\'"|&;<>($`*?\[{~!#\n]+""", re.DOTALL
)
# In double quotes nothing but variables: the quotes still hold.
_WITH_VARIABLES: Final = re.compile(
    r'"(?:[^"\\`$]|\\.|\$(?:[A-Za-z0-9_?#@*!$-]|\{[A-Za-z0-9_]*\}|(?=["\s])))*"', re.DOTALL
)
_OPERATOR: Final = re.compile(
    r"&&|&>>?|&|\|\||\|&|\||;;&?|;&|;|<<<|<<-?|<\(|<&|<>|<|>\(|>>|>&|>\||>"
    r"|\$\(\(|\$\(|\$'|\$|`|\(|\*|\?|\[|\{|~|!|\n"
)
_NAMES: Final = {
    "$(": "$(…)",
    "$((": "$((…))",
    "$'": "$'…'",
    "`": "`…`",
    "<(": "<(…)",
    ">(": ">(…)",
    "(": "(…)",
    "[": "[…]",
    "{": "{…}",
    "<<-": "<<",
    "\n": "↵",
}
# Behind these, quotes begin anew, or are text, or mean something else in another shell.
_UNSETTLING: Final = frozenset({"$(", "`", "<(", ">(", "<<", "<<-", "$'"})


def operators(script: str) -> tuple[str, ...]:
    """Return the operators of a shell line, each once, in the order of their first appearance.

    Such as ``&&``, ``|``, ``;``, ``>``, ``$(…)``, `````, ``*``; ``↵`` stands for a further line.
    """
    found: dict[str, None] = {}
    at = 0
    while at < len(script):
        if quiet := _QUIET.match(script, at):
            at = quiet.end()
        elif _starts_comment(script, at):
            found["#"] = None
            end = script.find("\n", at)
            at = len(script) if end < 0 else end
        elif variables := _WITH_VARIABLES.match(script, at):
            found["$"] = None
            at = variables.end()
        elif (token := _OPERATOR.match(script, at)) and token[0] not in _UNSETTLING:
            found[_name(token[0])] = None
            at = token.end()
        elif token or script[at] != "#":
            found |= dict.fromkeys(map(_name, _OPERATOR.findall(script, at)))
            break
        else:
            at += 1  # a "#" within a word
    return tuple(found)


def _starts_comment(script: str, at: int) -> bool:
    return script[at] == "#" and (at == 0 or script[at - 1] in " \t\n;&|()<>`")


def _name(token: str) -> str:
    return _NAMES.get(token, token)
