"""What each language's own tool runs where no task runner names it.  Pure; one table."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Final

from local_agent.workspace.project.model import Folder, Goal, Narrowing, Recipe
from local_agent.workspace.project.runners import package_manager

_MANY: Final = 10  # solutions of .NET; of more none is meant
CMAKE_CACHES: Final = tuple(
    f"{folder}/CMakeCache.txt"
    for folder in ("build", "out", "cmake-build-debug", "cmake-build-release")
)


@dataclass(frozen=True, slots=True)
class _Tool:
    """The commands of one ecosystem.

    Attributes:
        files: One of them tells that it is used.
        argv: Of each goal, its words with a blank between.
        narrows: How its tests are narrowed.
    """

    files: tuple[str, ...]
    argv: Mapping[Goal, str]
    narrows: Narrowing = "none"


# fmt: off
_TOOLS: Final = (
    _Tool(("Cargo.toml",), {
        "test": "cargo test", "build": "cargo build", "lint": "cargo clippy",
        "format": "cargo fmt", "format-check": "cargo fmt --check",
        "typecheck": "cargo check", "check": "cargo check",
    }, "cargo"),
    _Tool(("go.mod",), {
        "test": "go test ./...", "build": "go build ./...", "lint": "go vet ./...",
        "format": "gofmt -w .", "format-check": "gofmt -l .",
        "typecheck": "go build ./...", "check": "go vet ./...",
    }, "go"),
    _Tool(("mvnw", "pom.xml"), {"test": "mvn test", "build": "mvn package", "check": "mvn verify"}),
    _Tool(("gradlew", "build.gradle", "build.gradle.kts"), {
        "test": "gradle test", "build": "gradle build", "check": "gradle check",
    }),
    _Tool((".rspec",), {"test": "bundle exec rspec"}, "paths"),
    _Tool(("Rakefile",), {"test": "bundle exec rake test"}),
    _Tool((".rubocop.yml",), {
        "lint": "bundle exec rubocop", "format": "bundle exec rubocop -a",
        "format-check": "bundle exec rubocop",
    }),
    _Tool(("phpunit.xml", "phpunit.xml.dist"), {"test": "vendor/bin/phpunit"}),
    _Tool(("mix.exs",), {
        "test": "mix test", "build": "mix compile", "format": "mix format",
        "format-check": "mix format --check-formatted",
    }, "paths"),
    _Tool(("deno.json", "deno.jsonc"), {
        "test": "deno test", "lint": "deno lint", "format": "deno fmt",
        "format-check": "deno fmt --check", "typecheck": "deno check .", "check": "deno check .",
    }, "paths"),
    _Tool(("Package.swift",), {"test": "swift test", "build": "swift build"}),
    _Tool(("build.zig",), {"test": "zig build test", "build": "zig build"}),
    _Tool(("stack.yaml",), {"test": "stack test", "build": "stack build"}),
)
# Programs of node_modules, by the package that brings them; npx is kept from fetching any.
_PACKAGES: Final[Mapping[Goal, tuple[tuple[str, str], ...]]] = {
    "test": (("vitest", "vitest run"), ("jest", "jest")),
    "lint": (("eslint", "eslint ."),),
    "typecheck": (("typescript", "tsc --noEmit"),),
    "format": (("prettier", "prettier --write ."),),
    "format-check": (("prettier", "prettier --check ."),),
}
# fmt: on
# A wrapper that lies in the project stands for the program.
_WRAPPERS: Final = ("mvnw", "gradlew")
_AFTER_PROGRAM: Final = {
    "make": "-C",
    "task": "-d",
    "npm": "--prefix",
    "pnpm": "--dir",
    "yarn": "--cwd",
    "bun": "--cwd",
    "uv": "--directory",
    "poetry": "--directory",
    "mvn": "-f",
    "gradle": "-p",
}


def usual(folder: Folder, goal: Goal) -> list[Recipe]:
    """Return what the tools of its languages would run, one for each that is set up."""
    found = [*_python(folder, goal), *_packages(folder, goal), *_dotnet(folder, goal)]
    found += _cmake(folder, goal)
    for tool in _TOOLS:
        file = folder.has(*tool.files)
        if file and goal in tool.argv:
            narrows: Narrowing = tool.narrows if goal == "test" else "none"
            program, *rest = tool.argv[goal].split()
            program = f"./{file}" if file in _WRAPPERS else program
            argv = (program, *rest)
            found.append(Recipe(argv, folder.at(file), program, narrows, folder.path))
    return found


def into(recipe: Recipe) -> Recipe | None:
    """Return a recipe of a folder below as it runs from the top; None where it cannot."""
    argv, at = recipe.argv, recipe.folder
    if not at:
        return recipe
    program, rest = argv[0], argv[1:]
    if program in _AFTER_PROGRAM:
        argv = (program, _AFTER_PROGRAM[program], at, *rest)
    elif program == "cargo":
        argv = (program, rest[0], "--manifest-path", f"{at}/Cargo.toml", *rest[1:])
    elif program == "go":
        argv = (program, rest[0], "-C", at, *rest[1:])
    elif argv[:3] == ("python", "-m", "pytest"):
        argv = (*argv, at)
    else:
        return None
    return replace(recipe, argv=argv, narrows="none")


def _packages(folder: Folder, goal: Goal) -> Iterator[Recipe]:
    if folder.path:
        return
    bring = ("dependencies", "devDependencies")
    wanted = {name for key in bring for name in folder.table("package.json", key)}
    run = {"pnpm": "pnpm exec", "yarn": "yarn run", "bun": "bunx --no-install"}
    launch = run.get(package_manager(folder), "npx --no-install")
    for package, argv in _PACKAGES.get(goal, ()):
        if package in wanted:
            narrows: Narrowing = "paths" if goal == "test" else "none"
            words = (*launch.split(), *argv.split())
            yield Recipe(words, "package.json", package, narrows)
            return


def _dotnet(folder: Folder, goal: Goal) -> Iterator[Recipe]:
    argv = {
        "test": "test",
        "build": "build",
        "format": "format",
        "format-check": "format --verify-no-changes",
    }
    named = sorted(name for name in folder.names if name.endswith((".sln", ".slnx")))
    if goal not in argv or len(named) > _MANY:
        return
    verb, *rest = argv[goal].split()
    for name in named:
        which = (name,) if len(named) > 1 else ()
        yield _recipe(folder, ("dotnet", verb, *which, *rest), name, "dotnet")


def _cmake(folder: Folder, goal: Goal) -> Iterator[Recipe]:
    made = folder.has(*CMAKE_CACHES).partition("/")[0]
    argv = {"test": ("ctest", "--test-dir"), "build": ("cmake", "--build")}.get(goal)
    if argv and made and "CMakeLists.txt" in folder.names and not folder.path:
        yield Recipe((*argv, made), "CMakeLists.txt", argv[0])


# --- Python, by what its files configure -----------------------------------------------------

# Whoever keeps the lock file starts the tools, with what the lock file names.
PYTHON_LOCKS: Final = {
    "uv.lock": "uv",
    "poetry.lock": "poetry",
    "pdm.lock": "pdm",
    "Pipfile.lock": "pipenv",
}
PYTHON_SECTIONS: Final = ("setup.cfg", "tox.ini")


def _python(folder: Folder, goal: Goal) -> Iterator[Recipe]:
    """Give what tests, checks or builds it; more than one only where several are set up alike."""
    match goal:
        case "test":
            yield from _python_tests(folder)
        case "lint":
            yield from _python_tool(folder, "ruff", ("check", "."), "ruff.toml", ".ruff.toml")
            yield from _python_tool(folder, "flake8", (), ".flake8")
        case "format" | "format-check":
            yield from _python_formats(folder, goal)
        case "typecheck":
            mypy = folder.table("pyproject.toml", "tool", "mypy")
            every = () if mypy.keys() & {"files", "packages", "modules"} else (".",)
            yield from _python_tool(folder, "mypy", every, "mypy.ini", ".mypy.ini")
            yield from _python_tool(folder, "pyright", (), "pyrightconfig.json")
        case "build" if folder.table("pyproject.toml", "build-system"):
            launch = _python_launch(folder)
            builds = launch and launch[0] != "pipenv"
            argv = (launch[0], "build") if builds else ("python", "-m", "build")
            yield _recipe(folder, argv, "pyproject.toml", "[build-system]")


def _python_tests(folder: Folder) -> Iterator[Recipe]:
    launch = _python_launch(folder)
    found = _python_configured(folder, "pytest", "pytest.ini", "conftest.py")
    if not found:
        for file, words in (
            ("noxfile.py", "nox"),
            ("tox.ini", "tox"),
            ("manage.py", "python manage.py test"),
        ):
            if file in folder.names:
                yield _recipe(folder, (*launch, *words.split()), file, words)
                return
        if not folder.tests:
            return
        found = (folder.has("tests", "test") or "test_*.py", "pytest")
    file, what = found
    argv = (*launch, "pytest") if launch else ("python", "-m", "pytest")
    yield Recipe(argv, folder.at(file), what, "pytest", folder.path)


def _python_formats(folder: Folder, goal: Goal) -> Iterator[Recipe]:
    checks = goal == "format-check"
    if _python_configured(folder, "black"):
        yield from _python_tool(folder, "black", ("--check", ".") if checks else (".",))
    else:
        argv = ("format", "--check", ".") if checks else ("format", ".")
        yield from _python_tool(folder, "ruff", argv, "ruff.toml", ".ruff.toml")


def _python_tool(folder: Folder, name: str, argv: tuple[str, ...], *files: str) -> Iterator[Recipe]:
    if found := _python_configured(folder, name, *files):
        yield _recipe(folder, (*_python_launch(folder), name, *argv), *found)


def _recipe(folder: Folder, argv: tuple[str, ...], file: str, what: str) -> Recipe:
    return Recipe(argv, folder.at(file), what, folder=folder.path)


def _python_configured(folder: Folder, tool: str, *files: str) -> tuple[str, str] | None:
    """Return the file that sets a tool up and what in it does; None where none does."""
    if folder.table("pyproject.toml", "tool", tool):
        return "pyproject.toml", f"[tool.{tool}]"
    if name := folder.has(*files):
        return name, tool
    heading = re.compile(rf"^\[(?:tool:)?{tool}\]", re.MULTILINE)
    for name in PYTHON_SECTIONS:
        if heading.search(folder.texts.get(name, "")):
            return name, f"[{tool}]"
    return None


def _python_launch(folder: Folder) -> tuple[str, ...]:
    lock = folder.has(*PYTHON_LOCKS)
    return (PYTHON_LOCKS[lock], "run") if lock else ()
