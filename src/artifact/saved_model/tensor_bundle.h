// TensorBundle: a checkpoint's tensors in one file of data, found by the keys of a sorted index.
#pragma once

#include "artifact/saved_model/tensor_type.h"
#include "base/error.h"
#include "base/file.h"
#include "program/program.h"

#include <cstdint>
#include <map>
#include <string>
#include <string_view>

namespace torchere::artifact::saved_model {

/// Data is written as it comes; the index is kept until the end.
class TORCHERE_EXPORT TensorBundle {
public:
  explicit TensorBundle(FileWriter &data) : data(data) {}

  /// The elements are streamed. The weight must have passed verifyWeight().
  Status add(const std::string &key, DataType dtype, const program::Weight &weight);
  /// A tensor of one string.
  Status addText(const std::string &key, std::string_view text);
  /// The index's file.
  std::string index() const;

private:
  void note(const std::string &key, DataType dtype, const std::vector<int64_t> &shape, uint64_t offset,
            uint32_t checksum);
  FileWriter &data;
  std::map<std::string, Message> entries; ///< sorted, as the index has to be
};

} // namespace torchere::artifact::saved_model
