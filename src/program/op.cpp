// OpInterner: ops by name and schema, or by name and the names of their arguments.
#include "program/op.h"

#include "program/word_hash.h"

namespace torchere::program {

const Op *OpInterner::find(const std::string &key) {
  std::lock_guard lock(mutex);
  auto found = ops.find(key);
  return found == ops.end() ? nullptr : found->second.get();
}

/// If two threads add the same op, the first one wins.
const Op *OpInterner::add(std::string key, Op op) {
  WordHash hash;
  hash.add(op.name);
  for (const std::string &name : op.argumentNames)
    hash.add(name);
  op.hash = hash.value()[0];
  std::lock_guard lock(mutex);
  return ops.try_emplace(std::move(key), std::make_unique<const Op>(std::move(op))).first->second.get();
}

Result<const Op *> OpInterner::intern(std::string_view name, std::string_view schema) {
  std::string key = fmt::format("{}\n{}", name, schema);
  if (const Op *op = find(key))
    return op;
  Op op{std::string(name), std::nullopt, {}, 0};
  TORCHERE_ASSIGN(op.schema, schema::Schema::parse(schema));
  for (const schema::Argument &argument : op.schema->arguments)
    op.argumentNames.push_back(argument.name);
  return add(std::move(key), std::move(op));
}

const Op *OpInterner::intern(std::string_view name, std::vector<std::string> argumentNames) {
  std::string key = fmt::format("{}\n\n{}", name, fmt::join(argumentNames, "\n"));
  if (const Op *op = find(key))
    return op;
  return add(std::move(key), Op{std::string(name), std::nullopt, std::move(argumentNames), 0});
}

} // namespace torchere::program
