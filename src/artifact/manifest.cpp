// manifest.json: the functions, weights and constants of a saved program.
#include "artifact/manifest.h"

#include "artifact/shared_fields.h"
#include "base/json_cursor.h"

#include <unordered_map>

namespace torchere::artifact {

static OrderedJson entriesToJson(const std::vector<WeightEntry> &entries) {
  OrderedJson list = OrderedJson::array();
  for (const WeightEntry &entry : entries) {
    OrderedJson json = {
        {"name", entry.name}, {"dtype", dtypeInfo(entry.dtype).torchName}, {"shape", entry.shape}};
    if (!entry.sameAs.empty())
      json["same_as"] = entry.sameAs;
    if (!entry.hasData)
      json["has_data"] = false;
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

static WeightEntry readEntry(const JsonCursor &json) {
  WeightEntry entry;
  entry.name = json.text("name");
  entry.dtype = readDType(json);
  for (JsonCursor size : json.array("shape"))
    entry.shape.push_back(size.integer());
  entry.sameAs = json.text("same_as", "");
  entry.hasData = json.boolean("has_data", true);
  return entry;
}

static std::vector<WeightEntry> readWeights(const JsonCursor &root) {
  std::vector<WeightEntry> weights;
  std::unordered_map<std::string, size_t> owners; // weights with files of their own
  for (JsonCursor json : root.array("weights")) {
    WeightEntry entry = readEntry(json);
    if (entry.sameAs.empty()) {
      owners.emplace(entry.name, weights.size());
    } else if (auto owner = owners.find(entry.sameAs); owner == owners.end()) {
      json.fail("\"{}\" is the same as \"{}\", which is no earlier weight with a file", entry.name,
                entry.sameAs);
    } else {
      const WeightEntry &other = weights[owner->second];
      if (other.dtype != entry.dtype || other.shape != entry.shape)
        json.fail("\"{}\" is the same as \"{}\", but of another dtype or shape", entry.name, entry.sameAs);
      if (other.hasData != entry.hasData)
        json.fail("\"{}\" is the same as \"{}\", but only one of them has data", entry.name, entry.sameAs);
    }
    weights.push_back(std::move(entry));
  }
  return weights;
}

static FileDigest readFile(const JsonCursor &json) {
  FileDigest file;
  file.name = json.text("name");
  file.byteSize = json.integer("bytes");
  file.blake2b = json.text("blake2b");
  return file;
}

Result<Manifest> readManifest(std::string_view text, std::string_view subject) {
  JsonDocument document(text, subject);
  JsonCursor root = document.root();
  checkFormat(root, manifestFormat);
  Manifest manifest;
  for (JsonCursor name : root.array("functions"))
    manifest.functions.push_back(name.text());
  manifest.hasWeights = root.boolean("has_weights");
  manifest.weights = readWeights(root);
  for (JsonCursor json : root.array("constants"))
    manifest.constants.push_back(readEntry(json));
  if (std::optional<JsonCursor> files = root.optional("files"))
    for (JsonCursor json : files->elements())
      manifest.files.push_back(readFile(json));
  TORCHERE_TRY(root.finish());
  return manifest;
}

} // namespace torchere::artifact
