// Where `torchere run --output` writes: a file is replaced atomically, anything else is written through.
#include "cli/output_file.h"

#include <cerrno>
#include <system_error>

namespace torchere::cli {

namespace fs = std::filesystem;

/// The final target of the path, with links followed, whether or not there is such a file.
static Result<fs::path> followLinks(const fs::path &path) {
  static constexpr int limit = 40; // as the kernel's
  fs::path file = path;
  std::error_code error;
  for (int count = 0; fs::is_symlink(file, error); ++count) {
    if (count == limit)
      return systemError(path, "cannot be created", ELOOP);
    fs::path named = fs::read_symlink(file, error);
    if (error)
      return systemError(path, "cannot be created", error.value());
    file = file.parent_path() / named; // an absolute one replaces the folder
  }
  return file;
}

Status writeOutput(const fs::path &path, const std::function<Status(FileWriter &)> &write) {
  std::error_code error;
  fs::file_status status = fs::status(path, error);
  if (fs::is_directory(status))
    return invalidArgument("[{}] is a directory, expected a file", path.string());
  if (fs::exists(status) && !fs::is_regular_file(status)) {
    TORCHERE_ASSIGN(FileWriter file, FileWriter::openExisting(path));
    TORCHERE_TRY(write(file));
    return file.close();
  }
  TORCHERE_ASSIGN(fs::path named, followLinks(path));
  TORCHERE_ASSIGN(FileReplacement file, FileReplacement::create(named, {.shown = path}));
  TORCHERE_TRY(write(file.writer()));
  return file.commit();
}

} // namespace torchere::cli
