# Two commands do all set-up: `make demo` runs the main job on real data, `make test` passes the tests.
# All cargo commands build the whole workspace in one profile, so that each dependency is built once.

CARGO := cargo
VENV := .venv
BENCH_VENV := .venv-bench
# Python is needed for the tests alone: for the ONNX Runtime library in its package, and for the packages fuseval is compared with.
PYTHON := python3

.PHONY: demo build test check fmt clippy doc unit cases parity golden bench

demo: build
	target/release/fuseval run examples/kuairand.yaml

build:
	$(CARGO) build --release --workspace --locked

# What .ci/run calls.
test: check

check: fmt clippy doc unit cases parity

fmt:
	$(CARGO) fmt --all --check

clippy:
	$(CARGO) clippy --release --workspace --all-targets --locked -- -D warnings

doc:
	RUSTDOCFLAGS="-D warnings" $(CARGO) doc --release --workspace --no-deps --locked

unit: $(VENV)/done
	VIRTUAL_ENV=$(CURDIR)/$(VENV) $(CARGO) test --release --workspace --locked

# The hard cases, through the command line and the library. What waits for a later issue is listed and counts as neither.
cases: $(VENV)/done
	VIRTUAL_ENV=$(CURDIR)/$(VENV) $(CARGO) run --release --locked -p fuseval-testkit --bin cases -- testdata/cases

# fuseval beside scikit-learn, trec_eval and others on random data, through the command line.
parity: build $(VENV)/done
	@if [ -e $(VENV)/done ]; then \
	  $(VENV)/bin/ruff check --quiet --no-cache tests/python && \
	  $(VENV)/bin/pytest --quiet -p no:cacheprovider --numprocesses 2 --dist loadfile tests/python; \
	else echo "skipped: no Python packages here, so the comparison with them"; fi

# ONNX Runtime and the peers for the tests, and the check of the clustered copies. Where there is no Python with its package
# registry the tests use the embedded engine and say what they skip; the next call tries again.
$(VENV)/done: testdata/requirements.txt tests/python/requirements-no-deps.txt
	@if $(PYTHON) -m venv $(VENV) && $(VENV)/bin/pip install --quiet -r testdata/requirements.txt && \
	  $(VENV)/bin/pip install --quiet --no-deps -r tests/python/requirements-no-deps.txt; then touch $@; \
	else echo "skipped: no Python package onnxruntime here, so the tests on ONNX Runtime and the check of testdata"; fi
	@if [ -e $@ ]; then $(VENV)/bin/python testdata/cluster.py --check; fi

# fuseval beside the tools that people would otherwise take, on ten million rows; wants an idle machine and some twenty minutes.
bench: build $(BENCH_VENV)/done
	$(BENCH_VENV)/bin/python bench/peers.py --fuseval target/release/bench
	$(BENCH_VENV)/bin/python bench/scattered.py --fuseval target/release/fuseval

$(BENCH_VENV)/done: bench/requirements.txt bench/requirements-no-deps.txt
	$(PYTHON) -m venv $(BENCH_VENV)
	$(BENCH_VENV)/bin/pip install --quiet -r bench/requirements.txt
	$(BENCH_VENV)/bin/pip install --quiet --no-deps -r bench/requirements-no-deps.txt
	touch $@

# Writes the expected texts of the golden tests anew; look at the difference before it is committed.
golden:
	UPDATE_GOLDEN=1 VIRTUAL_ENV=$(CURDIR)/$(VENV) $(CARGO) test --release --workspace --locked golden
