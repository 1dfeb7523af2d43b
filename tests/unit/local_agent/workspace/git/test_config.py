"""Where git takes hooks from: what is configured, and what its own folder links to."""

from __future__ import annotations

from pathlib import Path

import pygit2
import pytest

from local_agent.workspace.git.config import hook_places, is_hook

pytestmark = pytest.mark.requirement("R38", "R47")


@pytest.fixture
def repository(tmp_path: Path) -> pygit2.Repository:
    path = tmp_path.resolve() / "project"
    (path / "tools/hooks").mkdir(parents=True)
    (path / "link").symlink_to("tools")
    (path / "circle").symlink_to("circle")
    return pygit2.init_repository(str(path))


def _places(repository: pygit2.Repository) -> tuple[str, ...]:
    return hook_places(Path(repository.workdir).resolve())


@pytest.mark.parametrize(
    ("value", "places"),
    [
        ("tools/hooks", ("tools/hooks",)),
        ("./tools/x/../hooks/", ("tools/hooks",)),
        ("{path}/tools/hooks", ("tools/hooks",)),
        ("link", ("link", "tools")),
        ("link/hooks", ("tools/hooks",)),
        ("not/there", ("not/there",)),
        (".", ()),
        ("..", ()),
        ("circle/x", ("circle/x",)),
        (".git/hooks", ()),
        ("/etc", ()),
        ("~nobody-of-this-name/x", ("~nobody-of-this-name/x",)),
    ],
)
def test_a_configured_folder_in_the_workspace(
    repository: pygit2.Repository, value: str, places: tuple[str, ...]
) -> None:
    repository.config["core.hooksPath"] = value.format(path=repository.workdir.rstrip("/"))
    assert _places(repository) == places


def test_a_hook_that_is_a_link_into_the_workspace(repository: pygit2.Repository) -> None:
    hooks = Path(repository.path) / "hooks"
    hooks.mkdir(exist_ok=True)
    (hooks / "pre-commit").symlink_to("../../link/check.sh")
    (hooks / "pre-push").symlink_to("/bin/true")
    assert _places(repository) == ("tools/check.sh",)


def test_a_folder_of_hooks_that_is_a_link(repository: pygit2.Repository) -> None:
    hooks = Path(repository.path) / "hooks"
    if hooks.exists():
        hooks.rename(hooks.with_name("hooks.old"))
    hooks.symlink_to("../tools/hooks")
    assert _places(repository) == ("tools/hooks",)


def test_what_libgit2_cannot_open_may_have_hooks_all_the_same(
    repository: pygit2.Repository,
) -> None:
    """Git itself may read it, as one by SHA-256."""
    (Path(repository.path) / "hooks").mkdir(exist_ok=True)
    (Path(repository.path) / "hooks/pre-push").symlink_to("../../link/check.sh")
    with (Path(repository.path) / "config").open("a", encoding="utf-8") as config:
        config.write('[extensions]\n\tobjectFormat = sha256\n[core]\n\tHooksPath = "tools/hooks"\n')
        config.write("\trepositoryFormatVersion = 1\n# hookspath = not/this\n")
        config.write('\thooksPath = to"ol"s/ho\\\noks2 # mine\n\thooksPath = hooks3; mine\n')
    places = ("hooks3", "tools/check.sh", "tools/hooks", "tools/hooks2")
    assert _places(repository) == places


def test_without_any_there_are_none(repository: pygit2.Repository, tmp_path: Path) -> None:
    assert _places(repository) == ()
    assert hook_places(tmp_path.resolve()) == ()


def test_what_lies_in_such_a_place_is_a_hook() -> None:
    assert is_hook("tools", ("tools",))
    assert is_hook("tools/hooks/x", ("a", "tools"))
    assert not is_hook("tools2", ("tools",))
