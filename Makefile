# Every target works alone on a fresh machine that has Rust, gcc and make.
#
#   make setup     install LLVM 19 and the other tools (Debian), if missing
#   make build     target/release/loopwright and target/release/libloopwright.so
#   make install   command, plugin, manual pages, completions and CMake toolchain file, into PREFIX (default
#                  /usr/local), below DESTDIR if that is set; make uninstall takes them away again
#   make demo      one loop nest, before and after
#   make test      everything that must hold
#   make bench     the kernels against clang -O3 and Polly
#   make compile-time SOURCES="a.c b.f90" FLAGS="-O3 -I."
#                  what compiling costs with loopwright and without, as a table; or DATABASE=compile_commands.json
#   make mutants   faults planted in the optimizer, and which tests and generated loop nests notice them
#   make fuzz N=…  generated loop nests, original against optimized; FAMILY=loops, scalars,
#                  extremes, bytes or effects for one kind alone

SHELL := /bin/bash
.SHELLFLAGS := -eu -o pipefail -c
.DEFAULT_GOAL := build
N ?= 1000
FAMILY ?= mixed
SEED ?= 1
JOBS ?= $(shell nproc)
PREFIX ?= /usr/local
FLAGS ?= -O3

CARGO ?= cargo
OUT := $(or $(CARGO_TARGET_DIR),target)/release

.PHONY: setup build install uninstall demo test bench compile-time fuzz mutants format lint unit valgrind fixtures kernels clean

setup:
	@scripts/setup

build: setup
	$(CARGO) build --release --workspace

# What is there is installed, so that root needs no Rust: make && sudo make install.
install: $(if $(wildcard $(OUT)/loopwright),,build)
	scripts/install install $(OUT) "$(DESTDIR)$(PREFIX)"

uninstall:
	scripts/install uninstall $(OUT) "$(DESTDIR)$(PREFIX)"

demo: build
	@scripts/demo $(OUT)

test: build format lint unit valgrind fixtures kernels
	@echo "all tests passed"

format: setup
	$(CARGO) fmt --all --check

# --release everywhere: build scripts and dependencies are compiled once for all steps.
lint: setup
	$(CARGO) clippy --release --workspace --all-targets --quiet -- -D warnings

unit: build
	$(CARGO) test --release --workspace --exclude tests --quiet
	$(CARGO) test --release --package tests --lib --test command --test install --test transaction --test reproducible --test cost --test memory --test unchanged --quiet

# Memory errors and leaks of the isl wrapper.
valgrind: build
	CARGO=$(CARGO) scripts/valgrind

# One stage: make fixtures ONLY=refuse/. New expectations: BLESS=1 make fixtures.
fixtures: build
	$(CARGO) test --release --package tests --test fixtures --quiet -- $(ONLY)

# Every kernel, original against optimized, also on inputs that violate the assumptions.
kernels: build
	$(CARGO) test --release --package tests --test kernels --quiet -- $(ONLY)

compile-time: build
	@python3 scripts/compile-time --loopwright $(OUT)/loopwright $(if $(DATABASE),--database $(DATABASE),--flags="$(FLAGS)" $(SOURCES))

bench: build
	python3 kernels/bench.py --plugin $(OUT)/libloopwright.so

# Every kernel in four configurations, or with BROAD=1 in one of them, in turn; what differs is reduced and saved in target/fuzz.
# Another SEED gives other kernels. Of bytes and effects, which test what is rare in programs, one program in seven is compared with
# -O0 instead of -O3. Before that, of which `make unit` has a slice: random descriptors of memory, against enumeration.
fuzz: build
	$(if $(filter mixed,$(FAMILY)),LMAD_PAIRS=200000 $(CARGO) test --release --package model --test lmad_random --quiet)
	$(CARGO) run --release --package fuzz --bin fuzz -- --count $(N) --family $(FAMILY) --seed $(SEED) --jobs $(JOBS) --parallel $(if $(BROAD),--broad)

# Each fault of crates/planted in turn, until the test that is there for it or a generated kernel notices it; ONLY=NAME,NAME for some of
# them. The plugin with the faults is built apart from the real one.
mutants: build
	$(CARGO) build --release --package plugin --package cli --features plugin/planted --target-dir $(dir $(OUT))planted
	$(CARGO) run --release --package fuzz --bin mutants -- --plugin $(dir $(OUT))planted/release/libloopwright.so --seed $(SEED) --jobs $(JOBS) \
		$(if $(ONLY),--only $(ONLY))

clean:
	$(CARGO) clean
