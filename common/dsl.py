"""The ``@dev`` grammar: a few shortcuts, anything else is natural language (seed 002 §9).

The table in `verbs` drives the parser and the help text, so they cannot disagree.  Pure: text in,
value out; no text makes `parse` raise.  What a command *does* is decided elsewhere, on either half.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Mapping
from dataclasses import dataclass, field
from difflib import get_close_matches
from itertools import takewhile
from types import MappingProxyType
from typing import Final

from common.errors import InputError
from common.ids import parse_short_id
from common.sentences import Lang, Sentence, say
from common.text import CHAT_BYTES, clip_bytes, has_cjk
from common.verbs import COMMANDS, SAID, CommandSpec

PREFIX: Final = "@dev"


@dataclass(frozen=True, slots=True)
class Command:
    """A shortcut was typed.

    Attributes:
        name: Name of a row of `COMMANDS`.
        args: What was left over, as typed: the text of ``search``, ``review``, ``sync``, ``plan``
            and ``patch``, the files of ``undo``, the feedback of ``revise``; for the others, what
            stood in the place of an ID or an option and was not understood.  Of ``use`` and
            ``lang``, the one word that follows, folded.
        task_id: The short ID in its stored form where one was given.
        options: Option values as typed, quotes removed and nothing else changed (R7); ``all`` where
            ``cancel`` is said of all tasks.
    """

    name: str
    args: str = ""
    task_id: str | None = None
    options: Mapping[str, str] = field(default_factory=lambda: MappingProxyType({}))


@dataclass(frozen=True, slots=True)
class FreeText:
    """Natural language, without the prefix; may be empty."""

    text: str


@dataclass(frozen=True, slots=True)
class Directed:
    """``on NAME …``: one message for one machine.

    Attributes:
        machine: The name, folded (NFKC, case, dashes); whether there is such a machine is not
            known here.
        text: What is said to it, as typed, without the prefix.
        said: The same, read.  A second ``on`` in it is natural language.
    """

    machine: str
    text: str
    said: Command | FreeText


@dataclass(frozen=True, slots=True)
class NotAddressed:
    """The text does not start with the prefix: it is not for us."""


_HEAD = Sentence(
    en="Ask your own dev machine. Nothing runs or changes before it is approved there.\n"
    "Begin with {prefix}, such as “{prefix} test” or “{prefix} why does login fail?”:",
    zh="向你的开发机提出请求。未经开发机上的批准，不会运行或改动任何内容。\n"
    "以 {prefix} 开头，例如“{prefix} 测试”“{prefix} 登录为什么失败？”：",
)
_HEAD_COMMANDS = Sentence(
    en="Ask your own dev machine. Nothing runs or changes before it is approved there.\n"
    "Begin with {prefix} and one of these commands, such as “{prefix} test”:",
    zh="向你的开发机提出请求。未经开发机上的批准，不会运行或改动任何内容。\n"
    "以 {prefix} 和下列命令开头，例如“{prefix} 测试”：",
)
_ROW = Sentence(en="{usage}: {summary}", zh="{usage}：{summary}")
_STAR: Final = " *"
_NEEDS_MODEL = Sentence(en="* needs a model on the machine", zh="* 需要开发机上已配置模型")

_BY_WORD: Final = {word: spec for spec in COMMANDS for word in (spec.name, *spec.aliases)}
_SAID: Final = tuple((name, is_all, re.compile(how)) for name, is_all, how in SAID)
_SAID_CHARS: Final = 60
_ON: Final = _BY_WORD["on"]
_GLUED: Final = tuple(
    (alias, spec)
    for spec in COMMANDS
    if spec.takes in ("task-id", "task-id-and-files", "task-id-and-text", "machine")
    for alias in spec.aliases
    if has_cjk(alias)
)
_GLUED_WORDS: Final = tuple(alias for alias, _ in _GLUED)
_CLOSING = ".!?,:;。！？，：；…~"  # after NFKC most full-width forms are already ASCII
# After the prefix: "@developer" and "@dev.example" address someone else.
_SEPARATORS = ":,;：，；、。"
_DASHES = "-\u2010\u2011\u2012\u2013\u2014\u2015\u2212\uff0d"
# An option may follow a word without a blank ("测试--cmd=…"); phones turn "--" into one long dash.
_WORD = re.compile(rf"\S+?(?=\s|$|[{_DASHES}]{{2}}|[\u2014\u2015])")
_OPTION = re.compile(rf"[{_DASHES}]+([A-Za-z\uff21-\uff3a\uff41-\uff5a]+)(?:\s*[=＝]\s*|\s+)")
_CLOSED_BY: Final = {
    '"': '"', "'": "'", "“": "”", "”": "”", "‘": "’", "’": "’", "＂": "＂", "＇": "＇",
    "「": "」", "『": "』",
}  # fmt: skip
_ESCAPE = re.compile(r'\\(["\\])')
# After an ID: "T-7K3F 改短一点", "T-7K3F: shorter", "T-7K3F，改短一点".
# In the place of an ID these mean the only one there is: "cancel it", "undo last".
_ONLY_ONE: Final = frozenset(
    {
        "task",
        "it",
        "that",
        "this",
        "last",
        "latest",
        "the",
        "one",
        "now",
        "please",
        "my",
        "previous",
    }
    | {"任务", "它", "这个", "那个", "吧", "最后一个", "上一个"}
)
_PLEASE: Final = frozenset({"please", "pls", "thanks", "now", "吧", "谢谢"})
_ID_FIRST = re.compile(rf"[\s{_SEPARATORS}]+")
# Letters, digits and dashes, full-width ones too: what a machine's name can be typed with.
_MACHINE = re.compile(rf"[0-9A-Za-z\uff10-\uff19\uff21-\uff3a\uff41-\uff5a{_DASHES}]{{1,32}}")
_ANY_DASH = re.compile(f"[{_DASHES}]")
# 在 dev-1 上 names a machine; 在 src 里 is a place in the workspace.
_AT = "在"
_THERE = "上"
_INSIDE = ("里", "中", "内", "下", "目录", "文件", "的")


def parse(text: str, *, prefix: str = PREFIX) -> Command | FreeText | Directed | NotAddressed:
    """Read one message.

    Args:
        text: The message as it came; hidden characters and full-width forms are expected.
        prefix: The word that addresses the bot (setting ``prefix``).

    Returns:
        What was said.  Only the command word, option names and IDs are folded (NFKC, case); a
        quoted command is never touched.
    """
    body = _after_prefix(text.lstrip("\ufeff\u200b\u2060 \t\r\n\u3000"), prefix)
    if body is None:
        return NotAddressed()
    word, rest = _first_word(body)
    return _directed(body, word, rest) or _said(body, word, rest)


def _said(body: str, word: str, rest: str) -> Command | FreeText:
    if found := _otherwise_said(body):
        return found
    spec = _BY_WORD.get(word)
    if spec is None:
        return _glued(body) or FreeText(body)
    return _read(spec, rest) or FreeText(body)


def _otherwise_said(body: str) -> Command | None:
    folded = _folded(body) if len(body) <= _SAID_CHARS else ""
    for name, is_all, pattern in _SAID:
        if match := pattern.fullmatch(folded):
            given = match.groupdict().get("id")
            if given is None:
                return Command(name, options={"all": ""} if is_all else {})
            task_id = parse_id(given)
            return Command(name, task_id=task_id) if task_id else None
    return None


def _directed(body: str, word: str, rest: str) -> Directed | None:
    if _BY_WORD.get(word) is not _ON:
        if not body.startswith(_AT):
            return None
        word, rest = _AT, body.removeprefix(_AT)  # written without blanks: 在dev-1上跑测试
    machine, rest = _machine_in(rest)
    if machine is None or (word == _AT and rest.startswith(_INSIDE)):
        return None
    text = rest.removeprefix(_THERE).lstrip(_SEPARATORS + " \t\r\n\u3000")
    return Directed(machine, text, _said(text, *_first_word(text)))


def _machine_in(text: str) -> tuple[str | None, str]:
    """Return the name at the beginning, folded, and what follows it; None where there is none."""
    match = _MACHINE.match(text)
    if match is None:
        return None, text
    rest = text[match.end() :]
    if rest and not (rest[0].isspace() or rest[0] in _SEPARATORS or has_cjk(rest[0])):
        return None, text  # "on main.py" names a file
    return _ANY_DASH.sub("-", _folded(match[0])), rest.lstrip()


def mistyped(text: str) -> str | None:
    """Return the command that a single word, or a word and an ID, was meant for."""
    word, *rest = text.split(maxsplit=2)[:3] or [""]
    if len(rest) > 1 or (rest and parse_id(rest[0]) is None) or not 4 <= len(word) <= 12:
        return None
    word = _folded(word)
    near = get_close_matches(word, [spec.name for spec in COMMANDS], 1, 0.75)
    if not near or word.startswith(near[0]):
        return None  # "tests", "searching": another word
    return " ".join([near[0], *rest])


def asks_approval(text: str) -> bool:
    """Tell whether it is no more than a wish to approve, perhaps with an ID."""
    wish = re.fullmatch(r"(?:approve|批准)\s*(\S*)", _folded(text).strip())
    return wish is not None and (not wish[1] or parse_id(wish[1]) is not None)


def _folded(text: str) -> str:
    return unicodedata.normalize("NFKC", text).casefold()


def help_text(lang: Lang, *, prefix: str = PREFIX, free_text: bool = True) -> str:
    """Return the help for the chat, within WeCom's 2,048 bytes.

    Args:
        lang: Of the text.
        prefix: The word that addresses the bot.
        free_text: False where commands alone are understood.
    """
    rows = [_row(spec, lang) for spec in COMMANDS]
    head = _HEAD if free_text else _HEAD_COMMANDS
    lines = [say(head, lang, prefix=prefix), *rows, say(_NEEDS_MODEL, lang)]
    return clip_bytes("\n".join(lines), CHAT_BYTES)


def _row(spec: CommandSpec, lang: Lang) -> str:
    row = say(_ROW, lang, usage=say(spec.usage, lang), summary=say(spec.summary, lang))
    return row + _STAR if spec.needs_model else row


def _after_prefix(text: str, prefix: str) -> str | None:
    head = text[: len(prefix)]
    if head != prefix and _folded(head) != prefix.casefold():
        return None
    rest = text[len(prefix) :]
    if not rest:
        return ""
    if rest[0].isspace() or rest[0] in _SEPARATORS or has_cjk(rest[0]):
        return rest.lstrip(_SEPARATORS + " \t\r\n\u3000").strip()
    return None


def _first_word(body: str) -> tuple[str, str]:
    match = _WORD.match(body)
    raw = match[0] if match else ""
    word = _folded(raw)
    return word.rstrip(_CLOSING) or word, body[len(raw) :].strip()


def _glued(body: str) -> Command | None:
    # Chinese is written without blanks: 取消T-7K3F.
    if not body.startswith(_GLUED_WORDS):
        return None
    for alias, spec in _GLUED:
        if body.startswith(alias):
            found = _read(spec, body[len(alias) :])
            if found and (found.task_id or spec.takes == "machine"):
                return found
    return None


def _read(spec: CommandSpec, rest: str) -> Command | None:
    if not rest or spec.takes == "text":
        return Command(spec.name, args=rest)
    if spec.takes in ("task-id", "task-id-and-files") and _means_the_only_one(rest):
        return Command(spec.name)
    if spec.takes == "task-id":
        found = parse_id(_without_please(rest))
        if found:
            return Command(spec.name, task_id=found)
        # One word in the place of an ID is a mistyped ID; a phrase is natural language.
        return Command(spec.name, args=rest) if len(rest.split()) == 1 else None
    if spec.takes in ("task-id-and-files", "task-id-and-text"):
        return _read_id_and_more(spec, rest)
    if spec.takes == "machine":
        machine, more = _machine_in(rest.rstrip(_CLOSING))
        # One word in the place of a name is a mistyped name; a phrase is natural language.
        return Command(spec.name, args=machine) if machine and not more else None
    if spec.takes == "word":
        word = _folded(rest.rstrip(_CLOSING))
        return Command(spec.name, args=word) if len(word.split()) == 1 else None
    if spec.takes == "options" and rest[0] in _DASHES:
        return _read_options(spec, rest)
    return None


def _read_id_and_more(spec: CommandSpec, rest: str) -> Command | None:
    first, *more = _ID_FIRST.split(rest, maxsplit=1)
    words = spec.takes == "task-id-and-text"  # whether it is one of theirs is known elsewhere
    named = parse_id(first, words=words)
    if found := named or parse_id(rest, words=words):
        args = more[0] if named and more else ""
        return Command(spec.name, args=args if words else _without_please(args), task_id=found)
    # One word in the place of an ID is a mistyped ID; a phrase is natural language.
    return Command(spec.name, args=rest) if not more else None


def _means_the_only_one(rest: str) -> bool:
    words = [word.rstrip(_CLOSING) for word in rest.split()]
    return all(word.lower() in _ONLY_ONE for word in words)


def _without_please(text: str) -> str:
    words = text.split()
    said = sum(1 for _ in takewhile(_is_please, reversed(words)))
    if not said:
        return text
    return "" if said == len(words) else text.rsplit(maxsplit=said)[0].rstrip(",，")


def _is_please(word: str) -> bool:
    return word.strip(_CLOSING).lower() in _PLEASE


def parse_id(text: str, *, words: bool = False) -> str | None:
    """Return the short ID that a word is, in its stored form; None where it is none.

    Args:
        text: The word.
        words: Take "task", "last" and "find" too: they could be IDs, and mostly are words.
    """
    if not (words or text.isupper() or any(c.isdecimal() or c in _DASHES for c in text)):
        return None
    try:
        return parse_short_id(text) if len(text) <= 32 else None
    except InputError:
        return None


def _read_options(spec: CommandSpec, rest: str) -> Command:
    not_understood = Command(spec.name, args=rest)
    match = _OPTION.match(rest)
    if match is None or _folded(match[1]) != "cmd":
        return not_understood
    value = _unquoted(rest[match.end() :])
    return not_understood if value is None else Command(spec.name, options={"cmd": value})


def _unquoted(raw: str) -> str | None:
    """Return the value without its quotes; None when the quotes do not close at the very end."""
    closer = _CLOSED_BY.get(raw[:1])
    if closer is None:
        return raw or None
    inner = raw[1:-1]
    if len(raw) < 2 or raw[-1] != closer:
        return None
    if closer != '"':
        return inner if inner.strip() and closer not in inner else None
    # As in a shell's double quotes: a backslash protects a quote or a backslash.
    if '"' in _ESCAPE.sub("", inner) or _ESCAPE.sub("", inner).endswith("\\"):
        return None
    return _ESCAPE.sub(r"\1", inner) if inner.strip() else None
