// torchere plugins: the PJRT plugins that names stand for.
#include "cli/subcommand.h"
#include "runtime/discovery.h"

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
  if (rows.empty())
    report.line("no plugins are known: `torchere plugins install cpu` fetches one");
  report.table(rows);
  return {};
}

void addPlugins(CLI::App &app, Action &action) {
  CLI::App *command = app.add_subcommand("plugins", "List the PJRT plugins that are known by name");
  command->callback([&action] { action = listPlugins; });
}

} // namespace torchere::cli
