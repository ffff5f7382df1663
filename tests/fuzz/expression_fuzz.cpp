// Fuzz target of ExpressionPool: what it reads it must print, read back as the same expression and evaluate.
#include "fuzz_target.h"

#include "program/expression.h"

#include <cstdlib>

using namespace torchere::program;

/// Whether constants were left unfolded (they do not fit in 64 bits); the form is then not the only one.
static bool isUnfolded(const ExpressionPool &pool) {
  for (uint32_t id = 0; id < pool.size(); ++id) {
    size_t constants = 0;
    for (SymInt operand : pool[SymInt::expression(id)].operands)
      constants += operand.isConstant();
    if (constants > 1)
      return true;
  }
  return false;
}

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  ExpressionPool pool;
  torchere::Result<SymInt> expression = pool.parse({reinterpret_cast<const char *>(data), size});
  if (!expression)
    return expression.error().message.empty() ? std::abort(), 0 : 0;
  torchere::Result<SymInt> again = pool.parse(pool.print(*expression));
  // Texts that were short enough may be printed longer, with parentheses, or nest more deeply: an error then.
  if (again && !(*again == *expression) && !isUnfolded(pool))
    std::abort();
  (void)pool.evaluate(*expression, {{"s0", 7}, {"s1", -3}, {"s77", 0}});
  return 0;
}

std::vector<std::string> fuzzSeeds() {
  return {"2*s77 + 1",
          "(((((s0 + 1)//2)) + 3)//s1)",
          "Max(5, s0, 2*s1, (s0//3))",
          "CeilToInt(IntTrueDiv(s0, 2)) - Mod(s1, 3)**2",
          "ModularIndexing(4*s0 + 2, 8, 3)*(s0 - s1)",
          "-9223372036854775808 + 9223372036854775807*s0"};
}
