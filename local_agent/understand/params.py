"""Targets found in a text: files, a command, a query.  Pure; nothing is rewritten (R7).

What is found here is a guess to be shown.  A path is checked by the workspace's own guard before
anything is read, and a command is shown as it stands before anything runs.
"""

from __future__ import annotations

import re
from typing import Final

from common.model.intent import MAX_FILES
from common.text import has_cjk

# Endings by which a word without a folder is a file: `java.lang` and `api.example.com` are none.
_ENDINGS: Final = (
    "py|pyi|ipynb|js|jsx|mjs|cjs|ts|tsx|vue|svelte|go|rs|rb|erb|java|kt|kts|scala|groovy|gradle|c|h|cc|cpp|hpp|cxx"
    "|m|mm|swift|dart|cs|fs|vb|php|pl|pm|lua|r|jl|ex|exs|erl|hs|ml|clj|zig|nim|sol|sql|proto|graphql|html?|css|scss"
    "|sass|less|xml|json|jsonc|json5|jsonl|ya?ml|toml|ini|cfg|conf|env|properties|lock|md|mdx|rst|txt|csv|tsv|log|sh"
    "|bash|zsh|fish|ps1|bat|cmd|mk|cmake|tf|hcl|svg|png|jpe?g|gif|ico|pdf|wxml|wxss|wxs|xlsx?|docx?|plist|storyboard"
    "|patch|diff|tpl|tmpl|j2|ejs|hbs|snap|service|bazel|bzl|asm|s|v|vhd|ino|unity|cginc|shader|prefab|gd|tscn|xib"
)
_HAN: Final = "\u3400-\u9fff"
# Of Latin letters, as routers name them, or Chinese.
_FOLDER: Final = (
    rf"(?:@?[\w.-]{{1,80}}|\[{{1,2}}[\w.-]{{1,40}}\]{{1,2}}|\([\w-]{{1,40}}\)|[{_HAN}]{{1,40}})/"
)
_STEM: Final = rf"(?:(?:\.?[\w-]|\[[\w.-]{{1,40}}\])[\w.-]*|[{_HAN}]{{1,40}}(?:\.[\w-]+)*)"
_HIDDEN: Final = r"\.(?:env(?:\.[\w-]+)?|[a-z]{2,20}(?:ignore|rc|config|attributes|modules))"
# Chinese has no blanks: in "看看文档/说明.md" the name begins after the verb.
_GLUED: Final = (
    "请|麻烦|帮我?|在|把|将|对|给|看一?下|看看?|查看|检查|改一?下|修改|改|修复?|打开|读一?下|读"
    "|解释一?下|解释|审查|更新|删除|删掉?|和|跟|与"
)
_FILE = re.compile(
    rf"(?<![\w/.:@\\-])(?:(?<![{_HAN}])(?:{_GLUED}){{0,3}}|(?![{_HAN}]))(?:\./|@)?"
    # What begins like a host is an address.
    r"(?!(?:[\w-]{1,60}\.)+(?:com|org|net|io|cn|dev|ai|edu|gov)/|\d+(?:\.\d+){3}/)"
    rf"(?P<name>(?:{_FOLDER}){{1,12}}{_STEM}\.[A-Za-z][A-Za-z0-9]{{0,10}}|{_STEM}\.(?:{_ENDINGS})"
    rf"|(?:{_FOLDER}){{0,12}}(?:Makefile|Dockerfile(?:\.\w+)?|{_HIDDEN}))"
    r"(?=\(\d+(?:,\d+)?\)|(?![\w/(\\-]|\.\w))",
    re.ASCII,
)
_QUOTED = re.compile(
    # An opening mark ends the search for a closing one: else each of many would look to the end.
    r"`([^`\n]+)`|\"([^\"\n]+)\"|“([^“”\n]+)”|「([^「」\n]+)」|『([^『』\n]+)』"
    r"|'(?<![A-Za-z0-9]')([^'\n]{2,})'(?![A-Za-z0-9])"
)
_IDENTIFIER = re.compile(
    r"[A-Za-z_]\w*(?:(?:::|\.|->)[A-Za-z_]\w*)*(?:\(\))?|[\w./-]+/[\w./-]+", re.ASCII
)
_ENGLISH = re.compile(r"(?<![\w./-])[A-Za-z_]\w{2,}(?![\w/-]|\.\w)", re.ASCII)
# After "run", these words name a thing to run and not a program.
NOUNS: Final = frozenset(
    "the a an all my our your this that these those it them everything unit integration e2e test"
    " tests suite build lint linter checks check project code app again full whole its failing only"
    " some every any and or for in on of with against over once to".split()
)
# A place of tests is named, not a program: "tests/unit", "test_login.py", "跑 login 里的测试".
_TEST_FOLDERS: Final = frozenset({"test", "tests", "__tests__", "spec", "specs"})
_PROGRAM_FOLDERS: Final = frozenset({"bin", "script", "scripts"})
_TEST_FILE = re.compile(r"test_\w+\.py|\w+_test\.\w+|[\w-]+\.(?:test|spec)\.\w+|\w+Tests?\.\w+")
_SOURCE = re.compile(r"\.(?:py|[cm]?[jt]sx?|go|rb|java|kt|rs|php|cs|cc?|cpp|swift|scala|exs?)$")
_ITS_TESTS = re.compile(
    r"(?P<of>目录|文件夹|文件|模块|包|里面?|下面?|中|的)*(?:所有|全部)?(?:单元|集成)?(?:测试|单测)(?:用例)?"
    # One test may be an argument: "run manage.py test".
    r"|(?:unit |integration )?(?:tests|specs)"
)
_ASIDE = re.compile(r"(?:please|now|again|only|for me|thanks|[,，\s]|吧|一下|谢谢)*", re.IGNORECASE)
_BEFORE_QUERY = re.compile(
    r"(?:for|where|all|any|every|the|me|out|files?|lines?|places?|usages?|uses|occurrences|"
    r"references|definitions?|of|to|containing|that (?:contain|use|call)s?|with|which|is|are|"
    r"function|class|method|variable|string|text|所有|全部|一下|下|包含|含有|出现|用到|使用|调用|"
    r"文件|函数|类|方法|变量|字符串|代码|里|中|的)(?=$|[^A-Za-z0-9_])[\s:：]*",
    re.IGNORECASE,
)
_SEARCHES = re.compile(
    r"(?:(?<![\w-])(?:find|search(?: for)?|look (?:for|up)|locate|grep(?: for)?"
    r"|where(?:'s| is| are| do| does)?|list|hunt down|dig up|show me where)(?![\w-])"
    r"|(?:查找|搜索|搜一?下?|查一?下|找出|找到|找一?下|检索|列出|寻找|定位|找|搜))[\s:：]*",
    re.IGNORECASE,
)
_BEFORE_PLACE = re.compile(
    r"(?:(?<![\w/.-])(?:in|under|inside|within|below|except|outside)(?: the| of)?|[在除])\s{0,4}$",
    re.IGNORECASE,
)
_AFTER_PLACE = re.compile(r"\s{0,4}(?:这个)?(?:文件|目录)?(?:里面?|中|内|下|以外|之外)")
_AFTER_QUERY = re.compile(
    r"\s*(?:\b(?:is|are|was)?\s*(?:defined|used|called|declared|implemented)|"
    r"\bin (?:the |this |our |my )?(?:code ?base|code|project|repo(?:sitory)?|workspace|files?)|"
    r"的?(?:定义|用法|位置|代码|地方)|(?:是)?在(?:哪里?|哪儿|什么地方)(?:定义|使用|调用)?|"
    r"[.。!！?？,，]+)\s*$",
    re.IGNORECASE,
)


def find_files(text: str) -> tuple[str, ...]:
    """Return up to ten relative paths named in the text, in order."""
    if "." not in text and "file" not in text:
        return ()  # no name of a file is without either
    names = dict.fromkeys(match["name"] for match in _FILE.finditer(text))
    # With two dots it is out of the folder, or a range of commits.
    return tuple(name for name in names if ".." not in name.replace("[...", "["))[:MAX_FILES]


def mask_quoted(text: str) -> str:
    """Return the text with every quoted piece blotted out, each character where it was."""
    return _QUOTED.sub(lambda match: "\0" * len(match[0]), text)


def find_quoted(text: str) -> str | None:
    """Return the first quoted or back-quoted piece."""
    match = _QUOTED.search(text)
    return next(piece for piece in match.groups() if piece) if match else None


def find_identifiers(text: str) -> tuple[str, ...]:
    """Return up to ten names that look like code: parse_config, TaskRow, os.path, src/a."""
    found = filter(_looks_like_code, _IDENTIFIER.findall(text))
    return tuple(dict.fromkeys(name.removesuffix("()") for name in found))[:MAX_FILES]


def find_names(text: str) -> tuple[str, ...]:
    """Return up to ten names that may stand in code: in Chinese, every English word is one."""
    words = _ENGLISH.findall(text) if has_cjk(text) else ()
    return tuple(dict.fromkeys((*find_identifiers(text), *words)))[:MAX_FILES]


def find_wanted(text: str) -> str | None:
    """Return the literal text to look for, out of a whole request."""
    found = _SEARCHES.search(text)
    query = find_query(text[found.end() :]) if found else find_query(text)
    return query or (find_query(text[: found.start()]) if found else None)


def find_query(rest: str) -> str | None:
    """Return the literal text to look for, out of what follows "find"."""
    if quoted := find_quoted(rest):
        return quoted
    query = _trim(rest)
    names = find_identifiers(query)
    if len(names) == 1 and " " in query and not _is_place(names[0], query):
        return names[0]
    return query or None


def _is_place(name: str, query: str) -> bool:
    """Tell whether a name says where to look, as in "retry in login.py", "login.py 里的 retry"."""
    before, _, after = query.partition(name)
    return bool(_BEFORE_PLACE.search(before) or _AFTER_PLACE.match(after))


def names_tests(word: str, rest: str) -> bool:
    """Tell whether what follows "run" is a place with tests in it: ``./…`` is always a program."""
    if word.startswith(("./", "../", "/", "~")):
        return False
    like_path = "/" in word or _SOURCE.search(word) is not None
    if (said := _ITS_TESTS.match(rest)) and _ASIDE.fullmatch(rest, said.end()):
        return like_path or said["of"] is not None
    *folders, name = word.rstrip("/").split("/")
    in_folder = "/" in word and not _TEST_FOLDERS.isdisjoint((*folders, name))
    in_folder = in_folder and _PROGRAM_FOLDERS.isdisjoint(folders)
    a_source = "." not in name or _SOURCE.search(name) is not None
    is_file = _TEST_FILE.fullmatch(name) is not None and _SOURCE.search(name) is not None
    is_tests = is_file or (in_folder and a_source)
    return is_tests and _ASIDE.fullmatch(rest) is not None


def _trim(text: str) -> str:
    query = text.strip().rstrip(" .。!！?？,，")
    while (match := _BEFORE_QUERY.match(query)) and match.end() < len(query):
        query = query[match.end() :]
    while (match := _AFTER_QUERY.search(query)) and match.start() > 0:
        query = query[: match.start()]
    return query.strip()


def _looks_like_code(word: str) -> bool:
    bare = word.removesuffix("()")
    return (
        word != bare
        or "_" in bare.strip("_")
        or any(mark in bare for mark in ("/", ".", "::", "->"))
        or re.search(r"[a-z0-9][A-Z]", bare) is not None
    )
