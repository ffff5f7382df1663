// Recorder: from the arguments of a kernel to a node. The generated kernels use it.
#pragma once

#include "lazy/tensor.h"

#include <ATen/core/Generator.h>
#include <ATen/core/IListRef.h>
#include <ATen/core/List.h>
#include <c10/core/Layout.h>
#include <c10/core/MemoryFormat.h>
#include <c10/util/OptionalArrayRef.h>

#include <array>
#include <optional>
#include <string_view>
#include <tuple>
#include <vector>

namespace torchere::lazy {

class Generator;

/// Takes the arguments of one call in the order of the op's schema, then makes the results. Of the numbers,
/// those that only matter at run time become operands (parameter()), so that a change of theirs needs no
/// other program; 0 and 1 stay in the call, where they simplify the program.
class Recorder {
public:
  explicit Recorder(const Op &op) : op(op) {}
  /// For an op without operands.
  Recorder(const Op &op, Device &device) : op(op), target(&device) {}

  void add(const at::Tensor &tensor);
  void add(const std::optional<at::Tensor> &tensor);
  void add(const at::ITensorListRef &tensors);
  void add(const c10::List<std::optional<at::Tensor>> &tensors);
  void add(int64_t number);
  void add(double number);
  void add(bool flag);
  void add(const at::Scalar &number);
  void add(at::ScalarType dtype);
  void add(at::MemoryFormat format);
  void add(c10::string_view text);
  /// The op draws from this generator, or from the device's own; the generator goes on when the op is
  /// recorded.
  void add(const std::optional<at::Generator> &generator);
  void add(at::Layout) { addNone(); }
  void add(const at::Device &) { addNone(); }
  void add(const std::string &text) { add(c10::string_view(text)); }
  template <class Element> void add(c10::ArrayRef<Element> list) {
    key.push_back(tagWord(ArgumentTag::List, list.size()));
    for (const Element &element : list)
      add(element);
  }
  template <size_t count> void add(const std::array<bool, count> &flags) {
    key.push_back(tagWord(ArgumentTag::List, count));
    for (bool flag : flags)
      add(flag);
  }
  template <class T> void add(const std::optional<T> &value) { value ? add(*value) : addNone(); }
  template <class T> void add(const c10::OptionalArrayRef<T> &value) { value ? add(*value) : addNone(); }
  void parameter(const at::Scalar &number);

  /// The result. `shape` makes the op's result of meta tensors; it is called once for each call.
  template <class Shape> at::Tensor tensor(Shape &&shape) {
    return resultOf(record(false, [&] { return ResultTypes{typeOf(shape())}; }), 0);
  }
  template <class Shape> std::vector<at::Tensor> list(Shape &&shape) {
    Reference<Node> node = record(true, [&] {
      ResultTypes types;
      for (const at::Tensor &tensor : shape())
        types.push_back(typeOf(tensor));
      return types;
    });
    std::vector<at::Tensor> results;
    for (uint32_t i = 0; i < node->call->results.size(); ++i)
      results.push_back(resultOf(node, i));
    return results;
  }
  template <size_t count, class Shape> auto tensors(Shape &&shape) {
    Reference<Node> node = record(false, [&] {
      return std::apply([](const auto &...tensors) { return ResultTypes{typeOf(tensors)...}; }, shape());
    });
    return [&]<size_t... i>(std::index_sequence<i...>) {
      return std::tuple{resultOf(node, static_cast<uint32_t>(i))...};
    }(std::make_index_sequence<count>());
  }

private:
  void addNone() { key.push_back(tagWord(ArgumentTag::None)); }
  void addOperand(Value value);
  void addConstant(const at::Scalar &number);
  void addHostNumber(const at::Tensor &tensor);
  void placeNumbers();
  Device &device();
  Reference<Node> draw(const Reference<const Call> &call);
  Reference<Node> record(bool returnsList, c10::function_ref<ResultTypes()> shape);
  static Reference<const TensorType> typeOf(const at::Tensor &tensor);
  static at::Tensor resultOf(const Reference<Node> &node, uint32_t result);

  /// A number that becomes an operand once the device and the tensors' dtypes are known.
  struct PendingNumber {
    size_t operand, word;
    at::Scalar value;
    bool isTensor; ///< given for a Tensor: takes part in the promotion of dtypes
  };

  const Op &op;
  Device *target = nullptr;
  Generator *generator = nullptr; ///< that the op draws from
  size_t stateOperand = 0;        ///< where its state is among the operands
  CallKey key;
  c10::SmallVector<Value, 3> operands;
  c10::SmallVector<PendingNumber, 2> numbers;
  c10::SmallVector<at::Tensor, 2> hostNumbers; ///< 0-d CPU tensors, for the promotion of dtypes
};

/// Arguments for a shape function: tensors of the same type on the meta device (numbers in their place: on
/// the CPU), others as they are.
at::Tensor onMeta(const at::Tensor &tensor);
std::optional<at::Tensor> onMeta(const std::optional<at::Tensor> &tensor);
std::vector<at::Tensor> onMeta(const at::ITensorListRef &tensors);
c10::List<std::optional<at::Tensor>> onMeta(const c10::List<std::optional<at::Tensor>> &tensors);

/// While a shape is computed: no autograd, functionalization or autocast.
class ShapeGuard {
public:
  ShapeGuard();

private:
  c10::impl::ExcludeDispatchKeyGuard excluded;
};

} // namespace torchere::lazy
