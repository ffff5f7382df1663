// torchere._core's part for src/artifact: bundles of functions and weights, and the directories that hold
// them.
#include "artifact/bundle.h"
#include "artifact/bundle_joining.h"
#include "artifact/function_module.h"
#include "artifact/meta.h"
#include "artifact/signature.h"
#include "artifact/weight_data.h"
#include "artifact/weight_embedding.h"
#include "bindings/bindings.h"
#include "bindings/bundle_parts.h"
#include "bindings/tensor_exchange.h"
#include "exporter/exporter.h"
#include "vhlo/portable_artifact.h"

#include <nanobind/ndarray.h>
#include <nanobind/stl/filesystem.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/shared_ptr.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <algorithm>

namespace torchere::bindings {

using namespace artifact;
using program::Weight;

/// The weight's whole storage as bytes that keep it alive.
static nb::ndarray<nb::numpy, uint8_t, nb::ndim<1>> storageBytes(const Weight &weight) {
  unwrap(checkHasData(weight, weight.name));
  auto *kept = new std::shared_ptr<const program::Storage>(weight.storage);
  nb::capsule owner(kept, [](void *pointer) noexcept {
    delete static_cast<std::shared_ptr<const program::Storage> *>(pointer);
  });
  auto *data = const_cast<std::byte *>(weight.storage->data); // loaded weights are private mappings
  return {data, {weight.storage->byteSize}, owner};
}

using TargetVersion = std::optional<std::string>;

static vhlo::Version versionOf(const TargetVersion &target) {
  return target ? unwrap(vhlo::Version::parse(*target)) : vhlo::defaultVersion;
}

/// With a target, the artifact is written now, so that an op that it cannot express is an error at the user's
/// line.
static Function functionOf(const exporter::Exported &exported, const TargetVersion &target) {
  Function function{exported.entryPoint, {}, {}, exported.module, exported.printsLocations};
  if (target)
    function.bytecode = unwrap(moduleBytecode(function, versionOf(target)));
  return function;
}

static std::shared_ptr<Bundle> bundleOf(const std::vector<exporter::Exported *> &programs, bool hasWeights,
                                        const TargetVersion &target) {
  auto bundle = std::make_shared<Bundle>();
  for (const exporter::Exported *exported : programs)
    unwrap(addFunction(*bundle, functionOf(*exported, target), exported->stateDict, exported->constants));
  if (!hasWeights)
    leaveWeightsOut(*bundle);
  return bundle;
}

static std::shared_ptr<Bundle> joined(const std::vector<std::shared_ptr<Bundle>> &programs) {
  nb::gil_scoped_release released;
  std::vector<Bundle> copies;
  for (const std::shared_ptr<Bundle> &program : programs)
    copies.push_back(*program);
  return std::make_shared<Bundle>(unwrap(joinBundles(std::move(copies))));
}

/// The user's tensor as a weight, without a copy.
static Weight suppliedWeight(const session::NamedView &named) {
  const auto &[name, view] = named;
  if (view.device != "cpu")
    refuse([&] { return std::string(named.name); },
           fmt::format("wrong device: got {}, expected cpu", view.device));
  Weight weight{std::string(name), view.dtype, {view.shape.begin(), view.shape.end()}, {}, 0, {}};
  weight.strides.assign(view.strides.begin(), view.strides.end());
  int64_t first = 0, last = 0; // elements, from the one that the view begins with
  for (size_t i = 0; i < weight.shape.size(); ++i) {
    int64_t extent = std::max<int64_t>(weight.shape[i] - 1, 0) * weight.strides[i];
    (extent < 0 ? first : last) += extent;
  }
  auto size = static_cast<int64_t>(byteSize(weight.dtype));
  int64_t bytes = weight.elementCount() == 0 ? 0 : (last - first + 1) * size;
  weight.storageOffset = -first;
  weight.storage = std::make_shared<const program::Storage>(program::Storage{
      view.owner, static_cast<const std::byte *>(view.data) + first * size, static_cast<size_t>(bytes)});
  return weight;
}

static std::shared_ptr<Bundle> exchangeWeights(const Bundle &bundle, const nb::dict &tensors) {
  NamedTensors given(tensors);
  std::vector<Weight> weights;
  for (const session::NamedView &named : given.views())
    weights.push_back(suppliedWeight(named));
  return std::make_shared<Bundle>(unwrap(withWeights(bundle, weights)));
}

static std::shared_ptr<Bundle> exchangeWeightsOf(const Bundle &bundle, const Bundle &other) {
  std::vector<Weight> weights;
  for (const auto &[name, weight] : other.stateDict)
    if (hasData(weight))
      weights.push_back(weight);
  return std::make_shared<Bundle>(unwrap(withWeights(bundle, weights)));
}

static const Function &functionOf(const Bundle &bundle, const std::string &name) {
  return bundle.functions[unwrap(findFunction(bundle, name))];
}

static nb::bytes asBytes(const std::string &bytes) {
  return nb::bytes(bytes.data(), bytes.size());
}

static nb::bytes bytecodeOf(const Bundle &bundle, const std::string &name, const TargetVersion &target) {
  const Function &function = functionOf(bundle, name);
  vhlo::Version version = versionOf(target);
  Result<std::string> bytes = [&] {
    nb::gil_scoped_release released;
    auto made = moduleBytecode(function, version);
    return made;
  }();
  return asBytes(unwrap(std::move(bytes)));
}

static std::vector<std::string> functionNames(const Bundle &bundle) {
  std::vector<std::string> names;
  for (const Function &function : bundle.functions)
    names.push_back(function.entryPoint.name);
  return names;
}

static std::vector<std::string> weightNames(const Bundle &bundle) {
  std::vector<std::string> names;
  for (const auto &[name, weight] : bundle.stateDict)
    if (hasData(weight))
      names.push_back(name);
  std::sort(names.begin(), names.end());
  return names;
}

static Weight weightOf(const Bundle &bundle, const std::string &name) {
  auto found = bundle.stateDict.find(name);
  if (found == bundle.stateDict.end())
    throw ErrorException{
        Error{ErrorCode::NotFound, fmt::format("[{}] no such weight in the program", name), {}}};
  return found->second;
}

static nb::class_<Weight> bindWeight(nb::module_ &module) {
  nb::class_<Weight> weight(module, "Weight", "A named tensor: a strided view of a storage.");
  weight.def_ro("name", &Weight::name)
      .def_prop_ro(
          "dtype", [](const Weight &self) { return std::string(dtypeInfo(self.dtype).torchName); },
          "torch's name, such as \"bfloat16\".")
      .def_prop_ro("shape", [](const Weight &self) { return nb::tuple(nb::cast(self.shape)); })
      .def_prop_ro(
          "strides", [](const Weight &self) { return nb::tuple(nb::cast(self.strides)); }, "In elements.")
      .def_ro("storage_offset", &Weight::storageOffset, "In elements.")
      .def_prop_ro("storage", &storageBytes, nb::rv_policy::automatic,
                   "The storage's bytes, which tied weights share. Not a copy.");
  return weight;
}

/// A file's text may be anything.
static nb::object textOf(const Bundle &bundle, const std::string &name) {
  const Function &function = functionOf(bundle, name);
  Result<std::string> made = [&] {
    nb::gil_scoped_release released;
    auto text = moduleText(function);
    return text;
  }();
  std::string text = unwrap(std::move(made));
  PyObject *decoded = PyUnicode_FromStringAndSize(text.data(), static_cast<Py_ssize_t>(text.size()));
  if (decoded)
    return nb::steal(decoded);
  PyErr_Clear();
  throw ErrorException{
      Error{ErrorCode::DataLoss, fmt::format("[{}] the module's text is not UTF-8", name), {}}};
}

static std::shared_ptr<Bundle> withEmbeddedWeights(const Bundle &bundle, const TargetVersion &target,
                                                   const std::optional<std::string> &function) {
  if (function)
    functionOf(bundle, *function); // an unknown name is an error
  nb::gil_scoped_release released;
  return std::make_shared<Bundle>(unwrap(embedWeights(bundle, versionOf(target), function)));
}

static nb::class_<Bundle> bindBundle(nb::module_ &module) {
  nb::class_<Bundle> bundle(module, "Bundle", "Lowered functions with their weights and constants.");
  bundle.def_prop_ro("functions", &functionNames, "The functions' names; the first is the default.")
      .def_ro("has_weights", &Bundle::hasWeights, "False when the weights were left out on purpose.")
      .def("text", &textOf, nb::arg("function"), nb::sig("def text(self, function: str) -> str"),
           "The text of the function's StableHLO module.")
      .def("bytecode", &bytecodeOf, nb::arg("function"), nb::arg("target_version") = nb::none(),
           "The function's StableHLO module as a portable artifact.")
      .def(
          "meta",
          [](const Bundle &self, const std::string &name) {
            return metaText(functionOf(self, name).entryPoint);
          },
          nb::arg("function"), "PyTorch/XLA's description of the function, as JSON.")
      .def(
          "signature",
          [](const Bundle &self, const std::string &name) {
            return unwrap(signatureText(functionOf(self, name).entryPoint));
          },
          nb::arg("function"), "The complete description of the function's arguments and results, as JSON.")
      .def(
          "call_signature",
          [](const Bundle &self, const std::string &name) {
            return unwrap(callSignatureText(functionOf(self, name).entryPoint));
          },
          nb::arg("function"), "The part of the signature that calls need, as JSON.")
      .def_prop_ro("weight_names", &weightNames, "The names of the state dict that have data, sorted.")
      .def_prop_ro("names_without_data", &namesWithoutData,
                   "The weights and constants that functions take and that have no data, sorted.")
      .def("with_weights", &exchangeWeights, nb::arg("weights"),
           "The bundle with other data for the weights and constants of these names. No tensor is copied.")
      .def("with_weights", &exchangeWeightsOf, nb::arg("weights"),
           "The same with all that another bundle has in its state dict.")
      .def("embed_weights", &withEmbeddedWeights, nb::arg("target_version") = nb::none(),
           nb::arg("function") = nb::none(),
           "The bundle with its weights as constants of the modules, but for those that functions write.")
      .def("weight", &weightOf, nb::arg("name"))
      .def_ro("constants", &Bundle::constants);
  return bundle;
}

static nb::bytes serializeModule(const stablehlo::Module &module, const TargetVersion &target,
                                 bool withLocations) {
  vhlo::WriteOptions options{.target = versionOf(target), .withLocations = withLocations};
  Result<std::string> bytes;
  {
    nb::gil_scoped_release released;
    bytes = vhlo::serialize(module, options);
  }
  return asBytes(unwrap(std::move(bytes)));
}

static stablehlo::Module deserializeModule(nb::bytes artifact) {
  std::string_view bytes(artifact.c_str(), artifact.size());
  nb::gil_scoped_release released;
  return unwrap(vhlo::deserialize(bytes));
}

static void bindPortableArtifact(nb::module_ &module) {
  module.attr("TARGET_VERSION") = vhlo::defaultVersion.text();
  module.def("serialize_portable_artifact", &serializeModule, nb::arg("module"),
             nb::arg("target_version") = nb::none(), nb::kw_only(), nb::arg("with_locations") = false,
             "A module as a portable artifact that StableHLO target_version reads; nothing is expanded.");
  module.def("deserialize_portable_artifact", &deserializeModule, nb::arg("artifact"),
             "The module of a portable artifact.");
}

void bindArtifact(nb::module_ &module) {
  nb::class_<Weight> weight = bindWeight(module);
  nb::class_<Bundle> bundle = bindBundle(module);
  bindBundleParts(module, weight, bundle);
  bindPortableArtifact(module);
  module.attr("STABLEHLO_VERSION") = std::string(stablehloVersion);
  module.def("make_bundle", &bundleOf, nb::arg("programs"), nb::arg("has_weights") = true,
             nb::arg("target_version") = nb::none(),
             "Joins exported programs, which may share weights, into one bundle.");
  module.def(
      "join_bundles", &joined, nb::arg("programs"),
      "One bundle with the functions of all; weights and constants that they have in common are shared.");
  module.def(
      "save_bundle",
      [](const Bundle &bundle, const std::filesystem::path &path, bool saveWeights, bool includeText,
         bool overwrite, const TargetVersion &target, bool digests) {
        nb::gil_scoped_release released;
        unwrap(save(bundle, path,
                    {.saveWeights = saveWeights,
                     .includeText = includeText,
                     .overwrite = overwrite,
                     .withDigests = digests,
                     .target = versionOf(target)}));
      },
      nb::arg("bundle"), nb::arg("path"), nb::kw_only(), nb::arg("save_weights") = true,
      nb::arg("include_text") = true, nb::arg("overwrite") = false, nb::arg("target_version") = nb::none(),
      nb::arg("digests") = false, "Writes the directory of a program.");
  module.def(
      "load_bundle",
      [](const std::filesystem::path &path, bool mapWeights, bool verify, std::string precision) {
        nb::gil_scoped_release released;
        return std::make_shared<Bundle>(unwrap(
            load(path, {.mapWeights = mapWeights, .verify = verify, .precision = std::move(precision)})));
      },
      nb::arg("path"), nb::kw_only(), nb::arg("map_weights") = true, nb::arg("verify") = false,
      nb::arg("precision") = "", "Reads the directory of a program.");
}

} // namespace torchere::bindings
