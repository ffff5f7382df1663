// What the .cpp files of torchere._core share: their entry functions and how errors become exceptions.
#pragma once

#include "base/error.h"

#include <nanobind/nanobind.h>

#include <utility>

namespace torchere::bindings {

namespace nb = nanobind;

// One for each folder bound; core.cpp calls them, in the order of the layers.
void bindErrors(nb::module_ &module);
void bindPasses(nb::module_ &module);
void bindInterpreter(nb::module_ &module);
void bindSchema(nb::module_ &module);
void bindProgram(nb::module_ &module);
void bindFunctionalization(nb::module_ &module);
void bindExporter(nb::module_ &module);
void bindArtifact(nb::module_ &module);
void bindRuntime(nb::module_ &module);
void bindSession(nb::module_ &module);

/// Carries an Error to Python, where it becomes the exception of its code in torchere.errors.
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

} // namespace torchere::bindings
