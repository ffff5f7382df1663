// Fuzz target of parseJson: what it accepts, it must print and read back as the same value.
#include "fuzz_target.h"

#include "base/json.h"

#include <cstdlib>

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  std::string_view text(reinterpret_cast<const char *>(data), size);
  torchere::Result<torchere::Json> document = torchere::parseJson(text, "fuzz", 50);
  if (!document)
    return document.error().message.empty() ? std::abort(), 0 : 0;
  torchere::Result<torchere::Json> again = torchere::parseJson(document->dump(), "fuzz", 50);
  if (!again || *again != *document)
    std::abort();
  return 0;
}

std::vector<std::string> fuzzSeeds() {
  return {
      R"({"name": "forward", "input_signature": [{"shape": [2, 3], "dtype": "float32", "dynamic_dims": []}]})",
      R"([1, -2, 3.5e10, true, false, null, "é\n\"", 18446744073709551615, [], {}])",
      R"({"a": {"a": {"a": [[[[0]]]]}}, "b": "😀"})"};
}
