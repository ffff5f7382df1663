// The functions of the graph: those that call modules, and those behind the signatures.
#pragma once

#include "artifact/saved_model/graph_messages.h"
#include "artifact/saved_model/model.h"

#include <algorithm>
#include <map>
#include <numeric>
#include <string>
#include <vector>

namespace torchere::artifact::saved_model {

/// The function's name in the graph's library, as TensorFlow's own begin. `index` is that of the function.
std::string bodyName(const SavedFunction &function, size_t index);
std::string wrapperName(size_t index);

/// A FunctionDef: reads the variables, checks the numbers that the function was made for, calls the module,
/// assigns the new values. Takes the inputs and the variables in their order, and gives the outputs in
/// theirs.
Message bodyDefinition(const Model &model, size_t index);

/// A FunctionDef that calls the former, with the inputs and outputs in the order of their names. Loaders of
/// signatures assume this order, in which args_10 comes before args_2.
Message wrapperDefinition(const Model &model, size_t index);

/// The indices of the inputs or outputs in the order of their names.
template <class Tensor> std::vector<size_t> nameOrder(const std::vector<Tensor> &tensors) {
  std::vector<size_t> order(tensors.size());
  std::iota(order.begin(), order.end(), size_t(0));
  std::ranges::sort(order, {}, [&](size_t index) -> const std::string & { return tensors[index].name; });
  return order;
}

/// The attributes of a call of a body or a wrapper.
std::map<std::string, Message> callAttributes(const SavedFunction &function, const std::string &callee,
                                              bool inNameOrder);

} // namespace torchere::artifact::saved_model
