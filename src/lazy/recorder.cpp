// From arguments to nodes.
#include "lazy/recorder.h"

#include "lazy/generator.h"
#include "lazy/program_writer.h"

#include <ATen/EmptyTensor.h>
#include <ATen/ops/zeros.h>
#include <c10/core/DefaultDtype.h>

#include <bit>
#include <cstring>

namespace torchere::lazy {

static uint64_t address(const void *object) {
  return reinterpret_cast<uintptr_t>(object);
}

/// Of a generator's state.
static const TensorType *stateType() {
  static const auto *type = new Reference(TensorType::intern(at::kLong, {2})); // owned for ever
  return type->get();
}

static bool isZeroOrOne(const at::Scalar &number) {
  return number.equal(0) || number.equal(1);
}

static at::Scalar numberIn(const at::Tensor &tensor) {
  switch (tensor.scalar_type()) {
  case at::ScalarType::Double:
    return *tensor.const_data_ptr<double>();
  case at::ScalarType::Long:
    return *tensor.const_data_ptr<int64_t>();
  case at::ScalarType::Bool:
    return *tensor.const_data_ptr<bool>();
  default:
    return *tensor.const_data_ptr<c10::complex<double>>();
  }
}

void Recorder::addOperand(Value value) {
  if (!target)
    target = &value.node->device;
  TORCH_CHECK(target == &value.node->device, "[", op.name, "] tensors on two devices: got ",
              value.node->device.torchDevice(), ", expected ", target->torchDevice());
  key.push_back(tagWord(ArgumentTag::Operand));
  key.push_back(address(value.type()));
  operands.push_back(std::move(value));
}

void Recorder::add(const at::Tensor &tensor) {
  if (!tensor.defined())
    return addNone();
  if (const TensorImpl *ours = implementationOf(tensor))
    return addOperand(ours->value());
  TORCH_CHECK(tensor.device().is_cpu() && tensor.dim() == 0, "[", op.name, "] tensors on two devices: got ",
              tensor.device(), ", expected xla");
  addHostNumber(tensor);
}

void Recorder::add(const std::optional<at::Tensor> &tensor) {
  tensor ? add(*tensor) : addNone();
}

void Recorder::add(const at::ITensorListRef &tensors) {
  key.push_back(tagWord(ArgumentTag::List, tensors.size()));
  for (const at::Tensor &tensor : tensors)
    add(tensor);
}

void Recorder::add(const c10::List<std::optional<at::Tensor>> &tensors) {
  key.push_back(tagWord(ArgumentTag::List, tensors.size()));
  for (size_t i = 0; i < tensors.size(); ++i)
    add(tensors.get(i));
}

void Recorder::add(int64_t number) {
  key.push_back(tagWord(ArgumentTag::Int));
  key.push_back(static_cast<uint64_t>(number));
}

void Recorder::add(double number) {
  key.push_back(tagWord(ArgumentTag::Float));
  key.push_back(std::bit_cast<uint64_t>(number));
}

void Recorder::add(bool flag) {
  key.push_back(tagWord(ArgumentTag::Bool));
  key.push_back(flag);
}

void Recorder::add(const at::Scalar &number) {
  if (number.isComplex()) {
    auto value = number.toComplexDouble();
    key.push_back(tagWord(ArgumentTag::Complex));
    key.push_back(std::bit_cast<uint64_t>(value.real()));
    key.push_back(std::bit_cast<uint64_t>(value.imag()));
  } else if (number.isBoolean()) {
    add(number.toBool());
  } else if (number.isIntegral(false)) {
    add(number.toLong());
  } else {
    add(number.toDouble());
  }
}

void Recorder::add(at::ScalarType dtype) {
  Result<DType> known = programDType(dtype);
  TORCH_CHECK(known.has_value(), "[", op.name, "] ", known.error().text());
  key.push_back(tagWord(ArgumentTag::DType));
  key.push_back(static_cast<uint64_t>(*known));
}

void Recorder::add(at::MemoryFormat format) {
  key.push_back(tagWord(ArgumentTag::MemoryFormat));
  key.push_back(static_cast<uint64_t>(format));
}

void Recorder::add(c10::string_view text) {
  key.push_back(tagWord(ArgumentTag::String, text.size()));
  size_t first = key.size();
  key.resize(first + (text.size() + 7) / 8, 0);
  std::memcpy(key.data() + first, text.data(), text.size());
}

void Recorder::parameter(const at::Scalar &number) {
  if (isZeroOrOne(number) || number.isBoolean())
    return add(number);
  numbers.push_back({operands.size(), key.size(), number, false});
  key.push_back(tagWord(ArgumentTag::Operand));
  key.push_back(0);
  operands.emplace_back();
}

/// A number that Python gave for a tensor, or a 0-d tensor of the host.
void Recorder::addHostNumber(const at::Tensor &tensor) {
  if (!tensor.unsafeGetTensorImpl()->is_wrapped_number()) {
    hostNumbers.push_back(tensor);
    numbers.push_back({operands.size(), key.size(), tensor.item(), true});
  } else {
    at::Scalar number = numberIn(tensor);
    if (isZeroOrOne(number) && !number.isBoolean())
      return add(number);
    hostNumbers.emplace_back();
    numbers.push_back({operands.size(), key.size(), number, true});
  }
  key.push_back(tagWord(ArgumentTag::Operand));
  key.push_back(0);
  operands.emplace_back();
}

void Recorder::add(const std::optional<at::Generator> &given) {
  target = &device();
  generator = &Generator::of(given, op.name, *target);
  stateOperand = operands.size();
  key.push_back(tagWord(ArgumentTag::Operand));
  key.push_back(address(stateType()));
  operands.emplace_back();
}

Device &Recorder::device() {
  return target ? *target : Device::get(-1);
}

static int category(at::ScalarType dtype) {
  return at::isComplexType(dtype) ? 3 : at::isFloatingType(dtype) ? 2 : dtype == at::ScalarType::Bool ? 0 : 1;
}

static bool fits(int64_t value, at::ScalarType integers) {
  size_t bits = 8 * c10::elementSize(integers);
  if (bits == 64)
    return c10::isSignedType(integers) || value >= 0;
  if (c10::isSignedType(integers))
    return (value >> (bits - 1)) == 0 || (value >> (bits - 1)) == -1;
  return (value >> bits) == 0;
}

namespace {

/// The dtypes of an op's tensors promoted, in which 0-d ones count only where there is no other.
struct PromotedType {
  std::optional<at::ScalarType> dtype;
  bool hasDimensions = false;
};

} // namespace

static PromotedType promoted(c10::ArrayRef<Value> operands) {
  std::optional<at::ScalarType> dtypes[2];
  for (const Value &operand : operands)
    if (operand.node) {
      std::optional<at::ScalarType> &known = dtypes[operand.type()->sizes.empty()];
      known = known ? at::promoteTypes(*known, operand.type()->dtype) : operand.type()->dtype;
    }
  return {dtypes[0] ? dtypes[0] : dtypes[1], dtypes[0].has_value()};
}

/// The dtype of a 0-d tensor that promotes as the number does beside the tensors.
static at::ScalarType dtypeBeside(const PromotedType &tensors, const at::Scalar &number, bool isForTensor) {
  at::ScalarType own = number.type();
  if (tensors.dtype && category(*tensors.dtype) >= category(own)) {
    // Division computes with the number itself: -3 beside uint8 must not become 253. A comparison takes it in
    // the tensor's type; a 0-d tensor of a wider one changes that where no tensor has dimensions.
    bool isKept = (tensors.hasDimensions || isForTensor) && own == at::ScalarType::Long &&
                  category(*tensors.dtype) == category(own) && !fits(number.toLong(), *tensors.dtype);
    return isKept ? own : *tensors.dtype;
  }
  if (number.isFloatingPoint())
    return c10::get_default_dtype_as_scalartype();
  if (!number.isComplex())
    return own;
  at::ScalarType complex = at::toComplexType(c10::get_default_dtype_as_scalartype());
  return tensors.dtype ? at::promoteTypes(*tensors.dtype, complex) : complex;
}

void Recorder::placeNumbers() {
  PromotedType beside = promoted(operands);
  size_t tensors = 0;
  for (const PendingNumber &number : numbers) {
    const at::Tensor *given = number.isTensor ? &hostNumbers[tensors++] : nullptr;
    at::ScalarType dtype =
        given && given->defined() ? given->scalar_type() : dtypeBeside(beside, number.value, number.isTensor);
    Value value = device().number(number.value, dtype);
    key[number.word + 1] = address(value.type());
    operands[number.operand] = std::move(value);
  }
}

/// Whether onMeta() gives zeros of the CPU. Many Meta kernels are torch's Python; a C++ program lacks them,
/// and computes the op once for its shape. Their errors are not those of eager mode, whose kernel is asked.
static thread_local bool areShapesOnHost = false;

namespace {

struct HostShapes {
  HostShapes() { areShapesOnHost = true; }
  ~HostShapes() { areShapesOnHost = false; }
};

} // namespace

Reference<Node> Recorder::record(bool returnsList, c10::function_ref<ResultTypes()> shape) {
  if (!numbers.empty())
    placeNumbers();
  Reference<const Call> call = internCall(op, key, returnsList, [&] {
    ShapeGuard guard;
    ResultTypes types;
    try {
      types = shape();
    } catch (const c10::NotImplementedError &) {
      HostShapes onHost;
      types = shape();
    } catch (const c10::Error &) {
      throw; // of torch's C++, which eager mode shares
    } catch (const std::exception &) {
      HostShapes onHost;
      shape();
      throw; // the zeros passed
    }
    if (generator)
      types.emplace_back(stateType());
    return types;
  });
  return generator ? draw(call) : device().record(std::move(call), std::move(operands));
}

/// Without a lock on the generator, since recording may take others: if another thread has drawn the same
/// numbers meanwhile, the node is dropped and the next ones are drawn.
Reference<Node> Recorder::draw(const Reference<const Call> &call) {
  for (;;) {
    Value state = generator->state();
    c10::SmallVector<Value, 3> given = operands;
    given[stateOperand] = state;
    Reference<Node> node = device().record(call, std::move(given));
    if (generator->advance(state, {node, static_cast<uint32_t>(call->results.size() - 1)}))
      return node;
  }
}

Reference<const TensorType> Recorder::typeOf(const at::Tensor &tensor) {
  return tensor.defined() ? TensorType::intern(tensor.scalar_type(), tensor.sizes())
                          : Reference<const TensorType>();
}

at::Tensor Recorder::resultOf(const Reference<Node> &node, uint32_t result) {
  return node->resultType(result) ? tensorOf({node, result}) : at::Tensor();
}

at::Tensor onMeta(const at::Tensor &tensor) {
  if (!tensor.defined())
    return tensor;
  // A number given for a tensor stays on the CPU: Meta kernels in Python get it as a number.
  bool isNumber = tensor.unsafeGetTensorImpl()->is_wrapped_number();
  if (!isNumber && !areShapesOnHost)
    return at::detail::empty_symint_meta(c10::fromIntArrayRefSlow(tensor.sizes()), tensor.scalar_type(),
                                         std::nullopt, std::nullopt, std::nullopt, std::nullopt);
  at::Tensor zeros = at::zeros(tensor.sizes(), at::TensorOptions().dtype(tensor.scalar_type()));
  if (isNumber)
    zeros.unsafeGetTensorImpl()->set_wrapped_number(true);
  return zeros;
}

std::optional<at::Tensor> onMeta(const std::optional<at::Tensor> &tensor) {
  return tensor ? std::optional(onMeta(*tensor)) : std::nullopt;
}

std::vector<at::Tensor> onMeta(const at::ITensorListRef &tensors) {
  std::vector<at::Tensor> metas;
  for (const at::Tensor &tensor : tensors)
    metas.push_back(onMeta(tensor));
  return metas;
}

c10::List<std::optional<at::Tensor>> onMeta(const c10::List<std::optional<at::Tensor>> &tensors) {
  c10::List<std::optional<at::Tensor>> metas;
  for (size_t i = 0; i < tensors.size(); ++i)
    metas.push_back(onMeta(tensors.get(i)));
  return metas;
}

ShapeGuard::ShapeGuard()
    : excluded(c10::autograd_dispatch_keyset_with_ADInplaceOrView | c10::autocast_dispatch_keyset |
               c10::DispatchKeySet(c10::DispatchKey::Functionalize)) {}

} // namespace torchere::lazy
