// Elements of any dtype, by way of double.
#pragma once

#include "base/dtype.h"

#include <cstddef>

namespace torchere::cli {

/// The dtype of a complex number's two parts; other dtypes as they are.
DType partOf(DType dtype);

/// An element's value; not of complex dtypes. Integers of more than 53 bits are rounded.
double readElement(DType dtype, const void *element);
/// Writes the nearest value of the dtype; not of complex dtypes.
void writeElement(DType dtype, double value, void *element);

} // namespace torchere::cli
