// Weights as npy files: streamed out of their storages, and mapped back as views.
#pragma once

#include "base/error.h"
#include "base/file.h"
#include "program/program.h"

#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

namespace torchere::artifact {

/// Checks that every element of the view lies in the weight's storage. `subject` starts the error.
Status verifyWeight(const program::Weight &weight, std::string_view subject);

/// Writes an npy file in C order. The elements of a view without gaps are written from where they lie;
/// others are gathered piece by piece. The weight must have passed verifyWeight().
TORCHERE_EXPORT Status writeWeight(const program::Weight &weight, FileWriter &file);

/// Maps an npy file: the weight's storage is the file's memory, and owns the mapping. `dtype` says what raw
/// bytes are, and is what the file must hold; without it the file's own type decides. Files in Fortran order
/// are strided views.
TORCHERE_EXPORT Result<program::Weight> mapWeight(const std::filesystem::path &path, std::string name,
                                                  std::optional<DType> dtype);
/// The same of a file that is mapped already; `subject` starts the errors.
Result<program::Weight> weightOf(std::shared_ptr<const MappedFile> file, std::string_view subject,
                                 std::string name, std::optional<DType> dtype);

} // namespace torchere::artifact
