# The two commands most people need are `make run` and `make test`.
# Everything else is a part of one of them, or named by `make help`.

.PHONY: help run test unit e2e-kube e2e-signatures e2e-telemetry e2e-api e2e-faults e2e-runners lint bench setup build quick fmt schema
.DEFAULT_GOAL := help

# Where rustup puts cargo, for shells that were started before it was installed.
export PATH := $(PATH):$(or $(CARGO_HOME),$(HOME)/.cargo)/bin

help:
	@echo "make run       set up, build, and run the demonstration (loopback)"
	@echo "make test      set up, and run everything that must pass"
	@echo "make unit      only the tests that need no other server"
	@echo "make e2e-kube  only the tests against a real kube-apiserver"
	@echo "make e2e-signatures  only the tests with the real cosign and slsa-verifier"
	@echo "make e2e-telemetry   only the tests with the real OpenTelemetry Collector"
	@echo "make e2e-api   only the tests of the API with zuul-client, schemathesis, a real OpenID provider, Chromium"
	@echo "make e2e-faults      only the tests that kill servers and databases while CI jobs flow"
	@echo "make e2e-runners     only the tests with runners that others wrote"
	@echo "make lint      format, clippy, documentation, licences"
	@echo "make build     the program as it is shipped: target/release/portcullis"
	@echo "make quick     the program built in a fraction of the time, to try it: target/quick/portcullis"
	@echo "make bench     the benchmark"
	@echo "make schema    write the golden files that are made from the code"

setup:
	@scripts/setup

build: export PORTCULLIS_COMMIT := $(shell git rev-parse HEAD 2>/dev/null)
build: export PORTCULLIS_COMMIT_DATE := $(shell git log -1 --format=%cI 2>/dev/null)
build: setup
	@scripts/say-how-long release
	cargo build --release --locked

quick: setup
	@scripts/say-how-long quick
	cargo build --profile quick --locked

run: quick
	@exec "$${CARGO_TARGET_DIR:-target}/quick/portcullis" serve --demo

# The suites use the program that `unit` has built: built on its own it has fewer features of its
# dependencies, and most of them would be compiled once more.
test: unit
	e2e/kube/run
	scripts/test-signatures
	scripts/test-telemetry
	scripts/test-api
	scripts/test-faults
	scripts/test-runners

# A snapshot that changed is a failure, and nothing is written beside it.
unit: export INSTA_UPDATE := no
unit: setup
	@scripts/say-how-long tests
	cargo test --workspace --locked --profile quick

e2e-kube: quick
	e2e/kube/run

e2e-signatures: setup
	scripts/test-signatures

e2e-telemetry: setup
	scripts/test-telemetry

e2e-api: quick
	scripts/test-api

e2e-faults: quick
	scripts/test-faults

e2e-runners: quick
	scripts/test-runners

lint: setup
	scripts/lint

bench: build
	scripts/bench

fmt:
	cargo fmt --all

schema: setup
	UPDATE_SCHEMA=1 cargo test --locked -p portcullis-config -p portcullis-server schema
	UPDATE_PICTURE=1 cargo test --locked -p portcullis --test it picture
