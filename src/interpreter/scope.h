// Scope: the values of the names that a region defines, on top of those of the enclosing regions.
#pragma once

#include "interpreter/value.h"

#include "mlir/IR/Value.h"
#include "llvm/ADT/DenseMap.h"

namespace torchere::interpreter {

class Scope {
public:
  explicit Scope(const Scope *outer = nullptr) : outer(outer) {}

  void bind(mlir::Value name, Value value) { values[name] = std::move(value); }
  /// The name must be defined, which the verifier has checked.
  const Value &find(mlir::Value name) const {
    const Scope *scope = this;
    for (;; scope = scope->outer)
      if (auto found = scope->values.find(name); found != scope->values.end())
        return found->second;
  }

private:
  const Scope *outer;
  llvm::SmallDenseMap<mlir::Value, Value, 8> values;
};

} // namespace torchere::interpreter
