// The composites in the text of a module.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace torchere::cli {

struct ListedComposite {
  std::string name;
  std::string attributes; ///< as the module's text has them, without braces: "scale = 2.5e-01 : f32"
  size_t count = 0;
};

/// Composites of one name and equal attributes are one, in the order of first use.
std::vector<ListedComposite> listComposites(std::string_view moduleText);

} // namespace torchere::cli
