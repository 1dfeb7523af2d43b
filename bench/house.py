"""How large a checkout is, what stands twice in it, and how much of it one request passes through.

``python -m bench.house [CHECKOUT ...]`` counts the product's own Python.  With two checkouts, such
as before and after a change, their figures stand side by side.  A line of code is one that holds a
token which is neither a comment nor part of a docstring.  ``bench/request.py`` runs the requests,
with the checkout's own ``.venv`` if it has one; ``--static`` leaves them out.
"""

from __future__ import annotations

import argparse
import ast
import io
import json
import subprocess
import sys
import tokenize
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from bench.request import PRODUCT

SMALL: Final = 60  # lines of a file, as it stands
BLOCK: Final = 8  # lines of code that make a block; shorter ones repeat by chance
_SILENT: Final = frozenset(
    {
        *(tokenize.COMMENT, tokenize.NL, tokenize.NEWLINE, tokenize.INDENT, tokenize.DEDENT),
        *(tokenize.ENCODING, tokenize.ENDMARKER),
    }
)
# What a method can be given by name, and what it must be given; nothing for a property.
Parameters = tuple[frozenset[str], frozenset[str]]
# What a class has by name; None for an attribute, and for a method whose parameters tell nothing.
Members = dict[str, Parameters | None]
Places = list[tuple[str, tuple[int, ...]]]  # files, and numbers of lines in them
Table = dict[str, int | float | str]  # figures by name


@dataclass(frozen=True, slots=True)
class Module:
    """One Python file.

    Attributes:
        path: Below the checkout.
        lines: Its lines, without blanks at either end.
        code: The numbers of its lines of code.
        docs: How many lines of docstrings it has.
        tree: What it holds.
    """

    path: str
    lines: tuple[str, ...]
    code: tuple[int, ...]
    docs: int
    tree: ast.Module

    @property
    def package(self) -> str:
        """The first two parts of its folder; its own name where it lies in none."""
        return "/".join(Path(self.path).parts[:-1][:2]) or self.path


def read_modules(checkout: Path, places: tuple[str, ...] = PRODUCT) -> list[Module]:
    """Return the modules below some places, those that git does not know yet among them."""
    command = ("git", "-C", str(checkout), "ls-files", "-z", "--cached", "--others")
    listed = subprocess.run(
        (*command, "--exclude-standard", "*.py"), check=True, capture_output=True, text=True
    ).stdout.split("\0")
    paths = sorted({path for path in listed if path.startswith(places)})
    return [_module(checkout, path) for path in paths if (checkout / path).is_file()]


def _module(checkout: Path, path: str) -> Module:
    source = (checkout / path).read_text(encoding="utf-8")
    tree = ast.parse(source)
    docs = {number for node in _docstrings(tree) for number in _span(node)}
    code = {
        number
        for token in tokenize.generate_tokens(io.StringIO(source).readline)
        if token.type not in _SILENT
        for number in range(token.start[0], token.end[0] + 1)
    }
    lines = tuple(line.strip() for line in io.StringIO(source))
    return Module(path, lines, tuple(sorted(code - docs)), len(docs), tree)


def _docstrings(tree: ast.Module) -> Iterator[ast.expr]:
    for node in ast.walk(tree):
        if not isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef):
            continue
        match node.body[:1]:
            case [ast.Expr(value=ast.Constant(value=str()) as text)]:
                yield text


def _span(node: ast.expr | ast.stmt) -> range:
    return range(node.lineno, (node.end_lineno or node.lineno) + 1)


# what stands twice


def repeated_blocks(found: Sequence[Module]) -> dict[tuple[str, ...], Places]:
    """Return each block that stands in two places, and where.

    Imports are no part of a block.  Two places that overlap are one, as in a row of equal lines.
    """
    places: dict[tuple[str, ...], Places] = defaultdict(list)
    for module in found:
        code = _lines_without_imports(module)
        for at in range(len(code) - BLOCK + 1):
            numbers = tuple(code[at : at + BLOCK])
            where = places[tuple(module.lines[number - 1] for number in numbers)]
            if not where or where[-1][0] != module.path or where[-1][1][-1] < numbers[0]:
                where.append((module.path, numbers))
    return {block: where for block, where in places.items() if len(where) > 1}


def repeated_lines(found: Sequence[Module]) -> int:
    """Return how many lines of code stand in a block that stands elsewhere, too."""
    blocks = repeated_blocks(found).values()
    return len({(path, n) for where in blocks for path, numbers in where for n in numbers})


def _lines_without_imports(module: Module) -> list[int]:
    imported = {number for node in _imports(module.tree) for number in _span(node)}
    return [line for line in module.code if line not in imported]


def _imports(tree: ast.Module) -> Iterator[ast.Import | ast.ImportFrom]:
    for node in ast.walk(tree):
        if isinstance(node, ast.Import | ast.ImportFrom):
            yield node


# interfaces


def interfaces(found: Sequence[Module], tests: Sequence[Module]) -> dict[str, tuple[int, int]]:
    """Return the product's Protocols with how many classes of product and tests fit each.

    A class fits by its own and inherited members: attributes by their names, methods by their names
    and parameters.  Protocols that are only called are left out: any function will do for them.
    """
    named: dict[str, list[ast.ClassDef]] = defaultdict(list)
    classes: dict[ast.ClassDef, Module] = {}
    for module in (*found, *tests):
        for node in ast.walk(module.tree):
            if isinstance(node, ast.ClassDef):
                classes[node] = module
                named[node.name].append(node)
    members = {node: _members(node, named, frozenset()) for node in classes}
    asking = {node for node in classes if "Protocol" in map(_name, node.bases)}
    product = {module.path for module in found}
    counts = {}
    for node in asking:
        asked = members[node]
        if classes[node].path not in product or asked.keys() <= {"__call__"}:
            continue
        fits = [other for other in classes if other not in asking and _fits(members[other], asked)]
        ours = sum(classes[other].path in product for other in fits)
        counts[f"{node.name}  {classes[node].path}:{node.lineno}"] = (ours, len(fits) - ours)
    return dict(sorted(counts.items()))


def _fits(members: Members, asked: Members) -> bool:
    if not asked.keys() <= members.keys():
        return False
    pairs = ((members[name], wanted) for name, wanted in asked.items())
    return all(not has or not wanted or has[1] <= wanted[0] <= has[0] for has, wanted in pairs)


def _members(
    node: ast.ClassDef, named: Mapping[str, list[ast.ClassDef]], below: frozenset[str]
) -> Members:
    """Return what a class has and inherits; classes of one name are taken together as bases."""
    found: Members = {}
    for base in node.bases:
        for parent in named.get(_name(base), ()) if _name(base) not in below else ():
            found |= _members(parent, named, below | {node.name, _name(base)})
    for one in ast.walk(node):
        match one:
            case ast.Attribute(value=ast.Name("self"), attr=name, ctx=ast.Store()):
                found.setdefault(name, None)
    for part in node.body:
        match part:
            case ast.AnnAssign(target=ast.Name(name)) | ast.Assign(targets=[ast.Name(name)]):
                found[name] = None
            case ast.FunctionDef() | ast.AsyncFunctionDef():
                found[part.name] = _parameters(part)
    return found


def _parameters(node: ast.FunctionDef | ast.AsyncFunctionDef) -> Parameters | None:
    if "property" in map(_name, node.decorator_list):
        return frozenset(), frozenset()
    given = node.args
    if given.vararg or given.kwarg or given.posonlyargs or node.decorator_list:
        return None
    must = given.args[: len(given.args) - len(given.defaults)]
    must += [
        one for one, value in zip(given.kwonlyargs, given.kw_defaults, strict=True) if not value
    ]
    every = (*given.args, *given.kwonlyargs)
    return frozenset(one.arg for one in every), frozenset(one.arg for one in must)


def _name(node: ast.expr) -> str:
    node = node.value if isinstance(node, ast.Subscript) else node
    return node.attr if isinstance(node, ast.Attribute) else getattr(node, "id", "")


# packages


def packages(found: Sequence[Module]) -> Table:
    """Return files and lines of code of each package."""
    code: dict[str, list[int]] = defaultdict(list)
    for module in found:
        code[module.package].append(len(module.code))
    return {name: f"{len(code[name])} / {sum(code[name]):,}" for name in sorted(code)}


def arrows(found: Sequence[Module]) -> Table:
    """Return from which package to which how many modules import how many others."""
    names = {module.path.removesuffix(".py").removesuffix("/__init__"): module for module in found}
    pairs = {
        (module.path, module.package, names[name].path, names[name].package)
        for module in found
        for node in _imports(module.tree)
        for name in _imported(node, names)
    }
    counts = Counter(f"{one} → {other}" for _, one, _, other in pairs if one != other)
    return dict(sorted(counts.items()))


def _imported(node: ast.Import | ast.ImportFrom, names: Mapping[str, Module]) -> Iterator[str]:
    for alias in node.names:
        whole = alias.name if isinstance(node, ast.Import) else f"{node.module}.{alias.name}"
        path = whole.replace(".", "/")
        yield from [name for name in (path, path.rpartition("/")[0]) if name in names][:1]


# what is printed


def count(checkout: Path, found: Sequence[Module]) -> Table:
    """Return what is counted of a checkout without running it."""
    code = sum(len(module.code) for module in found)
    docs = sum(module.docs for module in found)
    return {
        "files": len(found),
        "lines": sum(len(module.lines) for module in found),
        "lines of code": code,
        "docstrings, lines in 1,000 of code": round(1000 * docs / code),
        f"files under {SMALL} lines": sum(len(module.lines) < SMALL for module in found),
        f"lines in blocks of {BLOCK} that stand twice": repeated_lines(found),
        "Protocols with one implementation, none in tests": len(single(checkout, found)),
    }


def single(checkout: Path, found: Sequence[Module]) -> list[str]:
    """Return the Protocols that at most one class of the product fits, and none of the tests."""
    counts = interfaces(found, read_modules(checkout, ("tests/",)))
    return [place for place, (product, tests) in counts.items() if product <= 1 and not tests]


def run_requests(checkout: Path) -> dict[str, Any]:
    """Return what ``bench/request.py`` prints of a checkout."""
    own = checkout / ".venv" / "bin" / "python"
    python = str(own.absolute()) if own.exists() else sys.executable
    script = Path(__file__).with_name("request.py")
    argv = [python, "-I", str(script), str(checkout.resolve())]
    done = subprocess.run(argv, cwd=checkout, check=True, stdout=subprocess.PIPE)
    found: dict[str, Any] = json.loads(done.stdout)
    return found


def measure(checkout: Path) -> tuple[Table, dict[str, Any]]:
    """Return the figures of what is run, and the calls that they are counted of."""
    found = run_requests(checkout)
    table: Table = {}
    for name, calls in found["calls"].items():
        table[f"{name}: files entered"] = len({file for file, *_ in calls})
        table[f"{name}: functions called"] = len(calls)
    return table | found["memory"], found["calls"]


def render(tables: Sequence[Table]) -> str:
    """Return tables side by side; what one of them has not is a dash."""
    names = dict.fromkeys(name for table in tables for name in table)
    rows = (
        f"{name:54}{''.join(_cell(table.get(name, '–')) for table in tables)}" for name in names
    )
    return "\n".join(rows)


def _cell(value: float | str) -> str:
    return f"{value:>13}" if isinstance(value, str) else f"{value:>13,}"


def main() -> None:
    """Print the figures of each checkout, side by side."""
    options = argparse.ArgumentParser(description=__doc__, allow_abbrev=False)
    options.add_argument("checkout", nargs="*", type=Path, default=[Path()])
    options.add_argument("--static", action="store_true", help="run nothing")
    options.add_argument("--arrows", action="store_true", help="imports between packages")
    options.add_argument("--protocols", action="store_true", help="name them, of the last checkout")
    options.add_argument("--blocks", action="store_true", help="what stands twice, of the last")
    options.add_argument("--calls", action="store_true", help="the functions called, of the last")
    chosen = options.parse_args()
    found = [read_modules(checkout) for checkout in chosen.checkout]
    print(render(list(map(count, chosen.checkout, found))))
    if not chosen.static:
        measured = [measure(checkout) for checkout in chosen.checkout]
        print(render([table for table, _ in measured]))
    print("\npackages, files / lines of code")
    print(render([packages(modules) for modules in found]))
    if chosen.arrows:
        print("\nimports between packages, pairs of modules")
        print(render([arrows(modules) for modules in found]))
    if chosen.protocols:
        print("\nProtocols with one implementation")
        print(*single(chosen.checkout[-1], found[-1]), sep="\n")
    if chosen.blocks:
        print("\nblocks that stand twice")
        for block, places in repeated_blocks(found[-1]).items():
            print(*(f"{path}:{numbers[0]}" for path, numbers in places), f" {block[0]}")
    if chosen.calls and not chosen.static:
        for name, calls in measured[-1][1].items():
            print(f"\n{name}", *(f"{file}:{line}  {call}" for file, call, line in calls), sep="\n")


if __name__ == "__main__":
    main()
