// torchere to-saved-model: a saved program as TensorFlow's SavedModel.
#include "artifact/bundle.h"
#include "artifact/saved_model/saved_model.h"
#include "cli/subcommand.h"

#include <memory>

namespace torchere::cli {

namespace {

struct ConversionOptions {
  std::string directory;
  std::string target;
  artifact::SavedModelOptions form;
};

} // namespace

static Status convert(const ConversionOptions &options, Report &report) {
  TORCHERE_ASSIGN(artifact::Bundle bundle, artifact::load(options.directory));
  TORCHERE_TRY(artifact::saveAsSavedModel(bundle, options.target, options.form));
  report.json["path"] = options.target;
  report.json["signatures"] = OrderedJson::array();
  for (size_t index = 0; index < bundle.functions.size(); ++index)
    report.json["signatures"].push_back(index == 0 ? options.form.servingKey
                                                   : bundle.functions[index].entryPoint.name);
  return {};
}

void addToSavedModel(CLI::App &app, Action &action) {
  CLI::App *command = app.add_subcommand("to-saved-model", "Convert a saved program for TensorFlow");
  auto options = std::make_shared<ConversionOptions>();
  command->add_option("IN", options->directory, "Directory of the program")->required();
  command->add_option("OUT", options->target, "Directory of the SavedModel: new, or empty")->required();
  command->add_option("-k,--serving_key", options->form.servingKey,
                      "Signature of the first function [serving_default]; the others have their names");
  command->add_option("-a,--function_alias", options->form.functionAlias,
                      "Alias of the first function [none]");
  command->callback(
      [&action, options] { action = [options](Report &report) { return convert(*options, report); }; });
}

} // namespace torchere::cli
