# Two targets do everything, set-up included:
#   make demo   compile a collective, run the emitted CSL on the embedded simulator, check it
#   make test   formatting, lint, types and all tests, of the compiler and of the simulator
# and one takes as long as it is given:
#   make fuzz   look for inputs that the simulator has no answer to (docs/fuzzing.md)

PYTHON ?= python3
VENV   ?= .venv
BIN    := $(VENV)/bin
JOBS   ?= $(shell nproc 2>/dev/null || echo 2)

FABSIM_CRATES  := src program lowering frontend engine host binding
FABSIM_SOURCES := fabsim/Cargo.toml fabsim/Cargo.lock fabsim/pyproject.toml \
                  $(shell find $(FABSIM_CRATES:%=fabsim/%) fabsim/python -type f -not -name '*.pyc')
EVALUATOR_SOURCES := $(wildcard evaluator/*.toml evaluator/*.lock evaluator/*.pyi evaluator/src/*.rs evaluator/src/*/*.rs evaluator/src/*/*/*.rs)
RUST := evaluator fabsim

# Where a change is tried, dependencies are those that are written down; the nightly run has the newest.
ifeq ($(CI)$(NEWEST),true)
export PIP_CONSTRAINT := $(CURDIR)/constraints.txt
endif

.PHONY: demo test quick setup tools lint lint-python lint-rust types test-python test-packages test-rust fuzz format clean

# What a first look needs and no more, in parallel, by a profile that is built in a third of the time;
# nothing that only a second build or a second start would gain from.
demo:
	@CARGO_INCREMENTAL=0 PIP_NO_COMPILE=1 $(MAKE) --no-print-directory -j3 RUST_PROFILE=quick installed
	$(BIN)/collc run examples/two_phase.coll -D P=64 -D B=256 -D S=8 -o out/two_phase

# Building, linting and the simulator's tests side by side: each of them waits for one processor at times.
# Nothing is installed while tests run, since pip takes collc away before it puts it back.
test:
	$(MAKE) --no-print-directory -j3 setup $(VENV)/.site lint types test-rust
	$(MAKE) --no-print-directory -j2 test-python test-packages

# Lint, types, and the tests of the stages that have changed, or of one: make quick STAGE=proof.
STAGE ?=
quick: setup lint-python types
	$(BIN)/pytest -n $(JOBS) -m "$$($(BIN)/python tests/stages.py $(STAGE))"

.PHONY: installed
installed: $(VENV)/.collc $(VENV)/.fabsim $(VENV)/.evaluator
# Modules are compiled, as pip does with what it copies, so that the first command need not do it.
setup: installed $(VENV)/.tests
	$(BIN)/python -m compileall -q compiler templates

# One clear line for each tool that is missing.
tools:
	@command -v $(PYTHON) >/dev/null 2>&1 || { echo "make: Python 3.10 or newer is needed: no '$(PYTHON)' on PATH" >&2; exit 1; }
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 10))' || { echo "make: Python 3.10 or newer is needed: $$($(PYTHON) --version) is on PATH (set PYTHON=...)" >&2; exit 1; }
	@$(PYTHON) -c 'import ensurepip, venv' 2>/dev/null || { echo "make: Python's venv module is needed (on Debian and Ubuntu: apt install python3-venv)" >&2; exit 1; }
	@command -v cargo >/dev/null 2>&1 || { echo "make: a Rust toolchain is needed to build the evaluator and the simulator: no 'cargo' on PATH (see https://rustup.rs)" >&2; exit 1; }

# Each mark is made last, so a step that was interrupted is taken again.
$(VENV)/.made: | tools
	$(PYTHON) -m venv $(VENV)
	@touch $@

# Editable, but for the Python of the templates, which is made here (compiler/emit/templates.py).
$(VENV)/.collc: setup.py setup.cfg pyproject.toml compiler/emit/templates.py $(wildcard templates/*.j2) | $(VENV)/.made
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -e .
	@test -f templates/compiled/digest || { echo "make: the templates were not compiled" >&2; exit 1; }
	@touch $@

$(VENV)/.tests: setup.cfg | $(VENV)/.collc
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -e '.[test]'
	@touch $@

$(VENV)/.site: setup.cfg | $(VENV)/.tests
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -e '.[site]'
	@touch $@

# A profile of Cargo.toml for both crates; `quick` runs nearly as fast as `release`. Their one
# dependency comes with the compiler, so that nothing is installed twice at the same time; what both
# are built on is compiled once, since they have one target folder.
RUST_PROFILE ?= release
RUST_TARGET := $(CURDIR)/build/rust
WITH_RUST = PATH="$(abspath $(BIN)):$$PATH" CARGO_TARGET_DIR=$(RUST_TARGET) \
    MATURIN_PEP517_ARGS=--profile=$(RUST_PROFILE) $(BIN)/python -m pip install --quiet --disable-pip-version-check --no-deps --no-build-isolation

$(VENV)/.maturin: | $(VENV)/.made
	$(BIN)/python -m pip install --quiet --disable-pip-version-check 'maturin>=1.7,<2'
	@touch $@

$(VENV)/.evaluator: $(EVALUATOR_SOURCES) | $(VENV)/.maturin
	$(WITH_RUST) ./evaluator
	@touch $@

$(VENV)/.fabsim: $(FABSIM_SOURCES) | $(VENV)/.maturin
	$(WITH_RUST) ./fabsim
	@touch $@

lint: lint-python lint-rust

lint-python: $(VENV)/.tests
	$(BIN)/ruff format --check compiler research tests grammar templates fabsim playground
	$(BIN)/ruff check compiler research tests grammar templates fabsim playground

# Beside other targets cargo would look for make's own job server, and warn that it is not there.
CARGO := env -u MAKEFLAGS CARGO_TARGET_DIR=$(RUST_TARGET) cargo

lint-rust: | tools
	for crate in $(RUST); do (cd $$crate && cargo fmt --all --check) || exit 1; done
	cd evaluator && $(CARGO) clippy --quiet --all-targets --features extension-module -- -D warnings
	cd fabsim && $(CARGO) clippy --quiet --workspace --all-targets -- -D warnings

# mypy finds the package under the name it is installed by, and the crates' types before they are built.
types: $(VENV)/.tests
	@mkdir -p build/types && ln -sfn ../../compiler build/types/collc
	@ln -sfn ../../research build/types/collc_research
	MYPYPATH=build/types:fabsim/python:evaluator $(BIN)/mypy --strict -p collc -p collc_research
	$(BIN)/mypy --strict fabsim/python/fabsim
	$(BIN)/mypy --strict playground/build.py playground/link.py

test-rust: | tools
	cd evaluator && $(CARGO) test --quiet
	cd fabsim && $(CARGO) test --quiet --workspace --exclude fabsim-binding

# Hundreds of tests start a command, each of which would compile every module anew.
test-python: export PYTHONDONTWRITEBYTECODE :=
test-python: setup
	$(BIN)/pytest -n $(JOBS) --dist worksteal

# The site without a dead link; wheels, installed and run where there is no compiler.
test-packages: site
	.ci/wheels --here

# Coverage-guided, on all cores, FUZZ_SECONDS for each target; what was found stays in .cache.
FUZZ_CORPUS := $(CURDIR)/.cache/fuzz-fabsim
FUZZ_SECONDS ?= 60
FUZZ := cargo fuzz run --sanitizer none --release --fuzz-dir .
FUZZ_LIMITS := -max_total_time=$(FUZZ_SECONDS) -timeout=20 -rss_limit_mb=3000 -fork=$(JOBS) -print_final_stats=1

fuzz:
	@command -v cargo-fuzz >/dev/null 2>&1 || { echo "make: cargo-fuzz is needed: cargo install cargo-fuzz" >&2; exit 1; }
	$(PYTHON) fabsim/fuzz/make_seeds.py $(FUZZ_CORPUS)
	cd fabsim/fuzz && $(FUZZ) csl_text $(FUZZ_CORPUS)/csl_text -- $(FUZZ_LIMITS) -max_len=8192
	cd fabsim/fuzz && $(FUZZ) host_calls $(FUZZ_CORPUS)/host_calls -- $(FUZZ_LIMITS)

format: setup
	$(BIN)/ruff format compiler research tests grammar templates fabsim playground
	$(BIN)/ruff check --fix compiler research tests grammar templates fabsim playground
	for crate in $(RUST); do (cd $$crate && cargo fmt --all) || exit 1; done

clean:
	rm -rf $(VENV) build out evaluator/target fabsim/target

# The project's figures, measured anew: cycles, limits and predictions of every example.
.PHONY: acceptance accuracy
acceptance: setup
	$(BIN)/python tests/acceptance.py

# Programs of others beside collc's, docs/versus.md; FOLDERS are copies of them.
.PHONY: versus
MINUTES ?= 60
versus: setup
	$(BIN)/python tests/versus.py $(FOLDERS) --minutes $(MINUTES) --page

# How far predictions are from the simulator, over random programs.
accuracy: setup
	$(BIN)/python tests/accuracy.py

# What the machine takes, into compiler/target/constants.json; TIMING is one of fabsim's
# timing tables.
.PHONY: constants
TIMING ?= simfabric
constants: setup
	$(BIN)/python tests/constants.py --timing $(TIMING)

# The simulator's speed and memory, one table: docs/performance.md.
.PHONY: bench
bench: setup
	cd fabsim && $(CARGO) build --quiet --release --example speed
	$(BIN)/python tests/performance.py $(RUST_TARGET)/release/examples/speed

# The simulator beside the machine without any shortcut, `--reference`, over PROGRAMS random programs of each of
# two kinds: docs/shortcuts.md.
.PHONY: agreement
PROGRAMS ?= 2500
agreement:
	cd fabsim && PROGRAMS=$(PROGRAMS) $(CARGO) test --quiet --test suite reference

# What builtins and standard modules take, docs/csl-signatures.md, from the front end's table.
.PHONY: signatures
signatures:
	cd fabsim && REFRESH=1 $(CARGO) test --quiet -p fabsim-frontend the_page_is_the_table

# What public programs use of CSL, docs/csl-constructs.json (FOLDERS are copies of them; without, the
# table stays as it is), and which of it emitted text uses, docs/csl-constructs.md.
.PHONY: constructs
constructs: setup
	test -z "$(FOLDERS)" || $(BIN)/python fabsim/tools/census.py $(FOLDERS) --jobs $(JOBS)
	$(BIN)/python tests/constructs.py

# The viewer's page, viewer/viewer.html, which both packages bring; and its tests in a browser.
.PHONY: viewer test-viewer
viewer/node_modules/.made: viewer/package-lock.json
	@command -v npm >/dev/null 2>&1 || { echo "make: Node 20 or newer is needed to build the viewer's page: no 'npm' on PATH" >&2; exit 1; }
	cd viewer && npm ci --no-audit --no-fund --loglevel=error
	@touch $@

viewer: viewer/node_modules/.made
	cd viewer && node build.mjs

test-viewer: setup viewer/node_modules/.made
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -e '.[test,viewer]'
	$(BIN)/pytest tests/view

# The pictures of docs/viewer.md that a command makes, in Chromium.
.PHONY: pictures
PICTURE = $(BIN)/collc view examples/$(1).coll $(3) --png docs/viewer/$(2).png
pictures: setup
	$(call PICTURE,two_phase,routes) --view routes
	$(call PICTURE,allreduce_2d,wafer,-D W=750 -D H=994 --no-run) --view routes
	$(call PICTURE,allreduce_2d,motion,-D W=32 -D H=24) --view motion --dark
	$(call PICTURE,two_phase,lines) --view lines
	$(call PICTURE,two_phase,compare,--with S=16) --view compare --dark

# The viewer with compiler and simulator in the browser, into build/playground: docs/playground.md. WHEELS
# is a folder or a zip with numpy's wheel for Pyodide, where Pyodide's server cannot be reached.
.PHONY: playground test-playground
playground: installed viewer/node_modules/.made
	$(BIN)/python playground/build.py $(if $(WHEELS),--wheels "$(WHEELS)")

test-playground: setup playground
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -e '.[test,viewer]'
	$(BIN)/pytest tests/view/test_playground.py

# A page for each family of collectives, with runs to choose from: docs/teaching, into build/teaching.
.PHONY: teaching
comma := ,
TEACHING = $(BIN)/collc view examples/$(1).coll --lesson docs/teaching/$(2).md -o build/teaching/$(2).html $(3)
teaching: setup
	@mkdir -p build/teaching
	$(call TEACHING,chain,chain,--over P=8$(comma)32$(comma)64 --over B=1$(comma)16$(comma)256)
	$(call TEACHING,two_phase,two_phase,--over S=2$(comma)4$(comma)8$(comma)16$(comma)32 --over B=1$(comma)16$(comma)256)
	$(call TEACHING,ring_allreduce,ring,--over B=16$(comma)256$(comma)1024)
	$(call TEACHING,allgather,allgather,--over B=16$(comma)256$(comma)1024)
	$(call TEACHING,all_to_all,all_to_all,--over E=1$(comma)4$(comma)16)
	$(call TEACHING,program_mixed,teardown,-D R=1 --over P=16$(comma)64 --over B=1$(comma)8$(comma)64)

# The picture of the pipeline in docs/architecture.md, from the code.
.PHONY: architecture
architecture: setup
	$(BIN)/python tests/architecture.py

# The site, into build/site; a dead link ends it. It carries the playground and the teaching pages where
# they were built, and a whole one has both. Wheels into dist/, tried where there is no Rust.
.PHONY: site whole-site wheels
site: setup $(VENV)/.site
	$(BIN)/mkdocs build --strict

whole-site: playground teaching
	$(MAKE) --no-print-directory site

wheels:
	.ci/wheels

# Sweeps on the engines of clusters, in each one's local mode.
.PHONY: engines
engines: setup
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -e '.[dask,ray,slurm]'
	$(BIN)/pytest tests/sweeping

# Versions for continuous integration, constraints.txt, from what is installed; what is made of what,
# build/sbom.json; and what is known against it. An audit needs cargo-audit and pip-audit, and the network.
.PHONY: constraints sbom audit
constraints: setup $(VENV)/.site
	$(BIN)/python .ci/constraints.py

sbom: setup
	$(BIN)/python .ci/sbom.py

audit: setup
	@command -v cargo-audit >/dev/null 2>&1 || { echo "make: cargo-audit is needed: cargo install cargo-audit" >&2; exit 1; }
	for crate in $(RUST); do cargo audit --file $$crate/Cargo.lock || exit 1; done
	$(BIN)/python -m pip install --quiet --disable-pip-version-check pip-audit
	$(BIN)/pip-audit --skip-editable

# The test of the tests: checks and proofs with one thing changed. All of them take hours: EVERY takes
# one in so many, SKIP says from which one on.
.PHONY: checker-mutants
EVERY ?= 1
SKIP ?= 0
checker-mutants: setup
	$(BIN)/python tests/checker_mutation.py --every $(EVERY) --skip $(SKIP) --jobs $(JOBS)

# The same of the machine without a clock, in Rust: what its own tests do not find is printed. What nobody
# can tell from the original is named in evaluator/.cargo/mutants.toml. Status 2 says that some are not
# found, 3 that some have been found by a test that hangs.
.PHONY: machine-mutants
machine-mutants:
	@command -v cargo-mutants >/dev/null 2>&1 || { echo "make: cargo-mutants is needed: cargo install cargo-mutants" >&2; exit 1; }
	mkdir -p .cache
	cd evaluator && env -u MAKEFLAGS -u CARGO_TARGET_DIR cargo mutants --shard $(SKIP)/$(EVERY) \
	    --sharding round-robin --jobs $(JOBS) --output ../.cache; status=$$?; [ $$status != 1 ] && [ $$status -le 3 ]

# Random texts of the language, through the front end, FUZZ_SECONDS long.
.PHONY: fuzz-coll fuzz-files
fuzz-coll: setup
	$(BIN)/python tests/fuzz_coll.py --seconds $(FUZZ_SECONDS)

# The same for fabsim's Python side: traces, tables of cycle costs, cores, programs, host scripts.
fuzz-files: setup
	$(BIN)/python tests/fuzz_fabsim.py --seconds $(FUZZ_SECONDS)

# Programs on NaN, infinities, zeros of both signs and the largest floats; those of a day of the year.
.PHONY: salted
salted: setup
	$(BIN)/python tests/salted.py --programs 1000 --first $$(date +%-j)000

# The table of patterns, docs/patterns.md, from the prelude, the examples and the compiler.
.PHONY: patterns sweep
patterns: setup
	$(BIN)/collc list --page > docs/patterns.md.new && mv docs/patterns.md.new docs/patterns.md

# Every pattern over many sizes, into docs/sweep.md; goes on where it was interrupted.
sweep: setup
	$(BIN)/python tests/sweep.py --jobs $(JOBS)

# Twenty machines with rules and cycles changed at random, and what the probes find out about them; then
# every rule that can be switched off, one by one. Some minutes; docs/probes.md.
.PHONY: probes
probes: setup
	$(BIN)/python tests/blind.py --seeds 20 --each

# Digests of emitted text, tests/emit/digests.json, made anew; `python tests/digests.py --check` compares.
.PHONY: digests
digests: setup
	$(BIN)/python tests/digests.py --jobs $(JOBS)

# How far the best patterns are from the lower bounds, into docs/gap.md.
.PHONY: gap
gap: setup
	$(BIN)/python tests/gap.py --jobs $(JOBS)

# Plans with one thing changed, and who finds out, into docs/mutants.md; a minute.
.PHONY: mutants
mutants: setup
	$(BIN)/python tests/mutation.py

# What a change of form or scope costs, by law: docs/laws.md, which PAGE=--page writes; some minutes.
# SEED repeats the part that a seed draws.
.PHONY: laws
laws: setup
	$(BIN)/python tests/laws.py --jobs $(JOBS) $(if $(SEED),--seed $(SEED)) $(PAGE)

# Published cycles of public programs beside the simulator's, into docs/machine.md, with the error over
# each family of programs that a fit has not seen, and the constants that no source gives. PROGRAMS names
# folders with checkouts: see fabsim/tools/timings.py.
.PHONY: timings fit
timings: setup
	$(BIN)/python fabsim/tools/timings.py $(PROGRAMS) --jobs $(JOBS) --page docs/machine.md
	$(BIN)/python fabsim/tools/fit_timings.py $(PROGRAMS) --jobs $(JOBS) --page docs/machine.md

fit: setup
	$(BIN)/python fabsim/tools/fit_timings.py $(PROGRAMS) --jobs $(JOBS)

# Programs that others wrote, by their own verdicts, into docs/conformance.md: FOLDERS are copies of them.
.PHONY: conformance
CONFORMANCE_TIMEOUT ?= 200
conformance: setup
	@test -n "$(FOLDERS)" || { echo "make: FOLDERS=\"DIR DIR\" says which copies of the programs to run" >&2; exit 1; }
	$(BIN)/python -m pip install --quiet --disable-pip-version-check matplotlib scipy pandas
	-$(BIN)/python fabsim/tools/conformance.py $(FOLDERS) --timeout $(CONFORMANCE_TIMEOUT) --page docs/conformance.md
