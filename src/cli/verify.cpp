// torchere verify: compares two saved programs, or one on two plugins, output by output.
#include "artifact/bundle.h"
#include "cli/array_difference.h"
#include "cli/option_checks.h"
#include "cli/run_inputs.h"
#include "cli/subcommand.h"
#include "program/entry_point.h"
#include "runtime/discovery.h"
#include "session/session.h"

#include <algorithm>
#include <memory>

namespace torchere::cli {

namespace {

struct VerifyOptions {
  std::string directory;
  std::string against; ///< empty: the same directory
  std::string plugin;  ///< of the other one; empty: the same
  std::string function;
  std::vector<std::string> inputs;
  uint64_t seed = 0;
  std::optional<double> tolerance;
};

/// A value of a call, with the name that the report gives it.
struct NamedValue {
  std::string name;
  runtime::HostArray array;
};

struct Called {
  std::string title; ///< "resnet18 on cpu"
  std::vector<NamedValue> values;
};

} // namespace

static Result<std::shared_ptr<const artifact::Bundle>> loadBundle(const std::string &directory) {
  TORCHERE_ASSIGN(artifact::Bundle loaded, artifact::load(directory));
  return std::make_shared<const artifact::Bundle>(std::move(loaded));
}

static Result<size_t> indexOf(const artifact::Bundle &bundle, const std::string &function) {
  if (function.empty())
    return size_t(0);
  return artifact::findFunction(bundle, function);
}

/// The outputs, the new values of inputs, and the state after the call.
static Result<Called> call(const std::string &directory, std::shared_ptr<const artifact::Bundle> bundle,
                           size_t function, const std::string &plugin, const RunInputs &inputs) {
  TORCHERE_ASSIGN(std::shared_ptr<runtime::Client> client, runtime::sharedClient(plugin));
  TORCHERE_ASSIGN(auto session, session::Session::create(client, bundle));
  TORCHERE_ASSIGN(session::CallResult result, session->call(function, inputs.inputs()));
  Called called{fmt::format("{} on {}", directory, client->platformName()), {}};
  for (const session::OutputTensor &output : result.outputs)
    called.values.push_back({fmt::format("output_{}", output.position), output.array()});
  for (const session::OutputTensor &mutation : result.mutations)
    called.values.push_back({fmt::format("input_{}", mutation.position), mutation.array()});
  TORCHERE_ASSIGN(std::vector<session::NamedArray> states, session->readStates());
  for (session::NamedArray &state : states)
    called.values.push_back({state.name, state.value});
  return called;
}

/// Compares what has equal names; what one of them lacks differs.
static size_t compareCalls(const Called &got, const Called &expected, const VerifyOptions &options,
                           Report &report) {
  std::vector<std::vector<std::string>> rows = {{"value", "dtype", "shape", "error", "relative", "verdict"}};
  report.json["values"] = OrderedJson::array();
  size_t differing = 0;
  auto add = [&](const NamedValue &value, const ArrayDifference &difference) {
    const runtime::ArrayType &type = *value.array.type;
    std::string dtype(dtypeInfo(type.dtype).torchName);
    differing += !difference.verdict.empty();
    std::string verdict = difference.verdict.empty() ? "ok" : difference.verdict;
    rows.push_back({value.name, dtype, program::shapeText(type.shape),
                    fmt::format("{:.1e}", difference.error), fmt::format("{:.1e}", difference.relative),
                    verdict});
    report.json["values"].push_back({{"name", value.name},
                                     {"dtype", dtype},
                                     {"shape", type.shape},
                                     {"error", difference.error},
                                     {"relative", difference.relative},
                                     {"verdict", verdict}});
  };
  for (const NamedValue &value : got.values) {
    auto found = std::ranges::find(expected.values, value.name, &NamedValue::name);
    add(value, found == expected.values.end() ? ArrayDifference{0, 0, "the other program has none"}
                                              : compareArrays(value.array, found->array, options.tolerance));
  }
  for (const NamedValue &value : expected.values)
    if (std::ranges::find(got.values, value.name, &NamedValue::name) == got.values.end())
      add(value, {0, 0, "the other program alone has it"});
  report.table(rows);
  return differing;
}

static Status checkOptions(const VerifyOptions &options) {
  if (options.against.empty() && options.plugin.empty())
    return invalidArgument("[verify] nothing to compare {} with: expected --against DIR2, --plugin NAME, or "
                           "both",
                           options.directory);
  return {};
}

static Status verify(const VerifyOptions &options, Report &report) {
  TORCHERE_TRY(checkOptions(options));
  const std::string &otherDirectory = options.against.empty() ? options.directory : options.against;
  TORCHERE_ASSIGN(auto bundle, loadBundle(options.directory));
  TORCHERE_ASSIGN(auto other, loadBundle(otherDirectory));
  TORCHERE_ASSIGN(size_t function, indexOf(*bundle, options.function));
  TORCHERE_ASSIGN(size_t otherFunction, indexOf(*other, options.function));
  const program::EntryPoint &entryPoint = bundle->functions[function].entryPoint;
  TORCHERE_ASSIGN(RunInputs inputs, options.inputs.empty() ? RunInputs::random(entryPoint, options.seed)
                                                           : RunInputs::read(entryPoint, options.inputs));
  TORCHERE_ASSIGN(Called got, call(options.directory, bundle, function, "", inputs));
  TORCHERE_ASSIGN(Called expected, call(otherDirectory, other, otherFunction, options.plugin, inputs));
  report.json["function"] = entryPoint.name;
  report.json["program"] = got.title;
  report.json["against"] = expected.title;
  report.line("{}: {} against {}", entryPoint.name, got.title, expected.title);
  if (size_t differing = compareCalls(got, expected, options, report))
    report.failure = Error{ErrorCode::FailedPrecondition,
                           fmt::format("[{}] {} of {} values differ from those of {}", options.directory,
                                       differing, report.json["values"].size(), expected.title),
                           {}};
  return {};
}

void addVerify(CLI::App &app, Action &action) {
  CLI::App *command = app.add_subcommand("verify", "Compare two saved programs, or one on two plugins");
  auto options = std::make_shared<VerifyOptions>();
  command->add_option("DIR", options->directory, "Directory of the program")->required();
  command->add_option("--against", options->against, "Directory of another program [DIR]");
  command->add_option("--plugin", options->plugin,
                      "Name or path of the PJRT plugin that the other one runs on [as DIR's]");
  command->add_option("--function", options->function, "Name of the function [the first]");
  command
      ->add_option("--input", options->inputs,
                   "As for torchere run [random numbers, of sizes that the program takes]")
      ->allow_extra_args(false);
  command->add_option("--seed", options->seed, "Of the random numbers [0]")
      ->check(isAtLeastZero<uint64_t>("a seed: an integer of at least 0"));
  command
      ->add_option("--tolerance", options->tolerance,
                   "How far floats may be apart, as a part of the largest one [by dtype]")
      ->check(isAtLeastZero<double>("a part of the largest float: a finite number of at least 0"));
  command->callback(
      [&action, options] { action = [options](Report &report) { return verify(*options, report); }; });
}

} // namespace torchere::cli
