// CalleeTable: rows by ops, and the positions of their arguments.
#include "exporter/callee.h"

namespace torchere::exporter {

/// Callables that torch has no schema of have positions for names; our row says what stands there.
static std::vector<size_t> positionsIn(const schema::Schema &row, const program::Op &op) {
  std::vector<size_t> positions;
  for (const std::string &name : op.argumentNames) {
    size_t own = positions.size();
    bool isNamedByRow = own < row.arguments.size() && name == std::to_string(own);
    positions.push_back(isNamedByRow ? own : row.position(name));
  }
  return positions;
}

const Callee &CalleeTable::find(const program::Op &op) {
  auto [place, isNew] = callees.try_emplace(&op);
  Callee &callee = place->second;
  if (isNew)
    callee.row = lowering::OpTable::instance().find(op.name);
  if (isNew && callee.row)
    callee.positions = positionsIn(callee.row->schema, op);
  return callee;
}

} // namespace torchere::exporter
