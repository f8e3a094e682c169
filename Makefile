# SPDX-License-Identifier: MIT
# Drives CMake and the scripts; holds no build rules of its own.

TEST_PRESETS = release clang asan cuda-host tsan msan aarch64
prefix ?= /usr/local
seconds ?= 0.5

.PHONY: all cuda demo test test-cuda test-big test-peers bench bench-peers bench-growth workloads headline report coverage install format clean help
.NOTPARALLEL:

all: ## build library and program (build/release)
	@scripts/setup.sh build
	@scripts/build.sh release

cuda: ## the same with the CUDA backend (build/cuda); downloads its compiler, 100 MB, once
	@scripts/setup.sh cuda
	@scripts/fetch_cuda.sh
	@scripts/build.sh cuda

demo: all ## build, then run the main job; pictures go to demo-out/
	@build/release/cli/poolgrad demo -o demo-out

test: ## install what the tests need, build all variants, run all tests
	@scripts/setup.sh test
	@scripts/run_tests.sh $(TEST_PRESETS)

test-cuda: cuda ## the CUDA backend against the CPU, where there is a device; the folder build/cuda-tests can be taken to one
	@scripts/test_cuda.sh build/cuda build/cuda-tests

test-big: ## the long tests: every f32 pattern, 20 times the random problems, huge tensors
	@scripts/setup.sh build
	@scripts/run_tests.sh big -- -L big

test-peers: ## the faces against the real systems; downloads several gigabytes, most of it PyTorch
	@scripts/setup.sh peers
	@scripts/build.sh release
	@tests/peers/run.py --count 10000 --markdown build/peers.md

bench: all ## measure all of bench/cases.txt, some minutes; seconds=2 measures longer
	@build/release/cli/poolgrad bench --cases bench/cases.txt --seconds $(seconds) --json >build/bench.json
	@bench/scaling.py --seconds $(seconds) --json build/scaling.json >build/scaling.txt $(options)
	@bench/table.py build/bench.json --full
	@cat build/scaling.txt
	@bench/report.py

bench-peers: ## the same beside the real systems, a quarter of an hour; downloads as test-peers does
	@scripts/setup.sh peers
	@scripts/build.sh release
	@bench/peers.py --seconds $(seconds) --json build/bench-peers.json $(options)
	@bench/report.py

bench-growth: all ## how the time grows with the window; a picture in build/growth.svg
	@bench/growth.py --seconds $(seconds) --json build/growth.json -o build/growth.svg $(options)
	@bench/report.py

workloads: all ## steps of training: networks, losses; beside PyTorch where it is installed
	@bench/workloads/run.py --json build/workloads.json $(options)
	@bench/report.py

headline: ## the README's picture, measured again: bench-growth beside the real systems
	@scripts/setup.sh peers
	@scripts/build.sh release
	@bench/growth.py --seconds $(seconds) --peers all --json build/growth.json \
	    --headline docs/images/growth.svg $(options)
	@bench/report.py

report: bench bench-peers headline workloads ## all of these for build/report.html, half an hour

coverage: ## line coverage of src/ by the quick tests
	@scripts/setup.sh coverage
	@scripts/coverage.sh

install: all ## install into $(DESTDIR)$(prefix)
	@cmake --install build/release --prefix "$(prefix)"

format: ## put all C files into the project's format
	@scripts/setup.sh test
	@scripts/c_files.sh | xargs clang-format-14 -i

clean: ## remove what was built (downloads in build/deps stay)
	@find build -mindepth 1 -maxdepth 1 ! -name deps -exec rm -rf {} + 2>/dev/null || true
	@rm -rf demo-out

help: ## this list
	@sed -n 's/^\([a-z-]*\):.*## \(.*\)/\1\t\2/p' Makefile | expand -t 14
