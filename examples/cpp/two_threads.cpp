// Two threads decode at once, each with a cache of its own and with the same weights: two_threads FOLDER
#include "decoder.h"

#include <cstdio>
#include <future>
#include <string>

static int run(const std::string &folder) {
  torchere::Program decoder = torchere::Program::load(folder + "/decoder");
  const std::vector<int64_t> prompts[] = {{1, 2, 3}, {7, 5, 3, 1}};
  std::vector<int64_t> alone[] = {decode(decoder, prompts[0], 12), decode(decoder, prompts[1], 12)};

  std::future<std::vector<int64_t>> threads[2];
  for (int i = 0; i < 2; ++i)
    threads[i] = std::async(std::launch::async, [&, i, own = decoder.clone()] {
      return decode(own, prompts[i], 12); // errors arrive with get()
    });
  bool isEqual = true;
  for (int i = 0; i < 2; ++i)
    isEqual &= threads[i].get() == alone[i];
  std::printf("%s\n", isEqual ? "both threads decoded what one does" : "the threads disturbed each other");
  return isEqual ? 0 : 1;
}

int main(int argc, char **argv) {
  try {
    return run(argc > 1 ? argv[1] : "programs");
  } catch (const std::exception &error) {
    std::fprintf(stderr, "%s\n", error.what());
    return 1;
  }
}
