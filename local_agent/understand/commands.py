"""Commands that are named in a request, taken exactly as they are written (R7).  Pure.

`运行：rm -rf build`, "test it with `pnpm vitest -t login`", a fenced block, or a text that is one.
Never another command than the one named, and never a part of it: where it cannot be told which
words belong to it, a command is spoken of but not named, and the person is asked.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from itertools import chain, dropwhile, islice, pairwise, starmap
from typing import Final

from local_agent.understand import params, wishes
from local_agent.understand.folding import READ_CHARS, fold

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
    cabal ghc lein julia rscript perl conan df du rsync scp ssh tar systemctl journalctl timeout env
    nohup time
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
    assemblerelease assemble bootrun collect delete describe rollout
    """.split()
)
_ARGUMENT: Final = re.compile(r"-.+|.*[./:=@*\d$'\"`].*|[a-z]+-[a-z-]+", re.DOTALL)
# One word of a shell line: what is quoted in it belongs to it.
_TOKEN: Final = re.compile(r"(?:[^\s'\"]++|'[^'\n]*+'|\"(?:[^\"\\\n]|\\.)*+\")++")
_LINE: Final = re.compile(rf"(?:{_TOKEN.pattern} *+)++")
_ASSIGNS: Final = re.compile(r"[A-Za-z_]\w*=\S*", re.ASCII)
_NEXT: Final = frozenset({"&&", "||", "|", ";"})
# A word that people put behind a command and that no command has for an argument.
_SAYS: Final = frozenset(
    """
    is are was were isn't doesn't don't does did do has have had won't can't cannot not no why how
    what when where which who if unless because since until after before though but and then or so
    the my your our their this that these those it its a an in on of for with from against only
    again once please now work works take takes give gives show shows say says said throw throws
    print prints keep keeps stop stops get gets fail fails hang hangs hung dies exit exits crashes
    breaks broken broke brought slow wait produces needs opens returns error errors just still never
    always took went came gave got made ran left threw froze died blew kept lost
    """.split()
)
_BENT: Final = re.compile(r"[a-z]{2,}(?:ed|ing)")
# In no word of a command that is typed.
_MARKED: Final = re.compile(r"[，。；！？、：（）…—–]|[,?!]$|^(?:[,;]|:?\(|\.{3}$)")
# What no option has for a value that is not quoted: "git push --force 千万别", "… -f wait".
_TAKES_BACK: Final = re.compile(
    r"(?:don't|dont|do|not|never|no|nope|wait|hold|cancel|please|but|and|then|just|kidding|pass(?:es|ed)"
    r"|fail(?:s|ed)|works|worked|hangs|hung|took|crash(?:es|ed))[,.:;?!]*"
    r"|[^\x00-\x7f]*(?:[别不没勿禁停等慢]|先|算了|开玩笑)[^\x00-\x7f]*"
)
_HAN_ALONE: Final = re.compile("[^\x00-\x7f]+")
_CLOSING: Final = re.compile(
    r"(?:(?:(?<=\w)\.\s+|[,，。!！]\s*|\s+)(?:please|pls|plz|thanks|thank you|thx|for me"
    r"|谢谢|多谢|谢了|一下|吧|呗|哈))+[\s.。!！~]*$"
    r"|(?<=[a-z\d\u3400-\u9fff][a-z\d\u3400-\u9fff])[.。!！]\s*$|(?<=[a-z])(?:吧|呗|一下)$",
    re.IGNORECASE,
)
# Options that want a value: what looked like thanks behind one may be it.
_WANTS: Final = frozenset({"-m", "-am", "--message", "-k", "-b", "-B", "-c"})
# A verb that is followed by a command: "please run X", "帮我跑一下 X", "请执行：X".
_RUNS: Final = re.compile(
    r"(?:re-?run|run|execute|launch|invoke)(?![\w-])(?:\s+(?:the\s+)?(?:following|command|this)\b)*"
    r"|(?:重新?|试着?)?(?:运行|执行|跑)(?:一下|一遍|一次|下(?!面)|个|遍|次)?(?:命令|这条|这个|下面(?:的|这条)?)*"
    # These lead to all kinds of things, so a known program has to follow.
    r"|(?P<tries>try(?: to run| running)?|give|试(?:一下|下|试|跑|一试)?)(?![a-z])"
)
# What follows a command that is to be run and looked at: what it said is told in any case.
_REPORTS: Final = re.compile(
    r"(?:\s*(?:[,;]|(?<=[a-z])\.)\s*(?:and )?(?:then )?"
    r"|\s+(?:and(?: then)?|then|to|so (?:that )?(?:i|we|you) can|a (?:try|go|spin)(?: and| to)?)"
    r"\s+)(?:(?:see|check|verify|confirm|report|find out|show (?:me|us))\s+(?:if|whether|that|what"
    r"|why|how|which|back|it\b|the (?:result|output))"
    r"|(?:tell|let) (?:me|us)\b|make sure\b|send (?:me|us) the"
    r"|(?:does|do|is|are|will) (?:it|they|that|all|everything)\b)"
    r"(?P<en>(?:[^,;.\n]|\.(?=\S))*)[.!?\s]*$"
    r"|[,\s]*(?:然后|并)?(?:帮?我)?(?:(?:看看?|瞧瞧|检查|确认|看一看)(?:一下|下)?|告诉我|汇报"
    r"|(?:把|将)?(?:结果|输出)|(?:过不过|过没过|行不行|对不对|成不成|有没有|是否|能不能|会不会))"
    r"(?P<zh>[^,;.\n就再]*)[.!?\s]*$"
)
# "…, if it fails fix it", "……，没问题就提交": another wish, which hangs on what comes of the first.
_THEN_IF: Final = re.compile(
    r"[,;.]\s*(?=(?:if|when|once|unless|otherwise)\b|[^,;.\n]{0,12}(?:就|的话))"
)
_COLON: Final = re.compile(r"\s*[:：]\s*")
_ACTS: Final = re.compile(
    r"\b(?:re-?run|test|run|build|lint|check|verify|try|execute|format)\b"
    r"|测|跑|运行|执行|构建|编译|验证|检查|试"
)
# Beside a quoted command, these tell that it is spoken of, forbidden, or somebody else's.
_SPOKEN_OF: Final = re.compile(
    r"\b(?:not|no|never|don't|dont|needn't|cannot|can't|without|instead|except|avoid|stop|why|when|while"
    r"|before|after|until|unless|if|because|said|says|wrote|writes|asked|told|fail\w*|breaks?|broke\w*"
    r"|was|were|did|does|is|what|how|who|which|output|result)\b"
    r"|[别不没勿禁]|为什么|之前|之后|时候|如果|说|写|让我|叫我|提示|输出|结果|报|失败|什么|怎么|吗|谁|是"
)
_QUOTES: Final = re.compile(
    r"```(?:(?:sh|bash|zsh|shell|console)[^\S\n]*+\n)?(?P<fence>[^`]++)```|`(?P<tick>[^`\n]+)`"
    r"|“(?P<curly>[^“”\n]+)”|\"(?P<plain>[^\"\n]+)\"|「(?P<corner>[^「」\n]+)」"
    r"|(?<![A-Za-z0-9=])'(?P<single>[^'\n]{2,})'(?![A-Za-z0-9])"
)
_TESTS: Final = re.compile(
    r"\b(?:tests?|testing|pytest|unittests?|specs?|test_\w+|\w+_test)\b|测试|测式|测一下|单测|用例"
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
_OBJECT: Final = re.compile(
    r"(?:the|my|our|your|their|this|that|these|those|all|both)\s", re.IGNORECASE
)
_GIVES: Final = re.compile(
    r"(?:push|commit|sync|提交|推送|同步)\w{0,20}\s{0,4}[:：]|with (?:the )?message\b"
    r"|(?:说明|信息|备注|message)(?:是|为|写|用)?\s*[:：“\"]",
    re.IGNORECASE,
)


_APART: Final = re.compile(r"[\s，。；、：,;:'\"`“”「」]+")
_AROUND_CHARS: Final = 100  # around a quoted command, beside which nothing else is wished
_OPENING_CHARS: Final = 400
_SPOKEN_CHARS: Final = 4000
_QUOTES_READ: Final = 20
_TAIL_CHARS: Final = 60  # in which words of thanks are looked for
_HEAD_CHARS: Final = 1000  # a longer command is taken only where nothing else is wished
_PROGRAM_CHARS: Final = 40
_Begins = Callable[[str, list[str]], bool]  # tells whether a program and its arguments are one
_PROGRAM: Final = re.compile(r"[a-z0-9_.~/-][\w.+/~-]*", re.ASCII)


@dataclass(frozen=True, slots=True)
class Named:
    """A command that a text names.

    Attributes:
        command: Exactly as written; empty where one is spoken of that cannot be told exactly.
        plain: Nothing else can be meant: it stands alone, or a verb leads to it.
        led: A verb leads to it.
        taken: The part of the text that names it, where something else is wished besides.
        left: What else is wished.
        said: The wish up to the end of the command, where it goes on with what to look at then.
    """

    command: str
    plain: bool = True
    led: bool = False
    taken: str = ""
    left: str = ""
    said: str = ""


def find_named(text: str, *, is_run: bool = False) -> Named | None:
    """Return the command that a text names; None where it names none.

    Args:
        text: The whole request.
        is_run: It is sure to ask for a run, so a program with any word after it is a command.
    """
    text = text.strip()
    if named := _leading(text, any_word=is_run):
        return named
    quotes = [
        one for one in islice(_QUOTES.finditer(text), _QUOTES_READ) if _is_command(_inside(one))
    ]
    if quotes:
        return _quoted(text, quotes)
    return Named("", plain=False) if _speaks_of_one(text) else None


def _leading(text: str, *, any_word: bool) -> Named | None:
    """Return the command that opens a text, behind nothing but please and a verb."""
    verb, start = _verb(text)
    begins: _Begins = _bare_any if any_word else _runs
    if verb is None and not _may_begin(text, start):
        return None  # most texts end here
    if verb is not None:
        colon = _COLON.match(text, verb.end())
        start = colon.end() if colon else verb.end()
        after = text[start : start + 1]
        if not colon and verb[0].isascii() and not after.isspace() and after not in "`\"'“「":
            return None
        begins = _any if colon else _runs if verb["tries"] else _behind_verb
    hangs = _THEN_IF.search(fold(text[:_HEAD_CHARS]), start) if verb else None
    later = [(text[: hangs.start()], text[hangs.end() :])] if hangs else ()
    for head, left in chain([(text, "")], wishes.splits(text, within=_HEAD_CHARS), later):
        taken, said = head if left else "", before_report(head) if verb else ""
        if said and (command := _only_command(said[start:].strip(), begins)):
            return Named(command, led=True, taken=taken, left=left, said=said)
        if command := _only_command(head[start:].strip(), begins):
            return Named(command, led=verb is not None, taken=taken, left=left)
    return None


def before_report(text: str) -> str:
    """Return a wish up to where it says what to look at afterwards; empty where it says nothing."""
    tail = _REPORTS.search(fold(text[-_AROUND_CHARS:]))
    if tail is None or next(wishes.splits(tail["en"] or tail["zh"] or ""), None):
        return ""
    return text[: len(text) - len(tail[0])]


def _verb(text: str) -> tuple[re.Match[str] | None, int]:
    """Return the verb that leads to a command, if there is one, and where please ends."""
    start = wishes.polite_end(text)
    return _RUNS.match(fold(text[: start + _OPENING_CHARS]), start), start


def _may_begin(text: str, start: int) -> bool:
    """Tell whether a program stands there, or what may stand before one."""
    word = _PROGRAM.match(fold(text[start : start + _PROGRAM_CHARS]))
    if word is None:
        return text.startswith("(", start)
    return _is_program(word[0].rstrip(".")) or text.startswith("=", start + word.end())


def _only_command(rest: str, begins: _Begins) -> str | None:
    """Return the command that a text is, quoted or as it stands."""
    if match := _QUOTES.match(rest):
        after = rest[match.end() :]
        if len(after) <= _TAIL_CHARS and not _CLOSING.sub("", f"x{after}").strip(" .。!！x"):
            return _inside(match) if _is_command(_inside(match)) else None
    return _exact(rest, begins)


def _exact(line: str, begins: _Begins) -> str | None:
    """Return a line that is a command to its last word, as written; None for all others."""
    line = whole = line.strip()
    line = line[:-_TAIL_CHARS] + _CLOSING.sub("", line[-_TAIL_CHARS:])
    opening = [token.lstrip("(") for token in _TOKEN.findall(line[:_OPENING_CHARS])]
    opening = [*dropwhile(_ASSIGNS.fullmatch, opening)]
    if not opening or not begins(fold(opening[0]), [fold(word) for word in opening[1:]]):
        return None
    if _LINE.fullmatch(line) is None:
        return None
    words = _TOKEN.findall(line)
    # Each pair once: a long command says most of its words again and again.
    if words[-1] in _NEXT - {";"} or (line != whole and words[-1] in _WANTS):
        return None  # it does not end there
    if opening[0] != "echo" and any(starmap(_breaks_off, set(pairwise(words)))):
        return None
    return line


def _breaks_off(before: str, word: str) -> bool:
    """Tell whether a word that follows another belongs to no command."""
    if before in _NEXT or before.endswith(";"):
        return not _is_program(word.lstrip("(")) and _ASSIGNS.fullmatch(word) is None
    if word[:1] in "'\"" or word in _NEXT:
        return False
    if _MARKED.search(word):
        return True
    if before[:1] == "-":  # its value, unless it takes the whole back
        return _TAKES_BACK.fullmatch(fold(word)) is not None
    if _HAN_ALONE.fullmatch(word):
        return True
    bare = fold(word).rstrip(",.:;?!")
    return word not in _TARGETS and (bare in _SAYS or _BENT.fullmatch(bare) is not None)


def _bare_any(program: str, arguments: list[str]) -> bool:
    return program in _PROGRAMS or _runs(program, arguments)


def _behind_verb(program: str, arguments: list[str]) -> bool:
    if program in params.NOUNS or _PROGRAM.fullmatch(program) is None:
        return False
    return not params.names_tests(program, " ".join(arguments))


def _any(program: str, _arguments: list[str]) -> bool:
    return program.isascii() and program not in params.NOUNS and not program.startswith("`")


def _is_command(quoted: str) -> bool:
    return _exact(quoted, lambda program, _: _is_program(program)) is not None


def _inside(match: re.Match[str]) -> str:
    return next(piece for piece in match.groups() if piece).strip()


def _quoted(text: str, quotes: list[re.Match[str]]) -> Named:
    """Return the one command that is quoted beside a wish to run it, if it can be no other."""
    match, around = quotes[0], _QUOTES.sub(lambda quote: " " * len(quote[0]), text)
    # Where each further wish begins: the wish that holds the quote is to be the first one, and what
    # stands before it may forbid it, or say when it is meant.
    parted = [(len(text) - len(left), head, left) for head, left in wishes.splits(text)]
    start = max((at for at, *_ in parted if at <= match.start()), default=0)
    after = ((at, head, left) for at, head, left in parted if at >= match.end())
    end, taken, left = next(after, (len(text), "", ""))
    before, own = fold(around[:start]), fold(around[start:end])
    alone = len(quotes) == 1 and len(own) <= _AROUND_CHARS and not _ACTS.search(before)
    if not alone or _SPOKEN_OF.search(before + own) or not _ACTS.search(own):
        return Named("", plain=False)
    led = _verb(text[: match.start()])[0] is not None
    return Named(_inside(match), plain=led, led=led, taken=taken, left=left)


def _speaks_of_one(text: str) -> bool:
    """Tell whether a program with a target or an option stands somewhere in a text."""
    words = _APART.split(fold(text[:_SPOKEN_CHARS]))
    return any(one in _PROGRAMS and _runs(one, [two]) for one, two in pairwise(words))


def wants_tests(text: str) -> bool:
    """Tell whether a wish to run something is about the tests, whose command we know."""
    return _TESTS.search(text.lower()) is not None


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
    return _GIVES.search(text[:READ_CHARS]) is not None or (
        quoted and params.find_quoted(text) is not None
    )


def names_object(rest: str) -> bool:
    """Tell whether what follows "sync" is a sentence: "the config with what the docs say"."""
    return _OBJECT.match(rest) is not None


def _is_program(word: str) -> bool:
    return word.casefold() in _PROGRAMS | _WORDLIKE or word.startswith(("./", "../", "/"))


def _runs(program: str, arguments: list[str]) -> bool:
    first = arguments[0] if arguments else ""
    given = bool(first) and (first in _TARGETS or _ARGUMENT.fullmatch(first) is not None)
    if program in _PROGRAMS:
        return given or not arguments
    if program in _WORDLIKE:
        if "&&" in arguments:
            return True
        return given and (len(arguments) == 1 or _ARGUMENT.fullmatch(arguments[-1]) is not None)
    return program.startswith("./") and len(program) > 2
