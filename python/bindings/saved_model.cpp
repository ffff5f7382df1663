// torchere._core's part for src/artifact/saved_model: bundles as TensorFlow's SavedModels.
#include "artifact/saved_model/saved_model.h"

#include "artifact/function_module.h"
#include "bindings/bindings.h"
#include "passes/compatibility/tensorflow_form.h"

#include <nanobind/stl/filesystem.h>
#include <nanobind/stl/string.h>

namespace torchere::bindings {

using namespace artifact;

static void save(const Bundle &bundle, const std::filesystem::path &path, const std::string &servingKey,
                 const std::string &functionAlias) {
  nb::gil_scoped_release released;
  unwrap(saveAsSavedModel(bundle, path, {.servingKey = servingKey, .functionAlias = functionAlias}));
}

static nb::bytes moduleForTensorFlow(const Bundle &bundle, const std::string &name) {
  const Function &function = bundle.functions[unwrap(findFunction(bundle, name))];
  Result<passes::TensorFlowForm> form = [&]() -> Result<passes::TensorFlowForm> {
    nb::gil_scoped_release released;
    TORCHERE_ASSIGN(auto shared, readModule(function));
    return shared->read(
        [&](const stablehlo::Module &module) { return passes::tensorFlowForm(module, name); });
  }();
  std::string bytes = unwrap(std::move(form)).bytecode;
  return nb::bytes(bytes.data(), bytes.size());
}

void bindSavedModel(nb::module_ &module) {
  module.def("save_saved_model", &save, nb::arg("bundle"), nb::arg("path"), nb::kw_only(),
             nb::arg("serving_key") = "serving_default", nb::arg("function_alias") = "",
             "Writes a bundle as TensorFlow's SavedModel.");
  module.def("tensorflow_module", &moduleForTensorFlow, nb::arg("bundle"), nb::arg("function"),
             "A function's module as TensorFlow's op XlaCallModule takes it.");
}

} // namespace torchere::bindings
