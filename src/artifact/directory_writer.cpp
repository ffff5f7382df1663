// save(): a bundle written to its directory.
#include "artifact/bundle.h"
#include "artifact/directory_names.h"
#include "artifact/directory_replacement.h"
#include "artifact/function_module.h"
#include "artifact/manifest.h"
#include "artifact/meta.h"
#include "artifact/signature.h"
#include "artifact/weight_file.h"
#include "base/file.h"
#include "base/log.h"

#include <algorithm>
#include <cerrno>
#include <map>
#include <system_error>
#include <tuple>

namespace torchere::artifact {

namespace fs = std::filesystem;
using program::Weight;

/// The weights sorted by name; a weight that is the same view as an earlier one is the same as that.
static std::vector<WeightEntry> listWeights(const Bundle &bundle) {
  std::map<std::string_view, const Weight *> sorted;
  for (const auto &[name, weight] : bundle.stateDict)
    sorted.emplace(name, &weight);
  using View = std::tuple<const std::byte *, DType, std::vector<int64_t>, std::vector<int64_t>>;
  std::map<View, std::string> owners;
  std::vector<WeightEntry> entries;
  for (const auto &[name, weight] : sorted) {
    WeightEntry entry{std::string(name), weight->dtype, weight->shape, {}};
    if (weight->elementCount() > 0) {
      View view(weight->data(), weight->dtype, weight->shape, weight->strides);
      auto [owner, isFirst] = owners.emplace(std::move(view), entry.name);
      if (!isFirst)
        entry.sameAs = owner->second;
    }
    entries.push_back(std::move(entry));
  }
  return entries;
}

static Manifest makeManifest(const Bundle &bundle, const SaveOptions &options) {
  Manifest manifest;
  for (const Function &function : bundle.functions)
    manifest.functions.push_back(function.entryPoint.name);
  manifest.hasWeights = bundle.hasWeights && options.saveWeights;
  manifest.weights = listWeights(bundle);
  for (const Weight &constant : bundle.constants)
    manifest.constants.push_back({constant.name, constant.dtype, constant.shape, {}});
  return manifest;
}

/// Gives the file of a weight a second name; a copy where the file system has no hard links.
static Status writeAlias(const WeightEntry &entry, const Bundle &bundle, const fs::path &root) {
  std::error_code error;
  fs::create_hard_link(root / weightName(entry.sameAs), root / weightName(entry.name), error);
  if (!error)
    return {};
  TORCHERE_LOG_LINE(Info, "save", "no hard link for {}: {}", entry.name, error.message());
  return writeWeight(bundle.stateDict.at(entry.name), root / weightName(entry.name));
}

static Status writeWeights(const Bundle &bundle, const Manifest &manifest, const fs::path &root) {
  TORCHERE_TRY(makeDirectories(root / weightFolder));
  for (const WeightEntry &entry : manifest.weights) {
    fs::path path = root / weightName(entry.name);
    if (entry.name.find('/') != std::string::npos)
      TORCHERE_TRY(makeDirectories(path.parent_path()));
    TORCHERE_TRY(entry.sameAs.empty() ? writeWeight(bundle.stateDict.at(entry.name), path)
                                      : writeAlias(entry, bundle, root));
  }
  return {};
}

static Status writeNewFile(const fs::path &path, std::string_view contents) {
  TORCHERE_ASSIGN(FileWriter file, FileWriter::create(path));
  TORCHERE_TRY(file.write(contents));
  return file.close();
}

static Status writeDirectory(const Bundle &bundle, const SaveOptions &options, const fs::path &root) {
  TORCHERE_TRY(makeDirectories(root / functionFolder));
  for (const Function &function : bundle.functions) {
    const std::string &name = function.entryPoint.name;
    TORCHERE_ASSIGN(std::string signature, signatureText(function.entryPoint));
    TORCHERE_TRY(writeNewFile(root / metaName(name), metaText(function.entryPoint)));
    TORCHERE_TRY(writeNewFile(root / signatureName(name), signature));
    TORCHERE_ASSIGN(std::string bytecode, moduleBytecode(function, options.target));
    TORCHERE_TRY(writeNewFile(root / bytecodeName(name), bytecode));
    if (options.includeText) {
      TORCHERE_ASSIGN(std::string text, moduleText(function));
      TORCHERE_TRY(writeNewFile(root / textName(name), text));
    }
  }
  TORCHERE_TRY(makeDirectories(root / constantFolder));
  for (size_t index = 0; index < bundle.constants.size(); ++index)
    TORCHERE_TRY(writeWeight(bundle.constants[index], root / constantName(index)));
  Manifest manifest = makeManifest(bundle, options);
  if (manifest.hasWeights)
    TORCHERE_TRY(writeWeights(bundle, manifest, root));
  return writeNewFile(root / manifestName, manifestText(manifest));
}

Status save(const Bundle &bundle, const fs::path &path, const SaveOptions &options) {
  TORCHERE_TRY(verify(bundle));
  TORCHERE_ASSIGN(fs::path target, resolveTarget(path));
  TORCHERE_TRY(checkTarget(target, options.overwrite));
  TORCHERE_TRY(makeDirectories(target.parent_path()));
  fs::path temporary = temporarySibling(target);
  std::error_code error;
  if (!fs::create_directory(temporary, error))
    return systemError(temporary, "cannot be created", error ? error.value() : EEXIST);
  Status status = writeDirectory(bundle, options, temporary);
  if (status)
    status = replaceDirectory(temporary, target, options.overwrite);
  if (!status)
    fs::remove_all(temporary, error);
  return status;
}

} // namespace torchere::artifact
