// torchere._core's part for src/stablehlo and src/passes: modules, and the passes on them.
#include "bindings/bindings.h"
#include "passes/shapes/refine_shapes.h"
#include "passes/simplify/simplify.h"
#include "stablehlo/module.h"

#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

namespace torchere::bindings {

using stablehlo::Module;

static Module parseModule(const std::string &text) {
  nb::gil_scoped_release released;
  return unwrap(Module::parse(text));
}

static void refineModule(Module &module, const std::vector<std::vector<int64_t>> &shapes) {
  std::vector<passes::ArgumentShape> arguments;
  for (const std::vector<int64_t> &sizes : shapes)
    arguments.push_back({sizes});
  nb::gil_scoped_release released;
  unwrap(passes::refineShapes(module, arguments));
}

static void simplifyModule(Module &module, int64_t maxFoldedElements) {
  nb::gil_scoped_release released;
  unwrap(passes::simplify(module, {.maxFoldedElements = maxFoldedElements}));
}

void bindPasses(nb::module_ &module) {
  nb::class_<Module>(module, "Module", "A StableHLO module.")
      .def_static("parse", &parseModule, nb::arg("text"), "Parses and verifies StableHLO text.")
      .def(
          "text", [](const Module &self, bool withLocations) { return self.text(withLocations); },
          nb::arg("with_locations") = false, "The module's text.")
      .def("verify", [](const Module &self) { unwrap(self.verify()); })
      .def("clone", &Module::clone)
      .def("refine_shapes", &refineModule, nb::arg("shapes"),
           "Refines @main's arguments to these shapes and propagates them through the module.")
      .def("simplify", &simplifyModule,
           nb::arg("max_folded_elements") = passes::SimplifyOptions().maxFoldedElements,
           "Folds constants and removes, merges and cancels ops. Results are bit-exact.");
}

} // namespace torchere::bindings
