// Compares a saved program's files with the digests in its manifest.json.
#include "artifact/verification.h"

#include "artifact/directory_contents.h"
#include "artifact/directory_names.h"
#include "base/digest.h"

#include <algorithm>
#include <map>

namespace torchere::artifact {

static constexpr size_t pieceSize = 1 << 20; // bytes read at once

/// Reads rather than maps the file, so that a disk error is an error and not a signal.
static Status compare(const Folder &folder, const FileDigest &expected) {
  std::filesystem::path path = folder.path() / expected.name;
  TORCHERE_ASSIGN(Descriptor file, folder.openFile(expected.name));
  std::vector<std::byte> piece(pieceSize);
  Digest digest;
  int64_t size = 0;
  for (size_t count = pieceSize; count == pieceSize;) {
    TORCHERE_ASSIGN(count, readSome(file, path, piece));
    digest.add(std::span(piece).first(count));
    size += static_cast<int64_t>(count);
  }
  if (size != expected.byteSize)
    return fail(ErrorCode::DataLoss, "wrong size: got {} bytes, expected {}", size, expected.byteSize);
  if (std::string got = hexText(digest.finish()); got != expected.blake2b)
    return fail(ErrorCode::DataLoss, "wrong digest: got {}, expected {}", got, expected.blake2b);
  return {};
}

static FileFinding examine(const Folder &folder, const FileDigest &expected) {
  Status status = compare(folder, expected);
  if (status)
    return {expected.name, FileState::Intact, ""};
  if (status.error().code == ErrorCode::NotFound)
    return {expected.name, FileState::Missing, "is missing"};
  return {expected.name, FileState::Damaged, status.error().message};
}

Result<std::vector<FileFinding>> findDamage(const Folder &folder) {
  tl::unexpected<Error> without =
      fail(ErrorCode::FailedPrecondition,
           "[{}] has no digests to compare with: expected a program that was saved with digests=True",
           folder.path().string());
  if (!folder.has(manifestName))
    return without;
  TORCHERE_ASSIGN(std::string text, folder.read(manifestName, jsonSizeLimit));
  TORCHERE_ASSIGN(Manifest manifest, readManifest(text, (folder.path() / manifestName).string()));
  if (manifest.files.empty())
    return without;
  std::map<std::string, FileFinding> findings;
  for (const FileDigest &file : manifest.files)
    findings[file.name] = examine(folder, file);
  for (const std::string &name : namedFiles(manifest)) // a file that a load would read
    if (!findings.contains(name) && folder.has(name))
      findings[name] = {name, FileState::Damaged, "has no digest in manifest.json"};
  TORCHERE_ASSIGN(std::vector<FolderEntry> entries, folder.listAll());
  for (const FolderEntry &entry : entries)
    if (!entry.isFolder && entry.name != manifestName)
      findings.try_emplace(entry.name, entry.name, FileState::Unlisted, "is no part of the program");
  std::vector<FileFinding> list;
  for (auto &[name, finding] : findings)
    list.push_back(std::move(finding));
  return list;
}

Result<std::vector<FileFinding>> verifyFiles(const std::filesystem::path &path) {
  return readUnreplaced(path, findDamage);
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
