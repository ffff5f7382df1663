// Element types and constants of MLIR, there and back.
#include "evaluation/constants.h"

#include "stablehlo/element_type_conversion.h"
#include "stablehlo/module_implementation.h"
#include "stablehlo/text_of.h"

#include "mlir/AsmParser/AsmParser.h"

#include <gtest/gtest.h>

namespace torchere::evaluation {
namespace {

mlir::DenseElementsAttr parsed(mlir::MLIRContext &context, std::string_view text) {
  return mlir::dyn_cast_or_null<mlir::DenseElementsAttr>(mlir::parseAttribute(text, &context));
}

TEST(Constants, EveryElementTypeIsOneOfMlir) {
  std::shared_ptr<mlir::MLIRContext> context = stablehlo::makeContext();
  for (const ElementTypeInfo &info : elementTypes) {
    mlir::Type type = stablehlo::mlirTypeOf(info.type, context.get());
    EXPECT_EQ(stablehlo::textOf(type), info.name);
    EXPECT_EQ(stablehlo::elementTypeOf(type), info.type) << info.name;
  }
  EXPECT_EQ(stablehlo::elementTypeOf(mlir::IndexType::get(context.get())), ElementType::I64);
  EXPECT_EQ(stablehlo::elementTypeOf(mlir::IntegerType::get(context.get(), 3)), std::nullopt);
  EXPECT_EQ(stablehlo::elementTypeOf(mlir::Float80Type::get(context.get())), std::nullopt);
  mlir::Type quantized = mlir::parseType("!quant.uniform<u8:f32, 0.5>", context.get());
  EXPECT_EQ(stablehlo::elementTypeOf(quantized), std::nullopt);
  EXPECT_EQ(stablehlo::storedTypeOf(quantized), ElementType::U8);
}

TEST(Constants, EveryElementTypeIsReadAndWritten) {
  std::shared_ptr<mlir::MLIRContext> context = stablehlo::makeContext();
  for (const ElementTypeInfo &info : elementTypes) {
    auto type = mlir::RankedTensorType::get({3}, stablehlo::mlirTypeOf(info.type, context.get()));
    Tensor tensor = *Tensor::create(info.type, {3});
    for (int64_t position = 0; position < 3; ++position)
      tensor.set(position,
                 convert(Element::integer(ElementType::I64, 1 - static_cast<uint64_t>(position)), info.type));
    mlir::DenseElementsAttr constant = constantOf(tensor, type);
    EXPECT_EQ(constant.getType(), type);
    EXPECT_FALSE(constant.isSplat()) << info.name;
    EXPECT_EQ(tensorOf(constant)->text(), tensor.text());
  }
}

TEST(Constants, OneElementMakesOneValue) {
  std::shared_ptr<mlir::MLIRContext> context = stablehlo::makeContext();
  for (const char *text : {"dense<true> : tensor<2x9xi1>", "dense<-3> : tensor<2x9xi4>",
                           "dense<1.5> : tensor<2x9xbf16>", "dense<(1.0,2.0)> : tensor<2x9xcomplex<f32>>"}) {
    mlir::DenseElementsAttr constant = parsed(*context, text);
    std::optional<Element> value = splatOf(constant);
    ASSERT_TRUE(value) << text;
    auto type = mlir::cast<mlir::RankedTensorType>(constant.getType());
    EXPECT_EQ(constantOf(Tensor::scalar(*value), type), constant) << text;
  }
  EXPECT_FALSE(splatOf(parsed(*context, "dense<[1, 2]> : tensor<2xi32>")));
}

} // namespace
} // namespace torchere::evaluation
