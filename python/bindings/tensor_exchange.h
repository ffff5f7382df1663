// Python's tensors as views for the core, and the core's arrays as Python's tensors, both without copies.
#pragma once

#include "bindings/bindings.h"
#include "runtime/buffer.h"
#include "session/session.h"
#include "session/tensor_view.h"

#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace torchere::bindings {

/// The name of the input being read, for errors; called only then.
using Subject = std::function<std::string()>;

/// `[subject] what`, as an InvalidArgumentError.
[[noreturn]] void refuse(const Subject &subject, std::string_view what);

/// "ValueError: its text", the first line.
std::string firstLine(const nb::python_error &error);

/// Reads the tensors of one call. Views refer to it; it releases the tensors when it is destroyed, which
/// needs the GIL. (A plugin that still uses the memory by then keeps it longer.)
class TensorReader {
public:
  /// Reserves space for this many tensors.
  explicit TensorReader(size_t count);

  /// True for a torch.Tensor, a numpy array, and any object with __dlpack__.
  static bool isTensor(nb::handle object);
  /// A view of the tensor, which it keeps alive. Views of conjugated or negated tensors are resolved first.
  /// InvalidArgumentError for a tensor without memory of its own (sparse, fake, a wrapper of other tensors),
  /// for an array that cannot be read in place, and for a dtype that programs lack.
  session::TensorView read(nb::handle object, const Subject &subject);
  /// The same of an object that may not be a tensor: InvalidArgumentError then.
  session::TensorView readTensor(nb::handle object, const Subject &subject);

private:
  struct Extents {
    std::vector<int64_t> shape, strides;
    std::string device;
  };
  session::TensorView readTorch(nb::handle tensor, const Subject &subject);
  void readStrided(nb::handle tensor, session::TensorView &view);
  session::TensorView readArray(nb::handle array, const Subject &subject);

  std::vector<Extents> extents; ///< never grows beyond its capacity, because views refer to it
  std::vector<std::shared_ptr<const void>> owners;
};

/// The tensors of a dict, by name. The views refer to it.
class NamedTensors {
public:
  explicit NamedTensors(const nb::dict &given);
  std::span<const session::NamedView> views() const { return named; }

private:
  nb::dict values; ///< a copy: reading a tensor may run Python code
  TensorReader reader;
  std::vector<std::string> names;
  std::vector<session::NamedView> named;
};

/// The array as a torch.Tensor if torch is installed, otherwise as a numpy array. Keeps the array's owner
/// alive.
nb::object toPythonTensor(const runtime::HostArray &array);
/// The same as a numpy array. TypeError if numpy lacks the dtype.
nb::object toNumpyArray(const runtime::HostArray &array);

/// True for numpy's scalars, which have no __dlpack__.
bool isNumpyScalar(nb::handle object);
/// Such a scalar as an array without dimensions; None if it is no number.
nb::object arrayOfScalar(nb::handle scalar);
/// Such a scalar as Python's number or bool; None if there is none that equals it.
nb::object numberOfScalar(nb::handle scalar);

/// Copies the array into the user's tensor, as `target.copy_(array)` does.
void copyInto(nb::handle target, const runtime::HostArray &array, const Subject &subject);

/// Runs a call that may raise an exception of torch's, and converts it: `[subject] what: ValueError: its
/// text`.
template <class Call> auto explained(const Subject &subject, std::string_view what, Call &&call) {
  try {
    return call();
  } catch (nb::python_error &error) {
    refuse(subject, fmt::format("{}: {}", what, firstLine(error)));
  }
}

/// The module torch if it is installed, otherwise None.
nb::object torchOrNone();

/// torch.float32 and the like for a dtype; its name if torch is not installed.
nb::object toPythonDType(DType dtype);
/// Torch's dtype, layout, memory format or device as a constant; empty for other objects.
std::optional<program::Constant> readTorchConstant(nb::handle object, const Subject &subject);

} // namespace torchere::bindings
