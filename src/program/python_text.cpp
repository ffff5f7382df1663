// repr() of Python's float, complex and str.
#include "program/python_text.h"

#include <fmt/format.h>

#include <charconv>
#include <cmath>

namespace torchere::program {

/// Digits and exponent in Python's format: positional from 1e-4 up to 1e16, scientific outside.
static std::string layOut(std::string_view digits, int exponent) {
  int count = static_cast<int>(digits.size());
  if (exponent < -4 || exponent >= 16) {
    std::string mantissa(digits.substr(0, 1));
    if (count > 1)
      mantissa += "." + std::string(digits.substr(1));
    return fmt::format("{}e{}{:02}", mantissa, exponent < 0 ? '-' : '+', std::abs(exponent));
  }
  if (exponent < 0)
    return "0." + std::string(-exponent - 1, '0') + std::string(digits);
  if (exponent + 1 >= count)
    return std::string(digits) + std::string(exponent + 1 - count, '0');
  return std::string(digits.substr(0, exponent + 1)) + "." + std::string(digits.substr(exponent + 1));
}

/// The shortest text; whole numbers do not have ".0" yet.
static std::string shortest(double value) {
  if (std::isnan(value))
    return "nan";
  if (std::isinf(value))
    return value < 0 ? "-inf" : "inf";
  char buffer[40];
  std::to_chars_result end =
      std::to_chars(buffer, buffer + sizeof(buffer), std::abs(value), std::chars_format::scientific);
  std::string_view text(buffer, end.ptr - buffer);
  size_t mark = text.find('e');
  std::string digits;
  for (char c : text.substr(0, mark))
    if (c != '.')
      digits += c;
  int exponent = std::stoi(std::string(text.substr(mark + 1)));
  return (std::signbit(value) ? "-" : "") + layOut(digits, exponent);
}

std::string pythonText(double value) {
  std::string text = shortest(value);
  bool isWhole = text.find_first_not_of("-0123456789") == std::string::npos;
  return isWhole ? text + ".0" : text;
}

std::string pythonText(std::complex<double> value) {
  if (value.real() == 0 && !std::signbit(value.real()))
    return shortest(value.imag()) + "j";
  bool signedAlready = std::signbit(value.imag()) && !std::isnan(value.imag());
  return fmt::format("({}{}{}j)", shortest(value.real()), signedAlready ? "" : "+", shortest(value.imag()));
}

std::string pythonText(std::string_view value) {
  bool hasSingle = value.find('\'') != std::string_view::npos;
  bool hasDouble = value.find('"') != std::string_view::npos;
  char quote = hasSingle && !hasDouble ? '"' : '\'';
  std::string text(1, quote);
  for (char c : value) {
    unsigned char byte = static_cast<unsigned char>(c);
    if (c == quote || c == '\\')
      text += {'\\', c};
    else if (c == '\n')
      text += "\\n";
    else if (c == '\t')
      text += "\\t";
    else if (c == '\r')
      text += "\\r";
    else if (byte < 0x20 || byte == 0x7f)
      text += fmt::format("\\x{:02x}", byte);
    else
      text += c;
  }
  return text + quote;
}

} // namespace torchere::program
