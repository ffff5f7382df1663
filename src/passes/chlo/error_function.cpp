// erf, erfc and the inverse of erf.
//
// The polynomials interpolate at Chebyshev nodes; they were computed with 50 digits.
#include "passes/chlo/functions.h"
#include "stablehlo/error_function_parts.h"

namespace torchere::passes {

namespace {

/// erf(x) / x for 0 <= x <= 1, in x * x.
constexpr double centerSingle[] = {1.1283791658483509,    -0.37612626666720334, 0.11283594715160218,
                                   -0.026854212010626412, 0.005189087423433974, -0.000801686428716587,
                                   7.875875062685488e-05};
constexpr double centerDouble[] = {1.1283791670955126,      -0.37612638903183543,   0.11283791670945006,
                                   -0.02686617064323777,    0.0052239776071164225,  -0.0008548325975389692,
                                   0.00012055294904839707,  -1.492473690741966e-05, 1.6447424703317362e-06,
                                   -1.6208483801871705e-07, 1.3720064546777686e-08, -7.795898827002142e-10};

/// erfc of values that are not negative.
Elements complementOfPositive(const Elements &value) {
  Elements x = minimum(value, isDouble(value) ? 28.0 : 11.0); // erfc is 0 beyond
  return stablehlo::scaledErrorFunctionComplement(x) * stablehlo::exponentialOfSquare(x, /*isNegative=*/true);
}

Elements centerOf(const Elements &x) {
  Elements clamped = minimum(abs(x), 1.0);
  return x * polynomial(clamped * clamped, precise(x, centerSingle, centerDouble));
}

// erfinv(x) / x for |x| < 1, in w = -log(1 - x * x).
constexpr double inverseSingleNear[] = {
    1.5014092922210693,     0.24664027988910675,    -0.004177317954599857,  -0.001252707908861339,
    0.00021825107978656888, -4.996157258574385e-06, -3.417409516259795e-06, 4.788011551681848e-07,
    1.37821105639091e-08,   -1.089716850088962e-08, 8.198350331944937e-10,  1.2861572917799435e-10,
    -2.051840988781528e-11, -2.796041122157117e-13};
constexpr double inverseSingleFar[] = {2.832976818084717,     1.0016748905181885,     0.009444721043109894,
                                       -0.007635962683707476, 0.005691407714039087,   -0.0036035170778632164,
                                       0.0014741307822987437, -4.503476884565316e-05, -0.0003011099761351943,
                                       0.0001074866158887744};
constexpr double inverseDoubleNear[] = {
    1.6536545626831027,      0.24015818242558834,     -0.006033670871426851,   -0.0007407025341546431,
    0.00018673420801981186,  -1.3882523393957483e-05, -1.3654691758785656e-06, 4.23478816822246e-07,
    -2.907039127564132e-08,  -4.1126604371632185e-09, 1.051223377050429e-09,   -5.414303283919504e-11,
    -1.2978805369932565e-11, 2.6305268312595183e-12,  -8.07192593899004e-14,   -4.0020031087558496e-14,
    6.521333511502239e-15,   -3.94018812230432e-17,   -1.2215637192404172e-16, 1.5510787009902526e-17,
    6.075050702072414e-19,   -3.4734793888538036e-19, 1.999259988861535e-20,   3.194015548136271e-21,
    -3.5932028927020693e-22};
constexpr double inverseDoubleMiddle[] = {
    3.0838856104922208,      1.0052589676941592,     0.0053709145535581985,  -0.0037512085075638536,
    0.0024914420976198813,   -0.0016882755561681802, 0.0009532893521118177,  -0.00035503751863069763,
    2.4031363245440546e-05,  6.828484052292924e-05,  -4.731952918337189e-05, 1.2475343474376931e-05,
    2.9273722115986924e-06,  -4.013946398190292e-06, 1.4958263152984917e-06, 1.832399988132858e-08,
    -2.6860975725571463e-07, 9.071950571029922e-08,  -3.831039946072411e-10};
constexpr double inverseDoubleFar[] = {
    4.849906401408584,      1.0103004648645455,     -0.00013871931837490978, -0.00021503011983176173,
    7.599527795572463e-05,  -1.968177065090797e-05, 4.5260539817712815e-06,  -9.930296692184754e-07,
    2.2904532246081713e-07, -6.75553063722227e-08,  2.9040258989220123e-08,  -1.5256673202852047e-08,
    7.784923370804637e-09,  -3.469670973211961e-09, 1.3518911214656604e-09,  -4.3846761630243694e-10,
    5.055364219128875e-11,  4.3070321963774864e-11, -1.6197071045640154e-11};

/// One interval of w: up to `end`, a polynomial of w - `shift`, or of sqrt(w) - `shift` in all but the first.
struct InversePart {
  double end;
  double shift;
  llvm::ArrayRef<double> coefficients;
};

llvm::SmallVector<InversePart> inverseParts(const Elements &x) {
  if (isDouble(x))
    return {{6.25, 3.125, inverseDoubleNear},
            {16.0, 3.25, inverseDoubleMiddle},
            {infinity, 5.0, inverseDoubleFar}};
  return {{5.0, 2.5, inverseSingleNear}, {infinity, 3.0, inverseSingleFar}};
}

} // namespace

Elements errorFunction(const Elements &x) {
  Elements magnitude = abs(x);
  Elements away = 1.0 - complementOfPositive(magnitude);
  return (magnitude < 1.0).select(centerOf(x), (x < 0.0).select(-away, away));
}

Elements complementaryErrorFunction(const Elements &x) {
  Elements positive = complementOfPositive(abs(x));
  Elements far = (x < 0.0).select(2.0 - positive, positive);
  return (abs(x) < 0.5).select(1.0 - centerOf(x), far);
}

Elements inverseErrorFunction(const Elements &x) {
  Elements w = -log((1.0 - x) * (1.0 + x)); // not 1 - x * x, whose rounding error matters near 1
  Elements root = sqrt(w);
  llvm::SmallVector<InversePart> parts = inverseParts(x);
  Elements ratio = polynomial(root - parts.back().shift, parts.back().coefficients);
  for (size_t i = parts.size() - 1; i-- > 0;)
    ratio = (w < parts[i].end)
                .select(polynomial((i == 0 ? w : root) - parts[i].shift, parts[i].coefficients), ratio);
  return equal(abs(x), 1.0).select(x * infinity, x * ratio);
}

} // namespace torchere::passes
