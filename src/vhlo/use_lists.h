// The orders of uses in an artifact's bytes.
//
// For the values of one range (an op's results, or a block's arguments) whose uses are not listed as a reader
// would list them by itself, bytecode from version 3 on holds an entry each: which value, and its order.
#pragma once

#include "base/error.h"
#include "vhlo/byte_cursor.h"

#include <string>

namespace torchere::vhlo {

/// Passes over the entries of a range of `valueCount` values.
void skipUseLists(ByteCursor &cursor, size_t valueCount);

/// Puts the entries of each range in the order of its values, in place: MLIR 22 writes them as a hash table
/// gives them, and later releases in this order. `artifact` is one that MLIR has written.
Status sortUseLists(std::string &artifact);

} // namespace torchere::vhlo
