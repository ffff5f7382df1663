// The names of the files in the directory of a saved program.
#pragma once

#include "base/error.h"

#include <fmt/format.h>

#include <array>
#include <cstddef>
#include <string>
#include <string_view>

namespace torchere::artifact {

/// Of a program in one file.
inline constexpr std::string_view archiveExtension = ".torchere";
inline constexpr std::string_view manifestName = "manifest.json";
inline constexpr std::string_view weightFolder = "data";
inline constexpr std::string_view constantFolder = "constants";
inline constexpr std::string_view functionFolder = "functions";

inline std::string metaName(std::string_view function) {
  return fmt::format("functions/{}.meta", function);
}
inline std::string textName(std::string_view function) {
  return fmt::format("functions/{}.mlir", function);
}
inline std::string bytecodeName(std::string_view function) {
  return fmt::format("functions/{}.bytecode", function);
}
inline std::string signatureName(std::string_view function) {
  return fmt::format("functions/{}.signature.json", function);
}
inline std::string weightName(std::string_view weight) {
  return fmt::format("data/{}", weight);
}
inline std::string constantName(size_t index) {
  return fmt::format("constants/{}", index);
}

/// Rejects function names that are not a single file name.
Status checkFunctionName(std::string_view name);

// A SavedModel's (saved_model/saved_model.h).
inline constexpr std::string_view savedModelGraph = "saved_model.pb";
inline constexpr std::string_view savedModelVariables = "variables";
inline constexpr std::string_view savedModelIndex = "variables/variables.index";
inline constexpr std::string_view savedModelData = "variables/variables.data-00000-of-00001";
inline constexpr std::array<std::string_view, 4> savedModelNames = {savedModelGraph, savedModelVariables,
                                                                    savedModelIndex, savedModelData};

} // namespace torchere::artifact
