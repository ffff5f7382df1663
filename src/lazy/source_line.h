// SourceLine: the line of the user's Python program that an op was called at.
#pragma once

#include <atomic>
#include <cstdint>
#include <string>

namespace torchere::lazy {

/// Equal lines are the same object, which lives until the process ends.
struct SourceLine {
  std::string file;
  std::string function;
  std::string code; ///< the text of the line; empty if it cannot be read
  int number = 0;
  bool isBackward = false; ///< the op is a part of this line's gradient

  /// "train.py:31 in step", with its text.
  std::string text() const;
  /// As Python prints a frame, which program::Program keeps for its nodes.
  std::string trace() const;

  /// That of the op which this thread is tracing, by its innermost frame outside torch; null if lines are not
  /// recorded, and in a program without Python. Takes Python's lock: no other may be held.
  static const SourceLine *current() { return recorded.load(std::memory_order_relaxed) ? find() : nullptr; }
  /// The same, whether or not lines are recorded.
  static const SourceLine *find();
  /// Whether lines are recorded, which costs about a third of the tracing of an op. Off, unless
  /// TORCHERE_LAZY_SOURCE_LINES (or PyTorch/XLA's XLA_IR_DEBUG) is set. Returns what it was.
  static bool record(bool isOn) { return recorded.exchange(isOn); }

private:
  static std::atomic<bool> recorded;
};

} // namespace torchere::lazy
