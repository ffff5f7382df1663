// Bundles as Python values and from them.
#include "bindings/bundle_parts.h"

#include "artifact/meta.h"
#include "artifact/signature.h"
#include "base/npy.h"
#include "bindings/constants.h"
#include "bindings/tensor_exchange.h"
#include "program/weight_memory.h"
#include "session/tensor_view.h"

#include <nanobind/ndarray.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/shared_ptr.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>

#include <array>
#include <map>
#include <optional>
#include <tuple>

namespace torchere::bindings {

using artifact::Bundle;
using artifact::Function;
using program::EntryPoint;
using program::Weight;

using Bytes = nb::ndarray<nb::numpy, uint8_t, nb::ndim<1>>;
using ReadOnlyBytes = nb::ndarray<const uint8_t, nb::ndim<1>, nb::c_contig, nb::device::cpu>;

static const EntryPoint &entryPointOf(const Bundle &bundle, const std::string &name) {
  return bundle.functions[unwrap(findFunction(bundle, name))].entryPoint;
}

/// The constants of a function's inputs or outputs, by their positions.
template <class Leaf>
static nb::dict constantsOf(const std::vector<Leaf> &leaves, const EntryPoint &entryPoint, const char *what) {
  nb::dict constants;
  for (const Leaf &leaf : leaves)
    constants[nb::int_(leaf.position)] =
        explained([&] { return fmt::format("{}: {} {}", entryPoint.name, what, leaf.position); },
                  "a constant that torch refuses", [&] { return toPython(leaf.value); });
  return constants;
}

/// The weight's elements, dense and row major; a copy only of other layouts.
static Bytes denseBytes(const Weight &weight) {
  runtime::HostArray array = unwrap(session::denseArray(
      {weight.data(), weight.dtype, weight.shape, weight.strides, "cpu", weight.storage}));
  size_t size = unwrap(array.type->byteSize());
  auto *kept = new runtime::HostArray(std::move(array));
  nb::capsule owner(kept, [](void *pointer) noexcept { delete static_cast<runtime::HostArray *>(pointer); });
  return {const_cast<void *>(kept->data), {size}, owner};
}

/// (name, dtype, shape, dense bytes); None in place of the bytes of a weight that is a type alone.
static nb::tuple partsOf(const Weight &weight) {
  nb::object bytes = nb::none();
  if (hasData(weight))
    bytes = nb::cast(denseBytes(weight), nb::rv_policy::automatic);
  return nb::make_tuple(weight.name, std::string(dtypeInfo(weight.dtype).torchName), weight.shape, bytes);
}

/// Whether the weight has elements, by whose view it may be tied to another.
static bool hasElements(const Weight &weight) {
  return hasData(weight) && weight.elementCount() > 0;
}

/// Sorted by name. In place of its bytes, a tied weight has the name of an earlier one.
static nb::list weightParts(const Bundle &bundle) {
  std::map<std::string, const Weight *> sorted;
  for (const auto &[name, weight] : bundle.stateDict)
    sorted.emplace(name, &weight);
  std::map<program::View, std::string> owners;
  nb::list parts;
  for (const auto &[name, weight] : sorted) {
    const std::string *owner = &name;
    if (hasElements(*weight))
      owner = &owners.emplace(viewOf(*weight), name).first->second;
    std::string dtype(dtypeInfo(weight->dtype).torchName);
    parts.append(*owner == name ? partsOf(*weight) : nb::make_tuple(name, dtype, weight->shape, *owner));
  }
  return parts;
}

static nb::list constantParts(const Bundle &bundle) {
  nb::list parts;
  for (const Weight &constant : bundle.constants)
    parts.append(partsOf(constant));
  return parts;
}

/// In memory of its own, aligned as the device may want it.
static std::shared_ptr<const program::Storage> copyOf(const session::TensorView &view, size_t byteSize) {
  auto storage = std::make_shared<program::Storage>();
  storage->owner = unwrap(session::copyDense(view));
  storage->data = static_cast<const std::byte *>(storage->owner.get());
  storage->byteSize = byteSize;
  return storage;
}

using WeightParts = std::tuple<std::string, std::string, std::vector<int64_t>, nb::object>;

static Weight weightFrom(const WeightParts &parts) {
  const auto &[name, dtypeName, shape, value] = parts;
  Subject subject = [name = name] { return name; };
  std::optional<DType> dtype = dtypeFromTorchName(dtypeName);
  if (!dtype)
    refuse(subject, fmt::format("unknown dtype: got {}, expected one of torch's", dtypeName));
  size_t size = unwrap(runtime::ArrayType{*dtype, shape}.byteSize());
  Weight weight{name, *dtype, shape, denseStrides(shape, /*fortranOrder=*/false), 0, nullptr};
  if (value.is_none()) {
    weight.storage = std::make_shared<const program::Storage>(program::Storage{nullptr, nullptr, size});
    return weight;
  }
  auto bytes = nb::cast<ReadOnlyBytes>(value);
  if (bytes.size() != size)
    refuse(subject, fmt::format("wrong number of bytes: got {}, expected {}", bytes.size(), size));
  std::array<int64_t, 1> length = {static_cast<int64_t>(size)};
  weight.storage = copyOf({bytes.data(), DType::U8, length, {}, "cpu", nullptr}, size);
  return weight;
}

/// Adds a weight to the state dict: from its bytes, or tied to an earlier one.
static void restoreWeight(Bundle &bundle, const WeightParts &parts) {
  const std::string &name = std::get<0>(parts);
  const nb::object &value = std::get<3>(parts);
  if (!nb::isinstance<nb::str>(value)) {
    bundle.stateDict[name] = weightFrom(parts);
    return;
  }
  auto earlier = bundle.stateDict.find(nb::cast<std::string>(value));
  if (earlier == bundle.stateDict.end())
    refuse([&] { return name; }, "tied to a weight that does not precede it");
  Weight weight = earlier->second;
  weight.name = name;
  bundle.stateDict[name] = std::move(weight);
}

/// A signature of ours, or PyTorch/XLA's description, and the module as bytecode or as text, or both.
struct FunctionParts {
  std::string description;
  nb::bytes bytecode;
  std::string text;
  bool isMeta;
};

static Function functionFrom(const FunctionParts &parts) {
  Function function;
  function.entryPoint = unwrap(parts.isMeta ? artifact::readMeta(parts.description, "meta")
                                            : artifact::readSignature(parts.description, "signature"));
  function.bytecode.assign(parts.bytecode.c_str(), parts.bytecode.size());
  function.text = parts.text;
  if (function.bytecode.empty() && function.text.empty())
    refuse([&] { return function.entryPoint.name; }, "no module: got neither bytecode nor text");
  return function;
}

/// Checks what it is given as load() checks a directory.
static std::shared_ptr<Bundle> restore(const std::vector<FunctionParts> &functions,
                                       const std::vector<WeightParts> &weights,
                                       const std::vector<WeightParts> &constants, bool hasWeights) {
  auto bundle = std::make_shared<Bundle>();
  bundle->hasWeights = hasWeights;
  for (const FunctionParts &parts : functions)
    bundle->functions.push_back(functionFrom(parts));
  for (const WeightParts &parts : weights)
    restoreWeight(*bundle, parts);
  for (const WeightParts &parts : constants)
    bundle->constants.push_back(weightFrom(parts));
  unwrap(verify(*bundle));
  return bundle;
}

void bindBundleParts(nb::module_ &module, nb::class_<Weight> &weight, nb::class_<Bundle> &bundle) {
  weight
      .def(nb::new_([](const std::string &name, const std::string &dtype, const std::vector<int64_t> &shape,
                       nb::object bytes) { return weightFrom({name, dtype, shape, std::move(bytes)}); }),
           nb::arg("name"), nb::arg("dtype"), nb::arg("shape"), nb::arg("bytes").none(),
           "A weight from its parts; the bytes are copied.")
      .def_prop_ro(
          "address",
          [](const Weight &self) -> std::optional<uintptr_t> {
            return hasElements(self) ? std::optional(reinterpret_cast<uintptr_t>(self.data())) : std::nullopt;
          },
          "Of its first element; None if it has none. Tied weights have the same.")
      .def_prop_ro("parts", &partsOf,
                   "(name, dtype, shape, dense bytes), the bytes None where there are none.");
  bundle
      .def(
          "constant_inputs",
          [](const Bundle &self, const std::string &name) {
            const EntryPoint &entryPoint = entryPointOf(self, name);
            return constantsOf(entryPoint.constantInputs, entryPoint, "input");
          },
          nb::arg("function"), "The inputs that are constants of the program: position -> value.")
      .def(
          "constant_outputs",
          [](const Bundle &self, const std::string &name) {
            const EntryPoint &entryPoint = entryPointOf(self, name);
            return constantsOf(entryPoint.constantOutputs, entryPoint, "output");
          },
          nb::arg("function"), "The outputs that are not computed: position -> value.")
      .def("weight_parts", &weightParts,
           "(name, dtype, shape, dense bytes) of each weight; for a tied one the other's name, not bytes.")
      .def("constant_parts", &constantParts, "The same of the constants.");
  nb::class_<FunctionParts>(module, "FunctionParts", "What a function of a bundle is made of.")
      .def(nb::init<std::string, nb::bytes, std::string, bool>(), nb::arg("description"), nb::arg("bytecode"),
           nb::arg("text") = "", nb::arg("is_meta") = false,
           "`description` is a signature, or the contents of a .meta; the text is not needed beside "
           "bytecode.");
  module.def("restore_bundle", &restore, nb::arg("functions"), nb::arg("weights"), nb::arg("constants"),
             nb::arg("has_weights"), "A bundle from its functions and the parts of its weights.");
}

} // namespace torchere::bindings
