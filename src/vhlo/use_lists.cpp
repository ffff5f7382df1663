// Walks the section of ops, only for its use lists.
#include "vhlo/use_lists.h"

#include "vhlo/container.h"

#include <algorithm>
#include <vector>

namespace torchere::vhlo {
namespace {

void skipNumbers(ByteCursor &cursor, uint64_t count) {
  for (uint64_t index = 0; index < count && !cursor.failed(); ++index)
    cursor.varInt();
}

/// The order alone, without the value that it is of.
void skipOrder(ByteCursor &cursor) {
  bool isPairs = false;
  skipNumbers(cursor, cursor.varIntWithFlag(isPairs));
}

/// Everything else is skipped. Malformed bytes make the cursor fail.
class UseListSorter {
public:
  UseListSorter(std::string &artifact, uint64_t version) : artifact(artifact), version(version) {}

  void visitBlock(ByteCursor &cursor);

private:
  void visitArguments(ByteCursor &cursor);
  void visitOp(ByteCursor &cursor);
  void visitRegions(ByteCursor &cursor);
  void sort(ByteCursor &cursor, size_t valueCount);

  std::string &artifact;
  uint64_t version;
};

void UseListSorter::visitBlock(ByteCursor &cursor) {
  bool hasArguments = false;
  uint64_t ops = cursor.varIntWithFlag(hasArguments);
  if (hasArguments)
    visitArguments(cursor);
  for (uint64_t index = 0; index < ops && !cursor.failed(); ++index)
    visitOp(cursor);
}

void UseListSorter::visitArguments(ByteCursor &cursor) {
  size_t count = cursor.count();
  for (size_t index = 0; index < count && !cursor.failed(); ++index) {
    bool hasLocation = true;
    if (version >= bytecode::optionalArgumentLocations)
      cursor.varIntWithFlag(hasLocation);
    else
      cursor.varInt();
    skipNumbers(cursor, hasLocation ? 1 : 0);
  }
  if (cursor.byte() != 0)
    sort(cursor, count);
}

void UseListSorter::visitOp(ByteCursor &cursor) {
  cursor.varInt(); // its name
  uint8_t parts = cursor.byte();
  cursor.varInt(); // its location
  for (OpParts part : {hasAttributes, hasProperties})
    skipNumbers(cursor, parts & part ? 1 : 0);
  size_t results = parts & hasResults ? cursor.count() : 0;
  skipNumbers(cursor, results);
  for (OpParts part : {hasOperands, hasSuccessors})
    skipNumbers(cursor, parts & part ? cursor.count() : 0);
  if (parts & hasUseListOrders)
    sort(cursor, results);
  if (parts & hasRegions)
    visitRegions(cursor);
}

void UseListSorter::visitRegions(ByteCursor &cursor) {
  bool isIsolated = false;
  uint64_t regions = cursor.varIntWithFlag(isIsolated);
  std::string_view data;
  if (isIsolated && !readSection(cursor, section::ir, data))
    return cursor.fail();
  ByteCursor ofSection(data);
  ByteCursor &inner = isIsolated ? ofSection : cursor;
  for (uint64_t region = 0; region < regions && !inner.failed(); ++region) {
    size_t blocks = inner.count();
    skipNumbers(inner, blocks ? 1 : 0); // how many values there are
    for (size_t block = 0; block < blocks && !inner.failed(); ++block)
      visitBlock(inner);
  }
  if (isIsolated && (inner.failed() || !inner.atEnd()))
    cursor.fail();
}

void UseListSorter::sort(ByteCursor &cursor, size_t valueCount) {
  if (valueCount <= 1)
    return skipUseLists(cursor, valueCount);
  std::vector<std::pair<uint64_t, std::string_view>> entries(cursor.count());
  const char *begin = cursor.left().data();
  for (auto &[value, bytes] : entries) {
    std::string_view left = cursor.left();
    value = cursor.varInt();
    skipOrder(cursor);
    bytes = left.substr(0, left.size() - cursor.remaining());
  }
  if (cursor.failed() || std::ranges::is_sorted(entries))
    return;
  std::ranges::sort(entries);
  std::string sorted;
  for (auto &[value, bytes] : entries)
    sorted += bytes;
  std::ranges::copy(sorted, artifact.begin() + (begin - artifact.data()));
}

} // namespace

void skipUseLists(ByteCursor &cursor, size_t valueCount) {
  size_t count = valueCount > 1 ? cursor.count() : 1;
  for (size_t index = 0; index < count && !cursor.failed(); ++index) {
    skipNumbers(cursor, valueCount > 1 ? 1 : 0);
    skipOrder(cursor);
  }
}

Status sortUseLists(std::string &artifact) {
  TORCHERE_ASSIGN(Container container, readContainer(artifact, "artifact"));
  if (container.bytecodeVersion < bytecode::useListOrders)
    return {};
  ByteCursor cursor(container.ir);
  UseListSorter(artifact, container.bytecodeVersion).visitBlock(cursor);
  if (cursor.failed() || !cursor.atEnd())
    return fail(ErrorCode::Internal, "[artifact] the ops that MLIR wrote cannot be read");
  return {};
}

} // namespace torchere::vhlo
