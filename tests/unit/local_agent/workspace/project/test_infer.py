"""What is run for a wish without a command, by real project files in a folder."""

from __future__ import annotations

import json
import time
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from local_agent.workspace.paths import Reader, open_root
from local_agent.workspace.project.infer import MAX_FILE_BYTES, Desk, choose, infer
from local_agent.workspace.project.model import Goal, Inference, Wish
from local_agent.workspace.registry import Workspace
from tests.hostile_repository import make_hostile_repository

Files = dict[str, str]
PYTEST = {"pyproject.toml": "[tool.pytest.ini_options]\naddopts = '-q'\n"}
TASKS = """\
version: "3"
vars: {TEST: 1}
tasks:
  # test: not this
  build: {requires: {vars: [NAME]}}
  test:
    desc: all of them
    cmds: [go test ./...]
  "format:check":
    cmds: [gofmt -l .]
  lint:
    internal: true
    cmds: [x]
includes:
  check: ./other
"""
PRESETS = {
    "CMakeLists.txt": "enable_testing()\n",
    "CMakePresets.json": json.dumps(
        {
            "version": 6,
            "buildPresets": [{"name": "debug", "configurePreset": "default"}],
            "testPresets": [
                {"name": "base", "hidden": True},
                {"name": "default", "configurePreset": "default"},
                {"name": "--output-log=/tmp/x"},
                {"name": "a b; rm"},
                7,
            ],
        }
    ),
}


def package(**scripts: str) -> Files:
    return {"package.json": json.dumps({"name": "shop", "scripts": scripts})}


def placed(folder: Path, files: Files) -> Workspace:
    for name, text in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    return Workspace(name="shop", path=folder.resolve())


async def inferred(
    folder: Path, files: Files, goal: Goal = "test", only: str = "", given: tuple[str, ...] = ()
) -> Inference:
    return await infer(placed(folder, files), Wish(goal, only, given))


def commands(found: Inference) -> list[str]:
    return [" ".join(recipe.argv) for recipe in found.recipes]


@pytest.mark.parametrize(
    ("files", "goal", "command", "because"),
    [
        (PYTEST, "test", "python -m pytest", "pyproject.toml"),
        ({"tests/test_a.py": ""}, "test", "python -m pytest", "tests"),
        (PYTEST | {"uv.lock": "x"}, "test", "uv run pytest", "pyproject.toml"),
        ({"conftest.py": "", "poetry.lock": "x"}, "test", "poetry run pytest", "conftest.py"),
        ({"tox.ini": "[tox]\nenvlist = py311\n"}, "test", "tox", "tox.ini"),
        ({"tox.ini": "[pytest]\n"}, "test", "python -m pytest", "tox.ini"),
        ({"setup.cfg": "[tool:pytest]\n"}, "test", "python -m pytest", "setup.cfg"),
        ({"noxfile.py": "", "tests/test_a.py": ""}, "test", "nox", "noxfile.py"),
        ({"manage.py": ""}, "test", "python manage.py test", "manage.py"),
        ({"pyproject.toml": "[tool.ruff]\nline-length=9\n"}, "lint", "ruff check .", None),
        ({".flake8": "[flake8]\n"}, "lint", "flake8", ".flake8"),
        ({"ruff.toml": ""}, "format", "ruff format .", "ruff.toml"),
        ({"ruff.toml": ""}, "format-check", "ruff format --check .", "ruff.toml"),
        ({"pyproject.toml": "[tool.black]\na=1\n[tool.ruff]\nb=1"}, "format", "black .", None),
        ({"mypy.ini": "[mypy]\n"}, "typecheck", "mypy .", "mypy.ini"),
        ({"pyproject.toml": "[tool.mypy]\nfiles=['a']\n"}, "typecheck", "mypy", None),
        ({"pyproject.toml": "[build-system]\nrequires=[]\n"}, "build", "python -m build", None),
        (package(test="vitest run"), "test", "npm test", "package.json"),
        (package(test="jest") | {"pnpm-lock.yaml": "x"}, "test", "pnpm test", "package.json"),
        (package(test="jest") | {"yarn.lock": "x"}, "test", "yarn test", "package.json"),
        (package(test="x") | {"bun.lockb": "x"}, "test", "bun run test", "package.json"),
        (package(build="vite build"), "build", "npm run build", "package.json"),
        (package(**{"type-check": "tsc"}), "typecheck", "npm run type-check", "package.json"),
        (package(**{"format:check": "x"}), "format-check", "npm run format:check", None),
        (
            package(test="react-scripts test"),
            "test",
            "npm test -- --watchAll=false",
            "package.json",
        ),
        (
            {"package.json": '{"devDependencies": {"typescript": "5"}}'},
            "typecheck",
            "npx --no-install tsc --noEmit",
            "package.json",
        ),
        ({"Makefile": "build test: deps\n\t@true\n"}, "test", "make test", "Makefile"),
        ({"Makefile": "check:\n\t@true\n"}, "test", "make check", "Makefile"),
        ({"Makefile": "all: app\n"}, "build", "make all", "Makefile"),
        ({"Makefile": "lint : x\n", ".flake8": ""}, "lint", "make lint", "Makefile"),
        ({"justfile": "@test *args:\n  x\n"}, "test", "just test", "justfile"),
        ({"Taskfile.yml": TASKS}, "test", "task test", "Taskfile.yml"),
        ({"taskfile.yaml": TASKS}, "format-check", "task format:check", "taskfile.yaml"),
        (PRESETS, "test", "ctest --preset default", "CMakePresets.json"),
        (PRESETS, "build", "cmake --build --preset debug", "CMakePresets.json"),
        ({"api/Taskfile.yml": TASKS}, "test", "task -d api test", "api/Taskfile.yml"),
        ({"Cargo.toml": "[package]\n"}, "test", "cargo test", "Cargo.toml"),
        ({"Cargo.toml": "[package]\n"}, "lint", "cargo clippy", "Cargo.toml"),
        ({"Cargo.toml": ""}, "format-check", "cargo fmt --check", "Cargo.toml"),
        ({"go.mod": "module x\n"}, "test", "go test ./...", "go.mod"),
        ({"go.mod": "module x\n"}, "build", "go build ./...", "go.mod"),
        ({"pom.xml": "<p/>"}, "test", "mvn test", "pom.xml"),
        ({"pom.xml": "<p/>", "mvnw": "#!"}, "test", "./mvnw test", "mvnw"),
        ({"build.gradle.kts": "", "gradlew": ""}, "build", "./gradlew build", "gradlew"),
        (
            {"CMakeLists.txt": "", "build/CMakeCache.txt": "x"},
            "test",
            "ctest --test-dir build",
            None,
        ),
        (
            {"CMakeLists.txt": "", "out/CMakeCache.txt": "x"},
            "build",
            "cmake --build out",
            "CMakeLists.txt",
        ),
        ({".rspec": "", "Gemfile": ""}, "test", "bundle exec rspec", ".rspec"),
        ({"composer.json": '{"scripts": {"test": "x"}}'}, "test", "composer run-script test", None),
        ({"mix.exs": ""}, "test", "mix test", "mix.exs"),
        ({"shop.sln": ""}, "test", "dotnet test", "shop.sln"),
        ({"deno.json": "{}"}, "test", "deno test", "deno.json"),
        ({"deno.json": '{"tasks": {"test": "x"}}'}, "test", "deno task test", "deno.json"),
        (
            {"pyproject.toml": "[tool.hatch.envs.default.scripts]\ntest = 'x'\n"},
            "test",
            "hatch run test",
            "pyproject.toml",
        ),
    ],
)
async def test_the_command_is_what_the_project_itself_would_run(
    tmp_path: Path, files: Files, goal: Goal, command: str, because: str | None
) -> None:
    found = await inferred(tmp_path, files, goal)
    assert commands(found) == [command]
    assert because in (None, found.recipes[0].because)
    assert found.recipes[0].what
    assert found.ignored == ()


async def test_a_runner_with_that_name_comes_before_the_tool_of_the_language(
    tmp_path: Path,
) -> None:
    assert commands(await inferred(tmp_path, PYTEST | {"Makefile": "test:\n"})) == ["make test"]


async def test_of_equally_good_ones_none_is_chosen(tmp_path: Path) -> None:
    both = await inferred(tmp_path / "a", {"Makefile": "test:\n"} | package(test="jest"))
    assert commands(both) == ["make test", "npm test"]
    two = await inferred(tmp_path / "b", {"Cargo.toml": "", "go.mod": ""})
    assert commands(two) == ["cargo test", "go test ./..."]


async def test_nothing_is_made_up(tmp_path: Path) -> None:
    assert (await inferred(tmp_path, {"README.md": "run npm test"})).recipes == ()
    assert (await inferred(tmp_path, PYTEST, "build")).recipes == ()


# --- several projects --------------------------------------------------------------------------

SEVERAL = {
    "backend/pyproject.toml": PYTEST["pyproject.toml"],
    "backend/tests/test_login.py": "",
    "web/package.json": json.dumps({"scripts": {"test": "vitest run", "build": "vite build"}}),
}


async def test_the_projects_of_a_monorepo_are_told_and_none_is_chosen(tmp_path: Path) -> None:
    found = await inferred(tmp_path, SEVERAL)
    assert commands(found) == ["python -m pytest backend", "npm --prefix web test"]
    assert [one.because for one in found.recipes] == ["backend/pyproject.toml", "web/package.json"]


async def test_the_one_that_is_named_is_meant(tmp_path: Path) -> None:
    found = await inferred(tmp_path, SEVERAL, only="web")
    assert (commands(found), found.narrowed) == (["npm --prefix web test"], True)


async def test_the_only_one_is_meant(tmp_path: Path) -> None:
    assert commands(await inferred(tmp_path, SEVERAL, "build")) == ["npm --prefix web run build"]


@pytest.mark.parametrize(
    ("file", "command"),
    [
        ("Cargo.toml", "cargo test --manifest-path core/Cargo.toml"),
        ("go.mod", "go test -C core ./..."),
        ("pom.xml", "mvn -f core test"),
    ],
)
async def test_each_tool_is_told_the_folder_in_its_own_way(
    tmp_path: Path, file: str, command: str
) -> None:
    assert commands(await inferred(tmp_path, {f"core/{file}": ""})) == [command]


async def test_a_tool_that_cannot_be_told_a_folder_is_not_run_there(tmp_path: Path) -> None:
    assert (await inferred(tmp_path, {"core/mix.exs": ""})).recipes == ()


async def test_an_empty_lock_file_is_one(tmp_path: Path) -> None:
    assert commands(await inferred(tmp_path, PYTEST | {"uv.lock": ""})) == ["uv run pytest"]


async def test_a_recipe_that_needs_arguments_is_no_answer(tmp_path: Path) -> None:
    found = await inferred(tmp_path, {"justfile": "test name:\n  x\nlint:\n  y\n"})
    assert found.recipes == ()


async def test_examples_and_fixtures_are_no_projects(tmp_path: Path) -> None:
    files = {"examples/a/package.json": json.dumps({"scripts": {"test": "jest"}})}
    assert (await inferred(tmp_path, files)).recipes == ()


# --- a part of the tests -----------------------------------------------------------------------

LOGIN = {"tests/api/test_login.py": "", "tests/test_cart.py": "", "src/cart.py": ""}


@pytest.mark.parametrize(
    ("only", "rest"),
    [
        ("tests/api", "tests/api"),
        ("tests/api/", "tests/api"),
        ("tests/test_cart.py", "tests/test_cart.py"),
        ("test_cart.py", "tests/test_cart.py"),
        ("login", "tests/api/test_login.py"),
        ("login 模块", "tests/api/test_login.py"),
        ("login模块", "tests/api/test_login.py"),
        ("src/cart.py", "tests/test_cart.py"),
        ("uh just the ones for cart", "tests/test_cart.py"),
        ("login and cart", "tests/api/test_login.py tests/test_cart.py"),
        ("tests/test_cart.py::TestCart::test_x[a-1]", None),
        ("failed", "--last-failed"),
        ("失败的", "--last-failed"),
    ],
)
async def test_a_part_that_is_there_is_run_alone(
    tmp_path: Path, only: str, rest: str | None
) -> None:
    found = await inferred(tmp_path, PYTEST | LOGIN, only=only)
    assert found.narrowed
    assert commands(found) == [f"python -m pytest {only if rest is None else rest}"]


@pytest.mark.parametrize(
    "only", ["billing", "login and billing", "tests/none.py", "登录", "../etc", "tests/../..", "*"]
)
async def test_what_is_not_all_there_narrows_nothing(tmp_path: Path, only: str) -> None:
    found = await inferred(tmp_path, PYTEST | LOGIN, only=only)
    assert (commands(found), found.narrowed) == (["python -m pytest"], False)


@pytest.mark.parametrize(
    ("files", "only", "command"),
    [
        (package(test="vitest run --coverage"), "src/pay.test.ts", "npm test -- src/pay.test.ts"),
        (package(test="NODE_ENV=test jest"), "pay", "npm test -- src/pay.test.ts"),
        (package(test="jest") | {"yarn.lock": "x"}, "src", "yarn test src"),
        ({"go.mod": ""}, "src", "go test ./src/..."),
        ({"go.mod": "", "src/pay_test.go": ""}, "src/pay_test.go", "go test ./src"),
        (
            {"go.mod": "", "tests/pay/a_test.go": "", "lib/test_pay.py": ""},
            "pay",
            "go test ./tests/pay/...",
        ),
        ({"Cargo.toml": "", "tests/pay.rs": ""}, "tests/pay.rs", "cargo test --test pay"),
    ],
)
async def test_each_runner_is_narrowed_in_its_own_way(
    tmp_path: Path, files: Files, only: str, command: str
) -> None:
    known = (
        {"src/a.test.ts": "", "src/pay.test.ts": ""}
        if "package.json" in files
        else {"src/a.go": ""}
    )
    found = await inferred(tmp_path, known | files, only=only)
    assert (commands(found), found.narrowed) == ([command], True)


@pytest.mark.parametrize(
    "script", ["jest && eslint .", "jest src", "mocha", "node run.js", "x" * 9999]
)
async def test_a_script_that_would_lose_the_path_is_not_narrowed(
    tmp_path: Path, script: str
) -> None:
    found = await inferred(tmp_path, {"src/a.test.ts": ""} | package(test=script), only="src")
    assert (commands(found), found.narrowed) == (["npm test"], False)


async def test_where_a_task_runner_takes_no_path_the_tool_behind_it_does(tmp_path: Path) -> None:
    files = PYTEST | LOGIN | {"Makefile": "test:\n"}
    found = await inferred(tmp_path, files, only="tests/api")
    assert (commands(found), found.narrowed) == (["python -m pytest tests/api"], True)
    unknown = await inferred(tmp_path, files, only="billing")
    assert (commands(unknown), unknown.narrowed) == (["make test"], False)


@pytest.mark.parametrize(
    ("given", "narrowed"),
    [
        (("pytest", "-q"), "pytest -q tests/api"),
        (("uv", "run", "pytest"), "uv run pytest tests/api"),
        ((".venv/bin/pytest",), ".venv/bin/pytest tests/api"),
        (("go", "test", "./..."), "go test ./tests/api/..."),
        (("cargo", "test"), None),
        (("pytest", "tests"), None),
        (("pytest", "-n", "4"), None),
        (("make", "test"), None),
        (("npm", "test"), None),
    ],
)
async def test_a_persons_own_command_is_narrowed_only_where_that_is_sure(
    tmp_path: Path, given: tuple[str, ...], narrowed: str | None
) -> None:
    files = LOGIN | {"tests/api/login_test.go": ""}
    found = await inferred(tmp_path, files, only="tests/api", given=given)
    assert commands(found) == [narrowed or " ".join(given)]
    assert found.narrowed == (narrowed is not None)


async def test_a_file_that_looks_like_a_switch_is_no_switch(tmp_path: Path) -> None:
    found = await inferred(tmp_path, PYTEST | {"-x/test_a.py": ""}, only="-x")
    assert commands(found) == ["python -m pytest ./-x"]


# --- hostile and broken files ------------------------------------------------------------------


@pytest.mark.requirement("R52")
@pytest.mark.parametrize(
    ("name", "text", "why"),
    [
        ("package.json", '{"scripts": ' + "x" * MAX_FILE_BYTES, "too-large"),
        ("package.json", "[" * 50_000, "malformed"),
        ("package.json", '{"a":' * 40 + "1" + "}" * 40, "malformed"),
        ("package.json", "[]", "malformed"),
        ("package.json", '{"scripts": {"test": "a", "test": "b"}}', "malformed"),
        ("pyproject.toml", "a = " + "[" * 3000, "malformed"),
        ("pyproject.toml", "a." * 5000 + "b = 1", "malformed"),
        ("pyproject.toml", "no toml", "malformed"),
        ("Makefile", "test:\0\n", "unreadable"),
    ],
)
async def test_a_file_that_cannot_be_read_is_ignored_with_its_reason(
    tmp_path: Path, name: str, text: str, why: str
) -> None:
    begun = time.process_time()
    found = await inferred(tmp_path, {name: text})
    assert [(one.path, one.why) for one in found.ignored] == [(name, why)]
    assert found.recipes == ()
    assert time.process_time() - begun < 2


@pytest.mark.parametrize(
    "text",
    [
        '{"scripts": []}',
        '{"scripts": {"test": 1}}',
        '{"scripts": {"test": null}, "devDependencies": 3}',
        '{"scripts": {"test": "echo \\"Error: no test specified\\" && exit 1"}}',
    ],
)
async def test_a_file_that_says_nothing_of_use_gives_nothing(tmp_path: Path, text: str) -> None:
    assert (await inferred(tmp_path, {"package.json": text})).recipes == ()


@pytest.mark.parametrize("script", ["vitest --watch", "jest --watchAll", "nodemon x", "tsc -w"])
async def test_what_never_ends_is_not_proposed(tmp_path: Path, script: str) -> None:
    found = await inferred(tmp_path, package(test=script))
    assert found.recipes == ()
    assert [one.why for one in found.ignored] == ["does-not-end"]


async def test_bytes_that_are_no_text_are_ignored(tmp_path: Path) -> None:
    (tmp_path / "package.json").write_bytes(b'{"scripts": {"test": "\xff"}}')
    found = await infer(placed(tmp_path, {}), Wish("test"))
    assert [one.why for one in found.ignored] == ["malformed"]


@pytest.mark.requirement("R38")
async def test_nothing_of_a_hostile_project_runs_or_gets_into_the_command(tmp_path: Path) -> None:
    hostile = make_hostile_repository(tmp_path)
    workspace = Workspace(name="shop", path=hostile.path.resolve())
    found = await infer(workspace, Wish("test"))
    assert commands(found) == ["make test", "npm test"]
    assert hostile.sprung() == []


@pytest.mark.requirement("R52")
async def test_what_the_person_denies_is_not_asked(tmp_path: Path) -> None:
    workspace = placed(tmp_path, {"Makefile": "test:\n", ".codexbridgeignore": "Makefile\n"})
    assert (await infer(workspace, Wish("test"))).recipes == ()


async def test_a_link_is_no_project_file(tmp_path: Path) -> None:
    outside = tmp_path / "outside"
    outside.write_text("test:\n", encoding="utf-8")
    (tmp_path / "in").mkdir()
    (tmp_path / "in" / "Makefile").symlink_to(outside)
    assert (await infer(placed(tmp_path / "in", {}), Wish("test"))).recipes == ()


@given(
    goal=st.sampled_from(["test", "build", "lint", "format", "format-check", "typecheck", "check"]),
    only=st.text(max_size=60),
    makefile=st.text(max_size=200),
    script=st.text(max_size=80),
)
def test_no_words_and_no_content_raise(
    tmp_path_factory: pytest.TempPathFactory, goal: Goal, only: str, makefile: str, script: str
) -> None:
    folder = tmp_path_factory.mktemp("any")
    content = {"Makefile": makefile, "package.json": json.dumps({"scripts": {"test": script}})}
    for name, text in content.items():
        (folder / name).write_bytes(text.encode("utf-8", "replace"))
    with open_root(folder) as root, Reader(root) as reader:
        found = choose(Wish(goal, only), Desk(root, reader, ("Makefile", "package.json")))
    for recipe in found.recipes:
        assert recipe.argv[0] in ("make", "npm")
        assert len(recipe.argv) <= 4 or found.narrowed


async def test_a_task_that_cannot_run_alone_is_no_candidate(tmp_path: Path) -> None:
    """It is internal, it needs a value, it is another section's, or there is no list of tasks."""
    for goal in ("lint", "check", "build"):
        assert commands(await inferred(tmp_path, {"Taskfile.yml": TASKS}, goal)) == []
    requires = "tasks:\n  test:\n    requires:\n      vars: [NAME]\n    cmds: [x]\n"
    for text in (requires, "tasks: {test: x}\n", "tasks:\n", "", "test:\n  cmds: [x]\n"):
        assert commands(await inferred(tmp_path, {"Taskfile.yml": text})) == []


async def test_of_several_presets_a_person_chooses(tmp_path: Path) -> None:
    presets = {"testPresets": [{"name": "fast"}, {"name": "slow"}]}
    files = PRESETS | {"CMakePresets.json": json.dumps(presets)}
    assert commands(await inferred(tmp_path, files)) == [
        "ctest --preset fast",
        "ctest --preset slow",
    ]
    odd: object
    for odd in ([], {"testPresets": {}}, {"testPresets": "default"}):
        files = PRESETS | {"CMakePresets.json": json.dumps(odd)}
        assert commands(await inferred(tmp_path, files)) == []
