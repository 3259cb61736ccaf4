# `make demo` and `make test` need Python 3.11+ and make, nothing else.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
STAMP := $(VENV)/.ready
WORKERS ?= auto

.DEFAULT_GOAL := help
.PHONY: help venv demo test check bench clean

help:
	@echo "make demo    set up, serve an embedded web on loopback, crawl it, write demo/report.html"
	@echo "make test    set up, run every check and test"
	@echo "make check   ruff, mypy --strict, import-linter"
	@echo "make bench   the benchmarks whose figures are in docs/benchmarks.md"
	@echo "make venv    only set up .venv, with clew installed in it"

venv: $(STAMP)

$(STAMP): pyproject.toml setup.py constraints.txt src/clew/native/_fast.c
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' \
	  || { echo "clew needs Python 3.11 or newer; '$(PYTHON)' is older. Try: make $(MAKECMDGOALS) PYTHON=python3.12"; exit 1; }
	test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -c constraints.txt -e '.[dev]'
	@touch $@

demo: venv
	$(BIN)/clew demo --directory demo

check: venv
	$(BIN)/ruff check src tests benchmarks examples
	$(BIN)/ruff format --check src tests benchmarks examples
	$(BIN)/mypy
	$(BIN)/lint-imports

test: check
	$(BIN)/python -m pytest -n $(WORKERS)

bench: venv
	$(BIN)/python benchmarks/frontier_memory.py

clean:
	rm -rf $(VENV) demo build dist
