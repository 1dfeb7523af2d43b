"""The how-to pages and examples at the command line, in a clone and as they are installed."""

from __future__ import annotations

import argparse
import os
import pydoc
import re
import shutil
from pathlib import Path

import pytest

import common
from common.errors import InputError
from common.sentences import LANGS, Lang
from local_agent.cli import help as module
from local_agent.cli.manual import manual

ROOT = Path(__file__).parents[4]


def shown(topic: str | None, capsys: pytest.CaptureFixture[str], *, lang: Lang = "en") -> str:
    assert module.run(argparse.Namespace(topic=topic), lang, {}) == 0
    return capsys.readouterr().out


@pytest.mark.parametrize("lang", LANGS)
def test_every_page_is_listed_and_shown_in_the_persons_language(
    lang: Lang, capsys: pytest.CaptureFixture[str]
) -> None:
    listed = shown(None, capsys, lang=lang)
    assert {"admin", "approver", "member", "models"} <= set(module.topics())
    for topic in module.topics():
        assert re.search(rf"(?m)^  {topic} +\S", listed)
        text = shown(topic, capsys, lang=lang)
        assert text.startswith("# ")
        assert "](" not in text, "a link leads nowhere in a terminal"
        assert not re.search(r"(?m)^ *!\[", text), "a picture leaves nothing"
        hanzi = len(re.findall("[\u4e00-\u9fff]", text))
        assert (hanzi > len(text) / 10) is (lang == "zh")
        for other in re.findall(r"codexbridge help ([a-z.-]+[a-z])", text):
            assert other in {*module.topics(), *module.EXAMPLES, module.CONFIG}


def test_an_example_is_printed_as_it_is(capsys: pytest.CaptureFixture[str]) -> None:
    for name, file in module.EXAMPLES.items():
        assert shown(name, capsys) == (ROOT / "config" / file).read_text(encoding="utf-8")
        assert f"codexbridge help {name} >" in shown("config", capsys)


def test_every_example_of_a_clone_can_be_shown_by_its_name(
    capsys: pytest.CaptureFixture[str],
) -> None:
    assert {*module.EXAMPLES.values()} == {file.name for file in (ROOT / "config").iterdir()}
    assert "nginx.example.conf (codexbridge help nginx)" in shown("admin", capsys)


@pytest.mark.parametrize("lang", LANGS)
def test_the_manual_page_is_printed_for_man(lang: Lang, capsys: pytest.CaptureFixture[str]) -> None:
    assert shown("man", capsys, lang=lang) == manual(lang)
    assert "\n  man " in shown(None, capsys, lang=lang)


def test_an_unknown_page_names_the_closest(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(InputError) as caught:
        shown("modls", capsys)
    assert (caught.value.code, caught.value.facts["did_you_mean"]) == ("input.help-topic", "models")
    with pytest.raises(InputError) as caught:
        shown("qqqqq", capsys)
    assert caught.value.code == "input.no-help-topic"


def test_a_page_goes_through_the_pager_at_a_terminal_alone(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    paged: list[str] = []
    monkeypatch.setattr(pydoc, "pager", paged.append)
    text = shown("admin", capsys)
    assert paged == []
    monkeypatch.setenv("LESS", "R")
    monkeypatch.setenv("LESSCHARSET", "")
    monkeypatch.delenv("LESSCHARSET")
    monkeypatch.setattr(module, "_at_a_terminal", lambda: True)
    assert shown("admin", capsys) == ""
    assert paged != [text], "it is laid out"
    assert paged[0].startswith("Run the gateway (admins)\n───")
    assert os.environ["LESSCHARSET"] == "utf-8", "where no locale says so, less shows <E5>"
    assert shown("gateway.toml", capsys) != "", "an example is for a file"


def test_an_installation_without_a_clone_shows_what_it_brought_along(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    package = tmp_path / "common"
    shutil.copytree(ROOT / "docs" / "how-to", package / "how_to")
    shutil.copytree(ROOT / "config", package / "examples")
    before = shown("admin", capsys), shown("gateway.toml", capsys)
    monkeypatch.setattr(common, "__file__", str(package / "__init__.py"))
    assert (shown("admin", capsys), shown("gateway.toml", capsys)) == before
