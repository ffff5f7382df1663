// Constants of a call (leaves that are not tensors: None, numbers, strings, dtypes, ...) as Python objects.
#pragma once

#include "bindings/tensor_exchange.h"
#include "program/program.h"

namespace torchere::bindings {

/// Torch's own constants are their names where torch is not installed.
nb::object toPython(const program::Constant &argument);
/// InvalidArgumentError for an object that no program takes.
program::Constant readConstant(nb::handle value, const Subject &subject);

} // namespace torchere::bindings
