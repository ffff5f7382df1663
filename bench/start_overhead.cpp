// What the start of a saved program takes inside the plugin: a bare loop over its functions, with an
// executable of the compile cache and the program's own weights.
//   start_overhead DIR ENTRY [CALLS]
// DIR is a saved program whose inputs are tensors of constant shapes, ENTRY its executable, a file of the
// cache. Writes one JSON document, milliseconds: "plugin", its library and client; "executable", loading it;
// "buffers", on the memory of weights and inputs; "first call"; "call", the best of CALLS further ones.
#include "artifact/bundle.h"
#include "bare_program.h"
#include "base/file.h"
#include "base/json.h"
#include "runtime/compile_cache.h"
#include "runtime/discovery.h"

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <limits>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

using namespace torchere;
using namespace torchere::bench;

/// A function's arguments: weights where they are mapped, and zeros for the user's.
static std::vector<Array> argumentsOf(const artifact::Function &function, const artifact::Bundle &bundle) {
  std::vector<Array> arrays;
  for (const program::EntryInput &input : function.entryPoint.inputs) {
    if (input.source == program::InputSource::UserInput) {
      arrays.push_back(zeros(input.type));
      continue;
    }
    const program::Weight &weight = input.source == program::InputSource::Constant
                                        ? bundle.constants[static_cast<size_t>(input.position)]
                                        : bundle.stateDict.at(input.name);
    arrays.push_back({weight.dtype, weight.shape, {weight.storage, weight.data()}});
  }
  return arrays;
}

namespace {
/// Milliseconds since it was asked last.
class Clock {
public:
  double lap() {
    auto now = std::chrono::steady_clock::now();
    return std::chrono::duration<double, std::milli>(now - std::exchange(last, now)).count();
  }

private:
  std::chrono::steady_clock::time_point last = std::chrono::steady_clock::now();
};
} // namespace

int main(int argc, char **argv) {
  if (argc < 3) {
    std::fprintf(stderr, "usage: start_overhead DIR ENTRY [CALLS]\n");
    return 2;
  }
  int calls = argc > 3 ? std::max(std::atoi(argv[3]), 1) : 5;
  artifact::Bundle bundle = require(artifact::load(argv[1]));
  const artifact::Function &function = bundle.functions.front();
  std::string entry = require(readFile(argv[2], runtime::CompileCache::defaultLimit));
  if (entry.size() < runtime::cacheEntryHeaderSize) {
    std::fprintf(stderr, "[%s] no entry of the compile cache\n", argv[2]);
    return 1;
  }
  std::vector<Array> arrays = argumentsOf(function, bundle);
  OrderedJson times;
  Clock clock;
  auto client = require(runtime::sharedClient());
  times["plugin"] = clock.lap();
  BareProgram program(*client, function, std::move(arrays));
  program.load(std::string_view(entry).substr(runtime::cacheEntryHeaderSize));
  times["executable"] = clock.lap();
  std::vector<pjrt::Buffer *> buffers = program.makeInputs();
  times["buffers"] = clock.lap();
  program.execute(buffers);
  times["first call"] = clock.lap();
  double best = std::numeric_limits<double>::infinity();
  for (int i = 0; i < calls; ++i) {
    clock.lap();
    program.execute(buffers);
    best = std::min(best, clock.lap());
  }
  times["call"] = best;
  std::printf("%s\n", printJson(times, 2).c_str());
  return 0;
}
