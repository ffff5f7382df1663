// Dtype promotion: the lattice of torch's dtypes, and the ranks of operands.
#include "lowering/promotion.h"

#include <algorithm>
#include <optional>

namespace torchere::lowering {

namespace {

enum class Kind { Bool, Integer, Floating, Complex };

Kind kindOf(DType dtype) {
  const DTypeInfo &info = dtypeInfo(dtype);
  if (dtype == DType::Bool)
    return Kind::Bool;
  if (info.isComplex)
    return Kind::Complex;
  return info.isFloatingPoint ? Kind::Floating : Kind::Integer;
}

DType promoteIntegers(DType a, DType b) {
  const DTypeInfo &x = dtypeInfo(a);
  const DTypeInfo &y = dtypeInfo(b);
  if (x.isSigned == y.isSigned)
    return x.byteSize >= y.byteSize ? a : b;
  const DTypeInfo &signedInfo = x.isSigned ? x : y;
  const DTypeInfo &unsignedInfo = x.isSigned ? y : x;
  return signedOfWidth(std::max(signedInfo.byteSize, unsignedInfo.byteSize * 2));
}

DType promoteFloats(DType a, DType b) {
  const DTypeInfo &x = dtypeInfo(a);
  const DTypeInfo &y = dtypeInfo(b);
  if (x.byteSize == y.byteSize) // float16 with bfloat16
    return DType::F32;
  return x.byteSize > y.byteSize ? a : b;
}

DType complexOf(DType part) {
  if (part == DType::F16)
    return DType::C32;
  return part == DType::F64 ? DType::C128 : DType::C64;
}

} // namespace

DType signedOfWidth(size_t bytes) {
  switch (bytes) {
  case 1:
    return DType::I8;
  case 2:
    return DType::I16;
  case 4:
    return DType::I32;
  }
  return DType::I64;
}

DType promoteTypes(DType a, DType b) {
  if (a == b)
    return a;
  Kind kindA = kindOf(a);
  Kind kindB = kindOf(b);
  if (kindA == Kind::Complex || kindB == Kind::Complex) {
    DType partA = partType(a);
    DType partB = partType(b);
    if (kindA < Kind::Floating)
      return b;
    if (kindB < Kind::Floating)
      return a;
    return complexOf(partA == partB ? partA : promoteFloats(partA, partB));
  }
  if (kindA != kindB &&
      (kindA == Kind::Floating || kindB == Kind::Floating || kindA == Kind::Bool || kindB == Kind::Bool))
    return kindA > kindB ? a : b;
  return kindA == Kind::Floating ? promoteFloats(a, b) : promoteIntegers(a, b);
}

DType resultType(const std::vector<PromotionOperand> &operands) {
  using Rank = PromotionOperand::Rank;
  auto promoteRank = [&](Rank rank) {
    std::optional<DType> result;
    for (const PromotionOperand &operand : operands)
      if (operand.rank == rank)
        result = result ? promoteTypes(*result, operand.dtype) : operand.dtype;
    return result;
  };
  auto combine = [](std::optional<DType> higher, std::optional<DType> lower) {
    if (!higher || !lower)
      return higher ? higher : lower;
    if (kindOf(*lower) > kindOf(*higher))
      return std::optional(promoteTypes(*higher, *lower));
    return higher;
  };
  return *combine(combine(promoteRank(Rank::Dimensioned), promoteRank(Rank::ZeroDim)),
                  promoteRank(Rank::Number));
}

DType floatingType(DType dtype) {
  return kindOf(dtype) < Kind::Floating ? DType::F32 : dtype;
}

} // namespace torchere::lowering
