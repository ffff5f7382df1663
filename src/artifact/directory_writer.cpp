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
#include "program/weight_memory.h"

#include <algorithm>
#include <map>
#include <system_error>
#include <tuple>

namespace torchere::artifact {

namespace fs = std::filesystem;
using program::Weight;

/// The weights sorted by name; a weight that is the same view as an earlier one refers to that one.
static std::vector<WeightEntry> listWeights(const Bundle &bundle) {
  std::map<std::string_view, const Weight *> sorted;
  for (const auto &[name, weight] : bundle.stateDict)
    sorted.emplace(name, &weight);
  std::map<program::View, std::string> owners;
  std::vector<WeightEntry> entries;
  for (const auto &[name, weight] : sorted) {
    WeightEntry entry{std::string(name), weight->dtype, weight->shape, {}, hasData(*weight)};
    if (weight->elementCount() > 0) {
      auto [owner, isFirst] = owners.emplace(viewOf(*weight), entry.name);
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
    manifest.constants.push_back({constant.name, constant.dtype, constant.shape, {}, hasData(constant)});
  return manifest;
}

namespace {

/// Writes the files of a bundle, manifest.json first: from then on, files left by a killed process can be
/// recognized as a program's. Errors name the files by their final paths.
class DirectoryWriter {
public:
  DirectoryWriter(const Bundle &bundle, const SaveOptions &options, const DirectoryReplacement &directory)
      : bundle(bundle), options(options), root(directory.path()), shown(directory.target()),
        manifest(makeManifest(bundle, options)) {}

  Status write() {
    TORCHERE_TRY(writeManifest());
    TORCHERE_TRY(writeFunctions());
    TORCHERE_TRY(makeFolder(constantFolder));
    for (size_t index = 0; index < bundle.constants.size(); ++index)
      if (hasData(bundle.constants[index]))
        TORCHERE_TRY(writeArray(constantName(index), bundle.constants[index]));
    if (manifest.hasWeights)
      TORCHERE_TRY(writeWeights());
    return options.withDigests ? writeManifest() : Status();
  }

private:
  Status makeFolder(const fs::path &name) {
    std::error_code error;
    fs::create_directories(root / name, error);
    return error ? systemError(shown / name, "cannot be created", error.value()) : Status();
  }

  /// Creates a file and lets `fill(writer)` write its contents.
  template <class Fill> Status writeNewFile(const std::string &name, Fill fill) {
    TORCHERE_ASSIGN(FileWriter file, FileWriter::create(root / name, {.shown = shown / name,
                                                                      .withDigest = options.withDigests}));
    TORCHERE_TRY(fill(file));
    TORCHERE_TRY(file.close());
    if (options.withDigests)
      digests[name] = {name, static_cast<int64_t>(file.size()), hexText(file.takeDigest())};
    return {};
  }
  Status writeText(const std::string &name, std::string_view text) {
    return writeNewFile(name, [&](FileWriter &file) { return file.write(text); });
  }
  Status writeArray(const std::string &name, const Weight &weight) {
    return writeNewFile(name, [&](FileWriter &file) { return writeWeight(weight, file); });
  }

  /// Replaces the first manifest, which has no digests, once they are known.
  Status writeManifest() {
    for (const auto &[name, digest] : digests)
      manifest.files.push_back(digest);
    TORCHERE_ASSIGN(FileReplacement file,
                    FileReplacement::create(root / manifestName, {.shown = shown / manifestName}));
    TORCHERE_TRY(file.writer().write(manifestText(manifest)));
    return file.commit();
  }

  Status writeFunctions() {
    TORCHERE_TRY(makeFolder(functionFolder));
    for (const Function &function : bundle.functions) {
      const std::string &name = function.entryPoint.name;
      TORCHERE_ASSIGN(std::string signature, signatureText(function.entryPoint));
      TORCHERE_TRY(writeText(metaName(name), metaText(function.entryPoint)));
      TORCHERE_TRY(writeText(signatureName(name), signature));
      TORCHERE_ASSIGN(std::string bytecode, moduleBytecode(function, options.target));
      TORCHERE_TRY(writeText(bytecodeName(name), bytecode));
      if (options.includeText) {
        TORCHERE_ASSIGN(std::string text, moduleText(function));
        TORCHERE_TRY(writeText(textName(name), text));
      }
    }
    return {};
  }

  Status writeWeights() {
    TORCHERE_TRY(makeFolder(weightFolder));
    for (const WeightEntry &entry : manifest.weights) {
      if (!entry.hasData)
        continue;
      std::string name = weightName(entry.name);
      if (entry.name.find('/') != std::string::npos)
        TORCHERE_TRY(makeFolder(fs::path(name).parent_path()));
      TORCHERE_TRY(entry.sameAs.empty() ? writeArray(name, bundle.stateDict.at(entry.name))
                                        : writeAlias(name, entry));
    }
    return {};
  }

  /// Gives a weight's file a second name; copies it if the file system has no hard links.
  Status writeAlias(const std::string &name, const WeightEntry &entry) {
    std::error_code error;
    fs::create_hard_link(root / weightName(entry.sameAs), root / name, error);
    if (error) {
      TORCHERE_LOG_LINE(Info, "save", "no hard link for {}: {}", entry.name, error.message());
      return writeArray(name, bundle.stateDict.at(entry.name));
    }
    if (options.withDigests) {
      FileDigest digest = digests.at(weightName(entry.sameAs));
      digest.name = name;
      digests[name] = std::move(digest);
    }
    return {};
  }

  const Bundle &bundle;
  const SaveOptions &options;
  const fs::path &root;
  const fs::path &shown;
  Manifest manifest;
  std::map<std::string, FileDigest> digests;
};

} // namespace

Status save(const Bundle &bundle, const fs::path &path, const SaveOptions &options) {
  TORCHERE_TRY(verify(bundle));
  TORCHERE_ASSIGN(fs::path target, resolveTarget(path));
  TORCHERE_ASSIGN(DirectoryReplacement directory, DirectoryReplacement::create(target, options.overwrite));
  TORCHERE_TRY(DirectoryWriter(bundle, options, directory).write());
  return directory.commit();
}

} // namespace torchere::artifact
