# Needs make and Python 3.11, 3.12 or 3.13; everything else is installed into .venv from requirements/.
# All paths are relative, so that the name of the folder may contain spaces.
SHELL := /bin/sh
.DEFAULT_GOAL := help
.PHONY: help run serve prove test lint types smoke matrix bench odd-targets attack docs lock extras intercept mcp-sdk mcp-agents written-afresh services readers chromium browser clean

ARGS ?=
# Tests mostly wait, so there are more processes than processors.
WORKERS ?= $$(( 3 * $$(getconf _NPROCESSORS_ONLN) ))
BENCH ?= cold_start
AGENTS := tests/interop/mcp_agents
PY := .venv/bin/python
# Tests start hundreds of processes. Without compiled files, each would compile every module again.
export PYTHONDONTWRITEBYTECODE :=
TYPED := gateproof benchmarks docs requirements

install = python=$$(sh requirements/find-python.sh) && "$$python" requirements/environment.py
# In a run of their own, see tests/conftest.py, with a cache of its own, because it goes on beside the other tests.
in_a_browser = $(PY) -m pytest --numprocesses 2 --dist loadfile -o faulthandler_timeout=300 \
	-o cache_dir=.pytest_cache/in-a-browser tests/browser
tests = $(PY) -m pytest --numprocesses $(WORKERS) --dist worksteal $(ARGS)
# Lint and types were checked when the tests were skipped.
of_before = $(filter --skipped-before,$(ARGS))
type_checks = $(PY) -m mypy $(TYPED)
at_once = python=$$(sh requirements/find-python.sh) && "$$python" requirements/side_by_side.py
quoted = '$(subst ','"'"',$(1))'
# Only gateways need the proxy; the first word of ARGS is the role. Runs can leave it out, proofs cannot.
of_a_gateway = $(if $(filter service agent,$(firstword $(ARGS))),,$(install) .venv-intercept intercept)
# The engine that makes mutants has its own environment.
mutation_engine = $(if $(filter --mutants,$(ARGS)),$(install) .venv-mutants mutants,:)
proxy_for_a_run = $(if $(filter --no-intercept --no-faults,$(ARGS)),,$(of_a_gateway))

help: ## print this
	@sed -n 's/^\([a-z-]*\):.*## \(.*\)/  make \1	\2/p' Makefile | expand -t 20
	@printf '%s\n' '' '  ARGS=…     further arguments of the command' '  PYTHON=…   the interpreter; environments of another Python are created again' '  WORKERS=…  processes of make test'

run: ## the suite against the embedded reference gateway; ARGS="service", "agent" or "--target FILE" for another
	@$(at_once) $(call quoted,$(install) .venv run) $(call quoted,$(proxy_for_a_run))
	@.venv/bin/gateproof run $(ARGS)

serve: ## the reference world, until Ctrl-C
	@$(install) .venv run
	@.venv/bin/gateproof serve $(ARGS)

prove: ## the suite against every shipped defect and legal variant; ARGS="--quick", "service --quick" or "agent --quick" takes minutes
	@$(at_once) $(call quoted,$(install) .venv run) $(call quoted,$(of_a_gateway)) $(call quoted,$(mutation_engine))
	@.venv/bin/gateproof prove $(ARGS)

test: $(if $(of_before),,lint) ## lint, strict types and every test, on one Python (make matrix: on all)
	@$(install) .venv dev
	@$(install) .venv-intercept intercept
	$(PY) requirements/side_by_side.py $(call quoted,$(tests)) $(if $(of_before),,$(call quoted,$(type_checks))) \
		$(if $(filter tests/%,$(ARGS)),,$(call quoted,$(in_a_browser) $(ARGS)))

lint:
	@$(install) .venv dev
	$(PY) -m ruff check .
	$(PY) -m ruff format --check .
	$(PY) -m vulture

types:
	@$(install) .venv dev
	$(type_checks)

smoke: ## the quick tests on the newest installed Python, in .venv-smoke
	@python=$$(sh requirements/find-python.sh --newest) && \
		PYTHON="$$python" "$$python" requirements/environment.py .venv-smoke dev
	.venv-smoke/bin/python -m pytest --numprocesses $(WORKERS) tests/smoke tests/architecture

matrix: ## lint, types and every test on each installed Python (tox); a missing one is shown as skipped
	@$(install) .venv dev
	@sh requirements/find-python.sh --all | tr '\n' '\0' | xargs -0 $(PY) -m tox run $(ARGS) --discover

bench: ## start-up time compared with a bare interpreter; BENCH=versions, growth, replay, outputs or service: whole runs
	@$(install) .venv run
	@$(PY) benchmarks/$(BENCH).py $(ARGS)

odd-targets: ## every rule on targets at unusual addresses, dead, up to one step, or without one step: an hour
	@$(install) .venv dev
	@GATEPROOF_WHOLE=1 $(PY) -m pytest -o faulthandler_timeout=1800 --numprocesses $(WORKERS) --dist worksteal \
		tests/conformance/run/gateway/test_odd_targets.py tests/conformance/run/gateway/test_half_targets.py \
		tests/conformance/run/gateway/test_dead_targets.py tests/conformance/run/gateway/test_broken_steps.py \
		tests/conformance/run/service/test_dead_services.py tests/conformance/run/service/test_half_services.py \
		tests/conformance/run/service/test_broken_service_steps.py tests/conformance/run/test_reference_world.py $(ARGS)

attack: ## hostile parties, tampered reports, signals at random moments
	@$(install) .venv dev
	@$(install) .venv-intercept intercept
	@GATEPROOF_WHOLE=1 $(PY) -m pytest -o faulthandler_timeout=1800 --numprocesses $(WORKERS) --dist worksteal \
		-m attack tests $(ARGS)

intercept: ## the intercepting proxy's own environment, .venv-intercept
	@$(install) .venv-intercept intercept

mcp-sdk: ## agents made with the official MCP SDK against the reference, see docs/mcp-sdk.md
	@$(install) .venv run
	@$(install) .venv-mcp-sdk mcp-sdk
	@$(PY) tests/interop/mcp_sdk/trial.py $(ARGS)

services: ## services made with FastAPI, the official MCP SDK and Node, every rule of them: half an hour
	@$(install) .venv dev
	@$(install) .venv-fastapi fastapi
	@$(install) .venv-mcp-sdk mcp-sdk
	@GATEPROOF_WHOLE=1 $(PY) -m pytest -o faulthandler_timeout=1800 \
		--numprocesses $(WORKERS) --dist worksteal \
		tests/conformance/service/test_service_targets.py $(ARGS)

written-afresh: ## two gateways, a service and an agent that others wrote from the specification, every rule of them
	@$(install) .venv run
	@$(install) .venv-intercept intercept
	@$(PY) tests/interop/written_afresh/trial.py $(ARGS)

mcp-agents: ## the MCP SDKs' clients tested as agents, see docs/mcp-agents.md
	@$(install) .venv dev
	@$(install) .venv-mcp-sdk mcp-sdk
	@sh requirements/npm.sh $(AGENTS) $(AGENTS)
	@$(PY) -m pytest tests/interop/test_mcp_agents.py $(ARGS)

readers: ## the official readers of our outputs, in .venv-readers; those from npm only if npm is installed
	@$(install) .venv-readers readers
	@sh requirements/npm.sh requirements/readers .venv-readers/npm

chromium: ## gateproof with [sign_in] kind = "chromium"; the browser itself is the system's
	@$(install) .venv all

browser: chromium ## report.html, Console, playground and sign-ins in a real Chromium (apt-get install chromium, or CHROMIUM=/path/to/it)
	@$(in_a_browser) $(ARGS)

extras: ## what skipped tests need, as far as it can be installed here: readers, SDKs, FastAPI, Chromium, the engine of mutants
	@$(at_once) $(call quoted,$(install) .venv all) $(call quoted,$(MAKE) --no-print-directory readers) \
		$(call quoted,$(install) .venv-intercept intercept) \
		$(call quoted,$(install) .venv-mcp-sdk mcp-sdk) \
		$(call quoted,$(install) .venv-fastapi fastapi) \
		$(call quoted,$(install) .venv-mutants mutants) \
		$(call quoted,sh requirements/npm.sh $(AGENTS) $(AGENTS)) \
		$(call quoted,sh requirements/chromium.sh)

docs: ## the generated parts of README.md, benchmarks/README.md and docs; ARGS=--no-run leaves out the output of a run
	@$(install) .venv run
	@$(install) .venv-intercept intercept
	@$(PY) docs/draw.py $(ARGS)

# The lock files must not contain the address of a package index, nor local paths.
compile = .venv-lock/bin/python -m uv --quiet pip compile --upgrade --universal --python-version 3.11 \
	--generate-hashes --no-emit-index-url --no-emit-find-links --custom-compile-command "make lock"

lock: ## the newest versions that go together, into requirements/
	@$(install) .venv-lock lock
	$(compile) pyproject.toml --group build --output-file requirements/run.txt
	$(compile) pyproject.toml --group build --group dev --constraint requirements/run.txt \
		--output-file requirements/dev.txt
	$(compile) --group intercept --overrides requirements/overrides.txt --output-file requirements/intercept.txt
	$(compile) --group mcp-sdk --output-file requirements/mcp-sdk.txt
	$(compile) --group fastapi --output-file requirements/fastapi.txt
	$(compile) --group lock --output-file requirements/lock.txt
	$(compile) --group mutants --output-file requirements/mutants.txt
	$(compile) --group readers --output-file requirements/readers.txt
	$(compile) pyproject.toml --extra chromium --group build --group dev --group browser \
		--constraint requirements/dev.txt --output-file requirements/all.txt
	sh requirements/npm.sh --lock requirements/readers

clean: ## remove the environments, and the caches of tools
	rm -rf $(AGENTS)/node_modules benchmarks/npm/node_modules .venv .venv-smoke .venv-intercept .venv-mcp-sdk .venv-fastapi .venv-readers .venv-mutants .venv-lock .tox .mypy_cache .ruff_cache .pytest_cache .hypothesis
	find . -name __pycache__ -type d -prune -exec rm -rf {} +
