# `make demo` and `make test` need Python 3.11+ and make, nothing else.
#
# .venv       clew as it lies here (editable): what running needs for `make demo`, and all tools after `make venv`
# .venv-test  the wheel, built and installed as a user would get it, and what its tests need
#
# PYTHON=python3.12 chooses another interpreter; an environment made with a different one is made anew.
PYTHON ?= python3
VENV ?= .venv
TEST ?= .venv-test
WORKERS ?= auto
BIN := $(VENV)/bin

CODE := src tests bench checks examples tools
NATIVE := $(wildcard src/clew/native/*.c src/clew/native/*.h)
PACKAGING := pyproject.toml setup.py constraints.txt
#: All that goes into the wheel.
LIST := find src -type f ! -name '*.pyc' ! -name '*.so' ! -name '*.pyd' ! -path '*.egg-info/*' | LC_ALL=C sort
SOURCES := $(shell $(LIST))
PIP := -m pip install --quiet --disable-pip-version-check -c constraints.txt
#: The browser's tests run where the system has a browser; playwright, which steers it, is installed there only.
CHROMIUM := $(firstword $(foreach name,chromium chromium-browser google-chrome google-chrome-stable chrome,$(shell command -v $(name))))
COMMA := ,
BROWSER := $(if $(CHROMIUM),$(COMMA)browser)
# $(call lacks-browser,DIR): FORCE where a browser has come since DIR was made.
lacks-browser = $(if $(CHROMIUM),$(if $(wildcard $(1)/.browser),,FORCE))

# Which environments are of another Python than the one asked for. Asked for is what was typed; the default is
# content with any, so that `make venv PYTHON=python3.13` lasts.
WHO := 'import sys; print(sys.implementation.cache_tag, sys.version.split()[0], sys.base_prefix, sep="|")'
ifeq ($(origin PYTHON),file)
OTHER :=
else
ASKED := $(shell $(PYTHON) -c $(WHO))
OTHER := $(foreach env,$(VENV) $(TEST),$(if $(wildcard $(env)/pyvenv.cfg),$(if $(filter $(ASKED),$(shell $(env)/bin/python -c $(WHO))),,$(env))))
endif

# $(call environment,DIR): a virtual environment of the right Python there.
define environment
@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' \
  || { echo "clew needs Python 3.11 or newer, which '$(PYTHON)' is not. Try: make $(MAKECMDGOALS) PYTHON=python3.12"; exit 1; }
$(if $(filter $(1),$(OTHER)),$(PYTHON) -m venv --clear $(1),test -x $(1)/bin/python || $(PYTHON) -m venv $(1))
endef

.DEFAULT_GOAL := help
.PHONY: help venv demo test test-all test-some check checks bench wheel clean FORCE

help:
	@echo "make demo      set up, serve an embedded web on loopback, crawl it, write demo/report.html"
	@echo "make test      set up, build the wheel, run the quick tests against it"
	@echo "make test-all  make check, then every test, with coverage"
	@echo "make venv      .venv with clew editable and every tool"
	@echo "make check     ruff, mypy --strict, import-linter, deptry"
	@echo "make checks    the acceptance checks: kills, crash points, hostile replies, politeness"
	@echo "make bench     every benchmark, and docs/benchmarks.md from what they measured"
	@echo "PYTHON=python3.12 with any of these chooses the interpreter."

# For running: clew and the packages it imports.
$(VENV)/.run: $(PACKAGING) $(NATIVE) $(if $(filter $(VENV),$(OTHER)),FORCE)
	$(call environment,$(VENV))
	$(BIN)/python $(PIP) -e .
	@touch $@

# For working on clew: every tool as well.
venv: $(VENV)/.ready
$(VENV)/.ready: $(PACKAGING) $(NATIVE) $(call lacks-browser,$(VENV)) $(if $(filter $(VENV),$(OTHER)),FORCE)
	$(call environment,$(VENV))
	$(BIN)/python $(PIP) -e '.[dev$(BROWSER)]'
	@touch $(VENV)/.run $(if $(CHROMIUM),$(VENV)/.browser) $@

demo: $(VENV)/.run
	$(BIN)/clew demo --directory demo

$(TEST)/.tools: pyproject.toml constraints.txt $(if $(filter $(TEST),$(OTHER)),FORCE)
	$(call environment,$(TEST))
	$(TEST)/bin/python $(PIP) 'setuptools>=77' wheel
	@touch $@

# The wheel is built again when a file of it has changed, come or gone.
$(TEST)/.sources: FORCE | $(TEST)/.tools
	@$(LIST) | cmp -s - $@ || $(LIST) > $@

$(TEST)/.wheel: $(TEST)/.tools $(TEST)/.sources $(PACKAGING) $(SOURCES) README.md LICENSE
	rm -rf build $(TEST)/wheel
	$(TEST)/bin/python -m pip wheel --quiet --disable-pip-version-check --no-deps --no-build-isolation -w $(TEST)/wheel .
	rm -rf build
	@touch $@

$(TEST)/.ready: $(TEST)/.wheel $(call lacks-browser,$(TEST))
	$(TEST)/bin/python -m pip uninstall --quiet --yes --disable-pip-version-check clew
	$(TEST)/bin/python $(PIP) "$$(echo $(TEST)/wheel/clew-*.whl)[test$(BROWSER)]"
	@touch $(if $(CHROMIUM),$(TEST)/.browser) $@

wheel: $(TEST)/.wheel

#: Each worker takes whole files as far as it can, so that what a file's tests share is made once.
SHARED := -n $(WORKERS) --dist worksteal
#: No test that takes seconds, and 30 examples of a law instead of 100.
QUICK := -m 'not slow' --hypothesis-profile=quick

test: $(TEST)/.ready
	$(TEST)/bin/python -m pytest $(SHARED) $(QUICK)

test-all: check $(TEST)/.ready
	$(TEST)/bin/python -m pytest $(SHARED) --cov --cov-report=term:skip-covered

# For other Pythons than the one that runs everything: make test-some PYTHON=python3.13 TEST=.venv-test-3.13
SOME := tests/test_doctests.py tests/test_public_names.py tests/test_url.py tests/engine tests/frontier tests/predicate tests/native
test-some: $(TEST)/.ready
	$(TEST)/bin/python -m pytest $(SHARED) $(QUICK) $(SOME)

check: venv
	$(BIN)/ruff check $(CODE)
	$(BIN)/ruff format --check $(CODE)
	$(BIN)/mypy
	$(BIN)/lint-imports
	$(BIN)/deptry src

checks: venv
	$(BIN)/python checks/run.py

bench: venv
	$(BIN)/python bench/run.py

clean:
	rm -rf .venv .venv-test* demo build dist
