// What a program's random numbers start from.
#include "program/initial_generator.h"

#include <array>

namespace torchere::program {

const Weight &initialGenerator() {
  static const std::array<int64_t, 2> state = {0, 0};
  static const Weight weight = {
      std::string(generatorBuffer),
      DType::I64,
      {2},
      {1},
      0,
      std::make_shared<const Storage>(
          Storage{nullptr, reinterpret_cast<const std::byte *>(state.data()), sizeof(state)})};
  return weight;
}

} // namespace torchere::program
