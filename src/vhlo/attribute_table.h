// AttributeTable: the attributes and types of an artifact, decoded lazily.
#pragma once

#include "vhlo/container.h"

#include "mlir/IR/Attributes.h"
#include "mlir/IR/Diagnostics.h"
#include "mlir/IR/Location.h"
#include "mlir/IR/Types.h"

#include <optional>
#include <string>
#include <vector>

namespace torchere::vhlo {

class ByteCursor;

/// An attribute of the dialect vhlo is given in portable form (portable_form.h), one of builtin as it is, a
/// type as StableHLO has it.
class AttributeTable {
public:
  AttributeTable(mlir::MLIRContext *context, const Container &container);

  /// Null if there is no such attribute; error() then says why.
  mlir::Attribute attribute(uint64_t index);
  mlir::Type type(uint64_t index);
  /// Whether an attribute that was read is of the dialect vhlo, or a part of it is.
  bool isPortable(uint64_t index) const { return attributes[index].extent.isPortable; }
  const std::string &error() const { return message; }

private:
  /// How an attribute's parts nest. Both are bounded: recursion into a deep attribute would overflow the
  /// stack, and attributes that hold each part twice, level by level, would take exponential time to print.
  struct Extent {
    uint64_t depth = 1;
    uint64_t size = 1;
    bool isPortable = false;
  };
  template <class T> struct Slot {
    T value;
    Extent extent;
    bool isOpen = false; // being decoded: a second visit means a cycle
  };
  template <class T> using Slots = std::vector<Slot<T>>;

  template <class T>
  T resolve(Slots<T> &slots, const std::vector<Container::Entry> &entries, uint64_t index,
            T (AttributeTable::*decode)(const Container::Entry &, ByteCursor &));
  mlir::Attribute decodeAttribute(const Container::Entry &entry, ByteCursor &cursor);
  mlir::Type decodeType(const Container::Entry &entry, ByteCursor &cursor);
  std::nullptr_t fail(std::string text);

  friend class PartReader;

  mlir::MLIRContext *context;
  const Container &container;
  Slots<mlir::Attribute> attributes;
  Slots<mlir::Type> types;
  std::vector<Extent> open; // of what is being decoded, the innermost last
  std::string message;
};

/// The decoders' reader: numbers, and parts by their index in the table.
class PartReader {
public:
  PartReader(AttributeTable &table, ByteCursor &cursor) : table(table), cursor(cursor) {}

  mlir::MLIRContext *context() const { return table.context; }
  ByteCursor &bytes() { return cursor; }
  /// Null if it is not there or not of the class.
  template <class T = mlir::Attribute> T attribute() {
    return mlir::dyn_cast_or_null<T>(table.attribute(index()));
  }
  /// Whether there is one, and the attribute, null if it cannot be read.
  std::pair<bool, mlir::Attribute> optionalAttribute();
  mlir::Type type() { return table.type(index()); }
  bool attributes(llvm::SmallVectorImpl<mlir::Attribute> &list);
  bool types(llvm::SmallVectorImpl<mlir::Type> &list);
  bool integers(llvm::SmallVectorImpl<int64_t> &list);
  /// Names and values; null if a name is empty or comes twice.
  mlir::Attribute dictionary();
  std::optional<std::string_view> string();
  /// A number of a known number of bits, up to 64.
  uint64_t bits(unsigned width);
  std::nullptr_t fail(std::string text) { return table.fail(std::move(text)); }

private:
  uint64_t index();

  AttributeTable &table;
  ByteCursor &cursor;
};

// One file each: null where the bytes are no such attribute or type.
mlir::Attribute readPortableAttribute(PartReader &reader);
mlir::Type readPortableType(PartReader &reader);
mlir::Attribute readBuiltinAttribute(PartReader &reader);
mlir::Type readBuiltinType(PartReader &reader);
/// For getChecked(): inconsistent parts fail without a diagnostic, since the table reports that they could
/// not be read. (Returning an inactive diagnostic would mean success.)
class Refusal {
public:
  explicit Refusal(mlir::MLIRContext *context)
      : context(context), quiet(context, [](mlir::Diagnostic &) { return mlir::success(); }) {}
  mlir::InFlightDiagnostic operator()() const { return mlir::emitError(mlir::UnknownLoc::get(context)); }

private:
  mlir::MLIRContext *context;
  mlir::ScopedDiagnosticHandler quiet;
};
/// The elements of a tensor; null if they are not as many as the type has. Bools may be bits or bytes.
mlir::Attribute readElements(mlir::Type type, std::string_view bytes);
/// A number with the type, whose width is known from it; null if it has none.
mlir::Attribute readInteger(PartReader &reader, mlir::Type type);
mlir::Attribute readFloat(PartReader &reader, mlir::Type type);

} // namespace torchere::vhlo
