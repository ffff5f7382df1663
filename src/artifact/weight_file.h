// Weights as npy files: streamed from their storages, and mapped back as views.
#pragma once

#include "artifact/program_files.h"
#include "base/error.h"
#include "base/file.h"
#include "program/program.h"

#include <cstddef>
#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>

namespace torchere::artifact {

/// Checks that every element of the view lies in the weight's storage. `subject` starts the error.
Status verifyWeight(const program::Weight &weight, std::string_view subject);

/// A weight that is a type alone. An error if its shape has negative sizes or does not fit in memory.
Result<program::Weight> weightWithoutData(std::string name, DType dtype, std::vector<int64_t> shape,
                                          std::string_view subject);

/// Writes the elements in C order. A contiguous view is given whole; other views are gathered piece
/// by piece. The weight must have passed verifyWeight().
TORCHERE_EXPORT Status writeElements(const program::Weight &weight, const WriteBytes &write);

/// Writes an npy file in C order. The weight must have passed verifyWeight().
TORCHERE_EXPORT Status writeWeight(const program::Weight &weight, FileWriter &file);
Status writeWeight(const program::Weight &weight, const WriteBytes &write);
/// How many bytes writeWeight() writes.
uint64_t weightFileSize(const program::Weight &weight);

/// Maps an npy file; the weight's storage owns the mapping. `dtype` is the expected type, and the type of raw
/// bytes; without it, the file's own type is used. Files in Fortran order become strided views.
TORCHERE_EXPORT Result<program::Weight> mapWeight(const std::filesystem::path &path, std::string name,
                                                  std::optional<DType> dtype);
/// The same for a file in memory; `subject` starts the errors.
Result<program::Weight> weightOf(FileBytes file, std::string_view subject, std::string name,
                                 std::optional<DType> dtype);

} // namespace torchere::artifact
