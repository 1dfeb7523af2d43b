"""A file that is not UTF-8, from a model's words to the card, and back by undo: exact bytes."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

import pytest

from common.errors import InputError
from common.home import Home
from common.model.intent import TaskIntent, TaskKind
from common.model.proposal import Diff
from common.model.state import Reason
from common.terminal import Ink
from local_agent.actions.changes.perform import PreparedChange
from local_agent.faces.page.files import view_file
from local_agent.faces.terminal.page import render
from local_agent.models.backend import Chosen, Reply
from local_agent.propose.base import Asked, Earlier
from local_agent.propose.coding import CodingProposer, NoModel
from local_agent.propose.diffs import encodings_of
from local_agent.propose.scratch import Scratches
from local_agent.safety.risk import Circumstances
from local_agent.safety.risk_changes import judge_change
from local_agent.workspace.files import search_all, unreadable
from tests.asked import read_question, told
from tests.changing import Changing
from tests.scratching import write_files
from tests.scripted_model import ScriptedModel, Step, writes

# CR LF, and no line end at its end.
CODE = "# 这是一个加法\r\ndef add(a, b):\r\n    return a + b"
MORE = CODE + "\r\n\r\n# 减法\r\ndef sub(a, b):\r\n    return a - b"
PASSWORD = 'PASSWORD = "hunter2hunter2"\r\n'


class Shop:
    """One workspace, a scripted model, and a person who approves."""

    def __init__(self, top: Path, files: Mapping[str, str | bytes], setting: str | None) -> None:
        (top / "shop").mkdir()
        write_files(top / "shop", files)
        self.changing = Changing.at(top / "shop", top / "kept", encoding=setting)
        self.path = self.changing.workspace.path
        self.model = ScriptedModel()
        self.lend = Scratches(Home(top / "config", top / "state", top / "run")).lend

    async def propose(
        self,
        *steps: Step,
        earlier: Earlier | None = None,
        whole: bool = False,
        redacted: bool = False,
    ) -> Diff:
        self.model = ScriptedModel([*steps, Reply("done")])
        proposer = CodingProposer(
            lambda: Chosen(self.model, whole=whole, redacted=redacted),
            without=NoModel(),
            lend=self.lend,
            keep=self.changing.blobs.put,
            allowed=True,
        )
        asked = Asked(
            task_id="task-1",
            intent=TaskIntent(kind=TaskKind.CHANGE, confidence=1, summary=""),
            text="add sub",
            lang="en",
            workspace=self.changing.workspace,
            earlier=earlier,
        )
        found = (await proposer.propose(asked)).proposal
        assert isinstance(found, Diff), found
        return found

    async def diff(self, proposed: Diff) -> bytes:
        return await asyncio.to_thread(self.changing.blobs.get, proposed.diff_id)

    async def prepare(self, diff: bytes) -> PreparedChange:
        return await self.changing.applier.prepare(self.changing.workspace, diff)

    def card(self, prepared: PreparedChange) -> str:
        asked = read_question(told(self.changing.seal(prepared)), diff=prepared.diff)
        return "\n".join(render(asked, lang="en", width=100, ink=Ink(on=False), now_ms=0))

    def risk(self, prepared: PreparedChange) -> list[str]:
        found = judge_change(prepared.payload, Circumstances(diff=prepared.model))
        return [code for _, code in found]


DECLARED = {
    "pep-263": ("calc.py", "# coding: {}\r\n", {}, None),
    "editorconfig": ("calc.c", "", {".editorconfig": "[*.c]\ncharset = {}\n"}, None),
    "attributes": ("calc.c", "", {".gitattributes": "*.c working-tree-encoding={}\n"}, None),
    "setting": ("calc.c", "", {}, "gbk"),
}


@pytest.mark.requirement("P2")
@pytest.mark.parametrize("how", DECLARED)
@pytest.mark.parametrize(("whole", "redacted"), [(False, False), (True, False), (True, True)])
async def test_an_edit_leaves_a_file_whole_in_its_encoding(
    tmp_path: Path, how: str, *, whole: bool, redacted: bool
) -> None:
    path, head, beside, setting = DECLARED[how]
    head = head.format("gbk") + PASSWORD
    before, after = (head + CODE).encode("gbk"), (head + MORE).encode("gbk")
    beside = {name: text.format("GBK") for name, text in beside.items()}
    shop = Shop(tmp_path, {path: before, **beside}, setting)

    def edit(turn: object) -> None:
        scratch = shop.model.turns[0].scratch
        assert scratch is not None
        seen = scratch.read(path)
        assert seen is not None
        assert "# 这是一个加法" in seen.decode(), "a model sees and edits text"
        scratch.write(path, seen.replace(CODE.encode(), MORE.encode()))

    proposed = await shop.propose(edit, whole=whole, redacted=redacted)
    assert encodings_of(proposed) == {path: "gbk"}
    assert "+# 减法" in proposed.unified_diff
    prepared = await shop.prepare(await shop.diff(proposed))
    card = shop.card(prepared)
    assert "text in GBK" in card
    assert "# 减法" in card
    assert "⟨0x" not in card
    assert "other-encoding" not in shop.risk(prepared)

    done, outcome = await shop.changing.apply(prepared.diff)
    assert outcome.reason is Reason.COMPLETED
    assert (shop.path / path).read_bytes() == after
    _, outcome = await shop.changing.undo(done)
    assert outcome.reason is Reason.COMPLETED
    assert (shop.path / path).read_bytes() == before


async def test_an_earlier_version_is_built_on_as_text(tmp_path: Path) -> None:
    shop = Shop(tmp_path, {"calc.c": CODE.encode("gbk")}, "gbk")
    first = await shop.propose(writes("calc.c", MORE))
    diff = await shop.diff(first)
    earlier = Earlier(1, "add sub", first.unified_diff, diff, encodings_of(first))
    second = await shop.propose(writes("other.c", "// 乘法\n"), earlier=earlier)
    assert "# 减法" in shop.model.turns[0].prompt
    made = await shop.diff(second)
    assert all("\n+" in part for part in made.decode("gbk").split("diff --git")[1:])
    assert "+// 乘法" in made.decode("gbk")


@pytest.mark.requirement("P2")
@pytest.mark.parametrize(
    ("files", "setting", "text", "code"),
    [
        # What the edit adds is not in the encoding; nothing says which encoding it is; a program
        # wrote another one into it.
        ({"a.c": CODE.encode("gbk")}, "gbk", (CODE + "🚀").encode(), "change.no-character"),
        ({"a.c": CODE.encode("gbk")}, None, CODE.encode("gbk") + b"\n", "change.no-encoding"),
        ({"a.c": CODE.encode("gbk")}, "gbk", CODE.encode() + b"\xff\n", "change.encoding"),
        ({"a.c": "# é\n".encode()}, None, "# é\n".encode("latin-1"), "change.encoding"),
        ({"a.c": CODE.encode("gbk") + "一".encode()}, "gbk", b"all\n", "change.no-encoding"),
    ],
    ids=["lacks", "undeclared", "neither", "utf-8 left", "two encodings"],
)
async def test_an_edit_that_would_leave_a_file_in_no_encoding_is_refused_with_the_reason(
    tmp_path: Path, files: dict[str, bytes], setting: str | None, text: bytes, code: str
) -> None:
    shop = Shop(tmp_path, files, setting)

    def edit(turn: object) -> None:
        scratch = shop.model.turns[0].scratch
        assert scratch is not None
        scratch.write("a.c", text)

    with pytest.raises(InputError) as refused:
        await shop.propose(edit)
    assert refused.value.code == code
    assert refused.value.facts["path"] == "a.c"
    assert refused.value.facts.get("character", "🚀") == "🚀"


async def test_a_program_may_write_the_encoding_that_it_finds_declared(tmp_path: Path) -> None:
    code = "# coding: gbk\n" + CODE
    shop = Shop(tmp_path, {"calc.py": code.encode("gbk")}, None)

    def edit(turn: object) -> None:
        scratch = shop.model.turns[0].scratch
        assert scratch is not None
        (scratch.root / "calc.py").write_bytes((code + "\n# 完\n").encode("gbk"))

    proposed = await shop.propose(edit, whole=True)
    assert (await shop.prepare(await shop.diff(proposed))).changes[0].encoding


@pytest.mark.requirement("P2")
async def test_a_persons_own_diff_in_another_encoding_is_refused(tmp_path: Path) -> None:
    shop = Shop(tmp_path, {"a.c": CODE.encode("gbk")}, "gbk")
    head = "--- a/a.c\n+++ b/a.c\n@@ -1,2 +1,3 @@\n # 这是一个加法\r\n".encode("gbk")
    with pytest.raises(InputError) as refused:
        await shop.prepare(head + "+# 一\r\n".encode() + b" def add(a, b):\r\n")
    assert refused.value.code == "change.encoding"


@pytest.mark.requirement("R26")
@pytest.mark.parametrize(
    ("line", "shown", "risk"),
    [
        # A shell, which knows nothing of encodings, finds a pipe in the second byte.
        (b"echo \x81|sh", "亅⟨0x7C⟩sh", "other-encoding"),
        # A browser reads UTF-8, and what begins as a comment ends there.
        (b"// \xe2\x80\xa8evil()", "⟨U+2028⟩evil()", "hidden-characters"),
        ("管理员\u200b".encode("gb18030"), "⟨U+200B⟩", "hidden-characters"),
        ("аdmin".encode("gb18030"), "аdmin", "look-alike-characters"),
    ],
    ids=["sign", "line end", "hidden", "look-alike"],
)
async def test_a_declared_encoding_hides_nothing_from_the_card(
    tmp_path: Path, line: bytes, shown: str, risk: str
) -> None:
    declares = "[*]\ncharset = gb18030\n"
    shop = Shop(tmp_path, {".editorconfig": declares, "a": "注释\n".encode("gb18030")}, None)
    head = "--- a/a\n+++ b/a\n@@ -1 +1,2 @@\n 注释\n+".encode("gb18030")
    prepared = await shop.prepare(head + line + b"\n")
    assert shown in shop.card(prepared)
    assert risk in shop.risk(prepared)


@pytest.mark.requirement("P2", "R26")
@pytest.mark.parametrize(
    ("path", "head", "hidden", "misread"),
    [
        ("a.py", "# coding: utf-7\n", "# see +AAo-evil()\n", True),
        ("a.py", "#\n# coding: unicode_escape\n", "# see \\x0aevil()\n", True),
        ("tool", "#!/usr/bin/python3\n# coding: raw_unicode_escape\n", "# \\u000aevil()\n", True),
        ("a.py", "# coding: hz\n", "# ~\ncheck()\n", True),
        ("a.py", "# coding: us-ascii\n", "# see +AAo-evil()\n", False),
        ("a.py", "# -*- coding: utf-8-unix -*-\n", "# see \\x0aevil()\n", False),
        ("a.md", "# Encoding: base64\n", "more\n", False),
    ],
)
async def test_no_python_file_runs_as_another_text_than_the_card_shows(
    tmp_path: Path, path: str, head: str, hidden: str, *, misread: bool
) -> None:
    shop = Shop(tmp_path, {path: head}, None)
    edit = f"--- a/{path}\n+++ b/{path}\n@@ -{head.count(chr(10))} +{head.count(chr(10))},"
    last = head.splitlines()[-1]
    diff = f"{edit}{1 + hidden.count(chr(10))} @@\n {last}\n+"
    diff += "\n+".join(hidden.splitlines()) + "\n"
    if not misread:
        await shop.prepare(diff.encode())
        return
    with pytest.raises(InputError) as refused:
        await shop.prepare(diff.encode())
    assert refused.value.code == "change.misread"


@pytest.mark.requirement("P2")
async def test_an_encoding_that_is_declared_otherwise_after_the_approval_is_drift(
    tmp_path: Path,
) -> None:
    declares = "[*]\ncharset = gbk\n"
    shop = Shop(tmp_path, {".editorconfig": declares, "a": "注释\n".encode("gbk")}, None)
    diff = "--- a/a\n+++ b/a\n@@ -1 +1,2 @@\n 注释\n+再来\n".encode("gbk")
    seal = shop.changing.seal(await shop.prepare(diff))
    (shop.path / ".editorconfig").write_text(declares.replace("gbk", "big5"), encoding="utf-8")
    assert (await shop.changing.run(seal)).reason is Reason.DRIFTED


async def test_a_declaration_that_changes_alone_is_found_in_a_copy_that_is_used_again(
    tmp_path: Path,
) -> None:
    shop = Shop(tmp_path, {"a.c": CODE.encode("gbk"), "b.c": b"x\n"}, None)
    await shop.propose(writes("b.c", "y\n"), whole=True)
    (shop.path / ".editorconfig").write_text("[*]\ncharset = gbk\n", encoding="utf-8")
    proposed = await shop.propose(writes("a.c", MORE), whole=True)
    assert encodings_of(proposed) == {"a.c": "gbk"}


async def test_what_is_looked_at_is_text(tmp_path: Path) -> None:
    shop = Shop(tmp_path, {"a.c": CODE.encode("gbk"), "b.c": CODE.encode()}, "gbk")
    for finder in ("python", "ripgrep"):
        (found,) = await search_all(shop.path, ["这是一个"], encoding="gbk", finder=finder)
        assert [(one.path, one.preview) for one in found.items] == [
            ("a.c", "# 这是一个加法"),
            ("b.c", "# 这是一个加法"),
        ]
    seen = await asyncio.to_thread(view_file, shop.changing.workspace, "a.c")
    assert seen.lines[0].text == "# 这是一个加法"
    assert await unreadable(shop.changing.workspace) == []
    assert await unreadable(replace(shop.changing.workspace, encoding=None)) == ["a.c"]
