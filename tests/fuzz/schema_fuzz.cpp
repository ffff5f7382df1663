// Fuzz target of Schema::parse: what it reads it must print, and read the same from what it printed.
#include "fuzz_target.h"

#include "schema/schema.h"

#include <cstdlib>

using namespace torchere::schema;

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  torchere::Result<Schema> schema = Schema::parse({reinterpret_cast<const char *>(data), size});
  if (!schema)
    return schema.error().message.empty() ? std::abort(), 0 : 0;
  std::string text = schema->text();
  torchere::Result<Schema> again = Schema::parse(text);
  // Numbers and escapes may be printed longer than they were read: an error then.
  if (again ? again->text() != text : text.size() <= size)
    std::abort();
  for (const Argument &argument : schema->arguments)
    if (schema->position(argument.name) >= schema->arguments.size())
      std::abort();
  return 0;
}

std::vector<std::string> fuzzSeeds() {
  return {
      "aten::add.Tensor(Tensor self, Tensor other, *, Scalar alpha=1) -> Tensor",
      "aten::split(Tensor(a -> *) self, SymInt[2]? sizes=[1, -2], float eps=1e-05) -> Tensor(a)[]",
      "aten::max.out(Tensor self, *, Tensor(a!) max, Tensor(b!)? grad=None) -> (Tensor(a!) values, bool[3])",
      "aten::setdefault(Dict(str, t)(a!) self, str(b|c -> *) key=\" \\n\\\"\\001\") -> ((str, t)[])",
      "prim::rpc(__torch__.torch.classes.c10d.Work work, Future(t)[][] x, ...) -> ..."};
}
