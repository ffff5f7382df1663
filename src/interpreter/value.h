// Value: what a name stands for while a program is interpreted.
#pragma once

#include "interpreter/tensor.h"

#include <variant>

namespace torchere::interpreter {

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

  bool isTensor() const { return std::holds_alternative<Tensor>(content); }
  bool isTuple() const { return std::holds_alternative<TuplePointer>(content); }
  /// Only for values of that kind, as the program's types tell.
  const Tensor &tensor() const { return std::get<Tensor>(content); }
  const Values &elements() const { return *std::get<TuplePointer>(content); }

private:
  using TuplePointer = std::shared_ptr<const Values>;
  std::variant<Tensor, Token, TuplePointer> content;
};

} // namespace torchere::interpreter
