// The files of a bundle, written one after the other to whatever holds them.
#pragma once

#include "artifact/bundle.h"
#include "artifact/manifest.h"
#include "artifact/zip_writer.h"

#include <cstdint>
#include <functional>
#include <string>

namespace torchere::artifact {

/// Where the files go. Names are relative, with "/" between folders.
class ProgramTarget {
public:
  using Fill = std::function<Status(const WriteBytes &)>;

  virtual ~ProgramTarget() = default;
  /// A folder that a reader expects, even if it stays empty.
  virtual Status makeFolder(std::string_view name) = 0;
  /// A new file of that size, which `fill` writes.
  virtual Status writeFile(const std::string &name, uint64_t size, const Fill &fill) = 0;
  /// Another name of a file; false where a file can have only one.
  virtual Result<bool> writeAlias(const std::string &name, const std::string &owner) = 0;
  /// manifest.json, which is written twice if it is to hold the digests of all other files.
  virtual Status writeManifest(const std::string &text, bool isLast) = 0;
  /// Whether readers find a file by any of a tied weight's names.
  virtual bool needsAliases() const = 0;
};

/// Writes all files of the bundle. manifest.json comes first: from then on, files left by a killed process
/// can be recognized as a program's.
Status writeProgram(const Bundle &bundle, const SaveOptions &options, ProgramTarget &target);

} // namespace torchere::artifact
