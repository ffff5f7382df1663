// The table of ops: its order, its versions, and that it has every attribute of every op of the dialect.
#include "stablehlo/module_implementation.h"
#include "vhlo/attribute_rules.h"
#include "vhlo/op_table.h"
#include "vhlo/spread_attributes.h"

#include "mlir/IR/OperationSupport.h"

#include <gtest/gtest.h>

#include <algorithm>

namespace torchere::vhlo {

TEST(OpTable, RowsAreInOrder) {
  auto rows = opRows();
  for (size_t index = 1; index < rows.size(); ++index)
    EXPECT_LT(rows[index - 1].name, rows[index].name);
}

TEST(OpTable, AttributesAreInBytecodesOrder) {
  for (const auto &version : OpTable::instance().versions()) {
    EXPECT_TRUE(std::is_sorted(version->attributes.begin(), version->attributes.end())) << version->name;
    EXPECT_LE(version->attributes.size(), maximumAttributes);
  }
}

TEST(OpTable, HasEveryOpOfStableHLO) {
  // 118 ops, and func, call and func's return, which shares a row with StableHLO's.
  EXPECT_EQ(opRows().size(), 120u);
  EXPECT_EQ(OpTable::instance().versions().size(), 145u);
}

TEST(OpTable, VersionsFollowEachOther) {
  const OpTable &table = OpTable::instance();
  const OpRow &gather = *table.findRow("gather");
  EXPECT_EQ(table.find(gather, {0, 9, 0})->name, "gather_v1");
  EXPECT_EQ(table.find(gather, {1, 0, 9})->name, "gather_v1");
  EXPECT_EQ(table.find(gather, {1, 1, 0})->name, "gather_v2");
  EXPECT_EQ(table.find(*table.findRow("tan"), {1, 3, 0}), nullptr);
  EXPECT_EQ(table.find("gather_v3"), nullptr);
  EXPECT_EQ(table.findRow("gathers"), nullptr);
  for (const auto &version : table.versions()) {
    EXPECT_EQ(table.find(*version->row, version->since), version.get());
    if (version->until) {
      EXPECT_NE(table.find(*version->row, *version->until), version.get());
    }
  }
}

TEST(OpTable, AttributesComeAndGo) {
  const OpTable &table = OpTable::instance();
  auto has = [&](const char *op, std::string_view attribute) {
    const auto &attributes = table.find(op)->attributes;
    return std::find(attributes.begin(), attributes.end(), attribute) != attributes.end();
  };
  EXPECT_FALSE(has("gather_v1", "operand_batching_dims"));
  EXPECT_TRUE(has("gather_v2", "operand_batching_dims"));
  EXPECT_TRUE(has("dynamic_conv_v1", "padding"));
  EXPECT_FALSE(has("dynamic_conv_v2", "padding"));
}

/// An attribute that the table lacks would be lost when an op is written.
TEST(OpTable, HasEveryAttributeOfTheDialect) {
  auto context = stablehlo::makeContext();
  for (mlir::RegisteredOperationName op : context->getRegisteredOperationsByDialect("stablehlo")) {
    const OpRow *row = OpTable::instance().findRow(std::string_view(op.stripDialect()));
    ASSERT_TRUE(row) << op.getStringRef().str();
    const OpVersion *newest = OpTable::instance().find(*row, currentVersion);
    for (mlir::StringAttr attribute : op.getAttributeNames()) {
      std::string_view name(attribute.getValue());
      bool isHeld =
          std::find(newest->attributes.begin(), newest->attributes.end(), name) != newest->attributes.end();
      EXPECT_TRUE(isSpreadAttribute(row->spread, name) || isHeld) << row->name << " " << name;
    }
  }
}

} // namespace torchere::vhlo
