// Implements saveAsSavedModel: the checkpoint is streamed, then the graph is written.
#include "artifact/saved_model/saved_model.h"

#include "artifact/directory_names.h"
#include "artifact/directory_replacement.h"
#include "artifact/saved_model/function_definition.h"
#include "artifact/saved_model/model.h"
#include "artifact/saved_model/object_graph.h"
#include "artifact/saved_model/session_graph.h"
#include "artifact/saved_model/tensor_bundle.h"
#include "base/file.h"

#include <algorithm>
#include <numeric>
#include <system_error>

namespace torchere::artifact {

namespace fs = std::filesystem;
using namespace saved_model;

/// The most that a protocol buffer may have.
static constexpr size_t graphLimit = (size_t(1) << 31) - 1;
/// The oldest TensorFlow that runs what is written.
static constexpr std::string_view tensorflowVersion = "2.15.0";

/// A SavedModel message with one MetaGraphDef.
static Message savedModel(const Model &model, const std::string &checkpointObjects) {
  Message information;
  information.text(4, "serve").text(5, tensorflowVersion).number(7, true);
  if (!model.functionAlias.empty())
    information.entry(8, bodyName(model.functions[0], 0), model.functionAlias);
  Message graph;
  graph.message(1, information)
      .message(2, graphDefinition(model, checkpointObjects))
      .message(3, saverDefinition());
  std::vector<size_t> order(model.functions.size());
  std::iota(order.begin(), order.end(), size_t(0));
  std::ranges::sort(order, {}, [&](size_t index) { return model.functions[index].signatureKey; });
  for (size_t index : order)
    graph.entry(5, model.functions[index].signatureKey, signatureDefinition(model, index));
  graph.message(7, objectGraph(model));
  return Message().number(1, 1).message(2, graph);
}

namespace {

/// Writes the three files; errors name them by their final paths.
class SavedModelWriter {
public:
  SavedModelWriter(const Model &model, const DirectoryReplacement &directory)
      : model(model), root(directory.path()), shown(directory.target()),
        checkpointObjects(checkpointObjectGraph(model).bytes()) {}

  Status write() {
    TORCHERE_TRY(makeDirectories(root / savedModelVariables));
    TORCHERE_TRY(writeVariables());
    std::string bytes = savedModel(model, checkpointObjects).bytes();
    if (bytes.size() > graphLimit)
      return fail(
          ErrorCode::ResourceExhausted,
          "[{}] the graph has {} bytes, expected at most {}: export large constants as buffers of the "
          "module",
          (shown / savedModelGraph).string(), bytes.size(), graphLimit);
    return writeFile(savedModelGraph, bytes);
  }

private:
  Result<FileWriter> create(std::string_view name) const {
    return FileWriter::create(root / name, {.shown = shown / name});
  }
  Status writeFile(std::string_view name, std::string_view bytes) const {
    TORCHERE_ASSIGN(FileWriter file, create(name));
    TORCHERE_TRY(file.write(bytes));
    return file.close();
  }

  Status writeVariables() const {
    TORCHERE_ASSIGN(FileWriter data, create(savedModelData));
    TensorBundle tensors(data);
    TORCHERE_TRY(tensors.addText(std::string(objectGraphKey), checkpointObjects));
    for (size_t index = 0; index < model.variables.size(); ++index)
      TORCHERE_TRY(tensors.add(checkpointKey(index), model.variables[index].type.dtype,
                               *model.variables[index].weight));
    TORCHERE_TRY(data.close());
    return writeFile(savedModelIndex, tensors.index());
  }

  const Model &model;
  const fs::path &root;
  const fs::path &shown;
  std::string checkpointObjects;
};

} // namespace

/// Here nothing is ever replaced.
static Status checkIsFree(const fs::path &target) {
  std::error_code error;
  if (fs::is_directory(target, error) && !fs::is_empty(target, error) && !error)
    return fail(ErrorCode::AlreadyExists, "[{}] is not empty: expected an empty directory", target.string());
  return {};
}

Status saveAsSavedModel(const Bundle &bundle, const fs::path &path, const SavedModelOptions &options) {
  TORCHERE_ASSIGN(fs::path target, resolveTarget(path));
  TORCHERE_TRY(checkIsFree(target));
  TORCHERE_ASSIGN(Model model, modelOf(bundle, options.servingKey, options.functionAlias));
  TORCHERE_ASSIGN(DirectoryReplacement directory, DirectoryReplacement::create(target, /*overwrite=*/false));
  TORCHERE_TRY(SavedModelWriter(model, directory).write());
  return directory.commit();
}

} // namespace torchere::artifact
