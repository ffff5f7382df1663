// The orders of uses in an artifact's bytes.
//
// For the values of one range (an op's results, or a block's arguments) whose use lists differ from a
// reader's default order, bytecode since version 3 holds one entry each: which value, and its order.
#pragma once

#include "base/error.h"
#include "vhlo/byte_cursor.h"

#include <string>

namespace torchere::vhlo {

/// Skips the entries of a range of `valueCount` values.
void skipUseLists(ByteCursor &cursor, size_t valueCount);

/// Sorts the entries of each range by its values, in place: MLIR 22 writes them in hash table
/// order, later releases in this one. `artifact` must come from MLIR's writer.
Status sortUseLists(std::string &artifact);

} // namespace torchere::vhlo
