// EntryPoint: the inputs and outputs of one lowered function, in the order of its arguments and results. The
// exporter writes it, the artifact stores it, and the session calls the function with it.
#pragma once

#include "program/program.h"

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace torchere::program {

/// The buffer of a program that draws random numbers: the state of its generator, i64[2], which holds the
/// seed and the number of the stream's next block. torch gives no buffer this name: one part of it is empty.
inline constexpr std::string_view generatorBuffer = "torchere..generator";

struct TensorSignature {
  DType dtype = DType::F32;
  std::vector<SymInt> shape;
};

/// Where an argument of the function comes from.
enum class InputSource : uint8_t { UserInput, Parameter, Buffer, Constant };

struct EntryInput {
  InputSource source = InputSource::UserInput;
  /// The name in the state dict, or the user input's name ("x", "mask"), which errors use.
  std::string name;
  /// The flat position among the user's inputs (leaves of the input tree), or the index among the constants.
  int64_t position = -1;
  TensorSignature type;
  /// A user input that is a Python int (a 0-d i64 tensor in the function), not a tensor.
  bool isSymInt = false;
  SymInt value = {};        ///< the int's symbol in the ranges; a constant if that is not known
  bool isInShapes = false;  ///< an int that shapes in the function depend on
  bool isPersistent = true; ///< false for a buffer that the module's own state dict leaves out
};

/// A leaf of the user's inputs that is not a tensor: calls must pass an equal value.
struct ConstantInput {
  std::string name;
  int64_t position = -1;
  Constant value;
};

enum class OutputDestination : uint8_t { UserOutput, Buffer, Parameter, UserInput, Check };

/// What a program finds out about its values while it runs, and eager PyTorch raises an error for.
struct RunTimeCheck {
  std::string op;      ///< "aten.linalg_inv.default"
  std::string message; ///< eager's; of a factorization, with `batchMark` and `codeMark` in it
  std::string where;   ///< the user's place: "model.py:31 in encoder.layer.0"
  /// Whether a matrix has no such factors or no solution; otherwise the program asserts something.
  bool isFactorization = false;
};

/// In RunTimeCheck::message, the place of ": (Batch element 2)", or of nothing where there is no batch.
inline constexpr std::string_view batchMark = "{batch}";
/// In RunTimeCheck::message, the place of LAPACK's code: the number of a pivot or of a minor.
inline constexpr std::string_view codeMark = "{code}";

/// The result of a function that has checks: i32[statusSize]. It is zeros, or says of the first check that
/// has failed its number from 1, the element of the batch from 1 (0 without a batch), and the code.
inline constexpr int64_t statusSize = 3;

struct EntryOutput {
  OutputDestination destination = OutputDestination::UserOutput;
  std::string name;      ///< the node that computed it
  std::string target;    ///< the buffer or parameter that takes the value
  int64_t position = -1; ///< flat position among the user's outputs, or the user input that takes the value
  TensorSignature type;
  bool isNumber = false; ///< returned to the user as a Python int, float or bool
};

/// A leaf of the user's outputs that is not computed (None, int, str, ...).
struct ConstantOutput {
  int64_t position = -1;
  Constant value;
};

struct EntryPoint {
  std::string name = "forward";
  std::vector<EntryInput> inputs;       ///< the function's arguments, in order
  std::vector<EntryInput> unusedInputs; ///< tensors that the program does not read, which are not arguments
  std::vector<ConstantInput> constantInputs;
  std::vector<EntryOutput> outputs; ///< the function's results, in order
  std::vector<ConstantOutput> constantOutputs;
  std::vector<RunTimeCheck> checks; ///< in the order of their numbers in the status
  int64_t userInputCount = 0;       ///< leaves of the input tree
  int64_t userOutputCount = 0;      ///< leaves of the output tree
  ExpressionPool expressions;       ///< of the shapes above and the ranges below
  std::vector<RangeConstraint> rangeConstraints;
  TreeSpec inputTree;
  TreeSpec outputTree;
  std::vector<std::string> argumentNames; ///< of forward's positional parameters, in order
};

/// Whether the weight is of this type.
TORCHERE_EXPORT bool isOfType(const Weight &weight, const TensorSignature &type);
/// Fails for a weight that is not of the type of the input that it is there for.
TORCHERE_EXPORT Status checkWeight(const Weight &weight, const EntryInput &input, const EntryPoint &function);

/// The error for a status: none if it is zeros, DataLoss for one that names no check.
TORCHERE_EXPORT Status checkStatus(std::span<const int32_t> status, const EntryPoint &function);

/// "(2, s0)", as Python prints a tuple of sizes.
TORCHERE_EXPORT std::string shapeText(const std::vector<SymInt> &shape, const ExpressionPool &expressions);
TORCHERE_EXPORT std::string shapeText(const std::vector<int64_t> &shape);

} // namespace torchere::program
