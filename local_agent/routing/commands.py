"""Command lines that are written as such, without "run": ``npm test``, ``go test ./...``.  Pure."""

from __future__ import annotations

import re
from typing import Final

from local_agent.routing.folding import PASTED

_PROGRAMS_LISTED: Final = """
    npm pnpm yarn npx bun bunx deno node python python3 pip pip3 pipx uv uvx poetry pipenv hatch nox
    pytest tox ruff mypy pyright flake8 pylint isort bandit eslint prettier tsc ts-node vite jest
    vitest mocha ava karma cypress playwright cargo rustc rustup rustfmt cmake ctest ninja bazel
    gradle ./gradlew gradlew mvn ./mvnw mvnw sbt dotnet javac java ruby rake bundle rails rspec
    rubocop php composer phpunit artisan docker docker-compose podman kubectl helm terraform ansible
    ansible-playbook git gh ls rm mkdir touch curl wget bash zsh sh sudo chmod chown brew flutter
    dart xcodebuild adb mix iex webpack rollup esbuild turbo lerna nx ng alembic flask uvicorn
    gunicorn django-admin celery psql sqlite3 jq sed awk shellcheck golangci-lint gofmt pre-commit
    biome gotestsum swiftlint ktlint coverage stylelint tsx nodemon pm2 wrangler vercel aws gcloud
    swift apt apt-get black colcon forge prove hadolint df du rsync scp ssh tar west idf.py
    platformio pio meson zig stack cabal ghc lein julia rscript perl conan earthly skaffold
    kustomize argocd pulumi packer vagrant minikube systemctl journalctl dnf yum apk pacman dig
    strace gdb valgrind lldb objdump openssl ffmpeg pdflatex latexmk sphinx-build mkdocs hugo jekyll
    gulp grunt oxlint knip depcheck tslint semgrep trivy snyk fastlane gem symfony drush
    php-cs-fixer phpstan psalm pest msbuild dune rebar3 nim nimble gsutil bq dbt dvc mlflow torchrun
    papermill nextflow snakemake hardhat truffle slither solhint solana buf protoc sqlc goose flyway
    liquibase k6 locust vale markdownlint yamllint ansible-lint tflint checkov pylama pyre radon
    vulture interrogate pyenv rbenv asdf direnv nix nix-build nix-shell bats shfmt stylua luacheck
    credo dialyzer
"""
_PROGRAMS: Final = frozenset(_PROGRAMS_LISTED.split())
# These are English words as well: only a target or an option makes a command of them.
_WORDLIKE_LISTED: Final = """
    make go just task invoke cat cp mv tree ps echo cd
"""
_WORDLIKE: Final = frozenset(_WORDLIKE_LISTED.split())
_TARGETS_LISTED: Final = """
    all install uninstall ci init dev serve exec up down ps logs get fmt vet mod format fix clippy
    status diff log pull fetch clone stash rebase checkout switch branch show bench doc docs release
    debug clean watch preview typecheck type-check coverage lock outdated audit dist package check
    check-all checks e2e unit integration validate run start stop restart lint build test tests
    update upgrade generate migrate seed server publish images prune deploy setup compose apply plan
    sync add commit push merge tag reset manage.py shell bootstrap image help version tidy work
    template flash assembledebug assemblerelease assemble bootrun
"""
_TARGETS: Final = frozenset(_TARGETS_LISTED.split())
_OPENS: Final = re.compile(r"[ \n]*(?:please |now |ok )?([a-z0-9_./-]+)")
_FIRST: Final = re.compile(
    r"[ \n]*(?:please |now |ok )?(?P<line>[a-z0-9_./-]+(?: [^\n\u3400-\u9fff,?!;]*)?)"
)
_ARGUMENT: Final = re.compile(r"-.+|.*[./:=@*\d\x02_$].*|&&|\|\|?|>|[a-z]+-[a-z-]+")
_PROSE: Final = re.compile(
    r" (?:is|are|was|fails?|failed|failing|errors?|says|said|gives|throws|hangs|keeps|crash\w*"
    r"|exits?|exited|aborts?|dies|died|hung|stops|stopped|shows"
    r"|takes|does|doesn't|won't|can't|not|broken|slow|why|how|the|my|a|an|and then|then)(?: |$)"
)
_CLOSING: Final = re.compile(
    r"(?: +(?:please|pls|plz|for me|now|thanks|again|and|&&|first))+ *$| +$|(?<=[a-z0-9])\. *$"
)
_FAILED: Final = re.compile(
    r" *[\u3400-\u9fff]*?"
    r"(?:报|失败|错|挂|卡|不|没|崩|慢|被|什么|怎么|为|吗|会|哪|有|是|里|的)"
)


def find_bare(folded: str) -> tuple[int, int] | None:
    """Return where the command stands that opens a text; None where it opens with other words."""
    opens = _OPENS.match(folded)
    if opens is None or not _names_program(opens[1].removesuffix(".")) or PASTED in folded:
        return None
    match = _FIRST.match(folded)
    if match is None:
        return None
    line = _CLOSING.sub("", match["line"])
    program, _, arguments = line.partition(" ")
    end = match.start("line") + len(line)
    if not _runs(program, arguments.split()) or _PROSE.search(f"{line} "):
        return None
    after = folded[end : end + 40]
    if after.startswith(":"):  # a program speaks: "psql: could not connect"
        return None
    if _FAILED.match(after) or after.lstrip().startswith("?"):
        return None
    return match.start("line"), end


def _names_program(word: str) -> bool:
    return word in _PROGRAMS or word in _WORDLIKE or word.startswith("./")


def _runs(program: str, arguments: list[str]) -> bool:
    given = bool(arguments) and (
        arguments[0] in _TARGETS or _ARGUMENT.fullmatch(arguments[0]) is not None
    )
    if program in _PROGRAMS:
        return given or not arguments
    if program in _WORDLIKE:
        return given and (len(arguments) == 1 or _ARGUMENT.fullmatch(arguments[-1]) is not None)
    return program.startswith("./") and len(program) > 2
