// The fields of attr_value.proto, node_def.proto and tensor.proto.
#include "artifact/saved_model/graph_messages.h"

#include <bit>

namespace torchere::artifact::saved_model {

Message typeAttribute(DataType type) {
  return Message().number(6, static_cast<int>(type));
}
Message textAttribute(std::string_view text) {
  return Message().text(2, text);
}
Message numberAttribute(int64_t number) {
  return Message().number(3, number);
}
Message flagAttribute(bool flag) {
  return Message().number(5, flag);
}
Message shapeAttribute(const std::vector<int64_t> &shape) {
  return Message().message(7, shapeMessage(shape));
}
Message functionAttribute(std::string_view function) {
  return Message().message(10, Message().text(1, function));
}
Message tensorAttribute(const Message &tensor) {
  return Message().message(8, tensor);
}

static Message listMessage(const Message &list) {
  return Message().message(1, list);
}
Message typesAttribute(const std::vector<DataType> &types) {
  std::vector<int64_t> numbers;
  for (DataType type : types)
    numbers.push_back(static_cast<int>(type));
  return listMessage(Message().numbers(6, numbers));
}
Message textsAttribute(const std::vector<std::string> &texts) {
  Message list;
  for (const std::string &text : texts)
    list.text(2, text);
  return listMessage(list);
}
Message numbersAttribute(const std::vector<int64_t> &numbers) {
  return listMessage(Message().numbers(3, numbers));
}
Message shapesAttribute(const std::vector<std::vector<int64_t>> &shapes) {
  Message list;
  for (const std::vector<int64_t> &shape : shapes)
    list.message(7, shapeMessage(shape));
  return listMessage(list);
}

static Message tensorOf(DataType dtype, const std::vector<int64_t> &shape) {
  return Message().number(1, static_cast<int>(dtype)).message(2, shapeMessage(shape));
}

Message textTensor(std::string_view text) {
  return tensorOf(DataType::String, {}).text(8, text);
}

Message textTensor(const std::vector<std::string> &texts) {
  Message tensor = tensorOf(DataType::String, {static_cast<int64_t>(texts.size())});
  for (const std::string &text : texts)
    tensor.text(8, text);
  return tensor;
}

Message numberTensor(DataType dtype, const program::Constant &value) {
  Message tensor = tensorOf(dtype, {});
  if (auto *text = value.as<std::string>())
    return tensor.text(8, *text);
  if (auto *flag = value.as<bool>())
    return tensor.number(11, *flag);
  if (auto *number = value.as<int64_t>())
    return tensor.number(dtype == DataType::Int32 ? 7 : 10, *number);
  double number = *value.as<double>();
  if (dtype == DataType::Float)
    return tensor.fixed32(5, std::bit_cast<uint32_t>(static_cast<float>(number)));
  return tensor.fixed64(6, std::bit_cast<uint64_t>(number));
}

Message Node::message() const {
  Message node;
  node.text(1, name).text(2, op);
  for (const std::string &input : inputs)
    node.text(3, input);
  for (const auto &[key, value] : attributes)
    node.entry(5, key, value);
  return node;
}

Node constantNode(std::string name, DataType dtype, const Message &tensor) {
  return {
      std::move(name), "Const", {}, {{"dtype", typeAttribute(dtype)}, {"value", tensorAttribute(tensor)}}};
}

} // namespace torchere::artifact::saved_model
