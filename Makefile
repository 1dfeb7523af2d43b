# Two commands matter: `make demo` and `make test`.  Each sets up what it needs by itself.
PYTHON ?= python3
VENV   := .venv
BIN    := $(VENV)/bin
PYTEST ?= -n 4 --dist worksteal

.PHONY: demo walk quick test test-all codex page-tools matrix check format lint types imports bench understand wheel lock reference clean help

help:
	@echo "make demo   the main job on this machine: simulated WeCom, gateway, agent; you approve"
	@echo "make quick  the unit tests that start nothing: half a minute"
	@echo "make test   set up and run the tests: some minutes"
	@echo "make test-all  what \`make test\` leaves out: hundreds of rounds, and the crash matrix"
	@echo "make codex  install the pinned codex, against which some tests run (npm, 400 MB)"
	@echo "make page-tools  install what checks the local page and the callback (npm, 35 MB)"
	@echo "make matrix every crash point, and 200 kills at random: some minutes"
	@echo "make check  format, lint, types, import arrows, tests: what a change must pass"
	@echo "make understand  learn anew what words speak for, after a line was added to a list"
	@echo "make bench  speed and memory, as ratios measured in one run"

$(BIN)/uv: .ci/bootstrap.txt
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || { \
	  echo "Python 3.11 or newer is needed; $(PYTHON) is $$($(PYTHON) --version 2>&1). Try: make PYTHON=python3.11 …"; exit 2; }
	@$(PYTHON) -m venv $(VENV) || { \
	  echo "$(PYTHON) cannot make a virtual environment. On Debian and Ubuntu: apt-get install python3-venv"; exit 2; }
	@echo "setting up $(VENV) …"
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check --require-hashes -r .ci/bootstrap.txt
	@touch $(BIN)/uv

$(VENV)/.run: $(BIN)/uv uv.lock pyproject.toml
	@$(BIN)/uv sync --quiet --frozen --no-dev --inexact
	@touch $@

$(VENV)/.dev: $(BIN)/uv uv.lock pyproject.toml
	@$(BIN)/uv sync --quiet --frozen --inexact
	@touch $@ $(VENV)/.run

demo: $(VENV)/.run
	@$(BIN)/codexbridge demo $(ARGS)

# pytest rewrites the assertions of every test module: once, and not again in each of its workers.
$(VENV)/.rewritten: $(VENV)/.dev
	@echo "preparing the tests …"
	@for part in tests/unit/local_agent "tests --ignore=tests/unit/local_agent"; do \
	  PYTHONDONTWRITEBYTECODE= $(BIN)/pytest --collect-only -qq $$part >/dev/null & done; wait
	@touch $@

quick: $(VENV)/.rewritten
	PYTHONWARNDEFAULTENCODING=1 $(BIN)/pytest -n 2 --dist worksteal -m "not heavy and not thorough" tests/unit $(ARGS)

test: $(VENV)/.rewritten
	PYTHONWARNDEFAULTENCODING=1 $(BIN)/pytest $(PYTEST) -m "not thorough" $(ARGS)

test-all: $(VENV)/.rewritten
	PYTHONWARNDEFAULTENCODING=1 $(BIN)/pytest $(PYTEST) -m thorough $$(grep -rl --include='test_*.py' 'mark.thorough' tests)
	$(MAKE) --no-print-directory matrix

# The program alone: no script of its packages is run.
codex: .codex/.installed

.codex/.installed: tests/codex/package.json tests/codex/package-lock.json
	@command -v npm >/dev/null || { echo "npm is needed. On Debian and Ubuntu: apt-get install npm"; exit 2; }
	@rm -rf .codex && mkdir .codex && cp tests/codex/package.json tests/codex/package-lock.json .codex/
	@echo "installing codex in .codex …"
	@cd .codex && npm ci --ignore-scripts --no-audit --no-fund --loglevel=error
	@touch $@

# What checks the page's types, its accessibility, and the callback's crypto; none of it is shipped.
page-tools: .page-tools/.installed

.page-tools/.installed: tests/page_tools/package.json tests/page_tools/package-lock.json
	@command -v npm >/dev/null || { echo "npm is needed. On Debian and Ubuntu: apt-get install npm"; exit 2; }
	@rm -rf .page-tools && mkdir .page-tools && cp $^ .page-tools/
	@echo "installing the page's tools in .page-tools …"
	@cd .page-tools && npm ci --ignore-scripts --no-audit --no-fund --loglevel=error
	@touch $@

# Writes docs/how-to/first-task*.md; needs tmux, pipx and bubblewrap.
walk: $(VENV)/.dev
	$(BIN)/python -m tests.walk

# One process: it runs as many installations side by side as two cores carry.
matrix: $(VENV)/.dev
	PYTHONWARNDEFAULTENCODING=1 $(BIN)/pytest -n 0 tests/matrix/whole.py $(ARGS)

check: format lint types imports test

format: $(VENV)/.dev
	$(BIN)/ruff format --check .

lint: $(VENV)/.dev
	$(BIN)/ruff check .

types: $(VENV)/.dev
	$(BIN)/mypy

imports: $(VENV)/.dev
	$(BIN)/lint-imports

# In an environment of its own: a linter's libraries would be loaded and measured with the product.
bench: $(BIN)/uv
	@UV_PROJECT_ENVIRONMENT=.venv-bench $(BIN)/uv sync --quiet --frozen --no-dev --group bench
	.venv-bench/bin/python bench/start.py $(ARGS)
	.venv-bench/bin/python -m bench.callback $(ARGS)
	.venv-bench/bin/python -m bench.outbox $(ARGS)
	.venv-bench/bin/python -m bench.statements $(ARGS)
	.venv-bench/bin/python -m bench.link $(ARGS)
	.venv-bench/bin/python -m bench.diffs $(ARGS)
	.venv-bench/bin/python -m bench.apply $(ARGS)
	.venv-bench/bin/python -m bench.redact $(ARGS)
	.venv-bench/bin/python -m bench.scratch $(ARGS)
	.venv-bench/bin/python -m bench.context $(ARGS)
	.venv-bench/bin/python -m bench.understand $(ARGS)
	.venv-bench/bin/python -m bench.codex $(ARGS)
	.venv-bench/bin/python -m bench.warden $(ARGS)
	.venv-bench/bin/python -m bench.page $(ARGS)

# In an environment of its own: what is learnt with is not what runs.
TRAIN := UV_PROJECT_ENVIRONMENT=.venv-train $(BIN)/uv sync --quiet --frozen --no-dev --group train

understand: $(BIN)/uv
	@$(TRAIN)
	.venv-train/bin/python -m bench.train $(ARGS)

wheel: $(VENV)/.dev
	$(BIN)/uv build --quiet --wheel --out-dir dist

lock: $(BIN)/uv
	$(BIN)/uv lock

clean:
	rm -rf $(VENV) .venv-bench .venv-train .codex .page-tools dist .mypy_cache .ruff_cache .pytest_cache .import_linter_cache .hypothesis

# The reference and the manual pages, from the parsers and the settings.
reference: $(VENV)/.dev
	$(BIN)/python -m tests.reference
