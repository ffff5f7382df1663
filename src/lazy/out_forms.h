// The out= forms of ops, and the ops that compute what they write.
#pragma once

#include <c10/util/ArrayRef.h>

namespace torchere::lazy {

struct OutForm {
  const char *formName, *formOverload; ///< "aten::add", "out"
  const char *name, *overload;         ///< of the op itself: "aten::add", "Tensor"
  bool isPointwise;
};

/// Of all ops whose results are tensors; generated.
c10::ArrayRef<OutForm> outForms();

} // namespace torchere::lazy
