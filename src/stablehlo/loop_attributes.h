// Attributes of loops that are this project's own. Others ignore them.
#pragma once

namespace torchere::stablehlo {

/// A string: what the loop computes, for a compiler that has a kernel for it. The loop itself says it as
/// well.
///
/// "lu": of a counter, how often, A, zeros, places along dimension 1 and zeros: the factors with partial
/// pivoting of each A[batch], of m rows and n columns, in one matrix; the rows, from 1, that changed places
/// with the row of each of the min(m, n) steps; the rows of A that the rows of P A are; the first step, from
/// 1, whose pivot was zero, or 0.
/// "cholesky": of a counter, how often, the lower triangle of A, with zeros above, and zeros: L with L L^H =
/// A; the first minor, from 1, that is not positive definite, or 0. Where there is one, L may be anything.
/// "qr": of a counter, how often, A and zeros: as LAPACK packs them, R and, below, the reflectors; their
/// factors.
/// "reflectors": of a counter, how often, X and the two results of "qr", and how often again: Q X.
/// "adjoint_reflectors": likewise, Q^H X.
/// "eigenvectors": of a counter, once, anything of the results' types and Hermitian A: the eigenvalues of
/// each A[batch], ascending; their vectors, in columns. "eigenvalues": likewise, these alone.
/// "singular_vectors": of a counter, once, anything of the results' types and A: U, the singular values,
/// descending, and V^H, both square or with as many columns, or rows, as there are values. "singular_values":
/// likewise, these alone.
inline constexpr const char *computesAttribute = "torchere.computes";

} // namespace torchere::stablehlo
