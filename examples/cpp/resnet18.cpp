// Runs ResNet-18 and compares its logits with eager PyTorch's: resnet18 FOLDER
#include "numbers.h"

#include <torchere/torchere.hpp>

#include <algorithm>
#include <cmath>
#include <cstdio>

static int run(const std::string &folder) {
  torchere::Program resnet = torchere::Program::load(folder + "/resnet18");
  std::vector<float> image = readNumbers<float>(folder + "/image.f32");
  torchere::Result result = resnet({torchere::TensorView(image, {1, 3, 224, 224})});
  std::span<const float> logits = result[0].data<float>();

  std::vector<float> expected = readNumbers<float>(folder + "/logits.f32");
  bool isClose = logits.size() == expected.size();
  float difference = 0;
  for (size_t i = 0; isClose && i < expected.size(); ++i) {
    float error = std::abs(logits[i] - expected[i]);
    isClose = error <= 1e-5F + 1e-5F * std::abs(expected[i]); // as torch.allclose(atol=1e-5), not for NaN
    difference = std::max(difference, error);
  }
  auto best = std::max_element(logits.begin(), logits.end()) - logits.begin();
  std::printf("class %ld, on %s; largest difference from eager %.1e: %s\n", static_cast<long>(best),
              resnet.client().platform().c_str(), difference, isClose ? "close" : "not close");
  return isClose ? 0 : 1;
}

int main(int argc, char **argv) {
  try {
    return run(argc > 1 ? argv[1] : "programs");
  } catch (const std::exception &error) {
    std::fprintf(stderr, "%s\n", error.what());
    return 1;
  }
}
