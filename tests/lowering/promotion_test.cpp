// Dtype promotion, against torch.promote_types and torch.result_type (the values are torch 2.13's).
#include "lowering/promotion.h"

#include <gtest/gtest.h>

namespace torchere::lowering {
namespace {

using Rank = PromotionOperand::Rank;

TEST(Promotion, PairsOfDtypes) {
  EXPECT_EQ(promoteTypes(DType::U8, DType::I8), DType::I16);
  EXPECT_EQ(promoteTypes(DType::U8, DType::I16), DType::I16);
  EXPECT_EQ(promoteTypes(DType::Bool, DType::U8), DType::U8);
  EXPECT_EQ(promoteTypes(DType::I64, DType::F16), DType::F16);
  EXPECT_EQ(promoteTypes(DType::F16, DType::BF16), DType::F32);
  EXPECT_EQ(promoteTypes(DType::BF16, DType::F64), DType::F64);
  EXPECT_EQ(promoteTypes(DType::C64, DType::F64), DType::C128);
  EXPECT_EQ(promoteTypes(DType::C64, DType::I64), DType::C64);
  EXPECT_EQ(promoteTypes(DType::Bool, DType::Bool), DType::Bool);
}

TEST(Promotion, LowerRanksMatterOnlyByKind) {
  EXPECT_EQ(resultType({{DType::F32, Rank::Dimensioned}, {DType::F64, Rank::ZeroDim}}), DType::F32);
  EXPECT_EQ(resultType({{DType::I32, Rank::Dimensioned}, {DType::I64, Rank::Number}}), DType::I32);
  EXPECT_EQ(resultType({{DType::I32, Rank::Dimensioned}, {DType::F32, Rank::Number}}), DType::F32);
  EXPECT_EQ(resultType({{DType::F16, Rank::Dimensioned}, {DType::F32, Rank::Number}}), DType::F16);
  EXPECT_EQ(resultType({{DType::Bool, Rank::ZeroDim}, {DType::I64, Rank::Number}}), DType::I64);
}

} // namespace
} // namespace torchere::lowering
