# make report   install into a virtual environment, run the quick start to its report
# make test     install, run the tests of the first tier: at most 15 minutes on two cores
# make drills   install, run all tests with what .ci/run leaves out, hours: before a release
# make docs     install, build the site: docs/_build/html/index.html
# make check    install, run the linters and the type checker

VENV ?= .venv
PYTHON ?= python3
CORES ?= all
WORKERS ?= auto
PYTEST_ARGS ?=
PIP_OPTIONS ?=

BIN := $(abspath $(VENV))/bin
INSTALLED := $(VENV)/installed
PIP_LOUD := $(BIN)/python -m pip install --disable-pip-version-check $(PIP_OPTIONS)
PIP_INSTALL := $(PIP_LOUD) --quiet
# Run a silent command; a dot every two seconds says that it is at work.
define dotted
(trap '[ -z "$$said" ] || echo; exit' TERM; \
	while sleep 2 >/dev/null 2>&1 & wait $$! && kill -0 $$$$ 2>/dev/null; do printf .; said=yes; done) & dots=$$!; \
	$(1); status=$$?; kill $$dots; wait $$dots 2>/dev/null; exit $$status
endef
# One thread for numerics in each job: jobs are what runs side by side.
export OMP_NUM_THREADS := 1
export OPENBLAS_NUM_THREADS := 1
export MKL_NUM_THREADS := 1
export PATH := $(BIN):$(PATH)

.PHONY: report test drills docs check format schema clean
report: $(INSTALLED)
	snakemake --cores $(CORES) --executor warm
	@echo "open results/quickstart/report/index.html"

test: $(INSTALLED)
	python -m pytest --numprocesses $(WORKERS) $(PYTEST_ARGS)

drills: $(INSTALLED)
	python -m pytest --numprocesses $(WORKERS) -m '' $(PYTEST_ARGS)

docs: $(INSTALLED)
	$(PIP_INSTALL) --requirement requirements-docs.txt
	python -m sphinx --fail-on-warning --keep-going --quiet docs docs/_build/html
	@echo "open docs/_build/html/index.html"

check: $(INSTALLED)
	ruff check .
	ruff format --check .
	snakefmt --check Snakefile workflow/Snakefile workflow/rules
	python .ci/lint-workflow
	mypy
	lint-imports --no-cache
	python -m pytest --quiet tests/repository/test_code.py -k no_two_modules

format: $(INSTALLED)
	ruff check --fix .
	ruff format .
	snakefmt Snakefile workflow/Snakefile workflow/rules

schema: $(INSTALLED)
	bocu schema --output workflow/schemas/experiment.schema.json
	bocu schema --claims --output workflow/schemas/claims.schema.json
	bocu schema --tables --output docs/experiment-file.md
	bocu schema --suggest --output workflow/schemas/suggest.schema.json
	bocu schema --suggest --tables --output docs/suggest-settings.md
	bocu list --combinations > docs/combinations.md

# torch goes first and pinned: asked for as a range, it would bring gigabytes for graphics cards.
$(INSTALLED): requirements.txt pyproject.toml
	@echo "installing, once: 1 of 4, a virtual environment in $(VENV)"
	@$(PYTHON) -m venv $(VENV)
	@echo "installing: 2 of 4, $$(grep '^torch==' requirements.txt), the largest package"
	@torch="$$(grep '^torch==' requirements.txt)"; if [ -t 1 ]; then $(PIP_LOUD) "$$torch"; \
	else $(call dotted,$(PIP_INSTALL) "$$torch"); fi  # a terminal gets pip's own bar
	@echo "installing: 3 of 4, the other packages of requirements.txt ($$(grep -c '==' requirements.txt)); a minute"
	@$(call dotted,$(PIP_INSTALL) --requirement requirements.txt)
	@echo "installing: 4 of 4, bocu itself"
	@$(PIP_INSTALL) --no-deps --editable .
	@touch $@

clean:
	rm -rf $(VENV) results .snakemake docs/_build docs/generated
