// LU factors of matrices, with partial pivoting: what systems of equations, inverses and determinants are
// made of.
#pragma once

#include "lowering/matrix.h"

namespace torchere::lowering {

/// P A = L U of matrices [batch, m, n], as LAPACK gives it.
struct LuFactors {
  Elements packed;      ///< U, and below the diagonal L without its ones
  Elements pivots;      ///< [batch, min(m, n)], i32: the row, from 1, that step k exchanged with row k
  Elements permutation; ///< [batch, m], i32: row i of P A is row permutation[i] of A
  Elements info;        ///< [batch], i32: the first step, from 1, whose pivot is zero; 0 where there is none
};

LuFactors factorLu(const Elements &matrices);

/// The permutation of `rows` rows that these exchanges make.
Elements permutationOf(const Elements &pivots, Dim rows);

/// X with A X = right, or A^H X = right, from the factors of square matrices A.
Elements solveLu(const Elements &packed, const Elements &permutation, const Elements &right, bool isAdjoint);

} // namespace torchere::lowering
