// OpRule: what the pass does with the calls of one op, found once for each op of a program.
#pragma once

#include "functionalization/functionalization.h"

#include <optional>
#include <string>
#include <string_view>

namespace torchere::functionalization {

class GraphRewriter;

/// Replaces a call by what the program computes without aliases.
using Rewrite = Status (GraphRewriter::*)(program::NodeId id, const program::Node &node);

/// The rewrite of an op of FormKind::Rewritten; null for other ops.
Rewrite findRewrite(std::string_view op);

/// Whether the op writes to an argument.
bool writes(const schema::Schema &schema);

struct OpRule {
  FunctionalForm form;
  Rewrite rewrite = nullptr;
  std::optional<size_t> viewed;
};

OpRule ruleOf(const program::Op &op);

} // namespace torchere::functionalization
