"""Several words, whole words, definitions first, and only one part of the workspace."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import pytest

from common.errors import InputError
from local_agent.workspace.registry import Workspace
from local_agent.workspace.searching import MAX_HITS, Query, Scope, Sighting, search_for

FILES = {
    "src/app.py": "from auth import Session\nuser = Session.login(name)\nlogin_all()\n",
    "src/auth.py": "class Session:\n    def login(self, name):\n        ...  # TODO: retry\n",
    "src/web/form.ts": "function login(name) {\n  return relogin(name)\n}\n",
    "tests/test_auth.py": "def test_login():\n    Session().login('a')\n",
    "docs/login.md": "How to login: the name comes first, todos later\n",
}


@pytest.fixture
def shop(tmp_path: Path) -> Workspace:
    return placed(tmp_path, FILES)


def placed(folder: Path, files: Mapping[str, str]) -> Workspace:
    for name, text in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    return Workspace(name="shop", path=folder.resolve())


def places(found: Sighting) -> list[str]:
    return [f"{hit.path}:{hit.line}" for hit in found.hits]


async def test_where_it_is_defined_comes_before_where_it_is_used(shop: Workspace) -> None:
    found = await search_for(shop, Query(phrase="login"))
    assert places(found)[:2] == ["src/auth.py:2", "src/web/form.ts:1"]
    assert [hit.defines for hit in found.hits].count(True) == 2
    assert "src/app.py:3" in places(found)


async def test_whole_words_only_where_there_are_any(shop: Workspace) -> None:
    whole = await search_for(shop, Query(phrase="login", whole=True))
    assert "src/app.py:3" not in places(whole)
    assert "src/web/form.ts:2" not in places(whole)
    part = await search_for(shop, Query(phrase="relog", whole=True))
    assert places(part) == ["src/web/form.ts:2"]


async def test_case_matters_only_with_a_capital(shop: Workspace) -> None:
    assert places(await search_for(shop, Query(phrase="TODO", whole=True))) == ["src/auth.py:3"]
    assert len(places(await search_for(shop, Query(phrase="todo")))) == 2


async def test_a_qualified_name_finds_its_definition(shop: Workspace) -> None:
    found = await search_for(shop, Query(phrase="Session.login"))
    assert places(found) == ["src/auth.py:2", "src/web/form.ts:1", "src/app.py:2"]


async def test_words_that_stand_apart_are_found_in_one_line_then_in_one_file(
    shop: Workspace,
) -> None:
    line = await search_for(shop, Query(phrase="first name", words=("first", "name")))
    assert (line.found, places(line)) == ("words", ["docs/login.md:1"])
    file = await search_for(shop, Query(phrase="retry Session", words=("retry", "Session")))
    assert (file.found, places(file)) == ("files", ["src/auth.py:1", "src/auth.py:3"])
    none = await search_for(shop, Query(phrase="retry axios", words=("retry", "axios")))
    assert (none.hits, none.truncated) == ((), False)


@pytest.mark.parametrize(
    ("scopes", "files"),
    [
        ((Scope("src"),), {"src/app.py", "src/auth.py", "src/web/form.ts"}),
        ((Scope("src/web/"),), {"src/web/form.ts"}),
        ((Scope("web"),), {"src/web/form.ts"}),
        ((Scope("*.py"),), {"src/app.py", "src/auth.py", "tests/test_auth.py"}),
        ((Scope("src/**/*.ts"),), {"src/web/form.ts"}),
        ((Scope("auth.py"),), {"src/auth.py"}),
        ((Scope("src"), Scope("web", outside=True)), {"src/app.py", "src/auth.py"}),
        ((Scope("src", outside=True), Scope("docs", outside=True)), {"tests/test_auth.py"}),
        ((Scope("gateway", sure=False), Scope("docs")), {"docs/login.md"}),
    ],
)
async def test_only_the_part_that_is_named_is_looked_into(
    shop: Workspace, scopes: tuple[Scope, ...], files: set[str]
) -> None:
    found = await search_for(shop, Query(phrase="login", scopes=scopes))
    assert {hit.path for hit in found.hits} == files


async def test_a_part_that_there_is_not_is_told(shop: Workspace) -> None:
    found = await search_for(shop, Query(phrase="login", scopes=(Scope("vendor"),)))
    assert (found.nowhere, found.hits) == ("vendor", ())
    everywhere = await search_for(
        shop, Query(phrase="login", scopes=(Scope("vendor", sure=False),))
    )
    assert everywhere.scopes == ()
    assert everywhere.hits


@pytest.mark.requirement("R26")
async def test_hidden_characters_are_shown(tmp_path: Path) -> None:
    shop = placed(tmp_path, {"a.py": "if access\u202e == x:  # \x1b[31mred\n"})
    (hit,) = (await search_for(shop, Query(phrase="access"))).hits
    assert "⟨U+202E⟩" in hit.preview
    assert "\x1b" not in hit.preview


@pytest.mark.requirement("R52")
async def test_what_may_not_be_read_is_not_found(tmp_path: Path) -> None:
    shop = placed(tmp_path, {".env": "login\n", "private/a.py": "login\n", "b.py": "login\n"})
    denied = Workspace(name="shop", path=shop.path, deny=("private",))
    assert places(await search_for(denied, Query(phrase="login"))) == ["b.py:1"]
    scoped = await search_for(denied, Query(phrase="login", scopes=(Scope("private"),)))
    assert scoped.nowhere == "private"


async def test_what_is_too_large_is_counted(tmp_path: Path) -> None:
    shop = placed(tmp_path, {"a.txt": "word\n", "big.log": "word\n" * 300_000})
    found = await search_for(shop, Query(phrase="word"))
    assert (places(found), found.large) == (["a.txt:1"], 1)


async def test_all_is_bounded(tmp_path: Path) -> None:
    shop = placed(tmp_path, {"a.txt": "word other\n" * 7000, "b.txt": "x" * 300 + " a_word\n"})
    found = await search_for(shop, Query(phrase="word"))
    assert (len(found.hits), found.truncated) == (MAX_HITS, True)
    beyond = await search_for(shop, Query(phrase="a_word", whole=True))
    assert places(beyond) == ["b.txt:1"]
    assert len(beyond.hits[0].preview.encode()) <= 200


async def test_a_text_that_cannot_be_searched_for_is_refused(shop: Workspace) -> None:
    with pytest.raises(InputError) as caught:
        await search_for(shop, Query(phrase="a\nb"))
    assert caught.value.code == "search.query"
