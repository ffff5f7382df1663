// {fmt}, compiled once: where it is only headers, every file that formats a message compiles its number
// formatting again.
#include <fmt/format-inl.h>

FMT_BEGIN_NAMESPACE
namespace detail {

template auto dragonbox::to_decimal(float value) noexcept -> dragonbox::decimal_fp<float>;
template auto dragonbox::to_decimal(double value) noexcept -> dragonbox::decimal_fp<double>;
template locale_ref::locale_ref(const std::locale &locale);
template auto locale_ref::get<std::locale>() const -> std::locale;
template auto thousands_sep_impl<char>(locale_ref locale) -> thousands_sep_result<char>;
template auto thousands_sep_impl<wchar_t>(locale_ref locale) -> thousands_sep_result<wchar_t>;
template auto decimal_point_impl(locale_ref locale) -> char;
template auto decimal_point_impl(locale_ref locale) -> wchar_t;

} // namespace detail
FMT_END_NAMESPACE
