# Needs Python 3.11+, Java 17+ and make; everything else is fetched, pinned, into this folder and the user's caches.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
# A uv that is already installed is used; otherwise one is put into a folder of its own, never into the system's Python.
OWN_UV := .venv-uv
UV = $(shell uv --version >/dev/null 2>&1 && echo uv || echo $(OWN_UV)/bin/uv)
JAR_LOCK := src/streamgauge/provision/jars.lock.json
INSTALLED := $(VENV)/.streamgauge-installed
FETCHED := $(VENV)/.streamgauge-jars

# Every process of a trial starts with Python: compiled once, each starts a second and a half sooner.
unexport PYTHONDONTWRITEBYTECODE

.DEFAULT_GOAL := help
.PHONY: help setup demo test test-long bench docs lock clean

help: ## show this list
	@awk -F ':.*## ' '/^[a-z-]+:.*## / {printf "make %-9s %s\n", $$1, $$2}' $(MAKEFILE_LIST)

setup: $(FETCHED) ## make the virtual environment, fetch the pinned jars, record the classes they load

# Exit code 4 is a machine too busy to rank a trial: the table says so, and the report is there.
demo: setup ## compare two applications on two engines through a real Kafka and write a report
	$(BIN)/streamgauge run wordcount grep --engine spark-microbatch --engine spark-realtime --load constant:700/s --warmup 8s --for 8s || test $$? -eq 4

test: setup ## lint, types, import rules and tests
	$(BIN)/ruff check
	$(BIN)/ruff format --check
	$(BIN)/mypy
	$(BIN)/lint-imports
	$(BIN)/pytest --numprocesses 3 --dist loadfile --no-loadscope-reorder

test-long: setup ## what needs the machine to itself: faults, switches, latency's parts, minutes each
	$(BIN)/pytest -m long

bench: setup ## print the figures against bare scripts and Kafka's own tools
	$(BIN)/python bench/run.py

docs: setup ## write the generated pages again: the command line, a page per application, a picture
	$(BIN)/python -m streamgauge.cli.reference > docs/cli.md
	$(BIN)/python -m streamgauge.report.application_pages docs/applications
	$(BIN)/python -m streamgauge.report.adaptive_picture > docs/adaptive.svg

lock: setup ## pin newer versions: requirements.lock and the lock of the jars
	@printf 'hatchling\neditables\n' | $(UV) pip compile pyproject.toml - --group dev --upgrade --universal \
		--python-version 3.11 --generate-hashes --no-emit-index-url --no-header --no-annotate --quiet \
		--output-file requirements.lock
	$(BIN)/python -m streamgauge.provision lock

clean: ## remove the virtual environment and what the tools left in this folder
	rm -rf $(VENV) $(OWN_UV) .pytest_cache .mypy_cache .ruff_cache .import_linter_cache .hypothesis
	find src tests -name __pycache__ -type d -prune -exec rm -rf {} +

$(INSTALLED): requirements.lock pyproject.toml
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null || { \
		echo "error: Python 3.11 or newer is needed, '$(PYTHON)' is $$($(PYTHON) --version 2>/dev/null || echo not installed). Install it, or name it: make setup PYTHON=python3.11" >&2; exit 2; }
	@PYTHONPATH=src $(PYTHON) -B -m streamgauge.provision.java
	@command -v $(UV) >/dev/null || { \
		echo "fetching uv into $(OWN_UV)"; mkdir -p $(OWN_UV) && echo '*' > $(OWN_UV)/.gitignore && \
		$(PYTHON) -m pip install --quiet --disable-pip-version-check --root-user-action=ignore --target $(OWN_UV) --upgrade uv; } || { \
		echo "error: uv cannot be installed with '$(PYTHON) -m pip'. Install pip for that Python, or uv, and try again" >&2; exit 2; }
	$(UV) venv --quiet --allow-existing --no-python-downloads --python "$$($(PYTHON) -c 'import sys; print(sys.executable)')" $(VENV)
	$(UV) pip sync --quiet --compile-bytecode --python $(BIN)/python --require-hashes requirements.lock
	$(UV) pip install --quiet --python $(BIN)/python --no-deps --no-build-isolation --editable .
	@touch $@

$(FETCHED): $(INSTALLED) $(JAR_LOCK)
	$(BIN)/python -m streamgauge.provision fetch
	$(BIN)/python -m streamgauge.lab.class_recording
	@touch $@
