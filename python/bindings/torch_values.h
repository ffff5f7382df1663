// Converts torch's Python objects to the program's data: arguments of nodes, types of values. Knows torch's
// classes only as Python objects passed in, so the core does not need libtorch.
#pragma once

#include "bindings/bindings.h"
#include "program/builder.h"

#include <string>
#include <unordered_map>
#include <unordered_set>
#include <vector>

namespace torchere::bindings {

/// The classes and constants of torch that occur in graphs.
class TorchVocabulary {
public:
  /// `classes` maps "node", "tensor", "sym_int", "sym_float", "sym_bool", "device", "op_overload" and
  /// "higher_order_op" to torch's classes; the others map torch's dtype, layout and memory format objects to
  /// their names without "torch."; `numberText` prints a symbolic number with all digits of its floats.
  TorchVocabulary(nb::dict classes, nb::dict dtypes, nb::dict layouts, nb::dict memoryFormats,
                  nb::object numberText);

  bool isNode(PyObject *object) const { return PyObject_TypeCheck(object, node); }
  bool isTensor(PyObject *object) const { return PyObject_TypeCheck(object, tensor); }
  bool isSymInt(PyObject *object) const { return PyObject_TypeCheck(object, symInt); }
  bool isSymFloat(PyObject *object) const { return PyObject_TypeCheck(object, symFloat); }
  bool isSymBool(PyObject *object) const { return PyObject_TypeCheck(object, symBool); }
  bool isDevice(PyObject *object) const { return PyObject_TypeCheck(object, device); }
  bool isOpOverload(PyObject *object) const { return PyObject_TypeCheck(object, opOverload); }
  bool isHigherOrderOp(PyObject *object) const { return PyObject_TypeCheck(object, higherOrderOp); }
  /// A dtype, layout or memory format; null for everything else.
  const program::Constant *constant(PyObject *object) const;
  std::string numberText(nb::handle number) const;

private:
  PyTypeObject *node, *tensor, *symInt, *symFloat, *symBool, *device, *opOverload, *higherOrderOp;
  std::unordered_map<PyObject *, program::Constant> constants;
  nb::object printNumber;
  std::vector<nb::object> kept; ///< the objects above, kept alive so that their addresses stay unique
};

/// What the nodes of one graph stand for, by the address of their torch.fx.Node.
using NodeMap = std::unordered_map<PyObject *, program::Argument>;

/// The results belong to the builder's program.
class TorchValueReader {
public:
  TorchValueReader(const TorchVocabulary &vocabulary, program::Builder &builder)
      : vocabulary(vocabulary), builder(builder) {}

  /// An argument of node `node`; `name` is the argument's, for errors. Fails on values that a program cannot
  /// hold: an integer of more than 64 bits, a dict, a slice, a tensor, an object.
  Result<program::Argument> readArgument(nb::handle value, const NodeMap &nodes, const std::string &node,
                                         const std::string &name);
  /// The type of a node's meta["val"].
  Result<program::Type> readType(nb::handle value, const std::string &node);
  /// A size: an int or a SymInt.
  Result<program::SymInt> readSymInt(nb::handle value, const std::string &node);
  Result<DType> readDType(nb::handle value, const std::string &node) const;

private:
  Result<program::SymInt> parseSize(nb::handle value, const std::string &node);
  /// The size that sympy's expression stands for, if it was met before.
  std::optional<program::SymInt> knownSize(nb::handle expression) const;
  void remember(nb::handle expression, program::SymInt size);
  /// None where an expression has functions that programs do not know.
  std::optional<program::SymInt> readNumber(nb::handle value);
  Result<program::Type> readTensorType(nb::handle tensor, const std::string &node);
  Result<std::vector<program::SymInt>> readSymInts(nb::handle sequence, const std::string &node);

  const TorchVocabulary &vocabulary;
  program::Builder &builder;
  nb::dict places; ///< sympy's expression -> its place in `sizes`: to print one takes long
  std::vector<program::SymInt> sizes;
  std::unordered_map<PyObject *, std::string>
      devices; ///< names of torch.device objects, kept in `keptDevices`
  std::vector<nb::object> keptDevices;
};

} // namespace torchere::bindings
