"""`cli.markdown`: how-to pages on a terminal."""

from __future__ import annotations

import pytest

from common.sentences import LANGS, Lang
from common.terminal import Ink, cells
from local_agent.cli import help as pages
from local_agent.cli.markdown import render

PLAIN = Ink(on=False)
PAGE = """\
# How it goes

It says *Later* in **bold**
as `a * b * c` (see below).

- one thing
  and more of it
  1. first

| you write | what happens | asks |
|---|---|---|
| `@dev a\\|b` | it is proposed and waits for you | yes |

```
codexbridge approve T-7K3F   # whatever the width is
```

先运行，
再看（结果）
"""


def test_a_page_is_laid_out_to_the_width() -> None:
    assert render(PAGE, width=44, ink=PLAIN) == [
        "How it goes",
        "───────────",
        "",
        "  It says “Later” in bold as `a * b * c`",
        "  (see below).",
        "",
        "  - one thing and more of it",
        "    1. first",
        "",
        "  you write   what happens              asks",
        "  ──────────  ────────────────────────  ────",
        "  `@dev a|b`  it is proposed and waits  yes",
        "              for you",
        "",
        "    codexbridge approve T-7K3F   # whatever the width is",
        "",
        "  先运行，再看（结果）",
    ]


def test_a_table_without_room_has_a_line_for_each_cell() -> None:
    told = render(PAGE, width=24, ink=PLAIN)
    at = told.index("  `@dev a|b`")
    assert told[at + 1 :][:4] == [
        "      what happens: it",
        "      is proposed and",
        "      waits for you",
        "      asks: yes",
    ]


def test_emphasis_is_ink() -> None:
    told = "\n".join(render(PAGE, width=80, ink=Ink(on=True)))
    assert "\x1b[1mHow it goes\x1b[0m" in told
    assert "\x1b[1mbold\x1b[0m" in told


@pytest.mark.parametrize("lang", LANGS)
def test_every_page_is_free_of_markup_and_within_the_width(lang: Lang) -> None:
    for topic in pages.topics():
        for width in (60, 80):
            for line in render(pages.page(topic, lang), width=width, ink=PLAIN):
                if not line.startswith("    "):  # code keeps its lines
                    assert cells(line) <= width + 1, (topic, line)
                    assert not line.lstrip().startswith(("# ", "## ", "|", "```")), (topic, line)
