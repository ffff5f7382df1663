// Factorization of matrices and systems of equations, for each matrix of a batch.
#include "interpreter/call.h"
#include "stablehlo/dialect.h"

#include <cmath>
#include <limits>

namespace torchere::interpreter {

namespace {

using Complex = std::complex<double>;

class Matrix {
public:
  Matrix(int64_t rows, int64_t columns)
      : columnCount(columns), numbers(static_cast<size_t>(rows * columns)), rowCount(rows) {}
  /// One matrix of a batch, in a tensor whose last two dimensions are rows and columns.
  Matrix(const Tensor &tensor, int64_t batch)
      : Matrix(tensor.shape()[tensor.rank() - 2], tensor.shape()[tensor.rank() - 1]) {
    for (int64_t position = 0; position < rowCount * columnCount; ++position)
      numbers[static_cast<size_t>(position)] =
          tensor.at(batch * rowCount * columnCount + position).asComplex();
  }

  int64_t rows() const { return rowCount; }
  int64_t columns() const { return columnCount; }
  Complex &at(int64_t row, int64_t column) {
    return numbers[static_cast<size_t>(row * columnCount + column)];
  }
  Complex at(int64_t row, int64_t column) const {
    return numbers[static_cast<size_t>(row * columnCount + column)];
  }

  Matrix transposed(bool isConjugate) const {
    Matrix result(columnCount, rowCount);
    for (int64_t row = 0; row < rowCount; ++row)
      for (int64_t column = 0; column < columnCount; ++column)
        result.at(column, row) = isConjugate ? std::conj(at(row, column)) : at(row, column);
    return result;
  }
  /// A matrix of this size, filled with one number.
  Matrix filled(Complex number) const {
    Matrix result(rowCount, columnCount);
    result.numbers.assign(numbers.size(), number);
    return result;
  }
  void store(Tensor &tensor, int64_t batch) const {
    for (int64_t position = 0; position < rowCount * columnCount; ++position) {
      Complex number = numbers[static_cast<size_t>(position)];
      tensor.set(batch * rowCount * columnCount + position,
                 isComplex(tensor.type()) ? Element::complex(tensor.type(), number)
                                          : Element::number(tensor.type(), number.real()));
    }
  }

private:
  int64_t columnCount;
  std::vector<Complex> numbers;
  int64_t rowCount;
};

int64_t matrixCount(const Tensor &tensor) {
  return elementCount(IndexView(tensor.shape()).first(tensor.shape().size() - 2));
}

/// The lower triangle L with L L^H equal to the matrix, whose lower triangle is read. All NaN if the matrix
/// is not positive definite.
Matrix factorize(const Matrix &matrix) {
  int64_t size = matrix.rows();
  Matrix lower(size, size);
  for (int64_t column = 0; column < size; ++column)
    for (int64_t row = column; row < size; ++row) {
      Complex rest = row == column ? Complex(matrix.at(row, row).real()) : matrix.at(row, column);
      for (int64_t inner = 0; inner < column; ++inner)
        rest -= lower.at(row, inner) * std::conj(lower.at(column, inner));
      if (row != column)
        lower.at(row, column) = rest / lower.at(column, column).real();
      else if (rest.real() > 0)
        lower.at(row, row) = std::sqrt(rest.real());
      else
        return lower.filled(std::numeric_limits<double>::quiet_NaN());
    }
  return lower;
}

/// The other triangle of the result is zero.
Result<Values> cholesky(const Call &call) {
  const Tensor &operand = call.operand(0);
  bool isLower = call.flag("lower");
  TORCHERE_ASSIGN(Tensor result, Tensor::create(operand.type(), operand.shape()));
  for (int64_t batch = 0; batch < matrixCount(operand); ++batch) {
    Matrix matrix(operand, batch);
    Matrix lower = factorize(isLower ? matrix : matrix.transposed(/*isConjugate=*/true));
    (isLower ? lower : lower.transposed(/*isConjugate=*/true)).store(result, batch);
  }
  return Values{std::move(result)};
}

/// Solves `triangle * x = right` in place, by substitution from the side where the triangle's row has one
/// element.
void substitute(const Matrix &triangle, bool isLower, bool isUnit, Matrix &right) {
  int64_t size = triangle.rows();
  for (int64_t column = 0; column < right.columns(); ++column)
    for (int64_t step = 0; step < size; ++step) {
      int64_t row = isLower ? step : size - 1 - step;
      Complex rest = right.at(row, column);
      for (int64_t inner = isLower ? 0 : row + 1; inner < (isLower ? row : size); ++inner)
        rest -= triangle.at(row, inner) * right.at(inner, column);
      right.at(row, column) = isUnit ? rest : rest / triangle.at(row, row);
    }
}

Result<Values> triangularSolve(const Call &call) {
  const Tensor &a = call.operand(0), &b = call.operand(1);
  auto transpose = call.attribute<stablehlo::TransposeAttr>("transpose_a").getValue();
  bool isLeft = call.flag("left_side"), isUnit = call.flag("unit_diagonal");
  bool isTransposed =
      transpose == stablehlo::Transpose::TRANSPOSE || transpose == stablehlo::Transpose::ADJOINT;
  TORCHERE_ASSIGN(Tensor result, Tensor::create(b.type(), b.shape()));
  for (int64_t batch = 0; batch < matrixCount(b); ++batch) {
    Matrix triangle(a, batch), right(b, batch);
    bool isLower = call.flag("lower") != isTransposed;
    if (isTransposed)
      triangle = triangle.transposed(transpose == stablehlo::Transpose::ADJOINT);
    // x * triangle = right is triangle^T * x^T = right^T.
    if (!isLeft) {
      triangle = triangle.transposed(false);
      right = right.transposed(false);
    }
    substitute(triangle, isLeft ? isLower : !isLower, isUnit, right);
    (isLeft ? right : right.transposed(false)).store(result, batch);
  }
  return Values{std::move(result)};
}

} // namespace

void addMatrix(EvaluationTable &table) {
  table.add("stablehlo.cholesky", cholesky);
  table.add("stablehlo.triangular_solve", triangularSolve);
}

} // namespace torchere::interpreter
