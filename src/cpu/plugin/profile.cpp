// Implements Profile.
#include "cpu/plugin/profile.h"

#include "base/json.h"
#include "cpu/kernels/machine_peak.h"

namespace torchere::cpu {

Profile::Profile(const CompiledModule &compiled, const Context &context)
    : compiled(compiled), context(context) {}

static double secondsOf(std::chrono::steady_clock::duration duration) {
  return std::chrono::duration<double>(duration).count();
}

Status Profile::run(const Step &step, const Frame &frame) {
  auto [found, isNew] = rowOf.try_emplace(&step, rows.size());
  size_t row = found->second;
  if (isNew)
    rows.push_back({&step, 0, 0});
  double outer = std::exchange(inner, 0);
  Clock::time_point begin = Clock::now();
  Status status = step.run(frame);
  double seconds = secondsOf(Clock::now() - begin);
  ++rows[row].runs;
  rows[row].seconds += seconds - inner;
  inner = outer + seconds;
  if (events.size() < maxEvents)
    events.push_back({row, secondsOf(begin - start), seconds});
  return status;
}

std::string Profile::report() const {
  const MachinePeak &peak = measuredPeak(context);
  OrderedJson json = {{"program", compiled.entry.name},    {"isa", isaName(context.isa)},
                      {"threads", context.pool.threads()}, {"peak_flops", peak.flops},
                      {"peak_bandwidth", peak.bandwidth},  {"seconds", inner},
                      {"rows", OrderedJson::array()},      {"events", OrderedJson::array()}};
  for (const Row &row : rows) {
    auto found = compiled.plan->origins.find(row.step);
    StepOrigin origin = found == compiled.plan->origins.end() ? StepOrigin() : found->second;
    json["rows"].push_back({{"kernel", row.step->name()},
                            {"op", origin.op},
                            {"source", origin.source},
                            {"runs", row.runs},
                            {"seconds", row.seconds},
                            {"flops", row.step->flops() * double(row.runs)},
                            {"bytes", origin.bytes * row.runs}});
  }
  for (const Event &event : events)
    json["events"].push_back({event.row, event.begin, event.seconds});
  return printJson(json, 0);
}

std::string joinReports(const std::string &first, const std::string &second) {
  OrderedJson joined = OrderedJson::parse(first), other = OrderedJson::parse(second);
  size_t rows = joined["rows"].size();
  double begin = joined["seconds"];
  for (OrderedJson &event : other["events"])
    joined["events"].push_back({size_t(event[0]) + rows, double(event[1]) + begin, event[2]});
  for (OrderedJson &row : other["rows"])
    joined["rows"].push_back(std::move(row));
  joined["seconds"] = begin + double(other["seconds"]);
  return printJson(joined, 0);
}

} // namespace torchere::cpu
