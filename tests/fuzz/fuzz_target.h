// The shape of a fuzz target: libFuzzer's entry point, and the inputs that mutation starts from.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/// Valid and almost valid inputs.
std::vector<std::string> fuzzSeeds();
