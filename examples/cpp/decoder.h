// Greedy decoding with a program whose key/value cache is its state.
#pragma once

#include <torchere/torchere.hpp>

#include <algorithm>
#include <array>
#include <cstdint>
#include <vector>

/// The prompt, and `count` tokens after it. Begins with an empty cache.
inline std::vector<int64_t> decode(const torchere::Program &decoder, std::vector<int64_t> tokens, int count) {
  decoder.reset();
  size_t end = tokens.size() + static_cast<size_t>(count);
  for (size_t position = 0; tokens.size() < end; ++position) {
    std::array<int64_t, 1> token = {tokens[position]}, place = {static_cast<int64_t>(position)};
    torchere::Result result = decoder({{"token", token}, {"position", place}});
    if (position + 1 < tokens.size())
      continue; // still in the prompt
    std::span<const float> logits = result[0].data<float>();
    tokens.push_back(std::max_element(logits.begin(), logits.end()) - logits.begin());
  }
  return tokens;
}
