// Transfers to and from other devices and the host, tokens that order them, and ops that do not wait.
#ifndef TORCHERE_STABLEHLO_COMMUNICATION
#define TORCHERE_STABLEHLO_COMMUNICATION

include "op_base.td"

// mlir-tblgen writes the inference of results that can only be one token.
def StableHLO_AfterAllOp : StableHLO_Op<"after_all", [Pure, DeclareOpInterfaceMethods<InferTypeOpInterface>]> {
  let summary = "a token that comes after all inputs";
  let arguments = (ins Variadic<StableHLO_Token>:$inputs);
  let results = (outs StableHLO_Token:$result);
  let assemblyFormat = [{
    $inputs attr-dict `:` custom<VariadicSameOperandsAndResultType>(ref($inputs), type($inputs), type($result))
  }];
}

// Not in the specification: an after_all without inputs.
def StableHLO_CreateTokenOp : StableHLO_Op<"create_token", [Pure, DeclareOpInterfaceMethods<InferTypeOpInterface>]> {
  let summary = "a new token";
  let results = (outs StableHLO_Token:$output);
  let assemblyFormat = "attr-dict `:` type(results)";
}

def StableHLO_InfeedOp : StableHLO_VerifiedOp<"infeed"> {
  let summary = "tensors that the host feeds, and a token";
  let arguments = (ins StableHLO_Token:$token, DefaultValuedStrAttr<StrAttr, "">:$infeed_config,
    OptionalAttr<ArrayAttr>:$layout);
  let results = (outs Variadic<StableHLO_StaticTensorOrToken>);
}

def StableHLO_OutfeedOp : StableHLO_Op<"outfeed", [DeclareOpInterfaceMethods<InferTypeOpInterface>]> {
  let summary = "hands tensors to the host";
  let arguments = (ins Variadic<StableHLO_PerAxisTensor>:$inputs, StableHLO_Token:$token,
    DefaultValuedStrAttr<StrAttr, "">:$outfeed_config);
  let results = (outs StableHLO_Token);
}

def StableHLO_RecvOp : StableHLO_VerifiedOp<"recv"> {
  let summary = "tensors received over a channel, and a token";
  let arguments = (ins StableHLO_Token:$token, StableHLO_ChannelHandleAttr:$channel_handle,
    DefaultValuedOptionalAttr<BoolAttr, "false">:$is_host_transfer,
    OptionalAttr<I64ElementsAttr>:$source_target_pairs);
  let results = (outs Variadic<StableHLO_StaticTensorOrToken>);
}

def StableHLO_SendOp : StableHLO_VerifiedOp<"send", [DeclareOpInterfaceMethods<InferTypeOpInterface>]> {
  let summary = "sends tensors over a channel";
  let arguments = (ins Variadic<StableHLO_Tensor>:$inputs, StableHLO_Token:$token,
    StableHLO_ChannelHandleAttr:$channel_handle, DefaultValuedOptionalAttr<BoolAttr, "false">:$is_host_transfer,
    OptionalAttr<I64ElementsAttr>:$source_target_pairs);
  let results = (outs StableHLO_Token);
}

def StableHLO_AsyncStartOp
    : StableHLO_VerifiedOp<"async_start", [IsolatedFromAbove, StableHLO_InfersTypes]> {
  let summary = "begins the one op of its body";
  let arguments = (ins Variadic<StableHLO_Tensor>:$operands);
  let regions = (region SizedRegion<1>:$body);
  let results = (outs StableHLO_Future);
}

def StableHLO_AsyncDoneOp : StableHLO_Op<"async_done", [StableHLO_InfersTypes]> {
  let summary = "waits for the result of an async_start";
  let arguments = (ins StableHLO_Future:$operand);
  let results = (outs StableHLO_Tensor);
}

#endif
