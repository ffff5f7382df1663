// torchere._core's part for src/exporter: lowering a program, and the rows of the op table.
#include "exporter/exporter.h"
#include "bindings/bindings.h"
#include "exporter/missing_ops.h"

#include <nanobind/stl/filesystem.h>
#include <nanobind/stl/map.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/set.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/string_view.h>
#include <nanobind/stl/unordered_map.h>
#include <nanobind/stl/vector.h>

#include <map>

namespace torchere::bindings {

using namespace exporter;

static Exported exportReleased(const program::Program &program, std::string name, int64_t inlineConstantBytes,
                               std::set<std::string> customOpNamespaces, std::set<std::string> composites,
                               std::optional<std::unordered_map<std::string, std::string>> nodeMetadata,
                               bool inlineNumbers, bool shapeAssertions, bool quantizedTypes, bool checks,
                               std::string precision) {
  Options options{.name = std::move(name),
                  .inlineConstantBytes = inlineConstantBytes,
                  .inlineNumbers = inlineNumbers,
                  .shapeAssertions = shapeAssertions,
                  .checks = checks,
                  .precision = std::move(precision),
                  .customOpNamespaces = std::move(customOpNamespaces),
                  .composites = std::move(composites),
                  .quantizedTypes = quantizedTypes,
                  .nodeMetadata = nodeMetadata.has_value(),
                  .torchMetadata = std::move(nodeMetadata).value_or(decltype(nodeMetadata)::value_type())};
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
          "Seconds spent in each step.")
      .def_prop_ro(
          "left_out", [](const Exported &self) { return self.leftOut; },
          "The checks that the function does not make: what, why not, and where.");
  module.def("export_program", &exportReleased, nb::arg("program"), nb::arg("name") = "forward",
             nb::arg("inline_constant_bytes") = Options().inlineConstantBytes,
             nb::arg("custom_op_namespaces") = std::set<std::string>(),
             nb::arg("composites") = std::set<std::string>(), nb::arg("node_metadata") = nb::none(),
             nb::arg("inline_numbers") = true, nb::arg("shape_assertions") = false,
             nb::arg("quantized_types") = false, nb::arg("checks") = false, nb::arg("precision") = "",
             "Lowers a captured program. Raises one error that lists every op without a lowering. With "
             "node_metadata, locations are JSON: it is what torch says of nodes, by metadata_key().");
  module.def("metadata_key", &metadataKey, nb::arg("node"), nb::arg("stack_trace"),
             "The key of a node of torch's in node_metadata; \"\" is any with that stack trace.");
  module.def(
      "missing_ops",
      [](const program::Program &program, const std::set<std::string> &namespaces) {
        std::vector<std::pair<std::string, std::vector<std::string>>> missing;
        for (MissingOp &op : missingOps(program, namespaces))
          missing.emplace_back(std::move(op.name), std::move(op.places));
        return missing;
      },
      nb::arg("program"), nb::arg("custom_op_namespaces") = std::set<std::string>(),
      "(name, places of its uses) of each op without a lowering.");
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
