// Random numbers.
#include "base/memory_share.h"
#include "interpreter/call.h"
#include "interpreter/evaluator.h"
#include "interpreter/random_bits.h"
#include "stablehlo/dialect.h"

#include <cmath>
#include <cstring>
#include <numbers>

namespace torchere::interpreter {

namespace {

/// The bits as the encoding of an element.
void storeBits(Tensor &tensor, int64_t position, uint64_t bits) {
  auto width = static_cast<size_t>(elementTypeInfo(tensor.type()).bytes());
  int unused = 64 - elementTypeInfo(tensor.type()).bits;
  bits = bits << unused >> unused;
  std::memcpy(tensor.writableBytes().data() + static_cast<size_t>(position) * width, &bits, width);
}

Result<Values> rngBitGenerator(const Call &call) {
  auto algorithm = call.attribute<stablehlo::RngAlgorithmAttr>("rng_algorithm").getValue();
  bool isThreeFry = algorithm == stablehlo::RngAlgorithm::THREE_FRY;
  std::vector<uint64_t> state;
  for (int64_t position = 0; position < call.operand(0).count(); ++position)
    state.push_back(call.operand(0).at(position).asUnsigned());
  if (state.size() < 2 || state.size() > 3 || (isThreeFry && state.size() != 2))
    return fail(ErrorCode::Unimplemented, "initial_state: got {} elements, expected {}", state.size(),
                isThreeFry ? "2" : "2 or 3");
  TORCHERE_ASSIGN(ElementType type, call.resultType(1));
  TORCHERE_ASSIGN(Index shape, call.resultShape(1));
  TORCHERE_ASSIGN(Tensor output, Tensor::create(type, std::move(shape)));
  int bits = elementTypeInfo(type).bits;
  if (bits > 64)
    return fail(ErrorCode::Unimplemented, "random bits of type {}", elementTypeInfo(type).name);
  TORCHERE_ASSIGN(MemoryShare share, MemoryShare::take(2 * output.count(), sizeof(uint64_t)));
  RandomBits random =
      isThreeFry ? threeFryBits(state, output.shape(), bits) : philoxBits(state, output.shape(), bits);
  for (int64_t position = 0; position < output.count(); ++position)
    storeBits(output, position, random.numbers[static_cast<size_t>(position)]);
  TORCHERE_ASSIGN(Tensor next, Tensor::create(call.operand(0).type(), call.operand(0).shape()));
  for (int64_t position = 0; position < next.count(); ++position)
    storeBits(next, position, random.state[static_cast<size_t>(position)]);
  return Values{std::move(next), std::move(output)};
}

/// In [0, 1), from 53 random bits.
double fraction(uint64_t bits) {
  return std::ldexp(static_cast<double>(bits >> 11), -53);
}

/// In [a, b); a if that interval is empty.
Element uniform(const Element &a, const Element &b, uint64_t bits) {
  if (isFloat(a.type())) {
    double least = a.asDouble(), span = b.asDouble() - least;
    Element result = Element::number(a.type(), least + span * fraction(bits));
    return result.asDouble() < b.asDouble() ? result : a; // rounding may have reached b
  }
  uint64_t span = b.asUnsigned() - a.asUnsigned();
  return span == 0 ? a : Element::integer(a.type(), a.asUnsigned() + bits % span);
}

/// With mean a and standard deviation b, by the Box-Muller transform of two uniform numbers.
Element normal(const Element &a, const Element &b, uint64_t bits, uint64_t otherBits) {
  double radius = std::sqrt(-2 * std::log(1 - fraction(bits)));
  double number = radius * std::cos(2 * std::numbers::pi * fraction(otherBits));
  return Element::number(a.type(), a.asDouble() + b.asDouble() * number);
}

/// The same numbers in every run, but different ones each time an op is executed.
Result<Values> rng(const Call &call) {
  Element a = call.operand(0).at(int64_t(0)), b = call.operand(1).at(int64_t(0));
  bool isNormal = call.attribute<stablehlo::RngDistributionAttr>("rng_distribution").getValue() ==
                  stablehlo::RngDistribution::NORMAL;
  TORCHERE_ASSIGN(Tensor result, Tensor::create(a.type(), call.operand(2).integers()));
  TORCHERE_ASSIGN(MemoryShare share, MemoryShare::take(4 * result.count(), sizeof(uint64_t)));
  RandomBits random = philoxBits({call.evaluator().nextSeed(), 0, 0}, Index{2, result.count()}, 64);
  for (int64_t position = 0; position < result.count(); ++position) {
    uint64_t bits = random.numbers[static_cast<size_t>(position)],
             otherBits = random.numbers[static_cast<size_t>(result.count() + position)];
    result.set(position, isNormal ? normal(a, b, bits, otherBits) : uniform(a, b, bits));
  }
  return Values{std::move(result)};
}

} // namespace

void addRandom(EvaluationTable &table) {
  table.add("stablehlo.rng", rng);
  table.add("stablehlo.rng_bit_generator", rngBitGenerator);
}

} // namespace torchere::interpreter
