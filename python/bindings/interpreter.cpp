// torchere._core's part for src/interpreter: running a module's text without a plugin.
#include "interpreter/interpreter.h"
#include "bindings/bindings.h"

#include <nanobind/stl/string.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>

#include <cstring>
#include <tuple>

namespace torchere::bindings {

using namespace interpreter;

/// A tensor as Python passes it: the element type's name, the shape, the elements' bytes in row-major order.
using RawTensor = std::tuple<std::string, std::vector<int64_t>, nb::bytes>;

static Result<Tensor> fromRaw(const RawTensor &raw) {
  const auto &[name, shape, bytes] = raw;
  std::optional<ElementType> type = elementTypeFromName(name);
  if (!type)
    return invalidArgument("[interpret] no element type is called \"{}\"", name);
  TORCHERE_ASSIGN(Tensor tensor, Tensor::create(*type, shape));
  if (bytes.size() != tensor.bytes().size())
    return invalidArgument("[interpret] got {} bytes for a {}, expected {}", bytes.size(), tensor.typeText(),
                           tensor.bytes().size());
  std::memcpy(tensor.writableBytes().data(), bytes.data(), bytes.size());
  return tensor;
}

static std::vector<RawTensor> interpretText(const std::string &text, const std::vector<RawTensor> &inputs,
                                            const std::string &entry) {
  std::vector<Tensor> tensors;
  for (const RawTensor &input : inputs)
    tensors.push_back(unwrap(fromRaw(input)));
  auto results = [&]() -> Result<std::vector<Tensor>> {
    nb::gil_scoped_release released;
    TORCHERE_ASSIGN(stablehlo::Module module, parseModule(text));
    return interpret(module, std::move(tensors), {.entry = entry, .probeDirectory = ""});
  }();
  std::vector<RawTensor> raw;
  for (const Tensor &tensor : unwrap(std::move(results)))
    raw.emplace_back(elementTypeInfo(tensor.type()).name, tensor.shape(),
                     nb::bytes(tensor.bytes().data(), tensor.bytes().size()));
  return raw;
}

void bindInterpreter(nb::module_ &module) {
  module.def("interpret", &interpretText, nb::arg("text"), nb::arg("inputs"), nb::arg("entry") = "",
             "Runs a module on the reference interpreter. Tensors are (element type, shape, bytes).");
}

} // namespace torchere::bindings
