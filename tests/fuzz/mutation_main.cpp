// Runs a fuzz target where libFuzzer is not at hand: the files named, or RUNS random changes of its seeds.
//   json_fuzz FILE...            json_fuzz -runs=100000 [-seed=1]
#include "fuzz_target.h"

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <iterator>
#include <random>

static void runOn(const std::string &input) {
  LLVMFuzzerTestOneInput(reinterpret_cast<const uint8_t *>(input.data()), input.size());
}

/// Cuts, doubles, overwrites or joins: the changes that break length fields and nesting.
static std::string mutate(std::string input, const std::vector<std::string> &seeds, std::mt19937_64 &random) {
  auto below = [&](size_t limit) { return static_cast<size_t>(random() % std::max<size_t>(limit, 1)); };
  for (size_t change = 1 + below(4); change-- > 0;) {
    size_t place = below(input.size() + 1);
    size_t length = below(std::min<size_t>(input.size() - place, 16) + 1);
    switch (below(6)) {
    case 0:
      input.resize(place);
      break;
    case 1:
      input.erase(place, length);
      break;
    case 2:
      input.insert(place, input.substr(place, length));
      break;
    case 3:
      input.insert(place, 1, static_cast<char>(random()));
      break;
    case 4:
      if (place < input.size())
        input[place] = static_cast<char>(random());
      break;
    case 5: {
      const std::string &other = seeds[below(seeds.size())];
      size_t from = below(other.size() + 1);
      input.insert(place, other.substr(from, below(40)));
      break;
    }
    }
  }
  return input;
}

int main(int argc, char **argv) {
  unsigned long runs = 20000, seed = 1;
  std::vector<std::string> files;
  for (int index = 1; index < argc; ++index) {
    if (std::strncmp(argv[index], "-runs=", 6) == 0)
      runs = std::strtoul(argv[index] + 6, nullptr, 10);
    else if (std::strncmp(argv[index], "-seed=", 6) == 0)
      seed = std::strtoul(argv[index] + 6, nullptr, 10);
    else
      files.push_back(argv[index]);
  }
  for (const std::string &name : files) {
    std::ifstream file(name, std::ios::binary);
    if (!file) {
      std::fprintf(stderr, "[%s] cannot be opened\n", name.c_str());
      return 1;
    }
    runOn(std::string(std::istreambuf_iterator<char>(file), {}));
  }
  if (!files.empty())
    return 0;
  std::vector<std::string> seeds = fuzzSeeds();
  std::mt19937_64 random(seed);
  for (const std::string &input : seeds)
    runOn(input);
  for (unsigned long run = 0; run < runs; ++run)
    runOn(mutate(seeds[random() % seeds.size()], seeds, random));
  std::printf("%lu runs\n", runs);
}
