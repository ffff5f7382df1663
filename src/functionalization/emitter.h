// Emitter: makes the nodes of a graph that takes another's place, with names and places like its nodes.
#pragma once

#include "program/program.h"

#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <unordered_set>
#include <vector>

namespace torchere::functionalization {

class Emitter {
public:
  /// No name of the source's is given again.
  Emitter(program::Program &program, const program::Graph &source);

  /// Calls emitted from now on take this node's place: they are labelled as it is.
  void setOrigin(const program::Node &node) { origin = &node; }

  /// The node as it is, under its own name, with other arguments.
  program::NodeId keep(const program::Node &node, std::span<const program::Argument> arguments);
  program::NodeId call(const program::Op *op, std::span<const program::Argument> arguments,
                       program::Type type, const program::Node *like = nullptr);
  /// A call of an op that has a row in the op table.
  program::NodeId call(std::string_view op, std::span<const program::Argument> arguments, program::Type type,
                       const program::Node *like = nullptr);
  program::NodeId getItem(program::NodeId list, int64_t index, program::Type type,
                          const program::Node *like = nullptr);
  /// The value reshaped to the sizes of the tensor `like`.
  program::NodeId reshapeLike(program::NodeId value, program::NodeId like, program::Type type);

  /// The elements in a row.
  program::NodeId flatten(program::NodeId value);

  /// The tensor's size, a constant or a node that computes it.
  program::Argument size(program::NodeId tensor, size_t axis);
  program::Argument sizes(program::NodeId tensor);
  program::Argument list(std::span<const program::Argument> elements, bool isTuple = false);
  program::Argument integers(std::span<const int64_t> values);
  program::Argument dtype(DType dtype);
  program::NodeId sizeNode(const program::Op *op, std::span<const program::Argument> arguments,
                           program::SymInt value);

  program::Type tensorType(DType dtype, std::span<const program::SymInt> shape,
                           std::span<const program::SymInt> strides = {}, std::string_view device = "cpu");
  /// The same with another dtype; of a list, that of every tensor.
  program::Type withDType(program::Type type, DType dtype);
  program::Type listType(std::span<const program::Type> elements);
  program::SymInt countOf(const program::TensorType &type);
  const program::TensorType &tensor(program::NodeId node) const;
  const program::Op *operation(std::string_view name);

  const program::Node &operator[](program::NodeId node) const { return made[node]; }
  program::Program &target() { return program; }
  program::NodeList take() { return std::move(made); }

private:
  program::NodeId append(const program::Op *op, std::span<const program::Argument> arguments,
                         program::Type type, const program::Node *like);
  const program::Label *labelFor(const program::Op &op, size_t arguments, const program::Node &like);
  std::string uniqueName(const std::string &op);

  program::Program &program;
  const program::Node *origin = nullptr;
  program::NodeList made;
  std::unordered_set<std::string> names;
  std::unordered_map<std::string, uint32_t> nameCounts;
  std::unordered_map<std::string, const program::Op *> operations;
};

} // namespace torchere::functionalization
