// The elements of arrays as numbers, for people and for JSON.
#pragma once

#include "base/dtype.h"
#include "base/json.h"

#include <cstddef>
#include <string>

namespace torchere::cli {

/// One element: a bool, an integer, a float (the strings "nan", "inf" and "-inf" where JSON has no number),
/// or [real, imaginary].
OrderedJson elementJson(DType dtype, const void *element);

/// The first `limit` of `count` dense elements: "[1, 2.5, ...]".
std::string elementsText(DType dtype, const void *data, size_t count, size_t limit);
OrderedJson elementsJson(DType dtype, const void *data, size_t count, size_t limit);

} // namespace torchere::cli
