// Compares a saved program's files with the digests in its manifest.json.
#include "artifact/verification.h"

#include "artifact/directory_contents.h"
#include "artifact/directory_names.h"
#include "base/folder.h"

#include <algorithm>
#include <map>
#include <system_error>

namespace torchere::artifact {

static Status compare(const ProgramFiles &files, const FileDigest &expected) {
  TORCHERE_ASSIGN(FileDigest found, files.digest(expected.name));
  if (found.byteSize != expected.byteSize)
    return fail(ErrorCode::DataLoss, "wrong size: got {} bytes, expected {}", found.byteSize,
                expected.byteSize);
  if (found.blake2b != expected.blake2b)
    return fail(ErrorCode::DataLoss, "wrong digest: got {}, expected {}", found.blake2b, expected.blake2b);
  return {};
}

static FileFinding examine(const ProgramFiles &files, const FileDigest &expected) {
  Status status = compare(files, expected);
  if (status)
    return {expected.name, FileState::Intact, ""};
  if (status.error().code == ErrorCode::NotFound)
    return {expected.name, FileState::Missing, "is missing"};
  return {expected.name, FileState::Damaged, status.error().message};
}

Result<std::vector<FileFinding>> findDamage(const ProgramFiles &files) {
  tl::unexpected<Error> without =
      fail(ErrorCode::FailedPrecondition,
           "[{}] has no digests to compare with: expected a program that was saved with digests=True",
           files.path().string());
  if (!files.has(manifestName))
    return without;
  TORCHERE_ASSIGN(std::string text, files.read(manifestName, jsonSizeLimit));
  TORCHERE_ASSIGN(Manifest manifest, readManifest(text, (files.path() / manifestName).string()));
  if (manifest.files.empty())
    return without;
  std::map<std::string, FileFinding> findings;
  for (const FileDigest &file : manifest.files)
    findings[file.name] = examine(files, file);
  for (const std::string &name : namedFiles(manifest)) // a file that a load would read
    if (!findings.contains(name) && files.has(name))
      findings[name] = {name, FileState::Damaged, "has no digest in manifest.json"};
  TORCHERE_ASSIGN(std::vector<FolderEntry> entries, files.listAll());
  for (const FolderEntry &entry : entries)
    if (!entry.isFolder && entry.name != manifestName)
      findings.try_emplace(entry.name, entry.name, FileState::Unlisted, "is no part of the program");
  std::vector<FileFinding> list;
  for (auto &[name, finding] : findings)
    list.push_back(std::move(finding));
  return list;
}

Result<std::vector<FileFinding>> verifyFiles(const std::filesystem::path &path) {
  std::error_code error;
  if (std::filesystem::is_regular_file(path, error)) {
    TORCHERE_ASSIGN(ZipFiles files, ZipFiles::open(path));
    return findDamage(files);
  }
  return readUnreplaced(path, [](const Folder &folder) { return findDamage(FolderFiles(folder)); });
}

Status statusOf(const std::vector<FileFinding> &findings, const std::filesystem::path &path) {
  const FileFinding *first = nullptr;
  size_t count = 0;
  for (const FileFinding &finding : findings) {
    if (finding.state == FileState::Intact || finding.state == FileState::Unlisted)
      continue;
    first = first ? first : &finding;
    ++count;
  }
  if (!first)
    return {};
  std::string more = count > 1 ? fmt::format(" (and {} more)", count - 1) : "";
  return fail(ErrorCode::DataLoss, "[{}] {}{}", (path / first->name).string(), first->detail, more);
}

} // namespace torchere::artifact
