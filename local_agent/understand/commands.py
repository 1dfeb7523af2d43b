"""Commands that are named in a request, taken exactly as they are written (R7).  Pure.

`运行：rm -rf build`, "test it with `pnpm vitest -t login`", a fenced block, or a line that is one.
Never another command than the one named; what cannot be told where it ends is taken to the end,
and said.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from difflib import get_close_matches
from typing import Final

from common import dsl
from local_agent.understand import params, wishes
from local_agent.understand.folding import PASTED, blot, fold

# Whoever writes one of these first, and then a target or an option, has typed a command.
_PROGRAMS: Final = frozenset(
    """
    npm pnpm yarn npx bun bunx deno node python python3 pip pip3 pipx uv uvx poetry pipenv hatch nox
    pytest tox ruff mypy pyright flake8 pylint isort bandit eslint prettier tsc ts-node vite jest
    vitest mocha ava cypress playwright cargo rustc rustup rustfmt cmake ctest ninja bazel gradle
    ./gradlew gradlew mvn ./mvnw mvnw sbt dotnet javac java ruby rake bundle rails rspec rubocop php
    composer phpunit docker docker-compose podman kubectl helm terraform ansible ansible-playbook
    git gh ls rm mkdir touch curl wget bash zsh sh sudo chmod chown brew flutter dart xcodebuild adb
    mix webpack rollup esbuild turbo lerna nx ng alembic flask uvicorn gunicorn django-admin celery
    psql sqlite3 jq sed awk shellcheck golangci-lint gofmt pre-commit biome gotestsum ktlint
    coverage stylelint tsx pm2 wrangler vercel aws gcloud swift apt apt-get black meson zig stack
    cabal ghc lein julia rscript perl conan df du rsync scp ssh tar systemctl journalctl
    """.split()
)
# These are English words as well: only a target or an option makes a command of them.
_WORDLIKE: Final = frozenset("make go just task invoke cat cp mv tree ps echo cd".split())
_TARGETS: Final = frozenset(
    """
    all install uninstall ci init dev serve exec up down ps logs get fmt vet mod format fix clippy
    status diff log pull fetch clone stash rebase checkout switch branch show bench doc docs release
    debug clean watch preview typecheck type-check coverage lock outdated audit dist package check
    checks e2e unit integration validate run start stop restart lint build test tests update upgrade
    generate migrate seed server publish images prune deploy setup compose apply plan sync add
    commit push merge tag reset manage.py shell bootstrap image version tidy assembledebug
    assemblerelease assemble bootrun collect
    """.split()
)
_FIRST: Final = re.compile(
    r"[ \n]*(?:please |now |ok )?(?P<line>[a-z0-9_./-]+(?: [^\n\u3400-\u9fff,?!;]*)?)"
)
_ARGUMENT: Final = re.compile(r"-.+|.*[./:=@*\d\x02_$].*|&&|\|\|?|>|[a-z]+-[a-z-]+")
_PROSE: Final = re.compile(
    r" (?:is|are|was|fails?|failed|failing|errors?|says|said|gives|throws|hangs|keeps|crash\w*"
    r"|exits?|exited|dies|died|hung|stops|shows|takes|does|doesn't|won't|can't|not|broken|slow|why"
    r"|how|the|my|a|an|and then|then)(?: |$)"
)
_CLOSING: Final = re.compile(
    r"(?: +(?:please|pls|plz|for me|now|thanks|again|and|&&|first))+ *$| +$|(?<=[a-z0-9])\. *$"
)
_TALKS_ON: Final = re.compile(
    r" *[\u3400-\u9fff]*?"
    r"(?:报|失败|错|挂|卡|不|没|崩|慢|被|什么|怎么|为|吗|会|哪|有|是|里|的)|\s*[:?]"
)
# A verb that is followed by a command: "please run X", "帮我跑一下 X", "请执行：X".
_RUNS: Final = re.compile(
    r"(?:^|(?<=[\s,.;:!]))(?:re-?run|run|execute|launch|invoke)(?![\w-])"
    r"(?:\s+the\s+(?:following|command)\b)*"
    r"|(?:重新?|试)?(?:运行|执行|跑)(?:一下|一遍|一次|下|个|遍|次)?"
    r"(?:命令|这条|这个|下面(?:的|这条)?)*"
)
_COLON: Final = re.compile(r"\s*[:：]\s*")
# "test it with `X`", "用 `X` 跑一下测试".
_WITH: Final = re.compile(
    r"(?:\b(?:with|using|via|by|do|use)|用|通过|命令)\s*(?:the command\s*)?[:：]?\s*(?=[`“\"「'])",
    re.IGNORECASE,
)
_ACTS: Final = re.compile(
    r"\b(?:test|run|build|lint|check|verify|try|execute|format)\b"
    r"|测|跑|运行|执行|构建|编译|验证|检查"
)
_FENCE: Final = re.compile(r"```(?:sh|bash|zsh|shell|console)?\s*\n\s*([^\n`]+?)\s*\n?```")
_TESTS: Final = re.compile(
    r"\b(?:tests?|testing|pytest|unittests?|specs?|test_\w+|\w+_test)\b|测试|测式|测一下|单测|用例",
    re.IGNORECASE,
)
_TALKED_OF: Final = re.compile(
    r"(?:and|or|is|was|are|vs|does|doesn't|fails?|failed|returns?|keeps|command|命令|和|跟|与|是)"
    r"(?![\w-])|(?:和|跟|与|是|这|命令|功能|的)",
    re.IGNORECASE,
)
_WHERE: Final = re.compile(
    r"\s*(?:(?:it|them|all|now|please|to|my|the|our|everything|code|changes|up|github|gitlab|origin"
    r"|remote|branch|with|代码|到|改动|一下|远端|远程|仓库|上去|吧|全部|分支)[\s,.!]*)+(?:and\b.*|然后.*)?",
    re.IGNORECASE | re.DOTALL,
)
_GIVES: Final = re.compile(
    r"(?:push|commit|sync|提交|推送|同步)\w*\s*[:：]|with (?:the )?message\b"
    r"|(?:说明|信息|备注|message)(?:是|为|写|用)?\s*[:：“\"]",
    re.IGNORECASE,
)


_VERBS: Final = [spec.name for spec in dsl.COMMANDS]


@dataclass(frozen=True, slots=True)
class Named:
    """A command that a text names.

    Attributes:
        command: Exactly as written.
        plain: Nothing else can be meant: it stands alone, behind a colon, or quoted behind a verb.
        to_its_end: It is the whole rest of the text.
        reads_on: And that may have wished something else.
    """

    command: str
    plain: bool
    to_its_end: bool = True
    reads_on: bool = False


def find_named(text: str, *, is_run: bool = False) -> Named | None:
    """Return the command that a text names; None where it names none.

    Args:
        text: The whole request.
        is_run: It is sure to ask for a run, so a program with any word after it is a command.
    """
    folded = fold(text)
    if span := _find_bare(blot(folded), any_word=is_run):
        return Named(text[span[0] : span[1]], plain=True)
    if (fence := _FENCE.search(text)) and _ACTS.search(_FENCE.sub("", folded)):
        lead = _RUNS.search(before := folded[: fence.start()])
        plain = lead is not None and wishes.is_polite(before[: lead.start()])
        return Named(fence[1], plain, to_its_end=False)
    if (said := _WITH.search(folded)) and _ACTS.search(folded):
        quoted = params.find_quoted(text[said.end() :])
        if quoted and _is_program(quoted.split()[0]):
            return Named(quoted, plain=False, to_its_end=False)
    for verb in _RUNS.finditer(folded):
        rest = text[verb.end() :]
        colon = _COLON.match(rest)
        rest = rest[colon.end() :] if colon else rest
        if (command := params.find_command(rest)) is None:
            continue
        is_quoted = params.find_quoted(rest) == command
        leads = wishes.is_polite(text[: verb.start()])
        plain = is_quoted or colon is not None or _is_program(command.split()[0])
        more = not is_quoted and bool(wishes.split_wish(rest)[1])
        return Named(command, plain and leads, to_its_end=not is_quoted, reads_on=more)
    return None


def _find_bare(folded: str, *, any_word: bool) -> tuple[int, int] | None:
    """Return where the command stands that opens a text; None where it opens with other words."""
    match = _FIRST.match(folded)
    if match is None or PASTED in folded:
        return None
    line = _CLOSING.sub("", match["line"])
    program, _, arguments = line.partition(" ")
    end = match.start("line") + len(line)
    words = arguments.split()
    runs = any_word and program in _PROGRAMS and params.NOUNS.isdisjoint(words)
    if not (runs or _runs(program.removesuffix("."), words)) or _PROSE.search(f"{line} "):
        return None
    return None if _TALKS_ON.match(folded[end : end + 40]) else (match.start("line"), end)


def mistyped(text: str) -> str | None:
    """Return the verb of the grammar that a single word, or a word and an ID, was meant for."""
    word, *rest = text.split()[:3] or [""]
    if len(rest) > 1 or (rest and dsl.parse_id(rest[0]) is None) or not 4 <= len(word) <= 12:
        return None
    near = get_close_matches(fold(word), _VERBS, 1, 0.75)
    if not near or fold(word).startswith(near[0]):
        return None  # "tests", "searching": another word
    return " ".join([near[0], *rest])


def wants_tests(text: str) -> bool:
    """Tell whether a wish to run something is about the tests, whose command we know."""
    return _TESTS.search(text) is not None


def is_talked_of(rest: str) -> bool:
    """Tell whether what follows a command word makes it a subject: "patch and plan differ how"."""
    return _TALKED_OF.match(rest) is not None


def names_where(rest: str) -> bool:
    """Tell whether what follows "sync" says where to and not what for: "to github", "now"."""
    return _WHERE.fullmatch(rest) is not None


def gives_message(text: str, *, quoted: bool = False) -> bool:
    """Tell whether a commit message follows, up to the end of the text.

    Args:
        text: With the verb.
        quoted: What stands in quotation marks is one as well.
    """
    return _GIVES.search(text) is not None or (quoted and params.find_quoted(text) is not None)


def _is_program(word: str) -> bool:
    return word.casefold() in _PROGRAMS | _WORDLIKE or word.startswith(("./", "../", "/"))


def _runs(program: str, arguments: list[str]) -> bool:
    first = arguments[0] if arguments else ""
    given = bool(first) and (first in _TARGETS or _ARGUMENT.fullmatch(first) is not None)
    if program in _PROGRAMS:
        return given or not arguments
    if program in _WORDLIKE:
        return given and (len(arguments) == 1 or _ARGUMENT.fullmatch(arguments[-1]) is not None)
    return program.startswith("./") and len(program) > 2
