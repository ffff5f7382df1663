// Functionalization: takes writes out of a program, so that each value is computed once and never changes.
#pragma once

#include "program/program.h"
#include "schema/schema.h"

#include <optional>
#include <string>
#include <string_view>

namespace torchere::functionalization {

/// Rewrites the program in place so that no op writes to its arguments; an op that writes becomes its
/// functional form, whose result every later reader of that memory sees. Views are values of their own: one
/// that is read after its memory was written is taken again. What is written in parameters, buffers and user
/// inputs comes first among the outputs, in the order of the inputs, as a mutation; a constant that is
/// written becomes a buffer that is not persistent. Aliases are told by the schemas and, where these are
/// silent or say more than is so (`reshape`, `to`, `dropout`), by the strides of the types.
///
/// The program must verify. After an error it is as it was. A program without writes, in which no op of
/// FormKind::Rewritten stands, stays as it is.
TORCHERE_EXPORT Status functionalize(program::Program &program);

/// What functionalize() does with calls of an op. What it emits itself, other than a Functional form, always
/// has a row in the op table.
enum class FormKind : uint8_t {
  /// Left as it is: the op needs a row of its own. So do views, which are taken again where that is needed.
  /// An op of the user's own that writes has none: the exporter names it with the other ops without a row.
  Kept,
  /// Writes to its first argument, and becomes the op that FunctionalForm::op names, of the same arguments,
  /// which needs a row. ("aten.add_.Tensor" becomes "aten.add.Tensor".)
  Functional,
  /// Removed, or rewritten to ops that have rows ("aten.detach_.default", "aten.reshape.default",
  /// "aten.to.dtype", "aten.batch_norm.default"). It needs no row.
  Rewritten,
  /// Its first argument itself where the argument `train` is false or `p` is 0, and removed. Elsewhere Kept,
  /// or, when it writes, Functional: then FunctionalForm::op needs a row. ("aten.dropout.default",
  /// "aten.dropout_.default")
  RemovedInEval,
  /// An error that names the op: it writes in a way that has no functional form ("aten.resize_.default", an
  /// op of torch with an `out` argument).
  Refused,
};

struct FunctionalForm {
  FormKind kind = FormKind::Kept;
  std::string op; ///< what calls become: of Functional, and of RemovedInEval in training; else empty
};

/// `op` as programs name it ("aten.add_.Tensor"), with its schema. In Python, _core.functional_form(op,
/// schema) gives (kind, op) as strings: ("functional", "aten.add.Tensor"), ("rewritten", ""),
/// ("removed_in_eval", ...).
TORCHERE_EXPORT FunctionalForm functionalForm(std::string_view op, const schema::Schema &schema);

/// The position of the argument whose memory the op's results always share; by the schema or, where that is
/// silent, as is known of the op. Only of ops that are Kept.
TORCHERE_EXPORT std::optional<size_t> viewedArgument(const schema::Schema &schema);

} // namespace torchere::functionalization
