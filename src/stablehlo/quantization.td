// Conversions between floating-point numbers and quantized ones.
#ifndef TORCHERE_STABLEHLO_QUANTIZATION
#define TORCHERE_STABLEHLO_QUANTIZATION

include "op_base.td"

def StableHLO_UniformDequantizeOp
    : StableHLO_Op<"uniform_dequantize", [Pure, StableHLO_InfersTypes]> {
  let summary = "quantized numbers as the floating-point numbers that they stand for";
  let arguments = (ins StableHLO_QuantizedTensor:$operand);
  let results = (outs StableHLO_FloatTensor:$result);
  let assemblyFormat = [{
    $operand attr-dict `:` custom<SameOperandsAndResultType>(type($operand), type($result))
  }];
}

def StableHLO_UniformQuantizeOp : StableHLO_VerifiedOp<"uniform_quantize", [Pure]> {
  let summary = "numbers as quantized ones of the result's element type";
  let arguments = (ins StableHLO_PerAxisTensorOf<[StableHLO_Float, StableHLO_PerTensorQuantized]>:$operand);
  let results = (outs StableHLO_QuantizedTensor:$result);
  let assemblyFormat = [{
    $operand attr-dict `:` custom<SameOperandsAndResultType>(type($operand), type($result))
  }];
}

#endif
