// Implements bisections: each part has some of the values.
#include "cpu/kernels/bisection.h"

#include "cpu/kernels/isa_dispatch.h"

#include <algorithm>

namespace torchere::cpu {
namespace {

constexpr int64_t kPartSteps = 16384;
constexpr int64_t kMaxParts = 64;

} // namespace

bool hasBisection(DType type) {
  return type <= DType::F64;
}

void bisect(const Context &context, const BisectionArgs &args) {
  auto function = kernelsOf(context.isa).bisect[static_cast<int>(args.type)];
  int64_t size = byteSize(args.type), placeSize = byteSize(args.placeType);
  int64_t parts = std::clamp<int64_t>(args.count * args.turns / kPartSteps, 1, kMaxParts);
  context.pool.parallelFor(parts, [&](int64_t part) {
    int64_t begin = partBegin(args.count, parts, part);
    BisectionJob job;
    job.table = args.table;
    job.length = args.length;
    job.values = static_cast<const char *>(args.values) + begin * size;
    job.count = partBegin(args.count, parts, part + 1) - begin;
    job.places = static_cast<char *>(args.places) + begin * placeSize;
    job.areLong = placeSize == 8;
    job.turns = args.turns;
    job.low = args.low;
    job.high = args.high;
    job.isStrict = args.isStrict;
    job.isLow = args.isLow;
    function(job);
  });
}

} // namespace torchere::cpu
