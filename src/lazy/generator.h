// Generator: torch's generator of random numbers on the device. Its state is a value there.
#pragma once

#include "lazy/device.h"

#include <ATen/core/Generator.h>
#include <ATen/core/Tensor.h>

#include <mutex>

namespace torchere::lazy {

/// The stream of an exported program's generator (docs/random_numbers.md). The state is an int64 tensor of
/// the seed and of how many blocks were drawn: an operand and a result of every op that draws. So a step's
/// program is the same in every step, and no state is read back.
class Generator final : public c10::GeneratorImpl {
public:
  explicit Generator(c10::DeviceIndex index, uint64_t seed = c10::default_rng_seed_val);
  static c10::DeviceType device_type() { return c10::DeviceType::XLA; }

  /// That of a kernel's argument, or the device's own. An error for a generator of another device.
  static Generator &of(const std::optional<at::Generator> &given, const char *op, Device &device);
  /// The device's own, which starts from the seed of torch's CPU generator.
  static const at::Generator &defaultOf(c10::DeviceIndex index);

  static void seedAll(uint64_t seed);

  /// The state that the next op draws from.
  Value state();
  /// Sets the state that an op leaves which drew from `from`. False, and nothing is set, if the generator has
  /// gone on since: another thread has drawn the same numbers.
  bool advance(const Value &from, const Value &to);

  void set_current_seed(uint64_t seed) override;
  uint64_t current_seed() const override;
  uint64_t seed() override;
  void set_offset(uint64_t offset) override;
  uint64_t get_offset() const override;
  /// int64 of two elements on any device, or the same 16 bytes as uint8.
  void set_state(const c10::TensorImpl &state) override;
  /// uint8 on the host, as of torch's other generators: it is computed and read.
  c10::intrusive_ptr<c10::TensorImpl> get_state() const override;
  /// int64 on the device, as users hold tensors: nothing is computed or read.
  at::Tensor deviceState() const;

protected:
  Generator *clone_impl() const override;

private:
  void setWords(uint64_t seed, uint64_t offset);
  std::pair<uint64_t, uint64_t> words() const;
  at::Tensor current() const;

  // Tensors of the device, not wrapped by functionalization: a sync keeps what they show.
  mutable std::mutex guard;
  mutable at::Tensor shown;   ///< the state; undefined until it is needed
  mutable at::Tensor settled; ///< a state that was computed, to which a failed computation goes back
  uint64_t firstSeed = 0, firstOffset = 0;
  bool isSeedFirst = true; ///< false where the state came as a tensor of the device
};

} // namespace torchere::lazy
