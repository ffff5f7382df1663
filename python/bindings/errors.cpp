// Errors of the core as Python exceptions: the classes are those of torchere.errors.
#include "bindings/bindings.h"

#include <nanobind/stl/string.h>

namespace torchere::bindings {

/// A message may quote bytes of a file; invalid UTF-8 is written as "\\xff".
static nb::object toText(const std::string &text) {
  PyObject *decoded =
      PyUnicode_DecodeUTF8(text.data(), static_cast<Py_ssize_t>(text.size()), "backslashreplace");
  if (!decoded)
    nb::raise_python_error();
  return nb::steal(decoded);
}

static void raise(const Error &error) {
  nb::object make = nb::module_::import_("torchere.errors").attr("from_core");
  nb::object exception = make(errorCodeName(error.code), toText(error.message), toText(error.where));
  PyErr_SetObject(reinterpret_cast<PyObject *>(Py_TYPE(exception.ptr())), exception.ptr());
}

void bindErrors(nb::module_ &) {
  nb::register_exception_translator([](const std::exception_ptr &pointer, void *) {
    try {
      std::rethrow_exception(pointer);
    } catch (const ErrorException &exception) {
      raise(exception.error);
    } catch (const nb::cast_error &) { // a std::bad_cast, whose text says nothing
      raise({ErrorCode::InvalidArgument,
             "[conversion] a Python value that the core cannot hold, such as an integer of more than 64 bits "
             "or "
             "a string that is not UTF-8",
             {}});
    }
  });
}

std::shared_ptr<const void> keepAlive(nb::object object) {
  return {object.release().ptr(), [](PyObject *kept) {
            if (!nb::is_alive())
              return; // the interpreter has ended
            nb::gil_scoped_acquire gil;
            Py_DECREF(kept);
          }};
}

} // namespace torchere::bindings
