// Program: a captured PyTorch program as plain data: the content of torch.export.ExportedProgram, without
// torch.
#pragma once

#include "base/dtype.h"
#include "base/error.h"
#include "base/segmented_vector.h"
#include "program/arena.h"
#include "program/expression.h"
#include "program/op.h"

#include <array>
#include <complex>
#include <cstddef>
#include <deque>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <variant>
#include <vector>

namespace torchere::program {

/// A node of a graph, by its index. As in torch.fx, a node defines one value; an op with several results
/// defines a list, from which `_operator.getitem` nodes take elements.
using NodeId = uint32_t;

/// An index into Program::subgraphs.
struct GraphReference {
  uint32_t index;
  bool operator==(const GraphReference &) const = default;
};
/// "cpu", "cuda:1".
struct Device {
  std::string name;
  bool operator==(const Device &) const = default;
};
/// "strided", as str(torch.strided) without "torch.".
struct Layout {
  std::string name;
  bool operator==(const Layout &) const = default;
};
/// "contiguous_format", as str(torch.contiguous_format) without "torch.".
struct MemoryFormat {
  std::string name;
  bool operator==(const MemoryFormat &) const = default;
};
struct NodeReference {
  NodeId node;
  bool operator==(const NodeReference &) const = default;
};
/// An op passed as an argument of a higher-order op, by its name: "mylib.scale_.default".
struct OpReference {
  std::string name;
  bool operator==(const OpReference &) const = default;
};

/// A value known at capture time, which owns its data: a non-tensor leaf of a call's inputs or outputs, or a
/// constant argument.
struct Constant {
  using List = std::vector<Constant>;
  std::variant<std::monostate, int64_t, double, bool, std::complex<double>, std::string, DType, Device,
               Layout, MemoryFormat, OpReference, List>
      value;
  bool isTuple = false; ///< a List that was a Python tuple; only for printing

  bool isNone() const { return std::holds_alternative<std::monostate>(value); }
  template <class T> const T *as() const { return std::get_if<T>(&value); }
};

struct Argument;

/// A node's arguments, or the elements of a list, in the program's memory.
struct ArgumentList {
  const Argument *first = nullptr;
  uint32_t count = 0;
  bool isTuple = false; ///< a list that was a Python tuple; only for printing

  size_t size() const { return count; }
  bool empty() const { return count == 0; }
  inline const Argument *begin() const;
  inline const Argument *end() const;
  inline const Argument &operator[](size_t index) const;
};

/// Takes the place of an argument that a call leaves at its default.
struct NotGiven {};

template <class T, class... Others> inline constexpr bool isOneOf = (std::is_same_v<T, Others> || ...);

/// An argument of a node: a value of the graph, a graph, a constant, or a list of arguments. It is copied
/// freely: what it looks at belongs to the program. Lists and constants of more than eight bytes are apart.
struct Argument {
  using List = ArgumentList;
  std::variant<std::monostate, NotGiven, NodeReference, GraphReference, int64_t, double, bool,
               const Constant *, const List *>
      value;

  bool isNone() const { return std::holds_alternative<std::monostate>(value); }
  bool isGiven() const { return !std::holds_alternative<NotGiven>(value); }
  template <class T> const T *as() const {
    if constexpr (isOneOf<T, std::complex<double>, std::string, DType, Device, Layout, MemoryFormat,
                          OpReference>) {
      const auto *apart = std::get_if<const Constant *>(&value);
      return apart ? (*apart)->as<T>() : nullptr;
    } else if constexpr (std::is_same_v<T, List>) {
      const auto *apart = std::get_if<const List *>(&value);
      return apart ? *apart : nullptr;
    } else {
      return std::get_if<T>(&value);
    }
  }
  /// The argument as a self-contained value; none if it refers to a node or a graph.
  TORCHERE_EXPORT std::optional<Constant> constant() const;
};

static_assert(sizeof(Argument) == 16); // programs have millions

inline Argument reference(NodeId node) {
  return {NodeReference{node}};
}

const Argument *ArgumentList::begin() const {
  return first;
}
const Argument *ArgumentList::end() const {
  return first + count;
}
const Argument &ArgumentList::operator[](size_t index) const {
  return first[index];
}

struct TensorType {
  DType dtype = DType::F32;
  std::span<const SymInt> shape;
  std::span<const SymInt> strides; ///< in elements; empty if the capture did not record them
  std::string_view device = "cpu";
};
struct SymIntType {
  SymInt value;
};
/// A float or bool computed at run time; `text` is its sympy expression, `value` the same where it could be
/// read.
struct SymFloatType {
  std::string_view text;
  std::optional<SymInt> value = std::nullopt;
};
struct SymBoolType {
  std::string_view text;
  std::optional<SymInt> value = std::nullopt;
};
struct NoneType {};

/// The type of a node's value: a pointer to data of the program. A default-constructed one is None. Equal
/// tensor types made by one Builder are the same object.
class Type {
public:
  using List = std::span<const Type>;
  using Data = std::variant<NoneType, TensorType, SymIntType, SymFloatType, SymBoolType, List>;

  Type() = default;
  explicit Type(const Data *data) : data(data) {}
  template <class T> const T *as() const { return data ? std::get_if<T>(data) : nullptr; }
  /// Whether they are the same object.
  bool operator==(const Type &) const = default;
  const void *address() const { return data; }

private:
  const Data *data = nullptr;
};

/// The expression of an int, a float or a bool; none for other types, and where it could not be read.
inline std::optional<SymInt> numberOf(const Type &type) {
  if (const auto *integer = type.as<SymIntType>())
    return integer->value;
  if (const auto *number = type.as<SymFloatType>())
    return number->value;
  const auto *flag = type.as<SymBoolType>();
  return flag ? flag->value : std::nullopt;
}

/// What an int, a float or a bool is as a 0-d tensor; none for other types.
inline std::optional<DType> numberDType(const Type &type) {
  return type.as<SymIntType>()     ? std::optional(DType::I64)
         : type.as<SymFloatType>() ? std::optional(DType::F64)
         : type.as<SymBoolType>()  ? std::optional(DType::Bool)
                                   : std::nullopt;
}

/// The parts of a node that are only for people.
struct Label {
  std::string_view name = {}; ///< as torch.fx names it: "add_1"
  uint32_t stackTrace = 0;    ///< index into Program::stackTraces; 0 is the empty one
  uint32_t moduleStack = 0;   ///< index into Program::moduleStacks; 0 is the empty one
  /// The positions of the arguments that the captured call passed by keyword, in the call's order.
  std::span<const uint16_t> keywords = {};
};

/// A GetAttr node represents a subgraph: its op is the attribute's name, and its only argument, "graph", is
/// the GraphReference. Higher-order ops refer to the node.
enum class NodeKind : uint8_t { Placeholder, Call, GetAttr };

/// An argument that was given, with its name in the op's schema (or its position, for callables without one).
struct NamedArgument {
  const std::string &name;
  const Argument &value;
};

/// Iterates over the arguments of a node that were given.
class NamedArguments {
public:
  class Iterator {
  public:
    Iterator(const NamedArguments &all, size_t index) : all(all), index(index) { skip(); }
    NamedArgument operator*() const { return {all.callee->argumentNames[index], all.arguments[index]}; }
    Iterator &operator++() {
      ++index;
      skip();
      return *this;
    }
    bool operator==(const Iterator &other) const { return index == other.index; }

  private:
    void skip() {
      while (index < all.arguments.size() && !all.arguments[index].isGiven())
        ++index;
    }
    const NamedArguments &all;
    size_t index;
  };

  NamedArguments(const Op *callee, std::span<const Argument> arguments)
      : callee(callee), arguments(arguments) {}
  Iterator begin() const { return {*this, 0}; }
  Iterator end() const { return {*this, arguments.size()}; }

private:
  const Op *callee;
  std::span<const Argument> arguments;
};

struct Node {
  NodeKind kind = NodeKind::Call;
  const Op *callee = nullptr; ///< null for a placeholder
  /// By position in the op's schema, up to the last one given.
  std::span<const Argument> arguments;
  Type type;
  const Label *label = nullptr; ///< null if the front end provides none

  /// "aten.add.Tensor", "_operator.getitem", "higher_order.cond"; empty for a placeholder.
  TORCHERE_EXPORT const std::string &op() const;
  /// The label's name; the op's if there is no label.
  std::string_view name() const { return label ? label->name : std::string_view(op()); }
  uint32_t stackTrace() const { return label ? label->stackTrace : 0; }
  uint32_t moduleStack() const { return label ? label->moduleStack : 0; }
  NamedArguments given() const { return {callee, arguments}; }
};

using NodeList = SegmentedVector<Node>;

struct Graph {
  std::string name; ///< "forward", or the attribute that held the subgraph: "true_graph_0"
  NodeList nodes;   ///< placeholders first, in order; every argument refers to an earlier node
  std::vector<Argument> outputs;
  /// The single output is returned as it is, not in a tuple, as in the condition of a loop; for printing.
  bool returnsOneValue = false;
  /// The graphs that this one's module holds, as indices into Program::subgraphs.
  std::vector<uint32_t> children;

  /// A node's name; "v3" for node 3 if it has no label.
  TORCHERE_EXPORT std::string nameOf(NodeId node) const;
};

/// One level of a module stack: the module's path in the user's model ("encoder.layer.0") and its class.
struct ModuleFrame {
  std::string path;
  std::string className;
  bool operator==(const ModuleFrame &) const = default;
};

enum class InputKind : uint8_t { UserInput, Parameter, Buffer, ConstantTensor, CustomObject, Token };
enum class OutputKind : uint8_t {
  UserOutput,
  LossOutput,
  BufferMutation,
  ParameterMutation,
  GradientToParameter,
  GradientToUserInput,
  UserInputMutation,
  Token,
};

/// What each placeholder of the main graph represents, in the order of the placeholders.
struct InputSpec {
  InputKind kind = InputKind::UserInput;
  std::string name;   ///< the placeholder's name
  std::string target; ///< name in the state dict or among the constants; empty for user inputs
  bool persistent = true;
  /// For a user input that is not a tensor: the value that it was captured with (None, int, str, ...).
  std::optional<Constant> constant;
};

struct OutputSpec {
  OutputKind kind = OutputKind::UserOutput;
  Argument value;     ///< a node of the graph, or a constant (None, int, str, ...)
  std::string target; ///< the buffer, parameter or user input that receives it; empty for user outputs
};

struct RangeConstraint {
  SymInt expression;
  Range range;
};

/// Memory that weights are views of. Never copied: `owner` keeps it alive.
struct Storage {
  std::shared_ptr<const void> owner;
  const std::byte *data = nullptr;
  size_t byteSize = 0;
};

/// A named tensor of the state dict or of the constants: a strided view of a storage. Tied weights are views
/// of the same storage.
struct Weight {
  std::string name;
  DType dtype = DType::F32;
  std::vector<int64_t> shape;
  std::vector<int64_t> strides; ///< in elements
  int64_t storageOffset = 0;    ///< in elements
  std::shared_ptr<const Storage> storage;

  TORCHERE_EXPORT int64_t elementCount() const;
  TORCHERE_EXPORT bool isContiguous() const;
  /// The address of the first element.
  const std::byte *data() const {
    return storage->data + storageOffset * static_cast<int64_t>(byteSize(dtype));
  }
};

/// A pytree of arguments or results, in two forms: as torch.utils._pytree.treespec_dumps writes it (empty if
/// it cannot), and as JSON that can be read without torch: {"kind": "leaf"} | {"kind": "none"} |
/// {"kind": "tuple"|"list", "children": [...]} | {"kind": "dict", "keys": [...], "children": [...]} |
/// {"kind": "namedtuple"|"custom", "type": "...", ...}.
struct TreeSpec {
  std::string torchText;
  std::string json;
};

/// Identifies what a program computes; the same in every process.
using StructuralHash = std::array<uint64_t, 2>;

/// Filled by a Builder, which puts the data that nodes refer to into `memory` and `literals`.
struct TORCHERE_EXPORT Program {
  std::shared_ptr<OpInterner> ops; ///< of the nodes
  Arena memory;
  std::deque<Constant> literals;
  Graph graph;
  std::vector<Graph> subgraphs;
  std::vector<InputSpec> inputs;
  std::vector<OutputSpec> outputs;
  ExpressionPool expressions;
  std::vector<RangeConstraint> rangeConstraints;
  std::map<std::string, std::string> dimensionNames; ///< symbol -> the user's name of that dimension
  std::unordered_map<std::string, Weight> stateDict; ///< parameters and buffers, by name
  std::unordered_map<std::string, Weight> constants;
  TreeSpec inputTree; ///< of (args, kwargs)
  TreeSpec outputTree;
  std::vector<std::string> argumentNames; ///< of forward's positional parameters, in order
  std::vector<std::string> stackTraces = {""};
  std::vector<std::vector<ModuleFrame>> moduleStacks = {{}};

  /// The program as `print(exported_program)` shows it.
  std::string print() const;
  /// Checks that arguments refer to earlier nodes, that specs name placeholders and that weights lie in their
  /// storages. The error names the node.
  Status verify() const;
  /// Equal for programs with equal ops, arguments, types, symbols, ranges, and kinds of inputs and outputs,
  /// whatever their names, labels and weights. The program must verify.
  StructuralHash structuralHash() const;
  /// The user's source place of a node: "model.py:31 in encoder.layer.0"; empty if unknown.
  std::string place(const Node &node) const;
};

} // namespace torchere::program
