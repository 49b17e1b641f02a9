# Every target sets itself up; `make demo` and `make test` are all that a fresh machine needs.
PYTHON ?= python3
VENV ?= .venv
BIN := $(VENV)/bin
# The constraints give CI and laptops one known torch; unset CONSTRAINTS to take what your index offers.
CONSTRAINTS ?= -c constraints/ci-cpu.txt
# One process per core, one thread each: many small models, none of which gains from threads.
TESTERS ?= -n auto --maxprocesses 4 --dist loadfile
PIP := $(BIN)/python -m pip --disable-pip-version-check
# What `test-lowest` installs and runs: no torch, which CI and laptops have in one version anyway.
LOWEST ?= build/lowest
LOWEST_EXTRAS ?= report logs
LOWEST_TESTS ?= tests/records tests/reading tests/asking tests/lint tests/package/test_contents.py
comma := ,
space := $(subst ,, )

.PHONY: help setup demo test test-all test-lowest check fix docs site bench clean
.PHONY: check-style check-types check-layers check-pages check-site

help:  ## Show this list
	@grep -hE '^[a-z-]+:.*##' $(MAKEFILE_LIST) | sed -E 's/:.*## /\t/' | expand -t 12

$(BIN)/python:
	$(PYTHON) -m venv $(VENV)

$(VENV)/.run: pyproject.toml constraints/ci-cpu.txt | $(BIN)/python
	$(PIP) install -q $(CONSTRAINTS) -e '.[all]'
	@touch $@

$(VENV)/.test: pyproject.toml constraints/ci-cpu.txt | $(BIN)/python
	$(PIP) install -q $(CONSTRAINTS) -e '.[test]'
	@touch $@ $(VENV)/.run

$(VENV)/.dev: pyproject.toml constraints/ci-cpu.txt | $(BIN)/python
	$(PIP) install -q $(CONSTRAINTS) -e '.[dev]'
	@touch $@ $(VENV)/.test $(VENV)/.run

setup: $(VENV)/.dev  ## Make .venv with everything a developer needs

demo: $(VENV)/.run  ## Audit the packaged model on the packaged items into runs/demo
	OMP_WAIT_POLICY=passive $(BIN)/vqaudit run --model demo --data demo --design grid --design randomised \
	  -i direct -i direct-scores@reference -i cot-prefix@reference -i free-cot@reference \
	  --max-tokens 80 --out runs/demo

test: $(VENV)/.test  ## Run the tests
	OMP_NUM_THREADS=1 $(BIN)/python -m pytest $(TESTERS)

test-all: $(VENV)/.test  ## Run the long tests too
	OMP_NUM_THREADS=1 $(BIN)/python -m pytest $(TESTERS) -m "slow or not slow"

test-lowest:  ## Run a short part of the tests with the lowest versions that pyproject.toml allows
	$(PYTHON) -m venv --clear $(LOWEST)
	$(LOWEST)/bin/python constraints/lowest.py $(LOWEST_EXTRAS) > $(LOWEST)/constraints.txt
	$(LOWEST)/bin/python -m pip --disable-pip-version-check install -q -c $(LOWEST)/constraints.txt \
	  -e '.$(if $(LOWEST_EXTRAS),[$(subst $(space),$(comma),$(strip $(LOWEST_EXTRAS)))])' pytest pytest-timeout hypothesis
	OMP_NUM_THREADS=1 $(LOWEST)/bin/python -m pytest $(LOWEST_TESTS)

check: $(VENV)/.dev  ## Lint, types, layers and the documentation site
	$(MAKE) --no-print-directory -j2 --output-sync check-types check-style check-layers check-pages check-site

check-style:
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .

check-types:
	$(BIN)/pyright --pythonpath $(BIN)/python

check-layers:
	$(BIN)/lint-imports

check-pages:
	$(BIN)/python docs/generate.py --check

check-site:
	NO_MKDOCS_2_WARNING=1 $(BIN)/mkdocs build --strict --quiet

fix: $(VENV)/.dev  ## Mend what can be mended by machine
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

docs: $(VENV)/.test  ## Write the generated pages of docs/
	$(BIN)/python docs/generate.py

site: $(VENV)/.dev  ## Build the documentation site into build/site
	NO_MKDOCS_2_WARNING=1 $(BIN)/mkdocs build --strict

bench: $(VENV)/.run  ## Run the benchmarks
	for script in benchmarks/bench_*.py; do $(BIN)/python $$script --quick || exit 1; done

clean:  ## Remove what was built
	rm -rf $(VENV) build dist .pytest_cache .ruff_cache .hypothesis
