"""Edits asked for as JSON: their form, read strictly and made in a scratch copy, all or none.

What is searched for must stand in the file exactly once (`text_edits`); nothing is guessed.  Pure
but for the scratch copy that it is given.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final, Literal, TypeGuard

from common import strict_json
from common.errors import InputError, RemoteProtocolError
from common.redact import redact
from common.sentences import explain
from common.text import clip_bytes
from local_agent.models.backend import (
    MAX_ANSWER_BYTES,
    MAX_COMMANDS,
    Refusal,
    Scratch,
    Suggestion,
    bare_json,
)
from local_agent.models.http.dialects import Message
from local_agent.models.text_edits import has_new_marks, replaced_once, with_hidden
from local_agent.models.texts import ERRORS

Action = Literal["edit", "create", "delete", "rename"]

MAX_EDITS: Final = 500
MAX_PATH_BYTES: Final = 1024
MAX_TEXT_BYTES: Final = 1024 * 1024  # of one field
MAX_WORDS_BYTES: Final = 16 * 1024  # of the words about the edits, and of a command

MAX_REPEATED_BYTES: Final = 65_536  # of the answer that is shown to the model again

EDIT_RULES: Final = """\
Answer in JSON. "summary": what you changed and why, in a few lines; it comes first. "plan": empty \
when you make edits; else what you would do and what you need to know. "edits": in the order in \
which they are to be made; leave the fields that an action does not use empty. Paths are \
relative, with "/". "commands": what a person might run afterwards, at most five; usually none.
Actions: "edit" puts "replace" where "search" stands in the file: "search" must be an exact copy \
of what stands there, blanks and line ends included, and must occur exactly once, so take whole \
lines and as many as it needs; never the marks or headers around a part. "create" makes a file \
of "content". "delete" removes a file. "rename" moves a file "to" another path."""

_ACTIONS: Final[tuple[Action, ...]] = ("edit", "create", "delete", "rename")
_USES: Final[Mapping[Action, frozenset[str]]] = {
    "edit": frozenset(("search", "replace")),
    "create": frozenset(("content",)),
    "delete": frozenset(),
    "rename": frozenset(("to",)),
}
_FIELDS: Final[Mapping[str, int]] = {
    "search": MAX_TEXT_BYTES,
    "replace": MAX_TEXT_BYTES,
    "content": MAX_TEXT_BYTES,
    "to": MAX_PATH_BYTES,
}
_TEXT: Final = {"type": "string"}
# Strict: every key is required and none may be added.  The words come first, so that they can be
# shown while the rest is still being written.
EDITS_SCHEMA: Final[Mapping[str, Any]] = {
    "type": "object",
    "additionalProperties": False,
    "required": ["summary", "plan", "edits", "commands"],
    "properties": {
        "summary": _TEXT,
        "plan": _TEXT,
        "edits": {
            "type": "array",
            "items": {
                "type": "object",
                "additionalProperties": False,
                "required": ["path", "action", "search", "replace", "content", "to"],
                "properties": {
                    "path": _TEXT,
                    "action": {"type": "string", "enum": list(_ACTIONS)},
                    **dict.fromkeys(_FIELDS, _TEXT),
                },
            },
        },
        "commands": {
            "type": "array",
            "items": {
                "type": "object",
                "additionalProperties": False,
                "required": ["command", "reason"],
                "properties": {"command": _TEXT, "reason": _TEXT},
            },
        },
    },
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Edit:
    """One edit of one file.

    Attributes:
        path: As the model names it.
        action: ``edit`` puts ``replace`` where ``search`` stands; ``create`` makes a file of
            ``content``; ``rename`` moves it ``to`` another path.
    """

    path: str
    action: Action
    search: str = ""
    replace: str = ""
    content: str = ""
    to: str = ""


@dataclass(frozen=True, slots=True)
class Edits:
    """One answer: what is edited, and the words about it.

    Attributes:
        summary: What was changed and why.
        plan: What would be done, where nothing is edited.
        commands: At most `MAX_COMMANDS`.
    """

    summary: str
    plan: str
    edits: tuple[Edit, ...]
    commands: tuple[Suggestion, ...]


def read_answer(text: str) -> Edits:
    """Return the edits of an answer.

    Raises:
        InputError: ``edit.form``.
    """
    try:
        value = strict_json.loads(bare_json(text), max_bytes=MAX_ANSWER_BYTES)
    except RemoteProtocolError:
        raise InputError("edit.form", why="json", index=0) from None
    return read_edits(value)


def read_edits(value: object) -> Edits:
    """Return the edits that parsed JSON holds; a key that is missing or null counts as empty.

    Raises:
        InputError: ``edit.form`` with ``why`` (``object``, ``key``, ``text``, ``too-long``,
            ``encoding``, ``list``, ``too-many``, ``path``, ``action``, ``fields``, ``search`` or
            ``no-change``) and ``index``, the number of the edit from 1; 0 where none is to blame.
    """
    answer = _object(value, ("summary", "plan", "edits", "commands"), 0)
    edits = _list(answer.get("edits"), MAX_EDITS)
    commands = _list(answer.get("commands"))[:MAX_COMMANDS]
    return Edits(
        _text(answer, "summary", MAX_WORDS_BYTES, 0),
        _text(answer, "plan", MAX_WORDS_BYTES, 0),
        tuple(_edit(item, index) for index, item in enumerate(edits, 1)),
        tuple(_command(item) for item in commands),
    )


def reply_text(edits: Edits) -> str:
    """Return the words of an answer: the plan, too, where nothing is edited."""
    parts = (edits.summary,) if edits.edits else (edits.summary, edits.plan)
    return "\n\n".join(part for part in parts if part.strip())


def apply_edits(scratch: Scratch, edits: Sequence[Edit]) -> tuple[Refusal, ...]:
    """Make the edits in the copy, in their order; when one does not fit, nothing is written.

    Blocks.  What the copy refuses is left out and returned, with all later edits of that file.

    Raises:
        InputError: with ``index`` and ``path``: ``edit.not-found`` (``line``: where something near
            stands, 0 for nowhere), ``edit.not-unique`` (``lines``: where the first two stand),
            ``edit.missing`` (no such file), ``edit.exists`` (there is one already),
            ``edit.redacted`` (it would write the mark of a secret), ``edit.too-large``.
    """
    making = _Making(scratch)
    for index, edit in enumerate(edits, 1):
        making.add(index, edit)
    making.write()
    return tuple(making.refused)


def correction(answer: str, error: InputError, *, nonce: str) -> tuple[Message, Message]:
    """Return what is added to the conversation when an answer cannot be used.

    What a model wrote itself may hold secrets all the same, such as of a file that it made up or
    remembered: it goes out as everything else does.

    Args:
        answer: The answer; to look through a long one takes a moment.
        error: Why not.
        nonce: Marks what is data; random, and new for every message.
    """
    problem = redact(explain(error, ERRORS, "en"))
    return (
        Message("assistant", clip_bytes(redact(answer), MAX_REPEATED_BYTES)),
        Message(
            "user",
            "Your answer cannot be used, and nothing of it was done. What is wrong with it, as "
            f"data:\n<<<{nonce} PROBLEM>\n{problem}\n{nonce}>>>\n"
            "Give the whole answer again in the same form, with every edit that is needed.",
        ),
    )


# --- reading ---


def _edit(value: object, index: int) -> Edit:
    item = _object(value, ("path", "action", *_FIELDS), index)
    action = item.get("action")
    if not _is_action(action):
        raise InputError("edit.form", why="action", index=index)
    path = _text(item, "path", MAX_PATH_BYTES, index)
    fields = {name: _text(item, name, limit, index) for name, limit in _FIELDS.items()}
    if not path or (action == "rename" and not fields["to"]):
        raise InputError("edit.form", why="path", index=index)
    if any(text and name not in _USES[action] for name, text in fields.items()):
        raise InputError("edit.form", why="fields", index=index)
    if action == "edit" and not fields["search"]:
        raise InputError("edit.form", why="search", index=index)
    if action == "edit" and fields["search"] == fields["replace"]:
        raise InputError("edit.form", why="no-change", index=index)
    return Edit(path=path, action=action, **fields)


def _is_action(value: object) -> TypeGuard[Action]:
    return value in _ACTIONS


def _command(value: object) -> Suggestion:
    item = _object(value, ("command", "reason"), 0)
    command, reason = (_text(item, name, MAX_WORDS_BYTES, 0) for name in ("command", "reason"))
    return Suggestion(command, reason)


def _object(value: object, keys: Sequence[str], index: int) -> dict[str, object]:
    if not isinstance(value, dict):
        raise InputError("edit.form", why="object", index=index)
    if not value.keys() <= set(keys):
        raise InputError("edit.form", why="key", index=index)
    return value


def _list(value: object, limit: int | None = None) -> list[object]:
    if value is None:
        return []
    if not isinstance(value, list):
        raise InputError("edit.form", why="list", index=0)
    if limit is not None and len(value) > limit:
        raise InputError("edit.form", why="too-many", index=0)
    return value


def _text(item: Mapping[str, object], name: str, limit: int, index: int) -> str:
    text = item.get(name)
    if text is None:
        return ""
    if not isinstance(text, str):
        raise InputError("edit.form", why="text", index=index)
    try:
        size = len(text.encode())
    except UnicodeEncodeError:
        raise InputError("edit.form", why="encoding", index=index) from None
    if size > limit:
        raise InputError("edit.form", why="too-long", index=index)
    return text


# --- making ---


@dataclass(slots=True)
class _Making:
    """What the files become, until all edits are known to fit.

    Attributes:
        now: Content of each file that was looked at, as far as the edits are made; None where
            there is none.
        before: The same when it was looked at first.
        closed: Paths that were refused, with all that is done to them.
    """

    scratch: Scratch
    now: dict[str, bytes | None] = field(default_factory=dict)
    before: dict[str, bytes | None] = field(default_factory=dict)
    closed: dict[str, str] = field(default_factory=dict)
    refused: list[Refusal] = field(default_factory=list)

    def add(self, index: int, edit: Edit) -> None:
        named = (edit.path, edit.to) if edit.action == "rename" else (edit.path,)
        try:
            paths = [self._look(path) for path in named]
        except InputError as error:
            if not error.code.startswith(("scratch.", "path.")):
                raise
            self.refused.append(Refusal(edit.path, error.code))
            self.closed |= dict.fromkeys(named, error.code)
            return
        _ACTS[edit.action](self, index, edit, paths)

    def write(self) -> None:
        changed = {path for path, content in self.now.items() if content != self.before[path]}
        for path in sorted(changed):
            content = self.now[path]
            if content is None:
                self.scratch.delete(path)
        # A file may come where a folder was emptied: what goes, goes first.
        for path in sorted(changed):
            content = self.now[path]
            if content is not None:
                self.scratch.write(path, content)

    def edit(self, index: int, edit: Edit, paths: Sequence[str]) -> None:
        path, content = paths[0], self._present(index, paths[0])
        search, replace = edit.search.encode(), edit.replace.encode()
        if has_new_marks(search + b"\n" + replace, content):
            raise InputError("edit.redacted", index=index, path=path)
        search, replace = with_hidden(search, replace, content)
        try:
            changed = replaced_once(content, search, replace)
        except InputError as error:
            raise InputError(error.code, index=index, path=path, **error.facts) from None
        self._become(index, path, changed)

    def create(self, index: int, edit: Edit, paths: Sequence[str]) -> None:
        if self.now[paths[0]]:  # one that is empty has nothing to lose
            raise InputError("edit.exists", index=index, path=paths[0])
        content = edit.content.encode()
        if has_new_marks(content, b""):
            raise InputError("edit.redacted", index=index, path=paths[0])
        self._become(index, paths[0], content)

    def delete(self, index: int, edit: Edit, paths: Sequence[str]) -> None:
        del edit
        self._present(index, paths[0])
        self.now[paths[0]] = None

    def rename(self, index: int, edit: Edit, paths: Sequence[str]) -> None:
        del edit
        old, new = paths
        content = self._present(index, old)
        if self.now[new] is not None:
            raise InputError("edit.exists", index=index, path=new)
        self.now[old], self.now[new] = None, content

    def _look(self, named: str) -> str:
        if named in self.closed:
            raise InputError(self.closed[named])
        path = self.scratch.inside(named)
        if path not in self.now:
            self.now[path] = self.before[path] = self.scratch.read(path)
        return path

    def _present(self, index: int, path: str) -> bytes:
        content = self.now[path]
        if content is None:
            raise InputError("edit.missing", index=index, path=path)
        return content

    def _become(self, index: int, path: str, content: bytes) -> None:
        if len(content) > MAX_TEXT_BYTES:
            raise InputError("edit.too-large", index=index, path=path, limit=MAX_TEXT_BYTES)
        self.now[path] = content


_ACTS: Final = {
    "edit": _Making.edit,
    "create": _Making.create,
    "delete": _Making.delete,
    "rename": _Making.rename,
}
