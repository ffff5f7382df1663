// The files of a bundle, written one after the other to whatever holds them.
#include "artifact/program_writer.h"

#include "artifact/directory_names.h"
#include "artifact/function_module.h"
#include "artifact/meta.h"
#include "artifact/signature.h"
#include "artifact/weight_file.h"
#include "base/digest.h"
#include "program/weight_memory.h"

#include <map>
#include <optional>

namespace torchere::artifact {

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

class ProgramWriter {
public:
  ProgramWriter(const Bundle &bundle, const SaveOptions &options, ProgramTarget &target)
      : bundle(bundle), options(options), target(target), manifest(makeManifest(bundle, options)) {}

  Status write() {
    TORCHERE_TRY(target.writeManifest(manifestText(manifest), !options.withDigests));
    TORCHERE_TRY(writeFunctions());
    TORCHERE_TRY(target.makeFolder(constantFolder));
    for (size_t index = 0; index < bundle.constants.size(); ++index)
      if (hasData(bundle.constants[index]))
        TORCHERE_TRY(writeArray(constantName(index), bundle.constants[index]));
    if (manifest.hasWeights)
      TORCHERE_TRY(writeWeights());
    if (!options.withDigests)
      return {};
    for (const auto &[name, digest] : digests)
      manifest.files.push_back(digest);
    return target.writeManifest(manifestText(manifest), /*isLast=*/true);
  }

private:
  Status writeFile(const std::string &name, uint64_t size, const ProgramTarget::Fill &fill) {
    if (!options.withDigests)
      return target.writeFile(name, size, fill);
    Digest digest;
    TORCHERE_TRY(target.writeFile(name, size, [&](const WriteBytes &write) {
      return fill([&](std::span<const std::byte> bytes) {
        digest.add(bytes);
        return write(bytes);
      });
    }));
    digests[name] = {name, static_cast<int64_t>(size), hexText(digest.finish())};
    return {};
  }
  Status writeText(const std::string &name, const std::string &text) {
    return writeFile(name, text.size(),
                     [&](const WriteBytes &write) { return write(std::as_bytes(std::span(text))); });
  }
  Status writeArray(const std::string &name, const Weight &weight) {
    return writeFile(name, weightFileSize(weight),
                     [&](const WriteBytes &write) { return writeWeight(weight, write); });
  }

  Status writeFunctions() {
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
    TORCHERE_TRY(target.makeFolder(weightFolder));
    for (const WeightEntry &entry : manifest.weights) {
      if (!entry.hasData)
        continue;
      std::string name = weightName(entry.name);
      TORCHERE_TRY(entry.sameAs.empty() ? writeArray(name, bundle.stateDict.at(entry.name))
                                        : writeAlias(name, entry));
    }
    return {};
  }

  /// Gives a weight's file a second name; copies it where that is not possible.
  Status writeAlias(const std::string &name, const WeightEntry &entry) {
    if (!target.needsAliases()) // the manifest says it
      return {};
    TORCHERE_ASSIGN(bool isWritten, target.writeAlias(name, weightName(entry.sameAs)));
    if (!isWritten)
      return writeArray(name, bundle.stateDict.at(entry.name));
    if (options.withDigests) {
      FileDigest digest = digests.at(weightName(entry.sameAs));
      digest.name = name;
      digests[name] = std::move(digest);
    }
    return {};
  }

  const Bundle &bundle;
  const SaveOptions &options;
  ProgramTarget &target;
  Manifest manifest;
  std::map<std::string, FileDigest> digests;
};

} // namespace

Status writeProgram(const Bundle &bundle, const SaveOptions &options, ProgramTarget &target) {
  return ProgramWriter(bundle, options, target).write();
}

} // namespace torchere::artifact
