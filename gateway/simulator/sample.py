"""The demo's sample project: a small repository with a real bug and a real failing test."""

from __future__ import annotations

from pathlib import Path
from typing import Final

TEST_COMMAND: Final = "python3 -m unittest -v"

FILES: Final[dict[str, str]] = {
    ".gitignore": "__pycache__/\n",
    "README.md": "# shop-api\n\nSign-in of a small shop. The retry does not back off yet.\n",
    "login.py": '''"""Sign-in with retries."""

from typing import Callable


def delays(attempts: int, base: float = 0.5) -> list[float]:
    """Return the pauses between attempts, in seconds: each twice as long as the one before."""
    return [base for _ in range(attempts - 1)]


def sign_in(call: Callable[[], int], attempts: int = 3) -> int:
    """Call until the answer is below 500, and return the last answer."""
    status = 0
    for _ in range(attempts):
        status = call()
        if status < 500:
            break
    return status
''',
    "test_login.py": '''"""Tests of the sign-in."""

import unittest

import login


class Retry(unittest.TestCase):
    """What a retry must do."""

    def test_a_server_error_is_tried_again(self):
        answers = iter([503, 503, 200])
        self.assertEqual(login.sign_in(lambda: next(answers)), 200)

    def test_a_wrong_password_is_not_tried_again(self):
        answers = iter([401, 200])
        self.assertEqual(login.sign_in(lambda: next(answers)), 401)

    def test_each_pause_is_twice_the_one_before(self):
        self.assertEqual(login.delays(4), [0.5, 1.0, 2.0])


if __name__ == "__main__":
    unittest.main()
''',
}
UNCOMMITTED: Final = ("README.md", "\nNext: exponential back-off for 5xx.\n")


def write_sample(folder: Path) -> Path:
    """Create the repository with one commit and one uncommitted line, and return its folder."""
    import pygit2

    folder.mkdir(mode=0o700, parents=True)
    for name, text in FILES.items():
        (folder / name).write_text(text, encoding="utf-8")
    repository = pygit2.init_repository(str(folder), initial_head="main")
    repository.index.add_all()
    repository.index.write()
    author = pygit2.Signature("CodexBridge demo", "demo@localhost")
    repository.create_commit(
        "HEAD", author, author, "Sign-in with retries", repository.index.write_tree(), []
    )
    name, text = UNCOMMITTED
    with (folder / name).open("a", encoding="utf-8") as file:
        file.write(text)
    return folder
