"""No secret of a workspace reaches a model, the chat or a log, whatever is asked.

The workspace is full of them: every case of the set, in source files, in what changed since the
last commit, in `.env`, in a commit message, in what a linter wrote, and in the requests themselves.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Sequence
from typing import get_args

import pytest

from local_agent.propose.prompt import Job, instructions
from tests import model_script as script
from tests.e2e.place import Place
from tests.e2e.proposing import Shop, http, repository, requests
from tests.model_server import Started, started
from tests.secrets_set.halves import secrets
from tests.secrets_set.making import WINDOW, Case

FILE_BYTES = 11_000  # less than what is shown of one file
FILES_AT_ONCE = 5  # within what is shown in all
# Where unseen characters split a secret it is not there to be searched for in what was sent.
CASES = tuple(
    case
    for case in (*secrets(), *secrets(held=True))
    if case.written.isascii() and not set(case.written) & set("\0\b\x7f")
)
FIX = {"path": "src/part_00.py", "action": "edit", "search": "RETRY = 3", "replace": "RETRY = 5"}
AGAIN = {"path": "src/part_00.py", "action": "edit", "search": "RETRY = 5", "replace": "RETRY = 7"}


def packed(cases: Iterable[Case]) -> list[str]:
    """Return texts that hold all cases, none of them cut."""
    texts = [""]
    for case in cases:
        if len((texts[-1] + case.text).encode()) > FILE_BYTES:
            texts.append("")
        texts[-1] += f"{case.text}\n\n"
    return texts


PARTS = {f"src/part_{number:02}.py": text for number, text in enumerate(packed(CASES))}
SAID = [case.text for case in CASES[::200]]  # in requests, answers and messages
ANSWER = "It is so because of these:\n" + "\n".join(SAID)
FAILURES = SAID[:4]
RULES = [instructions(job, "en", nonce="") for job in get_args(Job)]  # " machine" is no secret


@pytest.fixture(scope="module")
def service(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Started]:
    """A model that answers with secrets of its own, and changes a line among others."""
    steps = [
        script.edits("Raised.", FIX, when="to five"),
        script.edits("Raised more.", AGAIN, when="to seven"),
        *[script.edits(ANSWER, when="the tests fail")] * len(FAILURES),
    ]
    then = script.text(ANSWER)
    with started(tmp_path_factory.mktemp("service"), *steps, then=then) as server:
        yield server


@pytest.fixture(scope="module")
def shop(tmp_path_factory: pytest.TempPathFactory, service: Started) -> Iterator[Shop]:
    """One installation with that workspace."""
    folder = tmp_path_factory.mktemp("secrets")
    first = "RETRY = 3\n\n" + PARTS["src/part_00.py"]
    files = {
        **PARTS,
        "src/part_00.py": first,
        ".env": "\n".join(case.text for case in CASES[:100]),
        ".gitignore": "report.txt\n",
        "report.txt": "".join(
            f"src/part_01.py:{number}:1: E1 {text.strip()}\n"
            for number, text in enumerate(SAID, start=1)
            if "\n" not in text.strip()  # a linter quotes one line
        ),
    }
    workspace = repository(folder / "shop-api", files, message="\n\n".join(SAID))
    # Added, not put in its place: in a diff of both, values would stand far from their names.
    added = PARTS["src/part_02.py"] + PARTS["src/part_03.py"]
    (workspace / "src/part_02.py").write_text(added, encoding="utf-8")
    place = Place.at(folder / "home")
    try:
        made = Shop(place, workspace, {"chat": http(service, "chat")}).open("chat")
        place.run("workspace", "set", "shop-api", "--diagnostics", "report.txt")
        yield made
    finally:
        place.stop()


def windows(case: Case) -> Iterator[str]:
    """Yield every eight characters in a row of a secret, as `Case.survives_in` has them."""
    size = min(len(case.secret), WINDOW)
    yield from (case.secret[at : at + size] for at in range(len(case.secret) - size + 1))


def rows(texts: Iterable[str], sizes: Iterable[int]) -> set[str]:
    """Return all that stands in a row in these texts, by length: one look-up for each window."""
    return {
        text[at : at + size]
        for text in texts
        for size in sizes
        for at in range(len(text) - size + 1)
    }


def survivors(texts: Sequence[str]) -> list[str]:
    """Return which secrets can be read in these texts, but for what stands around secrets too."""
    sizes = {min(len(case.secret), WINDOW) for case in CASES}
    around = [case.text.replace(case.secret, "\n") for case in CASES]
    read = rows(texts, sizes) - rows([*around, *RULES], sizes)
    return sorted(
        {
            f"{case.format}, {case.setting}: {window}"
            for case in CASES
            for window in windows(case)
            if window in read
        }
    )


@pytest.mark.requirement("R54")
@pytest.mark.requirement("R55")
def test_no_secret_leaves_whatever_is_asked(shop: Shop, service: Started) -> None:
    names = sorted(PARTS)
    for at in range(0, len(names), FILES_AT_ONCE):
        shop.answered(
            f"@dev why are there so many of them in {' '.join(names[at:][:FILES_AT_ONCE])}?"
        )
    shop.join("changes")
    first = shop.ask("@dev fix the retry in src/part_00.py: raise it to five")
    shop.say(f"@dev revise {first} raise it to seven\n{SAID[0]}")
    shop.in_state(f"revise {first}", "WAITING_APPROVAL")
    for number, text in enumerate(FAILURES):
        shop.answered(f"@dev the tests fail, find the cause ({number}):\nsrc/part_01.py:1: {text}")
    shop.answered("@dev review my changes")
    shop.answered("@dev review the last commit")

    bodies = requests(service)
    sent = [message["content"] for body in bodies for message in body["messages"]]
    asked = "".join(sent)
    assert all(f'path="{name}"' in asked for name in names), "all of them were shown"
    assert " CHANGES path=" in asked
    assert " EARLIER PROPOSAL " in asked
    assert asked.count("[redacted") > len(CASES) / 2
    heard = [text for user in shop.members for text in shop.place.chat(user)]
    assert len(heard) > 12
    logs = [shop.place.log("agent"), shop.place.log("gateway")]
    assert survivors([*sent, *(json.dumps(body) for body in bodies), *heard, *logs]) == []
