// Callee: what an op of a program is to the op table. Resolved once for an op, not for each node.
#pragma once

#include "lowering/op_table.h"
#include "program/op.h"

#include <cstddef>
#include <unordered_map>
#include <vector>

namespace torchere::exporter {

struct Callee {
  const lowering::OpTable::Row *row = nullptr; ///< null for an op without one
  /// The row's position of each of the op's arguments; a row may have another order than torch's schema, and
  /// none of them.
  std::vector<size_t> positions;
};

class CalleeTable {
public:
  const Callee &find(const program::Op &op);

private:
  std::unordered_map<const program::Op *, Callee> callees;
};

} // namespace torchere::exporter
