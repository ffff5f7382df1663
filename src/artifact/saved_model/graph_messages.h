// The messages that graphs are made of: attributes, nodes, tensors.
#pragma once

#include "artifact/saved_model/tensor_type.h"
#include "artifact/saved_model/wire_format.h"
#include "program/program.h"

#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace torchere::artifact::saved_model {

/// AttrValues.
Message typeAttribute(DataType type);
Message textAttribute(std::string_view text);
Message numberAttribute(int64_t number);
Message flagAttribute(bool flag);
Message shapeAttribute(const std::vector<int64_t> &shape);
Message functionAttribute(std::string_view function);
Message tensorAttribute(const Message &tensor);
Message typesAttribute(const std::vector<DataType> &types);
Message textsAttribute(const std::vector<std::string> &texts);
Message numbersAttribute(const std::vector<int64_t> &numbers);
Message shapesAttribute(const std::vector<std::vector<int64_t>> &shapes);

/// TensorProtos.
Message textTensor(std::string_view text);
Message textTensor(const std::vector<std::string> &texts);
/// The value as a tensor without dimensions, of a type that can hold it.
Message numberTensor(DataType dtype, const program::Constant &value);

/// A NodeDef. Inputs are "node:2" in a graph, "node:output:2" in a function, "^node" for the order alone.
struct Node {
  std::string name;
  std::string op;
  std::vector<std::string> inputs = {};
  std::map<std::string, Message> attributes = {}; ///< sorted

  Message message() const;
};

/// A Const node.
Node constantNode(std::string name, DataType dtype, const Message &tensor);

} // namespace torchere::artifact::saved_model
