// Fields that occur in several JSON files of a saved program.
#include "artifact/shared_fields.h"

namespace torchere::artifact {

void checkFormat(const JsonCursor &root, int64_t expected) {
  int64_t format = root.integer("format");
  if (format != expected)
    root.fail("got the format {}, expected {}: another version wrote it", format, expected);
}

DType readDType(const JsonCursor &owner) {
  std::string name = owner.text("dtype");
  std::optional<DType> known = dtypeFromTorchName(name);
  if (!known)
    owner.fail("got the dtype \"{}\", expected one of torch's", name);
  return known.value_or(DType());
}

} // namespace torchere::artifact
