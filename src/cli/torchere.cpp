// torchere: inspects and runs saved programs on PJRT plugins. Exit codes: 0 success, 1 failure, 2 wrong
// usage.
#include "base/log.h"
#include "cli/subcommand.h"

#include <CLI/Config.hpp>
#include <CLI/Formatter.hpp>

#include <cstdio>
#include <cstdlib>
#include <filesystem>

using namespace torchere;

static constexpr int failureCode = 1;
static constexpr int usageCode = 2;

static const char *footer = R"(Exit codes: 0 success, 1 failure, 2 wrong usage.
TORCHERE_LOG=off|error|warning|info|debug chooses what is logged to stderr.
TORCHERE_CACHE=0|1|SIZE (500M, 2G) turns the cache of executables off or bounds it [1G];
TORCHERE_CACHE_DIR is its folder [~/.cache/torchere].

Examples:
  torchere inspect resnet18/
  torchere run resnet18/ --input image.npy --output logits.npy
  torchere run model/ --function encode --input x=x.npy --input n=5 --json
  torchere devices --plugin cpu
  torchere ops softmax
  torchere cache clear
  torchere verify resnet18/ --plugin interpreter
  torchere verify-files resnet18/
  torchere to-saved-model resnet18/ /srv/models/resnet18/1)";

static void printError(const Error &error) {
  std::fprintf(stderr, "torchere: %s\n", error.text().c_str());
}

/// A folder of the installation, from this program's place, bin/.
static std::string installed(const std::filesystem::path &folder) {
  std::error_code code;
  std::filesystem::path program = std::filesystem::read_symlink("/proc/self/exe", code);
  return (program.parent_path().parent_path() / folder).string();
}

/// Options that print a folder, for those who build on the library.
static void addFolders(CLI::App &app) {
  static constexpr const char *options[][3] = {
      {"--cmake-dir", "lib/cmake/Torchere", "Print the folder for CMake's Torchere_DIR"},
      {"--include-dir", "include", "Print the folder of the C and C++ headers"},
      {"--library-dir", "lib", "Print the folder of libtorchere.so"}};
  for (const auto &[name, folder, description] : options)
    app.add_flag_callback(
        name, [folder = folder] { throw CLI::CallForVersion(installed(folder), 0); }, description);
}

/// Runs the subcommand and writes its report. Errors go to stderr; with --json, stdout also has {"error":
/// {...}}, so that it is always one document.
static int perform(const cli::Action &action, bool asJson) {
  cli::Report report(asJson);
  if (Status status = action(report); !status) {
    report = cli::Report(asJson); // discards what was collected so far
    report.failure = std::move(status).error();
  }
  if (report.failure) {
    printError(*report.failure);
    report.json["error"] = {{"code", errorCodeName(report.failure->code)},
                            {"message", report.failure->message},
                            {"where", report.failure->where}};
  }
  if (Status written = report.write(); !written) {
    printError(written.error());
    return failureCode;
  }
  return report.failure ? failureCode : 0;
}

int main(int argc, char **argv) {
  readLogLevel(); // an invalid level is reported whether or not anything is logged
  ::setenv("TF_CPP_MIN_LOG_LEVEL", "1", /*overwrite=*/0); // otherwise XLA's plugins write notices to stderr
  CLI::App app("Inspects and runs StableHLO programs that Torchère saved.", "torchere");
  app.set_version_flag("--version", "torchere " TORCHERE_VERSION);
  addFolders(app);
  app.footer(footer);
  app.require_subcommand(0, 1); // a missing one is detected below, so that a misspelt one is named
  bool asJson = false;
  cli::Action action;
  cli::addRun(app, action);
  cli::addInspect(app, action);
  cli::addOps(app, action);
  cli::addDevices(app, action);
  cli::addPlugins(app, action);
  cli::addCache(app, action);
  cli::addVerify(app, action);
  cli::addVerifyFiles(app, action);
  cli::addToSavedModel(app, action);
  for (CLI::App *subcommand : app.get_subcommands({}))
    subcommand->add_flag("--json", asJson, "Write one JSON document to stdout");
  try {
    app.parse(argc, argv);
    if (!action)
      throw CLI::RequiredError::Subcommand(1);
  } catch (const CLI::ParseError &error) {
    return app.exit(error) == 0 ? 0 : usageCode; // --help and --version are not errors
  }
  return perform(action, asJson);
}
