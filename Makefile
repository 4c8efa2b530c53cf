# The two commands most people need are `make run` and `make test`.
# Everything else is a part of one of them, or named by `make help`.

.PHONY: help run test unit e2e-alerts e2e-kube e2e-chart e2e-signatures e2e-telemetry e2e-api e2e-web screenshots e2e-faults e2e-runners e2e-peer-policies e2e-image e2e-deb e2e-pipelines image deb tarball chart lint bench setup web build quick fmt schema build-ahead
.DEFAULT_GOAL := help

# Where rustup puts cargo, for shells that were started before it was installed.
export PATH := $(PATH):$(or $(CARGO_HOME),$(HOME)/.cargo)/bin

help:
	@echo "make run       set up, build, and run the demonstration (loopback)"
	@echo "make test      set up, and run everything that must pass"
	@echo "make unit      only the tests that need no other server"
	@echo "make e2e-kube  only the tests against a real kube-apiserver"
	@echo "make e2e-chart only the tests of the chart with helm and a real kube-apiserver"
	@echo "make e2e-signatures  only the tests with the real cosign and slsa-verifier"
	@echo "make e2e-telemetry   only the tests with the real OpenTelemetry Collector"
	@echo "make e2e-api   only the tests of the API with zuul-client, schemathesis, a real OpenID provider, Chromium"
	@echo "make e2e-web         only the tests of the web pages in Chromium"
	@echo "make e2e-faults      only the tests that kill servers and databases while CI jobs flow"
	@echo "make e2e-runners     only the tests with runners that others wrote"
	@echo "make e2e-peer-policies  only the policies for Kyverno and Gatekeeper beside ours, also with gator"
	@echo "make e2e-alerts      only the tests of the alerts with the real promtool"
	@echo "make e2e-image       only the test of the container image (buildah, podman)"
	@echo "make e2e-deb         only the test of the Debian package in a Debian of its own (debootstrap, systemd-nspawn)"
	@echo "make e2e-pipelines   only the tests of the GitHub action, the GitLab component and the pre-commit hooks"
	@echo "make image     the container image and its SBOM, with podman, docker or buildah"
	@echo "make deb       the Debian package: target/deb"
	@echo "make tarball   the archive that pipelines download: target/tarball"
	@echo "make lint      format, clippy, documentation, licences"
	@echo "make build     the program as it is shipped: target/release/portcullis"
	@echo "make quick     the program built in a fraction of the time, to try it: target/quick/portcullis"
	@echo "make web       only the scripts of the web pages"
	@echo "make chart     render deploy/manifests from the chart, and package it"
	@echo "make bench     the benchmark"
	@echo "make screenshots  write the pictures of the documentation again"
	@echo "make schema    write the golden files that are made from the code"

setup:
	@scripts/setup

# The scripts of the web pages, which become part of the program; without npm it has none.
web: setup
	@scripts/build-web

build: export PORTCULLIS_COMMIT := $(shell git rev-parse HEAD 2>/dev/null)
build: export PORTCULLIS_COMMIT_DATE := $(shell git log -1 --format=%cI 2>/dev/null)
build: setup web
	@scripts/say-how-long release
	cargo build --release --locked

quick: setup web
	@scripts/say-how-long quick
	cargo build --profile quick --locked

run: quick
	@exec "$${CARGO_TARGET_DIR:-target}/quick/portcullis" serve --demo

# The suites use the program that `unit` has built: built on its own it has fewer features of its
# dependencies, and most of them would be compiled once more.
# Those that need programs of others come last, when these are built.
test: build-ahead unit
	scripts/side-by-side \
		"scripts/test-alerts scripts/test-api" \
		"scripts/test-faults scripts/test-runners scripts/test-image scripts/test-deb scripts/test-pipelines"
	scripts/test-web
	e2e/kube/run
	scripts/test-chart
	scripts/test-signatures
	scripts/test-telemetry
	scripts/test-peer-policies

# Most tests wait, for a server or for a second to pass; that time is enough to build the programs of the suites.
build-ahead: setup
	@scripts/build-ahead >/dev/null 2>&1 &

# For the same reason there are more tests at once than processors.
TEST_THREADS ?= $(shell echo $$((2 * $$(nproc 2>/dev/null || echo 2))))

# A snapshot that changed is a failure, and nothing is written beside it.
unit: export INSTA_UPDATE := no
unit: setup web
	@scripts/say-how-long tests
	cargo test --workspace --locked --profile quick -- --test-threads=$(TEST_THREADS)

e2e-kube: quick
	e2e/kube/run

e2e-alerts:
	scripts/test-alerts

e2e-chart: quick
	scripts/test-chart

e2e-signatures: setup
	scripts/test-signatures

e2e-telemetry: setup
	scripts/test-telemetry

e2e-api: quick
	scripts/test-api

e2e-web: quick
	scripts/test-web

screenshots: quick
	scripts/test-web --screenshots

e2e-faults: quick
	scripts/test-faults

e2e-runners: quick
	scripts/test-runners

e2e-peer-policies: quick
	scripts/test-peer-policies gator

e2e-image: quick
	scripts/test-image

e2e-deb: quick
	scripts/test-deb

e2e-pipelines: quick
	scripts/test-pipelines

image:
	scripts/build-image

deb: build
	scripts/build-deb

tarball: build
	scripts/build-tarball

lint: setup web
	scripts/lint

chart: setup
	scripts/render-chart

bench: build
	scripts/bench

fmt:
	cargo fmt --all

schema: setup
	UPDATE_SCHEMA=1 cargo test --locked -p portcullis-config -p portcullis-gate -p portcullis-server schema
	UPDATE_PICTURE=1 cargo test --locked -p portcullis --test it picture
