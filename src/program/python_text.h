// Values as Python's repr() shows them.
#pragma once

#include <complex>
#include <string>
#include <string_view>

namespace torchere::program {

/// "1.0", "1e-05", "inf": the shortest digits that read back as the same double.
std::string pythonText(double value);
/// "(1+2j)", "2j".
std::string pythonText(std::complex<double> value);
/// "'mean'": quoted, with control characters escaped; other UTF-8 text unchanged.
std::string pythonText(std::string_view value);

} // namespace torchere::program
