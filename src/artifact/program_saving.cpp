// save(): a bundle written to its directory or file.
#include "artifact/archive_replacement.h"
#include "artifact/bundle.h"
#include "artifact/directory_names.h"
#include "artifact/directory_replacement.h"
#include "artifact/program_writer.h"
#include "base/file.h"
#include "base/log.h"

#include <system_error>

namespace torchere::artifact {

namespace fs = std::filesystem;

namespace {

/// Errors name the files by their final paths.
class DirectoryTarget : public ProgramTarget {
public:
  explicit DirectoryTarget(const DirectoryReplacement &directory)
      : root(directory.path()), shown(directory.target()) {}

  Status makeFolder(std::string_view name) override {
    std::error_code error;
    fs::create_directories(root / name, error);
    return error ? systemError(shown / name, "cannot be created", error.value()) : Status();
  }

  Status writeFile(const std::string &name, uint64_t, const Fill &fill) override {
    TORCHERE_TRY(makeFolderOf(name));
    TORCHERE_ASSIGN(FileWriter file, FileWriter::create(root / name, {.shown = shown / name}));
    TORCHERE_TRY(fill([&](std::span<const std::byte> bytes) { return file.write(bytes); }));
    return file.close();
  }

  Result<bool> writeAlias(const std::string &name, const std::string &owner) override {
    TORCHERE_TRY(makeFolderOf(name));
    std::error_code error;
    fs::create_hard_link(root / owner, root / name, error);
    if (error)
      TORCHERE_LOG_LINE(Info, "save", "no hard link for {}: {}", name, error.message());
    return !error;
  }

  Status writeManifest(const std::string &text, bool) override {
    TORCHERE_ASSIGN(FileReplacement file,
                    FileReplacement::create(root / manifestName, {.shown = shown / manifestName}));
    TORCHERE_TRY(file.writer().write(text));
    return file.commit();
  }

  bool needsAliases() const override { return true; }

private:
  Status makeFolderOf(const std::string &name) {
    fs::path folder = fs::path(name).parent_path();
    if (folder == lastFolder)
      return {};
    TORCHERE_TRY(makeFolder(folder.native()));
    lastFolder = folder;
    return {};
  }

  const fs::path &root;
  const fs::path &shown;
  fs::path lastFolder; ///< the last one that was made
};

/// One file holds it all. A tied weight has one entry.
class ArchiveTarget : public ProgramTarget {
public:
  explicit ArchiveTarget(ZipWriter &zip) : zip(zip) {}

  Status makeFolder(std::string_view) override { return {}; }
  Status writeFile(const std::string &name, uint64_t size, const Fill &fill) override {
    return zip.add(name, size, fill);
  }
  Result<bool> writeAlias(const std::string &, const std::string &) override { return false; }
  Status writeManifest(const std::string &text, bool isLast) override {
    if (!isLast)
      return {};
    return zip.add(std::string(manifestName), text.size(),
                   [&](const WriteBytes &write) { return write(std::as_bytes(std::span(text))); });
  }
  bool needsAliases() const override { return false; }

private:
  ZipWriter &zip;
};

} // namespace

static Status saveArchive(const Bundle &bundle, const fs::path &target, const SaveOptions &options) {
  TORCHERE_ASSIGN(ArchiveReplacement archive, ArchiveReplacement::create(target, options.overwrite));
  ZipWriter zip(archive.file(), target);
  ArchiveTarget files(zip);
  TORCHERE_TRY(writeProgram(bundle, options, files));
  TORCHERE_TRY(zip.finish());
  return archive.commit();
}

/// A "/" in a weight's name makes a directory, which cannot have the name of another weight's file.
static Status checkWeightNames(const Bundle &bundle) {
  for (const auto &[name, weight] : bundle.stateDict)
    for (size_t end = name.find('/'); end != std::string::npos; end = name.find('/', end + 1))
      if (bundle.stateDict.contains(name.substr(0, end)))
        return invalidArgument(
            "[save] the weights '{}' and '{}' would be a file and a directory of one name: "
            "expected other names, or one file (PATH{})",
            name.substr(0, end), name, archiveExtension);
  return {};
}

Status save(const Bundle &bundle, const fs::path &path, const SaveOptions &options) {
  TORCHERE_TRY(verify(bundle));
  TORCHERE_ASSIGN(fs::path target, resolveTarget(path));
  if (path.extension() == archiveExtension)
    return saveArchive(bundle, target, options);
  if (bundle.hasWeights && options.saveWeights)
    TORCHERE_TRY(checkWeightNames(bundle));
  TORCHERE_ASSIGN(DirectoryReplacement directory, DirectoryReplacement::create(target, options.overwrite));
  DirectoryTarget files(directory);
  TORCHERE_TRY(writeProgram(bundle, options, files));
  return directory.commit();
}

} // namespace torchere::artifact
