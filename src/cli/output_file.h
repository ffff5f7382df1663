// Where `torchere run --output` writes: a file is replaced atomically, anything else is written through.
#pragma once

#include "base/error.h"
#include "base/file.h"

#include <filesystem>
#include <functional>

namespace torchere::cli {

/// Calls `write` to write the contents of `path`. A regular or missing file is replaced atomically, so
/// that an old one survives a failure; a link's target is replaced, not the link. A device, a FIFO or a
/// terminal is written to.
Status writeOutput(const std::filesystem::path &path, const std::function<Status(FileWriter &)> &write);

} // namespace torchere::cli
