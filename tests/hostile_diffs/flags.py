"""R38: diffs that may be applied, and that a person must look at twice."""

from __future__ import annotations

from dataclasses import dataclass, field

from tests.hostile_diffs.case import (
    NEW,
    SOURCE,
    TREE,
    Tree,
    delete,
    edit,
    git_add,
    rename,
    text,
)


@dataclass(frozen=True, kw_only=True)
class Flagged:
    """An accepted diff and the reason for which its risk is high; None where it is normal."""

    diff: bytes
    reason: str | None
    before: Tree = field(default_factory=lambda: TREE)


_SURFACES = (
    *(".github/workflows/ci.yml", ".vscode/tasks.json", ".idea/workspace.xml", ".husky/pre-commit"),
    *(".codex/config.toml", ".codexbridge/x.toml", ".claude/settings.json", ".envrc", ".npmrc"),
    *(".mcp.json", ".gitattributes", ".gitmodules", ".pre-commit-config.yaml", "conftest.py"),
    *("setup.py", "sitecustomize.py", "package.json", "Makefile", "Dockerfile", "AGENTS.md"),
    *("CLAUDE.md", "pyproject.toml", "site/evil.pth", "deep/er/conftest.py", "sub/.GitHub/x.yml"),
    *("MAKEFILE", "web/Package.JSON", "deep/.vscode/launch.json"),
)


def _adding(*lines: str | bytes) -> bytes:
    marked = [b"+" + (line.encode() if isinstance(line, str) else line) for line in lines]
    return git_add("new.py", f"@@ -0,0 +1,{len(lines)} @@", *marked)


FLAGS: dict[str, Flagged] = {
    "an ordinary edit": Flagged(diff=edit(), reason=None),
    "an ordinary new file": Flagged(diff=_adding("x = 1"), reason=None),
    "Chinese and emoji": Flagged(diff=_adding('print("测试 🎉 👩‍💻")'), reason=None),
    "a line of 400 characters": Flagged(diff=_adding("x" * 400), reason=None),
    **{
        f"a new {path}": Flagged(diff=git_add(path, *NEW), reason="execution-surface")
        for path in _SURFACES
    },
    "a repository without .git": Flagged(
        diff=git_add("x/HEAD", "@@ -0,0 +1 @@", "+ref: refs/heads/main")
        + git_add("x/objects/x")
        + git_add("x/refs/x"),
        reason="execution-surface",
    ),
    "what a repository without .git starts": Flagged(
        diff=edit("x/config"), reason="execution-surface", before={"x/config": SOURCE}
    ),
    "an edited Makefile": Flagged(
        diff=edit("Makefile"), reason="execution-surface", before={"Makefile": SOURCE}
    ),
    "a rename to conftest.py": Flagged(
        diff=rename("a.txt", "conftest.py"), reason="execution-surface"
    ),
    "a rename of conftest.py": Flagged(
        diff=rename("conftest.py", "x.py"),
        reason="execution-surface",
        before={"conftest.py": SOURCE},
    ),
    "a deleted workflow": Flagged(
        diff=delete(".github/x.yml"), reason="execution-surface", before={".github/x.yml": b""}
    ),
    "a delete": Flagged(diff=delete("x.txt"), reason="deletes", before={"x.txt": b""}),
    "the executable bit is set": Flagged(
        diff=text("diff --git a/a.txt b/a.txt", "old mode 100644", "new mode 100755"),
        reason="executable",
    ),
    "a new program": Flagged(diff=git_add("x.sh", *NEW, mode="100755"), reason="executable"),
    "51 files": Flagged(
        diff=b"".join(git_add(f"f{number}.txt") for number in range(51)), reason="many-files"
    ),
    "an override of direction (CVE-2021-42574)": Flagged(
        diff=_adding("if level != 'user\u202e \u2066// admin\u2069 \u2066':"),
        reason="hidden-characters",
    ),
    "a zero-width space": Flagged(diff=_adding("pass\u200bword = 1"), reason="hidden-characters"),
    "a mark of direction": Flagged(diff=_adding("x\u200f = 1"), reason="hidden-characters"),
    "an escape sequence": Flagged(diff=_adding("x = '\x1b[8m'"), reason="hidden-characters"),
    "a carriage return in a line": Flagged(
        diff=_adding("evil()\r# fine"), reason="hidden-characters"
    ),
    "a Hangul filler": Flagged(diff=_adding("\u3164 = 1"), reason="hidden-characters"),
    "a tag character": Flagged(diff=_adding("x = 1 #\U000e0041"), reason="hidden-characters"),
    "a space that does not break": Flagged(diff=_adding("a\u00a0= 1"), reason="hidden-characters"),
    "a Cyrillic letter in a word (CVE-2021-42694)": Flagged(
        diff=_adding("def is_\u0430dmin(): pass"), reason="look-alike-characters"
    ),
    "a Greek letter in a word": Flagged(
        diff=_adding("\u03bfpen = 1; pr\u03bfcess(x)"), reason="look-alike-characters"
    ),
    "a line of 401 characters": Flagged(diff=_adding("x" * 401), reason="long-lines"),
    "code far to the right": Flagged(
        diff=_adding("x = 1" + " " * 500 + "; evil()"), reason="long-lines"
    ),
    "a private key": Flagged(
        diff=_adding("-----BEGIN PRIVATE KEY-----", "MIIEvQ", "-----END PRIVATE KEY-----"),
        reason="secret-content",
    ),
    "an access key": Flagged(diff=_adding("key = 'AKIAIOSFODNN7EXAMPLE'"), reason="secret-content"),
    "a file of secrets": Flagged(diff=git_add("deploy/id_ed25519", *NEW), reason="secret-file"),
    ".env": Flagged(diff=git_add(".env", *NEW), reason="secret-file"),
    "a hidden file": Flagged(diff=git_add(".something", *NEW), reason="dotfile"),
    "a lock file": Flagged(diff=git_add("poetry.lock", *NEW), reason="lock-file"),
    "a hunk that has moved": Flagged(
        diff=edit(), reason="moved", before={"a.txt": b"x\n" + SOURCE}
    ),
}
