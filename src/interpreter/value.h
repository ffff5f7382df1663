// Value: the runtime value of a name in an interpreted program.
#pragma once

#include "evaluation/tensor.h"

#include <functional>
#include <variant>

namespace torchere::interpreter {

// The types that the interpreter computes with: elements, tensors, indices.
using namespace evaluation;

class Value;
using Values = std::vector<Value>;

/// Orders side effects; has no content.
struct Token {};

class Value {
public:
  Value() : content(Token()) {}
  Value(Tensor tensor) : content(std::move(tensor)) {}
  Value(Token token) : content(token) {}
  static Value tuple(Values elements) {
    Value value;
    value.content = std::make_shared<const Values>(std::move(elements));
    return value;
  }

  /// Values that are computed or received when await() is called.
  static Value future(std::function<Result<Values>()> await) {
    Value value;
    value.content = std::make_shared<const std::function<Result<Values>()>>(std::move(await));
    return value;
  }

  bool isTensor() const { return std::holds_alternative<Tensor>(content); }
  bool isTuple() const { return std::holds_alternative<TuplePointer>(content); }
  /// Only for values of that kind, as the program's types guarantee.
  const Tensor &tensor() const { return std::get<Tensor>(content); }
  const Values &elements() const { return *std::get<TuplePointer>(content); }
  Result<Values> await() const { return (*std::get<FuturePointer>(content))(); }

private:
  using TuplePointer = std::shared_ptr<const Values>;
  using FuturePointer = std::shared_ptr<const std::function<Result<Values>()>>;
  std::variant<Tensor, Token, TuplePointer, FuturePointer> content;
};

} // namespace torchere::interpreter
