"""Where houses stand: one template for many, on ports that nobody else is given."""

from __future__ import annotations

import contextlib
import random
import re
import shutil
import socket
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from gateway.simulator.config import write_installation
from tests import truth, written
from tests.e2e.place import Place
from tests.forks import Zygote
from tests.matrix.house import MEMBER, House
from tests.matrix.running import PATIENCE_S, Hands, Kill

FIRST_OUTGOING_PORT: Final = 32_768  # ip_local_port_range
CHECKED: Final = "checked"  # the mark that a check leaves in its copy
WHO: Final = "[user]\n\tname = Zhang\n\temail = zhang@example.com\n"
# What is changed besides the script.
FILES: Final = {
    "login.py": "def login():\n    retry = 3\n    return retry\n",
    "notes.txt": "one\ntwo\nthree\n",
}


@dataclass(frozen=True, slots=True)
class Plot:
    """Ground for one house after another: its ports, its folders, and what each begins with."""

    zygote: Zygote
    place: Place
    workspace: Path
    template: Path
    bare: Path
    model: str

    @classmethod
    def at(cls, root: Path, zygote: Zygote, model: str) -> Plot:
        """Set up a paired machine with a workspace, as the admin and the person do.

        Args:
            root: Where.
            zygote: Forks its parts.
            model: Where a model answers.
        """
        place, bare = _place(root / "home"), root / "bare"
        plot = cls(zygote, place, root / "shop", root / "template", bare, model)
        shutil.copytree(plot.place.root, plot.bare, symlinks=True)
        house = plot.house(bare=True)
        try:
            furnish(house)
        finally:
            house.close()
        shutil.copytree(plot.place.root, plot.template, symlinks=True)
        return plot

    def house(
        self, notes: Path | None = None, kills: Sequence[Kill] = (), *, bare: bool = False
    ) -> House:
        """Return a fresh house; the one before it must be closed."""
        git = self.workspace.parent / "git"
        for folder in (self.place.root, self.workspace, git):
            shutil.rmtree(folder, ignore_errors=True)
        shutil.copytree(self.bare if bare else self.template, self.place.root, symlinks=True)
        _write(git, {"home/.gitconfig": WHO})
        _write(self.workspace, {"count.sh": truth.SCRIPT, **FILES})
        (self.workspace / "count.sh").chmod(0o755)
        planted = written.files_in(self.workspace)
        house = House(self.zygote, self.place, self.workspace, notes, kills, planted=planted)
        house.model = self.model
        return house


def _write(root: Path, files: Mapping[str, str]) -> None:
    for name, text in files.items():
        file = root / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text, encoding="utf-8")


def _place(root: Path) -> Place:
    """Return a place on ports that no outgoing connection is ever given.

    Others would be taken, now and then, while a gateway is dead; and whoever dials one of them long
    enough is connected to itself.
    """
    ports = _quiet_ports()
    made = write_installation(
        root / "config", ports=(next(ports), next(ports), port := next(ports)), lang="en"
    )
    return Place(root, made, port, {"HOME": str(root.parent / "git" / "home")})


def _quiet_ports() -> Iterator[int]:
    for port in random.SystemRandom().sample(range(10_000, FIRST_OUTGOING_PORT), 1000):
        with socket.socket() as probe, contextlib.suppress(OSError):
            probe.bind(("127.0.0.1", port))
            yield port


def furnish(house: House) -> None:
    """Add a member, pair the machine with it, and open the workspace to tasks."""
    house.admin("member", "add", MEMBER)
    house.start("simulator", "gateway")
    pair(house)
    test = ("--test", f"sh count.sh {CHECKED}")
    house.command("pair", "workspace", "add", str(house.workspace), *test, "--toolchains", "none")


def pair(house: House) -> None:
    """Make a pairing code as the admin does, and enter it at the machine; until it is paired.

    A machine that is there already, with another key or only half paired, is replaced.
    """

    def paired() -> bool:
        options = ["--machine", "dev-1", "--member", MEMBER]
        said = house.admin("pair", *options) or house.admin("pair", *options, "--replace")
        code = next((word for word in said.split() if "#CB1-" in word), "")
        return bool(code) and _enter(house, code)

    house.until(paired)


def _enter(house: House, code: str) -> bool:
    """Enter a pairing code at the machine; one that is paired already asks whether it may."""
    entering = ("pair", "--gateway", house.place.base)
    if not (house.place.root / "config" / "pairing.json").exists():
        return bool(house.command("pair", *entering, typed=f"{code}\n"))
    with Hands(house, *entering, "--replace") as hands:
        hands.read_until(":", after=re.compile("yes"))
        hands.type("yes")
        hands.read_until(":", after=re.compile("(?i)code"))
        hands.type(code)
        hands.read_to_end()
        return hands.fork.wait(PATIENCE_S) == 0
