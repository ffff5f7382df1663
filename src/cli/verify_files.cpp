// torchere verify-files: whether the files of a saved program are unchanged since it was saved.
#include "artifact/verification.h"
#include "cli/subcommand.h"

#include <memory>

namespace torchere::cli {

static const char *nameOf(artifact::FileState state) {
  switch (state) {
  case artifact::FileState::Intact:
    return "ok";
  case artifact::FileState::Damaged:
    return "damaged";
  case artifact::FileState::Missing:
    return "missing";
  case artifact::FileState::Unlisted:
    return "unlisted";
  }
  return "";
}

static Status verifyFiles(const std::string &path, Report &report) {
  TORCHERE_ASSIGN(std::vector<artifact::FileFinding> findings, artifact::verifyFiles(path));
  report.json["files"] = OrderedJson::array();
  std::vector<std::vector<std::string>> rows;
  for (const artifact::FileFinding &finding : findings) {
    OrderedJson json = {{"name", finding.name}, {"state", nameOf(finding.state)}};
    if (!finding.detail.empty())
      json["detail"] = finding.detail;
    report.json["files"].push_back(std::move(json));
    rows.push_back({nameOf(finding.state), finding.name, finding.detail});
  }
  report.table(rows);
  if (Status status = artifact::statusOf(findings, path); !status)
    report.failure = std::move(status).error();
  return {};
}

void addVerifyFiles(CLI::App &app, Action &action) {
  CLI::App *command =
      app.add_subcommand("verify-files", "Compare the files of a saved program with their digests");
  auto path = std::make_shared<std::string>();
  command->add_option("DIR", *path, "Directory or file of the program")->required();
  command->callback(
      [&action, path] { action = [path](Report &report) { return verifyFiles(*path, report); }; });
}

} // namespace torchere::cli
