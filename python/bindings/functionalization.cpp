// torchere._core's part for src/functionalization: programs without writes.
#include "functionalization/functionalization.h"
#include "bindings/bindings.h"

#include <nanobind/stl/optional.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/string_view.h>

namespace torchere::bindings {

using namespace functionalization;

static std::string nameOf(FormKind kind) {
  switch (kind) {
  case FormKind::Kept:
    return "kept";
  case FormKind::Functional:
    return "functional";
  case FormKind::Rewritten:
    return "rewritten";
  case FormKind::RemovedInEval:
    return "removed_in_eval";
  case FormKind::Refused:
    return "refused";
  }
  return "";
}

static void functionalizeReleased(program::Program &program) {
  nb::gil_scoped_release released;
  unwrap(functionalize(program));
}

static std::pair<std::string, std::string> formOf(std::string_view op, std::string_view schema) {
  FunctionalForm form = functionalForm(op, unwrap(schema::Schema::parse(schema)));
  return {nameOf(form.kind), form.op};
}

static std::optional<size_t> viewedBy(std::string_view schema) {
  return viewedArgument(unwrap(schema::Schema::parse(schema)));
}

void bindFunctionalization(nb::module_ &module) {
  module.def("functionalize", &functionalizeReleased, nb::arg("program"),
             "Takes the writes out of a captured program, in place: what is written in inputs becomes "
             "outputs.");
  module.def(
      "functional_form", &formOf, nb::arg("op"), nb::arg("schema"),
      "(kind, op): what functionalize() makes of calls of an op. `kind` is \"kept\", \"functional\", "
      "\"rewritten\", \"removed_in_eval\" or \"refused\"; `op` is the functional op, where there is one.");
  module.def(
      "viewed_argument", &viewedBy, nb::arg("schema"),
      "The position of the argument whose memory the results of an op share, of ops that are \"kept\".");
}

} // namespace torchere::bindings
