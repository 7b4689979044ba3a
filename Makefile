# SPDX-License-Identifier: GPL-2.0-or-later
# The one door. Each target is a line here and a script or a CMake preset behind it; `make help` lists those with a ## line.

PREFIX  ?= /usr/local
DESTDIR ?=
KERNEL  ?= 6.1
# What make test-all runs, and how many guests at a time: most have two CPUs
KERNELS ?= $(shell awk '!/^\#/ && NF { print $$1 }' tests/vm/kernels)
JOBS    ?= $(shell n=$$(nproc); echo $$((n < 4 ? 2 : n / 2)))
# --again: what failed is run once more, alone
SUITEFLAGS ?=
# What make test-all adds to make test: cases whose header says only=slow
SLOW    ?= --slow
# Which cases of tests/vm/cases: 'hook-* sleep-pipe' for some
CASES   ?= *
# make test leaves out what takes long; QUICK= for all but the slow ones
QUICK   ?= --quick
# Which of them make test runs by kprobes too: what goes by hooks; the others are of what lies behind them
KPROBE_CASES ?= hook-* sleep-* load-init-failures load-unload-* table-* all-tasks-stress-ng stack-user-frames exited-tasks-merge
# What make bench measures on
BENCH_KERNELS ?= 5.10 6.1 6.12 7.2 5.10:kprobe 6.1:kprobe 6.12:kprobe 7.2:kprobe
BENCHFLAGS ?=
release := $(shell uname -r)

.DEFAULT_GOAL := all
# Steps inside a target run in order, and each uses every core
.NOTPARALLEL:
.PHONY: all build browser tools bench-tools run test unit sanitizers test-all check bench fuzz load unload install uninstall vm lint format clean help

all: build ## build lattop, and the module when this kernel's headers are here
	@if [ -e /lib/modules/$(release)/build/Makefile ]; then packaging/module build; \
	else echo "module: no headers of this kernel ($(release)); make vm builds it for a guest's"; fi

build: build/dev/build.ninja
	@cmake --build --preset dev

# What setup touches where it has installed something: CMake looks again then for what it had not found
build/installed:
	@mkdir -p build && touch $@

build/%/build.ninja: CMakeLists.txt CMakePresets.json build/installed
	@packaging/setup build
	@cmake --preset $* --log-level=WARNING && touch $@

run: ## install what is missing, build, open lattop: here, or in a guest
	@packaging/run

# Before CMake looks what there is
tools:
	@packaging/setup build vm test

bench-tools:
	@packaging/setup build vm test bench

test: tools unit sanitizers ## unit tests, sanitizers, the screen in tmux, exports in other readers, the guest suite on 6.1
	@$(MAKE) --no-print-directory build
	@ctest --preset term
	@ctest --preset formats
	@tests/vm/suite --jobs $(JOBS) $(QUICK) $(SUITEFLAGS) --case '$(CASES)' --kprobe-case '$(KPROBE_CASES)' $(KERNEL)
	@tests/vm/tty-test $(KERNEL)

unit: build ## unit tests
	@ctest --preset dev

sanitizers: build/asan/build.ninja build/tsan/build.ninja ## unit tests under the sanitizers
	@cmake --build --preset asan && ctest --preset asan
	@cmake --build --preset tsan && ctest --preset tsan

test-all: tools build ## the guest suite, whole, on every kernel of tests/vm/kernels (KERNELS='...', CASES='...' for some; SLOW= for less)
	@tests/vm/suite --jobs $(JOBS) $(SLOW) $(SUITEFLAGS) --case '$(CASES)' $(KERNELS)

browser: build ## exports opened in Chromium, searched and clicked; pictures in build/browser (RECORDING=FILE for one of yours)
	@packaging/setup browser
	@node tests/formats/browser.mjs build/readers build/dev/bin/lattop build/dev/tests/term/write_records build/browser $(RECORDING)

check: unit ## build, unit tests, quick lint: under a minute
	@packaging/setup vm lint
	@packaging/lint --quick

bench: bench-tools build/release/build.ninja ## what lattop costs, in instructions (BENCHFLAGS='--part growth', --check, --write; BENCH_KERNELS)
	@cmake --build --preset release
	@LATTOP_PRESET=release tests/bench/bench $(BENCHFLAGS) $(BENCH_KERNELS)

fuzz: ## fuzz what reads bytes of others, 10 seconds for each target (SECS=)
	@packaging/setup build fuzz
	@packaging/fuzz $(or $(SECS),10)

load: ## build the module for this kernel and load it (root; ARGS='hook=kprobe ...')
	@packaging/setup module
	@packaging/module load $(ARGS)

unload: ## unload it
	@packaging/module unload

install: build/release/build.ninja ## install lattop, man pages and the module (PREFIX, DESTDIR)
	@cmake --build --preset release --target lattop
	@packaging/install build "$(DESTDIR)" "$(PREFIX)"
	@DESTDIR=$(DESTDIR) cmake --install build/release --prefix $(PREFIX) --strip
	@packaging/install install "$(DESTDIR)" "$(PREFIX)"

uninstall: ## take out what install put there
	@packaging/install uninstall "$(DESTDIR)" "$(PREFIX)"

vm: build ## a command in a guest: make vm KERNEL=6.1 CMD='...'; without CMD a shell
	@packaging/setup vm
	@tests/vm/run --kernel $(KERNEL) $(VMFLAGS) $(if $(CMD),-- sh -c '$(subst ','\'',$(value CMD))')

lint: build ## every linter: W=1, sparse, what hooks call, checkpatch, cppcheck, clang-tidy, clang-format, shellcheck
	@packaging/setup vm lint
	@packaging/lint

format: ## clang-format what is C++
	@packaging/setup lint
	@git ls-files 'lattop/*.cc' 'lattop/*.h' 'unwind/*.cc' 'unwind/*.h' 'tests/unit/*.cc' 'tests/unit/*.h' | xargs clang-format -i

clean: ## remove build/ (fetched kernels stay in ~/.cache/lattop)
	rm -rf build

help: ## this list
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "  make %-12s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)
