#!/bin/bash
# ThreadSanitizer over the C++ of the lazy device, on the interpreter's plugin: scripts/lazy_tsan.sh [SECONDS]
# Compiles the sources of src/lazy and tests/lazy/threads with -fsanitize=thread, and takes the kernels and shapes
# of ops from the extension (TORCHERE_LAZY_FOLDER). libtorch and libtorchere.so are not instrumented: what only they do
# is suppressed (lazy_tsan.supp).
set -euo pipefail
root=$(cd "$(dirname "$0")/.." && pwd)
built=${TORCHERE_LAZY_FOLDER:-$root/build/lazy}
folder=$root/build/lazy-tsan
package=$root/python/torchere
torch=$("$root/.venv/bin/python" -c 'import os, torch; print(os.path.dirname(torch.__file__))')
mkdir -p "$folder"
export CXX=${CXX:-c++} FOLDER=$folder
export FLAGS="-std=c++20 -O1 -g1 -fsanitize=thread -fPIC -DNDEBUG -DFMT_HEADER_ONLY -Wno-deprecated-declarations \
-I$root/src -I$built/generated -isystem $torch/include"

# Newer headers than an object's make it old: they are few, and most files read most of them.
header=$folder/precompiled.h
newest=$(ls -t "$root"/src/lazy/*.h "$built"/generated/lazy/*.h | head -1)
[ "$header.gch" -nt "$newest" ] || $CXX $FLAGS -x c++-header -c "$root/src/lazy/precompiled.h" -o "$header.gch"
compile() { # only what is newer than its object
  object=$FOLDER/$(basename "$1" .cpp).o
  [ "$object" -nt "$1" ] && [ "$object" -nt "$FOLDER/precompiled.h.gch" ] ||
    $CXX $FLAGS -include "$FOLDER/precompiled.h" -c "$1" -o "$object"
}
export -f compile
printf '%s\n' "$root"/src/lazy/*.cpp "$root"/src/lazy/kernels/*.cpp "$root"/tests/lazy/threads/threads.cpp |
  xargs -P "${JOBS:-2}" -I{} bash -c 'compile {}'
"$CXX" -fsanitize=thread -o "$folder/threads_test" "$folder"/*.o "$built"/kernels_*.o \
  "$built"/shape_group_*.o "$built"/registration_supported.o -L"$torch/lib" -Wl,--no-as-needed -ltorch_cpu -lc10 -L"$package/lib" -ltorchere \
  -Wl,-rpath,"$torch/lib" -Wl,-rpath,"$package/lib"
export PJRT_DEVICE=interpreter OMP_NUM_THREADS=1
export TSAN_OPTIONS="suppressions=$root/scripts/lazy_tsan.supp ignore_noninstrumented_modules=1 history_size=4"
exec "$folder/threads_test" "${1:-3}"
