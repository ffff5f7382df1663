// torchere plugins: the known PJRT plugins.
#include "cli/subcommand.h"
#include "runtime/discovery.h"

#include <algorithm>

namespace torchere::cli {

static Status listPlugins(Report &report) {
  TORCHERE_ASSIGN(std::vector<runtime::PluginLocation> plugins, runtime::knownPlugins());
  report.json["plugins"] = OrderedJson::array();
  std::vector<std::vector<std::string>> rows;
  for (const runtime::PluginLocation &plugin : plugins) {
    rows.push_back({plugin.name, plugin.path, plugin.origin});
    report.json["plugins"].push_back(
        {{"name", plugin.name}, {"path", plugin.path}, {"origin", plugin.origin}});
  }
  report.table(rows);
  bool isCpuKnown = std::any_of(plugins.begin(), plugins.end(),
                                [](const runtime::PluginLocation &plugin) { return plugin.name == "cpu"; });
  if (!isCpuKnown)
    report.line("XLA's CPU plugin is not installed: `torchere plugins install cpu` fetches it");
  return {};
}

/// Implemented by python/torchere/plugins.py: the package's command handles it before it starts this program.
/// Here it is listed, and rejected if this program was started directly.
static CLI::App *addPythons(CLI::App &command, const std::string &name, const std::string &description) {
  CLI::App *subcommand = command.add_subcommand(name, description);
  subcommand->allow_extras();
  return subcommand;
}

void addPlugins(CLI::App &app, Action &action) {
  CLI::App *command = app.add_subcommand("plugins", "List the known PJRT plugins");
  CLI::App *install = addPythons(*command, "install", "Download a plugin to the user's data directory");
  CLI::App *uninstall = addPythons(*command, "uninstall", "Remove an installed plugin");
  command->callback([&action, install, uninstall] {
    if (!install->parsed() && !uninstall->parsed()) {
      action = listPlugins;
      return;
    }
    std::string name = install->parsed() ? "install" : "uninstall";
    action = [name](Report &) -> Status {
      return fail(ErrorCode::Unimplemented,
                  "[plugins {}] needs Python: expected as the first arguments of the package's command, "
                  "`torchere plugins {} cpu`",
                  name, name);
    };
  });
}

} // namespace torchere::cli
