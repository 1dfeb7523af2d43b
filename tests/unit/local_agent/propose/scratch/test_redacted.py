"""A copy without secrets: edits of it are made on the true lines, or refused; never guessed."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from common import redact
from common.diff.parse import parse_diff
from common.diff.patching import patched
from common.errors import InputError
from local_agent.propose.scratch.diffing import unredacted
from local_agent.propose.scratch.source import secret_rules, without_secrets
from tests.scratching import Lending, contents, snapshot

pytestmark = pytest.mark.requirement("R54")

SECRET = "ghp_" + "Zk3vQ9xWb7" * 4  # made up; a form that no rule overlooks
TRUE = f'import os\n\nTOKEN = "{SECRET}"\n\ndef ask():\n    return TOKEN\n'
PEM = "-----BEGIN {0}-----\n{1}\n-----END {0}-----\n"
KEY = PEM.format("RSA PRIVATE KEY", "\n".join(["MIIEpAIBAAKCAQEA7vTq" * 3] * 6))


@pytest.fixture
def lending(tmp_path: Path) -> Iterator[Lending]:
    files = {"app.py": TRUE, "plain.py": "x = 1\n", "key.txt": f"one\n{KEY}two\n"}
    lending = Lending(tmp_path, files)
    before = snapshot(lending.path)
    yield lending
    assert snapshot(lending.path) == before


@pytest.mark.parametrize("whole", [True, False])
def test_no_secret_lies_in_the_copy_and_every_line_is_where_it_was(
    lending: Lending, *, whole: bool
) -> None:
    with lending.lend(whole=whole, redacted=True) as copy:
        for name in ("app.py", "plain.py", "key.txt"):
            copy.read(name)
        found = contents(copy.root)
        made = copy.diff()
    assert not any(SECRET.encode() in content for content in found.values())
    assert b"MIIEpAIBAAKCAQEA7vTq" not in found["key.txt"]
    for name, content in found.items():
        true = (lending.path / name).read_bytes()
        assert content.count(b"\n") == true.count(b"\n")
    assert found["plain.py"] == b"x = 1\n"
    assert (made.diff, made.refused) == (b"", ())


def test_an_edit_of_other_lines_is_made_on_the_true_text(lending: Lending) -> None:
    with lending.lend(redacted=True) as copy:
        shown = (copy.root / "app.py").read_bytes()
        (copy.root / "app.py").write_bytes(
            shown.replace(b"import os\n", b"import os\nimport sys\n").replace(b"ask()", b"tell()")
        )
        (copy.root / "plain.py").write_bytes(b"x = 2\n")
        made = copy.diff()
    files = {file.path: file for file in parse_diff(made.diff).files}
    true = TRUE.replace("import os\n", "import os\nimport sys\n").replace("ask()", "tell()")
    assert patched(files["app.py"], TRUE.encode()) == true.encode()
    assert patched(files["plain.py"], b"x = 1\n") == b"x = 2\n"
    assert made.refused == ()


@pytest.mark.parametrize(
    ("old", "new"),
    [
        (b"TOKEN =", b"SECRET ="),  # the line of the secret
        (b"def ask", b'mark = "[redacted:key]"\ndef ask'),  # a mark where there was none
        (b"\nTOKEN", b"TOKEN"),  # gone are the lines, in every case
    ],
)
def test_an_edit_that_touches_a_secret_is_refused(lending: Lending, old: bytes, new: bytes) -> None:
    with lending.lend(redacted=True) as copy:
        shown = (copy.root / "app.py").read_bytes()
        assert old in shown
        changed = shown.replace(old, new)
        if new == b"TOKEN":
            changed = b"\n".join(line for line in shown.split(b"\n") if b"TOKEN =" not in line)
        (copy.root / "app.py").write_bytes(changed)
        (copy.root / "plain.py").write_bytes(b"x = 2\n")
        made = copy.diff()
    assert {one.path: one.code for one in made.refused} == {"app.py": "scratch.redacted"}
    assert [file.path for file in parse_diff(made.diff).files] == ["plain.py"]


def test_a_file_with_a_secret_that_moves_is_refused_and_one_that_goes_is_not(
    lending: Lending,
) -> None:
    with lending.lend(redacted=True) as copy:
        (copy.root / "app.py").rename(copy.root / "moved.py")
        (copy.root / "key.txt").unlink()
        made = copy.diff()
    assert {one.path: one.code for one in made.refused} == {"moved.py": "scratch.redacted"}
    gone = {file.path: file for file in parse_diff(made.diff).files}
    assert {file.op for file in gone.values()} == {"delete"}
    assert patched(gone["key.txt"], f"one\n{KEY}two\n".encode()) == b""


def test_trees_with_and_without_secrets_lie_apart(lending: Lending) -> None:
    for redacted in (False, True, False, True):
        with lending.lend(redacted=redacted) as copy:
            assert (SECRET.encode() in contents(copy.root)["app.py"]) is not redacted


def test_a_tree_by_other_rules_is_made_anew(
    lending: Lending, monkeypatch: pytest.MonkeyPatch
) -> None:
    with lending.lend(redacted=True):
        pass
    assert len(secret_rules()) == 64
    monkeypatch.setattr("local_agent.propose.scratch.slot.secret_rules", lambda: "others")
    monkeypatch.setattr(
        "common.redact.redact_lines", lambda text: text.replace(SECRET, "[redacted:other]")
    )
    lending.restart()
    with lending.lend(redacted=True) as copy:
        assert b"[redacted:other]" in contents(copy.root)["app.py"]


def test_a_change_in_any_part_of_the_rules_makes_them_others(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    parts = sorted(Path(redact.__file__).parent.glob("*.py"))
    assert len(parts) > 1
    for part in parts:
        (tmp_path / part.name).write_bytes(part.read_bytes())
    monkeypatch.setattr("common.redact.__file__", str(tmp_path / "__init__.py"))
    rules_of = secret_rules.__wrapped__
    assert rules_of() == secret_rules()
    for part in parts:
        before = rules_of()
        with (tmp_path / part.name).open("a", encoding="utf-8") as file:
            file.write("# another rule\n")
        assert rules_of() != before


def test_a_text_whose_lines_do_not_stay_is_withheld(
    lending: Lending, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("common.redact.redact_lines", lambda text: text.rstrip("\n"))
    assert without_secrets(b"a\n") is None
    with lending.lend(redacted=True) as copy:
        assert contents(copy.root) == {}
        with pytest.raises(InputError) as caught:
            copy.read("app.py")
    assert caught.value.code == "scratch.withheld"


def test_text_that_is_no_unicode_keeps_its_bytes() -> None:
    text = f'caf\xe9 "{SECRET}"\n\xff\n'.encode("latin-1")
    shown = without_secrets(text)
    assert shown is not None
    assert SECRET.encode() not in shown
    assert shown.startswith(b"caf\xe9 ")
    assert shown.endswith(b"\n\xff\n")


def _unredacted(true: bytes, shown: bytes, now: bytes) -> bytes | None:
    try:
        return unredacted(true, shown, now)
    except InputError as error:
        if error.code != "scratch.redacted":
            raise
        return None


_LINES = st.lists(st.sampled_from([b"a", b"b", b"", b"c d", b"S"]), max_size=12)


@given(before=_LINES, after=_LINES, is_open=st.booleans())
def test_an_edit_is_made_exactly_or_refused(
    before: list[bytes], after: list[bytes], *, is_open: bool
) -> None:
    """Lines ``S`` hold a secret; what an edit does to the others it does to the true text."""
    end = b"" if is_open else b"\n"
    true, shown, now = (
        b"\n".join(lines) + (end if lines else b"")
        for lines in (
            [b"secret" if line == b"S" else line for line in before],
            [b"[redacted]" if line == b"S" else line for line in before],
            [b"[redacted]" if line == b"S" else line for line in after],
        )
    )
    made = _unredacted(true, shown, now)
    if made is None:
        return
    assert made.replace(b"secret", b"[redacted]") == now
    assert made.count(b"secret") == true.count(b"secret")
