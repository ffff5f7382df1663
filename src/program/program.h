// Program: a captured PyTorch program as plain data. What torch.export.ExportedProgram holds, without torch.
#pragma once

#include "base/dtype.h"
#include "base/error.h"
#include "program/expression.h"

#include <complex>
#include <cstddef>
#include <map>
#include <memory>
#include <string>
#include <unordered_map>
#include <variant>
#include <vector>

namespace torchere::program {

/// A node of a graph, by its index. As in torch.fx a node defines one value; an op with several results
/// defines a list, whose elements are taken out by `_operator.getitem` nodes.
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
/// An op given as an argument of a higher-order op, named as Node::op is: "mylib.scale_.default".
struct OpReference {
  std::string name;
  bool operator==(const OpReference &) const = default;
};

/// An argument of a node: a value of the graph, a constant, or a list of arguments.
struct Argument {
  using List = std::vector<Argument>;
  std::variant<std::monostate, NodeReference, int64_t, double, bool, std::complex<double>, std::string, DType,
               Device, Layout, MemoryFormat, GraphReference, OpReference, List>
      value;
  bool isTuple = false; ///< a List that was a Python tuple; matters for printing only

  bool isNone() const { return std::holds_alternative<std::monostate>(value); }
  template <class T> const T *as() const { return std::get_if<T>(&value); }
};

/// An argument under its name in the op's schema (or its position, for callables without one).
struct NamedArgument {
  std::string name;
  Argument value;
  bool byKeyword = false; ///< given by keyword in the captured call; matters for printing only
};

struct TensorType {
  DType dtype;
  std::vector<SymInt> shape;
  std::vector<SymInt> strides; ///< in elements; empty when the capture did not say
  std::string device = "cpu";
};
struct SymIntType {
  SymInt value;
};
/// A float or bool that is computed at run time; `text` is its sympy expression.
struct SymFloatType {
  std::string text;
};
struct SymBoolType {
  std::string text;
};
struct NoneType {};

/// The type of a node's value.
struct Type {
  using List = std::vector<Type>;
  std::variant<NoneType, TensorType, SymIntType, SymFloatType, SymBoolType, List> value;
  template <class T> const T *as() const { return std::get_if<T>(&value); }
};

/// A GetAttr node names a subgraph: `op` is the attribute's name, and its one argument, "graph", the
/// GraphReference. Higher-order ops refer to the node.
enum class NodeKind : uint8_t { Placeholder, Call, GetAttr };

struct Node {
  NodeKind kind = NodeKind::Call;
  std::string name;                     ///< as torch.fx names it: "add_1"
  std::string op;                       ///< "aten.add.Tensor", "_operator.getitem", "higher_order.cond"
  std::vector<NamedArgument> arguments; ///< those that were given, in order
  Type type;
  uint32_t stackTrace = 0;  ///< index into Program::stackTraces; 0 is the empty one
  uint32_t moduleStack = 0; ///< index into Program::moduleStacks; 0 is the empty one
};

struct Graph {
  std::string name;        ///< "forward", or the attribute that held the subgraph: "true_graph_0"
  std::vector<Node> nodes; ///< placeholders first, in order; every argument refers to an earlier node
  Argument::List outputs;
  /// The one output is returned bare and not in a tuple, as by the condition of a loop; for printing.
  bool returnsOneValue = false;
  /// The graphs that this one's module holds, as indices into Program::subgraphs.
  std::vector<uint32_t> children;
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

/// What a placeholder of the main graph stands for. In the order of the placeholders.
struct InputSpec {
  InputKind kind = InputKind::UserInput;
  std::string name;   ///< the placeholder's name
  std::string target; ///< name in the state dict or among the constants; empty for user inputs
  bool persistent = true;
  /// For a user input that is no tensor: the value that the program was captured with (None, int, str, ...).
  std::optional<Argument> constant;
};

struct OutputSpec {
  OutputKind kind = OutputKind::UserOutput;
  Argument value;     ///< a node of the graph, or a constant (None, int, str, ...)
  std::string target; ///< the buffer, parameter or user input that it is written to; empty for user outputs
};

struct RangeConstraint {
  SymInt expression;
  Range range;
};

/// Memory that weights look into. Never copied: `owner` keeps it alive.
struct Storage {
  std::shared_ptr<const void> owner;
  const std::byte *data = nullptr;
  size_t byteSize = 0;
};

/// A named tensor of the state dict or of the constants: a strided view of a storage. Names of tied weights
/// have views of the same storage.
struct Weight {
  std::string name;
  DType dtype = DType::F32;
  std::vector<int64_t> shape;
  std::vector<int64_t> strides; ///< in elements
  int64_t storageOffset = 0;    ///< in elements
  std::shared_ptr<const Storage> storage;

  TORCHERE_EXPORT int64_t elementCount() const;
  TORCHERE_EXPORT bool isContiguous() const;
  /// The first element's address.
  const std::byte *data() const {
    return storage->data + storageOffset * static_cast<int64_t>(byteSize(dtype));
  }
};

/// A pytree of arguments or results, twice: as torch.utils._pytree.treespec_dumps writes it (empty when it
/// cannot), and as JSON that needs no torch to read: {"kind": "leaf"} | {"kind": "none"} |
/// {"kind": "tuple"|"list", "children": [...]} | {"kind": "dict", "keys": [...], "children": [...]} |
/// {"kind": "namedtuple"|"custom", "type": "...", ...}.
struct TreeSpec {
  std::string torchText;
  std::string json;
};

struct TORCHERE_EXPORT Program {
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
  /// The user's place of a node: "model.py:31 in encoder.layer.0"; empty when unknown.
  std::string place(const Node &node) const;
};

} // namespace torchere::program
