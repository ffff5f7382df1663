// The custom directives of the ops' declarative text: each has a parse and a print function.
#pragma once

#include "stablehlo/dialect.h"

namespace torchere::stablehlo {

/// One type when all are equal, a function type otherwise. The last type is the result's.
mlir::ParseResult parseOperandsAndResultType(mlir::OpAsmParser &parser, llvm::ArrayRef<mlir::Type *> types);
void printOperandsAndResultType(mlir::OpAsmPrinter &printer, llvm::ArrayRef<mlir::Type> types);

template <class... Types>
mlir::ParseResult parseSameOperandsAndResultType(mlir::OpAsmParser &parser, Types &...types) {
  return parseOperandsAndResultType(parser, {&types...});
}
template <class... Types>
void printSameOperandsAndResultType(mlir::OpAsmPrinter &printer, mlir::Operation *, Types... types) {
  printOperandsAndResultType(printer, {mlir::Type(types)...});
}

/// The same for operands of which there may be any number.
mlir::ParseResult
parseVariadicSameOperandsAndResultType(mlir::OpAsmParser &parser,
                                       llvm::ArrayRef<mlir::OpAsmParser::UnresolvedOperand> operands,
                                       llvm::SmallVectorImpl<mlir::Type> &types, mlir::Type &result);
void printVariadicSameOperandsAndResultType(mlir::OpAsmPrinter &printer, mlir::Operation *,
                                            mlir::OperandRange operands, mlir::TypeRange types,
                                            mlir::Type result);

/// The complex type, of whose parts lhs and rhs are; or a function type.
mlir::ParseResult parseComplexOpType(mlir::OpAsmParser &parser, mlir::Type &lhs, mlir::Type &rhs,
                                     mlir::Type &result);
void printComplexOpType(mlir::OpAsmPrinter &printer, mlir::Operation *, mlir::Type lhs, mlir::Type rhs,
                        mlir::Type result);

/// The tuple's type.
mlir::ParseResult parseTupleOpType(mlir::OpAsmParser &parser, llvm::SmallVectorImpl<mlir::Type> &types,
                                   mlir::Type &result);
void printTupleOpType(mlir::OpAsmPrinter &printer, mlir::Operation *, mlir::TypeRange types,
                      mlir::Type result);

/// The types of the operands, which are those of the results.
mlir::ParseResult parsePairwiseOpType(mlir::OpAsmParser &parser, llvm::SmallVectorImpl<mlir::Type> &operands,
                                      llvm::SmallVectorImpl<mlir::Type> &results);
void printPairwiseOpType(mlir::OpAsmPrinter &printer, mlir::Operation *, mlir::TypeRange operands,
                         mlir::TypeRange results);

/// `e5m10`.
mlir::ParseResult parseExponentMantissa(mlir::OpAsmParser &parser, mlir::IntegerAttr &exponent,
                                        mlir::IntegerAttr &mantissa);
void printExponentMantissa(mlir::OpAsmPrinter &printer, mlir::Operation *, mlir::IntegerAttr exponent,
                           mlir::IntegerAttr mantissa);

/// `tensor<i1>, tensor<2xf32>`: pred's type and the type of all else; or a function type.
mlir::ParseResult parseSelectOpType(mlir::OpAsmParser &parser, mlir::Type &pred, mlir::Type &onTrue,
                                    mlir::Type &onFalse, mlir::Type &result);
void printSelectOpType(mlir::OpAsmPrinter &printer, mlir::Operation *, mlir::Type pred, mlir::Type onTrue,
                       mlir::Type onFalse, mlir::Type result);

/// Operands, each followed by a comma, before an attribute. Without operands a lone comma is read, too.
mlir::ParseResult
parseVariadicOperandWithAttribute(mlir::OpAsmParser &parser,
                                  llvm::SmallVectorImpl<mlir::OpAsmParser::UnresolvedOperand> &operands);
void printVariadicOperandWithAttribute(mlir::OpAsmPrinter &printer, mlir::Operation *,
                                       mlir::OperandRange operands);

/// `[start:limit:stride, ...]`, without a stride of 1.
mlir::ParseResult parseSliceRanges(mlir::OpAsmParser &parser, mlir::DenseI64ArrayAttr &start,
                                   mlir::DenseI64ArrayAttr &limit, mlir::DenseI64ArrayAttr &strides);
void printSliceRanges(mlir::OpAsmPrinter &printer, mlir::Operation *, mlir::DenseI64ArrayAttr start,
                      mlir::DenseI64ArrayAttr limit, mlir::DenseI64ArrayAttr strides);

/// `batching_dims = [0] x [0], contracting_dims = [1] x [1]`.
mlir::ParseResult parseDotDimensionNumbers(mlir::OpAsmParser &parser, DotDimensionNumbersAttr &numbers);
void printDotDimensionNumbers(mlir::OpAsmPrinter &printer, mlir::Operation *,
                              DotDimensionNumbersAttr numbers);

/// `, precision = [DEFAULT, HIGHEST]`, optional.
mlir::ParseResult parsePrecisionConfig(mlir::OpAsmParser &parser, mlir::ArrayAttr &precision);
void printPrecisionConfig(mlir::OpAsmPrinter &printer, mlir::Operation *, mlir::ArrayAttr precision);

/// `, precision = [DEFAULT, HIGHEST], algorithm = <...>`, both optional.
mlir::ParseResult parsePrecisionConfigAndAlgorithm(mlir::OpAsmParser &parser, mlir::ArrayAttr &precision,
                                                   DotAlgorithmAttr &algorithm);
void printPrecisionConfigAndAlgorithm(mlir::OpAsmPrinter &printer, mlir::Operation *,
                                      mlir::ArrayAttr precision, DotAlgorithmAttr algorithm);

/// `[b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f]`.
mlir::ParseResult parseConvolutionDimensions(mlir::AsmParser &parser, ConvDimensionNumbersAttr &numbers);
void printConvolutionDimensions(mlir::AsmPrinter &printer, ConvDimensionNumbersAttr numbers);
inline void printConvolutionDimensions(mlir::OpAsmPrinter &printer, mlir::Operation *,
                                       ConvDimensionNumbersAttr numbers) {
  printConvolutionDimensions(printer, numbers);
}

/// `stride = [1, 1], pad = [[0, 0], [0, 0]], lhs_dilate = ..., rhs_dilate = ..., reverse = [false, false]`,
/// each optional.
mlir::ParseResult parseWindowAttributes(mlir::OpAsmParser &parser, mlir::DenseI64ArrayAttr &strides,
                                        mlir::DenseIntElementsAttr &padding,
                                        mlir::DenseI64ArrayAttr &lhsDilation,
                                        mlir::DenseI64ArrayAttr &rhsDilation,
                                        mlir::DenseBoolArrayAttr &reversal);
void printWindowAttributes(mlir::OpAsmPrinter &printer, mlir::Operation *, mlir::DenseI64ArrayAttr strides,
                           mlir::DenseIntElementsAttr padding, mlir::DenseI64ArrayAttr lhsDilation,
                           mlir::DenseI64ArrayAttr rhsDilation, mlir::DenseBoolArrayAttr reversal);

/// `@target`.
mlir::ParseResult parseCustomCallTarget(mlir::OpAsmParser &parser, mlir::StringAttr &target);
void printCustomCallTarget(mlir::OpAsmPrinter &printer, mlir::Operation *, mlir::StringAttr target);

} // namespace torchere::stablehlo
