// The common part of torchere._core's .cpp files: their entry functions, and the conversion of errors to
// exceptions.
#pragma once

#include "base/error.h"

#include <nanobind/nanobind.h>

#include <memory>
#include <utility>

namespace torchere::bindings {

namespace nb = nanobind;

// One per bound folder; core.cpp calls them in the order of the layers.
void bindErrors(nb::module_ &module);
void bindPasses(nb::module_ &module);
void bindInterpreter(nb::module_ &module);
void bindSchema(nb::module_ &module);
void bindProgram(nb::module_ &module);
void bindFunctionalization(nb::module_ &module);
void bindExporter(nb::module_ &module);
void bindArtifact(nb::module_ &module);
void bindSavedModel(nb::module_ &module);
void bindRuntime(nb::module_ &module);
void bindSession(nb::module_ &module);

/// Carries an Error to Python, where it becomes the exception for its code in torchere.errors.
struct ErrorException {
  Error error;
};

/// The value, or the error as a Python exception.
template <class T> T unwrap(Result<T> result) {
  if (!result)
    throw ErrorException{std::move(result).error()};
  if constexpr (!std::is_void_v<T>)
    return *std::move(result);
}

/// Keeps a Python object alive from C++. The last owner may be on any thread, so the GIL is taken to release
/// it.
std::shared_ptr<const void> keepAlive(nb::object object);

} // namespace torchere::bindings
