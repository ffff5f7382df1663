// Runs a fuzz target where libFuzzer is not at hand: the files named, or random changes of its seeds. The
// options are libFuzzer's:
//   json_fuzz FILE...
//   json_fuzz [-runs=20000] [-seed=1] [-max_total_time=SECONDS] [-rss_limit_mb=2048]
// An input that ends the process is left in crash-SEED-RUN. At the end, the heap's growth is printed: over
// many runs a leak shows in it.
#include "fuzz_target.h"

#include <chrono>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fcntl.h>
#include <fstream>
#include <iterator>
#include <malloc.h>
#include <random>
#include <sys/resource.h>
#include <unistd.h>

namespace {

struct Options {
  unsigned long runs = 20000, seed = 1, seconds = 0, megabytes = 0;
  std::vector<std::string> files;
};

// What a signal's handler writes.
const std::string *current = nullptr;
char currentName[64] = "crash";

void runOn(const std::string &input) {
  current = &input;
  LLVMFuzzerTestOneInput(reinterpret_cast<const uint8_t *>(input.data()), input.size());
}

void keepInput(int signal) {
  int file = open(currentName, O_WRONLY | O_CREAT | O_TRUNC, 0644);
  if (file >= 0 && current && write(file, current->data(), current->size()) >= 0)
    close(file);
  std::signal(signal, SIG_DFL);
  std::raise(signal);
}

size_t heapInUse() {
  struct mallinfo2 heap = mallinfo2();
  return heap.uordblks + heap.hblkhd;
}

} // namespace

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

static Options readOptions(int argc, char **argv) {
  Options options;
  const std::pair<const char *, unsigned long Options::*> numbers[] = {
      {"-runs=", &Options::runs},
      {"-seed=", &Options::seed},
      {"-max_total_time=", &Options::seconds},
      {"-rss_limit_mb=", &Options::megabytes}};
  for (int index = 1; index < argc; ++index) {
    bool isNumber = false;
    for (auto [name, member] : numbers)
      if (std::strncmp(argv[index], name, std::strlen(name)) == 0) {
        options.*member = std::strtoul(argv[index] + std::strlen(name), nullptr, 10);
        isNumber = true;
      }
    if (!isNumber)
      options.files.push_back(argv[index]);
  }
  return options;
}

/// More memory than this is refused, which ends the process.
static void limitMemory(unsigned long megabytes) {
  rlimit limit{megabytes << 20, megabytes << 20};
  if (setrlimit(RLIMIT_AS, &limit) != 0)
    std::perror("-rss_limit_mb");
}

static int runOnFiles(const std::vector<std::string> &files) {
  for (const std::string &name : files) {
    std::ifstream file(name, std::ios::binary);
    if (!file) {
      std::fprintf(stderr, "[%s] cannot be opened\n", name.c_str());
      return 1;
    }
    runOn(std::string(std::istreambuf_iterator<char>(file), {}));
  }
  return 0;
}

int main(int argc, char **argv) {
  using Clock = std::chrono::steady_clock;
  Options options = readOptions(argc, argv);
  if (options.megabytes)
    limitMemory(options.megabytes);
  if (!options.files.empty())
    return runOnFiles(options.files);
  for (int signal : {SIGABRT, SIGSEGV, SIGBUS, SIGFPE, SIGILL})
    std::signal(signal, keepInput);
  std::vector<std::string> seeds = fuzzSeeds();
  std::mt19937_64 random(options.seed);
  for (const std::string &input : seeds)
    runOn(input);
  auto end = Clock::now() + std::chrono::seconds(options.seconds);
  unsigned long run = 0, warm = options.runs / 10;
  size_t atFirst = 0;
  for (; options.seconds ? Clock::now() < end : run < options.runs; ++run) {
    if (run == warm)
      atFirst = heapInUse();
    std::snprintf(currentName, sizeof currentName, "crash-%lu-%lu", options.seed, run);
    runOn(mutate(seeds[random() % seeds.size()], seeds, random));
  }
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  std::printf("%lu runs; at most %ld MB resident; heap in use: %zu bytes after %lu runs, %zu at the end\n",
              run, usage.ru_maxrss >> 10, atFirst, warm, heapInUse());
}
