// torchere run: calls a saved program with arrays from files.
#include "artifact/bundle.h"
#include "artifact/weight_file.h"
#include "base/npy.h"
#include "cli/option_checks.h"
#include "cli/output_file.h"
#include "cli/run_inputs.h"
#include "cli/subcommand.h"
#include "cli/tensor_text.h"
#include "program/entry_point.h"
#include "runtime/discovery.h"
#include "session/session.h"

#include <algorithm>
#include <chrono>
#include <memory>

namespace torchere::cli {

namespace {

struct RunOptions {
  std::string directory;
  std::string function; ///< empty: the first
  std::vector<std::string> inputs;
  std::vector<std::string> outputs;
  std::string plugin;
  int device = -1; ///< -1: the plugin's first
  size_t shownValues = 8;
  bool isProfiled = false;
  std::string precision; ///< of products; empty: the program's
  std::string trace;     ///< where the profile's trace goes; empty: nowhere
};

} // namespace

static size_t elementCount(const runtime::ArrayType &type) {
  size_t count = 1;
  for (int64_t size : type.shape)
    count *= static_cast<size_t>(size);
  return count;
}

static Status writeArray(const runtime::HostArray &array, const std::string &path) {
  const runtime::ArrayType &type = *array.type;
  size_t size = elementCount(type) * byteSize(type.dtype);
  auto storage = std::make_shared<const program::Storage>(
      program::Storage{array.owner, static_cast<const std::byte *>(array.data), size});
  program::Weight weight{"output", type.dtype, type.shape, denseStrides(type.shape, false), 0, storage};
  return writeOutput(path, [&](FileWriter &file) { return artifact::writeWeight(weight, file); });
}

/// Adds an output to the report.
static void describe(const std::string &name, const session::OutputTensor &output, const std::string &file,
                     size_t shownValues, OrderedJson &list, Report &report) {
  const runtime::ArrayType &type = *output.array().type;
  size_t count = elementCount(type);
  report.line("{}  {} {}  {}{}", name, dtypeInfo(type.dtype).torchName, program::shapeText(type.shape),
              elementsText(type.dtype, output.array().data, count, shownValues),
              file.empty() ? "" : "  -> " + file);
  OrderedJson json = {{"name", name},
                      {"position", output.position},
                      {"dtype", dtypeInfo(type.dtype).torchName},
                      {"shape", type.shape},
                      {"values", elementsJson(type.dtype, output.array().data, count, shownValues)}};
  if (!file.empty())
    json["file"] = file;
  list.push_back(std::move(json));
}

static Status deliver(const session::CallResult &result, const program::EntryPoint &entryPoint,
                      const RunOptions &options, Report &report) {
  std::vector<const session::OutputTensor *> ordered;
  for (const session::OutputTensor &output : result.outputs)
    ordered.push_back(&output);
  std::ranges::sort(ordered, {}, &session::OutputTensor::position);
  if (options.outputs.size() > result.outputs.size())
    return invalidArgument("[{}] too many --output: got {}, expected at most {}", entryPoint.name,
                           options.outputs.size(), result.outputs.size());
  report.json["outputs"] = OrderedJson::array();
  for (size_t index = 0; index < ordered.size(); ++index) {
    const session::OutputTensor &output = *ordered[index];
    std::string file = index < options.outputs.size() ? options.outputs[index] : "";
    if (!file.empty())
      TORCHERE_TRY(writeArray(output.array(), file));
    describe(fmt::format("output_{}", output.position), output, file, options.shownValues,
             report.json["outputs"], report);
  }
  if (!result.mutations.empty())
    report.line("new values of inputs:");
  report.json["mutations"] = OrderedJson::array();
  for (const session::OutputTensor &mutation : result.mutations)
    describe(fmt::format("input_{}", mutation.position), mutation, "", options.shownValues,
             report.json["mutations"], report);
  return {};
}

static Status profile(session::Session &session, size_t function, std::span<const session::Input> inputs,
                      const RunOptions &options, Report &report) {
  TORCHERE_ASSIGN(auto profiled, session.profile(function, inputs));
  const session::CallProfile &profile = profiled.second;
  if (!options.trace.empty())
    TORCHERE_TRY(
        writeOutput(options.trace, [&](FileWriter &file) { return file.write(profile.chromeTrace()); }));
  report.json["function"] = session.entryPoint(function).name;
  report.json["profile"] = profile.json();
  TORCHERE_TRY(deliver(profiled.first, session.entryPoint(function), options, report));
  report.line("{}", profile.table());
  return {};
}

static Status run(const RunOptions &options, Report &report) {
  TORCHERE_ASSIGN(artifact::Bundle loaded,
                  artifact::load(options.directory, {.precision = options.precision}));
  auto bundle = std::make_shared<const artifact::Bundle>(std::move(loaded));
  size_t function = 0;
  if (!options.function.empty()) {
    TORCHERE_ASSIGN(function, artifact::findFunction(*bundle, options.function));
  }
  const program::EntryPoint &entryPoint = bundle->functions[function].entryPoint;
  // Before the plugin is loaded, so that command line errors are reported at once.
  TORCHERE_ASSIGN(RunInputs inputs, RunInputs::read(entryPoint, options.inputs));
  TORCHERE_ASSIGN(std::shared_ptr<runtime::Client> client, runtime::sharedClient(options.plugin));
  std::optional<int> device = options.device < 0 ? std::nullopt : std::optional(options.device);
  TORCHERE_ASSIGN(auto session, session::Session::create(client, bundle, device));
  if (options.isProfiled || !options.trace.empty())
    return profile(*session, function, inputs.inputs(), options, report);
  auto start = std::chrono::steady_clock::now();
  TORCHERE_ASSIGN(session::CallResult result, session->call(function, inputs.inputs()));
  std::chrono::duration<double> elapsed = std::chrono::steady_clock::now() - start;
  report.json["function"] = entryPoint.name;
  report.json["platform"] = client->platformName();
  report.json["seconds"] = elapsed.count(); // compilation included
  return deliver(result, entryPoint, options, report);
}

void addRun(CLI::App &app, Action &action) {
  CLI::App *command = app.add_subcommand("run", "Call a saved program with arrays from npy files");
  auto options = std::make_shared<RunOptions>();
  command->add_option("DIR", options->directory, "Directory or file of the program")->required();
  command->add_option("--function", options->function, "Name of the function [the first]");
  command
      ->add_option(
          "--input", options->inputs,
          "FILE.npy or an integer, in the order of the program's inputs; or NAME=FILE.npy, NAME=INTEGER")
      ->allow_extra_args(false);
  command->add_option("--output", options->outputs, "FILE.npy to write the next output to")
      ->allow_extra_args(false);
  command->add_option(
      "--plugin", options->plugin,
      "Name or path of a PJRT plugin [$TORCHERE_PLUGIN, else $PJRT_DEVICE, else torchere_cpu]");
  command->add_option("--device", options->device, "Id of a device of the plugin [its first]")
      ->check(isAtLeastZero<int>("the id of a device: an integer of at least 0"));
  command->add_option("--precision", options->precision,
                      "Of products and convolutions: default, high or highest [the program's]");
  command->add_flag("--profile", options->isProfiled, "Show what each kernel took (torchere_cpu only)");
  command->add_option("--trace", options->trace, "FILE.json for the profile, which chrome://tracing shows");
  command->add_option("--values", options->shownValues, "How many elements of each output are shown [8]")
      ->check(isAtLeastZero<int64_t>("a count of elements: an integer of at least 0"));
  command->callback(
      [&action, options] { action = [options](Report &report) { return run(*options, report); }; });
}

} // namespace torchere::cli
