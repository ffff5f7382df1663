// A program's main graph as Python values, and parts of it as programs: to run nodes one by one.
#pragma once

#include "bindings/bindings.h"
#include "program/program.h"

namespace torchere::bindings {

void bindProgramNodes(nb::module_ &module, nb::class_<program::Program> &program);

} // namespace torchere::bindings
