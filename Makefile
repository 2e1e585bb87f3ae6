# Everything runs from a bare clone with Python 3.11+ and make. `PIP_ARGS` reaches pip unchanged: give there what the
# page of your torch build asks for (a CUDA or CPU-only build, a proxy, a mirror).
PYTHON ?= python3
VENV   := .venv
BIN    := $(VENV)/bin
RUN    ?= runs/demo
SEED   ?= 0
PIP_ARGS ?=
JOBS   ?= 2

# uv is used where it is installed; it is told pip's find-links so that both choose the same torch.
UV := $(shell command -v uv 2>/dev/null)
ifeq ($(UV),)
INSTALL = $(BIN)/python -m pip install --quiet $(PIP_ARGS) -c constraints.txt
else
INSTALL = UV_FIND_LINKS="$(PIP_FIND_LINKS)" uv pip install --quiet --python $(BIN)/python $(PIP_ARGS) -c constraints.txt
endif

.PHONY: setup demo test lint bench clean
.DELETE_ON_ERROR:

setup: $(VENV)/.dev

$(BIN)/python:
	@$(PYTHON) -c 'import sys; sys.exit("Regard needs Python 3.11 or newer, this is " + sys.version.split()[0]) if sys.version_info < (3, 11) else None'
	$(PYTHON) -m venv $(VENV)

$(VENV)/.core: pyproject.toml constraints.txt | $(BIN)/python
	@echo "installing Regard (torch is large: the first time takes a few minutes)"
	$(INSTALL) -e .
	@touch $@

$(VENV)/.dev: $(VENV)/.core
	@echo "installing the development tools"
	$(INSTALL) -e ".[dev]"
	@touch $@

demo: $(VENV)/.core
	$(BIN)/regard demo --out $(RUN) --seed $(SEED) --force

test: $(VENV)/.dev
	$(BIN)/python -m pytest -n $(JOBS)

lint: $(VENV)/.dev
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy

bench: $(VENV)/.core
	$(BIN)/regard bench step

clean:
	rm -rf $(VENV) runs .pytest_cache .mypy_cache .ruff_cache
