// The elementwise ops that map one or two elements to one: a single table for the interpreter and the folder.
#pragma once

#include "evaluation/element.h"

#include <string_view>

namespace torchere::evaluation {

using UnaryFunction = Element (*)(const Element &operand);
using BinaryFunction = Element (*)(const Element &lhs, const Element &rhs);

/// For which element types the specification determines every bit of the result, so that all implementations
/// agree.
enum class Exactness : uint8_t {
  Nowhere,    ///< approximated: implementations differ in the last bits
  Integers,   ///< exact for integers and bools; approximated for floats
  Everywhere, ///< also for floats, for which it is a single operation of IEEE 754
};

struct UnaryRow {
  std::string_view op; ///< "stablehlo.abs"
  UnaryFunction function;
  Exactness exactness;
};

struct BinaryRow {
  std::string_view op;
  BinaryFunction function;
  Exactness exactness;
  /// Whether the specification defines the result; null if it always does. Otherwise the function decides.
  bool (*isDefined)(const Element &lhs, const Element &rhs) = nullptr;
};

inline constexpr UnaryRow unaryFunctions[] = {
    {"stablehlo.abs", abs, Exactness::Everywhere},
    {"stablehlo.cbrt", cbrt, Exactness::Nowhere},
    {"stablehlo.ceil", ceil, Exactness::Everywhere},
    {"stablehlo.cosine", cosine, Exactness::Nowhere},
    {"stablehlo.count_leading_zeros", countLeadingZeros, Exactness::Everywhere},
    {"stablehlo.exponential", exponential, Exactness::Nowhere},
    {"stablehlo.exponential_minus_one", exponentialMinusOne, Exactness::Nowhere},
    {"stablehlo.floor", floor, Exactness::Everywhere},
    {"stablehlo.imag", imaginaryPart, Exactness::Everywhere},
    {"stablehlo.is_finite", isFinite, Exactness::Everywhere},
    {"stablehlo.log", log, Exactness::Nowhere},
    {"stablehlo.log_plus_one", logPlusOne, Exactness::Nowhere},
    {"stablehlo.logistic", logistic, Exactness::Nowhere},
    {"stablehlo.negate", negate, Exactness::Everywhere},
    {"stablehlo.not", bitNot, Exactness::Everywhere},
    {"stablehlo.popcnt", populationCount, Exactness::Everywhere},
    {"stablehlo.real", realPart, Exactness::Everywhere},
    {"stablehlo.round_nearest_afz", roundAwayFromZero, Exactness::Everywhere},
    {"stablehlo.round_nearest_even", roundToEven, Exactness::Everywhere},
    {"stablehlo.rsqrt", rsqrt, Exactness::Nowhere},
    {"stablehlo.sign", sign, Exactness::Everywhere},
    {"stablehlo.sine", sine, Exactness::Nowhere},
    {"stablehlo.sqrt", sqrt, Exactness::Nowhere},
    {"stablehlo.tan", tan, Exactness::Nowhere},
    {"stablehlo.tanh", tanh, Exactness::Nowhere},
};

inline constexpr BinaryRow binaryFunctions[] = {
    {"stablehlo.add", add, Exactness::Everywhere},
    {"stablehlo.and", bitAnd, Exactness::Everywhere},
    {"stablehlo.atan2", atan2, Exactness::Nowhere},
    {"stablehlo.complex", complexOf, Exactness::Everywhere},
    {"stablehlo.divide", divide, Exactness::Everywhere, isQuotientDefined},
    {"stablehlo.maximum", maximum, Exactness::Everywhere},
    {"stablehlo.minimum", minimum, Exactness::Everywhere},
    {"stablehlo.multiply", multiply, Exactness::Everywhere},
    {"stablehlo.or", bitOr, Exactness::Everywhere},
    {"stablehlo.power", power, Exactness::Integers, isPowerDefined},
    {"stablehlo.remainder", remainder, Exactness::Everywhere, isQuotientDefined},
    {"stablehlo.shift_left", shiftLeft, Exactness::Everywhere},
    {"stablehlo.shift_right_arithmetic", shiftRightArithmetic, Exactness::Everywhere},
    {"stablehlo.shift_right_logical", shiftRightLogical, Exactness::Everywhere},
    {"stablehlo.subtract", subtract, Exactness::Everywhere},
    {"stablehlo.xor", bitXor, Exactness::Everywhere},
};

} // namespace torchere::evaluation
