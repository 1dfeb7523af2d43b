"""``codexbridge gateway init`` at a real terminal, with a real simulator and a real gateway."""

from __future__ import annotations

import json
import os
import re
import signal
from collections.abc import Iterator
from pathlib import Path

import pytest

from gateway.base.settings import load_settings, state_dir
from gateway.simulator.client import SimulatorClient
from gateway.store import audit
from gateway.store.runner import open_admin
from tests import forks
from tests.e2e.place import wait_until
from tests.forks import Watch
from tests.setting_up import CONSOLE, PAIR, TRUST, Trial

PROMPTS = 10  # of a run from nothing, where the console trusts every address


@pytest.fixture
def trial(tmp_path: Path) -> Iterator[Trial]:
    with Trial.at(tmp_path, trusted=True) as trial:
        yield trial


def _codes(trial: Trial) -> int:
    """Return how many pairing codes were ever made."""
    settings = load_settings(file=None, environ=trial.environ)
    with open_admin(state_dir(settings, trial.environ) / "gateway.db") as store:
        events = [event for event, _ in store.read(audit.newest_events)]
    return events.count("pairing.opened")


def test_a_new_admin_gets_from_nothing_to_a_paired_machine(tmp_path: Path) -> None:
    with Trial.at(tmp_path) as trial:
        words: list[str] = []

        def join(code: str) -> None:
            done = forks.run(
                "pair", "--gateway", trial.base, environ=trial.environ, stdin=f"{code}\n"
            )
            found = re.search(r"Check words, .*: +(\w+(?: +\w+){5})$", done.stdout, re.MULTILINE)
            assert found, done
            words.extend(found[1].split())

        trial.machine = join
        trial.wrong = {
            "(企业ID):": [" "],
            "AgentId:": ["the app"],
            "Secret:": ["not the secret"],
            f"[{trial.base}]:": ["http://gateway.example.org"],
            "EncodingAESKey:": ["short"],
            "[dev-1]:": ["My Machine"],
        }
        with trial.init() as terminal:
            assert trial.walk(terminal)
            assert trial.typed[-3:] == [CONSOLE, TRUST, PAIR]
            shown = " ".join(terminal.shown.split())
            assert " ".join(words) in shown
            assert "All is in place." in shown
            assert trial.console.first.corp_secret not in shown
            for name in ("wecom__token", "wecom__encoding_aes_key"):  # made, so shown once
                assert shown.count((trial.secrets / name).read_text(encoding="utf-8")) == 1
            (running,) = trial.gateways()
            assert os.getpgid(running.pid) == running.pid  # Ctrl-C here is not Ctrl-C there
            terminal.interrupt()
            assert terminal.read_to_end().rstrip().endswith("Stopping the gateway …")
            assert terminal.fork.wait(10) == 0
        assert trial.gateways() == []
        (said,) = SimulatorClient(trial.console.page_port).messages(0)
        assert (said["user"], said["text"].partition(":")[0]) == ("zhangwei", "It works")
        assert trial.is_whole()


def test_a_second_run_changes_nothing(trial: Trial) -> None:
    def join(code: str) -> None:
        trial.run("pair", "--gateway", trial.base, stdin=f"{code}\n")

    trial.machine = join
    with trial.init() as terminal:
        assert trial.walk(terminal)
        before, codes = trial.files(), _codes(trial)
        trial.typed.clear()
        with trial.init() as again:
            trial.walk(again)
            assert "Another `codexbridge gateway init` works on" in " ".join(again.shown.split())
        terminal.interrupt()
        terminal.read_to_end()
    with trial.init() as again:
        assert trial.walk(again)
        assert trial.typed == []
        assert "dev-1 is paired" in again.shown
        secrets = [content.decode() for name, (_, content) in before.items() if "__" in name]
        assert [secret for secret in secrets if secret in again.shown] == []
        again.interrupt()
        again.read_to_end()
    assert trial.files() == before
    assert (_codes(trial), codes) == (1, 1)
    assert len(SimulatorClient(trial.console.page_port).messages(0)) == 1
    assert trial.is_whole()


def test_a_check_of_the_console_that_does_not_fit_is_said_while_it_waits(trial: Trial) -> None:
    with trial.init() as terminal:
        assert trial.walk(terminal, before=CONSOLE)
        url = f"{trial.base}/wecom/app"
        console = SimulatorClient(trial.console.page_port)
        key = (trial.secrets / "wecom__encoding_aes_key").read_text(encoding="utf-8")
        assert console.save(url=url, token="of-no-app", encoding_aes_key=key)
        assert terminal.rests_at(lambda shown: "into wecom__token" in " ".join(shown.split()))
        assert "with a wrong signature" in terminal.shown
        trial.save_callback()
        assert terminal.rests_at(lambda shown: "checked the callback" in " ".join(shown.split()))
        assert trial.walk(terminal)  # nobody pairs
        assert "1 thing is still to do" in terminal.shown
        assert "All is in place" not in terminal.shown


def test_what_an_admin_wrote_is_kept_with_its_comments_and_its_mode(trial: Trial) -> None:
    file = trial.root / "config" / "gateway.toml"
    written = '# ours\nlanguage = "en"  # the team\n\n[wecom]  # the app\ncorp_id = "{}"\n'
    file.write_text(written.format(trial.console.first.corp_id), encoding="utf-8")
    file.chmod(0o640)
    with trial.init() as terminal:
        assert trial.walk(terminal, stop_at=8)  # all questions but one
    text = file.read_text(encoding="utf-8")
    assert text.startswith('# ours\nlanguage = "en"  # the team\n')
    assert f'[wecom]  # the app\ncorp_id = "{trial.console.first.corp_id}"\n' in text
    assert file.stat().st_mode & 0o777 == 0o640
    assert "(企业ID):" not in trial.typed


def test_a_secret_is_refused_three_times_and_never_written(trial: Trial) -> None:
    trial.wrong = {"Secret:": ["first", "second", "third"]}
    with trial.init() as terminal:
        assert not trial.walk(terminal)
        assert terminal.fork.wait(10) == 2
    assert trial.typed.count("Secret:") == 3
    assert not (trial.secrets / "wecom__corp_secret").exists()


def test_a_script_is_told_what_is_missing_and_gets_the_line(trial: Trial) -> None:
    code, out, err = trial.unasked("--corp-id", trial.console.first.corp_id)
    assert (code, out) == (2, "")
    assert err == "codexbridge: wecom.agent_id is missing. Give it as --agent-id.\n"
    given = ("--agent-id", str(trial.console.first.app_id), "--member", "zhangwei")
    code, out, err = trial.unasked(*given)
    assert (code, out) == (2, "")
    assert err.count("\n") == 1
    assert str(trial.secrets / "wecom__corp_secret") in err
    trial.secrets.mkdir(mode=0o700)
    for name, value in (
        ("corp_secret", trial.console.first.corp_secret),
        ("token", "T" * 24),
        ("encoding_aes_key", "k" * 43),
    ):
        (trial.secrets / f"wecom__{name}").write_text(value, encoding="utf-8")
        (trial.secrets / f"wecom__{name}").chmod(0o600)
    code, out, err = trial.unasked(*given)
    assert (code, err) == (0, "")
    assert re.fullmatch(rf"{trial.base}#CB1-[A-Z2-7]{{26}}\n", out)
    trial.port += 1
    code, out, err = trial.unasked(*given)
    assert out.startswith(f"{trial.base}#"), "a trial's address goes with its port"
    before = trial.files()
    code, out, err = trial.unasked(*given, "--json")
    assert json.loads(out)["line"].startswith(f"{trial.base}#CB1-")
    assert trial.files() == before
    assert trial.is_whole()
    assert trial.gateways() == []


def test_a_refused_secret_ends_a_script_in_one_line(trial: Trial) -> None:
    trial.secrets.mkdir(mode=0o700)
    (trial.secrets / "wecom__corp_secret").write_text("wrong", encoding="utf-8")
    (trial.secrets / "wecom__corp_secret").chmod(0o600)
    code, out, err = trial.unasked(
        "--corp-id", trial.console.first.corp_id, "--agent-id", "1000002"
    )
    assert (code, out) == (2, "")
    assert "codexbridge: wecom.corp_secret is wrong" in err.splitlines()[-1]


@pytest.mark.thorough
@pytest.mark.parametrize("number", range(1, PROMPTS + 1))
def test_a_run_killed_at_a_prompt_is_taken_up(trial: Trial, number: int) -> None:
    with trial.init() as terminal:
        assert trial.walk(terminal, stop_at=number)
        terminal.fork.kill()
        terminal.fork.wait(10)
    wait_until(lambda: not trial.gateways())  # the one that it started ends with it
    answered = trial.typed.copy()
    trial.typed.clear()
    with trial.init() as terminal:
        assert trial.walk(terminal) or trial.gateways()
    # A name for the machine stands nowhere until there is one; nothing else is asked twice.
    assert {*answered} & {*trial.typed} <= {"[dev-1]:"}
    assert trial.is_whole()


@pytest.mark.thorough
def test_a_run_killed_at_any_write_is_taken_up(tmp_path: Path) -> None:
    points = _writes(tmp_path / "points")
    assert len(points) >= 20
    for number, point in enumerate(points):
        with Trial.at(tmp_path / str(number), trusted=True) as trial:
            watch = Watch("admin", trial.root / "notes", trial.root, kill=point)
            with trial.init(watch) as terminal:
                assert not trial.walk(terminal), point
                assert terminal.fork.wait(10) == -signal.SIGKILL
            trial.end_gateways()
            with trial.init() as terminal:
                assert trial.walk(terminal, before="[dev-1]:"), point
            code, out, err = trial.unasked()
            assert (code, out[:4], err) == (0, "http", ""), point
            assert trial.is_whole(), point


def _writes(root: Path) -> list[tuple[str, str, int]]:
    """Return every moment at which a run from nothing makes something durable."""
    with Trial.at(root, trusted=True) as trial:
        notes = trial.root / "notes"
        with trial.init(Watch("admin", notes, trial.root)) as terminal:
            assert trial.walk(terminal, before=PAIR)
        lines = [json.loads(line) for line in notes.read_text(encoding="utf-8").splitlines()]
    points = [(line["event"], line["phase"], line["nth"]) for line in lines]
    return [point for point in points if point[1] in ("before-write", "after-commit")]


def test_a_public_address_brings_the_proxy_before_it(trial: Trial) -> None:
    trial.wrong = {f"[{trial.base}]:": ["https://gateway.example.cn/"]}
    with trial.init() as terminal:
        assert trial.walk(terminal, before="Token:")
    assert "[127.0.0.1]:" in trial.typed
    settings = load_settings(file=None, environ=trial.environ)
    assert settings.public_url == "https://gateway.example.cn"
    assert settings.trusted_proxies == ("127.0.0.1/32",)


def test_an_address_that_was_given_is_shown_in_its_step(trial: Trial) -> None:
    with trial.init(None, "--public-url", "https://gateway.example.cn") as terminal:
        assert trial.walk(terminal, before="[127.0.0.1]:")
    assert "Public address: https://gateway.example.cn" in terminal.shown
