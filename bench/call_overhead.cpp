// What a call costs in C++ beyond the plugin: Session::call against a bare loop over the plugin's own
// functions.
//   call_overhead DIR [REPEATS [CALLS]]
// DIR is a saved program whose inputs are tensors of constant shapes. Writes one JSON document: microseconds
// a call of each way, the best of the repeats and their median. The ways take turns, so that a busy machine
// slows all alike.
#include "artifact/bundle.h"
#include "bare_program.h"
#include "base/json.h"
#include "runtime/discovery.h"
#include "session/session.h"

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

using namespace torchere;
using namespace torchere::bench;

static double microseconds(const std::function<void()> &call, int calls) {
  auto start = std::chrono::steady_clock::now();
  for (int i = 0; i < calls; ++i)
    call();
  std::chrono::duration<double, std::micro> elapsed = std::chrono::steady_clock::now() - start;
  return elapsed.count() / calls;
}

static OrderedJson measure(const std::vector<std::pair<std::string, std::function<void()>>> &ways,
                           int repeats, int calls) {
  std::map<std::string, std::vector<double>> times;
  for (int repeat = 0; repeat < repeats; ++repeat)
    for (const auto &[name, call] : ways)
      times[name].push_back(microseconds(call, calls));
  OrderedJson document;
  for (const auto &[name, call] : ways) {
    std::vector<double> &values = times[name];
    std::sort(values.begin(), values.end());
    document[name] = {{"best", values.front()}, {"median", values[values.size() / 2]}};
  }
  return document;
}

int main(int argc, char **argv) {
  if (argc < 2) {
    std::fprintf(stderr, "usage: call_overhead DIR [REPEATS [CALLS]]\n");
    return 2;
  }
  int repeats = argc > 2 ? std::max(std::atoi(argv[2]), 1) : 50;
  int calls = argc > 3 ? std::max(std::atoi(argv[3]), 1) : 2000;
  auto bundle = std::make_shared<const artifact::Bundle>(require(artifact::load(argv[1])));
  auto client = require(runtime::sharedClient());
  auto session = require(session::Session::create(client, bundle));
  const artifact::Function &function = bundle->functions.front();
  std::vector<Array> arrays;
  for (const program::EntryInput &input : function.entryPoint.inputs) {
    if (input.source != program::InputSource::UserInput) {
      std::fprintf(stderr, "[%s] a weight: expected a program whose inputs are all the user's\n",
                   input.name.c_str());
      return 1;
    }
    arrays.push_back(zeros(input.type));
  }
  std::vector<session::Input> inputs;
  for (const Array &array : arrays)
    inputs.emplace_back(
        session::TensorView{array.memory.get(), array.dtype, array.shape, {}, "cpu", nullptr});
  BareProgram bare(*client, function, arrays);
  bare.compile(function);
  std::vector<pjrt::Buffer *> kept = bare.makeInputs();
  OrderedJson document = measure({{"execution", [&] { bare.execute(kept); }},
                                  {"plugin", [&] { bare.call(); }},
                                  {"session", [&] { require(session->call(0, inputs)); }}},
                                 repeats, calls);
  std::printf("%s\n", printJson(document, 2).c_str());
  return 0;
}
