// Implements the way from a custom call to its registered kernel.
#include "interpreter/registered_call.h"

#include "evaluation/constants.h"
#include "interpreter/call.h"
#include "interpreter/mlir_values.h"
#include "stablehlo/dialect.h"
#include "stablehlo/element_type_conversion.h"

#include <algorithm>

namespace torchere::interpreter {

using namespace mlir;
using stablehlo::CustomCallOp;

namespace {

/// What JAX writes for a typed call, whose api_version is another then.
constexpr StringLiteral jaxConfig = "mhlo.backend_config";

bool isTyped(CustomCallOp call) {
  return call.getApiVersion() == stablehlo::CustomCallApiVersion::API_VERSION_TYPED_FFI ||
         call->hasAttr(jaxConfig);
}

DictionaryAttr configOf(CustomCallOp call) {
  if (auto config = call->getAttrOfType<DictionaryAttr>(jaxConfig))
    return config;
  return call->getAttrOfType<DictionaryAttr>("backend_config");
}

std::vector<std::byte> bytesOf(const Tensor &tensor) {
  return {tensor.bytes().begin(), tensor.bytes().end()};
}

/// Numbers of one type.
bool isNumbers(ArrayAttr list) {
  return llvm::all_of(list, [&](Attribute each) {
    return isa<IntegerAttr, FloatAttr>(each) &&
           cast<TypedAttr>(each).getType() == cast<TypedAttr>(list[0]).getType();
  });
}

Status addAttribute(ffi::Attributes &attributes, StringRef name, Attribute value);

Status addAll(ffi::Attributes &attributes, DictionaryAttr dictionary) {
  for (NamedAttribute each : dictionary)
    TORCHERE_TRY(addAttribute(attributes, each.getName(), each.getValue()));
  return {};
}

Status addTensor(ffi::Attributes &attributes, StringRef name, ElementsAttr value) {
  TORCHERE_ASSIGN(Tensor tensor, tensorOf(value));
  attributes.addArray(name.str(), tensor.type(), bytesOf(tensor));
  return {};
}

Status addAttribute(ffi::Attributes &attributes, StringRef name, Attribute value) {
  if (auto text = dyn_cast<StringAttr>(value)) {
    attributes.addString(name.str(), text.str());
    return {};
  }
  if (auto dictionary = dyn_cast<DictionaryAttr>(value))
    return addAll(attributes.addDictionary(name.str()), dictionary);
  if (auto tensor = dyn_cast<DenseElementsAttr>(value))
    return addTensor(attributes, name, tensor);
  if (auto list = dyn_cast<ArrayAttr>(value); list && list.empty()) {
    attributes.addArray(name.str(), ElementType::I64, {});
    return {};
  }
  if (auto list = dyn_cast<ArrayAttr>(value); list && isNumbers(list)) {
    auto type =
        RankedTensorType::get({static_cast<int64_t>(list.size())}, cast<TypedAttr>(list[0]).getType());
    return addTensor(attributes, name, DenseElementsAttr::get(type, list.getValue()));
  }
  if (auto array = dyn_cast<DenseArrayAttr>(value)) {
    auto type = RankedTensorType::get({array.getSize()}, array.getElementType());
    return addTensor(attributes, name, DenseElementsAttr::getFromRawBuffer(type, array.getRawData()));
  }
  auto number = dyn_cast<TypedAttr>(value);
  if (!isa<IntegerAttr, FloatAttr>(value) || !stablehlo::storedTypeOf(number.getType())) {
    std::string text;
    llvm::raw_string_ostream(text) << value;
    return invalidArgument(
        "attribute {}: got {}, expected a number, a list of numbers, a string or a dictionary", name.str(),
        text);
  }
  TORCHERE_ASSIGN(Tensor tensor,
                  tensorOf(DenseElementsAttr::get(RankedTensorType::get({}, number.getType()), value)));
  attributes.addScalar(name.str(), tensor.type(), tensor.bytes());
  return {};
}

/// The orders of dimensions that the layouts, which list them from the last, ask for.
std::vector<Index> ordersOf(Operation *call, StringRef name, size_t count) {
  std::vector<Index> orders(count);
  auto layouts = call->getAttrOfType<ArrayAttr>(name);
  for (auto [index, layout] : llvm::enumerate(layouts ? layouts.getValue() : ArrayRef<Attribute>())) {
    Index order;
    for (const APInt &dimension : cast<DenseIntElementsAttr>(layout).getValues<APInt>())
      order.push_back(dimension.getSExtValue());
    std::ranges::reverse(order);
    if (index < count && !std::ranges::is_sorted(order))
      orders[index] = std::move(order);
  }
  return orders;
}

Result<std::unique_ptr<const ffi::CallSite>> instantiate(CustomCallOp call) {
  std::string target = call.getCallTargetName().str();
  std::optional<ffi::abi::HandlerBundle> kernel = ffi::Registry::instance().findKernel(target);
  if (!kernel)
    return fail(ErrorCode::NotFound, "no kernel is registered for the custom call's target");
  if (!isTyped(call))
    return invalidArgument("a registered kernel: got a custom call of api_version {}, expected 4, whose "
                           "attributes are typed",
                           static_cast<int>(call.getApiVersion()));
  for (Type type : llvm::concat<Type>(SmallVector<Type>(call->getOperandTypes()),
                                      SmallVector<Type>(call->getResultTypes()))) {
    auto tensor = dyn_cast<RankedTensorType>(type);
    if (!tensor || !stablehlo::storedTypeOf(tensor.getElementType()))
      return fail(ErrorCode::Unimplemented,
                  "operands and results of a registered kernel that are no tensors");
  }
  auto attributes = std::make_unique<ffi::Attributes>();
  if (DictionaryAttr config = configOf(call))
    TORCHERE_TRY(addAll(*attributes, config));
  return ffi::CallSite::create(target, *kernel, std::move(attributes));
}

} // namespace

Result<std::unique_ptr<const ffi::CallSite>> instantiateCall(Operation *op) {
  auto call = cast<CustomCallOp>(op);
  Result<std::unique_ptr<const ffi::CallSite>> site = instantiate(call);
  if (!site) {
    Error &error = site.error();
    if (!error.message.starts_with('['))
      error.message = fmt::format("[{}] {}", call.getCallTargetName().str(), error.message);
    if (error.where.empty())
      error.where = placeText(op->getLoc());
  }
  return site;
}

bool isPlacement(Operation *op) {
  return cast<CustomCallOp>(op).getCallTargetName() == "annotate_device_placement" &&
         op->getNumOperands() == 1 && op->getNumResults() == 1;
}

Status checkCustomCalls(ModuleOp module) {
  Status status;
  module.walk([&](CustomCallOp call) {
    if (isPlacement(call) || comparesTwoTensors(call.getCallTargetName()))
      return WalkResult::advance();
    Result<std::unique_ptr<const ffi::CallSite>> site = instantiateCall(call);
    if (!site)
      status = tl::unexpected(std::move(site).error());
    return status ? WalkResult::advance() : WalkResult::interrupt();
  });
  return status;
}

CallForm formOf(Operation *op) {
  auto call = cast<CustomCallOp>(op);
  CallForm form;
  form.operandOrders = ordersOf(op, "operand_layouts", op->getNumOperands());
  form.resultOrders = ordersOf(op, "result_layouts", op->getNumResults());
  form.aliasedOperands.resize(op->getNumResults());
  for (auto alias : call.getOutputOperandAliases().getAsRange<stablehlo::OutputOperandAliasAttr>()) {
    ArrayRef<int64_t> path = alias.getOutputTupleIndices(); // empty for the only result
    form.aliasedOperands[path.empty() ? 0 : static_cast<size_t>(path[0])] =
        static_cast<size_t>(alias.getOperandIndex());
  }
  return form;
}

} // namespace torchere::interpreter
