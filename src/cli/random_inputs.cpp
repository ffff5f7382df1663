// Random arguments of a saved program, of sizes that it takes.
#include "base/npy.h"
#include "cli/elements.h"
#include "cli/run_inputs.h"

#include <algorithm>
#include <limits>
#include <random>
#include <set>

namespace torchere::cli {

using program::EntryInput;
using program::EntryPoint;
using program::SymbolValues;
using program::SymInt;

static constexpr int64_t largestSize = 64; ///< unless a range begins above
static constexpr int64_t integerCount = 10;

/// The ranges of symbols by themselves.
static std::map<std::string, program::Range> symbolRanges(const EntryPoint &entryPoint) {
  std::map<std::string, program::Range> ranges;
  const program::ExpressionPool &pool = entryPoint.expressions;
  for (uint32_t id = 0; id < pool.size(); ++id)
    if (const program::Expression &one = pool[SymInt::expression(id)];
        one.kind == program::ExpressionKind::Symbol)
      ranges[one.symbol].min = 0;
  for (const program::RangeConstraint &constraint : entryPoint.rangeConstraints) {
    if (constraint.expression.isConstant())
      continue;
    const program::Expression &one = pool[constraint.expression];
    if (one.kind != program::ExpressionKind::Symbol)
      continue;
    program::Range &range = ranges[one.symbol];
    range.min = std::max(range.min, constraint.range.min);
    range.max = std::min(range.max, constraint.range.max);
  }
  return ranges;
}

/// Whether the program takes these sizes. What cannot be computed from them is no constraint.
static bool areAccepted(const EntryPoint &entryPoint, const SymbolValues &values) {
  auto fits = [&](const program::RangeConstraint &constraint) {
    Result<int64_t> value = entryPoint.expressions.evaluate(constraint.expression, values);
    return !value || (*value >= constraint.range.min && *value <= constraint.range.max);
  };
  auto hasSizes = [&](const auto &input) {
    return std::ranges::all_of(input.second->type.shape, [&](SymInt size) {
      Result<int64_t> value = entryPoint.expressions.evaluate(size, values);
      return value && *value >= 0;
    });
  };
  return std::ranges::all_of(entryPoint.rangeConstraints, fits) &&
         std::ranges::all_of(givenInputs(entryPoint), hasSizes);
}

static Result<SymbolValues> chooseSizes(const EntryPoint &entryPoint) {
  std::map<std::string, program::Range> ranges = symbolRanges(entryPoint);
  for (int64_t turn = 0; turn < largestSize; ++turn) {
    int64_t wanted = (turn + 2) % largestSize + 1; // 3, 4, ..., then 1 and 2
    SymbolValues values;
    for (const auto &[symbol, range] : ranges)
      values[symbol] = std::max(range.min, std::min(wanted, range.max));
    if (areAccepted(entryPoint, values))
      return values;
  }
  return invalidArgument("[{}] found no sizes that the program takes: expected --input for each input",
                         entryPoint.name);
}

static Result<program::Weight> randomArray(const EntryInput &input, const EntryPoint &entryPoint,
                                           const SymbolValues &values, std::mt19937_64 &bits) {
  runtime::ArrayType type{input.type.dtype, {}};
  for (SymInt size : input.type.shape) {
    TORCHERE_ASSIGN(int64_t number, entryPoint.expressions.evaluate(size, values));
    type.shape.push_back(number);
  }
  TORCHERE_ASSIGN(size_t bytes, type.byteSize());
  auto memory = std::make_shared<std::vector<std::byte>>(bytes);
  DType part = partType(type.dtype);
  bool isFloat = dtypeInfo(part).isFloatingPoint;
  for (size_t at = 0; at < bytes; at += byteSize(part)) {
    // Not of std::uniform_real_distribution, whose numbers each library chooses.
    double unit = static_cast<double>(bits() >> 11) / static_cast<double>(uint64_t(1) << 53);
    double value = isFloat ? 2 * unit - 1 : static_cast<int64_t>(unit * integerCount);
    if (part == DType::Bool)
      value = unit < 0.5;
    writeElement(part, value, memory->data() + at);
  }
  auto storage = std::make_shared<const program::Storage>(program::Storage{memory, memory->data(), bytes});
  std::vector<int64_t> strides = denseStrides(type.shape, false);
  return program::Weight{input.name, type.dtype, type.shape, std::move(strides), 0, std::move(storage)};
}

Result<RunInputs> RunInputs::random(const EntryPoint &entryPoint, uint64_t seed) {
  TORCHERE_ASSIGN(SymbolValues values, chooseSizes(entryPoint));
  RunInputs result(entryPoint);
  std::mt19937_64 bits(seed);
  for (const auto &[position, input] : givenInputs(entryPoint)) {
    if (input->isSymInt) {
      TORCHERE_ASSIGN(int64_t value, entryPoint.expressions.evaluate(input->value, values));
      result.list[static_cast<size_t>(position)] = program::Constant{value};
      continue;
    }
    TORCHERE_ASSIGN(program::Weight array, randomArray(*input, entryPoint, values, bits));
    result.set(*input, std::move(array));
  }
  return result;
}

} // namespace torchere::cli
