// Householder reflectors: how QR factors are made, stored and applied.
#pragma once

#include "lowering/matrix.h"

namespace torchere::lowering {

/// Q R of matrices [batch, m, n], as LAPACK gives it: Q is the product of the reflectors I - tau v v^H.
struct Reflectors {
  Elements packed; ///< R, and below the diagonal of column k the reflector v of step k without its one
  Elements tau;    ///< [batch, min(m, n)]
};

Reflectors factorQr(const Elements &matrices);

/// Q X, or Q^H X, for matrices X [batch, m, any].
Elements applyReflectors(const Reflectors &reflectors, const Elements &matrices, bool isAdjoint);

} // namespace torchere::lowering
