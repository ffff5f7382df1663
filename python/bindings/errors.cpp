// Errors of the core as Python exceptions: the classes are those of torchere.errors.
#include "bindings/bindings.h"

#include <nanobind/stl/string.h>

namespace torchere::bindings {

static void raise(const Error &error) {
  nb::object make = nb::module_::import_("torchere.errors").attr("from_core");
  nb::object exception = make(errorCodeName(error.code), error.message, error.where);
  PyErr_SetObject(reinterpret_cast<PyObject *>(Py_TYPE(exception.ptr())), exception.ptr());
}

void bindErrors(nb::module_ &) {
  nb::register_exception_translator([](const std::exception_ptr &pointer, void *) {
    try {
      std::rethrow_exception(pointer);
    } catch (const ErrorException &exception) {
      raise(exception.error);
    }
  });
}

} // namespace torchere::bindings
