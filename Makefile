# Everything runs in .venv, which the first target that needs it makes.
# Another interpreter:  make test PYTHON=python3.12

PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
PIP := $(BIN)/python -m pip --disable-pip-version-check install --quiet --constraint constraints.txt

.PHONY: help demo test lint types docs bench clean
.DEFAULT_GOAL := help

help:
	@echo "make demo    simulate a crowd, fit it, and leave data, model and pictures in demo-output/"
	@echo "make test    everything that must pass: lint, types, tests, examples in the documentation"
	@echo "make lint    style, format and the layering of the modules"
	@echo "make types   mypy --strict"
	@echo "make docs    write the options of every command into docs/command-line.md"
	@echo "make bench   our solvers beside the general-purpose ones (a few minutes)"
	@echo "make clean   remove .venv, demo-output and caches"

demo: $(VENV)/.runtime
	$(BIN)/crowdmetric demo --out demo-output

test: lint types
	$(BIN)/python -m pytest --numprocesses 2

lint: $(VENV)/.test
	$(BIN)/ruff check
	$(BIN)/ruff format --check
	$(BIN)/lint-imports

types: $(VENV)/.test
	$(BIN)/mypy

docs: $(VENV)/.runtime
	$(BIN)/python docs/command_line.py

bench: $(VENV)/.test
	$(BIN)/crowdmetric bench paper

clean:
	rm -rf $(VENV) demo-output .pytest_cache .mypy_cache .ruff_cache .import_linter_cache .hypothesis
	find src tests -name __pycache__ -type d -prune -exec rm -rf {} +

# The stamps are files, so that installation happens once, and again when a requirement changes.
$(VENV)/.runtime: pyproject.toml constraints.txt
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || { \
	    echo "Python >= 3.11 is needed; name one with: make PYTHON=/path/to/python3.12" >&2; exit 1; }
	@echo "Setting up $(VENV) (a minute or two, once)"
	@$(PYTHON) -m venv $(VENV)
	@$(PIP) --editable .
	@touch $@

$(VENV)/.test: $(VENV)/.runtime
	@echo "Adding the tools for tests to $(VENV) (once)"
	@$(PIP) --editable '.[test]'
	@command -v chromium google-chrome >/dev/null || timeout 120 $(BIN)/python -m playwright install --only-shell chromium \
	    >/dev/null 2>&1 || echo "No Chromium to be had: the tests of reports in a browser are skipped" >&2
	@touch $@
