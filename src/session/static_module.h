// A function's module for the sizes of one call, for compilers other than a PJRT plugin's.
#pragma once

#include "artifact/bundle.h"
#include "runtime/buffer.h"
#include "session/tensor_view.h"
#include "traits/plugin_traits.h"
#include "vhlo/version.h"

#include <span>
#include <string>
#include <vector>

namespace torchere::session {

struct StaticModule {
  std::string bytecode; ///< a portable artifact; its arguments and results are those of the entry point
  std::vector<runtime::ArrayType> results;
};

/// The module, prepared for a compiler with these traits, and refined to the sizes of the inputs, of which
/// only types, ints and constants are read. Errors are those of a call.
TORCHERE_EXPORT Result<StaticModule> staticModule(const artifact::Function &function,
                                                  std::span<const Input> inputs, const vhlo::Version &target,
                                                  const PluginTraits &traits);

} // namespace torchere::session
