// The state of random numbers on the device.
#include "lazy/generator.h"

#include "lazy/tensor.h"

#include <ATen/CPUGeneratorImpl.h>
#include <ATen/ops/empty.h>

#include <map>

namespace torchere::lazy {

Generator::Generator(c10::DeviceIndex index, uint64_t seed)
    : c10::GeneratorImpl({c10::DeviceType::XLA, index}, c10::DispatchKeySet(c10::DispatchKey::XLA)),
      firstSeed(seed) {}

static uint64_t seedOfHost() {
  at::Generator host = at::detail::getDefaultCPUGenerator();
  std::lock_guard lock(host.mutex());
  return host.current_seed();
}

namespace {

/// Never destroyed: tensors may outlive everything else.
struct GeneratorTable {
  std::mutex mutex;
  std::map<c10::DeviceIndex, at::Generator> generators;
  std::optional<uint64_t> seed; ///< of seedAll(), for generators that are made later
};
GeneratorTable &generatorTable() {
  static auto *table = new GeneratorTable;
  return *table;
}

} // namespace

const at::Generator &Generator::defaultOf(c10::DeviceIndex index) {
  GeneratorTable &table = generatorTable();
  std::lock_guard lock(table.mutex);
  c10::DeviceIndex known = index < 0 ? 0 : index;
  auto found = table.generators.find(known);
  if (found == table.generators.end()) {
    uint64_t seed = table.seed ? *table.seed : seedOfHost();
    found = table.generators.emplace(known, at::make_generator<Generator>(known, seed)).first;
  }
  return found->second;
}

void Generator::seedAll(uint64_t seed) {
  GeneratorTable &table = generatorTable();
  std::lock_guard lock(table.mutex);
  table.seed = seed;
  for (auto &[index, generator] : table.generators)
    generator.set_current_seed(seed);
}

Generator &Generator::of(const std::optional<at::Generator> &given, const char *op, Device &device) {
  if (!given || !given->defined())
    return *defaultOf(device.torchDevice().index()).get<Generator>();
  TORCH_CHECK(given->device() == device.torchDevice(), "[", op, "] a generator of another device: got ",
              given->device(), ", expected ", device.torchDevice());
  return *given->get<Generator>();
}

/// Needs the lock. What a failed computation would have left is given up.
at::Tensor Generator::current() const {
  if (shown.defined() && Device::hasFailed(implementationOf(shown)->value()))
    shown = settled;
  if (!shown.defined()) {
    at::Tensor words = at::empty({2}, at::TensorOptions().dtype(at::kLong));
    words.mutable_data_ptr<int64_t>()[0] = static_cast<int64_t>(firstSeed);
    words.mutable_data_ptr<int64_t>()[1] = static_cast<int64_t>(firstOffset);
    shown = tensorOf(Device::get(device_.index()).upload(words));
  }
  return shown;
}

Value Generator::state() {
  std::lock_guard lock(guard);
  return implementationOf(current())->value();
}

bool Generator::advance(const Value &from, const Value &to) {
  at::Tensor next = tensorOf(to), given; // destroyed without the lock
  std::lock_guard lock(guard);
  const Value &now = implementationOf(current())->value();
  if (now.node.get() != from.node.get() || now.result != from.result)
    return false;
  if (Device::isComputed(from))
    settled = shown;
  given = std::exchange(shown, std::move(next));
  return true;
}

void Generator::setWords(uint64_t seed, uint64_t offset) {
  std::lock_guard lock(guard);
  firstSeed = seed;
  firstOffset = offset;
  isSeedFirst = true;
  shown = settled = at::Tensor();
}

std::pair<uint64_t, uint64_t> Generator::words() const {
  std::unique_lock lock(guard);
  if (!shown.defined())
    return {firstSeed, firstOffset};
  at::Tensor known = current();
  lock.unlock();
  at::Tensor host = Device::get(device_.index()).download(implementationOf(known)->value());
  const auto *elements = host.const_data_ptr<int64_t>();
  return {static_cast<uint64_t>(elements[0]), static_cast<uint64_t>(elements[1])};
}

void Generator::set_current_seed(uint64_t seed) {
  setWords(seed, 0);
}

uint64_t Generator::current_seed() const {
  {
    std::lock_guard lock(guard);
    if (isSeedFirst)
      return firstSeed;
  }
  return words().first;
}

uint64_t Generator::seed() {
  uint64_t drawn = c10::detail::getNonDeterministicRandom();
  set_current_seed(drawn);
  return drawn;
}

void Generator::set_offset(uint64_t offset) {
  setWords(words().first, offset);
}

uint64_t Generator::get_offset() const {
  return words().second;
}

void Generator::set_state(const c10::TensorImpl &state) {
  constexpr const char *name = "xla.set_rng_state";
  // The interface gives what is a tensor of the caller's.
  at::Tensor given(c10::intrusive_ptr<c10::TensorImpl>::reclaim_copy(const_cast<c10::TensorImpl *>(&state)));
  bool isWords = given.scalar_type() == at::kLong && given.sizes() == c10::IntArrayRef{2};
  bool isBytes = given.scalar_type() == at::kByte && given.sizes() == c10::IntArrayRef{16};
  TORCH_CHECK(isWords || isBytes, "[", name, "] no state of a generator: got ", given.scalar_type(), " of ",
              given.sizes(), ", expected int64 of [2], as get_rng_state() gives it");
  if (isWords && given.device() == device_) {
    const Value value = implementationOf(unwrapped(given))->value();
    std::lock_guard lock(guard);
    shown = tensorOf(value);
    settled = at::Tensor();
    isSeedFirst = false;
    return;
  }
  at::Tensor host = given.cpu().contiguous();
  const auto *elements = static_cast<const uint64_t *>(host.const_data_ptr());
  setWords(elements[0], elements[1]);
}

c10::intrusive_ptr<c10::TensorImpl> Generator::get_state() const {
  auto [seed, offset] = words();
  at::Tensor bytes = at::empty({16}, at::TensorOptions().dtype(at::kByte));
  auto *elements = static_cast<uint64_t *>(bytes.mutable_data_ptr());
  elements[0] = seed;
  elements[1] = offset;
  return bytes.getIntrusivePtr();
}

at::Tensor Generator::deviceState() const {
  std::unique_lock lock(guard);
  at::Tensor known = current();
  lock.unlock();
  return wrapped(tensorOf(implementationOf(known)->value()));
}

Generator *Generator::clone_impl() const {
  auto *copy = new Generator(device_.index());
  std::lock_guard lock(guard);
  copy->firstSeed = firstSeed;
  copy->firstOffset = firstOffset;
  copy->isSeedFirst = isSeedFirst;
  if (shown.defined())
    copy->shown = tensorOf(implementationOf(shown)->value());
  return copy;
}

} // namespace torchere::lazy
