// Compares a saved program's files with the digests in its manifest.json. This detects damage, not tampering:
// anyone who can write the files can write the digests as well.
#pragma once

#include "artifact/program_files.h"
#include "base/error.h"

#include <filesystem>
#include <string>
#include <vector>

namespace torchere::artifact {

enum class FileState {
  Intact,
  Damaged,
  Missing,
  Unlisted, ///< not part of the program
};

struct FileFinding {
  std::string name;
  FileState state = FileState::Intact;
  std::string detail; ///< "wrong digest: got X, expected Y"; empty for an intact file
};

/// A finding for every file that manifest.json lists or that is there, sorted by name. Fails if
/// the program was saved without digests.
Result<std::vector<FileFinding>> findDamage(const ProgramFiles &files);

/// The same for the directory or file at `path`.
TORCHERE_EXPORT Result<std::vector<FileFinding>> verifyFiles(const std::filesystem::path &path);

/// The error of the first damaged or missing file, if any.
TORCHERE_EXPORT Status statusOf(const std::vector<FileFinding> &findings, const std::filesystem::path &path);

} // namespace torchere::artifact
