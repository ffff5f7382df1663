// Implements CallProfile: reading, the table, and the trace.
#include "session/profile.h"

#include "base/json_cursor.h"

#include <algorithm>
#include <numeric>

namespace torchere::session {

static ProfileRow rowOf(const JsonCursor &cursor) {
  return {cursor.text("kernel"),
          cursor.text("op"),
          cursor.text("source"),
          cursor.integer("runs"),
          cursor.member("seconds").number(),
          cursor.member("flops").number(),
          cursor.member("bytes").number()};
}

static CallProfile::Event eventOf(const JsonCursor &cursor, size_t rowCount) {
  JsonElements parts = cursor.elements();
  int64_t row = parts[0].integer();
  if (row < 0 || row >= static_cast<int64_t>(rowCount))
    cursor.fail("no such row: got {}, expected less than {}", row, rowCount);
  return {static_cast<size_t>(row), parts[1].number(), parts[2].number()};
}

Result<CallProfile> CallProfile::parse(std::string_view report, std::string_view subject) {
  JsonDocument document(report, subject);
  JsonCursor root = document.root();
  CallProfile profile;
  profile.program = root.text("program");
  profile.isa = root.text("isa");
  profile.threads = root.integer("threads");
  profile.peakFlops = root.member("peak_flops").number();
  profile.peakBandwidth = root.member("peak_bandwidth").number();
  profile.seconds = root.member("seconds").number();
  for (JsonCursor row : root.array("rows"))
    profile.rows.push_back(rowOf(row));
  for (JsonCursor event : root.array("events"))
    profile.events.push_back(eventOf(event, profile.rows.size()));
  TORCHERE_TRY(root.finish());
  return profile;
}

CallProfile::Rate CallProfile::rateOf(const ProfileRow &row) const {
  if (row.seconds <= 0)
    return {};
  double flops = row.flops / row.seconds, bytes = row.bytes / row.seconds;
  double ofFlops = peakFlops > 0 ? flops / peakFlops : 0;
  double ofBytes = peakBandwidth > 0 ? bytes / peakBandwidth : 0;
  if (flops > 0 && ofFlops >= ofBytes)
    return {fmt::format("{:.1f} GFLOP/s", flops * 1e-9), ofFlops};
  if (bytes > 0)
    return {fmt::format("{:.1f} GB/s", bytes * 1e-9), ofBytes};
  return {};
}

std::string CallProfile::table() const {
  std::vector<size_t> order(rows.size());
  std::iota(order.begin(), order.end(), 0);
  std::ranges::stable_sort(order, [&](size_t a, size_t b) { return rows[a].seconds > rows[b].seconds; });
  size_t kernelWidth = 6, opWidth = 2;
  for (const ProfileRow &row : rows) {
    kernelWidth = std::max(kernelWidth, row.kernel.size());
    opWidth = std::max(opWidth, row.op.size());
  }
  std::string text =
      fmt::format("{}: {:.3f} ms in {} kernels, {} with {} threads; peak {:.1f} GFLOP/s, copy {:.1f} GB/s\n",
                  program, seconds * 1e3, rows.size(), isa, threads, peakFlops * 1e-9, peakBandwidth * 1e-9);
  text += fmt::format("{:>10}  {:>6}  {:>5}  {:<{}}  {:<{}}  {:>15}  {:>7}  {}\n", "us", "share", "runs",
                      "kernel", kernelWidth, "op", opWidth, "rate", "of peak", "source");
  for (size_t index : order) {
    const ProfileRow &row = rows[index];
    Rate rate = rateOf(row);
    text += fmt::format("{:>10.1f}  {:>5.1f}%  {:>5}  {:<{}}  {:<{}}  {:>15}  {:>7}  {}\n", row.seconds * 1e6,
                        seconds > 0 ? row.seconds / seconds * 100 : 0, row.runs, row.kernel, kernelWidth,
                        row.op, opWidth, rate.text,
                        rate.text.empty() ? "" : fmt::format("{:.1f}%", rate.share * 100), row.source);
  }
  return text;
}

std::string CallProfile::chromeTrace() const {
  OrderedJson list = OrderedJson::array();
  for (const Event &event : events) {
    const ProfileRow &row = rows[event.row];
    Rate rate = rateOf(row);
    list.push_back({{"name", row.op.empty() ? row.kernel : row.op},
                    {"cat", row.kernel},
                    {"ph", "X"},
                    {"pid", 1},
                    {"tid", 1},
                    {"ts", event.begin * 1e6},
                    {"dur", event.seconds * 1e6},
                    {"args",
                     {{"kernel", row.kernel},
                      {"source", row.source},
                      {"rate", rate.text},
                      {"share_of_peak", rate.share}}}});
  }
  return printJson({{"traceEvents", std::move(list)}, {"displayTimeUnit", "ms"}}, 2);
}

OrderedJson CallProfile::json() const {
  OrderedJson result = {{"program", program},
                        {"isa", isa},
                        {"threads", threads},
                        {"peak_flops", peakFlops},
                        {"peak_bandwidth", peakBandwidth},
                        {"seconds", seconds},
                        {"rows", OrderedJson::array()}};
  for (const ProfileRow &row : rows) {
    Rate rate = rateOf(row);
    result["rows"].push_back({{"kernel", row.kernel},
                              {"op", row.op},
                              {"source", row.source},
                              {"runs", row.runs},
                              {"seconds", row.seconds},
                              {"flops", row.flops},
                              {"bytes", row.bytes},
                              {"rate", rate.text},
                              {"share_of_peak", rate.share}});
  }
  return result;
}

} // namespace torchere::session
