// Which files of a directory belong to the saved program in it, according to its own index.
#include "artifact/directory_contents.h"

#include "artifact/directory_names.h"
#include "artifact/meta.h"
#include "base/npy.h"

#include <algorithm>
#include <array>
#include <cerrno>
#include <set>
#include <unistd.h>

namespace torchere::artifact {

static constexpr std::array<std::string_view, 3> ownFolders = {constantFolder, weightFolder, functionFolder};

static void addFunctionFiles(std::set<std::string> &names, std::string_view function) {
  for (std::string name :
       {metaName(function), signatureName(function), bytecodeName(function), textName(function)})
    names.insert(std::move(name));
}

std::vector<std::string> namedFiles(const Manifest &manifest) {
  std::set<std::string> names;
  for (const std::string &function : manifest.functions)
    addFunctionFiles(names, function);
  if (manifest.hasWeights)
    for (const WeightEntry &weight : manifest.weights)
      if (weight.hasData)
        names.insert(weightName(weight.name));
  for (size_t index = 0; index < manifest.constants.size(); ++index)
    if (manifest.constants[index].hasData)
      names.insert(constantName(index));
  return {names.begin(), names.end()};
}

static bool isBelow(std::string_view name, std::string_view folder) {
  return name.size() > folder.size() && name.starts_with(folder) && name[folder.size()] == '/';
}

/// functions/NAME.meta
static bool isMetaName(std::string_view name) {
  return isBelow(name, functionFolder) && name.rfind('/') == functionFolder.size() && name.ends_with(".meta");
}

static bool isArray(const Folder &folder, const FolderEntry &entry) {
  if (entry.isFolder || !(isBelow(entry.name, weightFolder) || isBelow(entry.name, constantFolder)))
    return false;
  auto file = folder.map(entry.name);
  return file && parseNpyHeader((*file)->bytes(), entry.name).has_value();
}

/// The files of a directory without manifest.json; none when it has no .meta either.
static Result<std::set<std::string>> filesOfMetas(const Folder &folder,
                                                  const std::vector<FolderEntry> &entries) {
  std::set<std::string> names;
  for (const FolderEntry &entry : entries) {
    if (entry.isFolder || !isMetaName(entry.name))
      continue;
    TORCHERE_ASSIGN(std::string text, folder.read(entry.name, jsonSizeLimit));
    TORCHERE_ASSIGN(program::EntryPoint function,
                    readMeta(text, (folder.path() / entry.name).string(), /*withTrees=*/false));
    if (metaName(function.name) == entry.name)
      addFunctionFiles(names, function.name);
  }
  if (names.empty())
    return names;
  for (const FolderEntry &entry : entries)
    if (isArray(folder, entry))
      names.insert(entry.name);
  return names;
}

/// The entries of the directory, and of the subfolders that a program has.
static Result<std::vector<FolderEntry>> listProgram(const Folder &folder) {
  TORCHERE_ASSIGN(std::vector<FolderEntry> entries, folder.list());
  for (std::string_view name : ownFolders) {
    bool isThere = std::any_of(entries.begin(), entries.end(), [&](const FolderEntry &entry) {
      return entry.isFolder && entry.name == name;
    });
    if (!isThere)
      continue;
    TORCHERE_ASSIGN(std::vector<FolderEntry> below, folder.listAll(name));
    entries.insert(entries.end(), below.begin(), below.end());
  }
  return entries;
}

/// Higher ranks are removed later: 1 for the .meta files and their folder, 2 for manifest.json. Inner folders
/// come before outer ones.
static std::tuple<int, bool, size_t> removalRank(const FolderEntry &entry) {
  bool isMeta = entry.name == functionFolder || isMetaName(entry.name);
  int index = entry.name == manifestName ? 2 : isMeta ? 1 : 0;
  return {index, entry.isFolder, entry.isFolder ? SIZE_MAX - entry.name.size() : 0};
}

Result<DirectoryContents> examineContents(const Folder &folder) {
  TORCHERE_ASSIGN(std::vector<FolderEntry> entries, listProgram(folder));
  std::set<std::string> files;
  if (folder.has(manifestName)) {
    TORCHERE_ASSIGN(std::string text, folder.read(manifestName, jsonSizeLimit));
    TORCHERE_ASSIGN(Manifest manifest, readManifest(text, (folder.path() / manifestName).string()));
    std::vector<std::string> names = namedFiles(manifest);
    files.insert(names.begin(), names.end());
    files.emplace(manifestName);
  } else {
    TORCHERE_ASSIGN(files, filesOfMetas(folder, entries));
  }
  std::set<std::string> folders;
  if (!files.empty())
    folders.insert(ownFolders.begin(), ownFolders.end());
  for (const std::string &file : files)
    for (size_t slash = file.find('/'); slash != std::string::npos; slash = file.find('/', slash + 1))
      folders.insert(file.substr(0, slash));
  DirectoryContents contents;
  for (FolderEntry &entry : entries) {
    bool isOwn = (entry.isFolder ? folders : files).contains(entry.name);
    (isOwn ? contents.own : contents.foreign).push_back(std::move(entry));
  }
  std::stable_sort(contents.own.begin(), contents.own.end(),
                   [](const FolderEntry &left, const FolderEntry &right) {
                     return removalRank(left) < removalRank(right);
                   });
  std::sort(contents.foreign.begin(), contents.foreign.end(),
            [](const FolderEntry &left, const FolderEntry &right) { return left.name < right.name; });
  return contents;
}

Status removeProgram(const Folder &folder, const DirectoryContents &contents,
                     const std::filesystem::path &path) {
  for (const FolderEntry &entry : contents.own) {
    Status status = folder.remove(entry);
    if (!status && status.error().code != ErrorCode::AlreadyExists) // a folder that holds other files stays
      return status;
  }
  if (::rmdir(path.c_str()) != 0 && errno != ENOENT)
    return systemError(folder.path(), "cannot be removed", errno);
  return {};
}

} // namespace torchere::artifact
