// .signature.json: a complete program::EntryPoint, written and read.
#pragma once

#include "base/error.h"
#include "program/entry_point.h"

#include <string>
#include <string_view>

namespace torchere::artifact {

/// The newest format that this version writes and reads.
inline constexpr int64_t signatureFormat = 1;

/// The maximum number of leaves of inputs or of outputs; files that claim more are rejected.
inline constexpr int64_t leafLimit = 1 << 20;

/// Fails for a constant that is a reference, and for a tree that is not JSON.
TORCHERE_EXPORT Result<std::string> signatureText(const program::EntryPoint &entryPoint);

/// What of signatureText() flattens a call's arguments and unflattens its results, as JSON in a line.
TORCHERE_EXPORT Result<std::string> callSignatureText(const program::EntryPoint &entryPoint);

/// Reads what signatureText() wrote, and checks it as verifyEntryPoint() does.
TORCHERE_EXPORT Result<program::EntryPoint> readSignature(std::string_view text, std::string_view subject);

/// Checks that positions are in range and unique, that every output has a value and
/// that sizes are not negative. `subject` starts the errors.
Status verifyEntryPoint(const program::EntryPoint &entryPoint, std::string_view subject);

} // namespace torchere::artifact
