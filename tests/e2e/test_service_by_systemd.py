"""The agent as a service of a real systemd: a user's own manager, in surroundings of its own.

It runs in a mount namespace in which systemd seems booted, and in cgroups that are made for it, so
that the machine's own systemd, if it has one, knows nothing of it.
"""

from __future__ import annotations

import os
import re
import subprocess
import sys
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import Final

import pytest

from tests.e2e.place import COMMAND, Place, sample, wait_until

SYSTEMD: Final = Path("/lib/systemd/systemd")
HIERARCHIES: Final = ("systemd", "unified", "")  # wherever cgroups of names or of version 2 are
MANAGER: Final = """
mount -t tmpfs none /run && mkdir -p /run/systemd/system || exit 1
for group in {groups}; do echo $$ > $group/cgroup.procs || exit 1; done
exec {systemd} --user --log-target=null
"""

pytestmark = [
    pytest.mark.thorough,
    pytest.mark.needs("bubblewrap"),
    pytest.mark.skipif(
        os.geteuid() != 0 or not SYSTEMD.exists() or sys.platform != "linux",
        reason="needs root and systemd's program",
    ),
]


class Login:
    """What a login gives: a manager of the user's services, and its environment.

    Args:
        place: The installation; its home is the user's.
        folder: For what the manager keeps while it runs.
    """

    def __init__(self, place: Place, folder: Path) -> None:
        self.place = place
        self.environ = place.environ | {"HOME": str(folder), "XDG_RUNTIME_DIR": str(folder / "run")}
        (folder / "run").mkdir(mode=0o700)
        self.groups = list(_new_groups(f"codexbridge-{os.getpid()}"))
        script = MANAGER.format(groups=" ".join(map(str, self.groups)), systemd=SYSTEMD)
        self.manager = subprocess.Popen(
            ["unshare", "--mount", "--propagation", "private", "sh", "-c", script],
            env=self.environ,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )

    def run(self, *arguments: str) -> subprocess.CompletedProcess[str]:
        """Run a program as the person who logged in does."""
        inside = ["nsenter", "--mount", "--target", str(self.manager.pid)]
        return subprocess.run(
            [*inside, *arguments],
            env=self.environ,
            cwd="/",
            capture_output=True,
            encoding="utf-8",
            timeout=60,
            check=False,
        )

    def is_there(self) -> bool:
        """Tell whether the manager answers; where none can be, there is nothing to test."""
        if self.manager.poll() is not None:
            pytest.skip("no manager of systemd's can be started here")
        return self.run("systemctl", "--user", "show", "--property=Version").returncode == 0

    def end(self) -> None:
        """End the manager with all that it started."""
        self.manager.terminate()
        with suppress(subprocess.TimeoutExpired):
            self.manager.wait(30)
        self.manager.kill()
        for group in self.groups:
            below = sorted(group.rglob("*"), reverse=True)
            for folder in [*(path for path in below if path.is_dir()), group]:
                with suppress(OSError):
                    folder.rmdir()


def _new_groups(name: str) -> Iterator[Path]:
    for hierarchy in HIERARCHIES:
        root = Path("/sys/fs/cgroup", hierarchy)
        if (root / "cgroup.procs").exists():
            with suppress(OSError):
                (root / name).mkdir()
                yield root / name


@pytest.fixture
def login(tmp_path: Path) -> Iterator[Login]:
    place = Place.at(tmp_path / "home")
    workspace = sample(tmp_path / "shop", [("README.md", "A shop.\n")])
    login = Login(place, tmp_path)
    try:
        wait_until(login.is_there)
        place.start_all(workspace, "true")
        place.kill("agent")
        yield login
    finally:
        login.end()
        place.stop()


@pytest.mark.requirement("P3")
def test_a_service_starts_comes_back_after_a_kill_and_ends(login: Login) -> None:
    def service(*words: str) -> str:
        done = login.run(*COMMAND, "service", *words)
        assert done.returncode == 0, done
        return done.stdout

    def main_process() -> int:
        shown = login.run("systemctl", "--user", "show", "-p", "MainPID", "codexbridge-agent")
        return int(shown.stdout.partition("=")[2])

    service("install")
    first = main_process()
    assert login.place.status()["connected"]
    assert login.place.callback("@dev status") == 200
    os.kill(first, 9)
    again = wait_until(lambda: {main_process()} - {0, first})
    wait_until(lambda: login.place.status().get("connected"))
    assert again == {main_process()}
    assert re.search(r"restarts\D+1\b", service("status"), re.IGNORECASE)
    service("remove")
    assert main_process() == 0
    assert not login.place.status()
