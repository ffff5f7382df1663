# The project's commands. `make demo` and `make test` need git, make, python3 and (with root or sudo) nothing else:
# they install what is missing, create .venv, build, and run. Everything is quick the second time.
SHELL := /bin/bash
.SHELLFLAGS := -euo pipefail -c
.DEFAULT_GOAL := help
.DELETE_ON_ERROR:

PYTHON ?= python3
PRESET ?= release
JOBS ?= $(shell nproc)
BUILD := build/$(PRESET)
VENV := .venv/bin
LLVM := /usr/lib/llvm-22/bin
# Debian's cmake and ninja first, so that a Python's shims of those names do not matter.
export PATH := $(CURDIR)/$(VENV):/usr/bin:$(LLVM):$(PATH)
export PIP_DISABLE_PIP_VERSION_CHECK := 1
export TORCHERE_LAZY_FOLDER := $(CURDIR)/build/lazy
CMAKE := cmake
say = @printf '== %s\n'

.PHONY: help setup configure build plugin demo test quick test-cpp test-lit test-python test-imports test-torch \
        test-models model-packages test-all-families test-all-ops test-all-engine test-all-engine-asan test-all-mutations test-all-overwrites test-all-aliases \
        test-all-saved-models \
        test-packages lazy demo-lazy test-lazy test-lazy-cpp test-all-lazy asan tsan aarch64 bench format \
        lint wheel clean

help: ## list the commands
	@grep -hE '^[a-z-]+:.*##' Makefile | sed -E 's/:.*## /\t/' | expand -t 20

setup: ## install missing Debian packages, create .venv
	@PYTHON='$(PYTHON)' scripts/install_packages
	@PYTHON='$(PYTHON)' scripts/create_environment

configure: setup
	@for cause in CMakePresets.json .venv/.torchere-requirements; do \
	  if [ "$$cause" -nt $(BUILD)/build.ninja ]; then \
	    printf '== configuring $(PRESET)\n'; $(CMAKE) --preset $(PRESET) --fresh; fi; done

build: configure ## build the core, its tests and the Python package
	$(say) 'building $(PRESET) with $(JOBS) jobs'
	@$(CMAKE) --build --preset $(PRESET) -j $(JOBS)
	@scripts/link_package

plugin: build ## fetch XLA's CPU plugin, which tests hold the engine against
	$(say) "XLA's CPU plugin"
	@$(VENV)/torchere plugins install cpu

demo: build ## export ResNet-18, run it, save it, load it in a new process, run again
	$(say) 'ResNet-18: PyTorch to StableHLO and back'
	@$(VENV)/python examples/resnet18.py

test: build plugin test-packages test-cpp test-lit test-python test-lazy ## every test but the sweeps, which are test-all-...
	$(say) 'all tests passed'

quick: build plugin ## the tests that take under two minutes in all
	@ctest --preset $(PRESET) -j $(JOBS) --quiet
	@$(VENV)/lit -q $(BUILD)/tests/lit
	@$(VENV)/python -m pytest -q -m 'not slow' -n $(JOBS) --ignore tests/lazy

test-cpp: build plugin
	$(say) 'C++ tests'
	@ctest --preset $(PRESET) -j $(JOBS) --progress

test-lit: build
	$(say) 'lit tests'
	@$(VENV)/lit -s $(BUILD)/tests/lit

test-python: build plugin
	$(say) 'Python tests'
	@$(VENV)/python -m pytest -n $(JOBS) --ignore tests/lazy

lazy: build ## build the lazy device against the PyTorch of .venv, the only part that links to it
	$(say) 'the lazy device'
	@$(VENV)/python -m torchere.lazy build -j $(JOBS)

demo-lazy: lazy ## the lazy device at work on one op: what is generated, traced, computed and counted
	$(say) 'abs on the lazy device'
	@$(VENV)/python examples/lazy_abs.py

# In processes of their own: the device changes torch for all of a process.
test-lazy: lazy ## the tests of the lazy device
	$(say) 'tests of the lazy device'
	@$(VENV)/python -m pytest -n $(JOBS) tests/lazy

test-all-lazy: lazy plugin ## more of OpInfo's and ModuleInfo's samples on the lazy device, XLA too; ResNet-18; prints the counts
	@$(VENV)/python -m pytest -s --sweeps -m sweep tests/lazy

LAZY_CMAKE = $(CMAKE) -G Ninja -DCMAKE_PREFIX_PATH="$$($(VENV)/python -c 'import torch; print(torch.utils.cmake_prefix_path)')" \
  -DTORCHERE_LAZY=$(TORCHERE_LAZY_FOLDER)/libtorchere_lazy.so -DPython3_EXECUTABLE=$(CURDIR)/$(VENV)/python

test-lazy-cpp: lazy ## the lazy device in C++: GoogleTests generated from its table, and the example
	$(say) 'the lazy device in C++'
	@$(LAZY_CMAKE) -S tests/lazy/cpp -B build/lazy_cpp > build/lazy_cpp.log 2>&1 || { cat build/lazy_cpp.log; exit 1; }
	@$(CMAKE) --build build/lazy_cpp -j $(JOBS)
	@build/lazy_cpp/lazy_ops_test --gtest_brief=1
	@$(LAZY_CMAKE) -S examples/cpp_lazy -B build/cpp_lazy > build/cpp_lazy.log 2>&1 || { cat build/cpp_lazy.log; exit 1; }
	@$(CMAKE) --build build/cpp_lazy -j $(JOBS)
	@build/cpp_lazy/trace build/cpp_lazy/out

# What only tests need, so that `make demo` does without the downloads.
test-packages: setup
	$(say) 'TensorFlow, for the tests of import order and of SavedModels; transformers, for those of models'
	@$(VENV)/pip install -q --progress-bar off -c scripts/requirements/constraints.txt \
	  -r scripts/requirements/imports.txt -r scripts/requirements/transformers.txt

test-imports: build test-packages ## only the import orders
	@$(VENV)/python -m pytest --sweeps tests/packaging/import_order_test.py

model-packages: test-packages
	$(say) 'timm and diffusers, for the table of architectures'
	@$(VENV)/pip install -q --progress-bar off --no-deps -r scripts/requirements/models.txt

test-models: build plugin model-packages ## every architecture and decoder on XLA's plugin; writes docs/model_coverage.md
	@PJRT_DEVICE=cpu $(VENV)/python -m pytest -n $(JOBS) --sweeps --model-table docs/model_coverage.md \
	  tests/models/architectures_test.py tests/models/decoding_test.py

# Sweeps: all of a kind, of which `make test` takes a choice.
test-all-families: build plugin test-packages ## every model family: `make test` runs 15
	@$(VENV)/python -m pytest -n $(JOBS) --sweeps tests/models/families_test.py

test-all-ops: build plugin ## the op table's samples on XLA too: `make test` runs them on the interpreter and on the engine
	@$(VENV)/python -m pytest -n $(JOBS) --sweeps -m sweep tests/ops tests/interpreter/corpus_test.py
	@sed -n 's/^| \(samples.*\) | \(.*\) |$$/\1: \2/p' docs/op_coverage.md

test-all-engine: lazy plugin ## ops x dtypes, models, the lazy device and the corpus on the CPU engine; prints the lazy counts
	@$(VENV)/python -m pytest -n $(JOBS) tests/ops/samples_test.py tests/ops/promotion_test.py -k ours
	@PJRT_DEVICE=torchere_cpu $(VENV)/python -m pytest -n $(JOBS) --sweeps tests/models
	@$(VENV)/python -m pytest -n $(JOBS) --sweeps -m sweep tests/cpu
	@$(VENV)/python -m pytest -s --sweeps -m sweep tests/lazy/opinfo_test.py -k torchere_cpu

test-all-engine-asan: plugin ## the engine's Python tests on an engine under AddressSanitizer and UndefinedBehaviorSanitizer, with poisoned memory
	@$(CMAKE) --preset asan > build/asan.log 2>&1 || { cat build/asan.log; exit 1; }
	@$(CMAKE) --build --preset asan -j $(JOBS) --target torchere_cpu_library
	@TORCHERE_CPU_POISON=buffers scripts/test_engine_asan -n $(JOBS) --sweeps tests/cpu

test-all-mutations: build ## damaged programs, 2,500 of them: `make test` runs 260
	@$(VENV)/python -m pytest -s --sweeps tests/artifact/mutation_test.py -k all

test-all-aliases: build ## 2,000 random programs of views and writes: `make test` has 40; in-place ops of two dtypes
	@$(VENV)/python -m pytest -n $(JOBS) --sweeps -m sweep tests/functionalization

test-all-overwrites: build ## 3,000 loads and 100 kills during overwriting: `make test` has 200 and 10
	@$(VENV)/python -m pytest --sweeps tests/artifact/overwriting_test.py

test-all-saved-models: build test-packages ## SavedModels in TensorFlow, with more than 2 GiB of variables too (8 GB of memory)
	@$(VENV)/python -m pytest --sweeps tests/artifact/saved_model_test.py

# What depends on torch. Nothing of the core is compiled against it, so the build is the same.
TORCH_TESTS ?= tests/exporter tests/python tests/models tests/ops tests/session tests/artifact
test-torch: build plugin ## the export tests on another PyTorch: make test-torch TORCH=2.14.1
	@PYTHON='$(PYTHON)' scripts/create_environment torch '$(TORCH)'
	@build/venv-torch-$(TORCH)/bin/python -m pytest -n $(JOBS) -m 'not slow' $(TORCH_TESTS)
	@build/venv-torch-$(TORCH)/bin/python -m pytest -n $(JOBS) --sweeps tests/models/families_test.py

asan: plugin ## the C++ tests under AddressSanitizer and UndefinedBehaviorSanitizer
	@$(MAKE) --no-print-directory build PRESET=asan
	@ctest --preset asan -j $(JOBS) --progress

tsan: ## the C++ tests of thread-safe code, under ThreadSanitizer
	@$(MAKE) --no-print-directory build PRESET=tsan
	@ctest --preset tsan -j $(JOBS) --progress

aarch64: setup ## the engine's kernels for ARM's NEON, and their tests under QEMU
	@PYTHON='$(PYTHON)' scripts/install_packages g++-aarch64-linux-gnu qemu-user-static googletest
	@scripts/aarch64_kernels.sh

bench: build ## the figures in the documents
	@PYTHON='$(PYTHON)' scripts/create_environment bench
	@for program in bench/*_bench.py; do printf '== %s\n' "$$program"; build/venv-bench/bin/python "$$program"; done

format: setup ## rewrite the sources in the project's format
	@git ls-files '*.cpp' '*.h' | xargs -r clang-format-22 -i
	@$(VENV)/ruff check -q --fix-only
	@$(VENV)/ruff format -q

lint: setup ## check format, Python style, the layers and switches
	$(say) 'clang-format'
	@git ls-files '*.cpp' '*.h' | xargs -r clang-format-22 --dry-run --Werror
	$(say) 'ruff'
	@$(VENV)/ruff check
	@$(VENV)/ruff format --check
	$(say) 'layers'
	@$(VENV)/python scripts/check_layers.py
	$(say) 'switches'
	@$(VENV)/python scripts/check_switches.py

wheel: build ## make dist/torchere-*.whl
	$(say) 'packing the wheel'
	@$(VENV)/pip wheel . --no-deps --no-build-isolation -q -w dist \
	  --config-settings=build-dir=$(BUILD) \
	  --config-settings=cmake.define.TORCHERE_BUILD_TESTS=ON
	@ls -l dist/*.whl

clean: ## remove what was built; .venv stays
	@rm -rf build dist python/torchere/lib python/torchere/bin python/torchere/_core.*.so
