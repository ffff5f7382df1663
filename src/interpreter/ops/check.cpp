// The assertions of the check dialect. They may also be custom calls, as in upstream's test data.
#include "evaluation/constants.h"
#include "interpreter/call.h"

#include <bit>
#include <cmath>

namespace torchere::interpreter {

namespace {

std::string indexText(IndexView index) {
  return fmt::format("[{}]", fmt::join(index, ", "));
}

/// An error that shows the first element for which `fits(actual, expected)` is false.
template <class Fits>
Result<Values> compareElements(const Tensor &actual, const Tensor &expected, std::string_view expectation,
                               Fits fits) {
  if (actual.shape() != expected.shape() || actual.type() != expected.type())
    return invalidArgument("got {}, expected {}", actual.typeText(), expected.typeText());
  Status status;
  forEachIndex(actual.shape(), [&](IndexView index, int64_t position) {
    Element got = actual.at(position), wanted = expected.at(position);
    if (status && !fits(got, wanted))
      status = invalidArgument("element {}: got {}, expected {}{}", indexText(index), got.text(),
                               wanted.text(), expectation);
  });
  TORCHERE_TRY(status);
  return Values();
}

Result<Values> compareExactly(const Tensor &actual, const Tensor &expected) {
  return compareElements(actual, expected, "", isSame);
}

/// Whether two numbers are equal, or differ by at most the tolerance, relative to the larger one if above 1.
bool isNear(double lhs, double rhs, double tolerance) {
  if (std::isnan(lhs) || std::isnan(rhs))
    return std::isnan(lhs) && std::isnan(rhs);
  if (std::isinf(lhs) || std::isinf(rhs))
    return lhs == rhs;
  double largest = std::max(std::fabs(lhs), std::fabs(rhs));
  return std::fabs(lhs - rhs) <= tolerance * std::max(largest, 1.0);
}

Result<Values> compareWithin(double tolerance, const Tensor &actual, const Tensor &expected) {
  return compareElements(actual, expected, fmt::format(" within {}", tolerance),
                         [=](const Element &lhs, const Element &rhs) {
                           return isNear(lhs.asComplex().real(), rhs.asComplex().real(), tolerance) &&
                                  isNear(lhs.asComplex().imag(), rhs.asComplex().imag(), tolerance);
                         });
}

Result<Values> compareAlmost(const Call &call, const Tensor &actual, const Tensor &expected) {
  auto attribute = call.attribute<mlir::FloatAttr>("tolerance");
  return compareWithin(attribute ? attribute.getValueAsDouble() : 1e-3, actual, expected);
}

/// The number of representable numbers between two; the maximum if only one is NaN, 0 for two NaNs or two
/// zeros.
uint64_t ulpDifference(ElementType type, double lhs, double rhs) {
  if (lhs == rhs || (std::isnan(lhs) && std::isnan(rhs)))
    return 0;
  if (std::isnan(lhs) || std::isnan(rhs))
    return ~uint64_t(0);
  ElementType part = partType(type);
  auto key = [part](double value) {
    std::byte bytes[8] = {};
    Element::number(part, std::fabs(value)).store(bytes);
    auto magnitude = std::bit_cast<int64_t>(bytes);
    return std::signbit(value) ? -magnitude : magnitude;
  };
  int64_t left = key(lhs), right = key(rhs);
  return left < right ? static_cast<uint64_t>(right) - static_cast<uint64_t>(left)
                      : static_cast<uint64_t>(left) - static_cast<uint64_t>(right);
}

Result<Values> expectClose(const Call &call) {
  auto limit = [&](llvm::StringRef name, uint64_t none) {
    auto attribute = call.attribute<mlir::IntegerAttr>(name);
    return attribute ? attribute.getValue().getZExtValue() : none;
  };
  uint64_t most = limit("max_ulp_difference", 3), least = limit("min_ulp_difference", 0);
  return compareElements(
      call.operand(0), call.operand(1), fmt::format(", {} to {} representable numbers away", least, most),
      [=](const Element &lhs, const Element &rhs) {
        std::complex<double> left = lhs.asComplex(), right = rhs.asComplex();
        uint64_t difference = std::max(ulpDifference(lhs.type(), left.real(), right.real()),
                                       ulpDifference(lhs.type(), left.imag(), right.imag()));
        return least <= difference && difference <= most;
      });
}

Result<Values> expectEq(const Call &call) {
  return compareExactly(call.operand(0), call.operand(1));
}

Result<Values> expectEqConst(const Call &call) {
  TORCHERE_ASSIGN(Tensor expected, tensorOf(call.attribute<mlir::ElementsAttr>("value")));
  return compareExactly(call.operand(0), expected);
}

Result<Values> expectAlmostEq(const Call &call) {
  return compareAlmost(call, call.operand(0), call.operand(1));
}

Result<Values> expectAlmostEqConst(const Call &call) {
  TORCHERE_ASSIGN(Tensor expected, tensorOf(call.attribute<mlir::ElementsAttr>("value")));
  return compareAlmost(call, call.operand(0), expected);
}

/// Exists only as a custom call, not as an op: a check that returns true. A mismatch is an error as in the
/// other checks, because most programs drop the result.
Result<Values> eq(const Call &call) {
  const Tensor &actual = call.operand(0), &expected = call.operand(1);
  bool isRounded = isFloat(expected.type()) || isComplex(expected.type());
  TORCHERE_TRY(isRounded ? compareWithin(1e-4, actual, expected) : compareExactly(actual, expected));
  return Values{Tensor::scalar(Element::integer(ElementType::Bool, true))};
}

} // namespace

bool comparesTwoTensors(std::string_view check) {
  constexpr std::string_view names[] = {"check.eq", "check.expect_almost_eq", "check.expect_close",
                                        "check.expect_eq"};
  return llvm::is_contained(names, check);
}

void addCheck(EvaluationTable &table) {
  table.add("check.eq", eq);
  table.add("check.expect_almost_eq", expectAlmostEq);
  table.add("check.expect_almost_eq_const", expectAlmostEqConst);
  table.add("check.expect_close", expectClose);
  table.add("check.expect_eq", expectEq);
  table.add("check.expect_eq_const", expectEqConst);
}

} // namespace torchere::interpreter
