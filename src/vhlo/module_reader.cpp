// Reads the section of ops: each portable op is upgraded to the current StableHLO op.
#include "vhlo/module_reader.h"

#include "vhlo/attribute_table.h"
#include "vhlo/byte_cursor.h"
#include "vhlo/op_upgrade.h"
#include "vhlo/use_lists.h"

#include "stablehlo/dialect.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/Builders.h"

using namespace mlir;

namespace torchere::vhlo {
namespace {

// Deeper than any program nests; a level takes about a kilobyte of stack here, in the verifier and the
// printer.
constexpr unsigned maximumNesting = 200;

/// Whether the op is of Shardy's dialect and only says where values should lie, as JAX writes it around each
/// random key, or a cast between types of the dialect vhlo and builtin's for such an op. Ops of Shardy's with
/// regions compute something.
bool isAnnotation(const Container::OpName &op) {
  static constexpr std::string_view names[] = {"mesh",           "sharding_constraint", "reshard",
                                               "sharding_group", "propagation_barrier", "data_flow_edge"};
  return (op.dialect == "sdy" && llvm::is_contained(names, op.name)) ||
         (op.dialect == "builtin" && op.name == "unrealized_conversion_cast");
}

class ModuleReader {
public:
  ModuleReader(MLIRContext *context, const Container &container, std::string_view name)
      : context(context), container(container), name(name), table(context, container),
        opNames(context, container) {}

  Result<OwningOpRef<ModuleOp>> read();

private:
  /// The values of one isolated region, and of the regions within it.
  using Scope = std::vector<Value>;

  Status readBlock(ByteCursor &cursor, Block &block, Scope &scope, size_t &next, unsigned nesting);
  Status readArguments(ByteCursor &cursor, Block &block, Scope &scope, size_t &next);
  Status readOp(ByteCursor &cursor, Block &block, Scope &scope, size_t &next, unsigned nesting);
  Status readAnnotation(ByteCursor &cursor, uint8_t parts, Location location, Scope &scope, size_t &next);
  Status readRegions(ByteCursor &cursor, Operation &op, Scope &scope, unsigned nesting);
  Status readRegion(ByteCursor &cursor, Region &region, Scope &scope, unsigned nesting);
  Status readAttributes(ByteCursor &cursor, uint8_t parts, PortableOp &op);
  Status readNativeProperties(ByteCursor &cursor, PortableOp &op);
  Status readValues(ByteCursor &cursor, uint8_t parts, const Scope &scope, PortableOp &op);
  Status define(Value value, Scope &scope, size_t &next);
  Result<Location> readLocation(ByteCursor &cursor);

  template <class... Args>
  tl::unexpected<Error> malformed(fmt::format_string<Args...> format, Args &&...args) const {
    return invalidArgument("[{}] not a portable artifact: {}", name,
                           fmt::format(format, std::forward<Args>(args)...));
  }
  /// The table's reason, or that the bytes end.
  tl::unexpected<Error> malformedPart(std::string_view part) const {
    return malformed("{} of its ops cannot be read{}{}", part, table.error().empty() ? "" : ": ",
                     table.error());
  }

  MLIRContext *context;
  const Container &container;
  std::string_view name;
  AttributeTable table;
  OpNames opNames;
  size_t declaredValues = 0;
};

/// The section is a block that holds the module alone.
Result<OwningOpRef<ModuleOp>> ModuleReader::read() {
  ByteCursor cursor(container.ir);
  Block top;
  Scope scope;
  size_t next = 0;
  TORCHERE_TRY(readBlock(cursor, top, scope, next, 0));
  auto module = llvm::hasSingleElement(top) ? dyn_cast<ModuleOp>(top.front()) : ModuleOp();
  if (!module || !cursor.atEnd())
    return malformed("it does not hold one module");
  module->remove();
  return OwningOpRef<ModuleOp>(module);
}

Status ModuleReader::readBlock(ByteCursor &cursor, Block &block, Scope &scope, size_t &next,
                               unsigned nesting) {
  bool hasArguments = false;
  uint64_t count = cursor.varIntWithFlag(hasArguments);
  if (hasArguments)
    TORCHERE_TRY(readArguments(cursor, block, scope, next));
  for (uint64_t index = 0; index < count; ++index)
    TORCHERE_TRY(readOp(cursor, block, scope, next, nesting));
  return cursor.failed() ? Status(malformedPart("the blocks")) : Status();
}

Status ModuleReader::readArguments(ByteCursor &cursor, Block &block, Scope &scope, size_t &next) {
  size_t count = cursor.count();
  for (size_t index = 0; index < count; ++index) {
    bool hasLocation = true;
    bool isOptional = container.bytecodeVersion >= bytecode::optionalArgumentLocations;
    uint64_t typeIndex = isOptional ? cursor.varIntWithFlag(hasLocation) : cursor.varInt();
    Type type = cursor.failed() ? Type() : table.type(typeIndex);
    if (!type)
      return malformedPart("the arguments");
    Location location = UnknownLoc::get(context);
    if (hasLocation) {
      TORCHERE_ASSIGN(location, readLocation(cursor));
    }
    TORCHERE_TRY(define(block.addArgument(type, location), scope, next));
  }
  if (container.bytecodeVersion >= bytecode::useListOrders && cursor.byte() != 0)
    skipUseLists(cursor, count);
  return {};
}

Result<Location> ModuleReader::readLocation(ByteCursor &cursor) {
  uint64_t index = cursor.varInt();
  auto location = cursor.failed() ? LocationAttr() : dyn_cast_or_null<LocationAttr>(table.attribute(index));
  if (!location)
    return malformedPart("a location");
  if (table.isPortable(index))
    return malformed("a location holds attributes of the dialect vhlo, which are for ops");
  return Location(location);
}

Status ModuleReader::readOp(ByteCursor &cursor, Block &block, Scope &scope, size_t &next, unsigned nesting) {
  uint64_t nameIndex = cursor.varInt();
  uint8_t parts = cursor.byte();
  if (cursor.failed() || nameIndex >= container.opNames.size())
    return malformedPart("the name of one");
  TORCHERE_ASSIGN(Location location, readLocation(cursor));
  if (isAnnotation(container.opNames[nameIndex]))
    return readAnnotation(cursor, parts, location, scope, next);
  TORCHERE_ASSIGN(const OpNames::Name *opName, opNames.at(nameIndex, name));
  PortableOp op(location, *opName);
  TORCHERE_TRY(readAttributes(cursor, parts, op));
  TORCHERE_TRY(readValues(cursor, parts, scope, op));
  bool isIsolated = false;
  uint64_t regionCount = parts & hasRegions ? cursor.varIntWithFlag(isIsolated) : 0;
  // A region takes a byte at least; an isolated one is in a section of its own.
  if (cursor.failed() || regionCount > cursor.remaining())
    return malformedPart("the regions");
  op.regionCount = regionCount;
  TORCHERE_ASSIGN(Operation * made, upgrade(context, op, block.getParentOp(), name));
  block.push_back(made);
  for (Value result : made->getResults())
    TORCHERE_TRY(define(result, scope, next));
  if (regionCount == 0)
    return {};
  if (nesting >= maximumNesting)
    return malformed("its regions are nested too deeply");
  if (!isIsolated)
    return readRegions(cursor, *made, scope, nesting);
  Scope inner;
  if (container.bytecodeVersion < bytecode::isolatedRegions)
    return readRegions(cursor, *made, inner, nesting);
  std::string_view data;
  if (!readSection(cursor, section::ir, data))
    return malformedPart("the regions");
  ByteCursor innerCursor(data);
  TORCHERE_TRY(readRegions(innerCursor, *made, inner, nesting));
  return innerCursor.atEnd() ? Status() : Status(malformedPart("the regions"));
}

/// Its results are its operands.
Status ModuleReader::readAnnotation(ByteCursor &cursor, uint8_t parts, Location location, Scope &scope,
                                    size_t &next) {
  static const OpNames::Name noName;
  PortableOp op(location, noName);
  for (uint8_t part : {hasAttributes, hasProperties}) // shardings, which nothing here reads
    if (parts & part)
      cursor.varInt();
  TORCHERE_TRY(readValues(cursor, parts, scope, op));
  if (parts & hasRegions || op.resultTypes.size() > op.operands.size())
    return malformed("an op that annotates has regions, or results that are none of its operands");
  for (auto [operand, type] : llvm::zip(op.operands, op.resultTypes)) {
    if (operand.getType() != type)
      return malformed("an op that annotates changes the type of a value");
    TORCHERE_TRY(define(operand, scope, next));
  }
  return {};
}

/// Attributes that are the op's own are among the others before bytecode 5, and a list in order after it.
Status ModuleReader::readAttributes(ByteCursor &cursor, uint8_t parts, PortableOp &op) {
  if (parts & hasAttributes) {
    uint64_t index = cursor.varInt();
    auto dictionary =
        cursor.failed() ? DictionaryAttr() : dyn_cast_or_null<DictionaryAttr>(table.attribute(index));
    if (!dictionary)
      return malformedPart("the attributes");
    // A module is builtin's, and so are its attributes: those of vhlo would stay in it for ever.
    if (!op.name.version && table.isPortable(index))
      return malformed("a module has attributes of the dialect vhlo, which are for the ops in it");
    for (NamedAttribute entry : dictionary)
      op.setAttribute(entry.getName(), entry.getValue());
  }
  return parts & hasProperties ? readNativeProperties(cursor, op) : Status();
}

Status ModuleReader::readNativeProperties(ByteCursor &cursor, PortableOp &op) {
  uint64_t index = cursor.varInt();
  if (cursor.failed() || index >= container.properties.size())
    return malformedPart("the properties");
  ByteCursor properties(container.properties[index]);
  if (!op.name.version) {
    // builtin.module: its name and its visibility, either of which may be absent.
    for (StringRef attribute : {"sym_name", "sym_visibility"}) {
      auto [isThere, value] = PartReader(table, properties).optionalAttribute();
      if (properties.failed() || (isThere && !isa_and_nonnull<StringAttr>(value)))
        return malformedPart("the properties");
      if (isThere)
        op.others.append(attribute, value);
    }
  } else {
    for (Attribute &slot : op.attributes()) {
      uint64_t place = properties.varInt();
      slot = properties.failed() ? Attribute() : table.attribute(place);
      if (!slot)
        return malformedPart("the properties");
    }
  }
  return properties.atEnd() ? Status() : Status(malformedPart("the properties"));
}

Status ModuleReader::readValues(ByteCursor &cursor, uint8_t parts, const Scope &scope, PortableOp &op) {
  size_t results = parts & hasResults ? cursor.count() : 0;
  for (size_t index = 0; index < results; ++index) {
    uint64_t place = cursor.varInt();
    Type type = cursor.failed() ? Type() : table.type(place);
    if (!type)
      return malformedPart("the result types");
    op.resultTypes.push_back(type);
  }
  size_t operands = parts & hasOperands ? cursor.count() : 0;
  for (size_t index = 0; index < operands; ++index) {
    uint64_t place = cursor.varInt();
    if (cursor.failed() || place >= scope.size() || !scope[place])
      return malformed("an op uses a value that is not defined before it");
    op.operands.push_back(scope[place]);
  }
  if (parts & hasSuccessors)
    return malformed("an op has successors");
  if (parts & hasUseListOrders && container.bytecodeVersion >= bytecode::useListOrders)
    skipUseLists(cursor, results);
  return cursor.failed() ? Status(malformedPart("the operands")) : Status();
}

Status ModuleReader::define(Value value, Scope &scope, size_t &next) {
  if (next >= scope.size())
    return malformed("a region defines more values than it says");
  scope[next++] = value;
  return {};
}

Status ModuleReader::readRegions(ByteCursor &cursor, Operation &op, Scope &scope, unsigned nesting) {
  for (Region &region : op.getRegions())
    TORCHERE_TRY(readRegion(cursor, region, scope, nesting + 1));
  return {};
}

Status ModuleReader::readRegion(ByteCursor &cursor, Region &region, Scope &scope, unsigned nesting) {
  size_t blocks = cursor.count();
  if (blocks == 0)
    return cursor.failed() ? Status(malformedPart("the regions")) : Status();
  size_t next = scope.size();
  size_t values = cursor.count();
  // Each has a type of at least one byte, which bounds their number, whatever the enclosing regions say.
  declaredValues += values;
  if (declaredValues > container.ir.size())
    return malformed("a region says that it defines more values than there can be");
  scope.resize(next + values);
  for (size_t index = 0; index < blocks; ++index) {
    auto *block = new Block();
    region.push_back(block);
    TORCHERE_TRY(readBlock(cursor, *block, scope, next, nesting));
  }
  scope.resize(scope.size() - values);
  return {};
}

} // namespace

Result<OwningOpRef<ModuleOp>> readModule(MLIRContext *context, const Container &container,
                                         std::string_view name) {
  return ModuleReader(context, container, name).read();
}

} // namespace torchere::vhlo
