// What formulas of the error function's kin share: the expansion of erfc, and lowerings of functions that
// CHLO has not.
#pragma once

#include "stablehlo/elements.h"

namespace torchere::stablehlo {

/// (1 + 2 x) exp(x * x) erfc(x) for x >= 0, in (x - 3) / (x + 3).
inline constexpr double scaledErfcSingle[] = {
    1.2530080582697296,   -0.13562021387623402,   -0.04756225170643757,  0.12962717489066664,
    -0.11927451860620696, 0.0684107595220041,     -0.023765692173267204, 0.002284952149043377,
    0.00187749464838414,  -0.0005131594359951843, -9.351062915344479e-05};
inline constexpr double scaledErfcDouble[] = {
    1.2530080582697296,     -0.13562110612457573,    -0.04756229435344576,   0.129645158702281,
    -0.11927366341575335,   0.06830802735644051,     -0.02377051490712486,   0.0025293916666211625,
    0.0018886902217603342,  -0.000779831276440303,   -0.000105158888745708,  0.00012509529969692863,
    4.945791788878783e-06,  -2.0089974601937562e-05, -7.218910913909693e-07, 3.4542640815449015e-06,
    3.4040811203344006e-07, -5.963735757072212e-07,  -1.232972365581405e-07, 8.764763429942915e-08,
    2.900096033455807e-08,  -7.639805706660184e-09,  -3.3911975149641994e-09};

/// exp(x * x) erfc(x) of finite values that are not negative.
template <class Builder> ElementsOf<Builder> scaledErrorFunctionComplement(const ElementsOf<Builder> &x) {
  return polynomial((x - 3.0) / (x + 3.0), precise(x, scaledErfcSingle, scaledErfcDouble)) / (1.0 + 2.0 * x);
}

/// exp(x * x), or exp(-x * x), for 0 <= x <= 28. The square of x rounded to a few bits is exact; what it
/// lacks is small, so that its rounding does not grow with x * x. (As a product of two exponentials,
/// compilers would make it one.)
template <class Builder>
ElementsOf<Builder> exponentialOfSquare(const ElementsOf<Builder> &x, bool isNegative) {
  double scale = isDouble(x) ? 65536.0 : 32.0;
  ElementsOf<Builder> rounded = floor(x * scale) * (1.0 / scale);
  ElementsOf<Builder> square = rounded * rounded, lacking = isNegative ? rounded - x : x - rounded;
  ElementsOf<Builder> power = exp(isNegative ? -square : square);
  return power + power * expm1(lacking * (x + rounded));
}

} // namespace torchere::stablehlo
