"""What a text names: files, commands, and what may stand in code."""

from __future__ import annotations

import pytest

from local_agent.understand import params
from tests.each import each


@pytest.mark.parametrize(
    ("text", "names"),
    [
        ("为什么 delays 每次都一样？", ("delays",)),
        ("why are the delays the same", ()),
        ("parse_config 和 Router 有什么区别", ("parse_config", "Router")),
        ("看看 ok 的实现", ()),
    ],
)
def test_in_chinese_an_english_word_may_be_a_name(text: str, names: tuple[str, ...]) -> None:
    assert params.find_names(text) == names


@each(
    "text, files",
    [
        ("fix .env.example and .gitlab-ci.yml", (".env.example", ".gitlab-ci.yml")),
        ("add dist to .gitignore", (".gitignore",)),
        ("fix .github/workflows/ci.yml", (".github/workflows/ci.yml",)),
        ("fix src/v1.2/app.py", ("src/v1.2/app.py",)),
        ("MyApp.Tests/Foo.cs 里的断言改一下", ("MyApp.Tests/Foo.cs",)),
        ("fix ./x/y.py", ("x/y.py",)),
        ("看看 文档/说明.md", ("文档/说明.md",)),
        ("看看文档/说明.md里的链接", ("文档/说明.md",)),
        ("改一下src/登录.ts", ("src/登录.ts",)),
        ("修登录.py，还有src/工具/日期.py", ("登录.py", "src/工具/日期.py")),
        ("fix app/[id]/page.tsx and [id].tsx", ("app/[id]/page.tsx", "[id].tsx")),
        ("fix app/[...slug]/page.tsx", ("app/[...slug]/page.tsx",)),
        ("fix app/(auth)/login.tsx", ("app/(auth)/login.tsx",)),
        ("fix packages/@scope/a.ts", ("packages/@scope/a.ts",)),
        ("fix @src/app.py", ("src/app.py",)),
        ("fix src/app.py(12,3)", ("src/app.py",)),
        ("fix the Makefile. And Dockerfile.dev", ("Makefile", "Dockerfile.dev")),
        # As before: Chinese around a name of Latin letters is none of it.
        ("检查src/app.py里的超时", ("src/app.py",)),
        ("把src/utils里的helper.py改一下", ("helper.py",)),
        ("文档里的a.md和（src/b.py）", ("a.md", "src/b.py")),
        ("fix [src/a.py] and (b.py)", ("src/a.py", "b.py")),
        ("see example.com/a/b.html and 127.0.0.1/index.html", ()),
        ("convert all .ts files and ../x.py, /etc/a.txt, ~/b.py, http://a.b/c.js", ()),
        ("main..feature/a.py", ()),
    ],
)
def test_a_file_is_found_by_its_whole_name(text: str, files: tuple[str, ...]) -> None:
    assert params.find_files(text) == files
