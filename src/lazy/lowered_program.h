// From a traced program to StableHLO, by the exporter that torch.export's programs take.
#pragma once

#include "artifact/bundle.h"
#include "program/program.h"

#include <memory>

namespace torchere::lazy {

/// A bundle of one function, "forward".
Result<std::shared_ptr<artifact::Bundle>> lowered(const program::Program &program);

} // namespace torchere::lazy
