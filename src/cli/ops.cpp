// torchere ops: the ATen ops that can be lowered, with their schemas.
#include "cli/subcommand.h"
#include "exporter/exporter.h"

#include <memory>

namespace torchere::cli {

static Status listOps(const std::string &part, Report &report) {
  report.json["ops"] = OrderedJson::array();
  std::vector<std::vector<std::string>> rows;
  for (const exporter::Operator &op : exporter::listOperators()) {
    if (op.name.find(part) == std::string::npos)
      continue;
    rows.push_back({op.name, op.schema});
    report.json["ops"].push_back({{"name", op.name}, {"schema", op.schema}});
  }
  if (rows.empty())
    return fail(ErrorCode::NotFound, "[ops] no op with a lowering has \"{}\" in its name", part);
  report.table(rows);
  return {};
}

void addOps(CLI::App &app, Action &action) {
  CLI::App *command = app.add_subcommand("ops", "List the ATen ops that have a lowering, with their schemas");
  auto part = std::make_shared<std::string>();
  command->add_option("PART", *part, "Only ops with this in their name, such as aten.add or softmax");
  command->callback([&action, part] { action = [part](Report &report) { return listOps(*part, report); }; });
}

} // namespace torchere::cli
