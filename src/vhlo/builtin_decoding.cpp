// Reads the attributes of builtin that an artifact has: those of its modules, and locations.
#include "vhlo/attribute_table.h"
#include "vhlo/byte_cursor.h"

#include "mlir/IR/BuiltinAttributes.h"
#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/Location.h"
#include "mlir/IR/TypeRange.h"

using namespace mlir;

namespace torchere::vhlo {
namespace {

// The codes of MLIR's builtin dialect, mlir/IR/BuiltinDialectBytecode.td.
enum AttributeKind : uint64_t {
  Array = 0,
  Dictionary = 1,
  String = 2,
  FlatSymbol = 4,
  Symbol = 5,
  TypeOfType = 6,
  Unit = 7,
  Integer = 8,
  Float = 9,
  CallSite = 10,
  FileLineCol = 11,
  Fused = 12,
  FusedWithMetadata = 13,
  Name = 14,
  Unknown = 15,
  DenseArray = 17,
  DenseElements = 18,
  FileLineColumns = 22,
};
enum TypeKind : uint64_t {
  IntegerKind = 0,
  IndexKind = 1,
  FunctionKind = 2,
  BFloat16Kind = 3,
  Float16Kind = 4,
  Float32Kind = 5,
  Float64Kind = 6,
  ComplexKind = 9,
  NoneKind = 12,
  RankedTensorKind = 13,
  TupleKind = 15,
  UnrankedTensorKind = 18,
};

Attribute readSymbol(PartReader &reader) {
  auto root = reader.attribute<StringAttr>();
  SmallVector<FlatSymbolRefAttr> nested;
  size_t count = reader.bytes().count();
  for (size_t index = 0; index < count; ++index) {
    nested.push_back(reader.attribute<FlatSymbolRefAttr>());
    if (!nested.back())
      return {};
  }
  return root ? SymbolRefAttr::get(root, nested) : Attribute();
}

/// Lines and columns: nothing, a line, a place, a place with its last column, or two places.
Attribute readLineColumns(PartReader &reader) {
  auto file = reader.attribute<StringAttr>();
  SmallVector<unsigned, 4> numbers;
  size_t count = reader.bytes().count();
  for (size_t index = 0; index < count && index < 5; ++index)
    numbers.push_back(reader.bytes().varInt());
  if (!file || count > 4)
    return {};
  switch (count) {
  case 0:
    return FileLineColRange::get(file);
  case 1:
    return FileLineColRange::get(file, numbers[0]);
  case 2:
    return FileLineColRange::get(file, numbers[0], numbers[1]);
  case 3:
    return FileLineColRange::get(file, numbers[0], numbers[1], numbers[2]);
  default:
    return FileLineColRange::get(file, numbers[0], numbers[1], numbers[2], numbers[3]);
  }
}

Attribute readFused(PartReader &reader, bool hasMetadata) {
  SmallVector<Location> locations;
  size_t count = reader.bytes().count();
  for (size_t index = 0; index < count; ++index) {
    auto location = reader.attribute<LocationAttr>();
    if (!location)
      return {};
    locations.push_back(location);
  }
  Attribute metadata = hasMetadata ? reader.attribute() : Attribute();
  if (hasMetadata && !metadata)
    return {};
  return FusedLoc::get(reader.context(), locations, metadata);
}

Attribute readFileLineColumn(PartReader &reader) {
  auto file = reader.attribute<StringAttr>();
  unsigned line = reader.bytes().varInt(), column = reader.bytes().varInt();
  return file ? Attribute(FileLineColLoc::get(file, line, column)) : Attribute();
}

Attribute readCallSite(PartReader &reader) {
  auto callee = reader.attribute<LocationAttr>();
  auto caller = reader.attribute<LocationAttr>();
  return callee && caller ? CallSiteLoc::get(callee, caller) : CallSiteLoc();
}

Attribute readNamed(PartReader &reader) {
  auto name = reader.attribute<StringAttr>();
  auto child = reader.attribute<LocationAttr>();
  return name && child ? NameLoc::get(name, child) : NameLoc();
}

Attribute readDenseArray(PartReader &reader) {
  Type type = reader.type();
  uint64_t count = reader.bytes().varInt();
  std::string_view bytes = reader.bytes().bytes(reader.bytes().varInt());
  if (!type || reader.bytes().failed() || count > bytes.size())
    return {};
  return DenseArrayAttr::getChecked(Refusal(reader.context()), reader.context(), type,
                                    static_cast<int64_t>(count), ArrayRef<char>(bytes.data(), bytes.size()));
}

Attribute readDense(PartReader &reader) {
  Type type = reader.type();
  std::string_view bytes = reader.bytes().bytes(reader.bytes().varInt());
  return type && !reader.bytes().failed() ? readElements(type, bytes) : Attribute();
}

Type readIntegerType(PartReader &reader) {
  uint64_t code = reader.bytes().varInt(), width = code >> 2, signedness = code & 3;
  if (width > IntegerType::kMaxWidth || signedness > 2)
    return {};
  return IntegerType::get(reader.context(), width, static_cast<IntegerType::SignednessSemantics>(signedness));
}

Type readTensorType(PartReader &reader) {
  SmallVector<int64_t> shape;
  if (!reader.integers(shape))
    return {};
  Type element = reader.type();
  return element ? RankedTensorType::getChecked(Refusal(reader.context()), shape, element, Attribute())
                 : RankedTensorType();
}

} // namespace

Attribute readBuiltinAttribute(PartReader &reader) {
  MLIRContext *context = reader.context();
  uint64_t kind = reader.bytes().varInt();
  switch (kind) {
  case Array: {
    SmallVector<Attribute> parts;
    return reader.attributes(parts) ? ArrayAttr::get(context, parts) : Attribute();
  }
  case Dictionary:
    return reader.dictionary();
  case String: {
    auto text = reader.string();
    return text ? StringAttr::get(context, StringRef(*text)) : Attribute();
  }
  case FlatSymbol:
    if (auto name = reader.attribute<StringAttr>())
      return FlatSymbolRefAttr::get(name);
    return {};
  case Symbol:
    return readSymbol(reader);
  case TypeOfType:
    if (Type type = reader.type())
      return TypeAttr::get(type);
    return {};
  case Unit:
    return UnitAttr::get(context);
  case Integer:
    return readInteger(reader, reader.type());
  case Float:
    return readFloat(reader, reader.type());
  case CallSite:
    return readCallSite(reader);
  case FileLineCol:
    return readFileLineColumn(reader);
  case Fused:
  case FusedWithMetadata:
    return readFused(reader, kind == FusedWithMetadata);
  case Name:
    return readNamed(reader);
  case Unknown:
    return UnknownLoc::get(context);
  case DenseArray:
    return readDenseArray(reader);
  case DenseElements:
    return readDense(reader);
  case FileLineColumns:
    return readLineColumns(reader);
  default:
    return reader.fail(fmt::format("a builtin attribute of code {}, which artifacts do not hold", kind));
  }
}

Type readBuiltinType(PartReader &reader) {
  MLIRContext *context = reader.context();
  uint64_t kind = reader.bytes().varInt();
  SmallVector<Type> types, results;
  switch (kind) {
  case IntegerKind:
    return readIntegerType(reader);
  case IndexKind:
    return IndexType::get(context);
  case FunctionKind:
    return reader.types(types) && reader.types(results) ? FunctionType::get(context, types, results) : Type();
  case BFloat16Kind:
    return BFloat16Type::get(context);
  case Float16Kind:
    return Float16Type::get(context);
  case Float32Kind:
    return Float32Type::get(context);
  case Float64Kind:
    return Float64Type::get(context);
  case ComplexKind:
    if (Type element = reader.type())
      return ComplexType::getChecked(Refusal(reader.context()), element);
    return {};
  case NoneKind:
    return NoneType::get(context);
  case RankedTensorKind:
    return readTensorType(reader);
  case TupleKind:
    return reader.types(types) ? TupleType::get(context, types) : Type();
  case UnrankedTensorKind:
    if (Type element = reader.type())
      return UnrankedTensorType::getChecked(Refusal(reader.context()), element);
    return {};
  default:
    return reader.fail(fmt::format("a builtin type of code {}, which artifacts do not hold", kind));
  }
}

} // namespace torchere::vhlo
