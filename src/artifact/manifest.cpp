// manifest.json: which functions, weights and constants a saved program has.
#include "artifact/manifest.h"

#include "base/json.h"

#include <unordered_map>

namespace torchere::artifact {

static OrderedJson entriesToJson(const std::vector<WeightEntry> &entries) {
  OrderedJson list = OrderedJson::array();
  for (const WeightEntry &entry : entries) {
    OrderedJson json = {
        {"name", entry.name}, {"dtype", dtypeInfo(entry.dtype).torchName}, {"shape", entry.shape}};
    if (!entry.sameAs.empty())
      json["same_as"] = entry.sameAs;
    list.push_back(std::move(json));
  }
  return list;
}

static OrderedJson filesToJson(const std::vector<FileDigest> &files) {
  OrderedJson list = OrderedJson::array();
  for (const FileDigest &file : files)
    list.push_back({{"name", file.name}, {"bytes", file.byteSize}, {"blake2b", file.blake2b}});
  return list;
}

std::string manifestText(const Manifest &manifest) {
  OrderedJson document = {{"format", manifestFormat},
                          {"functions", manifest.functions},
                          {"has_weights", manifest.hasWeights},
                          {"weights", entriesToJson(manifest.weights)},
                          {"constants", entriesToJson(manifest.constants)}};
  if (!manifest.files.empty())
    document["files"] = filesToJson(manifest.files);
  return printJson(document, 2) + "\n";
}

static Result<WeightEntry> readEntry(const JsonCursor &json) {
  WeightEntry entry;
  TORCHERE_ASSIGN(entry.name, json.string("name"));
  TORCHERE_ASSIGN(std::string dtype, json.string("dtype"));
  std::optional<DType> known = dtypeFromTorchName(dtype);
  if (!known)
    return json.invalid(fmt::format("got the dtype \"{}\", expected one of torch's", dtype));
  entry.dtype = *known;
  TORCHERE_ASSIGN(auto sizes, json.array("shape"));
  for (const JsonCursor &size : sizes) {
    TORCHERE_ASSIGN(int64_t value, size.asInteger());
    entry.shape.push_back(value);
  }
  TORCHERE_ASSIGN(auto sameAs, json.optionalMember("same_as"));
  if (sameAs) {
    TORCHERE_ASSIGN(entry.sameAs, sameAs->asString());
  }
  return entry;
}

static Status readWeights(Manifest &manifest, const JsonCursor &root) {
  std::unordered_map<std::string, size_t> owners; // weights with files of their own
  TORCHERE_ASSIGN(auto entries, root.array("weights"));
  for (const JsonCursor &json : entries) {
    TORCHERE_ASSIGN(WeightEntry entry, readEntry(json));
    if (entry.sameAs.empty()) {
      owners.emplace(entry.name, manifest.weights.size());
    } else {
      auto owner = owners.find(entry.sameAs);
      if (owner == owners.end())
        return json.invalid(
            fmt::format("\"{}\" is the same as \"{}\", which is no earlier weight with a file", entry.name,
                        entry.sameAs));
      const WeightEntry &other = manifest.weights[owner->second];
      if (other.dtype != entry.dtype || other.shape != entry.shape)
        return json.invalid(fmt::format("\"{}\" is the same as \"{}\", but of another dtype or shape",
                                        entry.name, entry.sameAs));
    }
    manifest.weights.push_back(std::move(entry));
  }
  return {};
}

static Status readFiles(Manifest &manifest, const JsonCursor &root) {
  TORCHERE_ASSIGN(auto files, root.optionalMember("files"));
  if (!files)
    return {};
  TORCHERE_ASSIGN(auto entries, files->elements());
  for (const JsonCursor &json : entries) {
    FileDigest file;
    TORCHERE_ASSIGN(file.name, json.string("name"));
    TORCHERE_ASSIGN(file.byteSize, json.integer("bytes"));
    TORCHERE_ASSIGN(file.blake2b, json.string("blake2b"));
    manifest.files.push_back(std::move(file));
  }
  return {};
}

Result<Manifest> readManifest(std::string_view text, std::string_view subject) {
  TORCHERE_ASSIGN(Json document, parseJson(text, subject));
  JsonCursor root(document, std::string(subject));
  TORCHERE_ASSIGN(int64_t format, root.integer("format"));
  if (format != manifestFormat)
    return root.invalid(
        fmt::format("got the format {}, expected {}: another version wrote it", format, manifestFormat));
  Manifest manifest;
  TORCHERE_ASSIGN(auto functions, root.array("functions"));
  for (const JsonCursor &json : functions) {
    TORCHERE_ASSIGN(std::string name, json.asString());
    manifest.functions.push_back(std::move(name));
  }
  TORCHERE_ASSIGN(manifest.hasWeights, root.boolean("has_weights"));
  TORCHERE_TRY(readWeights(manifest, root));
  TORCHERE_ASSIGN(auto constants, root.array("constants"));
  for (const JsonCursor &json : constants) {
    TORCHERE_ASSIGN(WeightEntry entry, readEntry(json));
    manifest.constants.push_back(std::move(entry));
  }
  TORCHERE_TRY(readFiles(manifest, root));
  return manifest;
}

} // namespace torchere::artifact
