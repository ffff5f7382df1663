// Where `torchere run --output` writes: a file is replaced whole, anything else is written through.
#pragma once

#include "base/error.h"
#include "base/file.h"

#include <filesystem>
#include <functional>

namespace torchere::cli {

/// Has `write` write the contents of `path`. A regular file, or none, is replaced when all is written, so
/// that an old one stays whole when that fails; of a link it is what the link names. A device, a FIFO or a
/// terminal gets the bytes and stays what it is.
Status writeOutput(const std::filesystem::path &path, const std::function<Status(FileWriter &)> &write);

} // namespace torchere::cli
