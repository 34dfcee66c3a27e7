# The entry points of the project. Each target installs what it needs; see scripts/setup.
SHELL := /bin/bash
.DEFAULT_GOAL := help
# What the targets build is the Enterprise build, whose functions a licence opens. Plain cargo makes the Community build.
ENTERPRISE := --features svc-gateway/enterprise
.PHONY: help run test release bench lint fmt build clean

help: ## List the targets
	@grep -hE '^[a-z]+:.*##' $(MAKEFILE_LIST) | sed 's/:.*## /\t/'

build: ## Build every program
	@scripts/setup build
	cargo build --locked $(ENTERPRISE)

run: ## Start the gateway with a demo provider on an embedded database
	@scripts/setup build
	cargo build --locked -p svc-gateway -p svc-demo $(ENTERPRISE)
	@scripts/run

test: ## Run every test
	@scripts/setup build test
	scripts/test

release: ## Build the gateway for production, optimised with a profile of traffic
	@scripts/setup build release
	scripts/release

bench: release ## Measure the gateway beside a bare Pingora proxy and nginx
	@scripts/setup bench
	cargo build --locked --release -p svc-bench
	tests/bench/run $(BENCH)

lint: ## Check formatting, lints, shell scripts and licences
	@scripts/setup build
	cargo fmt --all --check
	cargo clippy --locked --workspace --all-targets $(ENTERPRISE) -- -D warnings
	@if command -v shellcheck >/dev/null; then shellcheck scripts/* sidecar/run tests/sdk/run; else echo "lint: shellcheck is missing; scripts are not checked"; fi
	@if command -v cargo-deny >/dev/null; then cargo deny --locked check; else echo "lint: cargo-deny is missing; licences are not checked"; fi

fmt: ## Format everything
	cargo fmt --all

clean: ## Remove build output
	cargo clean
