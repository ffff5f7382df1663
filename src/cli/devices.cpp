// torchere devices: the devices of a plugin.
#include "cli/subcommand.h"
#include "runtime/discovery.h"

#include <memory>

namespace torchere::cli {

static Status listDevices(const std::string &plugin, Report &report) {
  TORCHERE_ASSIGN(std::shared_ptr<runtime::Client> client, runtime::sharedClient(plugin));
  report.line("{} {}", client->platformName(), client->platformVersion());
  report.json["platform"] = client->platformName();
  report.json["version"] = client->platformVersion();
  report.json["plugin"] = client->plugin().path();
  report.json["devices"] = OrderedJson::array();
  std::vector<std::vector<std::string>> rows;
  for (const runtime::Device &device : client->devices()) {
    rows.push_back({std::to_string(device.id), device.kind, device.description});
    report.json["devices"].push_back(
        {{"id", device.id}, {"kind", device.kind}, {"description", device.description}});
  }
  report.table(rows, "  ");
  return {};
}

void addDevices(CLI::App &app, Action &action) {
  CLI::App *command = app.add_subcommand("devices", "List the devices of a plugin");
  auto plugin = std::make_shared<std::string>();
  command->add_option(
      "--plugin", *plugin,
      "Name or path of a PJRT plugin [$TORCHERE_PLUGIN, else $PJRT_DEVICE, else torchere_cpu]");
  command->callback(
      [&action, plugin] { action = [plugin](Report &report) { return listDevices(*plugin, report); }; });
}

} // namespace torchere::cli
