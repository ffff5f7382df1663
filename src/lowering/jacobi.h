// Eigenvalues and singular values by Jacobi's rotations, in loops that tell what they compute.
#pragma once

#include "lowering/matrix.h"

namespace torchere::lowering {

struct EigenDecomposition {
  Elements values;  ///< [batch, n], real, ascending
  Elements vectors; ///< [batch, n, n], in columns
};

/// Of Hermitian matrices, [batch, n, n].
EigenDecomposition eigenDecomposition(const Elements &matrices);

/// Their eigenvalues alone.
Elements eigenvalues(const Elements &matrices);

struct SingularValueDecomposition {
  Elements u;      ///< [batch, m, k or m]; k is min(m, n)
  Elements values; ///< [batch, k], real, descending
  Elements vh;     ///< [batch, k or n, n]
};

/// Of matrices [batch, m, n]. With `isFull` U and V^H are square.
SingularValueDecomposition singularValueDecomposition(const Elements &matrices, bool isFull);
/// Their singular values alone, [batch, k].
Elements singularValues(const Elements &matrices);

} // namespace torchere::lowering
