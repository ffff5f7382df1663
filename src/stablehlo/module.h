// Module: a StableHLO module and the context that owns it, behind a header that includes nothing of MLIR.
#pragma once

#include "base/error.h"

#include <memory>
#include <string>
#include <string_view>

namespace torchere::stablehlo {

class TORCHERE_EXPORT Module {
public:
  struct Implementation; ///< stablehlo/module_implementation.h, for code that uses MLIR

  explicit Module(std::unique_ptr<Implementation> implementation);
  Module(Module &&) noexcept;
  Module &operator=(Module &&) noexcept;
  ~Module();

  /// Parses and verifies text, which may be anybody's: MLIR bytecode, whose reader trusts its input, and text
  /// that nests deeper than stablehlo/text_nesting.h says are errors. The error holds MLIR's diagnostics with
  /// line and column; `name` stands for the file in them.
  static Result<Module> parse(std::string_view text, std::string_view name = "module");

  /// The module's text, without locations unless asked for.
  std::string text(bool withLocations = false) const;
  /// Runs the verifiers; the error holds their diagnostics.
  Status verify() const;
  Module clone() const;

  Implementation &implementation() { return *impl; }
  const Implementation &implementation() const { return *impl; }

private:
  std::unique_ptr<Implementation> impl;
};

} // namespace torchere::stablehlo
