// Subcommands of `torchere`: each file of this folder adds one to the parser, with its description.
#pragma once

#include "base/error.h"
#include "cli/report.h"

#include <CLI/App.hpp>

#include <functional>

namespace torchere::cli {

/// The action of the subcommand that the user chose, once the command line is parsed.
using Action = std::function<Status(Report &)>;

void addRun(CLI::App &app, Action &action);
void addInspect(CLI::App &app, Action &action);
void addOps(CLI::App &app, Action &action);
void addDevices(CLI::App &app, Action &action);
void addPlugins(CLI::App &app, Action &action);
void addCache(CLI::App &app, Action &action);
void addVerify(CLI::App &app, Action &action);
void addVerifyFiles(CLI::App &app, Action &action);
void addToSavedModel(CLI::App &app, Action &action);

} // namespace torchere::cli
