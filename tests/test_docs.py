"""What the documents say is what there is: commands, settings, requirements, sentences."""

from __future__ import annotations

import importlib
import pkgutil
import re
import subprocess
import tomllib
from collections.abc import Iterator
from importlib.util import find_spec
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest
from pydantic import BaseModel, SecretStr

import codexbridge
from common.home import Home
from common.keystore import FileKeystore
from common.sentences import Lang, Sentence
from gateway.base.settings import GatewaySettings
from local_agent.cli import help as help_pages
from local_agent.cli.manual import manual
from local_agent.models.keys import ModelKeys
from local_agent.models.registry import Around, Models
from local_agent.playbooks.definition import parse_playbook
from local_agent.playbooks.library import SHIPPED
from local_agent.playbooks.tools import TOOLS
from local_agent.settings import AgentSettings, ModelSettings
from tests import reference

ROOT = Path(__file__).parent.parent
CODE = ("bench", "common", "gateway", "local_agent", "tests")
DOCS = [ROOT / "README.md", *(ROOT / "docs" / "how-to").glob("*.md")]


def _modules() -> Iterator[ModuleType]:
    for name in ("common", "gateway", "local_agent"):
        package = importlib.import_module(name)
        for found in pkgutil.walk_packages(package.__path__, f"{name}."):
            needs_tk = ".faces.window." in found.name and find_spec("_tkinter") is None
            if "migrations" in found.name or found.name.endswith("warden") or needs_tk:
                continue
            yield importlib.import_module(found.name)


def _sentences(value: Any) -> Iterator[Sentence]:
    if isinstance(value, Sentence):
        yield value
    elif isinstance(value, dict):
        for item in value.values():
            yield from _sentences(item)
    elif isinstance(value, tuple | list):
        for item in value:
            yield from _sentences(item)


def test_both_languages_of_every_sentence_use_the_same_facts() -> None:
    wrong = [
        (module.__name__, name)
        for module in _modules()
        for name, value in vars(module).items()
        for sentence in _sentences(value)
        if sentence.fields("en") != sentence.fields("zh") or not sentence.en or not sentence.zh
    ]
    assert wrong == []


def test_no_sentence_names_a_file_that_is_only_in_a_clone() -> None:
    wrong = [
        (module.__name__, name)
        for module in _modules()
        for name, value in vars(module).items()
        for sentence in _sentences(value)
        if re.search(r"\bdocs/|\.example\.toml", sentence.en + sentence.zh)
    ]
    assert wrong == []


def test_every_page_that_a_sentence_names_can_be_shown() -> None:
    named = {
        topic
        for module in _modules()
        for value in vars(module).values()
        for sentence in _sentences(value)
        for topic in re.findall(r"codexbridge help ([a-z][a-z.-]*[a-z])", sentence.en + sentence.zh)
    }
    assert {"models", "admin", "config"} <= named
    assert named <= {
        *help_pages.topics(),
        *help_pages.EXAMPLES,
        help_pages.CONFIG,
        help_pages.MAN,
    }


def test_every_command_is_in_a_document() -> None:
    text = "\n".join(path.read_text(encoding="utf-8") for path in DOCS)
    missing = [
        name
        for name in codexbridge.COMMANDS
        if not re.search(rf"\b(codexbridge|make) {name}\b", text)
    ]
    assert missing == []


def test_every_document_for_people_exists_in_both_languages() -> None:
    english = {path.name for path in (ROOT / "docs" / "how-to").glob("*.md")}
    chinese = {name for name in english if name.endswith(".zh-CN.md")}
    assert {name.replace(".zh-CN.md", ".md") for name in chinese} == english - chinese
    assert (ROOT / "README.zh-CN.md").exists()


@pytest.mark.requirement("NL-13")
@pytest.mark.parametrize(
    ("model", "file"),
    [(GatewaySettings, "gateway.example.toml"), (AgentSettings, "agent.example.toml")],
)
def test_every_setting_stands_in_its_example(model: type[BaseModel], file: str) -> None:
    text = (ROOT / "config" / file).read_text(encoding="utf-8")
    missing = [name for name in _setting_names(model) if not re.search(rf"\b{name}\b", text)]
    assert missing == []
    tomllib.loads(text)


def _setting_names(model: type[BaseModel]) -> Iterator[str]:
    for name, field in model.model_fields.items():
        kind = field.annotation
        if isinstance(kind, type) and issubclass(kind, BaseModel):
            yield from _setting_names(kind)
        elif name == "models":
            yield from (name, *ModelSettings.model_fields)
        elif kind is not SecretStr:
            yield name


@pytest.mark.parametrize("name", ["models.md", "models.zh-CN.md"])
def test_the_models_of_the_how_to_can_be_configured_as_they_stand(
    name: str, tmp_path: Path
) -> None:
    text = (ROOT / "docs" / "how-to" / name).read_text(encoding="utf-8")
    blocks = re.findall(r"```toml\n(.*?)```", text, re.DOTALL)
    table = tomllib.loads("\n".join(sorted(blocks, key=lambda block: block.startswith("["))))
    settings = AgentSettings(**table)
    assert settings.asked_model == "deepseek"
    assert {model.kind for model in settings.models.values()} == {"http", "codex", "acp"}
    keys = ModelKeys(FileKeystore(tmp_path))
    around = Around(places=Home(*[tmp_path] * 3), environ={}, workspaces=tuple, contain=_contain)
    Models(settings, keys=keys, around=around)


@pytest.mark.parametrize("name", ["playbooks.md", "playbooks.zh-CN.md"])
def test_the_playbook_of_the_how_to_can_be_run_as_it_stands(name: str) -> None:
    text = (ROOT / "docs" / "how-to" / name).read_text(encoding="utf-8")
    (written,) = re.findall(r"```yaml\n(.*?)```", text, re.DOTALL)
    assert parse_playbook(written.encode(), name).name == "todos"


@pytest.mark.parametrize("name", ["playbooks.md", "playbooks.zh-CN.md"])
def test_every_shipped_playbook_and_every_tool_is_in_the_how_to(name: str) -> None:
    text = (ROOT / "docs" / "how-to" / name).read_text(encoding="utf-8")
    known = [*TOOLS, *(file.stem for file in SHIPPED.glob("*.md"))]
    assert [one for one in known if f"| `{one}` |" not in text] == []


def _contain(*_: object, **_facts: object) -> tuple[list[str], bytes]:
    raise AssertionError


def test_links_between_documents_lead_somewhere() -> None:
    broken = [
        (path.name, target)
        for path in [*ROOT.glob("*.md"), *(ROOT / "docs").rglob("*.md")]
        for target in re.findall(r"\]\(([^)#]+)\)", path.read_text(encoding="utf-8"))
        if "://" not in target and not (path.parent / target).exists()
    ]
    assert broken == []


def test_every_path_of_the_code_that_a_document_names_is_there() -> None:
    """From the top, with or without `.py`; or shortened (`http/edits.py`), then with it."""
    documents = [
        *ROOT.glob("*.md"),
        *(ROOT / "docs").glob("*.md"),
        *(ROOT / "docs" / "adr").glob("*"),
        ROOT / "bench" / "README.md",
    ]
    missing = [
        (document.name, path)
        for document in documents
        if document.name != "CHANGELOG.md"  # which tells what was
        for named in re.findall(
            r"`([\w.{*][\w./{},*-]*/[\w./{},*-]*)`", document.read_text(encoding="utf-8")
        )
        for path in _spread(named)
        if not _is_there(path.rstrip("/"))
    ]
    assert missing == []


def _spread(path: str) -> list[str]:
    """Return the paths that one with braces stands for."""
    before, brace, rest = path.partition("{")
    inside, _, after = rest.partition("}")
    return (
        [before + one + end for one in inside.split(",") for end in _spread(after)]
        if brace
        else [path]
    )


def _is_there(path: str) -> bool:
    if path.partition("/")[0] in CODE:
        return any(ROOT.glob(path)) or any(ROOT.glob(f"{path}.py"))
    return not path.endswith(".py") or any(next((ROOT / top).rglob(path), None) for top in CODE)


def test_the_two_commands_are_in_the_readme_and_in_the_makefile() -> None:
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    makefile = (ROOT / "Makefile").read_text(encoding="utf-8")
    for command in ("demo", "test"):
        assert f"make {command}" in readme
        assert re.search(rf"(?m)^{command}:", makefile)


@pytest.mark.parametrize("name", ["README.md", "README.zh-CN.md"])
def test_the_readme_begins_with_installing_and_commands_that_there_are(name: str) -> None:
    readme = (ROOT / name).read_text(encoding="utf-8")
    install, first, *_ = re.findall(r"(?ms)^```\n((?:pipx|codexbridge|make) .*?)^```", readme)
    assert install.startswith("pipx install .")
    typed = [line.split("#")[0].split() for line in first.splitlines()]
    assert len(typed) == 3
    for _, *command in typed:
        assert codexbridge.main([*command, "--help"]) == 0


@pytest.mark.parametrize("lang", ["en", "zh"])
def test_the_reference_is_what_the_parsers_and_settings_say(lang: Lang) -> None:
    written = reference.FILES[lang].read_text(encoding="utf-8")
    assert written == reference.render(lang), "run: make reference"


@pytest.mark.parametrize("lang", ["en", "zh"])
def test_the_manual_page_is_what_the_parsers_say(lang: Lang) -> None:
    written = reference.MANUALS[lang].read_text(encoding="utf-8")
    assert written == manual(lang), "run: make reference"
    for command in codexbridge.COMMANDS.values():
        assert f"\n\\fBcodexbridge {command.name}\\fR\n" in written


@pytest.mark.needs("mandoc")
@pytest.mark.parametrize("lang", ["en", "zh"])
def test_man_can_show_the_manual_page(lang: Lang) -> None:
    page = reference.MANUALS[lang]
    # It has no date: it is of the version that it came with.
    told = subprocess.run(
        ["mandoc", "-T", "lint", "-W", "warning", page],
        capture_output=True,
        encoding="utf-8",
        check=False,
    )
    complaints = [line for line in told.stdout.splitlines() if "missing date" not in line]
    assert complaints == []
    shown = subprocess.run(
        ["mandoc", "-T", "utf8", page], capture_output=True, encoding="utf-8", check=True
    )
    text = re.sub(r".\x08", "", shown.stdout)  # bold is a letter struck twice
    assert "codexbridge gateway member add" in text
    assert "--config FILE" in text
    assert "`" not in text
