// Schema: an op's signature as data, in ATen's schema language (aten/src/ATen/native/README.md of PyTorch).
#pragma once

#include "base/error.h"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

namespace torchere::schema {

enum class TypeKind : uint8_t {
  Tensor,
  Int,    ///< must be a constant
  SymInt, ///< a constant or a size known at run time
  Float,
  Bool,
  Scalar,
  String,
  ScalarType,
  Opaque, ///< Device, Layout, MemoryFormat, Generator, Dimname
  Graph,  ///< a graph of the program, taken only by higher-order ops; not a type in torch's own schemas
  Any,    ///< passed on unchanged, as a higher-order op does for its graphs
  Other,  ///< complex, Storage, ..., a class (__torch__.torch.classes.c10d.Work), a type variable (t)
  Optional,
  List,
  Tuple,
  Generic, ///< Dict(str, t), Future(t), Await(t), RRef(t), Union(...)
};

/// The alias annotation of a type: (a), (a!), (a -> *), (b|a). Values whose sets share a name may share
/// memory; "*" may share with anything.
struct AliasSet {
  std::vector<std::string> before;
  std::vector<std::string> after; ///< what the value may alias after the op has run; usually the same
  bool isWrite = false;
  bool operator==(const AliasSet &) const = default;
};

struct Type {
  TypeKind kind = TypeKind::Tensor;
  std::string name;              ///< the schema's name for a type without element types, or for a Generic
  std::vector<Type> elements;    ///< one for an Optional or a List, several for a Tuple or a Generic
  std::optional<int64_t> size;   ///< for a List: the 2 of int[2]
  std::optional<AliasSet> alias; ///< of the value itself; in `Tensor(a!)[]` the element has it

  bool isOptional() const { return kind == TypeKind::Optional; }
  /// The type without the question mark.
  const Type &required() const { return isOptional() ? elements.front() : *this; }
  /// The type inside of optionals and lists: Tensor of Tensor?[].
  TORCHERE_EXPORT const Type &leaf() const;
  /// Whether the op writes to the value or to a part of it.
  TORCHERE_EXPORT bool isWritten() const;
  /// As torch writes it: "Tensor(a!)[]?".
  TORCHERE_EXPORT std::string text() const;
};

/// A symbolic default: contiguous_format, Mean.
struct NamedValue {
  std::string name;
  bool operator==(const NamedValue &) const = default;
};

/// The value of an argument that a call omits. None is std::monostate.
struct DefaultValue {
  using List = std::vector<DefaultValue>;
  std::variant<std::monostate, int64_t, double, bool, std::string, NamedValue, List> value;

  bool isNone() const { return std::holds_alternative<std::monostate>(value); }
  template <class T> const T *as() const { return std::get_if<T>(&value); }
  /// As torch writes it: floats with 17 digits, whole numbers as "1."; strings in double quotes.
  TORCHERE_EXPORT std::string text() const;
};

struct Argument {
  std::string name; ///< usually empty for a result
  Type type;
  std::optional<DefaultValue> defaultValue;
  bool isKeywordOnly = false;
};

struct Schema {
  /// "aten.add.Tensor", as torch prints an OpOverload. Without an overload name ".default" is added, except
  /// for callables that have no overloads: "higher_order.cond", "_operator.lt", "torch.sym_not".
  std::string name;
  std::string overload; ///< "Tensor"; empty without one
  std::vector<Argument> arguments;
  std::vector<Argument> results;
  bool takesMore = false; ///< any arguments after those: "..."
  bool givesMore = false;
  std::string source; ///< the text that was parsed

  /// Parses "aten::add.Tensor(Tensor self, Tensor other, *, Scalar alpha=1) -> Tensor". Errors name the
  /// column; texts over 16 KiB, and types and defaults nested more than 32 levels deep are rejected.
  TORCHERE_EXPORT static Result<Schema> parse(std::string_view text);
  /// The schema as printed by torch's FunctionSchema.
  TORCHERE_EXPORT std::string text() const;
  /// The position of the (first) argument with a name; the number of arguments if there is none.
  TORCHERE_EXPORT size_t position(std::string_view argument) const;
};

} // namespace torchere::schema
