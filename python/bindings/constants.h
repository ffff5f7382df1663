// Constants of a call (leaves that are not tensors: None, numbers, strings, dtypes, ...) as Python objects.
#pragma once

#include "bindings/tensor_exchange.h"
#include "program/program.h"

#include <optional>
#include <string>

namespace torchere::bindings {

/// Torch's own constants are their names where torch is not installed.
nb::object toPython(const program::Constant &argument);
/// A member of an enum.Enum as the constant that stands for it: "Mode.MEAN", the names of its class and its
/// own. None for another object, and for members that are ints or strings.
std::optional<std::string> enumText(nb::handle value);
/// InvalidArgumentError for an object that no program takes.
program::Constant readConstant(nb::handle value, const Subject &subject);

} // namespace torchere::bindings
