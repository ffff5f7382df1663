#!/bin/bash
# The engine's kernels and vector programs for aarch64 (NEON), and their tests under QEMU: scripts/aarch64_kernels.sh [FILTER]
# Needs Debian's g++-aarch64-linux-gnu, qemu-user-static and googletest. Folders without MLIR alone, so that nothing else of that
# architecture has to be there.
set -euo pipefail
root=$(cd "$(dirname "$0")/.." && pwd)
export ROOT=$root FOLDER=$root/build/aarch64 CXX=${AARCH64_CXX:-aarch64-linux-gnu-g++}
googletest=/usr/src/googletest/googletest
mkdir -p "$FOLDER/headers"
for library in fmt nlohmann tl; do # not all of /usr/include, which is of this machine's architecture
  ln -sfn "/usr/include/$library" "$FOLDER/headers/$library"
done
export FLAGS="-std=c++20 -O2 -DNDEBUG -DFMT_HEADER_ONLY -Wall -Wextra -Werror -Wno-psabi -ffp-contract=fast -fno-math-errno \
-fno-trapping-math -I$root/src -isystem $FOLDER/headers -isystem $googletest/include -isystem $googletest"
compile() { # only what is newer than its object
  object=$FOLDER/$(echo "${1#"$ROOT"/}" | tr / _).o
  [ "$object" -nt "$1" ] && [ "$object" -nt "$FOLDER/headers.stamp" ] && return 0
  case $1 in */isa/*) own="-O3 -DTORCHERE_ISA=baseline" ;; *) own= ;; esac
  $CXX $FLAGS $own -c "$1" -o "$object"
}
export -f compile
stamp=$FOLDER/headers.stamp # as new as the newest header that objects were compiled with
[ -e "$stamp" ] || touch -d @0 "$stamp"
newest=$(find "$root/src/base" "$root/src/cpu" "$root/tests/cpu" -name '*.h' -newer "$stamp" -print -quit)
[ -z "$newest" ] || touch "$stamp"
sources=$(ls "$root"/src/base/*.cpp "$root"/src/cpu/{kernels,vector}/{,isa/}*.cpp "$root"/tests/cpu/{kernels,vector}/*_test.cpp \
  $googletest/src/gtest-all.cc $googletest/src/gtest_main.cc)
printf '%s\n' "$sources" | xargs -P "${JOBS:-2}" -I{} bash -c 'compile {}'
$CXX -static -o "$FOLDER/kernels_test" "$FOLDER"/*.o -pthread
exec qemu-aarch64-static "$FOLDER/kernels_test" --gtest_brief=1 --gtest_filter="${1:-*}"
