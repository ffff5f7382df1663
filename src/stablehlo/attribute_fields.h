// Reads and writes the text of attributes whose fields have names: `<field = value, ...>`.
#pragma once

#include "mlir/IR/DialectImplementation.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/ADT/StringSet.h"

#include <functional>

namespace torchere::stablehlo {

using Dims = llvm::SmallVector<int64_t>;

inline mlir::ParseResult parseDims(mlir::AsmParser &parser, llvm::SmallVectorImpl<int64_t> &dims) {
  return parser.parseCommaSeparatedList(mlir::AsmParser::Delimiter::Square,
                                        [&] { return parser.parseInteger(dims.emplace_back()); });
}

/// Writes `<name = value, ...>`, without the fields that have their default.
class FieldPrinter {
public:
  explicit FieldPrinter(mlir::AsmPrinter &printer) : printer(printer) { printer << "<"; }
  ~FieldPrinter() { printer << ">"; }

  void dims(llvm::StringRef name, llvm::ArrayRef<int64_t> dims, bool evenIfEmpty = false) {
    if (dims.empty() && !evenIfEmpty)
      return;
    start(name) << "[";
    llvm::interleaveComma(dims, printer);
    printer << "]";
  }
  void integer(llvm::StringRef name, int64_t value) { start(name) << value; }
  void string(llvm::StringRef name, llvm::StringRef value) {
    start(name);
    printer.printString(value);
  }
  void number(llvm::StringRef name, const llvm::APFloat &value) {
    start(name);
    printer.printFloat(value);
  }
  mlir::AsmPrinter &start(llvm::StringRef name) {
    if (!first)
      printer << ", ";
    first = false;
    return printer << name << " = ";
  }

private:
  mlir::AsmPrinter &printer;
  bool first = true;
};

/// Reads what FieldPrinter writes: known fields, each at most once, in any order.
class FieldParser {
public:
  explicit FieldParser(mlir::AsmParser &parser) : parser(parser) {}

  FieldParser &field(llvm::StringRef name, std::function<mlir::ParseResult()> parse) {
    fields[name] = std::move(parse);
    return *this;
  }
  FieldParser &dims(llvm::StringRef name, Dims &dims) {
    return field(name, [this, &dims] { return parseDims(parser, dims); });
  }
  FieldParser &integer(llvm::StringRef name, int64_t &value) {
    return field(name, [this, &value] { return parser.parseInteger(value); });
  }
  FieldParser &string(llvm::StringRef name, std::string &value) {
    return field(name, [this, &value] { return parser.parseString(&value); });
  }

  mlir::ParseResult parse(mlir::AsmParser::Delimiter delimiter = mlir::AsmParser::Delimiter::LessGreater) {
    return parser.parseCommaSeparatedList(delimiter, [&]() -> mlir::ParseResult {
      llvm::StringRef name;
      llvm::SMLoc place = parser.getCurrentLocation();
      if (parser.parseKeyword(&name))
        return mlir::failure();
      auto found = fields.find(name);
      if (found == fields.end())
        return parser.emitError(place) << "unknown field '" << name << "'";
      if (!seen.insert(name).second)
        return parser.emitError(place) << "field '" << name << "' given twice";
      return mlir::failure(parser.parseEqual() || found->second());
    });
  }
  /// Fails unless each of `required` was given.
  mlir::ParseResult parseWith(llvm::ArrayRef<llvm::StringRef> required) {
    llvm::SMLoc place = parser.getCurrentLocation();
    if (parse())
      return mlir::failure();
    for (llvm::StringRef name : required)
      if (!seen.contains(name))
        return parser.emitError(place) << "missing field '" << name << "'";
    return mlir::success();
  }
  /// Fails unless every field was given.
  mlir::ParseResult parseAll() { return parseWith(llvm::to_vector(fields.keys())); }

private:
  mlir::AsmParser &parser;
  llvm::StringMap<std::function<mlir::ParseResult()>> fields;
  llvm::StringSet<> seen;
};

} // namespace torchere::stablehlo
