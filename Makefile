# Everything from a fresh clone with Python >= 3.10. `make help` lists the targets.

PYTHON ?= $(shell command -v python3.11 || command -v python3)
VENV ?= .venv
VENV_OFFICIAL ?= .venv-official
BIN = $(VENV)/bin
PIP = -m pip install --disable-pip-version-check --quiet
PACKAGE_FILES = setup.py $(wildcard requirements/*.txt)
SOURCES = mmshufflemix tools tests configs setup.py

# One thread a process: the tests' networks are small, and more threads only wait for each other.
export OMP_NUM_THREADS ?= 1

# A process for each core, but not so many that they fill the memory of a large machine. Tests of one
# file stay together, since they share what is costly to make.
PYTEST = $(BIN)/python -m pytest --numprocesses auto --maxprocesses 8 --dist loadfile

.PHONY: help env demo test test-slow test-official lint format clean

help:  ## list the targets
	@grep -E '^[a-z-]+:.*##' $(MAKEFILE_LIST) | sed 's/:.*## /\t/'

env: $(VENV)/.ready  ## make the environment (once)

$(VENV)/.ready: $(PACKAGE_FILES)
	@"$(PYTHON)" -c 'import sys; sys.exit(sys.version_info < (3, 10))' \
		|| { echo 'error: Python 3.10 or newer is needed; name it by PYTHON=/path/to/python3.11' >&2; exit 1; }
	@echo 'installing into $(VENV): some minutes, once'
	"$(PYTHON)" -m venv $(VENV)
	$(BIN)/python $(PIP) -r requirements/onedl.txt -r requirements/tests.txt -r requirements/lint.txt
	$(BIN)/python $(PIP) --no-build-isolation -e .
	touch $@

$(VENV_OFFICIAL)/.ready: $(PACKAGE_FILES)
	@echo 'installing into $(VENV_OFFICIAL): some minutes, once'
	"$(PYTHON)" -m venv $(VENV_OFFICIAL)
	$(VENV_OFFICIAL)/bin/python $(PIP) -r requirements/official.txt -r requirements/tests.txt
	$(VENV_OFFICIAL)/bin/python $(PIP) --no-build-isolation -e .
	touch $@

# MPLBACKEND: pictures are written to files, also where there is a screen.
demo: env  ## train, test and draw on a small built-in data set
	MPLBACKEND=agg $(BIN)/python tools/demo.py

test: env  ## run the tests, without the slow ones
	$(PYTEST) -m 'not slow'

test-slow: env  ## run the slow tests
	$(PYTEST) -m slow

test-official: $(VENV_OFFICIAL)/.ready  ## train, test and resume with OpenMMLab's own last releases
	$(VENV_OFFICIAL)/bin/python -m pytest tests/official

lint: env  ## check style and types
	$(BIN)/ruff check $(SOURCES)
	$(BIN)/ruff format --check $(SOURCES)
	$(BIN)/codespell $(SOURCES)
	$(BIN)/mypy

format: env  ## repair what ruff can repair
	$(BIN)/ruff check --fix $(SOURCES)
	$(BIN)/ruff format $(SOURCES)

clean:  ## remove what was built, not data and results
	rm -rf build dist .mypy_cache .pytest_cache .ruff_cache
