// What TensorFlow's patterns of names allow.
#include "artifact/saved_model/names.h"

#include "base/folder.h"

#include <algorithm>
#include <array>

namespace torchere::artifact::saved_model {

static bool isDigit(char letter) {
  return letter >= '0' && letter <= '9';
}

static bool isLetterOrDigit(char letter) {
  return (letter >= 'a' && letter <= 'z') || (letter >= 'A' && letter <= 'Z') || isDigit(letter);
}

std::string encodedName(std::string_view name) {
  std::string result;
  for (char letter : name) {
    bool isFirst = result.empty(); // which may be a letter, a digit or a point, and so not the "-"
    if (isLetterOrDigit(letter) || (!isFirst && (letter == '.' || letter == '_')))
      result += letter;
    else
      result += fmt::format("{}-{:02x}", isFirst ? "." : "", static_cast<unsigned char>(letter));
  }
  return result.empty() ? "." : result;
}

std::string constantVariableName(size_t index) {
  return fmt::format("constants/{}", index);
}

// The names of files are held to more, of which a key may break this alone: it may have parts that are empty
// or points.
Status checkText(std::string_view text, std::string_view subject) {
  std::string flat(text);
  std::ranges::replace_if(flat, [](char letter) { return letter == '/' || letter == '.'; }, '_');
  return checkRelativeName(flat, subject);
}

Status checkSignatureKey(std::string_view key) {
  TORCHERE_TRY(checkText(key, "serving_key"));
  if (key.starts_with("__saved_model"))
    return invalidArgument("[serving_key] \"{}\" is one of TensorFlow's own names", key);
  return {};
}

bool canBeAttribute(std::string_view name) {
  constexpr std::array<std::string_view, 10> taken = {"signatures",
                                                      "variables",
                                                      "graph_debug_info",
                                                      "tensorflow_version",
                                                      "tensorflow_git_version",
                                                      "asset_paths",
                                                      "initializer",
                                                      "initialize",
                                                      "prune",
                                                      "graph"};
  constexpr std::array<std::string_view, 33> keywords = {
      "False", "None",     "True",  "and",    "as",   "assert", "async",  "await",    "break",
      "class", "continue", "def",   "del",    "elif", "else",   "except", "finally",  "for",
      "from",  "global",   "if",    "import", "in",   "is",     "lambda", "nonlocal", "not",
      "or",    "pass",     "raise", "return", "try",  "while"};
  auto isPart = [](char letter) { return isLetterOrDigit(letter) || letter == '_'; };
  return !name.empty() && !isDigit(name[0]) && name[0] != '_' && std::ranges::all_of(name, isPart) &&
         std::ranges::find(taken, name) == taken.end() && std::ranges::find(keywords, name) == keywords.end();
}

} // namespace torchere::artifact::saved_model
