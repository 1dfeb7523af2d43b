"""Which lines define a name."""

from __future__ import annotations

import pytest

from local_agent.workspace.definitions import defines, last_part
from tests.each import each


@each(
    "line",
    [
        "def load(path):",
        "    async def load(self):",
        "class load:",
        "export default async function load(a) {",
        "export const load = async (a) => {",
        "const load: Loader = make()",
        "func load(path string) error {",
        "func (s *Server) load(path string) {",
        "pub(crate) fn load<T>(t: T) -> T {",
        "pub struct load {",
        "type load = string",
        "interface load {",
        "export abstract class load<T> {",
        "enum load { A }",
        "trait load {}",
        "impl load {",
        "public static final int load(String a) throws X {",
        "static char *load(const char *p) {",
        "int Config::load(int a) {",
        "  fun load(a: Int): Int =",
        "#define load(x) (x)",
        "load = 5",
        "load: int = 5",
        "    self.load = 5",
        "  load: function () {",
        "  load(a, b) {",
        "load() {",
        "load: build",
        "CREATE TABLE load (",
        "message load {",
        "protocol load {",
        "let load = 1",
    ],
)
def test_a_definition_is_known(line: str) -> None:
    assert defines(line, "load")


@each(
    "line",
    [
        "x = load(path)",
        "return load(path)",
        "    await load(path);",
        "load(path);",
        "if load == 5:",
        "def reload(path):",
        "def load_all(path):",
        "# load is slow",
        "import load",
        "from x import load",
        "self.load()",
        "call(load=5)",
        "items.map(load => load)",
        "class Other(load):",
        "throw new load(x);",
    ],
)
def test_a_use_is_no_definition(line: str) -> None:
    assert not defines(line, "load")


def test_names_are_literal() -> None:
    assert not defines("def aXb():", "a.b")
    assert defines("def $a():", "$a")


@pytest.mark.parametrize(
    ("name", "expected"),
    [("a", "a"), ("Session.login", "login"), ("auth::login", "login"), ("p->login", "login")],
)
def test_a_qualified_name_names_its_last_part(name: str, expected: str) -> None:
    assert last_part(name) == expected
