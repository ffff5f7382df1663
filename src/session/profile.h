// CallProfile: what each kernel of a call took, as a plugin of this package measures it.
#pragma once

#include "base/error.h"
#include "base/json.h"

#include <string>
#include <string_view>
#include <vector>

namespace torchere::session {

/// One step of the plugin's plan.
struct ProfileRow {
  std::string kernel;                       ///< "matmul"
  std::string op;                           ///< "stablehlo.dot_general"; empty if the plan added the step
  std::string source;                       ///< "model.py:31 in encoder.layer.0", or a part of it
  int64_t runs = 0;                         ///< loops run their steps several times
  double seconds = 0, flops = 0, bytes = 0; ///< of all runs
};

struct CallProfile {
  struct Event {
    size_t row = 0;
    double begin = 0, seconds = 0; ///< the first event's run begins at about 0
  };
  std::string program;
  std::string isa;
  int64_t threads = 0;
  double peakFlops = 0, peakBandwidth = 0; ///< of the machine, a second
  double seconds = 0;                      ///< of all steps
  std::vector<ProfileRow> rows;            ///< in the order of their first runs
  std::vector<Event> events;               ///< in the order of their ends; the first 100,000

  /// What the plugin reports. InvalidArgument if it is anything else.
  TORCHERE_EXPORT static Result<CallProfile> parse(std::string_view report, std::string_view subject);

  /// How close the row comes to the machine's peak, of arithmetic or of memory, whichever it is closer to.
  struct Rate {
    std::string text; ///< "103.2 GFLOP/s"; empty if neither is known
    double share = 0; ///< of the peak
  };
  TORCHERE_EXPORT Rate rateOf(const ProfileRow &row) const;
  /// A line for each row, those that took longest first, and one for all.
  TORCHERE_EXPORT std::string table() const;
  /// For chrome://tracing and Perfetto.
  TORCHERE_EXPORT std::string chromeTrace() const;
  /// The rows as numbers and texts.
  TORCHERE_EXPORT OrderedJson json() const;
};

} // namespace torchere::session
