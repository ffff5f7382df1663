// OpTable: from an ATen op's name to the function that lowers it. One row per op.
#pragma once

#include "lowering/args.h"
#include "lowering/context.h"

#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <type_traits>

namespace torchere::lowering {

using Lowering = std::function<Result<Values>(Context &, const Args &)>;

/// Marks a row whose op a compiler may want whole: on request, an export puts the lowering into a private
/// function that is called through stablehlo.composite. `name` is the name that users pass; variants of one
/// op share it.
struct AsComposite {
  std::string_view name;
};

class OpTable {
public:
  struct Row {
    schema::Schema schema;
    Lowering lowering;
    std::string composite;   ///< AsComposite::name; empty for most rows
    bool givesSizes = false; ///< its results may have sizes that depend on data
  };

  /// All rows of src/lowering/ops. Built once; a malformed schema or a second row for an op is a bug in this
  /// tree and aborts at start-up with the row's text.
  static const OpTable &instance();

  /// Adds a row. The lowering returns a value, a Result of one, or a Result of several.
  template <class Function> void add(std::string_view schema, Function function, AsComposite composite = {}) {
    addRow(schema, composite, /*givesSizes=*/false, wrapped(std::move(function)));
  }

  /// Adds a row whose results may have sizes that depend on data. The program names them by symbols that it
  /// has nowhere else: they are unknown to the lowering, and become the sizes of what it returns.
  template <class Function> void addSizedByData(std::string_view schema, Function function) {
    addRow(schema, {}, /*givesSizes=*/true, wrapped(std::move(function)));
  }

  const Row *find(std::string_view name) const;
  const std::map<std::string, Row, std::less<>> &rows() const { return table; }

  /// Lowers one call: binds the arguments to the row's schema, runs the row, and checks that the results have
  /// the types that the program declares.
  Result<Values> lower(const Row &row, Context &cx, std::vector<GivenArgument> arguments,
                       std::vector<TensorType> resultTypes) const;

private:
  template <class Function> static Lowering wrapped(Function function) {
    using Returned = std::invoke_result_t<Function, Context &, const Args &>;
    return [function](Context &cx, const Args &args) -> Result<Values> {
      if constexpr (std::is_same_v<Returned, mlir::Value>) {
        return Values{function(cx, args)};
      } else if constexpr (std::is_same_v<Returned, Result<mlir::Value>>) {
        TORCHERE_ASSIGN(mlir::Value value, function(cx, args));
        return Values{value};
      } else {
        return function(cx, args);
      }
    };
  }
  void addRow(std::string_view schema, AsComposite composite, bool givesSizes, Lowering lowering);

  std::map<std::string, Row, std::less<>> table;
};

/// Defined in the file that CMake generates from the file names in src/lowering/ops.
void addAllFamilies(OpTable &table);

} // namespace torchere::lowering
