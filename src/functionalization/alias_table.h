// AliasTable: which tensors of a graph share memory, and where the present value of each stands.
#pragma once

#include "functionalization/emitter.h"
#include "functionalization/view_step.h"

#include <optional>
#include <vector>

namespace torchere::functionalization {

using AliasId = uint32_t;

/// A memory has a version, which each write advances. A tensor on it whose value is of an older version is
/// taken again when it is read; so a write costs nothing for the tensors that are not.
class AliasTable {
public:
  explicit AliasTable(Emitter &emitter) : emitter(emitter) {}

  /// A tensor in memory of its own.
  AliasId addMemory(program::NodeId value);
  /// A tensor in the memory of another one, whose value `value` is.
  AliasId addView(AliasId of, ViewStep step, program::NodeId value);
  /// The node that holds the tensor's present value.
  program::NodeId read(AliasId alias);
  /// Whether read() gives what is there.
  bool isCurrent(AliasId alias) const { return aliases[alias].version == versionOf(aliases[alias]); }
  /// A node that has the tensor's type, whatever its value.
  program::NodeId anyValue(AliasId alias) const { return aliases[alias].value; }
  const program::TensorType &type(AliasId alias) const { return emitter.tensor(aliases[alias].value); }
  /// Gives the tensor's elements new values, which all tensors on the memory see. An error names `op`.
  Status write(AliasId alias, program::NodeId value, std::string_view op);

  /// The tensor that the memory was made with.
  AliasId memoryOf(AliasId alias) const { return aliases[alias].memory; }
  bool isWritten(AliasId memory) const { return aliases[memory].memoryVersion > 0; }
  /// Where the tensor's first element lies in the memory, in elements, if that is known.
  std::optional<int64_t> offset(AliasId alias) const { return aliases[alias].offset; }

private:
  struct Alias {
    AliasId memory = 0;        ///< the tensor that the memory was made with
    AliasId parent = 0;        ///< the tensor that it is a view of; itself where it is none
    program::NodeId value = 0; ///< its value at `version` of the memory
    uint32_t version = 0;
    uint32_t memoryVersion = 0; ///< of the memory; where this one made it
    bool overlaps = false;      ///< it, or what it was taken of, has elements that share a place
    ViewStep step = {};
    std::optional<int64_t> offset = 0;
  };
  uint32_t versionOf(const Alias &alias) const { return aliases[alias.memory].memoryVersion; }
  std::optional<int64_t> offsetOf(const Alias &parent, const ViewStep &step) const;
  /// From the tensor up to the one that the memory was made with, without that one.
  std::vector<AliasId> pathToMemory(AliasId alias) const;
  Status checkWritable(AliasId alias, std::string_view op) const;
  void writeThroughViews(AliasId alias, program::NodeId value);
  Status writeByIndex(AliasId alias, program::NodeId value, std::string_view op);
  program::NodeId placesOf(AliasId alias);

  Emitter &emitter;
  std::vector<Alias> aliases;
};

} // namespace torchere::functionalization
