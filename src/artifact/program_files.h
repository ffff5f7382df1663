// ProgramFiles: the files of a saved program, in a directory or in one zip file.
#pragma once

#include "artifact/manifest.h"
#include "artifact/zip_index.h"
#include "base/error.h"
#include "base/file.h"
#include "base/folder.h"

#include <cstddef>
#include <filesystem>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace torchere::artifact {

/// A file in memory, which the owner keeps mapped.
struct FileBytes {
  std::shared_ptr<const void> owner;
  std::span<const std::byte> bytes;
};

/// Names are those that checkRelativeName() allows.
class ProgramFiles {
public:
  virtual ~ProgramFiles() = default;

  /// As errors name it.
  virtual const std::filesystem::path &path() const = 0;
  /// Whether there is such a file or folder.
  virtual bool has(std::string_view name) const = 0;
  /// Fails, before it allocates, when the file has more than `limit` bytes.
  virtual Result<std::string> read(std::string_view name, size_t limit) const = 0;
  virtual Result<FileBytes> map(std::string_view name) const = 0;
  /// The size and the digest of the file. It is read, not mapped, so that a disk error is an error and no
  /// signal.
  virtual Result<FileDigest> digest(std::string_view name) const = 0;
  /// The entries of a folder, sorted.
  virtual Result<std::vector<FolderEntry>> list(std::string_view name) const = 0;
  /// The entries of a folder (empty: all there is) and of its subfolders; folders may be missing.
  virtual Result<std::vector<FolderEntry>> listAll(std::string_view name = {}) const = 0;
};

/// The files of an open folder, which must outlive this.
class FolderFiles : public ProgramFiles {
public:
  explicit FolderFiles(const Folder &folder) : folder(folder) {}
  const std::filesystem::path &path() const override { return folder.path(); }
  bool has(std::string_view name) const override { return folder.has(name); }
  Result<std::string> read(std::string_view name, size_t limit) const override {
    return folder.read(name, limit);
  }
  Result<FileBytes> map(std::string_view name) const override;
  Result<FileDigest> digest(std::string_view name) const override;
  Result<std::vector<FolderEntry>> list(std::string_view name) const override { return folder.list(name); }
  Result<std::vector<FolderEntry>> listAll(std::string_view name) const override {
    return folder.listAll(name);
  }

private:
  const Folder &folder;
};

/// The entries of an uncompressed zip file, which stays the same if another takes its name. It is mapped as a
/// whole, so its entries are read in place.
class ZipFiles : public ProgramFiles {
public:
  static Result<ZipFiles> open(const std::filesystem::path &path);
  const std::filesystem::path &path() const override { return shown; }
  bool has(std::string_view name) const override;
  Result<std::string> read(std::string_view name, size_t limit) const override;
  Result<FileBytes> map(std::string_view name) const override;
  Result<FileDigest> digest(std::string_view name) const override;
  Result<std::vector<FolderEntry>> list(std::string_view name) const override;
  Result<std::vector<FolderEntry>> listAll(std::string_view name) const override;

private:
  ZipFiles(std::filesystem::path shown, Descriptor file, std::shared_ptr<const MappedFile> mapped,
           std::vector<ZipEntry> entries)
      : shown(std::move(shown)), file(std::move(file)), mapped(std::move(mapped)),
        entries(std::move(entries)) {}
  Result<const ZipEntry *> find(std::string_view name) const;
  std::filesystem::path shown;
  Descriptor file;
  std::shared_ptr<const MappedFile> mapped;
  std::vector<ZipEntry> entries; ///< sorted by name
};

} // namespace torchere::artifact
