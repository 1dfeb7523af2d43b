"""The steps of `gateway init`, in their order.

Each step first looks at what is there: a value is asked for where there is none, and again where
WeCom or the doctor refuses it.  The checks are the doctor's own.
"""

from __future__ import annotations

import argparse
import asyncio
import secrets
import signal
import string
import sys
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any, Final
from urllib.parse import urlsplit

from common.doctor import Examined, Finding, Tone, examine
from common.errors import ConfigError, InputError
from common.protocol.pairing import pairing_line
from common.sentences import Lang, say
from gateway.base.messages import FIRST_APP, USER_ID
from gateway.base.settings import is_loopback, public_url
from gateway.doctor import all_checks
from gateway.doctor.local import EXAMPLE_CORP, EXAMPLE_HOSTS
from gateway.faces.cli import Console, now_ms
from gateway.faces.cli.devices import make_code
from gateway.faces.cli.init import live, texts
from gateway.faces.cli.init.asking import EXPECTED, Question, Screen
from gateway.faces.cli.init.draft import SECRETS, Draft, Name
from gateway.store import agents, members
from gateway.store.pairings import MACHINE_NAME

TRIES: Final = 3  # WeCom locks an address that tries wrong secrets again and again
MACHINE: Final = "dev-1"
_ALPHANUMERIC: Final = string.ascii_letters + string.digits


def _random(length: int) -> str:
    return "".join(secrets.choice(_ALPHANUMERIC) for _ in range(length))


CORP_ID: Final = Question(
    ("wecom", "corp_id"),
    texts.CORP_ID,
    texts.CORP_ID_WHERE,
    "--corp-id",
    form=(r"w[a-z][0-9A-Za-z]{6,32}", texts.CORP_ID_FORM),
)
AGENT_ID: Final = Question(
    ("wecom", "agent_id"),
    texts.AGENT_ID,
    texts.AGENT_ID_WHERE,
    "--agent-id",
    form=(r"[0-9]{1,12}", texts.AGENT_ID_FORM),
)
SECRET: Final = Question(
    ("wecom", "corp_secret"),
    texts.SECRET,
    texts.SECRET_WHERE,
    form=(r"[!-~]{1,256}", texts.SECRET_FORM),
)
PUBLIC_URL: Final = Question(
    ("public_url",), texts.PUBLIC_URL, texts.PUBLIC_URL_WHERE, "--public-url"
)
PROXY: Final = Question(
    ("trusted_proxies",),
    texts.PROXY,
    texts.PROXY_WHERE,
    "--proxy",
    value=lambda text: tuple(text.replace(",", " ").split()),
)
TOKEN: Final = Question(
    ("wecom", "token"),
    texts.TOKEN,
    texts.TOKEN_WHERE,
    make=lambda: _random(32),
    form=(r"[0-9A-Za-z]{1,32}", texts.TOKEN_FORM),
)
AES_KEY: Final = Question(
    ("wecom", "encoding_aes_key"),
    texts.AES_KEY,
    texts.AES_KEY_WHERE,
    make=lambda: _random(43),
    form=(r"[0-9A-Za-z]{43}", texts.AES_KEY_FORM),
)
MEMBER: Final = Question(
    (), texts.MEMBER, texts.MEMBER_WHERE, "--member", form=(USER_ID, texts.MEMBER_FORM)
)
# Whose answer it is that a finding refuses.
_WHOSE: Final[Mapping[str, Question]] = {
    "wecom.bad-corp-id": CORP_ID,
    "wecom.bad-agent-id": AGENT_ID,
    "wecom.bad-secret": SECRET,
    "wecom.forbidden": SECRET,
    "config.token": TOKEN,
    "config.encoding-aes-key": AES_KEY,
}
_FINE: Final = Finding("fine")


class Setup:
    """One run.

    Attributes:
        user: The first member.
        machine: Name for the machine to pair.
    """

    def __init__(self, args: argparse.Namespace, lang: Lang, environ: Mapping[str, str]) -> None:
        self.args = args
        self.environ = environ
        asks = not (args.non_interactive or args.json)
        self.screen = Screen(lang, environ, config=args.config, asks=asks)
        self.draft = Draft(environ, args.config, args.secrets_dir)
        self.user = self.machine = ""
        self._refused: set[Name] = set()
        self._seen: set[Name] = set()

    def run(self) -> int:
        """Go through all steps, and return the exit code."""
        if self.screen.asks and not sys.stdin.isatty():
            raise InputError("init.no-terminal")
        for number in (signal.SIGTERM, signal.SIGHUP):
            signal.signal(number, _interrupt)
        with self.draft.alone(), self.leaving():
            self.introduce()
            self.reach_wecom()
            self.enter_credentials()
            self.enter_addresses()
            self.enter_callback_keys()
            self.add_member()
            self.name_machine()
            self.check_all()
            return live.go_live(self) if self.screen.asks else self.hand_over()

    @contextmanager
    def leaving(self) -> Iterator[None]:
        """Say what is kept where the person stops."""
        try:
            yield
        except KeyboardInterrupt:
            self.screen.print()
            self.screen.tell(texts.LEFT)
            raise

    def introduce(self) -> None:
        """Say what this does, and take the options that nobody is asked for."""
        self.screen.tell(texts.BEGIN, file=self.draft.file, secrets=self.draft.secrets)
        if not self.draft.file.exists():  # the team's language, until somebody says otherwise
            self.draft.put(("language",), self.screen.lang)
        trial = _trial(self.draft.load().listen.port)
        for name, given in (
            (("wecom", "api_base"), self.args.api_base),
            (("listen", "port"), self.args.port),
        ):
            if given is not None:
                self.draft.put(name, given)
        if self.draft.value(PUBLIC_URL.name) == trial:  # it was made of the port
            self.draft.put(PUBLIC_URL.name, _trial(self.draft.load().listen.port))

    def reach_wecom(self) -> None:
        """Look for WeCom's API before anything is said of its answers."""
        self.screen.title(texts.STEP_WECOM)
        self.look("wecom-api", "clock")

    def enter_credentials(self) -> None:
        """Corp id, AgentId and Secret, as WeCom itself accepts them."""
        questions = (CORP_ID, AGENT_ID, SECRET)
        found = self.settle(questions, ("wecom-token", "wecom-app"))
        if found.code == "wecom.untrusted-address":
            self.screen.tell(texts.TRUST_LATER, address=found.facts["address"])

    def enter_addresses(self) -> None:
        """The address that WeCom and machines dial, and the proxy between."""
        self.screen.title(texts.STEP_ADDRESS)
        listen = self.draft.load().listen
        is_trial = is_loopback(urlsplit(self.draft.load().wecom.api_base).hostname or "")
        self.answer(PUBLIC_URL, _trial(listen.port) if is_trial else "")
        public = urlsplit(self.draft.load().public_url).hostname or ""
        if is_loopback(listen.host) and not is_loopback(public):
            self.answer(PROXY, "127.0.0.1")

    def enter_callback_keys(self) -> None:
        """Token and EncodingAESKey: the console's, or made here."""
        self.screen.title(texts.STEP_CALLBACK)
        self.settle((TOKEN, AES_KEY), ("callback-keys",))

    def add_member(self) -> None:
        """Put the first member on the allow-list, who as an admin is told of alarms as well.

        Raises:
            InputError: ``member.invalid``; or ``init.missing`` (name, how).
        """
        self.screen.title(texts.STEP_MEMBER)
        with self.console.open_store() as store:
            listed = [one for one in store.read(members.everyone) if one.app == FIRST_APP]
            by_role = [one for one in listed if one.role == "admin"]
            by_role.sort(key=lambda one: one.added_at)
            users = {one.user_id for one in listed}
            # The settings name them too, as earlier versions of this wrote it.
            admins = (*self.draft.load().admins, *(one.user_id for one in by_role))
            self.user = self._first_member([one for one in admins if one in users] or admins)
            if self.user not in users or self.user not in admins:
                person = self.console.person(self.user)
                store.write(members.add, person, lang=None, role="admin", at_ms=now_ms())
            if self.user not in users:
                self.screen.tell(texts.MEMBER_ADDED, user=self.user)

    def _first_member(self, known: Sequence[str]) -> str:
        user = self.args.member or next(iter(known), "")
        if user:
            label = say(texts.MEMBER, self.screen.lang)
            self.screen.tell(
                texts.GIVEN if self.args.member else texts.KEPT, label=label, value=user
            )
        elif not self.screen.asks:
            raise InputError("init.missing", name="member", how=MEMBER.flag)
        return user or self.screen.ask(MEMBER)

    def name_machine(self) -> None:
        """Choose a name for the machine, unless one works for the member already."""
        given = self.args.machine
        if bound := self.bound():
            self.machine = given or bound[0].machine
        elif given or not self.screen.asks:
            self.machine = given or MACHINE
        while not MACHINE_NAME.fullmatch(self.machine):
            if self.machine:
                fault = InputError("machine.invalid-name", machine=self.machine[:64])
                if not self.screen.asks:
                    raise fault
                self.screen.complain(fault)
            asked = Question((), texts.MACHINE, texts.MACHINE_WHERE)
            self.machine = self.screen.ask(asked, MACHINE)

    def check_all(self) -> None:
        """Look at everything once more that keeps a gateway from starting.

        Raises:
            InputError: ``init.refused`` (said, mend).
        """
        self.screen.title(texts.STEP_START)
        found = self.look("settings", "callback-keys", "state", "disk", "port")
        if found.tone is Tone.BAD and found.code not in EXPECTED:
            raise self.refusal(found)

    def hand_over(self) -> int:
        """Print the line for the machine, for whoever goes on without a person."""
        line, until = None, None
        if not self.is_bound():
            code, until = make_code(self.console, self.machine, self.user)
            line = pairing_line(self.public, code)
        if self.args.json:
            facts = {"config": str(self.draft.file), "secrets": str(self.draft.secrets)}
            facts |= {"member": self.user, "machine": self.machine, "url": self.public}
            return self.console.print_json({**facts, "line": line, "expires_at": until})
        if line is not None:
            print(line, flush=True)
        else:
            self.screen.print(say(texts.PAIRED_ALREADY, self.screen.lang, machine=self.machine))
        return 0

    # --- what the steps are made of

    @property
    def console(self) -> Console:
        """The admin's console of this gateway, with the settings so far."""
        settings = self.draft.load()
        return Console(self.screen.lang, self.environ, settings, self.args.config)

    @property
    def public(self) -> str:
        """The origin that machines dial."""
        settings = self.draft.load()
        return public_url(settings, port=settings.listen.port)

    def bound(self) -> list[agents.Agent]:
        """Return the machines that work for the member."""
        with self.console.open_store() as store:
            ours = store.read(members.by_machine)
            everyone = store.read(agents.everyone)
        person = self.console.person(self.user)
        return [
            agent
            for agent in everyone
            if agent.revoked_at is None and person in ours.get(agent.agent_id, ())
        ]

    def is_bound(self) -> bool:
        """Tell whether the machine of that name works for the member already."""
        return any(agent.machine == self.machine for agent in self.bound())

    def settle(self, questions: tuple[Question, ...], checks: tuple[str, ...]) -> Finding:
        """Ask until nothing that was answered is refused, each a few times at most.

        Raises:
            InputError: ``init.refused`` (said, mend).
        """
        refused: Counter[Name] = Counter()
        while True:
            for question in questions:
                self.answer(question)
            found = self.look(*checks)
            if (culprit := _WHOSE.get(found.code)) is None:
                for name, value in list(self.draft.held.items()):
                    self.draft.put(name, value)
                return found
            refused[culprit.name] += 1
            if refused[culprit.name] == TRIES or not self.screen.asks:
                raise self.refusal(found)
            self._refused.add(culprit.name)

    def answer(self, question: Question, default: str = "") -> None:
        """See that a value is there: the option's, the one that was there, or the person's.

        Raises:
            InputError: ``init.missing`` (name, how).
        """
        name = question.name
        if name in self._refused:
            self._refused.discard(name)
        elif self._has(question):
            return
        if self.screen.asks:
            while not self._take(question, self.screen.ask(question, default)):
                pass
        elif default:
            self.draft.put(name, question.value(default))
        else:
            how = question.flag or self.draft.secret_file(name)
            raise InputError("init.missing", name=".".join(name), how=how)

    def _has(self, question: Question) -> bool:
        name, is_new = question.name, question.name not in self._seen
        self._seen.add(name)
        given = getattr(self.args, question.flag[2:].replace("-", "_"), None)
        if is_new and given is not None:
            self.draft.put(name, question.value(given))
        there = self.draft.value(name)
        if _is_example(there):
            return False
        if is_new and there:
            shown = "•••" if name in SECRETS else _shown(there)
            label = say(question.label, self.screen.lang)
            self.screen.tell(texts.KEPT if given is None else texts.GIVEN, label=label, value=shown)
        return bool(there)

    def _take(self, question: Question, typed: str) -> bool:
        if not typed and question.make is not None:
            typed = question.make()
        # The Secret is tried before it is kept; everything else stands in its file at once.
        take = self.draft.hold if question is SECRET else self.draft.put
        try:
            take(question.name, question.value(typed))
        except ConfigError as error:
            if error.code == "init.overridden":
                raise
            self.screen.complain(error)
            return False
        return True

    def look(self, *names: str) -> Finding:
        """Let the doctor look at these, tell it, and return the worst finding."""
        found = self.examine(*names)
        self.screen.show(found)
        bad = (one.finding for one in found if one.finding.tone is Tone.BAD)
        return next(bad, found[-1].finding if found else _FINE)

    def examine(self, *names: str) -> list[Examined]:
        """Let the doctor look at these, or at everything."""
        self.draft.load()
        checks = {check.name: check for check in all_checks(self.draft.subject)}
        return asyncio.run(examine([checks[name] for name in names or checks]))

    def show(self, name: str, finding: Finding) -> None:
        """Tell a finding under the title of a check."""
        checks = [check for check in all_checks(self.draft.subject) if check.name == name]
        self.screen.show([Examined(check, finding) for check in checks])

    def answers(self) -> bool:
        """Tell whether the gateway answers on its port."""
        self.examine("port")
        return self.draft.subject.running

    def refusal(self, found: Finding) -> InputError:
        """Return a finding as an error of one line."""
        words = self.screen.doctor.words(found)
        return InputError("init.refused", said=words["said"], mend=words["mend"])


def _trial(port: int) -> str:
    """Return the address where WeCom and machines are on this machine too."""
    return f"http://127.0.0.1:{port}"


def _is_example(value: Any) -> bool:
    """Tell whether it was copied from the example that `codexbridge help gateway.toml` shows."""
    host = urlsplit(value).hostname or "" if isinstance(value, str) else ""
    return value == EXAMPLE_CORP or f".{host}".endswith(EXAMPLE_HOSTS)


def _shown(value: Any) -> str:
    return ", ".join(map(str, value)) if isinstance(value, tuple) else str(value)


def _interrupt(_number: int, _frame: object) -> None:
    raise KeyboardInterrupt
