// Decodes with a cache, goes back to a snapshot of it, and compares with eager PyTorch's tokens: decoder
// FOLDER
#include "decoder.h"

#include "numbers.h"

#include <cstdio>

static int run(const std::string &folder) {
  torchere::Program decoder = torchere::Program::load(folder + "/decoder");
  for (const torchere::ValueInfo &state : decoder.states())
    std::printf("state %s, %zu dimensions\n", state.name.c_str(), state.dimensions.size());
  std::vector<int64_t> expected = readNumbers<int64_t>(folder + "/tokens.i64");
  std::vector<int64_t> prompt(expected.begin(), expected.begin() + 4);
  int count = static_cast<int>(expected.size() - prompt.size());
  std::vector<int64_t> tokens = decode(decoder, prompt, count);

  // One step twice, from the same cache: the logits are the same.
  std::array<int64_t, 1> token = {tokens.back()}, place = {static_cast<int64_t>(tokens.size() - 1)};
  torchere::Snapshot snapshot = decoder.snapshot();
  std::vector<float> first = decoder({token, place})[0].copy<float>();
  std::vector<float> cache = decoder.read<float>("keys_0");
  decoder.restore(snapshot);
  bool isBack = decoder.read<float>("keys_0") != cache;
  bool isSame = decoder({token, place})[0].copy<float>() == first;

  for (int64_t each : tokens)
    std::printf("%ld ", static_cast<long>(each));
  std::printf("\n");
  return tokens == expected && isBack && isSame ? 0 : 1;
}

int main(int argc, char **argv) {
  try {
    return run(argc > 1 ? argv[1] : "programs");
  } catch (const std::exception &error) {
    std::fprintf(stderr, "%s\n", error.what());
    return 1;
  }
}
