// torchere._core's part for src/exporter: lowering a program, and the rows of the op table.
#include "exporter/exporter.h"
#include "bindings/bindings.h"

#include <nanobind/stl/filesystem.h>
#include <nanobind/stl/map.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/set.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <map>

namespace torchere::bindings {

using namespace exporter;

static Exported exportReleased(const program::Program &program, std::string name, int64_t inlineConstantBytes,
                               std::set<std::string> customOpNamespaces, std::set<std::string> composites,
                               bool nodeMetadata) {
  Options options{std::move(name), inlineConstantBytes, std::move(customOpNamespaces), std::move(composites),
                  nodeMetadata};
  nb::gil_scoped_release released;
  return unwrap(exportProgram(program, options));
}

static std::vector<std::pair<std::string, std::string>> operators() {
  std::vector<std::pair<std::string, std::string>> rows;
  for (const Operator &row : listOperators())
    rows.emplace_back(row.name, row.schema);
  return rows;
}

static std::map<std::string, std::string> operatorFamilies() {
  std::map<std::string, std::string> families;
  for (const Operator &row : listOperators())
    families.emplace(row.name, row.family);
  return families;
}

void bindExporter(nb::module_ &module) {
  nb::class_<Exported>(module, "Exported", "A lowered program: its module, entry point and weights.")
      .def(
          "text",
          [](const Exported &self, bool withLocations) {
            nb::gil_scoped_release released;
            return self.module->read(
                [&](const stablehlo::Module &module) { return module.text(withLocations); });
          },
          nb::arg("with_locations") = false, "The StableHLO module's text.")
      .def_prop_ro(
          "timings",
          [](const Exported &self) {
            return std::map<std::string, double>{{"lower", self.timings.lower},
                                                 {"verify", self.timings.verify}};
          },
          "Seconds spent in each step.");
  module.def("export_program", &exportReleased, nb::arg("program"), nb::arg("name") = "forward",
             nb::arg("inline_constant_bytes") = Options().inlineConstantBytes,
             nb::arg("custom_op_namespaces") = std::set<std::string>(),
             nb::arg("composites") = std::set<std::string>(), nb::arg("node_metadata") = false,
             "Lowers a captured program. Raises one error that lists every op without a lowering.");
  module.def("operators", &operators, "(name, schema) of every op that has a lowering, sorted by name.");
  module.def("own_ops", &ownOps, "Ops of Torchère's own that the exporter lowers without a row.");
  module.def(
      "load_lowerings",
      [](const std::filesystem::path &library) {
        nb::gil_scoped_release released;
        return unwrap(loadLowerings(library));
      },
      nb::arg("library"), "Loads a library of lowerings; gives the names of its ops.");
  module.def("loaded_lowerings", &loadedLowerings,
             "The schemas of the ops that loaded libraries lower, by the ops' names.");
  module.def("operator_families", &operatorFamilies,
             "By the names of ops that have a lowering, its file in src/lowering/ops, without \".cpp\".");
}

} // namespace torchere::bindings
