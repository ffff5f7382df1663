// Bessel functions of orders 0 and 1, and the modified ones.
//
// Near zero polynomials, each but for the function's zero and its logarithm; beyond, amplitudes over sqrt(x)
// of a cosine and a sine, or of an exponential. The coefficients interpolate at Chebyshev nodes and were
// computed with 60 digits. They are good for float64, so float32 takes them as well.
#include "lowering/formula.h"
#include "lowering/op_table.h"
#include "stablehlo/chlo_dialect.h"

#include <cmath>
#include <numbers>

namespace torchere::lowering {

namespace {

using std::numbers::pi;

/// J0(x) / (x^2 - z^2) and J1(x) / (x (x^2 - z^2)) for |x| <= 5, z the first zero, in x^2 / 12.5 - 1.
constexpr double near0[] = {-0.057280804216345335,  0.07436630462755323,     -0.03277786210789064,
                            0.007375894304196019,   -0.0010134053469831527,  9.414473580697145e-05,
                            -6.319318626212489e-06, 3.2115623529319426e-07,  -1.2795344952548947e-08,
                            4.1056888048438527e-10, -1.0854306717684986e-11, 2.399420021067429e-13};
constexpr double near1[] = {-0.01587595431164548,   0.013090777521810029,    -0.004240225993395723,
                            0.0007552540432951285,  -8.592956232067133e-05,  6.814683895177347e-06,
                            -3.991381172349697e-07, 1.799515992374399e-08,   -6.443125533715618e-10,
                            1.877381214599579e-11,  -4.5448929602915886e-13, 9.268080204743411e-15};
/// Y0(x) - 2/pi log(x) J0(x) and (Y1(x) - 2/pi (log(x) J1(x) - 1 / x)) / x, likewise.
constexpr double secondNear0[] = {0.4837248578102995,     -0.4326558222855125,    -0.47057636552972876,
                                  0.38851639956570944,    -0.11151682184328655,   0.017635345389338752,
                                  -0.0018028096665503853, 0.00012994629092083859, -6.985504374076987e-06,
                                  2.9142206886821627e-07, -9.72095520811079e-09,  2.6539977501003325e-10,
                                  -6.049936925443629e-12, 1.1665346489650883e-13};
constexpr double secondNear1[] = {0.13974939033568806,     0.09108650838448444,     -0.16312020358118715,
                                  0.06634695354779108,     -0.013433433740818165,   0.001668803132863594,
                                  -0.00014141835794484212, 8.733098304849315e-06,   -4.1137780795312214e-07,
                                  1.528890182483862e-08,   -4.6013010745671044e-10, 1.1448944556867688e-11,
                                  -2.397782335135821e-13,  4.2776864260420625e-15};
/// For x >= 5, of sqrt(pi x / 2) J: the factors of cos(x - shift) and of -5 / x sin(x - shift), fractions in
/// 25 / x^2.
constexpr double cosineTop0[] = {1.0,
                                 6.802667718671009,
                                 15.437256744658214,
                                 14.633209844374118,
                                 5.945354185773103,
                                 0.9523427595362864,
                                 0.04739108692484987,
                                 0.00035841362798276776};
constexpr double cosineBottom0[] = {1.0,
                                    6.805480218671008,
                                    15.456217714413972,
                                    14.675495898549888,
                                    5.984089306314081,
                                    0.967011350029139,
                                    0.04939861315444542,
                                    0.0004236864591376604};
constexpr double sineTop0[] = {-0.024999999999999994,  -0.18864431837763918,   -0.4795829118041508,
                               -0.5155747714116562,    -0.241157776050507,     -0.04522302626804388,
                               -0.0026577865586196866, -2.1120733772195763e-05};
constexpr double sineBottom0[] = {1.0,
                                  7.569210235105488,
                                  19.357812854636105,
                                  21.05557063038488,
                                  10.089724545569984,
                                  1.9979868238297755,
                                  0.1355898763386044,
                                  0.0019259962970097054};
constexpr double cosineTop1[] = {1.0,
                                 6.712964144224935,
                                 14.991274731792316,
                                 13.935202983175865,
                                 5.528857163458196,
                                 0.8619304267738689,
                                 0.0420876903316019,
                                 0.0003546084743973066};
constexpr double cosineBottom1[] = {1.0,
                                    6.708276644224936,
                                    14.960060397913,
                                    13.866582084035535,
                                    5.467036180142323,
                                    0.8389608629875561,
                                    0.03900954894570312,
                                    0.0002566084898741937};
constexpr double sineTop1[] = {0.075,
                               0.5597339044452186,
                               1.4050889070373966,
                               1.4891320169936733,
                               0.686088346190861,
                               0.1270639259055554,
                               0.007511415142850883,
                               6.975563235492575e-05};
constexpr double sineBottom1[] = {1.0,
                                  7.474056225936219,
                                  18.815081924300376,
                                  20.052372027391076,
                                  9.34724111797211,
                                  1.7778485729740487,
                                  0.11286699073918044,
                                  0.0013882578791689108};
/// exp(-x) I0(x) for x <= 8, in x / 4 - 1, and sqrt(x) exp(-x) I0(x) beyond, in 16 / x - 1.
constexpr double modifiedNear0[] = {
    0.20700192122398667,    -0.11300432688620547,   0.0945156285399639,     -0.08904344136076327,
    0.08734341617468505,    -0.08496338091593245,   0.07927522592865593,    -0.06954119562303405,
    0.05677703173239174,    -0.04298594937721531,   0.030177914326369393,   -0.019682655309282406,
    0.011960065956449436,   -0.006792396673321815,  0.0036171685199186195,  -0.001811898032010941,
    0.0008562120964037982,  -0.0003828745840656792, 0.00016258361907161146, -6.555606021032439e-05,
    2.4986432931858343e-05, -9.194264364358614e-06, 3.40892232481125e-06,   -1.1360524712119476e-06,
    2.699153146632741e-07,  -8.791296325157322e-08, 5.753995763975938e-08,  -1.601973429472564e-08};
constexpr double modifiedFar0[] = {
    0.4021765094450081,      0.0033605519836677235,  0.00013621607439187193, 1.1143033802583682e-05,
    1.4838475863096976e-06,  2.9735956581528157e-07, 8.872154618944625e-08,  3.932926571091252e-08,
    2.155681110989874e-08,   7.532386417555123e-09,  -6.805980075129678e-09, -1.331979859201994e-08,
    -5.162517880939013e-09,  7.323310735122893e-09,  6.789790403895736e-09,  -3.11851456121224e-09,
    -4.8482509221176966e-09, 1.0924527246468664e-09, 2.3981927228949238e-09, -2.748111637276033e-10,
    -7.473844621887592e-10,  3.525321019700796e-11,  1.0881994785468934e-10};
/// K0(x) + log(x / 2) I0(x) and (K1(x) - log(x / 2) I1(x)) x for x <= 2, in x^2 / 2 - 1.
constexpr double decayingNear0[] = {-0.30362077291575545,  0.3404973210133806,    0.07177701034240509,
                                    0.005053392643196092,  0.0001828055582791554, 4.0545066199495615e-06,
                                    6.093361894172149e-08, 6.623013277190278e-10, 5.4525646625978115e-12,
                                    3.518611978846953e-14};
constexpr double decayingNear1[] = {0.8850882877295894,     -0.3322409552403131,    -0.2438385288677433,
                                    -0.027854235219771845,  -0.001383168846618116,  -3.891869064370918e-05,
                                    -7.081133691517491e-07, -9.032127511269602e-09, -8.53363416816121e-11,
                                    -6.21422926654518e-13};
/// sqrt(x) exp(x) K(x) for x > 2, in 4 / x - 1.
constexpr double decayingFar0[] = {
    1.2185953385133905,     -0.031071461824889863,   0.003032891810274143,   -0.00047976905673534966,
    9.95605474680701e-05,   -2.4735205374482363e-05, 7.002244891192467e-06,  -2.191167925216506e-06,
    7.427862249156294e-07,  -2.6897300718519323e-07, 1.0292557328065749e-07, -4.106658027115221e-08,
    1.713185600678902e-08,  -8.004851515961861e-09,  3.649704196745876e-09,  -6.909445532095268e-10,
    2.3928247577454007e-10, -1.2154646925329214e-09, 6.696909677353191e-10,  4.297822831935991e-10,
    -2.511583623750801e-10, -1.7415792636713548e-10, 9.815402008859526e-11};
constexpr double decayingFar1[] = {
    1.363151890371342,      0.1033497377538656,     -0.005566729880073309,   0.0007357241548745106,
    -0.0001395902196146278, 3.2843866443823695e-05, -8.961206568008175e-06,  2.7300306911646126e-06,
    -9.067153917791994e-07, 3.230534911986308e-07,  -1.2200063909110853e-07, 4.8165011477502914e-08,
    -1.990916912542139e-08, 9.191838293612963e-09,  -4.159564044495663e-09,  8.254002611298962e-10,
    -2.915889725458638e-10, 1.3385849977465314e-09, -7.347807544194839e-10,  -4.671582670762342e-10,
    2.7260400995214217e-10, 1.9076899650576552e-10, -1.0724391572705258e-10};

constexpr double squareOfZero0 = 5.783185962946784;
constexpr double squareOfZero1 = 14.681970642123893;

Elements nearVariable(const Elements &x) {
  return minimum(x * x, 25.0) * 0.08 - 1.0;
}

Elements besselJ0Near(const Elements &x) {
  return (x * x - squareOfZero0) * polynomial(nearVariable(x), near0);
}

Elements besselJ1Near(const Elements &x) {
  return x * (x * x - squareOfZero1) * polynomial(nearVariable(x), near1);
}

/// The amplitudes of the cosine and the sine far from zero, with the phase they belong to.
struct Wave {
  Elements cosine, sine, phase;
};

Elements fraction(const Elements &x, llvm::ArrayRef<double> top, llvm::ArrayRef<double> bottom) {
  return polynomial(x, top) / polynomial(x, bottom);
}

Wave wave0(const Elements &x) {
  Elements near = 5.0 / maximum(x, 5.0), square = near * near, scale = std::sqrt(2.0 / pi) / sqrt(x);
  return {scale * fraction(square, cosineTop0, cosineBottom0),
          scale * near * fraction(square, sineTop0, sineBottom0), x - pi / 4};
}

Wave wave1(const Elements &x) {
  Elements near = 5.0 / maximum(x, 5.0), square = near * near, scale = std::sqrt(2.0 / pi) / sqrt(x);
  return {scale * fraction(square, cosineTop1, cosineBottom1),
          scale * near * fraction(square, sineTop1, sineBottom1), x - 3 * pi / 4};
}

Elements firstKind(const Wave &wave) {
  return wave.cosine * cosine(wave.phase) - wave.sine * sine(wave.phase);
}

Elements secondKind(const Wave &wave) {
  return wave.cosine * sine(wave.phase) + wave.sine * cosine(wave.phase);
}

Elements besselJ0(const Elements &x) {
  Elements magnitude = abs(x);
  return (magnitude <= 5.0).select(besselJ0Near(x), firstKind(wave0(magnitude)));
}

Elements besselJ1(const Elements &x) {
  Elements magnitude = abs(x), far = firstKind(wave1(magnitude));
  return (magnitude <= 5.0).select(besselJ1Near(x), (x < 0.0).select(-far, far));
}

Elements belowZeroIsNan(const Elements &x, const Elements &value) {
  return (x < 0.0).select(nan, value);
}

Elements besselY0(const Elements &x) {
  Elements near = polynomial(nearVariable(x), secondNear0) + (2.0 / pi) * log(x) * besselJ0Near(x);
  near = equal(x, 0.0).select(-infinity, near);
  return belowZeroIsNan(x, (x <= 5.0).select(near, secondKind(wave0(x))));
}

Elements besselY1(const Elements &x) {
  Elements near =
      x * polynomial(nearVariable(x), secondNear1) + (2.0 / pi) * (besselJ1Near(x) * log(x) - 1.0 / x);
  near = equal(x, 0.0).select(-infinity, near);
  return belowZeroIsNan(x, (x <= 5.0).select(near, secondKind(wave1(x))));
}

/// exp(-|x|) I0(x).
Elements scaledI0(const Elements &x) {
  Elements magnitude = abs(x), large = maximum(magnitude, 8.0);
  Elements near = polynomial(minimum(magnitude, 8.0) * 0.25 - 1.0, modifiedNear0);
  return (magnitude <= 8.0).select(near, polynomial(16.0 / large - 1.0, modifiedFar0) / sqrt(large));
}

Elements scaledI1(const Elements &x) {
  return x.apply<chlo::BesselI1eOp>();
}

Elements modifiedI0(const Elements &x) {
  return exp(abs(x)) * scaledI0(x);
}

Elements modifiedI1(const Elements &x) {
  return exp(abs(x)) * scaledI1(x);
}

Elements decayingNear(const Elements &x, llvm::ArrayRef<double> coefficients) {
  Elements small = minimum(x, 2.0);
  return polynomial(small * small * 0.5 - 1.0, coefficients);
}

/// exp(x) K(x) for x > 2.
Elements decayingFar(const Elements &x, llvm::ArrayRef<double> coefficients) {
  Elements large = maximum(x, 2.0);
  return polynomial(4.0 / large - 1.0, coefficients) / sqrt(large);
}

/// Of the part near zero and the scaled one beyond 2.
template <bool isScaled> Elements decaying(const Elements &x, const Elements &near, const Elements &far) {
  Elements value = isScaled ? (x <= 2.0).select(near * exp(x), far) : (x <= 2.0).select(near, far * exp(-x));
  return belowZeroIsNan(x, equal(x, 0.0).select(infinity, value));
}

template <bool isScaled> Elements decaying0(const Elements &x) {
  Elements small = minimum(x, 2.0);
  Elements near = decayingNear(x, decayingNear0) - log(small * 0.5) * modifiedI0(small);
  return decaying<isScaled>(x, near, decayingFar(x, decayingFar0));
}

template <bool isScaled> Elements decaying1(const Elements &x) {
  Elements small = minimum(x, 2.0);
  Elements near = decayingNear(x, decayingNear1) / small + log(small * 0.5) * modifiedI1(small);
  return decaying<isScaled>(x, near, decayingFar(x, decayingFar1));
}

/// sin(x) / x.
Elements sphericalJ0(const Elements &x) {
  Elements value = equal(x, 0.0).select(1.0, sine(x) / x);
  return equal(abs(x), infinity).select(0.0, value);
}

} // namespace

void addBessel(OpTable &table) {
  table.add("aten::i0(Tensor self) -> Tensor", formula<modifiedI0>);
  table.add("aten::special_i0e(Tensor self) -> Tensor", formula<scaledI0>);
  table.add("aten::special_i1(Tensor self) -> Tensor", formula<modifiedI1>);
  table.add("aten::special_i1e(Tensor self) -> Tensor", formula<scaledI1>);
  table.add("aten::special_bessel_j0(Tensor self) -> Tensor", formula<besselJ0>);
  table.add("aten::special_bessel_j1(Tensor self) -> Tensor", formula<besselJ1>);
  table.add("aten::special_bessel_y0(Tensor self) -> Tensor", formula<besselY0>);
  table.add("aten::special_bessel_y1(Tensor self) -> Tensor", formula<besselY1>);
  table.add("aten::special_modified_bessel_i0(Tensor self) -> Tensor", formula<modifiedI0>);
  table.add("aten::special_modified_bessel_i1(Tensor self) -> Tensor", formula<modifiedI1>);
  table.add("aten::special_modified_bessel_k0(Tensor self) -> Tensor", formula<decaying0<false>>);
  table.add("aten::special_modified_bessel_k1(Tensor self) -> Tensor", formula<decaying1<false>>);
  table.add("aten::special_scaled_modified_bessel_k0(Tensor x) -> Tensor", formula<decaying0<true>>);
  table.add("aten::special_scaled_modified_bessel_k1(Tensor x) -> Tensor", formula<decaying1<true>>);
  table.add("aten::special_spherical_bessel_j0(Tensor x) -> Tensor", formula<sphericalJ0>);
}

} // namespace torchere::lowering
