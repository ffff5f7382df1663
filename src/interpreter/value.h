// Value: what a name stands for while a program is interpreted.
#pragma once

#include "evaluation/tensor.h"

#include <functional>
#include <variant>

namespace torchere::interpreter {

// The interpreter computes on these: elements, tensors, indices.
using namespace evaluation;

class Value;
using Values = std::vector<Value>;

/// Orders side effects; has no contents.
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

  /// Values that are awaited when somebody asks for them.
  static Value future(std::function<Result<Values>()> await) {
    Value value;
    value.content = std::make_shared<const std::function<Result<Values>()>>(std::move(await));
    return value;
  }

  bool isTensor() const { return std::holds_alternative<Tensor>(content); }
  bool isTuple() const { return std::holds_alternative<TuplePointer>(content); }
  /// Only for values of that kind, as the program's types tell.
  const Tensor &tensor() const { return std::get<Tensor>(content); }
  const Values &elements() const { return *std::get<TuplePointer>(content); }
  Result<Values> await() const { return (*std::get<FuturePointer>(content))(); }

private:
  using TuplePointer = std::shared_ptr<const Values>;
  using FuturePointer = std::shared_ptr<const std::function<Result<Values>()>>;
  std::variant<Tensor, Token, TuplePointer, FuturePointer> content;
};

} // namespace torchere::interpreter
