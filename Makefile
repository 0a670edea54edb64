# `make demo` and `make test` need only make and a Python from 3.11 to 3.13.
# They build an environment in .venv; nothing outside this folder changes, except pip's cache.

VENV := .venv
INSTALLED := $(VENV)/installed
INSTALLED_TEST := $(VENV)/installed-test
UNFINISHED := $(VENV)/unfinished

DEMO_REPORT := demo-report.html
DEMO := evaluate examples/llmbar_judges.jsonl.gz --subset subset=Neighbor \
	--agents '*/Vanilla_NoRules/ab' --exclude-agents 'ChatGPT-0301/*' \
	--protocol draw --seeds 40 --report $(DEMO_REPORT) --overwrite

# Tried in this order; `make demo PYTHON=/opt/python3.12` puts one in front.
PYTHONS := python3.13 python3.12 python3.11 python3 python

.DEFAULT_GOAL := help
.NOTPARALLEL:
.PHONY: demo test lint types clean help

demo: $(INSTALLED)  ## weigh 5 judges of the example that ships, and write demo-report.html
	@$(VENV)/bin/steelyard $(DEMO)
	@echo 'The report lies in $(CURDIR)/$(DEMO_REPORT)' >&2

test: $(INSTALLED_TEST)  ## run the whole test suite (make test ARGS='-k traces' for a part)
	@$(VENV)/bin/python -m pytest $(ARGS)

lint: $(INSTALLED_TEST)  ## check style and formatting with ruff
	@$(VENV)/bin/python -m ruff check .
	@$(VENV)/bin/python -m ruff format --check .

types: $(INSTALLED_TEST)  ## check types with mypy
	@$(VENV)/bin/python -m mypy

clean:  ## remove the environment, the caches, the builds and the demo's report
	@rm -rf $(VENV) build dist *.egg-info .pytest_cache .mypy_cache .ruff_cache .hypothesis $(DEMO_REPORT)
	@find . -name .git -prune -o -type d -name __pycache__ -prune -exec rm -rf {} +

help:  ## list these targets
	@echo 'Steelyard: make one of'
	@awk 'BEGIN {FS = ":.*## "} /^[a-z]+:.*## / {printf "  %-6s %s\n", $$1, $$2}' Makefile

# A stamp newer than pyproject.toml says that the install is done. It is made last, so a broken-off
# install leaves none; what leaves `unfinished` behind is started again from an empty environment.
$(INSTALLED): pyproject.toml $(VENV)/bin/python
	@$(environment)
	@echo 'Installing steelyard and what it runs on (1.5 GB, some minutes) ...' >&2
	@$(install) -e .
	@rm -f $(UNFINISHED)
	@touch $(INSTALLED)

$(INSTALLED_TEST): pyproject.toml $(VENV)/bin/python
	@$(environment)
	@echo 'Installing steelyard and what its tests need (1.5 GB, some minutes) ...' >&2
	@$(install) -e '.[test]'
	@rm -f $(UNFINISHED)
	@touch $(INSTALLED) $(INSTALLED_TEST)

# Nothing to do, but where this Python is gone make starts the installs above again.
$(VENV)/bin/python: ;

# Without bytecode the imports of jax and dowhy are 3 to 5 times slower, so pip must compile.
install = touch $(UNFINISHED) && \
	PYTHONDONTWRITEBYTECODE= $(VENV)/bin/python -m pip install -qq --disable-pip-version-check

# Keep a sound environment; else make one with the first Python that runs, fits, and can make one.
define environment
if [ ! -e $(UNFINISHED) ] && $(VENV)/bin/python -c '$(fits)' >/dev/null 2>&1 \
	&& $(VENV)/bin/python -m pip --version >/dev/null 2>&1; then exit 0; fi; \
tried=''; \
for python in "$(PYTHON)" $(PYTHONS); do \
	if [ -z "$$python" ]; then continue; fi; \
	if ! command -v "$$python" >/dev/null 2>&1; then why='not found'; \
	elif ! "$$python" -c '' >/dev/null 2>&1; then why='does not run'; \
	elif ! "$$python" -c '$(fits)' >/dev/null 2>&1; then \
		why="is $$("$$python" -c '$(version)' 2>&1)"; \
	elif ! "$$python" -c 'import ensurepip, venv' >/dev/null 2>&1; then \
		why='has no venv or no ensurepip'; \
	else \
		echo "Making $(VENV) with $$python ..." >&2; \
		if PYTHONDONTWRITEBYTECODE= "$$python" -m venv --clear $(VENV); then exit 0; fi; \
		why='failed to make an environment'; \
	fi; \
	tried="$$tried  $$python: $$why\n"; \
	if [ "$$python" = "$(PYTHON)" ]; then echo "PYTHON=$$python: $$why; trying others" >&2; fi; \
done; \
printf '%b' "No Python from 3.11 to 3.13 works here. Tried:\n$$tried" >&2; \
echo 'Install one from https://www.python.org/downloads/' >&2; \
echo '(Debian, Ubuntu: apt install python3 python3-venv; macOS: brew install python@3.13),' >&2; \
echo 'or name yours: make demo PYTHON=/path/to/python3.12' >&2; \
exit 1
endef
fits := import sys; sys.exit(not (3, 11) <= sys.version_info[:2] <= (3, 13))
version := import platform; print(platform.python_version())
