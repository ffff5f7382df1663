#!/bin/bash
# ThreadSanitizer over the C++ of the lazy device, on the interpreter's plugin: scripts/lazy_tsan.sh [SECONDS]
# Builds the sources of src/lazy and the generated kernels with -fsanitize=thread, apart from what is installed.
# libtorch and libtorchere.so are not instrumented: what only they do is suppressed (lazy_tsan.supp).
set -euo pipefail
root=$(cd "$(dirname "$0")/.." && pwd)
python=$root/.venv/bin/python
folder=$root/build/lazy-tsan
export TORCHERE_LAZY_FOLDER=$folder TORCHERE_LAZY_CXXFLAGS="-fsanitize=thread -g1 -O1"
"$python" -c 'from torchere.lazy.build import build; build()'
torch=$("$python" -c 'import os, torch; print(os.path.dirname(torch.__file__))')
package=$root/python/torchere
"${CXX:-c++}" -std=c++20 -O1 -g1 -fsanitize=thread -DFMT_HEADER_ONLY -Wno-deprecated-declarations \
  -I"$root/src" -isystem "$torch/include" "$root/tests/lazy/threads/threads.cpp" -o "$folder/threads" \
  "$folder/libtorchere_lazy.so" -L"$torch/lib" -ltorch_cpu -lc10 -L"$package/lib" -ltorchere \
  -Wl,-rpath,"$folder" -Wl,-rpath,"$torch/lib" -Wl,-rpath,"$package/lib"
export PJRT_DEVICE=interpreter OMP_NUM_THREADS=1
export TSAN_OPTIONS="suppressions=$root/scripts/lazy_tsan.supp ignore_noninstrumented_modules=1 halt_on_error=0 history_size=4"
exec "$folder/threads" "${1:-3}"
