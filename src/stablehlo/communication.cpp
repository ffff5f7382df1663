// Transfers, tokens and asynchronous ops: inference and verifiers.
#include "stablehlo/assembly.h"
#include "stablehlo/process_groups.h"
#include "stablehlo/region.h"

using namespace mlir;

#define GET_OP_CLASSES
#include "stablehlo/communication.cpp.inc"

namespace torchere::stablehlo {

void addCommunicationOps(StableHLODialect &dialect) {
  dialect.registerOps<
#define GET_OP_LIST
#include "stablehlo/communication.cpp.inc"
      >();
}

//===- infeed -------------------------------------------------------------===//

/// Tensors, then a token; the constraints are those on the number of results, the tensors and the token.
static LogicalResult verifyTensorsThenToken(const Reporter &reporter, StringRef number, StringRef tensors,
                                            StringRef token, TypeRange results) {
  if (results.empty())
    return reporter.violation(number, "no results: expected at least a token");
  for (Type type : results.drop_back())
    if (!isa<RankedTensorType>(type))
      return reporter.violation(tensors, "result is ", type, ", expected tensors before the token");
  if (!isa<TokenType>(results.back()))
    return reporter.violation(token, "last result is ", results.back(), ", expected a token");
  return success();
}

LogicalResult InfeedOp::verify() {
  Reporter reporter(*this);
  if (failed(verifyTensorsThenToken(reporter, "C1", "C2", "C3", getResultTypes())))
    return failure();
  ArrayAttr layout = getLayoutAttr();
  if (!layout)
    return success();
  if (failed(reporter.size("", "layout", layout.size(), getNumResults() - 1)))
    return failure();
  for (Attribute order : layout) {
    auto dimensions = dyn_cast<ArrayAttr>(order);
    if (!dimensions || !llvm::all_of(dimensions, llvm::IsaPred<IntegerAttr>))
      return reporter.violation("", "layout holds ", order, ", expected arrays of integers");
  }
  return success();
}

//===- recv, send ---------------------------------------------------------===//

namespace {

/// The specification's channel_type: the type of a channel_handle.
enum class ChannelType : int64_t { DEVICE_TO_DEVICE = 1, DEVICE_TO_HOST = 2, HOST_TO_DEVICE = 3 };

/// Constraints (C1) to (C5) that recv and send share: the pairs, and the channel's type.
template <class Op> LogicalResult verifyTransfer(Op op, ChannelType hostType, StringRef hostTypeName) {
  Reporter reporter(op);
  DenseIntElementsAttr pairs = op.getSourceTargetPairsAttr();
  if (pairs && !pairs.empty() && failed(verifySourceTargetPairs(reporter, pairs)))
    return failure();
  bool isHost = op.getIsHostTransfer();
  ChannelType expected = isHost ? hostType : ChannelType::DEVICE_TO_DEVICE;
  int64_t type = op.getChannelHandle().getType();
  if (type == static_cast<int64_t>(expected))
    return success();
  return reporter.violation("C5", "channel type is ", type, ", expected ", static_cast<int64_t>(expected),
                            " (", isHost ? hostTypeName : "DEVICE_TO_DEVICE", ") when is_host_transfer is ",
                            isHost ? "true" : "false");
}

} // namespace

LogicalResult RecvOp::verify() {
  if (failed(verifyTransfer(*this, ChannelType::HOST_TO_DEVICE, "HOST_TO_DEVICE")))
    return failure();
  return verifyTensorsThenToken(Reporter(*this), "C6", "C7", "C8", getResultTypes());
}

LogicalResult SendOp::verify() {
  return verifyTransfer(*this, ChannelType::DEVICE_TO_HOST, "DEVICE_TO_HOST");
}

//===- async_start, async_done --------------------------------------------===//

LogicalResult AsyncStartOp::inferReturnTypes(MLIRContext *context, std::optional<Location>, Adaptor adaptor,
                                             SmallVectorImpl<Type> &types) {
  RegionRange regions = adaptor.getRegions();
  TypeRange returned = regions.empty() ? TypeRange() : returnedTypes(*regions.front());
  types.push_back(FutureType::get(context, llvm::to_vector(returned)));
  return success();
}

LogicalResult AsyncStartOp::verify() {
  Reporter reporter(*this);
  if (!areCompatible(getBody().getArgumentTypes(), getOperandTypes()))
    return reporter.violation("", "body has the wrong arguments: got (", getBody().getArgumentTypes(),
                              "), expected (", getOperandTypes(), ")");
  Block &block = getBody().front();
  if (!llvm::hasNItems(block, 2) || !isa<ReturnOp>(block.back()))
    return reporter.violation("", "body holds more or less than one op and a return");
  if (!isa<AllGatherOp, AllReduceOp, AllToAllOp, CollectiveBroadcastOp, CollectivePermuteOp,
           CollectiveReduceOp, ReduceScatterOp, SliceOp, DynamicSliceOp, DynamicUpdateSliceOp>(block.front()))
    return reporter.violation("", "body holds ", block.front().getName().getStringRef(),
                              ", expected a collective op or a slice");
  return reporter.size("", "body's results", block.back().getNumOperands(), 1);
}

LogicalResult AsyncDoneOp::inferReturnTypes(MLIRContext *, std::optional<Location> location, Adaptor adaptor,
                                            SmallVectorImpl<Type> &types) {
  ArrayRef<Type> held = cast<FutureType>(adaptor.getOperand().getType()).getTypes();
  llvm::append_range(types, held);
  return Reporter(location, getOperationName()).size("", "future", held.size(), 1);
}

} // namespace torchere::stablehlo
