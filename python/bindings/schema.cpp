// torchere._core's part for src/schema: schemas as data.
#include "schema/schema.h"
#include "bindings/bindings.h"

#include <nanobind/stl/string.h>
#include <nanobind/stl/string_view.h>
#include <nanobind/stl/vector.h>

namespace torchere::bindings {

using namespace schema;

void bindSchema(nb::module_ &module) {
  nb::class_<AliasSet>(module, "AliasSet", "The alias annotation of a type: (a!), (a -> *).")
      .def_ro("before", &AliasSet::before)
      .def_ro("after", &AliasSet::after)
      .def_ro("is_write", &AliasSet::isWrite);
  nb::class_<Argument>(module, "SchemaArgument", "An argument or a result of an op.")
      .def_ro("name", &Argument::name)
      .def_prop_ro("type", [](const Argument &self) { return self.type.text(); })
      .def_prop_ro(
          "alias",
          [](const Argument &self) -> nb::object {
            const std::optional<AliasSet> &alias = self.type.required().alias;
            return alias ? nb::cast(*alias) : nb::none();
          },
          nb::sig("def alias(self) -> AliasSet | None"), "The value's own; None where there is none.")
      .def_prop_ro("is_written", [](const Argument &self) { return self.type.isWritten(); })
      .def_prop_ro("is_keyword_only", [](const Argument &self) { return self.isKeywordOnly; })
      .def_prop_ro(
          "default_text",
          [](const Argument &self) -> nb::object {
            return self.defaultValue ? nb::cast(self.defaultValue->text()) : nb::none();
          },
          nb::sig("def default_text(self) -> str | None"), "None where a call must give the argument.");
  nb::class_<Schema>(module, "Schema", "An op's signature, read from ATen's schema language.")
      .def(
          "__init__",
          [](Schema *self, std::string_view text) { new (self) Schema(unwrap(Schema::parse(text))); },
          nb::arg("text"))
      .def("__str__", &Schema::text, "As str() of torch's FunctionSchema.")
      .def_ro("name", &Schema::name)
      .def_ro("arguments", &Schema::arguments)
      .def_ro("results", &Schema::results);
}

} // namespace torchere::bindings
